// SPDX-License-Identifier: BSD-3-Clause
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exceptionsOf, markPath, readCalls, type Argument, type Event } from '../src/request';

const argument = (name: string, value: string | number): Argument => ({ name, value, text: typeof value === 'string' ? `"${value}"` : String(value) });
const event = (time: number, track: number, kind: string, name: string, more: Partial<Event> = {}): Event => ({ time_ns: String(1000 + time), track, kind, instant: null, depth: 0, duration_ns: null, name, values: null, arguments: [], module: null, failed: false, moved: false, made: false, ...more });
const span = (id: string, parent = ''): Partial<Event> => ({ arguments: [argument('span', id), ...(parent === '' ? [] : [argument('parent', parent)])] });

/** root calls b, and c twice beside each other: once on the main track, once on track 7. */
const EVENTS: readonly Event[] = [
  event(0, 3, 'enter', 'root', span('r')),
  event(1, 3, 'enter', 'b', span('b', 'r')),
  event(2, 3, 'leave', 'b', { duration_ns: 1 }),
  event(3, 3, 'enter', 'c', span('c1', 'r')),
  event(4, 7, 'enter', 'c', span('c2', 'r')),
  event(5, 7, 'instant', 'key', { instant: 'attribute', values: '"v"' }),
  event(6, 3, 'leave', 'c', { duration_ns: 3 }),
  event(9, 7, 'leave', 'c', { duration_ns: 5, failed: true }),
  event(10, 3, 'leave', 'root', { duration_ns: 10 }),
];

void test('calls of side tracks are below their callers, in lanes of their own', () => {
  const calls = readCalls(EVENTS);
  assert.deepEqual(calls.map((call) => [call.name, call.depth, call.lane, call.begin, call.duration, call.hasFailed]), [['root', 0, 0, 0, 10, false], ['b', 1, 0, 1, 1, false], ['c', 1, 0, 3, 3, false], ['c', 1, 1, 4, 5, true]]);
  assert.deepEqual(calls[3]?.attributes, [['key', '"v"']]);
  assert.equal(calls.every((call) => !call.isOpen), true);
});

void test('a request that was cut has calls to its last event', () => {
  const calls = readCalls(EVENTS.slice(0, 4));
  assert.deepEqual(calls.map((call) => [call.name, call.duration, call.isOpen]), [['root', 3, true], ['b', 1, false], ['c', 0, true]]);
});

void test('steps of the critical path belong to calls of their track', () => {
  const calls = readCalls(EVENTS);
  markPath(calls, [{ begin_ns: 0, duration_ns: 4, track: 3, name: 'root' }, { begin_ns: 4, duration_ns: 5, track: 7, name: 'c' }, { begin_ns: 9, duration_ns: 1, track: 3, name: 'root' }, { begin_ns: 3, duration_ns: 1, track: null, name: '(no call)' }]);
  assert.deepEqual(calls.map((call) => call.path.map((step) => step.begin)), [[0, 9], [], [], [4]]);
});

void test('exceptions have their frames and causes, as the program prints them', () => {
  const parts = [argument('class', 'A'), argument('message', 'm'), argument('at', 'K'), argument('method', 'f'), argument('file', 'k.js'), argument('line', 17), argument('at', ''), argument('method', ''), argument('file', 'm.js'), argument('line', 0), argument('cause', 'B'), argument('message', ''), argument('at', 'L'), argument('method', 'g'), argument('file', ''), argument('line', 3)];
  assert.deepEqual(exceptionsOf(parts), [{ title: 'A: m', isCause: false, frames: ['K.f(k.js:17)', '(m.js)'] }, { title: 'B', isCause: true, frames: ['L.g'] }]);
  assert.deepEqual(exceptionsOf([]), []);
});
