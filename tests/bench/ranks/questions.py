#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Questions to a database on ranks: processor time of the busiest rank, and what ranks send (programs/on_ranks.c).

Usage: questions.py BUILD [--profiles N] [--contexts N] [--ranks N,N...] [--assert RATIO]

With --assert, the busiest of M ranks takes at most RATIO / M of the time of one. At full size: --profiles 1500 --contexts 20000 --ranks 2,4,8,64.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--profiles", type=int, default=1500)
    parser.add_argument("--contexts", type=int, default=20000)
    parser.add_argument("--ranks", default="2,4,8,64")
    parser.add_argument("--assert", dest="ratio")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lode-bench-") as folder:
        database = Path(folder) / "db"
        size = ["--profiles", str(options.profiles), "--contexts", str(options.contexts)]
        subprocess.run([options.build / "src/cli/lode", "synth", "database", *size, "-o", database], check=True, stdout=subprocess.DEVNULL)
        limit = [options.ratio or "0"]
        program = options.build / "tests/bench/on_ranks"
        done = subprocess.run([program, database, Path(folder) / "converted", options.ranks, *limit], check=False).returncode
        if done == 0:
            # Without cct.db, diagnoses read profiles.
            (database / "cct.db").unlink()
            done = subprocess.run([program, database, Path(folder) / "converted", options.ranks, *limit, "diagnose"], check=False).returncode
    return done


if __name__ == "__main__":
    sys.exit(main())
