#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
How long the functions of src/ are, from the brace that opens the body to the one that closes it, both counted. The code is
formatted, so that a body begins with "{" in the first column and ends with "}" there.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from tap import Tap  # noqa: E402

MEDIAN, NINE_IN_TEN, LONGEST = 12, 25, 60
NAME = re.compile(r"(\w+)\(")


def functions(text):
    """(name, line, length) of each function with a body."""
    lines = text.split("\n")
    found = []
    for start, line in enumerate(lines):
        if line != "{":
            continue
        end = lines.index("}", start)
        head = start - 1
        while head > 0 and lines[head].startswith((" ", "\t")):
            head -= 1
        name = NAME.search(lines[head])
        found.append((name.group(1) if name else lines[head], start + 1, end - start + 1))
    return found


def judge(tap, every):
    """`every`: (length, where). Checks the three limits."""
    lengths = sorted(length for length, _ in every)
    median, tenth = lengths[len(lengths) // 2], lengths[len(lengths) * 9 // 10]
    longest = sorted(every, reverse=True)[:5]
    tap.check(median <= MEDIAN, f"half of {len(every)} functions have at most {MEDIAN} lines", [f"median {median}"])
    tap.check(tenth <= NINE_IN_TEN, f"nine in ten have at most {NINE_IN_TEN} lines", [f"{tenth}"])
    tap.check(lengths[-1] <= LONGEST, f"none has more than {LONGEST} lines", [f"{length} {where}" for length, where in longest])


class Quiet:
    """Counts what fails instead of saying it."""

    def __init__(self):
        self.failed = 0

    def check(self, is_good, *_):
        self.failed += not is_good


def self_test(tap):
    body = "static int\n    f(int a)\n{\n    if (a) {\n        a++;\n    }\n    return a;\n}\n"
    tap.check([item[1:] for item in functions("int x;\n\n" + body)] == [(5, 6)], "a body is measured")
    for lengths, failing in (([10] * 10, 0), ([13] * 10, 1), ([10] * 8 + [26] * 2, 1), ([10] * 19 + [61], 1), ([99] * 3, 3)):
        quiet = Quiet()
        judge(quiet, [(length, "") for length in lengths])
        tap.check(quiet.failed == failing, f"{len(lengths)} functions of up to {max(lengths)} lines fail {failing} limits")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT / "src")
    options = parser.parse_args()
    tap = Tap()
    self_test(tap)
    every = [(length, f"{path.relative_to(options.folder)}:{line} {name}")
             for path in sorted(options.folder.rglob("*.c")) + sorted(options.folder.rglob("*.h"))
             for name, line, length in functions(path.read_text(encoding="utf-8"))]
    tap.check(len(every) > 1000, "the functions are found", [f"{len(every)}"])
    judge(tap, every)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
