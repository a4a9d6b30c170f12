// SPDX-License-Identifier: BSD-3-Clause
// Numbers are the program's: of every kind of store, on every page,
// - each cell of a table has the text that the command behind the view prints, character by character;
// - each other number that is to be read (with a unit, a percentage, grouped digits; hints and labels too) is a number of an answer,
//   written as the program writes it (amounts.py).
//   numbers.mjs [--corpus PATTERN]: stores of the larger corpus whose path matches, instead.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copied, CORPUS, examples, finish, move, open, serve, settle, show, skipped, test } from './browser.mjs';
import { compareTexts, printed, textsOf } from './printed.mjs';

const AMOUNTS = join(process.env.LODE_DATA ?? dirname(fileURLToPath(import.meta.url)), '..', 'view', 'amounts.py');
const NUMBER = /[-+\u2212]?\d[\d,]*(?:\.\d+)?(?:e[-+]\d+)? (?:ns|us|ms|s|min|h|d|B|[KMGTP]iB)(?!\w)|[-+\u2212]?\d+\.\d+ ?%|\b\d{1,3}(?:,\d{3})+\b/g;
/** Not of the data: what can be chosen; marks of a scale; differences that the diagnosis prints (same.mjs compares them). */
const APART = '.choice, select, .axis, .y, .parts, .palette, dialog';
const VIEWS = ['', 'v=top', 'v=top&g=line', 'v=tree', 'v=tree&w=up', 'v=flame', 'v=time', 'v=profiles', 'v=requests', 'v=requests&o=time', 'v=requests&i=1', 'v=requests&g=map', 'v=requests&g=over', 'v=compare&b=1', 'v=findings'];

const data = process.env.LODE_DATA ?? '';
const demo = examples();
const stores = [
  ['database', demo.solver, null], ['recording', demo.thumbs, null], ['requests', demo.shop, demo.thumbs],
  ['pprof', join(data, 'pprof', 'cpu.pb.gz'), null], ['pprof', join(data, 'pprof', 'heap-before.pprof'), join(data, 'pprof', 'heap-after.pprof')],
  ['folded', join(data, 'folded', 'fractions.folded'), join(data, 'folded', 'simple.folded')],
  ['spans', join(data, 'otlp', 'small'), null], ['spans', join(data, 'zipkin', 'small.jsonl'), null], ['perf', join(CORPUS, 'perf', 'recorded', 'fp.data'), null],
];

/** Stores of the larger corpus, by kind. */
function ofCorpus(pattern) {
  const kinds = { 'hpctoolkit/final': 'database', 'uftrace/recorded': 'recording', 'zorka/stores': 'requests', pprof: 'pprof', folded: 'folded', otlp: 'spans', zipkin: 'spans', jaeger: 'spans', 'perf/recorded': 'perf' };
  return Object.entries(kinds).flatMap(([place, kind]) => (existsSync(join(CORPUS, place)) ? readdirSync(join(CORPUS, place)) : []).sort().filter((name) => !/expected|handmade|README|\.map$/.test(name))
    .map((name) => [kind, join(CORPUS, place, name), null])).filter(([, store]) => new RegExp(pattern).test(relative(CORPUS, store)));
}

/** Numbers of an answer, the lengths of its lists, and the numbers in its texts. */
function take(value, found) {
  if (typeof value === 'number') found.numbers.add(value);
  else if (typeof value === 'string') {
    if (/^-?\d{1,20}(\.\d+)?$/.test(value)) found.numbers.add(Number(value));
    for (const text of value.match(NUMBER) ?? []) found.texts.add(bare(text));
  } else if (value !== null && typeof value === 'object') {
    if (Array.isArray(value)) found.numbers.add(value.length);
    for (const part of Object.values(value)) take(part, found);
  }
}

const bare = (text) => text.replace(/ ?%$/, '').replace(/^[-+\u2212]/, '');

/** All texts of the page, hints and labels with them. */
function shownOn(page) {
  return page.$$eval('body *', (elements, apart) => elements.filter((element) => !element.closest(apart)).flatMap((element) => [
    [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.data).join(''), element.getAttribute('title') ?? '', element.getAttribute('aria-label') ?? '',
  ]).filter((text) => /\d/.test(text)), APART);
}

/** How many numbers of the page are those of answers; those that are not are added to `wrong`. */
async function checkShown(page, found, wrong) {
  const rows = JSON.parse(execFileSync('python3', [AMOUNTS], { input: JSON.stringify([...found.numbers]), maxBuffer: 1 << 28 }));
  const known = new Set([...found.texts, ...rows.flatMap((row) => row.slice(1).map(bare))]);
  let count = 0;
  for (const text of await shownOn(page)) {
    for (const number of text.match(NUMBER) ?? []) {
      count++;
      if (!known.has(bare(number))) wrong.push(`${number} in "${text.slice(0, 80)}"`);
    }
  }
  return count;
}

/** Cells of tables against the text of the command. */
async function checkPrinted(page, wrong) {
  const command = await copied(page);
  const [, name] = command.split(' ');
  const isMap = command.includes(' --map');
  if (!['top', 'tree', 'profiles', 'search', 'trace', 'compare'].includes(name)) return 0;
  const text = await printed(command);
  if (!isMap) return compareTexts(await textsOf(page), text, name, wrong);
  return compareTexts(await textsOf(page, '[aria-label^="Calls"]'), text, 'map', wrong, 0) + compareTexts(await textsOf(page, '[aria-label^="Services"]'), text, 'map', wrong, 1);
}

const totals = {};
const asked = process.argv.indexOf('--corpus');
const running = { browser: null };
for (const [kind, store, other] of asked > 0 ? ofCorpus(process.argv[asked + 1] ?? '') : stores) {
  if (!existsSync(store)) {
    skipped(`${kind}: numbers on every page are the program's`, `no ${basename(store)}`);
    continue;
  }
  await test(`${basename(store)}, ${kind}: numbers on every page are the program's`, async () => {
    const server = await serve(store, other ?? store);
    const { page, context, browser } = await open(server, { viewport: { width: 1800, height: 1400 } }, running.browser);
    running.browser = browser;
    const found = { numbers: new Set(), texts: new Set() };
    const waiting = [];
    page.on('response', (response) => response.url().includes('/api/1/') && waiting.push(response.json().then((answer) => take(answer, found), () => null)));
    await show(page, server, '?1');
    const wrong = [];
    const tabs = await page.$$eval('.tabs a', (links) => links.map((link) => new URL(link.href).searchParams.get('v')));
    for (const query of VIEWS) {
      const view = /v=(\w+)/.exec(query)?.[1] ?? 'overview';
      if (!tabs.includes(view)) continue;
      await move(page, `?${query}&1`);
      if (view === 'tree' && (await page.$('[role=treegrid]'))) await page.keyboard.press('E');
      await settle(page);
      await Promise.all(waiting);
      if (await page.$('.problem')) continue;
      const here = [];
      const counts = [await checkShown(page, found, here), view === 'overview' ? 0 : await checkPrinted(page, here)];
      totals[kind] ??= {};
      totals[kind][view] = (totals[kind][view] ?? [0, 0]).map((count, index) => count + counts[index]);
      wrong.push(...here.map((text) => `${query}: ${text}`));
    }
    await context.close();
    await server.stop();
    assert.deepEqual(wrong.slice(0, 20), [], `${wrong.length} numbers differ`);
  });
}
await running.browser?.close();
for (const [kind, views] of Object.entries(totals)) console.log(`# ${kind}: ${Object.entries(views).map(([view, [shown, cells]]) => `${view} ${shown} shown, ${cells} as printed`).join('; ')}`);
finish();
