// SPDX-License-Identifier: BSD-3-Clause
// Time windows of the timeline, in nanoseconds after the beginning of the run. The window that was asked for last is in the address:
// every step starts from it, whether its picture is there or not.
import type { State } from './state';

export interface Window {
  readonly from: number;
  readonly to: number;
}

const UNITS: Readonly<Record<string, number>> = { '': 1e9, s: 1e9, ms: 1e6, us: 1e3, ns: 1 };
const NARROWEST = 10;

/** A time as --from takes it, after `start`; null if only the program can tell, as of dates. */
function timeOf(text: string, start: bigint): number | null {
  const [, clock, digits = '', unit = ''] = /^(@?)(\d+(?:\.\d+)?)(s|ms|us|ns|)$/.exec(text) ?? [];
  if (clock === undefined) return null;
  if (clock === '@') return unit === '' && !digits.includes('.') ? Number(BigInt(digits) - start) : null;
  return Number(digits) * (UNITS[unit] ?? 1);
}

/** The window of the address; null if only the program can tell. */
export function requested(state: Pick<State, 'from' | 'to'>, whole: Window, start: bigint): Window | null {
  const from = state.from === '' ? whole.from : timeOf(state.from, start);
  const to = state.to === '' ? whole.to : timeOf(state.to, start);
  return from === null || to === null || !(to > from) ? null : { from, to };
}

/** As wide as it is, but within the run. */
export function within(window: Window, whole: Window): Window {
  const width = Math.max(NARROWEST, Math.min(window.to - window.from, whole.to - whole.from));
  const from = Math.round(Math.max(whole.from, Math.min(window.from, whole.to - width)));
  return { from, to: Math.round(from + width) };
}

/** What is at `time` stays where it is. */
export function zoomed(window: Window, time: number, factor: number): Window {
  return { from: time - (time - window.from) * factor, to: time + (window.to - time) * factor };
}

/** Later by a part of its width. */
export function moved(window: Window, part: number): Window {
  const by = part * (window.to - window.from);
  return { from: window.from + by, to: window.to + by };
}

export const centred = (window: Window, time: number): Window => moved(window, (time - (window.from + window.to) / 2) / (window.to - window.from));

/** Where a time is in the window: 0 at its begin, 1 at its end. */
export const partOf = (window: Window, time: number): number => (time - window.from) / (window.to - window.from);
export const timeAt = (window: Window, part: number): number => window.from + part * (window.to - window.from);

/** As a part of the address. */
export function addressed(window: Window, whole: Window): Pick<State, 'from' | 'to'> {
  if (window.from <= whole.from && window.to >= whole.to) return { from: '', to: '' };
  return { from: `${String(window.from)}ns`, to: `${String(window.to)}ns` };
}

/** The selected area as text of the address, and back; null: none. */
export const areaText = (area: Window): string => `${String(Math.round(area.from))}..${String(Math.max(Math.round(area.to), Math.round(area.from) + 1))}`;
export function areaOf(state: Pick<State, 'area'>): Window | null {
  const match = /^(\d{1,19})\.\.(\d{1,19})$/.exec(state.area);
  const area = match ? { from: Number(match[1]), to: Number(match[2]) } : null;
  return area !== null && area.to > area.from ? area : null;
}

const LINE = 16;
const PAGE = 400;
const LARGEST = 240;

/** What a wheel does: browsers count in pixels, lines or pages, and turn Shift into the other direction. */
export function wheelOf(event: { deltaX: number; deltaY: number; deltaMode: number; shiftKey: boolean }): { zoom: number; pan: number } {
  const scale = event.deltaMode === 1 ? LINE : event.deltaMode === 2 ? PAGE : 1;
  const cut = (delta: number): number => Math.max(-LARGEST, Math.min(LARGEST, delta * scale));
  const [x, y] = [cut(event.deltaX), cut(event.deltaY)];
  if (event.shiftKey) return { zoom: 1, pan: (x === 0 ? y : x) / 800 };
  return Math.abs(x) > Math.abs(y) ? { zoom: 1, pan: x / 800 } : { zoom: 2 ** (y / 300), pan: 0 };
}
