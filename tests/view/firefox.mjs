// SPDX-License-Identifier: BSD-3-Clause
// A basic walk in Firefox, over WebDriver BiDi: every tab, the table of functions and the diagnosis.
//   firefox.mjs [--part I/N] [--only PATTERN]: also on these stores of the corpus (by hand).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import puppeteer from 'puppeteer-core';
import { answerOf, chosenStores, examples, finish, folder, LODE, serve, test } from './browser.mjs';
import { checkDiagnosis } from './checks.mjs';

const demo = examples();
const stores = [demo.solver, demo.thumbs, demo.shop, ...chosenStores([])];
const browser = await puppeteer.launch({ browser: 'firefox', executablePath: process.env.BROWSER_PROGRAM, headless: true, timeout: 300000, args: ['--width=1600', '--height=1000'] });
const page = await browser.newPage();
const messages = [];
page.on('console', (message) => messages.push(`${message.type()}: ${message.text()}`));
page.on('pageerror', (error) => messages.push(`exception: ${error.message}`));
await page.setViewport({ width: 1600, height: 1000 });

async function goTo(server, query) {
  await page.goto(server.base + query);
  await page.waitForSelector('main#view, main.message:not([aria-busy])', { timeout: 120000 });
  await page.waitForFunction(() => !document.querySelector('.busy.on, [aria-busy=true], .pending.quiet'));
}

let compared = 0;

async function checkRows(store) {
  const shown = await page.$$eval('[role=grid] .row', (rows) => rows.map((row) => [row.querySelector('[data-column=name]').dataset.value, row.querySelector('[data-column=exclusive]').dataset.value]));
  const answer = await answerOf(`lode top '${store}' --limit 200`);
  // Only rows on the screen are in the document.
  assert.ok(shown.length >= Math.min(answer.rows.length, 10), `${shown.length} rows`);
  assert.deepEqual(shown, answer.rows.slice(0, shown.length).map((row) => [row.name, String(row.exclusive ?? row.self_ns)]));
  compared += shown.length;
}

async function checkFunctions(server, store) {
  await goTo(server, '?v=top&1');
  await checkRows(store);
}

for (const store of stores) {
  await test(`Firefox, ${basename(store)}: every tab without a message, functions and diagnosis are those of the commands`, async () => {
    messages.length = 0;
    const server = await serve(store, demo.solver);
    try {
      await goTo(server, `#token=${server.token}`);
      if (await page.$('main.message')) {
        assert.match(await page.$eval('main.message', (main) => main.textContent), /cannot be/);
        return;
      }
      const views = await page.$$eval('.tabs a', (links) => links.map((link) => new URL(link.href).searchParams.get('v')));
      assert.ok(views.length >= 5, views.join());
      for (const view of views) {
        await goTo(server, `?v=${view}&1`);
        if (view !== 'compare') assert.equal(await page.$('.problem'), null, view);
      }
      await checkFunctions(server, store);
      await goTo(server, '?1');
      compared += await checkDiagnosis(page, store);
      assert.deepEqual(messages, []);
    } finally {
      await server.stop();
    }
  });
}

await test('Firefox: keys open a tree and its rows', async () => {
  messages.length = 0;
  const server = await serve(demo.solver);
  await goTo(server, `#token=${server.token}`);
  await page.keyboard.press('3');
  await page.waitForSelector('[role=treegrid] .row');
  await page.focus('[role=treegrid]');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowLeft');
  await page.waitForSelector('aside .path');
  assert.deepEqual(messages, []);
  await server.stop();
});

await test('Firefox: ten presses zoom ten times, the wheel zooms at the pointer, a drag pans', async () => {
  messages.length = 0;
  const server = await serve(demo.solver);
  await goTo(server, `#token=${server.token}`);
  await goTo(server, '?v=time&1');
  const shown = () => page.$eval('.plot', (plot) => [Number(plot.dataset.from), Number(plot.dataset.to)]);
  const differs = (old) => page.waitForFunction((before) => Number(document.querySelector('.plot').dataset.from) !== before, {}, old[0]);
  const all = await shown();
  for (let i = 0; i < 10; i++) await page.keyboard.press('KeyW');
  const near = await shown();
  assert.ok(Math.abs((near[1] - near[0]) * 1024 - (all[1] - all[0])) < 2048, `${near} of ${all}`);
  await page.keyboard.press('0');
  await differs(near);
  const box = await (await page.$('.plot')).boundingBox();
  const at = (part) => [box.x + box.width * part, box.y + 10];
  await page.mouse.move(...at(0.25));
  await page.mouse.wheel({ deltaY: -200 });
  await differs(all);
  const zoomed = await shown();
  const part = (all[0] + (all[1] - all[0]) / 4 - zoomed[0]) / (zoomed[1] - zoomed[0]);
  assert.ok(Math.abs(part - 0.25) < 0.01 && zoomed[1] - zoomed[0] < 0.7 * (all[1] - all[0]), `${zoomed} of ${all}`);
  await page.mouse.down();
  await page.mouse.move(...at(0.15));
  await page.mouse.up();
  await differs(zoomed);
  assert.ok((await shown())[0] > zoomed[0]);
  await page.waitForFunction(() => !document.querySelector('.busy.on, [aria-busy=true]'));
  assert.deepEqual(messages, []);
  await server.stop();
});

await test('Firefox: reports open from disk, with their answers inside', async () => {
  for (const store of [demo.solver, demo.thumbs, demo.shop]) {
    messages.length = 0;
    const file = join(folder(), 'a report.html');
    execFileSync(LODE, ['report', store, '-o', file]);
    await page.goto(pathToFileURL(file).href);
    await page.waitForSelector('.report article canvas');
    const count = await page.$$eval('.tabs a', (links) => links.length);
    for (let tab = 0; tab < count; tab++) {
      const title = await page.$$eval('.tabs a', (links, index) => (links[index].click(), links[index].textContent), tab);
      await page.waitForFunction((wanted) => document.querySelector('.tabs a[aria-current]')?.textContent === wanted, {}, title);
      assert.equal(await page.$('main .elsewhere'), null, title);
      if (title === 'Functions') await checkRows(store);
    }
    assert.deepEqual(messages, []);
  }
});

await browser.close();
console.log(`# ${compared} rows and texts of ${stores.length} stores compared`);
finish();
