#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What people meet on their first day: None where there is nothing, errors of files that Python has names for, SQL on several stores."""

import os
import pickle
import re
import shutil
import struct
import subprocess
import sys
import warnings

import lode
import support

BUILTIN = {"missing": FileNotFoundError, "meta.db/x": NotADirectoryError}


def refusal(call, *arguments, **named):
    try:
        call(*arguments, **named)
    except Exception as error:  # pylint: disable=broad-except
        return error
    return None


# ---- nothing is None ----


def test_none(tests):
    with lode.open(tests.folder / "demo" / "solver") as db:
        for by in ("function", "line", "loop", "module", "kind"):
            mine = [(row.name, row.file, row.line) for row in db.top(by=by)]
            theirs = [(row["name"], row["file"], row["line"]) for row in tests.ask("top", db.path, "--by", by, "--limit", 0)["rows"]]
            tests.check(mine == theirs and (by == "loop" or any(line is None for *_, line in mine)), f"top by {by}: a line that is not known is None", [mine[:3], theirs[:3]])
        tree = tests.ask("tree", db.path, "--limit", 0, "--min-percent", 0)["rows"]
        mine = db.tree(min_share=0, limit=0).to_dicts()
        tests.check([r["call_line"] for r in mine] == [r["call_line"] for r in tree] and any(r["call_line"] is None for r in mine), "so it is in trees")
        contexts = db.contexts.to_table().to_dicts()
        tests.check(contexts[0]["parent"] is None and contexts[0]["line"] is None and contexts[0]["file"] is None, "contexts: the root has no parent, file, line")
        known = {r[0]: r[1:] for r in db.table("context", columns=("id", "line", "file_id", "function_id", "parent_id", "module_id"))}
        wrong = [c for c in contexts if known[c["id"]] != tuple(c[k] for k in ("line", "file", "function", "parent_id", "module"))]
        tests.check(not wrong and len(contexts) > 50, "contexts: as the relational table has them", wrong[:3])
        tests.check(db.context(0).line is None and db.context(0).file is None, "one context")
        functions = db.columns("functions").to_dicts()
        tests.check(functions[0]["file"] is None and functions[0]["line"] is None and functions[0]["module"] is None and all(f["line"] != 0 for f in functions),
                    "functions: no file, line, module")
        tests.check("4,294" not in str(db.columns("functions")), "no number stands for nothing in what people see")


def test_pandas(tests):
    try:
        import pandas
    except ImportError:
        tests.tap.skip("pandas", "there is no pandas")
        return
    with lode.open(tests.folder / "demo" / "solver") as db, lode.open(tests.folder / "demo" / "thumbs") as recording:
        for title, table, column in (("top", db.top(), "line"), ("context", db.table("context"), "parent_id"), ("contexts", db.contexts, "file"),
                                     ("call", recording.table("call"), "parent_id"), ("sql", db.sql("select null n union all select 2"), "n"),
                                     ("kinds", db.top(by="kind"), "line")):
            frame = table.to_pandas()
            rows = table.to_table() if title == "contexts" else table
            values = [None if value is pandas.NA else value for value in frame[column].tolist()]
            tests.check(str(frame[column].dtype) == "Int64" and values == [row[column] for row in rows.to_dicts()], f"{title}: integers with nulls are Int64", [frame.dtypes])
        frame = db.sql("select 1.5 r, 1 i, 'a' t union all select null, 2, null").to_pandas()
        tests.check([str(frame[c].dtype) for c in "ri"] == ["float64", "Int64"] and frame["t"][1] is None, "reals, integers, texts", [frame.dtypes])


# ---- files ----


def test_files(tests):
    solver = tests.folder / "demo" / "solver"
    for name, wanted in BUILTIN.items():
        for call in (lode.open, lode.check, lambda path: lode.build([path], output=tests.folder / "never")):
            error = refusal(call, solver / name)
            tests.check(isinstance(error, wanted) and isinstance(error, lode.Error) and error.errno and str(solver / name) in str(error), f"{name}: {wanted.__name__}", [repr(error)])
    again = pickle.loads(pickle.dumps(refusal(lode.open, solver / "missing")))
    tests.check(type(again) is lode.FileMissing, "it can be pickled", [repr(again)])
    error = refusal(lode.open, "/etc/passwd")
    tests.check(isinstance(error, lode.Unsupported) and not isinstance(error, OSError), "a file that is no store is another error", [repr(error)])
    tests.run("example", tests.folder / "closed")
    os.chmod(tests.folder / "closed" / "solver", 0)
    if os.geteuid() == 0:
        os.chmod(tests.folder, 0o755)
    text = "import lode, os, sys\nif os.geteuid() == 0: os.seteuid(65534)\ntry: lode.open(sys.argv[1])\nexcept PermissionError as e: print(type(e).__name__, e.errno)"
    done = subprocess.run([sys.executable, "-c", text, str(tests.folder / "closed" / "solver")], capture_output=True, text=True, check=False)
    tests.check(done.stdout == "FileRefused 13\n", "a directory that may not be read: PermissionError", [done.stdout, done.stderr])
    os.chmod(tests.folder / "closed" / "solver", 0o755)


# ---- SQL ----


def plain(rows):
    """Rows as JSON has them: integers beyond 2^53 are texts."""
    return [[str(cell) if isinstance(cell, int) and abs(cell) >= 2**53 else cell for cell in row] for row in rows]


def test_sql(tests):
    demo = tests.folder / "demo"
    if isinstance(refusal(lode.sql, demo / "solver", "select 1"), lode.Unsupported):
        tests.tap.skip("SQL", "this build has no SQLite, or one that is too old")
        return
    for stores, query in (((("a", "solver"), ("b", "thumbs")), "select (select count(*) from a.value) v, (select sum(duration_ns) from b.call) d"),
                          ((("base", "solver"), ("new", "solver")), "select name, difference, base_exclusive from compare('function')"),
                          ((("x", "thumbs"), ("y", "thumbs")), "select x.name, y.id, y.name from x.track x join y.track y using (id)")):
        answer = tests.ask("sql", *(f"{name}={demo / store}" for name, store in stores), query, allowed=(0,))["results"][0]
        table = lode.sql({name: demo / store for name, store in stores}, query)
        tests.check(plain(table) == plain(answer["rows"]) != [], f"several stores: {query}", [list(table)[:2], answer["rows"][:2]])
    with lode.open(demo / "solver") as db, lode.open(demo / "thumbs") as recording:
        table = lode.sql([db, recording, demo / "thumbs"], "select (select count(*) from solver.metric), (select count(*) from thumbs_2.track), count(*) from thumbs.track")
        tests.check(list(table)[0] == (16, 4, 4) and not db.closed, "stores without names have those of their paths", list(table))
        found = db.sql("select ? a, ? b, ? c, ? d, ? e", (1, 2.5, "t'x", None, b"\\0")).to_dicts()
        tests.check(found == [{"a": 1, "b": 2.5, "c": "t'x", "d": None, "e": b"\\0"}], "parameters by number", found)
        found = db.sql("select id from metric where name = :name and scope = @scope", {"name": "CPUTIME (sec)", "scope": "point"}).to_dicts()
        tests.check(found == [{"id": 0}], "parameters by name", found)
        tests.check(db.sql("select count(*), count(*) from metric").columns == ["count(*)", "count(*)_2"], "columns of one name")
        tests.check(len(db.sql("select * from value where 0")) == 0 and db.sql("select * from value where 0").columns[0] == "profile_id", "no rows")
        for query, parameters in (("select ?", ()), ("select 1", (1,)), ("select :a", {"b": 1}), ("select 1; select 2", ()), ("", ()), ("-- only", ()), ("drop table value", ()),
                                  ("attach 'x' as y", ()), ("select * from planet", ()), ("select", ())):
            error = refusal(db.sql, query, parameters)
            tests.check(isinstance(error, lode.Error) and str(error), f"{query!r} with {parameters} is refused", [repr(error)])
        tests.check("hotspot" in str(refusal(db.sql, "select * from planet")), "the message lists the tables")
        tests.check(isinstance(refusal(db.sql, "select ?", ([],)), TypeError) and isinstance(refusal(db.sql, "select ?", (2**70,)), OverflowError), "values that SQL does not have")

        def stop(phase, done, total):
            raise KeyboardInterrupt
        error = None
        try:
            db.sql("with recursive r(x) as (select 1 union all select x + 1 from r) select count(*) from r", progress=stop)
        except KeyboardInterrupt as interrupt:
            error = interrupt
        tests.check(error is not None and db.sql("select 7 n").to_dicts() == [{"n": 7}], "an endless query can be interrupted, and the store asked again")
    tests.check(isinstance(refusal(db.sql, "select 1"), ValueError), "a closed store is refused")
    error = refusal(lode.sql, {f"s{i}": demo / "shop" for i in range(11)}, "select 1")
    tests.check(isinstance(error, ValueError) and "10" in str(error), "at most ten stores", [repr(error)])


# ---- damage is said ----


def cut(path):
    """Half of a file, and part of a record."""
    data = path.read_bytes()
    path.write_bytes(data[:len(data) // 2 - 3])


def damage(folder):
    """Stores with something wrong: {name: path}."""
    stores = {name: shutil.copytree(folder / "demo" / name, folder / f"bad-{name}") for name in ("solver", "thumbs")}
    for path in stores["thumbs"].glob("*.dat"):
        cut(path)
    values = stores["solver"] / "profile.db"
    data = bytearray(values.read_bytes())
    data[len(data) // 2] ^= 0x55
    values.write_bytes(data)
    stores["stacks"] = folder / "bad.folded"
    stores["stacks"].write_text("main;f 3\nno count\n" * 30)
    return stores


def warnings_of(call, *arguments, **named):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call(*arguments, **named)
    return result, [one for one in caught if issubclass(one.category, lode.LodeWarning)]


def test_damage(tests):
    for name in ("solver", "thumbs", "shop"):
        store, caught = warnings_of(lode.open, tests.folder / "demo" / name)
        tests.check(not caught, f"{name}: a sound store gives no warning", caught)
        store.close()
    for name, path in damage(tests.folder).items():
        store, caught = warnings_of(lode.open, path)
        said = tests.run("top", path).stderr.decode()
        counts = [re.search(r": (?:at least )?([0-9,]+ findings?), such as", text) for text in (said, *(str(one.message) for one in caught))]
        tests.check(len(caught) == 1 and all(counts) and len({count[1] for count in counts}) == 1, f"{name}: one warning, with the count of the program",
                    [said, *caught])
        tests.check(caught and caught[0].filename == __file__, f"{name}: it is about the line that opens the store", caught)
        mine, theirs = store.diagnose().quality, tests.ask("diagnose", path)["quality"]
        tests.check([(note["id"], note["value"]) for note in mine] == [(note["id"], note["value"]) for note in theirs], f"{name}: the diagnosis has the notes of the program",
                    [mine, theirs])
        store.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error", lode.LodeWarning)
        tests.check(isinstance(refusal(lode.open, path), lode.LodeWarning), "who wants an error gets one")


def test_refusals(tests):
    """A database that the program refuses to write from is refused: a group of values that is larger than its block."""
    path = shutil.copytree(tests.folder / "demo" / "solver", tests.folder / "unreadable")
    data = bytearray((path / "profile.db").read_bytes())
    table = struct.unpack_from("<Q", data, 24)[0]
    records = struct.unpack_from("<Q", data, table)[0]
    # Of the summary: where its groups begin, each a context and its first value.
    groups = struct.unpack_from("<Q", data, records + 24)[0]
    struct.pack_into("<Q", data, groups + 12 + 4, 1 << 50)
    (path / "profile.db").write_bytes(data)
    theirs = subprocess.run([tests.options.lode, "export", path, "-o", tests.folder / "refused.folded"], capture_output=True, env=support.environment(), check=False)
    db, _ = warnings_of(lode.open, path)
    calls = {"export": lambda: db.export(tests.folder / "mine.folded"), "slice": lambda: db.slice(tests.folder / "part", profiles="rank=0"),
             "merge": lambda: lode.merge([db, tests.folder / "demo" / "solver"], tests.folder / "both")}
    for name, call in calls.items():
        error = refusal(call)
        tests.check(theirs.returncode == 2 and isinstance(error, lode.Corrupt), f"{name}: what cannot be read is refused", [theirs.stderr, error])
    tests.check(not any((tests.folder / name).exists() for name in ("refused.folded", "mine.folded", "part", "both")), "and nothing is written")
    db.close()


def test_names(tests):
    """Files are named as the program takes them."""
    theirs = tests.folder / "theirs"
    theirs.mkdir()
    with lode.open(tests.folder / "demo" / "solver") as db:
        for name in ("x.pprof", "callgrind.out.7", "x.collapsed", "x.trace.json.gz", "X.PB.GZ"):
            warnings_of(db.export, tests.folder / name)
            tests.run("export", db.path, "-o", theirs / name)
            tests.check((tests.folder / name).read_bytes() == (theirs / name).read_bytes(), f"export to {name}: as the program does")
        tests.check(isinstance(refusal(db.export, tests.folder / "x.unknown"), ValueError), "another name needs a format")


if __name__ == "__main__":
    support.Tests().finish([test_none, test_pandas, test_files, test_sql, test_damage, test_refusals, test_names])
