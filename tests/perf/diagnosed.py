#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What `lode diagnose` says of recordings whose cause is known, since the test writes them: small OpenMP tasks, threads that do different things, threads
that wait while the first one has no samples. Functions have names by a map beside the recording; rules say which of them are of libraries.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tools")]

from tap import Tap  # noqa: E402
from write import CHAIN, CPU_CLOCK, IDENTIFIER, MARK_USER, PAGE_FAULTS, RAW, USUAL, Event, Recording  # noqa: E402

BASE, SIZE = 0x400000, 0x100
MILLISECOND = 1000000
KINDS = "omp * GOMP_task\nomp * GOMP_taskwait\nlib * start_thread\nlock * sem_wait\nlock * pthread_join\nsleep * nanosleep\n"
PID = 10
CYCLES = (0, 0)


class Program:
    """A recording of process PID, whose functions are named by a map; frames of a sample begin with the innermost one."""

    def __init__(self, *events):
        self.events = events or (Event(fields=USUAL | CHAIN, name="cpu-clock"),)
        self.recording = Recording(*self.events)
        self.recording.comm(PID, PID, "work")
        self.recording.mmap2(PID, BASE, 0x10000, 0, "//anon")
        self.names, self.time = {}, MILLISECOND

    def frames(self, names):
        return [BASE + SIZE * self.names.setdefault(name, len(self.names)) + 16 for name in names]

    def thread(self, tid):
        self.recording.fork(PID, tid, PID, PID, self.time)

    def run(self, tid, *names, times=1):
        for _ in range(times):
            self.time += MILLISECOND
            frames = self.frames(names)
            self.recording.sample(self.events[0], frames[0], PID, tid, self.time, MILLISECOND, (MARK_USER, *frames))

    def diagnose(self, lode, folder):
        path = folder / "work.data"
        self.recording.describe()
        path.write_bytes(self.recording.file())
        (folder / f"perf-{PID}.map").write_text("".join(f"{BASE + SIZE * number:x} {SIZE:x} {name}\n" for name, number in self.names.items()))
        (folder / "kinds").write_text(KINDS)
        done = subprocess.run([lode, "diagnose", "--json", "--kinds", folder / "kinds", path], capture_output=True, text=True, check=False)
        return json.loads(done.stdout)["statements"] if done.returncode in (0, 1) else [{"id": done.stderr}]


def check_tasks(tap, lode, folder):
    """Making tasks takes a third of the time: no part of it is at the end of a region."""
    for making, wanted in ((4, "omp-calls"), (0, "omp-imbalance")):
        program = Program()
        program.thread(11)
        for _ in range(100):
            for tid, above in ((PID, ("search", "main._omp_fn.0", "main")), (11, ("search", "main._omp_fn.0", "start_thread"))):
                program.run(tid, "GOMP_task", *above, times=making)
                program.run(tid, "GOMP_taskwait", *above, times=4 if not making else 1)
                program.run(tid, "evaluate", *above, times=5)
        found = program.diagnose(lode, folder)
        first = found[0] if found else {}
        is_right = first.get("id") == wanted and ("search" in first["text"] if making else "for OpenMP tasks" in first["text"])
        tap.check(is_right, f"OpenMP tasks: {wanted}", found)


def check_starts(tap, lode, folder):
    """Threads are unequal only if they begin with one function of the program, whatever libraries have above it."""
    for names, is_said in ((("serve", "handle", "handle"), False), (("handle", "handle", "handle"), True)):
        program = Program()
        program.run(PID, "main", times=5)
        for tid in (11, 12, 13):
            program.thread(tid)
        for tid, name, times in zip((11, 12, 13), names, (900, 100, 100)):
            program.run(tid, name, "start_thread", times=times)
        found = program.diagnose(lode, folder)
        tap.check(any(one["id"] == "imbalance" for one in found) == is_said, f"threads that {'do the same' if is_said else 'differ'} {'are' if is_said else 'are not'} unequal", found)


def check_events(tap, lode, folder):
    """perf names its default event by what the machine has and by who may record, and adds modifiers."""
    for kind, names in ((CPU_CLOCK, ("cpu-clock", "cpu-clock:u", "cpu-clock:pppH", "cpu-clock:ppp")), (CYCLES, ("cycles:P", "cycles:pppH", "cycles:ppp", "cycles:u"))):
        for name in names:
            program = Program(Event(kind, fields=USUAL | CHAIN, name=name))
            program.run(PID, "work", "main", times=100)
            found = program.diagnose(lode, folder)
            tap.check(any(one["id"] == "hot-function" or "work" in one.get("text", "") for one in found), f"samples of {name} are judged", found)
    program = Program(Event(PAGE_FAULTS, fields=USUAL | CHAIN, name="cpu-clockwork:u"))
    program.run(PID, "work", "main", times=100)
    found = program.diagnose(lode, folder)
    tap.check(not any("work" in one.get("text", "") for one in found), "samples of another event are not", found)


def check_unnamed(tap, lode, folder):
    """Advice is of the tool that recorded."""
    program = Program()
    program.run(PID, "<unknown code>", "main", times=300)
    program.diagnose(lode, folder)
    done = subprocess.run([lode, "diagnose", "--json", folder / "work.data"], capture_output=True, text=True, check=False)
    notes = [note["text"] for note in json.loads(done.stdout)["quality"] if note["id"] == "no-symbols"]
    tap.check(len(notes) == 1 and "debug symbols" in notes[0] and "hpc" not in notes[0], "code without names: the advice is not that of HPCToolkit", notes)


def check_launcher(tap, lode, folder):
    """The process that starts ranks of MPI is none of them."""
    event = Event(fields=USUAL | CHAIN, name="cpu-clock")
    recording = Recording(event)
    for pid, name in ((20, "mpirun"), (21, "solver"), (22, "solver")):
        recording.comm(pid, pid, name)
        for i in range(300):
            recording.sample(event, 0x100, pid, pid, MILLISECOND * (i + 1), MILLISECOND, (MARK_USER, 0x100, 0x200))
    path = folder / "launched.data"
    recording.describe()
    path.write_bytes(recording.file())
    done = subprocess.run([lode, "diagnose", "--json", path], capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout)
    notes = [note["text"] for note in answer["quality"] if note["id"] == "helpers"]
    tap.check(notes == ["Left out: 1 thread of the launcher."], "a launcher is no rank", [answer["quality"], answer["run"]])


def check_waits(tap, lode, folder):
    """The first thread has no samples; where the others wait is told, not who ends it."""
    fields = USUAL | IDENTIFIER | CHAIN
    clock = Event(fields=fields, ids=(9,), name="cpu-clock")
    switch, waking = (Event((2, 300 + i), fields | RAW, (10 + i,), name) for i, name in enumerate(("sched:sched_switch", "sched:sched_waking")))
    program = Program(clock, switch, waking)
    recording = program.recording

    def tell(event, tid, other, at, *names):
        program.time += MILLISECOND // 10
        frames = program.frames(names)
        recording.sample(event, frames[0], PID, tid, program.time, 1, (MARK_USER, *frames), raw=bytes(at) + other.to_bytes(4, "little"))

    for tid in (11, 12, 13, 14):
        program.thread(tid)
    tell(switch, PID, 11, 56, "pthread_join", "main")
    for _ in range(40):
        program.run(11, "serve", "start_thread")
        for tid in (12, 13, 14):
            program.run(tid, "handle", "start_thread")
            tell(switch, tid, 0, 56, "sem_wait", "acquire", "handle", "start_thread")
        tell(switch, 11, 0, 56, "nanosleep", "serve", "start_thread")
        program.time += 20 * MILLISECOND
        for tid in (12, 13, 14):
            tell(waking, 11, tid, 24, "serve", "start_thread")
            program.time += 10 * MILLISECOND
            tell(switch, 0, tid, 56, "main")
    found = program.diagnose(lode, folder)
    texts = [evidence["text"] for one in found if one["id"] == "off-cpu" for evidence in one["evidence"]]
    tap.check(any("acquire > sem_wait" in text for text in texts), "off-CPU time is where most threads wait, if the first one has no samples", found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    options = parser.parse_args()
    os.environ["LODE_PLUGINS"] = "/nonexistent"
    tap = Tap()
    with tempfile.TemporaryDirectory() as scratch:
        check_tasks(tap, options.lode, Path(scratch))
        check_starts(tap, options.lode, Path(scratch))
        check_events(tap, options.lode, Path(scratch))
        check_unnamed(tap, options.lode, Path(scratch))
        check_launcher(tap, options.lode, Path(scratch))
        check_waits(tap, options.lode, Path(scratch))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
