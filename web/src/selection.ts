// SPDX-License-Identifier: BSD-3-Clause
// What is selected, for the side pane. The view that shows it knows most about it.
import { signal } from '@preact/signals';

export interface Selection {
  readonly title: string;
  /** "function", "loop", "line", "module", ... */
  readonly kind: string;
  /** From the root to the selection. */
  readonly path: readonly { name: string; context: string }[];
  readonly facts: readonly (readonly [label: string, text: string])[];
  /** What `lode source` shows: a function or FILE:LINE; '' for none. */
  readonly source: string;
  /** The context of a database; '' for none. */
  readonly context: string;
  /** The function; '' for none. */
  readonly name: string;
}

export const selection = signal<Selection | null>(null);
