#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The C examples of the documents compile, as C11 and as C++17, against the public headers."""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from tap import Tap  # noqa: E402

BLOCK = re.compile(r"^```c\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMPILERS = [("gcc", ["-x", "c", "-std=c11"]), ("g++", ["-x", "c++", "-std=c++17"])]
# What a snippet may leave to its reader.
BEFORE = "#include <stdio.h>\n"
INSIDE = "int example(const char *path, const char *directory);\nint example(const char *path, const char *directory)\n{\n(void)directory;\n"


def program(snippet):
    """A snippet as a source: its #include lines first, then its statements in a function."""
    includes = "".join(line for line in snippet.splitlines(True) if line.startswith("#include"))
    rest = "".join(line for line in snippet.splitlines(True) if not line.startswith("#include"))
    return f"{BEFORE}{includes}{INSIDE}{rest}\nreturn 0;\n}}\n"


def complaints(compiler, flags, include, source):
    command = [compiler, *flags, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{include}", "-"]
    run = subprocess.run(command, input=source, capture_output=True, text=True)
    return [] if run.returncode == 0 else run.stderr.splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--include", type=Path, default=ROOT / "include")
    options = parser.parse_args()
    tap = Tap()
    count = 0
    for document in [ROOT / "README.md", *sorted((ROOT / "doc").rglob("*.md"))]:
        for number, snippet in enumerate(BLOCK.findall(document.read_text(encoding="utf-8")), 1):
            count += 1
            for compiler, flags in COMPILERS:
                name = f"{document.relative_to(ROOT)}: example {number} ({compiler})"
                if shutil.which(compiler):
                    found = complaints(compiler, flags, options.include, program(snippet))
                    tap.check(not found, name, found)
                else:
                    tap.skip(name, "no compiler")
    tap.check(count >= 3, f"{count} examples")
    wrong = complaints("gcc", COMPILERS[0][1], options.include, program("lode_database_open(path);\n"))
    tap.check(bool(wrong), "self-test: an example that does not compile is found")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
