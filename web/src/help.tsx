// SPDX-License-Identifier: BSD-3-Clause
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { bindings, type Binding } from './keys';
import { isReport } from './report';

/** A modal dialog: the browser keeps the focus in it and gives it back. */
export function Modal({ label, onClose, children }: { label: string; onClose: () => void; children: ComponentChildren }): JSX.Element {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    box.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog ref={box} aria-label={label} onClose={onClose} onClick={(event) => event.target === event.currentTarget && event.currentTarget.close()}>
      {children}
    </dialog>
  );
}

const TABLES: readonly (readonly [string, string])[] = [
  ['↑ ↓ PgUp PgDn Home End', 'move in a table'],
  ['→ ←', 'open, close or leave a row of a tree'],
  ['Enter', 'follow a row: callers of a function, callees in a tree'],
  ['Tab, Shift+Tab', 'between the parts of the page'],
];

export function Help({ keys, onClose }: { keys: readonly Binding[]; onClose: () => void }): JSX.Element {
  const seen = new Set<string>();
  const all = bindings().filter((binding) => !seen.has(binding.label) && seen.add(binding.label));
  const own = all.filter((binding) => !keys.includes(binding));
  const rows = (list: readonly (readonly [string, string])[]): JSX.Element[] => list.map(([label, title]) => (
    <tr key={label}><th scope="row"><kbd>{label}</kbd></th><td>{title}</td></tr>
  ));
  const of = (list: readonly Binding[]): (readonly [string, string])[] => list.map((binding) => [binding.label, binding.title] as const);
  return (
    <Modal label="Help" onClose={onClose}>
      <h2>Keys</h2>
      <div class="columns">
        <table><caption>Everywhere</caption><tbody>{rows(of(keys.filter((binding) => all.includes(binding))))}</tbody></table>
        <div>
          <table><caption>Tables</caption><tbody>{rows(TABLES)}</tbody></table>
          {own.length > 0 ? <table><caption>This view</caption><tbody>{rows(of(own))}</tbody></table> : null}
        </div>
      </div>
      <form method="dialog"><button type="submit">Close</button></form>
      <p class="quiet">Lode {LODE_VERSION}{isReport ? null : <> · <a href="licences.txt" target="_blank" rel="noopener noreferrer">licences of the page</a></>}</p>
    </Modal>
  );
}
