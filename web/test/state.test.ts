// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandLine, path, type Session } from '../src/api';
import { format, parse, START, type State } from '../src/state';
import { includePattern } from '../src/view';

const FULL: State = {
  store: 1, other: 2, view: 'tree', metrics: ['CPUTIME (sec)', 'a&b=c'], profiles: 'rank=0-3,thread=0', from: '1.25s', to: '1.75s', depth: '6', area: '10..20', lines: '3,5-',
  root: '4', context: '31', name: 'operator+', cross: 'rank3.0@1.4s', order: 'inclusive', search: 'MPI_*', filters: ['hide:libgomp*', 'only:x'],
  colours: 'kind', group: 'line', way: 'callers:a::b', request: '17', limit: '800', notes: ['function|a%7Cb|hot|so slow'], share: '0.1',
};

test('what is in the state is in the address, and comes back', () => {
  for (const state of [START, FULL]) {
    const { state: back, notices } = parse(format(state));
    assert.deepEqual(back, state);
    assert.deepEqual(notices, []);
  }
});

test('the address ends with its version', () => {
  assert.equal(format(START), '?1');
  assert.match(format(FULL), /&1$/);
});

test('what an address has and the page does not know is left out with a notice', () => {
  const { state, notices } = parse('?v=tree&zz=1&s=abc&q=' + 'x'.repeat(5000) + '&1');
  assert.equal(state.view, 'tree');
  assert.equal(state.store, 0);
  assert.equal(state.search, '');
  assert.equal(notices.length, 3);
});

test('an address of a later version is read as far as possible, with a notice', () => {
  const { state, notices } = parse('?v=top&9');
  assert.equal(state.view, 'top');
  assert.equal(notices.length, 1);
});

const SESSION: Session = {
  version: '0',
  stores: [
    { number: 0, name: 'a b', path: '/x/a b', state: 'ready', kind: 'database' },
    { number: 1, name: '-c', path: '-c', state: 'ready', kind: 'database' },
  ],
};

test('a query is a request and a command', () => {
  const query = { command: 'tree', store: 0, options: [['metric', 'CPUTIME (sec)'], ['bottom-up', ''], ['callers', '-x']] as const };
  assert.equal(path(query), 'api/1/tree/0?metric=CPUTIME+%28sec%29&bottom-up=&callers=-x');
  assert.equal(commandLine(query, SESSION), "lode tree '/x/a b' --metric 'CPUTIME (sec)' --bottom-up --callers=-x");
  assert.equal(path({ command: 'context', store: 0, operand: '25', options: [] }), 'api/1/context/0?context=25');
  assert.equal(path({ command: 'search', store: 0, operand: 'a b', options: [] }), 'api/1/search/0?text=a+b');
  assert.equal(path({ command: 'compare', store: 0, other: 1, options: [] }), 'api/1/compare/0/1');
  assert.equal(commandLine({ command: 'compare', store: 0, other: 1, options: [['limit', '5']] }, SESSION), "lode compare --limit 5 -- '/x/a b' -c");
});

test('the command of an answer that depends on rules for kinds has them', () => {
  const session = { ...SESSION, kinds: '/x/site rules.txt' };
  assert.equal(commandLine({ command: 'flame', store: 0, options: [] }, session), "lode flame '/x/a b' --kinds '/x/site rules.txt'");
  assert.equal(commandLine({ command: 'tree', store: 0, options: [] }, session), "lode tree '/x/a b'");
});

test('a search finds parts of names, in any case if it is in lower case', () => {
  assert.equal(includePattern('mpi_'), '/(?i)mpi_/');
  assert.equal(includePattern('a.b('), '/(?i)a\\.b\\(/');
  assert.equal(includePattern('MPI'), '*MPI*');
  assert.equal(includePattern('MPI_*'), 'MPI_*');
  assert.equal(includePattern('/x.y/'), '/x.y/');
  assert.equal(includePattern('module:libc*'), 'module:libc*');
});
