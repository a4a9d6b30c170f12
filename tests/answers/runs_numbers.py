#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The numbers of a catalogue of runs, read by Python's sqlite3, against those of 'lode top', which other tests compare with slow
references: totals of every metric, costs of the functions that account for 99.9 % of the exclusive cost or have 1 % of the inclusive one.
Of databases, also the min and max of inclusive costs over profiles. Functions have the names that builds have in common; of rows of 'lode top' that become one, the inclusive cost is at least that of the
largest and at most the sum.
"""

import argparse
import json
import math
import re
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
RANGES = ("made-small", "made-loops-cputime-t-mpi3ranks", "viewer-d.x", "hatchet-saxpy-mpi-cuda-database")
RECORDINGS = ("autoargs", "forkexec", "exc", "mt", "killed", "longjmp")
STORES = ("first", "master", "real-agent")


def answer(lode, *words):
    done = subprocess.run([lode, *map(str, words), "--json"], stdout=subprocess.PIPE, check=True, env=cli.environment())
    return json.loads(done.stdout)


def module_of(name):
    """A load module without its version."""
    if name.endswith(".vdso") or name == "[vdso]":
        return "vdso"
    name = re.sub(r"^vmlinux\..*", "vmlinux", name)
    return re.sub(r"(-[\d.]+)?\.so(\.\d+)*$", ".so", name)


def normal(name):
    """The name that builds have in common: what the names of the stores below need, by hand."""
    for pattern in (r"<unknown procedure> 0x[0-9a-f]+ \[(.+)\]", r"(\S+)\+0x[0-9a-f]+"):
        found = re.fullmatch(pattern, name)
        if found:
            return f"<unknown procedures of {module_of(found[1])}>"
    name = re.sub(r" \[[^][ ]+\]$", "", name)
    name = re.sub(r"@@?[A-Z]\S*$|@plt$", "", name)
    name = re.sub(r"( \[clone)? ?\.(part|isra|constprop|cold|localalias)(\.\d+)*\]?", "", name)
    name = re.sub(r"( \[clone )?\._omp_fn\.(\d+)\]?$", r" [region #\2]", name)
    return name.replace("std::__cxx11::", "std::").replace("[abi:cxx11]", "")


def grouped(rows):
    """Rows (exclusive, inclusive, name) by normal name, the most expensive first: (exclusive, least and most inclusive, name)."""
    names = {name: normal(name) for _, _, name in rows}
    regions = {}
    for name in set(names.values()):
        found = re.fullmatch(r"(.*) \[region #(\d+)\]", name)
        if found:
            regions.setdefault(found[1], []).append(int(found[2]))
    for full, name in names.items():
        found = re.fullmatch(r"(.*) \[region #(\d+)\]", name)
        if found:  # counted within the function
            names[full] = f"{found[1]} [region #{sorted(regions[found[1]]).index(int(found[2])) + 1}]"
    groups = {}
    for exclusive, inclusive, name in rows:
        groups.setdefault(names[name], []).append((exclusive, inclusive))
    result = [(math.fsum(own for own, _ in group), max(whole for _, whole in group), math.fsum(whole for _, whole in group), name)
              for name, group in groups.items()]
    return sorted(result, key=lambda row: (-row[0], row[3]))


def kept(rows, total):
    """{name: (exclusive, least and most inclusive)} of those that a catalogue has."""
    rows = grouped(rows)
    whole, sum_before, result = math.fsum(row[0] for row in rows), 0.0, {}
    for exclusive, least, most, name in rows:
        if sum_before < 0.999 * whole and exclusive > 0 or least >= 0.01 * total:
            result[name] = (exclusive, least, most)
        sum_before += exclusive
    return result


def of_database(lode, store):
    """{metric: (total, {name: (exclusive, least and most inclusive)})} as 'lode top' has it."""
    result = {}
    for metric in answer(lode, "info", store)["metrics"]:
        if not metric["total"] > 0 or "_ACUMU" in metric["name"]:
            continue
        top = answer(lode, "top", store, "--metric", f"${metric['index']}", "--limit", 0)
        rows = [(row["exclusive"], row["inclusive"], row["name"]) for row in top["rows"]]
        result[metric["name"]] = (top["total"], kept(rows, top["total"]))
    return result


def of_recording(lode, store):
    top = answer(lode, "top", store, "--limit", 0, "--sort", "self", "--names", "full", "--sched")
    total = sum(int(row["total_ns"]) for row in answer(lode, "profiles", store, "--limit", 0)["rows"])
    rows = [(int(row["self_ns"]) / 1e9, int(row["total_ns"]) / 1e9, row["name"]) for row in top["rows"]]
    # Off-CPU time is no call.
    calls = [(0 if row["name"].startswith("linux:schedule") else int(row["calls"]), 0, row["name"]) for row in top["rows"]]
    times = kept(rows, total / 1e9)
    counts = {name: (count, 0, math.inf) for count, _, _, name in grouped(calls) if name in times}
    return {"time (sec)": (total / 1e9, times), "calls": (sum(call[0] for call in calls), counts)}


def of_catalogue(file, run):
    connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    result = {}
    for metric, value in connection.execute("SELECT metric.name, value FROM total JOIN metric ON metric.id = metric WHERE run = ?", (run,)):
        rows = connection.execute("SELECT key.name, exclusive, inclusive FROM cost JOIN key ON key.id = key JOIN metric ON metric.id = metric "
                                  "WHERE run = ? AND metric.name = ?", (run, metric)).fetchall()
        result[metric] = (value, {name: (exclusive, inclusive) for name, exclusive, inclusive in rows})
    connection.close()
    return result


def ranges_of(file, run):
    """{metric: {name: (min, max)}} of inclusive costs over profiles."""
    connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    result = {}
    for metric, name, low, high in connection.execute("SELECT metric.name, key.name, min, max FROM cost JOIN key ON key.id = key "
                                                      "JOIN metric ON metric.id = metric WHERE run = ?", (run,)):
        result.setdefault(metric, {})[name] = (low, high)
    connection.close()
    return result


def profile_ranges(lode, store, metric):
    """{name: [(least, most) inclusive cost in each profile that has the metric]}, from 'lode top' of each profile."""
    profiles = [row["profile"] for row in answer(lode, "profiles", store, "--metric", metric, "--limit", 0)["rows"]]
    found = {}
    for number, profile in enumerate(profiles):
        top = answer(lode, "top", store, "--metric", metric, "--limit", 0, "--profiles", f"profile={profile}")
        for _, least, most, name in grouped([(row["exclusive"], row["inclusive"], row["name"]) for row in top["rows"]]):
            found.setdefault(name, [(0.0, 0.0)] * len(profiles))[number] = (least, most)
    return found


def check_ranges(tap, lode, name, store, file, run):
    found, wrong, count = ranges_of(file, run), [], 0
    for metric in found:
        wanted = profile_ranges(lode, store, metric)
        for function, (low, high) in found[metric].items():
            count += 1
            # Regions are counted within one profile here, and the root is a row where it has a cost of its own.
            if "[region #" in function or function.startswith("<program root>") or function not in wanted:
                continue
            for value, choose in ((low, min), (high, max)):
                least, most = (choose(pair[i] for pair in wanted[function]) for i in (0, 1))
                if value is None or not (least <= value <= most or is_near(value, least) or is_near(value, most)):
                    wrong.append(f"{metric}, {function}: {choose.__name__} over profiles {value} instead of {least} to {most}")
    tap.check(not wrong and count > 0, f"{name}: min and max over profiles of {count} costs are those of lode top on each profile", wrong[:5])


def is_near(a, b):
    """Sums in another order."""
    return a == b or abs(a - b) <= 1e-12 * max(abs(a), abs(b))


def differences(found, wanted):
    """Where a sum is at the edge of what is stored, one row may be there or not."""
    wrong = [f"metrics {sorted(found)} instead of {sorted(wanted)}"] if set(found) != set(wanted) else []
    for metric in set(found) & set(wanted):
        if not is_near(found[metric][0], wanted[metric][0]):
            wrong.append(f"{metric}: total {found[metric][0]} instead of {wanted[metric][0]}")
        of_found, of_wanted = found[metric][1], wanted[metric][1]
        if len(set(of_found) ^ set(of_wanted)) > 1:
            wrong.append(f"{metric}: {sorted(set(of_found) ^ set(of_wanted))[:5]} on one side only")
        for name in set(of_found) & set(of_wanted):
            (own, whole), (wanted_own, least, most) = of_found[name], of_wanted[name]
            if not is_near(own, wanted_own) or not (least <= whole <= most or is_near(whole, least) or is_near(whole, most)):
                wrong.append(f"{metric}, {name}: {of_found[name]} instead of {of_wanted[name]}")
    return wrong


def check_store(tap, lode, folder, name, store, reference):
    file = Path(folder) / "runs.sqlite"
    wanted = {metric: values for metric, values in reference(lode, store).items() if values[0] > 0 or metric != "time (sec)"}
    run = answer(lode, "runs", "add", store, "--again", "--catalogue", file)["run"]
    found = of_catalogue(file, run)
    wrong = differences(found, wanted)
    count = sum(len(costs) for _, costs in found.values())
    tap.check(not wrong and count > 0, f"{name}: {len(found)} metrics, {count} costs are those of lode top", wrong[:5])
    if reference is of_database and name.split()[-1] in RANGES:
        check_ranges(tap, lode, name, store, file, run)


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
    for changed in ((1.0, 2.4), (1.1, 2.5), (1.0, 2.6)):
        tap.check(differences({"m": (1.0, {"f": changed})}, {"m": (1.0, {"f": (1.0, 2.5, 2.5)})}), "self-test: another number is found")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
