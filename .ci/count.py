#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Adds up test results.

  count.py BUILD NAME STATUS RESULTS   what Meson's tests in a folder came to; appends "PASSED FAILED SKIPPED NAME"
  count.py --total RESULTS             prints "N passed, N failed, N skipped" over all lines
  count.py --durations FOLDER SECONDS  prints how long each step took: a file of FOLDER has "WALL USER SYSTEM"
  count.py --programs OUT              prints which test programs took most processor time: OUT/STEP/costs has lines of cost.sh

Meson's JUnit file has every TAP subtest but takes a timeout or a broken plan for a success; its JSON log has the
verdicts but no subtests. So the verdicts come from the one and the subtests from the other. Tests that speak cmocka's own
language are counted by what they print.
"""

import json
import re
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

SHOWN = 20
LOG = "testlog"
PASSED = {"OK", "EXPECTEDFAIL"}
RUN, OK, SKIPPED = (re.compile(rf"^\[ *{word} *\] (.*)", re.MULTILINE) for word in ("RUN", "OK", "SKIPPED"))


class Counts:
    def __init__(self):
        self.passed, self.failed, self.skipped = [], [], []

    def add(self, name, verdict):
        {"passed": self.passed, "failed": self.failed, "skipped": self.skipped}[verdict].append(name)

    def extend(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def numbers(self):
        return [len(self.passed), len(self.failed), len(self.skipped)]


def log_file(folder, log, suffix):
    """A log of Meson, or None. With a wrapper, Meson adds its name: testlog-bash.json."""
    return next(iter(sorted(folder.glob(f"{log}*{suffix}"))), None)


def tap_subtests(folder, log):
    """{test: [(subtest, verdict)]} of the tests that speak TAP."""
    subtests, path = {}, log_file(folder, log, ".junit.xml")
    # Meson writes it at the end, which it may not have reached.
    for suite in xml.parse(path).getroot().iter("testsuite") if path else ():
        _, dot, test = suite.get("name").partition(".")
        if dot:
            subtests.setdefault(test, []).extend(
                (case.get("name"), "failed" if case.find("failure") is not None or case.find("error") is not None
                 else "skipped" if case.find("skipped") is not None else "passed") for case in suite.iter("testcase"))
    return subtests


def cmocka_subtests(output):
    ok, skipped = set(OK.findall(output)), set(SKIPPED.findall(output))
    return [(name, "passed" if name in ok else "skipped" if name in skipped else "failed")
            for name in RUN.findall(output)]


def tap_details(output, subtest):
    """The diagnostics that follow a failed subtest, which Meson does not show."""
    number = subtest.split(" ")[0]
    found = re.search(rf"^not ok {number}\b.*\n((?:#.*\n?)*)", output, re.MULTILINE)
    return found.group(1).splitlines()[:SHOWN] if found else []


def programs_of(folder, log):
    """What Meson's log says of each test program; nothing if none ran."""
    path = log_file(folder, log, ".json")
    if path is None:
        return []
    with open(path, encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def verdict_of(test):
    return "passed" if test["result"] in PASSED else "skipped" if test["result"] == "SKIP" else "failed"


def failed_programs(folder, log=LOG):
    return sorted({test["name"] for test in programs_of(folder, log) if verdict_of(test) == "failed"})


def passed_programs(folder, log=LOG):
    return {test["name"] for test in programs_of(folder, log)} - set(failed_programs(folder, log))


def count(folder, log=LOG, leave_out=()):
    counts = Counts()
    tests = [test for test in programs_of(folder, log) if test["name"] not in leave_out]
    subtests = tap_subtests(folder, log) if tests else {}
    for test in tests:
        name, verdict = test["name"], verdict_of(test)
        parts = subtests.get(name) or cmocka_subtests(test.get("stdout", ""))
        for part, result in parts:
            details = tap_details(test.get("stdout", ""), part) if result == "failed" else []
            counts.add("\n      ".join([f"{name} / {part}", *details]), result)
        # A test with parts counts as its parts, unless it went wrong in a way that none of them shows.
        if not parts or (verdict == "failed" and all(part[1] != "failed" for part in parts)):
            counts.add(f"{name} ({test['result']})", verdict)
    return counts


def read_results(path):
    """{step: [passed, failed, skipped]}"""
    with open(path, encoding="utf-8") as stream:
        return {name: list(map(int, numbers)) for *numbers, name in (line.split(None, 3) for line in stream.read().splitlines())}


def write_results(path, results):
    with open(path, "w", encoding="utf-8") as stream:
        stream.writelines(f"{passed} {failed} {skipped} {name}\n" for name, (passed, failed, skipped) in results.items())


def report(build, name, status, results):
    counts = count(Path(build) / "meson-logs")
    if not (counts.passed or counts.failed or counts.skipped):
        counts.add("no test ran", "failed")
    elif status != "ok" and not counts.failed:
        counts.add("the step itself", "failed")
    for test in counts.failed:
        print(f"   failed: {test}")
    for test in counts.skipped:
        print(f"   skipped: {test}")
    print(f"   {len(counts.passed)} passed, {len(counts.failed)} failed, {len(counts.skipped)} skipped")
    with open(results, "a", encoding="utf-8") as stream:
        stream.write(" ".join(map(str, counts.numbers())) + f" {name}\n")
    return 1 if counts.failed else 0


def total(results):
    sums = [sum(numbers) for numbers in zip(*read_results(results).values())]
    print(f"{sums[0]} passed, {sums[1]} failed, {sums[2]} skipped")
    return 1 if sums[1] else 0


def durations(folder, seconds):
    print(f"   {'step':12} {'seconds':>8} {'of processors':>14}")
    sums = 0.0
    for path in sorted(Path(folder).iterdir(), key=lambda path: path.stat().st_mtime):
        wall, user, system = map(float, path.read_text(encoding="utf-8").split()[-3:])
        sums += user + system
        print(f"   {path.name:12} {wall:8.0f} {user + system:14.0f}")
    print(f"   {'all':12} {float(seconds):8.0f} {sums:14.0f}")
    return 0


def programs(out):
    costs = []
    for path in Path(out).glob("*/costs"):
        for line in path.read_text(encoding="utf-8").splitlines():
            user, system, command = line.split(None, 2)
            # The script or the program, and what distinguishes several runs of one.
            words = [word.rpartition("/")[2] for word in command.split() if not re.search(r"(python3[.0-9]*|/bash|/env)$", word)]
            costs.append((float(user) + float(system), path.parent.name, " ".join(words)[:80]))
    print(f"   {'of processors':>14} {'step':10} the {SHOWN} test programs that take most of {sum(cost[0] for cost in costs):.0f} s")
    for seconds, name, command in sorted(costs, reverse=True)[:SHOWN]:
        print(f"   {seconds:14.1f} {name:10} {command}")
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "--total":
        sys.exit(total(sys.argv[2]))
    if sys.argv[1] == "--programs":
        sys.exit(programs(sys.argv[2]))
    sys.exit(durations(*sys.argv[2:4]) if sys.argv[1] == "--durations" else report(*sys.argv[1:5]))
