// SPDX-License-Identifier: BSD-3-Clause
// The timeline as a picture that moves: keys, wheel and pointer change its time window at once, and answers follow.
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { DARK, FIRST, IDLE, LIGHT, NOTHING, OTHERS, paint, ticks, type Cells, type Ground } from '../draw/picture';
import { amount, clean, count, mark, percent } from '../format';
import type { Info } from '../info';
import { useKeys } from '../keys';
import { isReport } from '../report';
import { notesOf, timeOfNote } from '../notes';
import { state as place, type State } from '../state';
import { theme } from '../theme';
import { cellsOf, crossOf, css, huesOf, running, setCross, windowOf, type Line, type Picture } from '../timeline';
import { areaOf, centred, partOf, timeAt, type Window } from '../window';
import { Calls, entryOf } from './calls';
import { partUnder, useGestures, useShown, useTimeKeys, type Shown } from './gestures';
import { pinnedOf, togglePin, togglePins, Track, type Pinned } from './tracks';

const TALLEST_ROW = 44;
const PLOT_HEIGHT = 320;
/** Of the window. */
const PLOT_PART = 0.4;
export const MAP_HEIGHT = 28;
const LABEL_STEP = 15;

/** As high as its rows may be, and no higher than the room. */
export const heightOf = (rows: number, room = PLOT_HEIGHT): number => Math.max(40, Math.min(room, rows * TALLEST_ROW));

/** How high the picture may be in this window. */
function useRoom(): number {
  const [height, setHeight] = useState(innerHeight);
  useEffect(() => {
    const look = (): void => setHeight(innerHeight);
    addEventListener('resize', look);
    return () => removeEventListener('resize', look);
  }, []);
  return Math.max(140, Math.round(height * PLOT_PART));
}

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

function imageOf({ cells, hues }: Layer, ground: Ground, only: ReadonlySet<number> | null): HTMLCanvasElement | null {
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
  // Idle cells are transparent: what was drawn before must not show through.
  drawing.clearRect(x, 0, to - x, height);
  drawing.drawImage(image, left, 0, right - left, image.height, x, 0, to - x, height);
}

/**
 * The picture; while its window is not the one that is shown, its part of it, stretched, over that of the whole run. `behind` is the
 * picture of the whole run.
 */
export function Canvas(props: { cells: Cells; hues: readonly number[]; ground: Ground; only: ReadonlySet<number> | null; height: number; label: string; id: string; window?: Window; shown?: Window; behind?: Layer }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { cells, hues, ground, only, window, shown, behind } = props;
  const image = useMemo(() => imageOf({ cells, hues, window: { from: 0, to: 1 } }, ground, only), [cells, hues, ground, only]);
  const isMoved = window !== undefined && shown !== undefined && (window.from !== shown.from || window.to !== shown.to);
  const far = useMemo(() => (isMoved && behind ? imageOf(behind, ground, null) : null), [isMoved, behind, ground]);
  // Before the next frame: what moves is where it should be in the same frame as the axis.
  useLayoutEffect(() => {
    const drawing = canvas.current?.getContext('2d');
    if (!drawing || !image) return;
    drawing.clearRect(0, 0, cells.columns, cells.rows);
    if (isMoved && far && behind) stretch(drawing, far, behind.window, shown);
    if (isMoved) stretch(drawing, image, window, shown);
    else drawing.drawImage(image, 0, 0);
  }, [image, far, isMoved, window?.from, window?.to, shown?.from, shown?.to]);
  // Drawn with the pixels of the screen, however much the cells are stretched.
  const hatched = `repeating-linear-gradient(135deg, ${css(ground.idleLine)} 0 1px, ${css(ground.idle)} 1px 6px)`;
  return <canvas id={props.id} ref={canvas} class="cells" width={cells.columns} height={Math.max(1, cells.rows)} role="img" aria-label={props.label} data-idle={css(ground.idle)} style={{ width: '100%', height: `${String(props.height)}px`, background: hatched }} />;
}

export function Axis({ window }: { window: Window }): JSX.Element {
  const times = ticks(window.from, window.to, 8);
  return (
    <div class="axis" aria-hidden="true">
      {times.map((time) => <span key={time} style={{ left: `${String(partOf(window, time) * 100)}%` }}>{mark(time, (times[1] ?? 0) - (times[0] ?? 0) || time)}</span>)}
    </div>
  );
}

/** What a row of the picture is called: requests and their lanes by number, others by the name of the first line. */
export function rowName(line: Line, info: Info, picture: Picture): string {
  if (!info.hasRequests) return line.name;
  const first = (line.track ?? 0) + 1;
  return line.merged_lines > 1 ? `lines ${String(first)}\u2013${String(first + line.merged_lines - 1)}` : rowTitle(line, info, picture);
}

/** Of a row of several requests, the calls are those of the first line. */
export function rowTitle(line: Line, info: Info, picture: Picture): string {
  if (!info.hasRequests) return line.name;
  const main = picture.timeline.find((other) => other.id !== undefined && other.id === line.id) ?? line;
  return `request ${String((main.track ?? 0) + 1)}${main === line ? '' : ` \u2225 ${String((line.track ?? 0) - (main.track ?? 0))}`}`;
}

/** Names of lines beside the picture, as many as there is room for; with `onPin`, a click pins the calls of a line to the top. */
export function Names({ picture, info, height, pinned, onPin }: { picture: Picture; info: Info; height: number; pinned?: readonly Pinned[]; onPin?: (line: Line) => void }): JSX.Element {
  const step = Math.max(1, Math.ceil((LABEL_STEP * picture.timeline.length) / height));
  const shown = picture.timeline.map((line, row) => ({ line, row })).filter(({ row }) => row % step === 0);
  return (
    <div class="names" role="group" aria-label="Lines" style={{ height: `${String(height)}px` }}>
      {shown.map(({ line, row }) => {
        const name = clean(rowName(line, info, picture));
        const top = `${String(((row + 0.5) / picture.timeline.length) * 100)}%`;
        if (!onPin) return <span key={row} style={{ top }} title={name}>{name}</span>;
        const isPinned = pinned?.some((other) => other.entry === entryOf(info, line)) === true;
        return <button key={row} type="button" tabIndex={-1} aria-pressed={isPinned} style={{ top }} title={`${name}: ${isPinned ? 'unpin its calls' : 'pin its calls to the top (p, at the crosshair)'}`} onClick={() => onPin(line)}><span>{name}</span></button>;
      })}
    </div>
  );
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
      <Canvas id="minimap" cells={whole.cells} hues={whole.hues} ground={ground} only={null} height={MAP_HEIGHT} label="All of the run" />
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
  /** Keys that keep their colour, and names that do not; null: all keep it. */
  readonly only: ReadonlySet<number> | null;
  readonly dimmed: (name: string) => boolean;
  /** Whether the picture is of another window than that of the address. */
  readonly isStale: boolean;
}

/** The selected area and the crosshair, over whatever has time from left to right. */
function Marks({ area, cross, window }: { area: Window | null; cross: number | null; window: Window }): JSX.Element {
  return (
    <>
      {area ? <i class="drag" style={{ left: `${String(partOf(window, area.from) * 100)}%`, width: `${String((partOf(window, area.to) - partOf(window, area.from)) * 100)}%` }} /> : null}
      {notesOf(place.value).map((note, index) => {
        const time = timeOfNote(note);
        if (time === null || time.to < window.from || time.from >= window.to) return null;
        return <i key={index} class="note" title={`${clean(note.name)}: ${clean(note.text)}`} style={{ left: `${String(partOf(window, time.from) * 100)}%`, width: `${String((partOf(window, time.to) - partOf(window, time.from)) * 100)}%` }}><b>{clean(note.name)}</b></i>;
      })}
      {cross !== null ? <i class="cross vertical" style={{ left: `${String(partOf(window, cross) * 100)}%` }} /> : null}
    </>
  );
}

/** What is at a time of a row, in words. */
function describe(picture: Picture, info: Info, cells: Cells, row: number, time: number): string {
  const part = partOf(windowOf(picture), time);
  const at = row * cells.columns + Math.floor(part * cells.columns);
  const key = part >= 0 && part < 1 ? (cells.keys[at] ?? 0) : null;
  const line = picture.timeline[row];
  const name = key === null ? '…' : key === NOTHING ? 'nothing' : key === IDLE ? '(not running)' : key === 255 ? 'another function' : clean(running(picture)[key - FIRST]?.name);
  const more = line && line.merged_lines > 1 && !info.hasRequests ? ` and ${count(line.merged_lines - 1)} more lines` : '';
  return `${clean(line && info.hasRequests ? rowName(line, info, picture) : line?.name)}${more}, ${amount(time, 'nanoseconds')}: ${name}${key === null || key === NOTHING ? '' : `, ${percent(((cells.fills[at] ?? 0) / 255) * 100)}% of the cell`}`;
}

export function Plot({ state, info, picture, whole, hues, ground, only, dimmed, isStale }: PlotProps): JSX.Element {
  const cells = useMemo(() => cellsOf(picture), [picture]);
  const far = useMemo(() => ({ cells: cellsOf(whole), hues: huesOf(whole, whole), window: windowOf(whole) }), [whole]);
  const all = far.window;
  const shown = useShown(state, picture, all, isStale);
  const { window } = shown;
  const cross = crossOf(state, picture);
  const line = picture.timeline[cross?.row ?? 0];
  const named = useMemo(() => new Map(running(picture).map((row, index) => [row.name, hues[FIRST + index] ?? OTHERS])), [picture, hues]);
  const [hover, setHover] = useState('');
  const gestures = useGestures(shown, all);
  const pinned = pinnedOf(state);
  const height = heightOf(cells.rows, useRoom());
  const largest = running(picture)[0];
  const label = `${count(picture.line_count)} ${picture.line_count === 1 ? 'line' : 'lines'}, ${amount(window.from, 'nanoseconds')} to ${amount(window.to, 'nanoseconds')}${largest ? `; mostly ${clean(largest.name)}, ${percent(largest.percent)}%` : ''}`;
  const isInside = cross !== null && cross.time >= window.from && cross.time < window.to;
  const area = gestures.area ?? areaOf(state);
  useTimeKeys(state, shown, all, areaOf(state), (now) => timeAt(now, gestures.pointer.current ?? (cross && cross.time >= now.from && cross.time < now.to ? partOf(now, cross.time) : 0.5)));
  useKeys([
    { key: 'p', label: 'p', title: 'pin the calls of the line at the crosshair to the top, or unpin them', run: () => line && togglePin(state, info, line) },
    { key: 'P', label: 'Shift+P', title: 'pin the calls of all lines, as far as there is room, or unpin all', run: () => togglePins(state, info, picture) },
  ]);
  const rowUnder = (event: { clientY: number; currentTarget: HTMLElement }): number => {
    const box = event.currentTarget.getBoundingClientRect();
    return Math.max(0, Math.min(cells.rows - 1, Math.floor(((event.clientY - box.top) / box.height) * cells.rows)));
  };
  const move = (rows: number, columns: number): void => {
    const row = Math.max(0, Math.min(cells.rows - 1, (cross?.row ?? 0) + rows));
    const span = window.to - window.from;
    const time = Math.max(window.from, Math.min(window.to - 1, (cross?.time ?? window.from + span / 2) + (columns * span) / 100));
    setCross(picture, row, time, 'replace');
    setHover(describe(picture, info, cells, row, time));
  };
  const titleOf = (one: Pinned): string | undefined => {
    const its = picture.timeline.find((other) => entryOf(info, other) === one.entry);
    return its && rowTitle(its, info, picture);
  };
  const marks = { area, cross: isInside ? cross.time : null, window };
  const common = { state, info, hues: named, dimmed, ground, start: BigInt(picture.start_ns), shown: window };
  return (
    <div class="timeplot" aria-busy={isStale || shown.isMoving}>
      <MiniMap whole={far} all={all} shown={shown} ground={ground} />
      {pinned.length > 0 ? (
        <div class="tracks" role="group" aria-label="Pinned lines">
          {pinned.map((one) => <Track key={one.entry} {...common} pinned={one} title={titleOf(one)} gestures={gestures} marks={<Marks {...marks} />} />)}
        </div>
      ) : null}
      <Names picture={picture} info={info} height={height} pinned={pinned} {...(isReport ? {} : { onPin: (other: Line) => togglePin(state, info, other) })} />
      <div
        class="plot" tabIndex={0} aria-label="Timeline: arrows move the crosshair" role="application" style={{ height: `${String(height)}px` }}
        data-from={window.from} data-to={window.to}
        {...gestures.on((part, event) => setCross(picture, rowUnder(event), timeAt(window, part), 'push'), (part, event) => setHover(describe(picture, info, cells, rowUnder(event), timeAt(window, part))))}
        onKeyDown={(event) => {
          const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Enter: [0, 0] }[event.key];
          if (!step || event.ctrlKey || event.altKey) return;
          event.preventDefault();
          move(step[0] ?? 0, step[1] ?? 0);
        }}
      >
        <Canvas id="timeline" cells={cells} hues={hues} ground={ground} only={only} height={height} label={label} window={windowOf(picture)} shown={window} behind={far} />
        <Marks {...marks} />
        {isInside ? <i class="cross horizontal" style={{ top: `${String(((cross.row + 0.5) / cells.rows) * 100)}%` }} /> : null}
      </div>
      <Axis window={window} />
      {line && !pinned.some((one) => one.entry === entryOf(info, line)) ? (
        <Calls
          {...common} line={line} title={rowTitle(line, info, picture)} cross={isInside ? partOf(window, cross.time) : null}
          onPick={(part) => setCross(picture, picture.timeline.indexOf(line), timeAt(window, part), 'push')} {...(isReport ? {} : { onPin: () => togglePin(state, info, line) })}
        />
      ) : null}
      <p class="quiet hover" aria-live="polite">{hover === '' ? label : hover}</p>
    </div>
  );
}
