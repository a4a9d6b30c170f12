#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The extension lode_sqlite.so inside Python's sqlite3 and inside the sqlite3 shell: damaged stores, stores with deceptive names, and arguments
of every type and size. A random walk opens stores over others that are being read, calls functions and table functions, reads rows of statements
that are older, and closes connections in the middle. Each statement has rows or raises; no process ends by a signal. Run with the
address sanitizer too, which sees leaks in the shell. By hand: --stores 400 --steps 100 --seed N.
"""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import stores

sys.path[:0] = [str(stores.ROOT / "tests" / name) for name in ("hostile",)]

from merge_mutated import damage  # noqa: E402

SECONDS = 900
DEMO = ("solver", "thumbs", "shop")
PREFIXES = ("", "", "a_", "b_", "A_", "x\x1b[2J", "\"'`;--", "sqlite_", "pragma_", "é" * 300, "json_", " ", "\u202e")
LITERALS = ("null", "0", "-1", "1", "2", "9223372036854775807", "-9223372036854775808", "4294967296", "1e308", "-1e-300", "9e999", "''", "'main'", "'*'", "'('",
            "'/(a+)+$/'", "x''", "x'ff00ff'", "zeroblob(100)", "'%s%n'", "'a_'", "char(0, 27, 55296, 1114111)", "'" + "a" * 3000 + "'",
            "'function'", "'line'", "'CPUTIME (sec)'", "'_ZN" + "1aI" * 200 + "'")
CALLS = ("path({0})", "path({0}, {1})", "lode_hex({0})", "demangle({0})", "simple_name({0})", "seconds({0})", "{0} regexp {1}", "lode_open({0})", "lode_open({0}, {1})", "lode_open({0}, {1}, {2})",
         "path({0}, {1}, {2})", "lode_open()")


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def named(text):
    return '"' + text.replace('"', '""') + '"'


class Walk:
    """Statements by chance over the tables that a connection has."""

    def __init__(self, seed, paths):
        self.chance, self.paths, self.tables = random.Random(seed), paths, {}

    def pick(self, things):
        return self.chance.choice(things)

    def look(self, db):
        """Which modules there are, and how many arguments they take."""
        names = [row[0].decode() for row in db.execute("select name from pragma_module_list")]
        self.tables = {}
        for name in names:
            if not name.startswith(("pragma", "fts", "rtree", "json", "dbstat", "sqlite_", "bytecode", "tables_used", "geopoly")):
                try:
                    self.tables[name] = [(row[1].decode(), row[6]) for row in db.execute("select * from pragma_table_xinfo(?)", (name,))]
                except sqlite3.Error:
                    pass

    def literal(self):
        return self.pick(LITERALS)

    def open(self):
        return f"select lode_open({quoted(str(self.pick(self.paths)))}, {quoted(self.pick(PREFIXES))})"

    def table(self):
        name = self.pick(list(self.tables))
        hidden = sum(1 for _, kind in self.tables[name] if kind == 1)
        count = self.chance.randrange(hidden + 2) if hidden else self.pick((0, 0, 0, 1))
        return name, named(name) + (f"({', '.join(self.literal() for _ in range(count))})" if count else "")

    def read(self):
        name, source = self.table()
        columns = [column for column, _ in self.tables[name]] or ["1"]
        column = named(self.pick(columns))
        where = self.pick(("", f" where {column} {self.pick(('=', '<', '>=', 'is', 'in', 'like', 'regexp'))} {self.literal()}", f" where {column} in ({self.literal()}, {self.literal()})"))
        where = where.replace(f"in {self.literal()}", "is null") if " in " in where and "(" not in where else where
        what = self.pick(("*", "count(*), max(" + column + ")", f"path({column}), *", f"demangle({column}), simple_name({column})", "distinct " + column, "rowid, *"))
        other = f", {self.table()[1]}" if self.chance.random() < 0.1 else ""
        return f"select {what} from {source}{other}{where}{self.pick(('', f' order by {column} desc', ' order by random()'))} limit {self.pick((1, 50, 1000))}"

    def statement(self):
        kind = self.chance.randrange(20)
        if kind < 2 or not self.tables:
            return self.open()
        if kind < 6:
            return "select " + self.pick(CALLS).format(*(self.literal() for _ in range(3)))
        if kind == 6:
            # The store goes away while its rows are read.
            return f"select a.*, lode_open({quoted(str(self.pick(self.paths)))}, {quoted(self.pick(PREFIXES))}) from {self.table()[1]} a limit 5"
        if kind == 7:
            return self.pick(("insert into {} values (1)", "delete from {}", "drop table {}", "create table {} (x)", "create temp view v{} as select 1")).format(named(self.pick(list(self.tables))))
        return self.read()


class Budget:
    """Ends a statement that takes too many steps."""

    def __init__(self):
        self.left = 0

    def renew(self):
        self.left = 2000

    def is_spent(self):
        self.left -= 1
        return self.left < 0


def connect(extension, budget):
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.enable_load_extension(True)
    budget.renew()
    db.set_progress_handler(budget.is_spent, 1000)
    db.execute("select load_extension(?)", (extension,))
    db.text_factory = bytes
    return db


def walk(extension, paths, seed, steps):
    """Returns how many statements there were, and how many were refused."""
    w, refused, cursors, budget = Walk(seed, paths), 0, [], Budget()
    db = connect(extension, budget)
    for _ in range(steps):
        budget.renew()
        try:
            if w.chance.randrange(8) == 0 and cursors:
                w.pick(cursors).fetchmany(20)
                continue
            cursor = db.execute(w.statement())
            cursor.fetchmany(w.pick((0, 1, 10, 10000)))
            cursors = (cursors + [cursor])[-6:]
        except (sqlite3.Error, sqlite3.Warning):
            refused += 1
        budget.renew()
        w.look(db)
        if w.chance.randrange(60) == 0:
            db.close()
            db, cursors = connect(extension, budget), []
    db.close()
    return steps, refused


def damaged(lode, folder, maker, count, seed):
    """Paths of stores: sound, with deceptive names, damaged; and of what is none."""
    chance = random.Random(seed)
    lode.call("example", folder / "demo")
    paths = [folder / "demo" / name for name in DEMO] + [folder, Path("/dev/null"), Path("/etc/passwd"), folder / "nothing"]
    if maker:
        (folder / "deceptive").mkdir()
        subprocess.run([maker, folder / "deceptive"], check=True, env=plain_environment())
        paths += [folder / "deceptive" / name for name in ("database", "recording", "traces")]
    for number in range(count):
        paths.append(folder / f"bad{number}")
        shutil.copytree(folder / "demo" / DEMO[number % len(DEMO)], paths[-1])
        files = sorted(path for path in paths[-1].rglob("*") if path.is_file() and path.stat().st_size > 8 and path.suffix not in (".md", ".yaml", ".ex"))
        damage(chance.choice(files), chance)
    return paths


def plain_environment():
    """For programs that are not instrumented from outside."""
    return {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}


def in_child(function):
    """What a function returns as text, and how its process ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        try:
            os.write(writing, repr(function()).encode())
        except BaseException as error:  # pylint: disable=broad-except
            os.write(writing, repr(error).encode())
            os._exit(1)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        text = stream.read().decode()
    return text, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def in_python(tap, extension, paths, options):
    total, refused, wrong = 0, 0, []
    for number in range(max(1, len(paths) // 4)):
        chosen = paths[:10] + paths[10:][number * 4:][:4]
        seed = options.seed * 100000 + number
        text, status = in_child(lambda: walk(extension, chosen, seed, options.steps))
        if status != 0:
            wrong.append(f"walk {seed} ended with {status}: {text[:300]}")
        else:
            done, no = text.strip("()").split(", ")
            total, refused = total + int(done), refused + int(no)
    tap.check(not wrong and total > refused > 0, f"Python's sqlite3: {total} statements over {len(paths)} stores, {refused} are refused, none harms", wrong[:10])


def in_shell(tap, extension, paths, options):
    shell = shutil.which("sqlite3")
    if not shell:
        tap.skip("the sqlite3 shell", "it is not installed")
        return
    w, lines = Walk(options.seed, paths), [f".load {extension}", ".timeout 1000"]
    w.tables = {name: [("name", 0), ("id", 0), ("value", 0)] for name in ("context", "function", "value", "metric", "call", "event", "a_function", "finding", "cost", "hotspot")}
    lines += [w.statement().replace("\0", "") + ";" for _ in range(options.steps)]
    # The library of the sanitizer is there if this process has it.
    environment = {**os.environ, **({"ASAN_OPTIONS": "detect_leaks=1"} if os.environ.get("LD_PRELOAD") else {})}
    done = subprocess.run([shell, ":memory:"], input="\n".join(lines), capture_output=True, text=True, encoding="utf-8", errors="replace", timeout=SECONDS, env=environment)
    said = [line for line in done.stderr.splitlines() if "Sanitizer" in line or "runtime error" in line]
    tap.check(done.returncode in (0, 1) and not said and done.stdout, f"the sqlite3 shell: {options.steps} statements, no harm and no leak", [done.returncode, *said, done.stderr[-1500:]])


def body(tap, lode, options):
    extension = str(Path(options.extension).resolve().with_suffix(""))
    with tempfile.TemporaryDirectory() as folder:
        lode.call = lambda *words: subprocess.run([lode.program, *map(str, words)], check=True, capture_output=True, env=plain_environment())
        paths = damaged(lode, Path(folder), options.maker, options.stores, options.seed)
        if not hasattr(sqlite3.Connection, "enable_load_extension"):
            tap.skip("Python's sqlite3", "it loads no extensions")
        else:
            in_python(tap, extension, paths, options)
        in_shell(tap, extension, paths, options)


if __name__ == "__main__":
    sys.exit(stores.main(body, extension="", maker="", stores=6, steps=120, seed=1))
