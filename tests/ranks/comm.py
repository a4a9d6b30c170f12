#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Comms of processes: what holds for threads holds for MPI jobs, and a rank that fails ends the job.

Usage: comm.py --lode PROGRAM --rank COMM_RANK --other PLUGIN

PLUGIN is one of another version.
"""

import argparse
import os
import sys
import tempfile

from jobs import MPICH, OPENMPI, environment, missing, plugins, run

from tap import Tap

MEMBERS = {"openmpi": (1, 2, 5), "mpich": (1, 2, 3)}
WAITS = ("broadcast", "fold", "scan", "gather", "exchange", "one-to-one", "meet", "poll")
PATIENCE = 120.0  # a job that takes longer hangs


class Bench:
    def __init__(self, tap, options, folder):
        self.tap, self.options, self.folder = tap, options, folder
        # MPI libraries keep memory until the end.
        self.env = environment(options.lode, ASAN_OPTIONS="detect_leaks=0")

    def rank(self, plugin, *arguments):
        return [os.path.abspath(self.options.rank), os.path.abspath(plugin), *arguments]

    def job(self, mpi, size, *arguments):
        plugin = plugins(self.options.lode) / f"lode-mpi-{mpi.name}.so"
        return run(mpi.job(size, *self.rank(plugin, *arguments)), self.env, PATIENCE)

    def refused(self, plugin, name, *words):
        """Nothing is joined; the message names the file and says what to do."""
        ended = run(self.rank(plugin, "checks", "/dev/null"), self.env, PATIENCE)
        lacking = [word for word in (os.path.basename(plugin), *words) if word not in ended.err]
        self.tap.check(ended.status == 2 and not lacking, name, [*lacking, *ended.describe()])

    def holds(self, mpi, size):
        ended = self.job(mpi, size, "checks", os.path.join(self.folder, f"{mpi.name}-{size}"))
        said = f"checks hold for {size} ranks of {mpi.name}, {size} of them here"
        self.tap.check(ended.status == 0 and said in ended.out, f"{mpi.name}: all checks hold for {size} ranks",
                       ended.describe())

    def fails(self, mpi, size, wait, rank):
        ended = self.job(mpi, size, "fail", wait, rank)
        said = f"rank 0 says: no room at rank {rank}"
        passed = ended.status != 0 and ended.err.count(said) == 1 and not ended.late
        self.tap.check(passed, f"{mpi.name}: rank {rank} of {size} fails, others wait in {wait}: rank 0 says why",
                       ended.describe())

    def dies(self, mpi, size, wait, rank):
        ended = self.job(mpi, size, "die", wait, rank)
        self.tap.check(ended.status != 0 and not ended.late,
                       f"{mpi.name}: rank {rank} of {size} is killed, others wait in {wait}: the job ends", ended.describe())


def look_at(bench, mpi):
    sizes = MEMBERS[mpi.name]
    for size in sizes:
        bench.holds(mpi, size)
    for wait in WAITS:
        bench.fails(mpi, 3, wait, 2)
    bench.fails(mpi, 3, "meet", 0)
    bench.fails(mpi, sizes[-1], "exchange", 1)
    bench.fails(mpi, 1, "meet", 0)
    bench.dies(mpi, 3, "fold", 1)
    bench.dies(mpi, 3, "exchange", 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lode", required=True)
    parser.add_argument("--rank", required=True)
    parser.add_argument("--other", required=True)
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lode-mpi-") as folder:
        bench = Bench(tap, options, folder)
        bench.refused(os.path.join(folder, "gone.so"), "a plug-in that is not there is refused", "cannot load")
        bench.refused(options.other, "a plug-in of another version is refused", "installed with this version")
        for mpi in (OPENMPI, MPICH):
            why = missing(mpi, options.lode)
            if why:
                tap.skip(f"{mpi.name}: jobs", why)
            else:
                look_at(bench, mpi)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
