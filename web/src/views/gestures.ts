// SPDX-License-Identifier: BSD-3-Clause
// What keys, wheel and pointer do in the timeline: they change the time window that is shown at once; the address and answers follow.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useKeys } from '../keys';
import { isReport } from '../report';
import { addressOf, go, state as place, type State } from '../state';
import { windowOf, type Picture } from '../timeline';
import { addressed, areaText, moved, requested, timeAt, wheelOf, within, zoomed, type Window } from '../window';

const REST = 90;

export interface Shown {
  readonly window: Window;
  /** Shows another window at once; the address and answers follow when it rests. */
  readonly show: (change: (now: Window) => Window) => void;
  /** A step of the history. */
  readonly jump: (window: Window) => void;
  readonly isMoving: boolean;
}

/** The window on the screen: that of the picture if this is what was asked for last, else the one that was asked for. */
export function useShown(state: State, picture: Picture, all: Window, isStale: boolean): Shown {
  const moving = useRef<Window | null>(null);
  const timer = useRef(0);
  const [isMoving, setMoving] = useState(false);
  const [, redraw] = useState(0);
  const answered = windowOf(picture);
  const base = isStale ? (requested(state, all, BigInt(picture.start_ns)) ?? answered) : answered;
  const stop = (): void => {
    clearTimeout(timer.current);
    moving.current = null;
    setMoving(false);
  };
  useLayoutEffect(stop, [state.from, state.to]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const rest = (): void => {
    const change = moving.current ? addressed(moving.current, all) : {};
    // Until the page has the new address, steps go on from this window.
    if (addressOf({ ...place.value, ...change }) === addressOf(place.value)) stop();
    else go(change, 'replace');
  };
  const show = (change: (now: Window) => Window): void => {
    moving.current = within(change(moving.current ?? base), all);
    setMoving(true);
    redraw((times) => times + 1);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(rest, REST);
  };
  const jump = (window: Window): void => {
    stop();
    go(addressed(within(window, all), all));
  };
  return { window: moving.current ?? base, show, jump, isMoving };
}

/** Where a pointer is: 0 at the left end, below 1 at the right one. */
export function partUnder(event: { clientX: number; currentTarget: HTMLElement }): number {
  const box = event.currentTarget.getBoundingClientRect();
  return Math.max(0, Math.min(0.999999, (event.clientX - box.left) / box.width));
}

/** Keys of the timeline; `at` is the time that stays where it is. */
export function useTimeKeys(state: State, shown: Shown, all: Window, area: Window | null, at: (window: Window) => number): void {
  const zoom = (factor: number): void => shown.show((now) => zoomed(now, at(now), factor));
  const none = (): void => undefined;
  useKeys([
    { code: 'KeyW', key: '+', label: 'W or +', title: 'zoom in at the pointer, the crosshair or the middle', run: () => zoom(0.5) },
    { code: 'KeyS', key: '-', label: 'S or -', title: 'zoom out', run: () => zoom(2) },
    { code: 'KeyA', label: 'A', title: 'earlier', run: () => shown.show((now) => moved(now, -0.25)) },
    { code: 'KeyD', label: 'D', title: 'later', run: () => shown.show((now) => moved(now, 0.25)) },
    { key: '0', label: '0 or double click', title: 'all time', run: () => shown.jump(all) },
    { key: ']', label: ']', title: 'one call level deeper', run: () => go({ depth: String(Number(state.depth === '' ? 0 : state.depth) + 1) }) },
    { key: '[', label: '[', title: 'one call level less; below 1, the innermost functions', run: () => go({ depth: Number(state.depth) > 1 ? String(Number(state.depth) - 1) : '' }) },
    { key: 'z', label: 'z', title: 'zoom to the selected area', run: () => area && shown.jump(area) },
    { label: 'wheel', title: 'zoom at the pointer', run: none },
    { label: 'Shift+wheel, drag', title: 'earlier, later', run: none },
    { label: 'Shift+drag', title: 'select an area', run: none },
    { label: 'drag in the small picture', title: 'move what is shown', run: none },
    { label: '← → ↑ ↓', title: 'move the crosshair', run: none },
  ]);
}

const CLICK = 4;

interface Drag {
  readonly x: number;
  readonly window: Window;
  readonly isArea: boolean;
  hasMoved: boolean;
}

/** Handlers of an element that is as wide as the time window. */
export interface Gestures {
  readonly onPointerDown: (event: PointerEvent & { currentTarget: HTMLElement }) => void;
  readonly onPointerMove: (event: PointerEvent & { currentTarget: HTMLElement }) => void;
  readonly onPointerUp: (event: PointerEvent & { currentTarget: HTMLElement }) => void;
  readonly onPointerLeave: () => void;
  readonly onPointerCancel: () => void;
  readonly onDblClick: () => void;
  readonly onWheel: (event: WheelEvent & { currentTarget: HTMLElement }) => void;
}

type Told = (part: number, event: PointerEvent & { currentTarget: HTMLElement }) => void;

/** Drag, Shift+drag, wheel and double click, the same wherever time is from left to right. `area` is what a drag with Shift selects, until it ends. */
export function useGestures(shown: Shown, all: Window): { area: Window | null; pointer: { current: number | null }; on: (click: Told, hover?: Told) => Gestures } {
  const [area, setArea] = useState<Window | null>(null);
  const drag = useRef<Drag | null>(null);
  const pointer = useRef<number | null>(null);
  const { window } = shown;
  const end = (): void => {
    drag.current = null;
    setArea(null);
  };
  const on = (click: Told, hover?: Told): Gestures => ({
    onPointerDown: (event) => {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      drag.current = { x: event.clientX, window, isArea: event.shiftKey, hasMoved: false };
    },
    onPointerMove: (event) => {
      const part = partUnder(event);
      const held = drag.current;
      pointer.current = part;
      hover?.(part, event);
      if (held === null || (!held.hasMoved && Math.abs(event.clientX - held.x) < CLICK)) return;
      held.hasMoved = true;
      const box = event.currentTarget.getBoundingClientRect();
      const [first, now] = [timeAt(held.window, (held.x - box.left) / box.width), timeAt(held.window, part)];
      if (held.isArea) setArea({ from: Math.min(first, now), to: Math.max(first, now) });
      else if (!isReport) shown.show(() => moved(held.window, (held.x - event.clientX) / box.width));
    },
    onPointerUp: (event) => {
      const held = drag.current;
      if (held && !held.hasMoved) click(partUnder(event), event);
      else if (held?.isArea && area) go({ area: areaText(area) });
      end();
    },
    onPointerLeave: () => (pointer.current = null),
    onPointerCancel: end,
    onDblClick: () => shown.jump(all),
    onWheel: (event) => {
      // A report has no other time windows: there, the wheel scrolls the page.
      if (isReport) return;
      event.preventDefault();
      const { zoom, pan } = wheelOf(event), part = partUnder(event);
      shown.show((now) => (pan === 0 ? zoomed(now, timeAt(now, part), zoom) : moved(now, pan)));
    },
  });
  return { area, pointer, on };
}
