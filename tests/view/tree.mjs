// SPDX-License-Identifier: BSD-3-Clause
// The tree asks for rows when they are opened, a part at a time: what it gets is small, and is what its command prints.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answerOf, copied, finish, folder, open, serve, settle, show, test } from './browser.mjs';

const CALLEES = 5000;
const PART = 200;
const lines = ['main;hot;hotter 99000000'];
for (let i = 0; i < CALLEES; i++) {
  lines.push(`main;wide;f${String(i).padStart(4, '0')} ${2 * CALLEES - i}`);
  if (i % 10 === 0) lines.push(`main;wide;f${String(i).padStart(4, '0')};deep${i % 7};deeper ${3 + (i % 5)}`);
}
const store = join(folder(), 'wide.folded');
writeFileSync(store, `${lines.join('\n')}\n`);
const server = await serve(store);
const { browser, page, messages } = await open(server);
const answers = [];
// The header says the size: the body of an answer is gone once the page has moved on.
page.on('response', (response) => {
  if (response.url().includes('/api/1/tree/')) answers.push({ url: response.url(), size: Number(response.headers()['content-length']) });
});

const rows = () => page.$$eval('[role=treegrid] .row', (list) => list.map((row) => ({
  index: Number(row.getAttribute('aria-rowindex')), level: Number(row.getAttribute('aria-level')), text: row.querySelector('[data-column=name]').textContent,
  name: row.querySelector('[data-column=name]').dataset.value, inclusive: row.querySelector('[data-column=inclusive]').dataset.value,
})).sort((a, b) => a.index - b.index));
const countRows = () => page.$eval('[role=treegrid]', (grid) => Number(grid.getAttribute('aria-rowcount')) - 1);
async function press(...keys) {
  for (const key of keys) {
    await page.keyboard.press(key);
    await settle(page);
  }
}
const current = () => page.$eval('[role=treegrid]', (grid) => document.getElementById(grid.getAttribute('aria-activedescendant')).querySelector('[data-column=name]').textContent);

/** Moves down until a row is the current one. */
async function find(text) {
  await press('Home');
  for (let i = 0; i < 20 && (await current()) !== text; i++) await press('ArrowDown');
  assert.equal(await current(), text);
}

await test('opening a row with thousands of callees asks for the first of them', async () => {
  await show(page, server, '?v=tree&1');
  await page.focus('[role=treegrid]');
  const before = await countRows();
  await find('wide');
  await press('ArrowRight');
  // The rows, and a line for those that are not there.
  assert.equal(await countRows(), before + PART + 1);
  assert.ok(answers.length > 1 && answers.every((answer) => answer.size < 120000), JSON.stringify(answers));
});

await test('what is shown is what the copied command prints, part after part', async () => {
  for (const [skip, rest] of [[0, '4,800 more …'], [PART, '4,600 more …'], [2 * PART, '4,400 more …']]) {
    // To the last row of the part; the line for what is missing follows.
    await press('End');
    assert.equal(await current(), rest);
    await press('ArrowUp');
    const answer = await answerOf(await copied(page));
    assert.deepEqual([answer.rows.length, answer.row_count, answer.skip ?? 0], [PART, CALLEES, skip]);
    const shown = (await rows()).filter((row) => answer.rows.some((wanted) => wanted.name === row.name));
    assert.ok(shown.length > 10);
    assert.deepEqual(shown.map((row) => [row.name, row.inclusive]), answer.rows.slice(-shown.length).map((row) => [row.name, String(row.inclusive)]));
    await page.focus('[role=treegrid]');
    await press('End', 'Enter');
  }
  assert.ok(answers.every((answer) => answer.size < 120000), JSON.stringify(answers));
});

await test('rows that came later are opened, and followed along the hot path', async () => {
  await show(page, server, '?v=tree&1');
  await page.focus('[role=treegrid]');
  await find('wide');
  await press('ArrowRight', 'ArrowRight');
  assert.equal(await current(), 'f0000');
  await press('ArrowRight', 'ArrowRight');
  assert.equal(await current(), 'deep0');
  await press('h');
  assert.equal(await current(), 'deeper');
  const answer = await answerOf(await copied(page));
  assert.deepEqual(answer.rows.map((row) => row.name), ['deeper']);
});

await test('by callers, functions beyond those that are shown come with Enter', async () => {
  await show(page, server, '?v=tree&w=up&1');
  await page.focus('[role=treegrid]');
  await press('End');
  assert.equal(await current(), 'more …');
  await press('Enter', 'End');
  assert.match(await current(), /^4,\d\d\d more …$/);
  await press('ArrowUp', 'ArrowRight', 'ArrowRight');
  assert.equal(await current(), 'wide');
  const answer = await answerOf(await copied(page));
  assert.deepEqual([answer.mode, answer.rows.length, answer.rows[0].name], ['bottom-up', 1, 'wide']);
  assert.deepEqual(messages, []);
});

await browser.close();
await server.stop();
finish();
