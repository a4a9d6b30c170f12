// SPDX-License-Identifier: BSD-3-Clause
// What each thread did over time: `lode trace --merge`.
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { path, useAnswer, type Option, type Query } from '../api';
import { DARK, FIRST, HUES, IDLE, IDLE_HUE, LIGHT, NOTHING, OTHERS, paint, readHex, ticks, type Cells, type Ground } from '../draw/picture';
import { amount, clean, count, percent } from '../format';
import { Grid, type Column } from '../grid';
import type { Info } from '../info';
import { useKeys } from '../keys';
import { Name, Problem } from '../parts';
import { isReport } from '../report';
import { selection } from '../selection';
import { go, type State } from '../state';
import { theme } from '../theme';
import type { View, ViewProps } from '../view';
import { Calls, lineOption } from './calls';

const COLUMNS = 1000;
const ROWS = isReport ? 100 : 300;
const TALLEST_ROW = 18;
const PLOT_HEIGHT = 320;
const MAP_HEIGHT = 28;
const LABEL_STEP = 15;

interface Row {
  readonly letter: string;
  readonly nanoseconds: number;
  readonly percent: number | null;
  readonly samples: number;
  readonly context: number | null;
  readonly name: string;
  readonly kind: string | null;
}

interface Line {
  readonly profile?: number;
  readonly track?: number;
  readonly tid?: number;
  readonly name: string;
  readonly merged_lines: number;
  readonly keys: string;
  readonly fills: string;
}

export interface Picture {
  readonly start_ns: string;
  readonly from_ns: string;
  readonly to_ns: string;
  readonly columns: number;
  readonly samples: number;
  readonly line_count: number;
  readonly is_exact: boolean;
  readonly timeline: readonly Line[];
  readonly rows: readonly Row[];
}

function options(state: State, info: Info): Option[] {
  const found: Option[] = [];
  if (state.profiles !== '') found.push([info.kind === 'recording' ? 'task' : 'profiles', state.profiles]);
  if (state.depth !== '') found.push(['depth', state.depth]);
  return found;
}

function query(state: State, info: Info): Query {
  const window: Option[] = [];
  if (state.from !== '') window.push(['from', state.from]);
  if (state.to !== '') window.push(['to', state.to]);
  const idle: Option[] = state.colours === 'idle-last' ? [['idle-time', 'last']] : [];
  return { command: 'trace', store: state.store, options: [['merge', ''], ['rows', String(ROWS)], ['columns', String(COLUMNS)], ['limit', '0'], ...options(state, info), ...window, ...idle] };
}

/** Above so many samples, an estimate comes first. */
const MANY_SAMPLES = 5e6;
const MANY_LINES = 10000;
const FEW_COLUMNS = 250;

/** A recording does not say how many records it has. */
const isLarge = (info: Info): boolean => info.kind === 'recording' || info.samples > MANY_SAMPLES || info.traceLines > MANY_LINES;

/** The same picture from probes, where the exact one may take seconds. */
function quickQuery(exact: Query): Query {
  return { ...exact, options: [...exact.options.map((option): Option => (option[0] === 'columns' ? ['columns', String(FEW_COLUMNS)] : option)), ['probes', '']] };
}

/** All of the run, quickly: the mini map, and which functions have a colour. */
function wholeQuery(state: State, info: Info): Query {
  return { command: 'trace', store: state.store, options: [['merge', ''], ['probes', ''], ['rows', String(MAP_HEIGHT)], ['columns', String(COLUMNS)], ['limit', '0'], ...options(state, info)] };
}

export function cellsOf(picture: Picture): Cells {
  const rows = picture.timeline.length;
  const keys = new Uint8Array(rows * picture.columns);
  const fills = new Uint8Array(rows * picture.columns);
  picture.timeline.forEach((line, row) => {
    readHex(line.keys, keys, row * picture.columns);
    readHex(line.fills, fills, row * picture.columns);
  });
  return { columns: picture.columns, rows, keys, fills };
}

/** Functions that run, in the order of their keys. */
export const running = (picture: Picture): readonly Row[] => picture.rows.filter((row) => row.letter !== '.');
const isIdle = (row: Row): boolean => row.letter === '.' || row.kind === 'idle';
const identity = (row: Row): string => (row.context === null ? row.name : String(row.context));

/**
 * The colour of each key: the seven largest functions of the run have one, unless they are of the kind "idle". Functions of one name
 * have that of the largest: rows do not tell them apart.
 */
export function huesOf(picture: Picture, whole: Picture): number[] {
  const order = new Map(running(whole).filter((row) => row.kind !== 'idle').slice(0, HUES.length).map((row, index) => [identity(row), HUES[index] ?? OTHERS] as const).reverse());
  const found = new Array<number>(256).fill(OTHERS);
  running(picture).slice(0, 253).forEach((row, index) => (found[FIRST + index] = row.kind === 'idle' ? IDLE_HUE : (order.get(identity(row)) ?? OTHERS)));
  return found;
}

const relative = (picture: Picture, time: string): number => Number(BigInt(time) - BigInt(picture.start_ns));
const css = (colour: number): string => `#${colour.toString(16).padStart(6, '0')}`;

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

export function Canvas(props: { cells: Cells; hues: readonly number[]; ground: Ground; only: number; height: number; label: string; id: string }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { cells, hues, ground, only } = props;
  useEffect(() => {
    const drawing = canvas.current?.getContext('2d');
    if (drawing && cells.rows > 0) drawing.putImageData(new ImageData(paint(cells, hues, ground, only), cells.columns, cells.rows), 0, 0);
  }, [cells, hues, ground, only]);
  return <canvas id={props.id} ref={canvas} width={cells.columns} height={Math.max(1, cells.rows)} role="img" aria-label={props.label} style={{ width: '100%', height: `${String(props.height)}px` }} />;
}

interface Window {
  readonly from: number;
  readonly to: number;
}

function goWindow(window: Window, whole: Window, how: 'push' | 'replace' = 'push'): void {
  const width = Math.max(10, Math.min(window.to - window.from, whole.to - whole.from));
  const from = Math.round(Math.max(whole.from, Math.min(window.from, whole.to - width)));
  const to = Math.round(from + width);
  if (from <= whole.from && to >= whole.to) go({ from: '', to: '' }, how);
  else go({ from: `${String(from)}ns`, to: `${String(to)}ns` }, how);
}

/** The crosshair: a row of the picture and a time after the beginning, from x=LINE@TIME. */
function crossOf(state: State, picture: Picture): { row: number; time: number } | null {
  const match = /^(\d+)@(\d+)ns$/.exec(state.cross);
  if (!match) return null;
  const line = Number(match[1]);
  const row = picture.timeline.findIndex((candidate) => (candidate.profile ?? candidate.track) === line);
  return row < 0 ? null : { row, time: Number(match[2]) };
}

function setCross(picture: Picture, row: number, time: number, how: 'push' | 'replace'): void {
  const line = picture.timeline[row];
  if (line) go({ cross: `${String(line.profile ?? line.track ?? 0)}@${String(Math.round(time))}ns` }, how);
}

interface Frame {
  readonly name: string;
  readonly context: number | null;
  readonly begin_ns: string;
  readonly end_ns: string | null;
}

/** The call path at the crosshair. */
function Stack({ state, info, picture }: { state: State; info: Info; picture: Picture }): JSX.Element {
  const cross = crossOf(state, picture);
  const line = cross ? picture.timeline[cross.row] : undefined;
  const which: Option | null = line === undefined ? null : lineOption(info, line);
  const ask: Query | null = cross && which ? { command: 'trace', store: state.store, options: [['at', `${String(cross.time)}ns`], which, ['rows', '1']] } : null;
  const answer = useAnswer<{ rows: readonly Frame[] }>(ask);
  const frames = answer.data?.rows ?? [];
  useEffect(() => {
    const last = frames[frames.length - 1];
    if (!last || !line) return;
    selection.value = {
      title: last.name, kind: 'call path', path: frames.map((frame) => ({ name: frame.name, context: frame.context === null ? '' : String(frame.context) })),
      context: last.context === null ? '' : String(last.context), name: '', source: '',
      facts: [['line', clean(line.name)], ['time', amount(cross?.time ?? 0, 'nanoseconds')]],
    };
  }, [answer.data]);
  if (!cross || !line) return <p class="quiet stack">Click, or press Enter on the picture, for the call path at a time.</p>;
  return (
    <section class="stack" aria-label="Call path at the crosshair">
      <h2>{clean(line.name)} at {amount(cross.time, 'nanoseconds')}</h2>
      {frames.length === 0 && !answer.isLoading ? <p class="quiet">not running</p> : null}
      <ol>{frames.map((frame, index) => <li key={index} data-value={frame.context ?? frame.name}><Name name={frame.name} /></li>)}</ol>
    </section>
  );
}

function Axis({ window }: { window: Window }): JSX.Element {
  const span = window.to - window.from;
  return (
    <div class="axis" aria-hidden="true">
      {ticks(window.from, window.to, 8).map((time) => <span key={time} style={{ left: `${String(((time - window.from) / span) * 100)}%` }}>{amount(time, 'nanoseconds')}</span>)}
    </div>
  );
}

/** Names of lines beside the picture, as many as there is room for. */
function Names({ picture, height }: { picture: Picture; height: number }): JSX.Element {
  const step = Math.max(1, Math.ceil((LABEL_STEP * picture.timeline.length) / height));
  const shown = picture.timeline.map((line, row) => ({ line, row })).filter(({ row }) => row % step === 0);
  return (
    <div class="names" aria-hidden="true" style={{ height: `${String(height)}px` }}>
      {shown.map(({ line, row }) => <span key={row} style={{ top: `${String(((row + 0.5) / picture.timeline.length) * 100)}%` }} title={clean(line.name)}>{clean(line.name)}</span>)}
    </div>
  );
}

function sharesColumns(picture: Picture, hues: readonly number[]): Column<Row>[] {
  const keys = new Map(running(picture).map((row, index) => [row, Math.min(255, FIRST + index)]));
  return [
    { key: 'colour', title: 'Key', width: '36px', cell: (row) => <i class={isIdle(row) ? 'swatch idle' : 'swatch'} style={isIdle(row) ? {} : { background: css(hues[keys.get(row) ?? 255] ?? OTHERS) }} /> },
    { key: 'percent', title: '%', width: '70px', isNumber: true, cell: (row) => percent(row.percent), value: (row) => row.percent, bar: (row) => row.percent ?? 0 },
    { key: 'nanoseconds', title: 'Time', width: '100px', isNumber: true, cell: (row) => amount(row.nanoseconds, 'nanoseconds'), value: (row) => row.nanoseconds },
    { key: 'samples', title: 'Samples', width: '90px', isNumber: true, cell: (row) => count(row.samples), value: (row) => row.samples },
    { key: 'name', title: 'Function', width: 'minmax(200px, 1fr)', cell: (row) => <Name name={row.name} />, value: (row) => row.name },
  ];
}

function Plot({ state, info, picture, whole, hues, ground, only }: { state: State; info: Info; picture: Picture; whole: Picture; hues: readonly number[]; ground: Ground; only: number }): JSX.Element {
  const cells = useMemo(() => cellsOf(picture), [picture]);
  const window: Window = { from: relative(picture, picture.from_ns), to: relative(picture, picture.to_ns) };
  const all: Window = { from: relative(whole, whole.from_ns), to: relative(whole, whole.to_ns) };
  const cross = crossOf(state, picture);
  const shown = picture.timeline[cross?.row ?? 0];
  const named = useMemo(() => new Map(running(picture).map((row, index) => [row.name, hues[FIRST + index] ?? OTHERS])), [picture, hues]);
  const [hover, setHover] = useState('');
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const span = window.to - window.from;
  const height = Math.max(40, Math.min(PLOT_HEIGHT, cells.rows * TALLEST_ROW));
  const largest = running(picture)[0];
  const label = `${count(picture.line_count)} lines, ${amount(window.from, 'nanoseconds')} to ${amount(window.to, 'nanoseconds')}${largest ? `; mostly ${clean(largest.name)}, ${percent(largest.percent)}%` : ''}`;
  const place = (event: { clientX: number; clientY: number; currentTarget: HTMLElement }): { x: number; row: number; time: number } => {
    const box = event.currentTarget.getBoundingClientRect();
    const x = Math.max(0, Math.min(0.999999, (event.clientX - box.left) / box.width));
    return { x, row: Math.max(0, Math.min(cells.rows - 1, Math.floor(((event.clientY - box.top) / box.height) * cells.rows))), time: window.from + x * span };
  };
  const say = (row: number, x: number): string => {
    const at = row * cells.columns + Math.floor(x * cells.columns);
    const key = cells.keys[at] ?? 0;
    const line = picture.timeline[row];
    const name = key === NOTHING ? 'nothing' : key === IDLE ? '(not running)' : key === 255 ? 'another function' : clean(running(picture)[key - FIRST]?.name);
    const more = line && line.merged_lines > 1 ? ` and ${count(line.merged_lines - 1)} more lines` : '';
    return `${clean(line?.name)}${more}, ${amount(window.from + x * span, 'nanoseconds')}: ${name}${key === NOTHING ? '' : `, ${percent(((cells.fills[at] ?? 0) / 255) * 100)}% of the cell`}`;
  };
  const centre = cross && cross.time >= window.from && cross.time < window.to ? cross.time : window.from + span / 2;
  const zoom = (factor: number): void => goWindow({ from: centre - (centre - window.from) * factor, to: centre + (window.to - centre) * factor }, all, 'replace');
  const pan = (part: number): void => goWindow({ from: window.from + part * span, to: window.to + part * span }, all, 'replace');
  const move = (rows: number, columns: number): void => {
    const row = Math.max(0, Math.min(cells.rows - 1, (cross?.row ?? 0) + rows));
    const time = Math.max(window.from, Math.min(window.to - 1, (cross?.time ?? window.from + span / 2) + (columns * span) / 100));
    setCross(picture, row, time, 'replace');
    setHover(say(row, (time - window.from) / span));
  };
  useKeys([
    { code: 'KeyW', key: '+', label: 'W or +', title: 'zoom in', run: () => zoom(0.5) },
    { code: 'KeyS', key: '-', label: 'S or -', title: 'zoom out', run: () => zoom(2) },
    { code: 'KeyA', label: 'A', title: 'earlier', run: () => pan(-0.25) },
    { code: 'KeyD', label: 'D', title: 'later', run: () => pan(0.25) },
    { key: '0', label: '0', title: 'all time', run: () => go({ from: '', to: '' }) },
    { key: ']', label: ']', title: 'one call level deeper', run: () => go({ depth: String(Number(state.depth === '' ? 0 : state.depth) + 1) }) },
    { key: '[', label: '[', title: 'one call level less; below 1, the innermost functions', run: () => go({ depth: Number(state.depth) > 1 ? String(Number(state.depth) - 1) : '' }) },
  ]);
  return (
    <div class="timeplot">
      <div class="minimap">
        <Canvas id="minimap" cells={useMemo(() => cellsOf(whole), [whole])} hues={huesOf(whole, whole)} ground={ground} only={0} height={MAP_HEIGHT} label="All of the run" />
        <i class="shown" style={{ left: `${String(((window.from - all.from) / (all.to - all.from)) * 100)}%`, width: `${String((span / (all.to - all.from)) * 100)}%` }} />
      </div>
      <Names picture={picture} height={height} />
      <div
        class="plot" tabIndex={0} aria-label="Timeline: arrows move the crosshair" role="application" style={{ height: `${String(height)}px` }}
        onPointerDown={(event) => {
          const { time } = place(event);
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({ from: time, to: time });
        }}
        onPointerMove={(event) => {
          const { row, x, time } = place(event);
          setHover(say(row, x));
          if (drag) setDrag({ from: drag.from, to: time });
        }}
        onPointerUp={(event) => {
          const { row, time } = place(event);
          if (drag && Math.abs(drag.to - drag.from) > span / 200) goWindow({ from: Math.min(drag.from, drag.to), to: Math.max(drag.from, drag.to) }, all);
          else setCross(picture, row, time, 'push');
          setDrag(null);
        }}
        onWheel={(event) => {
          if (!event.ctrlKey) return;
          event.preventDefault();
          zoom(event.deltaY > 0 ? 1.25 : 0.8);
        }}
        onKeyDown={(event) => {
          const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Enter: [0, 0] }[event.key];
          if (!step || event.ctrlKey || event.altKey) return;
          event.preventDefault();
          move(step[0] ?? 0, step[1] ?? 0);
        }}
      >
        <Canvas id="timeline" cells={cells} hues={hues} ground={ground} only={only} height={height} label={label} />
        {drag ? <i class="drag" style={{ left: `${String(((Math.min(drag.from, drag.to) - window.from) / span) * 100)}%`, width: `${String((Math.abs(drag.to - drag.from) / span) * 100)}%` }} /> : null}
        {cross && cross.time >= window.from && cross.time < window.to ? (
          <>
            <i class="cross vertical" style={{ left: `${String(((cross.time - window.from) / span) * 100)}%` }} />
            <i class="cross horizontal" style={{ top: `${String(((cross.row + 0.5) / cells.rows) * 100)}%` }} />
          </>
        ) : null}
      </div>
      <Axis window={window} />
      {shown ? (
        <Calls
          state={state} info={info} line={shown} hues={named} ground={ground} cross={cross && cross.time >= window.from && cross.time < window.to ? (cross.time - window.from) / span : null}
          onPick={(part) => setCross(picture, picture.timeline.indexOf(shown), window.from + part * span, 'push')}
        />
      ) : null}
      <p class="quiet hover" aria-live="polite">{hover === '' ? label : hover}</p>
    </div>
  );
}

/** The picture alone, with the names of its largest functions: for a report. */
export function TimePicture({ state, info }: ViewProps): JSX.Element {
  const answer = useAnswer<Picture>(query(state, info));
  const whole = useAnswer<Picture>(wholeQuery(state, info));
  const ground = useGround();
  const picture = answer.data;
  const cells = useMemo(() => (picture ? cellsOf(picture) : null), [picture]);
  const hues = useMemo(() => (picture ? huesOf(picture, whole.data ?? picture) : []), [picture, whole.data]);
  if (!picture || !cells) return <Problem answer={answer} />;
  if (picture.timeline.length === 0) return <p class="quiet">There are no samples.</p>;
  const window: Window = { from: relative(picture, picture.from_ns), to: relative(picture, picture.to_ns) };
  const height = Math.max(40, Math.min(PLOT_HEIGHT, cells.rows * TALLEST_ROW));
  const largest = running(picture).map((row, index) => ({ row, hue: hues[FIRST + index] ?? OTHERS })).slice(0, 12);
  return (
    <div class="timeplot still">
      <Names picture={picture} height={height} />
      <button type="button" class="plot" title="Time" onClick={() => go({ view: 'time' })}>
        <Canvas id={`time-${String(state.store)}`} cells={cells} hues={hues} ground={ground} only={0} height={height} label={`${count(picture.line_count)} lines over ${amount(window.to - window.from, 'nanoseconds')}${largest[0] ? `; mostly ${clean(largest[0].row.name)}` : ''}`} />
      </button>
      <Axis window={window} />
      <ul class="legend">
        {largest.map(({ row, hue }) => <li key={identity(row)}><i class={isIdle(row) ? 'swatch idle' : 'swatch'} style={isIdle(row) ? {} : { background: css(hue) }} /> <Name isShort name={row.name} /> <b>{percent(row.percent)}%</b></li>)}
      </ul>
    </div>
  );
}

const PATIENCE = 80;

/** Whether an answer is not there after a moment. */
function useLate(address: string, isLoading: boolean): boolean {
  const [late, setLate] = useState('');
  useEffect(() => {
    if (!isLoading) return undefined;
    const timer = setTimeout(() => setLate(address), PATIENCE);
    return () => clearTimeout(timer);
  }, [address, isLoading]);
  return isLoading && late === address;
}

function Time({ state, info }: ViewProps): JSX.Element {
  const exact = query(state, info);
  const answer = useAnswer<Picture>(exact);
  const isLate = useLate(path(exact), answer.isLoading && isLarge(info));
  const quick = useAnswer<Picture>(isLate ? quickQuery(exact) : null);
  const whole = useAnswer<Picture>(wholeQuery(state, info));
  const ground = useGround();
  const picture = answer.isLoading && quick.data && !quick.isLoading ? quick.data : answer.data;
  const hues = useMemo(() => (picture && whole.data ? huesOf(picture, whole.data) : []), [picture, whole.data]);
  if (!picture || !whole.data || answer.error || whole.error) return <Problem answer={answer.error || !picture ? answer : whole} />;
  if (picture.timeline.length === 0) return <p class="pending">There are no samples here.</p>;
  const index = running(picture).findIndex((row) => row.name === state.name);
  const only = index < 0 ? 0 : Math.min(255, FIRST + index);
  return (
    <>
      <div class="toolbar">
        <label>call depth <input type="text" class="depth" aria-label="Call depth" value={state.depth} placeholder="innermost" onChange={(event) => go({ depth: event.currentTarget.value.replace(/\D/g, '') })} /></label>
        <label><input type="checkbox" checked={state.colours === 'idle-last'} onChange={(event) => go({ colours: event.currentTarget.checked ? 'idle-last' : '' })} /> show idle time only where nothing runs</label>
        <span class="space" />
        <span class="quiet">{picture.is_exact ? 'exact' : 'estimate'}{answer.isLoading && answer.done !== undefined ? `, exact ${String(Math.floor(answer.done))}%` : ''} · {count(picture.samples)} samples · {count(picture.line_count)} lines</span>
      </div>
      <div class="time">
        <Plot state={state} info={info} picture={picture} whole={whole.data} hues={hues} ground={ground} only={only} />
        <div class="below">
          <Grid
            label="Shares of this time window" columns={sharesColumns(picture, hues)} rows={picture.rows} rowKey={identity} selected={index < 0 ? '' : identity(running(picture)[index] as Row)}
            onSelect={(row) => go({ name: row.letter === '.' || row.name === state.name ? '' : row.name }, 'replace')} isStale={answer.isLoading}
          />
          <Stack state={state} info={info} picture={picture} />
        </div>
      </div>
    </>
  );
}

export const time: View = { key: 'time', title: 'Time', fits: (info) => (info.kind === 'recording' ? info.duration > 0 && !info.hasRequests : info.traceLines > 0), query, Component: Time };
