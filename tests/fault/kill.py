#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A writer is killed at random moments.

Usage: kill.py --lode PROGRAM [--kills N] [--profiles N] [--contexts N] [--samples N] [--seed N] [--directory DIR]

One run is measured; then N runs are killed with SIGKILL after delays that spread over all of its time, a third of them over its last
fifth; half of the runs replace a small database. Each time, the output must be the one before or, if it was in place already, the new
one, and nothing that is left may open as a database. What was left stays for the next run, which has to clear it; at the end,
runs that nobody kills. A run that ended before it could be killed does not count, and is repeated with a shorter delay.

By hand, 200 kills of a run that writes about 1 GB (twice that on the disk):

    nice tests/fault/kill.py --lode build-release/src/cli/lode --kills 200 --profiles 12000
"""
import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from outcome import NAME, PARTIAL, Program, Run, Situation, fingerprint  # noqa: E402
from tap import Tap  # noqa: E402

PHASES = ["before it began", "describing", "writing profiles", "transposing", "ending files", "committing", "clearing",
          "complete"]
TRIES = 20


def phase(situation):
    """What a killed run was doing, by what it left."""
    staging = os.path.join(situation.parent, PARTIAL)
    new = os.path.join(staging, "new")

    def size(name):
        path = os.path.join(new, name)
        return os.path.getsize(path) if os.path.exists(path) else 0

    def has_header(name):
        if not size(name):
            return False
        with open(os.path.join(new, name), "rb") as stream:
            return stream.read(1) != b"\0"

    if fingerprint(situation.target) == situation.expected:
        return "clearing" if os.path.exists(staging) else "complete"
    if not os.path.exists(staging):
        return "before it began"
    if has_header("meta.db"):
        return "committing"
    if has_header("profile.db"):
        return "ending files"
    if size("cct.db"):
        return "transposing"
    return "writing profiles" if size("profile.db") else "describing"


class Campaign:
    """The same database, written again and again."""

    def __init__(self, options, root):
        self.program, self.root = Program(options.lode), root
        self.parameters = ["synth", "database", "--profiles", str(options.profiles), "--contexts", str(options.contexts),
                           "--samples", str(options.samples), "--threads", str(options.threads)]
        self.old = os.path.join(root, "old")
        small = ["synth", "database", "--profiles", "3", "--contexts", "40", "-o", self.old]
        reference = os.path.join(root, "reference")
        made = self.program.run(small)
        start = time.monotonic()
        measured = self.program.run([*self.parameters, "-o", reference])
        self.seconds = time.monotonic() - start
        if made.status != 0 or measured.status != 0:
            raise SystemExit(f"cannot make a database: {made.message}{measured.message}")
        self.expected = fingerprint(reference)
        self.bytes = sum(entry[0] for entry in self.expected.values() if entry)
        self.early = 0  # runs that ended before they were killed
        shutil.rmtree(reference)

    def situation(self, forced):
        """A directory in which runs are killed; with `forced`, there is something to replace."""
        parent = os.path.join(self.root, "forced" if forced else "fresh")
        situation = Situation(self.program, parent, self.expected, fingerprint(self.old) if forced else None)
        os.makedirs(parent, exist_ok=True)
        if fingerprint(situation.target) != situation.previous:
            shutil.rmtree(situation.target, ignore_errors=True)
            if forced:
                shutil.copytree(self.old, situation.target)
        return situation

    def arguments(self, situation):
        return [*self.parameters, "-o", situation.target, *(["--force"] if situation.previous else [])]

    def run_or_kill(self, situation, delay):
        """Complaints about one run, and whether it was killed."""
        start = time.monotonic()
        process = self.program.start(self.arguments(situation))
        try:
            _, message = process.communicate(timeout=delay)
            self.seconds = (self.seconds + time.monotonic() - start) / 2
            return list(situation.succeeded(Run(process.returncode, message))), False
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        if process.returncode != -signal.SIGKILL:
            return [f"it ended with {process.returncode}"] if process.returncode else [], False
        complaints = list(situation.killed())
        if fingerprint(situation.target) == self.expected and not self.program.opens(situation.target):
            complaints.append("the output is complete, but does not open")
        return complaints, True

    def kill(self, forced, share):
        """Complaints about one killed run, and its phase. `share` is the part of a run's time after which it is killed."""
        complaints = []
        for _ in range(TRIES):
            situation = self.situation(forced)
            found, killed = self.run_or_kill(situation, self.seconds * share)
            complaints += [f"after {share:.1%} of {self.seconds:.2f} s: {text}" for text in found]
            if killed:
                return complaints, phase(situation)
            self.early += 1
            share *= 0.95
        return [*complaints, "it always ends before it is killed"], "complete"

    def last(self, forced):
        """Complaints about a run that nobody kills."""
        situation = self.situation(forced)
        return list(situation.succeeded(self.program.run(self.arguments(situation))))


def moments(count, chance):
    """Shares of a run's time: one in each of as many equal parts of all of it, and of its last fifth; in any order."""
    late = count // 3
    found = [(i + chance.random()) / (count - late) for i in range(count - late)]
    found += [0.8 + 0.2 * (i + chance.random()) / late for i in range(late)]
    chance.shuffle(found)
    return found


def run_campaign(tap, campaign, kills, forced, chance):
    complaints, phases = [], []
    for share in moments(kills, chance):
        found, where = campaign.kill(forced, share)
        complaints += found
        phases.append(where)
    name = "runs that replace a database" if forced else "runs where nothing was"
    counts = ", ".join(f"{phases.count(where)} {where}" for where in PHASES if where in phases)
    tap.check(not complaints, f"{kills} killed {name}: {counts}", complaints)
    left = campaign.last(forced)
    tap.check(not left, "the next run clears what was left", left)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--profiles", type=int, default=600)
    parser.add_argument("--contexts", type=int, default=2000)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--directory", help="where to write")
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lode-", dir=options.directory) as root:
        campaign = Campaign(options, root)
        tap.note(f"a run writes {campaign.bytes / 1e6:.0f} MB in {campaign.seconds:.2f} s")
        for forced in (False, True):
            run_campaign(tap, campaign, options.kills // 2, forced, random.Random(options.seed + forced))
        tap.note(f"{campaign.early} runs ended before they were killed, and were repeated")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
