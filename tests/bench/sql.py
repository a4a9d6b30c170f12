#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
SQL against calls of the library, in processor time: all values, one profile, one context, both, groups, hotspots, on a database that
`lode synth` makes. sql.py BUILD [--profiles N] [--contexts N] [--assert F]: F times the limits of doc/scale.md are errors.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
from tap import Tap  # noqa: E402

# Microseconds that a statement may cost besides twice the calls: to parse, plan and open.
START = 1000
# Times the calls that only read: groups by profile change with every row.
LIMITS = {"grouped by metric": 3.5, "grouped by profile": 6}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--profiles", type=int, default=560)
    parser.add_argument("--contexts", type=int, default=10000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--assert", dest="factor", type=float, default=0)
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "db"
        subprocess.run([options.build / "src/cli/lode", "synth", "database", "--profiles", str(options.profiles), "--contexts", str(options.contexts),
                        "--density", "1", "--samples", "0", "-o", store], check=True, stdout=subprocess.DEVNULL)
        lines = subprocess.run([options.build / "tests/bench/sql_cost", store, str(options.repeats)], check=True, capture_output=True, text=True).stdout
        values = int(subprocess.run([options.build / "src/cli/lode", "sql", store, "--csv", "select count(*) from value"],
                                    check=True, capture_output=True, text=True).stdout.split()[1])
        database, recording = Path(folder) / "functions", Path(folder) / "recording"
        subprocess.run([options.build / "src/cli/lode", "synth", "database", "--profiles", "50", "--contexts", str(options.contexts), "-o", database],
                       check=True, stdout=subprocess.DEVNULL)
        subprocess.run([options.build / "src/cli/lode", "synth", "recording", "--records", str(100 * options.contexts), "-o", recording], check=True, stdout=subprocess.DEVNULL)
        functions = subprocess.run([options.build / "tests/bench/sql_functions", database, recording, str(options.repeats)], check=True, capture_output=True, text=True).stdout
    for name, calls, statement, rows in (line.split("\t") for line in functions.splitlines()):
        calls, statement, rows = float(calls), float(statement), int(rows)
        times = 3 if name == "grouped" else 1.2  # rows of calls, where `call_stat` needs none
        tap.check(statement <= (options.factor or 1e9) * (times * calls + START), f"{name}(): {calls / 1e3:.3f} ms by a call, {statement / 1e3:.3f} ms in SQL: {statement / calls:.2f}, {rows} rows")
    for line in lines.splitlines():
        name, *numbers = line.split("\t")
        if numbers == ["not there"]:
            tap.skip(name, "this library has no such table")
            continue
        calls, statement = float(numbers[0]), float(numbers[1])
        text = f"{name}: {calls / 1e3:.3f} ms by calls, {statement / 1e3:.3f} ms in SQL"
        factor = options.factor or 1e9
        if name in ("all values", "count"):
            speed = values / statement
            tap.check(speed * factor >= 15, f"{text}, {speed:.1f} M rows/s of {values}")
        elif name == "by context":
            tap.check(True, f"{text}, {values / statement:.1f} M rows/s")
        elif name.startswith("grouped"):
            tap.check(statement <= factor * (LIMITS[name] * calls + START), f"{text}: {statement / calls:.1f}")
        elif name == "hotspots":
            tap.check(statement <= factor * (1.2 * calls + START), text)
        else:
            tap.check(statement <= factor * (2 * calls + START), text)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
