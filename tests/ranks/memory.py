#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The memory of a rank depends on contexts, not on events: ten times the events, of the same program, take as much."""

import os
import sys
import tempfile
import time
from pathlib import Path

from jobs import OPENMPI, Job, environment, missing, room

from building import Lode, Tap, parse_arguments

RATIO = 1.1
RANKS = 4
MOST_RUNS = 8
# So shallow that all of its contexts are met early: what grows then grows with events. MPI itself has some 3 MB, of which a
# tenth is less than a byte for each event that comes on top.
PROGRAM = ["--tasks", "8", "--functions", "60", "--depth", "8"]
RECORDS = 500000


def anonymous(pid):
    """Bytes of anonymous memory that a process has now; 0 when it is over."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            return sum(int(line.split()[1]) << 10 for line in status if line.startswith("RssAnon"))
    except (OSError, ValueError):
        return 0


def peaks(command, env):
    """The most anonymous memory that was seen of each rank while a job ran."""
    most = {}
    with Job(command, env) as job:
        ranks = {}
        while job.process.poll() is None:
            if len(ranks) < RANKS:
                ranks = job.ranks(OPENMPI)
            for rank, pid in ranks.items():
                most[rank] = max(most.get(rank, 0), anonymous(pid))
            time.sleep(0.0005)
        ended = job.wait()
    if ended.status != 0:
        raise SystemExit("\n".join(ended.describe()))
    return [most.get(rank, 0) for rank in range(RANKS)]


def look_at(tap, lode, folder, records):
    env = environment(lode.program)
    few, many = folder / "few", folder / "many"
    lode.must("synth", "recording", *PROGRAM, "--records", records, "-o", few)
    lode.must("synth", "recording", *PROGRAM, "--records", records * 10, "-o", many)
    for trace in ("full", "none"):
        command = [lode.program, "build", "--force", "--threads", "1", "--memory", "1M", "--trace", trace, "-o", folder / "db"]
        large = peaks(OPENMPI.job(RANKS, *command, many), env)
        small = [0] * RANKS
        # On a busy machine, a short job may be over before its peak was seen.
        for _ in range(MOST_RUNS):
            small = [max(pair) for pair in zip(small, peaks(OPENMPI.job(RANKS, *command, few), env))]
            if all(large) and all(b <= a * RATIO for a, b in zip(small, large)):
                break
        text = ", ".join(f"rank {rank} {a >> 10} and {b >> 10} KiB" for rank, (a, b) in enumerate(zip(small, large)))
        tap.check(all(large) and all(b <= a * RATIO for a, b in zip(small, large)),
                  f"--trace {trace}: ten times the events take the same memory on each of {RANKS} ranks", [text])
        tap.note(text)


def main():
    options = parse_arguments(__doc__, records={"type": int, "default": RECORDS})
    lode, tap = Lode(options.lode), Tap()
    reason = missing(OPENMPI, options.lode) or (None if os.path.exists("/proc/self/status") else "there is no /proc")
    if reason:
        tap.skip("memory of ranks", reason)
        return tap.finish()
    with tempfile.TemporaryDirectory(prefix="lode-ranks-", dir=room()) as folder:
        look_at(tap, lode, Path(folder), options.records)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
