#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Relational tables and Arrow streams: tables hold what the arrays in the files hold, and a consumer of the Arrow C stream interface that
knows nothing of the package (ctypes) reads what the tables hold, aligned, with NULLs, and keeps it when everything else is gone.
"""

import threading

import lode
import support
from arrow_reader import Schema, batches_of, consume, opened


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
        read, unread, streamed, unused = (db.table("value") for _ in range(4))
        rows, context_rows = len(read), len(contexts)
    tests.check(db.closed and store.users == 4, "tables that were not read keep their store, others do not", [store.users])
    tests.check(len(consume(streamed)["value"]) == rows > 0 and store.users == 4, "and have their streams", [store.users])
    tests.check(len(unread) == rows and unread["value"].tolist() == read["value"].tolist() and store.users == 3 and len(consume(unread)["value"]) == rows,
                "a table that is read later lets the store go", [store.users])
    del unused, streamed
    tests.check(store.users == 1, "and so does one that is deleted", [store.users])
    other = lode.open(tests.folder / "demo" / "solver")
    late, early = other.table("value"), other.table("value")
    early.head(1)
    other.close()
    for use in (lambda: len(late), lambda: late["value"], late.__arrow_c_stream__):
        try:
            use()
            tests.check(False, "after close(), a table that was not read says so")
        except ValueError as error:
            tests.check("closed" in str(error), "after close(), a table that was not read says so")
    tests.check(len(early) == len(consume(early)["value"]) == rows, "one that was read does not need it")
    batches = batches_of(stream)

    def release():
        stream.contents.release(stream)
    thread = threading.Thread(target=release)
    thread.start()
    thread.join()
    tests.check(store.users == 0, "a stream that another thread releases closes it", [store.users])
    tests.check(sum(array.length for array in batches) == context_rows, "and its batches are still good")
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
            except lode.Error as error:
                tests.check("planet" in str(error), f"{store}: a table that is not there is refused", [str(error)])


if __name__ == "__main__":
    support.Tests().finish([test_streams, test_stores, test_nulls, test_tables, test_sql])
