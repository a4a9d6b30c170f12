// SPDX-License-Identifier: BSD-3-Clause
// Pictures of time: cells with a key and a fill, drawn as pixels. The drawing rules are those of `lode trace -o`, but for
// functions beyond the largest, which are grey there.

/** Okabe and Ito's set, and a grey for functions whose names are not known. */
export const HUES: readonly number[] = [0x56b4e9, 0xd55e00, 0xcc79a7, 0xf0e442, 0x009e73, 0xe69f00, 0x0072b2];
export const OTHERS = 0x8c8c8c;
/** Functions beyond the largest share these, by name: nobody can tell hundreds of colours apart, but neighbours. Text on them is black. */
export const MUTED: readonly number[] = [0x8a7fd0, 0x9ad3ee, 0x5fb8a8, 0x86b35c, 0xbdb76b, 0xddcc77, 0xd9828f, 0xc583b8];
/** Functions that only wait: drawn as time in which nothing runs. */
export const IDLE_HUE = -1;
export const NOTHING = 0;
export const IDLE = 1;
export const FIRST = 2;

export interface Ground {
  readonly ground: number;
  readonly idle: number;
  readonly idleLine: number;
}
export const LIGHT: Ground = { ground: 0xffffff, idle: 0xf0f0f0, idleLine: 0xc8c8c8 };
export const DARK: Ground = { ground: 0x16191d, idle: 0x262b31, idleLine: 0x434a54 };

export interface Cells {
  readonly columns: number;
  readonly rows: number;
  /** [row][column]: 0 nothing, 1 not running, 2 and up functions, 255 others. */
  readonly keys: Uint8Array;
  /** How much of the cell the function has, in 255ths. */
  readonly fills: Uint8Array;
}

/** The colour of a name, the same in every picture (FNV-1a). */
export function mutedOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return MUTED[(hash >>> 8) % MUTED.length] ?? OTHERS;
}

/** Two hexadecimal digits for each byte. */
export function readHex(text: string, into: Uint8Array, at: number): void {
  const digit = (code: number): number => (code < 58 ? code - 48 : code - 87);
  for (let i = 0; i < text.length / 2; i++) into[at + i] = digit(text.charCodeAt(2 * i)) * 16 + digit(text.charCodeAt(2 * i + 1));
}

const LEVELS = 8;

function blend(from: number, to: number, part: number, whole: number): number {
  let mixed = 0;
  for (const shift of [0, 8, 16]) mixed |= Math.floor((((from >> shift) & 255) * (whole - part) + ((to >> shift) & 255) * part) / whole) << shift;
  return mixed;
}

/** The colour of a cell: pale where the function has little of it. */
export function colourOf(hue: number, fill: number, ground: Ground): number {
  return blend(ground.ground, hue, Math.floor((fill * (LEVELS - 1)) / 255) + 3, LEVELS + 2);
}

/** RGBA of all cells. `hueOf` has a colour for each key; `only` dims all other keys (null: none). What is idle is transparent: the ground is hatched. */
export function paint(cells: Cells, hueOf: readonly number[], ground: Ground, only: ReadonlySet<number> | null = null): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(4 * cells.columns * cells.rows);
  const table = new Uint32Array(256 * 256);
  const known = new Uint8Array(256 * 256);
  for (let i = 0; i < cells.keys.length; i++) {
    const key = cells.keys[i] ?? 0;
    const fill = cells.fills[i] ?? 0;
    let colour = ground.ground;
    if (key === IDLE || (key !== NOTHING && hueOf[key] === IDLE_HUE)) continue;
    if (key !== NOTHING) {
      const at = key * 256 + fill;
      if (!known[at]) {
        known[at] = 1;
        table[at] = colourOf(hueOf[key] ?? OTHERS, only === null || only.has(key) ? fill : 0, ground);
      }
      colour = table[at] ?? 0;
    }
    pixels[4 * i] = colour >> 16;
    pixels[4 * i + 1] = (colour >> 8) & 255;
    pixels[4 * i + 2] = colour & 255;
    pixels[4 * i + 3] = 255;
  }
  return pixels;
}

const MINUTE = 6e10;
const LONG_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440].map((minutes) => minutes * MINUTE);

/** The distance of ticks in a span of nanoseconds: 1, 2 or 5 times a power of ten; of minutes, hours and days, what divides the next one. */
function stepOf(span: number, most: number): number {
  const least = span / most;
  if (least > MINUTE / 2) {
    const long = LONG_STEPS.find((step) => step >= least);
    if (long !== undefined) return long;
  }
  const unit = least > MINUTE ? 1440 * MINUTE : 1;
  const power = 10 ** Math.floor(Math.log10(least / unit));
  return unit * power * ([1, 2, 5].find((factor) => power * factor * unit >= least) ?? 10);
}

/** Round times, at most `most` of them in the span. */
export function ticks(from: number, to: number, most: number): number[] {
  if (!(to > from)) return [];
  const step = stepOf(to - from, most);
  const first = Math.ceil(from / step);
  const found: number[] = [];
  for (let index = first; index * step < to && found.length <= most; index++) found.push(index * step);
  return found;
}
