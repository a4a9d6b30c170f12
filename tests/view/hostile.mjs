// SPDX-License-Identifier: BSD-3-Clause
// Names that attack: markup, marks that turn the direction of text, control characters, a name of a megabyte. Nothing is
// executed, nothing looks like something else, and every view stands.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { finish, folder, open, serve, settle, show, test } from './browser.mjs';

const NAMES = [
  '<script>globalThis.pwned=1</script>', '<img src=x onerror="globalThis.pwned=1">', '"onmouseover="globalThis.pwned=1', 'javascript:globalThis.pwned=1',
  'safe\u202egnp.exe', 'isolate\u2066\u2069', 'zero\u200bwidth', 'bell\u0007escape\u001b[31m', '${globalThis.pwned=1}', '{{constructor.constructor("pwned=1")()}}',
  "quote'double\"back`tick", '&lt;b&gt;&amp;', '__proto__', 'constructor', 'toString', '漢字 ü 😀', '-rf', '--json', `long${'x'.repeat(1000000)}end`, ' ',
];
const file = join(folder(), 'hostile.folded');
writeFileSync(file, NAMES.map((name, index) => `main;${name.replaceAll(';', ':')} ${index + 1}\n`).join('') + `${'deep;'.repeat(200)}leaf 3\n`);

const server = await serve(file);
const { browser, page, messages } = await open(server, { viewport: { width: 1400, height: 1200 } });

async function check() {
  await settle(page);
  assert.equal(await page.evaluate(() => globalThis.pwned), undefined);
  assert.equal(await page.$('main img, main script, aside script'), null);
  const text = await page.evaluate(() => document.body.innerText);
  assert.doesNotMatch(text, /[\u202a-\u202e\u2066-\u2069\u200b\u0007\u001b]/);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'wider than the window');
}

for (const view of ['overview', 'top', 'tree', 'flame', 'findings', ...(process.argv[2] ?? '').split(',').filter((name) => name !== '')]) {
  await test(`${view}: hostile names are text`, async () => {
    await show(page, server, `?v=${view}&h=0&1`);
    await check();
  });
}

await test('hostile names are text in the side pane, with their numbers', async () => {
  await show(page, server, '?v=top&1');
  const rows = await page.$$eval('[role=grid] .row', (list) => list.length);
  assert.ok(rows >= NAMES.length - 2);
  await page.focus('[role=grid]');
  for (let i = 0; i < rows; i++) {
    await page.keyboard.press('ArrowDown');
    await page.waitForTimeout(30);
    if (i % 4 === 0) await check();
  }
  const names = await page.$$eval('[role=grid] .row [data-column=name]', (cells) => cells.map((cell) => [cell.dataset.value, cell.textContent]));
  // The program replaces such marks in its output; what it leaves, the page shows as escapes (web/test/format.test.ts).
  const [, shown] = names.find(([value]) => value.startsWith('safe')) ?? [];
  assert.match(shown, /^safe(\?|\\u202e)gnp\.exe$/);
  assert.ok(names.some(([, text]) => text === '<script>globalThis.pwned=1</script>'));
});

await test('hostile names are text in search, palette and links', async () => {
  for (const name of ['<img src=x onerror=globalThis.pwned=1>', '\u202eabc', '*', '/(/', '/(a+)+$/', '"', '%00', '{{7*7}}']) {
    await show(page, server, `?v=top&q=${encodeURIComponent(name)}&1`);
    await check();
    await show(page, server, `?v=tree&n=${encodeURIComponent(name)}&w=${encodeURIComponent(`callers:${name}`)}&m=${encodeURIComponent(name)}&p=${encodeURIComponent(name)}&1`);
    await check();
  }
  await show(page, server, '?v=top&1');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('<script>');
  await page.waitForTimeout(400);
  await check();
});

await test('the console has nothing but refused requests', async () => {
  // A selection that names nothing is refused with a status, which Chromium writes to the console.
  assert.deepEqual(messages.filter((message) => !/^error: Failed to load resource: .* 400/.test(message)), []);
});

await browser.close();
await server.stop();
finish();
