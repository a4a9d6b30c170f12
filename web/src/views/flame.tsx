// SPDX-License-Identifier: BSD-3-Clause
// Flame: `lode flame`, from the entry points, bottom-up, or around one function.
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useAnswer, type Option, type Query } from '../api';
import { paint, pixel, type Rect } from '../draw/boxes';
import { amount, clean, count, percent, unitOf, type Unit } from '../format';
import type { Info } from '../info';
import { useKeys } from '../keys';
import { KIND_TITLES, Name, Problem, Swatch } from '../parts';
import { fileName, save } from '../save';
import { selection } from '../selection';
import { go, type State } from '../state';
import { sharedOptions, type View, type ViewProps } from '../view';
import { otherOf } from './compare';
import { CompareFlame, LEAST } from './compare_flame';
import { compareTreeQuery } from './compare_tree';

const WIDTH = 1600;
const ROW = 18;
const FONT = '11px ui-monospace, "DejaVu Sans Mono", monospace';
const CHARACTER = 6.65;

export interface Box {
  readonly box: number;
  readonly parent_box: number | null;
  readonly level: number;
  readonly x: number;
  readonly width: number;
  readonly inclusive: number;
  readonly inclusive_percent: number | null;
  readonly exclusive: number | null;
  readonly exclusive_percent: number | null;
  readonly name: string | null;
  readonly kind: string | null;
  readonly more: number;
  readonly context: number | null;
  readonly calls: number;
}

interface Flame {
  readonly metric?: string;
  readonly total?: number;
  readonly total_ns?: number;
  readonly levels: number;
  readonly origin_level: number;
  readonly merged_rows: number;
  readonly is_truncated: boolean;
  readonly boxes: readonly Box[];
}

function wayOf(state: State): { kind: 'down' | 'up' | 'around' | 'focus'; name: string } {
  const match = /^(callers|focus):([^]+)$/.exec(state.way);
  if (match?.[2] !== undefined) return { kind: match[1] === 'callers' ? 'around' : 'focus', name: match[2] };
  return { kind: state.way === 'up' ? 'up' : 'down', name: '' };
}

function query(state: State, info: Info): Query {
  const options: Option[] = sharedOptions({ ...state, search: '' }, info);
  const way = wayOf(state);
  if (way.kind === 'up') options.push(['bottom-up', '']);
  if (way.kind === 'around') options.push(['function', way.name]);
  if (way.kind === 'focus') options.push(['focus', way.name]);
  if (way.kind === 'down' && /^\d+$/.test(state.root)) options.push(['root', state.root]);
  if (state.group === 'merge') options.push(['merge-recursion', '']);
  options.push(['width', String(WIDTH)]);
  return { command: 'flame', store: state.store, options };
}

export const nameOf = (box: Box): string => box.name ?? `${count(box.more)} more`;

/** What matches a search: the boxes, and the share of the total, where a match in another one counts once. */
export function matchesOf(boxes: readonly Box[], text: string): { found: Set<number>; share: number } {
  const found = new Set<number>();
  const covered = new Set<number>();
  let share = 0;
  const wanted = text.toLowerCase();
  for (const box of wanted === '' ? [] : boxes) {
    const isMatch = box.name !== null && box.name.toLowerCase().includes(wanted);
    if (isMatch) found.add(box.box);
    if (box.parent_box !== null && covered.has(box.parent_box)) covered.add(box.box);
    else if (isMatch) {
      covered.add(box.box);
      share += box.inclusive_percent ?? 0;
    }
  }
  return { found, share };
}

interface Colours {
  readonly ground: string;
  readonly text: string;
  readonly accent: string;
  readonly kinds: ReadonlyMap<string, string>;
}

function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const value = (name: string): string => style.getPropertyValue(name).trim();
  const names = ['own', 'mpi', 'threads', 'memory', 'io', 'system', 'gpu', 'idle'];
  return { ground: value('--ground'), text: value('--text'), accent: value('--focus'), kinds: new Map(names.map((name) => [name, value(`--kind-${name}`)])) };
}

function draw(canvas: HTMLCanvasElement, flame: Flame, found: ReadonlySet<number>, isSearching: boolean, selected: Box | undefined): void {
  const ratio = devicePixelRatio;
  const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.max(1, Math.round(flame.levels * ROW * ratio));
  const context = canvas.getContext('2d');
  if (!context) return;
  canvas.width = width;
  canvas.height = height;
  const colours = coloursOf(canvas);
  const image = context.createImageData(width, height);
  const place = (box: Box): { x: number; y: number; width: number } => ({ x: box.x * width, y: box.level * ROW * ratio, width: box.width * width });
  const rects = function* (): Generator<Rect> {
    for (const box of flame.boxes) {
      const at = place(box);
      const isDim = isSearching && !found.has(box.box);
      const colour = colours.kinds.get(box.kind ?? '') ?? '#e4e4e4';
      yield { x: at.x, y: at.y, width: at.width > 3 ? at.width - 1 : at.width, height: (ROW - 1) * ratio, colour: pixel(colour, colours.ground, isDim ? 0.25 : 1), isHatched: box.kind === 'idle' };
    }
  };
  paint(new Uint32Array(image.data.buffer), width, height, pixel(colours.ground), rects());
  context.putImageData(image, 0, 0);
  context.scale(ratio, ratio);
  context.font = FONT;
  for (const box of flame.boxes) {
    const at = place(box);
    const room = Math.floor((at.width / ratio - 8) / CHARACTER);
    if (room < 3) continue;
    const name = Array.from(clean(nameOf(box)));
    context.fillStyle = isSearching && !found.has(box.box) ? colours.text : box.kind === 'gpu' ? '#ffffff' : '#000000';
    context.fillText(name.length <= room ? name.join('') : `${name.slice(0, room - 1).join('')}…`, at.x / ratio + 4, box.level * ROW + 13);
  }
  if (selected) {
    const at = place(selected);
    context.strokeStyle = colours.text;
    context.lineWidth = 2;
    context.strokeRect(at.x / ratio + 1, selected.level * ROW + 1, Math.max(2, at.width / ratio - 3), ROW - 3);
  }
}

function pathOf(flame: Flame, box: Box): { name: string; context: string }[] {
  const path: { name: string; context: string }[] = [];
  for (let at: Box | undefined = box; at; at = at.parent_box === null ? undefined : flame.boxes[at.parent_box]) path.unshift({ name: nameOf(at), context: String(at.context ?? '') });
  return path;
}

function select(flame: Flame, box: Box, unit: Unit, isRecording: boolean): void {
  selection.value = {
    title: nameOf(box), kind: box.more > 0 ? 'merged' : 'function', path: pathOf(flame, box), source: '', name: box.name ?? '',
    context: isRecording || box.context === null ? '' : String(box.context),
    facts: [
      ['inclusive', `${amount(box.inclusive, unit)}, ${percent(box.inclusive_percent)}%`],
      ...(box.exclusive === null ? [] : [['exclusive', `${amount(box.exclusive, unit)}, ${percent(box.exclusive_percent)}%`] as const]),
      ...(box.calls > 0 ? [['calls', count(box.calls)] as const] : []),
    ],
  };
}

/** The box in a direction: along the level, or to the box that it continues and back. */
function neighbour(flame: Flame, box: Box, key: string): Box {
  if (key === 'ArrowLeft' || key === 'ArrowRight') {
    const level = flame.boxes.filter((other) => other.level === box.level).sort((a, b) => a.x - b.x);
    return level[level.indexOf(box) + (key === 'ArrowLeft' ? -1 : 1)] ?? box;
  }
  const wanted = box.level + (key === 'ArrowDown' ? 1 : -1);
  const parent = box.parent_box === null ? undefined : flame.boxes[box.parent_box];
  if (parent?.level === wanted) return parent;
  return flame.boxes.find((other) => other.parent_box === box.box && other.level === wanted) ?? box;
}

function Table({ flame, box, unit, onSelect }: { flame: Flame; box: Box | undefined; unit: Unit; onSelect: (box: Box) => void }): JSX.Element {
  const rows = flame.boxes.filter((other) => other.parent_box === (box?.box ?? null)).slice(0, 50);
  return (
    <table class="boxes" aria-label={box ? `Boxes that continue ${clean(nameOf(box))}` : 'Boxes of the first level'}>
      <thead><tr><th scope="col">Incl %</th><th scope="col">Inclusive</th><th scope="col">{box ? 'Below ' : ''}{box ? <Name name={nameOf(box)} isShort /> : 'Name'}</th></tr></thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.box} data-box={row.box}>
            <td class="number" data-column="inclusive_percent" data-value={row.inclusive_percent ?? ''}>{percent(row.inclusive_percent)}</td>
            <td class="number" data-column="inclusive" data-value={row.inclusive}>{amount(row.inclusive, unit)}</td>
            <td data-column="name" data-value={row.name ?? ''}><Swatch kind={row.kind} /> <button type="button" class="link" onClick={() => onSelect(row)}><Name name={nameOf(row)} /></button></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface Ancestor {
  readonly name: string;
  readonly context: string;
}

/** The way from the entry points to the root of the picture, without it: from the picture of all, or what the program says of the context. */
function useAncestors(state: State, info: Info, isZoomed: boolean): Ancestor[] {
  const all = useAnswer<Flame>(isZoomed ? query({ ...state, root: '' }, info) : null).data;
  const box = isZoomed ? all?.boxes.find((other) => String(other.context) === state.root) : undefined;
  const isUnseen = isZoomed && all !== null && box === undefined && info.kind !== 'recording';
  const said = useAnswer<{ path: readonly { context: number; name: string }[] }>(isUnseen ? { command: 'context', store: state.store, options: [], operand: state.root } : null).data;
  if (box && all) return pathOf(all, box).slice(0, -1);
  return (said?.path ?? []).slice(1, -1).map((step) => ({ name: step.name, context: String(step.context) }));
}

/** A box over the whole width for each ancestor: a click shows what is below it. */
function Ancestors({ list }: { list: readonly Ancestor[] }): JSX.Element {
  return (
    <ol class="ancestors" aria-label="Callers of what is shown">
      <li><button type="button" onClick={() => go({ root: '' })}>all</button></li>
      {list.map((step) => <li key={step.context}><button type="button" title={clean(step.name)} onClick={() => go({ root: step.context })}>{clean(step.name)}</button></li>)}
    </ol>
  );
}

/** The colours of the kinds of functions that there are. */
function Legend({ flame }: { flame: Flame }): JSX.Element {
  const kinds = [...new Set(flame.boxes.map((box) => box.kind))].filter((kind) => kind !== null).sort();
  return <ul class="legend">{kinds.map((kind) => <li key={kind}><Swatch kind={kind} /> {KIND_TITLES[kind] ?? kind}</li>)}</ul>;
}

/** The picture as a drawing, with the numbers of each box as a hint. */
function svgOf(flame: Flame, unit: Unit, colours: Colours): string {
  const escaped = (text: string): string => clean(text).replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] ?? c);
  const height = Math.max(1, flame.levels) * ROW;
  const boxes = flame.boxes.map((box) => {
    const [x, width] = [box.x * WIDTH, Math.max(0.5, box.width * WIDTH - 1)];
    const room = Math.floor((width - 8) / CHARACTER), name = Array.from(nameOf(box));
    const label = room < 3 ? '' : name.length <= room ? name.join('') : `${name.slice(0, room - 1).join('')}…`;
    return `<g><title>${escaped(nameOf(box))}: ${amount(box.inclusive, unit)}, ${percent(box.inclusive_percent)}%</title><rect x="${x.toFixed(2)}" y="${String(box.level * ROW)}" width="${width.toFixed(2)}" height="${String(ROW - 1)}" fill="${colours.kinds.get(box.kind ?? '') ?? '#e4e4e4'}"/>${label === '' ? '' : `<text x="${(x + 4).toFixed(2)}" y="${String(box.level * ROW + 13)}" fill="${box.kind === 'gpu' ? '#ffffff' : '#000000'}">${escaped(label)}</text>`}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${String(WIDTH)}" height="${String(height)}" viewBox="0 0 ${String(WIDTH)} ${String(height)}" font-family="monospace" font-size="11"><rect width="100%" height="100%" fill="${colours.ground}"/>${boxes.join('')}</svg>\n`;
}

function OneFlame({ state, info }: ViewProps): JSX.Element {
  const answer = useAnswer<Flame>(query(state, info));
  const flame = answer.data;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [number, setNumber] = useState(-1);
  const [tip, setTip] = useState<{ x: number; y: number; box: Box } | null>(null);
  const [size, setSize] = useState(0);
  const isRecording = info.kind === 'recording';
  const unit: Unit = isRecording ? 'nanoseconds' : unitOf(flame?.metric ?? '');
  const { found, share } = useMemo(() => matchesOf(flame?.boxes ?? [], state.search), [flame, state.search]);
  const selected = flame?.boxes[number];
  const way = wayOf(state);
  const isZoomed = way.kind === 'down' && state.root !== '';
  const callers = useAncestors(state, info, isZoomed);
  // A line is drawn as the function or loop that it is in.
  const ancestors = callers[callers.length - 1]?.name === flame?.boxes[0]?.name ? callers.slice(0, -1) : callers;
  const up = (): void => go(isZoomed ? { root: ancestors[ancestors.length - 1]?.context ?? '' } : { way: '', root: '' });
  useEffect(() => setNumber(-1), [flame]);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const watch = new ResizeObserver(() => setSize(element.clientWidth));
    watch.observe(element);
    return () => watch.disconnect();
  }, [flame === null]);
  useEffect(() => {
    if (canvas.current && flame) draw(canvas.current, flame, found, state.search !== '', selected);
  }, [flame, found, number, size, state.search, document.documentElement.dataset['theme']]);
  const choose = (box: Box | undefined): void => {
    setNumber(box?.box ?? -1);
    if (flame && box) select(flame, box, unit, isRecording);
  };
  const root = (box: Box | undefined): void => {
    if (box?.name == null) return;
    if (way.kind === 'down' && box.context !== null) go({ root: String(box.context) });
    else go({ way: `callers:${box.name}`, root: '' });
  };
  const at = (event: MouseEvent): Box | undefined => {
    const area = canvas.current?.getBoundingClientRect();
    if (!area || !flame) return undefined;
    const x = (event.clientX - area.left) / area.width, level = Math.floor((event.clientY - area.top) / ROW);
    return flame.boxes.find((box) => box.level === level && x >= box.x && x < box.x + box.width);
  };
  const next = (step: number): void => {
    const list = [...found];
    choose(flame?.boxes[list[(list.indexOf(number) + step + list.length) % list.length] ?? -1]);
  };
  const isMerged = state.group === 'merge';
  const around = (): void => {
    if (selected?.name != null) go({ way: `callers:${selected.name}`, root: '' });
  };
  const hide = (): void => {
    if (selected?.name != null) go({ filters: [...state.filters, `hide:${selected.name}`] });
  };
  useKeys([
    { key: 'i', label: 'i', title: 'top-down or bottom-up', run: () => go({ way: way.kind === 'down' ? 'up' : '', root: '' }) },
    { key: 'f', label: 'f', title: 'callers and callees of the selected function', run: around },
    { key: 'x', label: 'x', title: 'hide the selected function everywhere', run: hide },
    { key: 'r', label: 'r', title: 'merge recursive calls, or not', run: () => go({ group: isMerged ? '' : 'merge' }) },
    { key: 'n', label: 'n', title: 'next match', run: () => next(1) },
    { key: 'N', label: 'Shift+N', title: 'previous match', run: () => next(-1) },
    { key: 'u', label: 'u', title: 'one up: what calls the root of the picture', run: up },
    { key: '0', label: '0', title: 'show all', run: () => go({ way: '', root: '' }) },
    { key: 'Backspace', label: 'Backspace', title: 'back', run: () => history.back() },
  ]);
  const onKey = (event: KeyboardEvent): void => {
    if (!flame || flame.boxes.length === 0) return;
    if (event.key === 'Enter') root(selected);
    else if (!/^Arrow/.test(event.key)) return;
    else choose(selected ? neighbour(flame, selected, event.key) : flame.boxes[0]);
    event.preventDefault();
  };
  const total = flame?.total ?? flame?.total_ns ?? 0;
  const first = flame?.boxes[0];
  const label = flame ? `${count(flame.boxes.length)} boxes in ${count(flame.levels)} levels of ${amount(total, unit)}${first ? `; the widest is ${clean(nameOf(first))}, ${percent(first.inclusive_percent)} %` : ''}` : '';
  return (
    <>
      <div class="toolbar">
        <div class="segments" role="group" aria-label="Direction">
          <button type="button" aria-pressed={way.kind === 'down'} onClick={() => go({ way: '', root: '' })}>top-down</button>
          <button type="button" aria-pressed={way.kind === 'up'} onClick={() => go({ way: 'up', root: '' })}>bottom-up</button>
        </div>
        {way.name !== '' || state.root !== '' ? (
          <button type="button" class="chip" title="Show all" onClick={() => go({ way: '', root: '' })}>{way.kind === 'around' ? 'around' : 'from'} {way.name !== '' ? clean(way.name) : clean(first ? nameOf(first) : '')} <span aria-hidden="true">×</span></button>
        ) : null}
        {isZoomed ? <button type="button" title="What calls the root of the picture (u)" onClick={up}>one up</button> : null}
        <button type="button" aria-pressed={isMerged} title="A function that calls itself is one box with its inner calls (r)" onClick={() => go({ group: isMerged ? '' : 'merge' })}>merge recursion</button>
        {otherOf(state) !== null ? <button type="button" title="What changed to another store" onClick={() => go({ group: 'compare', way: '', root: '', context: '', name: '' })}>compare</button> : null}
        {selected?.name != null ? (
          <div class="segments" role="group" aria-label="The selected function">
            <button type="button" title="Only what it calls (Enter)" onClick={() => root(selected)}>focus</button>
            <button type="button" title="Callers above, callees below (f)" onClick={around}>callers and callees</button>
            <button type="button" title="Everywhere; the filter stands in the header (x)" onClick={hide}>hide</button>
          </div>
        ) : null}
        {state.search !== '' ? <span class="matches" role="status">matches: {percent(share)} % in {count(found.size)} {found.size === 1 ? 'box' : 'boxes'}</span> : null}
        <span class="space" />
        {flame && flame.boxes.length > 0 ? <button type="button" title="This picture as a drawing; 'save picture' saves its pixels" onClick={() => canvas.current && save(`${fileName('lode', 'flame')}.svg`, new Blob([svgOf(flame, unit, coloursOf(canvas.current))], { type: 'image/svg+xml' }))}>save SVG</button> : null}
        {flame ? <span class="quiet">{count(flame.boxes.length)} boxes{flame.merged_rows > 0 ? `, ${count(flame.merged_rows)} narrower` : ''}{flame.is_truncated ? ', cut' : ''}</span> : null}
      </div>
      {flame === null || answer.error ? <Problem answer={answer} /> : (
        <div class="flame">
          {isZoomed ? <Ancestors list={ancestors} /> : null}
          <div class="picture">
          <canvas
            ref={canvas} role="img" aria-label={label} tabIndex={0} style={{ height: `${String(Math.max(1, flame.levels) * ROW)}px` }} onKeyDown={onKey}
            onClick={(event) => choose(at(event))} onDblClick={(event) => root(at(event))} onMouseLeave={() => setTip(null)}
            onMouseMove={(event) => {
              const box = at(event);
              setTip(box ? { x: event.offsetX, y: event.offsetY, box } : null);
            }}
          />
          {tip ? (
            <div class="tip" role="tooltip" style={{ left: `${String(Math.min(tip.x + 14, (canvas.current?.clientWidth ?? 400) - 320))}px`, top: `${String(tip.y + 18)}px` }}>
              <b>{clean(nameOf(tip.box))}</b><br />{amount(tip.box.inclusive, unit)}, {percent(tip.box.inclusive_percent)} %{tip.box.exclusive === null ? '' : `; itself ${amount(tip.box.exclusive, unit)}`}
            </div>
          ) : null}
          </div>
          <Legend flame={flame} />
          <Table flame={flame} box={selected} unit={unit} onSelect={(box) => choose(box)} />
        </div>
      )}
    </>
  );
}

/** The picture alone: for a report. */
export function FlamePicture({ state, info }: ViewProps): JSX.Element {
  const answer = useAnswer<Flame>(query(state, info));
  const flame = answer.data;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState(0);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const watch = new ResizeObserver(() => setSize(element.clientWidth));
    watch.observe(element);
    return () => watch.disconnect();
  }, [flame === null]);
  useEffect(() => {
    if (canvas.current && flame) draw(canvas.current, flame, new Set(), false, undefined);
  }, [flame, size, document.documentElement.dataset['theme']]);
  if (flame === null) return <Problem answer={answer} />;
  const unit: Unit = info.kind === 'recording' ? 'nanoseconds' : unitOf(flame.metric ?? '');
  return (
    <>
      <button type="button" class="flame still" title="Flame" onClick={() => go({ view: 'flame' })}>
        <canvas ref={canvas} role="img" aria-label={`Flame graph of ${amount(flame.total ?? flame.total_ns ?? 0, unit)}, ${count(flame.boxes.length)} boxes`} style={{ height: `${String(Math.max(1, flame.levels) * ROW)}px` }} />
      </button>
      <Legend flame={flame} />
    </>
  );
}

/** With two stores, what changed. */
const isCompared = (state: State): boolean => state.group === 'compare' && otherOf(state) !== null;

function FlameView(props: ViewProps): JSX.Element {
  return isCompared(props.state) ? <CompareFlame {...props} /> : <OneFlame {...props} />;
}

export const flame: View = { key: 'flame', title: 'Flame', fits: () => true, query: (state, info) => (isCompared(state) ? compareTreeQuery(state, info, LEAST) : query(state, info)), Component: FlameView };
