#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Types the commands of doc/requests.md in a folder with the store that the page is about, and compares what is printed. --write refreshes the page.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools")]

import corpora  # noqa: E402
from tap import Tap  # noqa: E402

PAGE = ROOT / "doc" / "requests.md"
STORE = Path("otlp", "full", "traces.json.gz")
BLOCK = re.compile(r"```\n\$ ((?:[^\n]*\\\n)*[^\n]*)\n(.*?)```\n", re.DOTALL)


def run(command, folder, lode):
    environment = {**os.environ, "PATH": f"{lode.parent}:{os.environ['PATH']}", "COLUMNS": "140", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True, type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    tap, lode, text = Tap(), arguments.lode.resolve(), PAGE.read_text()
    store = corpora.root() / STORE
    if not store.is_file():
        tap.skip("doc/requests.md", f"no {STORE} in the corpus")
        return tap.finish()

    def follow(match):
        printed = run(match[1], folder, lode)
        if not arguments.write:
            tap.check(printed == match[2], f"doc/requests.md: {match[1]}", [*printed.splitlines()[:20], "instead of", *match[2].splitlines()[:20]])
        return f"```\n$ {match[1]}\n{printed}```\n"

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "traces.json.gz").symlink_to(store)
        shown = BLOCK.sub(follow, text)
    if arguments.write:
        PAGE.write_text(shown)
        return 0
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
