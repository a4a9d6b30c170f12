#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Functions of SQLite that take minutes or hours in one step, in which SQLite asks nobody whether to go on: --timeout and signals end them
all the same, or a limit does. What a statement may take is judged by processor time, so that a busy machine changes nothing.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import stores

LONG = "printf('%.*c', 8000000, 'a')"
OTHER = "printf('%.*c', 4000000, 'a') || 'b'"


def columns(expression):
    """As many that SQLite computes each: it would compute those that are equal once."""
    return "select " + ", ".join(expression.replace("#", str(i)) for i in range(30))


# Each takes at least a minute where nothing ends it.
STUCK = {
    "printf": columns("printf('%.*c', 2000000000 + #, 'x')"),
    "format": columns("format('%.*c', 2000000000 + #, 'x')"),
    "replace": f"select length(replace({LONG}, {OTHER}, ''))",
    "instr": f"select instr({LONG}, {OTHER})",
    "trim": f"select trim({LONG}, printf('%.*c', 1000000, 'c') || 'a')",
    "like": columns(f"{LONG} like '%{'a' * 190}b#'"),
    "glob": columns(f"{LONG} glob '*{'a' * 190}b#'"),
}
# These meet a limit, at once. An expression needs time in proportion to the text.
LIMITED = {
    "zeroblob": "select length(zeroblob(2000000000))",
    "randomblob": "select length(randomblob(2000000000))",
    "hex": "select length(hex(zeroblob(12000000)))",
    "group_concat": f"with recursive r(x) as (select 1 union all select x + 1 from r limit 5) select length(group_concat({LONG})) from r",
    "regexp": f"select {LONG} regexp '(a+)+(a+)+b'",
    "a long pattern of like": f"select {LONG} like '{'%a' * 200}'",
    "a long pattern of glob": f"select {LONG} glob '{'*a' * 200}'",
}
SECONDS = 10  # of processor time, for what takes a fraction of one


class Run:
    """A statement in a process of its own, and the processor time that it took."""

    def __init__(self, lode, *arguments):
        self.process = subprocess.Popen([lode.program, "sql", *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))  # nohup ignores it

    def used(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        """Waits until it ends; ends it if it takes far too long."""
        while (found := os.wait4(self.process.pid, os.WNOHANG))[0] == 0:
            if self.used() > SECONDS:
                self.process.kill()
                found = os.wait4(self.process.pid, 0)
                break
            time.sleep(0.02)
        self.process.returncode = os.waitstatus_to_exitcode(found[1])
        with self.process:
            self.errors = self.process.stderr.read()
        return self.process.returncode


def ends_late(tap, lode, store):
    for name, statement in STUCK.items():
        run = Run(lode, store, "--timeout", "100ms", statement)
        tap.check(run.end() == 2 and run.errors == "lode: stopped after 0.1 seconds: the limit of --timeout\n", f"{name}: --timeout ends it", [run.process.returncode, run.errors])


def meets_limits(tap, lode, store):
    for name, statement in LIMITED.items():
        run = Run(lode, store, statement)
        is_said = run.end() == 2 and run.errors.startswith("lode: ") and run.errors.count("\n") == 1
        tap.check(is_said or (name == "regexp" and run.process.returncode == 0), f"{name}: a limit ends it", [run.process.returncode, run.errors])


def ends_by_signal(tap, lode, store):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        run = Run(lode, store, STUCK["replace"])
        # It holds signals before it runs the statement, which is all that takes time.
        while run.process.poll() is None and run.used() < 0.1:
            time.sleep(0.01)
        run.process.send_signal(number)
        tap.check(run.end() == -number and run.errors == "lode: interrupted\n", f"{number.name} ends the program within a step", [run.process.returncode, run.errors])


def body(tap, lode, options):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([lode.program, "example", f"{folder}/demo"], check=True, stdout=subprocess.DEVNULL)
        store = f"{folder}/demo/solver"
        ends_late(tap, lode, store)
        meets_limits(tap, lode, store)
        ends_by_signal(tap, lode, store)


if __name__ == "__main__":
    sys.exit(stores.main(body))
