// SPDX-License-Identifier: BSD-3-Clause
// Requests: `lode search`, as dots of duration over time and as a table, or as a map of services; one request is a waterfall.
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { useAnswer, type Option, type Query } from '../api';
import { useBrush } from '../brush';
import { amount, clean, count, mark } from '../format';
import { Grid, type Column } from '../grid';
import type { Info } from '../info';
import { Link, Name, Problem, Section } from '../parts';
import { isReport } from '../report';
import { go, type State } from '../state';
import { sharedOptions, type View, type ViewProps } from '../view';
import { isOver, Over, overQuery } from './requests_over';
import { Services } from './services';
import { callsQuery, Waterfall } from './waterfall';

interface Row {
  number: number;
  time_ns: string;
  duration_ns: number;
  calls: number;
  errors: number;
  name: string | null;
  exception: string | null;
  attributes: Readonly<Record<string, unknown>>;
}
interface SearchAnswer {
  row_count: number;
  is_truncated: boolean;
  rows: Row[];
}
const ORDERS = ['duration', 'time', 'calls', 'errors'] as const;
const LIMIT = isReport ? 100 : 500;
const WIDTH = 1000;
const HEIGHT = 160;
const COLUMN_COUNT = 200;

function orderOf(state: State): string {
  return ORDERS.find((order) => order === state.order) ?? 'duration';
}

/** Filters of the address that `lode search` takes: min:100ms, max:1s, errors, method:NAME, attribute:CONDITION, where:CONDITIONS. */
function filterOptions(state: State): Option[] {
  const options: Option[] = [];
  for (const filter of state.filters) {
    const [kind = '', ...rest] = filter.split(':');
    const value = rest.join(':');
    if (kind === 'errors') options.push(['errors', '']);
    else if (value === '') continue;
    else if (kind === 'min') options.push(['min-duration', value]);
    else if (kind === 'max') options.push(['max-duration', value]);
    else if (kind === 'method') options.push(['method', value]);
    else if (kind === 'attribute' || kind === 'where') options.push([kind, value]);
  }
  return options;
}

/** Which requests: of the table, and of the picture of all of them. */
function chosen(state: State, info: Info): Option[] {
  return [...sharedOptions(state, info, { search: false }), ...filterOptions(state), ...(state.search !== '' ? [['text', state.search] as const] : [])];
}

function query(state: State, info: Info): Query {
  if (state.request !== '') return callsQuery(state);
  if (isMap(state)) return mapQuery(state, info);
  if (isOver(state)) return overQuery(state, info, chosen(state, info));
  return { command: 'search', store: state.store, options: [...chosen(state, info), ['sort', orderOf(state)], ['limit', state.limit === '' ? String(LIMIT) : state.limit]] };
}

function densityQuery(state: State, info: Info): Query {
  return { command: 'search', store: state.store, options: [...chosen(state, info), ['density', ''], ['columns', String(COLUMN_COUNT)]] };
}

/** Services of these requests, and which calls which. */
function mapQuery(state: State, info: Info): Query {
  return { command: 'search', store: state.store, options: [...chosen(state, info), ['map', '']] };
}

const isMap = (state: State): boolean => state.group === 'map';

/** A range of durations in an interval of time, with the requests that it has. */
interface Cell {
  readonly column: number;
  readonly min_duration_ns: number;
  readonly max_duration_ns: number;
  readonly requests: number;
  readonly longest_ns: number;
  readonly longest_number: number;
}
interface DensityAnswer {
  readonly from_ns: string;
  readonly to_ns: string;
  readonly columns: number;
  readonly requests: number;
  readonly rows: readonly Cell[];
}

/** Times after the beginning of the run, and powers of ten of durations, at the edges of a picture. */
interface Scale {
  readonly from: number;
  readonly to: number;
  readonly low: number;
  readonly high: number;
}

/** Filters of the address but for durations. */
const withoutDurations = (state: State): string[] => state.filters.filter((filter) => !/^(min|max):/.test(filter));

/** Selects what a drag was over: requests that ran in this time, of these durations. */
function pick(state: State, scale: Scale, x: readonly [number, number] | null, y: readonly [number, number] | null): void {
  const time = (at: number): number => Math.max(0, scale.from + ((at - 8) / (WIDTH - 16)) * (scale.to - scale.from));
  const duration = (at: number): number => 10 ** (scale.low + ((HEIGHT - 8 - at) / (HEIGHT - 16)) * (scale.high - scale.low));
  const ns = (value: number): string => `${String(Math.round(value))}ns`;
  go({
    ...(x === null ? {} : { from: ns(time(x[0])), to: ns(time(x[1]) + 1) }),
    ...(y === null ? {} : { filters: [...withoutDurations(state), `min:${ns(Math.floor(duration(y[1])))}`, `max:${ns(Math.ceil(duration(y[0])))}`] }),
  });
}

/** Undoes what a drag selected. */
function Unbrush({ state }: { state: State }): JSX.Element | null {
  const filters = withoutDurations(state);
  if (isReport || (state.from === '' && state.to === '' && filters.length === state.filters.length)) return null;
  return <Link title="All times and all durations" onClick={() => go({ from: '', to: '', filters })}>show all times and durations</Link>;
}

/** All requests, where the table has some of them: `lode search --density`. The more requests a cell has, the darker it is. */
function Cells({ state, info }: { state: State; info: Info }): JSX.Element | null {
  const answer = useAnswer<DensityAnswer>(densityQuery(state, info));
  const { data } = answer;
  const scale = useRef<Scale | null>(null);
  const { brush, mark: area } = useBrush(WIDTH, HEIGHT, (x, y) => scale.current && pick(state, scale.current, x, y));
  if (data === null || answer.error) return <Problem answer={answer} />;
  if (data.rows.length === 0) return null;
  const log = (value: number): number => Math.log10(Math.max(1, value));
  const low = Math.floor(Math.min(...data.rows.map((cell) => log(cell.min_duration_ns))));
  const high = Math.ceil(Math.max(...data.rows.map((cell) => log(cell.max_duration_ns))) - 1e-9);
  const most = Math.max(...data.rows.map((cell) => cell.requests));
  const y = (value: number): number => HEIGHT - 8 - ((log(value) - low) / Math.max(1, high - low)) * (HEIGHT - 16);
  const decades = Array.from({ length: high - low + 1 }, (_, step) => low + step);
  const width = (WIDTH - 16) / Math.max(1, data.columns);
  const span = Number(BigInt(data.to_ns) - BigInt(data.from_ns));
  const begin = Number(BigInt(data.from_ns) - BigInt(info.begin));
  scale.current = { from: begin, to: begin + span, low, high: Math.max(high, low + 1) };
  return (
    <Section title={`Duration over time, of all ${count(data.requests)} requests`} more={<Unbrush state={state} />}>
      <div class="axes">
      {decades.map((power) => <span key={power} class="y" aria-hidden="true" style={{ top: `${String((100 * y(10 ** power)) / HEIGHT)}%` }}>{mark(10 ** power)}</span>)}
      <svg class="chart requests-chart" role="img" aria-label={`${count(data.requests)} requests by start and duration, on a logarithmic scale; up to ${count(most)} in a cell`} viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`} preserveAspectRatio="none" {...(isReport ? {} : brush)}>
        {decades.map((power) => <line key={power} class="decade" x1="0" x2={WIDTH} y1={y(10 ** power)} y2={y(10 ** power)} />)}
        {data.rows.map((cell) => (
          <rect key={`${String(cell.column)} ${String(cell.min_duration_ns)}`} class="dot cell" data-requests={cell.requests} x={8 + cell.column * width} width={width} y={y(cell.max_duration_ns)} height={Math.max(1, y(cell.min_duration_ns) - y(cell.max_duration_ns))}
            fill-opacity={0.25 + 0.75 * (most > 1 ? Math.log(cell.requests) / Math.log(most) : 1)} onClick={() => go({ request: String(cell.longest_number) })}>
            <title>{`${count(cell.requests)} ${cell.requests === 1 ? 'request' : 'requests'}, the longest ${amount(cell.longest_ns, 'nanoseconds')}: request ${String(cell.longest_number)}`}</title>
          </rect>
        ))}
        {area}
      </svg>
      </div>
      <p class="ends quiet"><span>0 s</span><span class="space" /><span>duration, logarithmic; time; darker cells have more requests; a click opens the longest{isReport ? '' : ', a drag selects'}</span><span class="space" /><span>{amount(span, 'nanoseconds')}</span></p>
    </Section>
  );
}

/** Dots of duration, on a logarithmic scale, over time. */
function Density({ state, info, rows }: { state: State; info: Info; rows: readonly Row[] }): JSX.Element | null {
  const scale = useRef<Scale | null>(null);
  const { brush, mark: area } = useBrush(WIDTH, HEIGHT, (x, y) => scale.current && pick(state, scale.current, x, y));
  if (rows.length === 0) return null;
  const times = rows.map((row) => Number(BigInt(row.time_ns) - BigInt(rows[0]?.time_ns ?? '0')));
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const logs = rows.map((row) => Math.log10(Math.max(1, row.duration_ns)));
  const [low, high] = [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs) + 1e-9)];
  const x = (time: number): number => 8 + (last > first ? (time - first) / (last - first) : 0.5) * (WIDTH - 16);
  const y = (log: number): number => HEIGHT - 8 - ((log - low) / Math.max(1, high - low)) * (HEIGHT - 16);
  const decades = Array.from({ length: high - low + 1 }, (_, step) => low + step);
  const begin = Number(BigInt(rows[0]?.time_ns ?? '0') - BigInt(info.begin));
  scale.current = { from: begin + first, to: begin + Math.max(last, first + 1), low, high: Math.max(high, low + 1) };
  return (
    <Section title="Duration over time" more={<Unbrush state={state} />}>
      <div class="axes">
      {decades.map((log) => <span key={log} class="y" aria-hidden="true" style={{ top: `${String((100 * y(log)) / HEIGHT)}%` }}>{mark(10 ** log)}</span>)}
      <svg class="chart requests-chart" role="img" aria-label={`${count(rows.length)} requests: durations from ${amount(10 ** Math.min(...logs), 'nanoseconds')} to ${amount(10 ** Math.max(...logs), 'nanoseconds')}, on a logarithmic scale`} viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`} preserveAspectRatio="none" {...(isReport ? {} : brush)}>
        {decades.map((log) => <line key={log} class="decade" x1="0" x2={WIDTH} y1={y(log)} y2={y(log)} />)}
        {rows.map((row, index) => (
          <circle key={row.number} class={row.errors > 0 ? 'dot failed' : 'dot'} r={row.errors > 0 ? 4 : 3} cx={x(times[index] ?? 0)} cy={y(logs[index] ?? 0)} onClick={() => go({ request: String(row.number) })}>
            <title>{`request ${String(row.number)}: ${amount(row.duration_ns, 'nanoseconds')}${row.errors > 0 ? ', failed' : ''}`}</title>
          </circle>
        ))}
        {area}
      </svg>
      </div>
      <p class="ends quiet"><span>0 s</span><span class="space" /><span>duration, logarithmic; time after the first of them; red failed{isReport ? '' : '; a drag selects'}</span><span class="space" /><span>{amount(last - first, 'nanoseconds')}</span></p>
    </Section>
  );
}

const COLUMNS: readonly Column<Row>[] = [
  { key: 'number', title: '#', width: '70px', isNumber: true, cell: (row) => String(row.number), value: (row) => row.number },
  { key: 'duration_ns', title: 'Duration', width: '110px', isNumber: true, cell: (row) => amount(row.duration_ns, 'nanoseconds'), value: (row) => row.duration_ns, order: 'duration' },
  { key: 'calls', title: 'Calls', width: '80px', isNumber: true, cell: (row) => count(row.calls), value: (row) => row.calls, order: 'calls' },
  { key: 'errors', title: 'Errors', width: '70px', isNumber: true, cell: (row) => count(row.errors), value: (row) => row.errors, order: 'errors' },
  { key: 'name', title: 'Request', width: 'minmax(240px, 2fr)', cell: (row) => <Name name={row.name ?? '(no calls)'} />, value: (row) => row.name ?? '' },
  { key: 'attributes', title: 'Attributes', width: 'minmax(160px, 2fr)', cell: (row) => <span class="quiet">{clean(Object.entries(row.attributes).map(([key, value]) => `${key}=${String(value)}`).join(' '))}</span> },
  { key: 'exception', title: 'Exception', width: 'minmax(80px, 1fr)', cell: (row) => <span class="bad">{clean(row.exception)}</span>, value: (row) => row.exception },
];

const FILTERS = [['min', 'at least', '100ms'], ['max', 'at most', '1s'], ['method', 'method', 'NAME'], ['attribute', 'attribute', 'KEY=VALUE'], ['where', 'where', '{failed} below {name=X}']] as const;

function Filters({ state }: { state: State }): JSX.Element {
  const others = (kind: string): string[] => state.filters.filter((filter) => filter.split(':')[0] !== kind);
  const valueOf = (kind: string): string => state.filters.find((filter) => filter.startsWith(`${kind}:`))?.slice(kind.length + 1) ?? '';
  const hasErrors = state.filters.includes('errors');
  return (
    <>
      {FILTERS.map(([kind, title, hint]) => (
        <label key={kind} class="choice"><span>{title}</span>
          <input type="text" value={valueOf(kind)} placeholder={hint} onChange={(event) => go({ filters: [...others(kind), ...(event.currentTarget.value === '' ? [] : [`${kind}:${event.currentTarget.value}`])] })} />
        </label>
      ))}
      <button type="button" aria-pressed={hasErrors} onClick={() => go({ filters: [...others('errors'), ...(hasErrors ? [] : ['errors'])] })}>errors only</button>
    </>
  );
}

function List({ state, info }: { state: State; info: Info }): JSX.Element {
  const hasMap = isMap(state), hasOver = isOver(state) && !isReport;
  const answer = useAnswer<SearchAnswer>(hasMap || hasOver ? null : query(state, info));
  const data = answer.data;
  return (
    <>
      <div class="toolbar">
        {isReport && !info.hasServices ? null : (
          <div class="segments" role="group" aria-label="What to show">
            <button type="button" aria-pressed={!hasMap && !hasOver} onClick={() => go({ group: '' })}>requests</button>
            {isReport ? null : <button type="button" aria-pressed={hasOver} title="Rate, failures and percentiles over time" onClick={() => go({ group: 'over' })}>over time</button>}
            {info.hasServices ? <button type="button" aria-pressed={hasMap} title="Which service calls which" onClick={() => go({ group: 'map' })}>services</button> : null}
          </div>
        )}
        <Filters state={state} />
        <span class="space" />
        {data ? <span class="quiet">{data.is_truncated ? `${count(data.rows.length)} of ` : ''}{count(data.row_count)} requests</span> : null}
      </div>
      {hasMap ? <Services query={mapQuery(state, info)} /> : hasOver ? <Over state={state} info={info} query={query(state, info)} /> : data === null || answer.error ? <Problem answer={answer} /> : (
        <>
          <div class="charts">{data.is_truncated ? <Cells state={state} info={info} /> : <Density state={state} info={info} rows={data.rows} />}</div>
          <Grid label="Requests" columns={COLUMNS} rows={data.rows} rowKey={(row) => String(row.number)} selected={state.cross} onSelect={(row) => go({ cross: String(row.number) }, 'replace')}
            onEnter={(row) => go({ request: String(row.number), cross: '' })} order={orderOf(state)} onOrder={(order) => go({ order: order === 'duration' ? '' : order })} isStale={answer.isLoading}
            footer={data.is_truncated ? <p class="footer"><Link onClick={() => go({ limit: String(data.rows.length * 4) }, 'replace')}>show more rows</Link></p> : null} />
        </>
      )}
    </>
  );
}

function Requests({ state, info }: ViewProps): JSX.Element {
  return state.request === '' ? <List state={state} info={info} /> : <Waterfall state={state} />;
}

export const requests: View = { key: 'requests', title: 'Requests', fits: (info) => info.hasRequests, query, Component: Requests };
