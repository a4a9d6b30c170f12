// SPDX-License-Identifier: BSD-3-Clause
// One request: its exceptions, its calls as a waterfall with a lane for what runs beside it, and its critical path.
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { useAnswer, type Answer, type Query } from '../api';
import { amount, clean, count, percent } from '../format';
import { Grid, type Column } from '../grid';
import { NotesOf } from '../notes';
import { Link, Name, Problem, Section } from '../parts';
import { markPath, readCalls, type Call, type Event, type Step } from '../request';
import { go, type State } from '../state';

const EVENTS = 2000;
const WIDTH = 1000;
const CAUSES = 6;

export function callsQuery(state: State): Query {
  return { command: 'replay', store: state.store, options: [['id', state.request], ['limit', String(EVENTS)]] };
}

function pathQuery(state: State): Query {
  return { command: 'search', store: state.store, options: [['critical-path', ''], ['id', state.request]] };
}

interface PathAnswer {
  readonly time_ns: number;
  readonly rows: readonly { time_ns: number; percent: number | null; saves_ns: number; saves_percent: number | null; name: string }[];
  readonly steps?: readonly Step[];
}

interface Row {
  readonly call: Call;
  readonly index: number;
}

/** A call from its begin to its end; strong where the request waits for it, with a mark for each event. */
function Bar({ call, whole }: { call: Call; whole: number }): JSX.Element {
  const x = (time: number): number => (time / whole) * WIDTH;
  return (
    <svg class="fall" aria-hidden="true" viewBox={`0 0 ${String(WIDTH)} 14`} preserveAspectRatio="none">
      <rect class={call.hasFailed ? 'part failed' : call.lane > 0 ? 'part beside' : 'part'} x={x(call.begin)} width={Math.max(2, x(call.duration))} y="3" height="8" />
      {call.path.map((step) => <rect key={step.begin} class="critical" x={x(step.begin)} width={Math.max(1, x(step.duration))} y="5" height="4" />)}
      {call.moments.map((moment, index) => <rect key={index} class="moment" x={x(moment.time) - 1} width="2" y="1" height="12" />)}
    </svg>
  );
}

function columnsOf(whole: number, hasLanes: boolean): Column<Row>[] {
  const lane: Column<Row> = { key: 'lane', title: 'Lane', width: '60px', isNumber: true, hint: 'Lanes from 1 on run beside the main one', cell: ({ call }) => (call.lane === 0 ? '' : `∥ ${String(call.lane)}`), value: ({ call }) => call.lane };
  return [
    { key: 'begin', title: 'Start', width: '100px', isNumber: true, cell: ({ call }) => amount(call.begin, 'nanoseconds'), value: ({ call }) => call.begin },
    { key: 'duration_ns', title: 'Duration', width: '100px', isNumber: true, cell: ({ call }) => amount(call.duration, 'nanoseconds'), value: ({ call }) => call.duration },
    ...(hasLanes ? [lane] : []),
    { key: 'bar', title: 'Waterfall', width: 'minmax(200px, 3fr)', cell: ({ call }) => <Bar call={call} whole={whole} /> },
    {
      key: 'name', title: 'Call', width: 'minmax(300px, 2fr)', value: ({ call }) => call.name, cell: ({ call }) => (
        <span>
          {'\u00a0'.repeat(Math.min(40, call.depth) * 2)}{call.path.length > 0 ? '▸ ' : ''}<span class="name">{clean(call.name)}</span>
          {call.hasFailed ? <span class="bad"> failed</span> : null}{call.isOpen ? <span class="quiet"> (end not recorded)</span> : null}{call.isMoved ? <span class="quiet" title="A repair of clocks moved it"> ⇄</span> : null}
        </span>
      ),
    },
  ];
}

/** What a failed request threw stands first. */
function Exceptions({ rows }: { rows: readonly Row[] }): JSX.Element | null {
  const thrown = rows.filter(({ call }) => call.exceptions.length > 0);
  if (thrown.length === 0) return null;
  return (
    <section class="thrown" aria-label="Exceptions" tabIndex={0}>
      {thrown.map(({ call, index }) => (
        <div key={index}>
          {call.exceptions.map((exception, at) => (
            <div key={at} class={exception.isCause ? 'cause' : ''}>
              <p><b class="bad">{exception.isCause ? 'caused by ' : ''}{clean(exception.title)}</b>{exception.isCause ? null : <> in <Link title="Select the call" onClick={() => go({ cross: String(index) }, 'replace')}>{clean(call.name)}</Link></>}</p>
              <ol class="frames">{exception.frames.map((frame, line) => <li key={line} class="name">at {clean(frame)}</li>)}</ol>
            </div>
          ))}
        </div>
      ))}
    </section>
  );
}

/** What was recorded of the selected call. */
function Details({ call }: { call: Call }): JSX.Element {
  const facts = [...(call.service === null ? [] : [['service', call.service] as const]), ...call.facts, ...call.attributes];
  return (
    <Section title={clean(call.name)}>
      <dl class="facts">{facts.map(([name, text], index) => <div key={index}><dt>{clean(name)}</dt><dd class="name">{clean(text)}</dd></div>)}</dl>
      {call.moments.length > 0 ? (
        <ul class="moments">
          {call.moments.map((moment, index) => (
            <li key={index}>
              <span class="number">{amount(moment.time, 'nanoseconds')}</span> {moment.request === '' ? <b>{clean(moment.name)}</b> : <Link title="Open the request that it links to" onClick={() => go({ request: moment.request, cross: '' })}>link</Link>} <span class="name quiet">{clean(moment.text)}</span>
            </li>
          ))}
        </ul>
      ) : null}
    </Section>
  );
}

/** Functions on the critical path, and by how much the request would be shorter without them. */
function Waits({ answer }: { answer: Answer<PathAnswer> }): JSX.Element {
  const data = answer.data;
  return (
    <Section title="Critical path">
      {data === null || answer.error ? <Problem answer={answer} /> : (
        <table class="waits">
          <thead><tr><th class="number">On path</th><th class="number">%</th><th class="number">Saves</th><th class="number">%</th><th>Function</th></tr></thead>
          <tbody>
            {data.rows.slice(0, CAUSES).map((row) => (
              <tr key={row.name}>
                <td class="number" data-value={row.time_ns}>{amount(row.time_ns, 'nanoseconds')}</td><td class="number">{percent(row.percent)}%</td>
                <td class="number" data-value={row.saves_ns}>{amount(row.saves_ns, 'nanoseconds')}</td><td class="number">{percent(row.saves_percent)}%</td><td><Name name={row.name} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Section>
  );
}

export function Waterfall({ state }: { state: State }): JSX.Element {
  const answer = useAnswer<{ rows: Event[]; is_truncated: boolean }>(callsQuery(state));
  const path = useAnswer<PathAnswer>(pathQuery(state));
  const rows = useMemo(() => {
    const calls = readCalls(answer.data?.rows ?? []);
    markPath(calls, path.data?.steps ?? []);
    return calls.map((call, index): Row => ({ call, index }));
  }, [answer.data, path.data]);
  const whole = Math.max(1, ...rows.map(({ call }) => call.begin + call.duration));
  const lanes = rows.reduce((most, { call }) => Math.max(most, call.lane), 0);
  const chosen = rows[Number(state.cross === '' ? 0 : state.cross)];
  return (
    <>
      <div class="toolbar">
        <Link onClick={() => go({ request: '', cross: '' })}>all requests</Link>
        <span>request {clean(state.request)}</span>
        <span class="space" />
        {answer.error ? null : <span class="quiet">{answer.data?.is_truncated ? 'the first ' : ''}{count(rows.length)} calls{lanes > 0 ? `, ${count(lanes)} lane${lanes === 1 ? '' : 's'} beside` : ''} · {amount(whole, 'nanoseconds')} · ▸ critical path</span>}
      </div>
      <NotesOf kind="request" target={state.request} />
      {answer.data === null || answer.error ? <Problem answer={answer} /> : (
        <>
          <Exceptions rows={rows} />
          <Grid label="Calls of the request" columns={columnsOf(whole, lanes > 0)} rows={rows} rowKey={(row) => String(row.index)} selected={state.cross} onSelect={(row) => go({ cross: String(row.index) }, 'replace')} isStale={answer.isLoading} rowClass={({ call }) => (call.lane > 0 ? 'side' : '')} />
          <div class="request-below">
            <div role="region" aria-label="Selected call" tabIndex={0}>{chosen ? <Details call={chosen.call} /> : null}</div>
            <div role="region" aria-label="Critical path" tabIndex={0}><Waits answer={path} /></div>
          </div>
        </>
      )}
    </>
  );
}
