#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode trace` on recordings: the same functions, times, samples and cells as on the database that `lode build --trace full` makes, whose answers have a
reference of their own (db_reference.py). Differences that are meant: off-CPU time has the letter '.', names are as in recordings, and of functions with
equal time in a cell another one may show. And the answer does not depend on the number of threads.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import references  # noqa: E402,F401
import corpora  # noqa: E402
from tap import Tap  # noqa: E402

SECOND = 10 ** 9
COLUMNS = 61
OFF_CPU = ("linux:schedule", "linux:schedule (pre-empted)", "linux:schedule (preempted)")


def run(lode, *arguments):
    done = subprocess.run([lode, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    return done


def trace(lode, store, window, *options):
    words = ["trace", "--json", "--limit", "0", "--rows", "0", "--columns", COLUMNS, *options]
    words += [] if store.name == "db" else ["--names", "full"]
    if window:
        words += ["--from", f"@{window[0]}", "--to", f"@{window[1]}"]
    done = run(lode, *words, store)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def plain(name):
    """Names of functions in a database end with their module."""
    return re.sub(r" \[[^\]]*\]$", "", name)


def shares(answer):
    """(name, nanoseconds, samples), without names of modules; the same name in several modules adds up to several."""
    return Counter((plain(row["name"]), row["nanoseconds"], row["samples"]) for row in answer["rows"])


def drawn(answer):
    """Rows of names in place of letters. Letters that several functions have say nothing."""
    letters = Counter(row["letter"] for row in answer["rows"])
    names = {row["letter"]: plain(row["name"]) for row in answer["rows"] if letters[row["letter"]] == 1}
    idle = {plain(row["name"]) for row in answer["rows"] if row["letter"] == "."} | {"(not running)", *OFF_CPU}
    def cell(letter):
        name = names.get(letter, "?" if letter in "~" else "." if letter == "." else None)
        return None if letter == " " else "." if name in idle else name
    rows = [([cell(letter) for letter in row["cells"]], row.get("profile")) for row in answer["timeline"]]
    return sorted(rows, key=lambda row: str(row[0]))


def is_tie(lode, db, window, column, profile, options, names):
    """Whether two functions have the same time in a cell of the database."""
    length = window[1] - window[0]
    edges = [window[0] + length * i // COLUMNS for i in (column, column + 1)]
    answer = trace(lode, db, edges, *options, "--profiles", f"profile={profile}")
    times = Counter()
    for row in answer["rows"]:
        name = "." if row["letter"] == "." or plain(row["name"]) in OFF_CPU else plain(row["name"])
        times[name] = max(times[name], row["nanoseconds"])
    return times[names[0]] == times[names[1]] == max(times.values(), default=0)


def compare(lode, store, folder):
    """What is wrong, and how many cells were compared."""
    db = Path(folder) / "db"
    built = run(lode, "build", "--trace", "full", store, "-o", db)
    if built.returncode:
        return None
    wrong, cells, ties = [], 0, 0
    first, base = trace(lode, db, None), trace(lode, store, None)
    start, end = int(first["from_ns"]), int(first["to_ns"])
    # Databases count from the epoch, if the recording knows it: uftrace in whole seconds.
    shift = start - int(base["from_ns"])
    shift = shift if store.name != "uftrace.data" else (shift + SECOND // 2) // SECOND * SECOND
    third = max(1, (end - start) // 3)
    for window, options in (((start, end), ()), ((start, end), ("--depth", "2")), ((start + third, end - third), ()),
                            ((start, start + third), ("--depth", "1"))):
        if window[0] >= window[1]:
            continue
        wanted = trace(lode, db, window, *options)
        found = trace(lode, store, (window[0] - shift, window[1] - shift), *options)
        again = trace(lode, store, (window[0] - shift, window[1] - shift), *options, "--threads", "1")
        if again != found:
            wrong.append("the answer depends on the number of threads")
        if shares(found) != shares(wanted):
            wrong.append(f"{window} {options}: only here {shares(found) - shares(wanted)}, only there {shares(wanted) - shares(found)}")
        left, right = drawn(found), drawn(wanted)
        if len(left) != len(right):
            wrong.append(f"{window} {options}: {len(left)} rows, not {len(right)}")
            continue
        for (a, _), (b, profile) in zip(left, right):
            cells += len(a)
            for column in (i for i, (x, y) in enumerate(zip(a, b)) if x != y):
                ties += 1
                if not is_tie(lode, db, window, column, profile, options, (a[column], b[column])):
                    wrong.append(f"{window} {options}: cell {column} is {a[column]}, not {b[column]}")
    return wrong, cells, ties


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, help="the program to test")
    options = parser.parse_args()
    tap = Tap()
    corpus = corpora.root()
    stores = [path / "uftrace.data" for path in corpora.stores(corpus / "uftrace" / "recorded")] + corpora.stores(corpus / "zorka" / "stores")
    if not stores:
        tap.skip("traces of recordings", "there is no corpus")
        return tap.finish()
    with tempfile.TemporaryDirectory() as folder:
        for number, store in enumerate(stores):
            name = store.parent.name if store.name == "uftrace.data" else store.name
            below = Path(folder) / str(number)
            below.mkdir()
            result = compare(options.lode, store, below)
            if result is None:
                tap.skip(name, "no database can be built from it")
                continue
            wrong, cells, ties = result
            tap.check(not wrong, f"{name}: {cells} cells, {ties} of them with another of equal functions", wrong[:5])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
