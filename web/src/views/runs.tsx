// SPDX-License-Identifier: BSD-3-Clause
// The runs of a catalogue: `lode runs trend` as a picture with its change points, and `lode runs list`. A dot leads to the comparison
// of its run with the one before, if the server still finds their stores.
import type { JSX } from 'preact';
import { openRun, useAnswer, type Option, type Query } from '../api';
import { Field } from '../field';
import { amount, clean, count, fixed, unitOf } from '../format';
import { Grid, type Column } from '../grid';
import { Problem, Section } from '../parts';
import { labelsText, minute, placesOf, type Place, type Point } from '../runs';
import { go, notice, START, type State } from '../state';

/** The key in the address, beside those of views of stores. */
export const RUNS = 'runs';
const LIMIT = 500;

interface Run {
  readonly run: number;
  readonly begun_ns: string;
  readonly total: number | null;
  readonly metric: string | null;
  readonly profiles: number;
  readonly title: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly path: string;
}
interface ListAnswer {
  readonly row_count: number;
  readonly is_truncated: boolean;
  readonly rows: readonly Run[];
}
interface Change {
  readonly run_before: number;
  readonly run: number;
  readonly before: number;
  readonly after: number;
  readonly change_percent: number | null;
}
interface TrendAnswer {
  readonly function: string | null;
  readonly metric: string;
  readonly cost: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly rows: readonly Point[];
  readonly changes: readonly Change[];
}

const isInclusive = (state: State): boolean => state.order === 'inclusive';

function selected(state: State): Option[] {
  const options: Option[] = state.filters.filter((filter) => filter.startsWith('label:')).map((filter) => ['label', filter.slice(6)]);
  if (state.from !== '') options.push(['since', state.from]);
  if (state.to !== '') options.push(['until', state.to]);
  return options;
}

function listQuery(state: State): Query {
  return { command: 'runs', action: 'list', store: 0, options: [...selected(state), ['limit', String(LIMIT)]] };
}

function trendQuery(state: State): Query {
  const options = selected(state);
  if (state.metrics[0] !== undefined) options.push(['metric', state.metrics[0]]);
  if (isInclusive(state)) options.push(['inclusive', '']);
  return { command: 'runs', action: 'trend', store: 0, options, operand: state.search === '' ? undefined : state.search };
}

/** Opens the stores of two runs, and shows what changed from the first to the second. */
async function compareRuns(runs: readonly [Run | undefined, Run | undefined]): Promise<void> {
  const [before, after] = runs;
  if (!before || !after) {
    notice.value = 'These runs are not in the list: choose a later time or other labels.';
    return;
  }
  try {
    const store = await openRun(before.run, before.path);
    const other = await openRun(after.run, after.path);
    go({ ...START, view: 'compare', store, other });
  } catch (error) {
    notice.value = error instanceof Error ? error.message : String(error);
  }
}

async function showRun(run: Run): Promise<void> {
  try {
    go({ ...START, store: await openRun(run.run, run.path) });
  } catch (error) {
    notice.value = error instanceof Error ? error.message : String(error);
  }
}

const COLUMNS: readonly Column<Run>[] = [
  { key: 'run', title: 'Run', width: '60px', isNumber: true, cell: (run) => String(run.run), value: (run) => run.run },
  { key: 'begun', title: 'Begun (UTC)', width: '140px', cell: (run) => minute(run.begun_ns), value: (run) => run.begun_ns },
  { key: 'total', title: 'Total', width: '120px', isNumber: true, cell: (run) => amount(run.total, unitOf(run.metric ?? '')), value: (run) => run.total },
  { key: 'metric', title: 'Metric', width: '140px', cell: (run) => clean(run.metric), value: (run) => run.metric },
  { key: 'profiles', title: 'Profiles', width: '80px', isNumber: true, cell: (run) => count(run.profiles), value: (run) => run.profiles },
  { key: 'title', title: 'Title', width: 'minmax(100px, 1fr)', cell: (run) => <span class="name">{clean(run.title)}</span>, value: (run) => run.title },
  { key: 'labels', title: 'Labels', width: 'minmax(160px, 2fr)', cell: (run) => clean(labelsText(run.labels)), value: (run) => labelsText(run.labels) },
];

const BOX = { width: 960, height: 180, left: 96, top: 12, bottom: 26 };

function Plot({ trend, state }: { trend: TrendAnswer; state: State }): JSX.Element {
  const { places, most } = placesOf(trend.rows, isInclusive(state) ? 'inclusive' : 'exclusive', BOX.width - 16, BOX.height);
  const unit = unitOf(trend.metric);
  const at = (place: Place): string => `${fixed(BOX.left + place.x, 1)},${fixed(BOX.top + place.y, 1)}`;
  const [first, last] = [places[0], places[places.length - 1]];
  return (
    <div class="trend" tabIndex={0} role="region" aria-label="Picture of the trend">
      <svg width={BOX.left + BOX.width} height={BOX.top + BOX.height + BOX.bottom} role="img" aria-label={`${count(places.length)} runs, ${count(trend.changes.length)} changes; the table has the numbers`}>
        {[0, 0.5, 1].map((part) => (
          <g key={part} class="axis">
            <line x1={BOX.left} x2={BOX.left + BOX.width - 16} y1={BOX.top + BOX.height * (1 - part)} y2={BOX.top + BOX.height * (1 - part)} />
            <text x={BOX.left - 8} y={BOX.top + BOX.height * (1 - part) + 4} text-anchor="end">{amount(most * part, unit)}</text>
          </g>
        ))}
        {places.filter((place) => place.point.is_change).map((place) => <line key={place.point.run} class="change" x1={BOX.left + place.x} x2={BOX.left + place.x} y1={BOX.top} y2={BOX.top + BOX.height} />)}
        <polyline points={places.map(at).join(' ')} />
        {places.map((place) => (
          <circle key={place.point.run} class={`${place.point.is_change ? 'is-change' : ''} ${String(place.point.run) === state.request ? 'is-chosen' : ''}`} data-run={place.point.run} data-value={place.value} cx={BOX.left + place.x} cy={BOX.top + place.y} r={String(place.point.run) === state.request ? 6 : 4} onClick={() => go({ request: String(place.point.run) })}>
            <title>{`run ${String(place.point.run)}, ${minute(place.point.begun_ns)}: ${amount(place.value, unit)}`}</title>
          </circle>
        ))}
        {first && last ? (
          <g class="axis">
            <text x={BOX.left} y={BOX.top + BOX.height + 18}>{`run ${String(first.point.run)}, ${minute(first.point.begun_ns)}`}</text>
            {first === last ? null : <text x={BOX.left + BOX.width - 16} y={BOX.top + BOX.height + 18} text-anchor="end">{`run ${String(last.point.run)}, ${minute(last.point.begun_ns)}`}</text>}
          </g>
        ) : null}
      </svg>
    </div>
  );
}

/** What changed, each with its comparison; and the chosen run. */
function Changes({ trend, runs, state }: { trend: TrendAnswer; runs: ReadonlyMap<number, Run>; state: State }): JSX.Element {
  const unit = unitOf(trend.metric);
  const chosen = runs.get(Number(state.request));
  const at = trend.rows.findIndex((point) => String(point.run) === state.request);
  const before = at > 0 ? trend.rows[at - 1] : undefined;
  return (
    <ul class="changes">
      {trend.changes.map((change) => (
        <li key={change.run}>
          from {amount(change.before, unit)} to {amount(change.after, unit)}
          {change.change_percent === null ? null : <b class={change.after > change.before ? 'increase' : 'decrease'}> {change.change_percent > 0 ? '+' : ''}{fixed(change.change_percent, 1)}%</b>}
          , from run {String(change.run_before)} to run {String(change.run)} <button type="button" onClick={() => void compareRuns([runs.get(change.run_before), runs.get(change.run)])}>compare run {String(change.run_before)} with run {String(change.run)}</button>
        </li>
      ))}
      {trend.changes.length === 0 ? <li class="quiet">{trend.rows.length < 10 ? 'change points need at least 10 runs' : 'no change point'}</li> : null}
      {chosen ? (
        <li>
          run {String(chosen.run)}, {minute(chosen.begun_ns)} <span class="quiet">{clean(labelsText(chosen.labels))}</span>{' '}
          <button type="button" title={clean(chosen.path)} onClick={() => void showRun(chosen)}>open run {String(chosen.run)}</button>{' '}
          {before ? <button type="button" onClick={() => void compareRuns([runs.get(before.run), chosen])}>compare run {String(before.run)} with run {String(chosen.run)}</button> : null}
        </li>
      ) : null}
    </ul>
  );
}

function Toolbar({ state }: { state: State }): JSX.Element {
  const labels = state.filters.filter((filter) => filter.startsWith('label:')).map((filter) => filter.slice(6)).join(' ');
  const setLabels = (text: string): void => go({ filters: text.split(/\s+/).filter((word) => word !== '').map((word) => `label:${word}`) });
  return (
    <div class="toolbar">
      <label class="choice"><span>trend of</span><Field id="search" label="Function" value={state.search} placeholder="total" title="A function: its name, a part of it, or a pattern with * and ?" onChange={(value) => go({ search: value })} /></label>
      <label class="choice"><span>metric</span><Field label="Metric" value={state.metrics[0] ?? ''} placeholder="default" title="A metric, or a part of its name" onChange={(value) => go({ metrics: value === '' ? [] : [value] })} /></label>
      <button type="button" aria-pressed={isInclusive(state)} title="Costs with callees" onClick={() => go({ order: isInclusive(state) ? '' : 'inclusive' })}>inclusive</button>
      <label class="choice"><span>labels</span><Field label="Labels" value={labels} placeholder="NAME=VALUE" title="Only runs with these labels, such as branch=main" onChange={setLabels} /></label>
      <label class="choice"><span>since</span><Field label="Since" value={state.from} placeholder="30d" title="Only runs that began at this time or later: 2026-03-02, or 30d ago" onChange={(value) => go({ from: value })} /></label>
      <label class="choice"><span>until</span><Field label="Until" value={state.to} placeholder="now" title="Only runs that began before this time" onChange={(value) => go({ to: value })} /></label>
    </div>
  );
}

function Component({ state }: { state: State }): JSX.Element {
  const list = useAnswer<ListAnswer>(listQuery(state));
  const trend = useAnswer<TrendAnswer>(trendQuery(state));
  const runs = new Map((list.data?.rows ?? []).map((run) => [run.run, run]));
  const what = trend.data ? `${trend.data.function === null ? '' : `${clean(trend.data.function)}: `}${trend.data.cost} cost in ${clean(trend.data.metric)}` : 'Trend';
  return (
    <>
      <Toolbar state={state} />
      {trend.data && !trend.error ? (
        <div class="runs"><Section title={what} more={<span class="quiet">{count(trend.data.rows.length)} run{trend.data.rows.length === 1 ? '' : 's'}{trend.data.labels['title'] === undefined ? '' : `, title=${clean(trend.data.labels['title'])}`}; a click on a dot chooses its run</span>}>
          <Plot trend={trend.data} state={state} />
          <Changes trend={trend.data} runs={runs} state={state} />
        </Section></div>
      ) : <Problem answer={trend} />}
      {list.data && !list.error ? (
        <Grid
          label="Runs" columns={COLUMNS} rows={list.data.rows} rowKey={(run) => String(run.run)} selected={state.request} onSelect={(run) => go({ request: String(run.run) }, 'replace')} onEnter={(run) => void showRun(run)} isStale={list.isLoading}
          footer={list.data.is_truncated ? <p class="quiet">{count(list.data.rows.length)} of {count(list.data.row_count)} runs, the newest</p> : null}
        />
      ) : <Problem answer={list} />}
    </>
  );
}

export const Runs = { query: trendQuery, Component };
