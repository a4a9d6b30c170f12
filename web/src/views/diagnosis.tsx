// SPDX-License-Identifier: BSD-3-Clause
// What limits the run, on the Overview: `lode diagnose`, asked for when the tables are there.
import type { JSX } from 'preact';
import { useAnswer, useLater } from '../api';
import { copy } from '../clipboard';
import { choose, commandOf, gainOf, partsOf, placeOf, type Diagnosis as Answer, type Evidence, type Statement } from '../diagnosis';
import { clean } from '../format';
import type { Info } from '../info';
import { Link, Problem, Section } from '../parts';
import { go, type State } from '../state';
import type { ViewProps } from '../view';
import { time } from './time';

/** Statements are about the whole run, whatever is selected. */
const WHOLE: Partial<State> = { profiles: '', from: '', to: '', search: '', filters: [], context: '', name: '' };

function isPart(state: State): boolean {
  return state.profiles !== '' || state.from !== '' || state.to !== '' || state.search !== '' || state.filters.length > 0;
}

/** Pages that show more of a statement, the best one first. */
function placesOf({ function: name, from_ns: from, to_ns: to, evidence }: Statement, run: Answer['run'], info: Info): { title: string; open: () => void }[] {
  const metrics = run.metric === null ? [] : [run.metric];
  const places = name === null ? [] : [{ title: `Callers of ${clean(name)}`, open: () => go({ ...WHOLE, metrics, view: 'tree', way: `callers:${name}`, group: '' }) }];
  if (from !== null && to !== null && time.fits(info, 1)) places.push({ title: 'When it happens', open: () => go({ ...WHOLE, view: 'time', from: `@${from}`, to: `@${to}` }) });
  const other = places.length === 0 ? placeOf(evidence[0]) : null;
  if (other !== null) places.push({ title: 'Shows more', open: () => go({ ...WHOLE, ...other }) });
  return places;
}

function Command({ evidence }: { evidence: Evidence }): JSX.Element | null {
  const line = commandOf(evidence);
  if (line === '') return null;
  return <button type="button" class="link command" title="Copy this command" onClick={() => void copy(line, 'command')}><code>{clean(line)}</code></button>;
}

function Text({ statement, run, info }: { statement: Statement; run: Answer['run']; info: Info }): JSX.Element {
  const [first, ...others] = placesOf(statement, run, info);
  const text = <span class="text">{clean(statement.text)}</span>;
  return <>{first ? <Link title={first.title} onClick={first.open}>{text}</Link> : text}{others.map((place) => <> <Link key={place.title} onClick={place.open}>{place.title}</Link></>)}</>;
}

function Statements({ answer, info }: { answer: Answer; info: Info }): JSX.Element {
  const { shown, hidden, hot, verdict } = choose(answer);
  return (
    <div class="statements">
      {answer.quality.map((note) => <p key={note.id} class="note">{clean(note.text)}</p>)}
      {verdict === '' ? null : <p class="verdict">{verdict}</p>}
      {shown.length === 0 ? null : (
        <ol aria-label="What limits the run">
          {shown.map((statement, index) => (
            <li key={`${statement.id} ${String(index)}`} data-id={statement.id}>
              <Text statement={statement} run={answer.run} info={info} />
              <p class="gain">{gainOf(statement, answer.run)}</p>
              <ul>{statement.evidence.map((evidence, i) => <li key={i}><span class="evidence">{clean(evidence.text)}</span> <Command evidence={evidence} /></li>)}</ul>
              {statement.advice === null ? null : <p class="advice">{clean(statement.advice)}</p>}
            </li>
          ))}
        </ol>
      )}
      {hidden > 0 ? <p class="smaller quiet">{hidden} smaller one{hidden === 1 ? '' : 's'} (lode diagnose --all)</p> : null}
      {hot === null ? null : <p class="hotspot">Most work: <Text statement={hot} run={answer.run} info={info} /></p>}
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
