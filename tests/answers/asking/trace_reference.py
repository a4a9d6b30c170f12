# SPDX-License-Identifier: BSD-3-Clause
"""
What `lode trace` has to answer on a database (db_reference.py says what the words mean).

A sample holds from its time to that of the next one of its line, the last one for no time. It counts for the function that its
context is in, or for the function at a given depth of calls.
"""

import bisect
import ctypes
import functools
from collections import defaultdict


class Trace:
    """Who was running when. `start` and `end` bound the window; by default what the file states."""

    def __init__(self, db, start=None, end=None, depth=0, columns=100, profiles=None):
        self.db, self.depth = db, depth
        lines = [line for line in db.traces["lines"] if profiles is None or line["profile"] in profiles]
        self.start = start if start is not None else db.traces["min_time_ns"]
        self.end = end if end is not None else db.traces["max_time_ns"] + (db.traces["max_time_ns"] > 0)
        self.edges = [self.start + (self.end - self.start) * i // columns for i in range(columns + 1)]
        self.nanoseconds, self.samples = defaultdict(int), defaultdict(int)
        shown = {context.id: self._shown(context) for context in db.by_id.values()}
        self.keys = {id: db.function_key(context) for id, context in shown.items()}
        self.contexts = {}  # by key: the first context of the function, of those that samples may count for
        for context in db.contexts:
            self.contexts.setdefault(db.function_key(shown[context.id]), shown[context.id])
        self.bins = [(line["profile"], self._bins(line["samples"], columns)) for line in lines]
        self.lines = [(profile, [[self.largest(b)] if b else None for b in bins]) for profile, bins in self.bins]

    def _shown(self, context):
        return next(c for c in context.above() if c.begins_function()
                    and (not self.depth or c.call_depth <= self.depth))

    def _bins(self, samples, columns):
        """{key: nanoseconds} of each interval."""
        edges = self.edges
        bins = [defaultdict(int) for _ in range(columns)]
        for i, (time, context_id) in enumerate(samples):
            key = self.keys.get(context_id)
            if self.start <= time < self.end:
                self.samples[key] += 1
            until = samples[i + 1][0] if i + 1 < len(samples) else time
            begin, stop = max(time, self.start), min(until, self.end)
            if begin >= stop:
                continue
            self.nanoseconds[key] += stop - begin
            column = bisect.bisect_right(edges, begin) - 1
            while column < columns and edges[column] < stop:
                bins[column][key] += max(0, min(stop, edges[column + 1]) - max(begin, edges[column]))
                column += 1
        return bins

    def largest(self, bin):
        """The key with the most time. Of equal ones, the one whose function comes first in the tree; contexts that are not listed come before all."""
        return min(bin.items(), key=lambda item: (-item[1], -1 if item[0] is None else self.contexts[item[0]].index))[0]

    def is_idle(self, key):
        return key is not None and self.contexts[key].lexical == "global"

    def order(self):
        """Keys with the most time first."""
        rows = self.rows()
        return sorted(rows, key=lambda k: (-rows[k][0], -rows[k][1], self.contexts[k].index if k else 0))

    def rows(self):
        """{key: (nanoseconds, samples)}"""
        return {key: (self.nanoseconds[key], self.samples[key]) for key in {*self.nanoseconds, *self.samples}
                if self.nanoseconds[key] or self.samples[key]}


class Picture(Trace):
    """Lines added up into rows, from top to bottom by name. A cell is (number of the function, how much of it in 255ths)."""

    def __init__(self, db, start=None, end=None, depth=0, columns=100, profiles=None, rows=40, idle="dominant", probes=False):
        super().__init__(db, start, end, depth, columns, profiles)
        samples = {line["profile"]: line["samples"] for line in db.traces["lines"]}
        lines = sorted((line for line in self.bins if samples[line[0]]), key=functools.cmp_to_key(lambda a, b: _by_version(db.profile_label(a[0]), db.profile_label(b[0]))))
        rows = min(rows, len(lines)) if rows else len(lines)
        groups = [lines[len(lines) * i // rows:len(lines) * (i + 1) // rows] for i in range(rows)]
        if probes:
            self._probe(groups, samples)
        functions = [key for key in self.order() if not self.is_idle(key)]
        self.number = {key: 1 if self.is_idle(key) else min(255, functions.index(key) + 2) for key in self.order()}
        if probes:
            cells = [[(self.number[key], 255) if key != "nothing" else (0, 0) for key in row] for row in self.probed]
        else:
            cells = [self._row(group, idle) for group in groups]
        self.picture = [(group[0][0], len(group), row) for group, row in zip(groups, cells)]

    def _row(self, group, idle):
        cells = []
        for column, (begin, end) in enumerate(zip(self.edges, self.edges[1:])):
            sums = defaultdict(int)
            for _, bins in group:
                for key, time in bins[column].items():
                    sums[key] += time
            running = {key: time for key, time in sums.items() if not self.is_idle(key)}
            shown = running if idle == "last" and running else sums
            if not shown:
                cells.append((0, 0))
                continue
            key = self.largest(shown)
            cells.append((self.number[key], max(1, min(255, shown[key] * 255 // ((end - begin) * len(group))))))
        return cells

    def _probe(self, groups, samples):
        """One line of each row, at the middle of each column. Times are those of as many lines as the row has."""
        self.nanoseconds, self.samples, self.probed = defaultdict(int), defaultdict(int), []
        for group in groups:
            line, row = samples[group[len(group) // 2][0]], []
            for begin, end in zip(self.edges, self.edges[1:]):
                time = begin + (end - begin) // 2
                at = [i for i, (t, _) in enumerate(line) if t <= time]
                key = self.keys.get(line[at[-1]][1]) if at and at[-1] + 1 < len(line) and begin < end else "nothing"
                row.append(key)
                if key != "nothing":
                    self.nanoseconds[key] += (end - begin) * len(group)
            self.probed.append(row)


def _by_version(a, b):
    """The order of names with numbers in them."""
    return ctypes.CDLL(None).strverscmp(a.encode(), b.encode())
