#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes src/lode.map, the list of exported symbols, from the LODE_API declarations of the public headers."""

import argparse
from pathlib import Path

from public_api import public_functions

ROOT = Path(__file__).resolve().parents[2]


def map_text(names):
    lines = ["/* SPDX-License-Identifier: BSD-3-Clause */",
             "/* Written by tests/tools/make_map.py from include/lode; do not edit. */",
             "LODE_0 {", "global:"]
    lines += [f"    {name};" for name in names]
    lines += ["local:", "    *;", "};"]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--headers", type=Path, default=ROOT / "include" / "lode")
    parser.add_argument("--output", type=Path, default=ROOT / "src" / "lode.map")
    options = parser.parse_args()
    names = public_functions(options.headers)
    options.output.write_text(map_text(names), encoding="utf-8")
    print(f"{options.output.name}: {len(names)} functions")


if __name__ == "__main__":
    main()
