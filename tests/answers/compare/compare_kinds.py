#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode compare --diagnose` on made databases and recordings (diagnose_made.py, calls_made.py).

activity    Of both sides as in diagnose_reference.py and calls_reference.py. The variance of a time by samples is the time times that of one sample, which is
            the time of all threads divided by the number of samples; times of calls are exact. An activity is listed if its times differ by more than 1.96
            standard errors and by at least 1 % of the larger total.
statements  Those of one side whose rule and function the other does not have, as far as planted problems tell.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import references  # noqa: E402,F401
import calls_made  # noqa: E402
import calls_reference  # noqa: E402
import db_write  # noqa: E402
import diagnose_reference  # noqa: E402
from calls_cases import main_with  # noqa: E402
from db_model import Database  # noqa: E402
from diagnose_base import STORES  # noqa: E402
from diagnose_made import Thread, database  # noqa: E402
from diagnose_rules import SOLVE, close, openmp, ranks  # noqa: E402
from tap import Tap  # noqa: E402

MS = 1000
DATABASES = {
    **STORES,
    "mpi, 0.9 % more": database(ranks(4, [6.91] * 4, [3.09] * 4)),
    "mpi, 1.1 % more": database(ranks(4, [6.89] * 4, [3.11] * 4, line=(0, 10))),
    "mpi, many, 1.1 % more": database(ranks(24, [6.89] * 24, [3.11] * 24)),
    "mpi, many": database(ranks(24, [7.0] * 24, [3.0] * 24)),
    "serial, less": database(openmp(4, 2.0, [7.5] * 4, [0.1, 2.4, 2.4, 2.4])),
    "real time": database([Thread({SOLVE: 10.0}, line=(0, 10))], metrics=("REALTIME (sec)", "CPUTIME (sec)")),
    "cpu time": database([Thread({SOLVE: 10.0}, line=(0, 10), others={1: {SOLVE: 10.0}}, metric=1)], metrics=("REALTIME (sec)", "CPUTIME (sec)")),
}
RECORDINGS = {
    "writes": main_with(lambda t: [t.work("solve", 60 * MS), t.wait("write", 40 * MS)]),
    "writes less": main_with(lambda t: [t.work("solve", 60 * MS), t.wait("write", 10 * MS)]),
    "writes 0.5 ms less": main_with(lambda t: [t.work("solve", 60 * MS), t.wait("write", 39.5 * MS)]),
    "short": main_with(lambda t: t.work("solve", 100)),
}
# Base, new: statements that are new, and gone.
CASES = [
    ("quiet", "mpi", {"mpi"}, set()),
    ("mpi", "quiet", set(), {"mpi"}),
    ("mpi", "mpi", set(), set()),
    ("mpi", "mpi, noise", set(), set()),
    ("mpi", "mpi, more", set(), set()),
    ("mpi", "mpi, 0.9 % more", set(), set()),
    ("mpi", "mpi, 1.1 % more", set(), set()),
    ("mpi, many", "mpi, many, 1.1 % more", set(), set()),
    ("serial", "serial, less", set(), set()),
    ("plain", "clone", set(), set()),
    ("plain", "other", {"hot-spot"}, {"hot-spot"}),
]
RECORDED = [("writes", "writes less"), ("writes less", "writes"), ("writes", "writes 0.5 ms less"), ("writes", "writes")]


def ask(lode, base, new, *options):
    done = subprocess.run([lode, "compare", "--diagnose", "--json", *options, base, new], capture_output=True, timeout=300, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr.decode()}


def facts_of_database(data):
    """Time by activity, time of all threads, and of one sample."""
    facts = diagnose_reference.Facts(Database(data))
    total = math.fsum(t.total for t in facts.threads)
    return facts.activities(), total, total / facts.samples


def facts_of_recording(folder):
    activities = calls_reference.run(folder)["activities"]
    return activities, math.fsum(activities.values()), 0.0


def wanted_rows(base, new):
    (before, total_before, sample_before), (after, total_after, sample_after) = base, new
    rows = {}
    for name in {*before, *after}:
        a, b = before.get(name, 0.0), after.get(name, 0.0)
        error = math.sqrt(a * sample_before + b * sample_after)
        if abs(b - a) > 1.96 * error and abs(b - a) >= 0.01 * max(total_before, total_after):
            rows[name] = {"base": a, "new": b, "difference": b - a, "sampling_error": error, "base_percent": 100 * a / total_before,
                          "new_percent": 100 * b / total_after}
    return rows


def differences(said, base, new):
    if "failed" in said or said["not_judged"] is not None:
        return [said.get("failed", said.get("not_judged"))]
    wanted, found = wanted_rows(base, new), {row["activity"]: row for row in said["activities"]}
    wrong = [f"activities {sorted(found)}, not {sorted(wanted)}"] if set(found) != set(wanted) else []
    return wrong + [f"{name}: {key} {found[name][key]}, not {value}" for name, row in wanted.items() if name in found for key, value in row.items()
                    if not close(found[name][key], value)]


def databases_are_as_the_reference_has_them(tap, lode, paths):
    seen = {True: 0, False: 0}
    for base, new, fresh, gone in CASES:
        said = ask(lode, paths[base], paths[new])
        sides = facts_of_database(DATABASES[base]), facts_of_database(DATABASES[new])
        wrong = differences(said, *sides)
        if not wrong:
            seen[bool(said["activities"])] += 1
            ids = {key: {s["id"] for s in said[key]} for key in ("new_statements", "gone_statements")}
            if (ids["new_statements"], ids["gone_statements"]) != (fresh, gone):
                wrong.append(f"statements {ids}")
            if said["diagnose_command"] != ["lode", "diagnose", str(paths[new]), "--base", str(paths[base])]:
                wrong.append(f"command {said['diagnose_command']}")
        tap.check(not wrong, f"{new} after {base}", wrong)
    tap.check(min(seen.values()) > 1, "some pairs have activities that changed, some have none", [seen])


def recordings_are_as_the_reference_has_them(tap, lode, folder):
    for name, threads in RECORDINGS.items():
        calls_made.write(folder / name, threads)
    for base, new in RECORDED:
        said = ask(lode, folder / base, folder / new)
        wrong = differences(said, facts_of_recording(folder / base), facts_of_recording(folder / new))
        tap.check(not wrong, f"recordings: {new} after {base}", wrong)


def what_cannot_be_judged_is_said(tap, lode, paths, folder):
    for base, new, words in ((paths["mpi"], paths["short"], "too few to judge"), (paths["short"], paths["mpi"], "too few to judge"),
                             (folder / "writes", folder / "short", "too short to judge"), (paths["plain"], folder / "writes", "one store is a recording"),
                             (paths["real time"], paths["cpu time"], "measured in different ways")):
        said = ask(lode, base, new, *(["--metric", "CPUTIME"] if base == paths["real time"] else []))
        empty = [said.get(key) for key in ("activities", "new_statements", "gone_statements", "diagnose_command")]
        tap.check(words in (said.get("not_judged") or "") and empty == [[]] * 4, f"not judged: {words}", [said.get("failed"), said.get("not_judged"), empty])
        text = subprocess.run([lode, "compare", "--diagnose", *(["--metric", "CPUTIME"] if base == paths["real time"] else []), base, new],
                              capture_output=True, text=True, check=False).stdout
        tap.check("What changed in kind is not known: " in text and "more: lode" not in text, f"the text says so: {words}", [text])


def the_rest_is_as_without(tap, lode, paths):
    """--diagnose adds members at the end, and nothing else."""
    said = ask(lode, paths["quiet"], paths["mpi"])
    plain = json.loads(subprocess.run([lode, "compare", "--json", paths["quiet"], paths["mpi"]], capture_output=True, check=True).stdout)
    added = ["activities", "new_statements", "gone_statements", "not_judged", "diagnose_command"]
    tap.check(list(said) == [*plain, *added] and all(said[key] == plain[key] for key in plain), "--diagnose adds members at the end", [list(said)])
    tap.check(all(ask(lode, paths["quiet"], paths["mpi"], "--threads", n) == said for n in ("1", "7")), "the same with 1 and 7 threads", [])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, help="the program to test")
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = {store: folder / str(i) for i, store in enumerate(DATABASES)}
        for store, data in DATABASES.items():
            db_write.write(paths[store], data)
        databases_are_as_the_reference_has_them(tap, options.lode, paths)
        recordings_are_as_the_reference_has_them(tap, options.lode, folder / "recordings")
        what_cannot_be_judged_is_said(tap, options.lode, paths, folder / "recordings")
        the_rest_is_as_without(tap, options.lode, paths)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
