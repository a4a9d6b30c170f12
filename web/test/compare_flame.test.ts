// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placesOf } from '../src/views/compare_flame';
import type { Row } from '../src/views/compare_tree';

const row = (number: number, parent: number | null, depth: number, gross: number): Row => ({ row: number, parent_row: parent, depth, gross, base: 0, new: 0, difference: gross, ratio: null, name: `r${String(number)}`, only_in: null, base_own: 0, new_own: 0 });

void test('boxes stand beside each other below the box that they belong to, as wide as their gross change', () => {
  const places = placesOf([row(0, null, 0, 6), row(1, 0, 1, 4), row(2, 0, 1, 1), row(3, null, 0, 2), row(4, 3, 1, 2)], 8);
  assert.deepEqual(places.map((place) => [place.row.row, place.x, place.width]), [[0, 0, 0.75], [1, 0, 0.5], [2, 0.5, 0.125], [3, 0.75, 0.25], [4, 0.75, 0.25]]);
});

void test('without changes nothing is wide', () => {
  assert.deepEqual(placesOf([row(0, null, 0, 0)], 0).map((place) => place.width), [0]);
});
