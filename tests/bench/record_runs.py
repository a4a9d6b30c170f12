#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Runs of one program, many times, for figures of verdicts: record_runs.py -o FILE [--functions 30] [--runs 80] [--load]

Writes a C program of so many functions (arithmetic, memory and branches, 0.5 to 2 times the mean cost each, 0.2 s in all), records it with uftrace
and writes one line for each run: the self time of each function in microseconds, by `uftrace report`. Runs have real-time priority where that is allowed,
as benchmarks should; with --load they have none, two busy loops run beside them, and pre-emption is part of the functions' times.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SECONDS = 60
KINDS = [
    "for (long i = 0; i < n; i++) s = s * 6364136223846793005u + 1442695040888963407u;",
    "for (long i = 0; i < n / 3; i++) s += memory[(s ^ (unsigned long)i * 40503u) % SIZE]++;",
    "for (long i = 0; i < n / 2; i++) { s = s * 25214903917u + 11; if (s >> 60 & 1) s ^= s >> 7; else s += i; }",
]
CALLS, OPERATIONS = 8, 100_000_000


def source(count, chance):
    weights = [chance.uniform(0.5, 2) for _ in range(count)]
    lines = ["enum { SIZE = 1 << 17 };", "static unsigned memory[SIZE];", "static volatile unsigned long sink;"]
    for i, weight in enumerate(weights):
        n = int(OPERATIONS * weight / sum(weights) / CALLS)
        lines.append(f"__attribute__((noinline)) void f{i}(void) {{ long n = {n}; unsigned long s = sink + {i}; {KINDS[i % 3]} sink = s; }}")
    calls = " ".join(f"f{i}();" for i in range(count))
    return "\n".join([*lines, f"int main(void) {{ for (int i = 0; i < {CALLS}; i++) {{ {calls} }} }}"]) + "\n"


def priority():
    words = ["chrt", "-f", "1"]
    is_allowed = shutil.which("chrt") and subprocess.run([*words, "true"], capture_output=True).returncode == 0
    return words if is_allowed else []


def record(folder, before, words):
    subprocess.run([*before, "uftrace", "record", *words, "-d", "run", "./program"], cwd=folder, check=True, timeout=SECONDS,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    report = subprocess.run(["uftrace", "report", "-d", "run", "-f", "self", "-s", "self", "--no-pager"], cwd=folder, check=True, timeout=SECONDS,
                            capture_output=True, text=True).stdout
    unit = {"us": 1, "ms": 1000, "s": 1e6, "ns": 0.001}
    times = {}
    for number, word, name in re.findall(r"^\s*([\d.]+) +(us|ms|ns|s) +(f\d+)$", report, re.M):
        times[name] = float(number) * unit[word]
    shutil.rmtree(Path(folder) / "run")
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--functions", type=int, default=30)
    parser.add_argument("--runs", type=int, default=80)
    parser.add_argument("--load", action="store_true", help="beside two busy loops, without priority and scheduling events")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "program.c").write_text(source(options.functions, random.Random(options.functions)))
        subprocess.run(["gcc", "-O2", "-pg", "-o", "program", "program.c"], cwd=folder, check=True, timeout=SECONDS)
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)] if options.load else []
        try:
            runs = [record(folder, [] if options.load else priority(), ["--no-event"] if options.load else []) for _ in range(options.runs)]
        finally:
            for process in busy:
                process.kill()
    names = [f"f{i}" for i in range(options.functions)]
    Path(options.output).write_text("".join(" ".join(f"{run[name]:.3f}" for name in names) + "\n" for run in runs))


if __name__ == "__main__":
    main()
