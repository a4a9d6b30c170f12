#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Rows that are equal in all columns: each of them counts, also where SQLite takes a condition with OR apart and leaves out rows that it
has seen, and in outer joins. The stores are synthetic, with samples and calls that are repeated; the reference is plain SQLite.
"""

import itertools
import struct
import sys
import tempfile
from pathlib import Path

import stores
from stores import as_json

TABLES = {"sample": ("profile_id", "time_ns", "context_id", "duration_ns"), "event": ("track_id", "time_ns", "depth", "function_id"),
          "call": ("track_id", "begin_ns", "duration_ns", "function_id")}
SAMPLE = 12
RECORD = 16


def repeat_samples(store):
    """The first samples of each trace line are equal; then two take turns at the same time."""
    path = store / "trace.db"
    data = bytearray(path.read_bytes())
    table = struct.unpack_from("<QQ", data, 0x10)[1]
    lines, count, size = struct.unpack_from("<QIB", data, table)
    for i in range(count):
        start = struct.unpack_from("<IIQQ", data, lines + i * size)[2]
        a, b = (bytes(data[start + k * SAMPLE:start + (k + 1) * SAMPLE]) for k in (0, 5))
        b = a[:8] + b[8:]
        for k, sample in enumerate((a, a, a, a, b, a, b, a)):
            data[start + k * SAMPLE:start + (k + 1) * SAMPLE] = sample
    path.write_bytes(data)


def repeat_calls(store):
    """Pairs of calls without callees that follow each other become one call, twice, and without a duration."""
    for path in store.glob("*.dat"):
        data = bytearray(path.read_bytes())
        records = [struct.unpack_from("<QQ", data, at) for at in range(0, len(data) - RECORD + 1, RECORD)]
        i = 0
        while i + 4 <= len(records):
            kinds, depths = [bits & 3 for _, bits in records[i:i + 4]], {bits >> 6 & 1023 for _, bits in records[i:i + 4]}
            if kinds == [0, 1, 0, 1] and len(depths) == 1 and not any(bits & 4 for _, bits in records[i:i + 4]):
                for k in range(4):
                    struct.pack_into("<QQ", data, (i + k) * RECORD, records[i][0], records[i + k % 2][1])
                i += 4
            else:
                i += 1
        path.write_bytes(data)


def conditions(plain, table):
    """Overlapping conditions on columns that are looked up, and on others."""
    columns = TABLES[table]
    row = plain.execute(f"select {', '.join(columns)} from {table} group by {', '.join(columns)} having count(*) > 1").fetchone()
    yield from (f"{c} = {v}" for c, v in zip(columns, row))
    yield f"{columns[0]} in ({row[0]}, {row[0] + 1})"
    yield f"{columns[1]} <= {row[1]}"
    yield f"{columns[1]} between {row[1]} and {row[1] + 1000}"


def statements(plain, table):
    every = list(conditions(plain, table))
    for count in (2, 3):
        for parts in itertools.permutations(every, count):
            yield f"select count(*), sum({TABLES[table][1]} % 1000003) from {table} where {' or '.join(parts)}"
    for a in every:
        yield f"select count(*), count(b.{TABLES[table][0]}) from {table} a full join {table} b on a.{TABLES[table][0]} = b.{TABLES[table][0]} and a.{a}"
        yield f"select count(*), count(a.{TABLES[table][0]}) from (select 1 x) o right join {table} a on a.{a}"


def check(tap, lode, store, folder, table):
    plain = lode.plain(store, folder)
    # Calls differ in their ids, and in nothing else.
    columns = ", ".join(TABLES[table]) if table == "call" else "*"
    equal = plain.execute(f"select count(*) - (select count(*) from (select distinct {columns} from {table})) from {table}").fetchone()[0]
    texts = list(statements(plain, table))
    wrong = [t for t, (_, rows) in zip(texts, lode.results(store, *texts)) if rows != [as_json(r) for r in plain.execute(t)]]
    tap.check(not wrong and equal > 5, f"{table}: {equal} rows that are equal to others count in {len(texts)} statements", wrong[:5])
    explained = lode.call("sql", store, "--explain", texts[0]).stdout
    tap.check("MULTI-INDEX OR" in explained or table != "sample", f"{table}: parts of a condition are looked up", [explained])


def body(tap, lode, options):
    with tempfile.TemporaryDirectory() as folder:
        database, recording = Path(folder) / "database", Path(folder) / "recording"
        for kind, store, more in (("database", database, ("--profiles", 4, "--contexts", 30, "--samples", 20)),
                                  ("recording", recording, ("--records", 400, "--tasks", 3, "--functions", 5))):
            done = lode.call("synth", kind, *more, "-o", store)
            if done.returncode != 0:
                raise RuntimeError(done.stderr)
        repeat_samples(database)
        repeat_calls(recording)
        for store, table in ((database, "sample"), (recording, "event"), (recording, "call")):
            check(tap, lode, store, folder, table)


if __name__ == "__main__":
    sys.exit(stores.main(body))
