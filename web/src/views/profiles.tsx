// SPDX-License-Identifier: BSD-3-Clause
// Profiles: `lode profiles`, the values of all profiles in order, as a histogram, by two kinds of ids; outliers by name.
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { useAnswer, type Option, type Query } from '../api';
import { amount, clean, count, percent, unitOf, type Unit } from '../format';
import { Grid, type Column } from '../grid';
import type { Info } from '../info';
import { Link, Problem, Section, WholeRun } from '../parts';
import { isReport } from '../report';
import { go, type State } from '../state';
import { sharedOptions, type View, type ViewProps } from '../view';

interface Row {
  profile: number;
  id_tuple: { kind: string; id: number }[];
  value: number;
  percent_of_mean: number | null;
  name: string;
  task?: Task;
}
/** What rows of recordings have besides. */
interface Task {
  track: number;
  total_ns: number;
  running_ns: number;
  calls: number;
  errors: number;
  pid: number;
  tid: number;
  percent_of_mean: number | null;
  name: string;
}
interface Bin {
  first: number;
  count: number;
  min: number;
  mean: number;
  max: number;
  profile: number;
  name: string;
}
interface Cell {
  row_first: number;
  row_last: number;
  column_first: number;
  column_last: number;
  profiles: number;
  mean: number;
  profile: number;
}
interface ProfilesAnswer {
  metric: string;
  row_count: number;
  is_truncated: boolean;
  empty_profiles: number;
  rows: Row[];
  distribution: { count: number; min: number; max: number; mean: number; median: number; imbalance: number };
  bins?: Bin[];
  value_histogram?: { from: number; to: number; count: number }[];
  outlier_count?: number;
  outliers?: { profile: number; value: number; deviation: number; name: string }[];
  matrix_rows?: string;
  matrix_columns?: string;
  matrix?: Cell[];
}

/** The tasks of a recording as profiles of its time. */
function readAnswer(answer: unknown, info: Info): ProfilesAnswer | null {
  if (info.kind === 'database' || answer === null) return answer as ProfilesAnswer | null;
  const raw = answer as Omit<ProfilesAnswer, 'rows' | 'bins' | 'outliers'> & { rows: Task[]; bins?: (Omit<Bin, 'profile'> & { track: number })[]; outliers?: { track: number; value: number; deviation: number; name: string }[] };
  return {
    ...raw, metric: TIME, empty_profiles: 0,
    rows: raw.rows.map((task) => ({ profile: task.track, id_tuple: [], value: task.total_ns, percent_of_mean: task.percent_of_mean, name: task.name, task })),
    bins: (raw.bins ?? []).map((bin) => ({ ...bin, profile: bin.track })),
    outliers: (raw.outliers ?? []).map((row) => ({ ...row, profile: row.track })),
  };
}

/** What recordings measure. */
const TIME = 'time';
const unitOfAnswer = (info: Info, answer: ProfilesAnswer | null): Unit => (info.kind === 'recording' ? 'nanoseconds' : unitOf(answer?.metric ?? ''));

const ORDERS = ['name', 'value', 'index'] as const;
const ORDER_TITLES: Readonly<Record<string, string>> = { name: 'by ids', value: 'by value', index: 'by number' };
const titleOf = (info: Info, order: string): string => (info.kind === 'recording' && order === 'name' ? 'by name' : (ORDER_TITLES[order] ?? ''));
const BINS = 400;
const LIMIT = 100;
/** Tasks are selected by their numbers, which only rows have. */
const TASKS = isReport ? 100 : BINS;
const WIDTH = 1000;
const HEIGHT = 140;

function orderOf(state: State, info: Info): string {
  return ORDERS.find((order) => order === state.order) ?? firstOrder(info);
}

/** Names of tasks are often all the same. */
const firstOrder = (info: Info): string => (info.kind === 'recording' ? 'index' : 'name');

const wordOf = (info: Info): string => (info.kind === 'recording' ? 'task' : 'profile');

/** The two kinds of ids with the most different ids, in the order of the tuple: rank and thread, mostly. */
export function matrixKinds(info: Info): string {
  const several = info.ids.filter((id) => id.distinct > 1);
  const kept = new Set([...several].sort((a, b) => b.distinct - a.distinct).slice(0, 2));
  const kinds = several.filter((id) => kept.has(id)).map((id) => id.kind.toLowerCase());
  return kinds.length === 2 ? kinds.join(',') : '';
}

/** The function whose cost is shown instead of the total: w=function:NAME. */
const functionOf = (state: State): string => /^function:([^]+)$/.exec(state.way)?.[1] ?? '';

/** All profiles, whichever are selected: the view is where one selects. */
function query(state: State, info: Info): Query {
  const isRecording = info.kind === 'recording';
  const options: Option[] = sharedOptions(state, info, { search: false, window: isRecording }).filter(([name]) => name !== 'profiles' && name !== 'task');
  if (isRecording) return { command: 'profiles', store: state.store, options: [...options, ['sort', orderOf(state, info)], ['bins', String(BINS)], ['limit', state.limit === '' ? String(TASKS) : state.limit]] };
  if (functionOf(state) !== '') options.push(['function', functionOf(state)]);
  const kinds = matrixKinds(info);
  options.push(['sort', orderOf(state, info)], ['bins', String(BINS)], ['limit', state.limit === '' ? String(LIMIT) : state.limit]);
  if (kinds !== '') options.push(['matrix', kinds]);
  return { command: 'profiles', store: state.store, options };
}

/** A task that has no row cannot be selected: only its number says which it is. */
function choose(profile: number, info: Info, rows: readonly Row[]): void {
  const task = rows.find((row) => row.profile === profile)?.task;
  if (info.kind === 'database') go({ profiles: `profile=${String(profile)}` });
  else if (task) go({ profiles: String(task.tid) });
}

/** Ids of the selection, as rank=5,thread=0; null if it says it in another way. */
export function chosenIds(state: Pick<State, 'profiles'>): ReadonlyMap<string, number> | null {
  const parts = state.profiles.split(',').map((part) => /^([a-z]+)=(\d+)$/.exec(part));
  return parts.every((part) => part !== null) ? new Map(parts.map((part) => [part[1] ?? '', Number(part[2])])) : null;
}

/** Whether all ids of the selection are in the ranges that something has. */
function haveIds(state: State, ranges: readonly { kind: string; first: number; last: number }[]): boolean {
  const chosen = chosenIds(state);
  return chosen !== null && [...chosen].every(([kind, id]) => ranges.some((range) => range.kind === kind && range.first <= id && id <= range.last));
}

function isChosenRow(state: State, row: Row | undefined): boolean {
  if (row === undefined) return false;
  if (row.task) return state.profiles === String(row.task.tid);
  return haveIds(state, [{ kind: 'profile', first: row.profile, last: row.profile }, ...row.id_tuple.map(({ kind, id }) => ({ kind: kind.toLowerCase(), first: id, last: id }))]);
}

/** One bar a bin from its smallest to its largest value, with its mean; from zero, so that lengths compare. */
function Values({ answer, state, info, unit }: { answer: ProfilesAnswer; state: State; info: Info; unit: Unit }): JSX.Element {
  const bins = answer.bins ?? [];
  const { max, mean } = answer.distribution;
  const top = max > 0 ? max : 1;
  const y = (value: number): number => HEIGHT - (Math.max(0, value) / top) * HEIGHT;
  const step = WIDTH / Math.max(1, bins.length);
  const rows = new Map(answer.rows.map((row) => [row.profile, row]));
  const label = `${count(answer.distribution.count)} ${wordOf(info)}s ${titleOf(info, orderOf(state, info))}: from ${amount(answer.distribution.min, unit)} to ${amount(max, unit)}, mean ${amount(mean, unit)}`;
  return (
    <>
    <div class="axes">
    <span class="y top" aria-hidden="true">{amount(top, unit)}</span><span class="y bottom" aria-hidden="true">0</span>
    <svg class="chart" role="img" aria-label={label} viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`} preserveAspectRatio="none">
      {bins.map((bin, index) => (
        <g key={index} class={isChosenRow(state, rows.get(bin.profile)) || state.profiles === `profile=${String(bin.profile)}` ? 'chosen' : ''} onClick={() => choose(bin.profile, info, answer.rows)}>
          <title>{`${clean(bin.name)}${bin.count > 1 ? ` and ${count(bin.count - 1)} more: ${amount(bin.min, unit)} to ${amount(bin.max, unit)}` : `: ${amount(bin.mean, unit)}`}`}</title>
          <rect class="part" data-min={bin.min} data-mean={bin.mean} data-max={bin.max} data-profile={bin.profile} x={index * step} width={step * 0.9} y={y(bin.mean)} height={HEIGHT - y(bin.mean)} />
          {bin.count > 1 ? <rect class="range" x={index * step + step * 0.3} width={step * 0.3} y={y(bin.max)} height={Math.max(1, y(bin.min) - y(bin.max))} /> : null}
        </g>
      ))}
      <line class="mean" x1="0" x2={WIDTH} y1={y(mean)} y2={y(mean)} />
    </svg>
    </div>
    <p class="ends quiet"><span>{clean(bins[0]?.name)}</span><span class="space" /><span>— mean {amount(mean, unit)}</span><span class="space" /><span>{clean(bins[bins.length - 1]?.name)}</span></p>
    </>
  );
}

function Histogram({ answer, info, unit }: { answer: ProfilesAnswer; info: Info; unit: Unit }): JSX.Element {
  const bars = answer.value_histogram ?? [];
  const most = Math.max(1, ...bars.map((bar) => bar.count));
  const step = WIDTH / Math.max(1, bars.length);
  if (bars.length === 0) return <p class="quiet">All {wordOf(info)}s have the same value.</p>;
  return (
    <>
      <div class="axes">
      <span class="y top" aria-hidden="true">{count(most)} {wordOf(info)}{most === 1 ? '' : 's'}</span><span class="y bottom" aria-hidden="true">0</span>
      <svg class="chart" role="img" aria-label={`Histogram of ${count(answer.distribution.count)} values in ${count(bars.length)} ranges`} viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`} preserveAspectRatio="none">
        {bars.map((bar, index) => (
          <g key={index}>
            <title>{`${amount(bar.from, unit)} to ${amount(bar.to, unit)}: ${count(bar.count)}`}</title>
            <rect class="part" data-count={bar.count} x={index * step} width={step * 0.92} y={HEIGHT - (bar.count / most) * HEIGHT} height={(bar.count / most) * HEIGHT} />
          </g>
        ))}
      </svg>
      </div>
      <p class="ends quiet"><span>{amount(answer.distribution.min, unit)}</span><span class="space" /><span>{amount(answer.distribution.max, unit)}</span></p>
    </>
  );
}

function range(first: number, last: number): string {
  return first === last ? String(first) : `${String(first)}-${String(last)}`;
}

/** Light to dark from zero to the largest mean: small differences are no contrast. */
function HeatMap({ answer, state, info, unit }: { answer: ProfilesAnswer; state: State; info: Info; unit: Unit }): JSX.Element | null {
  const cells = answer.matrix ?? [];
  if (cells.length === 0) return null;
  const rows = [...new Set(cells.map((cell) => cell.row_first))].sort((a, b) => a - b);
  const columns = [...new Set(cells.map((cell) => cell.column_first))].sort((a, b) => a - b);
  const least = cells.reduce((low, cell) => Math.min(low, cell.mean), Infinity);
  const zero = Math.min(0, least);
  const most = cells.reduce((high, cell) => Math.max(high, cell.mean), -Infinity);
  const width = WIDTH / rows.length;
  const height = (HEIGHT * 1.4) / columns.length;
  const isChosen = (cell: Cell): boolean => haveIds(state, [{ kind: 'profile', first: cell.profile, last: cell.profile }, { kind: rowKind, first: cell.row_first, last: cell.row_last }, { kind: columnKind, first: cell.column_first, last: cell.column_last }]);
  const [rowKind, columnKind] = [(answer.matrix_rows ?? '').toLowerCase(), (answer.matrix_columns ?? '').toLowerCase()];
  return (
    <Section title={`${clean(rowKind)} × ${clean(columnKind)}`}>
      <svg class="chart heat" role="img" aria-label={`${count(rows.length)} ${clean(rowKind)}s and ${count(columns.length)} ${clean(columnKind)}s: means from ${amount(least, unit)} to ${amount(most, unit)}`} viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT * 1.4)}`} preserveAspectRatio="none">
        {cells.map((cell) => (
          <g key={`${String(cell.row_first)}.${String(cell.column_first)}`} class={isChosen(cell) ? 'chosen' : ''} onClick={() => choose(cell.profile, info, answer.rows)}>
            <title>{`${clean(rowKind)} ${range(cell.row_first, cell.row_last)}, ${clean(columnKind)} ${range(cell.column_first, cell.column_last)}: ${amount(cell.mean, unit)}${cell.profiles > 1 ? ` (mean of ${count(cell.profiles)})` : ''}`}</title>
            <rect class="heat-cell" data-mean={cell.mean} fill-opacity={0.08 + 0.92 * (most > zero ? (cell.mean - zero) / (most - zero) : 1)} x={rows.indexOf(cell.row_first) * width} width={width * 0.94} y={columns.indexOf(cell.column_first) * height} height={height * 0.94} />
          </g>
        ))}
      </svg>
      <p class="ends quiet"><span>{clean(rowKind)} from left to right, {clean(columnKind)} from top to bottom; light {zero === 0 ? '0' : amount(zero, unit)} to dark {amount(most, unit)}, the least is {amount(least, unit)}</span></p>
    </Section>
  );
}

function Outliers({ answer, info, unit }: { answer: ProfilesAnswer; info: Info; unit: Unit }): JSX.Element {
  const outliers = answer.outliers ?? [];
  if (outliers.length === 0) return <p class="quiet">No outliers: no value is more than 1.5 interquartile ranges beyond the quartiles.</p>;
  return (
    <ul class="outliers">
      {outliers.map((row) => (
        <li key={row.profile} data-value={row.value}>
          <Link title={`Select this ${wordOf(info)} everywhere`} onClick={() => choose(row.profile, info, answer.rows)}>{clean(row.name)}</Link> {amount(row.value, unit)}
          <span class="quiet"> {row.deviation < 0 ? '−' : '+'}{amount(Math.abs(row.deviation), unit)} from the median</span>
        </li>
      ))}
    </ul>
  );
}

/** What recordings say of a task besides its time. */
const TASK_COLUMNS: readonly Column<Row>[] = [
  { key: 'running_ns', title: 'Running', width: '96px', isNumber: true, hint: 'Without off-CPU time', cell: (row) => amount(row.task?.running_ns, 'nanoseconds'), value: (row) => row.task?.running_ns },
  { key: 'calls', title: 'Calls', width: '64px', isNumber: true, cell: (row) => count(row.task?.calls ?? 0), value: (row) => row.task?.calls },
  { key: 'errors', title: 'Errors', width: '56px', isNumber: true, cell: (row) => count(row.task?.errors ?? 0), value: (row) => row.task?.errors },
  { key: 'tid', title: 'Task', width: '64px', isNumber: true, cell: (row) => String(row.task?.tid ?? ''), value: (row) => row.task?.tid },
];

function columnsOf(unit: Unit, title: string, info: Info): Column<Row>[] {
  const isRecording = info.kind === 'recording';
  return [
    { key: 'value', title, width: '130px', isNumber: true, cell: (row) => amount(row.value, unit), value: (row) => row.value },
    { key: 'percent_of_mean', title: '% of mean', width: '90px', isNumber: true, cell: (row) => percent(row.percent_of_mean), value: (row) => row.percent_of_mean },
    { key: 'name', title: isRecording ? 'Name' : 'Profile', width: isRecording ? 'minmax(140px, 1fr)' : 'minmax(240px, 1fr)', cell: (row) => <span class="name" title={clean(row.name)}>{clean(row.name)}</span>, value: (row) => row.name },
    ...(isRecording ? TASK_COLUMNS : []),
  ];
}

function Profiles({ state, info }: ViewProps): JSX.Element {
  const answer = useAnswer<unknown>(query(state, info));
  const data = useMemo(() => readAnswer(answer.data, info), [answer.data]);
  const unit = unitOfAnswer(info, data);
  const order = orderOf(state, info);
  const name = functionOf(state);
  const selected = data?.rows.find((row) => isChosenRow(state, row));
  return (
    <>
      <div class="toolbar">
        <div class="segments" role="group" aria-label={`Order of ${wordOf(info)}s`}>
          {ORDERS.map((name) => <button key={name} type="button" aria-pressed={name === order} onClick={() => go({ order: name === firstOrder(info) ? '' : name })}>{titleOf(info, name)}</button>)}
        </div>
        {name !== '' && info.kind === 'database' ? <button type="button" class="chip" title="Show totals again" onClick={() => go({ way: '' })}>of {clean(name)} <span aria-hidden="true">×</span></button> : null}
        {state.profiles !== '' ? <button type="button" class="chip" title={`Select all ${wordOf(info)}s again`} onClick={() => go({ profiles: '' })}>{clean(state.profiles)} <span aria-hidden="true">×</span></button> : null}
        <span class="space" />
        {data ? <span class="quiet">{count(data.distribution.count)} {wordOf(info)}s · mean {amount(data.distribution.mean, unit)} · imbalance {percent(100 * data.distribution.imbalance)}%{data.empty_profiles > 0 ? ` · ${count(data.empty_profiles)} empty` : ''}</span> : null}
      </div>
      {data === null || answer.error ? <Problem answer={answer} /> : (
        <div class="profiles">
          <div class="charts">
            <WholeRun state={state} info={info} />
            <Section title={`${clean(data.metric)} of ${name === '' || info.kind === 'recording' ? `each ${wordOf(info)}` : `${clean(name)} in each profile`}`}><Values answer={data} state={state} info={info} unit={unit} /></Section>
            <Section title="Histogram"><Histogram answer={data} info={info} unit={unit} /></Section>
            <HeatMap answer={data} state={state} info={info} unit={unit} />
            <Section title="Outliers"><Outliers answer={data} info={info} unit={unit} /></Section>
          </div>
          <Grid label="Profiles" columns={columnsOf(unit, name === '' || info.kind === 'recording' ? 'Total' : 'Inclusive', info)} rows={data.rows} rowKey={(row) => String(row.profile)} selected={selected ? String(selected.profile) : ''}
            onSelect={(row) => choose(row.profile, info, data.rows)} isStale={answer.isLoading}
            footer={data.is_truncated ? <p class="footer"><Link onClick={() => go({ limit: String(data.rows.length * 4) }, 'replace')}>show more rows</Link></p> : null} />
        </div>
      )}
    </>
  );
}

export const profiles: View = { key: 'profiles', title: 'Profiles', fits: (info) => (info.kind === 'database' ? info.profiles > 2 : info.profiles > 1 && !info.hasRequests), query, Component: Profiles };
