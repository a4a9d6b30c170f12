// SPDX-License-Identifier: BSD-3-Clause
// One request from the events of `lode replay` and the steps of `lode search --critical-path`: calls with their callers on all tracks.

export interface Argument {
  readonly name: string | null;
  readonly value: unknown;
  readonly text: string;
}

export interface Event {
  readonly time_ns: string;
  readonly track: number | null;
  readonly kind: string;
  readonly instant: string | null;
  readonly depth: number;
  readonly duration_ns: number | null;
  readonly name: string;
  readonly values: string | null;
  readonly arguments: readonly Argument[];
  readonly module: string | null;
  readonly failed: boolean;
  readonly moved: boolean;
  readonly made: boolean;
}

export interface Step {
  readonly begin_ns: number;
  readonly duration_ns: number;
  readonly track: number | null;
  readonly name: string;
}


/** An exception, and what caused it. */
export interface Exception {
  readonly title: string;
  readonly isCause: boolean;
  readonly frames: readonly string[];
}

export interface Interval {
  readonly begin: number;
  readonly duration: number;
}

export interface Call {
  readonly name: string;
  readonly service: string | null;
  readonly track: number;
  /** 0: the main track; others are beside it. */
  readonly lane: number;
  readonly parent: Call | null;
  /** Callers, of all tracks. */
  readonly depth: number;
  readonly begin: number;
  duration: number;
  hasFailed: boolean;
  /** A repair of clocks moved it. */
  readonly isMoved: boolean;
  /** Its end was not recorded. */
  isOpen: boolean;
  readonly children: Call[];
  readonly facts: readonly (readonly [name: string, text: string])[];
  readonly attributes: (readonly [name: string, text: string])[];
  readonly moments: { readonly time: number; readonly name: string; readonly text: string; readonly request: string }[];
  readonly exceptions: Exception[];
  /** When it is on the critical path, outside of calls that it waits for. */
  readonly path: Interval[];
}

/** An exception comes as class, message, frames (at, method, file, line), cause, message, frames, and so on, as `lode replay` prints it. */
export function exceptionsOf(parts: readonly Argument[]): Exception[] {
  const found: { title: string; isCause: boolean; frames: string[] }[] = [];
  for (const { name, value } of parts) {
    const text = value === null || value === undefined ? '' : String(value as string | number);
    const last = found[found.length - 1];
    const frames = last?.frames ?? [];
    const end = frames.length - 1;
    const frame = frames[end] ?? '';
    if (name === 'class' || name === 'cause') found.push({ title: text, isCause: name === 'cause', frames: [] });
    else if (name === 'at') frames.push(text);
    else if (last === undefined || text === '') continue;
    else if (name === 'message') last.title += `: ${text}`;
    else if (name === 'method') frames[end] = frame === '' ? text : `${frame}.${text}`;
    else if (name === 'file') frames[end] = `${frame}(${text})`;
    else if (name === 'line' && Number(text) > 0 && frame.endsWith(')')) frames[end] = `${frame.slice(0, -1)}:${text})`;
  }
  return found;
}

const textOf = (event: Event, name: string): string => event.arguments.find((argument) => argument.name === name)?.text.replace(/^"|"$/g, '') ?? '';

/** What happens in a call, but for its callees. */
function note(call: Call, event: Event, time: number): void {
  if (event.instant === 'exception') call.exceptions.push(...exceptionsOf(event.arguments));
  if (event.instant === 'attribute') call.attributes.push([event.name, event.values ?? '']);
  else call.moments.push({ time, name: event.instant === 'exception' ? (call.exceptions[call.exceptions.length - 1]?.title ?? event.name) : event.name, text: event.instant === 'exception' ? '' : (event.values ?? ''), request: event.name === 'link' ? textOf(event, 'trace') : '' });
}

/** Callers first, then their callees by begin. */
function inOrder(roots: readonly Call[]): Call[] {
  const found: Call[] = [];
  const waiting = [...roots].reverse();
  for (let call = waiting.pop(); call; call = waiting.pop()) {
    found.push(call);
    waiting.push(...[...call.children].reverse());
  }
  return found;
}

/** Calls of all tracks. What runs beside the main track is below the call that it names as its parent. */
export function readCalls(events: readonly Event[]): Call[] {
  const roots: Call[] = [];
  const stacks = new Map<number, Call[]>();
  const spans = new Map<string, Call>();
  const origin = BigInt(events[0]?.time_ns ?? '0');
  const last = events[events.length - 1];
  const lanes: number[] = [];
  for (const event of events) {
    const time = Number(BigInt(event.time_ns) - origin);
    const track = event.track ?? -1;
    if (!lanes.includes(track)) lanes.push(track);
    const stack = stacks.get(track) ?? [];
    stacks.set(track, stack);
    const inner = stack[stack.length - 1];
    if (event.kind === 'enter') {
      const parent = inner ?? spans.get(textOf(event, 'parent')) ?? null;
      const facts = event.arguments.map(({ name, text }) => [name ?? '', text] as const);
      const call: Call = {
        name: event.name, service: event.module, track, lane: lanes.indexOf(track), parent, depth: parent ? parent.depth + 1 : 0, begin: time, duration: last ? Number(BigInt(last.time_ns) - origin) - time : 0,
        hasFailed: false, isMoved: event.moved, isOpen: true, children: [], facts, attributes: [], moments: [], exceptions: [], path: [],
      };
      (parent?.children ?? roots).push(call);
      stack.push(call);
      const span = textOf(event, 'span');
      if (span !== '') spans.set(span, call);
    } else if (event.kind === 'leave') {
      const call = stack.pop();
      if (!call) continue;
      call.duration = event.duration_ns ?? time - call.begin;
      call.hasFailed = event.failed;
      call.isOpen = event.made;
    } else if (inner) note(inner, event, time);
  }
  return inOrder(roots);
}

/** Puts the steps of the critical path to the calls that they are of: on their track, the innermost one of their name around them. */
export function markPath(calls: readonly Call[], steps: readonly Step[]): void {
  const origin = Math.min(...calls.filter((call) => call.parent === null).map((call) => call.begin));
  for (const call of calls) call.path.length = 0;
  for (const step of steps) {
    const [begin, end] = [origin + step.begin_ns, origin + step.begin_ns + step.duration_ns];
    const around = calls.filter((call) => call.track === step.track && call.name === step.name && call.begin <= begin && call.begin + call.duration >= end);
    const inner = around.reduce<Call | null>((best, call) => (best === null || call.depth > best.depth ? call : best), null);
    inner?.path.push({ begin, duration: step.duration_ns });
  }
}
