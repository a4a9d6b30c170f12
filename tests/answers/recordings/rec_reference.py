# SPDX-License-Identifier: BSD-3-Clause
"""
What a recording answers, written to be obvious and slow: calls are objects in a forest for each track, every answer is a loop over all
of them, and nothing is packed, hashed by hand or kept from one answer to the next. Input are calls; where they come from is up to
rec_uftrace.py and rec_zorka.py, which read bytes that Lode did not write.
"""

import math
import sys
from collections import defaultdict
from pathlib import Path

import resolve

ROOT = Path(__file__).resolve().parents[3]
sys.path[1:1] = [str(ROOT / "tests" / "recordings"), str(ROOT / "tests" / "cli"), str(ROOT / "tests" / "tools"),
                 str(ROOT / "tests" / "roundtrip")]

PERCENTILE_ERROR = 0.008  # as in lode/calls.h
REAL_ERROR = 1e-9


class Function:
    """A function is the same only if module, offset and symbol are."""

    def __init__(self, symbol, module="", offset=0, raw=None, full=None, simple=None, is_stub=False):
        self.symbol, self.module, self.offset = symbol, module, offset
        self.is_stub = is_stub  # calls of a library function by the module
        self.raw = raw or symbol  # as `--names raw` and `--names full` have it
        self.full = full or self.raw
        self.simple = simple or self.full
        self.key = (module, offset, symbol)
        self.hash = hash(self.key)

    def __eq__(self, other):
        return self is other or (other is not None and self.key == other.key)

    def __hash__(self):
        return self.hash


class Call:
    """A call, or off-CPU time, which is added up as a call is."""

    def __init__(self, function, begin, is_off=False):
        self.function, self.begin, self.end, self.is_off = function, begin, None, is_off
        self.failed, self.inside = False, []
        self.has_loss = False  # records were lost inside: nobody knows how long it took

    @property
    def time(self):
        return self.end - self.begin

    @property
    def own(self):
        return self.end - self.begin - sum([call.end - call.begin for call in self.inside])


class Track:
    """One task or trace: its outermost calls, and what `profiles` says of it besides."""

    def __init__(self, calls, **facts):
        self.calls, self.facts = calls, facts


def walk(calls, above=()):
    """Every call with those that it lies in, the outermost first. Without recursion: recordings are deeper than Python."""
    pending = [(call, above) for call in reversed(calls)]
    while pending:
        call, path = pending.pop()
        yield call, path
        if call.inside:
            inner = path + (call,)
            pending += [(other, inner) for other in reversed(call.inside)]


def all_calls(tracks):
    for track in tracks:
        yield from walk(track.calls)


def total(tracks):
    return sum(call.time for track in tracks for call in track.calls)


# ---- top ----

def quantile(ordered, share):
    """The time that a share of the calls does not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def top(tracks, row_of=lambda function: function):
    """{function: row}; a row has the columns of `lode top`. `row_of` says which functions are one row."""
    found = defaultdict(lambda: {"times": [], "self_ns": 0, "total_ns": 0, "errors": 0})
    for call, path in all_calls(tracks):
        row = found[row_of(call.function)]
        row["times"].append(call.time)
        row["self_ns"] += call.own
        row["errors"] += call.failed
        if all(row_of(outer.function) != row_of(call.function) for outer in path):
            row["total_ns"] += call.time
    everything = sum(row["self_ns"] for row in found.values())
    for row in found.values():
        _describe(row, everything)
    return dict(found)


def _describe(row, everything):
    times = sorted(row.pop("times"))
    mean = math.fsum(times) / len(times)
    row.update(calls=len(times), min_ns=times[0], max_ns=times[-1], mean_ns=mean,
               deviation_ns=math.sqrt(math.fsum((time - mean) ** 2 for time in times) / len(times)),
               p50_ns=quantile(times, 0.50), p95_ns=quantile(times, 0.95), p99_ns=quantile(times, 0.99),
               self_percent=100 * row["self_ns"] / everything if everything else None)


def neighbours(tracks, wanted, is_callers):
    """
    {caller or callee: (calls, total, self)} of functions for which `wanted(function)` holds; the caller of outermost calls is None. A call
    inside another one of the same row adds nothing to its total.
    """
    found = defaultdict(lambda: [0, 0, 0])
    for call, path in all_calls(tracks):
        chain = path + (call,)
        name = _neighbour(chain, len(path), wanted, is_callers)
        if name is None:
            continue
        row = found[name[0]]
        row[0] += 1
        row[1] += 0 if any(_neighbour(chain, i, wanted, is_callers) == name for i in range(len(path))) else call.time
        row[2] += call.own
    return {function: tuple(row) for function, row in found.items()}


def _neighbour(chain, i, wanted, is_callers):
    """The row that a call of a chain counts in, in a tuple since the row may be None; None if it counts in none."""
    caller = chain[i - 1].function if i > 0 else None
    if is_callers:
        return (caller,) if wanted(chain[i].function) else None
    return (chain[i].function,) if caller is not None and wanted(caller) else None


def names_of(function):
    return {function.raw, function.full, function.simple, function.symbol} - {""}


def places_of(function):
    return {function.module, function.module.rsplit("/", 1)[-1]} - {""}


def resolved(tracks, text):
    """The called functions that a typed name means."""
    functions = {call.function for call, _ in all_calls(tracks)}
    return set(resolve.resolve(text, functions, names_of, places_of, lambda function: function.raw))


# ---- tree ----

class Context:
    """A calling context: a function below a context."""

    def __init__(self, function, above):
        self.function, self.above = function, above
        self.calls = self.total = 0
        self.below = {}

    @property
    def own(self):
        return self.total - sum(context.total for context in self.below.values())


def contexts(tracks):
    """The root of the tree, which is no function."""
    root = Context(None, None)
    pending = [(call, root) for track in tracks for call in track.calls]
    while pending:
        call, above = pending.pop()
        if call.function not in above.below:
            above.below[call.function] = Context(call.function, above)
        context = above.below[call.function]
        context.calls += 1
        context.total += call.time
        pending += [(other, context) for other in call.inside]
    return root


def _all_contexts(root):
    """All but the root, those above before those below."""
    pending = list(root.below.values())
    while pending:
        context = pending.pop()
        yield context
        pending += context.below.values()


class Row:
    """A row of `lode tree`, and the rows below it."""

    def __init__(self, function, depth):
        self.function, self.depth = function, depth
        self.members = []  # (context, what it adds to the row)
        self.total = self.own = self.calls = 0
        self.folded, self.below = False, []


def tree(tracks, bottom_up=False, callers=None, focus=None, depth=0, min_percent=0):
    """The outermost rows; None if no function matches the focus, or the name whose callers are asked for."""
    root = contexts(tracks)
    everything = sum(context.total for context in root.below.values())
    name, is_up = callers or focus, bool(callers or bottom_up)
    asked = None if name is None else resolved(tracks, name)
    matches = (lambda function: True) if name is None else lambda function: function in asked
    if callers:
        # Of each function its outermost contexts.
        members = [(context, context.total) for context in _all_contexts(root)
                   if matches(context.function) and all(above.function != context.function for above in _above(context))]
    elif bottom_up:
        members = [(context, context.own) for context in _all_contexts(root) if context.own and matches(context.function)]
    elif focus is None:
        members = [(context, context.total) for context in root.below.values()]
    else:
        members = [(context, context.total) for context in _all_contexts(root)
                   if matches(context.function) and not any(matches(above.function) for above in _above(context))]
    if not members and name is not None:
        return None
    outermost = Row(None, -1)
    pending = [(outermost, members)]
    while pending:
        row, inside = pending.pop()
        rows = _rows(inside, row.depth + 1, is_up)
        row.below = [below for below in rows if not (depth and below.depth >= depth) and below.total >= min_percent / 100 * everything]
        row.folded = len(row.below) < len(rows)
        for below in row.below:
            pending.append((below, _callers(below) if is_up else _callees(below)))
    if callers:
        for row in outermost.below:
            row.own = sum(context.own for context in _all_contexts(root) if context.function == row.function)
    return outermost.below


def _above(context):
    while context.above.function is not None:
        context = context.above
        yield context


def _rows(members, depth, callers):
    """Contexts of one function are one row. A row that has neither time nor calls is none."""
    found = {}
    for context, weight in members:
        if context.function not in found:
            found[context.function] = Row(context.function, depth)
        row = found[context.function]
        row.members.append((context, weight))
        row.total += weight
        row.calls += 0 if callers else context.calls
        row.own += 0 if callers else context.own
    for row in found.values():
        if callers and depth == 0:
            row.own = row.total
    return [row for row in found.values() if row.total or row.calls]


def _callees(row):
    return [(below, below.total) for context, _ in row.members for below in context.below.values()]


def _callers(row):
    return [(context.above, weight) for context, weight in row.members if context.above.function is not None]


# ---- flame graphs ----

def callees(row):
    """The rows below a row of callers: what its contexts call, top-down."""
    center = Row(row.function, 0)
    center.members = row.members
    pending = [center]
    while pending:
        above = pending.pop()
        above.below = _rows(_callees(above), above.depth + 1, False)
        pending += above.below
    return center.below


def merged_tree(tracks):
    """The tree top-down, where calls of a function by itself belong to the row of the outer call."""
    def take(row, contexts):
        for context in contexts:
            row.own += context.own
            same = [below for below in context.below.values() if below.function == row.function]
            yield from ((below, below.total) for below in context.below.values() if below.function != row.function)
            yield from take(row, same)

    sys.setrecursionlimit(20000)
    outermost = _rows([(context, context.total) for context in contexts(tracks).below.values()], 0, False)
    pending = list(outermost)
    while pending:
        row = pending.pop()
        row.own = 0
        row.below = _rows(list(take(row, [context for context, _ in row.members])), row.depth + 1, False)
        pending += row.below
    return outermost


# ---- profiles ----

def profile(track):
    """The columns of `lode profiles` that are numbers."""
    time = sum(call.time for call in track.calls)
    calls = [call for call, _ in walk(track.calls)]
    off = sum(call.time for call in calls if call.is_off)
    return {"total_ns": time, "out_ns": off, "running_ns": time - off, "calls": sum(not call.is_off for call in calls),
            "errors": sum(call.failed for call in calls), **track.facts}


# ---- slices ----

def cut(tracks, begin=None, end=None, min_time=0):
    """
    What of tracks lies in a window. Calls that reach out of it are cut off at its ends; those that are too short, by what of them lies in
    the window, are left out with all that they call, unless records were lost in them. The ends must be moments at which nothing happens.
    """
    return [Track(_cut(track.calls, begin, end, min_time), **track.facts) for track in tracks]


def without_off_cpu(tracks):
    """As if off-CPU time had not been recorded: what is inside it is inside what waits."""
    def lift(calls):
        result = []
        for call in calls:
            inside = lift(call.inside)
            if call.is_off:
                result += inside
                continue
            part = Call(call.function, call.begin)
            part.end, part.failed, part.inside, part.has_loss = call.end, call.failed, inside, call.has_loss
            result.append(part)
        return result

    sys.setrecursionlimit(20000)
    return [Track(lift(track.calls), **track.facts) for track in tracks]


def running(tracks):
    """As if clocks had stopped while threads were off their processors."""
    def clock(intervals):
        return lambda time: time - sum(min(end, time) - begin for begin, end in intervals if begin < time)

    def shift(calls, time):
        for call in calls:
            call.begin, call.end = time(call.begin), time(call.end)
            shift(call.inside, time)

    result = without_off_cpu(tracks)
    for track, old in zip(result, tracks):
        shift(track.calls, clock([(call.begin, call.end) for call, _ in all_calls([old]) if call.is_off]))
    return result


def _cut(calls, begin, end, min_time):
    result = []
    pending = [(call, result) for call in calls]
    while pending:
        call, into = pending.pop()
        first = call.begin if begin is None else max(call.begin, begin)
        last = call.end if end is None else min(call.end, end)
        if (begin is not None and call.end < begin) or (end is not None and call.begin >= end) \
                or (last - first < min_time and not call.has_loss):
            continue
        part = Call(call.function, first, call.is_off)
        part.end, part.failed = last, call.failed and last == call.end
        into.append(part)
        pending += [(other, part.inside) for other in call.inside]
    return result
