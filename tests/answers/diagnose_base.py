#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode diagnose NEW --base OLD` on made databases (diagnose_made.py): statements that are new, gone, larger, smaller or the same, by rule and normalised
function; what --fail-on makes of them. Stores of different kinds are refused.
"""

import argparse
import subprocess
import sys
import tempfile
from itertools import permutations
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import db_write  # noqa: E402
from diagnose_made import APP, MAIN, WAIT, Thread, database  # noqa: E402
from diagnose_rules import SOLVE, ask, close, openmp, ranks  # noqa: E402
from tap import Tap  # noqa: E402


def solve_as(name):
    return database([Thread({MAIN + ((APP, name),): 10.0}, line=(0, 10))])


STORES = {
    "quiet": database(ranks(4, [9.5] * 4, [0.5] * 4)),
    "mpi": database(ranks(4, [7.0] * 4, [3.0] * 4)),
    "mpi, little": database(ranks(4, [8.3] * 4, [1.7] * 4)),
    "mpi, noise": database(ranks(4, [6.97] * 4, [3.03] * 4)),
    "mpi, rounded": database(ranks(4, [6.94] * 4, [3.06] * 4)),
    "mpi, more": database(ranks(4, [5.0] * 4, [5.0] * 4)),
    "serial": database(openmp(4, 5.0, [4.8] * 4, [0.1, 5.1, 5.1, 5.1])),
    "waiting": database([Thread({SOLVE: 10.0}, line=(0, 10)), Thread({WAIT: 10.0}, thread=1, line=(0, 10))]),
    "short": database(ranks(4, [0.1] * 4, [0.01] * 4, line=(0, 0.1))),
    "clone": solve_as("solve.constprop.0"),
    "plain": solve_as("solve"),
    "other": solve_as("assemble"),
}
# New, base: the rule, its change, the gain in the base in per cent; rules that are gone; status with --fail-on likely:10%.
CASES = [
    ("mpi", "quiet", "mpi", "new", None, set(), 1),
    ("quiet", "mpi", None, None, None, {"mpi"}, 0),
    ("mpi", "mpi", "mpi", "same", 30, set(), 0),
    ("mpi, noise", "mpi", "mpi", "same", 30, set(), 0),
    ("mpi, more", "mpi", "mpi", "more", 30, set(), 0),
    ("mpi", "mpi, more", "mpi", "less", 50, set(), 0),
    ("waiting", "serial", "efficiency", "more", None, set(), 0),
    ("waiting", "mpi, little", "efficiency", "new", None, set(), 1),
    ("mpi", "short", "mpi", "unknown", None, set(), 2),
    ("mpi", "plain", "mpi", "unknown", None, set(), 2),
    ("clone", "plain", "hot-spot", "same", None, set(), 0),
    ("other", "plain", "hot-spot", "new", None, {"hot-spot"}, 0),
]


def different_kinds(tap, lode, database, folder):
    """Databases, calls and requests are never compared with each other."""
    subprocess.run([lode, "example", folder / "demo"], check=True, capture_output=True, timeout=300)
    stores = {"a database": database, "calls": folder / "demo" / "thumbs", "requests": folder / "demo" / "shop"}
    for new, base in permutations(stores, 2):
        done = subprocess.run([lode, "diagnose", "--base", stores[base], stores[new]], capture_output=True, text=True, timeout=300)
        tap.check(done.returncode == 2 and not done.stdout and "stores of different kinds" in done.stderr, f"{new} after {base} is refused", [done])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, help="the program to test")
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        paths = {store: Path(name) / str(i) for i, store in enumerate(STORES)}
        for store, data in STORES.items():
            db_write.write(paths[store], data)
        for new, base, id, change, gain, gone, status in CASES:
            said = ask(options.lode, paths[new], "--base", str(paths[base]))
            found = {s["id"]: s for s in said.get("statements", [])}
            wrong = [said["failed"]] if "failed" in said else []
            if id and (id not in found or found[id]["change"] != change or not close(found[id]["base_gain_percent"], gain)):
                wrong.append(f"{id}: {[(s['id'], s['change'], s['base_gain_percent']) for s in found.values()]}")
            if not gone <= {g["id"] for g in said.get("gone", [])} or (id in {g["id"] for g in said.get("gone", [])}) != (id in gone):
                wrong.append(f"gone: {said.get('gone')}")
            done = subprocess.run([options.lode, "diagnose", "--fail-on", "likely:10%", "--base", paths[base], paths[new]], capture_output=True, timeout=300)
            if done.returncode != status:
                wrong.append(f"status {done.returncode}, not {status}: {done.stderr.decode()}")
            if change not in (None, "same") and change.encode() not in done.stdout and change != "unknown" and id != "hot-spot":
                wrong.append("the text does not say so")
            tap.check(not wrong, f"{new} after {base}: {id or 'nothing'} {change or ''}", wrong)
        different_kinds(tap, options.lode, paths["mpi"], Path(name))
        for limit, status in (("31%", 1), ("30.6%", 1), ("31.1%", 0)):
            done = subprocess.run([options.lode, "diagnose", "--fail-on", f"likely:{limit}", paths["mpi, rounded"]], capture_output=True, timeout=300)
            tap.check(done.returncode == status and b"accounts for 31%" in done.stdout, f"30.6 %, printed as 31 %, against {limit}", [done])
        alone = ask(options.lode, paths["mpi"])
        tap.check(alone["base"] is None and alone["gone"] == [] and all(s["change"] is None for s in alone["statements"]), "without --base nothing is compared",
                  [alone])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
