// SPDX-License-Identifier: BSD-3-Clause
// What each thread did over time: `lode trace --merge`.
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { path, useAnswer, type Option, type Query } from '../api';
import { FIRST, OTHERS } from '../draw/picture';
import { amount, clean, count, percent } from '../format';
import { Grid, type Column } from '../grid';
import type { Info } from '../info';
import { Link, Name, Problem } from '../parts';
import { isReport } from '../report';
import { readTop, type TopRow } from '../rows';
import { selection } from '../selection';
import { go, type State } from '../state';
import { cellsOf, crossOf, css, huesOf, identity, isIdle, running, windowOf, type Picture, type Row } from '../timeline';
import { sharedOptions, type View, type ViewProps } from '../view';
import { areaOf } from '../window';
import { Area, areaQuery } from './area';
import { entryOf, lineOption } from './calls';
import { Axis, Canvas, heightOf, MAP_HEIGHT, Names, Plot, useGround } from './timeplot';

const COLUMNS = 1000;
const ROWS = isReport ? 100 : 300;

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
/** Functions that a search finds, at most. */
const FOUND = '1000';

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

/** Calls of functions in an interval that was selected: their number, and how long they take. Records have them, samples do not. */
function callsQuery(state: State, info: Info): Query | null {
  if (info.kind !== 'recording' || (state.from === '' && state.to === '')) return null;
  return { command: 'top', store: state.store, options: [...sharedOptions(state, info, { search: false }), ['limit', '200']] };
}

/** Of a request, at most. */
const LANES = '200';

interface Frame {
  readonly line_index: number;
  readonly name: string;
  readonly context: number | null;
  readonly begin_ns: string;
  readonly end_ns: string | null;
}

/** The call path at the crosshair. */
function Stack({ state, info, picture }: { state: State; info: Info; picture: Picture }): JSX.Element {
  const cross = crossOf(state, picture);
  const line = cross ? picture.timeline[cross.row] : undefined;
  const number = line === undefined ? '' : entryOf(info, line);
  const ask: Query | null = cross && line ? { command: 'trace', store: state.store, options: [['at', `${String(cross.time)}ns`], lineOption(info, number), ['rows', info.hasRequests ? LANES : '1']] } : null;
  const answer = useAnswer<{ rows: readonly Frame[] }>(ask);
  // All lanes of the request are in the answer.
  const frames = (answer.data?.rows ?? []).filter((frame) => !info.hasRequests || frame.line_index === line?.track);
  useEffect(() => {
    const last = frames[frames.length - 1];
    if (!last || !line) return;
    selection.value = {
      title: last.name, kind: 'call path', path: frames.map((frame) => ({ name: frame.name, context: frame.context === null ? '' : String(frame.context) })),
      context: last.context === null ? '' : String(last.context), name: '', source: '',
      facts: [info.hasRequests ? ['request', number] : ['line', clean(line.name)], ['time', amount(cross?.time ?? 0, 'nanoseconds')]],
    };
  }, [answer.data]);
  if (!cross || !line) return <p class="quiet stack">Click, or press Enter on the picture, for the call path at a time.</p>;
  return (
    <section class="stack" aria-label="Call path at the crosshair">
      <h2>{info.hasRequests ? <Link title="Open this request" onClick={() => go({ view: 'requests', request: number })}>request {number}</Link> : clean(line.name)} at {amount(cross.time, 'nanoseconds')}</h2>
      {frames.length === 0 && !answer.isLoading ? <p class="quiet">not running</p> : null}
      <ol>{frames.map((frame, index) => <li key={index} data-value={frame.context ?? frame.name}><Name name={frame.name} /></li>)}</ol>
    </section>
  );
}

type Calls = ReadonlyMap<string, TopRow>;

function callsColumns(calls: Calls): Column<Row>[] {
  const time = (key: 'mean' | 'p95' | 'max', title: string): Column<Row> => ({ key, title, width: '88px', isNumber: true, cell: (row) => amount(calls.get(row.name)?.[key], 'nanoseconds'), value: (row) => calls.get(row.name)?.[key] });
  const number: Column<Row> = { key: 'calls', title: 'Calls', width: '60px', isNumber: true, cell: (row) => (calls.has(row.name) ? count(calls.get(row.name)?.calls ?? 0) : ''), value: (row) => calls.get(row.name)?.calls };
  return [number, time('mean', 'Mean'), time('p95', 'p95'), time('max', 'Max')];
}

/** `calls`: those of the interval; null if there is none, or if the store has no calls. */
function sharesColumns(picture: Picture, hues: readonly number[], calls: Calls | null): Column<Row>[] {
  const keys = new Map(running(picture).map((row, index) => [row, Math.min(255, FIRST + index)]));
  return [
    { key: 'colour', title: 'Key', width: '36px', cell: (row) => <i class={isIdle(row) ? 'swatch idle' : 'swatch'} style={isIdle(row) ? {} : { background: css(hues[keys.get(row) ?? 255] ?? OTHERS) }} /> },
    { key: 'percent', title: '%', width: '70px', isNumber: true, cell: (row) => percent(row.percent), value: (row) => row.percent, bar: (row) => row.percent ?? 0 },
    { key: 'nanoseconds', title: 'Time', width: '100px', isNumber: true, cell: (row) => amount(row.nanoseconds, 'nanoseconds'), value: (row) => row.nanoseconds },
    { key: 'samples', title: 'Samples', width: '90px', isNumber: true, cell: (row) => count(row.samples), value: (row) => row.samples },
    ...(calls === null ? [] : callsColumns(calls)),
    { key: 'name', title: 'Function', width: 'minmax(200px, 1fr)', cell: (row) => <Name name={row.name} />, value: (row) => row.name },
  ];
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
  const window = windowOf(picture);
  const height = heightOf(cells.rows);
  const largest = running(picture).map((row, index) => ({ row, hue: hues[FIRST + index] ?? OTHERS })).slice(0, 12);
  return (
    <div class="timeplot still">
      <Names picture={picture} info={info} height={height} />
      <button type="button" class="plot" title="Time" onClick={() => go({ view: 'time' })}>
        <Canvas id={`time-${String(state.store)}`} cells={cells} hues={hues} ground={ground} only={null} height={height} label={`${count(picture.line_count)} lines over ${amount(window.to - window.from, 'nanoseconds')}${largest[0] ? `; mostly ${clean(largest[0].row.name)}` : ''}`} />
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

/** Which functions of the run the search and the filters find; null: they ask for none. */
function useFound(state: State, info: Info): { names: ReadonlySet<string>; hidden: number; isLoading: boolean } | null {
  const isAsked = !isReport && (state.search !== '' || state.filters.some((filter) => /^(hide|only):./.test(filter)));
  const answer = useAnswer<unknown>(isAsked ? { command: 'top', store: state.store, options: [...sharedOptions(state, info, { metrics: 'none' }), ['limit', FOUND]] } : null);
  return useMemo(() => {
    if (!isAsked) return null;
    const top = answer.data === null || answer.isLoading ? null : readTop(answer.data);
    return { names: new Set(top?.rows.map((row) => row.name)), hidden: top?.hidden ?? 0, isLoading: top === null };
  }, [isAsked, answer.data, answer.isLoading]);
}

/** What a search or a filter does to the picture, in words. */
function Hidden({ found, picture }: { found: NonNullable<ReturnType<typeof useFound>>; picture: Picture }): JSX.Element {
  const shown = running(picture).filter((row) => found.names.has(row.name)).length;
  const rest = running(picture).length - shown;
  return <span class="quiet hides" role="status">{found.isLoading ? 'searching …' : shown === 0 ? 'The search and the filters find nothing here: all is pale.' : `The search and the filters leave ${count(shown)} ${shown === 1 ? 'function' : 'functions'} here; ${count(rest)} ${rest === 1 ? 'other is' : 'others are'} pale.`}</span>;
}

function Time({ state, info }: ViewProps): JSX.Element {
  const exact = query(state, info);
  const answer = useAnswer<Picture>(exact);
  const isLate = useLate(path(exact), answer.isLoading && isLarge(info));
  const quick = useAnswer<Picture>(isLate ? quickQuery(exact) : null);
  const whole = useAnswer<Picture>(wholeQuery(state, info));
  const ground = useGround();
  const found = useFound(state, info);
  // Its turn comes when the picture is there.
  const selected = areaOf(state) ? null : callsQuery(state, info);
  const called = useAnswer<unknown>(answer.isLoading ? null : selected);
  const calls = useMemo(() => (selected === null ? null : new Map(called.data === null ? [] : readTop(called.data).rows.map((row) => [row.name, row] as const))), [called.data, selected === null]);
  const isQuick = answer.isLoading && quick.data !== null && !quick.isLoading;
  const picture = isQuick ? quick.data : answer.data;
  const hues = useMemo(() => (picture && whole.data ? huesOf(picture, whole.data) : []), [picture, whole.data]);
  const index = picture ? running(picture).findIndex((row) => row.name === state.name) : -1;
  // A selected function stands out; else what the search and the filters find.
  const [only, dimmed] = useMemo(() => {
    const names = index >= 0 ? new Set([state.name]) : found !== null && !found.isLoading ? found.names : null;
    if (names === null || !picture) return [null, () => false] as const;
    const keys = running(picture).flatMap((row, at) => (names.has(row.name) ? [Math.min(255, FIRST + at)] : []));
    return [new Set(keys), (name: string) => !names.has(name)] as const;
  }, [picture, found, index, state.name]);
  if (!picture || !whole.data || answer.error || whole.error) return <Problem answer={answer.error || !picture ? answer : whole} />;
  if (picture.timeline.length === 0) return <p class="pending">There are no samples here.</p>;
  return (
    <>
      <div class="toolbar">
        <label>call depth <input type="text" class="depth" aria-label="Call depth" value={state.depth} placeholder="innermost" onChange={(event) => go({ depth: event.currentTarget.value.replace(/\D/g, '') })} /></label>
        <label><input type="checkbox" checked={state.colours === 'idle-last'} onChange={(event) => go({ colours: event.currentTarget.checked ? 'idle-last' : '' })} /> show idle time only where nothing runs</label>
        {found ? <Hidden found={found} picture={picture} /> : null}
        <span class="space" />
        <span class="quiet">{picture.is_exact ? 'exact' : 'estimate'}{answer.isLoading && answer.done !== undefined ? `, exact ${String(Math.floor(answer.done))}%` : ''} · {count(picture.samples)} samples · {count(picture.line_count)} {picture.line_count === 1 ? 'line' : 'lines'}</span>
      </div>
      <div class="time">
        <Plot state={state} info={info} picture={picture} whole={whole.data} hues={hues} ground={ground} only={only} dimmed={dimmed} isStale={answer.isLoading && !isQuick} />
        <div class="below">
          {areaOf(state) ? <Area state={state} info={info} all={windowOf(whole.data)} /> : <Grid
            label="Shares of this time window" columns={sharesColumns(picture, hues, calls)} rows={picture.rows} rowKey={identity} selected={index < 0 ? '' : identity(running(picture)[index] as Row)}
            onSelect={(row) => go({ name: row.letter === '.' || row.name === state.name ? '' : row.name }, 'replace')} isStale={answer.isLoading}
          />}
          <Stack state={state} info={info} picture={picture} />
        </div>
      </div>
    </>
  );
}

export const time: View = { key: 'time', title: 'Time', fits: (info) => (info.kind === 'recording' ? info.duration > 0 && !(isReport && info.hasRequests) : info.traceLines > 0), query, copied: (state, info) => areaQuery(state, info) ?? query(state, info), Component: Time };
