// SPDX-License-Identifier: BSD-3-Clause
// Rows of `lode sql --json`, with the digits that the program writes, and what to draw of them.

export interface Cell {
  /** As the program writes it. */
  readonly text: string;
  /** Undefined: it is none. */
  readonly number?: number;
  readonly isNull?: boolean;
}

export interface Result {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  readonly isTruncated: boolean;
}

interface Raw {
  readonly results: readonly { readonly columns: readonly string[]; readonly rows: readonly (readonly unknown[])[]; readonly is_truncated: boolean | { readonly digits: string } }[];
}

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

function cellOf(value: unknown): Cell {
  if (value === null) return { text: 'null', isNull: true };
  if (typeof value === 'object' && 'digits' in value) return { text: String(value.digits), number: Number(value.digits) };
  return { text: String(value) };
}

/** The results in a text of JSON. Integers have 64 bits, and numbers of this language 53: their digits are taken as they are. */
export function cellsOf(json: string): Result[] {
  const exact = JSON.parse(json.replace(TOKEN, (token) => (token.startsWith('"') ? token : `{"digits":"${token}"}`))) as Raw;
  return exact.results.map((result) => ({ columns: result.columns, rows: result.rows.map((row) => row.map(cellOf)), isTruncated: result.is_truncated === true }));
}

export interface Point {
  readonly x: number;
  readonly y: number;
  readonly name: string;
  readonly text: string;
}

export interface Plot {
  readonly kind: 'bars' | 'line';
  readonly title: string;
  readonly by: string;
  readonly low: string;
  readonly high: string;
  readonly points: readonly Point[];
}

const MOST_BARS = 60;

/** The first column of numbers; if the first column is one of numbers, the next one over it, as a line where its numbers rise. */
export function plotOf(result: Result): Plot | null {
  const isNumeric = (index: number): boolean => result.rows.length > 1 && result.rows.every((row) => row[index]?.isNull === true || Number.isFinite(row[index]?.number)) && result.rows.some((row) => row[index]?.number !== undefined);
  const numeric = result.columns.map((_, index) => index).filter(isNumeric);
  const value = numeric[0] === 0 && numeric.length > 1 ? numeric[1] : numeric[0];
  if (value === undefined) return null;
  const by = value === 0 ? -1 : 0;
  const rows = result.rows.filter((row) => row[value]?.number !== undefined);
  const points = rows.map((row, index) => ({ x: by === 0 && numeric[0] === 0 ? (row[0]?.number ?? index) : index, y: row[value]?.number ?? 0, name: by < 0 ? String(index + 1) : (row[by]?.text ?? ''), text: row[value]?.text ?? '' }));
  const rises = points.every((point, index) => index === 0 || point.x > (points[index - 1]?.x ?? 0));
  const isLine = (numeric[0] === 0 && by === 0 && rises) || (by < 0 && points.length > MOST_BARS);
  const shown = isLine ? points : points.slice(0, MOST_BARS);
  const sorted = [...shown].sort((a, b) => a.y - b.y);
  return { kind: isLine ? 'line' : 'bars', title: result.columns[value] ?? '', by: by < 0 ? 'row' : (result.columns[by] ?? ''), low: sorted[0]?.text ?? '0', high: sorted[sorted.length - 1]?.text ?? '0', points: shown };
}
