#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Makes a catalogue of synthetic runs: make_catalogue.py --lode PROGRAM FILE [--runs N] [--functions N] [--metrics N] ...

The program creates the file, so that its schema is the program's; Python's sqlite3 adds the runs. Costs are a level for each function and
metric with relative noise; a function can have a step at one run. Everything follows from the seed.
"""

import argparse
import math
import random
import sqlite3
import subprocess
import tempfile
from pathlib import Path

DAY = 86400 * 10**9
BEGIN = 1767225600 * 10**9  # 2026-01-01
METRICS = ("CPUTIME (sec)", "PAPI_TOT_INS", "calls")


def create(lode, file):
    """An empty catalogue: what the program makes of its first run, without that run."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([lode, "example", f"{folder}/demo"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([lode, "runs", "add", f"{folder}/demo/solver", "--catalogue", str(file)], check=True, stdout=subprocess.DEVNULL)
    connection = sqlite3.connect(file)
    for table in ("cost", "total", "label", "run", "key", "metric", "sqlite_sequence"):
        connection.execute(f"DELETE FROM {table}")
    connection.commit()
    connection.execute("VACUUM")
    connection.close()


def level(function):
    """Costs fall off by function."""
    return 100.0 / (1 + function)


def fill(file, runs, functions, metrics=1, noise=0.02, steps=(), seed=1, interval=DAY // 24, labels=lambda run: {"title": "synthetic"}):
    """`steps` are (function, run, factor): from that run on, the cost is multiplied. Returns {(function, metric): [cost of each run]}."""
    chance = random.Random(seed)
    connection = sqlite3.connect(file)
    connection.executemany("INSERT INTO metric(id, name) VALUES(?, ?)", [(i + 1, METRICS[i]) for i in range(metrics)])
    connection.executemany("INSERT INTO key(id, name, module, file) VALUES(?, ?, '', '')",
                           [(i + 1, f"function_{i}(int)") for i in range(functions)])
    series = {(function, metric): [] for function in range(functions) for metric in range(metrics)}
    totals = []
    for run in range(runs):
        sums = [0.0] * metrics
        for (function, metric), values in series.items():
            factor = math.prod(step for at, first, step in steps if at == function and run >= first)
            spread = 0 if METRICS[metric] == "calls" else noise
            value = level(function) * factor * math.exp(chance.gauss(0, spread) if spread else 0)
            if METRICS[metric] == "calls":
                value = float(round(1000 * level(function) * factor))
            values.append(value)
            sums[metric] += value
        totals.append(sums)
    connection.executemany("INSERT INTO run(id, path, format, begun, added, modified, bytes, profiles, metric) VALUES(?, ?, 'synthetic', ?, ?, ?, 1, 1, 1)",
                           [(run + 1, f"/runs/{run}", BEGIN + run * interval, BEGIN + run * interval, run) for run in range(runs)])
    connection.executemany("INSERT INTO label(run, name, value) VALUES(?, ?, ?)",
                           [(run + 1, name, value) for run in range(runs) for name, value in labels(run).items()])
    connection.executemany("INSERT INTO total(metric, run, value) VALUES(?, ?, ?)",
                           [(metric + 1, run + 1, totals[run][metric]) for metric in range(metrics) for run in range(runs)])
    for (function, metric), values in series.items():
        connection.executemany("INSERT INTO cost(key, metric, run, exclusive, inclusive) VALUES(?, ?, ?, ?, ?)",
                               [(function + 1, metric + 1, run + 1, value, 2 * value) for run, value in enumerate(values)])
    connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'run'", (runs,))
    connection.execute("INSERT OR IGNORE INTO sqlite_sequence(name, seq) SELECT 'run', ? WHERE NOT EXISTS(SELECT 1 FROM sqlite_sequence)", (runs,))
    connection.commit()
    connection.close()
    return series


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True)
    parser.add_argument("file", type=Path)
    parser.add_argument("--runs", type=int, default=10000)
    parser.add_argument("--functions", type=int, default=200)
    parser.add_argument("--metrics", type=int, default=3)
    parser.add_argument("--noise", type=float, default=0.02)
    parser.add_argument("--step", action="append", default=[], help="FUNCTION,RUN,FACTOR")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    create(options.lode, options.file)
    steps = [(int(a), int(b), float(c)) for a, b, c in (text.split(",") for text in options.step)]
    fill(options.file, options.runs, options.functions, options.metrics, options.noise, steps, options.seed)


if __name__ == "__main__":
    main()
