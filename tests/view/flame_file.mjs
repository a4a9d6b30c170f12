// SPDX-License-Identifier: BSD-3-Clause
// The page that `lode flame -o FILE.html` writes, opened as a file: search, zoom, keyboard, themes; names that attack are text.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { LODE, examples, finish, folder, test } from './browser.mjs';

const place = folder();
const { solver } = examples();
const NAMES = ['<script>globalThis.pwned=1</script>', '<img src=x onerror="globalThis.pwned=1">', '</pre><script>globalThis.pwned=1</script>', '"onclick="globalThis.pwned=1', 'a|b|c', '漢字 😀'];
writeFileSync(join(place, 'hostile.folded'), NAMES.map((name, i) => `main;${name} ${i + 2}\n`).join(''));

const browser = await chromium.launch({ executablePath: process.env.BROWSER_PROGRAM, args: ['--no-sandbox'] });
const messages = [];

async function show(store, options = [], scheme = 'light') {
  const file = join(place, 'flame.html');
  execFileSync(LODE, ['flame', store, '-f', '-o', file, ...options]);
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, colorScheme: scheme });
  page.on('console', (message) => messages.push(message.text()));
  page.on('pageerror', (error) => messages.push(String(error)));
  page.on('request', (request) => request.url().startsWith('file:') || request.url().startsWith('data:') || messages.push(`asks for ${request.url()}`));
  await page.goto(pathToFileURL(file).href);
  return page;
}
const json = (store, ...options) => JSON.parse(execFileSync(LODE, ['flame', store, '--json', ...options], { maxBuffer: 1 << 28 }));

await test('search says the share of what matches, and how many boxes', async () => {
  const page = await show(solver);
  const { boxes } = json(solver);
  const wanted = boxes.filter((box) => box.name !== null && box.kind === 'mpi').map((box) => box.name)[0] ?? 'main';
  const word = wanted.toLowerCase();
  const matches = new Set(boxes.filter((box) => box.name?.toLowerCase().includes(word)).map((box) => box.box));
  const isInside = (box) => box.parent_box !== null && (matches.has(box.parent_box) || isInside(boxes[box.parent_box]));
  const share = boxes.filter((box) => matches.has(box.box) && !isInside(box)).reduce((sum, box) => sum + box.inclusive_percent, 0);
  await page.keyboard.press('/');
  await page.keyboard.type(wanted);
  assert.equal(await page.textContent('#found'), `matches: ${share.toFixed(2)} % in ${matches.size} box${matches.size === 1 ? '' : 'es'}`);
  await page.keyboard.press('Enter');
  assert.ok((await page.textContent('#selected')).includes(wanted));
  await page.keyboard.press('Escape');
  assert.equal(await page.textContent('#found'), '');
  await page.close();
});

await test('keys select, zoom in and go back', async () => {
  const page = await show(solver);
  await page.focus('#picture');
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
  const label = await page.getAttribute('#picture', 'aria-label');
  assert.match(label, /is the root$/);
  assert.ok(await page.isEnabled('#back'));
  await page.keyboard.press('Backspace');
  assert.notEqual(await page.getAttribute('#picture', 'aria-label'), label);
  await page.keyboard.press('0');
  assert.doesNotMatch(await page.getAttribute('#picture', 'aria-label'), /the root$/);
  assert.ok(await page.isDisabled('#back'));
  await page.close();
});

await test('a double click makes a box the root, and "show all" ends it', async () => {
  const page = await show(solver);
  const area = await (await page.$('#picture')).boundingBox();
  await page.mouse.dblclick(area.x + 40, area.y + 3 * 19 + 8);
  assert.match(await page.getAttribute('#picture', 'aria-label'), /is the root$/);
  await page.mouse.move(area.x + 60, area.y + 8);
  assert.ok(await page.isVisible('#tip'));
  await page.click('#all');
  assert.doesNotMatch(await page.getAttribute('#picture', 'aria-label'), /the root$/);
  await page.close();
});

await test('names are text', async () => {
  for (const options of [[], ['--function', 'main'], ['--bottom-up']]) {
    const page = await show(join(place, 'hostile.folded'), options);
    await page.focus('#picture');
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'Enter']) await page.keyboard.press(key);
    assert.equal(await page.evaluate(() => globalThis.pwned), undefined);
    assert.equal(await page.$('img'), null);
    assert.equal((await page.$$('script')).length, 1);
    const boxes = await page.$eval('#boxes', (element) => element.textContent);
    for (const name of NAMES) assert.ok(boxes.includes(`|${name}\n`), name);
    await page.close();
  }
});

/** What a file of text runs, opened by the browser. */
async function ran(name, text) {
  const file = join(place, name);
  writeFileSync(file, text);
  const page = await browser.newPage();
  await page.goto(pathToFileURL(file).href);
  await page.waitForTimeout(300);
  const found = await page.evaluate(() => globalThis.pwned);
  await page.close();
  return found;
}
const unescaped = (text) => text.replaceAll(/&#(60|62|34|39|38);/g, (_, code) => String.fromCharCode(Number(code)));

await test('control: without escapes and without the policy, names run; the policy alone stops them', async () => {
  execFileSync(LODE, ['flame', join(place, 'hostile.folded'), '-f', '-o', join(place, 'flame.html')]);
  const text = readFileSync(join(place, 'flame.html'), 'utf8');
  const policy = /<meta http-equiv="Content-Security-Policy"[^>]*>/;
  assert.match(text, policy);
  assert.equal(await ran('without.html', unescaped(text).replace(policy, '')), 1);
  assert.equal(await ran('policy.html', unescaped(text)), undefined);
  assert.equal(await ran('escaped.html', text.replace(policy, '')), undefined);
});

await test('names are text in a picture, and the control runs', async () => {
  execFileSync(LODE, ['flame', join(place, 'hostile.folded'), '-f', '-o', join(place, 'flame.svg')]);
  const text = readFileSync(join(place, 'flame.svg'), 'utf8');
  assert.ok(text.includes('&#60;script'));
  assert.equal(await ran('escaped.svg', text), undefined);
  assert.equal(await ran('without.svg', text.replaceAll(/&#60;script&#62;(.*?)&#60;\/script&#62;/g, '<script>$1</script>')), 1);
});

await test('nothing else runs: the policy holds', async () => {
  const page = await show(solver);
  const before = messages.length;
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'globalThis.pwned = 1';
    document.body.append(script);
  });
  assert.equal(await page.evaluate(() => globalThis.pwned), undefined);
  messages.length = before;
  await page.close();
});

await test('axe finds nothing in either theme', async () => {
  const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  for (const scheme of ['light', 'dark']) {
    const page = await show(solver, [], scheme);
    await page.evaluate(source);
    const found = await page.evaluate(() => globalThis.axe.run());
    assert.deepEqual(found.violations.map((violation) => violation.id), []);
    await page.close();
  }
});

await test('the browser says nothing, and asks for nothing', () => assert.deepEqual(messages, []));
await browser.close();
await finish();
