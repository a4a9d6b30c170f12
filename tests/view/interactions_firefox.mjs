// SPDX-License-Identifier: BSD-3-Clause
// The interactions of interactions.mjs in Firefox, over WebDriver BiDi; it does not tell how long tasks are.
import puppeteer from 'puppeteer-core';
import { finish } from './browser.mjs';
import { walk } from './interactions.mjs';

const browser = await puppeteer.launch({ browser: 'firefox', executablePath: process.env.BROWSER_PROGRAM, headless: true, timeout: 300000, args: ['--width=1400', '--height=900'] });
const page = await browser.newPage();
await page.setViewport({ width: 1400, height: 900 });
const messages = [];
page.on('console', (message) => messages.push(`${message.type()}: ${message.text()}`));
page.on('pageerror', (error) => messages.push(`exception: ${error.message}`));

const point = (selector, x = 0.5, y = 0.5) => page.$eval(selector, (element, x, y) => {
  const box = element.getBoundingClientRect();
  return [box.x + box.width * x, box.y + box.height * y];
}, x, y);
const KEYS = { 'Control+k': ['Control', 'k'] };

await walk('Firefox', {
  messages, longest: async (action) => { await action(); return null; },
  goto: (address) => page.goto(address),
  click: async (selector, x, y) => page.mouse.click(...(await point(selector, x, y))),
  clickText: async (selector, text) => page.mouse.click(...(await page.$$eval(selector, (all, text) => {
    const box = all.find((one) => one.textContent.startsWith(text)).getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  }, text))),
  dblclick: async (selector, x, y) => page.mouse.click(...(await point(selector, x, y)), { count: 2 }),
  press: async (key) => {
    const [held, last] = KEYS[key] ?? [null, key];
    if (held) await page.keyboard.down(held);
    await page.keyboard.press(last);
    if (held) await page.keyboard.up(held);
  },
  focus: (selector) => page.focus(selector),
  type: async (selector, text) => { await page.focus(selector); await page.keyboard.type(text); },
  select: (selector, value) => page.select(selector, value),
  wheel: async (selector, x, delta) => { await page.mouse.move(...(await point(selector, x))); await page.mouse.wheel({ deltaY: delta }); },
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
  wait: (condition, argument) => page.waitForFunction(condition, {}, argument),
  picture: async () => Buffer.from(await page.screenshot()),
});
await browser.close();
finish();
