// SPDX-License-Identifier: BSD-3-Clause
// The history of a cost, as a picture: where its points are.

export interface Point {
  readonly run: number;
  readonly begun_ns: string;
  readonly exclusive: number | null;
  readonly inclusive: number | null;
  readonly is_change: boolean;
}

export interface Place {
  readonly point: Point;
  readonly value: number;
  readonly x: number;
  readonly y: number;
}

/** From left to right in their order, from zero at the bottom; what has no cost is left out. */
export function placesOf(points: readonly Point[], cost: 'exclusive' | 'inclusive', width: number, height: number): { places: Place[]; most: number } {
  const values = points.map((point) => ({ point, value: point[cost] })).filter((item): item is { point: Point; value: number } => item.value !== null && Number.isFinite(item.value));
  const most = Math.max(0, ...values.map((item) => item.value));
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  const places = values.map(({ point, value }, index) => ({ point, value, x: values.length > 1 ? index * step : width / 2, y: most > 0 ? height - (Math.max(0, value) / most) * height : height }));
  return { places, most };
}

/** "2026-03-02 09:00", in UTC. */
export function minute(nanoseconds: string): string {
  const time = new Date(Number(BigInt(nanoseconds) / 1000000n));
  return Number.isNaN(time.getTime()) ? '' : time.toISOString().slice(0, 16).replace('T', ' ');
}

/** Labels as the program prints them, without those that have a column of their own or are long. */
export function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels).filter(([name]) => name !== 'title' && name !== 'command').map(([name, value]) => `${name}=${value}`).join('; ');
}
