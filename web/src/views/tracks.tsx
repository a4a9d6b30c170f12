// SPDX-License-Identifier: BSD-3-Clause
// Lines whose calls are pinned to the top of the timeline, each with all levels or with the outermost calls only.
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { clean } from '../format';
import type { Info } from '../info';
import { Problem } from '../parts';
import { go, type State } from '../state';
import type { Line, Picture } from '../timeline';
import { Command, entryOf, Levels, ROW, useBoxes, type Common } from './calls';
import type { Gestures } from './gestures';

const MOST = 12;

export interface Pinned {
  readonly entry: string;
  /** Whether the outermost calls only are shown. */
  readonly isFlat: boolean;
}

/** The pinned lines of the address, in their order. */
export function pinnedOf(state: Pick<State, 'lines'>): Pinned[] {
  const found = new Map<string, Pinned>();
  for (const part of state.lines.split(',')) {
    const [, entry, flat] = /^(\d{1,10})(-?)$/.exec(part) ?? [];
    if (entry !== undefined && found.size < MOST) found.set(entry, { entry, isFlat: flat === '-' });
  }
  return [...found.values()];
}

const text = (pinned: readonly Pinned[]): string => pinned.map(({ entry, isFlat }) => entry + (isFlat ? '-' : '')).join(',');

export function togglePin(state: State, info: Info, line: Line): void {
  const entry = entryOf(info, line);
  const others = pinnedOf(state).filter((one) => one.entry !== entry);
  go({ lines: text(others.length < pinnedOf(state).length ? others : [...others, { entry, isFlat: false }].slice(-MOST)) });
}

/** All lines of the picture, as far as there is room, or none. */
export function togglePins(state: State, info: Info, picture: Picture): void {
  go({ lines: state.lines !== '' ? '' : text(picture.timeline.slice(0, MOST).map((line) => ({ entry: entryOf(info, line), isFlat: false }))) });
}

function change(state: State, entry: string, isFlat: boolean | null): void {
  go({ lines: text(pinnedOf(state).flatMap((one) => (one.entry !== entry ? [one] : isFlat === null ? [] : [{ entry, isFlat }]))) }, isFlat === null ? 'push' : 'replace');
}

/** The calls of a pinned line, with the gestures of the timeline. */
export function Track({ pinned, title, gestures, marks, ...common }: Common & { pinned: Pinned; title: string | undefined; gestures: { on: (click: () => void) => Gestures }; marks: ComponentChildren }): JSX.Element {
  const { state, info } = common;
  const { asked, answer, deepest } = useBoxes(state, info, pinned.entry);
  const [tip, setTip] = useState('');
  const name = title ?? (info.hasRequests ? `request ${pinned.entry}` : (answer.data?.rows[0]?.line ?? pinned.entry));
  const levels = pinned.isFlat ? Math.min(1, deepest) : deepest;
  return (
    <section class={`track ${answer.isLoading ? 'stale' : ''}`} aria-label={`Calls of ${clean(name)}`} aria-busy={answer.isLoading} title={tip}>
      <div class="trackname">
        <button type="button" class="link" aria-expanded={!pinned.isFlat} title={pinned.isFlat ? 'Show all levels' : 'Show the outermost calls only'} onClick={() => change(state, pinned.entry, !pinned.isFlat)}><span aria-hidden="true">{pinned.isFlat ? '▸' : '▾'}</span> <span class="what">{clean(name)}</span></button>
        <button type="button" class="link" title="Unpin" aria-label={`Unpin ${clean(name)}`} onClick={() => change(state, pinned.entry, null)}>×</button>
        {levels > 1 ? <Command asked={asked} /> : null}
      </div>
      <div class="lane" style={{ minHeight: `${String(ROW)}px` }} {...gestures.on(() => undefined)}>
        {answer.error || answer.data === null ? <Problem answer={answer} /> : answer.data.rows.length === 0 ? <p class="quiet">no calls here</p> : <Levels boxes={answer.data} common={common} levels={levels} id={`calls-${pinned.entry}`} name={name} hover={setTip} />}
        {marks}
      </div>
    </section>
  );
}
