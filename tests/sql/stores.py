# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of `lode sql` share: the program, stores of the corpus, and the same tables in a plain SQLite file."""

import argparse
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]

import corpora  # noqa: E402
from tap import Tap  # noqa: E402

SECONDS = 600
CORPUS = corpora.root()
DATABASE = CORPUS / "hpctoolkit" / "final" / "made-loops-cputime-t-mpi3ranks"
SMALL = CORPUS / "hpctoolkit" / "final" / "made-small"
RECORDING = CORPUS / "uftrace" / "recorded" / "autoargs" / "uftrace.data"
THREADS = CORPUS / "uftrace" / "recorded" / "mt" / "uftrace.data"
REQUESTS = CORPUS / "zorka" / "stores" / "first"


class Lode:
    def __init__(self, program):
        self.program = str(program)

    def call(self, *arguments, text=None, env=None, seconds=SECONDS):
        return subprocess.run([self.program, *map(str, arguments)], input=text, capture_output=True, text=True, timeout=seconds,
                              encoding="utf-8", env={**os.environ, "LANG": "C.UTF-8", **(env or {})},
                              **({} if text is not None else {"stdin": subprocess.DEVNULL}))

    def json(self, *arguments):
        done = self.call(*arguments, "--json")
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{arguments}: {done.stderr}")
        return json.loads(done.stdout)

    def results(self, store, *statements):
        """The results of statements, one (columns, rows) each. Integers beyond 2^53 are texts."""
        done = self.call("sql", *([store] if not isinstance(store, (list, tuple)) else store), "--file", "-", "--json",
                         text=";\n".join(statements) + ";\n")
        if done.returncode != 0:
            raise RuntimeError(f"{done.stderr.strip()}: {statements[:3]}")
        return [(r["columns"], [tuple(row) for row in r["rows"]]) for r in json.loads(done.stdout)["results"]]

    def rows(self, store, statement):
        return self.results(store, statement)[0][1]

    def has_sql(self):
        return "without SQLite" not in self.call("sql", "/nowhere", "select 1").stderr

    def tables(self, store):
        """The names of the tables of a store, without those that are functions."""
        names = [r[0] for r in self.rows(store, "select name from sqlite_schema where type = 'table' order by rowid")]
        found = self.results(store, *(f"pragma table_xinfo({n})" for n in names))
        return {n: [(c[1], c[2].lower()) for c in rows] for n, (_, rows) in zip(names, found) if all(c[6] == 0 for c in rows)}

    def plain(self, store, folder):
        """A connection to an SQLite file that `lode export` writes."""
        path = Path(folder) / "plain.sqlite"
        done = self.call("export", store, "--format", "sqlite", "-o", path, "--force")
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return sqlite3.connect(path)


def as_json(row):
    """A row of plain SQLite as JSON has it: large integers are texts, numbers that are not finite are NULL."""
    return tuple(str(v) if isinstance(v, int) and abs(v) >= 2**53 else None if isinstance(v, float) and v in (float("inf"), -float("inf")) else v
                 for v in row)


def main(body, needs=(), **more):
    """Runs body(tap, lode, options), unless something is missing."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    for name, value in more.items():
        parser.add_argument("--" + name, type=type(value), default=value)
    options = parser.parse_args()
    tap, lode = Tap(), Lode(options.lode)
    missing = [str(path) for path in needs if not path.exists()]
    if not lode.has_sql():
        tap.skip("lode sql", "this build has no SQLite, or one that is too old")
    elif missing:
        tap.skip("stores of the corpus", f"missing: {', '.join(missing)}")
    else:
        body(tap, lode, options)
    return tap.finish()
