// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { amount, baseName, clean, count, fixed, mark, percent, ratio, shellWord, tail, unitOf } from '../src/format';

test('amounts are those that the program prints', () => {
  assert.equal(amount(634.972119, 'seconds'), '634.972 s');
  assert.equal(amount(0.765625, 'seconds'), '765.625 ms');
  assert.equal(amount(0.00011705600036293617, 'seconds'), '117.056 us');
  assert.equal(amount(5e-324, 'seconds'), '0 s');
  assert.equal(amount(-1.5, 'seconds'), '-1.500 s');
  assert.equal(amount(65334, 'nanoseconds'), '65.334 us');
  assert.equal(amount(187, 'nanoseconds'), '0.187 us');
  assert.equal(amount(384000, 'bytes'), '375.0 KiB');
  assert.equal(amount(1000, 'bytes'), '1000 B');
  assert.equal(amount(450580000000, 'count'), '450,580,000,000');
  assert.equal(amount(0.25, 'count'), '0.25');
  assert.equal(amount(1234.5678, 'count'), '1234.57');
  assert.equal(amount(1e-7, 'count'), '1e-07');
  assert.equal(amount(2 ** 60, 'count'), '1.15292e+18');
  assert.equal(amount(null, 'count'), '');
});

test('20,000 values are written as the reference writes them (tests/view/amounts.py)', () => {
  const rows = JSON.parse(readFileSync(process.env['AMOUNTS'] ?? '', 'utf8')) as [number, ...string[]][];
  assert.ok(rows.length > 20000);
  for (const [value, ...texts] of rows) {
    const mine = [amount(value, 'seconds'), amount(value, 'nanoseconds'), amount(value, 'bytes'), amount(value, 'count'), fixed(value, 1), fixed(value * 100, 1), fixed((value - 1) * 100, 1), ratio(value, 1)];
    assert.deepEqual(mine, texts, String(value));
  }
});

test('marks of an axis have no more digits than they need, and hours and days', () => {
  assert.deepEqual([0, 5e7, 1e8, 1e9, 1.5e9, 1e3, 20, 59e9].map((time) => mark(time, time === 1.5e9 ? 5e8 : time || 1)), ['0 s', '50 ms', '100 ms', '1 s', '1.5 s', '1 us', '20 ns', '59 s']);
  assert.deepEqual([6e10, 9e10, 36e11, 54e11, 864e11, 3 * 864e11 + 36e11].map((time) => mark(time, 3e10)), ['1 min', '1 min 30 s', '1 h', '1 h 30 min', '1 d', '3 d 1 h']);
  assert.deepEqual([3e9, 3e9 + 10, 3e9 + 20].map((time) => mark(time, 10)), ['3 s', '3.00000001 s', '3.00000002 s']);
  assert.equal(mark(36e11 + 5e8, 5e8), '1 h 0.5 s');
  assert.equal(mark(-2e6, 1e6), '-2 ms');
});

test('units come from the names of metrics', () => {
  assert.equal(unitOf('CPUTIME (sec)'), 'seconds');
  assert.equal(unitOf('GXCOPY:D2H (B)'), 'bytes');
  assert.equal(unitOf('cpu (nanoseconds)'), 'nanoseconds');
  assert.equal(unitOf('perf::cpu-clock'), 'nanoseconds');
  assert.equal(unitOf('PAPI_TOT_CYC'), 'count');
});

test('what is half-way is rounded as printf does, to even', () => {
  assert.equal(fixed(757.8125, 3), '757.812');
  assert.equal(fixed(757.8135, 3), (757.8135).toFixed(3));
  assert.equal(fixed(0.4375, 3), '0.438');
  assert.equal(fixed(-0.0625, 3), '-0.062');
  assert.equal(fixed(0.25, 1), '0.2');
  assert.equal(fixed(0.75, 1), '0.8');
  assert.equal(fixed(2.5, 0), '2');
  assert.equal(percent(6.25), '6.2');
  assert.equal(amount(757812.5, 'nanoseconds'), '757.812 us');
});

test('shares have one decimal, and what is no number is a dash', () => {
  assert.equal(percent(28.745), '28.7');
  assert.equal(percent(null), '-');
  assert.equal(percent(NaN), '-');
  assert.equal(count(1234567), '1,234,567');
});

test('characters that deceive are shown as escapes', () => {
  assert.equal(clean('a\u202eb'), 'a\\u202eb');
  assert.equal(clean('a\u001b[31m'), 'a\\x1b[31m');
  assert.equal(clean('a\u200bb\u2066c\ufeff'), 'a\\u200bb\\u2066c\\ufeff');
  assert.equal(clean('\ud800x'), '\\ud800x');
  assert.equal(clean('<b>ü 漢 😀'), '<b>ü 漢 😀');
});

test('very long names are cut in the middle', () => {
  const cut = clean(`begin${'x'.repeat(1000000)}end`);
  assert.ok(cut.length < 4200);
  assert.ok(cut.startsWith('begin') && cut.endsWith('end'));
});

test('words for a shell are quoted where needed', () => {
  assert.equal(shellWord('db/a-b.c'), 'db/a-b.c');
  assert.equal(shellWord('CPUTIME (sec)'), "'CPUTIME (sec)'");
  assert.equal(shellWord("it's"), "'it'\\''s'");
  assert.equal(shellWord(''), "''");
  assert.equal(shellWord('a\nb'), "$'a\\x0ab'");
});

test('the last component of a path', () => {
  assert.equal(baseName('/a/b.c'), 'b.c');
  assert.equal(baseName('a/'), 'a');
  assert.equal(baseName(null), '');
});

test('long dotted names are shown by their end', () => {
  assert.equal(tail('org.apache.catalina.connector.CoyoteAdapter.service'), '…CoyoteAdapter.service');
  assert.equal(tail('CalcHourglassControlForElems(Domain&, double*, double)'), 'CalcHourglassControlForElems(Domain&, double*, double)');
  assert.equal(tail('a.b.c'), 'a.b.c');
});
