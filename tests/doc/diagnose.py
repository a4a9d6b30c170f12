#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The rules and notes of `lode diagnose` in doc/diagnose.md are those of the code, in both directions. `--write` adds a row for each
rule that has none, with what the code says about it.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from tap import Tap  # noqa: E402

RULE = re.compile(r'const struct lode_diagnose_rule lode_\w+ = \{\s*"([a-z0-9-]+)"')
SUMMARY = re.compile(r'const struct lode_diagnose_rule lode_\w+ = \{\s*"([a-z0-9-]+)",\s*"([^"]*)"')
COLUMNS = ("profiles", "calls", "requests")
DIAGNOSE, DOCUMENT = ROOT / "src" / "analysis" / "diagnose", ROOT / "doc" / "diagnose.md"
NOTE = re.compile(r'lode_diagnose_add_note\(\s*d,\s*"([a-z0-9-]+)"')


def section(text, name):
    """Ids of the table in a section."""
    part = re.search(rf"^## {name}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return set(re.findall(r"^\| `([a-z0-9-]+)` \|", part[1], re.MULTILINE)) if part else set()


def write():
    """Rows for rules without one, at the end of the table."""
    text = DOCUMENT.read_text(encoding="utf-8")
    missing = {}
    for column in COLUMNS:
        for path in sorted((DIAGNOSE / column).rglob("*.c")):
            for rule, summary in SUMMARY.findall(path.read_text(encoding="utf-8")):
                if rule not in section(text, "Rules"):
                    missing.setdefault(rule, (summary, []))[1].append(column)
    rows = "".join(f"| `{rule}` | {' | '.join('x' if column in columns else '' for column in COLUMNS)} | {summary} |\n".replace("|  |", "| |").replace("|  |", "| |")
                   for rule, (summary, columns) in missing.items())
    head, title, rest = text.partition("\n## Rules\n")
    table = list(re.finditer(r"^\| `.*\n", rest.split("\n## ")[0], re.MULTILINE))[-1].end()
    DOCUMENT.write_text(head + title + rest[:table] + rows + rest[table:], encoding="utf-8")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    if parser.parse_args().write:
        return write()
    tap = Tap()
    code = "\n".join(path.read_text(encoding="utf-8") for path in sorted(DIAGNOSE.rglob("*.c")))
    text = DOCUMENT.read_text(encoding="utf-8")
    for name, pattern in (("Rules", RULE), ("Notes", NOTE)):
        wanted, found = set(pattern.findall(code)), section(text, name)
        tap.check(len(wanted) > 20 and wanted == found, f"{name} of doc/diagnose.md are those of the code",
                  [f"missing: {sorted(wanted - found)}", f"unknown: {sorted(found - wanted)}"])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
