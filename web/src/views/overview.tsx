// SPDX-License-Identifier: BSD-3-Clause
// Overview, the first screen: where the time went and what limits the run, without a click.
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { useAnswer, useLater, useRefined, type Query, type Refined } from '../api';
import { amount, baseName, clean, count, percent, unitOf, type Unit } from '../format';
import type { Info } from '../info';
import { Link, Name, Problem, Section, Swatch, WholeRun } from '../parts';
import { readTop, readTree } from '../rows';
import { DistributionFacts } from '../side';
import { go, type State } from '../state';
import { cellsOf, huesOf, running, type Picture } from '../timeline';
import { sharedOptions, type View, type ViewProps } from '../view';
import { Diagnosis } from './diagnosis';
import { Damage } from './findings';
import { Canvas, useGround } from './timeplot';

function topQuery(state: State, info: Info): Query {
  return { command: 'top', store: state.store, options: [...sharedOptions(state, info), ['limit', '12']] };
}

/** Says that numbers are estimates, and when the exact ones have replaced them. */
function Estimated({ answer }: { answer: Refined<unknown> }): JSX.Element | null {
  const wasEstimated = useRef(false);
  wasEstimated.current ||= answer.estimate !== null;
  // The line stays, so that nothing below it moves.
  if (answer.estimate === null) return wasEstimated.current ? <p class="estimate" role="status">Exact: all of the recording has been read.</p> : null;
  const { bytes, bytes_read } = answer.estimate;
  const done = answer.done === undefined ? '' : ` ${String(Math.floor(answer.done))}%`;
  return (
    <p class="estimate" role="status">
      Estimated from {percent((100 * bytes_read) / bytes)}% of the recording; {answer.failure ? <span class="bad">the exact numbers cannot be had: {clean(answer.failure.message)}</span> : <>all of it is being read …{done}</>}
    </p>
  );
}

/** An estimate with how far off it may be. */
function amountWithin(value: number | null, margin: number | null | undefined, unit: Unit): string {
  return `${amount(value, unit)}${margin === null || margin === undefined ? '' : ` ± ${amount(margin, unit)}`}`;
}

function Headline({ state, info }: ViewProps): JSX.Element {
  const answer = useRefined<unknown>(topQuery(state, info), info.kind === 'recording');
  if (answer.data === null) return <p class="headline quiet">{clean(info.title)}</p>;
  const top = readTop(answer.data);
  const metric = top.metrics[0];
  const isRecording = info.kind === 'recording';
  // With concurrent calls, work and elapsed time of requests are two numbers.
  const elapsed = isRecording ? (answer.data as { elapsed_ns?: number }).elapsed_ns : undefined;
  const things = info.hasRequests ? 'request' : isRecording ? 'task' : 'profile';
  return (
    <>
    <p class="headline">
      <b>{amount(metric?.total ?? null, metric?.unit ?? 'count')}</b> {elapsed !== undefined ? <>of work in <b>{amount(elapsed, 'nanoseconds')}</b> of elapsed time</> : isRecording ? 'in calls' : clean(metric?.name)} in <b>{count(top.profiles)}</b> {things}{top.profiles === 1 ? '' : 's'}
      {info.emptyProfiles > 0 ? ` (${count(info.emptyProfiles)} empty)` : ''}
      {info.duration > 0 ? <> · <b>{amount(info.duration, 'nanoseconds')}</b> wall time</> : null}
      <span class="quiet"> · {info.title !== '' ? `${clean(info.title)}, ` : ''}{clean(info.format)}{info.contexts > 0 ? `, ${count(info.contexts)} contexts` : ''}{info.samples > 0 ? `, ${count(info.samples)} samples` : ''}</span>
    </p>
    <Estimated answer={answer} />
    </>
  );
}

/** Rows with a bar: a share that the eye compares, and the number. A name keeps its row when numbers become exact. */
function Bars({ rows, onPick, label, hasShare }: { hasShare?: boolean; rows: readonly { name: string; shown?: string; share: number | null; text: string; exact: number | null; kind?: string | null }[]; onPick: (name: string) => void; label: string }): JSX.Element {
  const seen = new Map<string, number>();
  const keyOf = (name: string): string => {
    seen.set(name, (seen.get(name) ?? 0) + 1);
    return `${String(seen.get(name))} ${name}`;
  };
  return (
    <ol class={hasShare === false ? 'bars no-share' : 'bars'} aria-label={label}>
      {rows.map((row) => (
        <li key={keyOf(row.name)} data-value={row.exact ?? undefined} data-share={row.share ?? undefined}>
          <button type="button" onClick={() => onPick(row.name)}>
            <i class="bar" style={{ width: `${String(Math.min(100, Math.max(0, row.share ?? 0)))}%` }} />
            {hasShare === false ? null : <span class="share">{percent(row.share)}%</span>}
            <span class="what"><Swatch kind={row.kind ?? null} /><Name name={row.shown ?? row.name} /></span>
            <span class="value">{row.text}</span>
          </button>
        </li>
      ))}
    </ol>
  );
}

function Largest({ state, info }: ViewProps): JSX.Element {
  const answer = useRefined<unknown>(topQuery(state, info), info.kind === 'recording');
  if (answer.data === null || answer.error) return <Problem answer={answer} />;
  const top = readTop(answer.data);
  const unit = top.metrics[0]?.unit ?? 'count';
  const isRecording = info.kind === 'recording';
  return (
      <Section title={isRecording ? 'Functions by self time' : 'Functions by exclusive cost'} more={<Link onClick={() => go({ view: 'top' })}>all {count(top.rowCount)}</Link>}>
        {top.rows.length === 0 ? <p class="quiet">No function has a cost.</p> : null}
        <Bars
          label="Functions by exclusive cost" onPick={(name) => go({ view: 'top', name, group: '' })}
          rows={top.rows.filter((row) => row.exclusive !== 0).map((row) => ({ name: row.name, share: row.exclusivePercent, text: amountWithin(row.exclusive, row.exclusiveMargin, unit), exact: row.exclusive, kind: row.kind }))}
        />
      </Section>
  );
}

function HotPath({ state, info }: ViewProps): JSX.Element {
  const answer = useRefined<unknown>({ command: 'tree', store: state.store, options: [...sharedOptions(state, info), ['min-percent', '1'], ['limit', '1000']] }, info.kind === 'recording');
  const tree = answer.data === null ? null : readTree(answer.data);
  const hot = tree?.rows.filter((row) => row.isHot) ?? [];
  return (
    <Section title={answer.estimate ? 'Hot path, estimated' : 'Hot path'} more={<Link onClick={() => go({ view: 'tree' })}>tree</Link>}>
      {tree === null || answer.error ? <Problem answer={answer} /> : (
        <ol class="hotpath">
          {hot.map((row, index) => (
            <li key={`${String(index)} ${row.context}`} data-value={row.inclusive ?? undefined}>
              <Link onClick={() => go({ view: 'tree', context: row.context, way: '' })}>
                <span class="share">{percent(row.inclusivePercent)}%</span> <Name isShort name={row.name} suffix={row.isInlined ? '[inlined]' : ''} />
              </Link>
            </li>
          ))}
        </ol>
      )}
      {tree !== null && hot.length === 0 ? <p class="quiet">No call has a cost of at least 1% of the total.</p> : null}
    </Section>
  );
}

interface ProfilesAnswer {
  metric?: string;
  row_count: number;
  rows: { profile?: number; track?: number; value?: number; total_ns?: number; name: string; tid?: number; duration_ns?: number; percent_of_mean?: number }[];
  distribution: { count: number; sum: number; min: number; p5: number; p25: number; median: number; mean: number; p75: number; p95: number; max: number; imbalance: number | null } | null;
}

/** From the smallest to the largest value: whiskers, the middle half, the median. */
function BoxPlot({ values, label }: { values: NonNullable<ProfilesAnswer['distribution']>; label: string }): JSX.Element {
  const low = 0;
  const at = (value: number): string => `${String(values.max > low ? (100 * (value - low)) / (values.max - low) : 0)}%`;
  const width = (from: number, to: number): string => `${String(values.max > low ? Math.max(0.4, (100 * (to - from)) / (values.max - low)) : 0)}%`;
  return (
    <div class="boxplot" role="img" aria-label={label}>
      <i class="whisker" style={{ left: at(values.min), width: width(values.min, values.max) }} />
      <i class="box" style={{ left: at(values.p25), width: width(values.p25, values.p75) }} />
      <i class="median" style={{ left: at(values.median) }} />
    </div>
  );
}

function Spread({ state, info }: ViewProps): JSX.Element | null {
  const isRecording = info.kind === 'recording';
  const query: Query = { command: 'profiles', store: state.store, options: [...sharedOptions(state, info, { search: false, window: isRecording }), ['limit', '5']] };
  // Tasks of a recording take a pass over all of it.
  const later = useLater(query);
  const answer = useAnswer<ProfilesAnswer>(isRecording ? later : query);
  const data = answer.data;
  const title = info.hasRequests ? 'Spread over requests' : isRecording ? 'Spread over tasks' : 'Spread over profiles';
  if (!data || answer.error) return <Section title={title}><Problem answer={answer} /></Section>;
  const unit = isRecording ? 'nanoseconds' : unitOf(data.metric ?? '');
  const values = data.distribution;
  return (
    <Section title={title}>
      <WholeRun state={state} info={info} />
      {values && values.count > 1 ? (
        <>
          <BoxPlot values={values} label={`from ${amount(values.min, unit)} to ${amount(values.max, unit)}, half of them from ${amount(values.p25, unit)} to ${amount(values.p75, unit)}`} />
          <div class="ends quiet"><span>0</span><span>{amount(values.max, unit)}</span></div>
          <DistributionFacts values={values} unit={unit} />
        </>
      ) : null}
      <table class="small"><caption>largest of {count(data.row_count)}</caption><tbody>
        {data.rows.map((row, index) => {
          const value = row.value ?? row.total_ns ?? row.duration_ns ?? null;
          return (
            <tr key={index} data-value={value ?? undefined}>
              <td>{row.profile !== undefined ? <Link title="Show this profile only" onClick={() => go({ profiles: `profile=${String(row.profile)}` })}><Name name={row.name} /></Link> : <><Name isShort name={row.name} />{row.tid === undefined || info.hasRequests ? null : <span class="quiet"> {String(row.tid)}</span>}</>}</td>
              <td class="number">{amount(value, unit)}</td>
            </tr>
          );
        })}
      </tbody></table>
    </Section>
  );
}

function Modules({ state, info }: ViewProps): JSX.Element | null {
  const answer = useAnswer<unknown>(info.kind === 'recording' ? null : { command: 'top', store: state.store, options: [...sharedOptions(state, info, { search: false }), ['by', 'module'], ['limit', '6']] });
  if (info.kind === 'recording') return null;
  const top = answer.data === null ? null : readTop(answer.data);
  const unit = top?.metrics[0]?.unit ?? 'count';
  return (
    <Section title="Load modules" more={<Link onClick={() => go({ view: 'top', group: 'module' })}>all</Link>}>
      {top === null || answer.error ? <Problem answer={answer} /> : (
        <Bars
          label="Load modules by exclusive cost" onPick={(name) => go({ view: 'top', group: 'module', name })}
          rows={top.rows.filter((row) => row.exclusive !== 0).map((row) => ({ name: row.name, shown: baseName(row.name) || row.name, share: row.exclusivePercent, text: amount(row.exclusive, unit), exact: row.exclusive }))}
        />
      )}
    </Section>
  );
}

/** What the cost is spent in, as one strip: own code, MPI, waiting, ... */
function Kinds({ state, info }: ViewProps): JSX.Element | null {
  const answer = useRefined<unknown>({ command: 'top', store: state.store, options: [...sharedOptions(state, info, { search: false }), ['by', 'kind']] }, info.kind === 'recording');
  if (answer.data === null || answer.error) return <div class="kinds" />;
  const top = readTop(answer.data);
  const unit = top.metrics[0]?.unit ?? 'count';
  const rows = top.rows.filter((row) => (row.exclusivePercent ?? 0) > 0);
  if (rows.length < 2) return null;
  return (
    <div class="kinds">
      <div class="strip" role="img" aria-label={rows.map((row) => `${row.name} ${percent(row.exclusivePercent)}%`).join(', ')}>
        {rows.map((row) => <i key={row.name} class={`kind-${row.kind ?? ''}`} style={{ flexGrow: row.exclusivePercent ?? 0 }} title={`${clean(row.name)}: ${amount(row.exclusive, unit)}`} />)}
      </div>
      <ul>
        {rows.map((row) => <li key={row.name} data-value={row.exclusive ?? undefined}><Swatch kind={row.kind} />{clean(row.name)} <b>{percent(row.exclusivePercent)}%</b></li>)}
      </ul>
    </div>
  );
}

/** The run at a glance, from probes: quick for any number of samples. Recordings would have to be read once more. */
function Strip({ state, info }: ViewProps): JSX.Element | null {
  const has = info.kind === 'database' && info.traceLines > 0 && info.duration > 0;
  const options = [['merge', ''], ['probes', ''], ['rows', '32'], ['columns', '1000'], ['limit', '0'], ...(state.profiles === '' ? [] : [['profiles', state.profiles] as const])] as const;
  const answer = useAnswer<Picture>(has ? { command: 'trace', store: state.store, options } : null);
  const ground = useGround();
  const picture = answer.data;
  if (!has || !picture || answer.error || picture.timeline.length === 0) return null;
  const largest = running(picture)[0];
  const end = Number(BigInt(picture.to_ns) - BigInt(picture.start_ns));
  return (
    <div class="run">
      <button type="button" title="Time" onClick={() => go({ view: 'time' })}>
        <Canvas id="strip" cells={cellsOf(picture)} hues={huesOf(picture, picture)} ground={ground} only={null} height={40} label={`The run over time, ${count(picture.line_count)} lines${largest ? `; mostly ${clean(largest.name)}` : ''}`} />
      </button>
      <div class="ends quiet"><span>0 s</span><span class="space" /><span>{amount(end, 'nanoseconds')}</span></div>
    </div>
  );
}

/** A second look at the same cost: lines of a database, functions with their callees of a recording. */
function Second({ state, info }: ViewProps): JSX.Element | null {
  const isRecording = info.kind === 'recording';
  const options = sharedOptions(state, info);
  const answer = useRefined<unknown>({ command: 'top', store: state.store, options: isRecording ? [...options, ['sort', 'inclusive'], ['limit', '8']] : [...options, ['by', 'line'], ['limit', '8']] }, isRecording);
  if (answer.data === null || answer.error) return null;
  const top = readTop(answer.data);
  const unit = top.metrics[0]?.unit ?? 'count';
  if (top.rows.length === 0) return null;
  const title = isRecording ? 'Functions by total time' : 'Lines by exclusive cost';
  const pick = (name: string): void => (isRecording ? go({ view: 'top', order: 'inclusive', name, group: '' }) : go({ view: 'top', group: 'line', name }));
  return (
    <Section title={title} more={<Link onClick={() => (isRecording ? go({ view: 'top', order: 'inclusive' }) : go({ view: 'top', group: 'line' }))}>all {count(top.rowCount)}</Link>}>
      <Bars
        label={title} onPick={pick} hasShare={!isRecording}
        rows={top.rows.filter((row) => isRecording || row.exclusive !== 0).map((row) => ({
          name: row.name, share: isRecording ? row.inclusivePercent : row.exclusivePercent,
          text: isRecording ? amountWithin(row.inclusive, row.inclusiveMargin, unit) : amount(row.exclusive, unit), exact: isRecording ? row.inclusive : row.exclusive, kind: row.kind,
        }))}
      />
    </Section>
  );
}

function Metrics({ info }: { info: Info }): JSX.Element | null {
  // Accumulators are sums that only mean something divided by a count; derived metrics have that.
  const list = info.metrics.filter((metric) => metric.total !== 0 && !metric.name.includes('_ACUMU'));
  if (list.length < 2) return null;
  return (
    <Section title="Metrics">
      <table class="small"><caption class="hidden">Totals of metrics</caption><tbody>
        {list.slice(0, 12).map((metric) => (
          <tr key={metric.index} data-value={metric.total}><td><Link onClick={() => go({ metrics: [metric.name] })}><Name name={metric.name} /></Link></td><td class="number">{amount(metric.total, unitOf(metric.name))}</td></tr>
        ))}
      </tbody></table>
      {list.length > 12 ? <p class="quiet">{count(list.length - 12)} more</p> : null}
    </Section>
  );
}

export function Overview(props: ViewProps): JSX.Element {
  return (
    <div class="overview">
      <Headline {...props} />
      <Damage {...props} />
      <Kinds {...props} />
      <Strip {...props} />
      <Diagnosis key={props.state.store} {...props} />
      <div class="wide"><Largest {...props} /><Second {...props} /></div>
      <div class="narrow"><HotPath {...props} /></div>
      <div class="narrow"><Spread {...props} /><Modules {...props} /><Metrics info={props.info} /></div>
    </div>
  );
}

export const overview: View = { key: 'overview', title: 'Overview', fits: () => true, query: topQuery, Component: Overview };
