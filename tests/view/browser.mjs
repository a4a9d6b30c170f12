// SPDX-License-Identifier: BSD-3-Clause
// `lode view` and a Chromium that looks at it; everything that the browser complains about fails the test.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';

export const LODE = process.env.LODE;
export const CORPUS = process.env.LODE_CORPUS ?? '';
const run = promisify(execFile);
process.setMaxListeners(0);

/** A folder that is gone when the test ends. */
export function folder() {
  const path = mkdtempSync(join(tmpdir(), 'lode-view-'));
  process.on('exit', () => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** The stores of `lode example`. */
export function examples() {
  const path = join(folder(), 'demo');
  execFileSync(LODE, ['example', path], { stdio: 'ignore' });
  return { solver: join(path, 'solver'), thumbs: join(path, 'thumbs'), shop: join(path, 'shop') };
}

/** Starts `lode view`; `stop` ends it as Ctrl-C does and gives its exit status. */
export async function serve(...stores) {
  const server = spawn(LODE, ['view', ...stores], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  server.stdout.on('data', (data) => (text += data));
  while (!/#token=\S+/.test(text)) {
    if (server.exitCode !== null) throw new Error(`lode view ended: ${text}`);
    await Promise.race([once(server.stdout, 'data'), once(server, 'exit')]);
  }
  const [, base, token] = /(http:\/\/[^/]+\/)#token=(\S+)/.exec(text);
  const kill = () => server.kill('SIGKILL');
  process.on('exit', kill);
  const stop = async () => {
    process.off('exit', kill);
    if (server.exitCode === null) {
      server.kill('SIGINT');
      await once(server, 'exit');
    }
    return server.exitCode;
  };
  return { base, token, stop, pid: server.pid };
}

/** A page with its messages, in a browser of its own unless there is one; `options` as newPage takes them. */
export async function open(server, options = {}, running = null, prepare = () => undefined) {
  const browser = running ?? (await chromium.launch({ executablePath: process.env.BROWSER_PROGRAM, args: ['--no-sandbox'] }));
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, reducedMotion: 'reduce', ...options });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.base.slice(0, -1) });
  const page = await context.newPage();
  const messages = [];
  page.on('console', (message) => messages.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => messages.push(`exception: ${error.message}`));
  // Requests that the page itself gives up when the view moves on are no failures.
  page.on('requestfailed', (request) => request.failure()?.errorText === 'net::ERR_ABORTED' || messages.push(`failed: ${request.url()}`));
  prepare(page);
  await page.goto(`${server.base}#token=${server.token}`);
  return { browser, context, page, messages };
}

/** Goes to an address of the page and waits until every answer is there. */
export async function show(page, server, query) {
  await page.goto(server.base + query);
  await settle(page);
}

/** Goes to an address as a link in the page does, without loading it again. */
export async function move(page, query) {
  await page.evaluate((address) => {
    history.pushState(null, '', address);
    dispatchEvent(new PopStateEvent('popstate'));
  }, query);
  await settle(page);
}

/** Waits until nothing is under way: after a change, effects of the page ask for answers within two frames. */
export async function settle(page) {
  await page.waitForSelector('main#view, main.message:not([aria-busy])', { timeout: 120000 });
  await page.evaluate(async () => {
    const turn = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
    for (let quiet = 0; quiet < 4; ) {
      await turn();
      quiet = document.querySelector('.busy.on, [aria-busy=true], .pending.quiet') ? 0 : quiet + 1;
    }
  });
}

/** What "copy command" gives. */
export async function copied(page) {
  await page.evaluate(() => navigator.clipboard.writeText(''));
  await page.getByRole('button', { name: 'copy command' }).click();
  for (let i = 0; i < 100; i++) {
    const text = await page.evaluate(() => navigator.clipboard.readText());
    if (text !== '') return text;
    await page.waitForTimeout(20);
  }
  throw new Error('nothing was copied');
}

/** Runs a command line that was copied, with --json; `lode check` has status 1 for a damaged store. */
export async function answerOf(command) {
  const line = command.replace(/^lode /, `'${LODE}' `);
  // What stands after "--" are operands.
  const full = / -- /.test(line) ? line.replace(/ -- /, ' --json -- ') : `${line} --json`;
  try {
    return JSON.parse((await run('bash', ['-c', full], { maxBuffer: 1 << 30 })).stdout);
  } catch (error) {
    if (error.code === 1 && error.stdout) return JSON.parse(error.stdout);
    throw error;
  }
}

/** All stores of the corpus: databases and drafts, recordings and trace stores, sound and broken ones; [] without it. */
export function corpusStores() {
  const found = [];
  for (const place of ['hpctoolkit/final', 'uftrace/recorded', 'zorka/stores', 'hpctoolkit/pre-a', 'hpctoolkit/pre-b', 'hpctoolkit/draft-xml', 'uftrace/handmade']) {
    const path = join(CORPUS, place);
    if (CORPUS === '' || !existsSync(path)) continue;
    for (const name of readdirSync(path).sort()) found.push(join(path, name));
  }
  return found;
}

/** Those that the command line asks for: --part I/N, every Nth of them, and --only PATTERN, by path; `otherwise` if it asks for none. */
export function chosenStores(otherwise) {
  const option = (name) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : undefined);
  const [part, only] = [/^(\d+)\/(\d+)$/.exec(option('--part') ?? ''), option('--only')];
  if (!part && only === undefined) return otherwise;
  const [place, parts] = part ? [Number(part[1]), Number(part[2])] : [0, 1];
  return corpusStores().filter((store) => new RegExp(only ?? '').test(store)).filter((_, index) => index % parts === place);
}

let number = 0;
let failed = 0;

/** One test of TAP; what is thrown is the reason. */
export async function test(title, body) {
  number++;
  try {
    await body();
    console.log(`ok ${number} - ${title}`);
  } catch (error) {
    failed++;
    console.log(`not ok ${number} - ${title}`);
    console.log(String(error.stack ?? error).replace(/^/gm, '# '));
  }
}

export function skipped(title, reason) {
  number++;
  console.log(`ok ${number} - ${title} # SKIP ${reason}`);
}

/** Ends the test program. */
export function finish() {
  console.log(`1..${number}`);
  process.exit(failed > 0 ? 1 : 0);
}
