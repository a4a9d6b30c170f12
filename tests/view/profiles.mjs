// SPDX-License-Identifier: BSD-3-Clause
// Profiles and Requests: every number on the page is one of the command that the page offers to copy; a click selects.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { basename, join } from 'node:path';
import { answerOf, copied, corpusStores, examples, finish, LODE, open, serve, settle, show, test } from './browser.mjs';
import { checkProfiles, checkRequest, checkRequests, rowsOf } from './checks.mjs';

const demo = examples();
const wanted = ['viewer-issue-233', 'made-loops-cputime-t-mpi3ranks', 'viewer-derived-metrics.db'];
const databases = [demo.solver, ...corpusStores().filter((store) => wanted.includes(basename(store)))];
// Its first request has three lanes beside the main one; request 17 fails.
const spans = join(process.env.LODE_DATA ?? '', 'otlp/small');
const recordings = [demo.shop, spans, ...corpusStores().filter((store) => basename(store) === 'master')];

const server = await serve(...databases, ...recordings, demo.thumbs);
const { browser, page, messages } = await open(server, { viewport: { width: 1600, height: 1000 } });

for (const [number, store] of [...databases.entries(), [databases.length + recordings.length, demo.thumbs]]) {
  await test(`${basename(store)}: values, histogram, matrix and outliers of profiles are those of the command`, async () => {
    messages.length = 0;
    for (const order of ['', '&o=value', '&o=index']) {
      await show(page, server, `?s=${number}&v=profiles${order}&1`);
      assert.ok((await checkProfiles(page)) > 0);
    }
    assert.deepEqual(messages, []);
  });
}

await test('a click on a task selects it everywhere', async () => {
  const query = `?s=${databases.length + recordings.length}&v=profiles&1`;
  await show(page, server, query);
  await page.locator('svg.chart [data-max]').nth(1).click();
  await settle(page);
  assert.equal(new URL(page.url()).searchParams.get('p'), '4712');
  assert.equal(await page.$eval('main .grid [aria-selected=true] [data-column=name]', (cell) => cell.dataset.value), 'worker 1');
  await page.keyboard.press('2');
  await settle(page);
  assert.match(await copied(page), /--task 4712/);
});

await test('a click on a profile selects it everywhere, and the chip selects all again', async () => {
  await show(page, server, '?s=0&v=profiles&1');
  await page.locator('svg.chart [data-max]').first().click();
  await settle(page);
  const selection = new URL(page.url()).searchParams.get('p');
  assert.match(selection, /^profile=\d+$/);
  await page.keyboard.press('2');
  await settle(page);
  assert.ok((await copied(page)).includes(`--profiles ${selection}`));
  await show(page, server, `?s=0&v=profiles&p=${encodeURIComponent(selection)}&1`);
  await page.locator('.toolbar .chip').click();
  await settle(page);
  assert.equal(new URL(page.url()).searchParams.get('p'), null);
});

for (const [index, store] of recordings.entries()) {
  const number = databases.length + index;
  await test(`${basename(store)}: requests are those of the command, one of them as a waterfall`, async () => {
    messages.length = 0;
    for (const options of ['', '&f=errors', '&o=calls', '&f=min%3A1ms', '&q=e']) {
      await show(page, server, `?s=${number}&v=requests${options}&1`);
      await checkRequests(page);
    }
    await show(page, server, `?s=${number}&v=requests&i=1&1`);
    assert.ok((await checkRequest(page)) > 0);
    assert.deepEqual(messages, []);
  });
}

const shop = databases.length;

await test('requests over time are those of lode search --over, and an interval leads to its requests', async () => {
  for (const [number, options] of [[shop, ''], [shop, '&f=errors'], [shop, '&g=over%3A5s'], [shop + 1, '']]) {
    await show(page, server, `?s=${number}&v=requests&g=over${options}&1`);
    const command = await copied(page);
    assert.match(command, /^lode search \S+ .*--over \S+$/);
    const answer = await answerOf(command);
    const keys = ['date', 'count', 'per_second', 'failures', 'failed_percent', 'p50_ns', 'p95_ns', 'p99_ns', 'max_ns'];
    const found = await page.$$eval('main .grid .row', (rows, names) => rows.sort((a, b) => a.getAttribute('aria-rowindex') - b.getAttribute('aria-rowindex')).map((row) => names.map((name) => row.querySelector(`[data-column=${name}]`).dataset.value)), keys);
    assert.ok(found.length > 0);
    assert.deepEqual(found, answer.rows.slice(0, found.length).map((row) => keys.map((key) => String(row[key]))));
    assert.deepEqual(await page.$$eval('.rate-chart [data-requests]', (parts) => parts.map((part) => part.dataset.requests)), answer.rows.map((row) => String(row.count)));
  }
  await show(page, server, `?s=${shop}&v=requests&g=over%3A1s&1`);
  await page.locator('main .grid .row', { hasText: '13:26:05.000' }).dblclick();
  await page.waitForFunction(() => /[?&]t=4945000000ns\.\.5945000000ns/.test(decodeURIComponent(location.search)));
  await settle(page);
  await checkRequests(page);
  assert.ok((await rowsOf(page, ['number'])).flat().includes('38'));
});

await test('a drag over the picture selects times and durations, and a click still opens a request', async () => {
  await show(page, server, `?s=${shop}&v=requests&1`);
  const all = (await rowsOf(page, ['number', 'duration_ns'])).length;
  const drag = async ([x0, y0], [x1, y1]) => {
    const box = await page.locator('svg.requests-chart').boundingBox();
    await page.mouse.move(box.x + box.width * x0, box.y + box.height * y0);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * x1, box.y + box.height * y1, { steps: 4 });
    assert.ok(await page.$('svg.requests-chart .brush'));
    await page.mouse.up();
    await page.waitForFunction(() => /[?&](t|f)=/.test(location.search));
    await settle(page);
  };
  await drag([0.3, 0.02], [0.6, 0.5]);
  const rows = await rowsOf(page, ['number', 'duration_ns']);
  assert.deepEqual(rows.map((row) => row[0]).sort(), ['28', '38']);
  await checkRequests(page);
  assert.match(await copied(page), /--from \d+ns --to \d+ns --min-duration \d+ns --max-duration \d+ns/);
  await page.getByRole('button', { name: 'show all times and durations' }).click();
  await settle(page);
  assert.equal((await rowsOf(page, ['number', 'duration_ns'])).length, all);
  // A flat drag selects times only.
  await drag([0.3, 0.9], [0.6, 0.9]);
  assert.doesNotMatch(page.url(), /[?&]f=/);
  await page.locator('svg.requests-chart .dot').first().click();
  await settle(page);
  assert.match(page.url(), /[?&]i=\d+/);
});

await test('a request has lanes for what runs beside it, and its critical path goes through them', async () => {
  messages.length = 0;
  await show(page, server, `?s=${shop + 1}&v=requests&i=1&1`);
  const lanes = await page.$$eval('main .grid [data-column=lane]', (cells) => cells.map((cell) => cell.textContent));
  assert.deepEqual([...new Set(lanes)].sort(), ['', '\u2225 1', '\u2225 2', '\u2225 3']);
  // audit: write runs beside the request, and the request waits for it.
  const row = page.locator('main .grid .row', { hasText: 'audit: write' });
  assert.match(await row.locator('[data-column=name]').textContent(), /\u25b8/);
  assert.equal(await row.locator('.fall .critical').count(), 1);
  await row.click();
  await page.waitForFunction(() => document.querySelector('.request-below h2')?.textContent === 'audit: write');
  await page.locator('.moments .link').click();
  await settle(page);
  assert.equal(new URL(page.url()).searchParams.get('i'), '5eed0000000000000000000000000001');
  assert.deepEqual(messages, []);
});

for (const [number, store, id] of [[shop, demo.shop, 28], [shop + 1, spans, 17]]) {
  await test(`${basename(store)}: a failed request shows what it threw first, with the frames that lode replay prints`, async () => {
    await show(page, server, `?s=${number}&v=requests&i=${id}&1`);
    const printed = execFileSync(LODE, ['replay', '--id', String(id), store], { encoding: 'utf-8', env: { ...process.env, NO_COLOR: '1', COLUMNS: '400' }, stdio: ['ignore', 'pipe', 'ignore'] }).split('\n').map((line) => line.trim());
    const lines = printed.filter((line) => /^(! |at )/.test(line)).map((line) => line.replace(/^! /, ''));
    assert.ok(lines.length > 2);
    assert.deepEqual((await page.$$eval('.thrown b, .thrown li', (all) => all.map((item) => item.textContent))).sort(), lines.sort());
    const [thrown, grid] = [await page.locator('.thrown').boundingBox(), await page.locator('main .grid').boundingBox()];
    assert.ok(thrown.y + thrown.height <= grid.y);
  });
}

await test('the map of services is that of the command, and leads to the requests with such calls', async () => {
  messages.length = 0;
  await show(page, server, `?s=${shop}&v=requests&1`);
  assert.equal(await page.getByRole('button', { name: 'services' }).count(), 0, 'a Zorka store has no services');
  await show(page, server, `?s=${shop + 1}&v=requests&1`);
  await page.getByRole('button', { name: 'services' }).click();
  await settle(page);
  const command = await copied(page);
  assert.match(command, / --map$/);
  const answer = await answerOf(command);
  const texts = (label, columns) => page.$$eval(`[aria-label="${label}"] .row`, (rows, names) => rows.map((row) => names.map((name) => row.querySelector(`[data-column=${name}]`).textContent)), columns);
  const printed = execFileSync(LODE, ['search', '--map', spans], { encoding: 'utf-8', stdio: ['ignore', 'pipe', 'ignore'] }).split('\n').map((line) => line.trim().split(/ {2,}/)).filter((cells) => cells.length >= 10 && /^\d/.test(cells[0]));
  const columns = ['calls', 'per_second', 'failures', 'failed_percent', 'p50_ns', 'p95_ns', 'p99_ns', 'max_ns'];
  const percents = (rows) => rows.map((cells) => cells.map((cell, index) => (index === 3 ? `${cell}%` : cell)));
  const found = [...percents(await texts('Calls between services', [...columns, 'caller', 'name'])), ...percents(await texts('Services', [...columns, 'all', 'name']))];
  assert.deepEqual(found, printed);
  assert.equal(found.length, answer.rows.length + answer.services.length);
  assert.deepEqual(await page.$$eval('.map .edge', (edges) => edges.map((edge) => Number(edge.dataset.calls))), answer.rows.filter((row) => row.caller !== null).map((row) => row.calls));
  await page.locator('.map .service').first().click();
  await settle(page);
  assert.equal(new URL(page.url()).searchParams.get('f'), 'where:service=audit');
  assert.ok((await checkRequests(page)) > 0);
  assert.equal((await answerOf(await copied(page))).row_count, 7);
  assert.deepEqual(messages, []);
});

if (process.env.LODE_SHOTS) {
  for (const [query, name] of [['?s=0&v=profiles&1', 'profiles'], [`?s=${databases.length}&v=requests&1`, 'requests'], [`?s=${databases.length}&v=requests&i=28&1`, 'request'], [`?s=${databases.length + 1}&v=requests&i=1&x=2&1`, 'lanes'], [`?s=${databases.length + 1}&v=requests&g=map&1`, 'services'], ['?s=0&v=profiles&w=function%3Aspmv._omp_fn.0&p=rank%3D5&1', 'outlier']]) {
    await show(page, server, query);
    await page.screenshot({ path: `${process.env.LODE_SHOTS}/${name}.png` });
  }
}

await browser.close();
await server.stop();
finish();
