# SPDX-License-Identifier: BSD-3-Clause
"""Traces of a database against the reference: functions by time, pictures, call paths, boxes."""

from collections import Counter, defaultdict

import boxes as charts
from asking import Asking, trace_reference

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class TraceAnswers(Asking):
    def trace(self, window=None, depth=0, columns=100):
        """`window`: a pair of times since the epoch, or None."""
        options = ["--limit", 0, "--rows", 0, "--depth", depth, "--columns", columns]
        options += ["--from", f"@{window[0]}", "--to", f"@{window[1]}"] if window else []
        answer = self.run("trace", *options)
        start, end = window or (None, None)
        trace = trace_reference.Trace(self.db, start, end, depth, columns)
        rows = trace.rows()
        self.expect(answer["start_ns"], self.db.traces["min_time_ns"], "beginning of the traces")
        if trace.lines and rows:
            self.expect((answer["from_ns"], answer["to_ns"]), (trace.start, trace.end), "window")
        self.expect(answer["samples"], sum(samples for _, samples in rows.values()), "samples")
        self.expect(answer["row_count"], len(rows), "functions")
        total = sum(time for time, _ in rows.values())
        order = trace.order()
        letters = self._letters(order)
        wanted = [(letters[key], *rows[key], *self._function(trace, key)) for key in order]
        found = [tuple(row[k] for k in ("letter", "nanoseconds", "samples", "context", "name")) for row in answer["rows"]]
        self.expect(found, wanted, "functions of the trace")
        for row, key in zip(answer["rows"], order):
            self.counts["rows"] += 1
            self.percent(row["percent"], rows[key][0], total, "share of a function")
        lines = Counter((profile, "".join(letters[cell[0]] if cell else " " for cell in cells))
                        for profile, cells in trace.lines if any(cells))
        self.counts["trace lines"] += len(trace.lines)
        self.expect((answer["line_count"], answer["lines_without_samples"]),
                    (len(trace.lines), len(trace.lines) - lines.total()), "counts of trace lines")
        self.expect(Counter((line["profile"], line["cells"]) for line in answer["timeline"]), lines, "trace lines")

    def picture(self, window=None, depth=0, columns=100, rows=40, idle="dominant", probes=False):
        """Lines added up into rows: each cell, and nanoseconds of functions."""
        options = ["--merge", "--limit", 0, "--rows", rows, "--depth", depth, "--columns", columns, "--idle-time", idle]
        options += ["--probes"] if probes else []
        options += ["--from", f"@{window[0]}", "--to", f"@{window[1]}"] if window else []
        start, end = window or (None, None)
        picture = trace_reference.Picture(self.db, start, end, depth, columns, None, rows, idle, probes)
        answers = [self.run("trace", *options, "--threads", threads) for threads in (1, 3)]
        self.expect(answers[0], answers[1], "the answer with other threads")
        answer, times = answers[0], picture.rows()
        found = [tuple(row[k] for k in ("nanoseconds", "samples", "context", "name")) for row in answer["rows"]]
        self.expect(found, [(*times[key], *self._function(picture, key)) for key in picture.order()], "shares of functions")
        found = [(line["profile"], line["merged_lines"], list(zip(bytes.fromhex(line["keys"]), bytes.fromhex(line["fills"]))))
                 for line in answer["timeline"]]
        self.expect(found, picture.picture, "cells")
        self.counts["cells"] += sum(len(cells) for _, _, cells in picture.picture)

    def stacks(self, time):
        """The call path of each line at a time."""
        answer = self.run("trace", "--at", f"@{time}", "--rows", 0)
        found, wanted = defaultdict(list), {}
        for row in answer["rows"]:
            found[row["line_index"]].append((row["depth"], int(row["begin_ns"]), int(row["end_ns"]), row["context"]))
        for line in self.db.traces["lines"]:
            at = [i for i, (t, _) in enumerate(line["samples"]) if t <= time]
            if not at or at[-1] + 1 == len(line["samples"]):
                continue
            (begin, id), end = line["samples"][at[-1]], line["samples"][at[-1] + 1][0]
            path = self._path(id)
            if path:
                wanted[line["profile"]] = [(i + 1, begin, end, context) for i, context in enumerate(path)]
        self.expect(dict(found), wanted, "call paths")
        self.counts["call paths"] += len(wanted)

    def boxes(self, window=None, columns=50, depth=0):
        """Calls over time by depth, of all lines."""
        options = ["--columns", columns, "--rows", 0, *(["--depth", depth] if depth else [])]
        if window:
            options += ["--from", f"@{window[0]}", "--to", f"@{window[1]}"]
        answer = self.run("trace", "--boxes", *options)
        start, end = int(answer["from_ns"]), int(answer["to_ns"])
        self.expect((start, end), window or (self.db.traces["min_time_ns"], self.db.traces["max_time_ns"] + 1), "window")
        found, wanted = defaultdict(list), {}
        for row in answer["rows"]:
            numbers = (int(row["begin_ns"]), int(row["end_ns"]), row["duration_ns"], row["calls"], row["context"])
            found[row["line_index"]].append((row["depth"], *numbers))
        for line in self.db.traces["lines"]:
            calls = charts.calls_of_samples(line["samples"], self._path)
            rows = [row for row in charts.boxes(calls, start, end, columns) if not depth or row[0] <= depth]
            if rows:
                wanted[line["profile"]] = rows
        self.expect({line: sorted(rows, key=lambda box: box[:5]) for line, rows in found.items()}, wanted, "boxes")
        self.expect(all(rows == sorted(rows, key=lambda box: box[:2]) for rows in found.values()), True, "order of boxes")
        self.counts["boxes"] += sum(map(len, wanted.values()))

    def _path(self, id):
        return [c.id for c in self.db.by_id[id].above() if c.lexical != "global"][::-1] if id in self.db.by_id else []

    def _function(self, trace, key):
        if key is None:
            return None, "(not listed)"
        context = trace.contexts[key]
        return context.id, "(not running)" if context.lexical == "global" else self.db.label(context)

    def _letters(self, order):
        letters, unused = {}, list(LETTERS)
        for key in order:
            letters[key] = "." if key == ("global",) else unused.pop(0) if unused else "~"
        return letters
