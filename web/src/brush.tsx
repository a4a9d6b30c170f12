// SPDX-License-Identifier: BSD-3-Clause
// A drag over a picture of durations over time selects a range of both.
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';

/** Where something is in the picture, in units of its view box. */
interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Brush {
  readonly onPointerDown: (event: PointerEvent & { currentTarget: SVGSVGElement }) => void;
  readonly onPointerMove: (event: PointerEvent & { currentTarget: SVGSVGElement }) => void;
  readonly onPointerUp: () => void;
  readonly onPointerCancel: () => void;
}

const LEAST = 6;

/** `pick` gets the corners of what was selected; sides that are too short are null: they select nothing. */
export function useBrush(width: number, height: number, pick: (x: readonly [number, number] | null, y: readonly [number, number] | null) => void): { brush: Brush; mark: JSX.Element | null } {
  const from = useRef<Point | null>(null);
  const [to, setTo] = useState<Point | null>(null);
  const at = (event: PointerEvent & { currentTarget: SVGSVGElement }): Point => {
    const box = event.currentTarget.getBoundingClientRect();
    const part = (value: number): number => Math.max(0, Math.min(1, value));
    return { x: part((event.clientX - box.left) / box.width) * width, y: part((event.clientY - box.top) / box.height) * height };
  };
  const end = (): void => {
    from.current = null;
    setTo(null);
  };
  const sides = (a: number, b: number): readonly [number, number] | null => (Math.abs(a - b) < LEAST ? null : [Math.min(a, b), Math.max(a, b)]);
  const start = from.current;
  return {
    brush: {
      onPointerDown: (event) => {
        if (event.button === 0) from.current = at(event);
      },
      onPointerMove: (event) => {
        const now = at(event);
        if (!from.current || (to === null && !sides(from.current.x, now.x) && !sides(from.current.y, now.y))) return;
        // Not before: a click is for what is under the pointer.
        event.currentTarget.setPointerCapture(event.pointerId);
        setTo(now);
      },
      onPointerUp: () => {
        if (start && to) pick(sides(start.x, to.x), sides(start.y, to.y));
        end();
      },
      onPointerCancel: end,
    },
    mark: start && to ? <rect class="brush" x={Math.min(start.x, to.x)} width={Math.abs(start.x - to.x)} y={Math.min(start.y, to.y)} height={Math.abs(start.y - to.y)} /> : null,
  };
}
