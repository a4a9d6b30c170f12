// SPDX-License-Identifier: BSD-3-Clause
// Small parts that several views have.
import type { ComponentChildren, JSX } from 'preact';
import type { Answer } from './api';
import { copy } from './clipboard';
import { clean, tail } from './format';
import type { Info } from './info';
import type { State } from './state';

/** What stands in the place of a view that has no answer: an error with what to do, or that it is being computed. */
export function Problem({ answer }: { answer: Answer<unknown> }): JSX.Element | null {
  if (answer.error?.command) return <p class="elsewhere quiet">{clean(answer.error.message)} <button type="button" class="link command" title="Copy this command" onClick={() => void copy(answer.error?.command ?? '', 'the command')}><code>{clean(answer.error.command)}</code></button></p>;
  if (answer.error) return <p class="problem" role="alert">{clean(answer.error.message)}</p>;
  return answer.data === null ? <p class="quiet pending">computing …{answer.done === undefined ? '' : ` ${String(Math.floor(answer.done))}%`}</p> : null;
}

/** A name from a file: always text, with unsafe characters as escapes. */
export function Name({ name, suffix, isShort }: { name: string; suffix?: string; isShort?: boolean }): JSX.Element {
  const text = clean(name);
  return <span class="name" title={text}>{isShort ? tail(name) : text}{suffix ? <span class="quiet"> {suffix}</span> : null}</span>;
}

export function Section({ title, children, more }: { title: string; children: ComponentChildren; more?: ComponentChildren }): JSX.Element {
  return (
    <section>
      <h2>{title}{more ? <span class="more">{more}</span> : null}</h2>
      {children}
    </section>
  );
}

/** Values have no times: what a view shows of them is about the whole run, whatever the time window. */
export function WholeRun({ state, info }: { state: State; info: Info }): JSX.Element | null {
  if (info.kind === 'recording' || (state.from === '' && state.to === '')) return null;
  return <p class="quiet whole-run">Of the whole run: values of profiles have no times, and the time window does not select any.</p>;
}

/** The search and the filters choose functions, and nothing else. */
export function Unsearched({ state, isSearched }: { state: State; isSearched: boolean }): JSX.Element | null {
  if (isSearched || (state.search === '' && !state.filters.some((filter) => /^(hide|only):/.test(filter)))) return null;
  return <span class="quiet hides" role="status">The search and the filters are for functions: this table has all rows.</span>;
}

export const KIND_TITLES: Readonly<Record<string, string>> = {
  own: 'own code', mpi: 'MPI', threads: 'threads and OpenMP', memory: 'memory', io: 'input and output', system: 'system libraries', gpu: 'GPU', idle: 'not running',
};

/** The colour of a kind of function; the title says it in words. */
export function Swatch({ kind }: { kind: string | null }): JSX.Element | null {
  const known = kind === null ? undefined : KIND_TITLES[kind];
  return known === undefined || kind === null ? null : <i class={`swatch kind-${kind}`} title={known} />;
}

/** A link inside the page. */
export function Link({ onClick, children, title }: { onClick: () => void; children: ComponentChildren; title?: string }): JSX.Element {
  return <button type="button" class="link" title={title} onClick={onClick}>{children}</button>;
}
