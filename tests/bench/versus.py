#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two builds of Lode on the same stores, in turn: is one slower than the other?

Usage: versus.py OLD_BUILD NEW_BUILD [--share X] [--repeats N] [--limit RATIO]

The old program makes the stores. Each command runs REPEATS times with each program, alternating, so that noise hits both alike; the ratio is
of the shortest processor times (new / old), with the ratio by the clock beside it. Exits with 1 if a ratio by processor time is above the
limit (1.05). Put LODE_BENCH_DIR on a file system with room for about 3 GB at full size.
"""
import argparse
import os
import shutil
import sys
import tempfile

from recordings import run

THREADS = ("--threads", "2")


def stores(share):
    """What is measured on: a name and the arguments of synth."""
    profiles, records = str(max(int(2000 * share), 10)), str(max(int(20_000_000 * share), 10_000))
    return {
        "database": ("database", "--profiles", profiles, "--contexts", "4000", "--samples", "2000"),
        "recording": ("recording", "--tasks", "16", "--records", records),
        "traces": ("recording", "--format", "zorka", "--records", records),
    }


def commands(folder):
    """(name, arguments without the program)."""
    database, recording, traces = (os.path.join(folder, name) for name in ("database", "recording", "traces"))
    out = os.path.join(folder, "out")
    yield "info database", ("info", database)
    yield "check full database", ("check", "--level", "full", *THREADS, database)
    yield "top database", ("top", database)
    yield "top half of the profiles", ("top", "--profiles", "RANK=0-499", *THREADS, database)
    yield "tree database", ("tree", database)
    yield "callers database", ("tree", "--bottom-up", "--min-percent", "0", "--limit", "0", database)
    yield "trace database", ("trace", *THREADS, database)
    yield "dump database", ("dump", database)
    yield "convert database", ("convert", *THREADS, "--memory", "64M", "-o", out, database)
    yield "convert to draft", ("convert", *THREADS, "--format", "hpctoolkit-draft-xml", "-o", out, database)
    yield "check recording", ("check", *THREADS, recording)
    yield "top recording", ("top", *THREADS, recording)
    yield "tree recording", ("tree", *THREADS, recording)
    yield "convert recording", ("convert", *THREADS, "-o", out, recording)
    yield "build, no trace", ("build", *THREADS, "--trace", "none", "-o", out, recording)
    yield "build, full trace", ("build", *THREADS, "--trace", "full", "-o", out, recording)
    yield "check traces", ("check", *THREADS, traces)
    yield "search traces", ("search", "--min-duration", "1ms", *THREADS, traces)
    yield "top traces", ("top", *THREADS, traces)
    yield "convert traces", ("convert", "--format", "zorka", *THREADS, "-o", out, traces)


def measure(program, arguments, folder):
    seconds, processors, _ = run([program, *arguments])
    shutil.rmtree(os.path.join(folder, "out"), ignore_errors=True)
    return processors, seconds


def compare(programs, name, arguments, folder, repeats):
    """The ratios new / old of the shortest times."""
    times = ([], [])
    for _ in range(repeats):
        for side, program in zip(times, programs):
            side.append(measure(program, arguments, folder))
    (old, old_wall), (new, new_wall) = (tuple(min(column) for column in zip(*side)) for side in times)
    print(f"{name:26} {old:8.3f} s {new:8.3f} s  {new / old:5.2f}  ({new_wall / old_wall:.2f} by the clock)", flush=True)
    return new / old


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--limit", type=float, default=1.05)
    parser.add_argument("--only", default="", help="commands whose name contains this")
    options = parser.parse_args()
    programs = [os.path.join(build, "src/cli/lode") for build in (options.old, options.new)]
    folder = tempfile.mkdtemp(prefix="lode-versus.", dir=os.environ.get("LODE_BENCH_DIR"))
    try:
        for name, arguments in stores(options.share).items():
            run([programs[0], "synth", *arguments, "-o", os.path.join(folder, name)])
        slower = [name for name, arguments in commands(folder) if options.only in name
                  and compare(programs, name, arguments, folder, options.repeats) > options.limit]
    finally:
        shutil.rmtree(folder)
    for name in slower:
        print(f"slower than {options.limit} times: {name}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
