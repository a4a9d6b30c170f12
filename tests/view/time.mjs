// SPDX-License-Identifier: BSD-3-Clause
// The Time view: pixels, shares and call paths are what `lode trace` says; keys and pointer move the time window.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { answerOf, copied, CORPUS, examples, finish, open, serve, settle, show, skipped, test } from './browser.mjs';
import { checkTime, HUES, identity, OTHERS, running, wholeOf } from './checks.mjs';

const demo = examples();
const real = join(CORPUS, 'hpctoolkit/final/viewer-issue-233');
const stores = [demo.solver, demo.thumbs, ...(CORPUS !== '' && existsSync(real) ? [real] : [])];
if (stores.length < 3) skipped('a real database', 'there is no corpus');
const server = await serve(...stores);
const { browser, page, messages } = await open(server);

async function check(query) {
  await show(page, server, query);
  const { colours, count } = await checkTime(page);
  assert.ok(colours > 2 && count > 0, 'there is something to see');
}

for (const [number, store] of stores.entries()) {
  await test(`${store.split('/').pop()}: pixels and shares are those of the command`, async () => {
    await check(`?s=${number}&v=time&1`);
    await check(`?s=${number}&v=time&d=2&k=idle-last&1`);
  });
}

await test('a time window shows what its command says, with the colours of the whole run', async () => {
  await check('?v=time&t=2000000000ns..2500000000ns&1');
});

await test('keys zoom, move and go back to all', async () => {
  await show(page, server, '?v=time&1');
  const window = async () => {
    await settle(page);
    const answer = await answerOf(await copied(page));
    return [Number(BigInt(answer.from_ns) - BigInt(answer.start_ns)), Number(BigInt(answer.to_ns) - BigInt(answer.start_ns))];
  };
  const all = await window();
  await page.keyboard.press('KeyW');
  const near = await window();
  assert.ok(Math.abs((near[1] - near[0]) * 2 - (all[1] - all[0])) <= 4, `${near} of ${all}`);
  await page.keyboard.press('KeyD');
  const later = await window();
  assert.ok(later[0] > near[0] && Math.abs(later[1] - later[0] - (near[1] - near[0])) <= 2);
  await page.keyboard.press('KeyA');
  assert.ok(Math.abs((await window())[0] - near[0]) <= 2);
  await page.keyboard.press('0');
  assert.deepEqual(await window(), all);
  await page.keyboard.press(']');
  await settle(page);
  assert.match(await copied(page), /--depth 1/);
  await page.goBack();
  await settle(page);
  assert.doesNotMatch(await copied(page), /--depth/);
});

await test('a pointer that is dragged zooms, and back undoes it', async () => {
  await show(page, server, '?v=time&1');
  const box = await page.locator('.plot').boundingBox();
  await page.mouse.move(box.x + box.width * 0.25, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 10, { steps: 4 });
  await page.mouse.up();
  await settle(page);
  assert.match(await copied(page), /--from \d+ns --to \d+ns/);
  await page.goBack();
  await settle(page);
  assert.doesNotMatch(await copied(page), /--from/);
});

for (const [number, query] of [[0, '?v=time&1'], [0, '?v=time&t=2s..2500ms&x=7@2100000000ns&1'], [1, '?s=1&v=time&x=1@30000000ns&1'], [1, '?s=1&v=time&t=10ms..90ms&1']]) {
  await test(`store ${number}: calls by depth are boxes of their command (${query})`, async () => {
    await show(page, server, query);
    await page.evaluate(() => navigator.clipboard.writeText(''));
    await page.locator('.calls .link').click();
    await page.waitForFunction(async () => (await navigator.clipboard.readText()) !== '');
    const command = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(command, /^lode trace \S+ --boxes/);
    const answer = await answerOf(command);
    const picture = await answerOf(await copied(page));
    const order = running(await wholeOf(await copied(page))).filter((row) => row.kind !== 'idle').map(identity);
    const hues = new Map(running(picture).map((row) => [row.name, HUES[order.indexOf(identity(row))] ?? OTHERS]));
    assert.equal(await page.$eval('#calls', (canvas) => canvas.getAttribute('aria-label').match(/: ([\d,]+) boxes/)[1].replaceAll(',', '')), String(answer.rows.length));
    const [from, to] = [BigInt(answer.from_ns), BigInt(answer.to_ns)];
    const part = (time) => Number(BigInt(time) - from) / Number(to - from);
    const places = answer.rows.map((row) => ({ x: part(row.begin_ns), width: part(row.end_ns) - part(row.begin_ns), depth: row.depth }));
    const drawn = await page.$eval('#calls', (canvas, list) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return list.map((place) => {
        if (place.width * canvas.width < 6) return null;
        // The first pixels of a row have no text.
        const at = 4 * (((place.depth - 1) * 16 + 1) * canvas.width + Math.round((place.x + place.width / 2) * canvas.width));
        return (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
      });
    }, places);
    let boxes = 0;
    drawn.forEach((colour, i) => {
      if (colour === null) return;
      const row = answer.rows[i];
      const wanted = row.kind === 'idle' ? [0xc8c8c8, 0xffffff] : [hues.get(row.name) ?? OTHERS];
      assert.ok(wanted.includes(colour), `${row.name} is ${colour.toString(16)}, not ${wanted.map((hue) => hue.toString(16))}`);
      boxes++;
    });
    assert.ok(boxes >= 3, `${boxes} boxes`);
  });
}

for (const number of [0, 1]) {
  await test(`store ${number}: the call path at the crosshair is that of --at`, async () => {
    await show(page, server, `?s=${number}&v=time&1`);
    await page.locator('.plot').focus();
    let paths = 0;
    for (const key of ['Enter', 'ArrowRight', 'ArrowDown', 'ArrowRight', 'ArrowRight']) {
      const before = await page.textContent('.hover');
      await page.keyboard.press(key);
      await settle(page);
      if (key !== 'Enter') assert.notEqual(await page.textContent('.hover'), before, 'the live region says where');
      const [, line, time] = /[?&]x=(\d+)(?:@|%40)(\d+)ns/.exec(page.url());
      const store = stores[number];
      const which = number === 0 ? `--profiles profile=${line}` : `--rows 0`;
      const answer = await answerOf(`lode trace '${store}' --at ${time}ns ${which}`);
      const wanted = answer.rows.filter((row) => String(row.line_index) === line).map((row) => row.name);
      const found = await page.$$eval('.stack li', (items) => items.map((item) => item.textContent));
      assert.deepEqual(found, wanted);
      paths += wanted.length;
    }
    assert.ok(paths > 0);
  });
}

await test('nothing is in the console', async () => assert.deepEqual(messages, []));
await browser.close();
assert.equal(await server.stop(), 0);
finish();
