#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time and memory of `lode check` and of questions, beside a bare pass over the same files.

Usage: check.py BUILD_DIRECTORY [PROFILES...]
"""
import os
import subprocess
import sys
import tempfile
import threading
import time

CHAINS, SAMPLES, REPEATS = 2500, 20000, 3


def anonymous_peak(process):
    """The most anonymous memory the process had, in MiB: mapped files are the kernel's to drop."""
    peak = 0
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
                for line in status:
                    if line.startswith("RssAnon:"):
                        peak = max(peak, int(line.split()[1]))
        except OSError:
            break
        time.sleep(0.005)
    return peak / 1024


def run(command):
    """The best time of several runs, and the largest memory."""
    best, memory = float("inf"), 0.0
    for _ in range(REPEATS):
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        peaks = []
        watcher = threading.Thread(target=lambda: peaks.append(anonymous_peak(process)))
        watcher.start()
        if process.wait() != 0:
            sys.exit(f"failed: {' '.join(command)}")
        best = min(best, time.monotonic() - start)
        watcher.join()
        memory = max(memory, peaks[0])
    return best, memory


def measure(build, profiles):
    lode = os.path.join(build, "src/cli/lode")
    with tempfile.TemporaryDirectory(dir=os.environ.get("LODE_BENCH_DIR")) as directory:
        subprocess.run([os.path.join(build, "tests/bench/make_database"), directory, str(profiles), str(CHAINS),
                        str(SAMPLES)], check=True)
        files = [os.path.join(directory, name) for name in ("meta.db", "profile.db", "cct.db", "trace.db")]
        size = sum(map(os.path.getsize, files)) / 2**20
        bare, _ = run([os.path.join(build, "tests/bench/bare_pass"), *files])
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
