#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Parquet files of tables of chance, whose sizes lie around the borders of eights, pages and row groups: a slow reader finds
every cell, and DuckDB, hyparquet and Apache's Rust reader agree with it. Files that were broken on purpose are refused.
LODE_SHARE selects a part of the tables and of the faults.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "tools"))

from parquet_reader import Broken, Table  # noqa: E402
from share import Share  # noqa: E402
from tap import Tap  # noqa: E402
from validators import run, where  # noqa: E402


def as_text(value):
    if value is None:
        return None
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float):
        return "nan" if math.isnan(value) else repr(value)
    return str(value)


def expected_of(path, table):
    """The cells as the maker of the case wrote them, in the form of as_text."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = json.loads(line)
        rows.append([None if c is None else as_text(float(c)) if table.elements[i][1] == 5 else c
                     for i, c in enumerate(cells)])
    return rows


def differs(path, tables):
    """What is wrong with a case; None if nothing is. Its table goes to `tables`."""
    try:
        table = tables[path] = Table(path)
    except Broken as broken:
        return str(broken)
    expected = expected_of(path.with_suffix(".jsonl"), table)
    found = [[as_text(cell) for cell in row] for row in table.rows()]
    if len(found) != len(expected):
        return f"{len(found)} rows, not {len(expected)}"
    for number, (got, wanted) in enumerate(zip(found, expected)):
        if got != wanted:
            return f"row {number}: {str(got)[:300]}, not {str(wanted)[:300]}"
    return None


def foreign(path, table):
    """What DuckDB, hyparquet and Rust say against a case; None if nothing."""
    status, duck = run("duckdb.mjs", path)
    if status:
        return duck["error"]
    status, other = run("parquet.mjs", path)
    if status:
        return other["error"]
    for name in table.names:
        cells = table.columns[name]
        nulls = cells.count(None)
        if not duck["columns"][name]["nulls"] == other["columns"][name]["nulls"] == nulls:
            return f"{name}: NULLs {duck['columns'][name]}, {other['columns'][name]}, {nulls}"
        kinds = {type(c) for c in cells if c is not None}
        if kinds == {int} and duck["columns"][name]["sum"] != str(sum(c for c in cells if c is not None)):
            return f"{name}: sum {duck['columns'][name]['sum']}"
        if kinds == {str} and duck["columns"][name]["greatest"] != max(c for c in cells if c is not None):
            return f"{name}: greatest text"
    if not duck["rows"] == other["rows"] == len(table.rows()):
        return "rows"
    return None


def break_file(data, how):
    """A file with a fault."""
    if how == "cut":
        return data[:-20]
    if how == "no footer":
        return data[:len(data) // 2]
    if how == "length":
        return data[:-8] + b"\xff\xff\xff\x7f" + data[-4:]
    middle = 4 + (len(data) - int.from_bytes(data[-8:-4], "little") - 12) // 2
    return data[:middle] + bytes([data[middle] ^ 0x55]) + data[middle + 1:]


def refuses(tap, path, share):
    """Every reader refuses broken files. Of a changed byte, the sum of a compressed page tells."""
    data = path.read_bytes()
    broken = path.with_name("broken.parquet")
    for how in share.of(("cut", "no footer", "length", "changed byte")):
        broken.write_bytes(break_file(data, how))
        try:
            Table(broken)
            verdicts = ["the slow reader accepts it"]
        except (Broken, IndexError, KeyError, UnicodeDecodeError):
            verdicts = []
        if where():
            verdicts += [script for script in ("duckdb.mjs", "parquet.mjs") if run(script, broken)[0] == 0]
        tap.check(not verdicts, f"a broken file is refused: {how}", verdicts)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", required=True, help="the program that makes them")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--foreign", type=int, default=4, help="of these, how many other readers see")
    arguments = parser.parse_args()
    tap = Tap()
    share = Share.of_cases()
    count, others = max(12, arguments.count // share.parts), max(1, arguments.foreign // share.parts)
    with tempfile.TemporaryDirectory(prefix="lode-parquet-") as folder:
        subprocess.run([arguments.cases, folder, str(share.part * count), str(count)], check=True)
        paths = sorted(Path(folder).glob("*.parquet"), key=lambda p: int(p.stem))
        tables = {}
        faults = [f"case {p.stem}: {found}" for p in paths if (found := differs(p, tables))]
        if not tap.check(not faults, f"{len(paths)} tables read back cell by cell", faults[:10]):
            return tap.finish()
        seen = [e for table in tables.values() for e in table.encodings]
        tap.check(any(d for _, d, _ in seen) and any(not d for _, d, _ in seen), "dictionaries and plain pages were among them")
        if share.parts == 1:
            tap.check(any(n > 1 for _, _, n in seen), "chunks of several pages were among them")
        largest = sorted(paths, key=lambda p: p.stat().st_size)
        if where():
            chosen = [largest[-1], *paths[::max(1, len(paths) // others)]]
            faults = [f"case {p.stem}: {found}" for p in chosen if (found := foreign(p, tables[p]))]
            tap.check(not faults, f"DuckDB, hyparquet and Apache's Rust reader agree on {len(chosen)} of them", faults)
        else:
            tap.skip("DuckDB, hyparquet and Apache's Rust reader agree", "no validators: set LODE_VALIDATORS")
        broken = next((p for p in largest if p.stat().st_size > 2000 and tables[p].codec == 6), None)
        if broken:
            refuses(tap, broken, share)
        else:
            tap.skip("broken files are refused", "no zstd in this build")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
