#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Every test that doc/security.md names exists, and every claim names one: security.py --tests BUILD/meson-info/intro-tests.json

Suites that a build may lack (fault injection needs glibc, the Python package is optional) are not looked for where nothing of them is there.
"""

import argparse
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from tap import Tap  # noqa: E402

TABLE = re.compile(r"^\| what holds \| test \|\n\|---\|---\|\n((?:\|.*\n)+)", re.MULTILINE)


def claims(text):
    """[(claim, [test])] of all tables of claims."""
    rows = [line for table in TABLE.findall(text) for line in table.splitlines()]
    return [(line.split(" | ")[0].lstrip("| "), re.findall(r"`([^`]+)`", line.rsplit(" | ", 1)[1])) for line in rows]


def missing(text, known):
    """Tests that are named and not known; a suite of which nothing is known is not there on this machine."""
    suites = {name.split()[0] for name in known}
    return [test for _, tests in claims(text) for test in tests if test not in known
            and (test.split()[0] in suites or test.split()[0] not in ("fault", "python"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=Path, required=True)
    known = {test["name"] for test in json.loads(parser.parse_args().tests.read_text(encoding="utf-8"))}
    text = (ROOT / "doc" / "security.md").read_text(encoding="utf-8")
    tap = Tap()
    found = claims(text)
    tap.check(len(found) >= 10, "doc/security.md makes claims", [len(found)])
    tap.check(not [claim for claim, tests in found if not tests], "every claim names a test", [claim for claim, tests in found if not tests])
    tap.check(not missing(text, known), "every test that is named exists", missing(text, known))
    spoilt = text.replace("`cli hostile names`", "`cli friendly names`", 1)
    tap.check(missing(spoilt, known) == ["cli friendly names"], "a test that does not exist is noticed", missing(spoilt, known))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
