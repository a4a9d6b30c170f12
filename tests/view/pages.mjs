// SPDX-License-Identifier: BSD-3-Clause
// Every page of the example stores: nothing in the console, no violation of axe-core in either theme, forced colours,
// usable at 1,024 pixels, and walked by keyboard alone.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { answerOf, copied, examples, finish, folder, LODE, move, open, serve, settle, show, test } from './browser.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const stores = examples();
const spans = join(process.env.LODE_DATA ?? '', 'otlp/small');
const server = await serve(stores.solver, stores.thumbs, stores.shop, stores.solver, spans);
/** Views with something selected, which the tabs alone do not show. */
const DETAILS = ['v=time&x=3@2100000000ns', 's=1&v=time&x=1@30000000ns', 'v=profiles&p=profile%3D3', 'v=profiles&w=function%3Aspmv._omp_fn.0&p=rank%3D5', 's=2&v=requests&i=1', 's=2&v=requests&i=28', 's=2&v=requests&g=over', 's=2&v=time&x=37@6000000000ns', 's=1&v=profiles', 's=1&v=time&y=4711,4712-&a=50000000..100000000', 'v=time&q=spmv&a=2000000000..3000000000&w=before', 's=1&v=time&a=50000000..100000000&j=time%7C50000000..100000000%7Cstall%7Cwait', 's=2&v=requests&f=errors', 's=4&v=requests&g=map', 'v=compare&b=1', 'v=compare&b=3&g=line', 's=2&v=compare&b=1', 'v=flame&w=up'];
const { browser, page, messages } = await open(server);

async function axe() {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  const result = await page.evaluate(() => globalThis.axe.run({ resultTypes: ['violations'] }));
  assert.deepEqual(result.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(' | ')}`), []);
  assert.ok(result.passes.length > 10);
}

/** Tabs of a store, as the page has them. */
async function tabs(store) {
  await move(page, `?s=${store}&1`);
  return page.$$eval('.tabs a', (links) => links.map((link) => new URL(link.href).searchParams.get('v')));
}

await show(page, server, '?1');
for (const [number, name] of [[0, 'solver'], [1, 'thumbs'], [2, 'shop']]) {
  for (const view of await tabs(number)) {
    for (const scheme of ['light', 'dark']) {
      await test(`${name}: ${view} is accessible and quiet in the ${scheme} theme`, async () => {
        messages.length = 0;
        await page.emulateMedia({ colorScheme: scheme });
        await move(page, `?s=${number}&v=${view}&1`);
        assert.equal(await page.$('.problem'), null);
        await axe();
        assert.deepEqual(messages, []);
      });
    }
  }
}

for (const scheme of ['light', 'dark']) {
  await test(`a request, a call path, a profile and two stores compared are accessible in the ${scheme} theme`, async () => {
    messages.length = 0;
    await page.emulateMedia({ colorScheme: scheme });
    for (const query of DETAILS) {
      await move(page, `?${query}&1`);
      assert.equal(await page.$('.problem'), null, query);
      await axe();
    }
    assert.deepEqual(messages, []);
  });
}

await test('selections, dialogs and forced colours are accessible', async () => {
  messages.length = 0;
  await page.emulateMedia({ colorScheme: 'light' });
  for (const [query, key] of [['?v=top&n=spmv._omp_fn.0&1', ''], ['?v=tree&c=4&1', ''], ['?v=tree&1', '?'], ['?v=tree&1', 'Control+k'], ['?v=top&q=mpi&1', ''], ['?v=tree&g=compare&b=3&k=all&1', ''], ['?v=flame&g=compare&b=1&1', '']]) {
    await move(page, query);
    if (key !== '') {
      await page.keyboard.press(key);
      await page.waitForSelector('dialog[open]');
    }
    await settle(page);
    await axe();
    if (key !== '') {
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog[open]', { state: 'detached' });
    }
  }
  await page.emulateMedia({ forcedColors: 'active' });
  await move(page, '?v=tree&c=4&1');
  await axe();
  await page.emulateMedia({ forcedColors: 'none' });
  assert.deepEqual(messages, []);
});

await test('a dialog takes the focus from a table without a message, and gives it back', async () => {
  messages.length = 0;
  await show(page, server, '?v=top&1');
  await page.focus('[role=grid]');
  await page.keyboard.press('?');
  await page.waitForSelector('dialog[open]');
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Close');
  await settle(page);
  await page.keyboard.press('Enter');
  await page.waitForSelector('dialog[open]', { state: 'detached' });
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('role')), 'grid');
  assert.deepEqual(messages, []);
});

await test('at 1,024 pixels nothing is cut off sideways', async () => {
  await page.setViewportSize({ width: 1024, height: 700 });
  for (const query of ['v=overview', 'v=top', 'v=tree', 'v=flame', 'v=findings', 'v=time', 'v=profiles', 's=2&v=requests', ...DETAILS]) {
    await move(page, `?${query}&1`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), query);
  }
  await page.setViewportSize({ width: 1400, height: 900 });
});

await test('the diagnosis is asked for after the tables, given up when the view is left, and its errors are text', async () => {
  messages.length = 0;
  const asked = [];
  const given = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  page.on('requestfailed', (request) => given.push(new URL(request.url()).pathname));
  const route = '**/api/1/diagnose/*';
  await page.route(route, () => {});
  await page.goto(`${server.base}?1`);
  await page.waitForSelector('.diagnosis .pending');
  while (!asked.includes('/api/1/diagnose/0')) await page.waitForTimeout(20);
  assert.match(await page.textContent('.diagnosis'), /looking …/);
  assert.ok((await page.$$('.bars li')).length > 5 && (await page.$$('.hotpath li')).length > 2);
  for (const table of ['top', 'tree', 'profiles']) assert.ok(asked.includes(`/api/1/${table}/0`) && asked.lastIndexOf(`/api/1/${table}/0`) < asked.indexOf('/api/1/diagnose/0'), table);
  await page.keyboard.press('2');
  await page.waitForSelector('[role=grid]');
  while (!given.includes('/api/1/diagnose/0')) await page.waitForTimeout(20);
  await page.unroute(route);
  await page.route(route, (call) => call.fulfill({ status: 400, contentType: 'application/json', body: '{"message": "cannot <b>look</b>"}' }));
  await show(page, server, '?1');
  assert.equal(await page.textContent('.diagnosis .problem'), 'cannot <b>look</b>');
  assert.ok((await page.$$('.bars li')).length > 5);
  await page.unroute(route);
  assert.deepEqual(messages.filter((message) => !/Failed to load resource: .* 400/.test(message)), []);
});

await test('the token leaves the address and a reload keeps it', async () => {
  await page.goto(`${server.base}?v=top&1#token=${server.token}`);
  await settle(page);
  assert.equal(page.url(), `${server.base}?v=top&1`);
  await page.reload();
  await settle(page);
  assert.ok(await page.$('[role=grid]'));
});

await test('without a token the page says what to do', async () => {
  const other = await browser.newPage();
  await other.goto(server.base);
  await other.waitForSelector('main.message p');
  assert.match(await other.textContent('main.message'), /token/);
  await other.close();
});

const current = () => page.$eval('[aria-activedescendant]', (grid) => document.getElementById(grid.getAttribute('aria-activedescendant'))?.querySelector('[data-column=name]')?.dataset.value ?? '');

await test('functions are walked by keyboard alone', async () => {
  await show(page, server, '?1');
  await page.keyboard.press('2');
  await page.waitForSelector('[role=grid]');
  await page.evaluate(() => document.activeElement.blur());
  for (let i = 0; i < 40 && !(await page.evaluate(() => document.activeElement?.getAttribute('role') === 'grid')); i++) await page.keyboard.press('Tab');
  const rows = await page.$$eval('[role=row] [data-column=name]', (cells) => cells.map((cell) => cell.dataset.value));
  await page.keyboard.press('ArrowDown');
  assert.equal(await current(), rows[0]);
  await page.keyboard.press('ArrowDown');
  assert.equal(await current(), rows[1]);
  await settle(page);
  assert.ok(await page.$('aside'));
  await page.keyboard.press('End');
  assert.equal(await current(), rows.at(-1));
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await page.waitForSelector('[role=treegrid]');
  assert.match(page.url(), /w=callers/);
  await page.keyboard.press('Backspace');
  await page.waitForSelector('[role=grid]');
});

await test('the first Tab is a link past the header: tables are reached in two keys', async () => {
  for (const [query, wanted] of [['?v=top&1', '[role=grid]'], ['?v=tree&1', '[role=treegrid]'], ['?v=profiles&1', '[role=grid]'], ['?s=2&v=requests&1', '[role=grid]'], ['?v=overview&1', 'main']]) {
    await show(page, server, query);
    await page.evaluate(() => document.activeElement.blur());
    const address = page.url();
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Skip to the view');
    const box = await page.locator('.skip').boundingBox();
    assert.ok(box !== null && box.y >= 0, 'it is seen');
    await page.keyboard.press('Enter');
    assert.ok(await page.evaluate((selector) => document.activeElement?.matches(selector), wanted), query);
    assert.equal(page.url(), address, 'the address stays');
  }
});

/** From the top of the page to an element, by Tab alone. */
async function tabTo(selector) {
  await page.evaluate(() => document.activeElement.blur());
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector)) return;
  }
  assert.fail(`Tab does not reach ${selector}`);
}

await test('the overview, profiles, requests, comparisons and findings are walked by keyboard alone', async () => {
  messages.length = 0;
  await show(page, server, '?v=overview&1');
  await tabTo('.bars button, .bars a');
  await page.keyboard.press('Enter');
  await settle(page);
  assert.doesNotMatch(page.url(), /\/\?1$/, 'a function of the overview is followed');
  await show(page, server, '?v=profiles&1');
  await tabTo('[role=grid]');
  await page.keyboard.press('ArrowDown');
  await settle(page);
  assert.match(page.url(), /p=profile%3D\d+/);
  await show(page, server, '?s=2&v=requests&1');
  await tabTo('[role=grid]');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await settle(page);
  assert.match(page.url(), /i=\d+/);
  await tabTo('[role=grid]');
  await page.keyboard.press('ArrowDown');
  await settle(page);
  assert.match(page.url(), /x=\d+/);
  await page.keyboard.press('Backspace');
  await settle(page);
  assert.doesNotMatch(page.url(), /i=\d+/);
  await show(page, server, '?v=compare&b=1&1');
  await tabTo('[role=grid]');
  await page.keyboard.press('ArrowDown');
  await settle(page);
  assert.match(page.url(), /n=/);
  assert.ok(await page.$('aside'));
  await show(page, server, '?v=findings&1');
  await tabTo('main button, main [role=grid], main input, main select');
  assert.deepEqual(messages, []);
});

await test('the tree is walked by keyboard alone', async () => {
  await show(page, server, '?v=tree&1');
  await page.focus('[role=treegrid]');
  await page.keyboard.press('Home');
  const name = await current();
  const open = () => page.$eval('[role=treegrid] [aria-selected=true]', (row) => row.getAttribute('aria-expanded'));
  assert.equal(await open(), 'true');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await open(), 'false');
  assert.equal(await page.$$eval('[aria-level="2"]', (rows) => rows.length > 0 && rows[0].getAttribute('aria-rowindex') === '3'), false);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  assert.notEqual(await current(), name);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('h');
  await settle(page);
  assert.notEqual(await current(), name);
  await page.keyboard.press('i');
  await settle(page);
  assert.match(page.url(), /w=up/);
});

await test('the flame graph is focused, turned, merged and filtered by keyboard alone', async () => {
  await show(page, server, '?v=flame&1');
  await page.focus('.flame canvas');
  for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowDown');
  const selected = () => page.$eval('table.boxes', (table) => /^Boxes that continue (.*)$/.exec(table.getAttribute('aria-label'))?.[1] ?? '');
  await page.waitForFunction(() => document.querySelector('table.boxes').getAttribute('aria-label').startsWith('Boxes that continue'));
  const name = await selected();
  await page.keyboard.press('r');
  await settle(page);
  assert.match(await copied(page), / --merge-recursion/);
  await page.keyboard.press('r');
  await settle(page);
  for (const [key, option] of [['f', '--function'], ['Enter', '--root'], ['x', '--exclude']]) {
    await show(page, server, '?v=flame&1');
    await page.focus('.flame canvas');
    for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowDown');
    await page.waitForFunction((wanted) => document.querySelector('table.boxes').getAttribute('aria-label').endsWith(wanted), name);
    await axe();
    await page.keyboard.press(key);
    await settle(page);
    const command = await copied(page);
    assert.ok(command.includes(option), `${key}: ${command}`);
    assert.equal(await page.$('.problem'), null, command);
  }
  assert.ok((await page.textContent('.bar2')).includes(`hide:${name}`));
});

await test('callers stay when the flame graph is zoomed, and u goes one up; it has a legend', async () => {
  await show(page, server, '?v=flame&1');
  assert.deepEqual(await page.$$('.ancestors'), []);
  assert.ok((await page.$$eval('.flame .legend li', (kinds) => kinds.map((kind) => kind.textContent.trim()))).includes('MPI'));
  await page.focus('.flame canvas');
  for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowDown');
  await page.waitForFunction(() => document.querySelector('table.boxes').getAttribute('aria-label').endsWith('cg_solve'));
  await page.keyboard.press('Enter');
  await settle(page);
  const callers = () => page.$$eval('.ancestors button', (all) => all.map((step) => step.textContent));
  assert.deepEqual(await callers(), ['all', 'main thread', 'main', 'loop at main.c:14']);
  await axe();
  await page.keyboard.press('u');
  await settle(page);
  assert.deepEqual(await callers(), ['all', 'main thread', 'main']);
  await page.click('.ancestors button');
  await settle(page);
  assert.deepEqual(await callers(), []);
});

/** The text of the file that a click saves. */
async function saved(name) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
  const parts = [];
  for await (const part of await download.createReadStream()) parts.push(part);
  return [download.suggestedFilename(), Buffer.concat(parts)];
}

await test('pictures are saved as SVG and PNG', async () => {
  await show(page, server, '?v=flame&1');
  const [name, drawing] = await saved('save SVG');
  assert.equal(name, 'lode-flame.svg');
  const command = await copied(page);
  assert.equal(drawing.toString().match(/<rect x=/g).length, JSON.parse(execFileSync('bash', ['-c', command.replace(/^lode /, `'${LODE}' `)])).boxes.length, 'the command is whole');
  assert.ok(drawing.toString().includes(`<title>${await page.title()}</title>`));
  const [file, pixels] = await saved('save picture');
  assert.match(file, /^lode-.*-flame\.png$/);
  assert.equal(pixels.subarray(1, 4).toString(), 'PNG');
  await show(page, server, '?s=2&v=requests&1');
  const [, chart] = await saved('save picture');
  assert.equal(await page.evaluate((text) => new DOMParser().parseFromString(text, 'image/svg+xml').querySelectorAll('circle').length, chart.toString()), 80);
});

await test('tables are filtered as one types, sorted by every column, and copied as CSV', async () => {
  await show(page, server, '?v=top&1');
  const names = () => page.$$eval('.grid .row', (rows) => rows.map((row) => [Number(row.getAttribute('aria-rowindex')), row.querySelector('[data-column=name]').dataset.value]).sort((a, b) => a[0] - b[0]).map((row) => row[1]));
  const all = (await answerOf(await copied(page))).rows;
  const sorted = (sign) => all.filter((row) => row.module).sort((a, b) => sign * (a.module < b.module ? -1 : a.module > b.module ? 1 : 0)).concat(all.filter((row) => !row.module)).map((row) => row.name);
  const heading = page.getByRole('columnheader', { name: 'Module' });
  for (const [order, sign] of [['descending', -1], ['ascending', 1]]) {
    await heading.getByRole('button').click();
    assert.equal(await heading.getAttribute('aria-sort'), order);
    assert.deepEqual(await names(), sorted(sign));
  }
  await page.fill('.gridtools input', 'LIBMPI');
  await page.waitForSelector('.gridtools [role=status]');
  const some = await names();
  assert.ok(some.length > 2 && some.every((name) => /mpi/i.test(name)), some.join());
  await axe();
  await page.getByRole('button', { name: /Copy CSV/ }).click();
  await page.waitForFunction(() => document.querySelector('.notice')?.textContent.includes('CSV'));
  const lines = (await page.evaluate(() => navigator.clipboard.readText())).trimEnd().split('\n');
  const rows = some.map((name) => all.find((row) => row.name === name));
  assert.match(lines[0], /^exclusive_percent,exclusive,inclusive_percent,inclusive,name,/);
  assert.deepEqual(lines.slice(1).map((line) => line.split(',').slice(0, 5)), rows.map((row) => [row.exclusive_percent, row.exclusive, row.inclusive_percent, row.inclusive, row.name].map(String)));
  assert.equal((await saved(/Save CSV/))[1].toString(), `${lines.join('\n')}\n`);
});

await test('notes are on a time, a function or a request, in the address and in a file', async () => {
  messages.length = 0;
  const add = async (query, name, text, on) => {
    await move(page, query.replace(/&1$/, `${location()}&1`));
    await page.keyboard.press('j');
    await page.waitForSelector('dialog[open]');
    assert.equal(await page.$eval('[aria-label="What the note is on"]', (list) => list.options[list.selectedIndex].text), on);
    await page.fill('[aria-label="Name of the note"]', name);
    await page.fill('[aria-label="Text of the note"]', text);
    await page.keyboard.press('Enter');
    await page.waitForFunction((title) => [...document.querySelectorAll('dialog .notes b')].some((one) => one.textContent === title), name);
  };
  const location = () => new URL(page.url()).searchParams.getAll('j').map((note) => `&j=${encodeURIComponent(note)}`).join('');
  await show(page, server, '?s=2&v=time&1');
  await add('?s=2&v=time&a=5000000000..9000000000&1', 'slow', 'one | two % <b>', '5.000 s to 9.000 s');
  await axe();
  await page.keyboard.press('Escape');
  assert.equal(await page.$eval('.timeplot .note b', (mark) => mark.textContent), 'slow');
  await add('?s=2&v=time&x=37@6000000000ns&1', 'here', '', '6.000 s');
  await page.keyboard.press('Escape');
  await add('?s=2&v=top&n=com.acme.shop.http.HttpClient.send&1', 'sends', 'to the bank', 'com.acme.shop.http.HttpClient.send');
  await page.keyboard.press('Escape');
  assert.equal(await page.textContent('aside .notes li'), 'sends to the bank');
  await add('?s=2&v=requests&i=38&1', 'waits', 'for a lock', 'request 38');
  const texts = () => page.$$eval('dialog .notes li', (items) => items.map((item) => item.textContent.replace(/\s+/g, ' ').trim()));
  const wanted = ['5.000 s to 9.000 s slow one | two % <b> ×', '6.000 s here ×', 'com.acme.shop.http.HttpClient.send sends to the bank ×', 'request 38 waits for a lock ×'];
  assert.deepEqual(await texts(), wanted);
  const [file, content] = await saved('save notes');
  assert.equal(file, 'lode-notes-shop.json');
  // A link has them all; a page without them reads the file.
  await show(page, server, `?s=2&v=overview${location()}&1`);
  assert.ok(await page.getByRole('button', { name: 'notes (4)' }).isVisible());
  await show(page, server, '?s=2&v=overview&1');
  await page.keyboard.press('j');
  await page.setInputFiles('dialog input[type=file]', { name: 'notes.json', mimeType: 'application/json', buffer: content });
  await page.waitForFunction(() => document.querySelectorAll('dialog .notes li').length === 4);
  assert.deepEqual(await texts(), wanted);
  await page.setInputFiles('dialog input[type=file]', { name: 'other.json', mimeType: 'application/json', buffer: Buffer.from('{"notes": [1]}') });
  await page.waitForFunction(() => document.querySelector('.notice')?.textContent === 'other.json has no notes of lode view.');
  await page.getByRole('button', { name: 'Remove sends' }).click();
  assert.deepEqual(await texts(), wanted.filter((text) => !text.includes('sends')));
  await page.locator('dialog .notes button', { hasText: 'request 38' }).click();
  await settle(page);
  assert.equal(new URL(page.url()).searchParams.get('i'), '38');
  assert.equal(await page.textContent('main .notes li'), 'waits for a lock');
  assert.deepEqual(messages, []);
});

await test('changes within the sampling error are grey and marked, large ones strong, and what is not known is said', async () => {
  const fewer = join(folder(), 'fewer');
  execFileSync(LODE, ['slice', stores.solver, '--profiles', 'rank=0-4+6-7', '-o', fewer], { stdio: 'ignore' });
  const own = await serve(stores.solver, stores.thumbs, fewer);
  const other = await open(own, {}, browser);
  await show(other.page, own, '?v=compare&1');
  assert.equal(await other.page.$eval('[aria-label="Store B"]', (list) => list.value), '2', 'the other store of the same kind');
  const { rows } = await answerOf(await copied(other.page));
  const shown = await other.page.$$eval('main .grid .row', (all) => all.sort((a, b) => a.getAttribute('aria-rowindex') - b.getAttribute('aria-rowindex')).map((row) => [row.querySelector('[data-column=difference] span').className, row.querySelector('[data-column=noise]').textContent, row.querySelector('[data-column=difference] span').style.getPropertyValue('--strength')]));
  assert.deepEqual(shown, rows.map((row) => {
    const share = Math.abs(row.share_of_base_percent);
    const isQuiet = row.is_beyond_sampling_error === false || share < 1;
    return [isQuiet ? 'quiet' : row.difference > 0 ? 'increase' : 'decrease', row.is_beyond_sampling_error === false ? '~' : '', `${Math.round(40 + 60 * Math.min(1, Math.max(0, (share - 1) / 9)))}%`];
  }));
  assert.ok(shown.some((row) => row[0] === 'quiet') && shown.some((row) => row[0] === 'decrease'));
  assert.match(await other.page.textContent('.trust'), /~: within the sampling error.*Run-to-run noise is not known/);
  await show(other.page, own, '?v=compare&b=1&1');
  assert.match(await other.page.textContent('.trust'), /less than 80% is matched/);
  await other.context.close();
  await own.stop();
});

await test('wrong addresses say what is wrong', async () => {
  for (const [query, wanted] of [['?s=77&1', /There is no store 77: this is solver\./], ['?v=nopage&1', /There is no page "nopage"\./], ['?v=requests&1', /This store has nothing for Requests\./], ['?s=x&1', /"s" is no number of a store/]]) {
    await page.goto(server.base + query);
    await page.waitForFunction((text) => new RegExp(text).test(document.querySelector('.notice')?.textContent ?? ''), wanted.source);
    await settle(page);
  }
  for (const [query, wanted] of [['?v=top&n=nothing+of+this+name&1', 'There is nothing called nothing of this name in this view.'], ['?v=tree&c=99999&1', 'There is nothing with the number 99999 in this view.']]) {
    await show(page, server, query);
    assert.equal(await page.textContent('aside [role=status]'), wanted);
  }
  messages.length = 0;
  await show(page, server, '?s=2&v=requests&i=999&1');
  assert.match(await page.textContent('.problem'), /no request 999; there are 80/);
  assert.ok(await page.$('select.store'));
});

await test('on a narrow screen, names come first', async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  for (const query of ['v=top', 's=1&v=time', 's=1&v=profiles', 'v=tree']) {
    await move(page, `?${query}&1`);
    assert.equal(await page.$eval('main .grid .row [role=gridcell]', (cell) => cell.dataset.column), 'name', query);
  }
  await page.setViewportSize({ width: 1400, height: 900 });
});

await test('statements of SQL and questions to the store have rows, a plot, CSV and messages', async () => {
  messages.length = 0;
  await show(page, server, '?v=sql&1');
  await page.waitForSelector('.questions li');
  const result = async () => {
    await page.waitForFunction(() => !document.querySelector('.sql [aria-busy=true]') && document.querySelector('.sql .sheet, .sql .problem'));
    await settle(page);
  };
  await page.focus('textarea');
  await page.keyboard.press('Control+Enter');
  await result();
  const { rows } = (await answerOf(await copied(page))).results[0];
  const cells = () => page.$$eval('.sql .grid .row', (all) => all.map((row) => [...row.querySelectorAll('[role=gridcell]')].map((cell) => cell.textContent)));
  assert.deepEqual(await cells(), rows.map((row) => row.map(String)));
  assert.equal((await page.$$('.sql-chart .column')).length, rows.length);
  await axe();
  const [, csv] = await saved(/Save CSV/);
  assert.equal(csv.toString().trimEnd().split('\n').length, rows.length + 1);
  await show(page, server, '?s=1&v=sql&1');
  await page.click('.sql .run');
  await result();
  assert.deepEqual(await cells(), (await answerOf(await copied(page))).results[0].rows.map((row) => row.map(String)), 'a recording has a statement of its own');
  await show(page, server, '?v=sql&1');
  await page.getByRole('button', { name: 'own code, MPI, threads' }).click();
  await result();
  assert.match(await page.inputValue('textarea'), /hotspot\('kind'\)/);
  await page.fill('textarea', "select 9007199254740993 i, '<b>&' t, null n union all select 2, 'b', 3");
  await page.click('.sql .run');
  await page.waitForFunction(() => document.querySelector('.sql .grid')?.textContent.includes('9007199254740993'));
  assert.deepEqual((await cells())[0], ['9007199254740993', '<b>&', 'null'].slice(0, 3));
  assert.deepEqual(messages, []);
  for (const text of ["attach 'x' as y", 'selec 1']) {
    await page.fill('textarea', text);
    await page.click('.sql .run');
    await page.waitForSelector('.sql .problem');
    const { stderr } = await answerOf(await copied(page)).catch((error) => error);
    assert.ok(stderr.includes(await page.textContent('.sql .problem')), stderr);
  }
  messages.length = 0;
});

await test('a search holds while it is typed', async () => {
  await show(page, server, '?v=top&1');
  await page.keyboard.press('/');
  await page.keyboard.type('halo');
  await page.waitForFunction(() => new URLSearchParams(location.search).get('q') === 'halo');
  await settle(page);
  assert.deepEqual(await page.$$eval('.grid .row [data-column=name]', (cells) => cells.map((cell) => cell.dataset.value)), ['exchange_halo']);
  await page.evaluate(() => document.activeElement.blur());
});

await test('search, palette, help, metric and copies work by key', async () => {
  await show(page, server, '?v=top&1');
  const all = await page.$$eval('[role=grid] .row', (rows) => rows.length);
  await page.keyboard.press('/');
  await page.keyboard.type('mpi');
  await page.keyboard.press('Enter');
  await settle(page);
  const names = await page.$$eval('[role=grid] .row [data-column=name]', (cells) => cells.map((cell) => cell.dataset.value));
  assert.ok(names.length > 0 && names.length < all && names.every((name) => /mpi/i.test(name)), names.join());
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('Escape');
  await settle(page);
  assert.equal(await page.$$eval('[role=grid] .row', (rows) => rows.length), all);
  // Keys that come before a dialog is open, or before it is closed, are for somebody else.
  const opened = () => page.waitForSelector('dialog[open]');
  const closed = () => page.waitForSelector('dialog[open]', { state: 'detached' });
  await page.keyboard.press('Control+k');
  await opened();
  await page.keyboard.type('tree');
  await page.keyboard.press('Enter');
  await page.waitForSelector('[role=treegrid]');
  await closed();
  await page.keyboard.press('Control+k');
  await opened();
  await page.keyboard.type('spmv._omp');
  await page.waitForFunction(() => [...document.querySelectorAll('[role=option]')].some((option) => option.textContent.includes('function')));
  await page.keyboard.press('Escape');
  await closed();
  await page.keyboard.press('?');
  await opened();
  await page.keyboard.press('Escape');
  await closed();
  await page.keyboard.press('m');
  await settle(page);
  assert.match(page.url(), /m=/);
  await page.focus('[role=treegrid]');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowDown');
  await settle(page);
  await page.keyboard.press('c');
  await page.waitForFunction(async () => (await navigator.clipboard.readText()).includes('inclusive:'));
  await page.keyboard.press('l');
  await page.waitForFunction(async () => (await navigator.clipboard.readText()) === location.href);
  assert.match(await copied(page), /^lode tree \S+solver --metric /);
});

await test('a key right after the palette was closed is a command', async () => {
  await show(page, server, '?v=top&1');
  await page.keyboard.press('Control+k');
  await page.waitForSelector('dialog[open]');
  await page.evaluate(() => {
    const field = document.activeElement;
    field.closest('dialog').close();
    // Until the next frame, the browser sends keys to the field that is not shown any more.
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: '?', bubbles: true, cancelable: true }));
  });
  await page.waitForSelector('dialog[open][aria-label=Help]', { timeout: 5000 });
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog[open]', { state: 'detached' });
});

await test('back and forward undo and redo', async () => {
  await show(page, server, '?v=overview&1');
  await page.keyboard.press('2');
  await settle(page);
  await page.keyboard.press('3');
  await settle(page);
  const last = page.url();
  await page.goBack();
  await settle(page);
  assert.match(page.url(), /v=top/);
  await page.goBack();
  await settle(page);
  assert.equal(await page.$('[role=grid]'), null);
  await page.goForward();
  await page.goForward();
  await settle(page);
  assert.equal(page.url(), last);
});

await test('a broken link is no end: what is unknown is dropped with a notice', async () => {
  messages.length = 0;
  await show(page, server, '?v=nothing&zz=1&s=99&c=xyz&1');
  assert.match(await page.textContent('.notice'), /no page "nothing"/);
  await show(page, server, '?v=top&zz=1&s=99&c=xyz&1');
  assert.match(await page.textContent('.notice'), /zz/);
  assert.ok(await page.$('main#view'));
  await show(page, server, '?v=top&p=nonsense%3D&1');
  assert.ok((await page.textContent('.problem')).length > 10);
});

await browser.close();
await test('Ctrl-C ends the server', async () => assert.equal(await server.stop(), 0));
finish();
