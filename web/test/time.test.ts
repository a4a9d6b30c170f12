// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FIRST, HUES, MUTED, mutedOf, OTHERS } from '../src/draw/picture';
import { huesOf, type Picture } from '../src/timeline';

/** A picture of functions of a recording: they have names, and no context. */
const picture = (...names: string[]): Picture => ({ start_ns: '0', from_ns: '0', to_ns: '9', columns: 1, samples: 0, line_count: 1, is_exact: true, timeline: [], rows: names.map((name) => ({ letter: 'A', nanoseconds: 1, percent: 1, samples: 0, context: null, name, kind: 'own' })) });

void test('functions have colours in the order of the run', () => {
  assert.deepEqual(huesOf(picture('c', 'a', 'none'), picture('a', 'b', 'c')).slice(FIRST, FIRST + 3), [HUES[2], HUES[0], mutedOf('none')]);
});

void test('no function that has a name is grey', () => {
  const names = Array.from({ length: 200 }, (_, i) => `function${String(i)}`);
  const hues = huesOf(picture(...names), picture(...names)).slice(FIRST, FIRST + names.length);
  assert.ok(!hues.includes(OTHERS));
  assert.equal(new Set(hues).size, HUES.length + MUTED.length);
});

void test('functions of one name have the colour of the largest of them', () => {
  assert.deepEqual(huesOf(picture('print', 'b', 'print'), picture('print', 'b', 'print')).slice(FIRST, FIRST + 3), [HUES[0], HUES[1], HUES[0]]);
});
