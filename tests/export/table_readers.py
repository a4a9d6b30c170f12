# SPDX-License-Identifier: BSD-3-Clause
"""
Exported tables as {table: (columns, rows)}, read with Python's own csv, json and sqlite3 and with the slow Parquet reader.
Cells become int, float, str or None; addresses and times become signed numbers, truths 0 and 1.
"""

import csv
import json
import math
import sqlite3
from pathlib import Path

from parquet_reader import BOOLEAN, BYTE_ARRAY, DOUBLE, Table

# Numbers that are hexadecimal where numbers are text.
ADDRESSES = {"address", "physical"}


class Column:
    def __init__(self, name, kind, optional):
        self.name, self.kind, self.optional = name, kind, optional


def signed(number):
    return number - (1 << 64) if number >= 1 << 63 else number


def from_parquet(folder):
    tables = {}
    for path in sorted(Path(folder).glob("*.parquet")):
        table = Table(path)
        columns = [Column(n, e[1], table.optional[n]) for n, e in zip(table.names, table.elements)]
        tables[path.stem] = (columns, [tuple(int(c) if isinstance(c, bool) else c for c in row) for row in table.rows()])
    return tables


def _cell(text, column):
    """A cell of a CSV file. An empty text and NULL look alike."""
    if column.kind == BYTE_ARRAY:
        return text if text or not column.optional else None
    if text == "":
        return None
    if column.kind == BOOLEAN:
        return {"true": 1, "false": 0}[text]
    if column.kind == DOUBLE:
        return float(text)
    return signed(int(text, 16)) if column.name in ADDRESSES else int(text)


def _row(row, columns):
    if len(row) != len(columns):
        raise ValueError(f"{len(row)} cells in {len(columns)} columns: {row}")
    return tuple(map(_cell, row, columns))


def from_csv(folder, schema):
    tables = {}
    for path in sorted(Path(folder).glob("*.csv")):
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.reader(file, strict=True)
            header = next(reader)
            columns = schema[path.stem][0]
            if header != [c.name for c in columns]:
                raise ValueError(f"{path}: columns {header}")
            tables[path.stem] = (columns, [_row(row, columns) for row in reader])
    return tables


def _member(value, column):
    if value is None:
        return None
    if column.kind == BYTE_ARRAY:
        return value
    if isinstance(value, str):
        return signed(int(value, 16)) if column.name in ADDRESSES else int(value)
    if isinstance(value, bool):
        return int(value)
    if column.kind == DOUBLE and not isinstance(value, float):
        raise ValueError(f"{column.name}: {value} has no fraction")
    if column.kind != DOUBLE and abs(value) > 2 ** 53 - 1 and column.name not in ("duration_ns", "self_ns"):
        raise ValueError(f"{column.name}: {value} is not exact in a double")
    return value


def from_jsonl(folder, schema):
    tables = {}
    for path in sorted(Path(folder).glob("*.jsonl")):
        columns = schema[path.stem][0]
        rows = []
        for line in path.read_text(encoding="utf-8").splitlines():
            item = json.loads(line, parse_constant=lambda text: 1 / 0)
            if list(item) != [c.name for c in columns]:
                raise ValueError(f"{path}: keys {list(item)}")
            rows.append(tuple(_member(item[c.name], c) for c in columns))
        tables[path.stem] = (columns, rows)
    return tables


def from_sqlite(path, schema):
    tables = {}
    link = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    for name, in link.execute("select name from sqlite_master where type = 'table'").fetchall():
        columns = schema[name][0]
        cursor = link.execute(f"select * from {name}")
        if [c[0] for c in cursor.description] != [c.name for c in columns]:
            raise ValueError(f"{name}: columns {cursor.description}")
        tables[name] = (columns, cursor.fetchall())
    link.close()
    return tables


def without_nan(rows):
    return [tuple(None if isinstance(c, float) and math.isnan(c) else c for c in row) for row in rows]


def without_infinite(rows):
    return [tuple(None if isinstance(c, float) and not math.isfinite(c) else c for c in row) for row in rows]


def first_difference(found, expected):
    """None if rows are the same, with the same types and signs of zero."""
    if len(found) != len(expected):
        return f"{len(found)} rows, not {len(expected)}"
    for number, (got, wanted) in enumerate(zip(found, expected)):
        if got != wanted and repr(got) != repr(wanted):
            return f"row {number}: {str(got)[:200]}, not {str(wanted)[:200]}"
    return None
