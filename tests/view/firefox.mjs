// SPDX-License-Identifier: BSD-3-Clause
// A basic walk in Firefox, over WebDriver BiDi.
import assert from 'node:assert/strict';
import puppeteer from 'puppeteer-core';
import { answerOf, examples, finish, LODE, serve, test } from './browser.mjs';

const stores = examples();
const server = await serve(stores.solver, stores.thumbs, stores.shop);
const browser = await puppeteer.launch({ browser: 'firefox', executablePath: process.env.BROWSER_PROGRAM, headless: true, args: ['--width=1600', '--height=1000'] });
const page = await browser.newPage();
const messages = [];
page.on('console', (message) => messages.push(`${message.type()}: ${message.text()}`));
page.on('pageerror', (error) => messages.push(`exception: ${error.message}`));
await page.setViewport({ width: 1600, height: 1000 });
await page.goto(`${server.base}#token=${server.token}`);
await page.waitForSelector('.bars li');

await test('Firefox: every tab of every store is shown without a message', async () => {
  for (const store of [0, 1, 2]) {
    await page.goto(`${server.base}?s=${store}&1`);
    await page.waitForSelector('.bars li');
    const views = await page.$$eval('.tabs a', (links) => links.map((link) => new URL(link.href).searchParams.get('v')));
    assert.ok(views.length >= 4);
    for (const view of views) {
      await page.goto(`${server.base}?s=${store}&v=${view}&1`);
      await page.waitForSelector('main#view');
      await page.waitForFunction(() => !document.querySelector('.busy.on'));
      assert.equal(await page.$('.problem'), null, view);
    }
  }
  assert.deepEqual(messages, []);
});

await test('Firefox: the table of functions has the numbers of lode top', async () => {
  await page.goto(`${server.base}?v=top&1`);
  await page.waitForSelector('[role=grid] .row');
  const shown = await page.$$eval('[role=grid] .row', (rows) => rows.map((row) => [row.querySelector('[data-column=name]').dataset.value, row.querySelector('[data-column=exclusive]').dataset.value]));
  const answer = await answerOf(`lode top '${stores.solver}' --limit 200`);
  assert.deepEqual(shown, answer.rows.map((row) => [row.name, String(row.exclusive)]));
  assert.ok(LODE);
});

await test('Firefox: keys open a tree and its rows', async () => {
  await page.keyboard.press('3');
  await page.waitForSelector('[role=treegrid] .row');
  await page.focus('[role=treegrid]');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowLeft');
  await page.waitForSelector('aside .path');
  assert.deepEqual(messages, []);
});

await browser.close();
await server.stop();
finish();
