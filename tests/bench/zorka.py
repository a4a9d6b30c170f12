#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Trace stores of many traces: opening one, `lode search --min-duration` and `lode top` beside a bare loop that inflates the same chunks with zlib, in one run.
Each without an index, and again with the one that the first of them has written.

Usage: zorka.py BUILD_DIRECTORY [--share X] [--threads N] [--repeats N] [--assert FACTOR]

Full size is 2 GB of payload in 66,000 traces of 1,000 calls; --share makes it smaller. Two stores of other shapes have a tenth of that each: traces of
three calls, one in a chunk and thousands in a chunk; and few traces over many chunks. Memory is what is not a page of a file (RssAnon), at its
largest. With --assert, prints TAP and fails if a figure is missed by more than FACTOR times; then times are those of processors.
"""
import os
import subprocess
import time

from recordings import bench_main, run

BARE_LIMIT = 2.0  # times the bare loop with as many threads
AGAIN_LIMITS = {"open": 0.3, "top": 2.0}  # the same with an index
AGAIN_TINY = {"open": 1.0, "top": 4.0}  # and of traces of three calls
TRACE_BYTES = 300  # of memory, for each trace
WINDOW_MB = 150.0  # and beside these
# (name, traces, calls of each, traces in a chunk, chunks of a trace, whether it must keep up with the bare loop)
STORES = (
    ("1,000 calls", 66_000, 1000, 1, 1, True),
    ("over 100 chunks", 14, 500_000, 1, 100, True),
    ("tiny", 2_000_000, 3, 1, 1, False),
    ("tiny, 100,000 in a chunk", 2_000_000, 3, 100_000, 1, False),
)


def anonymous_memory(command):
    """MB that are resident and of no file, at most, while a command runs."""
    most = 0
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            try:
                with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
                    lines = [line for line in status if line.startswith("RssAnon:")]
            except OSError:
                lines = []
            most = max([most] + [int(line.split()[1]) for line in lines])
            time.sleep(0.005)
    return most * 1024 / 1e6


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.tools = os.path.join(options.build, "tests/bench")
        self.lode = os.path.join(options.build, "src/cli/lode")
        self.figures = []  # (name, measured, limit, whether more is better)

    def make(self, traces, calls, per_chunk, chunks):
        target = os.path.join(self.folder, "store")
        words = [str(number) for number in (traces, calls, per_chunk, chunks)]
        made = subprocess.run([os.path.join(self.tools, "make_zorka"), target, *words], check=True, stdout=subprocess.PIPE)
        return target, int(made.stdout)

    def commands(self, store):
        threads = str(self.options.threads)
        return {
            "bare": [os.path.join(self.tools, "bare_chunks"), os.path.join(store, "traces.dat"), threads],
            "open": [self.lode, "info", store],
            "search": [self.lode, "search", "--min-duration", "10ms", "--sort", "duration", "--threads", threads, store],
            "top": [self.lode, "top", "--threads", threads, store],
        }

    def make_index(self, store):
        """An index is made if no file was changed a moment ago."""
        os.environ["LODE_CACHE"] = os.path.join(self.folder, "cache")
        for name in os.listdir(store):
            os.utime(os.path.join(store, name), (10**9, 10**9))
        run([self.lode, "info", store])

    def measure_again(self, name, store, bare, limits):
        self.make_index(store)
        commands = self.commands(store)
        kind = 0 if self.options.factor is None else 1
        for key, limit in limits.items():
            runs = [run(commands[key]) for _ in range(self.options.repeats)]
            ratios = [min(one[i] for one in runs) / bare[i] for i in (0, 1)]
            print(f"# {name}: {key} with an index: {ratios[0]:.2f} times ({ratios[1]:.2f}), {anonymous_memory(commands[key]):.0f} MB")
            self.figures.append((f"{name}: {key} with an index, times the bare loop", ratios[kind], limit, False))
        os.environ["LODE_CACHE"] = ""

    def measure(self, name, traces, calls, per_chunk, chunks, keeps_up):
        store, size = self.make(traces, calls, per_chunk, chunks)
        commands = self.commands(store)
        # In turns, so that other work on the machine meets all alike.
        runs = {key: [] for key in commands}
        for _ in range(self.options.repeats):
            for key, command in commands.items():
                runs[key].append(run(command))
        best = {key: (min(r[0] for r in all_runs), min(r[1] for r in all_runs)) for key, all_runs in runs.items()}
        kind = 0 if self.options.factor is None else 1
        print(f"# {name}: {traces:,} traces, {size / 1e6:.0f} MB of payload; bare loop {best['bare'][0]:.2f} s "
              f"({best['bare'][1]:.2f} s of processors)")
        for key in ("open", "search", "top"):
            ratios = [best[key][i] / best["bare"][i] for i in (0, 1)]
            memory = anonymous_memory(commands[key])
            print(f"# {name}: {key} {best[key][0]:.2f} s ({best[key][1]:.2f}): {ratios[0]:.2f} times ({ratios[1]:.2f}), {memory:.0f} MB, "
                  f"{memory * 1e6 / traces:.0f} bytes a trace")
            if keeps_up:
                self.figures.append((f"{name}: {key}, times the bare loop", ratios[kind], BARE_LIMIT, False))
            self.figures.append((f"{name}: MB of {key}", memory, WINDOW_MB + traces * TRACE_BYTES / 1e6, False))
        self.measure_again(name, store, best["bare"], AGAIN_LIMITS if keeps_up else AGAIN_TINY)

    def run(self):
        os.environ["LODE_CACHE"] = ""
        for name, traces, calls, per_chunk, chunks, keeps_up in STORES:
            some = max(int(traces * self.options.share), 2)
            self.measure(name, some, calls, min(per_chunk, some), chunks, keeps_up)


if __name__ == "__main__":
    bench_main(__doc__, Bench)
