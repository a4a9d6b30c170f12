// SPDX-License-Identifier: BSD-3-Clause
// SQL: statements that the user types, as `lode sql` runs them: read only, with limits of time, memory and rows.
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ApiError, post, type Query } from '../api';
import { clean, count } from '../format';
import { Grid, type Column } from '../grid';
import type { Info } from '../info';
import { Link, Section } from '../parts';
import { isReport } from '../report';
import { cellsOf, plotOf, type Cell, type Plot, type Result } from '../sql';
import type { State } from '../state';
import type { View, ViewProps } from '../view';

/** What was typed, by store; and which statement the results are of. */
const texts = signal<ReadonlyMap<number, string>>(new Map());
const setText = (store: number, text: string): void => {
  texts.value = new Map([...texts.value, [store, text]]);
};
const FIRST: Readonly<Record<Info['kind'], string>> = {
  database: 'select name, exclusive from hotspot(\'function\') order by exclusive desc limit 10',
  recording: 'select function, calls, self_ns from call_stat order by self_ns desc limit 10',
};

interface Question {
  readonly title: string;
  readonly statement: string;
}

type Row = readonly Cell[];

function columnsOf(result: Result): Column<Row>[] {
  return result.columns.map((title, index) => {
    const isNumber = result.rows.some((row) => typeof row[index]?.number === 'number');
    return {
      key: `c${String(index)}`, title: clean(title) || '?', width: isNumber ? 'minmax(90px, 0.4fr)' : 'minmax(140px, 1fr)', isNumber,
      cell: (row) => <span class={row[index]?.isNull ? 'quiet' : isNumber ? '' : 'code'}>{clean(row[index]?.text)}</span>,
      value: (row) => (row[index]?.isNull ? null : (row[index]?.number ?? row[index]?.text)),
      csv: (row) => (row[index]?.isNull ? null : row[index]?.text),
    };
  });
}

const WIDTH = 800;
const HEIGHT = 160;

/** Bars of the first numeric column, or a line over a first column of numbers. */
function PlotPicture({ plot }: { plot: Plot }): JSX.Element {
  const { points } = plot;
  const [low, high] = [Math.min(0, ...points.map((point) => point.y)), Math.max(0, ...points.map((point) => point.y))];
  const [first, last] = [points[0]?.x ?? 0, points[points.length - 1]?.x ?? 1];
  const y = (value: number): number => HEIGHT - 4 - ((value - low) / (high - low || 1)) * (HEIGHT - 8);
  const x = (point: { x: number }): number => 4 + ((point.x - first) / (last - first || 1)) * (WIDTH - 8);
  const step = WIDTH / Math.max(1, points.length);
  return (
    <Section title={`${clean(plot.title)} by ${clean(plot.by)}`}>
      <div class="axes">
        <span class="y top" aria-hidden="true">{clean(plot.high)}</span><span class="y bottom" aria-hidden="true">{low < 0 ? clean(plot.low) : '0'}</span>
        <svg class="chart sql-chart" role="img" aria-label={`${count(points.length)} values of ${clean(plot.title)} by ${clean(plot.by)}; the table has the numbers`} viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`} preserveAspectRatio="none">
          {plot.kind === 'line' ? <polyline class="curve" points={points.map((point) => `${x(point).toFixed(2)},${y(point.y).toFixed(2)}`).join(' ')} /> : points.map((point, index) => (
            <rect key={index} class="column" x={index * step + step * 0.1} width={step * 0.8} y={Math.min(y(point.y), y(0))} height={Math.max(0.5, Math.abs(y(point.y) - y(0)))}><title>{`${clean(point.name)}: ${clean(point.text)}`}</title></rect>
          ))}
        </svg>
      </div>
      <p class="ends quiet"><span>{clean(points[0]?.name)}</span><span class="space" /><span>{clean(points[points.length - 1]?.name)}</span></p>
    </Section>
  );
}

function Rows({ result, number }: { result: Result; number: number }): JSX.Element {
  const columns = useMemo(() => columnsOf(result), [result]);
  const plot = useMemo(() => plotOf(result), [result]);
  const keys = useMemo(() => new Map(result.rows.map((row, index) => [row, String(index)])), [result]);
  const [selected, setSelected] = useState('');
  return (
    <>
      {plot ? <PlotPicture plot={plot} /> : null}
      <p class="quiet" role="status">{result.isTruncated ? 'the first ' : ''}{count(result.rows.length)} {result.rows.length === 1 ? 'row' : 'rows'}{result.isTruncated ? ': a page shows no more (lode sql does)' : ''}</p>
      <div class="sheet" style={{ height: `${String(Math.min(480, 26 + 30 + 22 * result.rows.length + 8))}px` }}>
        <Grid label={`Result ${String(number)}`} columns={columns} rows={result.rows} rowKey={(row) => keys.get(row) ?? ''} selected={selected} onSelect={(row) => setSelected(keys.get(row) ?? '')} />
      </div>
    </>
  );
}

function useQuestions(store: number): readonly Question[] {
  const [questions, setQuestions] = useState<readonly Question[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    post(`sql/${String(store)}`, '.questions', abort.signal).then((answer) => setQuestions((cellsOf(answer)[0]?.rows ?? []).map((row) => ({ title: row[1]?.text ?? '', statement: row[2]?.text ?? '' }))), () => undefined);
    return () => abort.abort();
  }, [store]);
  return questions;
}

function Sql({ state, info }: ViewProps): JSX.Element {
  const text = texts.value.get(state.store) ?? FIRST[info.kind];
  const questions = useQuestions(state.store);
  const [results, setResults] = useState<readonly Result[] | null>(null);
  const [problem, setProblem] = useState('');
  const [running, setRunning] = useState<AbortController | null>(null);
  const run = (statement: string): void => {
    running?.abort();
    const abort = new AbortController();
    setRunning(abort);
    setProblem('');
    post(`sql/${String(state.store)}`, statement, abort.signal)
      .then((answer) => setResults(cellsOf(answer)), (error: unknown) => {
        if (abort.signal.aborted) return;
        setResults(null);
        setProblem(error instanceof ApiError ? error.message : String(error));
      })
      .finally(() => setRunning((now) => (now === abort ? null : now)));
  };
  useEffect(() => () => running?.abort(), [running]);
  return (
    <div class="sql">
      <div class="ask">
        <div class="edit">
          <textarea
            aria-label="Statement" rows={6} value={text} spellcheck={false} autocomplete="off" onInput={(event) => setText(state.store, event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run(text);
              else if (event.key === 'Escape') event.currentTarget.blur();
              event.stopPropagation();
            }}
          />
          <p class="buttons">
            <button type="button" class="run" disabled={text.trim() === ''} onClick={() => run(text)}>run</button>
            {running ? <button type="button" onClick={() => running.abort()}>stop</button> : null}
            <span class="quiet">Ctrl+Enter. Read only; at most 10 seconds, 256 MiB and 1,000 rows. The tables: lode sql STORE .tables</span>
          </p>
        </div>
        {questions.length > 0 ? (
          <nav class="questions" aria-label="Questions">
            <h2>Questions to this store</h2>
            <ol>{questions.map((question) => (
              <li key={question.statement}><Link title={clean(question.statement)} onClick={() => { setText(state.store, question.statement); run(question.statement); }}>{clean(question.title)}</Link></li>
            ))}</ol>
          </nav>
        ) : null}
      </div>
      <div aria-busy={running !== null}>
        {problem === '' ? null : <p class="problem" role="alert">{clean(problem)}</p>}
        {results?.map((result, index) => <Rows key={index} result={result} number={index + 1} />)}
        {results?.length === 0 ? <p class="quiet">no rows</p> : null}
      </div>
    </div>
  );
}

function query(state: State, info: Info): Query | null {
  return { command: 'sql', store: state.store, options: [], operand: texts.value.get(state.store) ?? FIRST[info.kind] };
}

export const sql: View = { key: 'sql', title: 'SQL', fits: () => !isReport, query, Component: Sql };
