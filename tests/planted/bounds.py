#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Compares what `lode diagnose` says a cause is worth with what its repair brings: bounds.py --lode PROGRAM SOURCES RECORDINGS [--runs N] [--all].
Both variants of each program whose first statement has a bound (-DFIX repairs it) are built without tracing and run by turns; the gain is that of the shortest run times. The table
has the first statement of the recording (record.sh), whether its size is a bound, and the gain. A bound that the gain exceeds by more than 5 % of
the run time is marked.
"""
import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

NOISE = 5  # per cent


def build(source, program, *options):
    words = ["gcc"] if source.suffix == ".c" else ["g++", "-std=c++20"]
    words += ["-fopenmp"] if "#pragma omp" in source.read_text() else []
    subprocess.run([*words, "-O2", "-w", *options, source, "-o", program, "-lpthread", "-ldl"], check=True)


def seconds(program, folder):
    begin = time.monotonic()
    subprocess.run([program], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=120)
    return time.monotonic() - begin


def gain(source, runs):
    """What the repair saves of the run time, in per cent."""
    with tempfile.TemporaryDirectory(prefix="lode-planted-") as name:
        folder = Path(name)
        build(source, folder / "planted")
        build(source, folder / "fixed", "-DFIX")
        times = [(seconds(folder / "planted", folder), seconds(folder / "fixed", folder)) for _ in range(runs)]
    return 100 * (1 - min(fixed for _, fixed in times) / min(planted for planted, _ in times))


def first_statement(lode, recording):
    done = subprocess.run([lode, "diagnose", "--json", recording], capture_output=True, text=True, check=True)
    return next((found for found in json.loads(done.stdout)["statements"] if found["confidence"] != "weak" and found["id"] != "hot-spot"), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--all", action="store_true", help="statements without a bound, too")
    parser.add_argument("sources", type=Path)
    parser.add_argument("recordings", type=Path)
    options = parser.parse_args()
    for source in sorted(options.sources.glob("[pqr][0-9]*.c*")):
        recording = options.recordings / source.stem
        found = first_statement(options.lode, recording) if recording.is_dir() else None
        if found is None or found["gain_percent"] is None or not (found["is_bound"] or options.all):
            continue
        measured = gain(source, options.runs)
        is_exceeded = found["is_bound"] and measured > found["gain_percent"] + NOISE
        print(f"{source.stem}\t{found['id']}\t{'at most' if found['is_bound'] else 'accounts for'} {found['gain_percent']:.0f} %\t"
              f"repaired {measured:.0f} %{' EXCEEDED' if is_exceeded else ''}", flush=True)


if __name__ == "__main__":
    main()
