// SPDX-License-Identifier: BSD-3-Clause
// Report: all that matters of each store on one page, which can be printed. Only files of `lode report` have it.
import type { JSX } from 'preact';
import { commandLine, session, useAnswer, type Query, type Session, type StoreInfo } from '../api';
import { copy } from '../clipboard';
import { clean, shellWord } from '../format';
import { infoQuery, readInfo, type Info } from '../info';
import { Problem, Section } from '../parts';
import { about, isReport } from '../report';
import { go, START, state as current, type State } from '../state';
import type { View, ViewProps } from '../view';
import { Changes, compare, otherOf } from './compare';
import { FindingList, findings } from './findings';
import { flame, FlamePicture } from './flame';
import { functions } from './functions';
import { Overview } from './overview';
import { profiles } from './profiles';
import { requests } from './requests';
import { time, TimePicture } from './time';
import { tree } from './tree';

const MOST_CHANGES = 15;
const MOST_FINDINGS = 10;
const MOST_FACTS = 24;

function Command({ line }: { line: string }): JSX.Element {
  return <button type="button" class="link command" title="Copy this command" onClick={() => void copy(line, 'the command')}><code>{clean(line)}</code></button>;
}

/** The commands that print what the report has; with others, people go on from there. */
function Commands({ state, store, info, all }: { state: State; store: StoreInfo; info: Info; all: Session }): JSX.Element {
  const shown: [string, Query | null][] = [functions, tree, flame, time, profiles, requests, findings, compare]
    .filter((view) => view.fits(info, all.stores.length)).map((view) => [view.title, view.query(state, info)]);
  const diagnosis: Query = { command: 'diagnose', store: store.number, options: [] };
  return (
    <table class="plain commands"><caption class="hidden">Commands</caption><tbody>
      <tr><th scope="row">Diagnosis</th><td><Command line={commandLine(diagnosis, all)} /></td></tr>
      {shown.map(([title, query]) => (query === null ? null : <tr key={title}><th scope="row">{title}</th><td><Command line={commandLine(query, all)} /></td></tr>))}
      <tr><th scope="row">All of it</th><td><Command line={`lode view ${all.stores.map((one) => shellWord(one.path)).join(' ')}`} /></td></tr>
    </tbody></table>
  );
}

interface Made {
  readonly format: string;
  readonly title?: string | null;
  readonly description?: string | null;
  readonly facts?: readonly { readonly key: string; readonly value: string }[];
}

/** How the run was recorded, and how the report was made. */
function Origin({ store, made, all }: { store: StoreInfo; made: Made; all: Session }): JSX.Element {
  const facts = (made.facts ?? []).slice(0, MOST_FACTS);
  const more = (made.facts ?? []).length - facts.length;
  return (
    <dl class="facts made">
      <dt>store</dt><dd class="name">{clean(store.path)}</dd>
      <dt>format</dt><dd>{clean(made.format)}</dd>
      {made.title ? <><dt>title</dt><dd>{clean(made.title)}</dd></> : null}
      {made.description ? <><dt>description</dt><dd>{clean(made.description)}</dd></> : null}
      {facts.map((fact) => <><dt>{clean(fact.key)}</dt><dd title={clean(fact.value)}>{clean(fact.value)}</dd></>)}
      {more > 0 ? <><dt /><dd class="quiet">{more} more (lode info --verbose)</dd></> : null}
      <dt>report</dt><dd><Command line={`lode report ${all.stores.map((one) => shellWord(one.path)).join(' ')} -o report.html`} /></dd>
    </dl>
  );
}

function StoreReport({ store, all }: { store: StoreInfo; all: Session }): JSX.Element {
  const answer = useAnswer<Made>(infoQuery(store));
  if (answer.data === null) return <Problem answer={answer} />;
  const info = readInfo(answer.data);
  const state: State = { ...START, store: store.number };
  const props: ViewProps = { state, store, info };
  // What is clicked is about this store.
  const choose = (): void => {
    if (current.value.store !== store.number) go({ ...START, store: store.number }, 'replace');
  };
  return (
    <article aria-label={clean(store.name)} data-store={store.number} onClickCapture={choose}>
      {all.stores.length > 1 ? <h2 class="store-title">{clean(store.name)}</h2> : null}
      <Overview {...props} />
      <Section title="Flame graph"><FlamePicture {...props} /></Section>
      {time.fits(info, 1) ? <Section title="Timeline"><TimePicture {...props} /></Section> : null}
      <Section title="Findings"><FindingList {...props} most={MOST_FINDINGS} /></Section>
      <Section title="How it was made"><Origin store={store} made={answer.data} all={all} /></Section>
      <Section title="Commands"><Commands state={state} store={store} info={info} all={all} /></Section>
    </article>
  );
}

function Comparison({ all }: { all: Session }): JSX.Element | null {
  const first = all.stores[0];
  const other = first ? otherOf({ ...START, store: first.number }) : null;
  const second = all.stores.find((store) => store.number === other);
  const answer = useAnswer<Made>(first ? infoQuery(first) : null);
  if (!first || !second || answer.data === null) return null;
  const props: ViewProps = { state: { ...START, store: first.number }, store: first, info: readInfo(answer.data) };
  return <Section title={`Comparison: A is ${clean(first.name)}, B is ${clean(second.name)}`}><Changes {...props} most={MOST_CHANGES} /></Section>;
}

function Report(): JSX.Element | null {
  const all = session.value;
  if (!all || !about) return null;
  return (
    <div class="report">
      <p class="title">{clean(about.title)}</p>
      {about.notes ? <div class="notes">{about.notes.trimEnd().split(/\r?\n/).map(clean).join('\n')}</div> : null}
      <Comparison all={all} />
      {all.stores.map((store) => <StoreReport key={store.number} store={store} all={all} />)}
    </div>
  );
}

export const report: View = { key: 'report', title: 'Report', fits: () => isReport, query: functions.query, Component: Report };
