#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode compare` by function against `lode top` on both databases: compare_top.py BUILD [--profiles N] [--contexts N]. Processor time, best of
several runs. Exits with 1 if comparing takes more than 2 times both tops.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 20
LIMIT = 2.0


def processor_time(*words):
    best = float("inf")
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*map(str, words)], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--profiles", type=int, default=100_000)
    parser.add_argument("--contexts", type=int, default=2_000)
    parser.add_argument("--density", default="0.02", help="share of the source lines with values in a profile")
    options = parser.parse_args()
    lode = options.build / "src" / "cli" / "lode"
    with tempfile.TemporaryDirectory(dir=os.environ.get("LODE_BENCH_DIR")) as folder:
        stores = [Path(folder) / name for name in ("base", "new")]
        for seed, store in enumerate(stores, 1):
            subprocess.run([lode, "synth", "database", "--profiles", str(options.profiles), "--contexts", str(options.contexts), "--density",
                            options.density, "--samples", "0", "--seed", str(seed), "-o", store], check=True)
        top = sum(processor_time(lode, "top", store) for store in stores)
        for words in ([], ["--tree"], ["--by", "line"]):
            print(f"lode compare {' '.join(words)}: {1e3 * processor_time(lode, 'compare', *words, *stores):.1f} ms")
        compare = processor_time(lode, "compare", *stores)
    print(f"lode top on both: {1e3 * top:.1f} ms; lode compare takes {compare / top:.2f} of that")
    return 1 if compare > LIMIT * top else 0


if __name__ == "__main__":
    sys.exit(main())
