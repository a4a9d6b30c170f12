#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The public interface is the one of tests/abi/baseline.xml, and every struct of options is tested with other sizes."""

import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import abi  # noqa: E402
from public_api import declarations, public_headers, without_comments  # noqa: E402
from tap import Tap  # noqa: E402

SIZED = re.compile(r"typedef struct (\w+) \{\s*size_t size;")

# Header, what is replaced, by what; whether programs break.
CHANGES = {
    "a function that is gone": ("name.h", "lode_path_tail", "lode_path_end", True),
    "a parameter of another type": ("trace.h", "lode_trace_line_seek(const lode_trace_line *line, uint64_t time)",
                                    "lode_trace_line_seek(const lode_trace_line *line, uint32_t time)", True),
    "a field in the middle of options": ("cost.h", "unsigned threads; ", "unsigned threads; uint64_t seed; ", True),
    # It has no size by which it could be told from what an older program left there.
    "a field where options had padding": ("recording.h", "unsigned threads;\n", "unsigned threads, seed;\n", True),
    "a fixed struct that grows": ("block.h", "uint64_t opaque[6];", "uint64_t opaque[7];", True),
    "an error that grows": ("status.h", "char text[416];", "char text[512];", True),
    "a value that changes": ("metric.h", "LODE_COMBINE_MIN = 1", "LODE_COMBINE_MIN = 3", True),
    "a field at the end of options": ("view.h", "} lode_view_options;", "uint64_t seed; } lode_view_options;", False),
    "a value at the end of an enumeration": ("view.h", "} lode_view_mode;", ", LODE_VIEW_ANOTHER } lode_view_mode;", False),
}


def changed(folder, header, old, new):
    """The public headers with one change."""
    include = Path(folder) / "include"
    shutil.copytree(ROOT / "include", include)
    path = include / "lode" / header
    text = path.read_text(encoding="utf-8")
    if old not in text:
        raise RuntimeError(f"{header} does not have '{old}'")
    path.write_text(text.replace(old, new), encoding="utf-8")
    return include


def self_test(tap, current):
    for name, (header, old, new, is_break) in CHANGES.items():
        with tempfile.TemporaryDirectory() as folder:
            text = abi.describe(changed(folder, header, old, new))
        differs, report = abi.compare(current, text)
        found = abi.breaks(current, text)
        tap.check(differs and bool(found) == is_break, f"self-test: {name} is {'a break' if is_break else 'seen, and none'}",
                  [report, *found])


def covered(tap, headers):
    """Every struct that begins with its size, and every function that takes one, is in tests/abi/option_list.h."""
    tested = (ROOT / "tests" / "abi" / "option_list.h").read_text(encoding="utf-8")
    sized, takers = set(), set()
    for header in public_headers(headers):
        sized.update(SIZED.findall(without_comments(header.read_text(encoding="utf-8"))))
    for header in public_headers(headers):
        code = without_comments(header.read_text(encoding="utf-8"))
        for start, end, name in declarations(code):
            if any(re.search(rf"const {struct} \*", code[start:end]) for struct in sized):
                takers.add(name.removesuffix("_sized"))
    missing = [name for name in sorted(sized) if not re.search(rf"static const {name} \w+ =", tested)]
    tap.check(len(sized) >= 15 and not missing, f"{len(sized)} structs of options are tested with sizes of other versions", missing)
    missing = [name for name in sorted(takers) if f'{{"{name}",' not in tested]
    tap.check(len(takers) >= 19 and not missing, f"{len(takers)} functions with options are tested with NULL and other sizes", missing)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--include", type=Path, default=ROOT / "include")
    options = parser.parse_args()
    tap = Tap()
    covered(tap, options.include / "lode")
    missing = [tool for tool in ("gcc", "abidw", "abidiff") if not shutil.which(tool)]
    if missing:
        tap.skip("the public interface is that of the baseline", f"{', '.join(missing)} not installed")
        return tap.finish()
    current = abi.describe(options.include)
    baseline = abi.BASELINE.read_text(encoding="utf-8")
    differs, report = abi.compare(baseline, current)
    tap.check(not differs, "the public interface is that of the baseline, with additions at most",
              [report, "if this is meant, run tests/tools/abi.py, which says whether programs break (doc/abi.md)"])
    self_test(tap, current)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
