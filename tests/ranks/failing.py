#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One rank of four fails: its disk is full, it dies between two writes, or what it reads is damaged. Or all of them: there is no room.

Usage: failing.py --lode PROGRAM --shim SHIM [--calls N]

Whichever rank it is, the job ends with another status than 0, says why in one message, and leaves nothing. --calls says at
how many of the calls by which a rank changes the file system this is tried; 0 is all of them. Of recordings and of measurements.
"""

import argparse
import errno
import os
import sys
import tempfile
from pathlib import Path

from jobs import MPICH, OPENMPI, environment, missing, room, run

from made_measurements import many_profiles
from outcome import NAME, PARTIAL, Program, Run, Situation, differences, fingerprint, read_log
from tap import Tap

RANKS = 4
PATIENCE = 120.0  # a job that takes longer hangs
RECORDINGS = 8
PROFILES = 60
DAMAGED = 5
# The shim is for one rank only: those that wait for it must not be disturbed.
WRAPPER = """#!/bin/sh
if [ "${%(variable)s}" = "$LODE_FAULT_RANK" ]; then
    LD_PRELOAD=$LODE_FAULT_SHIM
    export LD_PRELOAD
fi
exec "$@"
"""

# A disk of so many bytes is at DIR for a job, whose status it has; then prints what is left there.
SMALL = """mount -t tmpfs -o size="$1" none "$2" || exit 77
directory=$2
shift 2
"$@"
status=$?
ls -A "$directory"
exit $status
"""
NO_MOUNT = 77


class Bench:
    def __init__(self, options, mpi, root, measured=False):
        self.mpi, self.root, self.lode = mpi, root, os.path.abspath(options.lode)
        self.shim, self.calls = os.path.abspath(options.shim), options.calls
        self.program = Program(options.lode)
        self.wrapper = os.path.join(root, "wrapper")
        with open(self.wrapper, "w", encoding="ascii") as stream:
            stream.write(WRAPPER % {"variable": mpi.rank})
        os.chmod(self.wrapper, 0o755)
        self.name = f"{mpi.name}, measurements" if measured else mpi.name
        self.sources = [os.path.join(root, "measurements")] if measured else self.make_recordings()
        if measured:
            many_profiles(Path(self.sources[0]), PROFILES)

    def make_recordings(self):
        paths = [os.path.join(self.root, f"recording-{i}") for i in range(RECORDINGS)]
        for i, path in enumerate(paths):
            done = self.program.run(["synth", "recording", "--records", "100000", "--tasks", "2", "--functions", "100",
                                     "--seed", str(i + 1), "-o", path])
            if done.status != 0:
                raise SystemExit(f"cannot make a recording: {done.message}")
        return paths

    def run(self, parent, rank=None, log=None, options=(), before=(), **settings):
        """A job; settings are those of the shim on one rank, in small letters and without their prefix. `before` starts it."""
        shimmed = {f"LODE_FAULT_{name.upper()}": str(value) for name, value in settings.items()}
        if rank is not None:
            shimmed |= {"LODE_FAULT_SHIM": self.shim, "LODE_FAULT_RANK": str(rank), "LODE_FAULT_FAST": "1"}
        if log:
            shimmed["LODE_FAULT_LOG"] = log
        os.makedirs(parent, exist_ok=True)
        command = [self.wrapper, self.lode, "build", "--threads", "1", *options, *self.sources, "-o",
                   os.path.join(parent, NAME)]
        return run([*before, *self.mpi.job(RANKS, *command)], environment(self.lode, **shimmed), PATIENCE)

    def calls_of(self, rank):
        """[(number, class)] of the calls by which a rank changes what is written; what MPI does for itself is left out."""
        log, parent = os.path.join(self.root, f"log-{rank}"), os.path.join(self.root, f"undisturbed-{rank}")
        ended = self.run(parent, rank, log=log)
        calls = [(number, kind) for number, (_, kind, about) in enumerate(read_log(log), 1) if PARTIAL in about]
        return ended, fingerprint(os.path.join(parent, NAME)), calls

    def chosen(self, numbers):
        """Some of the numbers, the first and the last among them."""
        if self.calls in (0, 1) or len(numbers) <= self.calls:
            return numbers
        return sorted({numbers[i * (len(numbers) - 1) // (self.calls - 1)] for i in range(self.calls)})

    def problems(self, parent, ended, *words):
        """Complaints about a job that must have failed with one message that has these words."""
        if ended.status == 0:
            yield "the status is 0"
        if ended.late:
            yield f"it took {ended.seconds:.1f} s"
        if len(ended.messages()) != 1:
            yield f"{len(ended.messages())} messages: {ended.err}"
        else:
            yield from (f"the message has no '{word}': {ended.messages()[0]}" for word in words
                        if word not in ended.messages()[0])
        found = fingerprint(os.path.join(parent, NAME))
        if found is not None:
            yield f"the output {differences(found, None)}"

    def complete_again(self, parent, expected):
        """Complaints about the job that comes next."""
        ended = self.run(parent)
        return [f"next job: {text}" for text in Situation(self.program, parent, expected).succeeded(ended.as_run())]


def small_disks(tap, bench, expected):
    """A disk that all share, and that has no room for all: whoever meets that first, one of them says so; MPI, in its own words."""
    total = sum(entry[0] for entry in expected.values() if entry)
    parent = os.path.join(bench.root, "small")
    for way in ("each", "jointly"):
        name, complaints = f"{bench.name}: there is no room for what ranks write, {way}", []
        words = [os.strerror(errno.ENOSPC)] if way == "each" else []
        for share in (0.3, 0.9):
            disk = ["unshare", "--mount", "sh", "-c", SMALL, "sh", int(total * share), parent]
            ended = bench.run(parent, options=["--write", way], before=disk)
            if ended.status == NO_MOUNT:
                tap.skip(name, "there is no disk to be had")
                break
            found = [*bench.problems(parent, ended, *words), *(f"left behind: {left}" for left in ended.out.split())]
            complaints += [f"a disk for {share} of it: {text}" for text in found]
        else:
            tap.check(not complaints, name, complaints)


def is_last_sync(call, parent):
    """Of the name of the output. On a disk that is full for good, what was renamed cannot be renamed back."""
    return call[0] == "fsync" and call[2] == os.path.realpath(parent)


def full_disk(bench, rank, number, expected):
    """One job, and what is wrong with how it ended. MPI makes calls too, now more and now less: what failed is in the log."""
    parent, log = os.path.join(bench.root, f"full-{rank}-{number}"), os.path.join(bench.root, f"full-{rank}-{number}.log")
    ended = bench.run(parent, rank, log=log, mode="full", at=number, errno=errno.ENOSPC)
    situation, reason = Situation(bench.program, parent, expected), os.strerror(errno.ENOSPC)
    if ended.status == 0:
        # Nothing needed room any more: then all must be there.
        return ended, list(situation.succeeded(ended.as_run()))
    if is_last_sync(read_log(log)[number - 1], parent):
        return ended, list(situation.astray(Run(ended.status, "\n".join(ended.messages())), reason))
    return ended, [*bench.problems(parent, ended, reason), *situation.leftovers()]


def full_disks(tap, bench, rank, calls, expected):
    numbers = bench.chosen([number for number, kind in calls if kind in ("room", "write")])
    complaints, ends = [], []
    for number in numbers:
        ended, found = full_disk(bench, rank, number, expected)
        ends.append("succeeded" if ended.status == 0 else "failed")
        complaints += [f"call {number}: {text}" for text in found]
    complaints += bench.complete_again(os.path.join(bench.root, f"full-{rank}-{numbers[0]}"), expected)
    tap.check(not complaints and ends[0] == "failed", f"{bench.name}: the disk of rank {rank} is full at each of "
              f"{len(numbers)} calls: {ends.count('failed')} failed, {ends.count('succeeded')} succeeded", complaints)


def kills(tap, bench, rank, calls, expected):
    """Between two writes: moments that chance seldom finds. Where the output is in place already, it is whole."""
    numbers = bench.chosen([number for number, _ in calls])
    complaints, wholes = [], 0
    for number in numbers:
        parent, log = os.path.join(bench.root, f"kill-{rank}-{number}"), os.path.join(bench.root, f"kill-{rank}-{number}.log")
        ended = bench.run(parent, rank, log=log, mode="kill", at=number)
        found = list(Situation(bench.program, parent, expected).killed())
        wholes += os.path.lexists(os.path.join(parent, NAME))
        was_killed = len(read_log(log)) >= number
        if (ended.status == 0 and was_killed) or ended.late or ended.messages():
            found += ended.describe()
        complaints += [f"call {number}: {text}" for text in found]
    complaints += bench.complete_again(os.path.join(bench.root, f"kill-{rank}-{numbers[0]}"), expected)
    tap.check(not complaints and wholes < len(numbers), f"{bench.name}: rank {rank} is killed at each of {len(numbers)} calls: "
              f"{len(numbers) - wholes} times no output, {wholes} times it was in place", complaints)


def damage(path):
    """Breaks a record in the middle of a task."""
    name = sorted(name for name in os.listdir(path) if name.endswith(".dat"))[0]
    with open(os.path.join(path, name), "r+b") as stream:
        stream.seek(os.path.getsize(stream.name) // 32 * 16)
        stream.write(b"\xff" * 64)


def bad_input(tap, bench):
    path = bench.sources[DAMAGED]
    damage(path)
    parent = os.path.join(bench.root, "damaged")
    ended = bench.run(parent, options=["--strict"])
    complaints = [*bench.problems(parent, ended, path), *(f"left behind: {name}" for name in os.listdir(parent))]
    tap.check(not complaints, f"{bench.name}: one rank meets a damaged record: one message names the recording", complaints)
    ended = bench.run(parent)
    tap.check(ended.status == 0 and fingerprint(os.path.join(parent, NAME)), f"{bench.name}: without --strict it is repaired",
              ended.describe())
    with open(os.path.join(path, "info"), "r+b") as stream:
        stream.write(b"no recording")
    parent = os.path.join(bench.root, "unreadable")
    ended = bench.run(parent, options=["--strict"])
    complaints = [*bench.problems(parent, ended, path), *(f"left behind: {name}" for name in os.listdir(parent))]
    tap.check(not complaints, f"{bench.name}: all ranks meet what is no recording: one message names it", complaints)


def bad_measurements(tap, bench):
    """A profile without its end, as a killed process leaves it."""
    profile = sorted(Path(bench.sources[0]).glob("*.hpcrun"))[PROFILES // 2]
    profile.write_bytes(profile.read_bytes()[:-50])
    parent = os.path.join(bench.root, "damaged")
    ended = bench.run(parent, options=["--strict"])
    complaints = [*bench.problems(parent, ended, profile.name), *(f"left behind: {name}" for name in os.listdir(parent))]
    tap.check(not complaints, f"{bench.name}: one rank meets a damaged profile: one message names it", complaints)
    ended = bench.run(parent)
    built = fingerprint(os.path.join(parent, NAME))
    profile.unlink()
    profile.with_suffix(".hpctrace").unlink()
    alone = os.path.join(bench.root, "alone")
    bench.run(alone)
    tap.check(ended.status == 0 and built and built == fingerprint(os.path.join(alone, NAME)) and "1 finding copied" in ended.out + ended.err,
              f"{bench.name}: without --strict it is a finding, and the rest is built", ended.describe())
    for other in Path(bench.sources[0]).glob("*.hpcrun"):
        other.write_bytes(other.read_bytes()[:-50])
    parent = os.path.join(bench.root, "unreadable")
    ended = bench.run(parent)
    complaints = [*bench.problems(parent, ended), *(f"left behind: {name}" for name in os.listdir(parent))]
    tap.check(not complaints, f"{bench.name}: no profile can be used: one message", complaints)


def look_at(tap, bench, bad):
    expected = None
    for rank in (2, 0):
        ended, found, calls = bench.calls_of(rank)
        tap.check(ended.status == 0 and found and len(calls) > 20, f"{bench.name}: rank {rank} makes {len(calls)} calls",
                  ended.describe())
        tap.check(expected in (None, found), f"{bench.name}: the shim changes nothing")
        expected = found
        if calls:
            full_disks(tap, bench, rank, calls, expected)
            kills(tap, bench, rank, calls, expected)
    if expected:
        small_disks(tap, bench, expected)
    bad(tap, bench)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--shim", required=True)
    parser.add_argument("--calls", type=int, default=3)
    options = parser.parse_args()
    tap = Tap()
    for mpi in (OPENMPI, MPICH):
        if reason := missing(mpi, options.lode):
            tap.skip(f"{mpi.name}: one rank fails", reason)
            continue
        for bad in (bad_input, bad_measurements):
            with tempfile.TemporaryDirectory(prefix="lode-ranks-", dir=room()) as root:
                bench = Bench(options, mpi, root, measured=bad is bad_measurements)
                if mpi is OPENMPI:
                    look_at(tap, bench, bad)
                else:
                    bad(tap, bench)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
