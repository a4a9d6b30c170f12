#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""doc/tables.md has every table and column that the library has: `--write` refreshes it."""
import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from tap import Tap  # noqa: E402

MARK = "\n## Databases\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", required=True, help="the program table_list")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    path = ROOT / "doc" / "tables.md"
    said = subprocess.run([options.list], capture_output=True, text=True, check=True).stdout.replace("; |", " |")
    head, mark, rest = path.read_text(encoding="utf-8").partition(MARK)
    if options.write:
        path.write_text(head + said, encoding="utf-8")
        return 0
    tap = Tap()
    wrong = [line for line in said.splitlines() if line not in rest.splitlines() and line not in mark]
    tap.check(mark + rest == said, "doc/tables.md has the tables of the library", wrong[:20] or ["the order differs, or the document has more"])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
