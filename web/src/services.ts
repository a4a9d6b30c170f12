// SPDX-License-Identifier: BSD-3-Clause
// Where services stand on their map.

interface Pair {
  readonly caller: string;
  readonly callee: string;
}

/** Names in columns: each is right of its callers, but for calls that close a circle: of a circle, the first name stands first. */
export function layersOf(names: readonly string[], pairs: readonly Pair[]): string[][] {
  const callees = new Map<string, string[]>(names.map((name) => [name, []]));
  const callers = new Map<string, number>(names.map((name) => [name, 0]));
  for (const { caller, callee } of pairs) {
    callees.get(caller)?.push(callee);
    callers.set(callee, (callers.get(callee) ?? 0) + 1);
  }
  const layers: string[][] = [];
  const column = new Map<string, number>();
  const waiting = new Set(names);
  const ready = names.filter((name) => callers.get(name) === 0);
  while (waiting.size > 0) {
    const name = ready.pop() ?? [...waiting][0] ?? '';
    if (!waiting.delete(name)) continue;
    const at = column.get(name) ?? 0;
    for (const callee of callees.get(name) ?? []) {
      if (!waiting.has(callee)) continue;
      column.set(callee, Math.max(column.get(callee) ?? 0, at + 1));
      callers.set(callee, (callers.get(callee) ?? 0) - 1);
      if (callers.get(callee) === 0) ready.push(callee);
    }
  }
  for (const name of names) (layers[column.get(name) ?? 0] ??= []).push(name);
  return Array.from(layers, (layer) => layer ?? []);
}
