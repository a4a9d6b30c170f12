#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Several processes write the same output.

Usage: writers.py --lode PROGRAM --shim SHIM

The first is stopped before each call by which it changes the file system, in turn; the second runs from beginning to end; the first goes
on. Whoever may write, the output is complete at every moment, the one that may not says so and touches nothing, and
nothing is left. Then some processes at once, many times.
"""
import argparse
import concurrent.futures
import os
import shutil
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from outcome import NAME, PARTIAL, Program, Run, beside, differences, fingerprint, scratch  # noqa: E402
from tap import Tap  # noqa: E402

JOBS, CROWD, ROUNDS = 2, 5, 20
FIRST, SECOND, OLD = 1, 2, 3
BUSY = "another process is writing it"


def arguments(parent, seed, force=True):
    return ["synth", "database", "--profiles", "4", "--contexts", "50", "--samples", "5", "--threads", "1", "--seed",
            str(seed), "-o", os.path.join(parent, NAME), *(["--force"] if force else [])]


def traces(parent):
    """All that a process would change if it touched anything."""
    found = []
    for folder, folders, files in os.walk(parent):
        for name in folders:
            found.append((os.path.join(folder, name), os.lstat(os.path.join(folder, name)).st_ino))
        for name in files:
            status = os.lstat(os.path.join(folder, name))
            found.append((os.path.join(folder, name), status.st_ino, status.st_size, status.st_mtime_ns))
    return sorted(found)


class Pair:
    """Two writers of different databases."""

    def __init__(self, program, root, previous, plain):
        self.program, self.root, self.previous = program, root, previous
        self.settings = {"plain": 1} if plain else {}
        self.made = {}
        for seed in (FIRST, SECOND, OLD):
            parent = os.path.join(root, f"made{seed}")
            os.makedirs(parent, exist_ok=True)
            program.run(arguments(parent, seed))
            self.made[seed] = fingerprint(os.path.join(parent, NAME))

    def prepare(self, parent):
        os.makedirs(parent)
        if self.previous:
            shutil.copytree(os.path.join(self.root, f"made{OLD}", NAME), os.path.join(parent, NAME))

    def count_calls(self):
        parent = os.path.join(self.root, "calls")
        self.prepare(parent)
        return len(self.program.run(arguments(parent, FIRST), log=parent + ".log", **self.settings).calls)

    def meet(self, number):
        """Complaints about two writers, the first of which was stopped before a call; and whether the second could write."""
        parent = os.path.join(self.root, f"at{number}")
        target = os.path.join(parent, NAME)
        self.prepare(parent)
        first = self.program.start(arguments(parent, FIRST), mode="stop", at=number, **self.settings)
        os.waitid(os.P_PID, first.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        before, found_before = traces(parent), fingerprint(target)
        second = self.program.run(arguments(parent, SECOND), **self.settings)
        complaints = list(self.judge_second(second, target))
        if second.status != 0 and (traces(parent) != before or fingerprint(target) != found_before):
            complaints.append("the second was refused, but changed something")
        first.send_signal(signal.SIGCONT)
        _, message = first.communicate()
        complaints += self.judge_first(Run(first.returncode, message), target)
        if beside(parent):
            complaints.append(f"left behind: {', '.join(beside(parent))}")
        shutil.rmtree(parent)
        return [f"first stopped before call {number}: {text}" for text in complaints], second.status == 0

    def judge_second(self, run, target):
        found = fingerprint(target)
        if run.status == 0 and found != self.made[SECOND]:
            yield f"the second succeeded, but its output {differences(found, self.made[SECOND])}"
        if run.status != 0 and (run.status != 2 or BUSY not in run.message or PARTIAL not in run.message):
            yield f"the second ended with {run.status}: {run.message.strip()!r}"
        if found not in (None, self.made[FIRST], self.made[SECOND], self.made[OLD] if self.previous else None):
            yield "the output is not complete while the first is stopped"

    def judge_first(self, run, target):
        if run.status != 0 or run.message:
            yield f"the first ended with {run.status}: {run.message.strip()!r}"
        if fingerprint(target) not in (self.made[FIRST], self.made[SECOND]):
            yield "the output is not complete after both"


def test_pair(tap, program, name, previous, plain):
    with scratch() as root:
        pair = Pair(program, root, previous, plain)
        count = pair.count_calls()
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            results = list(pool.map(pair.meet, range(1, count + 1)))
    complaints = [text for found, _ in results for text in found]
    wrote = sum(could_write for _, could_write in results)
    if wrote in (0, count):
        complaints.append("not both: that the second may write, and that it may not")
    tap.check(not complaints, f"{name}: of {count} times, the second could write {wrote} times", complaints)


def test_refused(tap, program):
    """Without --force, the one that comes later is told that the output is there."""
    with scratch() as parent:
        target = os.path.join(parent, NAME)
        first = program.run(arguments(parent, FIRST, force=False))
        made = fingerprint(target)
        second = program.run(arguments(parent, SECOND, force=False))
        passed = first.status == 0 and second.status == 2 and "already exists" in second.message
        tap.check(passed and fingerprint(target) == made and not beside(parent), "what is there stays", [second.message])


def test_crowd(tap, program):
    """Some processes at once: one at least writes, the others say why not."""
    complaints, wrote = [], 0
    with scratch() as root:
        parent = os.path.join(root, "crowd")
        os.makedirs(parent)
        made = []
        for seed in range(CROWD):
            program.run(arguments(root, seed))
            made.append(fingerprint(os.path.join(root, NAME)))
        for _ in range(ROUNDS):
            crowd = [program.start(arguments(parent, seed)) for seed in range(CROWD)]
            messages = [process.communicate()[1] for process in crowd]
            for process, message in zip(crowd, messages):
                if process.returncode != 0 and (process.returncode != 2 or BUSY not in message):
                    complaints.append(f"one ended with {process.returncode}: {message.strip()!r}")
            written = sum(process.returncode == 0 for process in crowd)
            wrote += written
            if not written or fingerprint(os.path.join(parent, NAME)) not in made:
                complaints.append(f"{written} wrote, and the output is not complete")
            if beside(parent):
                complaints.append(f"left behind: {', '.join(beside(parent))}")
    tap.check(not complaints, f"{CROWD} at once, {ROUNDS} times: {wrote} wrote", complaints)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    parser.add_argument("--shim", required=True)
    options = parser.parse_args()
    program, tap = Program(options.lode, options.shim), Tap()
    test_pair(tap, program, "two writers", previous=False, plain=False)
    test_pair(tap, program, "two writers over a database", previous=True, plain=False)
    test_pair(tap, program, "two writers on a plain file system", previous=False, plain=True)
    test_pair(tap, program, "two writers over a database on a plain file system", previous=True, plain=True)
    test_refused(tap, program)
    test_crowd(tap, program)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
