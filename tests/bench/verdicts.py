#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
How often verdicts on runs are right: verdicts.py BUILD FILE... [--aa 4000] [--draws 1000] [--agree 10000]

FILE has runs of one program (tests/bench/record_runs.py). Runs are drawn without replacement, 3, 5 and 8 a side; in those of the new side one function is
planted to take 10, 20 or 30 % longer. Tables are for doc/statistics.md: how often it is found, in percent, and how often any row or the total is called
changed where nothing is. With noise as it was recorded, and with each function scaled to 3 %.
"""

import argparse
import math
import statistics
import subprocess
from collections import Counter
from pathlib import Path

RUNS, CHANGES = (3, 5, 8), (10, 20, 30)
PIECE = 500  # draws of one process; each has a seed of its own


def add_up(program, *words, count, seed):
    """Counts of several processes, so that each takes little time."""
    sums = Counter()
    while sums["draws"] < count:
        more = min(PIECE, count - sums["draws"])
        out = subprocess.run([program, *map(str, (*words, more, seed))], check=True, capture_output=True, text=True).stdout.split()
        sums.update(dict(zip(out[::2], map(int, out[1::2]))))
        seed += 1
    return sums


def noise_of(path):
    """(functions, runs, noise of a function, of the total, of a function beside the median of all) in percent."""
    runs = [[float(v) for v in line.split()] for line in Path(path).read_text().splitlines()]
    logs = [[math.log(v) for v in run] for run in runs]
    means = [statistics.fmean(column) for column in zip(*logs)]
    speed = [statistics.median(v - m for v, m in zip(run, means)) for run in logs]
    whole = statistics.median(100 * statistics.stdev(column) for column in zip(*logs))
    own = statistics.median(100 * statistics.stdev(v - s for v, s in zip(column, speed)) for column in zip(*logs))
    return len(means), len(runs), whole, 100 * statistics.stdev(math.log(sum(run)) for run in runs), own


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--aa", type=int, default=4000)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--agree", type=int, default=10000)
    options = parser.parse_args()
    program = Path(options.build) / "tests" / "statistics" / "statistics_draws"
    print("| functions | noise: total, function, by itself | runs | nothing: any alarm | 10 %: found (fails a limit of 10 %) | 20 % | 30 % |")
    print("|---|---|---:|---:|---:|---:|---:|", flush=True)
    for path in options.files:
        functions, _, whole, total, own = noise_of(path)
        for noise in (0, 3):
            words = f"{total:.1f}, {whole:.1f}, {own:.1f} %" if noise == 0 else "3 % each"
            for runs in RUNS:
                alarms = add_up(program, path, noise, runs, 0, count=options.aa, seed=1)
                cells = [f"{100 * alarms['any'] / options.aa:.1f} %"]
                for change in CHANGES:
                    found = add_up(program, path, noise, runs, change, count=options.draws, seed=1001)
                    cells.append(f"{100 * found['found'] / options.draws:.0f} ({100 * found['gate'] / options.draws:.0f})")
                print(f"| {functions} | {words} | {runs} | {' | '.join(cells)} |", flush=True)
    if options.agree:
        print(subprocess.run([program, "agree", str(options.agree), "1"], capture_output=True, text=True).stdout.strip())


if __name__ == "__main__":
    main()
