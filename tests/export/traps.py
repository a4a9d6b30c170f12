#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What breaks tables in files, each in a database that this test writes itself: quotes, commas, line feeds and bytes that are no
UTF-8 in names; NaN, infinity and both zeros; times one nanosecond apart and beyond 2^53; addresses up to 2^64 - 1; ids beyond
2^31. Expected rows come from what was written, not from Lode. Files that were broken on purpose are refused. LODE_SHARE selects
a part of these.
"""

import argparse
import csv
import json
import math
import sqlite3
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools"), str(HERE.parent / "answers")]

import db_nasty  # noqa: E402
import db_write  # noqa: E402
import table_answers as answers  # noqa: E402
import table_readers as readers  # noqa: E402
from parquet_reader import INT64, Table  # noqa: E402
from share import Share  # noqa: E402
from tables import Program, ask_duckdb, ask_others, duckdb_sources, export, same_rows  # noqa: E402
from tap import Tap  # noqa: E402
from validators import run, where  # noqa: E402

NAMES = ['say "hi"', "a,b", ' "', "semi;colon", "new\nline", "tab\tand\r\n", "nul", "bell\x07", "bad \udcff\udc80 bytes", "\u00e4\u20ac\U0001f600",
         " blanks ", "", "'; drop table value; --", "=1+2", "null", "\\", "\\\"", "\u202eevil", "007", "1e5", "true", "2026-01-01", "x" * 5000]
REALS = [math.nan, math.inf, -math.inf, -0.0, 5e-324, 1e300, 0.1 + 0.2, 9007199254740993.0, -1.5]
EPOCH = 1663059471075931000
STEP = [0, 1, 2, 3, 1000, 1001, 5000]


def as_bytes(self, text):
    place = len(self.bytes)
    self.bytes += text.encode("utf-8", "surrogateescape") + b"\0"
    return place


def make(seed):
    """A database of chance with all of it."""
    _, data = db_nasty.make(seed)
    meta = data["meta"]
    for i, function in enumerate(meta["functions"]):
        function["name"] = NAMES[(i + 7 * seed) % len(NAMES)] or None
        function["offset"] = [0, 1, 1 << 53, (1 << 53) + 1, 1 << 63, (1 << 64) - 1][i % 6]
    for i, file in enumerate(meta["files"]):
        file["path"] = f"/src/{NAMES[(i + seed) % 10]}"
    meta["title"], meta["description"] = 'a "title"', "two\nlines, and a comma"
    number = 0
    for profile in data["profiles"]:
        for group in profile["values"].values():
            for metric in group:
                number += 1
                if number % 3 == 0:
                    group[metric] = REALS[number // 3 % len(REALS)]
    contexts = [int(c) for c in data["profiles"][0]["values"]] or [0]
    lines = [{"profile": p["index"], "samples": [[EPOCH + step, contexts[i % len(contexts)]] for i, step in enumerate(STEP)]}
             for p in data["profiles"] if not p["summary"]]
    data["traces"] = {"min_time_ns": EPOCH, "max_time_ns": EPOCH + STEP[-1], "lines": lines}
    data["format"] = "HPCToolkit 4.0"
    return data


def compare(found, expected):
    if isinstance(expected, list):
        # NaN is not equal to itself.
        return readers.first_difference(sorted(map(repr, found)), sorted(map(repr, expected)))
    return None if expected == found else f"{found}, not {expected}"


def check_traps(tap, tables, folder):
    schema = Table(folder / "parquet" / "sample.parquet")
    times = [e for e in schema.elements if e[4] == b"time_ns"]
    tap.check(times[0][1] == INT64 and 6 not in times[0] and 10 not in times[0], "times are plain 64-bit numbers, no timestamps")
    tap.check(sorted({r[1] for r in tables["sample"][1]}) == [EPOCH + s for s in STEP], "times one nanosecond apart stay apart")
    values = [r[3] for r in tables["value"][1]]
    tap.check(any(math.isnan(v) for v in values) and math.inf in values and any(v == 0 and str(v) == "-0.0" for v in values),
              "NaN, infinity and -0.0 are in the Parquet file")
    addresses = {r[4] for r in tables["function"][1]}
    tap.check({-1, -(1 << 63), (1 << 53) + 1} <= addresses, "addresses beyond 2^53 and 2^63 are exact", [addresses])
    for line in (folder / "jsonl" / "function.jsonl").read_text(encoding="utf-8").splitlines():
        address = json.loads(line)["address"]
        if address is not None and not address.startswith("0x"):
            tap.check(False, "addresses are hexadecimal texts in JSON", [line])
    raw = (folder / "csv" / "value.csv").read_bytes()
    tap.check(b"nan" in raw and b"inf" in raw and b"-0.0" in raw and b"\r" not in raw, "CSV has nan, inf, -0.0 and line feeds")
    tap.check(b"NaN" not in (folder / "jsonl" / "value.jsonl").read_bytes(), "JSON has no NaN")
    if not (folder / "all.sqlite").exists():
        return
    link = sqlite3.connect(folder / "all.sqlite")
    nulls = link.execute("select count(*) from value where value is null").fetchone()[0]
    tap.check(nulls == sum(map(math.isnan, values)) > 0, "NaN is NULL in SQLite")
    tap.check(link.execute("pragma application_id").fetchone()[0] == struct.unpack(">I", b"Lode")[0], "SQLite files say whose they are")
    link.close()


def check_duckdb(tap, folder, tables):
    """What the other readers see of it."""
    if not where():
        tap.skip("other readers see the same", "no validators: set LODE_VALIDATORS")
        return
    faults, compared = ask_duckdb(folder, tables)
    faults += ask_others(folder, tables, ["value", "function"])
    tap.check(not faults, f"DuckDB, hyparquet, Rust and sqlite3 agree on {compared} cells", faults[:10])
    status, said = run("duckdb.mjs", folder / "parquet" / "value.parquet", "select count(*) n from t where value > 1e299",
                       "select count(*) n from t where isnan(value)")
    wanted = [sum(r[3] > 1e299 or math.isnan(r[3]) for r in tables["value"][1]), sum(math.isnan(r[3]) for r in tables["value"][1])]
    found = [int(q[0]["n"]) for q in said.get("queries", [])]
    tap.check(status == 0 and found == wanted, "DuckDB skips no row group that has a NaN", [found, wanted])
    small = run("duckdb.mjs", folder / "parquet" / "sample.parquet", f"select count(distinct time_ns) n from t where time_ns between {EPOCH + 1} and {EPOCH + 3}")[1]
    tap.check(int(small["queries"][0][0]["n"]) == 3, "DuckDB finds times by the nanosecond")
    whole = run("duckdb.mjs", folder / "csv" / "total.csv")[1]
    tap.check(whole["error"] is None and whole["columns"]["value"]["type"] == "DOUBLE", "DuckDB takes values of CSV for doubles by itself", [whole])


# ---- broken files ----


def _lines(change):
    """Breaks a text: `change` gets its lines, with their ends."""
    return lambda data: b"".join(change(data.splitlines(keepends=True)))


def _sql(statement):
    """Breaks a database without breaking its pages."""
    def change(data):
        with tempfile.TemporaryDirectory(prefix="lode-traps-") as scratch:
            path = Path(scratch) / "a.sqlite"
            path.write_bytes(data)
            link = sqlite3.connect(path)
            link.execute("pragma foreign_keys = off")
            link.execute(statement)
            link.commit()
            link.close()
            return path.read_bytes()
    return change


# By the file of a table: what is wrong with it, and how it gets there.
BROKEN = {
    "csv/value.csv": {
        "cut off within a row": lambda data: data[:data.rindex(b",")],
        "a row with a column less": _lines(lambda rows: [*rows[:2], rows[2].rpartition(b",")[0] + b"\n", *rows[3:]]),
        "a row with a column more": _lines(lambda rows: [*rows[:2], rows[2][:-1] + b",1\n", *rows[3:]]),
        "a quote that never ends": _lines(lambda rows: [*rows[:2], b'"' + rows[2], *rows[3:]]),
        "text in place of a number": _lines(lambda rows: [*rows[:2], rows[2].rpartition(b",")[0] + b",many\n", *rows[3:]])},
    "jsonl/value.jsonl": {
        "cut off within a row": lambda data: data[:data.rindex(b":")],
        "a row that is not closed": _lines(lambda rows: [*rows[:1], rows[1].replace(b"}", b""), *rows[2:]]),
        "text in place of a number": _lines(lambda rows: [rows[0].replace(b'"context_id":', b'"context_id":"many","was":'), *rows[1:]]),
        "a comma too many": _lines(lambda rows: [rows[0].replace(b",", b",,", 1), *rows[1:]])},
    "all.sqlite": {
        "another beginning": lambda data: b"SQLite format 4\0" + data[16:],
        "cut off": lambda data: data[:len(data) // 2],
        "a page of other bytes": lambda data: data[:-4096] + b"\xa5" * 4096,
        "a row that refers to none": _sql("update context set function_id = 4000000000 where function_id is not null")}}


def refused_by_python(folder, tables, file):
    """Whether the readers of Python's own library give up."""
    try:
        if file == "all.sqlite":
            link = sqlite3.connect(f"file:{folder / file}?mode=ro", uri=True)
            sound = link.execute("pragma integrity_check").fetchone()[0] == "ok" and not link.execute("pragma foreign_key_check").fetchone()
            link.close()
            return not sound
        read = readers.from_csv if file.startswith("csv") else readers.from_jsonl
        read(folder / file.partition("/")[0], tables)
        return False
    except (ValueError, KeyError, csv.Error, sqlite3.DatabaseError):
        return True


def refused_by_others(folder, tables, file):
    """Whether DuckDB, with the types that all comparisons use, or sqlite3 gives up."""
    if file == "all.sqlite":
        return run("sqlite.mjs", folder / file)[0] != 0
    kind, _, name = file.partition("/")
    name = name.partition(".")[0]
    source = next(s for k, s, _ in duckdb_sources(folder, name, tables[name][0]) if k == kind)
    whole = ", ".join(f'count("{c.name}")' for c in tables[name][0])
    return run("duckdb.mjs", folder / "parquet" / "store.parquet", f"select {whole} from {source}")[0] != 0


def check_broken(tap, folder, tables):
    """Readers refuse broken files, which they took before; a file with another value is read, and the comparisons find it."""
    if not where():
        tap.skip("DuckDB and sqlite3 refuse broken tables", "no validators: set LODE_VALIDATORS")
    cases = [(file, *case) for file, changes in BROKEN.items() if (folder / file).exists() for case in changes.items()]
    for file, name, change in Share.of_cases().of(cases):
        good = (folder / file).read_bytes()
        (folder / file).write_bytes(change(good))
        verdicts = {"Python": refused_by_python(folder, tables, file), "others": not where() or refused_by_others(folder, tables, file)}
        (folder / file).write_bytes(good)
        tap.check(all(verdicts.values()), f"{file} is refused: {name}", [verdicts])
    for kind, end in Share.of_cases().of((("csv", b"\n"), ("jsonl", b"}"))):
        file = folder / kind / f"value.{kind}"
        good = file.read_bytes()
        file.write_bytes(good.replace(b".5" + end, b".25" + end, 1))
        found = [not where() or ask_duckdb(folder, {"value": tables["value"]})[0], same_rows(folder, tables)]
        file.write_bytes(good)
        tap.check(all(found), f"{kind}: both comparisons find another value", found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    tap = Tap()
    program = Program(arguments.lode)
    program.skip_missing(tap)
    db_write.File.text = as_bytes
    names = set()
    for seed in range(arguments.seeds):
        with tempfile.TemporaryDirectory(prefix="lode-traps-") as scratch:
            folder = Path(scratch)
            data = make(seed)
            db_write.write(folder / "db", data)
            trouble = export(program, folder / "db", folder)
            if not tap.check(not trouble, f"database {seed} is exported", [trouble]):
                continue
            tables = readers.from_parquet(folder / "parquet")
            names |= {r[1] for r in tables["function"][1]}
            faults = same_rows(folder, tables)
            tap.check(not faults, f"database {seed}: the four files have the same rows", faults)
            faults = [f"{what}: {text}" for what, wanted, found in answers.database(data, tables) if (text := compare(found, wanted))]
            tap.check(not faults, f"database {seed}: rows are those that were written", faults[:10])
            if seed == 0:
                check_traps(tap, tables, folder)
                check_duckdb(tap, folder, tables)
                check_broken(tap, folder, tables)
    if arguments.seeds >= 5:
        tap.check({'say "hi"', "a,b", "new?line", "bad ?? bytes", "\u00e4\u20ac\U0001f600", "'; drop table value; --"} <= names,
                  "names keep quotes and commas; control characters and what is no UTF-8 become '?'", [names])
    lines = subprocess.run([arguments.lode, "export", "--list"], capture_output=True, text=True, check=True).stdout
    tap.check(all(name in lines for name in ("parquet", "csv", "jsonl", "sqlite")), "the list names the formats")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
