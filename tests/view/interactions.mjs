// SPDX-License-Identifier: BSD-3-Clause
// What a person does in an hour with the page, in one go: interactions, each of which must have its effect, in any browser that a driver knows.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { examples, folder, LODE, serve, test } from './browser.mjs';

/** Conditions, in the page: they are waited for. `has` are texts that the decoded address must have, `not` those that it must not. */
const address = (has, not = []) => [({ has, not }) => { const text = decodeURIComponent(location.search); return has.every((part) => text.includes(part)) && !not.some((part) => text.includes(part)); }, { has, not }];
const there = (selector, least = 1) => [({ selector, least }) => document.querySelectorAll(selector).length >= least, { selector, least }];
const gone = (selector) => [(selector) => !document.querySelector(selector), selector];
const tab = (title) => [(title) => document.querySelector('.tabs a[aria-current]')?.textContent === title, title];
const text = (selector, part) => [({ selector, part }) => document.querySelector(selector)?.textContent.includes(part), { selector, part }];
const ROWS = 'main [role=grid] .row';
const button = (title) => (d) => d.clickText('main button, header button, aside button', title);
const press = (...keys) => async (d) => { for (const key of keys) await d.press(key); };
const zoom = () => { const { from, to } = document.querySelector('.timeplot > .plot').dataset; return to - from; };

/** [what, how, conditions, whether the picture stays]; a text instead of all that goes to an address first. */
const STEPS = [
  '?1',
  ['Overview: a bar leads to its function', (d) => d.click('.bars button'), [tab('Functions'), address(['n='])]],
  ['back', press('Backspace'), [tab('Overview'), there('.bars button')]],
  ['a key opens Functions', press('2'), [tab('Functions'), there(ROWS, 10)]],
  ['a heading sorts', (d) => d.clickText('[role=columnheader] button', 'Inclusive'), [address(['o=inclusive']), there('[aria-sort=descending]')]],
  ['rows are filtered as one types', (d) => d.type('.gridtools input', 'mpi'), [text('.gridtools [role=status]', ' of ')]],
  ['Escape shows all rows', press('Escape'), [gone('.gridtools [role=status]')]],
  ['rows by line', button('line'), [address(['g=line']), there(ROWS, 5)]],
  ['a slash goes to the search', press('/'), [[() => document.activeElement?.id === 'search']]],
  ['a search of lines says that it is for functions', (d) => d.type('#search', 'cg'), [address(['q=cg']), text('.hides', 'for functions')]],
  ['functions are found as one types', button('function'), [address(['q=cg'], ['g=']), gone('.hides')]],
  ['Escape ends the search', async (d) => { await d.focus('#search'); await d.press('Escape'); }, [address([], ['q='])]],
  ['another metric', press('m'), [address(['m='])]],
  ['a key opens the tree', press('3'), [tab('Tree'), there('[role=treegrid] .row', 5)]],
  ['the hot path from here', async (d) => { await d.focus('[role=treegrid]'); await d.press('ArrowDown'); await d.press('h'); }, [address(['c=']), there('aside .path')]],
  ['callers instead of callees', press('i'), [address(['w=up'])]],
  ['callees again', press('i'), [address([], ['w=up'])]],
  ['all levels are opened', async (d) => { await d.focus('[role=treegrid]'); await d.press('Home'); await d.press('E'); }, [there('[role=treegrid] [aria-level="6"]')]],
  '?v=flame&1',
  ['flame: a double click zooms', (d) => d.dblclick('.flame canvas', 0.2, 0.3), [address(['r=']), there('.ancestors li', 2)]],
  ['flame: one up', press('u'), [there('.flame canvas')]],
  ['flame: a click selects', (d) => d.click('.flame canvas', 0.2, 0.05), [there('[aria-label="The selected function"]')]],
  ['flame: callers and callees', press('f'), [address(['w=callers:'])]],
  ['flame: matches as one types', (d) => d.type('#search', 'omp'), [text('.matches', 'matches')]],
  '?v=time&1',
  ['time: the wheel zooms', async (d) => { d.before = await d.evaluate(zoom); await d.wheel('.timeplot > .plot', 0.3, -240); }, [address(['t=']), (d) => [(before) => { const { from, to } = document.querySelector('.timeplot > .plot')?.dataset ?? {}; return to - from < 0.8 * before; }, d.before]]],
  ['time: a drag pans', async (d) => { d.before = await d.evaluate(() => location.search); await d.drag('.timeplot > .plot', [0.6, 0.5], [0.4, 0.5]); }, [(d) => [(before) => location.search !== before, d.before]]],
  ['time: all of it', press('0'), [address([], ['t='])]],
  ['time: Shift and a drag select an area', (d) => d.drag('.timeplot > .plot', [0.4, 0.5], [0.6, 0.5], 'Shift'), [address(['a=']), there('[aria-label="Functions in the selected area"] .row', 3)]],
  ['time: what changed since the area before', button('compare with the area before'), [there('[aria-label="Changes from the area before"] .row', 3)]],
  ['time: no area', press('Escape'), [address([], ['a=']), there('[aria-label="Shares of this time window"]')]],
  ['time: a click shows the call path', (d) => d.click('.timeplot > .plot', 0.5, 0.4), [address(['x=']), there('.stack li', 2)]],
  ['time: calls are pinned', press('p'), [address(['y=']), there('.track canvas')]],
  ['time: and folded', (d) => d.click('.trackname [aria-expanded]'), [there('.trackname [aria-expanded=false]')]],
  ['time: and unpinned', press('P'), [gone('.track')]],
  ['time: one level of calls', press(']'), [address(['d=1'])]],
  ['time: the small picture is clicked', (d) => d.drag('.minimap', [0.3, 0.5], [0.5, 0.5]), [address(['t='])]],
  ['a key opens Profiles', press('6'), [tab('Profiles'), there('svg.chart [data-max]', 8)]],
  ['profiles: a click selects one', (d) => d.click('svg.chart [data-max]'), [address(['p=profile='])]],
  ['profiles: all again', (d) => d.click('.toolbar .chip'), [address([], ['p='])]],
  '?s=2&v=requests&1',
  ['requests: a drag selects', (d) => d.drag('svg.requests-chart', [0.3, 0.05], [0.6, 0.5]), [address(['t=', 'f=min:', 'f=max:'])]],
  ['requests: all again', button('show all times and durations'), [address([], ['t=', 'f='])]],
  ['requests: over time', button('over time'), [there('.over-chart'), there(ROWS, 10)]],
  ['requests: one of them', async (d) => { await d.clickText('main button', 'requests'); await d.wait(...there('svg.requests-chart .dot', 80)); await d.click('svg.requests-chart .dot.failed'); }, [address(['i=']), there('.thrown')]],
  ['store: another one', (d) => d.select('select.store', '1'), [[() => document.querySelector('select.store')?.value === '1'], address(['s=1'])]],
  ['compare: both trees', async (d) => { await d.show('?v=compare&b=3&1'); await d.clickText('.segments button', 'inclusive'); }, [address(['w=inclusive']), there(ROWS, 3)]],
  ['a note', async (d) => { await d.show('?v=top&n=spmv._omp_fn.0&1'); await d.press('j'); await d.wait(...there('dialog[open] form.addnote')); await d.type('[aria-label="Name of the note"]', 'hot'); await d.press('Enter'); await d.press('Escape'); }, [address(['j=function|spmv._omp_fn.0|hot']), text('aside .notes', 'hot')]],
  ['help', press('?'), [there('dialog[open] table')]],
  ['help is closed', press('Escape'), [gone('dialog[open]')]],
  ['the palette finds a view', async (d) => { await d.press('Control+k'); await d.wait(...there('dialog[open] input')); await d.type('dialog[open] input', 'Findings'); await d.press('Enter'); }, [tab('Findings')]],
  ['statements of SQL', async (d) => { await d.show('?v=sql&1'); await d.click('button.run'); }, [there('.sql .sheet .row', 5), there('.sql-chart')]],
  ['dark or light', (d) => d.click('[aria-label="Light or dark"]'), [[() => document.documentElement.dataset.theme !== undefined]]],
];

const QUIET = [() => !document.querySelector('.busy.on, [aria-busy=true], .pending.quiet')];

/** Goes through all of them. A driver has click, press, drag and so on, evaluate, wait, picture, and `longest` around an action: its longest task in ms of processor time, or null. */
export async function walk(name, driver) {
  const demo = examples();
  const fewer = join(folder(), 'fewer');
  execFileSync(LODE, ['slice', demo.solver, '--profiles', 'rank=0-4+6-7', '-o', fewer], { stdio: 'ignore' });
  const server = await serve(demo.solver, demo.thumbs, demo.shop, fewer);
  const at = process.argv.indexOf('--pictures');
  const pictures = at > 0 ? process.argv[at + 1] : '';
  if (pictures !== '') mkdirSync(pictures, { recursive: true });
  const d = { ...driver, show: async (query) => { await driver.goto(server.base + query); await driver.wait(...there('main#view')); await driver.wait(...QUIET); } };
  await d.show(`#token=${server.token}`);
  const tasks = [];
  let count = 0;
  for (const step of STEPS) {
    if (typeof step === 'string') {
      await d.show(step);
      continue;
    }
    const [title, act, conditions, stays] = step;
    count++;
    const number = String(count).padStart(2, '0');
    await test(`${name}, ${number}: ${title}`, async () => {
      await d.wait(...QUIET);
      const before = await d.picture();
      const longest = await d.longest(async () => {
        await act(d);
        for (const condition of conditions) await d.wait(...(typeof condition === 'function' ? condition(d) : condition));
        await d.wait(...QUIET);
      });
      const after = await d.picture();
      if (pictures !== '') for (const [when, picture] of [['before', before], ['after', after]]) writeFileSync(join(pictures, `${name}-${number}-${when}.png`), picture);
      if (!stays) assert.ok(!before.equals(after), 'the picture is another one');
      if (longest !== null) tasks.push([longest, title]);
      assert.ok(longest === null || longest < 100, `a task took ${longest} ms of processor time`);
    });
  }
  tasks.sort((a, b) => b[0] - a[0]);
  await test(`${name}: ${count} interactions without a message in the console`, () => {
    assert.ok(count >= 40);
    assert.deepEqual(driver.messages, []);
  });
  if (tasks.length > 0) console.log(`# longest tasks, ms of processor time: ${tasks.slice(0, 5).map(([time, title]) => `${time.toFixed(1)} (${title})`).join(', ')}`);
  await server.stop();
}
