# SPDX-License-Identifier: BSD-3-Clause
"""Recordings that are made up: written from lists of records, or at random, and damaged at random."""

import random
import struct

import reader

BASE = 0x5555_5555_4000
TIME = 1_000_000_000
PROGRAM = "/opt/x/prog"
SESSION = "0123456789abcdef"
RECORD = struct.Struct("<QQ")
OPERATIONS = ("drop", "drop some", "double", "lose", "depth", "time", "address", "type")


def record(kind, time, depth, address, payload=None):
    """The bytes of a record; a payload of any length, even none, is padded to 8."""
    more = 0 if payload is None else 1
    word = reader.KINDS.index(kind) | more << 2 | 5 << 3 | depth << 6 | address << 16
    if payload is None:
        return RECORD.pack(time, word)
    return RECORD.pack(time, word) + payload + b"\xaa" * (-len(payload) % 8)


def perf_record(tid, time, kind):
    if kind == "exit":
        return struct.pack("<IHHIIIIQQ", reader.PERF_EXIT, 0, 40, 100, 100, tid, 100, time, 0)
    misc = {"in": 0, "out": reader.MISC_OUT, "preempted": reader.MISC_OUT | reader.MISC_PREEMPT}[kind]
    return struct.pack("<IHHIIQ", reader.PERF_SWITCH, misc, 24, 100, tid, time)


def write(folder, tasks, perf, functions, specs=()):
    """
    Writes a recording: {tid: [bytes of records]}, [(tid, time, kind)] of scheduling, {name: offset}, and lines of the info
    file that specify values.
    """
    tids = ",".join(map(str, tasks))
    text = f"taskinfo:lines=2\ntaskinfo:nr_tid={len(tasks)}\ntaskinfo:tids={tids}\n"
    mask = 1 << 7
    if specs:
        mask |= 1 << 10
        text += f"argspec:lines={len(specs)}\n" + "".join(f"{line}\n" for line in specs)
    header = struct.pack("<8sIHBBQQHHI", b"Ftrace!", 4, 40, 1, 2, 0x163, mask, 1024, 0, 0)
    (folder / "info").write_bytes(header + text.encode())
    lines = [f'SESS timestamp=1.000000000 pid=100 sid={SESSION} exename="{PROGRAM}"\n']
    lines += [f"TASK timestamp=1.000000001 tid={tid} pid=100\n" for tid in tasks]
    (folder / "task.txt").write_text("".join(lines))
    (folder / f"sid-{SESSION}.map").write_text(
        f"{BASE:x}-{BASE + 0x10000:x} r-xp 00000000 00:00 0                          {PROGRAM}\n")
    symbols = "".join(f"{offset:016x} 00000040 T {name}\n" for name, offset in functions.items())
    (folder / "prog.sym").write_text(f"# symbols: {len(functions)}\n# path name: {PROGRAM}\n{symbols}")
    for tid, records in tasks.items():
        (folder / f"{tid}.dat").write_bytes(b"".join(records))
    (folder / "perf-cpu0.dat").write_bytes(b"".join(
        perf_record(tid, time, kind) for tid, time, kind in sorted(perf, key=lambda event: event[1])))


FUNCTIONS = {name: 0x1000 + 0x40 * i for i, name in
             enumerate(("main", "f", "g", "text", "number", "setjmp", "longjmp"))}
SPECS = ("argspec:text@arg1/s,arg2/i32;number@arg1,arg2/c", "retspec:text@retval/s;number@retval/i32")


class Run:
    """A task at random: calls that recurse, carry values, jump, and are off their processor."""

    def __init__(self, chance, tid, begin):
        self.chance, self.tid, self.time = chance, tid, begin
        self.records, self.perf, self.stack, self.targets = [], [], [], []

    def go(self, count):
        self._call("main")
        while len(self.records) < count:
            self._step()
        if self.chance.random() < 0.7:
            while self.stack:
                self._return()
        if self.chance.random() < 0.7:
            self.perf.append((self.tid, self._tick(), "exit"))
        return self

    def _tick(self):
        self.time += self.chance.randrange(1, 200)
        return self.time

    def _step(self):
        what = self.chance.random()
        if what < 0.45 and len(self.stack) < 12:
            self._call(self.chance.choice(("f", "f", "g", "text", "number")))
        elif what < 0.9 and len(self.stack) > 1:
            self._return()
        elif what < 0.95:
            self.perf.append((self.tid, self._tick(), self.chance.choice(("out", "preempted"))))
            self.perf.append((self.tid, self._tick(), "in"))
        elif what < 0.97:
            self._call("setjmp")
            self._return()
            self.targets.append(len(self.stack))
        elif self.targets and self.targets[-1] <= len(self.stack):
            self._jump(self.targets.pop())

    def _call(self, name):
        payload = None
        if name == "text":
            text = self.chance.choice((b"", b"a", b"hello", b"x" * 40))
            payload = struct.pack("<H", len(text)) + text
            payload += b"\0" * (-len(payload) % 4) + struct.pack("<i", self.chance.randrange(-5, 5))
        elif name == "number":
            payload = struct.pack("<qB", self.chance.randrange(-(1 << 40), 1 << 40), 65)
        self.records.append(record("entry", self._tick(), len(self.stack), BASE + FUNCTIONS[name], payload))
        self.stack.append(name)

    def _return(self):
        name = self.stack.pop()
        payload = {"text": struct.pack("<H", 3) + b"abc", "number": struct.pack("<i", -1)}.get(name)
        self.records.append(record("exit", self._tick(), len(self.stack), BASE + FUNCTIONS[name], payload))

    def _jump(self, target):
        self._call("longjmp")
        del self.stack[target:]
        self.records.append(record("exit", self._tick(), target, BASE + FUNCTIONS["setjmp"]))


def make(seed, count=120):
    """(tasks, perf) of two tasks that run at the same time."""
    chance = random.Random(seed)
    runs = [Run(chance, tid, TIME + chance.randrange(1000)).go(count) for tid in (100, 101)]
    return {run.tid: run.records for run in runs}, [event for run in runs for event in run.perf]


def damage(seed, records):
    """A copy of a task's records with one to four things done to it; and what that was."""
    chance, result, done = random.Random(seed), list(records), []
    for _ in range(chance.choice((1, 1, 2, 4))):
        operation, k = chance.choice(OPERATIONS), chance.randrange(len(result))
        done.append(f"{operation} at {k}")
        if operation == "drop":
            del result[k]
        elif operation == "drop some":
            del result[k:k + chance.randrange(2, 8)]
        elif operation == "double":
            result.insert(k, result[k])
        elif operation == "lose":
            result.insert(k, record("lost", 0, 0, 3))
        else:
            result[k] = _altered(chance, operation, result[k])
        if not result:
            break
    return result, done


def _altered(chance, operation, data):
    time, word = struct.unpack_from("<QQ", data)
    if word >> 2 & 1 and operation in ("address", "type"):
        return data  # what it carries would not be what is specified, and where it ends a guess
    if operation == "depth":
        word = word & ~(0x3FF << 6) | chance.randrange(14) << 6
    elif operation == "time":
        time += chance.choice((-1, 1)) * chance.randrange(1, 20000)
    elif operation == "address":
        word ^= 1 << chance.choice((22, 23, 24, 30, 40))
    elif word & 3 < 2:
        word ^= 1
    return struct.pack("<QQ", time, word) + data[16:]
