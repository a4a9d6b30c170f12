#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Prints the names of the tests of a build folder that a step of CI runs, and says on stderr how many they are.

  choose_tests.py BUILD [--suite NAME]... [--not-suite NAME]... [--some K/N]

--suite selects the tests of suites, --not-suite leaves suites out. --some K/N leaves out tests that only compare the output of the
program, which another build runs as well, but for the K-th of N parts of them.
"""

import argparse
import json
import subprocess
import sys

COMPARISONS = {"answers", "build", "drafts", "dump", "live", "ranks", "recordings", "roundtrip", "seeds"}
# They look at sources, not at what was built.
SOURCES = {"lint", "doc"}


def suites(test):
    """Without the name of the project."""
    return {suite.rpartition(":")[2] for suite in test["suite"]}


def is_script(test):
    return any(word.endswith(".py") for word in test["cmd"])


def choose(tests, options):
    if options.suite:
        tests = [test for test in tests if suites(test) & set(options.suite)]
    tests = [test for test in tests if not suites(test) & set(options.not_suite)]
    if options.some:
        part, parts = map(int, options.some.split("/"))
        left_out = [test for test in tests if suites(test) <= COMPARISONS | SOURCES and is_script(test)]
        chosen = {test["name"] for test in left_out[part - 1::parts] if not suites(test) & SOURCES}
        left_out = {test["name"] for test in left_out} - chosen
        print(f"select: part {part} of {parts} of the comparisons", file=sys.stderr)
        tests = [test for test in tests if test["name"] not in left_out]
    return tests


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--suite", action="append", default=[])
    parser.add_argument("--not-suite", action="append", default=[])
    parser.add_argument("--some")
    options = parser.parse_args()
    introspected = subprocess.run(["meson", "introspect", "--tests", options.build], check=True, stdout=subprocess.PIPE)
    tests = json.loads(introspected.stdout)
    chosen = choose(tests, options)
    print(f"select: {len(chosen)} of {len(tests)} tests", file=sys.stderr)
    for test in chosen:
        print(test["name"])


if __name__ == "__main__":
    main()
