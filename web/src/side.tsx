// SPDX-License-Identifier: BSD-3-Clause
// The side pane: what is selected, with its call path, values, spread over profiles and source.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { busy, useAnswer, type Option, type Query, type StoreInfo } from './api';
import { amount, baseName, clean, count, percent, unitOf, type Unit } from './format';
import type { Info } from './info';
import { useKeys } from './keys';
import { NotesOf } from './notes';
import { Link, Name, Problem, Section, WholeRun } from './parts';
import { selection, type Selection } from './selection';
import { go, state } from './state';
import { sharedOptions } from './view';

interface Distribution {
  count: number; sum: number; min: number; p25: number; median: number; mean: number; p75: number; max: number; imbalance: number | null;
}
interface ContextAnswer {
  name: string;
  path: { context: number; name: string }[];
  metric: string;
  profiles: number;
  profiles_without_value: number;
  distribution: Distribution | null;
  /** None if all values are equal. */
  histogram?: { from: number; to: number; count: number }[];
  row_count: number;
  rows: { profile: number; value: number; name: string }[];
}

/** Bars of a histogram; the numbers are in the label and beside it. */
export function Histogram({ bins, unit }: { bins: readonly { from: number; to: number; count: number }[]; unit: Unit }): JSX.Element | null {
  const most = Math.max(1, ...bins.map((bin) => bin.count));
  const first = bins[0];
  const last = bins[bins.length - 1];
  if (!first || !last) return null;
  return (
    <div>
      <div class="histogram" role="img" aria-label={`Histogram from ${amount(first.from, unit)} to ${amount(last.to, unit)}: ${bins.map((bin) => String(bin.count)).join(', ')}`}>
        {bins.map((bin) => (
          <i key={bin.from} title={`${amount(bin.from, unit)} to ${amount(bin.to, unit)}: ${count(bin.count)}`} style={{ height: `${String((100 * bin.count) / most)}%` }} class={bin.count > 0 ? '' : 'none'} />
        ))}
      </div>
      <div class="ends quiet"><span>{amount(first.from, unit)}</span><span>{amount(last.to, unit)}</span></div>
    </div>
  );
}

export function DistributionFacts({ values, unit }: { values: Distribution; unit: Unit }): JSX.Element {
  return (
    <dl class="facts">
      <dt>min</dt><dd>{amount(values.min, unit)}</dd>
      <dt>median</dt><dd>{amount(values.median, unit)}</dd>
      <dt>mean</dt><dd>{amount(values.mean, unit)}</dd>
      <dt>max</dt><dd>{amount(values.max, unit)}</dd>
      <dt>imbalance</dt><dd title="max/mean - 1">{values.imbalance === null ? '-' : `${percent(values.imbalance * 100)}%`}</dd>
    </dl>
  );
}

function contextOptions(info: Info): Option[] {
  return sharedOptions(state.value, info, { search: false, window: false });
}

function Spread({ store, info, context }: { store: StoreInfo; info: Info; context: string }): JSX.Element {
  const query: Query = { command: 'context', store: store.number, operand: context, options: contextOptions(info) };
  const answer = useAnswer<ContextAnswer>(query);
  const data = answer.data;
  if (!data || answer.error) return <Problem answer={answer} />;
  const unit = unitOf(data.metric);
  return (
    <>
      <Section title={`Spread over ${count(data.profiles)} profiles`}>
        <WholeRun state={state.value} info={info} />
        {data.distribution && data.profiles > 1 ? (
          <>
            <Histogram bins={data.histogram ?? []} unit={unit} />
            <DistributionFacts values={data.distribution} unit={unit} />
          </>
        ) : <p class="quiet">{data.profiles === 1 ? 'one profile has a value' : 'no profile has a value'}</p>}
        {data.rows.length > 0 ? (
          <table class="small"><caption>{count(data.row_count)} outliers</caption><tbody>
            {data.rows.slice(0, 5).map((row) => <tr key={row.profile}><td><Link onClick={() => go({ profiles: `profile=${String(row.profile)}` })} title="Show this profile only">{clean(row.name)}</Link></td><td class="number">{amount(row.value, unit)}</td></tr>)}
          </tbody></table>
        ) : null}
      </Section>
    </>
  );
}

interface ProfilesAnswer {
  metric: string;
  row_count: number;
  rows: { profile: number; value: number; name: string }[];
  distribution: Distribution | null;
}

function FunctionSpread({ store, info, name }: { store: StoreInfo; info: Info; name: string }): JSX.Element | null {
  const options = sharedOptions(state.value, info, { search: false, window: false });
  const answer = useAnswer<ProfilesAnswer>(info.profiles > 1 ? { command: 'profiles', store: store.number, options: [...options, ['function', name], ['limit', '5']] } : null);
  if (info.profiles <= 1) return null;
  const data = answer.data;
  if (!data || answer.error) return <Problem answer={answer} />;
  const unit = unitOf(data.metric);
  return (
    <Section title={`Spread over ${count(data.row_count)} profiles`}>
      <WholeRun state={state.value} info={info} />
      {data.distribution ? <DistributionFacts values={data.distribution} unit={unit} /> : null}
      <table class="small"><caption>largest</caption><tbody>
        {data.rows.map((row) => <tr key={row.profile}><td><Link onClick={() => go({ profiles: `profile=${String(row.profile)}` })} title="Show this profile only">{clean(row.name)}</Link></td><td class="number">{amount(row.value, unit)}</td></tr>)}
      </tbody></table>
    </Section>
  );
}

interface SourceAnswer {
  metric?: string;
  file: string | null;
  target_line: number | null;
  source: string | null;
  source_problem: string | null;
  rows: { line: number; text: string | null; hot: boolean; exclusive?: number; exclusive_percent?: number; self_ns?: number; self_percent?: number }[];
}

const LINES = 400;

/** The lines nearest to the one that was asked for. */
function near(rows: SourceAnswer['rows'], target: number): SourceAnswer['rows'] {
  const at = rows.findIndex((row) => row.line >= target);
  const start = Math.max(0, Math.min((at < 0 ? 0 : at) - LINES / 2, rows.length - LINES));
  return rows.slice(start, start + LINES);
}

function Source({ store, info, target }: { store: StoreInfo; info: Info; target: string }): JSX.Element {
  const options = sharedOptions(state.value, info, { search: false });
  const answer = useAnswer<SourceAnswer>({ command: 'source', store: store.number, operand: target, options: [...options, ['around', '4']] });
  const data = answer.data;
  if (!data || answer.error) return <Section title="Source"><Problem answer={answer} /></Section>;
  const unit: Unit = info.kind === 'recording' ? 'nanoseconds' : unitOf(data.metric ?? '');
  const rows = near(data.rows, data.target_line ?? 0);
  return (
    <Section title="Source" more={<span class="quiet" title={clean(data.file)}>{baseName(data.file)}</span>}>
      {data.source_problem !== null ? <p class="quiet">no text: {clean(data.source_problem)}</p> : null}
      <div class="source" tabIndex={0} role="region" aria-label="Source lines">
        <table><thead class="hidden"><tr><th>cost</th><th>line</th><th>text</th></tr></thead><tbody>
          {rows.map((row) => {
            const own = row.exclusive ?? row.self_ns ?? 0;
            return (
              <tr key={row.line} class={`${row.hot ? 'hot' : ''} ${row.line === data.target_line ? 'target' : ''}`}>
                <td class="number" title={own > 0 ? amount(own, unit) : undefined}>{own > 0 ? percent(row.exclusive_percent ?? row.self_percent) : ''}</td>
                <td class="number quiet">{row.line}</td>
                <td class="code">{row.text === null ? '' : clean(row.text.replaceAll('\t', '    '))}</td>
              </tr>
            );
          })}
        </tbody></table>
      </div>
    </Section>
  );
}

function Path({ chosen }: { chosen: Selection }): JSX.Element | null {
  if (chosen.path.length === 0) return null;
  return (
    <Section title="Call path">
      <ol class="path">
        {chosen.path.map((step, index) => (
          <li key={`${String(index)} ${step.context}`}>
            {index === chosen.path.length - 1 ? <Name name={step.name} /> : <Link onClick={() => go({ context: step.context }, 'replace')}><Name name={step.name} /></Link>}
          </li>
        ))}
      </ol>
    </Section>
  );
}

/** Source that is shown when asked for: of a function whose file the view does not know. */
function LaterSource({ store, info, target }: { store: StoreInfo; info: Info; target: string }): JSX.Element {
  const [isShown, setShown] = useState(false);
  useKeys([{ key: 'o', label: 'o', title: 'source of the selected function', run: () => setShown(true) }]);
  if (isShown) return <Source store={store} info={info} target={target} />;
  return <p class="links"><Link onClick={() => setShown(true)} title="o">show source</Link></p>;
}

export function Side({ store, info }: { store: StoreInfo; info: Info }): JSX.Element {
  const chosen = selection.value;
  const close = <button type="button" class="icon close" aria-label="Close the side pane" title="Close (Esc)" onClick={() => go({ context: '', name: '' })}>×</button>;
  if (!chosen) {
    const { name, context } = state.value;
    const what = name !== '' ? `called ${clean(name)}` : `with the number ${clean(context)}`;
    return <aside aria-label="Selection">{close}<p class="quiet" role="status">{busy.value > 0 ? 'Looking …' : `There is nothing ${what} in this view.`}</p></aside>;
  }
  const { name } = chosen;
  return (
    <aside aria-label="Selection">
      {close}
      <h2 class="title"><span class="name">{clean(chosen.title)}</span></h2>
      <p class="quiet kind">{chosen.kind}</p>
      <dl class="facts">{chosen.facts.map(([label, text]) => [<dt key={`${label} t`}>{label}</dt>, <dd key={`${label} d`} title={text}>{text}</dd>])}</dl>
      {name !== '' ? (
        <p class="links">
          <Link onClick={() => go({ view: 'tree', way: `callers:${name}`, context: '', name: '' })}>callers</Link>
          <Link onClick={() => go({ view: 'tree', way: `focus:${name}`, context: '', name: '' })}>callees</Link>
          <Link onClick={() => go({ filters: [...state.value.filters, `hide:${name}`], context: '', name: '' })}>hide</Link>
        </p>
      ) : null}
      <NotesOf kind="function" target={name} />
      <Path chosen={chosen} />
      {info.kind === 'database' && chosen.context !== '' ? <Spread store={store} info={info} context={chosen.context} />
        : info.kind === 'database' && name !== '' ? <FunctionSpread store={store} info={info} name={name} /> : null}
      {chosen.source !== '' ? <Source store={store} info={info} target={chosen.source} />
        : name !== '' ? <LaterSource key={name} store={store} info={info} target={name} /> : null}
    </aside>
  );
}
