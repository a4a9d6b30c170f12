// SPDX-License-Identifier: BSD-3-Clause
// The call trees of two stores as one: `lode compare --tree`.
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useAnswer, type Option, type Query } from '../api';
import { amount, clean, count, percent, unitOf, type Unit } from '../format';
import { Grid, type Column } from '../grid';
import type { Info } from '../info';
import { useKeys } from '../keys';
import { Link, Name, Problem } from '../parts';
import { selection } from '../selection';
import { go, type State } from '../state';
import { sharedOptions, type ViewProps } from '../view';
import { changeColumns, otherOf, Stores, type Change } from './compare';

export interface Row extends Change {
  readonly row: number;
  readonly parent_row: number | null;
  readonly depth: number;
  readonly gross: number;
  readonly base_own: number;
  readonly new_own: number;
}
export interface TreeAnswer {
  readonly metric: string;
  readonly base_total: number;
  readonly new_total: number;
  readonly gross: number;
  readonly matched_base_percent: number;
  readonly matched_new_percent: number;
  readonly row_count: number;
  readonly is_truncated: boolean;
  readonly rows: readonly Row[];
}

const LIMIT = 1000;
/** Below this share of the base, a change is grey. */
const THRESHOLD = 0.01;

export function compareTreeQuery(state: State, info: Info, least = '1'): Query | null {
  const other = otherOf(state);
  if (other === null) return null;
  const options: Option[] = [...sharedOptions(state, info, { search: false }), ['tree', '']];
  if (state.colours === 'all') options.push(['all', '']);
  options.push(['min-percent', state.share === '' ? least : state.share], ['limit', state.limit === '' ? String(LIMIT) : state.limit]);
  return { command: 'compare', store: state.store, other, options };
}

/** Rows whose rows above are all open. */
export function openRows(rows: readonly Row[], isOpen: (row: Row) => boolean): Row[] {
  const shown = new Set<number>();
  return rows.filter((row) => {
    const above = row.parent_row === null ? null : rows[row.parent_row];
    const isShown = above === null || (above !== undefined && shown.has(above.row) && isOpen(above));
    if (isShown) shown.add(row.row);
    return isShown;
  });
}

function pathOf(rows: readonly Row[], row: Row): { name: string; context: string }[] {
  const path: { name: string; context: string }[] = [];
  for (let at: Row | undefined = row; at; at = at.parent_row === null ? undefined : rows[at.parent_row]) path.unshift({ name: at.name, context: String(at.row) });
  return path;
}

export function select(rows: readonly Row[], row: Row, unit: Unit): void {
  selection.value = {
    title: row.name, kind: 'call path', path: pathOf(rows, row), context: '', name: '', source: '',
    facts: [['A', amount(row.base, unit)], ['B', amount(row.new, unit)], ['gross change', amount(row.gross, unit)], ['A itself', amount(row.base_own, unit)], ['B itself', amount(row.new_own, unit)]],
  };
}

function columnsOf(data: TreeAnswer, unit: Unit, isOpen: (row: Row) => boolean, hasRows: ReadonlySet<number | null>, toggle: (row: Row, open: boolean) => void): Column<Row>[] {
  const { base, changed, difference, ratio, width } = changeColumns<Row>(unit, data.rows, (row) => Math.abs(row.difference) < THRESHOLD * Math.abs(data.base_total));
  return [
    base, changed, difference,
    { key: 'gross', title: 'Gross', width, isNumber: true, hint: 'The sum of all changes below it, increases and decreases', cell: (row) => amount(row.gross, unit), value: (row) => row.gross, bar: (row) => (data.gross > 0 ? (100 * row.gross) / data.gross : 0) },
    ratio,
    {
      key: 'name', title: 'Call tree', width: 'minmax(320px, 1fr)', value: (row) => row.name,
      cell: (row) => (
        <span class="branch" style={{ paddingLeft: `${String(row.depth * 14)}px` }}>
          <span class={`twig ${hasRows.has(row.row) ? (isOpen(row) ? 'open' : 'closed') : ''}`} aria-hidden="true" onClick={(event) => {
            if (!hasRows.has(row.row)) return;
            event.stopPropagation();
            toggle(row, !isOpen(row));
          }} />
          <Name name={row.name} suffix={row.only_in === 'base' ? 'gone' : row.only_in === 'new' ? 'new' : ''} />
        </span>
      ),
    },
  ];
}

/** With the switch back to the tree of one store. */
export function CompareTree({ state, info }: ViewProps): JSX.Element {
  const answer = useAnswer<TreeAnswer>(compareTreeQuery(state, info));
  const data = answer.data;
  const rows = data?.rows ?? [];
  const unit = info.kind === 'recording' ? 'nanoseconds' : unitOf(data?.metric ?? '');
  const [changed, setChanged] = useState<ReadonlyMap<number, boolean>>(new Map());
  useEffect(() => setChanged(new Map()), [data]);
  const hasRows = useMemo(() => new Set(rows.map((row) => row.parent_row)), [data]);
  // What changed most is open.
  const hot = useMemo(() => {
    const open = new Set<number | null>([null]);
    const seen = new Set<number | null>();
    for (const row of rows) {
      if (open.has(row.parent_row) && !seen.has(row.parent_row)) open.add(row.row);
      seen.add(row.parent_row);
    }
    return open;
  }, [data]);
  const isOpen = (row: Row): boolean => changed.get(row.row) ?? (hot.has(row.row) || rows.length <= 12);
  const toggle = (row: Row, open: boolean): void => setChanged(new Map([...changed, [row.row, open]]));
  const expand = (): void => setChanged(new Map(rows.map((row) => [row.row, true])));
  useKeys([{ key: 'E', label: 'Shift+E', title: 'expand everything', run: expand }]);
  return (
    <>
      <div class="toolbar">
        <Stores state={state} />
        <button type="button" onClick={() => go({ group: '', share: '', limit: '', colours: '', context: '', name: '' })}>one store</button>
        <button type="button" aria-pressed={state.colours === 'all'} title="Also what did not change" onClick={() => go({ colours: state.colours === 'all' ? '' : 'all' })}>unchanged rows</button>
        <button type="button" title="Shift+E" onClick={expand}>expand all</button>
        <span class="space" />
        {data ? <span class="quiet">{amount(data.base_total, unit)} → {amount(data.new_total, unit)} {clean(data.metric)} · gross change {amount(data.gross, unit)} · matched {percent(data.matched_base_percent)}% of A, {percent(data.matched_new_percent)}% of B</span> : null}
      </div>
      {data === null || answer.error ? <Problem answer={answer} /> : rows.length === 0 ? <p class="pending">No call path changed by {state.share === '' ? '1' : state.share} % of the total.</p> : (
        <Grid
          label="Changes of call paths" columns={columnsOf(data, unit, isOpen, hasRows, toggle)} rows={openRows(rows, isOpen)} rowKey={(row) => String(row.row)} level={(row) => row.depth + 1}
          isOpen={(row) => (hasRows.has(row.row) ? isOpen(row) : undefined)} onToggle={toggle} selected={state.context === '' ? '' : state.context} isStale={answer.isLoading}
          onSelect={(row) => {
            select(rows, row, unit);
            go({ context: String(row.row), name: '' }, 'replace');
          }}
          onEnter={(row) => toggle(row, !isOpen(row))}
          footer={data.is_truncated ? <p class="footer"><Link onClick={() => go({ limit: String(rows.length * 4) }, 'replace')}>show more rows</Link> <span class="quiet">{count(rows.length)} of {count(data.row_count)}</span></p> : null}
        />
      )}
    </>
  );
}
