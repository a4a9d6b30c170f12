#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A folder of source files can be read at a glance: it has at most 25 of them. A larger one gets rooms that are named after
their questions; those of tests mirror src.
"""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from tap import Tap  # noqa: E402

PARTS = ("src", "include", "tests", "bindings", "web")
ENDINGS = {".c", ".h", ".def", ".py", ".mjs", ".ts"}
MOST = 25
# Folders that are larger for now, with the number of files that they must not exceed. A number only ever goes down.
LARGER = {"include/lode": 28, "include/lode/unstable": 27}
OTHERS = {"node_modules", "dist", "__pycache__"}


def sizes(root):
    """By folder: how many source files it has, without what tools made there."""
    count = Counter()
    for part in PARTS:
        for path in (root / part).rglob("*"):
            folder = path.relative_to(root).parent
            if path.suffix in ENDINGS and path.is_file() and not OTHERS & set(folder.parts):
                count[folder.as_posix()] += 1
    return count


def complaints(count, larger):
    """Folders with too many files, and entries of `larger` that can go or become smaller."""
    found = [f"{folder}: {files} source files, {larger.get(folder, MOST)} at most" for folder, files in sorted(count.items())
             if files > larger.get(folder, MOST)]
    found += [f"{folder}: has {count[folder]} source files: correct the list of larger folders" for folder, most in sorted(larger.items())
              if count[folder] < most]
    return found


def self_test(tap):
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for folder, files in (("src/base", MOST), ("src/model", MOST + 1), ("tests/old", MOST + 5), ("web/node_modules/x", 100)):
            (root / folder).mkdir(parents=True)
            for i in range(files):
                (root / folder / f"{i}.c").write_text("")
        (root / "src/base/README.md").write_text("")
        count = sizes(root)
        tap.check(complaints(count, {"tests/old": MOST + 5}) == [f"src/model: {MOST + 1} source files, {MOST} at most"],
                  "self-test: finds a folder that is too large", complaints(count, {"tests/old": MOST + 5}))
        tap.check(len(complaints(count, {"tests/old": MOST + 4})) == 2, "self-test: a larger folder may not grow")
        tap.check(len(complaints(count, {"tests/old": MOST + 6})) == 2, "self-test: a larger folder that shrank is noticed")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT)
    options = parser.parse_args()
    tap = Tap()
    self_test(tap)
    count = sizes(options.root)
    found = complaints(count, LARGER)
    tap.check(not found and count.total() > 1000, f"{count.total()} source files in {len(count)} folders of at most {MOST}", found)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
