// SPDX-License-Identifier: BSD-3-Clause
// Requests: `lode search`, as dots of duration over time and as a table; one request, by `lode replay`, as a waterfall.
import type { JSX } from 'preact';
import { useAnswer, type Option, type Query } from '../api';
import { amount, clean, count } from '../format';
import { Grid, type Column } from '../grid';
import type { Info } from '../info';
import { Link, Name, Problem, Section } from '../parts';
import { isReport } from '../report';
import { go, type State } from '../state';
import { sharedOptions, type View, type ViewProps } from '../view';

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
interface Event {
  time_ns: string;
  kind: string;
  instant: string | null;
  depth: number;
  duration_ns: number | null;
  name: string;
  values: string | null;
  failed: boolean;
}
interface Call {
  name: string;
  depth: number;
  begin: number;
  duration: number;
  failed: boolean;
  parent: Call | null;
  isCritical: boolean;
  details: string[];
}

const ORDERS = ['duration', 'time', 'calls', 'errors'] as const;
const LIMIT = isReport ? 100 : 500;
const CALLS = 2000;
const WIDTH = 1000;
const HEIGHT = 160;
const COLUMN_COUNT = 200;

function orderOf(state: State): string {
  return ORDERS.find((order) => order === state.order) ?? 'duration';
}

/** Filters of the address that `lode search` takes: min:100ms, max:1s, errors, method:NAME, attribute:CONDITION. */
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
    else if (kind === 'attribute') options.push(['attribute', value]);
  }
  return options;
}

/** Which requests: of the table, and of the picture of all of them. */
function chosen(state: State, info: Info): Option[] {
  const options: Option[] = sharedOptions(state, info, { search: false }).filter(([name]) => name !== 'task');
  return [...options, ...filterOptions(state), ...(state.search !== '' ? [['text', state.search] as const] : [])];
}

function query(state: State, info: Info): Query {
  if (state.request !== '') return callsQuery(state);
  return { command: 'search', store: state.store, options: [...chosen(state, info), ['sort', orderOf(state)], ['limit', state.limit === '' ? String(LIMIT) : state.limit]] };
}

function densityQuery(state: State, info: Info): Query {
  return { command: 'search', store: state.store, options: [...chosen(state, info), ['density', ''], ['columns', String(COLUMN_COUNT)]] };
}

function callsQuery(state: State): Query {
  return { command: 'replay', store: state.store, options: [['id', state.request], ['limit', String(CALLS)]] };
}

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

/** All requests, where the table has some of them: `lode search --density`. The more requests a cell has, the darker it is. */
function Cells({ state, info }: { state: State; info: Info }): JSX.Element | null {
  const answer = useAnswer<DensityAnswer>(densityQuery(state, info));
  const { data } = answer;
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
  return (
    <Section title={`Duration over time, of all ${count(data.requests)} requests`}>
      <div class="axes">
      {decades.map((power) => <span key={power} class="y" aria-hidden="true" style={{ top: `${String((100 * y(10 ** power)) / HEIGHT)}%` }}>{amount(10 ** power, 'nanoseconds')}</span>)}
      <svg class="chart requests-chart" role="img" aria-label={`${count(data.requests)} requests by start and duration, on a logarithmic scale; up to ${count(most)} in a cell`} viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`} preserveAspectRatio="none">
        {decades.map((power) => <line key={power} class="decade" x1="0" x2={WIDTH} y1={y(10 ** power)} y2={y(10 ** power)} />)}
        {data.rows.map((cell) => (
          <rect key={`${String(cell.column)} ${String(cell.min_duration_ns)}`} class="dot cell" data-requests={cell.requests} x={8 + cell.column * width} width={width} y={y(cell.max_duration_ns)} height={Math.max(1, y(cell.min_duration_ns) - y(cell.max_duration_ns))}
            fill-opacity={0.25 + 0.75 * (most > 1 ? Math.log(cell.requests) / Math.log(most) : 1)} onClick={() => go({ request: String(cell.longest_number) })}>
            <title>{`${count(cell.requests)} ${cell.requests === 1 ? 'request' : 'requests'}, the longest ${amount(cell.longest_ns, 'nanoseconds')}: request ${String(cell.longest_number)}`}</title>
          </rect>
        ))}
      </svg>
      </div>
      <p class="ends quiet"><span>0 s</span><span class="space" /><span>duration, logarithmic; time; darker cells have more requests; a click opens the longest</span><span class="space" /><span>{amount(span, 'nanoseconds')}</span></p>
    </Section>
  );
}

/** Dots of duration, on a logarithmic scale, over time. */
function Density({ rows }: { rows: readonly Row[] }): JSX.Element | null {
  if (rows.length === 0) return null;
  const times = rows.map((row) => Number(BigInt(row.time_ns) - BigInt(rows[0]?.time_ns ?? '0')));
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const logs = rows.map((row) => Math.log10(Math.max(1, row.duration_ns)));
  const [low, high] = [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs) + 1e-9)];
  const x = (time: number): number => 8 + (last > first ? (time - first) / (last - first) : 0.5) * (WIDTH - 16);
  const y = (log: number): number => HEIGHT - 8 - ((log - low) / Math.max(1, high - low)) * (HEIGHT - 16);
  const decades = Array.from({ length: high - low + 1 }, (_, step) => low + step);
  return (
    <Section title="Duration over time">
      <div class="axes">
      {decades.map((log) => <span key={log} class="y" aria-hidden="true" style={{ top: `${String((100 * y(log)) / HEIGHT)}%` }}>{amount(10 ** log, 'nanoseconds')}</span>)}
      <svg class="chart requests-chart" role="img" aria-label={`${count(rows.length)} requests: durations from ${amount(10 ** Math.min(...logs), 'nanoseconds')} to ${amount(10 ** Math.max(...logs), 'nanoseconds')}, on a logarithmic scale`} viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`} preserveAspectRatio="none">
        {decades.map((log) => <line key={log} class="decade" x1="0" x2={WIDTH} y1={y(log)} y2={y(log)} />)}
        {rows.map((row, index) => (
          <circle key={row.number} class={row.errors > 0 ? 'dot failed' : 'dot'} r={row.errors > 0 ? 4 : 3} cx={x(times[index] ?? 0)} cy={y(logs[index] ?? 0)} onClick={() => go({ request: String(row.number) })}>
            <title>{`request ${String(row.number)}: ${amount(row.duration_ns, 'nanoseconds')}${row.errors > 0 ? ', failed' : ''}`}</title>
          </circle>
        ))}
      </svg>
      </div>
      <p class="ends quiet"><span>0 s</span><span class="space" /><span>duration, logarithmic; time after the first of them; red failed</span><span class="space" /><span>{amount(last - first, 'nanoseconds')}</span></p>
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

/** Pairs begins and ends of calls; the critical path goes from the outermost call into the longest call below, as far as there is one. */
export function readCalls(events: readonly Event[]): Call[] {
  const calls: Call[] = [];
  const stack: Call[] = [];
  const origin = BigInt(events[0]?.time_ns ?? '0');
  for (const event of events) {
    const time = Number(BigInt(event.time_ns) - origin);
    if (event.kind === 'enter') {
      const call: Call = { name: event.name, depth: event.depth, begin: time, duration: 0, failed: false, parent: stack[stack.length - 1] ?? null, isCritical: false, details: [] };
      calls.push(call);
      stack.push(call);
    } else if (event.kind === 'leave') {
      const call = stack.pop();
      if (call) {
        call.duration = event.duration_ns ?? time - call.begin;
        call.failed = event.failed;
      }
    } else stack[stack.length - 1]?.details.push(`${event.name}${event.values === null ? '' : ` = ${event.values}`}`);
  }
  const last = events[events.length - 1];
  for (const call of stack) call.duration = last ? Number(BigInt(last.time_ns) - origin) - call.begin : 0;
  let at: Call | null = null;
  for (;;) {
    const below: Call[] = calls.filter((call) => call.parent === at);
    if (below.length === 0) return calls;
    const longest: Call = below.reduce((best, call) => (call.duration > best.duration ? call : best));
    longest.isCritical = true;
    at = longest;
  }
}

function Waterfall({ state }: { state: State }): JSX.Element {
  const answer = useAnswer<{ rows: Event[] }>(callsQuery(state));
  const calls = answer.data ? readCalls(answer.data.rows) : [];
  const whole = Math.max(1, ...calls.map((call) => call.begin + call.duration));
  const columns: Column<{ call: Call; index: number }>[] = [
    { key: 'begin', title: 'Start', width: '100px', isNumber: true, cell: (row) => amount(row.call.begin, 'nanoseconds'), value: (row) => row.call.begin },
    { key: 'duration_ns', title: 'Duration', width: '100px', isNumber: true, cell: (row) => amount(row.call.duration, 'nanoseconds'), value: (row) => row.call.duration },
    {
      key: 'bar', title: 'Waterfall', width: 'minmax(200px, 1fr)', cell: (row) => (
        <svg class="fall" aria-hidden="true" viewBox="0 0 1000 14" preserveAspectRatio="none">
          <rect class={row.call.failed ? 'failed' : row.call.isCritical ? 'critical' : 'part'} x={(row.call.begin / whole) * 1000} width={Math.max(2, (row.call.duration / whole) * 1000)} y="2" height="10" />
        </svg>
      ),
    },
    {
      key: 'name', title: 'Call', width: 'minmax(300px, 2fr)', value: (row) => row.call.name, cell: (row) => (
        <span title={clean(row.call.details.join('\n'))}>{'\u00a0'.repeat(Math.min(40, row.call.depth) * 2)}{row.call.isCritical ? '▸ ' : ''}<span class="name">{clean(row.call.name)}</span>{row.call.failed ? <span class="bad"> failed</span> : null}</span>
      ),
    },
  ];
  return (
    <>
      <div class="toolbar">
        <Link onClick={() => go({ request: '' })}>all requests</Link>
        <span>request {clean(state.request)}</span>
        <span class="space" />
        <span class="quiet">{count(calls.length)} calls · {amount(whole, 'nanoseconds')} · ▸ critical path</span>
      </div>
      {answer.data === null || answer.error ? <Problem answer={answer} /> : (
        <Grid label="Calls of the request" columns={columns} rows={calls.map((call, index) => ({ call, index }))} rowKey={(row) => String(row.index)} selected={state.cross} onSelect={(row) => go({ cross: String(row.index) }, 'replace')} isStale={answer.isLoading} />
      )}
      <Attributes call={calls[Number(state.cross === '' ? 0 : state.cross)]} />
    </>
  );
}

function Attributes({ call }: { call: Call | undefined }): JSX.Element | null {
  if (!call || call.details.length === 0) return null;
  return (
    <Section title={`Attributes and exceptions of ${clean(call.name)}`}>
      <ul class="attributes">{call.details.map((detail, index) => <li key={index} class="name">{clean(detail)}</li>)}</ul>
    </Section>
  );
}

const FILTERS = [['min', 'at least', '100ms'], ['max', 'at most', '1s'], ['method', 'method', 'NAME'], ['attribute', 'attribute', 'KEY=VALUE']] as const;

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
  const answer = useAnswer<SearchAnswer>(query(state, info));
  const data = answer.data;
  return (
    <>
      <div class="toolbar">
        <Filters state={state} />
        <span class="space" />
        {data ? <span class="quiet">{data.is_truncated ? `${count(data.rows.length)} of ` : ''}{count(data.row_count)} requests</span> : null}
      </div>
      {data === null || answer.error ? <Problem answer={answer} /> : (
        <>
          <div class="charts">{data.is_truncated ? <Cells state={state} info={info} /> : <Density rows={data.rows} />}</div>
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
