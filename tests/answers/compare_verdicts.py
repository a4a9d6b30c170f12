#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode compare --base ... --new ...` on databases whose every cost is known: medians, p after Benjamini-Hochberg, intervals, smallest visible changes
and verdicts of each function and of the total, by scipy. And `lode gate` on such databases: what moved within a file or class does not fail, and
imbalance does.
"""

import argparse
import itertools
import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools"), str(ROOT / "tests" / "statistics")]

import db_made  # noqa: E402
import db_write  # noqa: E402
import oracle  # noqa: E402
from tap import Tap  # noqa: E402

VERDICTS = {0: "cannot tell", 1: "same", 2: "less", 3: "more"}
MARGIN = 0.05
SHOWN = 10


def run(lode, folder, *words):
    done = subprocess.run([lode, *words, "--json"], cwd=folder, capture_output=True, text=True, timeout=300)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def near(found, wanted, relative=1e-7):
    if found is None or wanted is None:
        return found is None and (wanted is None or not math.isfinite(wanted))
    return abs(found - wanted) <= relative * max(abs(found), abs(wanted), 1e-6)


# ---- verdicts ----

def shift_interval(x, y, level):
    """Shifts that the exact U test does not reject, by trying every difference of a pair."""
    pairs = sorted(b - a for a in x for b in y)
    tiny = min((b - a for a, b in itertools.pairwise(pairs) if b > a), default=1e-6) / 4
    kept = [at for at in pairs if any(oracle.stats.mannwhitneyu([v - at - d for v in y], x, method="exact").pvalue > level * (1 + 1e-12)
                                      for d in (tiny, -tiny))]
    return kept[0], kept[-1]


def judged(level, base, new):
    """method, p, ratio, low and high ratio, smallest visible change, verdict before the adjustment; of positive runs."""
    method, p, _, difference, low = oracle.expected_judgement(level, 0.0, base, new)
    high = None if low is None else 2 * difference - low
    if method == 4:
        low, high = shift_interval([math.log(v) for v in base], [math.log(v) for v in new], level)
    margin = math.log1p(MARGIN)
    verdict = 3 if low > 0 else 2 if high < 0 else 1 if low >= -margin and high <= margin else 0
    return p, math.exp(low), math.exp(high), math.exp(difference - low) - 1, verdict


def random_runs(random, count, functions, effect):
    """Runs of a program: {function: cost} of each, over a few profiles."""
    noise = [random.choice((0.002, 0.02, 0.1)) for _ in range(functions)]
    size = [random.choice((10, 100, 1000)) for _ in range(functions)]
    return noise, size, [[size[f] * effect[f] * math.exp(random.gauss(0, noise[f])) for f in range(functions)] for _ in range(count)]


def check_case(tap, counts, lode, seed):
    random = Random(seed)
    functions, level = random.randrange(2, 7), random.choice((0.05, 0.01))
    sizes = random.choice(((1, 5), (5, 1), (2, 3), (5, 5), (6, 4), (8, 8), (3, 3)))
    named = [(f"function{i}", f"/src/file{i}.c") for i in range(functions)]
    noise, size, base = random_runs(random, sizes[0], functions, [1.0] * functions)
    effect = [random.choice((1.0, 1.0, 1.3, 0.7)) for _ in range(functions)]
    new = [[size[f] * effect[f] * math.exp(random.gauss(0, noise[f])) for f in range(functions)] for _ in range(sizes[1])]
    with tempfile.TemporaryDirectory() as folder:
        words = []
        for side, runs in (("base", base), ("new", new)):
            words.append(f"--{side}")
            for i, costs in enumerate(runs):
                parts = [[0.25 * v for v in costs], [0.75 * v for v in costs]]
                db_write.write(Path(folder) / f"{side}{i}", db_made.flat(named, parts))
                words.append(f"{side}{i}")
        status, answer = run(lode, folder, "compare", "--limit", "0", "--all", "--confidence", str(100 - 100 * level), *words)
    wrong = [] if status == 0 else [answer]
    rows = {row["name"]: row for row in answer["rows"] if row["name"].startswith("function")} if status == 0 else {}
    wanted = {f"function{f}": ([r[f] for r in base], [r[f] for r in new]) for f in range(functions)}
    expected = {name: judged(level, *values) for name, values in wanted.items()}
    # main has no cost of its own: there is nothing to test.
    adjusted = dict(zip(expected, (value for _, value in sorted(oracle.hochberg([e[0] for e in expected.values()]).items()))))
    for name, (left, right) in wanted.items():
        p, low, high, visible, verdict = expected[name]
        if verdict in (2, 3) and adjusted[name] > level:
            verdict = 0
        row = rows.get(name)
        if row is None:
            wrong.append(f"{name}: no row")
            continue
        checks = {"base": statistics.median(left), "new": statistics.median(right), "p": adjusted[name], "ratio_low": low, "ratio_high": high,
                  "smallest_visible_percent": 100 * visible}
        wrong += [f"{name}: {key} is {row[key]}, should be {value}" for key, value in checks.items() if not near(row[key], value, 1e-6)]
        if row["verdict"] != VERDICTS[verdict]:
            wrong.append(f"{name}: {row['verdict']}, should be {VERDICTS[verdict]}: p {p}, adjusted {adjusted[name]}")
        counts[row["verdict"]] += 1
    if status == 0:
        total = answer["metrics"][0]
        p, low, high, visible, verdict = judged(level, [sum(r) for r in base], [sum(r) for r in new])
        for key, value in {"p": p, "ratio_low": low, "ratio_high": high, "smallest_visible_percent": 100 * visible}.items():
            if not near(total[key], value, 1e-6):
                wrong.append(f"total: {key} is {total[key]}, should be {value}")
        if total["verdict"] != VERDICTS[verdict]:
            wrong.append(f"total: {total['verdict']}, should be {VERDICTS[verdict]}")
    tap.check(not wrong, f"{sizes[0]} and {sizes[1]} runs, {functions} functions at level {level}, seed {seed}", wrong[:SHOWN])


# ---- the gate ----

def check_moved(tap, lode):
    """Functions of one file, or class, exchange costs: nothing became slower. Elsewhere the same change fails."""
    one_file = [("solve", "/src/a.c"), ("apply", "/src/a.c"), ("rest", "/src/b.c")]
    classes = [("app::Grid::solve(int)", "/src/a.c"), ("app::Grid::apply(int)", "/src/c.c"), ("rest", "/src/b.c")]
    two_files = [("solve", "/src/a.c"), ("apply", "/src/c.c"), ("rest", "/src/b.c")]
    moved, more = [[400, 600, 1000]], [[400, 800, 1000]]
    for title, functions, costs, status, within in (
            ("moved within a file", one_file, moved, 0, "a.c"), ("moved within a class", classes, moved, 0, "app::Grid"),
            ("the same change in two files", two_files, moved, 1, None), ("more in one file than moved", one_file, more, 1, None)):
        with tempfile.TemporaryDirectory() as folder:
            for name, values in (("a", [[600, 400, 1000]]), ("b", costs)):
                db_write.write(Path(folder) / name, db_made.flat(functions, values, "calls"))
            found, answer = run(lode, folder, "gate", "--max-function", "10%", "a", "b")
            _, compared = run(lode, folder, "compare", "--limit", "0", "a", "b")
        rows = [row for row in answer["rows"] if row["name"]]
        marks = {row["moved_within"] for row in rows if row["base"] != row["new"]}
        shown = {row["moved_within"] for row in compared["rows"]}
        tap.check(found == status and marks == {within} and shown == {within}, f"gate, {title}: status {status}", [found, marks, shown, rows])


def check_imbalance(tap, lode, random):
    """max/mean - 1 of the cost of everything over profiles: the median of the runs of a side."""
    functions = [("solve", "/src/a.c"), ("apply", "/src/a.c")]
    wrong, cases = [], 0
    for _ in range(12):
        with tempfile.TemporaryDirectory() as folder:
            words, wanted = [], []
            for side in ("base", "new"):
                words.append(f"--{side}")
                values = []
                for i in range(random.randrange(1, 4)):
                    costs = [[random.randrange(1, 100), random.randrange(0, 100)] for _ in range(random.randrange(1, 9))]
                    totals = [sum(own) for own in costs]
                    values.append(max(totals) / statistics.mean(totals) - 1)
                    db_write.write(Path(folder) / f"{side}{i}", db_made.flat(functions, costs))
                    words.append(f"{side}{i}")
                wanted.append(statistics.median(values))
            for limit in (100 * wanted[1] + 0.1, 100 * wanted[1] - 0.1):
                if limit < 0:
                    continue
                status, answer = run(lode, folder, "gate", "--max-imbalance", f"{limit:.6f}%", *words)
                row = answer["rows"][0]
                right = status == (1 if limit < 100 * wanted[1] else 0) and near(row["base"], wanted[0]) and near(row["new"], wanted[1])
                wrong += [] if right else [f"limit {limit} %: status {status}, {row['base']}, {row['new']}, should be {wanted}"]
                cases += 1
    tap.check(not wrong, f"gate, --max-imbalance: {cases} limits around the imbalance", wrong[:SHOWN])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, help="the program to test")
    parser.add_argument("--count", type=int, default=200, help="how many cases of several runs")
    options = parser.parse_args()
    tap, counts, lode = Tap(), Counter(), str(Path(options.lode).resolve())
    if oracle.stats is None:
        tap.skip("verdicts", "there is no scipy")
        return tap.finish()
    check_moved(tap, lode)
    check_imbalance(tap, lode, Random(1))
    for seed in range(options.count):
        check_case(tap, counts, lode, seed)
    tap.check(set(counts) == set(VERDICTS.values()), f"all verdicts occur: {dict(counts)}")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
