#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
One program, built by several compilers at several levels of optimisation and changed in one way at a time, recorded with
uftrace and compared: the share of cost that is matched. Needs uftrace, gcc and clang; compilers that are absent are skipped by name.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from tap import Tap  # noqa: E402

SOURCE = Path(__file__).resolve().parent / "program.cc"
ATTEMPTS = 12
ONLY_BASE, ONLY_NEW, SIMPLE, RENAMED = 1, 2, 4, 16

# Name of a build: compiler, options, lines inserted above, folder of the source.
BUILDS = {
    "gcc -O0": ("g++", ["-O0"], 0, "src"),
    "gcc -O2": ("g++", ["-O2"], 0, "src"),
    "gcc -O3": ("g++", ["-O3"], 0, "src"),
    "gcc -O2 -flto": ("g++", ["-O2", "-flto"], 0, "src"),
    "clang -O2": ("clang++", ["-O2"], 0, "src"),
    "lines inserted above": ("g++", ["-O2"], 25, "src"),
    "function renamed": ("g++", ["-O2", "-DRENAMED"], 0, "src"),
    "function inlined": ("g++", ["-O2", "-DINLINED"], 0, "src"),
    "function split": ("g++", ["-O2", "-DSPLIT"], 0, "src"),
    "file moved": ("g++", ["-O2"], 0, "src/deeper"),
    "template argument changed": ("g++", ["-O2", "-DTEMPLATED"], 0, "src"),
    "lambda added": ("g++", ["-O2", "-DLAMBDA"], 0, "src"),
    "parallel region added": ("g++", ["-O2", "-DREGION"], 0, "src"),
}
# Pairs, and percent of cost of base and new that is matched in the table and in the tree, at least.
PAIRS = [
    ("gcc -O2", "gcc -O0", 97, 85, 97, 85),
    ("gcc -O2", "gcc -O3", 97, 97, 97, 97),
    ("gcc -O2", "gcc -O2 -flto", 97, 97, 97, 97),
    ("gcc -O2", "clang -O2", 90, 90, 90, 90),
    ("gcc -O2", "lines inserted above", 99, 99, 99, 99),
    ("gcc -O2", "function renamed", 97, 97, 97, 97),
    ("gcc -O2", "function inlined", 97, 97, 97, 97),
    ("gcc -O2", "function split", 97, 97, 97, 75),
    ("gcc -O2", "file moved", 99, 99, 99, 99),
    ("gcc -O2", "template argument changed", 97, 97, 97, 97),
    ("gcc -O2", "lambda added", 97, 97, 97, 75),
    ("gcc -O2", "parallel region added", 97, 97, 97, 75),
]


def build(folder, name):
    """The directory of a recording; None if there is no such compiler."""
    compiler, options, lines, where = BUILDS[name]
    if shutil.which(compiler) is None:
        return None
    home = folder / name.replace(" ", "-")
    source = home / where / SOURCE.name
    source.parent.mkdir(parents=True)
    source.write_text("\n" * lines + SOURCE.read_text(encoding="utf-8"), encoding="utf-8")
    program, data = home / "program", home / "recording"
    subprocess.run([compiler, *options, "-pg", "-g", "-fopenmp", "-o", program, source], check=True, capture_output=True)
    record(data)
    return data


def record(data):
    """Times are of the clock: a busy machine may suspend the program anywhere, and charges that to where it was."""
    shutil.rmtree(data, ignore_errors=True)
    subprocess.run(["uftrace", "record", "--no-libcall", "--no-event", "-d", data, data.parent / "program"], check=True,
                   capture_output=True, timeout=120)


def compare(shown, base, new):
    done = subprocess.run([shown, base, new], capture_output=True, timeout=300, check=True)
    answer = json.loads(done.stdout.decode(errors="replace"))
    return answer, [100.0 * share for share in answer["flat"] + answer["tree"]]


def names(answer, marks):
    return sorted({row["name"] for row in answer["rows"] if row["marks"] & marks})


def check_pair(tap, shown, recorded, pair):
    base, new, *least = pair
    title = f"{base} / {new}"
    if recorded[base] is None or recorded[new] is None:
        tap.skip(title, "there is no such compiler")
        return
    answer, shares = compare(shown, recorded[base], recorded[new])
    for _ in range(ATTEMPTS - 1):
        if all(share >= limit for share, limit in zip(shares, least)):
            break
        record(recorded[base])
        record(recorded[new])
        answer, shares = compare(shown, recorded[base], recorded[new])
    text = "by function {:.1f} / {:.1f} %, tree {:.1f} / {:.1f} %".format(*shares)
    tap.check(all(share >= limit for share, limit in zip(shares, least)), f"{title}: {text}",
              [f"only in base: {names(answer, ONLY_BASE)}", f"only in new: {names(answer, ONLY_NEW)}"])
    if new == "function renamed":
        nodes = answer["nodes"]
        found = {(node["name"], nodes[node["renamed"]]["name"]) for node in nodes if node["marks"] & RENAMED}
        wanted = ("app::Grid::smooth(int)", "app::Grid::smooth_twice(int)")
        tap.check(wanted in found, "the function that was renamed is called so", sorted(found))
    if new == "template argument changed":
        tap.check(any("total" in name for name in names(answer, SIMPLE)), "template arguments do not part a function",
                  names(answer, SIMPLE | ONLY_BASE | ONLY_NEW))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shown", required=True)
    options = parser.parse_args()
    tap = Tap()
    if shutil.which("uftrace") is None or shutil.which("g++") is None:
        tap.skip("builds of one program", "there is no uftrace or g++")
        return tap.finish()
    with tempfile.TemporaryDirectory() as folder:
        recorded = {name: build(Path(folder), name) for name in BUILDS}
        for pair in PAIRS:
            check_pair(tap, options.shown, recorded, pair)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
