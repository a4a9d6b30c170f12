// SPDX-License-Identifier: BSD-3-Clause
// Requests in intervals of time: rate, failures and percentiles of durations, as `lode search --over` counts them.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useAnswer, type Option, type Query } from '../api';
import { amount, clean, count, general, mark, percent } from '../format';
import { Grid, type Column } from '../grid';
import type { Info } from '../info';
import { Problem, Section } from '../parts';
import { go, type State } from '../state';
import { requested } from '../window';

interface Row {
  readonly begin_ns: string;
  readonly date: string | null;
  readonly count: number;
  readonly per_second: number;
  readonly failures: number;
  readonly failed_percent: number | null;
  readonly p50_ns: number;
  readonly p95_ns: number;
  readonly p99_ns: number;
  readonly max_ns: number;
}
interface RatesAnswer {
  readonly count: number;
  readonly interval_ns: number;
  readonly rows: readonly Row[];
}

const MOST = 100;
const STEPS = ['1us', '10us', '100us', '1ms', '10ms', '100ms', '1s', '5s', '10s', '30s', '60s', '300s', '900s', '3600s', '21600s', '86400s', '604800s', '2592000s'] as const;
const NAMES: Readonly<Record<string, string>> = { '60s': '1 min', '300s': '5 min', '900s': '15 min', '3600s': '1 h', '21600s': '6 h', '86400s': '1 d', '604800s': '7 d', '2592000s': '30 d' };
const UNITS: Readonly<Record<string, number>> = { us: 1e3, ms: 1e6, s: 1e9 };
const lengthOf = (step: string): number => parseInt(step, 10) * (UNITS[step.replace(/^\d+/, '')] ?? 1);

export const isOver = (state: State): boolean => state.group === 'over' || state.group.startsWith('over:');

/** The interval that was chosen; else the shortest one of which about a hundred are in the time window. */
function stepOf(state: State, info: Info): string {
  const chosen = STEPS.find((step) => state.group === `over:${step}`);
  if (chosen) return chosen;
  const all = { from: 0, to: info.duration };
  const window = requested(state, all, BigInt(info.begin === '' ? 0 : info.begin)) ?? all;
  return STEPS.find((step) => (window.to - window.from) / lengthOf(step) <= MOST) ?? '2592000s';
}

export function overQuery(state: State, info: Info, chosen: readonly Option[]): Query {
  return { command: 'search', store: state.store, options: [...chosen, ['over', stepOf(state, info)]] };
}

const WIDTH = 1000;
const HEIGHT = 200;
const CURVES = [['p50_ns', 'p50'], ['p95_ns', 'p95'], ['p99_ns', 'p99'], ['max_ns', 'max']] as const;

/** Durations on a logarithmic scale, and below them the requests of each interval, the failed ones red. */
function Curves({ data }: { data: RatesAnswer }): JSX.Element {
  const { rows, interval_ns: step } = data;
  const first = BigInt(rows[0]?.begin_ns ?? 0);
  const places = rows.map((row) => Number(BigInt(row.begin_ns) - first) / step);
  const steps = (places[places.length - 1] ?? 0) + 1;
  const log = (value: number): number => Math.log10(Math.max(1, value));
  const low = Math.floor(Math.min(...rows.map((row) => log(row.p50_ns))));
  const high = Math.max(low + 1, Math.ceil(Math.max(...rows.map((row) => log(row.max_ns))) - 1e-9));
  const y = (value: number): number => HEIGHT - 4 - ((log(value) - low) / (high - low)) * (HEIGHT - 8);
  const x = (place: number): number => (place / steps) * WIDTH;
  const most = Math.max(1, ...rows.map((row) => row.count));
  const decades = Array.from({ length: high - low + 1 }, (_, index) => low + index);
  // A curve ends where an interval has no request.
  const line = (key: (typeof CURVES)[number][0]): string => rows.map((row, index) => `${index > 0 && (places[index] ?? 0) - (places[index - 1] ?? 0) <= 1 ? 'L' : 'M'}${x(places[index] ?? 0).toFixed(2)},${y(row[key]).toFixed(2)}H${x((places[index] ?? 0) + 1).toFixed(2)}`).join('');
  const show = (row: Row): string => `${clean(row.date ?? '')}: ${count(row.count)} requests, ${count(row.failures)} failed; p50 ${amount(row.p50_ns, 'nanoseconds')}, p95 ${amount(row.p95_ns, 'nanoseconds')}, p99 ${amount(row.p99_ns, 'nanoseconds')}, max ${amount(row.max_ns, 'nanoseconds')}`;
  return (
    <>
      <Section title="Percentiles of durations">
        <div class="axes">
          {decades.map((power) => <span key={power} class="y" aria-hidden="true" style={{ top: `${String((100 * y(10 ** power)) / HEIGHT)}%` }}>{mark(10 ** power)}</span>)}
          <svg class="chart over-chart" role="img" aria-label={`p50, p95, p99 and maximum of ${count(rows.length)} intervals, on a logarithmic scale; the table has the numbers`} viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`} preserveAspectRatio="none">
            {decades.map((power) => <line key={power} class="decade" x1="0" x2={WIDTH} y1={y(10 ** power)} y2={y(10 ** power)} />)}
            {CURVES.map(([key, title]) => <path key={key} class={`curve ${title}`} d={line(key)} />)}
            {rows.map((row, index) => <rect key={row.begin_ns} class="column hit" x={x(places[index] ?? 0)} width={x(1)} y="0" height={HEIGHT}><title>{show(row)}</title></rect>)}
          </svg>
        </div>
        <p class="ends quiet"><span>{clean(rows[0]?.date)}</span><span class="space" />{CURVES.map(([key, title]) => <span key={key}><i class={`key ${title}`} /> {title} </span>)}<span class="space" /><span>{clean(rows[rows.length - 1]?.date)}</span></p>
      </Section>
      <Section title="Requests that begin in each interval; failed ones are red">
        <div class="axes">
          <span class="y top" aria-hidden="true">{count(most)}</span><span class="y bottom" aria-hidden="true">0</span>
          <svg class="chart rate-chart" role="img" aria-label={`Up to ${count(most)} requests in an interval`} viewBox={`0 0 ${String(WIDTH)} 60`} preserveAspectRatio="none">
            {rows.map((row, index) => (
              <g key={row.begin_ns}>
                <title>{show(row)}</title>
                <rect class="part" data-requests={row.count} x={x((places[index] ?? 0) + 0.05)} width={x(0.9)} y={60 - (60 * row.count) / most} height={(60 * row.count) / most} />
                {row.failures > 0 ? <rect class="part failed" x={x((places[index] ?? 0) + 0.05)} width={x(0.9)} y={60 - (60 * row.failures) / most} height={(60 * row.failures) / most} /> : null}
              </g>
            ))}
          </svg>
        </div>
      </Section>
    </>
  );
}

const time = (key: 'p50_ns' | 'p95_ns' | 'p99_ns' | 'max_ns', title: string): Column<Row> => ({ key, title, width: '96px', isNumber: true, cell: (row) => amount(row[key], 'nanoseconds'), value: (row) => row[key] });
const COLUMNS: readonly Column<Row>[] = [
  { key: 'date', title: 'When', width: 'minmax(190px, 1fr)', cell: (row) => <span class="name">{clean(row.date)}</span>, value: (row) => row.date },
  { key: 'count', title: 'Requests', width: '90px', isNumber: true, cell: (row) => count(row.count), value: (row) => row.count },
  { key: 'per_second', title: '1/s', width: '90px', isNumber: true, cell: (row) => general(row.per_second), value: (row) => row.per_second },
  { key: 'failures', title: 'Failures', width: '80px', isNumber: true, cell: (row) => count(row.failures), value: (row) => row.failures },
  { key: 'failed_percent', title: '%', width: '70px', isNumber: true, cell: (row) => percent(row.failed_percent), value: (row) => row.failed_percent },
  time('p50_ns', 'p50'), time('p95_ns', 'p95'), time('p99_ns', 'p99'), time('max_ns', 'Max'),
];

/** The requests of an interval: those that run in it. */
function open(row: Row, step: number, info: Info): void {
  const from = BigInt(row.begin_ns) - BigInt(info.utcOffset) - BigInt(info.begin === '' ? 0 : info.begin);
  const to = from + BigInt(step);
  go({ group: '', from: from > 0n ? `${String(from)}ns` : '', to: `${String(to)}ns` });
}

export function Over({ state, info, query }: { state: State; info: Info; query: Query }): JSX.Element {
  const answer = useAnswer<RatesAnswer>(query);
  const [selected, setSelected] = useState('');
  const { data } = answer;
  const step = stepOf(state, info);
  return (
    <>
      <p class="toolbar">
        <label class="choice"><span>every</span>
          <select aria-label="Interval" value={step} onChange={(event) => go({ group: `over:${event.currentTarget.value}` })}>
            {STEPS.filter((one) => one === step || (info.duration / lengthOf(one) <= 10 * MOST && lengthOf(one) <= 2 * info.duration)).map((one) => <option key={one} value={one}>{NAMES[one] ?? one.replace(/(\d+)/, '$1 ')}</option>)}
          </select>
        </label>
        <span class="quiet">Enter or a double click on a row shows the requests that ran then.</span>
      </p>
      {data === null || answer.error ? <Problem answer={answer} /> : data.rows.length === 0 ? <p class="pending">There are no requests here.</p> : (
        <>
          <div class="charts"><Curves data={data} /></div>
          <Grid label="Requests over time" columns={COLUMNS} rows={data.rows} rowKey={(row) => row.begin_ns} selected={selected} onSelect={(row) => setSelected(row.begin_ns)} onEnter={(row) => open(row, data.interval_ns, info)} isStale={answer.isLoading} />
        </>
      )}
    </>
  );
}
