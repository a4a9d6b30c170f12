#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Every store of the corpus in every format that can hold it, read by the tools themselves, as a table.

A number in the table says how many values a reader found that were compared with what Lode says of the store: costs, times and calls by
function, rows of tables. By hand, as it takes half an hour:

    LODE_VALIDATORS=... tests/export/matrix.py --lode PROGRAM
"""

import argparse
import csv
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

import callgrind_reader  # noqa: E402
import validators  # noqa: E402
from stacks import Lode, code_name, corpus, folded_name, folded_rows, pprof_top, renamed, stores  # noqa: E402

BEGIN, END = "<!-- written by tests/export/matrix.py -->", "<!-- end -->"
STACKS = ("pprof", "folded", "callgrind", "hatchet")
TIMELINE = ("perfetto", "chrome", "speedscope", "otf2", "firefox")
TABLES = ("parquet", "csv", "jsonl", "sqlite")
PERFETTO = "select name, count(*) as calls, sum(dur) as time from slice group by name"
csv.field_size_limit(1 << 30)


class Wrong(Exception):
    """A reader found something else than Lode says."""


def agree(expected, found, tolerance, what):
    """How many values were compared; both are {name: value}."""
    for name in expected.keys() | found.keys():
        want, got = expected.get(name, 0), found.get(name, 0)
        if abs(want - got) > tolerance(name, want):
            raise Wrong(f"{what} of {name}: {got} instead of {want}")
    return len(expected)


# ---- stacks ----

def own_of(form, target, message, is_seconds):
    scale = 1000 if "is in thousandths" in message else 1
    if form == "pprof":
        unit = "ns" if is_seconds else "count"
        rows, said = pprof_top(target, 0, unit)
        if rows is None:
            raise Wrong(said)
        return {name: row[0] / scale for name, row in rows.items()}
    if form == "folded":
        return {name: row[0] / scale for name, row in folded_rows(target.read_text())[0].items()}
    if form == "callgrind":
        status, answer = validators.run("callgrind.mjs", target)
        found = callgrind_reader.read(target.read_text())
        if found["totals"][0] and (status or list(answer["totals"].values()) != found["totals"]):
            raise Wrong(str(answer.get("error")))
        return {name: values[0] / scale for name, values in found["own"].items()}
    run = subprocess.run([sys.executable, str(validators.where() / "hatchet_check.py"), str(target)], capture_output=True, text=True)
    answer = json.loads(run.stdout)
    if answer["error"]:
        raise Wrong(answer["error"])
    metric = answer["metrics"][0]
    return {name: values[metric] * (1e9 if metric == "time" else 1) / scale for name, values in answer["functions"].items()}


def check_stacks(lode, store, form, scratch, rows, is_seconds, more):
    target = scratch / f"a.{form}"
    done, message = lode.export(store, form, target, *more)
    if not done:
        raise Wrong(message)
    if "levels" in message or not any(row[1] for row in rows.values()):
        return None
    found = own_of(form, target, message, is_seconds)
    found.pop("<no stack>", None)
    name_of = {"pprof": code_name, "folded": folded_name}.get(form, str)
    expected = renamed(rows, name_of)
    return agree({name: row[0] for name, row in expected.items()}, found,
                 lambda name, want: expected[name][2] + 1e-6 * abs(want) if name in expected else 0, "own cost")


# ---- timelines ----

def timeline_of(form, target):
    """{name: [calls, time of all calls, self]}; None where the reader does not tell."""
    result = defaultdict(lambda: [None, None, None])
    if form == "perfetto":
        status, answer = validators.run("perfetto.mjs", target, PERFETTO)
        for row in answer["queries"][0] if status == 0 else ():
            result[row["name"]] = [row["calls"], row["time"], None]
    elif form == "chrome":
        status, answer = validators.run("chrome.mjs", target)
        for name, row in answer.get("functions", {}).items():
            result[name] = [row["calls"], row["time"], None]
    elif form == "otf2":
        run = subprocess.run(["/usr/bin/python3", str(validators.where() / "otf2_check.py"), str(target / "traces.otf2")], capture_output=True, text=True)
        status, answer = run.returncode, json.loads(run.stdout)
        for name, row in answer.get("functions", {}).items():
            result[name] = [row["calls"], None, row["self"]]
    else:
        status, answer = validators.run("speedscope.mjs" if form == "speedscope" else "firefox.mjs", target)
        factor = 1 if form == "speedscope" else 1e6
        for thread in answer.get("profiles" if form == "speedscope" else "threads", ()):
            for row in thread["frames" if form == "speedscope" else "functions"]:
                result[row["name"]][2] = (result[row["name"]][2] or 0) + row["self"] * factor
    if status:
        raise Wrong(str(answer.get("error")))
    return result


def check_timeline(lode, store, form, scratch, expected):
    target = scratch / f"a.{form}"
    done, message = lode.export(store, form, target)
    if not done:
        raise Wrong(message)
    found = timeline_of(form, target)
    count = 0
    for which, what in enumerate(("calls", "time", "self time")):
        got = {name: row[which] for name, row in found.items() if row[which] is not None}
        want = {name: row[which] for name, row in expected.items() if row[which] is not None}
        if got and want and "levels" not in message:
            count += agree(want, got, lambda name, value: 1e-6 * abs(value) + 2, what)
    return count or None


def expected_of_recording(lode, store):
    rows = defaultdict(lambda: [0, 0, 0])
    for row in lode.json("top", store, "--limit", "0")["rows"]:
        item = rows[row["name"]]
        item[0] += row["calls"]
        item[1] += row["mean_ns"] * row["calls"]
        item[2] += row["self_ns"]
    return rows


def expected_of_traces(lode, store):
    """Self time by function, from trace lines."""
    answer = lode.json("top", store, "--limit", "0", "--from", "0")
    rows = defaultdict(lambda: [None, None, 0])
    for row in answer["rows"]:
        rows[row["name"]][2] += row["exclusive"] * 1e9
    return rows


# ---- tables ----

def rows_of(form, target):
    if form == "sqlite":
        base = sqlite3.connect(target)
        names = [row[0] for row in base.execute("select name from sqlite_master where type = 'table'")]
        return {name: base.execute(f'select count(*) from "{name}"').fetchone()[0] for name in names}
    result = {}
    for path in sorted(target.iterdir()):
        if path.suffix == ".csv":
            with open(path, newline="", encoding="utf-8") as file:
                result[path.stem] = sum(1 for _ in csv.reader(file)) - 1
        elif path.suffix == ".jsonl":
            result[path.stem] = sum(1 for line in path.open(encoding="utf-8") if json.loads(line) is not None)
        elif path.suffix == ".parquet":
            status, answer = validators.run("duckdb.mjs", path, f"select count(*) as n from '{path}'")
            if status:
                raise Wrong(str(answer.get("error")))
            result[path.stem] = int(answer["queries"][0][0]["n"])
    return result


def check_tables(lode, store, form, scratch, known):
    target = scratch / f"a.{form}"
    done, message = lode.export(store, form, target)
    if not done:
        raise Wrong(message)
    found = rows_of(form, target)
    known = known or found
    agree(known, found, lambda name, want: 0, "rows")
    return sum(found.values()), known


# ---- the table ----

def try_all(lode, store, info, scratch):
    """{format: number of values, or text}"""
    result, known = {}, None
    is_recording = info["schema"]["name"] == "lode-info-recording"
    if is_recording:
        expected = expected_of_recording(lode, store)
        rows = {name: [row[2], 1, 0, 1] for name, row in expected.items()}
        is_seconds, more, traced = True, (), expected
    else:
        metric = next((number for number, metric in enumerate(info["metrics"]) if "(sec)" in metric["name"]), 0)
        is_seconds = "(sec)" in info["metrics"][metric]["name"] if info["metrics"] else False
        rows, more = defaultdict(lambda: [0.0, 0.0, 0, 0]), ("--metric", f"${metric}", "--no-entries")
        for row in lode.json("top", store, "--limit", "0", "--metric", f"${metric}")["rows"] if info["metrics"] else ():
            item = rows[row["name"]]
            item[0] += row["exclusive"] * (1e9 if is_seconds else 1)
            item[1] += abs(row["inclusive"])
            item[2] += row["contexts"]
        traced = expected_of_traces(lode, store) if (info.get("traces") or {}).get("lines") else None
    for form in (*STACKS, *TIMELINE, *TABLES):
        try:
            if form in STACKS:
                result[form] = check_stacks(lode, store, form, scratch, rows, is_seconds, more)
            elif form in TIMELINE:
                result[form] = check_timeline(lode, store, form, scratch, traced) if traced else None
            else:
                result[form], known = check_tables(lode, store, form, scratch, known)
        except (Wrong, RuntimeError, KeyError, ValueError, subprocess.TimeoutExpired) as error:
            result[form] = f"wrong: {error!r}"[:300]
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--write", type=Path, help="the document to put the table into")
    parser.add_argument("--share", type=int, default=1, help="every Nth store only")
    parser.add_argument("--only", help="stores with this in their path")
    options = parser.parse_args()
    lode, folder, lines, bad = Lode(options.lode), corpus(), [], 0
    formats = (*STACKS, *TIMELINE, *TABLES)
    for index, (path, info) in enumerate(stores(lode, folder)):
        if index % options.share or (options.only and options.only not in str(path)):
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as scratch:
            result = try_all(lode, path, info, Path(scratch))
        label = str(path.relative_to(folder)).replace("/uftrace.data", "")
        lines.append(f"| {label} | " + " | ".join(f"{result[form]:,}" if isinstance(result[form], int) else "-" for form in formats) + " |")
        print(lines[-1], f"{time.monotonic() - began:.1f} s", flush=True)
        for form, value in result.items():
            if isinstance(value, str):
                bad += 1
                print(f"  {form}: {value}", flush=True)
    if options.write and not bad:
        text = options.write.read_text(encoding="utf-8")
        head = f"| store | {' | '.join(formats)} |\n|---|{'---:|' * len(formats)}\n"
        text = re.sub(f"{BEGIN}.*{END}", lambda _: f"{BEGIN}\n{head}" + "\n".join(lines) + f"\n{END}", text, flags=re.DOTALL)
        options.write.write_text(text, encoding="utf-8")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
