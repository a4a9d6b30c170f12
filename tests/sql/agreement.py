#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Every table of stores of the corpus, row by row: what `lode sql` prints, the Arrow C stream (read by ctypes), the columns of the Python
package, the Parquet files (read by DuckDB and by a reader of our own) and the CSV files have the same digest of each column, and Lode's
other answers (dump, replay, top, search) have these rows. --stores 0 takes all stores, profiles that are imported too; LODE_SHARE
selects a part of those that are chosen. Without the package or DuckDB, what needs them is skipped.
"""

import hashlib
import math
import os
import sys
import tempfile
import threading
import warnings
from collections import Counter
from pathlib import Path

import stores

sys.path[:0] = [str(stores.HERE.parent / name) for name in ("export", "python")]

import arrow_reader  # noqa: E402
import table_readers as readers  # noqa: E402
import tables as exported  # noqa: E402
import validators  # noqa: E402
from parquet_reader import BOOLEAN, BYTE_ARRAY, DOUBLE  # noqa: E402
from share import Share  # noqa: E402

# The library of a sanitizer is for the interpreter only, not for the programs that it starts.
os.environ.pop("LD_PRELOAD", None)

try:
    import lode as package
except ImportError:
    package = None
try:
    import numpy
except ImportError:
    numpy = None

# Files have values by profile and totals by context; a scan takes the order that the store has.
SORTED = ("value", "total")
STATISTICS = ("select path_in_schema as name, stats_min_value as least, stats_max_value as greatest, stats_null_count::varchar as nulls, "
              "encodings")
STACK, DEEPEST = 512 << 20, 200000


# ---- cells as text, and digests ----


def text_of(cell):
    """Numbers as 17 digits say them exactly; NULL is unlike all text."""
    if cell is None:
        return "~"
    if isinstance(cell, str):
        return "=" + cell
    return "=nan" if cell != cell else f"={cell:.17g}" if isinstance(cell, float) else f"={readers.signed(int(cell))}"


def finite(cell):
    """As SQL and JSON have numbers: what is not finite is NULL."""
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def digests(columns):
    """{column: digest} of {column: cells}."""
    return {name: hashlib.md5("\n".join(map(text_of, cells)).encode()).hexdigest() for name, cells in columns.items()}


def in_order(columns):
    """The same rows by all their cells."""
    try:
        rows = sorted(zip(*columns.values()))
    except TypeError:  # NULLs
        rows = sorted(zip(*columns.values()), key=lambda row: tuple((cell is not None, cell) for cell in row))
    return dict(zip(columns, map(list, zip(*rows)))) if rows else columns


def duckdb_text(column):
    name = f'"{column.name}"'
    if column.kind == DOUBLE:
        return f"case when isnan({name}) then 'nan' else printf('%.17g', {name}) end"
    return name if column.kind == BYTE_ARRAY else f"{name}::int::varchar" if column.kind == BOOLEAN else f"{name}::varchar"


# ---- the ways: each gives {table: {column: cells}} ----


def by_column(tables):
    return {name: dict(zip((c.name for c in columns), map(list, zip(*rows)))) if rows else {c.name: [] for c in columns}
            for name, (columns, rows) in tables.items()}


def from_package(store):
    """(columns, Arrow stream, arrays) of every table but functions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with package.open(store) as opened:
            asked = {row.name: opened.table(row.name) for row in opened.tables if not row.function}
            arrow = {name: arrow_reader.consume(table) for name, table in asked.items()}
            if any(table._read is None for table in asked.values()):
                raise ValueError("a stream was made of columns")
            known = {name: {column: list(table._raw(column)) for column in table.columns} for name, table in asked.items()}
            return known, arrow, in_place(opened) if numpy and isinstance(opened, package.Database) else {}


def in_place(db):
    """Values and samples as arrays in the files have them."""
    value = {"profile_id": [], "context_id": [], "metric_id": [], "value": []}
    sample = {"profile_id": [], "time_ns": [], "context_id": []}
    for profile in range(1, len(db.profiles)):
        values, samples = db.values(profile), db.samples(profile)
        for name, cells in (("profile_id", [profile] * len(values)), ("context_id", db.value_contexts(profile).tolist()),
                            ("metric_id", values["metric"].tolist()), ("value", values["value"].tolist())):
            value[name] += cells
        if samples is not None:
            for name, cells in (("profile_id", [profile] * len(samples)), ("time_ns", samples["time"].tolist()), ("context_id", samples["context"].tolist())):
                sample[name] += cells
    return {"value": value, "sample": sample}


def cell_like(sample, cell):
    """A cell of JSON, where large integers are text and doubles may lack a fraction, with the type of another way's cell."""
    if cell is None or sample is None or isinstance(sample, str):
        return cell
    return float(cell) if isinstance(sample, float) else int(cell)


def from_sql(lode, store, known):
    names = list(known)
    tables = {}
    for name, (columns, rows) in zip(names, lode.results(store, *(f'select * from "{n}"' for n in names))):
        cells = dict(zip(columns, map(list, zip(*rows)))) if rows else {c: [] for c in columns}
        samples = {column: next((cell for cell in known[name].get(column, ()) if cell is not None), None) for column in columns}
        tables[name] = {column: [cell_like(samples[column], cell) for cell in found] for column, found in cells.items()}
    return tables


# ---- comparing ----


class Agreement:
    """One store: faults, and the cells that each way has."""

    def __init__(self, known):
        self.known = known
        self.faults, self.cells = [], Counter()

    def compare(self, way, tables, names=None, is_finite=False, is_without_path=False):
        names = self.known if names is None else names
        if set(tables) != set(names):
            self.faults.append(f"{way}: tables {sorted(set(tables) ^ set(names))}")
        for name in set(tables) & set(names):
            expected, found = dict(self.known[name]), tables[name]
            if is_finite:
                expected = {column: list(map(finite, cells)) for column, cells in expected.items()}
            if name == "store" and is_without_path:
                expected["path"] = [None] * len(expected["path"])  # files do not know it
            if way == "arrays":
                expected = {column: expected[column] for column in found}  # a file has no durations
            if list(expected) != list(found):
                self.faults.append(f"{way} {name}: columns {list(found)}")
                continue
            if name in SORTED or way == "arrays":
                expected, found = in_order(expected), in_order(found)
            ours, theirs = digests(expected), digests(found)
            self.faults += [f"{way} {name}.{column}: {len(found[column])} cells, {len(expected[column])} expected"
                            for column in ours if ours[column] != theirs[column]]
            self.cells[way] += sum(map(len, found.values()))

    def ask_duckdb(self, folder, schema, files):
        """DuckDB digests the cells itself."""
        names = list(files)
        queries = ["select " + ", ".join(
            f"coalesce(md5(string_agg(coalesce('=' || {duckdb_text(c)}, '~'), chr(10) order by file_row_number)), md5('')) as \"{c.name}\""
            for c in schema[name][0]) + f" from read_parquet('{folder}/{name}.parquet', file_row_number=true)" for name in names]
        queries += [f"{STATISTICS} from parquet_metadata('{folder}/{name}.parquet')" for name in names]
        status, said = validators.run("duckdb.mjs", folder / "store.parquet", *queries)
        if status:
            self.faults.append(f"DuckDB: {said['error']}")
            return
        for name, groups in zip(names, said["queries"][len(names):]):
            for column in schema[name][0]:
                self.compare_statistics(f"DuckDB {name}.{column.name}", column, files[name][column.name], [g for g in groups if g["name"] == column.name])
        for name, (found,) in zip(names, said["queries"]):
            ours = digests(files[name])
            self.faults += [f"DuckDB {name}.{column}" for column in ours if ours[column] != found[column]]
            self.cells["DuckDB"] += sum(map(len, files[name].values()))


    def compare_statistics(self, what, column, cells, groups):
        """Bounds and NULLs of row groups, as DuckDB reads them, and those of the cells; dictionaries, which it has read."""
        found = [cell for cell in cells if cell is not None]
        if not cells:
            return
        if sum(int(group["nulls"]) for group in groups) != len(cells) - len(found):
            self.faults.append(f"{what}: NULLs of {groups}")
        self.cells["columns with dictionaries"] += any("DICTIONARY" in group["encodings"] for group in groups)
        if column.kind in (BOOLEAN, BYTE_ARRAY) or not found or any(cell != cell for cell in found):
            return
        parse = float if column.kind == DOUBLE else int
        bounds = min(parse(g["least"]) for g in groups if g["least"] is not None), max(parse(g["greatest"]) for g in groups if g["greatest"] is not None)
        if bounds != (min(found), max(found)):
            self.faults.append(f"{what}: bounds {bounds}, not {min(found)} and {max(found)}")
        self.cells["columns with statistics"] += 1


def check_store(tap, lode, program, store, cells):
    name = f"{store.parent.name}/{store.name}"
    store = store / "uftrace.data" if (store / "uftrace.data").is_dir() else store
    with tempfile.TemporaryDirectory(prefix="lode-agreement-") as scratch:
        folder = Path(scratch)
        for form in ("parquet", "csv"):
            done = program.call("export", store, "--format", form, "-o", folder / form)
            if done.returncode:
                refused = lode.call("sql", store, "select count(*) from store").returncode != 0 or program.call("check", store).returncode != 0
                tap.check(refused, f"{name} is refused, and is not sound", [done.stderr.decode(errors="replace")[:300]])
                return
        schema = readers.from_parquet(folder / "parquet")
        files = by_column(schema)
        try:
            known, arrow, arrays = from_package(store) if package else (files, None, {})
            sql = from_sql(lode, store, known)
        except (OSError, RuntimeError, package.Error if package else OSError) as error:
            tap.check(program.call("check", store).returncode != 0, f"{name} is refused while it is read, and is not sound", [str(error)])
            return
        agreement = Agreement(known)
        agreement.compare("Parquet", files, files, is_without_path=bool(package))
        agreement.compare("CSV", by_column(readers.from_csv(folder / "csv", schema)), files, is_without_path=True)
        if not package:
            sql["store"]["path"] = [None]
        agreement.compare("SQL", sql, is_finite=True)
        if package:
            agreement.compare("Arrow", arrow)
            agreement.compare("arrays", arrays, arrays)
            agreement.cells["Python"] = sum(len(column) for table in known.values() for column in table.values())
        if validators.where():
            agreement.ask_duckdb(folder / "parquet", schema, files)
        ways = ", ".join(f"{way} {count}" for way, count in sorted(agreement.cells.items()))
        tap.check(not agreement.faults, f"{name}: all cells of {len(known)} tables are the same: {ways}", agreement.faults[:10])
        faults = in_deep_stack(lambda: exported.same_answers(program, store, schema))
        tap.check(not faults, f"{name}: rows are those of Lode's other answers", faults[:10])
        cells.update(agreement.cells)
        cells["stores"] += 1


def in_deep_stack(function):
    """What a function returns that reads JSON as deep as a call tree."""
    found, limit = [], sys.getrecursionlimit()
    threading.stack_size(STACK)
    sys.setrecursionlimit(DEEPEST)
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    sys.setrecursionlimit(limit)
    threading.stack_size(0)
    return found[0]


def all_stores(program):
    """Whatever in the corpus opens: directories, and files of other tools."""
    marks = {path.parent for name in ("meta.db", "experiment.xml", "info", "profile.db") for path in stores.CORPUS.glob(f"**/{name}")}
    marks |= {path.parent for path in stores.CORPUS.glob("zorka/**/*.*") if path.is_file()}
    marks |= {path for pattern in ("folded/*.folded", "pprof/*.*", "perf/*/*.data") for path in stores.CORPUS.glob(pattern)}
    return [path for path in sorted(marks) if "measurements" not in path.parts and program.call("info", path).returncode == 0]


def imports_of():
    """A few of the files that are imported, others with other shares."""
    share = Share.of_cases()
    found = [sorted(stores.CORPUS.glob(pattern)) for pattern in ("folded/*.folded", "pprof/go-*")]
    return share.of([files[share.part % len(files)] for files in found if files])


def check_damaged(tap, lode, program):
    """Its cct.db is damaged: values come from profile.db where their order does not matter, and what needs cct.db is refused."""
    store = stores.CORPUS / "hpctoolkit" / "pre-a" / "viewer-loop-inline-v1"
    if not store.exists():
        tap.skip(store.name, "not in the corpus")
        return
    cells = Counter()
    check_store(tap, lode, program, store, cells)
    tap.check(cells["SQL"] > 0, "a damaged cct.db hides no value of profile.db", [cells])
    done = lode.call("sql", store, "select context_id, count(*) from value group by 1")
    tap.check(done.returncode == 2 and "cct.db" in done.stderr, "groups by context of a damaged cct.db are refused", [done.stdout, done.stderr])


def body(tap, lode, options):
    program = exported.Program(options.lode)
    check_damaged(tap, lode, program)
    if not package:
        tap.skip("Arrow and Python", "this build has no Python package")
    if not validators.where():
        tap.skip("Parquet as DuckDB reads it", "no validators: set LODE_VALIDATORS")
    chosen = exported.stores_of(options.stores) + imports_of() if options.stores else all_stores(program)
    cells = Counter()
    for store in chosen:
        if options.only in str(store):
            check_store(tap, lode, program, store, cells)
    count = cells.pop("stores", 0)
    tap.check(count or not chosen, f"cells of {count} stores: {', '.join(f'{way} {n:,}' for way, n in sorted(cells.items()))}")


if __name__ == "__main__":
    sys.exit(stores.main(body, needs=(stores.CORPUS,), stores=4, only=""))
