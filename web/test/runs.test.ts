// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelsText, minute, placesOf, type Point } from '../src/runs';

const point = (run: number, exclusive: number | null): Point => ({ run, begun_ns: '0', exclusive, inclusive: 8, is_change: false });

void test('points are from left to right, zero is at the bottom, and what has no cost is left out', () => {
  const { places, most } = placesOf([point(1, 0), point(2, null), point(3, 5), point(4, 10)], 'exclusive', 100, 50);
  assert.equal(most, 10);
  assert.deepEqual(places.map(({ point: { run }, x, y }) => [run, x, y]), [[1, 0, 50], [3, 50, 25], [4, 100, 0]]);
  assert.deepEqual(placesOf([point(1, 7)], 'exclusive', 100, 50).places.map(({ x, y }) => [x, y]), [[50, 0]]);
  assert.deepEqual(placesOf([point(1, 0), point(2, 0)], 'exclusive', 100, 50).places.map(({ y }) => y), [50, 50]);
  assert.deepEqual(placesOf([point(1, 0)], 'inclusive', 100, 50).most, 8);
  assert.deepEqual(placesOf([], 'exclusive', 100, 50), { places: [], most: 0 });
});

void test('times and labels are as lode runs list prints them', () => {
  assert.equal(minute('1791504000000000000'), '2026-10-09 00:00');
  assert.equal(minute('18446744073709551615'), '2554-07-21 23:34');
  assert.equal(labelsText({ branch: 'main', commit: '12ab', command: './a', title: 'x' }), 'branch=main; commit=12ab');
});
