// SPDX-License-Identifier: BSD-3-Clause
// What `lode info` says of a store, in one shape for databases and recordings.
import type { Query } from './api';
import { isReport } from './report';

export interface MetricInfo {
  readonly index: number;
  readonly name: string;
  readonly total: number;
}

export interface Info {
  readonly kind: 'database' | 'recording';
  readonly title: string;
  readonly format: string;
  readonly metrics: readonly MetricInfo[];
  readonly derived: readonly string[];
  /** Kinds of ids with how many there are of each. */
  readonly ids: readonly { kind: string; distinct: number; min: number; max: number }[];
  readonly profiles: number;
  readonly emptyProfiles: number;
  readonly contexts: number;
  readonly traceLines: number;
  readonly samples: number;
  /** Nanoseconds between the first and the last event or sample; 0 without traces. */
  readonly duration: number;
  readonly begin: string;
  /** What is added to times of the store for those since 1970, as `lode search --over` has them. */
  readonly utcOffset: string;
  readonly hasRequests: boolean;
  /** Spans name the services that make requests. */
  readonly hasServices: boolean;
  readonly findings: number;
  readonly sourceFiles: number;
}

interface Raw {
  database?: string;
  recording?: string;
  title?: string | null;
  format: string;
  metrics?: { index: number; name: string; total: number | null }[];
  derived_metrics?: { name: string }[];
  profiles?: { count: number; empty: number; ids?: { kind: string; distinct: number; min: number; max: number }[] };
  contexts?: { count: number };
  copied_source_files?: number;
  traces?: { lines: number; samples: number; begin_ns: string | null; end_ns: string | null } | null;
  begin_ns?: string | null;
  end_ns?: string | null;
  utc_offset_ns?: string | null;
  row_count?: number;
  tasks?: { id: string | null }[];
  findings?: { count?: number }[];
  facts?: { key: string }[];
}

/** A service has millions of requests; one of them says that there are some. */
const TASKS = isReport ? '100' : '1000';

export function infoQuery(store: { readonly number: number; readonly kind: Info['kind'] }): Query {
  return { command: 'info', store: store.number, options: store.kind === 'recording' ? [['limit', TASKS]] : [] };
}

function span(begin: string | null | undefined, end: string | null | undefined): number {
  return begin && end ? Number(BigInt(end) - BigInt(begin)) : 0;
}

export function readInfo(answer: unknown): Info {
  const raw = answer as Raw;
  const isRecording = raw.recording !== undefined;
  return {
    kind: isRecording ? 'recording' : 'database',
    title: raw.title ?? '',
    format: raw.format,
    metrics: (raw.metrics ?? []).map((metric) => ({ index: metric.index, name: metric.name, total: metric.total ?? 0 })),
    derived: (raw.derived_metrics ?? []).map((metric) => metric.name),
    ids: raw.profiles?.ids ?? [],
    profiles: raw.profiles?.count ?? raw.row_count ?? 0,
    emptyProfiles: raw.profiles?.empty ?? 0,
    contexts: raw.contexts?.count ?? 0,
    traceLines: raw.traces?.lines ?? 0,
    samples: raw.traces?.samples ?? 0,
    duration: isRecording ? span(raw.begin_ns, raw.end_ns) : span(raw.traces?.begin_ns, raw.traces?.end_ns),
    begin: (isRecording ? raw.begin_ns : raw.traces?.begin_ns) ?? '',
    utcOffset: raw.utc_offset_ns ?? '0',
    hasRequests: raw.tasks?.some((task) => task.id !== null) ?? false,
    hasServices: raw.facts?.some((fact) => fact.key === 'services') ?? false,
    findings: (raw.findings ?? []).reduce((sum, finding) => sum + (finding.count ?? 1), 0),
    sourceFiles: raw.copied_source_files ?? 0,
  };
}
