// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choose, commandOf, gainOf, partsOf, placeOf, placeOfEvidence, type Diagnosis, type Statement } from '../src/diagnosis';

const statement = (id: string, gain: number | null, confidence = 'likely'): Statement => ({ id, confidence, gain_percent: gain, is_bound: true, text: id, advice: null, function: null, context: null, rank: null, thread: null, from_ns: null, to_ns: null, evidence: [] });
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
  const hybrid = { ...threads, process: 0.7, serial: 0.7, openmp: 1.1, rank_balance: 0.9 };
  const parts = partsOf({ ...diagnosis([]), efficiency: hybrid, activities: [{ activity: 'mpi', time: 1 }] });
  assert.deepEqual(parts.map((part) => [part.name, part.percent]), [['useful work', '50.0'], ['MPI and off-CPU', '25.0'], ['serial parts', '25.0'], ['OpenMP regions', '0.0']]);
  assert.deepEqual(partsOf(diagnosis([])), []);
});

const evidence = (...command: string[]): { text: string; command: string[] } => ({ text: '', command });
const all = (): boolean => true;
const none = (): boolean => false;

void test('a command of evidence is quoted', () => {
  assert.equal(commandOf(evidence('lode', 'tree', '--callers', 'a b', '/s')), "lode tree --callers 'a b' /s");
  assert.equal(commandOf({ text: '', command: null }), '');
});

void test('evidence leads to the page that shows what its command prints', () => {
  const at = (...command: string[]): unknown => placeOfEvidence(evidence('lode', ...command, '/s'), statement('x', 1), all)?.to;
  assert.deepEqual(at('search', '--attribute=k=v', '--errors', '--method=a b', '--sort=calls'), { view: 'requests', order: 'calls', request: '', filters: ['method:a b', 'attribute:k=v', 'errors'] });
  assert.deepEqual(at('search', '--errors', '--from=1.5s', '--to=2s'), { view: 'requests', order: '', request: '', filters: ['errors'], from: '1.5s', to: '2s' });
  assert.deepEqual(at('top', '--metric', 'a,b'), { view: 'top', group: '', filters: [], metrics: ['a', 'b'] });
  assert.deepEqual(at('top', '--by', 'symbol', '--include', 'f'), { view: 'top', group: 'symbol', filters: ['only:f'] });
  assert.deepEqual(at('tree', '--metric', 'm', '--callers', '--odd'), { view: 'tree', group: '', way: 'callers:--odd', metrics: ['m'] });
  assert.deepEqual(at('tree', '--focus=f', '--depth=2'), { view: 'tree', group: '', way: 'focus:f' });
  assert.deepEqual(at('efficiency'), { view: 'top', group: 'kind' });
  assert.equal(placeOfEvidence({ text: '', command: null }, statement('x', 1), all), null);
  assert.equal(placeOfEvidence(evidence('lode', 'search', '/s'), statement('x', 1), none), null);
});

void test('a statement leads to the outlier, its time, its requests, its call path or its callers', () => {
  const outlier = { ...statement('x', 1), function: 'f', rank: 5, evidence: [evidence('lode', 'profiles', '/s')] };
  assert.deepEqual(placeOf(outlier, all).to, { view: 'profiles', order: '', way: 'function:f', profiles: 'rank=5' });
  assert.deepEqual(placeOfEvidence(outlier.evidence[0], { ...outlier, thread: 2 }, all)?.to, { view: 'profiles', order: '', way: 'function:f', profiles: 'rank=5,thread=2' });
  assert.deepEqual(placeOf(outlier, none).to, { view: 'tree', group: '', way: 'callers:f' });
  const burst = { ...statement('x', 1), from_ns: '10', to_ns: '20', evidence: [evidence('lode', 'search', '--errors', '/s')] };
  assert.deepEqual(placeOf(burst, all).to, { view: 'time', from: '@10', to: '@20' });
  assert.deepEqual(placeOf(burst, (view) => view === 'requests').to, { view: 'requests', order: '', request: '', filters: ['errors'], from: '@10', to: '@20' });
  assert.deepEqual(placeOf({ ...statement('x', 1), function: 'f', context: 30 }, all).to, { view: 'tree', group: '', way: '', context: '30' });
  assert.deepEqual(placeOf(statement('x', 1), none).to, { view: 'top' });
});
