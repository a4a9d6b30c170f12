// SPDX-License-Identifier: BSD-3-Clause
// Profiles and Requests: every number on the page is one of the command that the page offers to copy; a click selects.
import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { answerOf, copied, corpusStores, examples, finish, open, serve, settle, show, test } from './browser.mjs';

const demo = examples();
const wanted = ['viewer-issue-233', 'made-loops-cputime-t-mpi3ranks', 'viewer-derived-metrics.db'];
const databases = [demo.solver, ...corpusStores().filter((store) => wanted.includes(basename(store)))];
const recordings = [demo.shop, ...corpusStores().filter((store) => basename(store) === 'master')];

/** Exact values of the rows of a table, by column. */
function rowsOf(page, columns) {
  return page.$$eval('main .grid .row', (rows, names) => rows.filter((row) => row.querySelector('[data-column=name]')?.dataset.value !== undefined)
    .map((row) => [Number(row.getAttribute('aria-rowindex')), names.map((name) => row.querySelector(`[data-column=${name}]`)?.dataset.value)])
    .sort((a, b) => a[0] - b[0]).map((pair) => pair[1]), columns);
}

const server = await serve(...databases, ...recordings);
const { browser, page, messages } = await open(server, { viewport: { width: 1600, height: 1000 } });

for (const [number, store] of databases.entries()) {
  await test(`${basename(store)}: values, histogram, matrix and outliers of profiles are those of the command`, async () => {
    messages.length = 0;
    for (const order of ['', '&o=value', '&o=index']) {
      await show(page, server, `?s=${number}&v=profiles${order}&1`);
      const answer = await answerOf(await copied(page));
      const bins = await page.$$eval('svg.chart [data-max]', (parts) => parts.map((part) => [part.dataset.min, part.dataset.mean, part.dataset.max, part.dataset.profile]));
      assert.deepEqual(bins, answer.bins.map((bin) => [bin.min, bin.mean, bin.max, bin.profile].map(String)));
      const bars = await page.$$eval('svg.chart [data-count]', (parts) => parts.map((part) => part.dataset.count));
      assert.deepEqual(bars, (answer.value_histogram ?? []).map((bar) => String(bar.count)));
      const cells = await page.$$eval('svg.heat [data-mean]', (parts) => parts.map((part) => part.dataset.mean));
      assert.deepEqual(cells, (answer.matrix ?? []).map((cell) => String(cell.mean)));
      const outliers = await page.$$eval('.outliers li', (items) => items.map((item) => item.dataset.value));
      assert.deepEqual(outliers, answer.outliers.map((row) => String(row.value)));
      const rows = await rowsOf(page, ['value', 'percent_of_mean', 'name']);
      assert.ok(rows.length > 0);
      assert.deepEqual(rows, answer.rows.slice(0, rows.length).map((row) => [String(row.value), String(row.percent_of_mean), row.name]));
    }
    assert.deepEqual(messages, []);
  });
}

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
      const answer = await answerOf(await copied(page));
      const rows = await rowsOf(page, ['number', 'duration_ns', 'calls', 'errors']);
      assert.deepEqual(rows, answer.rows.slice(0, rows.length).map((row) => [row.number, row.duration_ns, row.calls, row.errors].map(String)));
      assert.ok(rows.length > 0 || answer.rows.length === 0);
      assert.equal(await page.$$eval('svg.requests-chart .dot', (dots) => dots.length), answer.rows.length);
    }
    await show(page, server, `?s=${number}&v=requests&i=1&1`);
    const answer = await answerOf(await copied(page));
    const exits = answer.rows.filter((row) => row.kind === 'leave').map((row) => row.duration_ns);
    const rows = await rowsOf(page, ['duration_ns', 'name']);
    assert.ok(rows.length > 0);
    for (const [duration] of rows) assert.ok(exits.includes(Number(duration)), `${duration} is no duration of a call`);
    assert.deepEqual(rows.map((row) => row[1]), answer.rows.filter((row) => row.kind === 'enter').slice(0, rows.length).map((row) => row.name));
    assert.deepEqual(messages, []);
  });
}

if (process.env.LODE_SHOTS) {
  for (const [query, name] of [['?s=0&v=profiles&1', 'profiles'], [`?s=${databases.length}&v=requests&1`, 'requests'], [`?s=${databases.length}&v=requests&i=3&1`, 'request']]) {
    await show(page, server, query);
    await page.screenshot({ path: `${process.env.LODE_SHOTS}/${name}.png` });
  }
}

await browser.close();
await server.stop();
finish();
