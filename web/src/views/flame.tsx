// SPDX-License-Identifier: BSD-3-Clause
// Flame: `lode flame`, from the entry points, bottom-up, or around one function. Without a server, a zoom shows a part of the picture.
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useAnswer, type Answer, type Option, type Query } from '../api';
import { ALL, boxesOf, coloursOf, draw, nameOf, ROW, svgOf, WIDTH, type Box, type Flame, type Part } from '../draw/flame';
import { amount, clean, count, percent, unitOf, type Unit } from '../format';
import type { Info } from '../info';
import { useKeys } from '../keys';
import { KIND_TITLES, Name, Problem, Swatch } from '../parts';
import { fileName, save } from '../save';
import { boxesInside, isReport } from '../report';
import { selection } from '../selection';
import { go, type State } from '../state';
import { sharedOptions, type View, type ViewProps } from '../view';
import { otherOf } from './compare';
import { CompareFlame, LEAST } from './compare_flame';
import { compareTreeQuery } from './compare_tree';

function wayOf(state: State): { kind: 'down' | 'up' | 'around' | 'focus'; name: string } {
  const match = /^(callers|focus):([^]+)$/.exec(state.way);
  if (match?.[2] !== undefined) return { kind: match[1] === 'callers' ? 'around' : 'focus', name: match[2] };
  return { kind: state.way === 'up' ? 'up' : 'down', name: '' };
}

function query(state: State, info: Info): Query {
  const options: Option[] = sharedOptions({ ...state, search: '' }, info);
  const way = wayOf(state);
  if (way.kind === 'up') options.push(['bottom-up', '']);
  if (way.kind === 'around') options.push(['function', way.name]);
  if (way.kind === 'focus') options.push(['focus', way.name]);
  if (way.kind === 'down' && /^\d+$/.test(state.root)) options.push(['root', state.root]);
  if (state.group === 'merge') options.push(['merge-recursion', '']);
  options.push(['width', String(WIDTH)]);
  return { command: 'flame', store: state.store, options };
}

/** What matches a search: the boxes, and the share of the total, where a match in another one counts once. */
export function matchesOf(boxes: readonly Box[], text: string): { found: Set<number>; share: number } {
  const found = new Set<number>();
  const covered = new Set<number>();
  let share = 0;
  const wanted = text.toLowerCase();
  for (const box of wanted === '' ? [] : boxes) {
    const isMatch = box.name !== null && box.name.toLowerCase().includes(wanted);
    if (isMatch) found.add(box.box);
    if (box.parent_box !== null && covered.has(box.parent_box)) covered.add(box.box);
    else if (isMatch) {
      covered.add(box.box);
      share += box.inclusive_percent ?? 0;
    }
  }
  return { found, share };
}

function pathOf(flame: Flame, box: Box): { name: string; context: string }[] {
  const path: { name: string; context: string }[] = [];
  for (let at: Box | undefined = box; at; at = at.parent_box === null ? undefined : flame.boxes[at.parent_box]) path.unshift({ name: nameOf(at), context: String(at.context ?? '') });
  return path;
}

function select(flame: Flame, box: Box, unit: Unit, isRecording: boolean): void {
  selection.value = {
    title: nameOf(box), kind: box.more > 0 ? 'merged' : 'function', path: pathOf(flame, box), source: '', name: box.name ?? '',
    context: isRecording || box.context === null ? '' : String(box.context),
    facts: [
      ['inclusive', `${amount(box.inclusive, unit)}, ${percent(box.inclusive_percent)}%`],
      ...(box.exclusive === null ? [] : [['exclusive', `${amount(box.exclusive, unit)}, ${percent(box.exclusive_percent)}%`] as const]),
      ...(box.calls > 0 ? [['calls', count(box.calls)] as const] : []),
    ],
  };
}

/** The box in a direction: along the level, or to the box that it continues and back. */
function neighbour(flame: Flame, part: Part, box: Box, key: string): Box {
  const boxes = boxesOf(flame, part);
  if (key === 'ArrowLeft' || key === 'ArrowRight') {
    const level = boxes.filter((other) => other.level === box.level).sort((a, b) => a.x - b.x);
    return level[level.indexOf(box) + (key === 'ArrowLeft' ? -1 : 1)] ?? box;
  }
  const wanted = box.level + (key === 'ArrowDown' ? 1 : -1);
  const parent = box.parent_box === null ? undefined : flame.boxes[box.parent_box];
  if (parent?.level === wanted) return parent;
  return boxes.find((other) => other.parent_box === box.box && other.level === wanted) ?? box;
}

function Table({ flame, box, unit, onSelect }: { flame: Flame; box: Box | undefined; unit: Unit; onSelect: (box: Box) => void }): JSX.Element {
  const rows = flame.boxes.filter((other) => other.parent_box === (box?.box ?? null)).slice(0, 50);
  return (
    <table class="boxes" aria-label={box ? `Boxes that continue ${clean(nameOf(box))}` : 'Boxes of the first level'}>
      <thead><tr><th scope="col">Incl %</th><th scope="col">Inclusive</th><th scope="col">{box ? 'Below ' : ''}{box ? <Name name={nameOf(box)} isShort /> : 'Name'}</th></tr></thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.box} data-box={row.box}>
            <td class="number" data-column="inclusive_percent" data-value={row.inclusive_percent ?? ''}>{percent(row.inclusive_percent)}</td>
            <td class="number" data-column="inclusive" data-value={row.inclusive}>{amount(row.inclusive, unit)}</td>
            <td data-column="name" data-value={row.name ?? ''}><Swatch kind={row.kind} /> {row.name === null ? <span class="quiet">{nameOf(row)}</span> : <button type="button" class="link" onClick={() => onSelect(row)}><Name name={row.name} /></button>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface Ancestor {
  readonly name: string;
  readonly context: string;
}

/** The way from the entry points to the root of the picture, without it: from the picture of all, or what the program says of the context. */
function useAncestors(state: State, info: Info | null): Ancestor[] {
  const all = useAnswer<Flame>(info ? query({ ...state, root: '' }, info) : null).data;
  const box = all?.boxes.find((other) => String(other.context) === state.root);
  const isUnseen = all !== null && box === undefined && info?.kind !== 'recording';
  const said = useAnswer<{ path: readonly { context: number; name: string }[] }>(isUnseen ? { command: 'context', store: state.store, options: [], operand: state.root } : null).data;
  if (box && all) return pathOf(all, box).slice(0, -1);
  return (said?.path ?? []).slice(1, -1).map((step) => ({ name: step.name, context: String(step.context) }));
}

/** A box over the whole width for each ancestor: a click shows what is below it. */
function Ancestors({ list }: { list: readonly Ancestor[] }): JSX.Element {
  return (
    <ol class="ancestors" aria-label="Callers of what is shown">
      <li><button type="button" onClick={() => go({ root: '' })}>all</button></li>
      {list.map((step) => <li key={step.context}><button type="button" title={clean(step.name)} onClick={() => go({ root: step.context })}>{clean(step.name)}</button></li>)}
    </ol>
  );
}

/** The colours of the kinds of functions that there are. */
function Legend({ flame }: { flame: Flame }): JSX.Element {
  const kinds = [...new Set(flame.boxes.map((box) => box.kind))].filter((kind) => kind !== null).sort();
  return <ul class="legend">{kinds.map((kind) => <li key={kind}><Swatch kind={kind} /> {KIND_TITLES[kind] ?? kind}</li>)}</ul>;
}

/** The root of the zoom in a picture that is there: a box by its number, or the first one of a context. */
function zoomedOf(flame: Flame | null, root: string): Box | undefined {
  const number = /^b(\d+)$/.exec(root)?.[1];
  const box = number === undefined ? flame?.boxes.find((other) => root !== '' && String(other.context) === root) : flame?.boxes[Number(number)];
  return box && box.width > 0 ? box : undefined;
}

function useFlame(state: State, info: Info | null): { answer: Answer<Flame>; zoomed: Box | undefined } {
  const whole = useAnswer<Flame>(isReport && info ? query({ ...state, root: '' }, info) : null);
  const there = boxesInside === null ? whole.data : (boxesInside as Flame);
  const zoomed = zoomedOf(there, state.root);
  const isThere = there !== null && (zoomed !== undefined || state.root === '' || info === null);
  const asked = useAnswer<Flame>(isThere || info === null ? null : query(state, info));
  return { answer: isThere ? { data: there, error: null, isLoading: false } : asked, zoomed };
}

/** `info` is null in a file of `lode flame`: nothing else can be asked. */
export function OneFlame({ state, info }: { state: State; info: Info | null }): JSX.Element {
  const { answer, zoomed } = useFlame(state, info);
  const flame = answer.data;
  const part: Part = useMemo(() => (zoomed ? { x: zoomed.x, width: zoomed.width } : ALL), [zoomed]);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [number, setNumber] = useState(-1);
  const [tip, setTip] = useState<{ x: number; y: number; box: Box } | null>(null);
  const [size, setSize] = useState(0);
  const isRecording = flame?.total_ns !== undefined;
  const unit: Unit = isRecording ? 'nanoseconds' : unitOf(flame?.metric ?? '');
  const { found, share } = useMemo(() => matchesOf(flame?.boxes ?? [], state.search), [flame, state.search]);
  const selected = flame?.boxes[number];
  const way = wayOf(state);
  const isZoomed = zoomed !== undefined || (way.kind === 'down' && /^\d+$/.test(state.root) && info !== null);
  // In a part of a picture, they are still there.
  const callers = useAncestors(state, isZoomed && zoomed === undefined ? info : null);
  // A line is drawn as the function or loop that it is in.
  const ancestors = callers[callers.length - 1]?.name === flame?.boxes[0]?.name ? callers.slice(0, -1) : callers;
  const up = (): void => {
    if (zoomed) go({ root: zoomed.parent_box === null ? '' : `b${String(zoomed.parent_box)}` });
    else go(isZoomed ? { root: ancestors[ancestors.length - 1]?.context ?? '' } : { way: '', root: '' });
  };
  useEffect(() => setNumber(-1), [flame]);
  // It may be of a box that is not there any more.
  useEffect(() => setTip(null), [flame, part, number, state.search]);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const watch = new ResizeObserver(() => setSize(element.clientWidth));
    watch.observe(element);
    return () => watch.disconnect();
  }, [flame === null]);
  useEffect(() => {
    if (canvas.current && flame) draw(canvas.current, flame, part, found, state.search !== '', selected);
  }, [flame, part, found, number, size, state.search, document.documentElement.dataset['theme']]);
  const choose = (box: Box | undefined): void => {
    setNumber(box?.box ?? -1);
    if (flame && box) select(flame, box, unit, isRecording);
  };
  const root = (box: Box | undefined): void => {
    if (box?.name == null) return;
    if (isReport) go({ root: `b${String(box.box)}` });
    else if (way.kind === 'down' && box.context !== null) go({ root: String(box.context) });
    else go({ way: `callers:${box.name}`, root: '' });
  };
  const at = (event: MouseEvent): Box | undefined => {
    const area = canvas.current?.getBoundingClientRect();
    if (!area || !flame) return undefined;
    const x = part.x + (part.width * (event.clientX - area.left)) / area.width, level = Math.floor((event.clientY - area.top) / ROW);
    return flame.boxes.find((box) => box.level === level && x >= box.x && x < box.x + box.width);
  };
  const next = (step: number): void => {
    const list = flame ? boxesOf(flame, part).map((box) => box.box).filter((box) => found.has(box)) : [];
    choose(flame?.boxes[list[(list.indexOf(number) + step + list.length) % list.length] ?? -1]);
  };
  const isMerged = state.group === 'merge';
  const around = (): void => {
    if (selected?.name != null) go({ way: `callers:${selected.name}`, root: '' });
  };
  const hide = (): void => {
    if (selected?.name != null) go({ filters: [...state.filters, `hide:${selected.name}`] });
  };
  useKeys([
    ...(info === null ? [] : [
      { key: 'i', label: 'i', title: 'top-down or bottom-up', run: () => go({ way: way.kind === 'down' ? 'up' : '', root: '' }) },
      { key: 'f', label: 'f', title: 'callers and callees of the selected function', run: around },
      { key: 'x', label: 'x', title: 'hide the selected function everywhere', run: hide },
      { key: 'r', label: 'r', title: 'merge recursive calls, or not', run: () => go({ group: isMerged ? '' : 'merge' }) },
    ]),
    { key: 'n', label: 'n', title: 'next match', run: () => next(1) },
    { key: 'N', label: 'Shift+N', title: 'previous match', run: () => next(-1) },
    { key: 'u', label: 'u', title: 'one up: what calls the root of the picture', run: up },
    { key: '0', label: '0', title: 'show all', run: () => go({ way: '', root: '' }) },
    { label: '← → ↑ ↓', title: 'another box', run: () => undefined },
    { label: 'Enter or double click', title: info === null || way.kind === 'down' ? 'zoom to the box' : 'callers and callees of the box', run: () => undefined },
  ]);
  const onKey = (event: KeyboardEvent): void => {
    if (!flame || flame.boxes.length === 0) return;
    if (event.key === 'Enter') root(selected);
    else if (!/^Arrow/.test(event.key)) return;
    else choose(selected ? neighbour(flame, part, selected, event.key) : flame.boxes[0]);
    event.preventDefault();
  };
  const total = flame?.total ?? flame?.total_ns ?? 0;
  const first = flame?.boxes[0];
  const label = flame ? `${count(flame.boxes.length)} boxes in ${count(flame.levels)} levels of ${amount(total, unit)}${first ? `; the widest is ${clean(nameOf(first))}, ${percent(first.inclusive_percent)} %` : ''}${zoomed ? `; ${clean(nameOf(zoomed))} is the root` : ''}` : '';
  return (
    <>
      <div class="toolbar">
        {info === null ? null : (
          <div class="segments" role="group" aria-label="Direction">
            <button type="button" aria-pressed={way.kind === 'down'} onClick={() => go({ way: '', root: '' })}>top-down</button>
            <button type="button" aria-pressed={way.kind === 'up'} onClick={() => go({ way: 'up', root: '' })}>bottom-up</button>
          </div>
        )}
        {way.name !== '' || isZoomed ? (
          <button type="button" class="chip" title="Show all" onClick={() => go({ way: '', root: '' })}>{way.kind === 'around' && !zoomed ? 'around' : 'from'} {clean(zoomed ? nameOf(zoomed) : way.name !== '' ? way.name : first ? nameOf(first) : '')} <span aria-hidden="true">×</span></button>
        ) : null}
        {isZoomed ? <button type="button" title="What calls the root of the picture (u)" onClick={up}>one up</button> : null}
        {info === null ? null : <button type="button" aria-pressed={isMerged} title="A function that calls itself is one box with its inner calls (r)" onClick={() => go({ group: isMerged ? '' : 'merge' })}>merge recursion</button>}
        {otherOf(state) !== null ? <button type="button" title="What changed to another store" onClick={() => go({ group: 'compare', way: '', root: '', context: '', name: '' })}>compare</button> : null}
        {selected?.name != null ? (
          <div class="segments" role="group" aria-label="The selected function">
            <button type="button" title="Only what it calls (Enter)" onClick={() => root(selected)}>focus</button>
            {info === null ? null : <button type="button" title="Callers above, callees below (f)" onClick={around}>callers and callees</button>}
            {info === null ? null : <button type="button" title="Everywhere; the filter stands in the header (x)" onClick={hide}>hide</button>}
          </div>
        ) : null}
        {state.search !== '' ? <span class="matches" role="status">matches: {percent(share)} % in {count(found.size)} {found.size === 1 ? 'box' : 'boxes'}</span> : null}
        <span class="space" />
        {flame && flame.boxes.length > 0 ? <button type="button" title="This picture as a drawing; 'save picture' saves its pixels" onClick={() => canvas.current && save(`${fileName('lode', 'flame')}.svg`, new Blob([svgOf(flame, document.title, part, unit, coloursOf(canvas.current))], { type: 'image/svg+xml' }))}>save SVG</button> : null}
        {flame ? <span class="quiet">{count(flame.boxes.length)} boxes{flame.merged_rows > 0 ? `, ${count(flame.merged_rows)} narrower` : ''}{flame.is_truncated ? ', cut' : ''}</span> : null}
      </div>
      {flame === null || answer.error ? <Problem answer={answer} /> : (
        <div class="flame">
          {isZoomed && !zoomed ? <Ancestors list={ancestors} /> : null}
          <div class="picture">
          <canvas
            ref={canvas} role="img" aria-label={label} tabIndex={0} style={{ height: `${String(Math.max(1, flame.levels) * ROW)}px` }} onKeyDown={onKey}
            onClick={(event) => choose(at(event))} onDblClick={(event) => root(at(event))} onMouseLeave={() => setTip(null)}
            onMouseMove={(event) => {
              const box = at(event);
              setTip(box ? { x: event.offsetX, y: event.offsetY, box } : null);
            }}
          />
          {tip ? (
            <div class="tip" role="tooltip" style={{ left: `${String(Math.min(tip.x + 14, (canvas.current?.clientWidth ?? 400) - 320))}px`, top: `${String(tip.y + 18)}px` }}>
              <b>{clean(nameOf(tip.box))}</b><br />{amount(tip.box.inclusive, unit)}, {percent(tip.box.inclusive_percent)} %{tip.box.exclusive === null ? '' : `; itself ${amount(tip.box.exclusive, unit)}`}
            </div>
          ) : null}
          </div>
          <p class="hidden" role="status">{selected ? `${clean(nameOf(selected))}, ${percent(selected.inclusive_percent)} %` : ''}</p>
          <Legend flame={flame} />
          <Table flame={flame} box={selected} unit={unit} onSelect={(box) => choose(box)} />
        </div>
      )}
    </>
  );
}

/** The picture alone: for a report. */
export function FlamePicture({ state, info }: ViewProps): JSX.Element {
  const answer = useAnswer<Flame>(query(state, info));
  const flame = answer.data;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState(0);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const watch = new ResizeObserver(() => setSize(element.clientWidth));
    watch.observe(element);
    return () => watch.disconnect();
  }, [flame === null]);
  useEffect(() => {
    if (canvas.current && flame) draw(canvas.current, flame, ALL, new Set(), false, undefined);
  }, [flame, size, document.documentElement.dataset['theme']]);
  if (flame === null) return <Problem answer={answer} />;
  const unit: Unit = info.kind === 'recording' ? 'nanoseconds' : unitOf(flame.metric ?? '');
  return (
    <>
      <button type="button" class="flame still" title="Flame" onClick={() => go({ view: 'flame' })}>
        <canvas ref={canvas} role="img" aria-label={`Flame graph of ${amount(flame.total ?? flame.total_ns ?? 0, unit)}, ${count(flame.boxes.length)} boxes`} style={{ height: `${String(Math.max(1, flame.levels) * ROW)}px` }} />
      </button>
      <Legend flame={flame} />
    </>
  );
}

/** With two stores, what changed. */
const isCompared = (state: State): boolean => state.group === 'compare' && otherOf(state) !== null;

function FlameView(props: ViewProps): JSX.Element {
  return isCompared(props.state) ? <CompareFlame {...props} /> : <OneFlame {...props} />;
}

export const flame: View = { key: 'flame', title: 'Flame', fits: () => true, query: (state, info) => (isCompared(state) ? compareTreeQuery(state, info, LEAST) : query(state, info)), Component: FlameView };
