// SPDX-License-Identifier: BSD-3-Clause
// A random walker: presses keys and follows links on each store, and looks whether the page still stands.
//   walker.mjs [--steps N] [--seed N] [--part I/N]
import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { corpusStores, examples, finish, open, serve, settle, test } from './browser.mjs';

const option = (name, value) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : value);
const steps = Number(option('--steps', '60'));
const [part, parts] = option('--part', '').split('/').map(Number);
let seed = Number(option('--seed', '1'));
const random = (bound) => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
  return Math.floor((seed / 2 ** 32) * bound);
};
const KEYS = [
  '1', '2', '3', '4', '5', '6', '7', '8', 'm', 'h', 'i', 'e', 'E', 'f', 'b', '*', 'n', 'N', 'w', 's', 'a', 'd', '+', '-', '0', '[', ']', ',', '.', 'p', 'o',
  'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowRight', 'Enter', 'Backspace', 'Escape', 'Tab', 'Tab', 'Home', 'End', 'PageDown', '?', 'Control+k',
];
const demo = examples();
const stores = [demo.solver, demo.thumbs, demo.shop, ...(parts ? corpusStores().filter((_, index) => index % parts === part) : [])];

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

for (const store of stores) {
  await test(`${basename(store)}: ${steps} random steps leave no message`, async () => {
    const server = await serve(store);
    const { browser, page, messages } = await open(server);
    const done = [];
    try {
      await stand(page);
      for (let i = 0; i < steps; i++) {
        if (random(8) === 0) {
          const buttons = await page.$$('main button, aside button, .tabs a, [role=treegrid] .row, [role=grid] .row');
          const button = buttons[random(Math.max(1, buttons.length))];
          done.push('click');
          if (button && !(await page.$('dialog[open]'))) await button.click({ timeout: 2000, force: true }).catch(() => undefined);
        } else {
          const key = KEYS[random(KEYS.length)];
          done.push(key);
          await page.keyboard.press(key);
        }
        if (random(6) === 0) await stand(page);
      }
      await stand(page);
      assert.ok(await page.$('main'));
      // Back to the start: Escape closes what is open, the first key shows the first view.
      for (let i = 0; i < 3; i++) await page.keyboard.press('Escape');
      await page.evaluate(() => document.activeElement?.blur());
      await page.keyboard.press('1');
      await settle(page);
      const refused = /Failed to load resource: .* 400/;
      assert.deepEqual(messages.filter((message) => !refused.test(message)), [], done.join(' '));
    } finally {
      await browser.close();
      await server.stop();
    }
  });
}
finish();
