// SPDX-License-Identifier: BSD-3-Clause
// The command palette: everything that the page can do or show, by a few letters of its name.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useAnswer, type Query, type StoreInfo } from './api';
import { clean } from './format';
import { Modal } from './help';
import type { Info } from './info';
import type { Binding } from './keys';
import { go, type State } from './state';
import { nextTheme } from './theme';
import { includePattern, type View } from './view';

interface Entry {
  readonly title: string;
  readonly hint: string;
  readonly run: () => void;
}

const MOST = 30;

function entries(views: readonly View[], info: Info, commands: readonly Binding[]): Entry[] {
  const list: Entry[] = views.map((view) => ({ title: view.title, hint: 'view', run: () => go({ view: view.key }) }));
  for (const command of commands) {
    if (!/^\d$/.test(command.label)) list.push({ title: command.title, hint: command.label, run: () => command.run(new KeyboardEvent('keydown')) });
  }
  list.push({ title: 'light or dark', hint: 'theme', run: nextTheme });
  for (const metric of info.metrics) {
    if (metric.total !== 0) list.push({ title: clean(metric.name), hint: 'metric', run: () => go({ metrics: [metric.name] }) });
  }
  return list;
}

/** A row of `lode search` of a database, or of `lode top` of a recording. */
interface Found {
  readonly kind?: string;
  readonly name: string;
  readonly index?: number;
}

function findQuery(store: number, info: Info, text: string): Query {
  if (info.kind === 'database') return { command: 'search', store, operand: text, options: [['limit', '16']] };
  return { command: 'top', store, options: [['include', includePattern(text)], ['limit', '16']] };
}

function entryOf(row: Found): Entry {
  const place: Readonly<Record<string, Partial<State>>> = {
    file: { view: 'top', group: 'file', name: row.name, order: '' },
    module: { view: 'top', group: 'module', name: row.name, order: '' },
    metric: { metrics: [row.name] },
    profile: { profiles: `profile=${String(row.index ?? 0)}` },
  };
  const kind = row.kind !== undefined && row.kind in place ? row.kind : 'function';
  return { title: clean(row.name), hint: kind, run: () => go(place[kind] ?? { view: 'top', group: '', order: '', name: row.name, context: '' }) };
}

/** All words, in any order. */
function fits(entry: Entry, words: readonly string[]): boolean {
  const text = `${entry.hint} ${entry.title}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

export function Palette(props: { views: readonly View[]; store: StoreInfo; info: Info; commands: readonly Binding[]; onClose: () => void }): JSX.Element {
  const [text, setText] = useState('');
  const [asked, setAsked] = useState('');
  const [at, setAt] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), 150);
    return () => clearTimeout(timer);
  }, [text]);
  const query = asked.length < 2 ? null : findQuery(props.store.number, props.info, asked);
  const answer = useAnswer<{ rows?: Found[] }>(query);
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== '');
  const found = entries(props.views, props.info, props.commands).filter((entry) => fits(entry, words));
  const things = (query ? (answer.data?.rows ?? []) : []).map(entryOf);
  const list = [...found, ...things].slice(0, MOST);
  const current = Math.min(at, list.length - 1);
  const run = (entry: Entry | undefined): void => {
    if (!entry) return;
    props.onClose();
    // The dialog gives the focus back first.
    setTimeout(entry.run);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt(Math.min(list.length - 1, current + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, current - 1));
    else if (event.key === 'Enter') run(list[current]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal label="Command palette" onClose={props.onClose}>
      <input
        type="text" role="combobox" aria-label="Command or function" aria-expanded="true" aria-controls="palette-list" aria-activedescendant={list.length > 0 ? `palette-${String(current)}` : undefined}
        aria-autocomplete="list" placeholder="a view, command, metric, function, file, module or profile" value={text} autocomplete="off" spellcheck={false}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="palette-list" role="listbox" aria-label="Commands">
        {list.map((entry, index) => (
          <li key={`${entry.hint} ${entry.title} ${String(index)}`} id={`palette-${String(index)}`} role="option" aria-selected={index === current} onClick={() => run(entry)}>
            <span class="name">{entry.title}</span> <span class="quiet">{entry.hint}</span>
          </li>
        ))}
      </ul>
      {list.length === 0 ? <p class="quiet">Nothing has this name.</p> : null}
    </Modal>
  );
}
