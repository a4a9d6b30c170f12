# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of 'lode build' share: running the program, the recordings to build from, and what is in a result."""

import argparse
import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(1, str(ROOT / "tests" / "tools"))

import corpora  # noqa: E402
import lodejson  # noqa: E402
from tap import Tap  # noqa: E402,F401

SECONDS = 300
FILES = ("meta.db", "profile.db", "cct.db", "trace.db")


class Lode:
    def __init__(self, program):
        self.program = program

    def run(self, *arguments, wrapper=()):
        command = [*wrapper, self.program, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)

    def must(self, *arguments):
        """What the program prints; it must succeed."""
        done = self.run(*arguments)
        if done.returncode != 0:
            raise SystemExit(f"lode {' '.join(map(str, arguments))}: {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def json(self, command, store, *arguments):
        return lodejson.loads(self.must(command, "--json", *arguments, store))

    def complaints(self, database):
        """What a full check says about a database, line by line."""
        done = self.run("check", "--level", "full", "--verbose", database)
        is_clean = done.returncode == 0 and ": 0 errors, 0 warnings" in done.stdout
        return [] if is_clean else (done.stdout + done.stderr).splitlines()


def stored_name(row):
    """What the function of a recording's row, with its full name, is called in a database: with its module where there is no source."""
    if not row["symbol"] or not row["module"] or row["file"]:
        return row["name"]
    return f"{row['name']} [{row['module'].rsplit('/', 1)[-1]}]"


def is_off_processor(row):
    """Off-CPU time has a row of its own among functions, and is no call."""
    return row["module"] is None and row["name"].startswith("linux:schedule")


def parse_arguments(description, **more):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--lode", required=True)
    for name, settings in more.items():
        parser.add_argument(f"--{name}", **settings)
    return parser.parse_args()


def corpus_root():
    return corpora.root()


def corpus_stores():
    """The trace stores of the corpus by name; none without one."""
    return {path.name: path for path in corpora.stores(corpus_root() / "zorka" / "stores")}


def corpus_recordings():
    """The recordings of the corpus by name; none without one."""
    root = corpus_root()
    recorded = {path.name: path / "uftrace.data" for path in corpora.stores(root / "uftrace" / "recorded")}
    handmade = {f"handmade {path.name}": path for path in corpora.stores(root / "uftrace" / "handmade")}
    return {**recorded, **handmade}


def made_recordings(lode, folder, count, records=200, tasks=2):
    """Small recordings of programs that differ a little."""
    paths = []
    for i in range(count):
        path = Path(folder) / f"rank-{i}"
        lode.must("synth", "recording", "--seed", 1 + i % 7, "--tasks", 1 + i % (tasks + 1), "--functions", 20 + i % 5,
                  "--records", records + 10 * (i % 11), "--threads", 1, "-o", path)
        paths.append(path)
    return paths


def fingerprints(database):
    """A hash of each file."""
    return {name: hashlib.sha256((database / name).read_bytes()).hexdigest() for name in FILES if (database / name).exists()}
