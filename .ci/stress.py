#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Finds tests whose verdict depends on time, load or order: stress.py BUILD [--runs N] [--load N] [--seed N] [options of choose_tests.py]

Runs all chosen tests of a build folder several times, each time in another random order, two at a time, beside busy loops that keep all
processors busy. Prints the tests that failed, and how often. Logs are in BUILD/meson-logs/stress-RUN-NUMBER*.
"""

import argparse
import multiprocessing
import os
import random
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
AT_ONCE = 2


def busy():
    while True:
        pass


def run_test(build, name, log):
    command = ["meson", "test", "-C", build, "--setup", "all", "--no-rebuild", "--timeout-multiplier", "20", "--logbase", log, name]
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--load", type=int, default=2 * (os.cpu_count() or 1), help="how many busy loops")
    parser.add_argument("--seed", type=int, default=1)
    options, chosen = parser.parse_known_args()
    names = subprocess.run([sys.executable, HERE / "choose_tests.py", options.build, *chosen], check=True, stdout=subprocess.PIPE,
                           text=True).stdout.splitlines()
    loops = [multiprocessing.Process(target=busy, daemon=True) for _ in range(options.load)]
    for loop in loops:
        loop.start()
    failed, order = Counter(), random.Random(options.seed)
    for number in range(options.runs):
        order.shuffle(names)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            results = pool.map(lambda item: (item[1], run_test(options.build, item[1], f"stress-{number}-{item[0]}")), enumerate(names))
            failed.update(name for name, is_ok in results if not is_ok)
    for loop in loops:
        loop.kill()
    for name, times in failed.most_common():
        print(f"failed {times} of {options.runs}: {name}")
    print(f"{len(names)} tests, {options.runs} runs beside {options.load} busy loops, seed {options.seed}: {len(failed)} failed at least once")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
