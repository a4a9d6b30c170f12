// SPDX-License-Identifier: BSD-3-Clause
// Names that attack: markup, marks that turn the direction of text, control characters, a name of a megabyte. Nothing is
// executed, nothing looks like something else, and every view stands.
//   hostile.mjs [--maker PROGRAM]: makes stores of all kinds that have markup in every field; each goes through every view. The controls are
// the same pages with names as markup: there it is executed, or the policy of the page reports it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { finish, folder, move, open, serve, settle, show, test } from './browser.mjs';

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

for (const view of ['overview', 'top', 'tree', 'flame', 'findings']) {
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

const made = folder();
const maker = process.argv[process.argv.indexOf('--maker') + 1];
const stores = process.argv.includes('--maker') ? ['database', 'recording', 'traces', 'spans'].map((name) => join(made, name)) : [];
if (stores.length > 0) execFileSync(maker, [made]);
const all = await serve(...stores, file);

/** A page that counts what runs, what its policy refuses, and dialogs; without escapes, text that the page makes becomes markup. */
async function watched(isEscaped, hasPolicy = true) {
  const { browser, context, page, messages } = await open(all, { viewport: { width: 1400, height: 1200 }, bypassCSP: !hasPolicy });
  const refused = [];
  await context.exposeFunction('refuse', (text) => refused.push(text));
  await context.addInitScript((escaped) => {
    addEventListener('securitypolicyviolation', (event) => globalThis.refuse(`${event.violatedDirective} ${event.sample}`));
    if (escaped) return;
    document.createTextNode = (text) => {
      const element = document.createElement('span');
      element.innerHTML = text;
      return element;
    };
  }, isEscaped);
  page.on('dialog', (dialog) => {
    refused.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  const ran = () => page.evaluate(() => globalThis.pwned);
  return { browser, page, messages, refused, ran };
}

await test(`${stores.length} stores with markup in every field: every view shows text`, async () => {
  const { browser, page, messages, refused, ran } = await watched(true);
  let pages = 0;
  let names = 0;
  for (let number = 0; number < stores.length; number++) {
    await show(page, all, `?s=${number}&1`);
    const views = await page.$$eval('.tabs a', (links) => links.map((link) => new URL(link.href).searchParams.get('v') ?? 'overview'));
    assert.ok(views.length >= 6, views.join(' '));
    for (const query of [...views.map((view) => `v=${view}`), `v=compare&b=${stores.length}`, `v=tree&g=compare&b=${stores.length}`, `v=flame&g=compare&b=${stores.length}`, 'v=flame&w=up', 'v=tree&c=2', 'v=top&g=module', 'v=top&g=file']) {
      await move(page, `?s=${number}&${query}&1`);
      assert.equal(await ran(), undefined, query);
      assert.equal(await page.$('main img, main script, aside img, aside script, header img, dialog img, main svg[onload], [onerror]'), null, query);
      names += (await page.evaluate(() => document.body.innerText)).includes('<img src=x onerror=') ? 1 : 0;
      pages++;
    }
    for (const key of ['2', 'ArrowDown', 'Enter', 'c', '?', 'Escape', 'Control+k', 'Escape']) await page.keyboard.press(key);
    await settle(page);
    assert.equal(await ran(), undefined, 'keys');
  }
  console.log(`# ${pages} pages, ${names} with markup as text`);
  assert.ok(stores.length === 0 || names > pages / 3, `${names} of ${pages}`);
  assert.deepEqual(refused, []);
  assert.deepEqual(messages.filter((message) => !/^error: Failed to load resource: .* 400/.test(message)), []);
  await browser.close();
});

await test('control: names as markup are executed without the policy', async () => {
  const { browser, page, ran } = await watched(false, false);
  await show(page, all, '?v=top&1');
  await page.waitForFunction(() => globalThis.pwned === 1, undefined, { timeout: 60000 });
  assert.equal(await ran(), 1);
  await browser.close();
});

await test('control: with the policy, they are reported and not executed', async () => {
  const { browser, page, refused, ran } = await watched(false);
  await show(page, all, '?v=top&1');
  for (let i = 0; i < 600 && refused.length === 0; i++) await page.waitForTimeout(100);
  assert.ok(refused.some((text) => text.startsWith('script-src')), refused.join('; '));
  assert.equal(await ran(), undefined);
  await browser.close();
});

await all.stop();
finish();
