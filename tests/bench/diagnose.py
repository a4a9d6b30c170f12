#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode diagnose` against `lode top` and a pass over all trace lines: diagnose.py BUILD [--profiles N] [--contexts N] [--density X] [--samples N], or
diagnose.py BUILD --store DATABASE. Processor time, best of several runs, and anonymous memory. The database is one of `lode synth` whose functions get
names of MPI, OpenMP, allocation and files. Then a recording and a trace store of --records records. Exits with 1 if 100,000 profiles or fewer take 2 s
without --deep, or more than 3 KiB of memory for each, or if calls take more than 3 times `lode top`.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import measure

RUNS = 5
MOST = 2.0  # seconds
MEMORY = 3 / 1024  # MiB for each profile
RATIO = 3.0  # to `lode top`, for calls
NAMES = {0: b"MPI_Wait", 1: b"MPI_Send", 2: b"a._omp_fn.", 3: b"malloc", 4: b"write", 5: b"GOMP_barr"}


def rename(store):
    """Functions by the last digit of their number; names keep their length."""
    path = store / "meta.db"

    def other(match):
        size, digit = len(match[0]), int(match[1]) % 10
        return (NAMES[digit] + match[1])[:size - 1].ljust(size, b"\0") if digit in NAMES else match[0]

    path.write_bytes(re.sub(rb"function(\d+)\0", other, path.read_bytes()))


def run(*words):
    """The least processor time, and the most anonymous memory in MiB."""
    best, most = float("inf"), 0
    for _ in range(RUNS):
        before = measure.processor_time()
        with subprocess.Popen([*map(str, words)], stdout=subprocess.DEVNULL) as process:
            most = max(most, measure.anonymous_peak(process))
        if process.returncode:
            sys.exit(f"{words}: {process.returncode}")
        best = min(best, measure.processor_time() - before)
    return best, most


def calls(lode, folder, records):
    """The largest ratio to `lode top`, of a recording and of requests."""
    worst = 0
    for name, count in (("uftrace", records), ("zorka", records // 10)):
        store = Path(folder) / name
        subprocess.run([lode, "synth", "recording", "--format", name, "--records", str(count), "-o", store], check=True)
        top = run(lode, "top", store)[0]
        time, memory = run(lode, "diagnose", store)
        print(f"{name}, {count} records: lode top {1e3 * top:.1f} ms, lode diagnose {1e3 * time:.1f} ms, {time / top:.1f} times top; {memory:.0f} MiB")
        worst = max(worst, time / top)
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--profiles", type=int, default=100_000)
    parser.add_argument("--contexts", type=int, default=2_000)
    parser.add_argument("--density", default="0.02", help="share of the source lines with values in a profile")
    parser.add_argument("--samples", type=int, default=50, help="in each trace line")
    parser.add_argument("--records", type=int, default=50_000_000, help="of the recording; the trace store has a tenth of them")
    parser.add_argument("--store", type=Path, help="a database that is there")
    options = parser.parse_args()
    lode = options.build / "src" / "cli" / "lode"
    with tempfile.TemporaryDirectory(dir=os.environ.get("LODE_BENCH_DIR")) as folder:
        store = options.store or Path(folder) / "wide"
        if not options.store:
            subprocess.run([lode, "synth", "database", "--profiles", str(options.profiles), "--contexts", str(options.contexts), "--density",
                            options.density, "--samples", str(options.samples), "--memory", "1G", "-o", store], check=True)
            rename(store)
        top, lines = run(lode, "top", store)[0], run(lode, "trace", "--json", store)[0]
        print(f"lode top {1e3 * top:.1f} ms, lode trace {1e3 * lines:.1f} ms")
        for words in ([], ["--deep"], ["--threads", "1"]):
            time, memory = run(lode, "diagnose", *words, store)
            print(f"lode diagnose {' '.join(words)}: {1e3 * time:.1f} ms, {time / top:.1f} times top, {time / (3 * top + lines):.2f} of 3 tops and a pass "
                  f"over trace lines; {memory:.0f} MiB")
            if not words:
                first = time, memory
        if options.store:
            return 0
        ratio = calls(lode, folder, options.records)
    return 1 if first[0] > MOST or first[1] > 20 + MEMORY * options.profiles or ratio > RATIO else 0


if __name__ == "__main__":
    sys.exit(main())
