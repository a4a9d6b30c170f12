#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The library exports the functions of its public headers, and nothing else."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from make_map import SYMBOLS, functions_by_node, listed_symbols, versioned  # noqa: E402
from public_api import public_functions, without_comments  # noqa: E402
from tap import Tap  # noqa: E402

# More of them nobody would freeze.
MOST_STABLE = 250
# What instrumented builds add on their own account.
INSTRUMENTATION = re.compile(r"^(_+(asan|odr_asan|ubsan|tsan|sancov|sanitizer|llvm|gcov|start_|stop_)|asan\.|sancov\.)")


def mapped_functions(path):
    """The symbols that a version script lists as global, with their version nodes."""
    text = without_comments(path.read_text(encoding="utf-8"))
    return sorted(f"{name}@{node}" for node, listed in re.findall(r"(\S+) \{\s*global:(.*?)(?:local:|\})", text, re.DOTALL)
                  for name in re.findall(r"(\w+)\s*;", listed))


def defined_symbols(nm, path, *flags):
    output = subprocess.run([nm, "--defined-only", "--format=posix", *flags, str(path)],
                            check=True, capture_output=True, text=True).stdout
    fields = [line.split() for line in output.splitlines()]
    # The version nodes themselves are absolute symbols; "name[member]:" lines head the members of an archive.
    names = {f[0].split("@")[0] for f in fields if len(f) >= 2 and f[1] != "A"}
    return sorted(name for name in names if not INSTRUMENTATION.match(name))


def check_same(tap, name, left_name, left, right_name, right):
    details = [f"only in {left_name}: {symbol}" for symbol in sorted(set(left) - set(right))]
    details += [f"only in {right_name}: {symbol}" for symbol in sorted(set(right) - set(left))]
    tap.check(not details, name, details)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, required=True)
    parser.add_argument("--static", type=Path, required=True)
    parser.add_argument("--headers", type=Path, default=ROOT / "include" / "lode")
    parser.add_argument("--map", type=Path, default=ROOT / "src" / "lode.map")
    parser.add_argument("--nm", default="nm")
    options = parser.parse_args()

    tap = Tap()
    declared, by_node = public_functions(options.headers), functions_by_node(options.headers)
    stable = public_functions(options.headers, ["stable"])
    tap.check(len(stable) <= MOST_STABLE, f"{len(stable)} of at most {MOST_STABLE} functions are stable")
    tap.check(len(declared) > 0, f"{len(declared)} functions are declared with LODE_API")
    strangers = [name for name in declared if not name.startswith("lode_")]
    tap.check(not strangers, "every declared function starts with lode_", strangers)
    check_same(tap, "the version script lists what the headers declare", "the headers",
               [f"{name}@{node}" for node, names in by_node.items() for name in names],
               "the version script (run tests/tools/make_map.py)", mapped_functions(options.map))
    check_same(tap, "the symbols file of Debian lists what the headers declare", "the headers", versioned(by_node),
               "debian/liblode1.symbols (run tests/tools/make_map.py)", listed_symbols(SYMBOLS))
    check_same(tap, "the shared library exports what the headers declare", "the headers", declared,
               "the shared library", defined_symbols(options.nm, options.shared, "--dynamic"))
    archive = defined_symbols(options.nm, options.static, "--extern-only")
    strangers = [name for name in archive if not name.startswith("lode_")]
    tap.check(len(archive) >= len(declared) and not strangers,
              f"the {len(archive)} global symbols of the archive start with lode_", strangers)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
