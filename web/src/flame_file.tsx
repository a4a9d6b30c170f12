// SPDX-License-Identifier: BSD-3-Clause
// The page of a file that `lode flame` wrote: the picture with search and zoom, and nothing that would have to be asked.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Field } from './field';
import { baseName, clean, count } from './format';
import { Notice } from './frame';
import { Help } from './help';
import { focusView, useKeys, type Binding } from './keys';
import { boxesInside } from './report';
import { selection } from './selection';
import { go, state } from './state';
import { nextTheme } from './theme';
import { OneFlame } from './views/flame';

/** What of the answer says what it is of. */
interface What {
  readonly database?: string;
  readonly recording?: string;
  readonly metric?: string;
  readonly mode: string;
  readonly function: string | null;
  readonly focus: string | null;
  readonly findings?: readonly { readonly severity: string; readonly count: number; readonly or_more?: boolean }[];
}
const what = boxesInside as What | null;
const wrong = (what?.findings ?? []).filter((one) => one.severity !== 'note');
const findings = wrong.reduce((sum, one) => sum + one.count, 0);
const isLeast = wrong.some((one) => one.or_more);

function titleOf(): string {
  if (what === null) return '';
  const how = what.mode === 'sandwich' ? `, callers and callees of ${what.function ?? ''}` : what.mode === 'bottom-up' ? ', bottom-up' : what.focus ? `, from ${what.focus}` : '';
  return `${baseName(what.database ?? what.recording)}: ${what.metric ?? 'time of calls'}${how}`;
}

export function FlameFile(): JSX.Element {
  const [isHelp, setHelp] = useState(false);
  const { search } = state.value;
  const path = selection.value?.path ?? [];
  const keys: Binding[] = [
    { key: '/', label: '/', title: 'search', run: () => document.getElementById('search')?.focus() },
    { key: '?', label: '?', title: 'this help', run: () => setHelp(true) },
    { key: 'Backspace', label: 'Backspace', title: 'back', run: () => history.back() },
    { key: 'Escape', label: 'Esc', title: 'clear the search, then the zoom', run: () => go(search !== '' ? { search: '' } : { root: '' }) },
  ];
  useKeys(keys);
  useEffect(() => {
    document.title = clean(titleOf());
  }, []);
  return (
    <>
      <header>
        <div class="bar1">
          <h1 class="title">{clean(titleOf())}</h1>
          {findings > 0 ? <span class="chip" title="'lode check' lists them">{isLeast ? 'at least ' : ''}{count(findings)} finding{findings === 1 ? '' : 's'}</span> : null}
          <span class="space" />
          <Field id="search" class="search" label="Search" value={search} placeholder="/ search functions" isLive onChange={(value) => go({ search: value }, search === '' ?  'push' : 'replace')} onEnter={focusView} title="A part of a name" />
          <button type="button" class="icon" title="Light or dark" aria-label="Light or dark" onClick={nextTheme}>◐</button>
          <button type="button" class="icon" title="Help (?)" aria-label="Help" onClick={() => setHelp(true)}>?</button>
        </div>
      </header>
      <div class="work">
        <main id="view">
          <OneFlame state={state.value} info={null} />
          {path.length > 0 ? <p id="path" class="quiet" aria-label="The call path of the selection">{path.map((step) => clean(step.name)).join(' › ')}</p> : null}
        </main>
      </div>
      {isHelp ? <Help keys={keys} onClose={() => setHelp(false)} /> : null}
      <Notice />
    </>
  );
}
