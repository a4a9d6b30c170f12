#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Databases from recordings: `lode build` beside `lode top`, `uftrace report`, and a bare read and write, in one run.

Usage: building.py BUILD_DIRECTORY [--share X] [--threads N] [--repeats N] [--assert FACTOR]

Full size is 50 million records of 16 tasks; --share makes it smaller. What is compared runs in turns, and the best of each counts. With
--assert, prints TAP and fails if a figure is missed by more than FACTOR times what is asked for; then times are those of processors,
divided by the threads, which other work on the machine changes less. What is written to the disk and waited for is always by the clock.
"""
import glob
import os
import shutil

from recordings import bench_main, run

TASKS, RECORDS = 16, 50_000_000
TOP_LIMIT = 1.5  # times `lode top`, without trace lines
UFTRACE_LIMIT = 15  # times faster than `uftrace report`
BARE_LIMIT = 2.0  # times a bare read of the recording and a bare write of the database, with all trace lines


def size_of(folder):
    return sum(os.path.getsize(os.path.join(path, name)) for path, _, names in os.walk(folder) for name in names)


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.lode = os.path.join(options.build, "src/cli/lode")
        self.bare = os.path.join(options.build, "tests/bench/bare_pass")
        self.database = os.path.join(folder, "database")
        self.recording = os.path.join(folder, "recording")
        self.figures = []  # (name, measured, limit, whether more is better)

    def lode_run(self, *words):
        return run([self.lode, *words, "--threads", str(self.options.threads)])

    def build(self, trace):
        """Builds the database anew."""
        shutil.rmtree(self.database, ignore_errors=True)
        return self.lode_run("build", "--trace", trace, "-o", self.database, self.recording)

    def in_turns(self, *steps):
        """(wall time, processor time) of each step, the best of several."""
        rounds = [[step()[:2] for step in steps] for _ in range(self.options.repeats)]
        return [tuple(map(min, zip(*runs))) for runs in zip(*rounds)]

    def counted(self, times, threads):
        """Of (wall time, processor time), the one that figures are made from."""
        return times[0] if self.options.factor is None else times[1] / threads

    def without_lines(self):
        threads = self.options.threads
        top, built = self.in_turns(lambda: self.lode_run("top", self.recording), lambda: self.build("none"))
        print(f"# build --trace none {built[0]:.3f} s ({built[1]:.3f} s of processors); top {top[0]:.3f} s ({top[1]:.3f}): "
              f"{built[0] / top[0]:.2f} times ({built[1] / top[1]:.2f}); {size_of(self.database) / 1e6:.0f} MB")
        ratio = self.counted(built, threads) / self.counted(top, threads)
        self.figures.append(("build --trace none: times lode top", ratio, TOP_LIMIT, False))
        if shutil.which("uftrace") is None:
            print("# uftrace is not installed: not compared with it")
            return
        slow = run(["uftrace", "report", "-d", self.recording])
        print(f"# uftrace report {slow[0]:.2f} s ({slow[1]:.2f} s of processors): build --trace none is {slow[0] / built[0]:.0f} times "
              f"faster ({slow[1] / built[1] * threads:.0f})")
        faster = self.counted(slow, 1) / self.counted(built, threads)
        self.figures.append(("build --trace none: times faster than uftrace report", faster, UFTRACE_LIMIT, True))

    def with_lines(self):
        """Seconds by the clock: the disk is what limits both."""
        files = glob.glob(os.path.join(self.recording, "*.dat"))
        scratch = os.path.join(self.folder, "scratch")
        self.build("full")
        size = size_of(self.database)
        built, read, write = self.in_turns(lambda: self.build("full"), lambda: run([self.bare, "read", *files]),
                                           lambda: run([self.bare, "write", scratch, str(size)]))
        bare = read[0] + write[0]
        print(f"# build --trace full {built[0]:.2f} s ({built[1]:.2f} s of processors), {size / 1e6:.0f} MB; bare read {read[0]:.2f} s and "
              f"write {write[0]:.2f} s: {built[0] / bare:.2f} times")
        self.figures.append(("build --trace full: times a bare read and write", built[0] / bare, BARE_LIMIT, False))

    def run(self):
        records = int(RECORDS * self.options.share)
        self.lode_run("synth", "recording", "--tasks", str(TASKS), "--records", str(records), "-o", self.recording)
        print(f"# {TASKS} tasks, {records:,} records, {self.options.threads} threads")
        self.without_lines()
        self.with_lines()


if __name__ == "__main__":
    bench_main(__doc__, Bench, repeats=4)
