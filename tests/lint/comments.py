#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""No line of a C comment is longer than 100 columns, so that comments stay short and say one thing each."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from public_api import comments  # noqa: E402
from tap import Tap  # noqa: E402

LIMIT = 100
FOLDERS = ("include", "src", "tests")
# Generated, and never edited once its version is released.
FROZEN = {"tests/abi/lode-0.1.h"}


def long_lines(text):
    """(line number, columns) of every line of a comment that ends beyond the limit. NOLINT must follow its code."""
    found = []
    for start, end, comment in comments(text):
        if comment.startswith(("// NOLINT", "/* NOLINT")):
            continue
        begin = text.rfind("\n", 0, start) + 1
        first = text.count("\n", 0, begin) + 1
        for offset, line in enumerate(text[begin:end].split("\n")):
            if len(line) > LIMIT:
                found.append((first + offset, len(line)))
    return found


def violations(root):
    """Every long line of a comment below the folders, and the number of files that were read."""
    found, count = [], 0
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*.[ch]")):
            name = file.relative_to(root).as_posix()
            if name in FROZEN:
                continue
            count += 1
            found += [f"{name}:{line}: {columns} columns" for line, columns in long_lines(file.read_text(encoding="utf-8"))]
    return found, count


# Text, and the lines that must be found in it.
SAMPLES = [
    ("/* " + "x" * 94 + " */\n", []),
    ("/* " + "x" * 95 + " */\n", [(1, 101)]),
    ("/*\n * short\n * " + "x" * 98 + "\n */\n", [(3, 101)]),
    ("int a; /* " + "x" * 88 + " */\n", [(1, 101)]),
    ("// " + "x" * 98 + "\n", [(1, 101)]),
    ('const char *a = "/* ' + "x" * 100 + ' */";\n', []),
    ("/* short */ int " + "x" * 100 + ";\n", []),
    ("int " + "x" * 90 + "; // NOLINT(misc-no-recursion)\n", []),
]


def main():
    tap = Tap()
    wrong = [text for text, expected in SAMPLES if long_lines(text) != expected]
    tap.check(not wrong, "long lines of comments are found, and only they", wrong)
    found, count = violations(ROOT)
    tap.check(count > 300, "files are read", [f"{count} files"])
    tap.check(not found, f"lines of comments have at most {LIMIT} columns", found)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
