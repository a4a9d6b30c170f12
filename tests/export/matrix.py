#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Every store of the corpus in every format that can hold it, read by the tools themselves, as a table.

A number in the table says how many values a reader found that were compared with what Lode says of the store: costs, times and calls by
function, rows of tables. By hand, as it takes half an hour:

    LODE_VALIDATORS=... tests/export/matrix.py --lode PROGRAM
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("tools", "answers", "recordings", "dump")]

import callgrind_reader  # noqa: E402
import table_readers  # noqa: E402
import tables  # noqa: E402
import validators  # noqa: E402
from share import Share  # noqa: E402
from readers.thread_files import Bad, Firefox  # noqa: E402
from stacks import Lode, code_name, corpus, folded_name, folded_rows, pprof_top, renamed, stores  # noqa: E402

BEGIN, END = "<!-- written by tests/export/matrix.py -->", "<!-- end -->"
STACKS = ("pprof", "folded", "callgrind", "hatchet")
TIMELINE = ("perfetto", "chrome", "speedscope", "otf2", "firefox")
TABLES = ("parquet", "csv", "jsonl", "sqlite")
FORMATS = (*STACKS, *TIMELINE, *TABLES)
PERFETTO = ("with inside as (select parent_id, sum(dur) as time from slice where parent_id is not null group by parent_id) "
            "select s.name as name, count(*) as calls, sum(s.dur) as time, sum(s.dur - coalesce(i.time, 0)) as self "
            "from slice s left join inside i on i.parent_id = s.id where s.category is null or s.category = 'sched' group by s.name")
NOT_STARTED = "*"  # the Firefox Profiler, which gives itself half a second
NO_START = "did not become ready"
ASKED = 2  # threads of a profile that the Firefox Profiler is asked about: each takes it a second
TRIES = 5  # that it gets to start


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

def firefox_of(target):
    """Self time by function. Its own program says that of some threads; a reader that agrees there says that of all."""
    trace = Firefox(target.read_text("utf-8"))
    status, answer = validators.run("firefox.mjs", target, str(ASKED))
    for _ in range(1, TRIES):
        if status == 0 or NO_START not in str(answer.get("error")):
            break
        status, answer = validators.run("firefox.mjs", target, str(ASKED))
    if status:
        raise Wrong(str(answer.get("error")))
    asked = Counter()
    for thread in answer["threads"]:
        times = Counter()  # functions of several modules can have one name
        for function in thread["functions"]:
            times[function["name"]] += round(function["self"] * 10 ** 6)
        asked[frozenset(times.items())] += 1
    read = Counter(frozenset((name, row[1]) for name, row in one.items()) for one in trace.threads.values())
    if answer["threadCount"] != len(trace.threads) or asked - read:
        raise Wrong(f"Firefox Profiler differs: {list(asked - read)[:1]}")
    found = Counter()
    for one in trace.threads.values():
        found.update({name: row[1] for name, row in one.items()})
    return found


def timeline_of(form, target):
    """{name: [calls, time of all calls, self]}; None where the reader does not tell."""
    result = defaultdict(lambda: [None, None, None])
    status, answer = 0, {}
    if form in ("perfetto", "chrome"):
        if form == "chrome":  # strictly, before
            status, answer = validators.run("chrome.mjs", target)
        if status == 0:
            status, answer = validators.run("perfetto.mjs", target, PERFETTO)
        for row in answer["queries"][0] if status == 0 else ():
            result[row["name"]] = [row["calls"], int(row["time"]), int(row["self"])]
    elif form == "otf2":
        status, answer = validators.run("otf2_check.py", target / "traces.otf2")
        for name, row in answer.get("functions", {}).items():
            result[name] = [row["calls"], None, row["self"]]
    elif form == "speedscope":
        status, answer = validators.run("speedscope.mjs", target)
        for thread in answer.get("profiles", ()):
            for row in thread["frames"]:
                result[row["name"]][2] = (result[row["name"]][2] or 0) + row["self"]
    else:
        for name, time_ in firefox_of(target).items():
            result[name][2] = time_
    if status:
        raise Wrong(str(answer.get("error") or answer.get("lost")))
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
            count += agree(want, got, lambda name, value: 0 if what == "calls" else 1e-6 * abs(value) + 2, what)
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

def check_tables(lode, store, scratch):
    """How many cells each format has that are those of the others, of Lode's other answers, and of what DuckDB finds."""
    program = tables.Program(lode.program)
    trouble = tables.export(program, store, scratch)
    if trouble:
        raise Wrong(trouble)
    found = table_readers.from_parquet(scratch / "parquet")
    faults = tables.same_rows(scratch, found) + tables.same_answers(program, store, found) + tables.ask_duckdb(scratch, found)[0]
    if faults:
        raise Wrong("; ".join(faults[:3]))
    return sum(len(columns) * len(rows) for columns, rows in found.values())


# ---- the table ----

def metric_of(lode, store, info):
    """(its number, whether it is a time, rows of top) of the first metric that is not 0, times before others."""
    numbers = sorted(range(len(info["metrics"])), key=lambda number: "(sec)" not in info["metrics"][number]["name"])
    for number in numbers:
        rows = lode.json("top", store, "--limit", "0", "--metric", f"${number}")["rows"]
        if any(row["exclusive"] for row in rows) and all(row["exclusive"] >= 0 for row in rows):
            return number, "(sec)" in info["metrics"][number]["name"], rows
    return 0, False, ()


def is_good(value):
    return not isinstance(value, str)


def try_all(lode, store, info, scratch, known, forms):
    """{format: number of values, or text} of these. What is known to be good is not tried again."""
    result = {form: value for form, value in known.items() if is_good(value)}
    is_recording = info["schema"]["name"] == "lode-info-recording"
    if is_recording:
        expected = expected_of_recording(lode, store)
        rows = {name: [row[2], 1, 0, 1] for name, row in expected.items()}
        is_seconds, more, traced = True, (), expected
    else:
        metric, is_seconds, answer = metric_of(lode, store, info)
        rows, more = defaultdict(lambda: [0.0, 0.0, 0, 0]), ("--metric", f"${metric}", "--no-entries")
        for row in (row for row in answer if row["function"] is not None or "+0x" in row["name"]):  # entry points are no frames here
            item = rows[row["name"]]
            item[0] += row["exclusive"] * (1e9 if is_seconds else 1)
            item[1] += abs(row["inclusive"])
            item[2] += row["contexts"]
        traced = expected_of_traces(lode, store) if (info.get("traces") or {}).get("lines") else None
    for form in (*STACKS, *TIMELINE, "tables"):
        try:
            if form not in forms and not (form == "tables" and forms & set(TABLES)):
                continue
            if form in result or (form == "tables" and TABLES[0] in result):
                continue
            if form in STACKS:
                result[form] = check_stacks(lode, store, form, scratch, rows, is_seconds, more)
            elif form in TIMELINE:
                result[form] = check_timeline(lode, store, form, scratch, traced) if traced else None
            else:
                result.update(dict.fromkeys(TABLES, check_tables(lode, store, scratch)))
        except (Wrong, Bad, RuntimeError, KeyError, ValueError, subprocess.TimeoutExpired) as error:
            text = NOT_STARTED if NO_START in str(error) else f"wrong: {error!r}"[:500]
            result.update(dict.fromkeys(TABLES if form == "tables" else [form], text))
    return result


def row_of(label, result):
    values = [result.get(form) for form in FORMATS]
    cells = (f"{value:,}" if isinstance(value, int) else NOT_STARTED if value == NOT_STARTED else "-" for value in values)
    return f"| {label} | " + " | ".join(cells) + " |"


def write_table(document, results):
    text = document.read_text(encoding="utf-8")
    lines = [f"| store | {' | '.join(FORMATS)} |", f"|---|{'---:|' * len(FORMATS)}", *(row_of(label, results[label]) for label in sorted(results)),
             row_of(f"**{len(results)} stores**", {form: sum(r[form] for r in results.values() if isinstance(r[form], int)) for form in FORMATS})]
    text = re.sub(f"{BEGIN}.*{END}", lambda _: "\n".join((BEGIN, *lines, END)), text, flags=re.DOTALL)
    document.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--write", type=Path, help="the document to put the table into")
    parser.add_argument("--results", type=Path, help="what was found, as JSON; what is in it without a fault is not tried again")
    parser.add_argument("--share", type=Share, default=Share(), help="the K-th of N parts of the stores")
    parser.add_argument("--only", help="stores with this in their path")
    parser.add_argument("--formats", default=",".join(FORMATS), help="formats to try, separated by commas; the table needs all")
    options = parser.parse_args()
    lode, folder, results = Lode(options.lode), corpus(), {}
    forms = set(options.formats.split(","))
    if options.results and options.results.exists():
        results = json.loads(options.results.read_text())
    for index, (path, info) in enumerate(stores(lode, folder)):
        label = str(path.relative_to(folder)).replace("/uftrace.data", "")
        known = results.get(label, {})
        if all(form in known and is_good(known[form]) for form in forms) or not options.share.has(index) or (options.only and options.only not in str(path)):
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as scratch:
            results[label] = try_all(lode, path, info, Path(scratch), known, forms)
        print(row_of(label, results[label]), f"{time.monotonic() - began:.1f} s", flush=True)
        for form, value in results[label].items():
            if not is_good(value):
                print(f"  {form}: {value}", flush=True)
        if options.results:
            options.results.write_text(json.dumps(results, indent=1))
    bad = not all(is_good(value) or value == NOT_STARTED for row in results.values() for value in row.values())
    if options.write and not bad and forms == set(FORMATS):
        write_table(options.write, results)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
