// SPDX-License-Identifier: BSD-3-Clause
// Tree: `lode tree`, from the entry points down, or from functions to their callers.
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useAnswer, type Option, type Query } from '../api';
import { amount, baseName, clean, count, percent } from '../format';
import { Grid, type Column } from '../grid';
import type { Info } from '../info';
import { useKeys } from '../keys';
import { Link, Name, Problem } from '../parts';
import { readTree, type Tree, type TreeRow } from '../rows';
import { selection } from '../selection';
import { go, type State } from '../state';
import { sharedOptions, type View, type ViewProps } from '../view';

const LIMIT = 1000;
const SHARES = ['5', '1', '0.1', '0.01', '0'] as const;

function wayOf(state: State): { kind: 'down' | 'up' | 'callers' | 'focus'; name: string } {
  const match = /^(callers|focus):([^]+)$/.exec(state.way);
  if (match?.[2] !== undefined) return { kind: match[1] === 'callers' ? 'callers' : 'focus', name: match[2] };
  return { kind: state.way === 'up' ? 'up' : 'down', name: '' };
}

function query(state: State, info: Info): Query {
  const options: Option[] = sharedOptions(state, info);
  const way = wayOf(state);
  if (way.kind === 'up') options.push(['bottom-up', '']);
  if (way.kind === 'callers' || way.kind === 'focus') options.push([way.kind, way.name]);
  options.push(['min-percent', state.share === '' ? '1' : state.share], ['limit', state.limit === '' ? String(LIMIT) : state.limit]);
  return { command: 'tree', store: state.store, options };
}

/** A row of the answer, or the row that stands for what was left out below one. */
interface Node {
  readonly key: string;
  readonly index: number;
  readonly row: TreeRow;
  readonly isMore: boolean;
  readonly level: number;
  readonly hasChildren: boolean;
}

/** Keys are paths of contexts, so that they stay when rows are added. */
export function nodesOf(tree: Tree): Node[] {
  const nodes: Node[] = [];
  const keys: string[] = [];
  const parents = new Set(tree.rows.map((row) => row.parent));
  const closing: { row: TreeRow; index: number }[] = [];
  const close = (depth: number): void => {
    while (closing.length > 0 && (closing[closing.length - 1]?.row.depth ?? 0) >= depth) {
      const last = closing.pop();
      if (last?.row.isFolded) {
        nodes.push({ key: `${keys[last.index] ?? ''}/more`, index: last.index, row: last.row, isMore: true, level: last.row.depth + 2, hasChildren: false });
      }
    }
  };
  tree.rows.forEach((row, index) => {
    close(row.depth);
    const key = `${row.parent >= 0 ? (keys[row.parent] ?? '') : ''}/${row.context}${row.isInlined ? 'i' : ''}`;
    keys[index] = key;
    nodes.push({ key, index, row, isMore: false, level: row.depth + 1, hasChildren: parents.has(index) || row.isFolded });
    closing.push({ row, index });
  });
  close(0);
  return nodes;
}

/** Without what is below closed rows. */
export function visible(nodes: readonly Node[], isOpen: (node: Node) => boolean): Node[] {
  const shown: Node[] = [];
  let closedAt = Infinity;
  for (const node of nodes) {
    if (node.level > closedAt) continue;
    closedAt = Infinity;
    shown.push(node);
    if (!node.isMore && node.hasChildren && !isOpen(node)) closedAt = node.level;
  }
  return shown;
}

function nextShare(state: State): string {
  const at = SHARES.findIndex((share) => share === (state.share === '' ? '1' : state.share));
  return SHARES[Math.min(SHARES.length - 1, at + 1)] ?? '0';
}

function columnsOf(tree: Tree, state: State, isOpen: (node: Node) => boolean, toggle: (node: Node, open: boolean) => void): Column<Node>[] {
  const way = wayOf(state);
  const byCallers = way.kind === 'up' || way.kind === 'callers';
  const [own, all] = tree.isRecording ? ['Self', 'Total'] : ['Excl', 'Incl'];
  const number = (key: string, title: string, width: string, value: (row: TreeRow) => number | null, show: (value: number | null) => string, bar = false): Column<Node> => ({
    key, title, width, isNumber: true,
    cell: (node) => (node.isMore ? '' : show(value(node.row))),
    value: (node) => (node.isMore ? null : value(node.row)),
    ...(bar ? { bar: (node: Node) => (node.isMore ? 0 : (value(node.row) ?? 0)) } : {}),
  });
  const wide = (value: (row: TreeRow) => number | null): string => `calc(${String(tree.rows.reduce((most, row) => Math.max(most, amount(value(row), tree.unit).length), 10))}ch + 14px)`;
  const columns = [
    number('inclusive_percent', `${all} %`, '76px', (row) => row.inclusivePercent, percent, true),
    number('inclusive', tree.isRecording ? 'Total' : 'Inclusive', wide((row) => row.inclusive), (row) => row.inclusive, (value) => amount(value, tree.unit)),
    ...(byCallers ? [] : [
      number('exclusive_percent', `${own} %`, '76px', (row) => row.exclusivePercent, percent, true),
      number('exclusive', tree.isRecording ? 'Self' : 'Exclusive', wide((row) => row.exclusive), (row) => row.exclusive, (value) => amount(value, tree.unit)),
    ]),
    ...(tree.isRecording && !byCallers ? [number('calls', 'Calls', '80px', (row) => row.calls, (value) => count(value ?? 0))] : []),
  ];
  columns.push({
    key: 'name', title: byCallers ? 'Function / callers' : 'Call tree', width: 'minmax(320px, 1fr)', value: (node) => (node.isMore ? null : node.row.name),
    cell: (node) => {
      const open = isOpen(node);
      return (
        <span class="branch" style={{ paddingLeft: `${String((node.level - 1) * 14)}px` }}>
          <span class={`twig ${node.hasChildren && !node.isMore ? (open ? 'open' : 'closed') : ''}`} aria-hidden="true" onClick={(event) => {
            if (!node.hasChildren || node.isMore) return;
            event.stopPropagation();
            toggle(node, !open);
          }} />
          {node.isMore ? <span class="quiet">more below {String(tree.minPercent)}%</span> : <Name name={node.row.name} suffix={node.row.isInlined ? '[inlined]' : ''} />}
        </span>
      );
    },
  });
  if (!byCallers && tree.rows.some((row) => row.callLine !== null)) {
    columns.push({ key: 'site', title: 'Called at', width: 'minmax(90px, 170px)', cell: (node) => (node.isMore || node.row.callLine === null ? '' : <span class="quiet" title={clean(node.row.callFile)}>{baseName(node.row.callFile)}:{node.row.callLine}</span>) });
  }
  return columns;
}

function select(tree: Tree, node: Node): void {
  const path: { name: string; context: string }[] = [];
  for (let at = node.index; at >= 0; at = tree.rows[at]?.parent ?? -1) {
    const row = tree.rows[at];
    if (row) path.unshift({ name: row.name, context: row.context });
  }
  const row = node.row;
  const isFunction = row.kind === 'function';
  selection.value = {
    title: row.name, kind: row.kind, path, context: tree.isRecording ? '' : row.context, name: isFunction ? row.name : '',
    source: row.callFile !== null && row.callLine !== null ? `${row.callFile}:${String(row.callLine)}` : '',
    facts: [
      ['inclusive', `${amount(row.inclusive, tree.unit)}, ${percent(row.inclusivePercent)}%`],
      ['exclusive', `${amount(row.exclusive, tree.unit)}, ${percent(row.exclusivePercent)}%`],
      ...(row.callLine !== null ? [['called at', `${clean(row.callFile)}:${String(row.callLine)}`] as const] : []),
      ...(row.calls !== null ? [['calls', count(row.calls)] as const] : []),
      ...(row.contexts > 1 ? [['contexts', count(row.contexts)] as const] : []),
    ],
  };
}

/** Rows that are open: those on the hot path at first, and what was opened by hand. */
function useOpen(tree: Tree | null, way: string): { isOpen: (node: Node) => boolean; set: (changes: ReadonlyMap<string, boolean>) => void } {
  const [changed, setChanged] = useState<ReadonlyMap<string, boolean>>(new Map());
  useEffect(() => setChanged(new Map()), [way]);
  const isFlat = tree !== null && tree.rows.length > 0 && tree.rows.length <= 12;
  return {
    isOpen: (node) => changed.get(node.key) ?? (node.row.isHot || isFlat),
    set: (changes) => setChanged(new Map([...changed, ...changes])),
  };
}

function childrenOf(nodes: readonly Node[], at: number): Node[] {
  const node = nodes[at];
  const list: Node[] = [];
  if (!node) return list;
  for (let i = at + 1; i < nodes.length; i++) {
    const below = nodes[i];
    if (!below || below.level <= node.level) break;
    if (below.level === node.level + 1 && !below.isMore) list.push(below);
  }
  return list;
}

/** Opens down the most expensive callee while it has at least half of its caller's cost, or (`branching`) while there is only one. */
function openPath(nodes: readonly Node[], start: Node, branching: boolean): { opened: Map<string, boolean>; end: Node } {
  const opened = new Map<string, boolean>();
  let node = start;
  for (;;) {
    const children = childrenOf(nodes, nodes.indexOf(node));
    const first = children[0];
    if (!first) return { opened, end: node };
    opened.set(node.key, true);
    const goes = branching ? children.length === 1 : (first.row.inclusive ?? 0) * 2 >= (node.row.inclusive ?? 0);
    if (!goes) return { opened, end: node };
    node = first;
  }
}

function Ways({ state, tree }: { state: State; tree: Tree | null }): JSX.Element {
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
      <span class="space" />
      {tree ? (
        <span class="quiet">
          {tree.total !== null ? `${amount(tree.total, tree.unit)} ${tree.metric === 'time' ? '' : clean(tree.metric)} · ` : ''}
          {tree.isTruncated ? `first ${count(tree.rows.length)} rows` : `${count(tree.rows.length)} rows`}
          {tree.omittedByShare > 0 ? `, ${count(tree.omittedByShare)} smaller` : ''}
        </span>
      ) : null}
    </>
  );
}

function TreeView({ state, info }: ViewProps): JSX.Element {
  const answer = useAnswer<unknown>(query(state, info));
  const tree = useMemo(() => (answer.data === null ? null : readTree(answer.data)), [answer.data]);
  const nodes = useMemo(() => (tree ? nodesOf(tree) : []), [tree]);
  const { isOpen, set } = useOpen(tree, state.way);
  const [key, setKey] = useState('');
  const selected = nodes.find((node) => node.key === key && (node.isMore || node.row.context === state.context)) ?? nodes.find((node) => !node.isMore && node.row.context === state.context);
  const toggle = (node: Node, open: boolean): void => set(new Map([[node.key, open]]));
  const choose = (node: Node): void => {
    setKey(node.key);
    if (tree && !node.isMore) {
      select(tree, node);
      go({ context: node.row.context, name: '' }, 'replace');
    }
  };
  const follow = (branching: boolean): void => {
    const start = selected && !selected.isMore ? selected : nodes[0];
    if (!start) return;
    const { opened, end } = openPath(nodes, start, branching);
    set(opened);
    choose(end);
  };
  const expand = (deep: boolean): void => {
    if (!selected && deep) set(new Map(nodes.map((node) => [node.key, true])));
    if (!selected || selected.isMore) return;
    const at = nodes.indexOf(selected);
    const below = deep ? nodes.slice(at + 1).slice(0, nodes.slice(at + 1).findIndex((node) => node.level <= selected.level) >>> 0) : childrenOf(nodes, at);
    set(new Map([selected, ...below].map((node) => [node.key, true])));
  };
  useKeys([
    { key: 'h', label: 'h', title: 'hot path from here', run: () => follow(false) },
    { key: '*', label: '*', title: 'expand to the next branching', run: () => follow(true) },
    { key: 'e', label: 'e', title: 'expand one level', run: () => expand(false) },
    { key: 'E', label: 'Shift+E', title: 'expand the subtree, or everything if nothing is selected', run: () => expand(true) },
    { key: 'i', label: 'i', title: 'top-down or callers', run: () => go({ way: wayOf(state).kind === 'down' ? 'up' : '', context: '', name: '' }) },
    { key: 'f', label: 'f', title: 'callers of the selected function', run: () => selected?.row.kind === 'function' && go({ way: `callers:${selected.row.name}`, context: '', name: '' }) },
  ]);
  useEffect(() => {
    if (tree && selected && !selected.isMore) select(tree, selected);
  }, [tree, state.context]);
  // A link to a context opens the rows above it.
  useEffect(() => {
    const above = new Map<string, boolean>();
    const start = nodes.find((node) => !node.isMore && node.row.context === state.context);
    for (let at = start?.row.parent ?? -1; at >= 0; at = tree?.rows[at]?.parent ?? -1) {
      const node = nodes.find((candidate) => candidate.index === at && !candidate.isMore);
      if (node) above.set(node.key, true);
    }
    if (key === '' && above.size > 0) set(above);
  }, [nodes]);
  const shown = visible(nodes, isOpen);
  return (
    <>
      <div class="toolbar"><Ways state={state} tree={tree} /></div>
      {tree === null || answer.error ? <Problem answer={answer} /> : (
        <Grid
          label="Call tree" columns={columnsOf(tree, state, isOpen, toggle)} rows={shown} rowKey={(node) => node.key} level={(node) => node.level}
          isOpen={(node) => (node.isMore || !node.hasChildren ? undefined : isOpen(node))} onToggle={toggle} selected={selected?.key ?? key}
          rowClass={(node) => (node.row.isHot && !node.isMore ? 'hot' : '')} onSelect={choose} isStale={answer.isLoading}
          onEnter={(node) => (node.isMore ? go({ share: nextShare(state) }) : node.row.kind === 'function' ? go({ way: `focus:${node.row.name}`, context: '', name: '' }) : toggle(node, !isOpen(node)))}
          footer={tree.isTruncated ? <p class="footer"><Link onClick={() => go({ limit: String(tree.rows.length * 4) }, 'replace')}>show more rows</Link></p> : null}
        />
      )}
    </>
  );
}

export const tree: View = { key: 'tree', title: 'Tree', fits: () => true, query, Component: TreeView };
