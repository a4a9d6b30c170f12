#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Processor time and memory of `lode build` from measurements, beside a bare pass: all input read once, all output written once."""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

READ = 'cd "$1" && ls | grep -E "hpc(run|trace)$" | xargs cat > /dev/null'
WRITE = 'cat "$1"/*.db > "$2"'


def cost(*command):
    """(processor seconds, peak bytes) of a command and its children."""
    with subprocess.Popen([*map(str, command)]) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def measure(lode, measurements, scratch):
    """(processor seconds of building, of the bare pass, peak bytes of building)."""
    target = Path(scratch) / "db"
    shutil.rmtree(target, ignore_errors=True)
    built, memory = cost(lode, "build", measurements, "-o", target)
    bare = cost("sh", "-c", READ, "sh", measurements)[0] + cost("sh", "-c", WRITE, "sh", target, Path(scratch) / "copy")[0]
    return built, bare, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("measurements", type=Path, nargs="+")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    lode = options.build / "src" / "cli" / "lode"
    rows = {measurements: [] for measurements in options.measurements}
    with tempfile.TemporaryDirectory() as scratch:
        # In turns, so that what else the machine does falls on all.
        for _ in range(options.runs):
            for measurements, results in rows.items():
                results.append(measure(lode, measurements, scratch))
    print("| measurements | profiles | lode build: s | bare pass: s | ratio | memory: MiB |\n|---|---:|---:|---:|---:|---:|")
    for measurements, results in rows.items():
        built, bare, memory = (statistics.median(column) for column in zip(*results))
        profiles = sum(1 for _ in measurements.glob("*.hpcrun"))
        print(f"| {measurements.name} | {profiles:,} | {built:.2f} | {bare:.2f} | {built / bare:.2f} | {memory / (1 << 20):.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
