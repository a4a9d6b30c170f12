// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layersOf } from '../src/services';

const pairs = (...list: string[]): { caller: string; callee: string }[] => list.map((pair) => ({ caller: pair[0] ?? '', callee: pair[1] ?? '' }));

void test('services are right of all that call them', () => {
  assert.deepEqual(layersOf(['a', 'b', 'c', 'd'], pairs('ab', 'bc', 'ac', 'ad')), [['a'], ['b', 'd'], ['c']]);
  assert.deepEqual(layersOf(['x'], []), [['x']]);
  assert.deepEqual(layersOf([], []), []);
});

void test('circles of calls have an end', () => {
  const layers = layersOf(['a', 'b', 'c'], pairs('ab', 'bc', 'cb', 'ca'));
  assert.deepEqual(layers.flat().sort(), ['a', 'b', 'c']);
  assert.deepEqual(layersOf(['a', 'b'], pairs('ab', 'ba')).flat().sort(), ['a', 'b']);
});
