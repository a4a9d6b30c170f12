#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Turns the source files of the example solver into a C source: embed.py OUTPUT FILE.c.in..."""

import sys
from pathlib import Path


def quoted(line):
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"'


def main():
    output, *paths = sys.argv[1:]
    lines = ["/* SPDX-License-Identifier: BSD-3-Clause */", "/* Generated from src/transform/example by embed.py. */",
             '#include "transform/example/example.h"', "#include <stddef.h>", "",
             "const struct lode_example_source_file lode_example_source_files[] = {"]
    for path in map(Path, paths):
        lines.append(f'    {{"{path.stem}",')
        lines += [f"     {quoted(line)}" for line in path.read_text(encoding="utf-8").splitlines()]
        lines.append("    },")
    lines += ["    {NULL, NULL},", "};"]
    Path(output).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
