#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The extension lode_sqlite.so in the sqlite3 shell and in Python's sqlite3: the rows of `lode sql`, joins of two stores, and no way for
a view of somebody else to open files. --extension says where it is."""

import shutil
import sqlite3
import subprocess
import sys
import tempfile
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
    for text in ("/nowhere", "/etc/passwd", "", "a\nb"):
        try:
            db.execute("select lode_open(?)", (text,))
            tap.check(False, f"lode_open({text!r}) is refused")
        except sqlite3.OperationalError as error:
            tap.check(bool(str(error)), f"lode_open({text!r}) is refused")
    db.close()


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


def in_shell(tap, lode, extension):
    shell = shutil.which("sqlite3")
    if not shell:
        tap.skip("the sqlite3 shell", "it is not installed")
        return
    script = f".load {extension}\nselect lode_open('{SMALL}') > 0;\n.mode list\nselect count(*), max(context_id) from value;\n"
    done = subprocess.run([shell, ":memory:"], input=script, capture_output=True, text=True, timeout=60)
    wanted = "|".join(str(v) for v in lode.rows(SMALL, "select count(*), max(context_id) from value")[0])
    tap.check(done.stdout.split() == ["1", wanted], "the sqlite3 shell loads it", [done.stdout, done.stderr])


def body(tap, lode, options):
    extension = Path(options.extension).with_suffix("")
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        tap.skip("Python's sqlite3", "it loads no extensions")
    else:
        in_python(tap, lode, extension)
        is_direct_only(tap, extension)
    in_shell(tap, lode, extension)


if __name__ == "__main__":
    sys.exit(stores.main(body, needs=(SMALL, DATABASE, REQUESTS), extension=""))
