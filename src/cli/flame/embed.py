#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes C strings of page.html, with script and style in it and their hashes in its policy: embed.py PAGE STYLE SCRIPT OUTPUT."""

import base64
import hashlib
import sys
from pathlib import Path

MARK = "@BOXES@"


def source(text):
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def literal(name, text):
    lines = (line.replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n"))
    return f"const char *const {name}[] = {{\n    " + "\n    ".join(f'"{line}\\n",' for line in lines) + "\n    NULL,\n};\n"


def main():
    page, style, script, output = map(Path, sys.argv[1:])
    style, script = style.read_text(encoding="ascii"), script.read_text(encoding="ascii")
    text = page.read_text(encoding="ascii").replace("@STYLE_SOURCE@", source(style)).replace("@SCRIPT_SOURCE@", source(script))
    head, tail = text.replace("@STYLE@", style).replace("@SCRIPT@", script).split(MARK)
    output.write_text('#include "commands/flame/flame.h"\n\n' + literal("flame_page_head", head.rstrip("\n")) + "\n"
                      + literal("flame_page_tail", tail.strip("\n")), encoding="ascii")


if __name__ == "__main__":
    main()
