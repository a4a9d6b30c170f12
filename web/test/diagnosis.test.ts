// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choose, commandOf, gainOf, partsOf, placeOf, type Diagnosis, type Statement } from '../src/diagnosis';

const statement = (id: string, gain: number | null, confidence = 'likely'): Statement => ({ id, confidence, gain_percent: gain, is_bound: true, text: id, advice: null, function: null, from_ns: null, to_ns: null, evidence: [] });
const diagnosis = (statements: Statement[], canJudge = true): Diagnosis => ({ run: { metric: null, can_judge: canJudge, requests: 0 }, efficiency: null, quality: [], statements, activities: [] });

void test('five statements of at least 5% are shown, weak ones and the hot spot are not among them', () => {
  const found = choose(diagnosis([...[40, 30, 20, 10, 5, 5].map((gain) => statement(`g${String(gain)}`, gain)), statement('small', 4.99), statement('weak', 50, 'weak'), statement('hot-spot', null)]));
  assert.deepEqual(found.shown.map(({ id }) => id), ['g40', 'g30', 'g20', 'g10', 'g5']);
  assert.equal(found.hidden, 3);
  assert.equal(found.hot?.id, 'hot-spot');
  assert.equal(found.verdict, '');
  assert.deepEqual(choose(diagnosis([statement('unknown', null)])).shown.length, 1);
});

void test('without a statement, a verdict says whether the data allow one', () => {
  assert.equal(choose(diagnosis([statement('hot-spot', null)])).verdict, 'Nothing stands out.');
  assert.equal(choose(diagnosis([], false)).verdict, 'The data do not allow a statement.');
  assert.deepEqual(choose(diagnosis([statement('small', 1)])), { shown: [], hidden: 1, hot: null, verdict: '' });
});

void test('gains are of the run, or of the time of all requests', () => {
  assert.equal(gainOf(statement('x', 21.5287), diagnosis([]).run), 'at most 22% of the run, likely');
  assert.equal(gainOf({ ...statement('x', 12), is_bound: false }, diagnosis([]).run), 'accounts for 12% of the run, likely');
  assert.equal(gainOf(statement('x', 79), { ...diagnosis([]).run, requests: 8 }), 'at most 79% of the time of all requests, likely');
  assert.equal(gainOf(statement('x', null, 'possible'), diagnosis([]).run), 'possible');
});

void test('parts of the efficiency add up, and none is negative', () => {
  const threads = { parallel: 0.5, load_balance: 0.8, communication: 0.625, process: null, serial: null, openmp: null, rank_balance: null };
  assert.deepEqual(partsOf({ ...diagnosis([]), efficiency: threads }).map((part) => part.percent), ['50.0', '12.5', '37.5']);
  const hybrid = { ...threads, process: 0.75, serial: 0.8, openmp: 1.0001, rank_balance: 0.9 };
  const parts = partsOf({ ...diagnosis([]), efficiency: hybrid, activities: [{ activity: 'mpi', time: 1 }] });
  assert.deepEqual(parts.map((part) => [part.name, part.percent]), [['useful work', '50.0'], ['MPI and off-CPU', '25.0'], ['serial parts', '20.0'], ['OpenMP regions', '0.0']]);
  assert.deepEqual(partsOf(diagnosis([])), []);
});

void test('a command of evidence is quoted, and has a view', () => {
  const evidence = (...command: string[]): { text: string; command: string[] } => ({ text: '', command });
  assert.equal(commandOf(evidence('lode', 'tree', '--callers', 'a b', '/s')), "lode tree --callers 'a b' /s");
  assert.equal(commandOf({ text: '', command: null }), '');
  assert.deepEqual(placeOf(evidence('lode', 'search', '--attribute=k=v', '--sort=duration', '/s')), { view: 'requests', group: '', way: '', filters: ['attribute:k=v'] });
  assert.deepEqual(placeOf(evidence('lode', 'top', '--metric', 'a,b', '/s')), { view: 'top', group: '', way: '', metrics: ['a', 'b'] });
  assert.equal(placeOf(evidence('lode', 'efficiency', '/s')), null);
  assert.equal(placeOf(undefined), null);
});
