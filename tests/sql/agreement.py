#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Every table of stores of the corpus: `lode sql` has the rows of the Parquet files and of Lode's other answers (dump, replay, top,
search), by a digest of each column and of all rows. --stores 0 takes all stores; LODE_SHARE selects a part of those that are chosen.
"""

import hashlib
import sys
import tempfile
from pathlib import Path

import stores

sys.path.insert(0, str(stores.HERE.parent / "export"))

import table_readers as readers  # noqa: E402
import tables as exported  # noqa: E402
from parquet_reader import BYTE_ARRAY, DOUBLE  # noqa: E402


def digest(values):
    """The same for any order of rows."""
    total = 0
    for value in values:
        total += int.from_bytes(hashlib.blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
    return total % (1 << 64)


def cell(value, column):
    if value is None or column.kind == BYTE_ARRAY:
        return value
    return float(value) if column.kind == DOUBLE else int(value)


def from_sql(lode, store, schema):
    """The tables of a store as `lode sql` has them, with the types of the Parquet files."""
    names = list(schema)
    tables = {}
    for name, (columns, rows) in zip(names, lode.results(store, *(f'select * from "{n}"' for n in names))):
        known = schema[name][0]
        if columns != [c.name for c in known]:
            raise ValueError(f"{name}: columns {columns}")
        tables[name] = (known, [tuple(map(cell, row, known)) for row in rows])
    return tables


def differences(parquet, sql):
    faults = []
    for name, (columns, rows) in parquet.items():
        if name == "store":
            # Files do not know the path.
            sql[name] = (columns, [(*r[:-1], None) for r in sql[name][1]])
        rows = readers.without_infinite(readers.without_nan(rows))
        found = sql[name][1]
        if len(rows) != len(found):
            faults.append(f"{name}: {len(found)} rows instead of {len(rows)}")
            continue
        for i, column in enumerate(columns):
            if digest(r[i] for r in rows) != digest(r[i] for r in found):
                faults.append(f"{name}.{column.name}")
        if digest(map(tuple, rows)) != digest(found):
            faults.append(f"{name}: rows")
    return faults


def check_store(tap, lode, program, store):
    name = f"{store.parent.name}/{store.name}"
    with tempfile.TemporaryDirectory(prefix="lode-sql-") as scratch:
        folder = Path(scratch) / "parquet"
        done = program.call("export", store, "--format", "parquet", "-o", folder)
        if done.returncode:
            refused = lode.call("sql", store, "select count(*) from store").returncode != 0 or program.call("check", store).returncode != 0
            tap.check(refused, f"{name} is refused, and is not sound", [done.stderr.decode(errors="replace")[:300]])
            return 0
        parquet = readers.from_parquet(folder)
        sql = from_sql(lode, store, parquet)
        faults = differences(parquet, sql)
        rows = sum(len(r) for _, r in parquet.values())
        tap.check(not faults, f"{name}: {rows} rows of {len(parquet)} tables are those of Parquet", faults[:10])
        faults = exported.same_answers(program, store, sql)
        tap.check(not faults, f"{name}: rows are those of Lode's other answers", faults[:10])
        return rows


def body(tap, lode, options):
    program = exported.Program(options.lode)
    rows, chosen = 0, exported.stores_of(options.stores)
    for store in chosen:
        rows += check_store(tap, lode, program, store)
    tap.check(rows > 0 or not chosen, f"{rows} rows of {len(chosen)} stores were compared")


if __name__ == "__main__":
    sys.exit(stores.main(body, needs=(stores.CORPUS,), stores=4))
