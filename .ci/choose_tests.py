#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Prints the names of the tests of a build folder that a step of CI runs, and says on stderr how many they are.

  choose_tests.py BUILD [--suite NAME]... [--not-suite NAME]... [--not-test NAME]... [--part K/N SUITES]... [--keep NAME]... [--shard K/N]

--suite selects the tests of suites, --not-suite and --not-test leave out what they name. With --part, the scripts of SUITES (names with
commas between them) are left out, but for the K-th of N parts of them and those that --keep names. --shard chooses the K-th of N parts of
what is left, scripts or not.
"""

import argparse
import json
import subprocess
import sys


def suites(test):
    """Without the name of the project."""
    return {suite.rpartition(":")[2] for suite in test["suite"]}


def is_script(test):
    return any(word.endswith(".py") for word in test["cmd"])


def left_out(tests, share, names):
    """Names of the scripts of suites that are not in a part."""
    part, parts = map(int, share.split("/"))
    scripts = [test["name"] for test in tests if suites(test) & set(names.split(",")) and is_script(test)]
    print(f"select: part {part} of {parts} of the scripts in {names}", file=sys.stderr)
    return set(scripts) - set(scripts[part - 1::parts])


def choose(tests, options):
    if options.suite:
        tests = [test for test in tests if suites(test) & set(options.suite)]
    tests = [test for test in tests if not suites(test) & set(options.not_suite) and test["name"] not in options.not_test]
    without = set().union(*(left_out(tests, *part) for part in options.part)) - set(options.keep)
    tests = [test for test in tests if test["name"] not in without]
    shard, shards = map(int, options.shard.split("/"))
    # Meson runs all tests of a name.
    names = list(dict.fromkeys(test["name"] for test in tests))[shard - 1::shards]
    return [test for test in tests if test["name"] in set(names)]


def parse(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--suite", action="append", default=[])
    parser.add_argument("--not-suite", action="append", default=[])
    parser.add_argument("--not-test", action="append", default=[])
    parser.add_argument("--part", nargs=2, action="append", default=[])
    parser.add_argument("--keep", action="append", default=[])
    parser.add_argument("--shard", default="1/1")
    return parser.parse_args(arguments)


def main():
    options = parse(sys.argv[1:])
    introspected = subprocess.run(["meson", "introspect", "--tests", options.build], check=True, stdout=subprocess.PIPE)
    tests = json.loads(introspected.stdout)
    chosen = choose(tests, options)
    print(f"select: {len(chosen)} of {len(tests)} tests", file=sys.stderr)
    for test in chosen:
        print(test["name"])


if __name__ == "__main__":
    main()
