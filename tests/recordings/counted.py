# SPDX-License-Identifier: BSD-3-Clause
"""
How uftrace counts (0.13 and 0.19 alike), so that its reports can be foretold and each difference from happened.py has a
cause:

- Entries push, exits pop; neither depth nor address is compared. A call has the name of its exit.
- A task whose first record is an exit begins with as many nameless calls as that is deep. They count, without time, when
  they end.
- Scheduling events count while calls of the program are open.
- At longjmp, calls are dropped down to the depth of the last setjmp, without being counted; the second return of setjmp is
  counted as a call since the time of the call that was dropped there.
- At exec all calls are dropped, without being counted, and scheduling events up to the new program lie in no call.
- Calls deeper than 1024 are not counted, but are not part of their caller's own time either.
- Calls that are open at the end end with the last perf event of any task, or with their task's last record.
- A library that was loaded later has the names of <basename>.sym if that is of its path, else none. 0.13 cannot read a
  symbol file with sizes: it takes the ELF file, which it does not find by a relative path.
- 0.13 ends at an event that it does not know.

`report --task` adds up own times, without any of that for longjmp and exec, and up to the end of the task. Time off the
processor is from each sched-out to the next sched-in; but pre-emption does not start it, and a task is off from its
beginning on.
"""

import heapq

import happened
import reader
from reader import ENTRY, EVENT, EXIT, LOST

RETURNS_TWICE = ("setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "vfork", "getcontext")
DEPTH = 1024
SIZES_BIT = 12
LAST_EVENT_OF_13 = 100011
FIRST_SCHEDULING_EVENT = 200001
SCHEDULED = (reader.SCHED_IN, reader.SCHED_OUT, reader.SCHED_PREEMPTED)


class _Slot:
    def __init__(self, begin, function, address):
        self.begin, self.function, self.address, self.inner = begin, function, address, 0


class Task:
    """One task, as a report (`is_by_task` false) or as a row of `report --task` has it."""

    def __init__(self, recording, tid, end=0, version=19, is_by_task=False):
        self.recording, self.tid, self.version, self.is_by_task = recording, tid, version, is_by_task
        self.stack, self.rows, self.own = [], {}, 0
        self.nameless = 0
        self.setjmp, self.jumped, self.is_replacing = 0, False, False
        self.off_since, self.idle = recording.task_times.get(tid, 0), 0
        self.functions = 0
        self.last = self.exit = 0
        for is_event, item in self._items():
            (self._event if is_event else self._record)(item)
        self._finish(end)

    def _items(self):
        records = ((record.time, 0, record) for record in self.recording.records(self.tid) if record.kind != LOST)
        events = ((event.time, 1, event) for event in self.recording.perf.get(self.tid, ()))
        for _, is_event, item in heapq.merge(records, events, key=lambda item: item[:2]):
            yield is_event, item

    def _finish(self, end):
        while self.stack:
            self._pop(self.exit or self.last if self.is_by_task else end or self.last)

    # Events.

    def _event(self, event):
        if event.kind == reader.TASK_EXIT:
            self.exit = event.time
        if event.kind not in SCHEDULED or not self.stack or self.is_replacing:
            return
        if event.kind == reader.SCHED_IN:
            if self.stack[-1].function in (happened.SCHEDULE, happened.PREEMPTED):
                self._pop(event.time)
            if self.off_since:
                self.idle += event.time - self.off_since
                self.off_since = 0
        else:
            is_preempted = event.kind == reader.SCHED_PREEMPTED
            self.stack.append(_Slot(event.time, happened.PREEMPTED if is_preempted else happened.SCHEDULE, 0))
            if not is_preempted:
                self.off_since = event.time

    # Records.

    def _record(self, record):
        if record.kind == EVENT:
            return
        is_first = not self.last
        self.last = record.time
        function = resolve(self.recording, self.tid, record, self.version)
        if is_first and record.kind == EXIT:
            self.nameless = record.depth + 1
        self._jump(function)
        if self.is_replacing:
            self.stack.clear()
            self.nameless, self.is_replacing = 0, False
        if record.kind == ENTRY:
            self._entry(record, function)
        elif self.stack:
            self._pop(record.time, function)
        elif self.nameless:
            self.nameless -= 1
            self._count(function, 0, 0)

    def _entry(self, record, function):
        self.stack.append(_Slot(record.time, function, record.address))
        if self.is_by_task:
            return
        if function.name in RETURNS_TWICE:
            self.setjmp = len(self.stack)
        self.jumped = function.name in happened.JUMPS
        self.is_replacing = function.name.startswith("exec")

    def _jump(self, function):
        if self.jumped:
            del self.stack[self.setjmp:]
            self.jumped = False

    def _pop(self, time, function=None):
        level = len(self.stack)
        slot = self.stack.pop()
        duration = time - slot.begin
        if self.stack:
            self.stack[-1].inner += duration
        is_recursive = any(other.address == slot.address != 0 for other in self.stack)
        self._count(function or slot.function, duration, min(slot.inner, duration), is_recursive, level)

    def _count(self, function, duration, inner, is_recursive=False, level=1):
        self.functions += 1
        is_off = function in (happened.SCHEDULE, happened.PREEMPTED)
        self.own += duration - inner
        if level > DEPTH:
            return
        name = function.name or f"<{function.offset:x}>"
        calls, total, own = self.rows.get(name, (0, 0, 0))
        total += 0 if is_recursive and not is_off else duration
        self.rows[name] = (calls + 1, total, own + duration - inner)


def resolve(recording, tid, record, version):
    function = recording.resolve(tid, record.time, record.address)
    session = recording.session(tid, record.time)
    if not function.symbol or any(function.module == module for _, _, module, _ in session.maps):
        return function
    path = recording.folder / (function.module.rsplit("/", 1)[-1] + ".sym")
    is_readable = version > 13 or not recording.features >> SIZES_BIT & 1
    if is_readable and reader.Symbols(path).path_name == function.module:
        return function
    return reader.Function("", record.address, "")


def ends(recording, version):
    """Whether this version ends without a report."""
    known = LAST_EVENT_OF_13 if version == 13 else FIRST_SCHEDULING_EVENT
    return any(record.kind == EVENT and known < record.address < FIRST_SCHEDULING_EVENT
               for tid in recording.tids for record in recording.records(tid))


def report(recording, version):
    """{name: (calls, total, self)} in nanoseconds, as `uftrace report` has it."""
    events = [event.time for tid in recording.tids for event in recording.perf[tid]]
    result = {}
    for tid in [] if ends(recording, version) else recording.tids:
        for name, row in Task(recording, tid, max(events, default=0), version).rows.items():
            result[name] = tuple(map(sum, zip(row, result.get(name, (0, 0, 0)))))
    return result


def report_task(recording, version):
    """{tid: (functions, total, self)} as `uftrace report --task` has it."""
    tids = [] if ends(recording, version) else recording.tids
    tasks = {tid: Task(recording, tid, is_by_task=True) for tid in tids}
    return {tid: (task.functions, task.own, max(0, task.own - task.idle)) for tid, task in tasks.items()}
