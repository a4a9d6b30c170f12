// SPDX-License-Identifier: BSD-3-Clause
// The interactions of interactions.mjs in Chromium, each without a long task. --pictures FOLDER keeps pictures before and after.
import { chromium } from 'playwright-core';
import { finish } from './browser.mjs';
import { walk } from './interactions.mjs';

const browser = await chromium.launch({ executablePath: process.env.BROWSER_PROGRAM, args: ['--no-sandbox'] });
const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, reducedMotion: 'reduce' });
const page = await context.newPage();
const messages = [];
page.on('console', (message) => messages.push(`${message.type()}: ${message.text()} ${message.location().url}`));
page.on('pageerror', (error) => messages.push(`exception: ${error.message}`));

const point = async (selector, x = 0.5, y = 0.5) => {
  const box = await page.locator(selector).first().boundingBox();
  return [box.x + box.width * x, box.y + box.height * y];
};

/** Tasks of the page's main thread, in processor time: other work of the machine does not count. */
async function longest(action) {
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline'] });
  let trace;
  try {
    await action();
  } finally {
    trace = await browser.stopTracing();
  }
  const { traceEvents } = JSON.parse(trace);
  const threads = new Set(traceEvents.filter((event) => event.name === 'thread_name' && event.args.name === 'CrRendererMain').map((event) => `${event.pid}.${event.tid}`));
  const times = traceEvents.filter((event) => /RunTask$/.test(event.name) && threads.has(`${event.pid}.${event.tid}`) && event.tdur !== undefined).map((event) => event.tdur / 1000);
  if (times.length === 0) throw new Error('the trace has no tasks');
  return Math.max(...times);
}

await walk('Chromium', {
  messages, longest,
  goto: (address) => page.goto(address),
  click: async (selector, x, y) => page.mouse.click(...(await point(selector, x, y))),
  clickText: (selector, text) => page.locator(selector, { hasText: new RegExp(`^${text}`) }).first().click(),
  dblclick: async (selector, x, y) => page.mouse.dblclick(...(await point(selector, x, y))),
  press: (key) => page.keyboard.press(key),
  focus: (selector) => page.focus(selector),
  type: async (selector, text) => { await page.focus(selector); await page.keyboard.type(text); },
  select: (selector, value) => page.selectOption(selector, value),
  wheel: async (selector, x, delta) => { await page.mouse.move(...(await point(selector, x))); await page.mouse.wheel(0, delta); },
  drag: async (selector, from, to, key) => {
    const [start, end] = [await point(selector, ...from), await point(selector, ...to)];
    if (key) await page.keyboard.down(key);
    await page.mouse.move(...start);
    await page.mouse.down();
    await page.mouse.move(...end, { steps: 4 });
    await page.mouse.up();
    if (key) await page.keyboard.up(key);
  },
  evaluate: (what) => page.evaluate(what),
  wait: (condition, argument) => page.waitForFunction(condition, argument),
  picture: () => page.screenshot(),
});
await browser.close();
finish();
