#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Recordings of many records: `lode top` beside `uftrace report` and beside a bare loop over the same records, in one run.

Usage: recordings.py BUILD_DIRECTORY [--share X] [--threads N] [--repeats N] [--assert FACTOR]

Full size is 50 million records for 4 and for 16 tasks, 20 million for one, and 10 million for 256; --share makes all of them smaller. Of one task,
what a second thread adds is measured by the processor time of the busiest thread. Memory is the largest
resident set, mapped pages included. With --assert, prints TAP and fails if a figure is missed by more than FACTOR times what is asked for;
then times are those of processors, divided by the threads, which other work on the machine changes less.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))

import lodejson  # noqa: E402

WINDOW = 1_000_000  # nanoseconds
REPLAYED = 10_000_000  # records that a recording must have more of for its window to be a small part of it
# (tasks, records, how many times faster than uftrace it must be)
RECORDINGS = ((4, 50_000_000, 20), (16, 50_000_000, 25), (256, 10_000_000, 100))
BARE_LIMIT = 2.0  # times the bare loop with as many threads
ONE_TASK = 20_000_000  # records
SECOND_THREAD = 0.7  # that two threads are faster than one, for one task
REPLAY_LIMIT = 0.05  # seconds
MEMORY_LIMIT = 100.0  # MB


def run(command):
    """
    Seconds of wall time, of processor time, and MB that were resident at most, which are never less than what this program has when it
    starts the other. What that prints is thrown away.
    """
    begin = time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - begin
    if process.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6


def best(command, repeats):
    """The shortest of several runs, in both kinds of time, and the largest memory."""
    runs = [run(command) for _ in range(repeats)]
    return min(r[0] for r in runs), min(r[1] for r in runs), max(r[2] for r in runs)


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.lode = os.path.join(options.build, "src/cli/lode")
        self.bare = os.path.join(options.build, "tests/bench/bare_calls")
        self.threads = str(options.threads)
        self.figures = []  # (name, measured, limit, whether more is better)

    def note(self, name, measured, limit, more=False):
        self.figures.append((name, measured, limit, more))

    def make(self, tasks, records):
        target = os.path.join(self.folder, f"tasks{tasks}")
        seconds, _, memory = run([self.lode, "synth", "recording", "--tasks", str(tasks), "--records", str(records),
                                  "--threads", self.threads, "-o", target])
        print(f"# {tasks} tasks, {records:,} records: made in {seconds:.2f} s, {records / seconds / 1e6:.0f} million a second, "
              f"{memory:.0f} MB")
        return target

    def counted(self, times, threads):
        """Of (wall time, processor time), the one that figures are made from."""
        return times[0] if self.options.factor is None else times[1] / threads

    def top(self, recording, tasks, wanted):
        """Against uftrace, against the bare loop, and its memory."""
        threads = self.options.threads
        bare = best([self.bare, recording, self.threads], self.options.repeats)
        top = best([self.lode, "top", "--threads", self.threads, recording], self.options.repeats)
        print(f"# {tasks} tasks: lode top {top[0]:.3f} s ({top[1]:.3f} s of processors), {top[2]:.0f} MB; bare loop {bare[0]:.3f} s "
              f"({bare[1]:.3f}): {top[0] / bare[0]:.2f} times ({top[1] / bare[1]:.2f})")
        self.note(f"{tasks} tasks: times the bare loop", self.counted(top, threads) / self.counted(bare, threads), BARE_LIMIT)
        self.note(f"{tasks} tasks: MB of lode top", top[2], MEMORY_LIMIT)
        if shutil.which("uftrace") is None:
            print("# uftrace is not installed: not compared with it")
            return
        slow = run(["uftrace", "report", "-d", recording])
        faster = self.counted(slow, 1) / self.counted(top, threads)
        print(f"# {tasks} tasks: uftrace report {slow[0]:.2f} s ({slow[1]:.2f} s of processors): lode top is {slow[0] / top[0]:.0f} times "
              f"faster ({slow[1] / top[1] * threads:.0f})")
        self.note(f"{tasks} tasks: times faster than uftrace report", faster, wanted, more=True)

    def busiest(self, command):
        """Seconds of processor time of the busiest thread, the least of several runs."""
        environment = {**os.environ, "LD_PRELOAD": os.path.join(self.options.build, "tests/bench/thread_clocks.so")}
        runs = [subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                for _ in range(self.options.repeats)]
        return min(float(one.stderr.splitlines()[-1].split()[3]) for one in runs)

    def one_task(self):
        """A track is cut, so that a second thread has work."""
        recording = self.make(1, int(ONE_TASK * self.options.share))
        for words in (["top"], ["tree"], ["check", "--level", "full"], ["diagnose"]):
            one, two = (self.busiest([self.lode, *words, "--threads", threads, recording]) for threads in ("1", "2"))
            print(f"# one task: lode {words[0]} {one:.3f} s of processor time, {two:.3f} s of the busier of two threads: {one / two:.2f} times")
            if words == ["top"]:
                self.note("one task: what a second thread adds to lode top", one / two - 1, SECOND_THREAD, more=True)
        shutil.rmtree(recording)

    def replay(self, recording, tasks):
        """A window near the end."""
        info = lodejson.loads(subprocess.run([self.lode, "profiles", "--json", recording], check=True, stdout=subprocess.PIPE).stdout)
        end = min(row["end_ns"] for row in info["rows"])  # all tasks are still there
        words = ["--from", f"@{end - 10 * WINDOW}", "--to", f"@{end - 9 * WINDOW}"]
        command = [self.lode, "replay", *words, recording]
        lines = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.count(b"\n")
        times = best(command, self.options.repeats)
        seconds, memory = self.counted(times, 1), times[2]
        print(f"# {tasks} tasks: lode replay of 1 ms near the end, {lines:,} lines: {times[0] * 1e3:.1f} ms, {memory:.0f} MB")
        self.note(f"{tasks} tasks: seconds to replay 1 ms", seconds, REPLAY_LIMIT)
        self.note(f"{tasks} tasks: MB of lode replay", memory, MEMORY_LIMIT)

    def run(self):
        self.one_task()
        for tasks, records, wanted in RECORDINGS:
            recording = self.make(tasks, int(records * self.options.share))
            self.top(recording, tasks, wanted)
            if records > REPLAYED:
                self.replay(recording, tasks)
            shutil.rmtree(recording)


def judge(figures, factor):
    """TAP: each figure within `factor` times its limit."""
    for number, (name, measured, limit, more) in enumerate(figures, 1):
        allowed = limit / factor if more else limit * factor
        fine = measured >= allowed if more else measured <= allowed
        print(f"{'ok' if fine else 'not ok'} {number} - {name}: {measured:.3g}, {'at least' if more else 'at most'} {allowed:.3g}")
    print(f"1..{len(figures)}")


def bench_main(description, bench_class, repeats=3):
    """The options of a bench, its run, and what it says at the end; `bench_class` has run() and figures."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=repeats)
    parser.add_argument("--assert", dest="factor", type=float)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("LODE_BENCH_DIR")) as folder:
        bench = bench_class(options, folder)
        bench.run()
    if options.factor is not None:
        judge(bench.figures, options.factor)
        return
    for name, measured, limit, more in bench.figures:
        met = measured >= limit if more else measured <= limit
        print(f"# {'met' if met else 'MISSED'}: {name}: {measured:.3g} ({'at least' if more else 'at most'} {limit:.3g})")


if __name__ == "__main__":
    bench_main(__doc__, Bench)
