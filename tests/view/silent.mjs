// SPDX-License-Identifier: BSD-3-Clause
// What the page does not keep to itself: a store that cannot be opened beside others that can, damage, a time window that does not apply.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, cpSync, openSync, readdirSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LODE, answerOf, copied, examples, finish, folder, open, serve, settle, show, test } from './browser.mjs';

const demo = examples();
const damaged = join(dirname(demo.solver), 'damaged');
cpSync(demo.solver, damaged, { recursive: true });
// The first profile of the first context is one that there is not.
const file = openSync(join(damaged, 'cct.db'), 'r+');
writeSync(file, Buffer.from([0xff, 0xff, 0xff, 0x7f]), 0, 4, 3040);
closeSync(file);

const server = await serve(join(dirname(demo.solver), 'missing'), demo.solver, damaged, demo.thumbs, demo.shop);
const { browser, page } = await open(server);

await test('one bad store does not hide the others', async () => {
  await page.waitForFunction(() => new URL(location.href).searchParams.get('s') === '1');
  await settle(page);
  assert.match(await page.title(), /solver/);
  await page.getByLabel('Store').selectOption('0');
  await page.waitForSelector('main.message:not([aria-busy])');
  assert.match(await page.locator('main.message').innerText(), /missing cannot be opened[^]*no such file/);
  await page.getByLabel('Store').selectOption('3');
  await settle(page);
  assert.match(await page.title(), /thumbs/);
});

await test('the overview and the findings agree on damage', async () => {
  await show(page, server, '?s=2&1');
  const said = await page.locator('.damage').innerText();
  assert.match(said, /^damaged · \d+ errors/);
  await page.locator('.damage button').click();
  await settle(page);
  assert.equal(new URL(page.url()).searchParams.get('v'), 'findings');
  assert.ok((await page.locator('.toolbar').innerText()).includes(said));
  const { result } = await answerOf(await copied(page));
  assert.ok(!result.sound && said.startsWith(`damaged · ${result.errors} error`));
});

await test('tasks that were chosen are those of requests, too', async () => {
  await show(page, server, '?s=4&v=requests&1');
  const { rows } = await answerOf(await copied(page));
  const chosen = rows[0].tid;
  const wanted = rows.filter((row) => row.tid === chosen).length;
  assert.ok(wanted > 0 && wanted < rows.length);
  for (const query of ['', '&g=over']) {
    await show(page, server, `?s=4&v=requests&p=${chosen}${query}&1`);
    const command = await copied(page);
    assert.match(command, new RegExp(`--task ${chosen}`));
    const answer = await answerOf(command);
    assert.equal(query === '' ? answer.row_count : answer.rows.reduce((sum, row) => sum + row.count, 0), wanted, command);
  }
});

await test('profiles and spreads say that they are of the whole run where there is a time window', async () => {
  const note = page.locator('.whole-run');
  for (const [query, expected] of [['v=profiles', 1], ['v=overview', 1], ['v=tree&c=2', 1], ['v=top&n=main', 1]]) {
    for (const [window, times] of [['', 0], ['&t=1s..2s', expected]]) {
      await show(page, server, `?s=1&${query}${window}&1`);
      await page.waitForFunction(() => document.querySelector('svg.chart, .boxplot, dl, .histogram') !== null);
      assert.equal(await note.count(), times, `${query}${window}`);
    }
  }
  await show(page, server, '?s=3&v=overview&t=1ms..2ms&1');
  assert.equal(await note.count(), 0, 'the spread over tasks is that of the window');
});

await browser.close();
await server.stop();

// A large recording: 70 MB, with records that are none in the middle of a track.
const large = join(folder(), 'large');
execFileSync(LODE, ['synth', 'recording', '--records', '4400000', '--tasks', '2', '-o', large], { stdio: 'ignore' });
const track = readdirSync(large).filter((name) => /^\d+\.dat$/.test(name)).sort()[0];
const records = openSync(join(large, track), 'r+');
writeSync(records, Buffer.alloc(160, 0xa5), 0, 160, 16 * 1000000);
closeSync(records);

await test('a large store is checked quickly, and the page says so until all of it is checked', async () => {
  const asked = [];
  const server = await serve(large);
  const { browser, page } = await open(server, {}, null, (page) => page.on('request', (request) => asked.push(request.url())));
  const checks = () => asked.filter((url) => url.includes('/check/'));
  await page.waitForSelector('.damage');
  await settle(page);
  assert.match(await page.locator('.damage').innerText(), /^quick check: sound · 0 errors[^]*check all of it$/);
  assert.deepEqual(checks().map((url) => new URL(url).searchParams.get('level')), ['quick']);
  await page.locator('.damage button').click();
  await settle(page);
  assert.equal(new URL(page.url()).searchParams.get('v'), 'findings');
  const { result } = await answerOf(await copied(page));
  assert.ok(!result.sound, 'the damage is found');
  await page.goBack();
  await settle(page);
  assert.ok((await page.locator('.damage').innerText()).startsWith(`damaged · ${result.errors} error`));
  assert.equal(checks().length, 2);
  await browser.close();
  await server.stop();
});

// Requests of 43 MB: enough to estimate from.
const many = join(folder(), 'many');
execFileSync(LODE, ['synth', 'recording', '--format', 'zorka', '--records', '1500000', '--calls-per-request', '3', '-o', many], { stdio: 'ignore' });

await test('what is estimated says so, and how far off it may be, until the exact numbers are there', async () => {
  const held = [];
  // What becomes of questions for exact numbers: they are held, answered, or fail.
  let now = 'held';
  const end = (route) => (now === 'answered' ? route.continue() : route.fulfill({ status: 500, json: { message: 'no memory' } }));
  const server = await serve(many);
  const isExact = (url) => /^\/api\/1\/(top|tree)\//.test(url.pathname) && !url.searchParams.has('estimate');
  const { browser, page } = await open(server, {}, null, (page) => page.route(isExact, (route) => (now === 'held' ? held.push(route) : end(route))));
  const values = () => page.locator('.bars').first().locator('.value').allInnerTexts();
  await page.waitForSelector('.estimate');
  await page.waitForSelector('.hotpath li');
  assert.match(await page.locator('.estimate').innerText(), /^Estimated from \d+(\.\d+)?% of the recording; all of it is being read/);
  const estimated = await values();
  assert.ok(estimated.length > 1 && estimated.every((text) => / ± /.test(text)), estimated.join());
  assert.ok(!(await copied(page)).includes('--estimate'));
  await page.waitForFunction(() => document.querySelectorAll('.bars').length === 2);
  assert.equal(await page.locator('.diagnosis .result').count(), 0, 'the diagnosis waits for them');
  assert.ok(held.length >= 4);
  now = 'answered';
  for (const route of held) await end(route);
  await settle(page);
  assert.match(await page.locator('.estimate').innerText(), /^Exact/);
  const { rows } = JSON.parse(execFileSync(LODE, ['top', many, '--limit', '12', '--json'], { encoding: 'utf-8' }));
  const exact = await page.locator('.bars').first().locator('li').evaluateAll((items) => items.map((item) => Number(item.dataset.value)));
  assert.deepEqual(exact, rows.map((row) => row.self_ns));
  assert.ok(!(await values()).some((text) => text.includes('±')));

  // Another question: numbers stay until there are others, and an estimate stays if there is nothing better.
  now = 'held';
  let release;
  const isHeld = new Promise((done) => (release = done));
  await page.route((url) => url.searchParams.has('estimate'), async (route) => (await isHeld, route.continue()));
  await page.fill('#search', 'a');
  await page.waitForURL(/[?&]q=a/);
  await page.waitForSelector('.busy.on');
  assert.deepEqual(await page.locator('.bars').first().locator('li').evaluateAll((items) => items.map((item) => Number(item.dataset.value))).then((found) => found.length), rows.length);
  held.length = 0;
  release();
  await page.waitForFunction(() => /^Estimated/.test(document.querySelector('.estimate')?.textContent ?? '') && document.querySelector('.bars .value').textContent.includes('±'));
  await page.waitForFunction(() => document.querySelectorAll('.bars').length === 2);
  now = 'failed';
  for (const route of held) await end(route);
  await page.waitForFunction(() => /cannot be had: no memory$/.test(document.querySelector('.estimate')?.textContent ?? ''));
  assert.ok((await values()).every((text) => text.includes('±')));
  await browser.close();
  await server.stop();
});

finish();
