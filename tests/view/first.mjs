// SPDX-License-Identifier: BSD-3-Clause
// What the first screen of a store costs the server: processor time until every answer is on the page, the requests behind it, and anonymous memory. By hand:
//   first.mjs STORE [--memory SIZE] [OPTION...]
import { readFileSync } from 'node:fs';
import { open, serve, settle } from './browser.mjs';

const [store, ...options] = process.argv.slice(2);

/** Of the process, with threads that have ended, in milliseconds. */
function processor(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf-8').replace(/^.*\) /, '').split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function memory(pid, name) {
  return Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf-8'))[1]) / 1024);
}

const server = await serve(store, ...options);
let [most, mapped] = [0, 0];
const watch = setInterval(() => ([most, mapped] = [Math.max(most, memory(server.pid, 'RssAnon')), Math.max(mapped, memory(server.pid, 'RssFile'))]), 5);
const asked = [];
const begun = performance.now();
const { browser, page } = await open(server, {}, null, (page) => page.on('response', (response) => asked.push([performance.now() - begun, response.url().replace(server.base, '')])));
// Functions, hot path and total: from estimates, if the store is large.
await page.waitForFunction(() => document.querySelector('.bars li') && document.querySelector('.hotpath li') && document.querySelector('.headline b'));
const tables = [processor(server.pid), performance.now() - begun, await page.evaluate(() => document.querySelector('.estimate')?.textContent ?? 'exact')];
if (process.env.LODE_PICTURE) await page.screenshot({ path: process.env.LODE_PICTURE });
await settle(page);
clearInterval(watch);
for (const [at, url] of asked) if (!url.startsWith('api/1/session')) console.log(`${at.toFixed(0).padStart(8)} ms  ${url}`);
console.log(`tables after ${tables[0].toFixed(0)} ms of processor time, ${tables[1].toFixed(0)} ms by the clock: ${tables[2]}`);
console.log(`${processor(server.pid).toFixed(0)} ms of processor time in ${(performance.now() - begun).toFixed(0)} ms; at most ${most} MiB of its own memory and ${mapped} MiB of mapped files`);
await browser.close();
await server.stop();
