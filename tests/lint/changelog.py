#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""CHANGELOG.md is for users: a version has at most 120 lines, a line at most 160 columns, and the newest version comes first."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from tap import Tap  # noqa: E402

LINES_MAX = 120
COLUMNS_MAX = 160
# "Unreleased" is for what is not in any version yet.
TITLE = re.compile(r"Unreleased|(\d+)\.(\d+)\.(\d+) \((?:not released|\d{4}-\d\d-\d\d)\)")


def problems(text):
    found, versions, title, count = [], [], None, 0
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > COLUMNS_MAX:
            found.append(f"line {number} has {len(line)} columns, and may have {COLUMNS_MAX}")
        if line.startswith("## "):
            title, count = line[3:], 0
            match = TITLE.fullmatch(title)
            if match is None:
                found.append(f"line {number}: '{title}' is no version")
            elif match[1] is not None:
                versions.append(tuple(map(int, match.groups())))
            elif versions:
                found.append(f"line {number}: what is not released comes first")
        count += 1
        if title and count == LINES_MAX + 1:
            found.append(f"line {number}: '{title}' has more than {LINES_MAX} lines")
    if not versions or any(newer <= older for newer, older in zip(versions, versions[1:])):
        found.append(f"versions are not the newest first: {versions}")
    return found


def main():
    tap = Tap()
    found = problems((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    tap.check(not found, "CHANGELOG.md is short, and its newest version comes first", found)
    head, line = "# Changes\n\n", "- " + "x" * (COLUMNS_MAX - 2) + "\n"
    sound = head + "## 0.2.0 (not released)\n" + line * (LINES_MAX - 1) + "## 0.1.0 (2026-01-31)\n"
    tap.check(not problems(sound), "self-test: a version may have that many lines and columns", problems(sound))
    spoilt = {
        "a line too many": sound.replace(line, 2 * line, 1),
        "a column too many": sound.replace("x", "xx", 1),
        "an older version first": head + "## 0.1.0 (2026-01-31)\n## 0.2.0 (not released)\n",
        "a title that is no version": head + "## Next\n" + sound,
        "a version without a date": head + "## 0.3.0\n" + sound,
        "what is not released last": sound + "## Unreleased\n",
        "no version": head,
    }
    for name, text in spoilt.items():
        tap.check(len(problems(text)) == 1, f"self-test: {name} is found", problems(text))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
