// SPDX-License-Identifier: BSD-3-Clause
// A random walker: presses keys, follows links, types, chooses and drags on each store, and looks whether the page still stands.
//   walker.mjs [--steps N] [--seconds N] [--seed N] [--part I/N] [--folder FOLDER]: so many steps, or for so long (by hand), on each store; of a
//   folder, such as markup_stores makes (tests/cli), its stores.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { corpusStores, examples, finish, open, serve, settle, test } from './browser.mjs';

const option = (name, value) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : value);
const seconds = Number(option('--seconds', '0'));
const steps = seconds > 0 ? Infinity : Number(option('--steps', '60'));
const [part, parts] = option('--part', '').split('/').map(Number);
let seed = Number(option('--seed', '1'));
const random = (bound) => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
  return Math.floor((seed / 2 ** 32) * bound);
};
const KEYS = [
  '1', '2', '3', '4', '5', '6', '7', '8', '9', 'm', 'h', 'i', 'e', 'E', 'f', 'b', 'r', 'x', '*', 'n', 'N', 'w', 's', 'a', 'd', '+', '-', '0', '[', ']', ',', '.', 'p', 'o', 'c', 'l', 'C',
  'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowRight', 'Enter', 'Backspace', 'Escape', 'Tab', 'Tab', 'Home', 'End', 'PageDown', '?', 'Control+k', 'j', 'P', 'z',
];
const WORDS = ['main', 'e', 'MPI_*', 'nothing has this name', '10ms', '1', 'rank=0', '<b>', '[', '/(/', '-1', ''];
const demo = examples();
const made = option('--folder', '');
const stores = made !== '' ? readdirSync(made).sort().map((name) => join(made, name)) : [demo.solver, demo.thumbs, demo.shop, ...(parts ? corpusStores() : [])].filter((_, index) => !parts || index % parts === part);

// The page stands. Backspace may leave it for the empty one before it, a little later.
const stand = async (page) => {
  for (;;) {
    if (page.url() === 'about:blank') await page.goForward();
    try {
      return await settle(page);
    } catch (error) {
      if (page.url() !== 'about:blank') throw error;
    }
  }
};

/** One of the elements that a selector finds; an element that is gone is no failure. */
async function any(page, selector, act) {
  const found = await page.$$(selector);
  const element = found[random(Math.max(1, found.length))];
  if (element && !(await page.$('dialog[open]'))) await act(element).catch(() => undefined);
}

const QUICK = { timeout: 2000, force: true };
const ACTIONS = {
  click: (page) => any(page, 'header button, main button, main [role=columnheader], aside button, .tabs a, [role=treegrid] .row, [role=grid] .row, svg [data-profile], .dot', (element) => element.click(QUICK)),
  choose: (page) => any(page, 'select:not(.store)', (element) => element.selectOption({ index: random(4) }, QUICK)),
  type: (page) => any(page, 'header input[type=text], header input[type=search], main input[type=text]', async (element) => {
    await element.fill(WORDS[random(WORDS.length)], QUICK);
    await element.press('Enter', QUICK);
  }),
  drag: (page) => any(page, 'main canvas', async (element) => {
    const box = await element.boundingBox();
    const place = () => [box.x + (random(100) * box.width) / 100, box.y + (random(100) * Math.min(box.height, 300)) / 100];
    await page.mouse.move(...place());
    await page.mouse.down();
    await page.mouse.move(...place());
    await page.mouse.up();
  }),
};

/** One step at random; its name. */
async function step(page) {
  const names = { 0: 'click', 1: 'click', 2: 'click', 3: 'drag', 4: 'choose', 5: 'type' };
  const name = names[random(24)];
  if (name !== undefined) {
    await ACTIONS[name](page);
    return name;
  }
  const key = KEYS[random(KEYS.length)];
  await page.keyboard.press(key);
  return key;
}

let walked = 0;
for (const store of stores) {
  await test(`${basename(store)}: ${seconds > 0 ? `${seconds} s` : steps} of random steps leave no message`, async () => {
    // With a second store there is something to compare with.
    const server = await serve(store, demo.solver);
    const { browser, page, messages } = await open(server);
    const done = [];
    const end = Date.now() + 1000 * seconds;
    try {
      await stand(page);
      while (seconds > 0 ? Date.now() < end : done.length < steps) {
        done.push(await step(page));
        if (random(6) === 0) await stand(page);
      }
      walked += done.length;
      await stand(page);
      assert.ok(await page.$('main'));
      assert.equal(await page.evaluate(() => globalThis.pwned), undefined);
      // Back to the start: Escape closes what is open, the first key shows the first view.
      for (let i = 0; i < 3; i++) await page.keyboard.press('Escape');
      await page.evaluate(() => document.activeElement?.blur());
      await page.keyboard.press('1');
      await settle(page);
      // The browser itself says what the server refused: words that are no pattern or no time.
      const refused = /Failed to load resource: .* 400/;
      assert.deepEqual(messages.filter((message) => !refused.test(message)), [], done.join(' '));
    } finally {
      await browser.close();
      assert.equal(await server.stop(), 0);
    }
  });
}
console.log(`# ${walked} steps on ${stores.length} stores`);
finish();
