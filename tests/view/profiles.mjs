// SPDX-License-Identifier: BSD-3-Clause
// Profiles and Requests: every number on the page is one of the command that the page offers to copy; a click selects.
import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { copied, corpusStores, examples, finish, open, serve, settle, show, test } from './browser.mjs';
import { checkProfiles, checkRequest, checkRequests } from './checks.mjs';

const demo = examples();
const wanted = ['viewer-issue-233', 'made-loops-cputime-t-mpi3ranks', 'viewer-derived-metrics.db'];
const databases = [demo.solver, ...corpusStores().filter((store) => wanted.includes(basename(store)))];
const recordings = [demo.shop, ...corpusStores().filter((store) => basename(store) === 'master')];

const server = await serve(...databases, ...recordings);
const { browser, page, messages } = await open(server, { viewport: { width: 1600, height: 1000 } });

for (const [number, store] of databases.entries()) {
  await test(`${basename(store)}: values, histogram, matrix and outliers of profiles are those of the command`, async () => {
    messages.length = 0;
    for (const order of ['', '&o=value', '&o=index']) {
      await show(page, server, `?s=${number}&v=profiles${order}&1`);
      assert.ok((await checkProfiles(page)) > 0);
    }
    assert.deepEqual(messages, []);
  });
}

await test('a click on a profile selects it everywhere, and the chip selects all again', async () => {
  await show(page, server, '?s=0&v=profiles&1');
  await page.locator('svg.chart [data-max]').first().click();
  await settle(page);
  const selection = new URL(page.url()).searchParams.get('p');
  assert.match(selection, /^profile=\d+$/);
  await page.keyboard.press('2');
  await settle(page);
  assert.ok((await copied(page)).includes(`--profiles ${selection}`));
  await show(page, server, `?s=0&v=profiles&p=${encodeURIComponent(selection)}&1`);
  await page.locator('.toolbar .chip').click();
  await settle(page);
  assert.equal(new URL(page.url()).searchParams.get('p'), null);
});

for (const [index, store] of recordings.entries()) {
  const number = databases.length + index;
  await test(`${basename(store)}: requests are those of the command, one of them as a waterfall`, async () => {
    messages.length = 0;
    for (const options of ['', '&f=errors', '&o=calls', '&f=min%3A1ms', '&q=e']) {
      await show(page, server, `?s=${number}&v=requests${options}&1`);
      await checkRequests(page);
    }
    await show(page, server, `?s=${number}&v=requests&i=1&1`);
    assert.ok((await checkRequest(page)) > 0);
    assert.deepEqual(messages, []);
  });
}

if (process.env.LODE_SHOTS) {
  for (const [query, name] of [['?s=0&v=profiles&1', 'profiles'], [`?s=${databases.length}&v=requests&1`, 'requests'], [`?s=${databases.length}&v=requests&i=3&1`, 'request']]) {
    await show(page, server, query);
    await page.screenshot({ path: `${process.env.LODE_SHOTS}/${name}.png` });
  }
}

await browser.close();
await server.stop();
finish();
