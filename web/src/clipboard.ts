// SPDX-License-Identifier: BSD-3-Clause
import { notice } from './state';

/** Copies text and says so; pages that are not secure contexts have the old way only. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notice.value = `Copied ${what}`;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const isDone = document.execCommand('copy');
    area.remove();
    notice.value = isDone ? `Copied ${what}` : `Could not copy ${what}`;
  }
}
