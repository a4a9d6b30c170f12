// SPDX-License-Identifier: BSD-3-Clause
// Tree: `lode tree`, from the entry points down, or from functions to their callers.
import type { JSX } from 'preact';
import { signal } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ApiError, ask, busy, path, useAnswer, type Option, type Query } from '../api';
import { branchesOf, branchesOfPart, every, missingBelow, skipFor, visible, type Added, type Branch, type Node, type Part } from '../branches';
import { amount, baseName, clean, count, percent, type Unit } from '../format';
import { Grid, type Column } from '../grid';
import type { Info } from '../info';
import { useKeys } from '../keys';
import { MoreMetrics } from '../metrics';
import { Link, Name, Problem } from '../parts';
import { ELAPSED_HINT, readTree, type Cost, type Tree, type TreeRow } from '../rows';
import { selection } from '../selection';
import { go, notice, type State } from '../state';
import { sharedOptions, type View, type ViewProps } from '../view';
import { otherOf } from './compare';
import { CompareTree, compareTreeQuery } from './compare_tree';

const LIMIT = 1000;
/** Rows that are asked for at once when a row is opened. */
const PART = 200;
const SHARES = ['5', '1', '0.1', '0.01', '0'] as const;

function wayOf(state: State): { kind: 'down' | 'up' | 'callers' | 'focus'; name: string } {
  const match = /^(callers|focus):([^]+)$/.exec(state.way);
  if (match?.[2] !== undefined) return { kind: match[1] === 'callers' ? 'callers' : 'focus', name: match[2] };
  return { kind: state.way === 'up' ? 'up' : 'down', name: '' };
}

function ownOptions(state: State, info: Info): Option[] {
  const options: Option[] = sharedOptions(state, info, { metrics: 'all' });
  const way = wayOf(state);
  if (way.kind === 'up') options.push(['bottom-up', '']);
  if (way.kind === 'callers' || way.kind === 'focus') options.push([way.kind, way.name]);
  return options;
}

function query(state: State, info: Info): Query {
  const options = ownOptions(state, info);
  options.push(['min-percent', state.share === '' ? '1' : state.share], ['limit', state.limit === '' ? String(LIMIT) : state.limit]);
  return { command: 'tree', store: state.store, options };
}

/** The rows directly below one, or the first rows: a part of them. */
function partQuery(state: State, info: Info, branch: Branch | null, skip: number): Query {
  const options = ownOptions(state, info);
  if (branch) options.push(['below', branch.path.join(',')]);
  if (skip > 0) options.push(['skip', String(skip)]);
  options.push(['depth', '1'], ['min-percent', '0'], ['limit', String(PART)]);
  return { command: 'tree', store: state.store, options };
}

/** The request that brought the selected row, if it is not the first one. */
const shownPart = signal<Query | null>(null);

function columnsOf(tree: Tree, state: State, first: readonly Branch[], isOpen: (branch: Branch) => boolean, toggle: (node: Node, open: boolean) => void): Column<Node>[] {
  const way = wayOf(state);
  const byCallers = way.kind === 'up' || way.kind === 'callers';
  const [own, all] = tree.isRecording ? ['Self', 'Total'] : ['Excl', 'Incl'];
  const rows = every(first).map((branch) => branch.row);
  const rowOf = (node: Node): TreeRow | null => (node.isMore ? null : (node.branch?.row ?? null));
  const number = (key: string, title: string, width: string, value: (row: TreeRow) => number | null, show: (value: number | null) => string, hint: string, bar = false): Column<Node> => {
    const of = (node: Node): number | null => {
      const row = rowOf(node);
      return row ? value(row) : null;
    };
    return { key, title, width, hint, isNumber: true, cell: (node) => (rowOf(node) ? show(of(node)) : ''), value: of, ...(bar ? { bar: (node: Node) => of(node) ?? 0 } : {}) };
  };
  const wide = (title: string, value: (row: TreeRow) => number | null, unit: Unit): string => `calc(${String(rows.reduce((most, row) => Math.max(most, amount(value(row), unit).length), Math.max(10, Math.min(title.length, 20))))}ch + 14px)`;
  const costs = (suffix: string, names: readonly [string, string], hint: string, unit: Unit, of: (row: TreeRow) => Cost | undefined): Column<Node>[] => {
    const inclusive = (row: TreeRow): number | null => of(row)?.inclusive ?? null, exclusive = (row: TreeRow): number | null => of(row)?.exclusive ?? null;
    return [
      number(`inclusive_percent${suffix}`, `${all} %`, '76px', (row) => of(row)?.inclusivePercent ?? null, percent, hint, true),
      number(`inclusive${suffix}`, names[0], wide(names[0], inclusive, unit), inclusive, (value) => amount(value, unit), hint),
      ...(byCallers ? [] : [
        number(`exclusive_percent${suffix}`, `${own} %`, '76px', (row) => of(row)?.exclusivePercent ?? null, percent, hint, true),
        number(`exclusive${suffix}`, names[1], wide(names[1], exclusive, unit), exclusive, (value) => amount(value, unit), hint),
      ]),
    ];
  };
  const columns = [
    ...costs('', tree.isRecording ? ['Total', 'Self'] : ['Inclusive', 'Exclusive'], clean(tree.metric), tree.unit, (row) => row),
    ...(tree.rows.some((row) => row.elapsed !== null) ? [number('elapsed', 'Elapsed', '88px', (row) => row.elapsed, (value) => amount(value, 'nanoseconds'), ELAPSED_HINT)] : []),
    ...(tree.isRecording && !byCallers ? [number('calls', 'Calls', '80px', (row) => row.calls, (value) => count(value ?? 0), '')] : []),
    // Of further metrics, the cost with everything below it.
    ...tree.more.flatMap((metric, index) => costs(String(index + 2), [clean(metric.name), clean(metric.name)], clean(metric.name), metric.unit, (row) => row.more[index]).slice(0, 2)),
  ];
  columns.push({
    key: 'name', title: byCallers ? 'Function / callers' : 'Call tree', width: 'minmax(320px, 1fr)', value: (node) => rowOf(node)?.name,
    cell: (node) => {
      const { branch } = node;
      const open = branch !== null && isOpen(branch);
      return (
        <span class="branch" style={{ paddingLeft: `${String((node.level - 1) * 14)}px` }}>
          <span class={`twig ${node.hasChildren && !node.isMore ? (open ? 'open' : 'closed') : ''}`} aria-hidden="true" onClick={(event) => {
            if (!node.hasChildren || node.isMore) return;
            event.stopPropagation();
            toggle(node, !open);
          }} />
          {node.isMore || branch === null ? <span class="quiet">{moreText(node)}</span> : <Name name={branch.row.name} suffix={branch.row.isInlined ? '[inlined]' : ''} />}
        </span>
      );
    },
  });
  if (!byCallers && rows.some((row) => row.callLine !== null)) {
    columns.push({ key: 'site', title: 'Called at', width: 'minmax(90px, 170px)', cell: (node) => {
      const row = rowOf(node);
      return row === null || row.callLine === null ? '' : <span class="quiet" title={clean(row.callFile)}>{baseName(row.callFile)}:{row.callLine}</span>;
    } });
  }
  return columns;
}

/** Of the line for rows that are not there: how many, and what Enter does. */
function moreText(node: Node): string {
  if (node.missing === null) return 'more …';
  return `${count(node.missing)} more …`;
}

function select(tree: Tree, branch: Branch): void {
  const path: { name: string; context: string }[] = [];
  for (let at: Branch | null = branch; at !== null; at = at.parent) path.unshift({ name: at.row.name, context: at.row.context });
  const { row } = branch;
  const isFunction = row.kind === 'function';
  selection.value = {
    title: row.name, kind: row.kind, path, context: tree.isRecording ? '' : row.context, name: isFunction ? row.name : '',
    source: row.callFile !== null && row.callLine !== null ? `${row.callFile}:${String(row.callLine)}` : '',
    facts: [
      ['inclusive', `${amount(row.inclusive, tree.unit)}, ${percent(row.inclusivePercent)}%`],
      ['exclusive', `${amount(row.exclusive, tree.unit)}, ${percent(row.exclusivePercent)}%`],
      ...tree.more.map((metric, index) => [clean(metric.name), amount(row.more[index]?.inclusive, metric.unit)] as const),
      ...(row.callLine !== null ? [['called at', `${clean(row.callFile)}:${String(row.callLine)}`] as const] : []),
      ...(row.calls !== null ? [['calls', count(row.calls)] as const] : []),
      ...(row.contexts > 1 ? [['contexts', count(row.contexts)] as const] : []),
    ],
  };
}

/** Rows that are open: those on the hot path at first, and what was opened by hand. */
function useOpen(tree: Tree | null, way: string): { isOpen: (branch: Branch) => boolean; set: (changes: ReadonlyMap<string, boolean>) => void } {
  const [changed, setChanged] = useState<ReadonlyMap<string, boolean>>(new Map());
  useEffect(() => setChanged(new Map()), [way]);
  const isFlat = tree !== null && tree.rows.length > 0 && tree.rows.length <= 12;
  return {
    isOpen: (branch) => changed.get(branch.key) ?? (branch.skip === null && branch.children.length > 0 && (branch.row.isHot || isFlat)),
    set: (changes) => setChanged((before) => new Map([...before, ...changes])),
  };
}

/** Rows that were asked for when a row was opened; they belong to one query. */
function useAdded(state: State, info: Info): { added: Added; load: (branch: Branch | null, known: readonly Branch[]) => Promise<Part> } {
  const address = path(query(state, info));
  const current = useRef(address);
  current.current = address;
  const [kept, setKept] = useState<{ address: string; added: Added }>({ address, added: new Map() });
  const under = useRef(new Set<string>());
  const load = async (branch: Branch | null, known: readonly Branch[]): Promise<Part> => {
    const skip = skipFor(known);
    const wanted = partQuery(state, info, branch, skip);
    const name = path(wanted);
    if (under.current.has(name)) return { skip, rows: [] };
    under.current.add(name);
    busy.value++;
    try {
      const { rows, rowCount } = readTree(await ask(wanted));
      const part = { skip, rows };
      if (current.current !== address) return { skip, rows: [] };
      const key = branch?.key ?? '';
      setKept((before) => {
        const old = before.address === address ? before.added : NONE;
        return { address, added: new Map([...old, [key, { parts: [...(old.get(key)?.parts ?? []), part], total: rowCount }]]) };
      });
      return part;
    } catch (error) {
      notice.value = error instanceof ApiError ? error.message : 'The server does not answer. Is lode view still running?';
      return { skip, rows: [] };
    } finally {
      under.current.delete(name);
      busy.value--;
    }
  };
  return { added: kept.address === address ? kept.added : NONE, load };
}
const NONE: Added = new Map();

function Ways({ state, info, tree, shown }: { state: State; info: Info; tree: Tree | null; shown: number }): JSX.Element {
  const way = wayOf(state);
  const set = (next: string): void => go({ way: next, context: '', name: '' });
  return (
    <>
      <div class="segments" role="group" aria-label="Direction">
        <button type="button" aria-pressed={way.kind === 'down'} onClick={() => set('')}>top-down</button>
        <button type="button" aria-pressed={way.kind === 'up'} onClick={() => set('up')}>callers</button>
      </div>
      {way.name !== '' ? (
        <button type="button" class="chip" title="Show the whole tree" onClick={() => set('')}>{way.kind === 'callers' ? 'callers of' : 'from'} {clean(way.name)} <span aria-hidden="true">×</span></button>
      ) : null}
      <label class="choice">
        <span>rows from</span>
        <select value={state.share === '' ? '1' : state.share} onChange={(event) => go({ share: event.currentTarget.value === '1' ? '' : event.currentTarget.value })}>
          {SHARES.map((share) => <option key={share} value={share}>{share} %</option>)}
        </select>
      </label>
      <MoreMetrics info={info} state={state} />
      {otherOf(state) !== null ? <button type="button" title="What changed to another store, by call path" onClick={() => go({ group: 'compare', context: '', name: '', limit: '', share: '' })}>compare</button> : null}
      <span class="space" />
      {tree ? (
        <span class="quiet">
          {tree.total !== null ? `${amount(tree.total, tree.unit)} ${tree.metric === 'time' ? '' : clean(tree.metric)} · ` : ''}
          {tree.isTruncated ? `first ${count(shown)} rows` : `${count(shown)} rows`}
          {tree.omittedByShare > 0 ? `, ${count(tree.omittedByShare)} smaller` : ''}
        </span>
      ) : null}
    </>
  );
}

function OneTree({ state, info }: ViewProps): JSX.Element {
  const answer = useAnswer<unknown>(query(state, info));
  const tree = useMemo(() => (answer.data === null ? null : readTree(answer.data)), [answer.data]);
  const { added, load } = useAdded(state, info);
  const first = useMemo(() => (tree ? branchesOf(tree, added) : []), [tree, added]);
  const all = useMemo(() => every(first), [first]);
  const { isOpen, set } = useOpen(tree, state.way);
  const [key, setKey] = useState('');
  const named = all.find((branch) => branch.key === key && branch.row.context === state.context) ?? all.find((branch) => branch.row.context === state.context);
  const selected = key.endsWith('/more') ? undefined : named;
  const more = (node: Node): void => void load(node.branch, node.branch ? node.branch.children : first);
  const toggle = (node: Node, open: boolean): void => {
    const { branch } = node;
    if (node.isMore) {
      if (open) more(node);
      return;
    }
    if (!branch) return;
    set(new Map([[branch.key, open]]));
    // Nothing of what is below it is there yet.
    if (open && branch.children.length === 0 && missingBelow(branch) > 0) void load(branch, []);
  };
  const choose = (branch: Branch): void => {
    setKey(branch.key);
    if (!tree) return;
    select(tree, branch);
    shownPart.value = branch.skip !== null ? partQuery(state, info, branch.parent, branch.skip) : null;
    go({ context: branch.row.context, name: '' }, 'replace');
  };
  /** Down the most expensive callee while it has at least half of its caller's cost, or (`branching`) while there is only one. */
  const follow = async (branching: boolean): Promise<void> => {
    let branch = selected ?? first[0];
    const opened = new Map<string, boolean>();
    while (branch) {
      const isUnknown = branch.children.length === 0 && missingBelow(branch) > 0;
      const children: readonly Branch[] = isUnknown ? branchesOfPart(await load(branch, []), branch) : branch.children;
      const child = children[0];
      if (!child) break;
      opened.set(branch.key, true);
      const goes = branching ? branch.row.children === 1 : (child.row.inclusive ?? 0) * 2 >= (branch.row.inclusive ?? 0);
      if (!goes) break;
      branch = child;
    }
    set(opened);
    if (branch) choose(branch);
  };
  const expand = (deep: boolean): void => {
    if (!selected && deep) set(new Map(all.map((branch) => [branch.key, true])));
    if (!selected) return;
    if (selected.children.length === 0 && missingBelow(selected) > 0) void load(selected, []);
    set(new Map([selected, ...(deep ? every(selected.children) : selected.children.filter((child) => child.children.length > 0))].map((branch) => [branch.key, true])));
  };
  useKeys([
    { key: 'h', label: 'h', title: 'hot path from here', run: () => void follow(false) },
    { key: '*', label: '*', title: 'expand to the next branching', run: () => void follow(true) },
    { key: 'e', label: 'e', title: 'expand one level', run: () => expand(false) },
    { key: 'E', label: 'Shift+E', title: 'expand the subtree, or everything if nothing is selected', run: () => expand(true) },
    { key: 'i', label: 'i', title: 'top-down or callers', run: () => go({ way: wayOf(state).kind === 'down' ? 'up' : '', context: '', name: '' }) },
    { key: 'f', label: 'f', title: 'callers of the selected function', run: () => selected?.row.kind === 'function' && go({ way: `callers:${selected.row.name}`, context: '', name: '' }) },
  ]);
  useEffect(() => {
    if (tree && selected) select(tree, selected);
  }, [tree, state.context]);
  useEffect(() => {
    shownPart.value = null;
    return () => (shownPart.value = null);
  }, [path(query(state, info))]);
  // A link to a context opens the rows above it.
  useEffect(() => {
    const above = new Map<string, boolean>();
    for (let at = all.find((branch) => branch.row.context === state.context)?.parent ?? null; at !== null; at = at.parent) above.set(at.key, true);
    if (key === '' && above.size > 0) set(above);
  }, [tree]);
  const shown = tree ? visible(tree, first, added, isOpen) : [];
  const enter = (node: Node): void => {
    const { branch } = node;
    if (node.isMore || !branch) more(node);
    else if (branch.row.kind === 'function') go({ way: `focus:${branch.row.name}`, context: '', name: '' });
    else toggle(node, !isOpen(branch));
  };
  return (
    <>
      <div class="toolbar"><Ways state={state} info={info} tree={tree} shown={all.length} /></div>
      {tree === null || answer.error ? <Problem answer={answer} /> : (
        <Grid
          label="Call tree" columns={columnsOf(tree, state, first, isOpen, toggle)} rows={shown} rowKey={(node) => node.key} level={(node) => node.level}
          isOpen={(node) => (node.isMore || !node.hasChildren || !node.branch ? undefined : isOpen(node.branch))} onToggle={toggle} selected={selected?.key ?? key}
          rowClass={(node) => (node.branch?.row.isHot && !node.isMore ? 'hot' : '')} isStale={answer.isLoading} onEnter={enter}
          onSelect={(node) => {
            if (node.isMore || !node.branch) setKey(node.key);
            else choose(node.branch);
          }}
          footer={tree.isTruncated ? <p class="footer"><Link onClick={() => go({ limit: String(tree.rows.length * 4) }, 'replace')}>show more rows</Link></p> : null}
        />
      )}
    </>
  );
}

/** With two stores, their trees as one. */
const isCompared = (state: State): boolean => state.group === 'compare' && otherOf(state) !== null;

function TreeView(props: ViewProps): JSX.Element {
  return isCompared(props.state) ? <CompareTree {...props} /> : <OneTree {...props} />;
}

export const tree: View = {
  key: 'tree', title: 'Tree', fits: () => true, Component: TreeView,
  query: (state, info) => (isCompared(state) ? compareTreeQuery(state, info) : query(state, info)),
  copied: (state, info) => (isCompared(state) ? compareTreeQuery(state, info) : (shownPart.value ?? query(state, info))),
};
