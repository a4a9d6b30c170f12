// SPDX-License-Identifier: BSD-3-Clause
// What a view is. web/README.md says how to add one.
import type { ComponentType } from 'preact';
import type { Option, Query, StoreInfo } from './api';
import type { Info } from './info';
import type { State } from './state';

export interface ViewProps {
  readonly state: State;
  readonly store: StoreInfo;
  readonly info: Info;
}

export interface View {
  /** In the address: v=KEY. */
  readonly key: string;
  /** On the tab. */
  readonly title: string;
  /** Whether there is something to see of this store. */
  readonly fits: (info: Info, storeCount: number) => boolean;
  /** The request behind what the view shows: "copy command" is its command line. NULL if there is none yet. */
  readonly query: (state: State, info: Info) => Query | null;
  /** The command to copy, if it is another one at the moment. */
  readonly copied?: (state: State, info: Info) => Query | null;
  readonly Component: ComponentType<ViewProps>;
}

/** A pattern for --include that finds a text anywhere: patterns are left alone, lower case finds both cases. */
export function includePattern(search: string): string {
  if (/^(module:|file:)/.test(search) || /[*?]/.test(search) || /^\/.+\/$/.test(search)) return search;
  if (search === search.toLowerCase()) return `/(?i)${search.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&')}/`;
  return `*${search}*`;
}

/** Options that apply to every view: metric, profiles, window, search, filters. */
export function sharedOptions(state: State, info: Info, what: { metrics?: 'one' | 'all' | 'none'; search?: boolean; window?: boolean } = {}): Option[] {
  const options: Option[] = [];
  const isRecording = info.kind === 'recording';
  const hasWindow = what.window !== false && (state.from !== '' || state.to !== '');
  if (!isRecording && !hasWindow && what.metrics !== 'none') {
    if (what.metrics === 'all') for (const metric of state.metrics) options.push(['metric', metric]);
    else if (state.metrics[0] !== undefined) options.push(['metric', state.metrics[0]]);
  }
  if (state.profiles !== '') options.push([isRecording ? 'task' : 'profiles', state.profiles]);
  if (hasWindow && state.from !== '') options.push(['from', state.from]);
  if (hasWindow && state.to !== '') options.push(['to', state.to]);
  if (what.search !== false) {
    if (state.search !== '') options.push(['include', includePattern(state.search)]);
    for (const filter of state.filters) {
      const [kind = '', ...rest] = filter.split(':');
      const pattern = rest.join(':');
      if (kind === 'hide' && pattern !== '') options.push(['exclude', pattern]);
      if (kind === 'only' && pattern !== '') options.push(['include', pattern]);
    }
  }
  return options;
}
