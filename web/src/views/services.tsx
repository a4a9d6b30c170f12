// SPDX-License-Identifier: BSD-3-Clause
// Which service calls which: `lode search --map`, as a picture and as tables.
import type { JSX } from 'preact';
import { useAnswer, type Query } from '../api';
import { amount, clean, count, percent } from '../format';
import { Grid, type Column } from '../grid';
import { Problem, Section } from '../parts';
import { layersOf } from '../services';
import { go } from '../state';

interface Rate {
  readonly per_second: number | null;
  readonly failures: number;
  readonly failed_percent: number | null;
  readonly p50_ns: number;
  readonly p95_ns: number;
  readonly p99_ns: number;
  readonly max_ns: number;
}
interface Edge extends Rate {
  readonly calls: number;
  readonly caller: string | null;
  readonly callee: string;
}
interface Service extends Rate {
  readonly entries: number;
  readonly calls: number;
  readonly name: string;
}
interface MapAnswer {
  readonly requests: number;
  readonly rows: readonly Edge[];
  readonly services: readonly Service[];
}

const NONE = '(none)';
const UNKNOWN = '(unknown)';
const BOX = { width: 190, height: 46, across: 250, down: 66 };

/** A value of a condition of --where. */
const quoted = (name: string): string => (/^[\w./-]+$/.test(name) ? name : `"${name.replace(/["\\]/g, '\\$&')}"`);

/** Requests with such a call; services that were not recorded have no name to ask for. */
function toRequests(condition: string | null): void {
  if (condition !== null) go({ group: '', filters: [`where:${condition}`], order: '' });
}

function conditionOf({ caller, callee }: Edge): string | null {
  if (callee === UNKNOWN || caller === UNKNOWN) return null;
  return caller === null ? `outermost service=${quoted(callee)}` : `{service=${quoted(callee)}} directly below {service=${quoted(caller)}}`;
}

function rateColumns<R extends Rate>(calls: (row: R) => number, title: string): Column<R>[] {
  const time = (key: 'p50_ns' | 'p95_ns' | 'p99_ns' | 'max_ns', heading: string): Column<R> => ({ key, title: heading, width: '100px', isNumber: true, cell: (row) => amount(row[key], 'nanoseconds'), value: (row) => row[key] });
  return [
    { key: 'calls', title, width: '90px', isNumber: true, cell: (row) => count(calls(row)), value: calls },
    { key: 'per_second', title: '1/s', width: '90px', isNumber: true, cell: (row) => (row.per_second === null ? '-' : amount(row.per_second, 'count')), value: (row) => row.per_second },
    { key: 'failures', title: 'Failures', width: '80px', isNumber: true, cell: (row) => count(row.failures), value: (row) => row.failures },
    { key: 'failed_percent', title: '%', width: '70px', isNumber: true, cell: (row) => percent(row.failed_percent), value: (row) => row.failed_percent, bar: (row) => row.failed_percent ?? 0 },
    time('p50_ns', 'p50'), time('p95_ns', 'p95'), time('p99_ns', 'p99'), time('max_ns', 'Max'),
  ];
}

const EDGES: readonly Column<Edge>[] = [
  ...rateColumns<Edge>((row) => row.calls, 'Calls'),
  { key: 'caller', title: 'Caller', width: 'minmax(120px, 1fr)', cell: (row) => <span class="name">{clean(row.caller ?? NONE)}</span>, value: (row) => row.caller ?? NONE },
  { key: 'name', title: 'Callee', width: 'minmax(120px, 1fr)', cell: (row) => <span class="name">{clean(row.callee)}</span>, value: (row) => row.callee },
];
const SERVICES: readonly Column<Service>[] = [
  ...rateColumns<Service>((row) => row.entries, 'Entries'),
  { key: 'all', title: 'All calls', width: '90px', isNumber: true, cell: (row) => count(row.calls), value: (row) => row.calls },
  { key: 'name', title: 'Service', width: 'minmax(160px, 1fr)', cell: (row) => <span class="name">{clean(row.name)}</span>, value: (row) => row.name },
];

const cut = (text: string, most: number): string => {
  const letters = Array.from(clean(text));
  return letters.length <= most ? letters.join('') : `${letters.slice(0, most - 1).join('')}…`;
};

/** Services in columns, callers to the left of what they call; the more calls, the thicker the line. */
function Picture({ answer }: { answer: MapAnswer }): JSX.Element | null {
  const edges = answer.rows.filter((edge): edge is Edge & { caller: string } => edge.caller !== null && edge.caller !== edge.callee);
  const layers = layersOf(answer.services.map((service) => service.name), edges);
  const places = new Map(layers.flatMap((layer, column) => layer.map((name, row) => [name, { x: 20 + column * BOX.across, y: 12 + row * BOX.down }] as const)));
  const most = Math.max(1, ...edges.map((edge) => edge.calls));
  const [width, height] = [40 + (layers.length - 1) * BOX.across + BOX.width, 24 + Math.max(1, ...layers.map((layer) => layer.length)) * BOX.down];
  return (
    <div class="map" tabIndex={0} role="region" aria-label="Picture of the services">
      <svg width={width} height={height} role="img" aria-label={`${count(answer.services.length)} services, ${count(edges.length)} pairs of them call each other; the table has the numbers`}>
        {edges.map((edge) => {
          const [from, to] = [places.get(edge.caller), places.get(edge.callee)];
          if (!from || !to) return null;
          const [x, y, left, top] = [from.x + BOX.width, from.y + BOX.height / 2, to.x, to.y + BOX.height / 2];
          const bend = Math.max(40, Math.abs(left - x) / 2);
          return (
            <path key={`${edge.caller} ${edge.callee}`} class={edge.failures > 0 ? 'edge failed' : 'edge'} data-calls={edge.calls} d={`M${String(x)},${String(y)} C${String(x + bend)},${String(y)} ${String(left - bend)},${String(top)} ${String(left)},${String(top)}`} stroke-width={1 + 4 * (Math.log1p(edge.calls) / Math.log1p(most))} onClick={() => toRequests(conditionOf(edge))}>
              <title>{`${clean(edge.caller)} calls ${clean(edge.callee)}: ${count(edge.calls)}, ${percent(edge.failed_percent)}% fail, p95 ${amount(edge.p95_ns, 'nanoseconds')}`}</title>
            </path>
          );
        })}
        {answer.services.map((service) => {
          const place = places.get(service.name);
          return place ? (
            <g key={service.name} class={service.failures > 0 ? 'service failed' : 'service'} onClick={() => toRequests(service.name === UNKNOWN ? null : `service=${quoted(service.name)}`)}>
              <title>{clean(service.name)}</title>
              <rect x={place.x} y={place.y} width={BOX.width} height={BOX.height} rx="4" />
              <text x={place.x + 8} y={place.y + 18} class="title">{cut(service.name, 24)}</text>
              <text x={place.x + 8} y={place.y + 36}>{`p95 ${amount(service.p95_ns, 'nanoseconds')} · ${percent(service.failed_percent)}% fail`}</text>
            </g>
          ) : null;
        })}
      </svg>
    </div>
  );
}

export function Services({ query }: { query: Query }): JSX.Element {
  const answer = useAnswer<MapAnswer>(query);
  const { data } = answer;
  if (data === null || answer.error) return <Problem answer={answer} />;
  return (
    <div class="services">
      <Section title={`Services in ${count(data.requests)} request${data.requests === 1 ? '' : 's'}`} more={<span class="quiet">a click, or Enter on a row, shows the requests with such calls</span>}><Picture answer={data} /></Section>
      <Grid label="Calls between services" columns={EDGES} rows={data.rows} rowKey={(row) => JSON.stringify([row.caller, row.callee])} selected="" onSelect={() => undefined} onEnter={(row) => toRequests(conditionOf(row))} isStale={answer.isLoading} rowClass={(row) => (row.failures > 0 ? 'with-failures' : '')} />
      <Grid label="Services" columns={SERVICES} rows={data.services} rowKey={(row) => row.name} selected="" onSelect={() => undefined} onEnter={(row) => toRequests(row.name === UNKNOWN ? null : `service=${quoted(row.name)}`)} isStale={answer.isLoading} />
    </div>
  );
}
