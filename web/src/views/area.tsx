// SPDX-License-Identifier: BSD-3-Clause
// The selected area of the timeline: its functions, and what changed since the area of the same length before it.
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { useAnswer, type Option, type Query } from '../api';
import { amount, clean, count, percent } from '../format';
import { Grid, type Column } from '../grid';
import type { Info } from '../info';
import { Link, Name, Problem } from '../parts';
import { readTop, type TopRow } from '../rows';
import { go, type State } from '../state';
import { identity, type Picture, type Row } from '../timeline';
import type { ViewProps } from '../view';
import { addressed, areaOf, type Window } from '../window';
import { columnsOf as changes, Totals, Trust, unitOfMetric, type CompareAnswer } from './compare';

const LIMIT = '200';

function lines(state: State, info: Info): Option[] {
  return state.profiles === '' ? [] : [[info.kind === 'recording' ? 'task' : 'profiles', state.profiles]];
}

const times = ({ from, to }: Window, side = ''): Option[] => [[`from${side}`, `${String(from)}ns`], [`to${side}`, `${String(to)}ns`]];
const before = ({ from, to }: Window): Window => ({ from: 2 * from - to, to: from });

const isCompared = (state: State, area: Window): boolean => state.way === 'before' && before(area).from >= 0;

/** The request behind the table of the area; null: there is none. */
export function areaQuery(state: State, info: Info): Query | null {
  const area = areaOf(state);
  if (area === null) return null;
  const { store } = state;
  if (isCompared(state, area)) return { command: 'compare', store, other: store, options: [...times(before(area), '-base'), ...times(area, '-new'), ...lines(state, info), ['limit', LIMIT]] };
  if (info.kind === 'recording') return { command: 'top', store, options: [...times(area), ...lines(state, info), ['limit', LIMIT]] };
  return { command: 'trace', store, options: [['merge', ''], ['rows', '1'], ['columns', '1'], ['limit', '0'], ...times(area), ...lines(state, info)] };
}

const ns = (value: number | null | undefined): string => amount(value, 'nanoseconds');

/** Sum, number and percentiles of calls. */
function callColumns(): Column<TopRow & { p50: number | null; p99: number | null }>[] {
  const time = (key: 'inclusive' | 'exclusive' | 'mean' | 'p50' | 'p95' | 'p99' | 'max', title: string, hint?: string): Column<TopRow & { p50: number | null; p99: number | null }> => ({ key, title, width: '82px', isNumber: true, cell: (row) => ns(row[key]), value: (row) => row[key], ...(hint ? { hint } : {}) });
  return [
    { key: 'name', title: 'Function', width: 'minmax(160px, 1fr)', cell: (row) => <Name name={row.name} />, value: (row) => row.name },
    { key: 'calls', title: 'Calls', width: '48px', isNumber: true, cell: (row) => count(row.calls ?? 0), value: (row) => row.calls },
    time('exclusive', 'Self', 'Without callees, all calls together'), time('inclusive', 'Total', 'With callees, all calls together'), time('mean', 'Mean'), time('p50', 'p50'), time('p95', 'p95'), time('p99', 'p99'), time('max', 'Max'),
  ];
}

/** Samples have no calls. */
const SAMPLE_COLUMNS: readonly Column<Row>[] = [
  { key: 'percent', title: '%', width: '70px', isNumber: true, cell: (row) => percent(row.percent), value: (row) => row.percent, bar: (row) => row.percent ?? 0 },
  { key: 'nanoseconds', title: 'Time', width: '100px', isNumber: true, cell: (row) => ns(row.nanoseconds), value: (row) => row.nanoseconds },
  { key: 'samples', title: 'Samples', width: '90px', isNumber: true, cell: (row) => count(row.samples), value: (row) => row.samples },
  { key: 'name', title: 'Function', width: 'minmax(200px, 1fr)', cell: (row) => <Name name={row.name} />, value: (row) => row.name },
];

const choose = (state: State, name: string): void => go({ name: name === state.name ? '' : name }, 'replace');

function Table({ state, asked, label }: { state: State; asked: Query; label: string }): JSX.Element {
  const answer = useAnswer<unknown>(asked);
  const calls = useMemo(() => {
    if (asked.command !== 'top' || answer.data === null || answer.isLoading) return null;
    const raw = (answer.data as { rows: readonly { p50_ns?: number; p99_ns?: number }[] }).rows;
    return readTop(answer.data).rows.map((row, index) => ({ ...row, p50: raw[index]?.p50_ns ?? null, p99: raw[index]?.p99_ns ?? null }));
  }, [answer.data, answer.isLoading, asked.command]);
  if (answer.data === null || answer.error || answer.isLoading) return <Problem answer={answer.isLoading ? { ...answer, data: null } : answer} />;
  if (asked.command === 'compare') {
    const data = answer.data as CompareAnswer;
    const metric = data.metrics[0];
    const unit = unitOfMetric(metric);
    return (
      <>
        {metric ? <p class="areatotals"><Totals metric={metric} unit={unit} names={['before', 'here']} /></p> : null}
        {metric ? <Trust metric={metric} rows={data.rows} /> : null}
        {data.rows.length === 0 ? <p class="pending">Nothing changed.</p> : <Grid label={label} columns={changes(unit, data.rows, ['Before', 'Here'])} rows={data.rows} rowKey={(row) => row.name} selected={state.name} onSelect={(row) => choose(state, row.name)} />}
      </>
    );
  }
  if (calls) return <Grid label={label} columns={callColumns()} rows={calls} rowKey={(row) => row.name} selected={state.name} onSelect={(row) => choose(state, row.name)} />;
  const { rows } = answer.data as Picture;
  return <Grid label={label} columns={SAMPLE_COLUMNS} rows={rows} rowKey={identity} selected={rows.filter((row) => row.name === state.name).map(identity)[0] ?? ''} onSelect={(row) => choose(state, row.name)} />;
}

/** In the place of the shares of the time window, while an area is selected. */
export function Area({ state, info, all }: Omit<ViewProps, 'store'> & { all: Window }): JSX.Element | null {
  const area = areaOf(state);
  const asked = areaQuery(state, info);
  if (area === null || asked === null) return null;
  const hasBefore = before(area).from >= 0;
  const compared = isCompared(state, area);
  const label = compared ? 'Changes from the area before' : 'Functions in the selected area';
  return (
    <section class="area" aria-label="Selected area">
      <p class="toolbar">
        <b>{ns(area.from)} to {ns(area.to)}</b>
        <button type="button" title="Show this area only (z)" onClick={() => go(addressed(area, all))}>zoom to it</button>
        <button type="button" aria-pressed={compared} disabled={!hasBefore} title={hasBefore ? `What changed since ${clean(ns(before(area).from))} to ${clean(ns(area.from))}` : 'Before it is less time than in it'} onClick={() => go({ way: compared ? '' : 'before' })}>compare with the area before</button>
        <Link title="Select nothing (Escape)" onClick={() => go({ area: '', way: '' })}>clear</Link>
      </p>
      <Table key={asked.command} state={state} asked={asked} label={label} />
    </section>
  );
}
