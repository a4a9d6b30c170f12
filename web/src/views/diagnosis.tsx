// SPDX-License-Identifier: BSD-3-Clause
// What limits the run, on the Overview: `lode diagnose`, asked for when the tables are there.
import type { ComponentChildren, JSX } from 'preact';
import { useAnswer, useLater } from '../api';
import { copy } from '../clipboard';
import { choose, commandOf, gainOf, partsOf, placeOf, placeOfEvidence, type Diagnosis as Answer, type Evidence, type Place, type Statement } from '../diagnosis';
import { clean } from '../format';
import type { Info } from '../info';
import { Problem, Section } from '../parts';
import { addressOf, go, state as here, type State } from '../state';
import type { View, ViewProps } from '../view';
import { profiles } from './profiles';
import { requests } from './requests';
import { time } from './time';

/** Statements are about the whole run, whatever is selected. */
const WHOLE: Partial<State> = { profiles: '', from: '', to: '', search: '', filters: [], context: '', name: '', root: '', cross: '', order: '', group: '', way: '', limit: '' };

function isPart(state: State): boolean {
  return state.profiles !== '' || state.from !== '' || state.to !== '' || state.search !== '' || state.filters.length > 0;
}

const SOMETIMES: Readonly<Record<string, View>> = { profiles, requests, time };

/** Which views this store has. */
const viewsOf = (info: Info) => (key: string): boolean => SOMETIMES[key]?.fits(info, 1) ?? true;

/** A link to the page that proves what it says. */
function To({ place, run, children }: { place: Place; run: Answer['run']; children: ComponentChildren }): JSX.Element {
  const to = { ...WHOLE, metrics: run.metric === null ? [] : [run.metric], ...place.to };
  return (
    <a
      class="link" title={clean(place.title)} href={addressOf({ ...here.value, ...to })}
      onClick={(event) => {
        // Another tab or window is the browser's.
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        go(to);
      }}
    >
      {children}
    </a>
  );
}

function Command({ evidence }: { evidence: Evidence }): JSX.Element | null {
  const line = commandOf(evidence);
  if (line === '') return null;
  return <button type="button" class="link command" title="Copy this command" onClick={() => void copy(line, 'command')}><code>{clean(line)}</code></button>;
}

function Text({ statement, run, info }: { statement: Statement; run: Answer['run']; info: Info }): JSX.Element {
  return <To place={placeOf(statement, viewsOf(info))} run={run}><span class="text">{clean(statement.text)}</span></To>;
}

/** Where the function of a statement is called from, unless the statement itself leads there. */
function Callers({ statement, run, info }: { statement: Statement; run: Answer['run']; info: Info }): JSX.Element | null {
  if (statement.function === null || (placeOf(statement, viewsOf(info)).to.way ?? '').startsWith('callers:')) return null;
  return <To place={{ title: `Callers of ${statement.function}`, to: { view: 'tree', way: `callers:${statement.function}` } }} run={run}>callers</To>;
}

function Statements({ answer, info }: { answer: Answer; info: Info }): JSX.Element {
  const { shown, hidden, hot, verdict } = choose(answer);
  const has = viewsOf(info);
  return (
    <div class="statements">
      {answer.quality.map((note) => <p key={note.id} class="note">{clean(note.text)}</p>)}
      {verdict === '' ? null : <p class="verdict">{verdict}</p>}
      {shown.length === 0 ? null : (
        <ol aria-label="What limits the run">
          {shown.map((statement, index) => (
            <li key={`${statement.id} ${String(index)}`} data-id={statement.id}>
              <Text statement={statement} run={answer.run} info={info} /> <Callers statement={statement} run={answer.run} info={info} />
              <p class="gain">{gainOf(statement, answer.run)}</p>
              <ul>{statement.evidence.map((evidence, i) => (
                <li key={i}><To place={placeOfEvidence(evidence, statement, has) ?? placeOf(statement, has)} run={answer.run}><span class="evidence">{clean(evidence.text)}</span></To> <Command evidence={evidence} /></li>
              ))}</ul>
              {statement.advice === null ? null : <p class="advice">{clean(statement.advice)}</p>}
            </li>
          ))}
        </ol>
      )}
      {hidden > 0 ? <p class="smaller quiet">{hidden} smaller one{hidden === 1 ? '' : 's'} (lode diagnose --all)</p> : null}
      {hot === null ? null : <p><span class="hotspot">Most work: <Text statement={hot} run={answer.run} info={info} /></span> <Callers statement={hot} run={answer.run} info={info} /></p>}
    </div>
  );
}

function Parts({ answer }: { answer: Answer }): JSX.Element | null {
  const parts = partsOf(answer);
  if (parts.length === 0) return null;
  return (
    <table class="parts"><caption>Parallel efficiency and its parts</caption><tbody>
      {parts.map((part) => <tr key={part.name}><th scope="row">{part.name}</th><td class="number">{part.percent}%</td><td class="quiet">{part.meaning}</td></tr>)}
    </tbody></table>
  );
}

/** Give it the store as its key: each store is looked at anew. */
export function Diagnosis({ state, info }: ViewProps): JSX.Element {
  const query = useLater({ command: 'diagnose', store: state.store, options: [] });
  const answer = useAnswer<Answer>(query);
  return (
    <div class="diagnosis">
      <Section title="Diagnosis" more={isPart(state) ? 'of the whole run' : null}>
        {answer.error ? <Problem answer={answer} /> : answer.data === null ? (
          <p class="quiet pending" role="status">looking …{answer.done === undefined ? '' : ` ${String(Math.floor(answer.done))}%`}</p>
        ) : <div class="result"><Statements answer={answer.data} info={info} /><Parts answer={answer.data} /></div>}
      </Section>
    </div>
  );
}
