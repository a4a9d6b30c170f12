// SPDX-License-Identifier: BSD-3-Clause
// The runs of a catalogue (`lode view --catalogue`): its table and its trend are those of `lode runs`, and a change leads to the
// comparison of the two runs, as long as their stores are there as they were.
//   runs.mjs [--shots FOLDER]: pictures
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { LODE, answerOf, copied, finish, folder, open, serve, settle, show, test } from './browser.mjs';

const SHOTS = process.argv.includes('--shots') ? process.argv[process.argv.indexOf('--shots') + 1] : '';
const RUNS = 14;
const HOSTILE = '<img src=x onerror=alert(1)>';
const place = folder();
const file = join(place, 'runs.sqlite');
const lode = (...words) => execFileSync(LODE, words, { encoding: 'utf-8', env: { ...process.env, NO_COLOR: '1', COLUMNS: '400' }, stdio: ['ignore', 'pipe', 'ignore'] });
const store = (number) => join(place, `db${number}`);
for (let number = 1; number <= RUNS; number++) {
  lode('synth', 'database', '--seed', '1', '--skew', number > 8 ? '2' : '1', '--profiles', '4', '--contexts', '60', '--samples', '10', '-o', store(number));
  lode('runs', 'add', store(number), '--catalogue', file, '--label', 'title=solver', '--label', `note=${number === 5 ? HOSTILE : 'none'}`, '--time', `2026-10-${String(number).padStart(2, '0')}T09:30Z`);
}
const server = await serve('--catalogue', file);
const { browser, page, messages } = await open(server);
await settle(page);

/** Texts of a table, by row. */
const cells = (label) => page.$$eval(`[aria-label="${label}"] .row`, (rows) => rows.map((row) => [Number(row.getAttribute('aria-rowindex')), [...row.querySelectorAll('[role=gridcell]')].map((cell) => cell.textContent)]).sort((a, b) => a[0] - b[0]).map((pair) => pair[1]));

await test('without a store, the first page is the runs, with the rows that lode runs list prints', async () => {
  const printed = lode('runs', 'list', '--catalogue', file).split('\n').map((line) => line.trim().split(/ {2,}/)).filter(([run]) => /^\d+$/.test(run));
  assert.equal(printed.length, RUNS);
  const shown = await cells('Runs');
  assert.deepEqual(shown.map((row) => row.filter((text) => text !== '')), printed);
  assert.ok(printed.some((row) => row.join().includes(HOSTILE)), 'a label with markup is text');
  if (SHOTS !== '') await page.screenshot({ path: join(SHOTS, 'runs.png') });
});

for (const [query, words] of [['', []], ['&q=f00*', ['f00*']], ['&o=inclusive&m=CPUTIME', ['--inclusive', '--metric', 'CPUTIME']]]) {
  const wanted = words.filter((word) => word !== 'f00*');
  const name = words.includes('f00*') ? [JSON.parse(lode('top', '--json', '--limit', '1', store(1))).rows[0].name] : [];
  await test(`the trend ${[...name, ...wanted].join(' ') || 'of the total'} has the points and changes of lode runs trend`, async () => {
    await show(page, server, `?v=runs${query.replace('f00*', encodeURIComponent(name[0] ?? ''))}&1`);
    const answer = JSON.parse(lode('runs', 'trend', ...name, ...wanted, '--catalogue', file, '--json'));
    assert.deepEqual(await answerOf(await copied(page)), answer);
    const cost = words.includes('--inclusive') ? 'inclusive' : 'exclusive';
    const points = await page.$$eval('.trend circle', (all) => all.map((point) => [Number(point.dataset.run), Number(point.dataset.value)]));
    assert.deepEqual(points, answer.rows.map((row) => [row.run, row[cost]]));
    assert.equal(await page.locator('.trend line.change').count(), answer.changes.length);
    // As text: "change from 1.000 s to 2.000 s, +100.0% (p ...".
    const said = lode('runs', 'trend', ...name, ...wanted, '--catalogue', file).split('\n').map((line) => /^change (from .* to .*), (\S+%) /.exec(line)).filter((found) => found);
    const listed = (await page.$$eval('.changes li', (all) => all.map((item) => item.textContent))).filter((text) => text.startsWith('from'));
    assert.equal(listed.length, said.length);
    said.forEach((found, index) => assert.ok(listed[index].startsWith(`${found[1]} ${found[2]}`), `${listed[index]}, not ${found[1]} ${found[2]}`));
  });
}

await test('a function that no run has is said', async () => {
  await show(page, server, '?v=runs&q=no_such_function&1');
  assert.match(await page.locator('.problem').textContent(), /no_such_function/);
});

await test('labels and times select runs', async () => {
  await show(page, server, '?v=runs&1');
  await page.getByLabel('Labels').fill('note=none');
  await page.getByLabel('Labels').press('Enter');
  await page.getByLabel('Since').fill('2026-10-04');
  await page.getByLabel('Since').press('Enter');
  await settle(page);
  assert.deepEqual((await cells('Runs')).map(([run]) => Number(run)), [14, 13, 12, 11, 10, 9, 8, 7, 6, 4]);
});

await test('a change leads to the comparison of the two runs, and the selector back to the runs', async () => {
  await show(page, server, '?v=runs&1');
  await page.getByRole('button', { name: 'compare run 8 with run 9' }).click();
  await page.waitForFunction(() => /[?&]v=compare/.test(location.search));
  await settle(page);
  const command = await copied(page);
  assert.ok(command.includes(`compare ${store(8)} ${store(9)}`), command);
  if (SHOTS !== '') await page.screenshot({ path: join(SHOTS, 'runs-compare.png') });
  await page.getByLabel('Store', { exact: true }).selectOption('runs');
  await settle(page);
  assert.equal((await cells('Runs')).length, RUNS);
});

await test('a point chooses its run, which can be opened', async () => {
  await page.locator('.trend circle[data-run="3"]').click();
  await page.getByRole('button', { name: 'open run 3' }).click();
  await page.waitForFunction(() => document.title.includes('db3'));
  await settle(page);
});

await test('a store that is gone or has changed is said, and nothing is opened', async () => {
  renameSync(store(6), join(place, 'elsewhere'));
  appendFileSync(join(store(7), 'meta.db'), 'x');
  for (const [run, why] of [[6, 'not on this machine any more'], [7, 'has changed since it was added']]) {
    await show(page, server, `?v=runs&i=${run}&1`);
    messages.length = 0;
    await page.getByRole('button', { name: `open run ${run}` }).click();
    await page.locator('.notice', { hasText: why }).waitFor();
  }
  const all = await (await fetch(`${server.base}api/1/session`, { headers: { Authorization: `Bearer ${server.token}` } })).json();
  assert.deepEqual(all.stores.map(({ name }) => name), ['db8', 'db9', 'db3']);
});

await test('axe finds nothing in either theme', async () => {
  const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  for (const scheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme });
    await show(page, server, '?v=runs&i=9&1');
    await page.evaluate(source);
    const found = await page.evaluate(() => globalThis.axe.run({ resultTypes: ['violations'] }));
    assert.deepEqual(found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`), []);
    if (SHOTS !== '') await page.screenshot({ path: join(SHOTS, `runs-${scheme}.png`) });
  }
});

// The refusals above are answers of status 422, of which Chromium tells.
assert.deepEqual(messages.filter((message) => !message.includes('422')), []);
await browser.close();
assert.equal(await server.stop(), 0);
finish();
