#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The extension lode_sqlite.so in the sqlite3 shell and in Python's sqlite3: the rows of `lode sql`, joins of two stores, and no way for
a view of somebody else to open files. --extension says where it is."""

import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import stores
from stores import DATABASE, REQUESTS, SMALL, as_json

STATEMENTS = ("select count(*), sum(value) from {}value", "select * from {}metric order by id", "select context_id, count(*) from {}value group by 1 order by 1 desc",
              "select c.name, v.value from {0}context c join {0}value v on v.context_id = c.id where v.profile_id = 1 order by 2 desc, 1 limit 5",
              "select simple_name(name), seconds(1500000000) from {}function where id = 1",
              "select metric_id, context_id, max(value) from {}value group by 1, 2 order by 1 desc, 2")


def connect(extension):
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.execute("select load_extension(?)", (str(extension),))
    db.enable_load_extension(False)
    return db


def in_python(tap, lode, extension):
    db = connect(extension)
    tap.check(db.execute("select lode_open(?)", (str(SMALL),)).fetchone()[0] >= 12, "lode_open says how many tables there are")
    wrong = [s for s in STATEMENTS if [as_json(r) for r in db.execute(s.format(""))] != lode.rows(SMALL, s.format(""))]
    tap.check(not wrong, "Python's sqlite3 gives the rows of lode sql", wrong)
    db.execute("select lode_open(?, 'new_')", (str(DATABASE),))
    wrong = [s for s in STATEMENTS if [as_json(r) for r in db.execute(s.format("new_"))] != lode.rows(DATABASE, s.format(""))]
    tap.check(not wrong, "a second store, with a prefix", wrong)
    row = db.execute("select count(*) from value a join new_value b using (metric_id, context_id) where a.profile_id = 1 and b.profile_id = 1").fetchone()
    tap.check(row[0] >= 0, "a join of two stores")
    # The same name again: the tables are those of the other store now.
    db.execute("select lode_open(?)", (str(REQUESTS),))
    tap.check(db.execute("select kind from store").fetchone() == ("recording",), "a store replaces another one of its prefix")
    cursor = db.execute("select * from call")
    cursor.fetchone()
    db.execute("select lode_open(?)", (str(SMALL),))
    tap.check(len(cursor.fetchall()) > 0 and db.execute("select count(*) from metric").fetchone()[0] > 0, "a statement that runs keeps its store")
    follows_rules(tap, db)
    for text in ("/nowhere", "/etc/passwd", "", "a\nb"):
        try:
            db.execute("select lode_open(?)", (text,))
            tap.check(False, f"lode_open({text!r}) is refused")
        except sqlite3.OperationalError as error:
            tap.check(bool(str(error)), f"lode_open({text!r}) is refused")
    db.close()


def follows_rules(tap, db):
    """Rules for kinds of functions, as those of --kinds."""
    name = db.execute("select name from function where kind = 'own' order by id limit 1").fetchone()[0]
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as rules:
        rules.write(f"sync-disk * {name}\n")
        rules.flush()
        db.execute("select lode_open(?, 'ruled_', ?)", (str(SMALL), rules.name))
        rows = [db.execute(f"select kind, activity, effect from {prefix}function where name = ?", (name,)).fetchone() for prefix in ("", "ruled_")]
        tap.check(rows == [("own", "own", "none"), ("io", "file", "sync-disk")], "rules of a file decide first", rows)
        rules.write("nothing * main\n")
        rules.flush()
        for path, message in ((rules.name, "line 2"), ("/nowhere/rules", "cannot be read"), (None, "a file of rules")):
            try:
                db.execute("select lode_open(?, 'ruled_', ?)", (str(SMALL), path))
                tap.check(False, f"rules {path}: refused")
            except sqlite3.OperationalError as error:
                tap.check(message in str(error), f"rules: {message}", [error])


def is_direct_only(tap, extension):
    """A database of somebody else, with a view that opens a store, and views on tables that are open."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "theirs.db"
        with sqlite3.connect(path) as theirs:
            theirs.execute(f"create view bad as select lode_open('{SMALL}') x")
            theirs.execute("create view good as select count(*) n from value")
        theirs.close()
        db = sqlite3.connect(path)
        db.enable_load_extension(True)
        db.execute("select load_extension(?)", (str(extension),))
        try:
            db.execute("select * from bad").fetchall()
            tap.check(False, "a view cannot open a store")
        except sqlite3.OperationalError as error:
            tap.check("unsafe use" in str(error), "a view cannot open a store", [error])
        db.execute("pragma trusted_schema = off")
        db.execute("select lode_open(?)", (str(SMALL),))
        tap.check(db.execute("select n from good").fetchone()[0] > 0, "a view can read tables that are open")
        for statement in ("insert into value values (1, 2, 3, 4)", "delete from metric", "update context set name = 'x'"):
            try:
                db.execute(statement)
                tap.check(False, f"{statement}: refused")
            except sqlite3.OperationalError as error:
                tap.check("may not be modified" in str(error), f"{statement}: refused", [error])
        db.close()


def refusal(db, *statement):
    try:
        db.execute(*statement).fetchall()
        return ""
    except sqlite3.OperationalError as error:
        return str(error)


def has_functions(tap, lode, extension):
    """Functions have the values that they have in `lode sql`; SQLite's own hex, and a regexp of the host, stay."""
    db = connect(extension)
    tap.check("no such database" in refusal(db, "select path(1)"), "path without a store is refused")
    db.execute("select lode_open(?), lode_open(?, 'new_'), lode_open(?, 'r_')", (str(SMALL), str(DATABASE), str(REQUESTS))).fetchall()
    wrong = [t for t, store, s in (("select id, path(id) from context order by id", SMALL, "select id, path(id) from context order by id"),
                                   ("select id, path(id, 'NEW_') from new_context order by id", DATABASE, "select id, path(id) from context order by id"),
                                   ("select id, lode_hex(address) from context order by id", SMALL, "select id, hex(address) from context order by id"),
                                   ("select name from function where name regexp '^ma.n' order by id", SMALL, "select name from function where name regexp '^ma.n' order by id"),
                                   ("select rule, text from finding('full')", SMALL, "select rule, text from finding('full')"))
             if [as_json(r) for r in db.execute(t)] != lode.rows(store, s)]
    tap.check(not wrong, "path, lode_hex, regexp and finding have the values of lode sql", wrong)
    tap.check(db.execute("select hex(255), path(null), path(-1), path(99999999999), path('x')").fetchone()[:4] == ("323535", None, None, None), "hex of SQLite stays; contexts that are not there have no path")
    tap.check(all(m in refusal(db, t) for t, m in (("select path(1, 'r_')", "no such database"), ("select path(1, 'x')", "no such database"), ("select path(1, null)", "no such database"),
                                                    ("select path()", "wrong number"))), "wrong arguments are refused")
    tap.check(refusal(db, "select 'a' regexp '('") != "", "a wrong expression is refused")
    tap.check("too long" in refusal(db, "select 'a' regexp ?", ("a" * 2000,)) and refusal(db, "select ? regexp ?", ("a" * 5000 + "!", "(a|aa)+$")) != "", "an expression that is too long, or takes too long, is an error")
    db.close()
    own = sqlite3.connect(":memory:")
    own.create_function("regexp", 2, lambda pattern, text: 42)
    own.enable_load_extension(True)
    for _ in range(2):
        own.execute("select load_extension(?)", (str(extension),))
        own.execute("select lode_open(?)", (str(SMALL),))
    tap.check(own.execute("select 'a' regexp 'b', count(*) > 0, path(0) is not null from value").fetchone() == (42, 1, 1), "loaded twice, beside a regexp of the host")
    own.close()


def can_be_interrupted(tap, lode, extension):
    """Inside one call of the library: a statement that is interrupted uses much less processor time than one that is not."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "recording"
        done = lode.call("synth", "recording", "--records", 3000000, "-o", store)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        db = sqlite3.connect(":memory:", check_same_thread=False)
        db.enable_load_extension(True)
        db.execute("select load_extension(?)", (str(extension),))
        db.execute("select lode_open(?)", (str(store),))
        begin = time.process_time()
        rows = db.execute("select count(*) from call_stat").fetchone()[0]
        whole = time.process_time() - begin
        begin = time.process_time()

        def interrupt():
            while time.process_time() - begin < whole / 5:
                time.sleep(0.001)
            db.interrupt()

        thread = threading.Thread(target=interrupt)
        thread.start()
        message = refusal(db, "select count(*) from call_stat")
        used = time.process_time() - begin
        thread.join()
        tap.check("interrupted" in message and used < 0.75 * whole, "a table function is interrupted while it computes", [message, used, whole])
        tap.check(db.execute("select count(*) from call_stat").fetchone()[0] == rows, "the next statement runs")
        db.close()


def in_shell(tap, lode, extension):
    shell = shutil.which("sqlite3")
    if not shell:
        tap.skip("the sqlite3 shell", "it is not installed")
        return
    script = f".load {extension}\nselect lode_open('{SMALL}') > 0;\n.mode list\nselect count(*), max(context_id) from value;\n"
    done = subprocess.run([shell, ":memory:"], input=script, capture_output=True, text=True, timeout=60)
    wanted = "|".join(str(v) for v in lode.rows(SMALL, "select count(*), max(context_id) from value")[0])
    tap.check(done.stdout.split() == ["1", wanted], "the sqlite3 shell loads it", [done.stdout, done.stderr])
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (("sound", "a;b 1\n"), ("damaged", "a;b 1\na;b -3\n")):
            Path(folder, f"{name}.folded").write_text(content)
        script = f".load {extension}\n.log stderr\nselect lode_open('{folder}/sound.folded'), lode_open('{folder}/damaged.folded', 'x_');\n"
        done = subprocess.run([shell, ":memory:"], input=script, capture_output=True, text=True, timeout=60)
        tap.check("sound.folded" not in done.stderr and "damaged.folded has findings (1), such as folded-line (" in done.stderr,
                  "the log of SQLite names a store with findings", [done.stdout, done.stderr])


def body(tap, lode, options):
    extension = Path(options.extension).with_suffix("")
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        tap.skip("Python's sqlite3", "it loads no extensions")
    else:
        in_python(tap, lode, extension)
        is_direct_only(tap, extension)
        has_functions(tap, lode, extension)
        can_be_interrupted(tap, lode, extension)
    in_shell(tap, lode, extension)


if __name__ == "__main__":
    sys.exit(stores.main(body, needs=(SMALL, DATABASE, REQUESTS), extension=""))
