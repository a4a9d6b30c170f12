# SPDX-License-Identifier: BSD-3-Clause
"""Replays: that of the program, what happened in the same form, and the lines of two replays against each other."""

import difflib
import heapq
from typing import NamedTuple

import golden
import happened
from happened import ENTER, GAP, IN, LEAVE, OUT, POINT

THREAD_POINTS = ("linux:task-new", "linux:task-exit", "linux:task-name")
SHOWN = 40


class Event(NamedTuple):
    """One row of `lode replay --json`."""
    time: int
    tid: int  # None: a message of the user
    kind: str
    depth: int  # of enter and leave; of the others it follows from those
    symbol: str
    duration: int
    made: bool
    preempted: bool


def happenings(recording, tracks):
    """
    What happened, of all tracks in the order of time. Of several that have the same time: messages, then in the order
    of tracks, but those last whose next event is one of scheduling, as uftrace has it, which keeps these in other files.
    """
    queues = []
    for index, track in enumerate(tracks):
        begins, events = [], []
        for item in track.happenings:
            duration = None
            if item.kind in (ENTER, OUT):
                begins.append(item.time)
            elif item.kind in (LEAVE, IN):
                duration = item.time - begins.pop()
            symbol = item.function and happened.label(item.function)
            event = Event(item.time, track.tid, item.kind, item.depth if item.kind in (ENTER, LEAVE) else None, symbol,
                          duration, item.made, item.function == happened.PREEMPTED)
            events.append(event)
        queues.append((index, events))
    queues.append((-1, [Event(time, None, POINT, None, None, None, False, False)
                                 for time, _ in recording.messages]))
    heads = [(events[0].time, events[0].kind in (OUT, IN), index, 0, events) for index, events in queues if events]
    heapq.heapify(heads)
    merged = []
    while heads:
        *_, index, at, events = heads[0]
        merged.append(events[at])
        if at + 1 == len(events):
            heapq.heappop(heads)
        else:
            event = events[at + 1]
            heapq.heapreplace(heads, (event.time, event.kind in (OUT, IN), index, at + 1, events))
    return merged


def lode_events(answer):
    """The rows of `lode replay --json`, but what became of threads: uftrace has no such records."""
    result = []
    for row in answer["rows"]:
        if row["kind"] == POINT and row["name"] in THREAD_POINTS:
            continue
        symbol = None if row["kind"] in (POINT, GAP) else row["symbol"] or row["name"]
        depth = row["depth"] if row["kind"] in (ENTER, LEAVE) else None
        result.append(Event(row["time_ns"], row["tid"], row["kind"], depth, symbol, row["duration_ns"], row["made"],
                            row["preempted"]))
    return result


def event_problems(found, wanted):
    problems = [f"{i}: {a}, not {b}" for i, (a, b) in enumerate(zip(found, wanted)) if a != b]
    if len(found) != len(wanted):
        problems.append(f"{len(found)} events, not {len(wanted)}")
    return problems[:SHOWN]


# Lines.


def line_of(item):
    """An item without its time, for comparison and for lists of differences."""
    text = f"{item.name}({item.values})" if item.kind == "enter" else item.name
    if item.kind == "leave" and item.values:
        text += f" = {item.values}"
    mark = {"enter": ">", "leave": "<", "note": "*"}[item.kind]
    return f"{item.tid or '-'} {mark} {item.level} {text}"


def _is_near(one, other):
    """Two printed durations: one may be cut off where the other is rounded."""
    if one is None or other is None:
        return one is other
    return abs(one.ns - other.ns) <= max(one.step, other.step)


def _matches(ours, theirs):
    """[(begin, end in theirs, begin, end in ours)] of equal lines. Most replays are the same but for a few places."""
    if ours == theirs:
        return [(0, len(theirs), 0, len(ours))]
    matcher = difflib.SequenceMatcher(None, theirs, ours, autojunk=False)
    return [(a, a + size, b, b + size) for a, b, size in matcher.get_matching_blocks()]


def differences(found, printed):
    """
    What two lists of items have each alone: ["+ line of Lode", "- line of uftrace"], in order; and, of the others, times
    that differ.
    """
    ours, theirs = [line_of(item) for item in found], [line_of(item) for item in printed]
    lines, times, a, c = [], [], 0, 0
    for begin, end, first, last in [*_matches(ours, theirs), (len(theirs), len(theirs), len(ours), len(ours))]:
        lines += [f"- {line}" for line in theirs[a:begin]] + [f"+ {line}" for line in ours[c:first]]
        times += [f"{ours[i]}: {found[i].duration}, uftrace prints {printed[k].duration}"
                  for i, k in zip(range(first, last), range(begin, end))
                  if not _is_near(found[i].duration, printed[k].duration)]
        a, c = end, last
    return lines, times


def lode_items(program, data, *options):
    """The lines of `lode replay`."""
    answer = program.run("replay", data, *options, cwd=data.parent)
    if answer.status != 0:
        raise ValueError(f"lode replay {data}: {answer.err}")
    return golden.replay(answer.out)
