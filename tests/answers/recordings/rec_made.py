# SPDX-License-Identifier: BSD-3-Clause
"""
Recordings made to be nasty: recursion and mutual recursion, functions of one name in two modules and twice in one, addresses without a
symbol or a module, mangled names, many tasks, off-CPU time, calls that take no time, exits that are missing, records that are lost.
"""

import random
import struct

import rec_reference  # noqa: F401  knows where the others are

import made

MODULES = {"/opt/x/prog": 0x5555_5555_4000, "/opt/x/libother.so": 0x7F00_0000_0000}
SIZE = 0x10000
# (module, offset, name); equal names are different functions.
FUNCTIONS = [("/opt/x/prog", 0x1000, "main"), ("/opt/x/prog", 0x1040, "f"), ("/opt/x/prog", 0x1080, "g"), ("/opt/x/prog", 0x10C0, "same"),
             ("/opt/x/prog", 0x1100, "same"), ("/opt/x/libother.so", 0x1000, "same"), ("/opt/x/libother.so", 0x1040, "f"),
             ("/opt/x/libother.so", 0x1080, "_ZN5outer5innerEi"), ("/opt/x/prog", 0x1140, "_ZN5outer5innerEi"),
             ("/opt/x/libother.so", 0x10C0, "_Z4funcIiEvT_"), ("/opt/x/prog", 0x1180, "even"), ("/opt/x/prog", 0x11C0, "odd")]
NAMELESS = [MODULES["/opt/x/prog"] + 0x9000, MODULES["/opt/x/libother.so"] + 0x9000, 0x1234_5000]


def address(function):
    return MODULES[function[0]] + function[1]


ADDRESSES = [address(function) for function in FUNCTIONS]


class Task:
    """One task at random. `habit` is which functions call which."""

    def __init__(self, chance, tid, begin, habit):
        self.chance, self.tid, self.time, self.habit = chance, tid, begin, habit
        self.records, self.perf, self.stack = [], [], []

    def run(self, count):
        self._call(ADDRESSES[0])
        while len(self.records) < count:
            what = self.chance.random()
            if what < 0.5 and len(self.stack) < 40:
                self._call(self._next())
            elif what < 0.92 and len(self.stack) > (self.chance.random() < 0.9):
                self._return()
            elif what < 0.97:
                self._wait()
        while self.stack and self.chance.random() < 0.98:
            self._return()
        return self

    def _wait(self):
        """
        At moments of its own: readers take records before scheduling events of the same time, so that `convert` has to move those by a
        nanosecond to keep them in their order.
        """
        for kind in (self.chance.choice(("out", "preempted")), "in"):
            self.time += 1
            self.perf.append((self.tid, self._tick(), kind))
        self.time += 1

    def _tick(self):
        self.time += self.chance.choice((0, 1, 1, 7, 100, 1000, 65_536, 3_000_000))
        return self.time

    def _next(self):
        if self.habit == "mutual" and self.stack:
            even, odd = ADDRESSES[-2:]
            return odd if self.stack[-1] == even else even
        if self.habit == "recursion" and self.stack and self.chance.random() < 0.8:
            return self.stack[-1]
        if self.habit == "nameless" and self.chance.random() < 0.5:
            return self.chance.choice(NAMELESS)
        return self.chance.choice(ADDRESSES)

    def _call(self, where):
        self.records.append(made.record("entry", self._tick(), len(self.stack), where))
        self.stack.append(where)

    def _return(self):
        where = self.stack.pop()
        self.records.append(made.record("exit", self._tick(), len(self.stack), where))


def write(folder, tasks, perf):
    folder.mkdir(parents=True)
    made.write(folder, tasks, perf, {})
    (folder / "prog.sym").unlink()
    lines = [f"{base:x}-{base + SIZE:x} r-xp 00000000 00:00 0                          {path}\n" for path, base in MODULES.items()]
    (folder / f"sid-{made.SESSION}.map").write_text("".join(lines))
    for path in MODULES:
        symbols = [f"{offset:016x} 00000040 T {name}\n" for module, offset, name in FUNCTIONS if module == path]
        text = f"# symbols: {len(symbols)}\n# path name: {path}\n{''.join(symbols)}"
        (folder / (path.rsplit("/", 1)[-1] + ".sym")).write_text(text)


HABITS = ("any", "recursion", "mutual", "nameless")


def make(folder, seed, is_damaged):
    """A recording in a new folder. What seeds give does not change."""
    chance = random.Random(seed)
    count = chance.choice((1, 2, 2, 3, 12))
    runs = [Task(chance, 100 + i, made.TIME + chance.randrange(100_000), HABITS[(seed + i) % 4]).run(chance.choice((4, 40, 160)))
            for i in range(count)]
    tasks = {run.tid: run.records for run in runs}
    if is_damaged:
        tasks[100] = _without_lost_times(made.damage(seed, tasks[100])[0])
    write(folder, tasks, [event for run in runs for event in run.perf])


def _without_lost_times(records):
    """Times stay where 64 bits can hold what follows."""
    return [data for data in records if struct.unpack_from("<Q", data)[0] < 1 << 60] or records
