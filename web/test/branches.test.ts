// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { branchesOf, every, missingBelow, skipFor, visible } from '../src/branches';
import { readTree } from '../src/rows';

const row = (context: number, depth: number, parent: number | null, inclusive: number, children: number): Record<string, unknown> => ({ name: `c${String(context)}`, context, depth, parent_row: parent, inclusive, children, relation: 'call' });
const answer = (rows: Record<string, unknown>[], more: Record<string, unknown> = {}): ReturnType<typeof readTree> => readTree({ database: 'x', metric: 'm', total: 100, row_count: rows.length, omitted_by_share: 0, ...more, rows });
const FIRST = answer([row(1, 0, null, 100, 3), row(2, 1, 0, 60, 1), row(3, 1, 0, 30, 0)], { omitted_by_share: 2 });
const NOTHING = new Map<string, never>();

void test('a row with more children than the answer has is followed by a line that says how many', () => {
  const first = branchesOf(FIRST, NOTHING);
  const shown = visible(FIRST, first, NOTHING, () => true);
  assert.deepEqual(shown.map((node) => [node.key, node.isMore, node.missing]), [['/1', false, 0], ['/1/2', false, 0], ['/1/2/more', true, 1], ['/1/3', false, 0], ['/1/more', true, 1]]);
  assert.equal(missingBelow(first[0] ?? assert.fail()), 1);
});

void test('rows that come later stand below their row, once, and may have rows of their own', () => {
  const added = new Map([['/1', { total: 3, parts: [{ skip: 2, rows: answer([row(3, 0, null, 30, 0), row(4, 0, null, 10, 1)]).rows }] }], ['/1/4', { total: 1, parts: [{ skip: 0, rows: answer([row(5, 0, null, 9, 0)]).rows }] }]]);
  const first = branchesOf(FIRST, added);
  assert.deepEqual(every(first).map((branch) => [branch.key, branch.path.join(), branch.skip]), [['/1', '1', null], ['/1/2', '1,2', null], ['/1/3', '1,3', null], ['/1/4', '1,4', 2], ['/1/4/5', '1,4,5', 0]]);
  assert.deepEqual(visible(FIRST, first, added, (branch) => branch.key !== '/1/4').map((node) => node.key), ['/1', '/1/2', '/1/2/more', '/1/3', '/1/4']);
});

void test('first rows are missing if their costs do not add up to the total', () => {
  const some = answer([row(1, 0, null, 60, 0)], { omitted_by_share: 3 });
  const shown = visible(some, branchesOf(some, NOTHING), NOTHING, () => true);
  assert.deepEqual(shown.map((node) => [node.key, node.missing]), [['/1', 0], ['/more', null]]);
});

void test('of rows with negative costs those that are known need not be the first', () => {
  const known = branchesOf(answer([row(1, 0, null, 5, 0), row(2, 0, null, -9, 0)]), NOTHING);
  assert.equal(skipFor(known), 0);
  assert.equal(skipFor(known.slice(0, 1)), 1);
});
