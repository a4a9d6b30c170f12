// SPDX-License-Identifier: BSD-3-Clause
// What changed between two stores as a flame graph: `lode compare --tree`. A box is as wide as its gross change, and as dark as its net change.
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useAnswer } from '../api';
import { paint, pixel, type Rect } from '../draw/boxes';
import { amount, clean, count, unitOf, type Unit } from '../format';
import { Name, Problem } from '../parts';
import { go } from '../state';
import type { ViewProps } from '../view';
import { Stores } from './compare';
import { compareTreeQuery, select, type Row, type TreeAnswer } from './compare_tree';

/** Percent; narrower boxes are hard to see. */
export const LEAST = '0.1';
const LINE = 18;
const FONT = '11px ui-monospace, "DejaVu Sans Mono", monospace';
const CHARACTER = 6.65;

export interface Place {
  readonly row: Row;
  /** Fractions of the whole. */
  readonly x: number;
  readonly width: number;
}

/** Rows beside each other below the row that they belong to. Gross changes below a row never exceed its own. */
export function placesOf(rows: readonly Row[], gross: number): Place[] {
  const places: Place[] = [];
  const used = new Map<number | null, number>();
  for (const row of rows) {
    const above = row.parent_row === null ? null : places[row.parent_row];
    const x = used.get(row.parent_row) ?? above?.x ?? 0;
    const width = gross > 0 ? row.gross / gross : 0;
    used.set(row.parent_row, x + width);
    places.push({ row, x, width });
  }
  return places;
}

const signed = (value: number, unit: Unit): string => `${value > 0 ? '+' : ''}${amount(value, unit)}`;

function draw(canvas: HTMLCanvasElement, places: readonly Place[], levels: number, unit: Unit, selected: Place | undefined): void {
  const ratio = devicePixelRatio;
  const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.max(1, Math.round(levels * LINE * ratio));
  const context = canvas.getContext('2d');
  if (!context) return;
  canvas.width = width;
  canvas.height = height;
  const style = getComputedStyle(canvas);
  const [ground = '', text = '', more = '', less = ''] = ['--ground', '--text', '--more', '--less'].map((name) => style.getPropertyValue(name).trim());
  const image = context.createImageData(width, height);
  const rects = function* (): Generator<Rect> {
    for (const { row, x, width: share } of places) {
      const part = row.gross > 0 ? row.difference / row.gross : 0;
      const wide = share * width;
      yield { x: x * width, y: row.depth * LINE * ratio, width: wide > 3 ? wide - 1 : wide, height: (LINE - 1) * ratio, colour: pixel(part > 0 ? more : less, ground, 0.1 + 0.45 * Math.min(1, Math.abs(part))), isHatched: false };
    }
  };
  paint(new Uint32Array(image.data.buffer), width, height, pixel(ground), rects());
  context.putImageData(image, 0, 0);
  context.scale(ratio, ratio);
  context.font = FONT;
  context.fillStyle = text;
  for (const { row, x, width: share } of places) {
    const room = Math.floor((share * canvas.clientWidth - 8) / CHARACTER);
    // The sign stands in words, too.
    const label = Array.from(`${signed(row.difference, unit)} ${clean(row.name)}`);
    if (room >= 3) context.fillText(label.length <= room ? label.join('') : `${label.slice(0, room - 1).join('')}…`, x * canvas.clientWidth + 4, row.depth * LINE + 13);
  }
  if (selected) {
    context.strokeStyle = text;
    context.lineWidth = 2;
    context.strokeRect(selected.x * canvas.clientWidth + 1, selected.row.depth * LINE + 1, Math.max(2, selected.width * canvas.clientWidth - 3), LINE - 3);
  }
}

/** The place in a direction: along the level, up or down. */
function neighbour(places: readonly Place[], at: Place, key: string): Place {
  if (key === 'ArrowLeft' || key === 'ArrowRight') {
    const level = places.filter((other) => other.row.depth === at.row.depth);
    return level[level.indexOf(at) + (key === 'ArrowLeft' ? -1 : 1)] ?? at;
  }
  if (key === 'ArrowUp') return at.row.parent_row === null ? at : (places[at.row.parent_row] ?? at);
  return places.find((other) => other.row.parent_row === at.row.row) ?? at;
}

function Table({ places, at, unit, onSelect }: { places: readonly Place[]; at: Place | undefined; unit: Unit; onSelect: (place: Place) => void }): JSX.Element {
  const rows = places.filter((other) => other.row.parent_row === (at?.row.row ?? null)).slice(0, 50);
  return (
    <table class="boxes" aria-label={at ? `Boxes that continue ${clean(at.row.name)}` : 'Boxes of the first level'}>
      <thead><tr><th scope="col">B − A</th><th scope="col">Gross</th><th scope="col">Name</th></tr></thead>
      <tbody>
        {rows.map((place) => (
          <tr key={place.row.row} data-box={place.row.row}>
            <td class="number" data-column="difference" data-value={place.row.difference}>{signed(place.row.difference, unit)}</td>
            <td class="number" data-column="gross" data-value={place.row.gross}>{amount(place.row.gross, unit)}</td>
            <td data-column="name" data-value={place.row.name}><button type="button" class="link" onClick={() => onSelect(place)}><Name name={place.row.name} /></button></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function CompareFlame({ state, info }: ViewProps): JSX.Element {
  const answer = useAnswer<TreeAnswer>(compareTreeQuery(state, info, LEAST));
  const data = answer.data;
  const places = useMemo(() => placesOf(data?.rows ?? [], data?.gross ?? 0), [data]);
  const levels = places.reduce((most, place) => Math.max(most, place.row.depth + 1), 1);
  const unit = info.kind === 'recording' ? 'nanoseconds' : unitOf(data?.metric ?? '');
  const canvas = useRef<HTMLCanvasElement>(null);
  const [number, setNumber] = useState(-1);
  const [size, setSize] = useState(0);
  const selected = places[number];
  useEffect(() => setNumber(-1), [data]);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const watch = new ResizeObserver(() => setSize(element.clientWidth));
    watch.observe(element);
    return () => watch.disconnect();
  }, [data === null]);
  useEffect(() => {
    if (canvas.current) draw(canvas.current, places, levels, unit, selected);
  }, [places, number, size, document.documentElement.dataset['theme']]);
  const choose = (place: Place | undefined): void => {
    setNumber(place?.row.row ?? -1);
    if (data && place) select(data.rows, place.row, unit);
  };
  const at = (event: MouseEvent): Place | undefined => {
    const area = canvas.current?.getBoundingClientRect();
    if (!area) return undefined;
    const x = (event.clientX - area.left) / area.width, level = Math.floor((event.clientY - area.top) / LINE);
    return places.find((place) => place.row.depth === level && x >= place.x && x < place.x + place.width);
  };
  return (
    <>
      <div class="toolbar">
        <Stores state={state} />
        <button type="button" onClick={() => go({ group: '', share: '', limit: '' })}>one store</button>
        <span class="quiet">width: gross change; <span class="increase">B costs more</span>, <span class="decrease">B costs less</span>; paler: increases and decreases cancel</span>
        <span class="space" />
        {data ? <span class="quiet">{amount(data.base_total, unit)} → {amount(data.new_total, unit)} {clean(data.metric)} · gross change {amount(data.gross, unit)}</span> : null}
      </div>
      {data === null || answer.error ? <Problem answer={answer} /> : places.length === 0 ? <p class="pending">No call path changed by {state.share === '' ? LEAST : state.share} % of the total.</p> : (
        <div class="flame">
          <canvas
            ref={canvas} role="img" tabIndex={0} style={{ height: `${String(levels * LINE)}px` }} onClick={(event) => choose(at(event))}
            aria-label={`${count(places.length)} boxes in ${count(levels)} levels: changes of ${amount(data.gross, unit)} in all`}
            onKeyDown={(event) => {
              if (!/^Arrow/.test(event.key)) return;
              choose(selected ? neighbour(places, selected, event.key) : places[0]);
              event.preventDefault();
            }}
          />
          <Table places={places} at={selected} unit={unit} onSelect={choose} />
        </div>
      )}
    </>
  );
}
