#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The catalogue of runs at full size: runs.py BUILD [--runs N] [--functions N] [--metrics N] [--file FILE]

Makes a catalogue (tests/tools/make_catalogue.py), asks 'lode runs' and prints processor time, the best of several runs, and peak memory. The
file is kept if --file names it, and used again if it is there.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TRIES = 5


def cost(words):
    """(milliseconds of processor time, MiB of memory) of a command, the best of several; it may find something."""
    best = None
    for _ in range(TRIES):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):
            raise ValueError(f"{words}: {process.returncode}")
        found = ((usage.ru_utime + usage.ru_stime) * 1000, usage.ru_maxrss / 1024)
        best = min(best, found) if best else found
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--runs", type=int, default=10000)
    parser.add_argument("--functions", type=int, default=200)
    parser.add_argument("--metrics", type=int, default=3)
    parser.add_argument("--file", type=Path)
    options = parser.parse_args()
    lode = str((options.build / "src" / "cli" / "lode").resolve())
    with tempfile.TemporaryDirectory() as folder:
        file = options.file or Path(folder) / "runs.sqlite"
        if not file.exists():
            subprocess.run([sys.executable, ROOT / "tests/tools/make_catalogue.py", "--lode", lode, file, "--runs", str(options.runs),
                            "--functions", str(options.functions), "--metrics", str(options.metrics)], check=True)
        subprocess.run([lode, "example", f"{folder}/demo"], check=True, stdout=subprocess.DEVNULL)
        print(f"{file.stat().st_size / 2**20:.0f} MiB, {file.stat().st_size / options.runs / 1000:.1f} kB a run")
        at = ["--catalogue", str(file)]
        for name, words in (("version (start)", ["version"]), ("list", ["runs", "list", *at]), ("list --label", ["runs", "list", "--label", "title=none", *at]),
                            ("trend", ["runs", "trend", *at]), ("trend FUNCTION", ["runs", "trend", "function_5", *at]),
                            ("trend PART", ["runs", "trend", "ion_5(", *at]),
                            ("check", ["runs", "check", *at]), ("check --history 1000", ["runs", "check", "--history", "1000", *at]),
                            ("add", ["runs", "add", f"{folder}/demo/solver", "--again", *at])):
            milliseconds, memory = cost([lode, *words])
            print(f"{name:24}{milliseconds:8.0f} ms{memory:8.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
