#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Verdicts on runs that are drawn from 40 recorded ones (runs.txt): power.py --draws PROGRAM

A small part of tests/bench/verdicts.py, whose figures are in doc/statistics.md: few false alarms, a planted change that is found, and verdicts of
`compare` and outcomes of `gate` that follow from one interval.
"""

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools"))

from tap import Tap  # noqa: E402


def run(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=300)
    numbers = done.stdout.splitlines()[-1].split()
    return done, dict(zip(numbers[::2], map(int, numbers[1::2])))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", required=True)
    options = parser.parse_args()
    tap, runs = Tap(), HERE / "runs.txt"
    for noise in 0, 3:
        _, alarms = run(options.draws, runs, noise, 5, 0, 300, 1)
        tap.check(alarms["any"] <= 15, f"the same program, 5 runs a side, noise {noise or 'as recorded'}: at most 5 % of comparisons have a false alarm", [alarms])
    _, found = run(options.draws, runs, 3, 5, 20, 100, 2)
    tap.check(found["found"] >= 95 and found["others"] <= 5, "one of 30 functions 20 % slower, noise 3 %, 5 runs a side: found in 95 %", [found])
    done, agreed = run(options.draws, "agree", 1000, 3)
    tap.check(done.returncode == 0 and agreed["disagree"] == 0 and agreed["beyond"] > 100, f"verdicts and limits agree on {agreed['tables']} tables",
              done.stdout.splitlines())
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
