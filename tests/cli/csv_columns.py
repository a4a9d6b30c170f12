#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The columns of CSV are those of doc/csv.md. There, DB is a database, REC a recording, STORE a trace store and SPANS a file of spans; the test has one
of each kind in mind. A table has the columns in this order, and the fields of the same name in JSON have the same values.
"""

import functools
import math
import re
import sys
import tempfile

import cli

DOCUMENT = cli.ROOT / "doc" / "csv.md"
ROW = re.compile(r"^\| `lode ([^`]+)` \| ([\w., ]+) \|$", re.M)
SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*(\..+)?")  # after a dot, a key of the store
# In CSV these are text; in JSON they are arrays or objects.
# Another database with the metrics of the first.
OTHER = "made-loops-cputime-t-mpi3ranks" if cli.corpora.is_own() else "hatchet-hatchet-cpi-v4-database-v1"
MAY_BE_EMPTY = ("gone", "quality") if cli.corpora.is_own() else ("gone",)
STRUCTURES = {"labels", "id_tuple", "rank", "rank_physical", "attributes", "statistics", "scopes", "explains", "evidence"}


def documented():
    return [(words.split(), columns.split(", ")) for words, columns in ROW.findall(DOCUMENT.read_text(encoding="utf-8"))]


@functools.lru_cache
def catalogue(program):
    """A catalogue of runs, and the folder that goes away with it."""
    folder = tempfile.TemporaryDirectory()
    for day in range(1, 13):
        program.run("runs", "add", program.databases() / "viewer-issue-233", "--catalogue", f"{folder.name}/runs", "--time", f"2026-01-{day:02}",
                    "--again", cwd="/")
    return folder


def run(program, words, *more):
    stores = {"DB": program.databases() / "viewer-issue-233", "OTHER": program.databases() / OTHER, "REC": program.recordings() / "n_autoargs" / "uftrace.data",
              "STORE": program.stores() / "master", "SPANS": cli.ROOT / "tests/data/otlp/small/traces.pb"}
    if "FILE" in words:
        stores["FILE"] = f"{catalogue(program).name}/runs"
    if cli.corpora.is_own():
        stores["fib"] = "add"
    return program.run(*[str(stores.get(word, word)) for word in words], *more, cwd="/")


def header_lines_are_as_documented(program):
    rows = documented()
    program.check(len(rows) > 25, "doc/csv.md lists the tables", [len(rows)])
    for words, columns in rows:
        result = run(program, words, "--csv")
        header = result.out.split("\r\n")[0].split(",")
        program.equal((result.status in (0, 1), header), (True, columns), f"lode {' '.join(words)} --csv: the columns")
        bad = [column for column in columns if not SNAKE.fullmatch(column)]
        program.check(not bad, f"lode {' '.join(words)}: names of columns are in snake case", bad)


def fields_of(rows, words):
    """Values by key are an object; in CSV each has a column, or one that is alone the column "value"."""
    row = rows[0]
    if "--columns" in words:
        keys = {key for one in rows for key in one["attributes"]}
        return [field for field in row if field != "attributes"] + [f"attribute.{key}" for key in keys]
    if not isinstance(row.get("values"), dict):
        return list(row)
    return [field for field in row if field != "values"] + [f"value.{key}" for key in row["values"] if "value" not in row]


def columns_are_fields_of_json(program):
    """Of the main table, and of those that --table names."""
    for words, columns in documented():
        name = words[words.index("--table") + 1] if "--table" in words else None
        if name == "timeline" or "--metric" in words:  # JSON has letters instead of rows, and an array of values
            continue
        plain = words[:words.index("--table")] if name else words
        answer = cli.parse_json(run(program, plain, "--json").out)
        table = answer[name] if name else next(answer[key] for key in ("rows", "activities", "metrics", "tasks", "findings", "rules") if key in answer)
        fields = fields_of([table] if isinstance(table, dict) else table, words) if table else columns
        program.check(set(columns) - STRUCTURES <= set(fields), f"lode {' '.join(words)}: columns are fields of JSON", [columns, fields])
        program.check(set(fields) - STRUCTURES - {"arguments"} <= set(columns), f"lode {' '.join(words)}: fields of JSON are columns",
                      sorted(set(fields) - set(columns)))


def tables_of_a_diagnosis_have_the_values_of_json(program):
    words = ["diagnose", "DB", "--base", "OTHER"]
    answer = cli.parse_json(run(program, words, "--json").out)
    for name in ("activities", "statements", "quality", "efficiency", "gone", "rules"):
        header, rows = cli.csv_rows(run(program, words, "--csv", "--table", name).out)
        wanted = [answer[name]] if isinstance(answer[name], dict) else answer[name]
        wrong = [(key, cell, row[key]) for row, cells in zip(wanted, rows) for key, cell in zip(header, cells) if not is_same(cell, row[key])]
        program.check((wanted or name in MAY_BE_EMPTY) and len(rows) == len(wanted) and not wrong, f"lode diagnose --csv --table {name}: the values of JSON", wrong)


def is_same(cell, value):
    if isinstance(value, bool):
        return cell == str(value).lower()
    if isinstance(value, float | int):
        return math.isclose(float(cell), value, rel_tol=1e-12)
    return cell == (value or "")


def unknown_tables_are_refused(program):
    program.says(program.run("profiles", "made-small", "--csv", "--table", "nothing"), 2,
                 "the answer has no table 'nothing'; there are: rows, distribution", "--table with an unknown name")
    program.says(program.run("top", "made-small", "--table", "rows"), 2, r"--table is for --csv \(see 'lode help top'\)",
                 "--table without --csv")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, header_lines_are_as_documented, columns_are_fields_of_json, tables_of_a_diagnosis_have_the_values_of_json, unknown_tables_are_refused))
