// SPDX-License-Identifier: BSD-3-Clause
// Calls of one line over time, by depth: `lode trace --boxes`.
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { commandLine, session, useAnswer, type Answer, type Option, type Query } from '../api';
import { copy } from '../clipboard';
import { paint, pixel, type Rect } from '../draw/boxes';
import { mutedOf, type Ground } from '../draw/picture';
import { amount, clean, count } from '../format';
import type { Info } from '../info';
import { Link, Problem } from '../parts';
import type { State } from '../state';
import { css } from '../timeline';
import { partOf, type Window } from '../window';
import { partUnder } from './gestures';

const COLUMNS = 1000;
/** Of a request, at most. */
const LANES = '200';
const DEPTH = 32;
export const ROW = 16;
const TALLEST = { database: 8, recording: 14 };
const FONT = '11px ui-monospace, "DejaVu Sans Mono", monospace';
const CHARACTER = 6.65;
/** How much of its colour a box has that a search does not find. */
const PALE = 0.2;

interface Box {
  readonly line_index: number;
  readonly line: string;
  readonly depth: number;
  readonly begin_ns: string;
  readonly end_ns: string;
  readonly duration_ns: number;
  readonly calls: number;
  readonly name: string;
  readonly kind: string;
}
export interface Boxes {
  readonly from_ns: string;
  readonly to_ns: string;
  readonly rows: readonly Box[];
}

/** What identifies a line in the address: the number of its profile or task; requests have numbers of their own. */
export function entryOf(info: Info, line: { profile?: number; tid?: number; track?: number }): string {
  return String(info.kind === 'database' ? (line.profile ?? 0) : info.hasRequests ? (line.track ?? 0) + 1 : (line.tid ?? 0));
}

/** The line as an option of `lode trace`. */
export function lineOption(info: Info, entry: string): Option {
  return info.kind === 'database' ? ['profiles', `profile=${entry}`] : [info.hasRequests ? 'id' : 'task', entry];
}

function query(state: State, info: Info, entry: string): Query {
  const window: Option[] = [];
  if (state.from !== '') window.push(['from', state.from]);
  if (state.to !== '') window.push(['to', state.to]);
  return { command: 'trace', store: state.store, options: [['boxes', ''], lineOption(info, entry), ['rows', info.hasRequests ? LANES : '1'], ['columns', String(COLUMNS)], ['depth', String(DEPTH)], ...window] };
}

interface Place {
  readonly x: number;
  readonly width: number;
}

/** Where a box is, as parts of the time window that is shown. */
function placeOf(box: Box, start: bigint, shown: Window): Place {
  const [x, end] = [box.begin_ns, box.end_ns].map((time) => partOf(shown, Number(BigInt(time) - start)));
  return { x: x ?? 0, width: (end ?? 0) - (x ?? 0) };
}

function draw(canvas: HTMLCanvasElement, boxes: readonly Box[], places: readonly Place[], hueOf: (name: string) => number, dimmed: (name: string) => boolean, ground: Ground): void {
  const ratio = devicePixelRatio;
  const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.max(1, Math.round(canvas.clientHeight * ratio));
  const context = canvas.getContext('2d');
  if (!context) return;
  canvas.width = width;
  canvas.height = height;
  const image = context.createImageData(width, height);
  const rects = function* (): Generator<Rect> {
    for (const [index, box] of boxes.entries()) {
      const place = places[index] ?? { x: 0, width: 0 };
      const wide = place.width * width;
      if (place.x >= 1 || place.x + place.width < 0) continue;
      const isIdle = box.kind === 'idle';
      yield { x: place.x * width, y: (box.depth - 1) * ROW * ratio, width: wide > 3 ? wide - 1 : wide, height: (ROW - 1) * ratio, colour: pixel(css(isIdle ? ground.idleLine : hueOf(box.name)), css(ground.ground), !isIdle && dimmed(box.name) ? PALE : 1), isHatched: isIdle };
    }
  };
  paint(new Uint32Array(image.data.buffer), width, height, pixel(css(ground.ground)), rects());
  context.putImageData(image, 0, 0);
  context.scale(ratio, ratio);
  context.font = FONT;
  for (const [index, box] of boxes.entries()) {
    const place = places[index] ?? { x: 0, width: 0 };
    const left = Math.max(0, place.x);
    const room = Math.floor((((Math.min(1, place.x + place.width) - left) * width) / ratio - 8) / CHARACTER);
    if (room < 3) continue;
    const name = Array.from(clean(box.name));
    const hue = hueOf(box.name);
    context.fillStyle = box.kind === 'idle' || dimmed(box.name) ? (ground.ground > 0x7fffff ? '#000000' : '#ffffff') : hue === 0x0072b2 ? '#ffffff' : '#000000';
    context.fillText(name.length <= room ? name.join('') : `${name.slice(0, room - 1).join('')}…`, (left * width) / ratio + 4, (box.depth - 1) * ROW + 11.5);
  }
}

function describe(box: Box): string {
  return box.calls > 1 ? `${count(box.calls)} calls, ${amount(box.duration_ns, 'nanoseconds')}; the longest is ${clean(box.name)}` : `${clean(box.name)}, ${amount(box.duration_ns, 'nanoseconds')}`;
}

export interface Common {
  readonly state: State;
  readonly info: Info;
  readonly hues: ReadonlyMap<string, number>;
  readonly dimmed: (name: string) => boolean;
  readonly ground: Ground;
  /** The beginning of the run in the clock of the store. */
  readonly start: bigint;
  /** The time window on the screen. */
  readonly shown: Window;
}

export function useBoxes(state: State, info: Info, entry: string): { asked: Query; answer: Answer<Boxes>; deepest: number } {
  const asked = query(state, info, entry);
  const whole = useAnswer<Boxes>(asked);
  // All lanes of a request are in the answer; each is a line of its own.
  const data = useMemo(() => (whole.data && info.hasRequests ? { ...whole.data, rows: whole.data.rows.filter((box) => box.line_index === Number(entry) - 1) } : whole.data), [whole.data, entry]);
  const answer = { ...whole, data };
  return { asked, answer, deepest: answer.data?.rows.reduce((most, box) => Math.max(most, box.depth), 0) ?? 0 };
}

/** The boxes of one line in `levels` levels; `hover` says what is under the pointer. */
export function Levels({ boxes, common, levels, id, name, hover }: { boxes: Boxes; common: Common; levels: number; id: string; name: string; hover: (text: string) => void }): JSX.Element {
  const { hues, dimmed, ground, start, shown } = common;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState(0);
  const rows = useMemo(() => boxes.rows.filter((box) => box.depth <= levels), [boxes, levels]);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const watch = new ResizeObserver(() => setSize(element.clientWidth));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    if (canvas.current) draw(canvas.current, rows, rows.map((box) => placeOf(box, start, shown)), (other) => hues.get(other) ?? mutedOf(other), dimmed, ground);
  }, [rows, size, hues, dimmed, ground, shown.from, shown.to]);
  const under = (event: MouseEvent & { currentTarget: HTMLElement }): Box | undefined => {
    const area = event.currentTarget.getBoundingClientRect();
    const part = Math.max(0, Math.min(0.999999, (event.clientX - area.left) / area.width)), depth = Math.floor((event.clientY - area.top) / ROW) + 1;
    return rows.find((box) => {
      const place = placeOf(box, start, shown);
      return box.depth === depth && part >= place.x && part < place.x + Math.max(place.width, 1 / area.width);
    });
  };
  return (
    <canvas
      id={id} ref={canvas} role="img" aria-label={`Calls of ${clean(name)}: ${count(rows.length)} boxes in ${count(levels)} levels`}
      style={{ width: '100%', height: `${String(Math.max(1, levels) * ROW)}px` }} onMouseLeave={() => hover('')}
      onMouseMove={(event) => {
        const box = under(event);
        hover(box ? describe(box) : '');
      }}
    />
  );
}

/** A command that prints these calls. */
export function Command({ asked }: { asked: Query }): JSX.Element {
  return <Link title="Copy the lode command that prints these calls" onClick={() => session.value && void copy(commandLine(asked, session.value), 'the command')}>command</Link>;
}

/** Below the picture, in the time window that is shown. `cross` is the time of the crosshair as a part of the time window; `onPick` sets it. */
export function Calls({ line, title, cross, onPick, onPin, ...common }: Common & {
  line: { profile?: number; tid?: number; track?: number }; title: string; cross: number | null; onPick: (part: number) => void; onPin?: () => void;
}): JSX.Element {
  const { info } = common;
  const { asked, answer, deepest } = useBoxes(common.state, info, entryOf(info, line));
  const [tip, setTip] = useState('');
  const tallest = TALLEST[info.kind];
  if (!answer.data || answer.error) return <div class="calls"><Problem answer={answer} /></div>;
  const isDeep = deepest > tallest;
  return (
    <section class={`calls ${answer.isLoading ? 'stale' : ''}`} aria-label="Calls by depth" aria-busy={answer.isLoading}>
      <h2>Calls of {clean(title)}<span class="more"><span class="quiet">{tip}</span> {onPin ? <Link title="Keep the calls of this line above the others (p)" onClick={onPin}>pin</Link> : null} <Command asked={asked} /></span></h2>
      <div class="levels" style={{ maxHeight: `${String(tallest * ROW)}px` }} tabIndex={isDeep ? 0 : undefined} role={isDeep ? 'region' : undefined} aria-label={isDeep ? 'Levels of calls' : undefined}
        onClick={(event) => onPick(partUnder(event))}>
        <Levels boxes={answer.data} common={common} levels={deepest} id="calls" name={title} hover={setTip} />
        {cross !== null ? <i class="cross vertical" style={{ left: `${String(cross * 100)}%` }} /> : null}
      </div>
    </section>
  );
}
