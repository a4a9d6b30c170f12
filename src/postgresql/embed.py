#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a C array of the lines of schema.sql: embed.py SCHEMA OUTPUT."""

import sys
from pathlib import Path


def main():
    schema, output = map(Path, sys.argv[1:])
    lines = (line.replace("\\", "\\\\").replace('"', '\\"') for line in schema.read_text(encoding="ascii").splitlines())
    output.write_text("static const char *const schema_text[] = {\n" + "".join(f'    "{line}\\n",\n' for line in lines) + "    0,\n};\n", encoding="ascii")


if __name__ == "__main__":
    main()
