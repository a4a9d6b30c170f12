#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Adds up test results.

  count.py BUILD NAME STATUS RESULTS   what Meson's tests in a folder came to; appends "PASSED FAILED SKIPPED NAME"
  count.py --total RESULTS             prints "N passed, N failed, N skipped" over all lines
  count.py --durations FOLDER SECONDS  prints how long each step took: a file of FOLDER has "WALL USER SYSTEM"

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
PASSED = {"OK", "EXPECTEDFAIL"}
RUN, OK, SKIPPED = (re.compile(rf"^\[ *{word} *\] (.*)", re.MULTILINE) for word in ("RUN", "OK", "SKIPPED"))


class Counts:
    def __init__(self):
        self.passed, self.failed, self.skipped = [], [], []

    def add(self, name, verdict):
        {"passed": self.passed, "failed": self.failed, "skipped": self.skipped}[verdict].append(name)


def tap_subtests(folder):
    """{test: [(subtest, verdict)]} of the tests that speak TAP."""
    subtests = {}
    for suite in xml.parse(folder / "testlog.junit.xml").getroot().iter("testsuite"):
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


def count(folder):
    counts = Counts()
    subtests = tap_subtests(folder)
    with open(folder / "testlog.json", encoding="utf-8") as stream:
        for line in stream:
            test = json.loads(line)
            name, result = test["name"], test["result"]
            parts = subtests.get(name) or cmocka_subtests(test.get("stdout", ""))
            for part, verdict in parts:
                details = tap_details(test.get("stdout", ""), part) if verdict == "failed" else []
                counts.add("\n      ".join([f"{name} / {part}", *details]), verdict)
            verdict = "passed" if result in PASSED else "skipped" if result == "SKIP" else "failed"
            # A test with parts counts as its parts, unless it went wrong in a way that none of them shows.
            if not parts or (verdict == "failed" and all(part[1] != "failed" for part in parts)):
                counts.add(f"{name} ({result})", verdict)
    return counts


def report(build, name, status, results):
    folder = Path(build) / "meson-logs"
    counts = Counts()
    if (folder / "testlog.json").is_file():
        counts = count(folder)
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
        stream.write(f"{len(counts.passed)} {len(counts.failed)} {len(counts.skipped)} {name}\n")
    return 1 if counts.failed else 0


def total(results):
    sums = [0, 0, 0]
    with open(results, encoding="utf-8") as stream:
        for line in stream:
            for place, number in enumerate(line.split()[:3]):
                sums[place] += int(number)
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


if __name__ == "__main__":
    if sys.argv[1] == "--total":
        sys.exit(total(sys.argv[2]))
    sys.exit(durations(*sys.argv[2:4]) if sys.argv[1] == "--durations" else report(*sys.argv[1:5]))
