// SPDX-License-Identifier: BSD-3-Clause
// Numbers as people see them: what the tables of the page show is what the commands print as text, digit for digit and with its unit, on
// stores of all kinds.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { LODE, examples, finish, open, serve, settle, show, test } from './browser.mjs';

const DATA = process.env.LODE_DATA ?? '';
const demo = examples();
const own = ['pprof/cpu.pb.gz', 'pprof/heap-after.pprof', 'folded/fractions.folded', 'hpctoolkit/final/made-ranks', 'hpctoolkit/final/made-gpu', 'uftrace/recorded/mt/uftrace.data', 'zorka/stores/example-shop', 'otlp/small']
  .map((name) => join(DATA, name)).filter((path) => DATA !== '' && existsSync(path));
const browser = await chromium.launch({ executablePath: process.env.BROWSER_PROGRAM, args: ['--no-sandbox'] });
let compared = 0;

/** Rows of a table that a command prints, as cells; after the line of titles that begins with `first`. */
function printed(first, ...words) {
  const lines = execFileSync(LODE, words, { encoding: 'utf-8', maxBuffer: 1 << 28, env: { ...process.env, COLUMNS: '400', NO_COLOR: '1', LC_ALL: 'C.UTF-8' }, stdio: ['ignore', 'pipe', 'ignore'] }).split('\n');
  const begin = lines.findIndex((line) => line.trim().split(/ {2,}/)[0] === first);
  const rows = [];
  for (const line of begin < 0 ? [] : lines.slice(begin + 1)) {
    if (line.trim() === '' || line.startsWith('showing ')) break;
    rows.push(line.trim().split(/ {2,}/));
  }
  return rows;
}

/** The texts of cells on the page, row by row. */
function shown(page, columns) {
  return page.$$eval('main .grid .row', (rows, names) => rows.filter((row) => row.querySelector('[data-column=name]')?.dataset.value !== undefined)
    .map((row) => [Number(row.getAttribute('aria-rowindex')), names.map((name) => row.querySelector(`[data-column=${name}]`)?.textContent)])
    .sort((a, b) => a[0] - b[0]).map((pair) => pair[1]), columns);
}

function same(found, wanted, what) {
  assert.ok(found.length > 0, `${what}: nothing is shown`);
  assert.deepEqual(found, wanted.slice(0, found.length), what);
  compared += found.flat().length;
}

const percents = (cells, which) => cells.map((cell, index) => (which.includes(index) ? `${cell}%` : cell));

async function checkFunctions(page, store, isRecording) {
  if (isRecording) {
    // Where calls run at the same time, both have a column for elapsed time.
    const elapsed = (await page.$('main .grid .row [data-column=elapsed]')) ? ['elapsed'] : [];
    const columns = ['exclusive', 'exclusive_percent', 'inclusive', ...elapsed, 'calls'];
    const found = (await shown(page, columns)).map((cells) => percents(cells, [1]));
    same(found, printed('Self', 'top', store, '--limit', '200').map((cells) => cells.slice(0, columns.length)), 'Functions');
  } else {
    const found = (await shown(page, ['exclusive', 'exclusive_percent', 'inclusive', 'inclusive_percent'])).map((cells) => percents(cells, [1, 3]));
    same(found, printed('Exclusive', 'top', store, '--limit', '200').map((cells) => cells.slice(0, 4)), 'Functions');
  }
}

/** Rows that are closed are not on the page: each that is shown is one that is printed. */
async function checkTree(page, store, isRecording) {
  const elapsed = (await page.$('main .grid .row [data-column=elapsed]')) ? ['elapsed'] : [];
  const columns = ['inclusive_percent', 'inclusive', ...elapsed, 'exclusive_percent'];
  const found = (await shown(page, columns)).map((cells) => percents(cells, [0, columns.length - 1]).join(' '));
  const wanted = new Set(printed(isRecording ? 'Total %' : 'Incl %', 'tree', store, '--limit', '1000').map((cells) => cells.slice(0, columns.length).join(' ')));
  assert.ok(found.length > 0);
  assert.deepEqual(found.filter((row) => !wanted.has(row)), [], 'Tree');
  compared += columns.length * found.length;
}

for (const store of [demo.solver, demo.thumbs, demo.shop, ...own]) {
  await test(`${store.split('/').slice(-2).join('/')}: texts of numbers are those that commands print`, async () => {
    const server = await serve(store);
    const { context, page } = await open(server, {}, browser);
    await settle(page);
    const tabs = await page.$$eval('.tabs a', (links) => links.map((link) => link.textContent));
    const isRecording = JSON.parse(execFileSync(LODE, ['info', store, '--json'], { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] })).recording !== undefined;
    const total = await page.textContent('.headline b');
    const heading = execFileSync(LODE, ['top', store], { encoding: 'utf-8', stdio: ['ignore', 'pipe', 'ignore'] }).split('\n')[0];
    assert.ok(heading.includes(total), `${total}: ${heading}`);
    const elapsed = / of work in (\S+ \S+) of elapsed time/.exec(heading)?.[1];
    if (elapsed !== undefined) assert.ok((await page.textContent('.headline')).includes(` of work in ${elapsed} of elapsed time`), elapsed);
    await show(page, server, '?v=top&1');
    await checkFunctions(page, store, isRecording);
    await show(page, server, '?v=tree&1');
    await checkTree(page, store, isRecording);
    if (tabs.includes('Profiles')) {
      await show(page, server, '?v=profiles&1');
      const wanted = isRecording ? printed('Total', 'profiles', store, '--sort', 'index', '--limit', '400').map((cells) => [cells[0]]) : printed('#', 'profiles', store, '--sort', 'name', '--limit', '100').map((cells) => [cells[1]]);
      same(await shown(page, ['value']), wanted, 'Profiles');
    }
    if (tabs.includes('Requests')) {
      await show(page, server, '?v=requests&1');
      const found = await shown(page, ['duration_ns']);
      const wanted = printed('#', 'search', store, '--sort', 'duration', '--limit', '500').filter((cells) => /^\d+$/.test(cells[0])).map((cells) => cells.find((cell) => / (s|ms|us)$/.test(cell)));
      same(found.flat(), wanted, 'Requests');
    }
    if (tabs.includes('Time')) {
      await show(page, server, '?v=time&1');
      const found = (await shown(page, ['nanoseconds', 'percent'])).map((cells) => `${cells[0]} ${cells[1]}%`);
      const wanted = new Set(printed('Time', 'trace', store, '--merge', '--rows', '300', '--columns', '1000', '--limit', '0').map((cells) => cells.slice(-4, -2).join(' ')));
      assert.deepEqual(found.filter((row) => !wanted.has(row)), [], 'Time');
      compared += 2 * found.length;
    }
    await context.close();
    await server.stop();
  });
}

const pairs = [['hpctoolkit/final/made-old', 'hpctoolkit/final/made-new'], ['pprof/heap-before.pprof', 'pprof/heap-after.pprof']].map((pair) => pair.map((name) => join(DATA, name)));
for (const [before, after] of pairs.filter((pair) => DATA !== '' && pair.every((path) => existsSync(path)))) {
  await test(`${before.split('/').pop()}, compared: texts are those of lode compare`, async () => {
    const server = await serve(before, after);
    const { context, page } = await open(server, {}, browser);
    await settle(page);
    await show(page, server, '?v=compare&1');
    same(await shown(page, ['base', 'new', 'difference', 'ratio']), printed('Base', 'compare', before, after, '--limit', '200').map((cells) => cells.slice(0, 4)), 'Compare');
    await context.close();
    await server.stop();
  });
}

await browser.close();
console.log(`# ${compared} texts compared`);
finish();
