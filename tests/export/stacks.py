#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Exports of call stacks, read back by other programs: pprof by `go tool pprof`, folded stacks by the readers of flame graphs.
Each number that they find is compared with what `lode top` says of the store.

Values are whole numbers, rounded as a running sum: a context's own cost is off by less than 1 unit, and so is the sum of a
subtree. So a function may be off by the number of contexts that it has. LODE_SHARE selects a part of the stores.
"""

import argparse
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

import corpora  # noqa: E402
from share import Share  # noqa: E402
from tap import Tap  # noqa: E402

import callgrind_reader  # noqa: E402
import validators  # noqa: E402

SCALES = {"sec": 1e9}
PPROF_UNITS = {"nanoseconds": "ns", "bytes": "B", "microseconds": "us", "milliseconds": "ms", "seconds": "s"}


class Lode:
    def __init__(self, program):
        self.program = program

    def run(self, *arguments):
        return subprocess.run([self.program, *map(str, arguments)], capture_output=True, timeout=600)

    def json(self, *arguments):
        done = self.run(*arguments, "--json")
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode())
        return json.loads(done.stdout)

    def export(self, store, form, target, *more):
        done = self.run("export", store, "--format", form, "-o", target, "-f", *more)
        return done.returncode == 0, done.stderr.decode().strip()


# ---- what go tool pprof says ----

def pprof_top(path, index, unit, *more):
    """({name: [flat, cum]}, total) of a sample type, in whole units; `more` are options."""
    done = subprocess.run(["go", "tool", "pprof", "-top", "-nodecount=10000000", "-nodefraction=0", "-edgefraction=0",
                           f"-unit={unit}", f"-sample_index={index}", "-symbolize=none", *more, str(path)],
                          capture_output=True, text=True, timeout=300, env={**os.environ, "HOME": "/tmp", "PPROF_TMPDIR": "/tmp"})
    if done.returncode != 0:
        return None, done.stderr
    rows, total = {}, None
    for line in done.stdout.splitlines():
        found = re.search(r"of (-?[\d.e+]+)\w* total$", line)
        total = float(found.group(1)) if found else total
        found = re.match(r"\s*(-?[\d.e+]+)[a-zA-Z]*\s+\S+%\s+\S+%\s+(-?[\d.e+]+)[a-zA-Z]*\s+\S+%\s+(.*)$", line)
        if found:
            name = re.sub(r" \((partial-)?inline\)$", "", found.group(3))
            # Code without a function, in modules of one name, has several rows.
            own, inclusive = rows.get(name, (0, 0))
            rows[name] = [own + float(found.group(1)), inclusive + float(found.group(2))]
    return rows, total


# ---- what Lode says ----

def code_name(name):
    """As pprof shows code without a function: its module."""
    found = re.fullmatch(r"(.*)\+0x[0-9a-f]+", name)
    return f"[{found.group(1)}]" if found else name


def database_rows(lode, store, metric, scale):
    """{name: [exclusive, inclusive, contexts, how many rows]} in units of the export; the total; names of several functions."""
    answer = lode.json("top", store, "--limit", "0", "--metric", metric)
    rows = defaultdict(lambda: [0.0, 0.0, 0, 0])
    for row in answer["rows"]:
        item = rows[row["name"]]
        item[0] += row["exclusive"] * scale
        item[1] += row["inclusive"] * scale
        item[2] += row["contexts"]
        item[3] += 1
    without_entries(lode, store, metric, rows, scale)
    return rows, answer["total"] * scale, {row["name"] for row in answer["rows"] if row["functions"] > 1}


def without_entries(lode, store, metric, rows, scale):
    """Takes out what was measured at entry points themselves: exports without them have it nowhere, or as <no stack>. Functions can have their names."""
    tree = lode.json("tree", store, "--limit", "0", "--min-percent", "0", "--depth", "1", "--metric", metric)
    entries = {row["name"] for row in tree["rows"] if row["kind"] in ("entry", "global")}
    symbols = [row for row in lode.json("top", store, "--limit", "0", "--metric", metric, "--by", "symbol")["rows"] if row["name"] in entries]
    for row in symbols:
        if row["file"] is None and row["module"] is None:
            rows[row["name"]][0] -= row["exclusive"] * scale
            rows[row["name"]][3] = 2  # its inclusive cost is not that of the function
    for name in entries - {row["name"] for row in symbols if row["file"] is not None or row["module"] is not None}:
        rows.pop(name, None)


def compare(expected, found, tolerance_of):
    """What is wrong, in words."""
    wrong = []
    for name, row in expected.items():
        tolerance = tolerance_of(row)
        got = found.get(name, [0, 0])
        if abs(got[0] - row[0]) > tolerance:
            wrong.append(f"{name}: own cost {got[0]} instead of {row[0]}")
        if row[3] == 1 and abs(got[1] - row[1]) > tolerance:
            wrong.append(f"{name}: inclusive cost {got[1]} instead of {row[1]}")
    wrong += [f"{name}: is not in top" for name in found if name not in expected and any(found[name])]
    return wrong


def folded_rows(text):
    """{name: [own, inclusive]}, total, problems: a line of folded stacks counts once for each name in it."""
    rows, total, problems, seen = defaultdict(lambda: [0, 0]), 0, [], set()
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        if not stack or not count.isdigit() or int(count) == 0:
            problems.append(f"a bad line: {line[:80]}")
            continue
        if stack in seen:
            problems.append(f"twice: {stack[:80]}")
        seen.add(stack)
        frames = stack.split(";")
        if any(not frame.strip() for frame in frames) or re.search(r" \d+$", frames[-1]):
            problems.append(f"a bad frame: {line[:80]}")
        total += int(count)
        rows[frames[-1]][0] += int(count)
        for name in set(frames):
            rows[name][1] += int(count)
    return rows, total, problems


def folded_name(name):
    name = name.replace(";", ":").strip()
    name = "_" + name[1:] if name.startswith("#") else name
    return re.sub(r" (\d+)$", r"_\1", name)


def renamed(rows, name_of):
    result = defaultdict(lambda: [0.0, 0.0, 0, 0])
    for name, row in rows.items():
        item = result[name_of(name)]
        for i in range(4):
            item[i] += row[i]
    return result


# ---- graphs and trees ----

def check_callgrind(tap, label, lode, store, scratch, rows, tolerance, total, *more, alike=frozenset()):
    """
    Own cost by function with a reader of our own; callgrind_annotate reads the file, and finds the same total. Functions of one name, `alike`,
    are one to the reader: what they call each other for can add up to more than the total.
    """
    target = scratch / "a.callgrind"
    done, message = lode.export(store, "callgrind", target, *more)
    wrong = [] if done else [message]
    if done:
        scale = 1000 if "is in thousandths" in message else 1
        found = callgrind_reader.read(target.read_text())
        own = {name: [values[0] / scale, 0] for name, values in found["own"].items() if name != "<no stack>"}
        wrong += compare({name: [*row[:3], 0] for name, row in rows.items()}, own, tolerance)
        if abs(found["totals"][0] / scale - total) > 1 + 1e-9 * abs(total) or found["totals"] != found["summary"]:
            wrong.append(f"total {found['totals']} instead of {total}")
        most = max(found["totals"][0], 0)
        wrong += [f"{caller} calls {callee} for {values}" for (caller, callee), (count, values) in found["calls"].items()
                  if count == 0 or (values[0] > most and not alike & {caller, callee})]
        if validators.where() and shutil.which("callgrind_annotate"):
            status, answer = validators.run("callgrind.mjs", target)
            if found["totals"][0] and (status or list(answer["totals"].values()) != found["totals"] or answer["warnings"]):
                wrong.append(f"callgrind_annotate: {answer.get('error')} {answer.get('totals')} {answer.get('warnings')}")
    tap.check(not wrong, f"{label}: a callgrind profile has the own costs of top", wrong[:5])


def check_hatchet(tap, label, lode, store, scratch, rows, tolerance, unit, *more):
    """The rules of Hatchet's reader; own cost by function."""
    target = scratch / "a.hatchet.json"
    done, message = lode.export(store, "hatchet", target, *more)
    if not validators.where():
        tap.skip(f"{label}: Hatchet literal", "LODE_VALIDATORS is not set")
        return
    run = subprocess.run([sys.executable, str(validators.where() / "hatchet_check.py"), str(target)], capture_output=True, text=True)
    answer = json.loads(run.stdout)
    wrong = [message] if not done else [answer["error"]] if answer["error"] and any(row[1] for row in rows.values()) else []
    if not wrong and not answer["error"] and "levels" not in message:
        metric = answer["metrics"][0]
        scale = unit if metric == "time" else 1e-3 if "is in thousandths" in message else 1
        own = {name: [values[metric] * scale, 0] for name, values in answer["functions"].items() if name != "<no stack>"}
        wrong += compare({name: [*row[:3], 0] for name, row in rows.items()}, own, tolerance)
    tap.check(not wrong, f"{label}: a Hatchet literal has the own costs of top", wrong[:5])


# ---- stores ----

def split_unit(metric):
    found = re.fullmatch(r"(.*?) *\(([^()]*)\)", metric)
    return (found.group(1), found.group(2)) if found else (metric, "")


def check_database(tap, lode, store, scratch, has_go, metrics):
    label = "/".join(store.parts[-2:])
    values = 0
    for number, metric in metrics:
        unit = split_unit(metric)[1]
        scale = SCALES.get(unit, 1)
        rows, total, alike = database_rows(lode, store, f"${number}", scale)
        tolerance = lambda row: row[2] + 1e-9 * abs(row[1])  # noqa: E731
        if has_go:
            target = scratch / "a.pb.gz"
            done, message = lode.export(store, "pprof", target, "--metric", f"${number}", "--no-entries")
            found, said = pprof_top(target, 0, "ns" if unit == "sec" else "B" if unit == "B" else "count") if done else (None, message)
            if "is in thousandths" in message and found is not None:
                found = {name: [value / 1000 for value in row] for name, row in found.items()}
            if found is not None:
                found.pop("<no stack>", None)
            wrong = [said] if found is None else compare(renamed(rows, code_name), found, tolerance)
            tap.check(not wrong, f"{label}: {metric}: go tool pprof finds what top says", wrong[:5])
            values += 2 * len(rows)
        done, message = lode.export(store, "folded", scratch / "a.folded", "--metric", f"${number}", "--no-entries")
        text = (scratch / "a.folded").read_text() if done else ""
        found, sum_found, wrong = folded_rows(text) if done else ({}, 0, [message])
        if "is in thousandths" in message:
            found, sum_found = {name: [value / 1000 for value in row] for name, row in found.items()}, sum_found / 1000
        is_negative = any(row[0] < -0.5 for row in rows.values())
        if done and not is_negative:
            found.pop("<no stack>", None)
            wrong += compare(renamed(rows, folded_name), found, tolerance)
            if abs(sum_found - total) > 1 + 1e-9 * abs(total):
                wrong.append(f"total {sum_found} instead of {total}")
        tap.check(not wrong, f"{label}: {metric}: folded stacks add up to what top says", wrong[:5])
        values += 2 * len(rows)
        if not is_negative:
            named, only = f"{label}: {metric}", ("--metric", f"${number}", "--no-entries")
            check_callgrind(tap, named, lode, store, scratch, rows, tolerance, total, *only, alike=alike)
            check_hatchet(tap, named, lode, store, scratch, rows, tolerance, 1e9, *only)
            values += 2 * len(rows)
    return values


def check_recording(tap, lode, store, scratch, has_go):
    label = store.parent.name if store.name == "uftrace.data" else "/".join(store.parts[-2:])
    answer = lode.json("top", store, "--limit", "0", "--sched")
    times, calls = defaultdict(lambda: [0.0, 0.0, 0, 0]), defaultdict(lambda: [0.0, 0.0, 0, 0])
    for row in answer["rows"]:
        item = times[row["name"]]
        item[0] += row["self_ns"]
        item[1] += row["total_ns"]
        item[3] += 1
        if row["name"] != "linux:schedule" and not row["name"].startswith("linux:schedule"):
            calls[row["name"]][0] += row["calls"]
    exact = lambda row: 0  # noqa: E731
    values = 0
    if has_go:
        target = scratch / "a.pb.gz"
        done, message = lode.export(store, "pprof", target)
        found, said = pprof_top(target, 0, "ns") if done else (None, message)
        wrong = [said] if found is None else compare(times, found, exact)
        if found is not None:
            counts, said = pprof_top(target, 1, "count")
            wrong += [f"{name}: {counts.get(name, [0])[0]} calls instead of {row[0]}" for name, row in calls.items()
                      if counts.get(name, [0])[0] != row[0]]
        tap.check(not wrong, f"{label}: go tool pprof finds times and calls of top", wrong[:5])
        values += 3 * len(times)
    done, message = lode.export(store, "folded", scratch / "a.folded")
    found, total, wrong = folded_rows((scratch / "a.folded").read_text()) if done else ({}, 0, [message])
    wrong += compare(renamed(times, folded_name), found, exact) if done else []
    tap.check(not wrong, f"{label}: folded stacks add up to what top says", wrong[:5])
    check_callgrind(tap, label, lode, store, scratch, times, exact, sum(row[0] for row in times.values()))
    check_hatchet(tap, label, lode, store, scratch, times, lambda row: 1e-6 * max(1, row[0]), 1e9)
    return values + 4 * len(times)


def corpus():
    folder = corpora.root()
    return folder if folder.is_dir() else None


def stores(lode, folder):
    """(path, what info says) of all stores that Lode opens."""
    marks = sorted({path.parent for name in ("meta.db", "experiment.xml", "info", "profile.db") for path in folder.glob(f"**/{name}")}
                   | {path.parent for path in folder.glob("zorka/**/*.*") if path.is_file()})
    for path in marks:
        done = lode.run("info", path, "--json")
        if done.returncode == 0:
            yield path, json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--share", type=int, default=1, help="every Nth store only")
    parser.add_argument("--metrics", type=int, default=1, help="of each database, at most so many")
    parser.add_argument("--only", help="stores with this in their path")
    options = parser.parse_args()
    tap, lode = Tap(), Lode(options.lode)
    has_go = shutil.which("go") is not None
    folder = corpus()
    if folder is None:
        tap.skip("stacks of the corpus", "LODE_CORPUS is not set")
        return tap.finish()
    if not has_go:
        tap.skip("pprof profiles", "go is not installed")
    values, share = 0, Share.of_cases().times(options.share)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        for index, (path, info) in enumerate(stores(lode, folder)):
            if not share.has(index) or (options.only and options.only not in str(path)):
                continue
            if info["schema"]["name"] == "lode-info-recording":
                values += check_recording(tap, lode, path, scratch, has_go)
            else:
                named = list(enumerate(metric["name"] for metric in info["metrics"]))
                values += check_database(tap, lode, path, scratch, has_go, named[:options.metrics])
    tap.note(f"{values} values compared")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
