#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Nothing above src/format names a format: what is in the registry is known by what it brings. Comments may name formats, and so
may the texts of help.

    format_names.py [--source src]
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from public_api import without_comments  # noqa: E402
from tap import Tap  # noqa: E402

LAYERS = ("model", "analysis", "table", "transform", "export", "cli", "sql", "runs")
NAMES = re.compile(r"hpctoolkit|uftrace|zorka|\b(?:lode_)?(?:hpct|uft|zor)_", re.IGNORECASE)
# (file, what it says): each with its reason.
ALLOWED = {
    # The pages of help are text; these two lines name a file in a directory that the user may have meant.
    ("cli/stores/stores.c", "*"),
    # It starts the tools of these names, and does not read what they write.
    *((f"cli/commands/record/{name}", "*") for name in ("choose.c", "cmd_record.c", "place.c", "plan.c", "record.h")),
}


def complaints(source):
    found, count = [], 0
    for layer in LAYERS:
        for path in sorted((source / layer).rglob("*.[ch]")):
            name = str(path.relative_to(source))
            count += 1
            if (name, "*") in ALLOWED:
                continue
            for number, line in enumerate(without_comments(path.read_text(encoding="utf-8")).split("\n"), 1):
                if NAMES.search(line):
                    found.append(f"{name}:{number}: {line.strip()}")
    return found, count


BROKEN = {
    "an include": '#include "format/uftrace/write/write.h"\n',
    "a comparison": 'static int f(const char *s) { return strcmp(s, "zorka"); }\n',
    "a prefix": "static struct hpct_sink *sink;\n",
}


def self_test(tap):
    for what, text in BROKEN.items():
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "model").mkdir()
            (Path(folder) / "model" / "bad.c").write_text("/* uftrace */\n" + text, encoding="utf-8")
            found, _ = complaints(Path(folder))
            tap.check(len(found) == 1 and found[0].startswith("model/bad.c:2:"), f"self-test: finds {what}", found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, default=ROOT / "src")
    options = parser.parse_args()
    tap = Tap()
    self_test(tap)
    found, count = complaints(options.source)
    tap.check(not found and count > 0, f"{count} files above src/format name no format", found)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
