// SPDX-License-Identifier: BSD-3-Clause
// The state of the page is its URL: /?s=0&v=tree&m=CPUTIME&...&1. The last part is the version. In a report, which is a file, all this
// is in the fragment.
import { signal } from '@preact/signals';
import { isReport } from './report';

export const VERSION = 1;

export interface State {
  /** s: the store, by its number. */
  store: number;
  /** b: the second store of a comparison. */
  other: number | null;
  /** v: the view, by its key. */
  view: string;
  /** m: metrics; the first one sorts. Empty: the program's default. */
  metrics: readonly string[];
  /** p: profiles, as --profiles (tasks of a recording, as --task). */
  profiles: string;
  /** t: the time window, FROM..TO, as --from and --to. */
  from: string;
  to: string;
  /** d: call depth of the timeline. */
  depth: string;
  /** a: the area that is selected in the timeline, FROM..TO in nanoseconds after the beginning. */
  area: string;
  /** y: lines that are pinned to the top of the timeline, by number; 3- shows the outermost calls only. */
  lines: string;
  /** r: root, a context. */
  root: string;
  /** c: the selected context. */
  context: string;
  /** n: the selected function (or line, loop, ...) by name. */
  name: string;
  /** x: crosshair, LINE@TIME. */
  cross: string;
  /** o: order of rows. */
  order: string;
  /** q: search. */
  search: string;
  /** f: filters, such as hide:libgomp*. */
  filters: readonly string[];
  /** k: colours. */
  colours: string;
  /** g: what rows are grouped by. */
  group: string;
  /** w: which way a tree is read: '' from the roots, 'up' from the leaves, callers:NAME, focus:NAME. */
  way: string;
  /** i: a request, by number. */
  request: string;
  /** z: how many rows, as --limit. */
  limit: string;
  /** j: notes, as notes.tsx writes them. */
  notes: readonly string[];
  /** h: the smallest share of a row in percent, as --min-percent. */
  share: string;
}

export const START: State = {
  store: 0, other: null, view: isReport ? 'report' : 'overview', metrics: [], profiles: '', from: '', to: '', depth: '', area: '', lines: '', root: '', context: '', name: '',
  cross: '', order: '', search: '', filters: [], colours: '', group: '', way: '', request: '', limit: '', notes: [], share: '',
};

type TextField = { [K in keyof State]: State[K] extends string ? K : never }[keyof State];

/** Fields that are plain text, by their letter. */
const TEXTS: Readonly<Record<string, TextField>> = {
  v: 'view', p: 'profiles', d: 'depth', a: 'area', y: 'lines', r: 'root', c: 'context', n: 'name', x: 'cross', o: 'order', q: 'search', k: 'colours',
  g: 'group', w: 'way', i: 'request', z: 'limit', h: 'share',
};
const LONGEST = 4096;

function number(text: string): number | null {
  return /^\d{1,6}$/.test(text) ? Number(text) : null;
}

/** Later versions change old addresses here, step by step. */
function upgrade(parts: URLSearchParams, version: number): URLSearchParams {
  return version === VERSION ? parts : new URLSearchParams(parts);
}

/** What an address means; what cannot be understood is dropped, and said. */
export function parse(query: string): { state: State; notices: string[] } {
  const notices: string[] = [];
  const raw = query.replace(/^\?/, '');
  const versions = raw.split('&').filter((part) => /^\d+$/.test(part));
  const version = Number(versions[versions.length - 1] ?? VERSION);
  if (version > VERSION) notices.push(`This link is of a later version of Lode (${String(version)}).`);
  const parts = upgrade(new URLSearchParams(raw.split('&').filter((part) => !/^\d+$/.test(part)).join('&')), version);
  const state = { ...START };
  for (const [key, value] of parts) {
    const field = TEXTS[key];
    if (value.length > LONGEST) notices.push(`"${key}" is too long and was left out.`);
    else if (field) state[field] = value;
    else if (key === 's' || key === 'b') {
      const parsed = number(value);
      if (parsed === null) notices.push(`"${key}" is no number of a store and was left out.`);
      else if (key === 's') state.store = parsed;
      else state.other = parsed;
    } else if (key === 'm') state.metrics = [...state.metrics, value];
    else if (key === 'f') state.filters = [...state.filters, value];
    else if (key === 'j') state.notes = [...state.notes, value];
    else if (key === 't') {
      const [from = '', to = ''] = value.split('..');
      state.from = from;
      state.to = to;
    } else notices.push(`"${key.slice(0, 40)}" is unknown and was left out.`);
  }
  return { state, notices };
}

export function format(state: State): string {
  const parts = new URLSearchParams();
  if (state.store !== START.store) parts.append('s', String(state.store));
  if (state.other !== null) parts.append('b', String(state.other));
  for (const [key, field] of Object.entries(TEXTS)) if (state[field] !== START[field]) parts.append(key, state[field]);
  for (const metric of state.metrics) parts.append('m', metric);
  for (const note of state.notes) parts.append('j', note);
  if (state.from !== '' || state.to !== '') parts.append('t', `${state.from}..${state.to}`);
  for (const filter of state.filters) parts.append('f', filter);
  const text = parts.toString();
  return `?${text}${text === '' ? '' : '&'}${String(VERSION)}`;
}

export const state = signal<State>(START);
/** One line at the bottom of the page, also for screen readers. */
export const notice = signal<string>('');

/** Where the page is in this state, relative to where it is. */
export function addressOf(wanted: State): string {
  return isReport ? `#${format(wanted)}` : format(wanted);
}

/** A change of place makes an entry of the history; a movement replaces the present one. */
export function go(change: Partial<State>, how: 'push' | 'replace' = 'push'): void {
  const next = { ...state.value, ...change };
  const address = addressOf(next);
  if (address === addressOf(state.value)) return;
  state.value = next;
  if (how === 'push') history.pushState(null, '', address);
  else history.replaceState(null, '', address);
}

export function startState(): void {
  const read = (): void => {
    const { state: parsed, notices } = parse(isReport ? location.hash.slice(1) : location.search);
    state.value = parsed;
    if (notices.length > 0) notice.value = notices.join(' ');
  };
  read();
  addEventListener('popstate', read);
}
