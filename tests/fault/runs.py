#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Nothing that is in a catalogue of runs is lost when a run is added.

Usage: runs.py --lode PROGRAM --shim SHIM [--share K/N]

For each call by which 'lode runs add' changes the file system, and for each fault (SIGKILL; the disk is full from here on; an I/O
error, once; a short write), a run is added to a catalogue. Afterwards Python's sqlite3 finds the file in order, every row that was there
is there, and the new run is there completely or not at all; after status 0 it is there. The next run is added as if nothing had happened.
"""
import argparse
import errno
import os
import shutil
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from outcome import Program, scratch  # noqa: E402
from share import Share  # noqa: E402
from tap import Tap  # noqa: E402

FAULTS = [("killed", "kill", 0), ("a full disk", "full", errno.ENOSPC), ("an I/O error", "fail", errno.EIO), ("a short write", "short", 0)]
TABLES = ("run", "label", "metric", "total", "key", "cost")


def rows(file):
    """Everything in a catalogue: tables as sets of rows. None if it is not in order, or not there."""
    if not os.path.exists(file) or os.path.getsize(file) == 0:
        return {table: set() for table in TABLES}
    connection = sqlite3.connect(file)
    try:
        if connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            return None
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return {table: set() for table in TABLES}
        return {table: set(connection.execute(f"SELECT * FROM {table}")) for table in TABLES}
    except sqlite3.Error:
        return None
    finally:
        connection.close()


class Bench:
    def __init__(self, program, root, before):
        """`before` runs are in the catalogue."""
        self.program, self.root = program, root
        self.file, self.copy = os.path.join(root, "runs.sqlite"), os.path.join(root, "before.sqlite")
        program.run(["example", os.path.join(root, "demo"), "--force"])
        for store in ("solver", "shop")[:before]:
            program.run(["runs", "add", os.path.join(root, "demo", store), "--catalogue", self.copy])
        self.words = ["runs", "add", os.path.join(root, "demo", "thumbs"), "--again", "--catalogue", self.file]
        self.before = rows(self.copy)
        self.reset()
        self.calls = program.run(self.words, log=os.path.join(root, "log"), all=1).calls
        self.whole = rows(self.file)

    def reset(self):
        for name in (self.file, self.file + "-journal"):
            if os.path.lexists(name):
                os.unlink(name)
        if os.path.exists(self.copy):
            shutil.copy(self.copy, self.file)

    def complaints(self, run, mode):
        found = rows(self.file)
        if found is None:
            return ["the catalogue is damaged"]
        wrong = [f"rows of {table} are lost" for table in TABLES if not self.before[table] <= found[table]]
        added = len(found["cost"]) - len(self.before["cost"])
        all_of_it = len(self.whole["cost"]) - len(self.before["cost"])
        if added not in (0, all_of_it) or (added == 0) != (len(found["run"]) == len(self.before["run"])):
            wrong.append(f"{added} of {all_of_it} costs were added")
        if run.status == 0 and added == 0:
            wrong.append("status 0, but there is no new run")
        if run.status not in (0, 2) and not (mode == "kill" and run.status == -9):
            wrong.append(f"status {run.status}")
        if run.status == 2 and not run.message.startswith("lode: "):
            wrong.append(f"said {run.message!r}")
        again = self.program.run(self.words)
        after = rows(self.file)
        if again.status != 0 or after is None or len(after["run"]) != len(found["run"]) + 1:
            wrong.append(f"the next run was not added: {again.message!r}")
        if os.path.exists(self.file + "-journal"):
            wrong.append("a journal is left")
        return wrong


def check(tap, bench, name, share):
    count, lost = 0, []
    for number in range(1, len(bench.calls) + 1):
        if not share.has(number):
            continue
        for title, mode, code in FAULTS:
            if mode == "short" and bench.calls[number - 1][1] != "write":
                continue
            bench.reset()
            run = bench.program.run(bench.words, mode=mode, at=number, errno=code, all=1)
            count += 1
            lost += [f"{title} at call {number}, {' '.join(bench.calls[number - 1])}: {text}" for text in bench.complaints(run, mode)]
    tap.check(not lost and count > 0, f"{name}: {count} faults in {len(bench.calls)} calls lose nothing", lost[:10])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--shim", required=True)
    parser.add_argument("--share", type=Share, default=Share.of_faults())
    options = parser.parse_args()
    tap = Tap()
    program = Program(options.lode, options.shim)
    for name, before in (("a catalogue with runs", 2), ("a new catalogue", 0)):
        with scratch() as root:
            bench = Bench(program, root, before)
            writes = [call for call in bench.calls if call[1] == "write" and "runs.sqlite" in call[2]]
            tap.check(len(writes) > 3 and len(bench.whole["run"]) == before + 1, f"{name}: the shim sees what SQLite writes", bench.calls[:5])
            check(tap, bench, name, options.share)
            # What the test is there to see: a disk that loses a write.
            if before:
                noticed = 0
                for number in [i for i, call in enumerate(bench.calls, 1) if call in writes][-3:]:
                    bench.reset()
                    noticed += bool(bench.complaints(program.run(bench.words, mode="lie", at=number, all=1), "lie"))
                tap.check(noticed > 0, "self-test: a write that is lost is noticed", [noticed])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
