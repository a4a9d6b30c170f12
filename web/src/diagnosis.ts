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
  /** What it is about; null: not known, or several. */
  readonly context: number | null;
  readonly rank: number | null;
  readonly thread: number | null;
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

interface Loss {
  readonly name: string;
  readonly share: number;
  readonly meaning: string;
}

/** A loss below zero is none; the others shrink, so that all parts still add up. */
function settled(losses: readonly Loss[]): Part[] {
  const all = losses.reduce((sum, { share }) => sum + share, 0);
  const positive = losses.reduce((sum, { share }) => sum + Math.max(0, share), 0);
  return losses.map(({ name, share, meaning }) => ({ name, percent: percent(all > 0 && share > 0 ? 100 * share * (all / positive) : 0), meaning }));
}

/** Parts that add up to the run time. */
export function partsOf({ efficiency: e, activities }: Diagnosis): Part[] {
  if (e === null) return [];
  const loss = (name: string, share: number, meaning: string): Loss => ({ name, share, meaning });
  const useful = { name: 'useful work', percent: percent(100 * e.parallel), meaning: `parallel efficiency ${fixed(e.parallel, 2)}` };
  if (e.process === null || e.serial === null || e.openmp === null) {
    return [useful, ...settled([loss('unequal work', e.communication - e.parallel, `load balance ${fixed(e.load_balance, 2)}`), loss('waiting', 1 - e.communication, 'communication, locks, off-CPU')])];
  }
  const hasMpi = activities.some((row) => row.activity === 'mpi' && row.time > 0);
  return [
    useful,
    ...settled([
      loss(hasMpi ? 'MPI and off-CPU' : 'off-CPU', 1 - e.process, `load balance of processes ${fixed(e.rank_balance ?? 0, 2)}`),
      loss('serial parts', 1 - e.serial, 'other threads wait for the first'),
      loss('OpenMP regions', 1 - e.openmp, 'unequal parts, runtime'),
    ]),
  ];
}

/** A command of evidence for a POSIX shell; '' if there is none. */
export function commandOf(evidence: Evidence): string {
  return (evidence.command ?? []).map(shellWord).join(' ');
}

/** Options of commands of evidence that take a value. */
const VALUED: ReadonlySet<string> = new Set(['attribute', 'by', 'callers', 'depth', 'focus', 'from', 'function', 'include', 'limit', 'max-duration', 'method', 'metric', 'min-duration', 'sort', 'to', 'where']);

interface Words {
  readonly command: string;
  readonly all: (name: string) => readonly string[];
  readonly one: (name: string) => string;
  readonly has: (name: string) => boolean;
}

/** A command of evidence, word by word as the program reads it: the first word is the program, the last one the store. */
function wordsOf(evidence: Evidence | undefined): Words {
  const [, command = '', ...words] = evidence?.command?.slice(0, -1) ?? [];
  const found: [name: string, value: string][] = [];
  for (let i = 0; i < words.length; i++) {
    const [, name = '', value] = /^--([^=]+)(?:=([^]*))?$/.exec(words[i] ?? '') ?? [];
    if (name !== '') found.push([name, value ?? (VALUED.has(name) ? (words[++i] ?? '') : '')]);
  }
  const all = (name: string): string[] => found.filter((option) => option[0] === name).map((option) => option[1]);
  return { command, all, one: (name) => all(name)[0] ?? '', has: (name) => all(name).length > 0 };
}

export interface Place {
  readonly title: string;
  readonly to: Partial<State>;
}

/** Filters of the Requests view, by the options that they stand for. */
const FILTERS = [['min-duration', 'min'], ['max-duration', 'max'], ['method', 'method'], ['attribute', 'attribute'], ['where', 'where']] as const;

/** Ranks and threads of a statement, as --profiles. */
function idsOf({ rank, thread }: Statement): string {
  return [...(rank === null ? [] : [`rank=${String(rank)}`]), ...(thread === null ? [] : [`thread=${String(thread)}`])].join(',');
}

function windowOf({ from_ns: from, to_ns: to }: Statement): Partial<State> | null {
  return from === null || to === null ? null : { from: `@${from}`, to: `@${to}` };
}

const requestsAt = (words: Words, window: Partial<State> | null): Place => ({
  title: 'Requests',
  to: {
    view: 'requests', order: words.one('sort') === 'duration' ? '' : words.one('sort'), request: '',
    filters: [...FILTERS.flatMap(([option, filter]) => words.all(option).map((value) => `${filter}:${value}`)), ...(words.has('errors') ? ['errors'] : [])],
    ...(words.has('from') || words.has('to') ? { from: words.one('from'), to: words.one('to') } : window),
  },
});

function treeAt(words: Words): Place {
  const [callers, focus] = [words.one('callers'), words.one('focus')];
  return { title: callers !== '' ? `Callers of ${callers}` : focus !== '' ? `Tree from ${focus}` : 'Tree', to: { view: 'tree', group: '', way: callers !== '' ? `callers:${callers}` : focus !== '' ? `focus:${focus}` : '' } };
}

/** The cost of the function in each profile, which waits nowhere else, with the ones that the statement is about selected. */
function profilesAt(words: Words, statement: Statement): Place {
  const name = words.one('function') || (statement.function ?? '');
  const metric = words.one('metric');
  return { title: name === '' ? 'Profiles' : `${name} in each profile`, to: { view: 'profiles', order: '', way: name === '' ? '' : `function:${name}`, profiles: idsOf(statement), ...(metric === '' ? {} : { metrics: [metric] }) } };
}

/** The page that shows what a line of evidence says; null if none of those that this store has (`has`) does. */
export function placeOfEvidence(evidence: Evidence | undefined, statement: Statement, has: (view: string) => boolean): Place | null {
  const words = wordsOf(evidence);
  const metrics = words.has('metric') ? { metrics: words.one('metric').split(',') } : {};
  switch (words.command) {
    case 'search':
      return has('requests') ? requestsAt(words, windowOf(statement)) : null;
    case 'tree':
      return { title: treeAt(words).title, to: { ...treeAt(words).to, ...metrics } };
    case 'top':
      return { title: 'Functions', to: { view: 'top', group: words.one('by'), filters: words.all('include').map((pattern) => `only:${pattern}`), ...metrics } };
    case 'profiles':
      if (has('profiles')) return profilesAt(words, statement);
      return has('time') ? { title: 'Time', to: { view: 'time', ...windowOf(statement) } } : null;
    case 'trace':
      return has('time') ? { title: 'Time', to: { view: 'time', ...windowOf(statement) } } : null;
    case 'efficiency':
      return { title: 'Kinds of functions', to: { view: 'top', group: 'kind' } };
    default:
      return null;
  }
}

/** The page that proves a statement best: the outlier, its time, its requests, its call path, else what its evidence shows. */
export function placeOf(statement: Statement, has: (view: string) => boolean): Place {
  const none = wordsOf(undefined);
  const window = windowOf(statement);
  if (idsOf(statement) !== '' && has('profiles')) return profilesAt(none, statement);
  if (window !== null && has('time')) return { title: 'When it happens', to: { view: 'time', ...window } };
  const shown = statement.evidence.map((evidence) => placeOfEvidence(evidence, statement, has)).filter((place) => place !== null);
  const asked = shown.find((place) => place.to.view === 'requests');
  if (asked) return asked;
  if (window !== null && has('requests')) return requestsAt(none, window);
  if (statement.context !== null) return { title: 'Its call path', to: { view: 'tree', group: '', way: '', context: String(statement.context) } };
  if (statement.function !== null) return { title: `Callers of ${statement.function}`, to: { view: 'tree', group: '', way: `callers:${statement.function}` } };
  return shown[0] ?? { title: 'Functions', to: { view: 'top' } };
}
