// SPDX-License-Identifier: BSD-3-Clause
// Pictures of every page for the documents, from the stores of `lode example`, in both themes:
//   python3 tests/view/run.py --lode build/src/cli/lode --plugins $PWD/build/src/view --work /tmp/packages shots.mjs doc/images [NAME]...
// Somebody looks at them before they are committed; tests/view/shrink.py makes them a third as large.
import { join } from 'node:path';
import { examples, open, serve, settle, show } from './browser.mjs';

const PAGES = [
  ['overview', '?1', []],
  ['functions', '?v=top&n=spmv._omp_fn.0&1', []],
  ['tree', '?v=tree&c=53&1', ['Home', 'h']],
  ['flame', '?v=flame&1', []],
  ['time', '?v=time&1', []],
  ['profiles', '?v=profiles&1', []],
  ['requests', '?s=2&v=requests&1', []],
];
const [out, ...wanted] = process.argv.slice(2);
const stores = examples();
const server = await serve(stores.solver, stores.thumbs, stores.shop);
const { browser, page } = await open(server, { viewport: { width: 1280, height: 800 } });
for (const [name, query, keys] of PAGES) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    await show(page, server, query);
    // A view that this program does not have is the first one: no picture of it.
    const wish = new URLSearchParams(query).get('v') ?? 'overview';
    if (!(await page.$(`.tabs a[aria-current][href='?v=${wish}']`))) continue;
    if (keys.length > 0) await page.focus('[role=treegrid], [role=grid]');
    for (const key of keys) await page.keyboard.press(key);
    await settle(page);
    await page.evaluate(() => document.activeElement?.blur());
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(out, `view-${name}-${colorScheme}.png`) });
  }
}
await browser.close();
await server.stop();
