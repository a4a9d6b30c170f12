# SPDX-License-Identifier: BSD-3-Clause
"""
What happened, as far as a recording shows it: the records of a task with depth and address heeded, in balanced calls.
This is what the library promises; the rules are written down here a second time.

- A call ends at its exit. If a record shows that it must have ended without one (an entry at its depth or above it, an
  exit further out), it ends at the time of that record.
- An exit without a call is left out; so are the exits of a forked process from calls that its parent made.
- longjmp leaves all calls up to the one that called setjmp, at the time of the next record. If that is the exit of another
  function than is open at its depth, it is the second return of setjmp, and no call.
- exec replaces the program: calls that are open end at the first record of the new image.
- Lost records: calls that the next record proves to be open go on, the others end at the last time before the loss.
- Time does not go backwards: it is held.
- Time off the processor is a call of `linux:schedule` or `linux:schedule (pre-empted)` if it lies in a call, and the
  thread comes back.
- Calls that are open at the end end when the task does, if that is known, else at its last record or scheduling event.
- A depth of more than 1023 is restored, together with the address that it spilled into.
"""

import operator
from collections import defaultdict
from typing import NamedTuple

import reader
from reader import ENTRY, EVENT, EXIT, LOST, Function


def label(function):
    """What a function is called that may have no name: an address in a module, or somewhere."""
    if function.symbol:
        return function.symbol
    module = function.module.rsplit("/", 1)[-1]
    return f"[{module}+{function.offset:#x}]" if module else f"<{function.offset:x}>"


SCHEDULE = Function("", 0, "linux:schedule")
PREEMPTED = Function("", 1, "linux:schedule (pre-empted)")
JUMPS = ("longjmp", "siglongjmp", "_longjmp", "__longjmp_chk")

ENTER, LEAVE, OUT, IN, POINT, GAP = "enter", "leave", "sched_out", "sched_in", "instant", "lost"


class Happening(NamedTuple):
    """One thing that happened on a track. A repair adds things that no record says: `made`."""
    time: int
    kind: str
    function: Function
    depth: int
    made: bool = False
    record: object = None


class Call(NamedTuple):
    function: Function
    tid: int
    begin: int
    end: int
    inner: int  # time of the calls that it made, and off the processor
    is_recursive: bool  # the same function is open further out


class Row:
    """One function."""

    def __init__(self):
        self.durations = []
        self.total = self.self_time = 0

    def add(self, call):
        duration = call.end - call.begin
        self.durations.append(duration)
        self.self_time += duration - call.inner
        if not call.is_recursive:
            self.total += duration

    @property
    def calls(self):
        return len(self.durations)


class _Frame:
    def __init__(self, function, time, depth):
        self.function, self.begin, self.depth, self.inner = function, time, depth, 0


class Track:
    """The happenings of one task, and its calls."""

    def __init__(self, recording, tid):
        self.recording, self.tid = recording, tid
        self.stack, self.happenings, self.calls, self.repairs = [], [], [], []
        self.now = 0
        self.loss = None  # the last time before records were lost
        self.program = None
        self._run()

    def _run(self):
        # Both are in order; of one time, records come first.
        for item in sorted((*self._in_order(), *self._paired_events()), key=operator.attrgetter("time")):
            if isinstance(item, reader.Record):
                self._record(item)
            elif item.kind == reader.TASK_EXIT:
                self._end(max(self.now, item.time))
            elif item.kind in (reader.SCHED_OUT, reader.SCHED_PREEMPTED, reader.SCHED_IN):
                self._scheduled(item)
        self._end(self.now)

    def _end(self, time):
        self.now = time
        self.repairs += [("open", frame.function.name, None) for frame in self.stack]
        self._close_to(-1, time, made=True)

    def _in_order(self):
        """Records with times that do not go back, so that they merge with other events. A loss has that of its neighbour."""
        records = list(self.recording.records(self.tid))
        last = next((record.time for record in records if record.kind != LOST), 0)
        for record in records:
            if record.kind == LOST:
                yield record._replace(time=last)
                continue
            if record.time < last:
                self.repairs.append(("time", "", record.offset))
                record = record._replace(time=last)
            last = record.time
            yield record

    def _paired_events(self):
        """What perf saw, without times off the processor that do not end."""
        events = self.recording.perf.get(self.tid, ())
        for i, event in enumerate(events):
            later = (events[j].kind for j in range(i + 1, len(events)) if events[j].kind not in (reader.TASK_NEW, reader.TASK_NAME))
            is_out = event.kind in (reader.SCHED_OUT, reader.SCHED_PREEMPTED)
            if not is_out or next(later, None) == reader.SCHED_IN:
                yield event

    # Calls.

    def _push(self, function, depth, kind, record=None):
        self.happenings.append(Happening(self.now, kind, function, depth, False, record))
        self.stack.append(_Frame(function, self.now, depth))

    def _pop(self, time, kind=LEAVE, made=False, record=None):
        frame = self.stack.pop()
        time = max(time, frame.begin)
        self.happenings.append(Happening(time, kind, frame.function, frame.depth, made, record))
        is_recursive = any(other.function == frame.function for other in self.stack)
        self.calls.append(Call(frame.function, self.tid, frame.begin, time, frame.inner, is_recursive))
        if self.stack:
            self.stack[-1].inner += time - frame.begin

    def _close_to(self, depth, time, made):
        """Ends all calls that are deeper."""
        while self.stack and self.stack[-1].depth > depth:
            is_out = self.stack[-1].function in (SCHEDULE, PREEMPTED)
            self._pop(time, IN if is_out else LEAVE, made)

    def _scheduled(self, event):
        is_out = self.stack and self.stack[-1].function in (SCHEDULE, PREEMPTED)
        self.now = max(self.now, event.time)
        if event.kind == reader.SCHED_IN:
            if is_out:
                self._pop(self.now, IN)
        elif self.stack and not is_out:
            state = PREEMPTED if event.kind == reader.SCHED_PREEMPTED else SCHEDULE
            self._push(state, self.stack[-1].depth + 1, OUT)

    def _record(self, record):
        if record.kind == LOST:
            self.now = self.loss = max(self.now, record.time)
            self.happenings.append(Happening(self.now, GAP, None, 0, False, record))
            return
        self.now = max(self.now, record.time)
        if record.kind == EVENT:
            self.happenings.append(Happening(self.now, POINT, None, 0, False, record))
            return
        if self.stack and self.stack[-1].function in (SCHEDULE, PREEMPTED):
            self.repairs.append(("schedule", "", record.offset))
            self._pop(self.now, IN, made=True)
        depth, address = self._restored(record)
        function = self.recording.resolve(self.tid, record.time, address)
        self._replaced(record)
        if self.loss is not None:
            self._after_loss(record.kind, depth, function)
        if record.kind == ENTRY:
            self._enter(function, depth, record)
        else:
            self._leave(function, depth, record)

    def _restored(self, record):
        """Depth and address before the former overflowed into the latter."""
        depth, address = record.depth, record.address
        if self.recording.max_stack > 1024:
            expected = self.stack[-1].depth + (record.kind == ENTRY) if self.stack else 0
            wraps = max(0, (expected - depth + 512) // 1024)
            depth, address = depth + 1024 * wraps, address - wraps
        return depth, address

    def _replaced(self, record):
        """exec: nothing of the old program is open any more."""
        session = self.recording.session(self.tid, record.time)
        program = (session.time, session.program) if session else None
        if self.program not in (None, program) and self.stack:
            self.repairs.append(("replaced", self.stack[-1].function.name, record.offset))
            self._close_to(-1, self.now, made=True)
        self.program = program

    def _after_loss(self, kind, depth, function):
        if kind == EXIT and any(frame.depth == depth and frame.function == function for frame in self.stack):
            depth += 1
        self._close_to(depth - 1, self.loss, made=True)
        self.loss = None

    def _enter(self, function, depth, record):
        if self.stack and self.stack[-1].depth >= depth:
            kind = "jump" if self._has_jumped(depth - 1) else "missing"
            self.repairs.append((kind, self.stack[-1].function.name, record.offset))
        self._close_to(depth - 1, self.now, made=True)
        self._push(function, depth, ENTER, record)

    def _leave(self, function, depth, record):
        has_jumped = self._has_jumped(depth)
        here = [frame for frame in self.stack if frame.depth == depth] if has_jumped else []
        if here and here[-1].function != function:
            # setjmp returns once more: the calls since then are gone, and its own ended long ago.
            self.repairs.append(("jump", self.stack[-1].function.name, record.offset))
            self._close_to(depth - 1, self.now, made=True)
            return
        if self.stack and self.stack[-1].depth > depth:
            kind = "jump" if has_jumped else "missing"
            self.repairs.append((kind, self.stack[-1].function.name, record.offset))
            self._close_to(depth, self.now, made=True)
        if not self.stack or self.stack[-1].depth != depth:
            self.repairs.append(("orphan", function.name, record.offset))
            return
        if self.stack[-1].function != function:
            self.repairs.append(("other", function.name, record.offset))
        self._pop(self.now, LEAVE, record=record)

    def _has_jumped(self, depth):
        """Whether one of the calls that are deeper is a jump."""
        if not self.stack or self.stack[-1].depth <= depth:
            return False  # depths grow from call to call
        return any(frame.depth > depth and frame.function.name in JUMPS for frame in self.stack)


def tracks(recording):
    return [Track(recording, tid) for tid in recording.tids]


def rows(found):
    """The rows of functions over all calls of tracks."""
    result = defaultdict(Row)
    for track in found:
        for call in track.calls:
            result[call.function].add(call)
    return dict(result)


def by_task(found):
    """{tid: (calls, times off the processor, total of the outermost calls, time off)}."""
    result = {}
    for track in found:
        level = total = off = begin = out = 0
        counts = {ENTER: 0, OUT: 0}
        for item in track.happenings:
            if item.kind in counts:
                counts[item.kind] += 1
                begin, out = item.time if level == 0 else begin, item.time
                level += 1
            elif item.kind in (LEAVE, IN):
                level -= 1
                total += item.time - begin if level == 0 else 0
                off += item.time - out if item.kind == IN else 0
        result[track.tid] = (counts[ENTER], counts[OUT], total, off)
    return result


def by_name(found):
    """(calls, total, self) by the name that uftrace prints."""
    result = defaultdict(lambda: [0, 0, 0])
    for function, row in rows(found).items():
        name = function.name or f"<{function.offset:x}>"
        for i, number in enumerate((row.calls, row.total, row.self_time)):
            result[name][i] += number
    return {name: tuple(numbers) for name, numbers in result.items()}


def by_path(found):
    """{path of names: (calls, total)}, of calls and times off the processor."""
    result = defaultdict(lambda: [0, 0])
    for track in found:
        path, begins = [], []
        for item in track.happenings:
            if item.kind in (ENTER, OUT):
                path.append(item.function.name or f"<{item.function.offset:x}>")
                begins.append(item.time)
            elif item.kind in (LEAVE, IN):
                row = result[tuple(path)]
                row[0] += 1
                row[1] += item.time - begins.pop()
                path.pop()
    return {path: tuple(row) for path, row in result.items()}
