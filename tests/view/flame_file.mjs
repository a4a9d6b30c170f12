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

/** The page has its own title from when it listens to keys. */
const ready = (page) => page.waitForFunction(() => document.title !== 'Lode flame graph');

async function show(store, options = [], scheme = 'light') {
  const file = join(place, 'flame.html');
  execFileSync(LODE, ['flame', store, '-f', '-o', file, ...options]);
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, colorScheme: scheme });
  page.on('console', (message) => messages.push(message.text()));
  page.on('pageerror', (error) => messages.push(String(error)));
  page.on('request', (request) => request.url().startsWith('file:') || request.url().startsWith('data:') || messages.push(`asks for ${request.url()}`));
  await page.goto(pathToFileURL(file).href);
  await ready(page);
  return page;
}
const json = (store, ...options) => JSON.parse(execFileSync(LODE, ['flame', store, '--json', ...options], { maxBuffer: 1 << 28 }));

const picture = '.flame .picture canvas';
const labelOf = (page) => page.getAttribute(picture, 'aria-label');
/** The label when it says this, or no longer does. */
async function said(page, pattern, isThere = true) {
  await page.waitForFunction(([selector, source, wanted]) => new RegExp(source).test(document.querySelector(selector)?.getAttribute('aria-label') ?? '') === wanted, [picture, pattern.source, isThere]);
}

await test('the title says of what the picture is, and the tables have the numbers of the command', async () => {
  for (const [options, wanted] of [[[], ''], [['--function', 'main'], ', callers and callees of main'], [['--bottom-up'], ', bottom-up'], [['--focus', 'main'], ', from main']]) {
    const page = await show(solver, options);
    const { boxes, metric } = json(solver, ...options);
    assert.equal(await page.title(), `solver: ${metric}${wanted}`);
    assert.equal(await page.textContent('h1'), await page.title());
    const rows = await page.$$eval('table.boxes tbody tr', (list) => list.map((row) => [Number(row.dataset.box), row.querySelector('[data-column=name]').dataset.value, Number(row.querySelector('[data-column=inclusive]').dataset.value)]));
    assert.deepEqual(rows, boxes.filter((box) => box.parent_box === null).slice(0, 50).map((box) => [box.box, box.name ?? '', box.inclusive]));
    await page.close();
  }
});

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
  await page.waitForSelector('.matches');
  const found = /^matches: ([0-9.]+) % in (\d+) box/.exec((await page.textContent('.matches')).replaceAll(',', ''));
  assert.ok(Math.abs(Number(found[1]) - share) < 0.06, `${found[1]} and ${share}`);
  assert.equal(Number(found[2]), matches.size);
  await page.keyboard.press('Enter');
  await page.keyboard.press('n');
  assert.ok((await page.textContent('#path')).includes(wanted));
  assert.ok((await page.textContent('.flame [role=status]')).startsWith(wanted), 'readers of screens hear it');
  await page.keyboard.press('Escape');
  await page.waitForSelector('.matches', { state: 'detached' });
  await page.close();
});

await test('keys select, zoom in and go up; what is shown becomes wider, and callers stay', async () => {
  const page = await show(solver);
  const { boxes } = json(solver);
  await page.focus(picture);
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
  await said(page, /is the root$/);
  const number = Number(/[#&?]r=b(\d+)/.exec(page.url())[1]);
  const root = boxes[number];
  assert.ok(root.parent_box !== null);
  // The middle of the level of the root is the root, and that above it its caller.
  const area = await (await page.$(picture)).boundingBox();
  const tipAt = async (level) => {
    await page.mouse.move(area.x + area.width / 2, area.y + level * 18 + 8);
    return page.textContent('.flame .tip b');
  };
  assert.equal(await tipAt(root.level), root.name);
  assert.equal(await tipAt(root.level - 1), boxes[root.parent_box].name);
  await page.focus(picture);
  await page.keyboard.press('u');
  await page.waitForFunction((wanted) => location.href.includes(`r=b${wanted}`), root.parent_box);
  await page.keyboard.press('0');
  await said(page, /is the root$/, false);
  await page.close();
});

await test('the next match is one that is shown', async () => {
  writeFileSync(join(place, 'matches.folded'), 'main;left;work 5\nmain;right;work 4\nmain;right;inner;work 3\n');
  const page = await show(join(place, 'matches.folded'));
  const right = json(join(place, 'matches.folded')).boxes.find((box) => box.name === 'right').box;
  await page.goto(`${page.url()}#?r=b${right}&q=work&1`);
  await page.reload();
  await ready(page);
  await said(page, /right is the root$/);
  await page.focus(picture);
  for (let i = 0; i < 3; i++) {
    await page.keyboard.press('n');
    await page.waitForSelector('#path');
    assert.match(await page.textContent('#path'), /› right ›/);
  }
  await page.close();
});

await test('a root that is not in the picture is no root', async () => {
  const page = await show(solver);
  await page.goto(`${page.url()}#?r=b99999&1`);
  await page.reload();
  await ready(page);
  await said(page, /is the root$/, false);
  assert.equal(await page.$('.toolbar .chip'), null);
  await page.close();
});

await test('the help has each key once, and those of the picture', async () => {
  const page = await show(solver);
  await page.keyboard.press('?');
  await page.waitForSelector('dialog kbd');
  const keys = await page.$$eval('dialog kbd', (list) => list.map((key) => key.textContent));
  assert.equal(new Set(keys).size, keys.length, keys.join());
  for (const key of ['Backspace', '← → ↑ ↓', 'Enter or double click']) assert.ok(keys.includes(key), `${key}: ${keys.join()}`);
  await page.close();
});

await test('a double click makes a box the root, also above the function in the middle; Escape ends it', async () => {
  for (const [options, level] of [[[], 3], [['--function', json(solver).boxes.find((box) => box.level >= 2 && /^\w+$/.test(box.name ?? '')).name], 0], [['--bottom-up'], 1]]) {
    const page = await show(solver, options);
    const area = await (await page.$(picture)).boundingBox();
    const { boxes } = json(solver, ...options);
    const box = boxes.find((one) => one.level === level && one.name !== null && one.width > 0.02 && one.width < 1) ?? boxes.find((one) => one.level === level && one.name !== null);
    await page.mouse.dblclick(area.x + (box.x + box.width / 2) * area.width, area.y + level * 18 + 8);
    await said(page, /is the root$/);
    assert.ok((await labelOf(page)).endsWith(`${box.name} is the root`), await labelOf(page));
    await page.mouse.move(area.x + area.width - 20, area.y + level * 18 + 8);
    assert.equal(await page.textContent('.flame .tip b'), box.name);
    await page.keyboard.press('Escape');
    await said(page, /is the root$/, false);
    await page.close();
  }
});

await test('nothing is offered that would have to be asked', async () => {
  const page = await show(solver);
  await page.focus(picture);
  await page.keyboard.press('ArrowDown');
  const buttons = await page.$$eval('.toolbar button', (list) => list.map((button) => button.textContent.trim()));
  assert.deepEqual(buttons, ['focus', 'save SVG']);
  await page.close();
});

await test('names are text', async () => {
  for (const options of [[], ['--function', 'main'], ['--bottom-up']]) {
    const page = await show(join(place, 'hostile.folded'), options);
    await page.focus(picture);
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'Enter']) await page.keyboard.press(key);
    assert.equal(await page.evaluate(() => globalThis.pwned), undefined);
    assert.equal(await page.$('img'), null);
    assert.equal((await page.$$('script')).length, 2);
    const boxes = JSON.parse(await page.textContent('script[data-target=flame]')).boxes.map((box) => box.name);
    for (const name of NAMES) assert.ok(boxes.includes(name), name);
    await page.close();
  }
});

await test('what was found in the store is said', async () => {
  writeFileSync(join(place, 'damaged.folded'), 'main;a 5\nmain;b 3\nthis line has no count\n');
  const page = await show(join(place, 'damaged.folded'));
  assert.match(await page.textContent('header'), /1 finding/);
  await page.close();
  // So many in one track that not all are counted: a third of the records is missing.
  const damaged = join(place, 'damaged');
  execFileSync(LODE, ['synth', 'recording', '--records', '30000', '--tasks', '1', '-o', damaged], { stdio: 'ignore' });
  const track = join(damaged, '1000.dat'), records = readFileSync(track);
  writeFileSync(track, Buffer.concat(Array.from({ length: records.length / 16 }, (_, i) => (i % 3 === 1 ? Buffer.alloc(0) : records.subarray(16 * i, 16 * i + 16)))));
  const { findings } = json(damaged);
  assert.ok(findings.some((finding) => finding.severity !== 'note' && finding.or_more));
  const sum = findings.filter((finding) => finding.severity !== 'note').reduce((all, finding) => all + finding.count, 0);
  const other = await show(damaged);
  const said = await other.textContent('header');
  assert.ok(said.includes(`at least ${sum.toLocaleString('en')} findings`), said);
  await other.close();
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
const unescaped = (text) => text.replaceAll(/\\u00(3c|3e|26)/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));

await test('control: without escapes and without the policy, names run; the policy alone stops them', async () => {
  execFileSync(LODE, ['flame', join(place, 'hostile.folded'), '-f', '-o', join(place, 'flame.html')]);
  const text = readFileSync(join(place, 'flame.html'), 'utf8');
  const policy = /<meta http-equiv="Content-Security-Policy"[^>]*>/;
  assert.match(text, policy);
  assert.ok(Buffer.from(text).every((byte) => byte < 0x80), 'ASCII');
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
