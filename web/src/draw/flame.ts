// SPDX-License-Identifier: BSD-3-Clause
// The picture of a flame graph: pixels, or a drawing.
import { amount, clean, count, percent, tail, type Unit } from '../format';
import { paint, pixel, type Rect } from './boxes';

/** Of the picture that is asked for. */
export const WIDTH = 1600;
export const ROW = 18;
const FONT = '11px ui-monospace, "DejaVu Sans Mono", monospace';
const CHARACTER = 6.65;

export interface Box {
  readonly box: number;
  readonly parent_box: number | null;
  readonly level: number;
  readonly x: number;
  readonly width: number;
  readonly inclusive: number;
  readonly inclusive_percent: number | null;
  readonly exclusive: number | null;
  readonly exclusive_percent: number | null;
  readonly name: string | null;
  readonly kind: string | null;
  readonly more: number;
  readonly context: number | null;
  readonly calls: number;
}

export interface Flame {
  readonly metric?: string;
  readonly total?: number;
  readonly total_ns?: number;
  readonly levels: number;
  readonly origin_level: number;
  readonly merged_rows: number;
  readonly is_truncated: boolean;
  readonly boxes: readonly Box[];
}

export const nameOf = (box: Box): string => box.name ?? `${count(box.more)} more`;

/** What fits into the box, in characters: the end of a dotted name rather than its beginning. */
function labelOf(box: Box, room: number): string {
  if (room < 3) return '';
  const whole = Array.from(clean(nameOf(box)));
  if (whole.length <= room) return whole.join('');
  const name = Array.from(tail(nameOf(box)));
  return name.length <= room ? name.join('') : `${name.slice(0, room - 1).join('')}…`;
}

const fillOf = (box: Box, colours: Colours): string => colours.kinds.get(box.kind ?? '') ?? colours.merged;
const inkOf = (box: Box, colours: Colours): string => (box.kind === 'gpu' ? '#ffffff' : colours.kinds.has(box.kind ?? '') ? '#000000' : colours.text);

interface Colours {
  readonly ground: string;
  readonly text: string;
  readonly accent: string;
  /** Of boxes that stand for several. */
  readonly merged: string;
  readonly kinds: ReadonlyMap<string, string>;
}

export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const value = (name: string): string => style.getPropertyValue(name).trim();
  const names = ['own', 'mpi', 'threads', 'memory', 'io', 'system', 'gpu', 'idle'];
  return { ground: value('--ground'), text: value('--text'), accent: value('--focus'), merged: value('--line'), kinds: new Map(names.map((name) => [name, value(`--kind-${name}`)])) };
}

/** What is shown of the width of the picture. */
export interface Part {
  readonly x: number;
  readonly width: number;
}
export const ALL: Part = { x: 0, width: 1 };

/** A box in a part, cut at its ends; its callers are wider. */
export function within(box: Box, part: Part): { x: number; width: number } {
  const [begin, end] = [(box.x - part.x) / part.width, (box.x + box.width - part.x) / part.width];
  return { x: Math.max(0, begin), width: Math.min(1, end) - Math.max(0, begin) };
}

export const boxesOf = (flame: Flame, part: Part): readonly Box[] => (part === ALL ? flame.boxes : flame.boxes.filter((box) => box.x + box.width > part.x && box.x < part.x + part.width));

export function draw(canvas: HTMLCanvasElement, flame: Flame, part: Part, found: ReadonlySet<number>, isSearching: boolean, selected: Box | undefined): void {
  const ratio = devicePixelRatio;
  const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.max(1, Math.round(flame.levels * ROW * ratio));
  const context = canvas.getContext('2d');
  if (!context) return;
  canvas.width = width;
  canvas.height = height;
  const colours = coloursOf(canvas);
  const image = context.createImageData(width, height);
  const boxes = boxesOf(flame, part);
  const place = (box: Box): { x: number; y: number; width: number } => {
    const at = within(box, part);
    return { x: at.x * width, y: box.level * ROW * ratio, width: at.width * width };
  };
  const rects = function* (): Generator<Rect> {
    for (const box of boxes) {
      const at = place(box);
      const isDim = isSearching && !found.has(box.box);
      yield { x: at.x, y: at.y, width: at.width > 3 ? at.width - 1 : at.width, height: (ROW - 1) * ratio, colour: pixel(fillOf(box, colours), colours.ground, isDim ? 0.25 : 1), isHatched: box.kind === 'idle' };
    }
  };
  paint(new Uint32Array(image.data.buffer), width, height, pixel(colours.ground), rects());
  context.putImageData(image, 0, 0);
  context.scale(ratio, ratio);
  context.font = FONT;
  for (const box of boxes) {
    const at = place(box);
    const label = labelOf(box, Math.floor((at.width / ratio - 8) / CHARACTER));
    if (label === '') continue;
    context.fillStyle = isSearching && !found.has(box.box) ? colours.text : inkOf(box, colours);
    // The function of a sandwich.
    if (flame.origin_level > 0) context.font = box.level === flame.origin_level ? `bold ${FONT}` : FONT;
    context.fillText(label, at.x / ratio + 4, box.level * ROW + 13);
  }
  if (selected && boxes.includes(selected)) {
    const at = place(selected);
    context.strokeStyle = colours.text;
    context.lineWidth = 2;
    context.strokeRect(at.x / ratio + 1, selected.level * ROW + 1, Math.max(2, at.width / ratio - 3), ROW - 3);
  }
}

/** The picture as a drawing, with the numbers of each box as a hint. */
export function svgOf(flame: Flame, title: string, part: Part, unit: Unit, colours: Colours): string {
  const escaped = (text: string): string => clean(text).replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] ?? c);
  const height = Math.max(1, flame.levels) * ROW;
  const boxes = boxesOf(flame, part).map((box) => {
    const at = within(box, part);
    const [x, width] = [at.x * WIDTH, Math.max(0.5, at.width * WIDTH - 1)];
    const label = labelOf(box, Math.floor((width - 8) / CHARACTER));
    return `<g><title>${escaped(nameOf(box))}: ${amount(box.inclusive, unit)}, ${percent(box.inclusive_percent)}%</title><rect x="${x.toFixed(2)}" y="${String(box.level * ROW)}" width="${width.toFixed(2)}" height="${String(ROW - 1)}" fill="${fillOf(box, colours)}"/>${label === '' ? '' : `<text x="${(x + 4).toFixed(2)}" y="${String(box.level * ROW + 13)}" fill="${inkOf(box, colours)}">${escaped(label)}</text>`}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${String(WIDTH)}" height="${String(height)}" viewBox="0 0 ${String(WIDTH)} ${String(height)}" font-family="monospace" font-size="11"><title>${escaped(title)}</title><rect width="100%" height="100%" fill="${colours.ground}"/>${boxes.join('')}</svg>\n`;
}
