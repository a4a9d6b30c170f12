// SPDX-License-Identifier: BSD-3-Clause
// Notes: a name and a text on a time, a function or a request. They are in the address, or in a file that the user saves.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { amount, clean } from './format';
import { Modal } from './help';
import { Link, Section } from './parts';
import { fileName, save } from './save';
import { go, notice, state, type State } from './state';
import { areaOf } from './window';

const KINDS = ['time', 'function', 'request'] as const;
type Kind = (typeof KINDS)[number];

export interface Note {
  readonly kind: Kind;
  /** LINE@TIMEns or FROM..TO in nanoseconds after the beginning, the name of a function, or the number of a request. */
  readonly target: string;
  readonly name: string;
  readonly text: string;
}

const MOST = 50;
const SCHEMA = 'lode-view-notes';

/** As a part of the address: KIND|TARGET|NAME|TEXT. */
export const written = ({ kind, target, name, text }: Note): string => [kind, target, name, text].map((part) => part.replace(/[%|]/g, encodeURIComponent)).join('|');

export function readNote(part: string): Note | null {
  try {
    const [kind, target = '', name = '', text = ''] = part.split('|').map(decodeURIComponent);
    const known = KINDS.find((one) => one === kind);
    return known !== undefined && target !== '' ? { kind: known, target, name, text } : null;
  } catch {
    return null;
  }
}

/** A note of a file, which may hold anything. */
function noteOf(raw: unknown): Note | null {
  const { kind, target, name, text } = (raw ?? {}) as Partial<Record<keyof Note, unknown>>;
  return typeof kind === 'string' && typeof target === 'string' && typeof name === 'string' && typeof text === 'string' ? readNote([kind, target, name, text].map(encodeURIComponent).join('|')) : null;
}

export const notesOf = (of: Pick<State, 'notes'>): Note[] => of.notes.flatMap((part) => readNote(part) ?? []);
const keep = (notes: readonly Note[]): void => go({ notes: notes.slice(0, MOST).map(written) });

/** The time of a note, in nanoseconds after the beginning; null: it is none. */
export function timeOfNote({ kind, target }: Note): { from: number; to: number } | null {
  const at = /^\d+@(\d+)ns$/.exec(target)?.[1];
  if (kind !== 'time') return null;
  return at === undefined ? areaOf({ area: target }) : { from: Number(at), to: Number(at) };
}

function show(note: Note): void {
  if (note.kind === 'function') go({ view: 'top', name: note.target, context: '', group: '', search: '' });
  else if (note.kind === 'request') go({ view: 'requests', request: note.target, cross: '', group: '' });
  else go({ view: 'time', from: '', to: '', ...(note.target.includes('@') ? { cross: note.target, area: '' } : { area: note.target }) });
}

function titleOf(kind: Kind, target: string): string {
  const time = timeOfNote({ kind, target, name: '', text: '' });
  if (time === null) return kind === 'request' ? `request ${clean(target)}` : clean(target);
  return time.from === time.to ? amount(time.from, 'nanoseconds') : `${amount(time.from, 'nanoseconds')} to ${amount(time.to, 'nanoseconds')}`;
}

/** What a note can be on now, the likeliest first. */
function targets(now: State): { kind: Kind; target: string }[] {
  const isTime = now.view === 'time';
  return [
    ...(isTime && areaOf(now) ? [{ kind: 'time' as const, target: now.area }] : []),
    ...(isTime && /^\d+@\d+ns$/.test(now.cross) ? [{ kind: 'time' as const, target: now.cross }] : []),
    ...(now.name !== '' ? [{ kind: 'function' as const, target: now.name }] : []),
    ...(now.request !== '' ? [{ kind: 'request' as const, target: now.request }] : []),
  ];
}

/** The notes on something, beside it. */
export function NotesOf({ kind, target }: { kind: Kind; target: string }): JSX.Element | null {
  const found = notesOf(state.value).filter((note) => note.kind === kind && note.target === target);
  if (found.length === 0) return null;
  return <ul class="notes" aria-label="Notes">{found.map((note, index) => <li key={index}><b>{clean(note.name)}</b> {clean(note.text)}</li>)}</ul>;
}

function Add(): JSX.Element {
  const list = targets(state.value);
  const [chosen, setChosen] = useState(0);
  const [name, setName] = useState('');
  const [text, setText] = useState('');
  const target = list[Math.min(chosen, list.length - 1)];
  if (!target) return <p class="quiet">To add a note, select a function, open a request, or set the crosshair or an area in Time.</p>;
  const add = (): void => {
    keep([...notesOf(state.value), { ...target, name: name.trim(), text: text.trim() }]);
    setName('');
    setText('');
  };
  return (
    <form
      class="addnote"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '') add();
      }}
    >
      <label class="choice"><span>on</span>
        <select aria-label="What the note is on" value={String(chosen)} onChange={(event) => setChosen(Number(event.currentTarget.value))}>{list.map((one, index) => <option key={index} value={String(index)}>{titleOf(one.kind, one.target)}</option>)}</select>
      </label>
      <input type="text" aria-label="Name of the note" placeholder="name" maxLength={80} value={name} onInput={(event) => setName(event.currentTarget.value)} />
      <input type="text" aria-label="Text of the note" placeholder="text" maxLength={1000} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      <button type="submit" disabled={name.trim() === ''}>add</button>
    </form>
  );
}

async function load(file: File | undefined): Promise<void> {
  if (!file) return;
  try {
    const found = JSON.parse(await file.text()) as { schema?: { name?: unknown }; notes?: unknown };
    if (found.schema?.name !== SCHEMA || !Array.isArray(found.notes)) throw new Error('no notes');
    const fresh = (found.notes as unknown[]).flatMap((raw) => noteOf(raw) ?? []);
    const all = [...notesOf(state.value), ...fresh];
    keep(all.filter((note, index) => all.findIndex((other) => written(other) === written(note)) === index));
    notice.value = `Read ${file.name}`;
  } catch {
    notice.value = `${file.name} has no notes of lode view.`;
  }
}

export function Notes({ storeName, onClose }: { storeName: string; onClose: () => void }): JSX.Element {
  const list = notesOf(state.value);
  const text = (): string => `${JSON.stringify({ schema: { name: SCHEMA, version: 1 }, store: storeName, notes: list }, null, 1)}\n`;
  return (
    <Modal label="Notes" onClose={onClose}>
      <Section title="Notes">
        {list.length === 0 ? <p class="quiet">There are no notes. They are kept in the address of the page, and in files that you save.</p> : (
          <ul class="notes">
            {list.map((note, index) => (
              <li key={index}>
                <form method="dialog"><button type="submit" class="link" title="Go there" onClick={() => show(note)}>{titleOf(note.kind, note.target)}</button> <b>{clean(note.name)}</b> {clean(note.text)} <Link title="Remove this note" onClick={() => keep(list.filter((_, at) => at !== index))}><span aria-label={`Remove ${clean(note.name)}`}>×</span></Link></form>
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Add />
      <p class="buttons">
        <button type="button" disabled={list.length === 0} onClick={() => save(`${fileName('lode-notes', storeName)}.json`, new Blob([text()], { type: 'application/json' }))}>save notes</button>
        <label class="file">read notes <input type="file" accept=".json,application/json" onChange={(event) => void load(event.currentTarget.files?.[0])} /></label>
      </p>
      <form method="dialog"><button type="submit">Close</button></form>
    </Modal>
  );
}
