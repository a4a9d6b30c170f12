// SPDX-License-Identifier: BSD-3-Clause
// Functions: `lode top`, by function, line, loop, module or file.
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { useAnswer, type Option, type Query } from '../api';
import { amount, baseName, clean, count, percent, type Unit } from '../format';
import { Grid, type Column } from '../grid';
import type { Info } from '../info';
import { useKeys } from '../keys';
import { MoreMetrics } from '../metrics';
import { Link, Name, Problem, Swatch, Unsearched } from '../parts';
import { ELAPSED_HINT, readTop, type Cost, type Top, type TopRow } from '../rows';
import { selection } from '../selection';
import { go, type State } from '../state';
import { sharedOptions, type View, type ViewProps } from '../view';

const GROUPS: Readonly<Record<Info['kind'], readonly string[]>> = {
  database: ['function', 'line', 'loop', 'module', 'file', 'kind'],
  recording: ['function', 'symbol', 'kind'],
};
const LIMIT = 200;

export function groupOf(state: State, info: Info): string {
  return GROUPS[info.kind].includes(state.group) ? state.group : 'function';
}

/** What the search and the filters choose. */
const isSearched = (group: string): boolean => group === 'function' || group === 'symbol';

function query(state: State, info: Info): Query {
  const group = groupOf(state, info);
  const options: Option[] = sharedOptions(state, info, { metrics: 'all', search: isSearched(group) });
  if (group !== 'function') options.push(['by', group]);
  if (state.order !== '') options.push(['sort', state.order]);
  options.push(['limit', state.limit === '' ? String(LIMIT) : state.limit]);
  return { command: 'top', store: state.store, options };
}

/** As wide as the longest number in it. */
function widthOf(texts: readonly string[]): string {
  return `calc(${String(texts.reduce((most, text) => Math.max(most, text.length), 10))}ch + 14px)`;
}

function costColumns(index: number, of: (row: TopRow) => Cost | undefined, metric: { name: string; unit: Unit }, isRecording: boolean, rows: readonly TopRow[]): Column<TopRow>[] {
  const [own, all] = isRecording ? ['Self', 'Total'] : ['Excl', 'Incl'];
  const [ownLong = '', allLong = ''] = isRecording ? ['Self', 'Total'] : index > 0 ? [clean(metric.name), clean(metric.name)] : ['Exclusive', 'Inclusive'];
  const ownWidth = widthOf([ownLong, ...rows.map((row) => amount(of(row)?.exclusive, metric.unit))]);
  const allWidth = widthOf(rows.map((row) => amount(of(row)?.inclusive, metric.unit)));
  const orders = index === 0;
  const suffix = index === 0 ? '' : String(index + 1);
  const hint = clean(metric.name);
  const columns: Column<TopRow>[] = [
    { key: `exclusive_percent${suffix}`, title: `${own} %`, width: '76px', isNumber: true, cell: (row) => percent(of(row)?.exclusivePercent), value: (row) => of(row)?.exclusivePercent, bar: (row) => of(row)?.exclusivePercent ?? 0, hint },
    { key: `exclusive${suffix}`, title: ownLong, width: ownWidth, isNumber: true, cell: (row) => amount(of(row)?.exclusive, metric.unit), value: (row) => of(row)?.exclusive, hint, ...(orders ? { order: 'exclusive' } : {}) },
    { key: `inclusive_percent${suffix}`, title: `${all} %`, width: '76px', isNumber: true, cell: (row) => percent(of(row)?.inclusivePercent), value: (row) => of(row)?.inclusivePercent, bar: (row) => of(row)?.inclusivePercent ?? 0, hint },
    { key: `inclusive${suffix}`, title: allLong, width: allWidth, isNumber: true, cell: (row) => amount(of(row)?.inclusive, metric.unit), value: (row) => of(row)?.inclusive, hint, ...(orders ? { order: 'inclusive' } : {}), ...(isRecording ? { bar: (row: TopRow) => of(row)?.inclusivePercent ?? 0 } : {}) },
  ];
  // `lode top` prints no share of the total time of calls, which add up to more than all.
  return isRecording ? columns.filter((column) => column.key !== `inclusive_percent${suffix}`) : columns;
}

function callColumns(top: Top): Column<TopRow>[] {
  const hasErrors = top.rows.some((row) => (row.errors ?? 0) > 0);
  const hasElapsed = top.rows.some((row) => row.elapsed !== null);
  const time = (key: 'elapsed' | 'mean' | 'p95' | 'max', title: string, hint?: string): Column<TopRow> => ({
    key, title, width: '92px', isNumber: true, cell: (row) => amount(row[key], 'nanoseconds'), value: (row) => row[key], order: key, ...(hint ? { hint } : {}),
  });
  return [
    ...(hasElapsed ? [time('elapsed', 'Elapsed', ELAPSED_HINT)] : []),
    { key: 'calls', title: 'Calls', width: '88px', isNumber: true, cell: (row) => count(row.calls ?? 0), value: (row) => row.calls, order: 'calls' },
    time('mean', 'Mean'), time('p95', 'p95'), time('max', 'Max'),
    ...(hasErrors ? [{ key: 'errors', title: 'Errors', width: '64px', isNumber: true, cell: (row: TopRow) => count(row.errors ?? 0), value: (row: TopRow) => row.errors, order: 'errors' }] : []),
  ];
}

const TITLES: Readonly<Record<string, string>> = { function: 'Function', symbol: 'Function', line: 'Line', loop: 'Loop', module: 'Load module', file: 'Source file', kind: 'Kind of function' };

function columnsOf(top: Top, info: Info, group: string): Column<TopRow>[] {
  const isRecording = info.kind === 'recording';
  const columns = top.metrics.flatMap((metric, index) => costColumns(index, (row) => (index === 0 ? row : row.more[index - 1]), metric, isRecording, top.rows).slice(0, index === 0 ? 4 : 2));
  if (isRecording && group !== 'kind') columns.push(...callColumns(top));
  columns.push({ key: 'name', title: TITLES[group] ?? 'Name', width: 'minmax(240px, 1fr)', cell: (row) => <><Swatch kind={row.kind} /><Name name={row.name} /></>, value: (row) => row.name, order: 'name' });
  const hasPlaces = group !== 'module' && group !== 'file' && group !== 'line' && top.rows.some((row) => row.file !== null);
  if (hasPlaces) {
    columns.push({ key: 'place', title: 'Defined at', width: 'minmax(90px, 180px)', cell: (row) => (row.file === null ? '' : <span class="quiet" title={clean(row.file)}>{baseName(row.file)}{row.line ? `:${String(row.line)}` : ''}</span>), value: (row) => (row.file === null ? null : `${row.file}${row.line ? `:${String(row.line)}` : ''}`) });
  }
  const hasModules = group !== 'module' && group !== 'file' && new Set(top.rows.map((row) => row.module)).size > 1;
  if (hasModules) columns.push({ key: 'module', title: 'Module', width: 'minmax(90px, 150px)', cell: (row) => <span class="quiet" title={clean(row.module)}>{baseName(row.module)}</span>, value: (row) => row.module });
  return columns;
}

function select(row: TopRow, top: Top, group: string): void {
  const unit = top.metrics[0]?.unit ?? 'count';
  const isFunction = group === 'function' || group === 'symbol';
  selection.value = {
    title: row.name, kind: group, path: [], context: '', name: isFunction ? row.name : '',
    source: row.file !== null ? (row.line === null ? row.file : `${row.file}:${String(row.line)}`) : '',
    facts: [
      ['exclusive', `${amount(row.exclusive, unit)}, ${percent(row.exclusivePercent)}%`],
      ['inclusive', row.calls === null ? `${amount(row.inclusive, unit)}, ${percent(row.inclusivePercent)}%` : amount(row.inclusive, unit)],
      ...(row.file !== null ? [['file', `${clean(row.file)}${row.line ? `:${String(row.line)}` : ''}`] as const] : []),
      ...(row.module !== null ? [['module', clean(row.module)] as const] : []),
      ...(row.calls !== null ? [['calls', count(row.calls)] as const] : []),
      ...(row.contexts !== null ? [['contexts', count(row.contexts)] as const] : []),
    ],
  };
}

function Summary({ top, state, group }: { top: Top; state: State; group: string }): JSX.Element {
  const first = top.metrics[0];
  const sum = top.rows.reduce((all, row) => all + (row.exclusivePercent ?? 0), 0);
  const what = `${group === 'symbol' ? 'function' : group}s`;
  return (
    <span class="quiet">
      {first?.total !== null && first !== undefined ? `${amount(first.total, first.unit)} ${first.name === 'time' ? '' : clean(first.name)} · ` : ''}
      {top.isTruncated ? `${count(top.rows.length)} of ${count(top.rowCount)} ${what}` : `${count(top.rowCount)} ${what}`}
      {state.search !== '' && !top.isTruncated ? ` match, ${percent(sum)}% exclusive` : ''}
      {top.isSampled ? ' · sampled, from the traces' : ''}
    </span>
  );
}

function Functions({ state, info }: ViewProps): JSX.Element {
  const answer = useAnswer<unknown>(query(state, info));
  const top = answer.data === null ? null : readTop(answer.data);
  const group = groupOf(state, info);
  const groups = GROUPS[info.kind];
  useKeys([
    { key: 'b', label: 'b', title: 'group by the next of function, line, ...', run: () => go({ group: groups[(groups.indexOf(group) + 1) % groups.length] ?? '', name: '', order: '' }) },
    { key: 'i', label: 'i', title: 'callers of the selected function', run: () => state.name !== '' && go({ view: 'tree', way: `callers:${state.name}`, context: '' }) },
  ]);
  useEffect(() => {
    const row = top?.rows.find((candidate) => candidate.name === state.name);
    if (top && row) select(row, top, group);
  }, [answer.data, state.name]);
  return (
    <>
      <div class="toolbar">
        <div class="segments" role="group" aria-label="Group by">
          {groups.map((name) => (
            <button key={name} type="button" aria-pressed={name === group} onClick={() => go({ group: name === 'function' ? '' : name, name: '', order: '' })}>{name}</button>
          ))}
        </div>
        <MoreMetrics info={info} state={state} />
        <Unsearched state={state} isSearched={isSearched(group)} />
        <span class="space" />
        {top ? <Summary top={top} state={state} group={group} /> : null}
      </div>
      {top === null || answer.error ? <Problem answer={answer} /> : (
        <Grid
          label="Functions" columns={columnsOf(top, info, group)} rows={top.rows} rowKey={(row) => `${row.name}\u0000${row.file ?? ''}\u0000${String(row.line)}\u0000${row.module ?? ''}`}
          selected={selectedKey(top, state.name)} onSelect={(row) => {
            select(row, top, group);
            go({ name: row.name, context: '' }, 'replace');
          }}
          onEnter={(row) => (group === 'function' || group === 'symbol') && go({ view: 'tree', way: `callers:${row.name}`, name: '', context: '' })}
          order={state.order === '' ? 'exclusive' : state.order} isAscending={state.order === 'name'} onOrder={(order) => go({ order: order === 'exclusive' ? '' : order })} isStale={answer.isLoading}
          footer={top.isTruncated ? <p class="footer"><Link onClick={() => go({ limit: String(top.rows.length * 4) }, 'replace')}>show more rows</Link></p> : null}
        />
      )}
    </>
  );
}

function selectedKey(top: Top, name: string): string {
  const row = name === '' ? undefined : top.rows.find((candidate) => candidate.name === name);
  return row ? `${row.name}\u0000${row.file ?? ''}\u0000${String(row.line)}\u0000${row.module ?? ''}` : '';
}

export const functions: View = { key: 'top', title: 'Functions', fits: () => true, query, Component: Functions };
