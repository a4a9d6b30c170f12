// SPDX-License-Identifier: BSD-3-Clause
// What `lode trace --merge` says, as cells with colours.
import { FIRST, HUES, IDLE_HUE, mutedOf, OTHERS, readHex, type Cells } from './draw/picture';
import { go, type State } from './state';
import type { Window } from './window';

export interface Row {
  readonly letter: string;
  readonly nanoseconds: number;
  readonly percent: number | null;
  readonly samples: number;
  readonly context: number | null;
  readonly name: string;
  readonly kind: string | null;
}

export interface Line {
  readonly profile?: number;
  readonly track?: number;
  readonly tid?: number;
  /** Of requests: lanes of one have the same. */
  readonly id?: string | null;
  readonly name: string;
  readonly merged_lines: number;
  readonly keys: string;
  readonly fills: string;
}

export interface Picture {
  readonly start_ns: string;
  readonly from_ns: string;
  readonly to_ns: string;
  readonly columns: number;
  readonly samples: number;
  readonly line_count: number;
  readonly is_exact: boolean;
  readonly timeline: readonly Line[];
  readonly rows: readonly Row[];
}

export function cellsOf(picture: Picture): Cells {
  const rows = picture.timeline.length;
  const keys = new Uint8Array(rows * picture.columns);
  const fills = new Uint8Array(rows * picture.columns);
  picture.timeline.forEach((line, row) => {
    readHex(line.keys, keys, row * picture.columns);
    readHex(line.fills, fills, row * picture.columns);
  });
  return { columns: picture.columns, rows, keys, fills };
}

/** Functions that run, in the order of their keys. */
export const running = (picture: Picture): readonly Row[] => picture.rows.filter((row) => row.letter !== '.');
export const isIdle = (row: Row): boolean => row.letter === '.' || row.kind === 'idle';
export const identity = (row: Row): string => (row.context === null ? row.name : String(row.context));

/**
 * The colour of each key: the seven largest functions of the run have one each, unless they are of the kind "idle"; others share muted
 * ones, by name. Functions of one name have that of the largest: rows do not tell them apart.
 */
export function huesOf(picture: Picture, whole: Picture): number[] {
  const order = new Map(running(whole).filter((row) => row.kind !== 'idle').slice(0, HUES.length).map((row, index) => [identity(row), HUES[index] ?? OTHERS] as const).reverse());
  const found = new Array<number>(256).fill(OTHERS);
  running(picture).slice(0, 253).forEach((row, index) => (found[FIRST + index] = row.kind === 'idle' ? IDLE_HUE : (order.get(identity(row)) ?? mutedOf(row.name))));
  return found;
}

export const relative = (picture: Picture, time: string): number => Number(BigInt(time) - BigInt(picture.start_ns));
export const windowOf = (picture: Picture): Window => ({ from: relative(picture, picture.from_ns), to: relative(picture, picture.to_ns) });
export const css = (colour: number): string => `#${colour.toString(16).padStart(6, '0')}`;

/** The crosshair: a row of the picture and a time after the beginning, from x=LINE@TIME. */
export function crossOf(state: State, picture: Picture): { row: number; time: number } | null {
  const match = /^(\d+)@(\d+)ns$/.exec(state.cross);
  if (!match) return null;
  const line = Number(match[1]);
  const row = picture.timeline.findIndex((candidate) => (candidate.profile ?? candidate.track) === line);
  return row < 0 ? null : { row, time: Number(match[2]) };
}

export function setCross(picture: Picture, row: number, time: number, how: 'push' | 'replace'): void {
  const line = picture.timeline[row];
  if (line) go({ cross: `${String(line.profile ?? line.track ?? 0)}@${String(Math.round(time))}ns` }, how);
}
