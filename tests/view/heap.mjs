// SPDX-License-Identifier: BSD-3-Clause
// heap.mjs STORE...: what each view of a store takes in the browser, by hand on large stores (tests/bench/README.md): milliseconds until every answer is
// there, megabytes of the page's own objects after a collection, and nodes of the document.
import { open, serve, show } from './browser.mjs';

const VIEWS = ['overview', 'functions', 'tree', 'flame', 'time', 'profiles', 'requests', 'findings'];

async function taken({ context, page }) {
  const client = await context.newCDPSession(page);
  await client.send('HeapProfiler.collectGarbage');
  await client.send('Performance.enable');
  const { metrics } = await client.send('Performance.getMetrics');
  const { nodes } = await client.send('Memory.getDOMCounters');
  await client.detach();
  return `${(metrics.find((metric) => metric.name === 'JSHeapUsedSize').value / 1e6).toFixed(1)} MB, ${nodes} nodes`;
}

const stores = process.argv.slice(2);
const server = await serve(...stores);
const opened = await open(server, { viewport: { width: 1600, height: 1000 } });
for (const [number, store] of stores.entries())
  for (const view of VIEWS) {
    const begun = performance.now();
    await show(opened.page, server, `?s=${number}&v=${view}&1`);
    console.log(`${store} ${view}: ${Math.round(performance.now() - begun)} ms, ${await taken(opened)}`);
  }
await opened.browser.close();
await server.stop();
