# SPDX-License-Identifier: BSD-3-Clause
"""
Costs of a time window of a database, from its trace lines: what `top`, `tree` and `source` answer with --from and --to. A sample holds from its time to that
of the next one of its line, the last one for no time; the part of it that lies in the window is the own cost, in seconds, of its context. The global context
is a thread that does not run: no cost. Samples at contexts that the metadata does not list are costs of the global context itself.
"""

from collections import defaultdict

NANOSECONDS = 10 ** 9


class WindowCost:
    """Like db_model.Cost. `window` is a pair of times since the epoch."""

    def __init__(self, db, window, profiles=None):
        self.db, self.window = db, window
        self.metric = {"name": "trace time (sec)"}
        lines = [line for line in db.traces["lines"] if profiles is None or line["profile"] in profiles]
        self.profiles = len(lines)
        self.unlisted_ids, self.unlisted_values, self.samples = set(), 0, 0
        time_of, idle = defaultdict(int), 0
        for line in lines:
            for (begin, id), end in zip(line["samples"], self._ends(line["samples"])):
                if begin >= window[1] or (end <= window[0] and begin < window[0]):
                    continue
                begins = begin >= window[0]
                inside = max(0, min(end, window[1]) - max(begin, window[0]))
                self.samples += begins
                if id not in db.by_id:
                    self.unlisted_ids.add(id)
                    self.unlisted_values += begins
                    time_of[0] += inside
                elif db.by_id[id].index == 0:
                    idle += inside
                else:
                    time_of[db.by_id[id].index] += inside
        self.idle = idle / NANOSECONDS
        below = defaultdict(int)
        for index, time in time_of.items():
            for context in db.contexts[index].above():
                below[context.index] += time
        self.own = [time_of[c.index] / NANOSECONDS for c in db.contexts]
        self.inclusive = [below[c.index] / NANOSECONDS for c in db.contexts]
        self.total = self.inclusive[0]

    @staticmethod
    def _ends(samples):
        return [time for time, _ in samples[1:]] + [time for time, _ in samples[-1:]]


def windows(db):
    """Some windows of a database: a part in the middle, from before the first sample, one nanosecond, after the last sample."""
    times = sorted(s[0] for line in db.traces["lines"] for s in line["samples"])
    if len(times) < 3 or times[0] == times[-1]:
        return []
    third = (times[-1] - times[0]) // 3
    found = [(times[0] + third, times[-1] - third), (max(0, times[0] - 10), times[len(times) // 2]),
             (times[len(times) // 4], times[len(times) // 4] + 1), (times[0] + 1, times[-1] + 1)]
    return [window for window in found if window[0] < window[1]]
