// SPDX-License-Identifier: BSD-3-Clause
// The rows of a tree: those of the first answer, and those that were asked for when a row was opened.
import type { Tree, TreeRow } from './rows';

/** A row, with the rows below it that are known. */
export interface Branch {
  readonly key: string;
  /** Contexts from the root, as --below takes them. */
  readonly path: readonly string[];
  readonly row: TreeRow;
  readonly parent: Branch | null;
  readonly level: number;
  /** Where the part of the rows begins that brought it; NULL: it came with the first answer. */
  readonly skip: number | null;
  readonly children: Branch[];
}

/** What is shown: a branch, or (`isMore`) the line for the rows below one that are not there yet. */
export interface Node {
  readonly key: string;
  /** NULL: what is missing are first rows. */
  readonly branch: Branch | null;
  readonly isMore: boolean;
  readonly level: number;
  readonly hasChildren: boolean;
  /** How many rows are missing; NULL: nobody knows. */
  readonly missing: number | null;
}

/** Rows that were asked for, by the key of the row above them ('' for first rows), and how many there are in all. */
export type Added = ReadonlyMap<string, { readonly parts: readonly Part[]; readonly total: number | null }>;

/** The rows below one row, from a number on. */
export interface Part {
  readonly skip: number;
  readonly rows: readonly TreeRow[];
}

/** Keys are paths of contexts, so that they stay when rows are added. */
function branchOf(row: TreeRow, parent: Branch | null, skip: number | null): Branch {
  const key = `${parent?.key ?? ''}/${row.context}${row.isInlined ? 'i' : ''}`;
  return { key, path: [...(parent?.path ?? []), row.context], row, parent, level: (parent?.level ?? 0) + 1, skip, children: [] };
}

export function branchesOfPart(part: Part, parent: Branch | null): Branch[] {
  return part.rows.map((row) => branchOf(row, parent, part.skip));
}

/** The first rows, with everything below them that is known. */
export function branchesOf(tree: Tree, added: Added): Branch[] {
  const first: Branch[] = [];
  const all: Branch[] = [];
  const put = (branch: Branch): void => {
    (branch.parent?.children ?? first).push(branch);
    all.push(branch);
  };
  tree.rows.forEach((row) => put(branchOf(row, row.parent >= 0 ? (all[row.parent] ?? null) : null, null)));
  const add = (parent: Branch | null): void => {
    const known = new Set((parent?.children ?? first).map((branch) => branch.key));
    for (const branch of (added.get(parent?.key ?? '')?.parts ?? []).flatMap((part) => branchesOfPart(part, parent))) {
      if (!known.has(branch.key)) put(branch);
    }
  };
  add(null);
  // Branches that are added may have some added below them.
  for (let i = 0; i < all.length; i++) add(all[i] ?? null);
  return first;
}

/** How many rows below a branch are not known. */
export function missingBelow(branch: Branch): number {
  return Math.max(0, branch.row.children - branch.children.length);
}

/** Of first rows, only an answer about them says how many there are. */
function missingFirst(tree: Tree, first: readonly Branch[], added: Added): number | null {
  const total = added.get('')?.total;
  if (total !== undefined && total !== null) return Math.max(0, total - first.length);
  const sum = first.reduce((all, branch) => all + (branch.row.inclusive ?? 0), 0);
  const isAll = tree.total !== null && sum >= tree.total * (1 - 1e-9);
  return (tree.omittedByShare > 0 || tree.isTruncated) && !isAll ? null : 0;
}

/** What is on the screen, in order: without what is below closed rows. */
export function visible(tree: Tree, first: readonly Branch[], added: Added, isOpen: (branch: Branch) => boolean): Node[] {
  const shown: Node[] = [];
  const more = (branch: Branch | null, missing: number | null): void => {
    if (missing !== 0) shown.push({ key: `${branch?.key ?? ''}/more`, branch, isMore: true, level: (branch?.level ?? 0) + 1, hasChildren: false, missing });
  };
  const show = (branch: Branch): void => {
    const hasChildren = branch.children.length > 0 || branch.row.children > 0;
    shown.push({ key: branch.key, branch, isMore: false, level: branch.level, hasChildren, missing: 0 });
    if (!hasChildren || !isOpen(branch)) return;
    branch.children.forEach(show);
    more(branch, missingBelow(branch));
  };
  first.forEach(show);
  more(null, missingFirst(tree, first, added));
  return shown;
}

/** Every branch, those above before those below. */
export function every(first: readonly Branch[]): Branch[] {
  const all = [...first];
  for (let i = 0; i < all.length; i++) all.push(...(all[i]?.children ?? []));
  return all;
}

/** How many rows to skip for those that are missing: siblings stand in the order of cost, so that those that are known are the first. */
export function skipFor(known: readonly Branch[]): number {
  return known.some((branch) => (branch.row.inclusive ?? 0) < 0) ? known.filter((branch) => branch.skip !== null).length : known.length;
}
