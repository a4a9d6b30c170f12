// SPDX-License-Identifier: BSD-3-Clause
// Further metrics as columns of a table.
import type { JSX } from 'preact';
import { clean } from './format';
import type { Info } from './info';
import { go, type State } from './state';

export function MoreMetrics({ info, state }: { info: Info; state: State }): JSX.Element | null {
  if (info.kind === 'recording' || state.from !== '' || state.to !== '') return null;
  const shown = new Set(state.metrics);
  const first = state.metrics[0] ?? '';
  const names = [...info.metrics.filter((metric) => metric.total !== 0).map((metric) => metric.name), ...info.derived].filter((name) => !shown.has(name));
  if (names.length === 0 || info.metrics.length + info.derived.length < 2) return null;
  const start = first === '' ? info.metrics.filter((metric) => metric.total !== 0).slice(0, 1).map((metric) => metric.name) : [];
  return (
    <>
      {state.metrics.slice(1).map((name) => (
        <button key={name} type="button" class="chip" title="Remove this column" onClick={() => go({ metrics: state.metrics.filter((other) => other !== name) })}>
          {clean(name)} <span aria-hidden="true">×</span>
        </button>
      ))}
      <select aria-label="Add a metric" value="" onChange={(event) => go({ metrics: [...state.metrics, ...start, event.currentTarget.value] })}>
        <option value="">+ metric</option>
        {names.map((name) => <option key={name} value={name}>{clean(name)}</option>)}
      </select>
    </>
  );
}
