#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode merge` and `lode slice` in jobs: ranks of every MPI write the bytes that one process writes, and a rank that cannot open a
database ends the job without an output.

Usage: merging.py --lode PROGRAM
"""

import argparse
import sys
import tempfile
from pathlib import Path

from jobs import MPICH, OPENMPI, environment, missing, room, run

import corpora
from tap import Tap

LOOPS = "toolkit-loops-cputime-t-v0"


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def corpus():
    """A database with loops, whose sums depend on their order; None without a corpus."""
    root = corpora.root()
    database = root / "hpctoolkit" / "final" / LOOPS
    return [database] if database.is_dir() else []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True)
    options = parser.parse_args()
    tap, lode = Tap(), str(Path(options.lode).resolve())
    env = environment(lode)
    with tempfile.TemporaryDirectory(prefix="lode-merging-", dir=room()) as scratch:
        folder = Path(scratch)
        for seed in "123":
            run([lode, "synth", "database", "--seed", seed, "--profiles", "20", "--contexts", "200", "-o", folder / f"db{seed}"], env=env)
        stores = [folder / "db1", folder / "db2", folder / "db3", *corpus()]
        commands = {"merge": ["merge", "--threads", "2", *stores],
                    "slice": ["slice", "--threads", "1", "--depth", "5", "--min-share", "0.5", folder / "db1"],
                    "slice of a time window": ["slice", "--from", "1us", folder / "db2"]}
        for title, command in commands.items():
            alone = folder / f"alone {title}"
            done = run([lode, *command, "--mpi", "off", "-o", alone], env=env)
            tap.check(done.status == 0 and alone.is_dir(), f"{title}: one process", [done.err])
            for mpi in (OPENMPI, MPICH):
                for ranks in (2, 3):
                    name = f"{title}: {ranks} ranks of {mpi.name}"
                    why = missing(mpi, lode)
                    if why:
                        tap.skip(name, why)
                        continue
                    target = folder / f"{mpi.name} {ranks} {title}"
                    done = run(mpi.job(ranks, lode, *command, "-o", target), env=env)
                    tap.check(done.status == 0 and target.is_dir() and contents(target) == contents(alone), name, [done.err])
        for mpi in (OPENMPI, MPICH):
            if missing(mpi, lode):
                tap.skip(f"a store that is not there: {mpi.name}", missing(mpi, lode))
                continue
            done = run(mpi.job(2, lode, "merge", folder / "db1", folder / "nothing", "-o", folder / "none"), env=env)
            tap.check(done.status != 0 and not (folder / "none").exists(), f"a store that is not there: {mpi.name}",
                      [done.status, done.err])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
