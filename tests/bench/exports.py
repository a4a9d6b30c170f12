#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Exports of many events and values, beside the least that could be done instead, in one run.

Usage: exports.py BUILD_DIRECTORY [--only FORMAT]... [--records N] [--profiles N,N] [--tasks N] [--threads N] [--repeats N] [--assert FACTOR]

Perfetto stands beside a bare write of as many bytes that is synced too, OTF2 beside a loop that gives as many events to libotf2 and beside
a bare write, Chrome beside `uftrace dump --chrome` with the same kind of output, a file that is not synced, and Parquet beside bare
compression by zstd (tables.py, processor time). Runs alternate; the best of each counts. Prints wall time, processor time and peak memory.
Exits with 1 if a ratio of wall times is missed or if memory grows with events. With --assert, prints TAP and fails if a ratio of processor times
is more than FACTOR times what is noted below.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from types import SimpleNamespace

import tables

CHUNK = 256 * 1024
SLOWER = 3.0  # times that an export may take of what stands beside it
FASTER = 10.0  # times that Chrome must be faster than uftrace
SHARE = 5  # uftrace is slow: it gets this share of the events
SLACK = 8.0  # MB by which memory may differ between that share and all of them
# Ratios of processor times that --assert multiplies: what 5 million events give (50 million give 5.5 and 2.0).
NOTED = {"perfetto: times a bare write": 6.5, "otf2: times libotf2 alone": 2.8}


class Timed:
    """The best wall and processor seconds of several runs, and their most memory in MB."""

    def __init__(self):
        self.wall = self.busy = float("inf")
        self.memory = 0.0

    def add(self, wall, busy, memory):
        self.wall, self.busy, self.memory = min(self.wall, wall), min(self.busy, busy), max(self.memory, memory)

    def __str__(self):
        return f"{self.wall:.2f} s, {self.busy:.2f} s of processor time, {self.memory:.0f} MB"


def run(command, output=os.devnull):
    """Wall seconds, processor seconds and MB of a program."""
    begin = time.monotonic()
    with open(output, "wb") as sink, subprocess.Popen([*map(str, command)], stdout=sink, stderr=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - begin
    if process.returncode != 0:
        sys.exit(f"failed: {command}")
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6


def bare_write(path, size):
    """The same of a write of as many bytes, which are synced."""
    data, begin, before = os.urandom(CHUNK), time.monotonic(), time.process_time()
    with open(path, "wb", buffering=0) as file:
        for _ in range(size // CHUNK):
            file.write(data)
        file.write(data[:size % CHUNK])
        os.fsync(file.fileno())
    seconds = time.monotonic() - begin, time.process_time() - before, 0.0
    os.remove(path)
    return seconds


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.remove(path)


def size_of(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names)


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.lode = os.path.join(options.build, "src/cli/lode")
        self.missed = []
        self.ratios = {}

    def path(self, name):
        return os.path.join(self.folder, name)

    def note(self, name, own, bare):
        """The ratio of wall times is judged, unless that of processor times will be."""
        self.ratios[name] = own.busy / bare.busy
        if self.options.factor is None:
            self.judge(name, self.ratio(own, bare), SLOWER)

    def judge(self, name, ratio, limit, is_least=False):
        holds = ratio >= limit if is_least else ratio <= limit
        print(f"{'ok' if holds else 'MISSED'}: {name}: {ratio:.2f}, {'at least' if is_least else 'at most'} {limit:g}", flush=True)
        if not holds:
            self.missed.append(name)

    def ratio(self, own, bare):
        return own.wall / bare.wall

    def make(self, records):
        store = self.path(f"recording{records}")
        if not os.path.exists(store):
            run([self.lode, "synth", "recording", "--records", records, "--tasks", self.options.tasks, "-o", store])
        return store

    def export(self, store, form):
        out = self.path("export")
        remove(out)
        return run([self.lode, "export", store, "--format", form, "--threads", self.options.threads, "-o", out])

    def memory(self, form, most):
        """`most`, of all events, against a share of them."""
        _, _, least = self.export(self.make(self.options.records // SHARE), form)
        self.judge(f"{form}: MB more for {SHARE} times the events", most - least, SLACK)

    def beside(self, form, bares):
        """`bares`: functions of the size of the export, by name; each is run in turn with it."""
        store, own = self.make(self.options.records), Timed()
        times = {name: Timed() for name in bares}
        for _ in range(self.options.repeats):
            own.add(*self.export(store, form))
            size = size_of(self.path("export"))
            remove(self.path("export"))
            for name, bare in bares.items():
                times[name].add(*bare(size))
        print(f"# {form}, {self.options.records:,} events: {own}; {size / 1e6:.0f} MB, {size / self.options.records:.1f} bytes per event")
        for name, bare in times.items():
            print(f"#     {name}: {bare}; {own.wall / bare.wall:.2f} times in wall time, {own.busy / bare.busy:.2f} in processor time")
        if self.options.factor is None:
            self.memory(form, own.memory)
        return own, times

    def perfetto(self):
        own, times = self.beside("perfetto", {"bare write": lambda size: bare_write(self.path("bare"), size)})
        self.note("perfetto: times a bare write", own, times["bare write"])

    def bare_otf2(self):
        target = self.path("bare_otf2")
        remove(target)
        seconds = run([os.path.join(self.options.build, "tests/bench/bare_otf2"), target, self.options.tasks, self.options.records])
        remove(target)
        return seconds

    def otf2(self):
        own, times = self.beside("otf2", {"libotf2 alone": lambda size: self.bare_otf2(),
                                          "bare write": lambda size: bare_write(self.path("bare"), size)})
        for name, bare in times.items():
            self.note(f"otf2: times {name}", own, bare)

    def chrome(self):
        if shutil.which("uftrace") is None:
            print("skipped: chrome: there is no uftrace")
            return
        records = self.options.records // SHARE
        store, own, peer, out = self.make(records), Timed(), Timed(), self.path("out.json")
        for _ in range(self.options.repeats):
            own.add(*run([self.lode, "export", store, "--format", "chrome", "--threads", self.options.threads, "-o", "-"], out))
            size = size_of(out)
            peer.add(*run(["uftrace", "dump", "--chrome", "--no-pager", "-d", store], out))
        print(f"chrome, {records:,} events: {own}; {size / 1e6:.0f} MB\n    uftrace dump --chrome: {peer}; {size_of(out) / 1e6:.0f} MB;"
              f" {peer.wall / own.wall:.1f} times the wall time, {peer.busy / own.busy:.1f} times the processor time")
        os.remove(out)
        self.judge("chrome: times faster than uftrace", 1 / self.ratio(own, peer), FASTER, is_least=True)
        _, _, most = self.export(self.make(self.options.records), "chrome")
        self.memory("chrome", most)

    def parquet(self):
        options = SimpleNamespace(build=self.options.build, contexts=10000, threads=1)
        tables.use_processor_time()
        found = [tables.measure(options, self.folder, int(profiles)) for profiles in self.options.profiles.split(",")]
        self.judge("parquet: times bare compression", max(ratio for ratio, _ in found), SLOWER)
        self.judge("parquet: MiB more for more values", found[-1][1] - found[0][1], tables.SLACK)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--only", action="append", choices=("perfetto", "otf2", "chrome", "parquet"))
    parser.add_argument("--records", type=int, default=50_000_000)
    parser.add_argument("--profiles", default="1900,19000", help="of the databases for Parquet; 19,000 have 300 million values")
    parser.add_argument("--tasks", type=int, default=16)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--assert", dest="factor", type=float)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lode-bench-", dir=os.environ.get("LODE_BENCH_DIR")) as folder:
        bench = Bench(options, folder)
        for form in options.only or ("perfetto", "otf2", "chrome", "parquet"):
            getattr(bench, form)()
    if options.factor is None:
        return 1 if bench.missed else 0
    judged = [(name, noted) for name, noted in NOTED.items() if name in bench.ratios]
    for number, (name, noted) in enumerate(judged, 1):
        fine = bench.ratios[name] <= noted * options.factor
        print(f"{'ok' if fine else 'not ok'} {number} - {name}: at most {options.factor:g} times {noted}: {bench.ratios[name]:.2f}")
    print(f"1..{len(judged)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
