// SPDX-License-Identifier: BSD-3-Clause
// The Time view: pixels, shares and call paths are what `lode trace` says; keys and pointer move the time window.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { answerOf, copied, CORPUS, examples, finish, open, serve, settle, show, skipped, test } from './browser.mjs';
import { checkTime, HUES, identity, muted, pixels, rowsOf, running, wholeOf } from './checks.mjs';

const demo = examples();
const spans = join(process.env.LODE_DATA ?? '', 'otlp/small');
const real = join(CORPUS, 'hpctoolkit/final/viewer-issue-233');
const stores = [demo.solver, demo.thumbs, ...(CORPUS !== '' && existsSync(real) ? [real] : [])];
if (stores.length < 3) skipped('a real database', 'there is no corpus');
const served = [stores[0], stores[1], ...(stores.length > 2 ? [stores[2]] : [stores[1]]), demo.shop];
const server = { ...(await serve(...served)), paths: served };
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

await test('marks of the axis have no more digits than they need', async () => {
  const marks = () => page.$$eval('.timeplot > .axis span', (all) => all.map((mark) => mark.textContent));
  await show(page, server, '?v=time&s=1&1');
  assert.deepEqual(await marks(), ['0 s', '50 ms', '100 ms', '150 ms', '200 ms']);
  await show(page, server, '?v=time&t=2000000000ns..2000000100ns&1');
  assert.ok((await marks()).includes('2.00000002 s'), (await marks()).join());
});

await test('keys zoom, move and go back to all', async () => {
  await show(page, server, '?v=time&1');
  const window = async () => {
    await settle(page);
    const answer = await answerOf(await copied(page));
    return [Number(BigInt(answer.from_ns) - BigInt(answer.start_ns)), Number(BigInt(answer.to_ns) - BigInt(answer.start_ns))];
  };
  const all = await window();
  await page.mouse.move(0, 0);
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

/** The time window on the screen, whether its picture is there or not. */
const shown = () => page.$eval('.plot', (plot) => [Number(plot.dataset.from), Number(plot.dataset.to)]);
const width = ([from, to]) => to - from;
const near = (found, wanted, slack, what) => assert.ok(Math.abs(found - wanted) <= slack, `${what}: ${found}, not ${wanted}`);
const timeAt = ([from, to], part) => from + part * (to - from);
/** Where a part of an element is on the screen. */
const point = async (selector, x) => {
  const box = await page.locator(selector).boundingBox();
  return [box.x + box.width * x, box.y + box.height / 2];
};
/** After an action, when the answer is there: the window is that of the command. */
const moved = async (action) => {
  const before = await shown();
  await action();
  await page.waitForFunction((old) => document.querySelector('.plot').dataset.from !== String(old[0]) || document.querySelector('.plot').dataset.to !== String(old[1]), before);
  await settle(page);
  return shown();
};

await test('ten presses zoom ten times while no answer comes; the old picture is stretched at once, and late answers are dropped', async () => {
  await show(page, server, '?v=time&1');
  const [all, before] = [await shown(), await pixels(page)];
  const columns = 1000, rows = before.length / columns;
  const held = [];
  await page.route('**/api/1/trace/**', (route) => held.push(route));
  for (let i = 0; i < 5; i++) await page.keyboard.press('KeyW');
  while (held.length === 0) await page.waitForTimeout(10);
  for (let i = 0; i < 5; i++) await page.keyboard.press('KeyW');
  const window = await shown();
  near(width(window), width(all) / 1024, 2, 'ten times');
  const now = await pixels(page);
  // Two columns of the old picture fill the canvas.
  for (let row = 0; row < rows; row++) for (const [x, old] of [[100, 499], [900, 500]]) assert.equal(now[row * columns + x], before[row * columns + old], `row ${row}, column ${x}`);
  await page.waitForFunction(([from, to]) => location.search.includes(`t=${from}ns..${to}ns`), window);
  while (!held.some((route) => route.request().url().includes(`from=${window[0]}ns`))) await page.waitForTimeout(10);
  await page.unroute('**/api/1/trace/**');
  for (const route of held) await route.continue().catch(() => {});
  await settle(page);
  assert.deepEqual(await shown(), window);
  await checkTime(page);
});

await test('the wheel zooms at the pointer and pans with Shift, a drag pans, a double click fits', async () => {
  await show(page, server, '?v=time&1');
  const all = await shown();
  await page.mouse.move(...(await point('.plot', 0.25)));
  const zoomed = await moved(() => page.mouse.wheel(0, -200));
  assert.ok(width(zoomed) < width(all) * 0.7, `${zoomed} of ${all}`);
  near(timeAt(zoomed, 0.25), timeAt(all, 0.25), width(all) / 500, 'the time under the pointer');
  await page.keyboard.down('Shift');
  const panned = await moved(() => page.mouse.wheel(0, 200));
  await page.keyboard.up('Shift');
  assert.ok(panned[0] > zoomed[0], `${panned} after ${zoomed}`);
  near(width(panned), width(zoomed), 2, 'the same width');
  const dragged = await moved(async () => {
    await page.mouse.move(...(await point('.plot', 0.5)));
    await page.mouse.down();
    await page.mouse.move(...(await point('.plot', 0.4)), { steps: 3 });
    await page.mouse.up();
  });
  near(dragged[0], panned[0] + width(panned) / 10, width(all) / 500, 'what was under the pointer stays under it');
  near(width(dragged), width(panned), 2, 'the same width');
  assert.doesNotMatch(page.url(), /[?&]x=/, 'a drag is no click');
  await checkTime(page);
  assert.deepEqual(await moved(async () => page.mouse.dblclick(...(await point('.plot', 0.5)))), all);
});

await test('the small picture is clicked and dragged; an area is selected with Shift, and back undoes it', async () => {
  await show(page, server, '?v=time&1');
  const all = await shown();
  const drag = async (selector, from, to) => {
    await page.mouse.move(...(await point(selector, from)));
    await page.mouse.down();
    await page.mouse.move(...(await point(selector, to)), { steps: 3 });
    await page.mouse.up();
  };
  const drawn = await moved(() => drag('.minimap', 0.2, 0.4));
  near(drawn[0], timeAt(all, 0.2), width(all) / 200, 'begin');
  near(drawn[1], timeAt(all, 0.4), width(all) / 200, 'end');
  const middle = ([from, to]) => (from + to) / 2;
  const clicked = await moved(async () => page.mouse.click(...(await point('.minimap', 0.7))));
  near(middle(clicked), timeAt(all, 0.7), width(all) / 200, 'a click');
  const dragged = await moved(() => drag('.minimap', 0.72, 0.52));
  near(middle(dragged), timeAt(all, 0.5), width(all) / 200, 'a drag by the frame');
  near(width(dragged), width(drawn), 2, 'the same width');
  await page.keyboard.down('Shift');
  await drag('.plot', 0.25, 0.75);
  await page.keyboard.up('Shift');
  await page.waitForFunction(() => /[?&]a=/.test(location.search));
  await settle(page);
  assert.deepEqual(await shown(), dragged, 'the window stays');
  assert.match(await copied(page), /--from \d+ns --to \d+ns/);
  const chosen = await moved(() => page.keyboard.press('z'));
  near(chosen[0], timeAt(dragged, 0.25), width(dragged) / 200, 'begin');
  near(chosen[1], timeAt(dragged, 0.75), width(dragged) / 200, 'end');
  assert.deepEqual(await moved(() => page.goBack()), dragged);
  await page.keyboard.press('Escape');
  await settle(page);
  assert.doesNotMatch(page.url(), /[?&]a=/);
  await page.keyboard.press('?');
  const help = await page.textContent('dialog[open]');
  for (const text of ['W or +', 'S or -', 'wheel', 'Shift+wheel, drag', 'Shift+drag', 'select an area', '0 or double click', 'drag in the small picture']) assert.ok(help.includes(text), text);
  await page.keyboard.press('Escape');
});

for (const [number, query] of [[0, '?v=time&1'], [0, '?v=time&t=2s..2500ms&x=7@2100000000ns&1'], [1, '?s=1&v=time&x=1@30000000ns&1'], [1, '?s=1&v=time&t=10ms..90ms&1']]) {
  await test(`store ${number}: calls by depth are boxes of their command (${query})`, async () => {
    await show(page, server, query);
    await page.evaluate(() => navigator.clipboard.writeText(''));
    await page.locator('.calls .link', { hasText: 'command' }).click();
    await page.waitForFunction(async () => (await navigator.clipboard.readText()) !== '');
    const command = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(command, /^lode trace \S+ --boxes/);
    const answer = await answerOf(command);
    const picture = await answerOf(await copied(page));
    const order = running(await wholeOf(await copied(page))).filter((row) => row.kind !== 'idle').map(identity);
    const hues = new Map(running(picture).map((row) => [row.name, HUES[order.indexOf(identity(row))] ?? muted(row.name)]));
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
      const wanted = row.kind === 'idle' ? [0xc8c8c8, 0xffffff] : [hues.get(row.name) ?? muted(row.name)];
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

await test('an interval of a recording has the calls of its functions: number, mean, p95 and largest', async () => {
  await show(page, server, '?s=1&v=time&1');
  assert.equal(await page.$('main .grid [data-column=calls]'), null, 'there is no interval yet');
  await show(page, server, '?s=1&v=time&t=10ms..90ms&1');
  await page.waitForFunction(() => document.querySelector('main .grid [data-column=p95][data-value]'));
  const wanted = new Map((await answerOf(`lode top '${demo.thumbs}' --from 10ms --to 90ms --limit 200`)).rows.map((row) => [row.name, [row.calls, row.mean_ns, row.p95_ns, row.max_ns].map(String)]));
  const found = await rowsOf(page, ['name', 'calls', 'mean', 'p95', 'max']);
  assert.ok(found.filter((row) => row[1] !== undefined).length > 5);
  for (const [name, ...values] of found) if (wanted.has(name)) assert.deepEqual(values, wanted.get(name), name);
});

/** Exact values and texts of a table by its label. */
const tableOf = (label) => page.$$eval(`[role=grid][aria-label="${label}"] .row`, (rows) => rows.sort((a, b) => Number(a.getAttribute('aria-rowindex')) - Number(b.getAttribute('aria-rowindex')))
  .map((row) => Object.fromEntries([...row.querySelectorAll('[data-column]')].map((cell) => [cell.dataset.column, cell.dataset.value]))));

await test('a selected area of a recording has the calls of its functions: number, sums, percentiles', async () => {
  await show(page, server, '?s=1&v=time&a=20000000..60000000&1');
  const command = await copied(page);
  assert.match(command, /^lode top \S+ --from 20000000ns --to 60000000ns/);
  const wanted = (await answerOf(command)).rows.map((row) => [row.name, row.calls, row.self_ns, row.total_ns, row.mean_ns, row.p50_ns, row.p95_ns, row.p99_ns, row.max_ns].map(String));
  const found = await tableOf('Functions in the selected area');
  assert.ok(found.length > 8);
  assert.deepEqual(found.map((row) => [row.name, row.calls, row.exclusive, row.inclusive, row.mean, row.p50, row.p95, row.p99, row.max]), wanted.slice(0, found.length));
});

for (const [number, area] of [[0, '2000000000..3000000000'], [1, '50000000..100000000'], [3, '4000000000..6000000000']]) {
  await test(`store ${number}: what changed since the area before is what lode compare says`, async () => {
    await show(page, server, `?s=${number}&v=time&a=${area}&1`);
    if (number === 0) {
      const answer = await answerOf(await copied(page));
      assert.deepEqual((await tableOf('Functions in the selected area')).map((row) => [row.name, row.nanoseconds, row.samples]), answer.rows.map((row) => [row.name, row.nanoseconds, row.samples].map(String)));
    }
    await page.getByRole('button', { name: 'compare with the area before' }).click();
    await settle(page);
    const [from, to] = area.split('..').map(Number);
    const wanted = await answerOf(`lode compare '${server.paths[number]}' '${server.paths[number]}' --from-base ${2 * from - to}ns --to-base ${from}ns --from-new ${from}ns --to-new ${to}ns --limit 200`);
    const found = await tableOf('Changes from the area before');
    assert.ok(found.length > 2);
    assert.deepEqual(found.map((row) => [row.name, row.base, row.new, row.difference]), wanted.rows.slice(0, found.length).map((row) => [row.name, row.base, row.new, row.difference].map(String)));
    assert.match(await copied(page), /^lode compare \S+ \S+ --from-base/);
  });
}

await test('an area that has too little time before it is not compared', async () => {
  await show(page, server, '?s=1&v=time&w=before&a=20000000..60000000&1');
  assert.ok(await page.getByRole('button', { name: 'compare with the area before' }).isDisabled());
  assert.match(await copied(page), /^lode top/);
});

await test('calls of several lines are pinned to the top, nested, each with all levels or one', async () => {
  const levels = () => page.$$eval('.track canvas', (all) => all.map((canvas) => /: ([\d,]+) boxes in (\d+) levels/.exec(canvas.getAttribute('aria-label')).slice(1).map((text) => Number(text.replaceAll(',', '')))));
  await show(page, server, '?s=1&v=time&1');
  await page.keyboard.press('P');
  await page.waitForFunction(() => document.querySelectorAll('.track canvas').length === 4);
  await settle(page);
  const wanted = [];
  for (const tid of [4711, 4712, 4713, 4714]) {
    const { rows } = await answerOf(`lode trace '${demo.thumbs}' --boxes --task ${tid} --rows 1 --columns 1000 --depth 32`);
    wanted.push([rows.length, Math.max(...rows.map((row) => row.depth))]);
  }
  assert.deepEqual(await levels(), wanted);
  await page.locator('.trackname [aria-expanded]').nth(1).click();
  await settle(page);
  assert.deepEqual((await levels())[1], [1, 1]);
  assert.match(page.url(), /[?&]y=4711%2C4712-%2C4713%2C4714/);
  const before = await shown();
  await page.mouse.move(...(await point('.track:nth-child(2) canvas', 0.5)));
  assert.ok(width(await moved(() => page.mouse.wheel(0, -200))) < width(before), 'the wheel zooms there, too');
  await page.getByRole('button', { name: 'Unpin worker 2' }).click();
  await settle(page);
  assert.equal((await levels()).length, 3);
  await page.locator('.names button', { hasText: 'worker 2' }).click();
  await settle(page);
  assert.match(page.url(), /[?&]y=4711%2C4712-%2C4714%2C4713/);
  await page.keyboard.press('P');
  await settle(page);
  assert.equal((await levels()).length, 0);
});

await test('requests have a timeline: rows, calls and call paths are those of lode trace', async () => {
  await show(page, server, '?s=3&v=time&1');
  assert.ok((await checkTime(page)).count > 0);
  assert.equal(await page.$eval('.names button', (name) => name.textContent), 'request 1');
  await show(page, server, '?s=3&v=time&y=38&x=37@6000000000ns&1');
  const answer = await answerOf(`lode trace '${demo.shop}' --at 6000000000ns --id 38`);
  assert.deepEqual(await page.$$eval('.stack li', (items) => items.map((item) => item.textContent)), answer.rows.map((row) => row.name));
  await page.locator('.stack h2 .link').click();
  await settle(page);
  assert.equal(new URL(page.url()).searchParams.get('i'), '38');
});

await test('lanes of a request are lines of their own', async () => {
  const own = await serve(spans);
  const other = await open(own, {}, browser);
  await show(other.page, own, '?v=time&y=1,2&x=1@15000000ns&1');
  assert.deepEqual(await other.page.$$eval('.trackname .what', (all) => all.map((one) => one.textContent)), ['request 1', 'request 1 \u2225 1']);
  const { rows } = await answerOf(`lode trace '${spans}' --boxes --id 1 --rows 0 --columns 1000 --depth 32`);
  const wanted = [0, 1].map((line) => String(rows.filter((row) => row.line_index === line).length));
  assert.deepEqual(await other.page.$$eval('.track canvas', (all) => all.map((canvas) => /: (\d+) boxes/.exec(canvas.getAttribute('aria-label'))[1])), wanted);
  const at = await answerOf(`lode trace '${spans}' --at 15000000ns --id 1 --rows 0`);
  assert.deepEqual(await other.page.$$eval('.stack li', (items) => items.map((item) => item.textContent)), at.rows.filter((row) => row.line_index === 1).map((row) => row.name));
  await other.context.close();
  await own.stop();
});

await test('the page says what a search hides: others are pale', async () => {
  await show(page, server, '?v=time&1');
  const before = await pixels(page);
  await show(page, server, '?v=time&q=spmv&1');
  const { rows } = await answerOf(`lode top '${demo.solver}' --include '/(?i)spmv/' --limit 1000`);
  const names = rows.map((row) => row.name);
  const answer = await answerOf(await copied(page));
  const found = running(answer).filter((row) => names.includes(row.name));
  assert.equal(await page.textContent('.hides'), `The search and the filters leave ${found.length} function here; ${running(answer).length - found.length} others are pale.`);
  const now = await pixels(page);
  const keys = answer.timeline.flatMap((line) => [...Buffer.from(line.keys, 'hex')]);
  let pale = 0;
  keys.forEach((key, i) => {
    if (key < 2 || key === 255) return;
    const stays = names.includes(running(answer)[key - 2].name);
    if (stays || running(answer)[key - 2].kind === 'idle') assert.equal(now[i], before[i]);
    else pale += now[i] !== before[i];
  });
  assert.ok(pale > 100);
});

await test('nothing is in the console', async () => assert.deepEqual(messages, []));
await browser.close();
assert.equal(await server.stop(), 0);
finish();
