// SPDX-License-Identifier: BSD-3-Clause
// Reports of `lode report`, opened from disk: every tab has its answers, numbers are those of the commands, nothing is requested, and
// names that attack are text.
//   report.mjs [--part I/N] [--only PATTERN]: also reports of these stores of the corpus. [--shots FOLDER]: pictures.
//   --kinds N: reports of N stores of all kinds of the corpus and of tests/data, as many of each; what they show against what commands print.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { CORPUS, LODE, chosenStores, examples, finish, folder, settle, test } from './browser.mjs';

const SHOTS = process.argv.includes('--shots') ? process.argv[process.argv.indexOf('--shots') + 1] : '';
const MOST = 5 << 20;
const place = folder();
const demo = examples();
const browser = await chromium.launch({ executablePath: process.env.BROWSER_PROGRAM, args: ['--no-sandbox'] });
let compared = 0;
const sizes = [];

/** A page with the report of stores; everything that leaves it, and everything that it complains about, is in `messages`. */
async function open(stores, options = [], scheme = 'light') {
  const file = join(place, `report ${sizes.length}.html`);
  const made = spawnSync(LODE, ['report', ...stores, '-o', file, ...options], { encoding: 'utf-8' });
  if (made.status === 2 || made.status === null) return { why: made.stderr };
  sizes.push(statSync(file).size);
  assert.ok(statSync(file).size <= MOST, `${statSync(file).size} bytes`);
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, colorScheme: scheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const messages = [];
  page.on('console', (message) => messages.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => messages.push(`exception: ${error.message}`));
  page.on('request', (request) => request.url().split('#')[0] === pathToFileURL(file).href || request.url().startsWith('data:') || messages.push(`asks for ${request.url()}`));
  await page.goto(pathToFileURL(file).href);
  await settle(page);
  return { page, file, messages, close: () => context.close() };
}

/** Stores of all kinds, those of one kind in a row: the first of each, then the second of each. */
function storesOfKinds(most) {
  const places = ['hpctoolkit/final', 'hpctoolkit/pre-a', 'hpctoolkit/pre-b', 'hpctoolkit/draft-xml', 'uftrace/recorded', 'uftrace/handmade', 'zorka/stores', 'pprof', 'folded', 'otlp/small',
    'otlp/variants', 'jaeger', 'zipkin', 'measurements', 'perf/recorded', 'jfr', 'chrome', 'perfetto', 'cpuprofile'];
  const kinds = places.flatMap((kind) => [process.env.LODE_DATA ?? '', CORPUS].filter((root) => root !== '' && existsSync(join(root, kind))).map((root) =>
    readdirSync(join(root, kind)).filter((name) => !/README|expected|sources|\.(?:md|c|java|txt|py|map)$/.test(name)).sort().map((name) => join(root, kind, name))));
  const found = [];
  for (let i = 0; kinds.some((list) => i < list.length); i++) for (const list of kinds) if (i < list.length) found.push(list[i]);
  return { stores: found, most };
}

const plain = (text) => text.replace(/\s+/g, ' ').trim();
const printed = (...words) => spawnSync(LODE, [...words, '--color', 'never'], { encoding: 'utf-8', maxBuffer: 1 << 28 }).stdout;
let texts = 0;

/** Every text of a list is in what a command prints. */
function expectPrinted(list, command, what) {
  const output = plain(command);
  for (const text of list.map(plain).filter((line) => line !== '')) {
    texts++;
    assert.ok(output.includes(text), `${what}: '${text}' is not in\n${output.slice(0, 2000)}`);
  }
}

/** What the first page shows, as people read it, against the text of the commands. */
async function checkReport(page, store) {
  const texts = (selector) => page.$$eval(selector, (list) => list.map((one) => one.textContent));
  const bars = await page.$$eval('ol.bars[aria-label="Functions by exclusive cost"] li', (rows) => rows.map((row) => [row.querySelector('.share').textContent, row.querySelector('.value').textContent]));
  expectPrinted(bars.map(([, value]) => value), printed('top', store, '--limit', '12'), 'functions');
  expectPrinted(bars.map(([share]) => share), printed('top', store, '--limit', '12'), 'shares');
  expectPrinted(await texts('.statements .text, .statements .evidence'), printed('diagnose', store), 'diagnosis');
  expectPrinted(await texts('.hotpath .share'), printed('tree', store, '--min-percent', '1', '--limit', '1000'), 'hot path');
  const verdict = await texts('.report .findings-summary, .report .damage');
  if (verdict.length > 0) expectPrinted(verdict.map((text) => text.split(' · ')[0]), printed('check', store), 'findings');
}

const tabs = (page) => page.$$eval('.tabs a', (links) => links.map((link) => link.textContent));

async function shot(page, name, full = false) {
  if (SHOTS === '') return;
  if (full) await page.addStyleTag({ content: '' }).catch(() => undefined);
  await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: full });
}

/** Rows of Functions against those of `lode top`. */
async function checkFunctions(page, store) {
  const shown = await page.$$eval('[role=grid] .row', (rows) => rows.map((row) => [row.querySelector('[data-column=name]').dataset.value, row.querySelector('[data-column=exclusive]').dataset.value]));
  const answer = JSON.parse(execFileSync(LODE, ['top', store, '--limit', '200', '--json'], { maxBuffer: 1 << 28 }));
  assert.ok(shown.length >= Math.min(answer.rows.length, 10), `${shown.length} rows`);
  assert.deepEqual(shown, answer.rows.slice(0, shown.length).map((row) => [row.name, String(row.exclusive ?? row.self_ns)]));
  compared += shown.length;
}

/** Every tab: its answers are inside. */
async function walk(page, store, name) {
  for (const tab of await tabs(page)) {
    await page.locator('.tabs a', { hasText: new RegExp(`^${tab}$`) }).click();
    await settle(page);
    await shot(page, `${name}-${tab.toLowerCase()}`);
    assert.equal(await page.$eval('main#view', (main) => main.querySelector('.elsewhere')?.textContent ?? ''), '', tab);
    if (tab === 'Functions') await checkFunctions(page, store);
  }
}

const own = fileURLToPath(new URL('.', import.meta.url));
for (const store of [demo.solver, demo.thumbs, demo.shop, ...chosenStores([])]) {
  await test(`${basename(dirname(store))}/${basename(store)}: every tab of the report has its answers, and nothing is requested`, async () => {
    const { page, messages, close, why } = await open([store]);
    if (why !== undefined) {
      assert.match(why, /^lode: /);
      return;
    }
    await walk(page, store, basename(store));
    assert.deepEqual(messages, []);
    await close();
  });
}

const wanted = process.argv.includes('--kinds') ? storesOfKinds(Number(process.argv[process.argv.indexOf('--kinds') + 1])) : { stores: [], most: 0 };
let reports = 0;
for (const store of wanted.stores) {
  if (reports >= wanted.most) break;
  await test(`${store.split('/').slice(-3).join('/')}: a report opens from disk, shows what the commands print, and requests nothing`, async () => {
    const { page, messages, close, why } = await open([store], [], reports % 2 ? 'dark' : 'light');
    if (why !== undefined) {
      assert.match(why, /^lode: /);
      return;
    }
    reports++;
    await checkReport(page, store);
    if ((await tabs(page)).includes('Functions')) {
      await page.locator('.tabs a', { hasText: /^Functions$/ }).click();
      await settle(page);
      await checkFunctions(page, store);
    }
    assert.deepEqual(messages, []);
    await close();
  });
}

await test('the control: a text that no command prints is noticed', async () => {
  assert.throws(() => expectPrinted(['72.767 s'], printed('top', demo.solver, '--limit', '12'), 'functions'), /is not in/);
  expectPrinted(['72.766 s'], printed('top', demo.solver, '--limit', '12'), 'functions');
});

await test('two stores: their comparison, and each with its own answers', async () => {
  const { page, messages, close } = await open([demo.solver, demo.thumbs], ['--title', 'Before & <after>']);
  assert.equal(await page.title(), 'Before & <after>');
  assert.equal(await page.$$eval('article[data-store]', (list) => list.length), 2);
  assert.ok(await page.getByText('Comparison: A is solver').isVisible());
  await shot(page, 'two');
  await page.locator('article[data-store="1"] .bars button').first().click();
  await settle(page);
  await checkFunctions(page, demo.thumbs);
  await page.goBack();
  await settle(page);
  assert.ok(await page.$('.report'));
  assert.deepEqual(messages, []);
  await close();
});

await test('what the report does not have names the command that shows it', async () => {
  const { page, messages, close } = await open([demo.solver]);
  await page.evaluate(() => (location.hash = '#?v=top&o=name&1'));
  await settle(page);
  const command = await page.textContent('main .elsewhere code');
  assert.match(command, /^lode top .*solver --sort name --limit 200$/);
  const rows = execFileSync('bash', ['-c', `${command.replace(/^lode/, `'${LODE}'`)} --json`], { maxBuffer: 1 << 28 });
  assert.ok(JSON.parse(rows).rows.length > 0);
  assert.deepEqual(messages, []);
  await close();
});

await test('the flame graph of a report zooms', async () => {
  const { page, messages, close } = await open([demo.solver]);
  await page.evaluate(() => (location.hash = '#?v=flame&1'));
  await settle(page);
  const canvas = page.locator('.flame .picture canvas');
  await canvas.focus();
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
  await page.waitForFunction(() => / is the root$/.test(document.querySelector('.flame .picture canvas').getAttribute('aria-label')));
  const root = await page.textContent('.toolbar .chip');
  await page.getByRole('button', { name: 'one up' }).click();
  await page.waitForFunction((before) => document.querySelector('.toolbar .chip').textContent !== before, root);
  assert.deepEqual(messages, []);
  await close();
});

const NAMES = [
  '</script><script>globalThis.pwned=1</script>', '<!--<script>', '<img src=x onerror="globalThis.pwned=1">', '"onmouseover="globalThis.pwned=1', '\u2028globalThis.pwned=1',
  '&lt;/script&gt;', '__proto__', 'safe\u202egnp.exe', '漢字 ü 😀',
];

await test('names, titles and notes that attack are text', async () => {
  const store = join(place, 'hostile.folded');
  const notes = join(place, 'notes.md');
  writeFileSync(store, NAMES.map((name, index) => `main;${name.replaceAll(';', ':')} ${index + 1}\n`).join(''));
  writeFileSync(notes, `# Title\n${NAMES.join('\n')}\n[x](javascript:globalThis.pwned=1)\n`);
  const { page, messages, close, file } = await open([store], ['--notes', notes, '--title', NAMES[0]]);
  for (const tab of await tabs(page)) {
    await page.locator('.tabs a', { hasText: new RegExp(`^${tab}$`) }).click();
    await settle(page);
    assert.equal(await page.evaluate(() => globalThis.pwned), undefined);
    assert.equal(await page.$('main img, main script, main a[href^=javascript]'), null);
  }
  assert.equal(await page.title(), NAMES[0]);
  const text = readFileSync(file);
  assert.ok(text.every((byte) => byte < 0x80), 'a report is ASCII');
  assert.deepEqual(messages, []);
  await close();
});

await test('the control: the same names, not escaped, end the element, and the policy stops what they begin', async () => {
  const { file, close } = await open([demo.solver]);
  await close();
  const bad = join(place, 'bad.html');
  // What an answer would be if '<' were itself, with and without the policy.
  const text = readFileSync(file, 'latin1').replace(/(data-target="session" data-status="200">)/, '$1"</script><script>globalThis.pwned=1</script>"');
  for (const [body, isStopped] of [[text, true], [text.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, ''), false]]) {
    writeFileSync(bad, body, 'latin1');
    const page = await browser.newPage();
    const complaints = [];
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(pathToFileURL(bad).href);
    assert.equal(await page.evaluate(() => globalThis.pwned), isStopped ? undefined : 1);
    assert.equal(complaints.some((line) => /Content Security Policy/.test(line)), isStopped, complaints.join('\n'));
    await page.close();
  }
});

await test('the control: a page that asks for something is stopped by the policy, and noticed', async () => {
  const { page, messages, close } = await open([demo.solver]);
  const result = await page.evaluate(() => fetch('http://127.0.0.1:9/').then(() => 'sent', (error) => String(error)));
  assert.match(result, /TypeError/);
  assert.ok(messages.some((line) => /Content Security Policy/.test(line)), messages.join('\n'));
  await close();
});

await test('axe finds nothing on the report and its tabs, in both themes', async () => {
  const source = readFileSync(createRequire(join(own, 'x.mjs')).resolve('axe-core/axe.min.js'), 'utf-8');
  for (const scheme of ['light', 'dark']) {
    const { page, close } = await open([demo.solver, demo.shop], [], scheme);
    for (const tab of await tabs(page)) {
      await page.locator('.tabs a', { hasText: new RegExp(`^${tab}$`) }).click();
      await settle(page);
      if (tab === 'Report') await shot(page, `both-${scheme}`);
      await page.evaluate(source);
      const found = await page.evaluate(async () => (await globalThis.axe.run()).violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(' ')).slice(0, 3).join(', ')}`));
      assert.deepEqual(found, [], `${scheme} ${tab}`);
    }
    await close();
  }
});

await test('a report can be printed, and has no more than its width on a phone', async () => {
  const { page, close } = await open([demo.solver]);
  await page.emulateMedia({ media: 'print' });
  assert.ok((await page.evaluate(() => document.documentElement.scrollHeight)) > 1500, 'all of it is printed');
  assert.equal(await page.isVisible('header'), false);
  const pdf = await page.pdf({ format: 'A4', printBackground: true });
  assert.ok(pdf.length > 20000);
  if (SHOTS !== '') writeFileSync(join(SHOTS, 'report.pdf'), pdf);
  await page.emulateMedia({ media: 'screen' });
  await page.setViewportSize({ width: 390, height: 844 });
  await shot(page, 'phone');
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'wider than the window');
  await close();
});

await browser.close();
if (wanted.most > 0) console.log(`# ${reports} reports of stores of all kinds, ${texts} texts compared with those of the commands`);
console.log(`# ${sizes.length} reports of ${Math.min(...sizes)} to ${Math.max(...sizes)} bytes; ${compared} rows of functions compared`);
finish();
