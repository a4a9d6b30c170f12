#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time and memory of `lode check` and of questions, beside a bare pass over the same files.

Usage: check.py BUILD_DIRECTORY [PROFILES...]
"""
import os
import subprocess
import sys
import tempfile

from measure import run

CHAINS, SAMPLES = 2500, 20000


def measure(build, profiles):
    lode = os.path.join(build, "src/cli/lode")
    with tempfile.TemporaryDirectory(dir=os.environ.get("LODE_BENCH_DIR")) as directory:
        subprocess.run([os.path.join(build, "tests/bench/make_database"), directory, str(profiles), str(CHAINS),
                        str(SAMPLES)], check=True)
        files = [os.path.join(directory, name) for name in ("meta.db", "profile.db", "cct.db", "trace.db")]
        size = sum(map(os.path.getsize, files)) / 2**20
        bare, _ = run([os.path.join(build, "tests/bench/bare_pass"), "scan", "1", *files])
        print(f"{profiles} profiles, {size:.0f} MiB; a bare pass takes {bare * 1e3:.0f} ms")
        steps = [("check quick", ["check", "--level", "quick"]), ("check structure", ["check"])]
        steps += [(f"check full, {n} threads", ["check", "--level", "full", "--threads", str(n)]) for n in (1, 2)]
        steps += [("info", ["info"]), ("top", ["top"]), ("top of half", ["top", "--profiles", "thread=0"]),
                  ("tree", ["tree"]), ("profiles", ["profiles"]), ("context", ["context", "main"]),
                  ("trace", ["trace"]), ("trace of 1 us", ["trace", "--from", "1us", "--to", "2us"])]
        for name, arguments in steps:
            operands = [arguments[0], directory, *arguments[1:]]
            seconds, memory = run([lode, *operands])
            print(f"  {name:24} {seconds * 1e3:8.0f} ms  {seconds / bare:6.2f} x bare  {memory:7.1f} MiB")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for profiles in map(int, sys.argv[2:] or ["100", "1000"]):
        measure(sys.argv[1], profiles)


if __name__ == "__main__":
    main()
