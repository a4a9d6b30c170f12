// SPDX-License-Identifier: BSD-3-Clause
// Pictures of every page for the documents, from the stores of `lode example`, in both themes:
//   python3 tests/view/run.py --lode build/src/cli/lode --plugins $PWD/build/src/view --work /tmp/packages pictures/shots.mjs doc/images [NAME]...
// Somebody looks at them before they are committed; tests/view/pictures/shrink.py makes them a third as large.
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { examples, LODE, open, serve, settle, show } from '../browser.mjs';

const PAGES = [
  ['overview', '?1', []],
  ['functions', '?v=top&n=spmv._omp_fn.0&1', []],
  ['tree', '?v=tree&c=53&m=CPUTIME+%28sec%29&m=PAPI_TOT_INS&1', ['Home', 'h']],
  ['flame', '?v=flame&1', []],
  ['time', '?v=time&1', []],
  ['profiles', '?v=profiles&1', []],
  ['calls', '?s=1&v=time&y=4711,4712,4713-&a=50000000..100000000&x=1@90000000ns&1', []],
  ['requests', '?s=2&v=requests&1', []],
  ['over', '?s=2&v=requests&g=over&1', []],
  ['request', '?s=2&v=requests&i=28&1', []],
  ['compare', '?v=compare&b=3&1', []],
  ['compare-tree', '?v=tree&g=compare&b=3&1', []],
  ['compare-flame', '?v=flame&g=compare&b=3&1', []],
  ['findings', '?s=4&v=findings&1', []],
];
const [folder, ...wanted] = process.argv.slice(2);
const out = resolve(folder);
const stores = examples();
// To compare: the run without its slow rank. To check: a recording whose longest task is cut.
const fewer = join(dirname(stores.solver), 'solver-without-rank-5');
execFileSync(LODE, ['slice', stores.solver, '--profiles', 'rank=0-4+6-7', '-o', fewer], { stdio: 'ignore' });
const cut = join(dirname(stores.solver), 'thumbs-cut');
cpSync(stores.thumbs, cut, { recursive: true });
const sizes = readdirSync(cut).filter((name) => name.endsWith('.dat') && !name.startsWith('perf')).map((name) => [statSync(join(cut, name)).size, join(cut, name)]).sort((a, b) => b[0] - a[0]);
truncateSync(sizes[0][1], Math.floor(sizes[0][0] / 2) + 3);
// Commands on the pages have the paths that the server was given.
process.chdir(dirname(dirname(stores.solver)));
const server = await serve(...[stores.solver, stores.thumbs, stores.shop, fewer, cut].map((path) => relative('.', path)));
const { browser, page } = await open(server, { viewport: { width: 1280, height: 800 } });
for (const [name, query, keys] of PAGES) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    await show(page, server, query);
    // A view that this program does not have is the first one: no picture of it.
    const wish = new URLSearchParams(query).get('v') ?? 'overview';
    if (!(await page.$eval('.tabs a[aria-current]', (link, view) => new URL(link.href).searchParams.get('v') === view, wish))) continue;
    if (keys.length > 0) await page.focus('[role=treegrid], [role=grid]');
    for (const key of keys) await page.keyboard.press(key);
    await settle(page);
    await page.evaluate(() => document.activeElement?.blur());
    await page.screenshot({ path: join(out, `view-${name}-${colorScheme}.png`) });
  }
}
await browser.close();
await server.stop();
