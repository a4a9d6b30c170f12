// SPDX-License-Identifier: BSD-3-Clause
// Findings: `lode check`, what is wrong with the store.
import type { JSX } from 'preact';
import { isKept, session, useAnswer, useLater, type Query } from '../api';
import { clean, count } from '../format';
import { Grid, type Column } from '../grid';
import { Link, Problem } from '../parts';
import { isReport } from '../report';
import { go, type State } from '../state';
import type { View, ViewProps } from '../view';

interface Finding {
  severity: string;
  rule: string;
  file: string | null;
  offset: number | string | null;
  text: string;
}
interface CheckAnswer {
  level: string;
  findings: Finding[];
  result: { sound: boolean; errors: number; warnings: number; notes: number; suppressed: number };
}

const LEVELS = ['quick', 'structure', 'full'] as const;

function levelOf(state: State): string {
  return LEVELS.find((level) => level === state.group) ?? 'structure';
}

function query(state: State): Query {
  const level = levelOf(state);
  return { command: 'check', store: state.store, options: [...(level === 'structure' ? [] : [['level', level] as const]), ['verbose', '']] };
}

const COLUMNS: readonly Column<{ finding: Finding; index: number }>[] = [
  { key: 'severity', title: 'Severity', width: '80px', cell: (row) => <span class={`severity ${row.finding.severity === 'error' ? 'bad' : row.finding.severity === 'warning' ? 'warn' : 'quiet'}`}>{row.finding.severity}</span>, value: (row) => row.finding.severity },
  { key: 'rule', title: 'Rule', width: '170px', cell: (row) => <span class="name">{clean(row.finding.rule)}</span>, value: (row) => row.finding.rule },
  { key: 'file', title: 'File', width: 'minmax(80px, 180px)', cell: (row) => <span class="name">{clean(row.finding.file)}</span>, value: (row) => row.finding.file },
  { key: 'offset', title: 'Offset', width: '100px', isNumber: true, cell: (row) => (row.finding.offset === null ? '' : String(row.finding.offset)), value: (row) => row.finding.offset },
  { key: 'text', title: 'What', width: 'minmax(300px, 1fr)', cell: (row) => <span title={clean(row.finding.text)}>{clean(row.finding.text)}</span>, value: (row) => row.finding.text },
];

function Verdict({ result }: { result: CheckAnswer['result'] }): JSX.Element {
  const part = (number: number, word: string): string => `${count(number)} ${word}${number === 1 ? '' : 's'}`;
  return (
    <span class={result.sound ? 'quiet' : 'bad'}>
      {result.sound ? 'sound' : 'damaged'} · {part(result.errors, 'error')}, {part(result.warnings, 'warning')}, {part(result.notes, 'note')}
      {result.suppressed > 0 ? `, ${count(result.suppressed)} more of the same rules` : ''}
    </span>
  );
}

/**
 * The verdict of this view on the first screen. To check a large store reads all of it, which takes longer than everything else there: until
 * somebody asks for that, the verdict is of a quick check, and says so.
 */
export function Damage({ state }: ViewProps): JSX.Element | null {
  const whole = query({ ...state, group: '' });
  const isLarge = session.value?.stores.find((store) => store.number === state.store)?.checked === 'quick';
  const isQuick = isLarge && !isReport && !isKept(whole);
  const answer = useAnswer<CheckAnswer>(useLater(isQuick ? query({ ...state, group: 'quick' }) : whole));
  const result = answer.data?.result;
  const open = (): void => go({ view: 'findings', order: '', group: '', way: '', limit: '' });
  const hasFindings = result !== undefined && result.errors + result.warnings + result.notes > 0;
  if (!result || !(hasFindings || isQuick)) return null;
  if (!isQuick) return <p class="damage"><Link title="What is wrong, and where" onClick={open}><Verdict result={result} /></Link></p>;
  return <p class="damage quick quiet">quick check: <Verdict result={result} /> · <Link title="Reads the whole store" onClick={open}>check all of it</Link></p>;
}

/** The first findings, as sentences: for a report. */
export function FindingList({ state, most }: ViewProps & { most: number }): JSX.Element {
  const answer = useAnswer<CheckAnswer>(query({ ...state, group: '' }));
  if (answer.data === null) return <Problem answer={answer} />;
  const { findings: list, result } = answer.data;
  return (
    <>
      <p><Verdict result={result} /></p>
      <ul class="findings">{list.slice(0, most).map((finding, index) => <li key={index}><span class="name">{clean(finding.rule)}</span> {clean(finding.text)}</li>)}</ul>
      {list.length > most ? <p class="quiet"><Link onClick={() => go({ view: 'findings' })}>{count(list.length - most)} more</Link></p> : null}
    </>
  );
}

function Findings({ state }: ViewProps): JSX.Element {
  const answer = useAnswer<CheckAnswer>(query(state));
  const level = levelOf(state);
  const rows = (answer.data?.findings ?? []).map((finding, index) => ({ finding, index }));
  return (
    <>
      <div class="toolbar">
        <div class="segments" role="group" aria-label="Level">
          {LEVELS.map((name) => <button key={name} type="button" aria-pressed={name === level} onClick={() => go({ group: name === 'structure' ? '' : name })}>{name}</button>)}
        </div>
        <span class="space" />
        {answer.data ? <Verdict result={answer.data.result} /> : null}
      </div>
      {answer.data === null || answer.error ? <Problem answer={answer} /> : rows.length === 0 ? <p class="pending">No findings: the store is complete and consistent.</p> : (
        <Grid label="Findings" columns={COLUMNS} rows={rows} rowKey={(row) => String(row.index)} selected={state.order} onSelect={(row) => go({ order: String(row.index) }, 'replace')} isStale={answer.isLoading} />
      )}
    </>
  );
}

export const findings: View = { key: 'findings', title: 'Findings', fits: () => true, query: (state) => query(state), Component: Findings };
