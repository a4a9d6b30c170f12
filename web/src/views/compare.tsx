// SPDX-License-Identifier: BSD-3-Clause
// Compare: `lode compare`, what changed from the first store to the second.
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { session, useAnswer, type Option, type Query } from '../api';
import { amount, clean, count, percent, ratio, unitOf, type Unit } from '../format';
import { Grid, type Column } from '../grid';
import type { Info } from '../info';
import { Link, Name, Problem, Unsearched } from '../parts';
import { selection } from '../selection';
import { go, type State } from '../state';
import { sharedOptions, type View, type ViewProps } from '../view';

/** What rows of all comparisons have. */
export interface Change {
  readonly base: number;
  readonly new: number;
  readonly difference: number;
  readonly ratio: number | null;
  readonly name: string;
  readonly only_in: string | null;
}
interface Row extends Change {
  metric: string;
  share_of_base_percent: number | null;
  is_beyond_sampling_error: boolean | null;
  ranks: number | null;
  ranks_with_sign: number | null;
  moved_within: string | null;
}
interface Metric {
  name: string;
  unit: string | null;
  base: number;
  new: number;
  difference: number;
  ratio: number | null;
  matched_base_percent: number | null;
  matched_new_percent: number | null;
  unchanged_count: number;
  is_beyond_sampling_error: boolean | null;
}
export interface CompareAnswer {
  row_count: number;
  is_truncated: boolean;
  metrics: Metric[];
  rows: Row[];
}

const GROUPS = ['function', 'line', 'loop', 'module', 'file'] as const;
const LIMIT = 200;

/** Below this share of the base, in percent, a change is grey: noise must not shine. From the second one on, its colour is full. */
const THRESHOLD = 1;
const FULL = 10;

/** How much of its colour a change has, in percent. */
const strengthOf = (share: number): number => Math.round(40 + 60 * Math.min(1, Math.max(0, (Math.abs(share) - THRESHOLD) / (FULL - THRESHOLD))));

/** The store to compare with: by default the first other one of the same kind. */
export function otherOf(state: State): number | null {
  if (state.other !== null) return state.other;
  const stores = session.value?.stores ?? [];
  const kind = stores.find((store) => store.number === state.store)?.kind;
  const others = stores.filter((store) => store.number !== state.store);
  return (others.find((store) => store.kind === kind) ?? others[0])?.number ?? null;
}

function query(state: State, info: Info): Query | null {
  const other = otherOf(state);
  if (other === null) return null;
  const group = GROUPS.find((name) => name === state.group) ?? 'function';
  const options: Option[] = sharedOptions(state, info, { search: group === 'function' });
  if (group !== 'function') options.push(['by', group]);
  if (state.order !== '') options.push(['sort', state.order]);
  if (state.way === 'inclusive') options.push(['inclusive', '']);
  options.push(['limit', state.limit === '' ? String(LIMIT) : state.limit]);
  return { command: 'compare', store: state.store, other, options };
}

export function unitOfMetric(metric: Metric | undefined): Unit {
  if (metric?.unit === 'ns' || metric?.unit === 'nanoseconds') return 'nanoseconds';
  if (metric?.unit === 's' || metric?.unit === 'seconds') return 'seconds';
  if (metric?.unit === 'bytes' || metric?.unit === 'B') return 'bytes';
  return unitOf(metric?.name ?? '');
}

function signed(text: string, value: number): string {
  return value > 0 ? `+${text}` : text;
}

/** The columns that all comparisons have; changes that are quiet are grey, and the larger the share, the stronger is the colour of others. */
export function changeColumns<R extends Change>(unit: Unit, rows: readonly R[], isQuiet: (row: R) => boolean, shareOf: (row: R) => number = () => FULL): { base: Column<R>; changed: Column<R>; difference: Column<R>; ratio: Column<R>; width: string } {
  const widest = rows.reduce((most, row) => Math.max(most, amount(row.base, unit).length, amount(row.new, unit).length), 9);
  const width = `calc(${String(widest + 1)}ch + 14px)`;
  const change = (row: R): string => (isQuiet(row) ? 'quiet' : row.difference > 0 ? 'increase' : 'decrease');
  return {
    base: { key: 'base', title: 'A', width, isNumber: true, cell: (row) => amount(row.base, unit), value: (row) => row.base },
    changed: { key: 'new', title: 'B', width, isNumber: true, cell: (row) => amount(row.new, unit), value: (row) => row.new },
    difference: { key: 'difference', title: 'B − A', width, isNumber: true, cell: (row) => <span class={change(row)} style={{ '--strength': `${String(strengthOf(shareOf(row)))}%` }}>{signed(amount(row.difference, unit), row.difference)}</span>, value: (row) => row.difference },
    ratio: { key: 'ratio', title: 'Change', width: '80px', isNumber: true, cell: (row) => ratio(row.ratio, row.base), value: (row) => row.ratio },
    width,
  };
}

export function columnsOf(unit: Unit, rows: readonly Row[], titles: readonly [string, string] = ['A', 'B']): Column<Row>[] {
  const { base, changed, difference, ratio: change } = changeColumns<Row>(unit, rows, (row) => row.is_beyond_sampling_error === false || Math.abs(row.share_of_base_percent ?? FULL) < THRESHOLD, (row) => row.share_of_base_percent ?? FULL);
  const note = (row: Row): string => {
    if (row.only_in === 'base') return 'gone';
    if (row.only_in === 'new') return 'new';
    return row.moved_within === null ? '' : `moved within ${clean(row.moved_within)}`;
  };
  return [
    { ...base, title: titles[0], order: 'base' }, { ...changed, title: titles[1], order: 'new' }, { ...difference, title: titles[0] === 'A' ? difference.title : 'Difference', order: 'difference' }, { ...change, order: 'ratio' },
    { key: 'noise', title: '~', width: '20px', hint: 'Within the sampling error', cell: (row) => (row.is_beyond_sampling_error === false ? <span class="quiet" title="Within the sampling error">~</span> : null) },
    { key: 'share_of_base_percent', title: `% of ${titles[0] === 'A' ? 'A' : titles[0].toLowerCase()}`, width: titles[0] === 'A' ? '76px' : '104px', isNumber: true, cell: (row) => percent(row.share_of_base_percent), value: (row) => row.share_of_base_percent },
    { key: 'ranks', title: 'Ranks', width: '70px', isNumber: true, hint: 'In how many profiles the difference has its sign', cell: (row) => (row.ranks ? `${String(row.ranks_with_sign ?? 0)}/${String(row.ranks)}` : '') },
    { key: 'name', title: 'Name', width: 'minmax(240px, 1fr)', cell: (row) => <Name name={row.name} suffix={note(row)} />, value: (row) => row.name, order: 'name' },
  ];
}

export function Totals({ metric, unit, names = ['A', 'B'] }: { metric: Metric; unit: Unit; names?: readonly [string, string] }): JSX.Element {
  return (
    <span class="quiet">
      {amount(metric.base, unit)} → {amount(metric.new, unit)} {clean(metric.name)} ({ratio(metric.ratio, metric.base)}) · matched {percent(metric.matched_base_percent)}% of {names[0]}, {percent(metric.matched_new_percent)}% of {names[1]} · {count(metric.unchanged_count)} unchanged
    </span>
  );
}

export function Stores({ state }: { state: State }): JSX.Element {
  const stores = session.value?.stores ?? [];
  const other = otherOf(state);
  const pick = (label: string, value: number | null, set: (number: number) => void): JSX.Element => (
    <label class="choice"><span>{label}</span>
      <select aria-label={`Store ${label}`} value={String(value)} onChange={(event) => set(Number(event.currentTarget.value))}>
        {stores.map((store) => <option key={store.number} value={String(store.number)}>{clean(store.name)}</option>)}
      </select>
    </label>
  );
  return (
    <>
      {pick('A', state.store, (number) => go({ store: number, other: other === number ? state.store : other }))}
      {pick('B', other, (number) => go({ other: number, store: number === state.store && other !== null ? other : state.store }))}
    </>
  );
}

const MATCHED = 80;

/** How far the numbers can be trusted, in the words of `lode compare`. */
export function Trust({ metric, rows }: { metric: Metric; rows: readonly Row[] }): JSX.Element {
  const isUnmatched = [metric.matched_base_percent, metric.matched_new_percent].some((share) => share !== null && share < MATCHED);
  return (
    <p class="trust quiet">
      {isUnmatched ? <span class="bad">warning: less than 80% is matched: rows may be the same code under other names. </span> : null}
      {metric.is_beyond_sampling_error === false ? 'The difference of the totals is within the sampling error. ' : ''}
      {rows.some((row) => row.is_beyond_sampling_error === false) ? '~: within the sampling error. ' : ''}
      Run-to-run noise is not known: compare several runs (lode compare --base RUN... --new RUN...).
    </p>
  );
}

function select(row: Row, unit: Unit, group: string): void {
  selection.value = {
    title: row.name, kind: group, path: [], context: '', name: group === 'function' && row.only_in !== 'new' ? row.name : '', source: '',
    facts: [
      ['A', amount(row.base, unit)],
      ['B', amount(row.new, unit)],
      ['difference', signed(amount(row.difference, unit), row.difference)],
      ...(row.ratio === null ? [] : [['change', ratio(row.ratio, row.base)] as const]),
      ...(row.is_beyond_sampling_error === null ? [] : [['sampling error', row.is_beyond_sampling_error ? 'the difference is beyond it' : 'the difference is within it'] as const]),
    ],
  };
}

/** The largest changes: for a report. */
export function Changes({ state, info, most }: ViewProps & { most: number }): JSX.Element {
  const answer = useAnswer<CompareAnswer>(query(state, info));
  const data = answer.data;
  const metric = data?.metrics[0];
  if (!data || !metric) return <Problem answer={answer} />;
  const unit = unitOfMetric(metric);
  const columns = columnsOf(unit, data.rows).filter((column) => ['base', 'new', 'difference', 'share_of_base_percent', 'name'].includes(column.key));
  return (
    <>
      <p><Totals metric={metric} unit={unit} /></p>
      {data.rows.length === 0 ? <p class="quiet">Nothing changed.</p> : (
        <table class="plain">
          <thead><tr>{columns.map((column) => <th key={column.key} scope="col" class={column.isNumber ? 'number' : ''}>{column.title}</th>)}</tr></thead>
          <tbody>
            {data.rows.slice(0, most).map((row, index) => <tr key={index}>{columns.map((column) => <td key={column.key} class={column.isNumber ? 'number' : ''} data-value={column.value?.(row) ?? undefined}>{column.cell(row)}</td>)}</tr>)}
          </tbody>
        </table>
      )}
      {data.row_count > most ? <p class="quiet"><Link onClick={() => go({ view: 'compare' })}>{count(data.row_count - most)} more</Link></p> : null}
    </>
  );
}

function Compare({ state, info }: ViewProps): JSX.Element {
  const answer = useAnswer<CompareAnswer>(query(state, info));
  const data = answer.data;
  const metric = data?.metrics[0];
  const unit = unitOfMetric(metric);
  const group = GROUPS.find((name) => name === state.group) ?? 'function';
  useEffect(() => {
    const row = data?.rows.find((candidate) => candidate.name === state.name);
    if (row) select(row, unit, group);
  }, [data, state.name]);
  return (
    <>
      <div class="toolbar">
        <Stores state={state} />
        <div class="segments" role="group" aria-label="Group by">
          {GROUPS.map((name) => <button key={name} type="button" aria-pressed={name === group} onClick={() => go({ group: name === 'function' ? '' : name, name: '' })}>{name}</button>)}
        </div>
        <div class="segments" role="group" aria-label="Cost">
          <button type="button" aria-pressed={state.way !== 'inclusive'} onClick={() => go({ way: '' })}>exclusive</button>
          <button type="button" aria-pressed={state.way === 'inclusive'} onClick={() => go({ way: 'inclusive' })}>inclusive</button>
        </div>
        <Unsearched state={state} isSearched={group === 'function'} />
        <span class="space" />
        {metric ? <Totals metric={metric} unit={unit} /> : null}
      </div>
      {data && metric && !answer.error ? <Trust metric={metric} rows={data.rows} /> : null}
      {data === null || answer.error ? <Problem answer={answer} /> : data.rows.length === 0 ? <p class="pending">Nothing changed.</p> : (
        <Grid
          label="Changes" columns={columnsOf(unit, data.rows)} rows={data.rows} rowKey={(row) => `${row.metric} ${row.name}`} selected={`${metric?.name ?? ''} ${state.name}`}
          onSelect={(row) => {
            select(row, unit, group);
            go({ name: row.name, context: '' }, 'replace');
          }} onEnter={(row) => go({ view: 'top', name: row.name, group: state.group, order: '', way: '' })} isStale={answer.isLoading}
          order={state.order === '' ? 'difference' : state.order} isAscending={state.order === 'name'} onOrder={(order) => go({ order: order === 'difference' ? '' : order })}
          footer={data.is_truncated ? <p class="footer"><Link onClick={() => go({ limit: String(data.rows.length * 4) }, 'replace')}>show more rows</Link> <span class="quiet">{count(data.rows.length)} of {count(data.row_count)}</span></p> : null}
        />
      )}
    </>
  );
}

export const compare: View = { key: 'compare', title: 'Compare', fits: (_info, storeCount) => storeCount > 1, query, Component: Compare };
