// SPDX-License-Identifier: BSD-3-Clause
// Requests. A request is a command: /api/1/COMMAND/STORE?option=value answers what
// `lode COMMAND STORE --option value --json` prints.
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { shellWord } from './format';
import { answerInside, isLeftOut, isReport } from './report';

/** A flag has the value ''. */
export type Option = readonly [name: string, value: string];

export interface Query {
  readonly command: string;
  readonly store: number;
  /** The second store of `lode compare`. */
  readonly other?: number | undefined;
  readonly options: readonly Option[];
  /** Of `lode runs`, instead of a store. */
  readonly action?: 'list' | 'trend' | undefined;
  /** What follows the store: a context, the location of `lode source`, the text of `lode search`. */
  readonly operand?: string | undefined;
}

export interface StoreInfo {
  readonly number: number;
  readonly name: string;
  readonly path: string;
  readonly state: 'opening' | 'ready' | 'failed';
  readonly kind: 'database' | 'recording';
  readonly opened_percent?: number;
  readonly problem?: string;
  readonly default_metric?: string | null;
  /** How the server checked it when it was opened: what is large, quickly. */
  readonly checked?: 'quick' | 'structure' | 'full';
}

export interface Session {
  readonly version: string;
  readonly stores: readonly StoreInfo[];
  /** The catalogue of runs that the server was given, and its project. */
  readonly catalogue?: string | null;
  readonly project?: string | null;
  /** The file of rules for kinds of functions that the server was given. */
  readonly kinds?: string | null;
  /** Requests that are being computed. */
  readonly work?: readonly { readonly target: string; readonly done_percent: number }[];
}

/** What the server says instead of an answer. */
export class ApiError extends Error {
  /** `command`: what shows the answer where the data are. */
  constructor(message: string, readonly status: number, readonly command = '') {
    super(message);
  }
}

const TOKEN = 'lode.token';
const API = 'api/1/';

/** The token comes in the fragment, which is taken out of the address at once. */
export function takeToken(): void {
  if (isReport) return;
  const match = /(?:^#|&)token=([^&]*)/.exec(location.hash);
  if (!match?.[1]) return;
  localStorage.setItem(TOKEN, match[1]);
  history.replaceState(null, '', location.pathname + location.search);
}

/** What the server calls the operand of a command. */
const OPERANDS: Readonly<Record<string, string>> = { context: 'context', runs: 'function', search: 'text', source: 'location' };

export function path(query: Query): string {
  const parts = new URLSearchParams();
  if (query.operand !== undefined) parts.append(OPERANDS[query.command] ?? 'operand', query.operand);
  for (const [name, value] of query.options) parts.append(name, value);
  const text = parts.toString();
  const stores = query.action ?? (query.other === undefined ? String(query.store) : `${String(query.store)}/${String(query.other)}`);
  return `${API}${query.command}/${stores}${text === '' ? '' : `?${text}`}`;
}

/** Commands whose answers depend on rules for kinds. */
const WITH_KINDS: ReadonlySet<string> = new Set(['diagnose', 'flame', 'top', 'trace']);

/** The command that prints the same numbers. */
export function commandLine(query: Query, session: Session): string {
  const place = (number: number): string => {
    const store = session.stores.find((candidate) => candidate.number === number);
    return shellWord(store?.path ?? store?.name ?? `STORE${String(number)}`);
  };
  const operands = [query.action ?? place(query.store)];
  if (query.other !== undefined) operands.push(place(query.other));
  if (query.operand !== undefined) operands.push(shellWord(query.operand));
  const options = query.options.map(([name, value]) => (value === '' ? `--${name}` : value.startsWith('-') ? `--${name}=${shellWord(value)}` : `--${name} ${shellWord(value)}`));
  if (query.action && session.catalogue) options.push(`--catalogue ${shellWord(session.catalogue)}`);
  if (query.action && session.project) options.push(`--project ${shellWord(session.project)}`);
  // Without it, it writes a picture to a file.
  if (query.command === 'flame') options.push('--json');
  if (session.kinds && WITH_KINDS.has(query.command)) options.push(`--kinds ${shellWord(session.kinds)}`);
  // What looks like an option is none after "--".
  const isPlain = operands.every((operand) => !/^'?-/.test(operand));
  return ['lode', query.command, ...(isPlain ? [...operands, ...options] : [...options, '--', ...operands])].join(' ');
}

const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function get(address: string, abort: AbortSignal | null, body: string | null = null): Promise<Response> {
  for (;;) {
    const response = await fetch(address, {
      headers: { Authorization: `Bearer ${localStorage.getItem(TOKEN) ?? ''}` },
      signal: abort,
      ...(body === null ? {} : { method: 'POST', body }),
    });
    // The store is being opened.
    if (response.status === 503 && response.headers.has('Retry-After')) {
      await wait(250);
      if (abort?.aborted) throw new DOMException('aborted', 'AbortError');
      continue;
    }
    if (response.ok) return response;
    let message = response.statusText || `HTTP status ${String(response.status)}`;
    try {
      const body = (await response.json()) as { message?: unknown };
      if (typeof body.message === 'string') message = body.message;
    } catch {
      // The status says it.
    }
    throw new ApiError(message, response.status);
  }
}

/** What the report has instead of a server: an answer, the message that was one, or the command that gives one. */
function inside(query: Query): unknown {
  const target = path(query).slice(API.length);
  const found = answerInside(target);
  if (found?.status === 200) return found.body;
  const body = found?.body as { message?: string } | null | undefined;
  if (found) throw new ApiError(body?.message ?? `status ${String(found.status)}`, found.status);
  const why = isLeftOut(target) ? 'The report has no room for this (lode report --max-size).' : 'The report does not have this.';
  throw new ApiError(`${why} Where the data are, this command shows it:`, 404, session.value ? commandLine(query, session.value) : '');
}

/** Lets the server open the store of a run; its number. */
export async function openRun(run: number, path: string): Promise<number> {
  busy.value++;
  try {
    const found = (await (await get(`${API}open?run=${String(run)}`, null, '')).json()) as Session;
    session.value = found;
    const store = found.stores.find((candidate) => candidate.path === path);
    if (!store) throw new ApiError(`Run ${String(run)} was opened at another place.`, 0);
    return store.number;
  } finally {
    busy.value--;
  }
}

/** The text of the answer to what is sent: never one of the last ones. */
export async function post(target: string, body: string, abort: AbortSignal): Promise<string> {
  busy.value++;
  try {
    return await (await get(API + target, abort, body)).text();
  } finally {
    busy.value--;
  }
}

const KEPT = 64;
const LONGEST = 12000;
const answers = new Map<string, unknown>();

/** Whether the answer is one of the last ones. */
export function isKept(query: Query): boolean {
  return answers.has(path(query));
}

/** The answer, from the last ones if it is there. */
export async function ask(query: Query, abort: AbortSignal | null = null): Promise<unknown> {
  if (isReport) return inside(query);
  const address = path(query);
  // The server takes no longer ones; names of a megabyte come from hostile files only.
  if (address.length > LONGEST) throw new ApiError('The name is too long for a request.', 414);
  // A catalogue grows; the others are of stores that do not change.
  if (query.action) return (await get(address, abort)).json() as Promise<unknown>;
  if (answers.has(address)) {
    const kept = answers.get(address);
    answers.delete(address);
    answers.set(address, kept);
    return kept;
  }
  const answer: unknown = await (await get(address, abort)).json();
  answers.set(address, answer);
  if (answers.size > KEPT) {
    const oldest = answers.keys().next().value;
    if (oldest !== undefined) answers.delete(oldest);
  }
  return answer;
}

/** How many requests are under way: the page shows that it is busy. */
export const busy = signal(0);

/** How far requests are that take longer, in percent, by their address. */
export const work = signal<ReadonlyMap<string, number>>(new Map());
const PATIENCE = 500;
let isWatching = false;

/** Asks for the progress of requests, while there are some that take longer. */
async function watch(): Promise<void> {
  if (isWatching) return;
  isWatching = true;
  await wait(PATIENCE);
  while (busy.value > 0) {
    try {
      const found = (await (await get('api/1/session', null)).json()) as Session;
      work.value = new Map((found.work ?? []).map((item) => [item.target.replace(/^\//, ''), item.done_percent]));
    } catch {
      // The requests themselves say what is wrong.
    }
    await wait(PATIENCE);
  }
  if (work.value.size > 0) work.value = new Map();
  isWatching = false;
}

export interface Answer<T> {
  /** The last answer; while `isLoading`, it may be that of the query before. */
  data: T | null;
  error: ApiError | null;
  isLoading: boolean;
  /** While it is loading: how far the server is, in percent, if it says so. */
  done?: number | undefined;
}

/** As useAnswer, of a report, which has what it has. */
function answerOf<T>(query: Query | null): Answer<T> {
  try {
    return { data: query === null ? null : (inside(query) as T), error: null, isLoading: false };
  } catch (error) {
    return { data: null, error: error instanceof ApiError ? error : new ApiError(String(error), 0), isLoading: false };
  }
}

/** The answer to a query as a hook; a new query aborts the one under way. */
export function useAnswer<T>(query: Query | null): Answer<T> {
  if (isReport) return answerOf<T>(query);
  const address = query ? path(query) : '';
  const kept = answers.get(address) as T | undefined;
  const [result, setResult] = useState<{ address: string; data: T | null; error: ApiError | null }>({ address: '', data: null, error: null });
  useEffect(() => {
    if (!query || answers.has(address)) return undefined;
    const abort = new AbortController();
    busy.value++;
    void watch();
    ask(query, abort.signal)
      .then(
        (data) => {
          // Too late: another question was asked.
          if (!abort.signal.aborted) setResult({ address, data: data as T, error: null });
        },
        (error: unknown) => {
          if (abort.signal.aborted) return;
          const known = error instanceof ApiError ? error : new ApiError('The server does not answer. Is lode view still running?', 0);
          setResult({ address, data: null, error: known });
        },
      )
      .finally(() => busy.value--);
    return () => abort.abort();
    // eslint-disable-next-line
  }, [address]);
  if (!query) return { data: null, error: null, isLoading: false };
  if (kept !== undefined) return { data: kept, error: null, isLoading: false };
  if (result.address === address) return { data: result.data, error: result.error, isLoading: false };
  return { data: result.data, error: null, isLoading: true, done: work.value.get(address) };
}

/** What an estimate read of a recording. */
export interface Estimate {
  readonly bytes: number;
  readonly bytes_read: number;
}

export interface Refined<T> extends Answer<T> {
  /** NULL: the answer is exact, or there is none yet. */
  readonly estimate: Estimate | null;
  /** Why there is nothing better than the estimate. */
  readonly failure: ApiError | null;
}

function estimateOf(data: unknown): Estimate | null {
  return (data as { estimate?: Estimate } | null)?.estimate ?? null;
}

/** As useAnswer, of a question that the server can estimate: the estimate first, and the exact answer when it is there. */
export function useRefined<T>(query: Query | null, canEstimate: boolean): Refined<T> {
  const isAsked = query !== null && canEstimate && !isReport && !isKept(query);
  const first = useAnswer<T>(isAsked ? { ...query, options: [...query.options, ['estimate', '']] } : null);
  const isExact = isAsked && !first.isLoading && first.data !== null && estimateOf(first.data) === null;
  const all = useAnswer<T>(isExact || (isAsked && first.isLoading) ? null : query);
  const estimate = estimateOf(first.data);
  if (isAsked && first.isLoading) return { ...first, estimate, failure: null };
  if (isAsked && (isExact || ((all.isLoading || all.error) && first.data !== null))) return { ...first, done: all.done, estimate, failure: all.error };
  return { ...all, estimate: null, failure: null };
}

export const session = signal<Session | null>(null);
export const sessionError = signal<string>('');

const LOOK_MS = 50;

/** The query, as soon as no other request is under way: it may take a pass over all data. */
export function useLater(query: Query): Query | null {
  const [isDue, setDue] = useState(() => isReport || isKept(query));
  useEffect(() => {
    if (isDue) return undefined;
    const timer = setInterval(() => busy.value === 0 && setDue(true), LOOK_MS);
    return () => clearInterval(timer);
  }, [isDue]);
  return isDue ? query : null;
}

/** Asks for the session until every store is open or has failed. */
export async function startSession(): Promise<void> {
  if (isReport) {
    session.value = answerInside('session')?.body as Session;
    return;
  }
  for (;;) {
    try {
      session.value = (await (await get('api/1/session', null)).json()) as Session;
      sessionError.value = '';
      if (session.value.stores.every((store) => store.state !== 'opening')) return;
      await wait(250);
    } catch (error) {
      if (error instanceof ApiError && error.status === 401)
        sessionError.value = 'This address has no valid token. Open the link that lode view printed.';
      else if (error instanceof ApiError) sessionError.value = error.message;
      else sessionError.value = 'The server does not answer. Is lode view still running?';
      if (error instanceof ApiError) return;
      await wait(1000);
    }
  }
}
