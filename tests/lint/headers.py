#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each public header compiles on its own, and twice in a row, as C11 and as C++17, without a warning."""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from public_api import public_headers  # noqa: E402
from tap import Tap  # noqa: E402

LANGUAGES = [
    ("C11", ["-x", "c", "-std=c11", "-Wstrict-prototypes"], ["gcc", "clang"]),
    ("C++17", ["-x", "c++", "-std=c++17"], ["g++", "clang++"]),
]


def complaints(compiler, flags, include, header):
    source = f"#include <lode/{header}>\n#include <lode/{header}>\nextern int not_an_empty_unit;\n"
    command = [compiler, *flags, "-fsyntax-only", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{include}", "-"]
    run = subprocess.run(command, input=source, capture_output=True, text=True)
    return [] if run.returncode == 0 else [f"{compiler}:", *run.stderr.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--include", type=Path, default=ROOT / "include")
    options = parser.parse_args()

    tap = Tap()
    for header in public_headers(options.include / "lode"):
        for language, flags, compilers in LANGUAGES:
            name = f"{header.relative_to(options.include)} as {language}"
            present = [compiler for compiler in compilers if shutil.which(compiler)]
            if not present:
                tap.skip(name, "no compiler")
                continue
            details = [line for compiler in present
                       for line in complaints(compiler, flags, options.include, header.relative_to(options.include / "lode"))]
            tap.check(not details, f"{name} ({', '.join(present)})", details)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
