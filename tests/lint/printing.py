#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Text has two ways out, and both escape what a terminal would obey: out_write of the program's writer, and report() for
standard error. So nothing else may print: no function of the C library that writes, but in the two files that are these ways;
out_raw, which writes bytes as they are, only in the formats of the writer; and the library prints nothing at all.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from public_api import without_comments  # noqa: E402
from tap import Tap  # noqa: E402

STREAM = re.compile(r"\b(stdout|stderr|STDOUT_FILENO|STDERR_FILENO)\b")
PRINT = re.compile(r"\b(v?f?printf|v?dprintf|f?puts|putchar|f?putc|fwrite|perror|write|writev|pwrite|send|v?syslog|v?warnx?|v?errx?)\s*\(")
RAW = re.compile(r"\bout_raw\b|\"output/out_backend\.h\"")
# What these files may use, each for its own purpose.
ALLOWED = {
    "report.c": {"stderr", "fwrite"},
    "progress.c": {"STDERR_FILENO"},  # asks whether it is a terminal
    "out.c": {"STDOUT_FILENO", "write"},
    "place.c": {"STDOUT_FILENO", "write"},  # bytes of other formats, no text
    "launch.c": {"STDOUT_FILENO", "STDERR_FILENO"},  # the streams of a program that is started
    "statement.c": {"pwrite"},  # what a process that is started reads; nobody sees it
    "interrupt.c": {"STDERR_FILENO"},  # the last of the streams that must not be closed
}
# A plug-in that draws on a terminal what the program has escaped (src/cli/tui/paint.c).
TERMINAL = "screen_ncurses.c"
ALLOWED[TERMINAL] = {"stdout", "STDOUT_FILENO"}
WRITERS = {"out.c", "out_file.c", "out_text.c", "out_json.c", "out_csv.c", "out_markdown.c", "out_backend.h", "place.c", "place.h"}


def complaints(name, text, in_program):
    """(line, word) of all that one file may not use."""
    text = re.sub(r'"(\\.|[^"\\\n])*"', lambda match: match[0] if match[0] == '"output/out_backend.h"' else '""', without_comments(text))
    found = [*STREAM.finditer(text)]
    if in_program:
        found += PRINT.finditer(text)
        found += [] if name in WRITERS else RAW.finditer(text)
    return [(text.count("\n", 0, match.start()) + 1, match[0]) for match in found
            if not in_program or match[0].rstrip("( ") not in ALLOWED.get(name, ())]


def main():
    tap = Tap()
    files = [path for pattern in ("*.c", "*.h") for path in sorted((ROOT / "src").rglob(pattern))]
    tap.check(len(files) > 100, "there are sources")
    wrong = [f"{path.relative_to(ROOT)}:{line}: {word}" for path in files
             for line, word in complaints(path.name, path.read_text(encoding="utf-8"), "cli" in path.parts or path.name == TERMINAL)]
    tap.check(not wrong, "all text goes through the writer or through report()", wrong)
    for name, text, in_program, count in (
            ("cmd_top.c", 'printf("%s", name);', True, 1), ("cmd_top.c", 'fprintf(stderr, "x");', True, 2),
            ("cmd_top.c", "out_raw(o, name, size);", True, 1), ("cmd_top.c", '#include "output/out_backend.h"', True, 1),
            ("out_csv.c", "out_raw(o, name, size);", True, 0), ("report.c", "fwrite(line, 1, used, stderr);", True, 0),
            ("cmd_top.c", 'snprintf(text, 4, "write()"); out_write(o, text, 3); /* printf() */', True, 0),
            ("open.c", 'fputs("x", stderr);', False, 1), ("open.c", "write(fd, bytes, size);", False, 0)):
        tap.check(len(complaints(name, text, in_program)) == count, f"of itself: {text}", complaints(name, text, in_program))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
