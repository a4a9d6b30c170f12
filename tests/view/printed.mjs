// SPDX-License-Identifier: BSD-3-Clause
// Numbers as people read them: the text of every cell is the text that the command prints, character by character.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { LODE } from './browser.mjs';

const run = promisify(execFile);
const NUMBER = /^[-+x]?[\d,]*\.?\d+(?:e[-+]\d+)?(?:%| [A-Za-z]+)?$|^(?:-|new|gone)$/;

/** What a heading of the program is called in the page, by command; the first '%' is that of the first cost, the second that of the second one. */
const COLUMNS = {
  top: { Exclusive: 'exclusive', Inclusive: 'inclusive', Self: 'exclusive', Total: 'inclusive', '%': ['exclusive_percent', 'inclusive_percent'], Calls: 'calls', Errors: 'errors', Mean: 'mean', p99: 'p99', Max: 'max' },
  tree: { 'Incl %': 'inclusive_percent', Inclusive: 'inclusive', 'Excl %': 'exclusive_percent', 'Total %': 'inclusive_percent', Total: 'inclusive', 'Self %': 'exclusive_percent', Calls: 'calls', '%': ['inclusive_percent'], Cost: 'inclusive' },
  profiles: { Total: 'value', Self: 'value', Value: 'value', '% of mean': 'percent_of_mean' },
  search: { '#': 'number', Duration: 'duration_ns', Calls: 'calls', Errors: 'errors' },
  map: { Calls: 'calls', '1/s': 'per_second', Failures: 'failures', '%': ['failed_percent'], p50: 'p50_ns', p95: 'p95_ns', p99: 'p99_ns', Max: 'max_ns' },
  trace: { Time: 'nanoseconds', '%': ['percent'], Samples: 'samples' },
  compare: { Base: 'base', New: 'new', Difference: 'difference', Change: 'ratio' },
};
/** Headings that only the program has; every other heading is a column of names. */
const OTHERS = new Set(['#', 'Share', 'Rank', 'Context']);

/** Tables that the program prints: [{ heads, rows }], with the cells that are numbers. */
export function tablesOf(text, columns) {
  const tables = [];
  let table = null;
  for (const line of text.split('\n')) {
    const cells = line.replace(/^(?:[.A-Za-z*]| ) {2,}(?=[\d ]*\d)/, '').trim().split(/\s{2,}/);
    const heads = cells.filter((cell) => cell in columns || OTHERS.has(cell));
    if (cells[0] in columns || OTHERS.has(cells[0])) tables.push((table = { heads: cells.slice(0, cells.findLastIndex((cell) => heads.includes(cell)) + 1), all: cells, rows: [] }));
    else if (line.trim() === '') table = table?.rows.length > 0 ? null : table;
    else if (table && NUMBER.test(cells[0])) table.rows.push(cells);
  }
  return tables;
}

function namesOf(heads, columns) {
  const used = {};
  return heads.map((head) => {
    const name = columns[head];
    used[head] = (used[head] ?? -1) + 1;
    return Array.isArray(name) ? name[used[head]] : used[head] === 0 ? name : undefined;
  });
}

/** The text that a command line prints. */
export async function printed(command) {
  const { stdout } = await run('bash', ['-c', command.replace(/^lode /, `'${LODE}' `)], { maxBuffer: 1 << 30 });
  return stdout;
}

/**
 * Every number of the rows of a table ([{ column: text }]) against what the command prints, as text. Returns how many there are, and adds
 * differences to `wrong`.
 */
export function compareTexts(rows, text, kind, wrong, which = 0) {
  const columns = COLUMNS[kind];
  const table = tablesOf(text, columns)[which];
  if (!table) return 0;
  const names = namesOf(table.heads, columns);
  let count = 0;
  rows.slice(0, table.rows.length).forEach((row, index) => {
    names.forEach((name, place) => {
      if (name === undefined || !(name in row)) return;
      const bare = (value) => (value ?? '').replace(/%$/, '').replace('\u2212', '-').trim();
      if (bare(row[name]) !== bare(table.rows[index][place])) wrong.push(`${kind} row ${index} ${name}: "${row[name]}", printed "${table.rows[index][place]}"`);
      count++;
    });
  });
  return count;
}

/** The texts of the rows of the tables of the page, by column. */
export function textsOf(page, selector = 'main .grid') {
  return page.$$eval(`${selector} .row`, (rows) => rows.filter((row) => [...row.querySelectorAll('[data-column]')].some((cell) => cell.dataset.value !== undefined))
    .map((row) => [Number(row.getAttribute('aria-rowindex')), Object.fromEntries([...row.querySelectorAll('[data-column]')].map((cell) => [cell.dataset.column, cell.textContent]))])
    .sort((a, b) => a[0] - b[0]).map((pair) => pair[1]));
}
