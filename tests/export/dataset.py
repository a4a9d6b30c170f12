#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A data set of many runs: a directory `run=ID` of Parquet files for each, which DuckDB reads as one table with a column `run`.

Usage: dataset.py --lode LODE [--runs N] [--profiles N] [--contexts N]

Without LODE_VALIDATORS the tests that need DuckDB are skipped. With --runs it prints figures for doc/scale.md: `--runs 1000` by hand.
"""
import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import validators  # noqa: E402
from tap import Tap  # noqa: E402

QUERY = "select sum(value) s from t where context_id = 0 and run = {run}"


def call(lode, *words):
    done = subprocess.run([lode, *map(str, words)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def add_run(lode, folder, run, options):
    """Makes a store with the seed `run`, and adds it to the data set."""
    store = folder / "store"
    shutil.rmtree(store, ignore_errors=True)
    status, said = call(lode, "synth", "database", "--seed", run, "--profiles", options.profiles, "--contexts", options.contexts, "-o", store)
    if status == 0:
        begun = time.monotonic()
        status, said = call(lode, "export", store, "--format", "parquet", "-o", folder / "set" / f"run={run}")
        return status, said, time.monotonic() - begun
    return status, said, 0.0


def sums_of(lode, store):
    """The number of values and their sum at the root, from the CSV of the store."""
    done = subprocess.run([lode, "export", str(store), "--format", "csv", "--table", "value", "-o", "-"], capture_output=True, text=True, check=True)
    rows = [line.split(",") for line in done.stdout.splitlines()[1:]]
    return len(rows), sum(float(row[3]) for row in rows if row[1] == "0")


def state_of(folder):
    return {str(p): (p.stat().st_ino, p.stat().st_mtime_ns) for p in sorted(folder.rglob("*"))}


def check_adding(tap, lode, folder, options):
    before = state_of(folder / "set")
    status, said, _ = add_run(lode, folder, options.runs + 1, options)
    after = state_of(folder / "set")
    tap.check(status == 0 and all(after.get(path) == seen for path, seen in before.items()), "a run that is added leaves the others as they are", [said])
    names = {p.name for p in (folder / "set").iterdir()}
    tap.check(names == {f"run={i}" for i in range(1, options.runs + 2)}, "nothing but runs is in the data set", sorted(names))
    status, said = call(lode, "export", folder / "store", "--format", "parquet", "-o", folder / "set" / "run=1")
    tap.check(status != 0 and state_of(folder / "set") == after, "a run that is there is not replaced", [said])
    status, said = call(lode, "export", folder / "nothing", "--format", "parquet", "-o", folder / "set" / "run=0")
    tap.check(status != 0 and not (folder / "set" / "run=0").exists(), "a run that cannot be read is not added", [said])


def check_duckdb(tap, folder, options, last):
    if validators.where() is None:
        tap.skip("DuckDB reads all runs as one table", "set LODE_VALIDATORS")
        return
    begun = time.monotonic()
    path = folder / "set" / "run=*" / "value.parquet"
    status, said = validators.run("duckdb.mjs", path, QUERY.format(run=options.runs + 1), "select count(distinct run) n from t", timeout=1800)
    took = time.monotonic() - begun
    tap.check(status == 0 and "run" in said.get("columns", {}), "DuckDB reads all runs as one table", [str(said)[:300]])
    if status != 0:
        return
    tap.note(f"{said['rows']:,} rows of {options.runs + 1} runs described and queried in {took:.1f} s")
    found, runs = float(said["queries"][0][0]["s"]), int(said["queries"][1][0]["n"])
    tap.check(runs == options.runs + 1, "every run is in it", [runs])
    tap.check(abs(found - last[1]) <= 1e-9 * abs(last[1]), "the sum of one run is that of its store", [found, last])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--profiles", type=int, default=4)
    parser.add_argument("--contexts", type=int, default=50)
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "set").mkdir()
        seconds = 0.0
        for run in range(1, options.runs + 1):
            status, said, took = add_run(options.lode, folder, run, options)
            seconds += took
            if status != 0:
                tap.check(False, f"run {run} is added", [said])
                return tap.finish()
        size = sum(p.stat().st_size for p in (folder / "set").rglob("*") if p.is_file())
        files = sum(1 for p in (folder / "set").rglob("*") if p.is_file())
        tap.note(f"{options.runs} runs: {size / options.runs:,.0f} bytes and {files / options.runs:.0f} files each, {seconds / options.runs * 1000:.1f} ms to add one")
        check_adding(tap, options.lode, folder, options)
        check_duckdb(tap, folder, options, sums_of(options.lode, folder / "store"))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
