// SPDX-License-Identifier: BSD-3-Clause
// The keyboard. Commands are bound to letters (KeyboardEvent.key), navigation to positions (KeyboardEvent.code).
import { useEffect, useRef } from 'preact/hooks';

export interface Binding {
  /** A value of KeyboardEvent.key, such as 'c', 'C', '?', 'Escape'. */
  readonly key?: string;
  /** A value of KeyboardEvent.code, such as 'KeyW': the same place on every keyboard. */
  readonly code?: string;
  readonly ctrl?: boolean;
  /** As the help shows it. */
  readonly label: string;
  readonly title: string;
  /** In text fields too. */
  readonly always?: boolean;
  readonly run: (event: KeyboardEvent) => void;
}

const layers: { bindings: readonly Binding[] }[] = [];

/** All bindings, the latest layer first. */
export function bindings(): readonly Binding[] {
  return [...layers].reverse().flatMap((layer) => layer.bindings);
}

/** A field of a dialog that has just been closed keeps the focus until the next frame: keys are not for it. */
function isText(target: EventTarget | null): boolean {
  const isField = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
  return isField && target.closest('dialog:not([open])') === null;
}

function fits(binding: Binding, event: KeyboardEvent): boolean {
  if ((binding.ctrl ?? false) !== (event.ctrlKey || event.metaKey) || event.altKey) return false;
  if (binding.key !== undefined && binding.key === event.key) return true;
  return binding.code !== undefined && !event.shiftKey && binding.code === event.code;
}

export function startKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || document.querySelector('dialog[open]')) return;
    const found = bindings().find((binding) => fits(binding, event) && (binding.always === true || !isText(event.target)));
    if (!found) return;
    event.preventDefault();
    found.run(event);
  });
}

/** Moves the focus past the header: to the table or the picture of the view, if it has one. */
export function focusView(): void {
  const target = document.querySelector<HTMLElement>('main#view :is([role=grid], [role=treegrid], canvas[tabindex])') ?? document.querySelector<HTMLElement>('main#view');
  if (target?.id === 'view') target.tabIndex = -1;
  target?.focus();
}

/** Bindings that hold while a component is on the page. Those of a component shown later go first. */
export function useKeys(own: readonly Binding[]): void {
  const layer = useRef<{ bindings: readonly Binding[] }>({ bindings: own });
  layer.current.bindings = own;
  useEffect(() => {
    const mine = layer.current;
    layers.push(mine);
    return () => {
      layers.splice(layers.indexOf(mine), 1);
    };
  }, []);
}
