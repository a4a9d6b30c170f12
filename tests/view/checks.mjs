// SPDX-License-Identifier: BSD-3-Clause
// What Time, Profiles, Requests and the diagnosis show, against the command that each offers to copy. Each check looks at the view
// that is open, and returns how many numbers it compared.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { answerOf, copied, LODE } from './browser.mjs';

export const HUES = [0x56b4e9, 0xd55e00, 0xcc79a7, 0xf0e442, 0x009e73, 0xe69f00, 0x0072b2];
export const OTHERS = 0x8c8c8c;
const MUTED = [0x8a7fd0, 0x9ad3ee, 0x5fb8a8, 0x86b35c, 0xbdb76b, 0xddcc77, 0xd9828f, 0xc583b8];

/** The colour of a function beyond the largest, by its name: 32-bit FNV-1a of its code units. */
export function muted(name) {
  let hash = 2166136261n;
  for (const unit of name.split('')) hash = ((hash ^ BigInt(unit.charCodeAt(0))) * 16777619n) & 0xffffffffn;
  return MUTED[Number(hash >> 8n) % MUTED.length];
}

export const running = (answer) => answer.rows.filter((row) => row.letter !== '.');
export const identity = (row) => (row.context === null ? row.name : row.context);

/** Exact values of the rows of a table, by column. */
export function rowsOf(page, columns) {
  return page.$$eval('main .grid .row', (rows, names) => rows.filter((row) => row.querySelector('[data-column=name]')?.dataset.value !== undefined)
    .map((row) => [Number(row.getAttribute('aria-rowindex')), names.map((name) => row.querySelector(`[data-column=${name}]`)?.dataset.value)])
    .sort((a, b) => a[0] - b[0]).map((pair) => pair[1]), columns);
}

/** The colours of all cells, by rules of its own: hue by the share of the run, a third to all of it by the share of the cell. */
export function expected(answer, whole) {
  const order = running(whole).filter((row) => row.kind !== 'idle').map(identity);
  const colours = [];
  answer.timeline.forEach((line, y) => {
    const [keys, fills] = [Buffer.from(line.keys, 'hex'), Buffer.from(line.fills, 'hex')];
    keys.forEach((key, x) => {
      if (key === 0) return colours.push(0xffffff);
      if (key === 1 || (key !== 255 && running(answer)[key - 2].kind === 'idle')) return colours.push(0); // transparent: the ground is hatched
      const row = running(answer)[key - 2];
      const hue = key === 255 ? OTHERS : (HUES[order.indexOf(identity(row))] ?? muted(row.name));
      const part = Math.floor((fills[x] * 7) / 255) + 3;
      const channel = (shift) => Math.floor((255 * (10 - part) + ((hue >> shift) & 255) * part) / 10) << shift;
      return colours.push(channel(16) | channel(8) | channel(0));
    });
  });
  return colours;
}

export function pixels(page) {
  return page.$eval('#timeline', (canvas) => {
    // A copy is read: the browser warns of canvases that are read several times.
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    const found = [];
    for (let i = 0; i < data.length; i += 4) found.push((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return found;
  });
}

/** The picture of the whole run that gives the functions their colours. */
export async function wholeOf(command) {
  const words = command.replace(/--rows \d+/, '--rows 28').replace(/ --(from|to|idle-time) \S+/g, '');
  return answerOf(`${words} --probes`);
}

/** Pixels and shares of the Time view; { answer, colours, count }. */
export async function checkTime(page) {
  const command = await copied(page);
  const answer = await answerOf(command);
  if (answer.timeline.length === 0) {
    assert.equal(await page.$('#timeline'), null);
    return { answer, colours: 0, count: 0 };
  }
  const [found, wanted] = [await pixels(page), expected(answer, await wholeOf(command))];
  assert.equal(found.length, wanted.length);
  const wrong = wanted.findIndex((colour, i) => colour !== found[i]);
  assert.equal(wrong, -1, `cell ${wrong}: ${found[wrong]?.toString(16)}, not ${wanted[wrong]?.toString(16)}`);
  const shown = (await rowsOf(page, ['name', 'nanoseconds', 'samples'])).filter((row) => row[1] !== undefined);
  assert.ok(shown.length > 0);
  shown.forEach(([name, nanoseconds, samples], i) => assert.deepEqual([name, Number(nanoseconds), Number(samples)], [answer.rows[i].name, Number(answer.rows[i].nanoseconds), answer.rows[i].samples]));
  return { answer, colours: new Set(wanted).size, count: 2 * shown.length + wanted.length };
}

/** Values in order, histogram, matrix, outliers and table of the Profiles view. */
export async function checkProfiles(page) {
  const answer = await answerOf(await copied(page));
  const bins = await page.$$eval('svg.chart [data-max]', (parts) => parts.map((part) => [part.dataset.min, part.dataset.mean, part.dataset.max, part.dataset.profile]));
  assert.deepEqual(bins, answer.bins.map((bin) => [bin.min, bin.mean, bin.max, bin.profile ?? bin.track].map(String)));
  const bars = await page.$$eval('svg.chart [data-count]', (parts) => parts.map((part) => part.dataset.count));
  assert.deepEqual(bars, (answer.value_histogram ?? []).map((bar) => String(bar.count)));
  const cells = await page.$$eval('svg.heat [data-mean]', (parts) => parts.map((part) => part.dataset.mean));
  assert.deepEqual(cells, (answer.matrix ?? []).map((cell) => String(cell.mean)));
  const outliers = await page.$$eval('.outliers li', (items) => items.map((item) => item.dataset.value));
  assert.deepEqual(outliers, answer.outliers.map((row) => String(row.value)));
  const rows = await rowsOf(page, ['value', 'percent_of_mean', 'name']);
  assert.ok(rows.length > 0 || answer.rows.length === 0);
  const text = (value) => (value === null ? undefined : String(value));
  assert.deepEqual(rows, answer.rows.slice(0, rows.length).map((row) => [text(row.value ?? row.total_ns), text(row.percent_of_mean), row.name]));
  if (answer.recording !== undefined) assert.deepEqual(await rowsOf(page, ['running_ns', 'calls', 'errors', 'tid']), answer.rows.slice(0, rows.length).map((row) => [row.running_ns, row.calls, row.errors, row.tid].map(String)));
  return 3 * bins.length + bars.length + cells.length + outliers.length + 2 * rows.length;
}

/** Table and dots of the Requests view; where the table has some of the requests, cells of all of them. */
export async function checkRequests(page) {
  const command = await copied(page);
  const answer = await answerOf(command);
  const rows = await rowsOf(page, ['number', 'duration_ns', 'calls', 'errors']);
  assert.deepEqual(rows, answer.rows.slice(0, rows.length).map((row) => [row.number, row.duration_ns, row.calls, row.errors].map(String)));
  assert.ok(rows.length > 0 || answer.rows.length === 0);
  if (!answer.is_truncated) {
    assert.equal(await page.$$eval('svg.requests-chart .dot', (dots) => dots.length), answer.rows.length);
    return 3 * rows.length;
  }
  const density = await answerOf(command.replace(/ --sort \S+ --limit \d+/, ' --density --columns 200'));
  assert.equal(density.requests, answer.row_count);
  const cells = await page.$$eval('svg.requests-chart .cell', (list) => list.map((cell) => cell.dataset.requests));
  assert.deepEqual(cells, density.rows.map((cell) => String(cell.requests)));
  return 3 * rows.length + cells.length;
}

/**
 * The calls of a request from its events, without a stack: a call ends at the next end of its depth on its track. Its caller is the last
 * one on its track that is one less deep or, on other tracks, the one that it names. Callers stand before their callees, by begin.
 */
function requestCalls(events) {
  const valueOf = (event, name) => event.arguments.find((argument) => argument.name === name)?.value;
  const calls = [];
  for (const [at, event] of events.entries()) {
    if (event.kind !== 'enter') continue;
    const end = events.findIndex((other, index) => index > at && other.kind === 'leave' && other.track === event.track && other.depth === event.depth);
    const [begin, until] = [event, events[end] ?? events[events.length - 1]].map((one) => Number(BigInt(one.time_ns) - BigInt(events[0].time_ns)));
    const caller = event.depth > 0 ? calls.findLast((call) => call.track === event.track && call.level === event.depth - 1) : calls.find((call) => call.span !== undefined && call.span === valueOf(event, 'parent'));
    calls.push({ name: event.name, track: event.track, level: event.depth, span: valueOf(event, 'span'), begin, end: until, duration: end < 0 ? until - begin : events[end].duration_ns, chain: [...(caller?.chain ?? []), at] });
  }
  const before = (a, b) => { for (let i = 0; ; i++) if (a[i] !== b[i]) return (a[i] ?? -1) - (b[i] ?? -1); };
  return calls.sort((a, b) => before(a.chain, b.chain));
}

/** One request: its calls in order, in their lanes; those that a step of `lode search --critical-path` is of are marked; its exceptions. */
export async function checkRequest(page) {
  const command = await copied(page);
  const [answer, path] = [await answerOf(command), await answerOf(command.replace(/^lode replay/, 'lode search').replace(/ --limit \d+/, ' --critical-path'))];
  const calls = requestCalls(answer.rows);
  const lanes = [...new Set(answer.rows.map((row) => row.track))];
  const rows = await rowsOf(page, ['begin', 'duration_ns', 'name', 'lane']);
  assert.ok(rows.length > 0 || calls.length === 0);
  assert.deepEqual(rows.map((row) => [row[0], row[1], row[2], row[3] ?? '0']), calls.slice(0, rows.length).map((call) => [String(call.begin), String(call.duration), call.name, String(lanes.indexOf(call.track))]));
  const onPath = new Set((path.steps ?? []).map((step) => {
    const around = calls.filter((call) => call.track === step.track && call.name === step.name && call.begin <= step.begin_ns && call.end >= step.begin_ns + step.duration_ns);
    return calls.indexOf(around.sort((a, b) => b.level - a.level)[0]);
  }));
  onPath.delete(-1);
  if (path.steps?.some((step) => step.track !== null)) assert.ok(onPath.size > 0);
  const marked = await page.$$eval('main .grid .row', (all) => all.filter((row) => row.querySelector('[data-column=name]')?.textContent.trimStart().startsWith('\u25b8'))
    .map((row) => Number(row.getAttribute('aria-rowindex')) - 2).sort((a, b) => a - b));
  assert.deepEqual(marked, [...onPath].filter((index) => index < rows.length).sort((a, b) => a - b));
  assert.deepEqual(await page.$$eval('.waits [data-value]', (cells) => cells.map((cell) => cell.dataset.value)), path.rows.slice(0, 6).flatMap((row) => [String(row.time_ns), String(row.saves_ns)]));
  const thrown = await page.$$eval('.thrown b', (all) => all.map((title) => title.textContent));
  assert.equal(thrown.filter((title) => !title.startsWith('caused by ')).length, answer.rows.filter((row) => row.instant === 'exception').length);
  return 4 * rows.length + marked.length;
}

const squeeze = (text) => text.replaceAll(/\s+/g, '');

/**
 * The diagnosis on the Overview: notes, statements, efficiency. Texts are those of --json; which statements are shown, their gains and
 * the parts of the efficiency are what the program prints. Returns how many texts were compared.
 */
export async function checkDiagnosis(page, store) {
  const run = (...options) => execFileSync(LODE, ['diagnose', store, ...options], { encoding: 'utf8', maxBuffer: 1 << 26 });
  const [answer, text, markdown] = [JSON.parse(run('--json')), run(), run('--markdown')];
  const shown = await page.$eval('.diagnosis', (box) => {
    const texts = (part, selector) => [...part.querySelectorAll(selector)].map((found) => found.textContent);
    return {
      notes: texts(box, '.note'), verdict: texts(box, '.verdict'), smaller: texts(box, '.smaller'), hot: texts(box, '.hotspot'),
      parts: [...box.querySelectorAll('.parts tr')].map((row) => texts(row, 'th, td')),
      statements: [...box.querySelectorAll('ol > li')].map((item) => ({ id: item.dataset.id, text: texts(item, '.text'), gain: texts(item, '.gain'), evidence: texts(item, '.evidence'), commands: texts(item, '.command'), advice: texts(item, '.advice') })),
    };
  });
  const printed = squeeze(text);
  assert.deepEqual(shown.notes, answer.quality.map((note) => note.text));
  const places = shown.statements.map((statement, index) => {
    const wanted = answer.statements.find(({ id, text: its }) => id === statement.id && its === statement.text[0]);
    assert.ok(wanted, `${statement.id} is no statement`);
    assert.deepEqual(statement.evidence, wanted.evidence.map((evidence) => evidence.text));
    assert.deepEqual(statement.advice, wanted.advice === null ? [] : [wanted.advice]);
    assert.deepEqual(statement.commands.map((line) => line.replaceAll("'", '')), wanted.evidence.filter((evidence) => evidence.command).map((evidence) => evidence.command.join(' ').replaceAll("'", '')));
    const lines = [`${index + 1}. ${statement.text[0]}`, ...statement.gain, ...statement.evidence.map((line) => `- ${line}`), ...statement.advice];
    return printed.indexOf(squeeze(lines.join('')));
  });
  assert.ok(places.every((place, index) => place >= 0 && place > (places[index - 1] ?? -1)), `statements are not as printed: ${places.join()}`);
  assert.equal(shown.statements.length, (text.match(/^\d+\. /gm) ?? []).length);
  assert.deepEqual(shown.verdict, ['Nothing stands out.', 'The data do not allow a statement.'].filter((line) => text.includes(line)));
  assert.deepEqual(shown.smaller.map((line) => line.replace('lode diagnose ', '')), text.match(/^\d+ smaller ones? \(--all\)$/gm) ?? []);
  assert.equal(shown.hot.length, (text.match(/^Most work: /gm) ?? []).length);
  for (const line of shown.hot) assert.ok(printed.includes(squeeze(line)), line);
  const rows = markdown.split('| Efficiency | % |')[1]?.split('\n\n')[0].split('\n').slice(2) ?? [];
  assert.deepEqual(shown.parts.map((cells) => cells.join('|')), rows.filter((row) => row !== '').map((row) => row.split('|').slice(1, 4).map((cell) => cell.trim().replaceAll('`', '')).join('|')));
  return shown.notes.length + shown.parts.length + shown.hot.length + shown.statements.reduce((sum, { evidence }) => sum + 2 + evidence.length, 0);
}
