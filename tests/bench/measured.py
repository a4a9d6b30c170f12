#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Processor time and memory of `lode build` from measurements, beside a bare pass: all input read once, all output written once."""

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def cost(*command, **options):
    """(processor seconds, peak bytes) of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*map(str, command)], check=True, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("measurements", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    lode = options.build / "src" / "cli" / "lode"
    with tempfile.TemporaryDirectory() as scratch:
        target, rows = Path(scratch) / "db", []
        for _ in range(options.runs):
            shutil.rmtree(target, ignore_errors=True)
            built = cost(lode, "build", options.measurements, "-o", target)
            reading = cost("sh", "-c", 'cd "$1" && ls | grep -E "hpc(run|trace)$" | xargs cat > /dev/null', "sh", options.measurements)
            writing = cost("sh", "-c", 'cat "$1"/*.db > "$2"', "sh", target, Path(scratch) / "copy")
            rows.append((built[0], reading[0] + writing[0], built[1]))
    built, bare, memory = min(row[0] for row in rows), min(row[1] for row in rows), max(row[2] for row in rows)
    print(f"lode build {built:.2f} s, bare pass {bare:.2f} s, ratio {built / bare:.2f}, memory {memory >> 20} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
