#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Pairing two trees against opening both: compare.py BUILD [--contexts N]. Makes two databases of one synthetic program, and prints the
processor time that `tests/bench/compare_trees` takes to open both with their costs, to compare them by function, and to pair the trees.
Exits with 1 if pairing takes more than 3 times opening.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--contexts", type=int, default=5_000_000)
    options = parser.parse_args()
    lode = options.build / "src" / "cli" / "lode"
    with tempfile.TemporaryDirectory(dir=os.environ.get("LODE_BENCH_DIR")) as folder:
        for name in ("base", "new"):
            subprocess.run([lode, "synth", "database", "--contexts", str(options.contexts), "--profiles", "2", "-o", Path(folder) / name],
                           check=True)
        done = subprocess.run([options.build / "tests" / "bench" / "compare_trees", Path(folder) / "base", Path(folder) / "new"], check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
