// SPDX-License-Identifier: BSD-3-Clause
// Files that the user keeps: tables as CSV, pictures as SVG or PNG.
import { notice } from './state';

/** Hands a file to the browser, which asks where to or puts it into its folder. */
export function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
  notice.value = `Saved ${name}`;
}

/** A name of a file from a title. */
export function fileName(...parts: string[]): string {
  const text = parts.join('-').replace(/[^\w.-]+/g, '-').replace(/^[-.]+|-+$/g, '');
  return text.slice(0, 100) || 'lode';
}

/** A cell as RFC 4180 has it. */
function cell(value: string | number | null | undefined): string {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvOf(titles: readonly string[], rows: Iterable<readonly (string | number | null | undefined)[]>): string {
  const lines = [titles.map(cell).join(',')];
  for (const row of rows) lines.push(row.map(cell).join(','));
  return `${lines.join('\n')}\n`;
}

const STYLES = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'font-family', 'font-size', 'font-weight', 'text-anchor', 'visibility'];

/** A picture of the page as a file of its own: with the colours that the page gives it. */
export function svgText(picture: SVGSVGElement): string {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  const box = picture.getBoundingClientRect();
  const from = [picture, ...picture.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((element, index) => {
    const style = getComputedStyle(from[index] ?? picture);
    for (const name of STYLES) element.setAttribute(name, style.getPropertyValue(name));
    element.removeAttribute('class');
  });
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(Math.round(box.width)));
  copy.setAttribute('height', String(Math.round(box.height)));
  const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  for (const [name, value] of [['width', '100%'], ['height', '100%'], ['fill', getComputedStyle(document.body).backgroundColor]] as const) ground.setAttribute(name, value);
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy);
}

/** All canvases of a part of the page, with the names and marks beside them. */
export function drawn(part: HTMLElement): HTMLCanvasElement | null {
  const ratio = devicePixelRatio;
  const frame = part.getBoundingClientRect();
  const image = document.createElement('canvas');
  image.width = Math.max(1, Math.round(frame.width * ratio));
  image.height = Math.max(1, Math.round(frame.height * ratio));
  const drawing = image.getContext('2d');
  if (!drawing) return null;
  drawing.scale(ratio, ratio);
  drawing.fillStyle = getComputedStyle(document.body).backgroundColor;
  drawing.fillRect(0, 0, frame.width, frame.height);
  drawing.imageSmoothingEnabled = false;
  for (const canvas of part.querySelectorAll('canvas')) {
    const at = canvas.getBoundingClientRect();
    // What is idle is transparent there.
    if (canvas.dataset['idle']) {
      drawing.fillStyle = canvas.dataset['idle'];
      drawing.fillRect(at.left - frame.left, at.top - frame.top, at.width, at.height);
    }
    if (canvas.width > 0 && canvas.height > 0) drawing.drawImage(canvas, at.left - frame.left, at.top - frame.top, at.width, at.height);
  }
  for (const label of part.querySelectorAll<HTMLElement>('.names span, .axis span, .trackname .what')) {
    const at = label.getBoundingClientRect();
    const style = getComputedStyle(label);
    drawing.fillStyle = style.color;
    drawing.font = `${style.fontSize} ${style.fontFamily}`;
    drawing.textBaseline = 'middle';
    drawing.fillText(label.textContent ?? '', at.left - frame.left, (at.top + at.bottom) / 2 - frame.top, at.width + 1);
  }
  return image;
}

const later = (canvas: HTMLCanvasElement): Promise<Blob | null> => new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));

/** Saves every picture of the view: drawings as SVG, what is made of pixels as PNG. Returns how many there are. */
export async function savePictures(base: string): Promise<number> {
  const pictures = [...document.querySelectorAll<SVGSVGElement>('main svg[role=img]')];
  const parts = [...new Set([...document.querySelectorAll<HTMLElement>('main canvas[role=img]')].map((canvas) => canvas.closest<HTMLElement>('.timeplot') ?? canvas.parentElement ?? canvas))];
  const count = pictures.length + parts.length;
  const name = (index: number, ending: string): string => `${base}${count > 1 ? `-${String(index + 1)}` : ''}.${ending}`;
  pictures.forEach((picture, index) => save(name(index, 'svg'), new Blob([svgText(picture)], { type: 'image/svg+xml' })));
  for (const [index, part] of parts.entries()) {
    const image = drawn(part);
    const content = image ? await later(image) : null;
    if (content) save(name(pictures.length + index, 'png'), content);
  }
  return count;
}
