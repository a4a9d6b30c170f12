# SPDX-License-Identifier: BSD-3-Clause
"""
Slices of a recording, made from what happened: calls that reach out of the window are cut off at its ends; calls that
are too deep, or too short by what of them lies in the window, are left out with all that they call. Time off the
processor counts as a call.
"""

from collections import defaultdict

import happened
from happened import ENTER, IN, LEAVE, OUT


class Node:
    def __init__(self, function, begin, parent):
        self.function, self.begin, self.end, self.parent = function, begin, None, parent
        self.level = parent.level + 1 if parent else 0


def calls_of(track):
    """The calls of a track, callers before what they call."""
    nodes, open_nodes = [], []
    for item in track.happenings:
        if item.kind in (ENTER, OUT):
            open_nodes.append(Node(item.function, item.time, open_nodes[-1] if open_nodes else None))
            nodes.append(open_nodes[-1])
        elif item.kind in (LEAVE, IN):
            open_nodes.pop().end = item.time
    return nodes


def cut(track, begin=0, end=0, depth=0, min_time=0, is_written=False):
    """
    The calls of a slice, as happened.Call. In a recording that is written, a thread that is off its processor at the end of the
    window comes back a nanosecond before it: at the same time, readers would take the exits around it first.
    """
    kept = {}
    for node in calls_of(track):
        if node.parent is not None and node.parent not in kept:
            continue
        first, last = max(node.begin, begin), min(node.end, end) if end else node.end
        is_inside = node.end >= begin and (not end or node.begin < end)
        if is_inside and last - first >= min_time and not (depth and node.level >= depth):
            is_off = node.function in (happened.SCHEDULE, happened.PREEMPTED)
            comes_back = is_written and is_off and last == end and last > first
            kept[node] = [first, last - comes_back, 0]
    for node, (first, last, _) in kept.items():
        if node.parent is not None:
            kept[node.parent][2] += last - first
    return [happened.Call(node.function, track.tid, first, last, inner, _is_recursive(node))
            for node, (first, last, inner) in kept.items()]


def _is_recursive(node):
    above = node.parent
    while above is not None:
        if above.function == node.function:
            return True
        above = above.parent
    return False


def rows(calls):
    result = defaultdict(happened.Row)
    for call in calls:
        result[call.function].add(call)
    return dict(result)


def times(tracks):
    """All times at which something happens, in order."""
    return sorted({item.time for track in tracks for item in track.happenings})


def between(moments, share):
    """A time inside the recording at which nothing happens, so that it is clear what belongs to which side."""
    taken = set(moments)
    wanted = moments[0] + int((moments[-1] - moments[0]) * share)
    return next(wanted + i for i in range(1 << 20) if wanted + i not in taken and wanted + i + 1 not in taken)
