# SPDX-License-Identifier: BSD-3-Clause
"""Calls over time by depth, as `lode trace --boxes` has them, from lists of calls."""

from bisect import bisect_right
from collections import defaultdict


def boxes(calls, start, end, columns):
    """Of (depth, begin, end, what) in the order of their ends: (depth, begin, end, time, number, what) of what is in the time window."""
    edges = [start + (end - start) * (k + 1) // columns for k in range(columns)]
    found, narrow = [], defaultdict(list)
    for depth, first, last, what in calls:
        begin, stop = max(first, start), min(last, end)
        if begin >= end or (begin >= stop and not first == last >= start):
            continue
        column = bisect_right(edges, begin)
        if begin == stop or column == bisect_right(edges, stop - 1):
            narrow[depth, column].append((begin, stop, what))
        else:
            found.append((depth, begin, stop, stop - begin, 1, what))
    for (depth, _), parts in narrow.items():
        longest = max(parts, key=lambda part: part[1] - part[0])
        found.append((depth, parts[0][0], parts[-1][1], sum(b - a for a, b, _ in parts), len(parts), longest[2]))
    return sorted(found, key=lambda box: box[:5])


def calls_of_samples(samples, path_of):
    """(depth, begin, end, context) of a trace line: a context goes on while the next sample is in it, too. The last sample has no length."""
    found, stack = [], []

    def close(depth, time):
        while len(stack) > depth:
            begin, context = stack.pop()
            found.append((len(stack) + 1, begin, time, context))
    for time, id in samples:
        path = path_of(id)
        same = 0
        while same < min(len(path), len(stack)) and stack[same][1] == path[same]:
            same += 1
        close(same, time)
        stack += [(time, context) for context in path[same:]]
    close(0, samples[-1][0] if samples else 0)
    return found
