// SPDX-License-Identifier: BSD-3-Clause
// Light or dark: as the system has it, unless a person says otherwise.
import { signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
const KEY = 'lode.theme';
export const theme = signal<Theme>('system');

function show(): void {
  if (theme.value === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme.value;
}

export function setTheme(next: Theme): void {
  theme.value = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Files may have no storage.
  }
  show();
}

export function nextTheme(): void {
  const isDark = theme.value === 'dark' || (theme.value === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  setTheme(isDark ? 'light' : 'dark');
}

export function startTheme(): void {
  let kept: string | null = null;
  try {
    kept = localStorage.getItem(KEY);
  } catch {
    // Then the theme is that of the system.
  }
  if (kept === 'light' || kept === 'dark') theme.value = kept;
  show();
}
