// SPDX-License-Identifier: BSD-3-Clause
// Same numbers: the command that a view offers to copy, run with --json, has what the view shows. The page stays below 100 MB.
//   same.mjs [--part I/N] [--only PATTERN]: which of the stores of the corpus; examples are always looked at.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { answerOf, chosenStores, copied, CORPUS, corpusStores, examples, finish, LODE, move, open, serve, settle, show, skipped, test } from './browser.mjs';
import { checkDiagnosis, checkProfiles, checkRequest, checkRequests, checkTime } from './checks.mjs';

const demo = examples();
const stores = [demo.solver, demo.thumbs, demo.shop, ...chosenStores(corpusStores())];

const SCALES = { s: 1e9, ms: 1e6, us: 1e3, ns: 1, PiB: 2 ** 50, TiB: 2 ** 40, GiB: 2 ** 30, MiB: 2 ** 20, KiB: 2 ** 10, B: 1 };

/** That a text such as "634.972 s" is a value, to the last digit that it has. */
function checkText(text, value, isNanoseconds) {
  const match = /^([-+]?[\d,]*\.?\d*(?:e[-+]\d+)?) ?([a-zA-Z]*)%?$/.exec(text.trim());
  assert.ok(match, `"${text}" is no number`);
  const digits = match[1].replaceAll(',', '');
  const scale = match[2] === '' ? 1 : SCALES[match[2]];
  assert.ok(scale !== undefined, `"${text}" has no known unit`);
  const exact = match[2] !== '' && /^[mun]?s$/.test(match[2]) && !isNanoseconds ? value * 1e9 : value;
  const decimals = /\.(\d*)/.exec(digits)?.[1].length ?? 0;
  const exponent = Number(/e([-+]\d+)/.exec(digits)?.[1] ?? 0);
  const step = 10 ** (exponent - decimals) * scale;
  // Of counts, %.6g leaves out zeros at the end.
  const error = Math.max(0.500001 * step, Math.abs(exact) * 5.1e-6 * (match[2] === '' && decimals < 1 && digits.includes('e') ? 1 : 0), match[2] === '' ? Math.abs(exact) * 5.1e-6 * (digits.includes('.') ? 1 : 0) : 0);
  assert.ok(Math.abs(Number(digits) * scale - exact) <= error, `"${text}" is not ${value}`);
}

/** That a text is the ratio of two costs as the program prints it: "gone", "new", "x12", "+3.1%". */
function checkRatio(text, value) {
  if (value > 1e6 || value <= 0) assert.equal(text, value <= 0 ? 'gone' : 'new');
  else if (value >= 10) checkText(text.replace(/^x/, ''), value);
  else checkText(text, (value - 1) * 100);
}

/** The cells of all rows: exact values and what is to be read. Only rows on the screen are in the document, so it grows. */
async function cells(page) {
  const count = await page.$$eval('main .grid', (grids) => Math.max(0, ...grids.map((grid) => Number(grid.getAttribute('aria-rowcount')))));
  const { width } = page.viewportSize();
  await page.setViewportSize({ width, height: Math.max(1000, 22 * count + 400) });
  await page.waitForFunction(() => [...document.querySelectorAll('main .grid')].every((grid) => grid.querySelectorAll('.row').length === Number(grid.getAttribute('aria-rowcount')) - 1));
  const found = await rowsOf(page);
  await page.setViewportSize({ width, height: 1000 });
  return found;
}

function rowsOf(page) {
  return page.$$eval('main .grid .row', (rows) => rows.filter((row) => row.querySelector('[data-column=name]')?.dataset.value !== undefined)
    .map((row) => [Number(row.getAttribute('aria-rowindex')), Object.fromEntries([...row.querySelectorAll('[data-column]')].map((cell) => [cell.dataset.column, { value: cell.dataset.value, text: cell.textContent }]))])
    .sort((a, b) => a[0] - b[0]).map((pair) => pair[1]));
}

const TOP = { exclusive_percent: 'exclusive_percent', exclusive: 'exclusive', inclusive_percent: 'inclusive_percent', inclusive: 'inclusive' };
const CALLS = { exclusive_percent: 'self_percent', exclusive: 'self_ns', inclusive: 'total_ns', elapsed: 'elapsed_ns', calls: 'calls', mean: 'mean_ns', p95: 'p95_ns', max: 'max_ns', errors: 'errors' };
const TREE_CALLS = { inclusive_percent: 'total_percent', inclusive: 'total_ns', elapsed: 'elapsed_ns', exclusive_percent: 'self_percent', exclusive: 'self_ns', calls: 'calls' };
const CHANGES = { base: 'base', new: 'new', difference: 'difference', gross: 'gross', ratio: 'ratio', share_of_base_percent: 'share_of_base_percent' };

function keysOf(answer) {
  if (answer.command === 'compare') return CHANGES;
  if (answer.recording !== undefined) return answer.command === 'tree' ? TREE_CALLS : CALLS;
  // The first metric of a tree has no number.
  const numbered = (key, i) => (i === 0 && answer.command === 'tree' ? key : `${key}_${i + 1}`);
  if (Array.isArray(answer.metrics)) return Object.fromEntries(answer.metrics.flatMap((_, i) => Object.keys(TOP).map((key) => [i === 0 ? key : `${key}${i + 1}`, numbered(key, i)])));
  return TOP;
}

/** Every cell of the table against the answer; returns how many numbers were compared. */
function compare(rows, answer) {
  let count = 0;
  assert.equal(rows.length, answer.rows.length, 'number of rows');
  const keys = keysOf(answer);
  rows.forEach((row, index) => {
    const wanted = answer.rows[index];
    assert.equal(row.name.value, wanted.name);
    assert.equal('elapsed' in row, 'elapsed_ns' in wanted, `elapsed time of ${wanted.name}`);
    for (const [column, key] of Object.entries(keys)) {
      if (!(column in row)) continue;
      const value = wanted[key];
      if (value === null || value === undefined) {
        assert.equal(row[column].value, undefined);
        continue;
      }
      assert.equal(row[column].value, String(value), `${column} of ${wanted.name}`);
      if (key === 'ratio') checkRatio(row[column].text, value);
      else checkText(row[column].text, value, key.endsWith('_ns') || answer.metrics?.[0]?.unit === 'ns');
      count++;
    }
  });
  return count;
}

/** Opens every row of a tree: nothing is selected, so that all of it is meant. */
async function expand(page) {
  await page.keyboard.press('E');
}

/** What the first screen shows: functions, hot path. */
async function checkOverview(page) {
  const answer = await answerOf(await copied(page));
  const bars = await page.$$eval('.bars', (lists) => [...(lists[0]?.querySelectorAll('li') ?? [])].map((item) => [item.dataset.value, item.querySelector('.name').textContent, item.querySelector('.value').textContent]));
  const isRecording = answer.recording !== undefined;
  const rows = answer.rows.filter((row) => row[isRecording ? 'self_ns' : 'exclusive'] !== 0);
  assert.equal(bars.length, rows.length);
  bars.forEach(([value, , text], index) => {
    const wanted = rows[index][isRecording ? 'self_ns' : 'exclusive'];
    assert.equal(value, String(wanted));
    checkText(text, wanted, isRecording);
  });
}

/** Boxes of the flame graph: how many there are, and the table of those of the first level, then of those below the first box. */
async function checkFlame(page) {
  const answer = await answerOf(await copied(page));
  const label = await page.$eval('.flame canvas', (canvas) => canvas.getAttribute('aria-label'));
  assert.equal(label.split(' ')[0].replaceAll(',', ''), String(answer.boxes.length), label);
  let count = 0;
  for (const parent of answer.boxes.length > 0 ? [null, 0] : [null]) {
    if (parent !== null) {
      await page.focus('.flame canvas');
      await page.keyboard.press('ArrowDown');
      await page.waitForFunction(() => document.querySelector('table.boxes').getAttribute('aria-label').startsWith('Boxes that continue'));
    }
    const rows = await page.$$eval('table.boxes tbody tr', (list) => list.map((row) => [row.dataset.box, ...[...row.querySelectorAll('[data-column]')].map((cell) => cell.dataset.value)]));
    const wanted = answer.boxes.filter((box) => box.parent_box === parent).slice(0, 50);
    assert.deepEqual(rows, wanted.map((box) => [box.box, box.inclusive_percent ?? '', box.inclusive, box.name ?? ''].map(String)));
    const texts = await page.$$eval('table.boxes tbody tr', (list) => list.map((row) => row.querySelector('[data-column=inclusive]').textContent));
    texts.forEach((text, i) => checkText(text, wanted[i].inclusive, answer.recording !== undefined));
    count += 2 * rows.length;
  }
  return count;
}

/** Findings in order, and how many there are of each severity. */
async function checkFindings(page) {
  const answer = await answerOf(await copied(page));
  const { findings, result } = answer;
  const verdict = await page.textContent('.toolbar');
  assert.ok(verdict.includes(result.sound ? 'sound' : 'damaged'), verdict);
  for (const [number, word] of [[result.errors, 'error'], [result.warnings, 'warning'], [result.notes, 'note']]) assert.match(verdict.replaceAll(',', ''), new RegExp(`\\b${number} ${word}`));
  const rows = await page.$$eval('main .grid .row', (list) => list.map((row) => [Number(row.getAttribute('aria-rowindex')), ['severity', 'rule', 'file', 'offset', 'text'].map((name) => row.querySelector(`[data-column=${name}]`)?.dataset.value ?? '')])
    .sort((a, b) => a[0] - b[0]).map((pair) => pair[1]));
  assert.ok(rows.length > 0 || findings.length === 0);
  assert.deepEqual(rows, findings.slice(0, rows.length).map((row) => [row.severity, row.rule, row.file ?? '', row.offset ?? '', row.text].map(String)));
  return findings.length;
}

/** What a store is compared with: the one of its kind before it. */
const before = { uftrace: demo.thumbs, zorka: demo.shop, hpctoolkit: demo.solver };

function kindOf(store) {
  return store === demo.thumbs || store.includes('/uftrace/') ? 'uftrace' : store === demo.shop || store.includes('/zorka/') ? 'zorka' : 'hpctoolkit';
}

/** Changes of the Compare view; if the two cannot be compared, the command says the same. */
async function checkCompare(page, messages) {
  const command = await copied(page);
  const problem = await page.$('.problem');
  if (problem) {
    const text = await problem.textContent();
    await assert.rejects(answerOf(command), (error) => error.stderr.includes(text.trim().replace(/\.$/, '')));
    messages.splice(0, messages.length, ...messages.filter((message) => !/Failed to load resource: .* 400/.test(message)));
    return 0;
  }
  return compare(await cells(page), await answerOf(command));
}

/** Views that not every store has: Time, Profiles, Requests, Compare. */
async function checkOthers(page, messages) {
  const views = await page.$$eval('.tabs a', (links) => links.map((link) => new URL(link.href).searchParams.get('v')));
  const found = {};
  const look = async (view, query, check) => {
    if (!views.includes(view)) return;
    // A canvas that is read twice makes the browser complain: a page of its own for each picture.
    if (view === 'time') await show(page, server, `?v=${view}${query}&1`);
    else await move(page, `?v=${view}${query}&1`);
    found[view] = (found[view] ?? 0) + (await check(page, messages));
  };
  const time = async () => (await checkTime(page)).count;
  await look('time', '', time);
  await look('time', '&d=2', time);
  await look('profiles', '', checkProfiles);
  await look('profiles', '&o=value', checkProfiles);
  await look('requests', '', checkRequests);
  await look('requests', '&o=time', checkRequests);
  await look('requests', '&z=3', checkRequests);
  await look('requests', '&i=1', checkRequest);
  await look('compare', '&b=1', checkCompare);
  await look('compare', '&b=1&w=inclusive', checkCompare);
  return found;
}

/** Bytes of the page's own objects, after a collection. */
async function heapOf({ context, page }) {
  const client = await context.newCDPSession(page);
  await client.send('HeapProfiler.collectGarbage');
  await client.send('Performance.enable');
  const { metrics } = await client.send('Performance.getMetrics');
  await client.detach();
  return metrics.find((metric) => metric.name === 'JSHeapUsedSize').value;
}

let compared = 0;
let largest = 0;
let opened = 0;
/** Stores and numbers by view; of Time, the cells of the picture count. */
const others = {};
let server = await serve(...stores.slice(0, 1));
let browserOf = await open(server, { viewport: { width: 1600, height: 1000 } });
for (const store of stores) {
  await test(`${basename(store)}: what views show is what their commands print`, async () => {
    await server.stop();
    await browserOf.context.close();
    server = await serve(store, before[kindOf(store)]);
    browserOf = await open(server, { viewport: { width: 1600, height: 1000 } }, browserOf.browser);
    const { page, messages } = browserOf;
    await show(page, server, '?1');
    const failedStore = await page.$('main.message');
    if (failedStore) {
      assert.match(await page.textContent('main.message'), /cannot be/);
      return;
    }
    const earlier = compared;
    await checkOverview(page);
    compared += await checkDiagnosis(page, store);
    const isRecording = (await page.$('input[aria-label=Tasks]')) !== null;
    const queries = ['v=top', 'v=top&o=inclusive', 'v=tree', 'v=tree&w=up', ...(isRecording ? [] : ['v=top&g=line', 'v=top&g=module', 'v=tree&h=0.1'])];
    for (const query of queries) {
      await move(page, `?${query}&1`);
      if (query.startsWith('v=tree') && (await page.$('[role=treegrid]'))) await expand(page);
      await settle(page);
      const command = await copied(page);
      const answer = await answerOf(command);
      compared += compare(await cells(page), answer);
    }
    for (const query of ['v=flame', 'v=flame&w=up', 'v=flame&g=merge']) {
      await move(page, `?${query}&1`);
      compared += await checkFlame(page);
    }
    await move(page, '?v=findings&1');
    compared += await checkFindings(page);
    const further = Object.entries(await checkOthers(page, messages));
    // A campaign that is cut off has these.
    console.log(`# ${basename(store)}: ${further.map(([view, count]) => `${view} ${count}`).join(', ')}, other views ${compared - earlier}`);
    for (const [view, count] of further) {
      others[view] = { stores: (others[view]?.stores ?? 0) + 1, numbers: (others[view]?.numbers ?? 0) + count };
    }
    before[kindOf(store)] = store;
    opened++;
    const heap = await heapOf(browserOf);
    largest = Math.max(largest, heap);
    assert.ok(heap < 100e6, `the page takes ${heap} bytes`);
    assert.deepEqual(messages, []);
  });
}

await test('several metrics, a selection of profiles and a time window', async () => {
  await server.stop();
  await browserOf.browser.close();
  const fewer = join(dirname(demo.solver), 'fewer');
  execFileSync(LODE, ['slice', demo.solver, '--profiles', 'rank=0-4+6-7', '-o', fewer], { stdio: 'ignore' });
  server = await serve(demo.solver, demo.solver, demo.thumbs, fewer);
  browserOf = await open(server, { viewport: { width: 1800, height: 1000 } });
  const { page, messages } = browserOf;
  for (const query of ['v=top&m=CPUTIME+%28sec%29&m=PAPI_TOT_INS', 'v=tree&m=CPUTIME+%28sec%29&m=PAPI_TOT_INS', 'v=tree&w=up&m=PAPI_TOT_INS&m=CPUTIME+%28sec%29', 'v=top&p=rank%3D0-3', 'v=tree&p=rank%3D5', 'v=top&t=1s..2s', 'v=tree&t=1s..2s', 'v=top&q=mpi', 'v=tree&f=hide%3Acg_solve', 's=2&v=top&t=10ms..50ms', 'v=tree&w=callers%3Aspmv', 'v=tree&w=focus%3Acg_solve', 'v=compare&b=1', 's=2&v=compare&b=0', 'v=tree&g=compare&b=3', 'v=tree&g=compare&b=3&h=0&k=all', 'v=tree&g=compare&b=1', 'v=tree&g=compare&b=1&k=all']) {
    await show(page, server, `?${query}&1`);
    if (await page.$('[role=treegrid]')) await expand(page);
    await settle(page);
    const answer = await answerOf(await copied(page));
    assert.equal(await page.$('.problem'), null, query);
    compared += compare(await cells(page), answer);
  }
  await show(page, server, '?v=flame&g=compare&b=3&1');
  const changes = await answerOf(await copied(page));
  assert.ok((await page.$eval('.flame canvas', (canvas) => canvas.getAttribute('aria-label'))).startsWith(`${changes.rows.length} boxes`));
  const boxes = await page.$$eval('table.boxes tbody tr', (list) => list.map((row) => ['difference', 'gross', 'name'].map((key) => row.querySelector(`[data-column=${key}]`).dataset.value)));
  assert.deepEqual(boxes, changes.rows.filter((row) => row.parent_row === null).map((row) => [row.difference, row.gross, row.name].map(String)));
  compared += 2 * boxes.length;
  assert.deepEqual(messages, []);
});

/** Opens the Overview of one store alone. */
async function overviewOf(store) {
  await server.stop();
  await browserOf.context.close();
  server = await serve(store);
  browserOf = await open(server, { viewport: { width: 1400, height: 1000 } }, browserOf.browser);
  await show(browserOf.page, server, '?1');
  return browserOf;
}

// A store with a statement, one without, requests; the examples have the others.
for (const [place, verdict, statements] of [['hpctoolkit/final/viewer-issue-233', [], 1], ['hpctoolkit/final/viewer-lmp-openmp-v0', ['Nothing stands out.'], 0], ['zorka/stores/first', null, null], ['uftrace/recorded/mt', null, null]]) {
  const store = join(CORPUS, place);
  if (CORPUS === '' || !existsSync(store)) {
    skipped(`${place}: the diagnosis is that of lode diagnose`, 'no corpus');
    continue;
  }
  await test(`${place}: the diagnosis is that of lode diagnose`, async () => {
    const { page, messages } = await overviewOf(store);
    assert.ok((await checkDiagnosis(page, store)) > 0 || verdict === null);
    if (verdict !== null) assert.deepEqual(await page.$$eval('.diagnosis .verdict', (list) => list.map((item) => item.textContent)), verdict);
    if (statements !== null) assert.equal((await page.$$('.diagnosis ol > li')).length, statements);
    assert.deepEqual(messages, []);
  });
}

/** Where the first statement of an example leads. */
const PLACES = { solver: { v: 'profiles', w: 'function:spmv._omp_fn.0', p: 'rank=5' }, thumbs: { v: 'tree', w: 'callers:Cache::get' }, shop: { v: 'requests', f: 'attribute:http.method=POST' } };
for (const [name, store] of Object.entries(demo)) {
  await test(`${name}: a statement leads to the view that shows more, by keyboard; commands can be copied`, async () => {
    const { page, messages } = await overviewOf(store);
    await page.focus('.diagnosis .command');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector('.notice')?.textContent.includes('Copied'));
    const line = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(line, await page.textContent('.diagnosis .command'));
    assert.ok((await answerOf(line)).rows.length > 0);
    await page.focus('.diagnosis ol > li > .link');
    await page.keyboard.press('Enter');
    await page.waitForSelector('main .grid .row');
    await settle(page);
    const address = new URL(page.url()).searchParams;
    assert.deepEqual(Object.fromEntries(Object.keys(PLACES[name]).map((key) => [key, address.get(key)])), PLACES[name]);
    assert.equal(await page.$('.problem'), null);
    if (name === 'solver') {
      assert.equal((await page.$$('.chart .chosen')).length, 8, 'four threads of the rank, as bars and in the map');
      assert.match(await page.textContent('.grid [aria-selected=true]'), /rank 5/);
      assert.ok((await checkProfiles(page)) > 0);
    }
    await page.keyboard.press('Backspace');
    await settle(page);
    await checkDiagnosis(page, store);
    assert.deepEqual(messages, []);
  });
  await test(`${name}: every statement and every line of evidence is a link to a page that has an answer`, async () => {
    const { page, messages } = browserOf;
    await show(page, server, '?1');
    const counts = await page.$$eval('.diagnosis .text, .diagnosis .evidence', (texts) => [texts.length, texts.filter((text) => text.closest('a[href]')).length]);
    assert.ok(counts[0] > 2 && counts[0] === counts[1], counts.join(' '));
    const links = await page.$$eval('.diagnosis a[href]', (all) => all.map((link) => [link.textContent, link.getAttribute('href')]));
    for (const [text, address] of links) {
      await move(page, address);
      assert.equal(await page.$('.problem'), null, `${text}: ${address}`);
      assert.doesNotMatch(address, /v=overview/);
      assert.equal(await page.textContent('.notice'), '', `${text}: ${address}`);
      assert.ok((await page.$$('main .grid .row')).length > 0, `${text}: ${address}`);
    }
    assert.deepEqual(messages, []);
  });
}

if (stores.length === 3) skipped('stores of the corpus', 'no corpus');
await browserOf.browser.close();
await server.stop();
for (const [view, { stores: count, numbers }] of Object.entries(others)) console.log(`# ${view}: ${numbers} numbers of ${count} stores`);
console.log(`# ${compared} numbers of ${opened} of ${stores.length} stores compared in the other views; the page takes up to ${(largest / 1e6).toFixed(1)} MB`);
finish();
