// SPDX-License-Identifier: BSD-3-Clause
// A table of rows of one height: only those on the screen are in the document. One tab stop; arrows move.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { copy } from './clipboard';
import { count } from './format';
import { csvOf, fileName, save } from './save';

export const ROW_HEIGHT = 22;

export interface Column<R> {
  readonly key: string;
  readonly title: string;
  /** A width of CSS grid: '80px', 'minmax(200px, 1fr)'. */
  readonly width: string;
  readonly isNumber?: boolean;
  readonly cell: (row: R) => ComponentChildren;
  /** The exact value behind the text, for tests and for copying. */
  readonly value?: (row: R) => string | number | null | undefined;
  /** The text of the cell in a file, if it is another one. */
  readonly csv?: (row: R) => string | null | undefined;
  /** A share in percent that is drawn behind the text. */
  readonly bar?: (row: R) => number;
  /** The order of the command that this column sorts by. */
  readonly order?: string;
  readonly hint?: string;
}

export interface GridProps<R> {
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  readonly rowKey: (row: R) => string;
  /** Of a tree: the level, from 1, and whether the row is open; undefined: it has nothing below it. */
  readonly level?: (row: R) => number;
  readonly isOpen?: (row: R) => boolean | undefined;
  readonly onToggle?: (row: R, open: boolean) => void;
  readonly rowClass?: (row: R) => string;
  /** The key of the selected row. */
  readonly selected: string;
  readonly onSelect: (row: R) => void;
  /** Enter or a double click. */
  readonly onEnter?: (row: R) => void;
  readonly order?: string;
  readonly isAscending?: boolean;
  readonly onOrder?: (order: string) => void;
  readonly isStale?: boolean;
  /** Below the last row. */
  readonly footer?: ComponentChildren;
}

interface Place {
  top: number;
  height: number;
}

function usePlace(): [box: { current: HTMLDivElement | null }, place: Place, onScroll: () => void] {
  const box = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState<Place>({ top: 0, height: 800 });
  const look = (): void => {
    const element = box.current;
    if (!element) return;
    const top = element.scrollTop;
    const height = element.clientHeight;
    setPlace((before) => (before.top === top && before.height === height ? before : { top, height }));
  };
  useLayoutEffect(() => {
    look();
    const observer = new ResizeObserver(look);
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return [box, place, look];
}

const BEYOND = 12;

interface Local {
  readonly key: string;
  readonly isAscending: boolean;
}

/** Rows that match the text of the filter in some column, in the order of a column that the command does not sort by. */
function arranged<R>(props: GridProps<R>, filter: string, local: Local | null): readonly R[] {
  const { columns, rows } = props;
  const wanted = filter.toLowerCase();
  const text = (row: R): string => columns.map((column) => column.value?.(row) ?? '').join('\u0000').toLowerCase();
  const found = wanted === '' ? rows : rows.filter((row) => text(row).includes(wanted));
  const value = columns.find((column) => column.key === local?.key)?.value;
  if (!local || !value) return found;
  const sign = local.isAscending ? 1 : -1;
  return [...found].sort((a, b) => {
    const [x, y] = [value(a) ?? null, value(b) ?? null];
    if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
    return sign * (typeof x === 'number' && typeof y === 'number' ? x - y : String(x) < String(y) ? -1 : String(x) > String(y) ? 1 : 0);
  });
}

/** Below a table: filter as you type, and its rows as CSV, with exact values. */
function Tools<R>({ props, rows, filter, onFilter }: { props: GridProps<R>; rows: readonly R[]; filter: string; onFilter: (text: string) => void }): JSX.Element {
  const columns = props.columns.filter((column) => column.value !== undefined);
  const csv = (): string => csvOf(columns.map((column) => column.key), rows.map((row) => columns.map((column) => (column.csv ?? column.value)?.(row))));
  return (
    <div class="gridtools">
      {props.level ? null : (
        <input type="text" placeholder="filter rows" aria-label={`Filter: ${props.label}`} title="Rows with this text in some column" value={filter} spellcheck={false} autocomplete="off" onInput={(event) => onFilter(event.currentTarget.value)}
          onKeyDown={(event) => event.key === 'Escape' && onFilter('')} />
      )}
      {filter !== '' ? <span class="quiet" role="status">{count(rows.length)} of {count(props.rows.length)} rows</span> : null}
      <span class="space" />
      <button type="button" class="link" title="The rows of this table with exact values" aria-label={`Copy CSV: ${props.label}`} onClick={() => void copy(csv(), 'the table as CSV')}>copy CSV</button>
      <button type="button" class="link" title="As a file" aria-label={`Save CSV: ${props.label}`} onClick={() => save(`${fileName(props.label)}.csv`, new Blob([csv()], { type: 'text/csv' }))}>save CSV</button>
    </div>
  );
}

const NARROW = '(max-width: 700px)';

/** On a narrow screen, names come first: what is right of them is a scroll away. */
function useOrder<R>(columns: readonly Column<R>[]): readonly Column<R>[] {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const media = matchMedia(NARROW);
    const look = (): void => setNarrow(media.matches);
    media.addEventListener('change', look);
    return () => media.removeEventListener('change', look);
  }, []);
  return useMemo(() => {
    const name = columns.find((column) => column.key === 'name');
    return isNarrow && name ? [{ ...name, width: 'minmax(50vw, 1fr)' }, ...columns.filter((column) => column !== name)] : columns;
  }, [columns, isNarrow]);
}

export function Grid<R>(props: GridProps<R>): JSX.Element {
  const { rowKey, level, isOpen, onToggle } = props;
  const columns = useOrder(props.columns);
  const [filter, setFilter] = useState('');
  const [local, setLocal] = useState<Local | null>(null);
  const rows = useMemo(() => arranged(props, filter, local), [props.rows, columns, filter, local]);
  const [box, place, look] = usePlace();
  const id = props.label.replace(/\W+/g, '-').toLowerCase();
  const template = columns.map((column) => column.width).join(' ');
  const isTree = level !== undefined;
  const found = rows.findIndex((row) => rowKey(row) === props.selected);
  const [active, setActive] = useState(0);
  const current = found >= 0 ? found : Math.min(active, Math.max(0, rows.length - 1));
  const first = Math.max(0, Math.floor(place.top / ROW_HEIGHT) - BEYOND);
  const last = Math.min(rows.length, Math.ceil((place.top + place.height) / ROW_HEIGHT) + BEYOND);

  const show = (index: number): void => {
    const element = box.current;
    if (!element) return;
    const top = index * ROW_HEIGHT;
    const header = ROW_HEIGHT + 4;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + ROW_HEIGHT + header > element.scrollTop + element.clientHeight) element.scrollTop = top + ROW_HEIGHT + header - element.clientHeight;
  };
  useEffect(() => {
    if (found >= 0) show(found);
  }, [props.selected]);

  const move = (index: number): void => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    const row = rows[next];
    setActive(next);
    show(next);
    if (row !== undefined) props.onSelect(row);
  };
  const parent = (index: number): number => {
    const row = rows[index];
    if (!level || row === undefined) return index;
    for (let i = index - 1; i >= 0; i--) {
      const above = rows[i];
      if (above !== undefined && level(above) < level(row)) return i;
    }
    return index;
  };
  const turn = (row: R | undefined, open: boolean): void => {
    if (row === undefined) return;
    const now = isOpen?.(row);
    if (now !== undefined && now !== open) onToggle?.(row, open);
    else if (open && now === true) move(current + 1);
    else if (!open) move(parent(current));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.target !== event.currentTarget) return;
    const row = rows[current];
    const page = Math.max(1, Math.floor(place.height / ROW_HEIGHT) - 2);
    const moves: Record<string, () => void> = {
      ArrowDown: () => move(found < 0 && active === 0 && current === 0 ? 0 : current + 1),
      ArrowUp: () => move(current - 1),
      PageDown: () => move(current + page),
      PageUp: () => move(current - page),
      Home: () => move(0),
      End: () => move(rows.length - 1),
      ...(isTree ? { ArrowRight: () => turn(row, true), ArrowLeft: () => turn(row, false) } : {}),
      Enter: () => {
        if (row !== undefined) (props.onEnter ?? props.onSelect)(row);
      },
    };
    const run = moves[event.key];
    if (!run || rows.length === 0) return;
    event.preventDefault();
    run();
  };
  const rowId = (index: number): string => `${id}-row-${String(index)}`;
  const shown: JSX.Element[] = [];
  const one = (index: number): void => {
    const row = rows[index];
    if (row === undefined) return;
    const opened = isOpen?.(row);
    const tree = isTree ? { 'aria-level': level(row), ...(opened === undefined ? {} : { 'aria-expanded': opened }) } : {};
    shown.push(
      <div
        key={rowKey(row)} id={rowId(index)} role="row" aria-rowindex={index + 2} aria-selected={index === found} {...tree}
        class={`row ${index === current ? 'current' : ''} ${props.rowClass?.(row) ?? ''}`}
        style={{ gridTemplateColumns: template, top: `${String(index * ROW_HEIGHT)}px` }}
        onClick={() => move(index)} onDblClick={() => props.onEnter?.(row)}
      >
        {columns.map((column) => {
          const bar = column.bar?.(row);
          const value = column.value?.(row) ?? undefined;
          return (
            <div key={column.key} role="gridcell" class={column.isNumber ? (value === 0 ? 'number zero' : 'number') : 'text'} data-column={column.key} data-value={value}>
              {bar !== undefined && bar > 0 ? <i class="bar" style={{ width: `${String(Math.min(100, bar))}%` }} /> : null}
              {column.cell(row)}
            </div>
          );
        })}
      </div>,
    );
  };
  for (let index = first; index < last; index++) one(index);
  // The current row stays in the document, so that the table can name it.
  if (current < first || current >= last) one(current);
  return (
    <div class="gridbox">
    <div
      class={`grid ${props.isStale ? 'stale' : ''}`} ref={box} role={isTree ? 'treegrid' : 'grid'} aria-label={props.label} aria-rowcount={rows.length + 1}
      aria-busy={props.isStale ?? false} tabIndex={0} aria-activedescendant={rows.length > 0 ? rowId(current) : undefined} onScroll={look} onKeyDown={onKeyDown}
    >
      <div class="head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
        {columns.map((column) => {
          const isMine = local?.key === column.key;
          const isSorted = local ? isMine : column.order !== undefined && column.order === props.order;
          const isAscending = local ? local.isAscending : props.isAscending;
          const isRemote = column.order !== undefined && props.onOrder !== undefined;
          // Largest first, smallest first, as the command has it.
          const turn = (): void => {
            setLocal(isRemote || (isMine && local.isAscending) ? null : { key: column.key, isAscending: isMine });
            if (isRemote) props.onOrder?.(column.order ?? '');
          };
          const canSort = isRemote || (!isTree && column.value !== undefined && column.title !== '');
          return (
            <div
              key={column.key} role="columnheader" class={column.isNumber ? 'number' : 'text'} title={column.hint}
              {...(canSort ? { 'aria-sort': isSorted ? (isAscending ? 'ascending' : 'descending') : 'none' } : {})}
            >
              {canSort ? (
                <button type="button" onClick={turn}>
                  {column.title}
                  {isSorted ? <span aria-hidden="true"> {isAscending ? '▲' : '▼'}</span> : null}
                </button>
              ) : (
                column.title
              )}
            </div>
          );
        })}
      </div>
      <div class="body" role="rowgroup" style={{ height: `${String(rows.length * ROW_HEIGHT)}px` }}>
        {shown}
      </div>
    </div>
    {props.footer}
    {props.rows.length > 0 ? <Tools props={props} rows={rows} filter={filter} onFilter={setFilter} /> : null}
    </div>
  );
}
