#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The rules and notes of `lode diagnose` in doc/diagnose.md are those of the code, in both directions."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from tap import Tap  # noqa: E402

RULE = re.compile(r'const struct rule lode_\w+ = \{\s*"([a-z0-9-]+)"')
NOTE = re.compile(r'lode_add_note\(\s*d,\s*"([a-z0-9-]+)"')


def section(text, name):
    """Ids of the table in a section."""
    part = re.search(rf"^## {name}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return set(re.findall(r"^\| `([a-z0-9-]+)` \|", part[1], re.MULTILINE)) if part else set()


def main():
    tap = Tap()
    code = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "src" / "analysis" / "diagnose").rglob("*.c")))
    text = (ROOT / "doc" / "diagnose.md").read_text(encoding="utf-8")
    for name, pattern in (("Rules", RULE), ("Notes", NOTE)):
        wanted, found = set(pattern.findall(code)), section(text, name)
        tap.check(len(wanted) > 20 and wanted == found, f"{name} of doc/diagnose.md are those of the code",
                  [f"missing: {sorted(wanted - found)}", f"unknown: {sorted(found - wanted)}"])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
