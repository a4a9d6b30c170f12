#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Relational tables and Arrow streams: tables hold what the arrays in the files hold, and a consumer of the Arrow C stream interface that
knows nothing of the package (ctypes) reads what the tables hold, aligned, with NULLs, and keeps it when everything else is gone.
"""

import ctypes as c
import gc
import sqlite3
import threading

import lode
import support


class Schema(c.Structure):
    pass


class Array(c.Structure):
    pass


class Stream(c.Structure):
    pass


Schema._fields_ = [("format", c.c_char_p), ("name", c.c_char_p), ("metadata", c.c_char_p), ("flags", c.c_int64), ("n_children", c.c_int64),
                   ("children", c.POINTER(c.POINTER(Schema))), ("dictionary", c.POINTER(Schema)),
                   ("release", c.CFUNCTYPE(None, c.POINTER(Schema))),
                   ("private_data", c.c_void_p)]
Array._fields_ = [("length", c.c_int64), ("null_count", c.c_int64), ("offset", c.c_int64), ("n_buffers", c.c_int64), ("n_children", c.c_int64),
                  ("buffers", c.POINTER(c.c_void_p)), ("children", c.POINTER(c.POINTER(Array))), ("dictionary", c.POINTER(Array)),
                  ("release", c.CFUNCTYPE(None, c.POINTER(Array))), ("private_data", c.c_void_p)]
Stream._fields_ = [("get_schema", c.CFUNCTYPE(c.c_int, c.POINTER(Stream), c.POINTER(Schema))),
                   ("get_next", c.CFUNCTYPE(c.c_int, c.POINTER(Stream), c.POINTER(Array))), ("get_last_error", c.c_void_p),
                   ("release", c.CFUNCTYPE(None, c.POINTER(Stream))), ("private_data", c.c_void_p)]
TYPES = {b"C": c.c_uint8, b"S": c.c_uint16, b"I": c.c_uint32, b"L": c.c_uint64, b"l": c.c_int64, b"i": c.c_int32, b"g": c.c_double}
pointer_of = c.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = c.c_void_p, [c.py_object, c.c_char_p]


def bit(address, number):
    return bool(c.c_uint8.from_address(address + number // 8).value >> number % 8 & 1)


def items(kind, array):
    """The elements of one column."""
    count, buffers, format = array.length, array.buffers, kind.format
    if format in (b"U", b"u"):
        offsets = ((c.c_int64 if format == b"U" else c.c_int32) * (count + 1)).from_address(buffers[1])
        found = [c.string_at(buffers[2] + offsets[i], offsets[i + 1] - offsets[i]).decode() for i in range(count)]
    elif format == b"b":
        found = [bit(buffers[1], i) for i in range(count)]
    else:
        found = list((TYPES[format] * count).from_address(buffers[1]))
    if kind.dictionary:
        words = items(kind.dictionary.contents, array.dictionary.contents)
        assert len(set(words)) == len(words), "a dictionary has each word once"
        found = [words[i] if i < len(words) else None for i in found]
    if buffers[0]:
        found = [item if bit(buffers[0], i) else None for i, item in enumerate(found)]
        assert array.null_count in (-1, found.count(None))
    assert all(buffers[i] is None or buffers[i] % 64 == 0 for i in range(array.n_buffers)), "buffers are aligned"
    return found


def batches_of(stream):
    """All batches, to be released."""
    found = []
    while True:
        array = Array()
        assert stream.contents.get_next(stream, array) == 0
        if not array.release:
            return found
        found.append(array)


def opened(table):
    """The capsule and the stream in it."""
    capsule = table.__arrow_c_stream__()
    return capsule, c.cast(pointer_of(capsule, b"arrow_array_stream"), c.POINTER(Stream))


def consume(table):
    """What a stream holds, as columns. Released on another thread, after the capsule."""
    capsule, stream = opened(table)
    schema = Schema()
    assert stream.contents.get_schema(stream, schema) == 0 and schema.format == b"+s"
    batches = batches_of(stream)
    del stream, capsule
    gc.collect()
    columns = {}
    for number in range(schema.n_children):
        kind = schema.children[number].contents
        columns[kind.name.decode()] = [item for array in batches for item in items(kind, array.children[number].contents)]

    def release():
        for array in batches:
            array.release(array)
        schema.release(schema)
    thread = threading.Thread(target=release)
    thread.start()
    thread.join()
    assert not any(array.release for array in batches) and not schema.release
    return columns


def expected(table):
    return {name: list(data) if isinstance(data, list) else data.tolist() for name, data in table._columns.items()}


def test_streams(tests):
    for store in ("solver", "thumbs", "shop"):
        with lode.open(tests.folder / "demo" / store) as opened:
            asked = [opened.top(), opened.tree(), opened.top()[2:7], opened.top().sort(opened.top().columns[0]), lode.check(opened.path),
                     opened.top()[:0], *(opened.table(row.name) for row in opened.tables if not row.function)]
            wrong = [table.title for table in asked if consume(table) != expected(table)]
            rows = sum(len(table) for table in asked)
            tests.check(not wrong, f"{store}: {len(asked)} streams, {rows} rows", wrong)


def test_stores(tests):
    """Streams of a store come from the library: no column is read in Python, and the store stays as long as they do."""
    db = lode.open(tests.folder / "demo" / "solver")
    contexts = db.table("context")
    schema, (capsule, stream) = Schema(), opened(contexts)
    stream.contents.get_schema(stream, schema)
    texts = {schema.children[i].contents.name for i in range(schema.n_children) if schema.children[i].contents.dictionary}
    schema.release(schema)
    tests.check(b"name" in texts and contexts._read is not None, "text has dictionaries, and no column was read", texts)
    for words in ({"columns": ["value", "metric_id"]}, {"columns": ["value", "profile_id"], "limit": 5}, {"limit": 70000}, {"profile_id": 3, "limit": 7},
                  {"columns": "value"}, {"columns": ["metric_id", "value", "metric_id"]}):
        table = db.table("value", **words)
        streamed = consume(table)
        tests.check(streamed == expected(table) and list(streamed) == table.columns, f"value: {words}")
    samples = db.table("context", limit=20)
    tests.check(consume(samples) == expected(samples), "NULLs before a limit")
    try:
        db.close()
        tests.check(False, "a stream keeps the store open")
    except BufferError:
        tests.check(True, "a stream keeps the store open")
    store = db._store
    with db:
        unread = db.table("value")
    tests.check(db.closed and store.users == 1 and unread._read is None and len(consume(unread)["value"]) == len(unread) > 0,
                "a table that was not read outlives its store", [store.users])
    batches = batches_of(stream)

    def release():
        stream.contents.release(stream)
    thread = threading.Thread(target=release)
    thread.start()
    thread.join()
    tests.check(store.users == 0, "a stream that another thread releases closes it", [store.users])
    tests.check(sum(array.length for array in batches) == len(contexts), "and its batches are still good")
    for array in batches:
        array.release(array)
    del capsule
    try:
        db.table("value")
        tests.check(False, "a closed store has no tables")
    except ValueError:
        tests.check(True, "a closed store has no tables")


def test_nulls(tests):
    table = lode.Table({"a": [1, None, -3], "b": [None, 1.5, 2.0], "c": ["", None, "ü"], "d": memoryview(b"\1\2\3")})
    tests.check(consume(table) == {"a": [1, None, -3], "b": [None, 1.5, 2.0], "c": ["", None, "ü"], "d": [1, 2, 3]}, "NULLs and text")
    for columns in ({"a": [1, 2], "b": [1]}, {"a": [2**64]}, {"a": [object()]}, {"a": ["\ud800"]}):
        try:
            lode.Table(columns).__arrow_c_stream__()
            tests.check(False, f"{columns} is refused")
        except (TypeError, ValueError, OverflowError):
            tests.check(True, "what Arrow has no type for is refused")
    for _ in range(3):
        table.__arrow_c_stream__()
    tests.check(True, "a stream that nobody reads is freed")


def test_tables(tests):
    with lode.open(tests.folder / "demo" / "solver") as db:
        values = db.table("value")
        tests.check(len(values) == sum(db.profiles._raw("values")[1:]), "values")
        one = db.table("value", profile_id=3)
        tests.check(one.to_dicts() == [row for row in values.to_dicts() if row["profile_id"] == 3] != [], "a profile's values")
        context = one[len(one) // 2].context_id
        tests.check(db.table("value", profile_id=3, context_id=context).to_dicts() ==
                    [row for row in one.to_dicts() if row["context_id"] == context], "a context's values")
        tests.check(db.table("value", columns=["value", "metric_id"], limit=5).columns == ["value", "metric_id"] and
                    len(db.table("value", limit=5)) == 5, "columns and a limit")
        tests.check(list(db.table("context")["id"]) == list(db.contexts["id"]) and list(db.table("context")["name"]) == list(db.contexts.name),
                    "contexts")
        if support.numpy:
            array = db.values(profile=3)
            tests.check(array["value"].tolist() == list(one["value"]) and array["metric"].tolist() == list(one["metric_id"]) and
                        db.value_contexts(3).tolist() == list(one["context_id"]), "a table has what the file has")
            samples = db.table("sample", profile_id=3)
            tests.check(db.samples(profile=3)["time"].tolist() == list(samples["time_ns"]) and samples["time_ns"].dtype.itemsize == 8,
                        "times are exact to the nanosecond", [samples["time_ns"].dtype])
        for words in ({"name": "planet"}, {"name": "value", "planet_id": 3}, {"name": "value", "profile_id": "three"}):
            try:
                db.table(**words)
                tests.check(False, f"{words} is refused")
            except (lode.NotFound, ValueError, TypeError) as error:
                tests.check(True, f"{words} is refused: {error}")
    with lode.open(tests.folder / "demo" / "thumbs") as recording:
        events = sum(len(recording.events(track)) for track in range(len(recording.tracks)))
        tests.check(len(recording.table("event")) == events, "events", [events, len(recording.table("event"))])


QUERIES = {
    "solver": ("select count(*), sum(value), max(value) from value", "select * from context order by id", "select * from metric", "select * from profile",
               "select profile_id, count(*), min(time_ns), max(time_ns) from sample group by profile_id order by profile_id",
               "select * from value where profile_id = 3 order by context_id, metric_id", "select 1 as one where 0"),
    "thumbs": ("select count(*), min(time_ns), max(time_ns) from event", "select * from function order by id", "select * from event limit 50"),
    "shop": ("select count(*), min(time_ns), max(time_ns) from event", "select * from request"),
}


def test_sql(tests):
    """What db.sql() gives is what `lode sql --json` prints; JSON has integers beyond 2^53 as texts."""
    for store, queries in QUERIES.items():
        with lode.open(tests.folder / "demo" / store) as opened_store:
            for query in queries:
                try:
                    table = opened_store.sql(query)
                except lode.Unsupported as error:
                    tests.tap.skip("db.sql()", str(error))
                    return
                answer = tests.ask("sql", opened_store.path, query, allowed=(0,))["results"][0]
                rows = [[str(cell) if isinstance(cell, int) and abs(cell) >= 2**53 else cell for cell in row] for row in table]
                theirs = [[str(cell) if isinstance(cell, int) and abs(cell) >= 2**53 else cell for cell in row] for row in answer["rows"]]
                tests.check(table.columns == answer["columns"] and rows == theirs, f"{store}: {len(rows)} rows of {query}",
                            [table.columns, answer["columns"], rows[:2], theirs[:2]])
            try:
                opened_store.sql("select * from planet")
                tests.check(False, f"{store}: a table that is not there is refused")
            except sqlite3.Error as error:
                tests.check("planet" in str(error), f"{store}: a table that is not there is refused", [str(error)])


if __name__ == "__main__":
    support.Tests().finish([test_streams, test_stores, test_nulls, test_tables, test_sql])
