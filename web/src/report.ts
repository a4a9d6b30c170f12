// SPDX-License-Identifier: BSD-3-Clause
// A report is this page in one file with the answers inside, which `lode report` writes: elements <script type="application/json"
// data-target="top/0?limit=12">. They stand for the server; the same code shows them. A file of `lode flame` has one answer only, its boxes.

/** What the report is (doc/schemas/lode-report.json). */
export interface About {
  readonly version: string;
  readonly title: string;
  readonly notes: string | null;
  readonly is_anonymous: boolean;
  /** Questions whose answers had no room. */
  readonly left_out: readonly string[];
}

export interface Inside {
  readonly status: number;
  readonly body: unknown;
}

/** The question without the order of its parameters. */
export function keyOf(target: string): string {
  const [path = '', query = ''] = target.split('?');
  const parts = new URLSearchParams(query);
  parts.sort();
  return `${path}?${parts.toString()}`;
}

const elements = new Map<string, Element>();
const read = new Map<string, Inside>();
if (typeof document !== 'undefined') {
  for (const element of document.querySelectorAll('script[data-target]')) elements.set(keyOf(element.getAttribute('data-target') ?? ''), element);
}

/** The answer to a question; null if the report does not have it. An answer is parsed once. */
export function answerInside(target: string): Inside | null {
  const key = keyOf(target);
  const known = read.get(key);
  const element = elements.get(key);
  if (known || !element) return known ?? null;
  const found = { status: Number(element.getAttribute('data-status')), body: JSON.parse(element.textContent ?? 'null') as unknown };
  read.set(key, found);
  return found;
}

export const about = (answerInside('report')?.body ?? null) as About | null;
/** The boxes of a file of `lode flame`. */
export const boxesInside: unknown = answerInside('flame')?.body ?? null;
/** Whether there is no server. */
export const isReport = about !== null || boxesInside !== null;

/** Whether the report would have the answer if it were allowed to be larger. */
export function isLeftOut(target: string): boolean {
  return about?.left_out.some((other) => keyOf(other) === keyOf(target)) ?? false;
}
