// SPDX-License-Identifier: BSD-3-Clause
// What is around every view: header, tabs, side pane, notices.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { busy, commandLine, session, sessionError, useAnswer, type Session, type StoreInfo } from './api';
import { copy } from './clipboard';
import { Field } from './field';
import { baseName, clean, count } from './format';
import { Help } from './help';
import { infoQuery, readInfo, type Info } from './info';
import { focusView, useKeys, type Binding } from './keys';
import { Notes } from './notes';
import { Palette } from './palette';
import { fileName, savePictures } from './save';
import { selection } from './selection';
import { about, isReport } from './report';
import { Side } from './side';
import { addressOf, go, notice, START, state, type State } from './state';
import { nextTheme } from './theme';
import type { View } from './view';
import { viewOf, VIEWS } from './views';
import { Runs, RUNS } from './views/runs';

/** Which store, or the runs of the catalogue. */
function Stores({ all, chosen }: { all: Session; chosen: StoreInfo | null }): JSX.Element {
  const runs = all.catalogue ? `runs of ${baseName(all.catalogue)}` : '';
  if (chosen === null && all.stores.length === 0) return <span class="store" title={clean(all.catalogue)}>{runs}</span>;
  if (chosen !== null && all.stores.length === 1 && runs === '') return <span class="store" title={clean(chosen.path)}>{clean(chosen.name)}</span>;
  const show = (value: string): void => go(value === RUNS ? { ...START, view: RUNS } : { ...START, store: Number(value), view: state.value.view === RUNS ? START.view : state.value.view });
  return (
    <select class="store" aria-label="Store" value={chosen === null ? RUNS : String(chosen.number)} onChange={(event) => show(event.currentTarget.value)}>
      {all.stores.map((store) => (
        <option key={store.number} value={String(store.number)}>{clean(store.name)}{store.state === 'failed' ? ' (cannot be opened)' : ''}</option>
      ))}
      {runs === '' ? null : <option value={RUNS}>{runs}</option>}
    </select>
  );
}

/** Another view keeps the selection of data, but not what only the last view understands. */
function toView(key: string): Partial<State> {
  return key === state.value.view ? {} : { view: key, order: '', group: '', way: '', limit: '' };
}

/** As an address for another tab of the browser; the view is always in it. */
function hrefOf(key: string): string {
  const address = addressOf({ ...state.value, ...toView(key) });
  return /[?&]v=/.test(address) ? address : address.replace('?', `?v=${key}&`);
}

function Tabs({ views, current }: { views: readonly View[]; current: View }): JSX.Element {
  return (
    <nav class="tabs" aria-label="Views">
      {views.map((view, index) => (
        <a
          key={view.key} href={hrefOf(view.key)} aria-current={view === current ? 'page' : undefined} title={`${view.title} (${String(index + 1)})`}
          onClick={(event) => {
            // Another tab or window is the browser's.
            if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
            event.preventDefault();
            go(toView(view.key));
          }}
        >
          {view.title}
        </a>
      ))}
    </nav>
  );
}

function Metric({ info, store }: { info: Info; store: StoreInfo }): JSX.Element | null {
  if (info.kind === 'recording' || info.metrics.length === 0) return null;
  const first = state.value.metrics[0] ?? '';
  const useful = info.metrics.filter((metric) => metric.total !== 0 || metric.name === first);
  const names = useful.length > 0 ? useful.map((metric) => metric.name) : info.metrics.map((metric) => metric.name);
  if (first !== '' && !names.includes(first)) names.unshift(first);
  const standard = store.default_metric ?? undefined;
  return (
    <label class="choice">
      <span>metric</span>
      <select value={first} onChange={(event) => go({ metrics: event.currentTarget.value === '' ? [] : [event.currentTarget.value, ...state.value.metrics.slice(1)] })}>
        <option value="">{standard === undefined ? 'default' : clean(standard)}</option>
        {[...new Set(names)].filter((name) => name !== standard || name === first).map((name) => (
          <option key={name} value={name}>{clean(name)}</option>
        ))}
      </select>
    </label>
  );
}

function Selections({ info }: { info: Info }): JSX.Element {
  const { profiles, from, to, filters } = state.value;
  const kinds = info.ids.map((id) => id.kind.toLowerCase()).join(', ');
  const isRecording = info.kind === 'recording';
  const hasTime = info.duration > 0;
  const setWindow = (text: string): void => {
    const [begin = '', end = ''] = text.split('..').map((part) => part.trim());
    go({ from: begin, to: end });
  };
  return (
    <>
      <label class="choice">
        <span>{isRecording ? 'tasks' : 'profiles'}</span>
        <Field
          label={isRecording ? 'Tasks' : 'Profiles'} value={profiles} placeholder={`all ${count(info.profiles)}`} onChange={(value) => go({ profiles: value })}
          title={isRecording ? 'As --task: thread ids, pid=N, or names' : `As --profiles: rank=0-3,thread=0. Kinds: ${kinds}`}
        />
      </label>
      {hasTime ? (
        <label class="choice">
          <span>time</span>
          <Field
            label="Time window" value={from === '' && to === '' ? '' : `${from}..${to}`} placeholder="all" onChange={setWindow}
            title="FROM..TO as --from and --to: 1.5s..1.75s, 250ms..300ms"
          />
        </label>
      ) : null}
      {filters.map((filter) => (
        <button key={filter} type="button" class="chip" title="Remove this filter" onClick={() => go({ filters: filters.filter((other) => other !== filter) })}>
          {clean(filter)} <span aria-hidden="true">×</span>
        </button>
      ))}
    </>
  );
}

function copyCommand(view: View, info: Info, all: Session): void {
  const query = (view.copied ?? view.query)(state.value, info);
  if (query) void copy(commandLine(query, all), 'the command');
  else notice.value = 'This view has no command.';
}

function copyPath(): void {
  const chosen = selection.value;
  if (!chosen) notice.value = 'Nothing is selected.';
  else {
    const path = chosen.path.map((step, depth) => `${'  '.repeat(depth)}${clean(step.name)}`);
    const facts = chosen.facts.map(([label, text]) => `${label}: ${text}`);
    void copy([...(path.length > 0 ? path : [clean(chosen.title)]), ...facts, ''].join('\n'), 'the call path');
  }
}

function nextMetric(info: Info): void {
  const names = info.metrics.filter((metric) => metric.total !== 0).map((metric) => metric.name);
  const at = names.indexOf(state.value.metrics[0] ?? '');
  const next = names[(at + 1) % Math.max(1, names.length)];
  if (next !== undefined) go({ metrics: [next] });
}

type Dialog = '' | 'help' | 'palette' | 'notes';

function globalKeys(views: readonly View[], view: View, info: Info, all: Session, open: (dialog: Dialog) => void): Binding[] {
  const tabs = views.slice(0, 9).map((tab, index) => ({ key: String(index + 1), label: String(index + 1), title: tab.title, run: () => go(toView(tab.key)) }));
  return [
    ...tabs,
    { key: '/', label: '/', title: 'search', run: () => document.getElementById('search')?.focus() },
    { key: 'k', ctrl: true, label: 'Ctrl+K', title: 'command palette', always: true, run: () => open('palette') },
    { key: '?', label: '?', title: 'this help', run: () => open('help') },
    { key: 'm', label: 'm', title: 'next metric', run: () => nextMetric(info) },
    { key: 'c', label: 'c', title: 'copy the call path of the selection', run: copyPath },
    { key: 'C', label: 'Shift+C', title: 'copy the lode command of this view', run: () => copyCommand(view, info, all) },
    { key: 'l', label: 'l', title: 'copy a link to this place', run: () => void copy(location.href, 'the link') },
    { key: 'j', label: 'j', title: 'notes', run: () => open('notes') },
    { key: 'Backspace', label: 'Backspace', title: 'back', run: () => history.back() },
    {
      key: 'Escape', label: 'Esc', title: 'clear the search, then the selected area, then the selection',
      run: () => go(state.value.search !== '' ? { search: '' } : state.value.area !== '' ? { area: '', way: '' } : { context: '', name: '' }),
    },
  ];
}

/** The page of one store that is open. */
function Page({ store, all, info }: { store: StoreInfo; all: Session; info: Info }): JSX.Element {
  const [dialog, setDialog] = useState<Dialog>('');
  // The browser says later that a dialog was closed; a key may have opened the other one by then.
  const closed = (which: Dialog): void => setDialog((shown) => (shown === which ? '' : shown));
  const views = VIEWS.filter((view) => view.fits(info, all.stores.length));
  const wanted = viewOf(state.value.view);
  const view = views.includes(wanted) ? wanted : (views[0] ?? wanted);
  const keys = globalKeys(views, view, info, all, setDialog);
  useKeys(keys);
  useEffect(() => {
    document.title = about ? clean(about.title) : `${view.title} · ${clean(store.name)} · Lode`;
  }, [view.key, store.number]);
  useEffect(() => {
    if (state.value.view !== view.key) notice.value = VIEWS.includes(wanted) && wanted.key === state.value.view ? `This ${isReport ? 'report' : 'store'} has nothing for ${wanted.title}.` : `There is no page "${state.value.view.slice(0, 40)}".`;
  }, [state.value.view, view.key]);
  const { Component } = view;
  const notes = state.value.notes.length;
  const hasSide = state.value.context !== '' || state.value.name !== '';
  return (
    <>
      <Skip />
      <header>
        <div class="bar1">
          <strong class="logo">lode</strong>
          <Stores all={all} chosen={store} />
          <Tabs views={views} current={view} />
          <span class="space" />
          {isReport && view.key !== 'flame' ? null : <Field id="search" class="search" label="Search" value={state.value.search} placeholder="/ search functions" isLive onChange={(value) => go({ search: value }, state.value.search === '' ? 'push' : 'replace')} onEnter={focusView} title="A part of a name, a pattern with * and ?, or /expression/; module: and file: match paths" />}
          <button type="button" class="icon" title="Command palette (Ctrl+K)" onClick={() => setDialog('palette')}>{/Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K'}</button>
          <button type="button" class="icon" title="Light or dark" aria-label="Light or dark" onClick={nextTheme}>◐</button>
          <button type="button" class="icon" title="Help (?)" aria-label="Help" onClick={() => setDialog('help')}>?</button>
        </div>
        <div class="bar2">
          {isReport ? null : <Metric info={info} store={store} />}
          {isReport ? <span class="quiet">report by lode {about?.version}</span> : <Selections info={info} />}
          {info.findings > 0 ? <button type="button" class="chip" title="What was repaired, and what is odd" onClick={() => go(toView('findings'))}>{count(info.findings)} finding{info.findings === 1 ? '' : 's'}</button> : null}
          <span class="space" />
          {isReport && notes === 0 ? null : <button type="button" title="Notes on times, functions and requests (j)" onClick={() => setDialog('notes')}>{notes === 0 ? 'notes' : `notes (${count(notes)})`}</button>}
          <button type="button" title="Every picture of this page: drawings as SVG, pixels as PNG" onClick={() => void savePictures(fileName('lode', store.name, view.key)).then((saved) => saved === 0 && (notice.value = 'This page has no picture.'))}>save picture</button>
          <button type="button" title="Copy the lode command that prints the same numbers (Shift+C)" onClick={() => copyCommand(view, info, all)}>copy command</button>
        </div>
      </header>
      <div class={`work ${hasSide ? 'with-side' : ''}`}>
        <main id="view" aria-label={view.title}>
          <h1 class="hidden">{view.title}</h1>
          <Component key={`${view.key} ${String(store.number)}`} state={state.value} store={store} info={info} />
        </main>
        {hasSide ? <Side store={store} info={info} /> : null}
      </div>
      {dialog === 'help' ? <Help keys={keys} onClose={() => closed('help')} /> : null}
      {dialog === 'notes' ? <Notes storeName={store.name} onClose={() => closed('notes')} /> : null}
      {dialog === 'palette' ? <Palette views={views} store={store} info={info} commands={keys} onClose={() => closed('palette')} /> : null}
    </>
  );
}

/** The first thing that Tab reaches: past the header, to the table of the view if it has one. */
function Skip(): JSX.Element {
  const skip = (event: MouseEvent): void => {
    event.preventDefault();
    focusView();
  };
  return <a class="skip" href="#view" onClick={skip}>Skip to the view</a>;
}

/** A store that cannot be shown does not hide the others. */
function Instead({ store, all, children, isBusy }: { store: StoreInfo; all: Session; children: ComponentChildren; isBusy?: boolean }): JSX.Element {
  return (
    <>
      {all.stores.length > 1 || all.catalogue ? <header><div class="bar1"><strong class="logo">lode</strong><Stores all={all} chosen={store} /></div></header> : null}
      <main class="message" aria-busy={isBusy}>{children}</main>
    </>
  );
}

function Opening({ store, all }: { store: StoreInfo; all: Session }): JSX.Element {
  if (store.state === 'failed') return <Instead store={store} all={all}><h1>{clean(store.name)} cannot be opened</h1><p>{clean(store.problem)}</p></Instead>;
  const percent = store.opened_percent === undefined ? '' : ` ${String(Math.round(store.opened_percent))}%`;
  return <Instead store={store} all={all} isBusy><h1>Opening {clean(store.name)}{percent}</h1></Instead>;
}

/** The first screen is that of the first store that can be shown, unless the address names one. */
function useFirst(all: Session | null): void {
  const isDecided = useRef(new URLSearchParams(location.search).has('s'));
  useEffect(() => {
    const first = all?.stores[0];
    if (isDecided.current || !all || !first || first.state === 'opening') return;
    isDecided.current = true;
    const better = all.stores.find((store) => store.state !== 'failed');
    if (first.state === 'failed' && better && state.value.store === first.number) go({ store: better.number }, 'replace');
  }, [all]);
}

function Store({ store, all }: { store: StoreInfo; all: Session }): JSX.Element {
  const { data, error } = useAnswer<unknown>(store.state === 'ready' ? infoQuery(store) : null);
  if (store.state !== 'ready') return <Opening store={store} all={all} />;
  if (error) return <Instead store={store} all={all}><h1>{clean(store.name)} cannot be shown</h1><p>{clean(error.message)}</p></Instead>;
  return data ? <Page store={store} all={all} info={readInfo(data)} /> : <main class="message" aria-busy="true"><h1>Opening {clean(store.name)}</h1></main>;
}

/** The runs of a catalogue, which are of no store. */
function Catalogue({ all }: { all: Session }): JSX.Element {
  const [isHelp, setHelp] = useState(false);
  const keys: Binding[] = [
    { key: '?', label: '?', title: 'this help', run: () => setHelp(true) },
    { key: 'C', label: 'Shift+C', title: 'copy the lode command of this view', run: () => void copy(commandLine(Runs.query(state.value), all), 'the command') },
    { key: 'l', label: 'l', title: 'copy a link to this place', run: () => void copy(location.href, 'the link') },
    { key: 'Backspace', label: 'Backspace', title: 'back', run: () => history.back() },
  ];
  useKeys(keys);
  useEffect(() => {
    document.title = `Runs · ${baseName(all.catalogue)} · Lode`;
  }, [all.catalogue]);
  return (
    <>
      <Skip />
      <header>
        <div class="bar1">
          <strong class="logo">lode</strong>
          <Stores all={all} chosen={null} />
          <span class="space" />
          <button type="button" title="Copy the lode command that prints the same numbers (Shift+C)" onClick={() => void copy(commandLine(Runs.query(state.value), all), 'the command')}>copy command</button>
          <button type="button" class="icon" title="Light or dark" aria-label="Light or dark" onClick={nextTheme}>◐</button>
          <button type="button" class="icon" title="Help (?)" aria-label="Help" onClick={() => setHelp(true)}>?</button>
        </div>
      </header>
      <div class="work">
        <main id="view" aria-label="Runs">
          <h1 class="hidden">Runs</h1>
          <Runs.Component state={state.value} />
        </main>
      </div>
      {isHelp ? <Help keys={keys} onClose={() => setHelp(false)} /> : null}
    </>
  );
}

/** The one region that speaks to screen readers, and that shows what was done. */
export function Notice(): JSX.Element {
  const timer = useRef(0);
  const text = notice.value;
  useEffect(() => {
    clearTimeout(timer.current);
    if (text !== '') timer.current = window.setTimeout(() => (notice.value = ''), 5000);
  }, [text]);
  return <div class={`notice ${text === '' ? 'empty' : ''}`} role="status">{clean(text)}</div>;
}

export function Frame(): JSX.Element {
  const all = session.value;
  useFirst(all);
  const named = all?.stores.find((candidate) => candidate.number === state.value.store);
  const store = named ?? all?.stores[0];
  const isWrong = all !== null && store !== undefined && named === undefined;
  useEffect(() => {
    if (isWrong) notice.value = `${notice.value} There is no store ${String(state.value.store)}: this is ${clean(store?.name ?? '')}.`.trim();
    if (isWrong) go({ store: store?.number ?? 0 }, 'replace');
  }, [isWrong]);
  return (
    <>
      <div class={`busy ${busy.value > 0 ? 'on' : ''}`} aria-hidden="true" />
      {sessionError.value !== '' ? <main class="message"><h1>Lode</h1><p>{sessionError.value}</p></main>
        : all?.catalogue && (state.value.view === RUNS || !store) ? <Catalogue all={all} />
        : all && store ? <Store key={store.number} store={store} all={all} />
          : <main class="message" aria-busy="true"><h1>Lode</h1></main>}
      <Notice />
    </>
  );
}
