#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The first rank is told to end while it waits for a rank that does not answer.

Usage: stopped.py --lode PROGRAM [--records N]

That is what a scheduler does at a time limit: all ranks get a signal, most of them are gone at once, and the first one must not wait for
them, or it is killed before it has cleared away its output. Here another rank is stopped (SIGSTOP), so no launcher knows of it, and then
only the first rank is told to end. The job must end with another status than 0, and nothing may be left.
"""

import argparse
import contextlib
import os
import signal
import sys
import tempfile
import time

from jobs import MPICH, OPENMPI, Job, environment, missing, room

from outcome import NAME, PARTIAL, Program
from tap import Tap

RANKS = 3
STOPPED = 1
PATIENCE = 60.0
WAITING = 2.0  # after which the first rank surely waits for the stopped one


def wait_until(job, holds):
    end = time.monotonic() + PATIENCE
    while not holds() and job.process.poll() is None and time.monotonic() < end:
        time.sleep(0.002)
    return holds()


def look_at(tap, options, mpi, root):
    recording, parent = os.path.join(root, "recording"), os.path.join(root, "parent")
    os.makedirs(parent)
    made = Program(options.lode).run(["synth", "recording", "--records", str(options.records), "--tasks", "12", "-o", recording])
    if made.status != 0:
        raise SystemExit(f"cannot make a recording: {made.message}")
    command = [options.lode, "build", "--threads", "1", recording, "-o", os.path.join(parent, NAME)]
    with Job(mpi.job(RANKS, *command), environment(options.lode), PATIENCE) as job:
        started = wait_until(job, lambda: os.path.isdir(os.path.join(parent, PARTIAL)) and len(job.ranks(mpi)) == RANKS)
        ranks = job.ranks(mpi)
        tap.check(started, f"{mpi.name}: {RANKS} ranks have begun to write", job.wait().describe() if not started else ())
        if not started:
            return
        os.kill(ranks[STOPPED], signal.SIGSTOP)
        time.sleep(WAITING)
        tap.check(job.process.poll() is None, f"{mpi.name}: the others wait for the one that is stopped")
        os.kill(ranks[0], signal.SIGTERM)
        cleared = wait_until(job, lambda: not os.listdir(parent))
        tap.check(cleared and not os.listdir(parent), f"{mpi.name}: the first rank, told to end, clears away its output", os.listdir(parent))
        with contextlib.suppress(ProcessLookupError):
            os.kill(ranks[STOPPED], signal.SIGCONT)
        ended = job.wait()
        left = job.survivors()
    tap.check(ended.status != 0 and not ended.late and not left, f"{mpi.name}: the job ends with an error, and nothing runs on",
              [*ended.describe(), f"left: {left}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--records", type=int, default=4000000)
    options = parser.parse_args()
    tap = Tap()
    for mpi in (OPENMPI, MPICH):
        if reason := missing(mpi, options.lode):
            tap.skip(f"{mpi.name}: a rank is stopped", reason)
            continue
        with tempfile.TemporaryDirectory(prefix="lode-ranks-", dir=room()) as root:
            look_at(tap, options, mpi, root)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
