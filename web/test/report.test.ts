// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerInside, isReport, keyOf } from '../src/report';

test('a question is the same in any order of its parameters', () => {
  assert.equal(keyOf('top/0?limit=12&by=kind'), keyOf('top/0?by=kind&limit=12'));
  assert.equal(keyOf('trace/0?merge=&profiles=profile%3D3'), keyOf('trace/0?profiles=profile%3D3&merge'));
  assert.notEqual(keyOf('top/0?limit=12'), keyOf('top/1?limit=12'));
  assert.equal(keyOf('info/0'), 'info/0?');
});

test('without a document there is no report', () => {
  assert.equal(isReport, false);
  assert.equal(answerInside('info/0'), null);
});
