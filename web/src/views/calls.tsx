// SPDX-License-Identifier: BSD-3-Clause
// Calls of one line over time, by depth: `lode trace --boxes`.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { commandLine, session, useAnswer, type Option, type Query } from '../api';
import { copy } from '../clipboard';
import { paint, pixel, type Rect } from '../draw/boxes';
import { mutedOf, type Ground } from '../draw/picture';
import { amount, clean, count } from '../format';
import type { Info } from '../info';
import { Link, Problem } from '../parts';
import type { State } from '../state';
import { css } from '../timeline';
import { partOf, type Window } from '../window';

const COLUMNS = 1000;
const DEPTH = 32;
const ROW = 16;
const TALLEST = { database: 8, recording: 14 };
const FONT = '11px ui-monospace, "DejaVu Sans Mono", monospace';
const CHARACTER = 6.65;

interface Box {
  readonly depth: number;
  readonly begin_ns: string;
  readonly end_ns: string;
  readonly duration_ns: number;
  readonly calls: number;
  readonly name: string;
  readonly kind: string;
}
interface Boxes {
  readonly from_ns: string;
  readonly to_ns: string;
  readonly rows: readonly Box[];
}

/** The line as an option of `lode trace`. */
export function lineOption(info: Info, line: { profile?: number; tid?: number }): Option {
  return info.kind === 'database' ? ['profiles', `profile=${String(line.profile ?? 0)}`] : ['task', String(line.tid ?? 0)];
}

function query(state: State, info: Info, line: { profile?: number; tid?: number }): Query {
  const window: Option[] = [];
  if (state.from !== '') window.push(['from', state.from]);
  if (state.to !== '') window.push(['to', state.to]);
  return { command: 'trace', store: state.store, options: [['boxes', ''], lineOption(info, line), ['rows', '1'], ['columns', String(COLUMNS)], ['depth', String(DEPTH)], ...window] };
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

function draw(canvas: HTMLCanvasElement, boxes: readonly Box[], places: readonly Place[], hueOf: (name: string) => number, ground: Ground): void {
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
      yield { x: place.x * width, y: (box.depth - 1) * ROW * ratio, width: wide > 3 ? wide - 1 : wide, height: (ROW - 1) * ratio, colour: pixel(css(isIdle ? ground.idleLine : hueOf(box.name))), isHatched: isIdle };
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
    context.fillStyle = box.kind === 'idle' ? (ground.ground > 0x7fffff ? '#000000' : '#ffffff') : hue === 0x0072b2 ? '#ffffff' : '#000000';
    context.fillText(name.length <= room ? name.join('') : `${name.slice(0, room - 1).join('')}…`, (left * width) / ratio + 4, (box.depth - 1) * ROW + 11.5);
  }
}

function describe(box: Box): string {
  return box.calls > 1 ? `${count(box.calls)} calls, ${amount(box.duration_ns, 'nanoseconds')}; the longest is ${clean(box.name)}` : `${clean(box.name)}, ${amount(box.duration_ns, 'nanoseconds')}`;
}

/** Below the picture, in the time window that is shown; `start` is the beginning of the run in the clock of the store. `cross` is the time of the crosshair as a part of the time window; `onPick` sets it. */
export function Calls(props: {
  state: State; info: Info; line: { name: string; profile?: number; tid?: number }; hues: ReadonlyMap<string, number>; ground: Ground; start: bigint; shown: Window; cross: number | null; onPick: (part: number) => void;
}): JSX.Element {
  const { state, info, line, hues, ground, start, shown, cross } = props;
  const asked = query(state, info, line);
  const answer = useAnswer<Boxes>(asked);
  const boxes = answer.data;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState(0);
  const [tip, setTip] = useState('');
  const tallest = TALLEST[info.kind];
  const deepest = boxes?.rows.reduce((most, box) => Math.max(most, box.depth), 0) ?? 0;
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const watch = new ResizeObserver(() => setSize(element.clientWidth));
    watch.observe(element);
    return () => watch.disconnect();
  }, [boxes === null]);
  useEffect(() => {
    if (canvas.current && boxes) draw(canvas.current, boxes.rows, boxes.rows.map((box) => placeOf(box, start, shown)), (name) => hues.get(name) ?? mutedOf(name), ground);
  }, [boxes, size, hues, ground, shown.from, shown.to]);
  if (!boxes || answer.error) return <div class="calls"><Problem answer={answer} /></div>;
  const under = (event: MouseEvent): { part: number; box: Box | undefined } => {
    const area = canvas.current?.getBoundingClientRect();
    if (!area) return { part: 0, box: undefined };
    const part = Math.max(0, Math.min(0.999999, (event.clientX - area.left) / area.width)), depth = Math.floor((event.clientY - area.top) / ROW) + 1;
    return { part, box: boxes.rows.find((box) => {
      const place = placeOf(box, start, shown);
      return box.depth === depth && part >= place.x && part < place.x + Math.max(place.width, 1 / area.width);
    }) };
  };
  return (
    <section class={`calls ${answer.isLoading ? 'stale' : ''}`} aria-label="Calls by depth" aria-busy={answer.isLoading}>
      <h2>Calls of {clean(line.name)}<span class="more"><span class="quiet">{tip}</span> <Link title="Copy the lode command that prints these calls" onClick={() => session.value && void copy(commandLine(asked, session.value), 'the command')}>command</Link></span></h2>
      <div class="levels" style={{ maxHeight: `${String(tallest * ROW)}px` }} tabIndex={deepest > tallest ? 0 : undefined} role={deepest > tallest ? 'region' : undefined} aria-label={deepest > tallest ? 'Levels of calls' : undefined}>
        <canvas
          id="calls" ref={canvas} role="img" aria-label={`Calls of ${clean(line.name)}: ${count(boxes.rows.length)} boxes in ${count(deepest)} levels`}
          style={{ width: '100%', height: `${String(Math.max(1, deepest) * ROW)}px` }} onMouseLeave={() => setTip('')}
          onMouseMove={(event) => {
            const { box } = under(event);
            setTip(box ? describe(box) : '');
          }}
          onClick={(event) => props.onPick(under(event).part)}
        />
        {cross !== null ? <i class="cross vertical" style={{ left: `${String(cross * 100)}%` }} /> : null}
      </div>
    </section>
  );
}
