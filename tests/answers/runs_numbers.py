#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The numbers of a catalogue of runs, read by Python's sqlite3, against those of 'lode top', which other tests compare with slow
references: totals of every metric, costs of the functions that make up 99.9 % of the exclusive cost or have 1 % of the inclusive one.
"""

import argparse
import json
import math
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(ROOT / "tests" / "cli"), str(ROOT / "tests" / "tools")]

import cli  # noqa: E402
from tap import Tap  # noqa: E402

DATABASES = ("made-small", "made-loops-cputime-t-mpi3ranks", "made-loops-cputime-t-Mstats", "hatchet-saxpy-mpi-cuda-database",
             "toolkit-loops-perf.nostruct-v0", "viewer-issue-328", "viewer-issue-233", "db2pprof", "viewer-d.x")
RECORDINGS = ("autoargs", "forkexec", "exc", "mt", "killed", "longjmp")
STORES = ("first", "master", "real-agent")


def answer(lode, *words):
    done = subprocess.run([lode, *map(str, words), "--json"], stdout=subprocess.PIPE, check=True, env=cli.environment())
    return json.loads(done.stdout)


def kept(rows, total):
    """Of (exclusive, inclusive, name), the most expensive first: those that a catalogue keeps."""
    whole, sum_before, result = math.fsum(row[0] for row in rows), 0.0, {}
    for exclusive, inclusive, name in rows:
        if sum_before < 0.999 * whole and exclusive > 0 or inclusive >= 0.01 * total:
            result[name] = (exclusive, inclusive)
        sum_before += exclusive
    return result


def of_database(lode, store):
    """{metric: (total, {name: (exclusive, inclusive)})} as 'lode top' has it."""
    result = {}
    for metric in answer(lode, "info", store)["metrics"]:
        if not metric["total"] > 0 or "_ACUMU" in metric["name"]:
            continue
        top = answer(lode, "top", store, "--metric", f"${metric['index']}", "--limit", 0, "--names", "simple")
        rows = [(row["exclusive"], row["inclusive"], row["name"]) for row in top["rows"]]
        result[metric["name"]] = (top["total"], kept(rows, top["total"]))
    return result


def of_recording(lode, store):
    top = answer(lode, "top", store, "--limit", 0, "--sort", "self")
    total = sum(int(row["total_ns"]) for row in answer(lode, "profiles", store, "--limit", 0)["rows"])
    rows = [(int(row["self_ns"]), int(row["total_ns"]), row["name"]) for row in top["rows"]]
    calls = {row["name"]: int(row["calls"]) for row in top["rows"]}
    names = kept_calls(rows, total)
    return {"time (sec)": (total / 1e9, {name: (own / 1e9, all_ / 1e9) for name, (own, all_) in names.items()}),
            "calls": (float(sum(calls.values())), {name: (float(calls[name]), float(calls[name])) for name in names})}


def kept_calls(rows, total):
    """The same of a recording: calls that take no time are kept as long as the share is not reached."""
    whole, sum_before, result = sum(row[0] for row in rows), 0, {}
    for exclusive, inclusive, name in rows:
        if sum_before < 0.999 * whole or inclusive >= 0.01 * total:
            result[name] = (exclusive, inclusive)
        sum_before += exclusive
    return result


def of_catalogue(file, run):
    connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    result = {}
    for metric, value in connection.execute("SELECT metric.name, value FROM total JOIN metric ON metric.id = metric WHERE run = ?", (run,)):
        rows = connection.execute("SELECT key.name, exclusive, inclusive FROM cost JOIN key ON key.id = key JOIN metric ON metric.id = metric "
                                  "WHERE run = ? AND metric.name = ?", (run, metric)).fetchall()
        result[metric] = (value, {name: (exclusive, inclusive) for name, exclusive, inclusive in rows})
    connection.close()
    return result


def differences(found, wanted):
    """Costs that are equal to the last bit; where a sum is at the edge of what is kept, one row may be there or not."""
    wrong = [f"metrics {sorted(found)} instead of {sorted(wanted)}"] if set(found) != set(wanted) else []
    for metric in set(found) & set(wanted):
        if found[metric][0] != wanted[metric][0]:
            wrong.append(f"{metric}: total {found[metric][0]} instead of {wanted[metric][0]}")
        of_found, of_wanted = found[metric][1], wanted[metric][1]
        if len(set(of_found) ^ set(of_wanted)) > 1:
            wrong.append(f"{metric}: {sorted(set(of_found) ^ set(of_wanted))[:5]} on one side only")
        wrong += [f"{metric}, {name}: {of_found[name]} instead of {of_wanted[name]}"
                  for name in set(of_found) & set(of_wanted) if of_found[name] != of_wanted[name]][:3]
    return wrong


def check_store(tap, lode, folder, name, store, reference):
    file = Path(folder) / "runs.sqlite"
    wanted = {metric: values for metric, values in reference(lode, store).items() if values[0] > 0 or metric != "time (sec)"}
    run = answer(lode, "runs", "add", store, "--again", "--catalogue", file)["run"]
    found = of_catalogue(file, run)
    wrong = differences(found, wanted)
    count = sum(len(costs) for _, costs in found.values())
    tap.check(not wrong and count > 0, f"{name}: {len(found)} metrics, {count} costs are those of lode top", wrong[:5])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    lode = str(Path(parser.parse_args().lode).resolve())
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([lode, "example", f"{folder}/demo"], check=True, stdout=subprocess.DEVNULL)
        check_store(tap, lode, folder, "example database", f"{folder}/demo/solver", of_database)
        check_store(tap, lode, folder, "example recording", f"{folder}/demo/thumbs", of_recording)
        check_store(tap, lode, folder, "example trace store", f"{folder}/demo/shop", of_recording)
        for kind, where, names, reference in (("database", "hpctoolkit/final", DATABASES, of_database),
                                              ("recording", "uftrace/recorded", RECORDINGS, of_recording),
                                              ("trace store", "zorka/stores", STORES, of_recording)):
            root = cli.corpus_folder(where)
            if root is None:
                tap.skip(f"each {kind} of the corpus", "there is no corpus")
                continue
            for name in names:
                store = root / name / "uftrace.data" if kind == "recording" else root / name
                check_store(tap, lode, folder, f"{kind} {name}", store, reference)
    wrong = differences({"m": (1.0, {"f": (1.0, 2.0)})}, {"m": (1.0, {"f": (1.0, 2.5)})})
    tap.check(wrong, "self-test: another number is found")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
