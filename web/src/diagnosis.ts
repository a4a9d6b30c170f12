// SPDX-License-Identifier: BSD-3-Clause
// What `lode diagnose` says, and what of it is shown: what the program prints without --all (src/cli/commands/diagnose/print.c).
import { fixed, percent, shellWord } from './format';
import type { State } from './state';

export interface Evidence {
  readonly text: string;
  /** The words of a command that shows more. */
  readonly command: readonly string[] | null;
}

export interface Statement {
  readonly id: string;
  readonly confidence: string;
  /** Of the run time; null: not known. */
  readonly gain_percent: number | null;
  /** Whether the gain is a bound. */
  readonly is_bound: boolean;
  readonly text: string;
  readonly advice: string | null;
  readonly function: string | null;
  /** Times in the clock of the store; null: the whole run. */
  readonly from_ns: string | null;
  readonly to_ns: string | null;
  readonly evidence: readonly Evidence[];
}

export interface Efficiency {
  readonly parallel: number;
  readonly load_balance: number;
  readonly communication: number;
  /** Null unless processes have threads; so are the following. */
  readonly process: number | null;
  readonly serial: number | null;
  readonly openmp: number | null;
  readonly rank_balance: number | null;
}

export interface Diagnosis {
  readonly run: { readonly metric: string | null; readonly can_judge: boolean; readonly requests: number };
  readonly efficiency: Efficiency | null;
  readonly quality: readonly { readonly id: string; readonly text: string }[];
  readonly statements: readonly Statement[];
  readonly activities: readonly { readonly activity: string; readonly time: number }[];
}

const MOST = 5;
const LEAST_PERCENT = 5;

/** Statements that are shown, how many are not, and the function with most work. */
export function choose(diagnosis: Diagnosis): { shown: Statement[]; hidden: number; hot: Statement | null; verdict: string } {
  const hot = diagnosis.statements.find((statement) => statement.id === 'hot-spot') ?? null;
  const others = diagnosis.statements.filter((statement) => statement.id !== 'hot-spot');
  const large = others.filter((statement) => statement.confidence !== 'weak' && (statement.gain_percent === null || statement.gain_percent >= LEAST_PERCENT));
  const shown = large.slice(0, MOST);
  const verdict = others.length > 0 ? '' : diagnosis.run.can_judge ? 'Nothing stands out.' : 'The data do not allow a statement.';
  return { shown, hidden: others.length - shown.length, hot, verdict };
}

/** "at most 22% of the run, likely", or "accounts for" */
export function gainOf(statement: Statement, run: Diagnosis['run']): string {
  if (statement.gain_percent === null) return statement.confidence;
  return `${statement.is_bound ? 'at most' : 'accounts for'} ${fixed(statement.gain_percent, 0)}% of the ${run.requests > 0 ? 'time of all requests' : 'run'}, ${statement.confidence}`;
}

export interface Part {
  readonly name: string;
  readonly percent: string;
  readonly meaning: string;
}

/** Parts that add up to the run time. */
export function partsOf({ efficiency: e, activities }: Diagnosis): Part[] {
  if (e === null) return [];
  const part = (name: string, share: number, meaning: string): Part => ({ name, percent: percent(100 * Math.max(0, share)), meaning });
  const useful = part('useful work', e.parallel, `parallel efficiency ${fixed(e.parallel, 2)}`);
  if (e.process === null || e.serial === null || e.openmp === null) {
    return [useful, part('unequal work', e.communication - e.parallel, `load balance ${fixed(e.load_balance, 2)}`), part('waiting', 1 - e.communication, 'communication, locks, off-CPU')];
  }
  const hasMpi = activities.some((row) => row.activity === 'mpi' && row.time > 0);
  return [
    useful,
    part(hasMpi ? 'MPI and off-CPU' : 'off-CPU', 1 - e.process, `load balance of processes ${fixed(e.rank_balance ?? 0, 2)}`),
    part('serial parts', 1 - e.serial, 'other threads wait for the first'),
    part('OpenMP regions', 1 - e.openmp, 'unequal parts, runtime'),
  ];
}

/** A command of evidence for a POSIX shell; '' if there is none. */
export function commandOf(evidence: Evidence): string {
  return (evidence.command ?? []).map(shellWord).join(' ');
}

const VIEWS: Readonly<Record<string, string>> = { profiles: 'profiles', search: 'requests', top: 'top', trace: 'time', tree: 'tree' };

/** The view that shows what a command of evidence prints, as a change of the state; null if there is none. */
export function placeOf(evidence: Evidence | undefined): Partial<State> | null {
  const [, command = '', ...words] = evidence?.command ?? [];
  const view = VIEWS[command];
  if (view === undefined) return null;
  const valueOf = (name: string): string => words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1) ?? (words.includes(name) ? (words[words.indexOf(name) + 1] ?? '') : '');
  const [attribute, metric, by, callers] = ['--attribute', '--metric', '--by', '--callers'].map(valueOf);
  return {
    view, group: by ?? '', way: callers ? `callers:${callers}` : '',
    ...(attribute ? { filters: [`attribute:${attribute}`] } : {}), ...(metric ? { metrics: metric.split(',') } : {}),
  };
}
