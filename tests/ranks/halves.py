#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
An MPI program that splits its communicator builds a database in each half: both are byte-identical to that of one process.

Usage: halves.py --lode PROGRAM --program MPI=HALVES...
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from jobs import MPICH, OPENMPI, environment, missing, plugins, room, run

from building import FILES, Lode, Tap, fingerprints


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--lode", required=True)
    parser.add_argument("--program", action="append", default=[])
    options = parser.parse_args()
    programs = dict(text.split("=", 1) for text in options.program)
    tap, lode = Tap(), Lode(options.lode)
    with tempfile.TemporaryDirectory(prefix="lode-halves-", dir=room()) as folder:
        folder = Path(folder)
        recordings = [folder / name for name in ("one", "two", "three")]
        for seed, recording in enumerate(recordings, 1):
            lode.must("synth", "recording", "--seed", seed, "--records", 20000, "--tasks", 2 + seed, "-o", recording)
        lode.must("build", "--mpi", "off", "--title", "halves", "-o", folder / "serial", *recordings)
        expected = fingerprints(folder / "serial")
        for mpi in (OPENMPI, MPICH):
            reason = missing(mpi, options.lode) or (None if mpi.name in programs else "the program was not built")
            if reason:
                tap.skip(f"{mpi.name}: halves", reason)
                continue
            plugin = plugins(options.lode) / f"lode-mpi-{mpi.name}.so"
            output = folder / mpi.name
            ended = run(mpi.job(5, os.path.abspath(programs[mpi.name]), plugin, output, *recordings), environment(options.lode))
            tap.check(ended.status == 0 and "both halves are done" in ended.out, f"{mpi.name}: halves of 3 and 2 ranks build",
                      ended.describe())
            for half in "01":
                built = Path(f"{output}-{half}")
                same = built.exists() and fingerprints(built) == expected and len(expected) == len(FILES)
                tap.check(same, f"{mpi.name}: half {half} is byte-identical to one process")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
