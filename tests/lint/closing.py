#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One rule for the ends of objects (include/lode/lode.h): what has an `_open` has a `_close`, whatever else ends has a `_free`."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from public_api import public_functions  # noqa: E402
from tap import Tap  # noqa: E402

END = re.compile(r"(lode_\w+)_(close|free|release|delete|destroy|dispose|end)$")
# A call that ends something else than an object: filling a builder; a result that a query lends.
NOT_ENDS = {"lode_profile_builder_end", "lode_query_release"}


def complaints(functions):
    opened = {match.group(1) for name in functions if (match := re.match(r"(lode_\w+?)_open(_\w+)?$", name))}
    for name in sorted(set(functions) - NOT_ENDS):
        match = END.match(name)
        if match:
            wanted = "close" if match.group(1) in opened else "free"
            if match.group(2) != wanted:
                yield f"{name} should be {match.group(1)}_{wanted}"
    ends = {match.group(1) for name in functions if (match := END.match(name))}
    yield from (f"{name}_open has no {name}_close" for name in sorted(opened - ends))


def main():
    tap = Tap()
    tap.check(list(complaints(["lode_a_open", "lode_a_free", "lode_b_compute", "lode_b_close", "lode_c_open"])) ==
              ["lode_a_free should be lode_a_close", "lode_b_close should be lode_b_free", "lode_c_open has no lode_c_close"],
              "self-test: finds a wrong end and a missing one")
    functions = public_functions(ROOT / "include" / "lode")
    found = list(complaints(functions))
    tap.check(len(functions) > 0 and not found, "what was opened is closed, what was computed is freed", found)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
