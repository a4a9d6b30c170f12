// SPDX-License-Identifier: BSD-3-Clause
// The timeline as a picture that moves: keys, wheel and pointer change its time window at once, and answers follow.
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { DARK, FIRST, IDLE, LIGHT, NOTHING, OTHERS, paint, ticks, type Cells, type Ground } from '../draw/picture';
import { amount, clean, count, mark, percent } from '../format';
import type { Info } from '../info';
import { useKeys } from '../keys';
import { isReport } from '../report';
import { addressOf, go, state as place, type State } from '../state';
import { theme } from '../theme';
import { cellsOf, crossOf, huesOf, running, setCross, windowOf, type Picture } from '../timeline';
import { addressed, centred, moved, partOf, requested, timeAt, wheelOf, within, zoomed, type Window } from '../window';
import { Calls } from './calls';

const TALLEST_ROW = 18;
const PLOT_HEIGHT = 320;
export const MAP_HEIGHT = 28;
const LABEL_STEP = 15;

export const heightOf = (rows: number): number => Math.max(40, Math.min(PLOT_HEIGHT, rows * TALLEST_ROW));

export function useGround(): Ground {
  const [isDark, setDark] = useState(matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const media = matchMedia('(prefers-color-scheme: dark)');
    const look = (): void => setDark(media.matches);
    media.addEventListener('change', look);
    return () => media.removeEventListener('change', look);
  }, []);
  return theme.value === 'dark' || (theme.value === 'system' && isDark) ? DARK : LIGHT;
}

/** A picture and the time that it shows. */
interface Layer {
  readonly cells: Cells;
  readonly hues: readonly number[];
  readonly window: Window;
}

function imageOf({ cells, hues }: Layer, ground: Ground, only: number): HTMLCanvasElement | null {
  const image = document.createElement('canvas');
  image.width = cells.columns;
  image.height = cells.rows;
  const drawing = image.getContext('2d');
  if (cells.rows === 0 || cells.columns === 0 || !drawing) return null;
  drawing.putImageData(new ImageData(paint(cells, hues, ground, only), cells.columns, cells.rows), 0, 0);
  return image;
}

/** Draws the part of a picture that is in the window, stretched to where it belongs. */
function stretch(drawing: CanvasRenderingContext2D, image: HTMLCanvasElement, from: Window, window: Window): void {
  const [begin, end] = [Math.max(from.from, window.from), Math.min(from.to, window.to)];
  if (!(end > begin)) return;
  const { width, height } = drawing.canvas;
  const [left, right] = [partOf(from, begin) * image.width, partOf(from, end) * image.width];
  const [x, to] = [partOf(window, begin) * width, partOf(window, end) * width];
  drawing.imageSmoothingEnabled = false;
  drawing.drawImage(image, left, 0, right - left, image.height, x, 0, to - x, height);
}

/**
 * The picture; while its window is not the one that is shown, its part of it, stretched, over that of the whole run. `behind` is the
 * picture of the whole run.
 */
export function Canvas(props: { cells: Cells; hues: readonly number[]; ground: Ground; only: number; height: number; label: string; id: string; window?: Window; shown?: Window; behind?: Layer }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { cells, hues, ground, only, window, shown, behind } = props;
  const image = useMemo(() => imageOf({ cells, hues, window: { from: 0, to: 1 } }, ground, only), [cells, hues, ground, only]);
  const isMoved = window !== undefined && shown !== undefined && (window.from !== shown.from || window.to !== shown.to);
  const far = useMemo(() => (isMoved && behind ? imageOf(behind, ground, 0) : null), [isMoved, behind, ground]);
  // Before the next frame: what moves is where it should be in the same frame as the axis.
  useLayoutEffect(() => {
    const drawing = canvas.current?.getContext('2d');
    if (!drawing || !image) return;
    drawing.clearRect(0, 0, cells.columns, cells.rows);
    if (isMoved && far && behind) stretch(drawing, far, behind.window, shown);
    if (isMoved) stretch(drawing, image, window, shown);
    else drawing.drawImage(image, 0, 0);
  }, [image, far, isMoved, window?.from, window?.to, shown?.from, shown?.to]);
  return <canvas id={props.id} ref={canvas} width={cells.columns} height={Math.max(1, cells.rows)} role="img" aria-label={props.label} style={{ width: '100%', height: `${String(props.height)}px` }} />;
}

export function Axis({ window }: { window: Window }): JSX.Element {
  const times = ticks(window.from, window.to, 8);
  return (
    <div class="axis" aria-hidden="true">
      {times.map((time) => <span key={time} style={{ left: `${String(partOf(window, time) * 100)}%` }}>{mark(time, (times[1] ?? 0) - (times[0] ?? 0) || time)}</span>)}
    </div>
  );
}

/** Names of lines beside the picture, as many as there is room for. */
export function Names({ picture, height }: { picture: Picture; height: number }): JSX.Element {
  const step = Math.max(1, Math.ceil((LABEL_STEP * picture.timeline.length) / height));
  const shown = picture.timeline.map((line, row) => ({ line, row })).filter(({ row }) => row % step === 0);
  return (
    <div class="names" aria-hidden="true" style={{ height: `${String(height)}px` }}>
      {shown.map(({ line, row }) => <span key={row} style={{ top: `${String(((row + 0.5) / picture.timeline.length) * 100)}%` }} title={clean(line.name)}>{clean(line.name)}</span>)}
    </div>
  );
}

const REST = 90;

interface Shown {
  readonly window: Window;
  /** Shows another window at once; the address and answers follow when it rests. */
  readonly show: (change: (now: Window) => Window) => void;
  /** A step of the history. */
  readonly jump: (window: Window) => void;
  readonly isMoving: boolean;
}

/** The window on the screen: that of the picture if this is what was asked for last, else the one that was asked for. */
function useShown(state: State, picture: Picture, all: Window, isStale: boolean): Shown {
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
function partUnder(event: { clientX: number; currentTarget: HTMLElement }): number {
  const box = event.currentTarget.getBoundingClientRect();
  return Math.max(0, Math.min(0.999999, (event.clientX - box.left) / box.width));
}

/** All of the run, with a frame around what is shown: a drag moves the frame, a click brings it; if all is shown, a drag draws it. */
function MiniMap({ whole, all, shown, ground }: { whole: Layer; all: Window; shown: Shown; ground: Ground }): JSX.Element {
  const drag = useRef<{ grip: number; first: number | null } | null>(null);
  const { from, to } = shown.window;
  const follow = (event: { clientX: number; currentTarget: HTMLElement }): void => {
    const time = timeAt(all, partUnder(event));
    const held = drag.current;
    if (held === null) return;
    if (held.first === null) shown.show((now) => centred(now, time - held.grip));
    else if (Math.abs(time - held.first) > (all.to - all.from) / 500) shown.show(() => ({ from: Math.min(time, held.first ?? 0), to: Math.max(time, held.first ?? 0) }));
  };
  return (
    <div
      class="minimap" onDblClick={() => shown.jump(all)}
      onPointerDown={(event) => {
        if (isReport) return;
        const time = timeAt(all, partUnder(event));
        const isAll = from <= all.from && to >= all.to;
        drag.current = { grip: time >= from && time < to ? time - (from + to) / 2 : 0, first: isAll ? time : null };
        event.currentTarget.setPointerCapture(event.pointerId);
        follow(event);
      }}
      onPointerMove={follow} onPointerUp={() => (drag.current = null)} onPointerCancel={() => (drag.current = null)}
    >
      <Canvas id="minimap" cells={whole.cells} hues={whole.hues} ground={ground} only={0} height={MAP_HEIGHT} label="All of the run" />
      <i class="shown" style={{ left: `${String(partOf(all, from) * 100)}%`, width: `${String(((to - from) / (all.to - all.from)) * 100)}%` }} />
    </div>
  );
}

interface PlotProps {
  readonly state: State;
  readonly info: Info;
  readonly picture: Picture;
  readonly whole: Picture;
  readonly hues: readonly number[];
  readonly ground: Ground;
  readonly only: number;
  /** Whether the picture is of another window than that of the address. */
  readonly isStale: boolean;
}

/** What is at a time of a row, in words. */
function describe(picture: Picture, cells: Cells, row: number, time: number): string {
  const part = partOf(windowOf(picture), time);
  const at = row * cells.columns + Math.floor(part * cells.columns);
  const key = part >= 0 && part < 1 ? (cells.keys[at] ?? 0) : null;
  const line = picture.timeline[row];
  const name = key === null ? '…' : key === NOTHING ? 'nothing' : key === IDLE ? '(not running)' : key === 255 ? 'another function' : clean(running(picture)[key - FIRST]?.name);
  const more = line && line.merged_lines > 1 ? ` and ${count(line.merged_lines - 1)} more lines` : '';
  return `${clean(line?.name)}${more}, ${amount(time, 'nanoseconds')}: ${name}${key === null || key === NOTHING ? '' : `, ${percent(((cells.fills[at] ?? 0) / 255) * 100)}% of the cell`}`;
}

/** Keys of the timeline; `at` is the time that stays where it is. */
function useTimeKeys(state: State, shown: Shown, all: Window, at: (window: Window) => number): void {
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
    { label: 'wheel', title: 'zoom at the pointer', run: none },
    { label: 'Shift+wheel, drag', title: 'earlier, later', run: none },
    { label: 'Shift+drag', title: 'zoom to an interval', run: none },
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

export function Plot({ state, info, picture, whole, hues, ground, only, isStale }: PlotProps): JSX.Element {
  const cells = useMemo(() => cellsOf(picture), [picture]);
  const far = useMemo(() => ({ cells: cellsOf(whole), hues: huesOf(whole, whole), window: windowOf(whole) }), [whole]);
  const all = far.window;
  const shown = useShown(state, picture, all, isStale);
  const { window } = shown;
  const cross = crossOf(state, picture);
  const line = picture.timeline[cross?.row ?? 0];
  const named = useMemo(() => new Map(running(picture).map((row, index) => [row.name, hues[FIRST + index] ?? OTHERS])), [picture, hues]);
  const [hover, setHover] = useState('');
  const [area, setArea] = useState<Window | null>(null);
  const drag = useRef<Drag | null>(null);
  const pointer = useRef<number | null>(null);
  const height = heightOf(cells.rows);
  const largest = running(picture)[0];
  const label = `${count(picture.line_count)} lines, ${amount(window.from, 'nanoseconds')} to ${amount(window.to, 'nanoseconds')}${largest ? `; mostly ${clean(largest.name)}, ${percent(largest.percent)}%` : ''}`;
  const isInside = cross !== null && cross.time >= window.from && cross.time < window.to;
  useTimeKeys(state, shown, all, (now) => timeAt(now, pointer.current ?? (cross && cross.time >= now.from && cross.time < now.to ? partOf(now, cross.time) : 0.5)));
  const rowUnder = (event: { clientY: number; currentTarget: HTMLElement }): number => {
    const box = event.currentTarget.getBoundingClientRect();
    return Math.max(0, Math.min(cells.rows - 1, Math.floor(((event.clientY - box.top) / box.height) * cells.rows)));
  };
  const move = (rows: number, columns: number): void => {
    const row = Math.max(0, Math.min(cells.rows - 1, (cross?.row ?? 0) + rows));
    const span = window.to - window.from;
    const time = Math.max(window.from, Math.min(window.to - 1, (cross?.time ?? window.from + span / 2) + (columns * span) / 100));
    setCross(picture, row, time, 'replace');
    setHover(describe(picture, cells, row, time));
  };
  const onMove = (event: PointerEvent & { currentTarget: HTMLElement }): void => {
    const part = partUnder(event);
    const held = drag.current;
    pointer.current = part;
    setHover(describe(picture, cells, rowUnder(event), timeAt(window, part)));
    if (held === null || (!held.hasMoved && Math.abs(event.clientX - held.x) < CLICK)) return;
    held.hasMoved = true;
    const box = event.currentTarget.getBoundingClientRect();
    const [first, now] = [timeAt(held.window, (held.x - box.left) / box.width), timeAt(held.window, part)];
    if (held.isArea) setArea({ from: Math.min(first, now), to: Math.max(first, now) });
    else if (!isReport) shown.show(() => moved(held.window, (held.x - event.clientX) / box.width));
  };
  const onUp = (event: PointerEvent & { currentTarget: HTMLElement }): void => {
    const held = drag.current;
    drag.current = null;
    if (held && !held.hasMoved) setCross(picture, rowUnder(event), timeAt(window, partUnder(event)), 'push');
    else if (held?.isArea && area) shown.jump(area);
    setArea(null);
  };
  return (
    <div class="timeplot" aria-busy={isStale || shown.isMoving}>
      <MiniMap whole={far} all={all} shown={shown} ground={ground} />
      <Names picture={picture} height={height} />
      <div
        class="plot" tabIndex={0} aria-label="Timeline: arrows move the crosshair" role="application" style={{ height: `${String(height)}px` }}
        data-from={window.from} data-to={window.to}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          drag.current = { x: event.clientX, window, isArea: event.shiftKey, hasMoved: false };
        }}
        onPointerMove={onMove} onPointerUp={onUp} onPointerLeave={() => (pointer.current = null)}
        onPointerCancel={() => {
          drag.current = null;
          setArea(null);
        }}
        onDblClick={() => shown.jump(all)}
        onWheel={(event) => {
          // A report has no other time windows: there, the wheel scrolls the page.
          if (isReport) return;
          event.preventDefault();
          const { zoom, pan } = wheelOf(event), part = partUnder(event);
          shown.show((now) => (pan === 0 ? zoomed(now, timeAt(now, part), zoom) : moved(now, pan)));
        }}
        onKeyDown={(event) => {
          const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Enter: [0, 0] }[event.key];
          if (!step || event.ctrlKey || event.altKey) return;
          event.preventDefault();
          move(step[0] ?? 0, step[1] ?? 0);
        }}
      >
        <Canvas id="timeline" cells={cells} hues={hues} ground={ground} only={only} height={height} label={label} window={windowOf(picture)} shown={window} behind={far} />
        {area ? <i class="drag" style={{ left: `${String(partOf(window, area.from) * 100)}%`, width: `${String((partOf(window, area.to) - partOf(window, area.from)) * 100)}%` }} /> : null}
        {isInside ? (
          <>
            <i class="cross vertical" style={{ left: `${String(partOf(window, cross.time) * 100)}%` }} />
            <i class="cross horizontal" style={{ top: `${String(((cross.row + 0.5) / cells.rows) * 100)}%` }} />
          </>
        ) : null}
      </div>
      <Axis window={window} />
      {line ? (
        <Calls
          state={state} info={info} line={line} hues={named} ground={ground} start={BigInt(picture.start_ns)} shown={window} cross={isInside ? partOf(window, cross.time) : null}
          onPick={(part) => setCross(picture, picture.timeline.indexOf(line), timeAt(window, part), 'push')}
        />
      ) : null}
      <p class="quiet hover" aria-live="polite">{hover === '' ? label : hover}</p>
    </div>
  );
}
