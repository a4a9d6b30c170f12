#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Tables of stores of the corpus as Parquet, CSV, JSON lines and SQLite: the four files have the same rows, Lode's other answers
have them too, and DuckDB, hyparquet, Apache's Rust reader and sqlite3 find every column as it is. Needs the corpus, and the
validators for the other readers. --stores 0 takes all stores; LODE_SHARE selects a part of those that are chosen.
"""

import argparse
import hashlib
import math
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]

import corpora  # noqa: E402
import lodejson  # noqa: E402
import table_answers as answers  # noqa: E402
import table_readers as readers  # noqa: E402
from parquet_reader import BOOLEAN, BYTE_ARRAY, DOUBLE, INT32  # noqa: E402
from share import Share  # noqa: E402
from tap import Tap  # noqa: E402
from validators import run, where  # noqa: E402

CORPUS = corpora.root()
# One of each kind that is small, and has what others do not have: samples, arguments, lost records, attributes.
ALWAYS = ("final/made-small-v4-sources", "recorded/autoargs", "stores/first")
# Its cct.db is damaged: `lode check` says so, and it has other values than profile.db.
DAMAGED = "viewer-loop-inline-v1"
PATTERNS = ("hpctoolkit/final/*", "hpctoolkit/pre-a/*", "hpctoolkit/pre-b/*", "hpctoolkit/draft-xml/*", "uftrace/recorded/*",
            "uftrace/handmade/*", "zorka/stores/*")


def stores_of(count):
    found = [path for pattern in PATTERNS for path in sorted(CORPUS.glob(pattern))
             if path.is_dir() and path.name != DAMAGED]
    if not count:
        return found
    first = [p for p in found if any(str(p).endswith(name) for name in ALWAYS)]
    rest = [p for p in found if p not in first and p.name != "viewer-issue-233"]
    share = Share.of_cases()
    step = max(1, len(rest) // count)
    return share.of(first) + rest[share.part % step::step][:max(1, count // share.parts)]


class Program:
    def __init__(self, lode):
        self.lode = lode

    def call(self, *arguments):
        return subprocess.run([self.lode, *map(str, arguments)], capture_output=True, timeout=600)

    def json(self, *arguments):
        return lodejson.loads(self.call(*arguments).stdout)

    def writes(self, form):
        """Whether this build has the library of a format."""
        return any(f["name"] == form and f["is_available"] for f in self.json("export", "--list", "--json")["formats"])

    def skip_missing(self, tap):
        if not self.writes("sqlite"):
            tap.skip("SQLite files", "this build does not write them")


# ---- other readers ----


def _sql_digest(column):
    """An SQL expression for a digest of a column, whatever the order of rows."""
    c = f'"{column.name}"'
    if column.kind == DOUBLE:
        text = f"case when isfinite({c}) then printf('%.17g', {c}) end"
    elif column.kind == BYTE_ARRAY:
        text = c
    else:
        text = f"{c}::hugeint::varchar"
    return (f"count({c}) as \"n_{column.name}\","
            f" coalesce(bit_xor(('0x' || substr(md5({text}), 1, 15))::bigint), 0)::varchar as \"d_{column.name}\"")


def digest(values):
    """The same in Python: (cells that are not NULL, digest)."""
    result = count = 0
    for value in values:
        if value is None:
            continue
        count += 1
        if isinstance(value, float):
            if not math.isfinite(value):
                continue
            value = "%.17g" % value
        result ^= int(hashlib.md5(str(value).encode()).hexdigest()[:15], 16)
    return count, str(result)


def _types(columns, texts):
    """Column types for DuckDB's readers of text."""
    def one(c):
        if c.kind == BYTE_ARRAY or (texts and c.name in readers.ADDRESSES) or (texts == "json" and c.name in ("time_ns", "begin_ns", "end_ns")):
            return "VARCHAR"
        return {BOOLEAN: "BOOLEAN", DOUBLE: "DOUBLE", INT32: "UINTEGER"}.get(c.kind, "BIGINT")
    return ", ".join(f"'{c.name}': '{one(c)}'" for c in columns)


def duckdb_sources(folder, name, columns):
    yield "parquet", f"read_parquet('{folder}/parquet/{name}.parquet')", columns
    plain = [c for c in columns if c.name not in readers.ADDRESSES]
    yield ("csv", f"read_csv('{folder}/csv/{name}.csv', header=true, skip=0, delim=',', quote='\"', escape='\"', strict_mode=true, "
           f"allow_quoted_nulls=false, columns={{{_types(columns, 'csv')}}})", plain)
    yield ("jsonl", f"read_json('{folder}/jsonl/{name}.jsonl', format='newline_delimited', maximum_object_size=67108864, "
           f"columns={{{_types(columns, 'json')}}})", plain)


def ask_duckdb(folder, tables):
    """What DuckDB finds otherwise, in every column of every table and file."""
    asked, queries = [], []
    for name, (columns, rows) in tables.items():
        for kind, source, chosen in duckdb_sources(folder, name, columns):
            asked.append((name, kind, chosen))
            queries.append(f"select count(*) as n, {', '.join(map(_sql_digest, chosen))} from {source}")
    status, said = run("duckdb.mjs", folder / "parquet" / "store.parquet", *queries)
    if status:
        return [said["error"]], 0
    faults, compared = [], 0
    for (name, kind, columns), (found,) in zip(asked, said["queries"]):
        names = [c.name for c in tables[name][0]]
        rows = tables[name][1]
        if int(found["n"]) != len(rows):
            faults.append(f"{name}.{kind}: {found['n']} rows, not {len(rows)}")
        for column in columns:
            values = [row[names.index(column.name)] for row in rows]
            if kind == "jsonl":
                values = [None if isinstance(v, float) and not math.isfinite(v) else v for v in values]
            wanted = digest(values)
            compared += len(values)
            if (int(found[f"n_{column.name}"]), found[f"d_{column.name}"]) != wanted:
                faults.append(f"{name}.{kind} {column.name}: {found[f'n_{column.name}']}, {found[f'd_{column.name}']}, not {wanted}")
    return faults, compared


def ask_others(folder, tables, names):
    """hyparquet and Rust on some tables; sqlite3 on all."""
    faults = []
    for name in names:
        status, said = run("parquet.mjs", folder / "parquet" / f"{name}.parquet")
        if status or said["rows"] != len(tables[name][1]):
            faults.append(f"parquet.mjs {name}: {said.get('error') or said.get('rows')}")
    if not (folder / "all.sqlite").exists():
        return faults
    status, said = run("sqlite.mjs", folder / "all.sqlite")
    if status:
        return faults + [f"sqlite.mjs: {said['error']}"]
    for name, (columns, rows) in tables.items():
        if said["tables"][name]["rows"] != len(rows):
            faults.append(f"sqlite.mjs {name}: {said['tables'][name]['rows']} rows")
        for i, column in enumerate(columns):
            nulls = sum(r[i] is None or r[i] != r[i] for r in rows)
            if said["tables"][name]["columns"][column.name]["nulls"] != nulls:
                faults.append(f"sqlite.mjs {name}.{column.name}: NULLs")
    return faults


# ---- a store ----


def export(program, store, folder, *options):
    """Exports everything that this build writes. Returns what went wrong, or None."""
    for target in ("parquet", "csv", "jsonl", *(["all.sqlite"] if program.writes("sqlite") else [])):
        form = "sqlite" if target == "all.sqlite" else target
        done = program.call("export", store, "--format", form, "-o", folder / target, *options)
        if done.returncode:
            return f"{form}: {done.stderr.decode(errors='replace').strip()[:300]}"
    return None


def same_rows(folder, tables):
    """Where the four files differ."""
    faults = []
    others = {"csv": readers.from_csv(folder / "csv", tables), "jsonl": readers.from_jsonl(folder / "jsonl", tables)}
    if (folder / "all.sqlite").exists():
        others["sqlite"] = readers.from_sqlite(folder / "all.sqlite", tables)
    for kind, found in others.items():
        if found.keys() != tables.keys():
            faults.append(f"{kind}: tables {sorted(found)}")
            continue
        for name, (_, rows) in tables.items():
            expected, got = rows, found[name][1]
            if kind == "jsonl":
                expected = readers.without_infinite(rows)
            if kind == "sqlite":
                expected = readers.without_nan(rows)
            key = tables[name][0][0]
            if kind == "sqlite" and key.name in ("id", "profile_id", "context_id") and key.kind != BYTE_ARRAY and name != "sample":
                # Rows come by their key, if it is a number; else in the order in which they were written.
                expected = sorted(expected, key=lambda r: r[:3])
            difference = readers.first_difference(got, expected)
            if difference:
                faults.append(f"{kind} {name}: {difference}")
    return faults


def expected_of(program, store, tables):
    """(what, expected, found) by Lode's other answers."""
    if "context" in tables:
        yield from answers.database(program.json("dump", "--only", "meta,profiles,traces", store), tables)
        return
    replay = program.json("replay", store, "--json", "--limit", "0")
    top = program.json("top", store, "--json", "--limit", "0", "--by", "symbol", "--sched")
    search = program.json("search", store, "--json", "--limit", "0") if tables["request"][1] else None
    yield from answers.recording(replay, top, search, tables)


def same_answers(program, store, tables):
    """Where tables and Lode's other answers differ."""
    return [f"{what}: {difference}" for what, expected, found in expected_of(program, store, tables)
            if expected != found and (difference := _difference(expected, found))]


def check_store(tap, program, store, counts):
    name = f"{store.parent.name}/{store.name}"
    with tempfile.TemporaryDirectory(prefix="lode-tables-") as scratch:
        folder = Path(scratch)
        trouble = export(program, store, folder)
        if trouble:
            refused = program.call("info", store).returncode != 0 or program.call("check", store).returncode != 0
            tap.check(refused, f"{name} is refused, and is not sound", [trouble])
            return
        tables = readers.from_parquet(folder / "parquet")
        faults = same_rows(folder, tables)
        rows = sum(len(r) for _, r in tables.values())
        tap.check(not faults, f"{name}: {rows} rows are the same in Parquet, CSV, JSON lines and SQLite", faults[:10])
        faults = same_answers(program, store, tables)
        tap.check(not faults, f"{name}: rows are those of Lode's other answers", faults[:10])
        counts["rows"] += rows
        if not where():
            tap.skip(f"{name}: other readers agree", "no validators: set LODE_VALIDATORS")
            return
        faults, compared = ask_duckdb(folder, tables)
        counts["cells"] += compared
        faults += ask_others(folder, tables, [n for n in ("value", "context", "call", "request") if n in tables][:2])
        tap.check(not faults, f"{name}: DuckDB, hyparquet, Rust and sqlite3 agree on {compared} cells", faults[:10])


def _difference(expected, found):
    if isinstance(expected, list) and isinstance(found, list):
        return readers.first_difference(found, expected)
    return f"{str(found)[:300]}, not {str(expected)[:300]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--stores", type=int, default=4, help="how many, besides one of each kind")
    parser.add_argument("--only", help="a part of the path")
    arguments = parser.parse_args()
    tap = Tap()
    if not CORPUS.is_dir():
        tap.skip("tables of the corpus", "no corpus: set LODE_CORPUS")
        return tap.finish()
    counts = {"rows": 0, "cells": 0}
    Program(arguments.lode).skip_missing(tap)
    for store in stores_of(0 if arguments.only else arguments.stores):
        if not arguments.only or arguments.only in str(store):
            check_store(tap, Program(arguments.lode), store, counts)
    tap.note(f"{counts['rows']} rows, {counts['cells']} cells compared by DuckDB")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
