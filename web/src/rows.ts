// SPDX-License-Identifier: BSD-3-Clause
// Rows of `lode top` and `lode tree` in one shape: databases have exclusive and inclusive costs, recordings self and total time.
import { unitOf, type Unit } from './format';

export interface Cost {
  readonly exclusive: number | null;
  readonly exclusivePercent: number | null;
  readonly inclusive: number | null;
  readonly inclusivePercent: number | null;
  /** How far off an estimate may be; NULL of what is exact. */
  readonly exclusiveMargin?: number | null;
  readonly inclusiveMargin?: number | null;
}

export const ELAPSED_HINT = 'How long at least one of the calls was under way; Total adds up calls that run at the same time';

export interface TopRow extends Cost {
  readonly name: string;
  readonly file: string | null;
  readonly line: number | null;
  readonly module: string | null;
  readonly contexts: number | null;
  readonly calls: number | null;
  readonly errors: number | null;
  /** How long at least one call was under way: of requests with concurrent calls. */
  readonly elapsed: number | null;
  readonly mean: number | null;
  readonly p95: number | null;
  readonly max: number | null;
  /** The kind of function, such as 'mpi'; NULL of modules and files. */
  readonly kind: string | null;
  /** Costs of the further metrics. */
  readonly more: readonly Cost[];
}

export interface Top {
  readonly metrics: readonly { name: string; unit: Unit; total: number | null }[];
  readonly rows: readonly TopRow[];
  readonly rowCount: number;
  readonly isTruncated: boolean;
  readonly hidden: number;
  readonly profiles: number;
  readonly isSampled: boolean;
}

type Raw = Record<string, unknown>;

const num = (value: unknown): number | null => (typeof value === 'number' ? value : null);
const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function costOf(row: Raw, suffix: string): Cost {
  return {
    exclusive: num(row[`exclusive${suffix}`]),
    exclusivePercent: num(row[`exclusive_percent${suffix}`]),
    inclusive: num(row[`inclusive${suffix}`]),
    inclusivePercent: num(row[`inclusive_percent${suffix}`]),
  };
}

function timeOf(row: Raw, total: number): Cost {
  const inclusive = num(row['total_ns']);
  return {
    exclusive: num(row['self_ns']),
    exclusivePercent: num(row['self_percent']),
    inclusive,
    inclusivePercent: num(row['total_percent']) ?? (inclusive !== null && total > 0 ? (100 * inclusive) / total : null),
    exclusiveMargin: num(row['self_margin_ns']),
    inclusiveMargin: num(row['total_margin_ns']),
  };
}

export function readTop(answer: unknown): Top {
  const raw = answer as Raw;
  const isRecording = raw['recording'] !== undefined;
  const several = Array.isArray(raw['metrics']) ? (raw['metrics'] as Raw[]) : null;
  const total = num(isRecording ? raw['total_ns'] : raw['total']);
  const metrics = several
    ? several.map((metric) => ({ name: text(metric['name']) ?? '', unit: unitOf(text(metric['name']) ?? ''), total: num(metric['total']) }))
    : [{ name: isRecording ? 'time' : (text(raw['metric']) ?? ''), unit: isRecording ? ('nanoseconds' as const) : unitOf(text(raw['metric']) ?? ''), total }];
  const rows = (raw['rows'] as Raw[]).map((row) => ({
    ...(isRecording ? timeOf(row, total ?? 0) : costOf(row, several ? '_1' : '')),
    name: text(row['name']) ?? '',
    file: text(row['file']),
    line: num(row['line']),
    module: text(row['module']),
    contexts: num(row['contexts']),
    calls: num(row['calls']),
    errors: num(row['errors']),
    elapsed: num(row['elapsed_ns']),
    mean: num(row['mean_ns']),
    p95: num(row['p95_ns']),
    max: num(row['max_ns']),
    kind: text(row['kind']),
    more: several ? several.slice(1).map((_, index) => costOf(row, `_${String(index + 2)}`)) : [],
  }));
  return {
    metrics, rows,
    rowCount: num(raw['row_count']) ?? rows.length,
    isTruncated: raw['is_truncated'] === true,
    hidden: num(raw['hidden_count']) ?? 0,
    profiles: num(raw['profiles']) ?? num(raw['task_count']) ?? 0,
    isSampled: raw['is_sampled'] === true,
  };
}

export interface TreeRow extends Cost {
  readonly name: string;
  readonly kind: string;
  readonly isInlined: boolean;
  readonly depth: number;
  readonly isHot: boolean;
  readonly isFolded: boolean;
  readonly context: string;
  readonly contexts: number;
  readonly calls: number | null;
  readonly elapsed: number | null;
  readonly callFile: string | null;
  readonly callLine: number | null;
  /** The index of the parent row; -1 for none. */
  readonly parent: number;
  /** Rows directly below it, with those that the answer leaves out. */
  readonly children: number;
  /** Costs of the further metrics. */
  readonly more: readonly Cost[];
}

export interface Tree {
  readonly metric: string;
  readonly unit: Unit;
  readonly total: number | null;
  readonly isRecording: boolean;
  /** Further metrics. */
  readonly more: readonly { name: string; unit: Unit }[];
  readonly rows: readonly TreeRow[];
  /** NULL if it was not counted to the end. */
  readonly rowCount: number | null;
  readonly isTruncated: boolean;
  readonly omittedByShare: number;
  readonly minPercent: number;
}

export function readTree(answer: unknown): Tree {
  const raw = answer as Raw;
  const isRecording = raw['recording'] !== undefined;
  const metric = isRecording ? 'time' : (text(raw['metric']) ?? '');
  const total = num(isRecording ? raw['total_ns'] : raw['total']);
  const more = (Array.isArray(raw['metrics']) ? (raw['metrics'] as Raw[]) : []).slice(1).map((other) => ({ name: text(other['name']) ?? '', unit: unitOf(text(other['name']) ?? '') }));
  return {
    metric,
    unit: isRecording ? 'nanoseconds' : unitOf(metric),
    total,
    isRecording,
    more,
    rows: (raw['rows'] as Raw[]).map((row) => ({
      ...(isRecording ? timeOf(row, total ?? 0) : costOf(row, '')),
      name: text(row['name']) ?? '',
      kind: text(row['kind']) ?? '',
      isInlined: row['relation'] === 'inlined_call',
      depth: num(row['depth']) ?? 0,
      isHot: row['hot'] === true,
      isFolded: row['folded'] === true,
      context: String(num(row['context']) ?? ''),
      contexts: num(row['contexts']) ?? 0,
      calls: num(row['calls']),
      elapsed: num(row['elapsed_ns']),
      callFile: text(row['call_file']),
      callLine: num(row['call_line']),
      parent: num(row['parent_row']) ?? -1,
      children: num(row['children']) ?? 0,
      more: more.map((_, index) => costOf(row, `_${String(index + 2)}`)),
    })),
    rowCount: num(raw['row_count']),
    isTruncated: raw['is_truncated'] === true,
    omittedByShare: num(raw['omitted_by_share']) ?? 0,
    minPercent: num(raw['min_percent']) ?? 0,
  };
}
