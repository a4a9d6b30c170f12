#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Databases built from recordings of traces: a profile for each trace or for each thread, with the numbers that 'lode top' and 'lode profiles' say."""

import sys
import tempfile
from collections import Counter
from pathlib import Path

from building import Lode, Tap, corpus_recordings, corpus_stores, fingerprints, parse_arguments

WAYS = (["--threads", "1"], ["--threads", "2"], ["--threads", "7"], ["--local-ranks", "2"], ["--local-ranks", "3", "--threads", "2"])
NANOSECONDS = 1e9


def by_function(lode, database, metric):
    """{name: (exclusive, inclusive)}, whole numbers."""
    scale = NANOSECONDS if metric.startswith("time") else 1
    rows = lode.json("top", database, "--by", "symbol", "--limit", 0, "--metric", metric)["rows"]
    return {row["function"]: (round(row["exclusive"] * scale), round(row["inclusive"] * scale)) for row in rows}


def by_profile(lode, database):
    """Nanoseconds in the order of profiles, without those of the summary."""
    rows = lode.json("profiles", database, "--limit", 0, "--metric", "time (sec)")["rows"]
    return [round(row["value"] * NANOSECONDS) for row in sorted(rows, key=lambda row: row["profile"])]


def functions(tap, lode, name, path, database):
    rows = lode.json("top", path, "--by", "symbol", "--limit", 0, "--names", "full", "--sched")["rows"]
    times, calls = by_function(lode, database, "time (sec)"), by_function(lode, database, "calls")
    wrong = [row for row in rows
             if times[row["name"]] != (row["self_ns"], row["total_ns"]) or calls[row["name"]][0] != row["calls"]]
    tap.check(rows and not wrong and len(rows) == len(calls), f"{name}: times and calls of {len(rows)} functions", wrong)
    failed = {row["name"]: row["errors"] for row in rows if row["errors"]}
    metrics = [metric["name"] for metric in lode.json("info", database)["metrics"]]
    if failed:
        errors = {name: own for name, (own, _) in by_function(lode, database, "errors").items() if own}
        tap.check(errors == failed, f"{name}: {sum(failed.values())} errors", [errors, failed])
    else:
        tap.check("errors" not in metrics, f"{name}: no metric of errors", metrics)


def profiles(tap, lode, name, path, per, database):
    """Profiles are in the order of traces, or of the first traces of threads."""
    rows = sorted(lode.json("profiles", path, "--limit", 0)["rows"], key=lambda row: row["track"])
    expected = Counter()
    for row in rows:
        expected[row["track"] if per == "request" else (row["pid"], row["tid"])] += row["total_ns"]
    found = by_profile(lode, database)
    tap.check(found == list(expected.values()), f"{name}: {len(expected)} profiles of {len(rows)} traces", [found, expected])
    return len(expected)


def look_at(tap, lode, name, path, folder):
    counts = {}
    for per in ("request", "thread"):
        prints, database = {}, Path(folder) / "db"
        for way in WAYS:
            lode.must("build", "--force", "--per", per, *way, path, "-o", database)
            prints[" ".join(way)] = fingerprints(database)
        first = next(iter(prints.values()))
        differing = [f"{way}: {file}" for way, files in prints.items() for file in files if files[file] != first[file]]
        tap.check(not differing, f"{name}, per {per}: the same bytes in {len(WAYS)} ways", differing)
        complaints = lode.complaints(database)
        tap.check(not complaints, f"{name}, per {per}: a full check is clean", complaints)
        functions(tap, lode, f"{name}, per {per}", path, database)
        counts[per] = profiles(tap, lode, f"{name}, per {per}", path, per, database)
    return counts


def together(tap, lode, stores, recording, folder):
    """Recordings of traces and of threads in one database: each is named in its own way."""
    database = Path(folder) / "db"
    paths = [*stores, recording]
    tasks = lode.json("profiles", recording, "--limit", 0)["row_count"]
    for per in ("request", "thread"):
        lode.must("build", "--force", "--per", per, *paths, "-o", database)
        names = [row["name"] for row in lode.json("profiles", database, "--limit", 0)["rows"]]
        rows = [row for path in stores for row in
                [(path, track["track"] if per == "request" else (track["pid"], track["tid"]))
                 for track in lode.json("profiles", path, "--limit", 0)["rows"]]]
        tap.check(len(set(names)) == len(names) == len(set(rows)) + tasks and not lode.complaints(database),
                  f"traces and tasks in one database, per {per}: {len(names)} profiles with names of their own", names)


def main():
    options = parse_arguments(__doc__)
    lode, tap = Lode(options.lode), Tap()
    stores, recordings = corpus_stores(), corpus_recordings()
    if not stores or "mt" not in recordings:
        tap.skip("recordings of traces", "there is no corpus")
        return tap.finish()
    with tempfile.TemporaryDirectory() as folder:
        for name, path in stores.items():
            counts = look_at(tap, lode, name, path, folder)
            if name == "master":
                tap.check(counts == {"request": 5, "thread": 3}, "some threads have made several traces", [counts])
        together(tap, lode, list(stores.values()), recordings["mt"], folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
