// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressed, centred, moved, partOf, requested, wheelOf, within, zoomed } from '../src/window';

const whole = { from: 0, to: 1_000_000 };

void test('the window of an address has the units of --from, the clock of the store, and the ends of the run', () => {
  assert.deepEqual(requested({ from: '', to: '' }, whole, 7n), whole);
  assert.deepEqual(requested({ from: '1.5us', to: '2ms' }, whole, 7n), { from: 1500, to: 2e6 });
  assert.deepEqual(requested({ from: '0', to: '2' }, whole, 7n), { from: 0, to: 2e9 });
  assert.deepEqual(requested({ from: '@1700000000000000007', to: '@1700000000000000107' }, whole, 1700000000000000000n), { from: 7, to: 107 });
  assert.equal(requested({ from: '16:26', to: '' }, whole, 0n), null);
  assert.equal(requested({ from: '5ns', to: '5ns' }, whole, 0n), null);
});

void test('ten steps zoom ten times, around a time that stays where it is', () => {
  let window = { from: 0, to: 2 ** 20 };
  for (let i = 0; i < 10; i++) window = zoomed(window, 2 ** 18, 0.5);
  assert.equal(window.to - window.from, 1024);
  assert.equal(partOf(window, 2 ** 18), 0.25);
});

void test('windows stay within the run and keep their width', () => {
  assert.deepEqual(within({ from: -50, to: 50 }, whole), { from: 0, to: 100 });
  assert.deepEqual(within(moved({ from: 999_900, to: 1_000_000 }, 1), whole), { from: 999_900, to: 1_000_000 });
  assert.deepEqual(within({ from: 4, to: 5 }, whole), { from: 4, to: 14 });
  assert.deepEqual(centred({ from: 0, to: 100 }, 500), { from: 450, to: 550 });
  assert.deepEqual(addressed(within({ from: -5, to: 2e6 }, whole), whole), { from: '', to: '' });
  assert.deepEqual(addressed({ from: 5, to: 20 }, whole), { from: '5ns', to: '20ns' });
});

void test('a wheel zooms, and with Shift it pans, in pixels and in lines', () => {
  const wheel = (deltaX: number, deltaY: number, shiftKey = false, deltaMode = 0): { zoom: number; pan: number } => wheelOf({ deltaX, deltaY, deltaMode, shiftKey });
  assert.ok(wheel(0, 100).zoom > 1 && wheel(0, -100).zoom < 1 && wheel(0, 100).pan === 0);
  assert.equal(wheel(0, 100).zoom * wheel(0, -100).zoom, 1);
  assert.ok(wheel(0, 100, true).pan > 0 && wheel(0, 100, true).zoom === 1);
  assert.deepEqual(wheel(100, 0, true), wheel(0, 100, true));
  assert.deepEqual(wheel(0, 3, false, 1), wheel(0, 48));
  assert.ok(wheel(100, 0).pan > 0);
});
