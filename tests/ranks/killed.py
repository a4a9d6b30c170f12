#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One rank of four is killed at a random moment.

Usage: killed.py --lode PROGRAM [--runs N] [--records N] [--profiles N] [--seed N] [--mpi NAME]
       [--kind recording|measurements]

Of recordings and of measurements: one job is measured; then N jobs lose a rank that chance chooses, after a time that spreads over all of a job's, and N more that would have
replaced a database. Each time the job must end with another status than 0, with nothing that runs on, and what was there before is
there still: no output, or the previous one, whole. What a job left stays for the next one, which has to clear it; at the end, a job
that nobody disturbs. A job that had its output in place before the kill does not count, and is repeated with a shorter time.

If a rank dies while MPI starts, the launcher of Open MPI 4.1 now and then waits for ever on a lock of its own, when all ranks are gone,
whatever program they ran (openpmix issue 1233 is of that kind). Such jobs are ended, noted, and judged by all the rest.

By hand, 50 of each:

    tests/ranks/killed.py --lode build/src/cli/lode --runs 50
"""

import argparse
import contextlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from jobs import MPICH, OPENMPI, Job, environment, has_open, missing, room

from made_measurements import many_profiles
from outcome import NAME, PARTIAL, Program, Situation, differences, fingerprint
from tap import Tap

RANKS = 4
RECORDING, MEASURED = "recording", "measurements"
PATIENCE = 120.0  # a job that takes longer hangs
STARTING = 30.0  # for a job whose ranks have not begun to work
TRIES = 8


class Campaign:
    """The same job again and again, of one MPI; `kind` is what it builds from."""

    def __init__(self, options, mpi, root, kind):
        self.mpi, self.root, self.env = mpi, root, environment(options.lode)
        self.program = Program(options.lode)
        self.chance = random.Random(options.seed)
        self.source, self.old = os.path.join(root, kind), os.path.join(root, "old")
        if kind == RECORDING:
            self.make(kind, "--records", options.records, "--tasks", 16, "-o", self.source)
        else:
            many_profiles(Path(self.source), options.profiles)
        self.make("database", "--profiles", 3, "--contexts", 40, "-o", self.old)
        self.previous = fingerprint(self.old)
        self.longest, self.stuck = 0.0, 0

    def make(self, kind, *arguments):
        done = self.program.run(["synth", kind, *map(str, arguments)])
        if done.status != 0:
            raise SystemExit(f"cannot make a {kind}: {done.message}")

    def job(self, parent, *options):
        command = [self.program.lode, "build", "--threads", "1", *options, self.source, "-o", os.path.join(parent, NAME)]
        return Job(self.mpi.job(RANKS, *command), self.env, PATIENCE + 10)

    def wait_for_ranks(self, job):
        """{rank: pid} as soon as all are there, or what there is of them when the job ends."""
        while True:
            found = job.ranks(self.mpi)
            if len(found) == RANKS or job.process.poll() is not None:
                return found
            time.sleep(0.005)

    def measure(self, parent):
        """What an undisturbed job gives, and how long its ranks run."""
        os.makedirs(parent)
        with self.job(parent) as job:
            self.wait_for_ranks(job)
            begin = time.monotonic()
            ended = job.wait()
            self.seconds = time.monotonic() - begin
        self.expected = fingerprint(os.path.join(parent, NAME))
        return ended

    def situation(self, parent, previous):
        return Situation(self.program, parent, self.expected, previous, self.source)

    def kill_once(self, parent, previous, share):
        """Kills a rank after a share of the time that a job takes. Complaints; None if it was too late for that."""
        rank = self.chance.randrange(RANKS)
        with self.job(parent, *(["--force"] if previous else [])) as job:
            ranks = self.wait_for_ranks(job)
            time.sleep(share * self.seconds)
            killed, has_begun = time.monotonic(), any(has_open(pid, PARTIAL) for pid in ranks.values())
            with contextlib.suppress(ProcessLookupError, KeyError):
                os.kill(ranks[rank], signal.SIGKILL)
            if not has_begun:
                job.limit = killed - job.begin + STARTING
            ended = job.wait()
            waited = time.monotonic() - killed
            left = job.survivors()
        is_stuck = ended.late and not has_begun and "lode" not in ended.running
        found = fingerprint(os.path.join(parent, NAME))
        if found == self.expected:
            return None
        self.stuck += is_stuck
        self.longest = max(self.longest, 0 if is_stuck else waited)
        is_late = ended.late and not is_stuck
        complaints = [f"it went on for {waited:.0f} s: {', '.join(ended.running)}"] if is_late else []
        complaints += self.complaints(parent, previous, found, ended, left)
        return [f"rank {rank} after {share:.2f} of the time: {text}" for text in complaints]

    def complaints(self, parent, previous, found, ended, left):
        if ended.status == 0:
            yield "the status is 0"
        if left:
            yield f"{len(left)} processes run on"
        if found != previous:
            yield f"the output {differences(found, previous)}"
        yield from self.situation(parent, previous).openings()

    def kill(self, parent, previous):
        """Complaints about one job that was killed before its output was in place."""
        share = self.chance.random()
        for _ in range(TRIES):
            found = self.kill_once(parent, previous, share)
            if found is not None:
                return found
            self.restore(parent, previous)
            share *= 0.8
        return [f"{TRIES} jobs were complete before a rank could be killed"]

    def restore(self, parent, previous):
        """The folder as it was before a job that was complete."""
        target = os.path.join(parent, NAME)
        shutil.rmtree(target, ignore_errors=True)
        if previous:
            self.make("database", "--profiles", 3, "--contexts", 40, "-o", target)

    def last(self, parent, previous):
        """Complaints about a job that nobody disturbs, after all the others."""
        with self.job(parent, *(["--force"] if previous else [])) as job:
            ended = job.wait()
        return list(self.situation(parent, previous).succeeded(ended.as_run()))


def look_at(tap, campaign, runs, name):
    ended = campaign.measure(os.path.join(campaign.root, "measured"))
    if not tap.check(ended.status == 0 and campaign.expected, f"{name}: a job of {RANKS} ranks is complete", ended.describe()):
        return
    for title, previous in (("", None), (" over a database", campaign.previous)):
        parent = os.path.join(campaign.root, f"parent{len(title)}")
        os.makedirs(parent)
        campaign.restore(parent, previous)
        campaign.longest, campaign.stuck = 0.0, 0
        complaints = [text for _ in range(runs) for text in campaign.kill(parent, previous)]
        what = "the previous database is whole" if previous else "no output"
        tap.check(not complaints, f"{name}: {runs} jobs{title} that lost a rank: an end, an error, {what}", complaints)
        tap.note(f"jobs take {campaign.seconds:.2f} s; the longest went on for {campaign.longest:.2f} s after the kill")
        if campaign.stuck:
            tap.note(f"{campaign.stuck} launchers were stuck after a rank died while MPI started")
        complaints = campaign.last(parent, previous)
        tap.check(not complaints, f"{name}: a job after them{title} is complete, and nothing is left", complaints)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--records", type=int, default=10000000)
    parser.add_argument("--profiles", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mpi", choices=["openmpi", "mpich"])
    parser.add_argument("--kind", choices=[RECORDING, MEASURED])
    options = parser.parse_args()
    tap = Tap()
    for mpi in (OPENMPI, MPICH):
        if options.mpi not in (None, mpi.name):
            continue
        if reason := missing(mpi, options.lode):
            tap.skip(f"{mpi.name}: a rank is killed", reason)
            continue
        for kind in [options.kind] if options.kind else [RECORDING, MEASURED]:
            runs = options.runs if mpi is OPENMPI else max(1, options.runs // 4)
            with tempfile.TemporaryDirectory(prefix="lode-ranks-", dir=room()) as root:
                look_at(tap, Campaign(options, mpi, root, kind), runs, f"{mpi.name}, {kind}")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
