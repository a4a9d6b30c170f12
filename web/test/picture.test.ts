// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import test from 'node:test';
import { colourOf, HUES, LIGHT, paint, readHex, ticks } from '../src/draw/picture';

test('bytes are read from hexadecimal digits', () => {
  const bytes = new Uint8Array(6);
  readHex('00ff7a10', bytes, 1);
  assert.deepEqual([...bytes], [0, 0, 255, 122, 16, 0]);
});

test('a full cell has its hue, and an emptier one is paler', () => {
  assert.equal(colourOf(0, 255, LIGHT), 0);
  const [full, half, little] = [255, 128, 1].map((fill) => colourOf(HUES[0] ?? 0, fill, LIGHT) & 0xff0000) as [number, number, number];
  assert.ok(full < half && half < little && little < 0xff0000);
});

test('cells are painted by key: ground, nothing where the ground is hatched for idle time, hues', () => {
  const cells = { columns: 3, rows: 1, keys: Uint8Array.of(0, 1, 2), fills: Uint8Array.of(0, 255, 255) };
  assert.deepEqual([...paint(cells, [0, 0, 0x123456], LIGHT)], [255, 255, 255, 255, 0, 0, 0, 0, 0x12, 0x34, 0x56, 255]);
});

test('ticks are round and few', () => {
  assert.deepEqual(ticks(0, 10, 8), [0, 2, 4, 6, 8]);
  assert.ok(ticks(1234567, 98765432, 8).length <= 9);
  assert.deepEqual(ticks(5, 5, 8), []);
  assert.deepEqual(ticks(0, 203e6, 8).map((time) => time / 1e6), [0, 50, 100, 150, 200]);
  // Of long runs: parts of hours and days, and whole days.
  assert.deepEqual(ticks(0, 36e11, 8).map((time) => time / 6e10), [0, 10, 20, 30, 40, 50]);
  assert.deepEqual(ticks(0, 864e11, 8).map((time) => time / 36e11), [0, 3, 6, 9, 12, 15, 18, 21]);
  assert.deepEqual(ticks(0, 30 * 864e11, 8).map((time) => time / 864e11), [0, 5, 10, 15, 20, 25]);
});
