#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode compare --base ... --new ...` and `lode gate` on databases whose every cost is known: means, p, intervals, needed runs and verdicts of each
function and of the total are those of tests/statistics/judge_reference.py, the same from both commands. And what moved within a file or class, between
caller and callee, or to another name does not fail a gate, and imbalance does.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "tools"), str(ROOT / "tests" / "statistics")]

import references  # noqa: E402,F401
import db_made  # noqa: E402
import db_write  # noqa: E402
import oracle  # noqa: E402
from tap import Tap  # noqa: E402

try:
    import judge_reference as reference
except ImportError:  # no scipy
    reference = None

VERDICTS = {0: "cannot tell", 1: "same", 2: "less", 3: "more"}
SHOWN = 10


def run(lode, folder, *words):
    done = subprocess.run([lode, *words, "--json"], cwd=folder, capture_output=True, text=True, timeout=300)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def near(found, wanted, relative=1e-7):
    if found is None or wanted is None:
        return found is None and (wanted is None or not math.isfinite(wanted))
    return abs(found - wanted) <= relative * max(abs(found), abs(wanted), 1e-6)


# ---- verdicts ----

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
        _, lode_gate = run(lode, folder, "gate", "--confidence", str(100 - 100 * level), *words)
    wrong = [] if status == 0 else [answer]
    rows = {row["name"]: row for row in answer["rows"] if row["name"].startswith("function")} if status == 0 else {}
    table = [[r[f] for r in base + new] for f in range(functions)]
    judged = reference.Table(table, [sum(column) for column in zip(*table)], len(base), level)
    for f in range(functions):
        row, right, name = rows.get(f"function{f}"), judged.at(f), f"function{f}"
        if row is None:
            wrong.append(f"{name}: no row")
            continue
        checks = {"base": right.base, "new": right.new, "p": right.adjusted, "ratio_low": right.low, "ratio_high": right.high,
                  "needed_runs": right.needed, "ratio": right.ratio, "difference": right.new - right.base}
        wrong += [f"{name}: {key} is {row[key]}, should be {value}" for key, value in checks.items() if not near(row[key], value, 1e-6)]
        if row["verdict"] != VERDICTS[right.verdict] or row["is_pooled"] != judged.pooled[f]:
            wrong.append(f"{name}: {row['verdict']}, should be {VERDICTS[right.verdict]}: {right}")
        counts[row["verdict"]] += 1
    if status == 0:
        total, right = answer["metrics"][0], judged.total()
        for key, value in {"base": right.base, "new": right.new, "p": right.adjusted, "ratio_low": right.low, "ratio_high": right.high,
                           "needed_runs": right.needed, "test_count": judged.tests, "pooled_count": sum(judged.pooled),
                           "is_equal_speed": judged.equal_speed}.items():
            if not near(total[key], value, 1e-6):
                wrong.append(f"total: {key} is {total[key]}, should be {value}")
        if total["verdict"] != VERDICTS[right.verdict]:
            wrong.append(f"total: {total['verdict']}, should be {VERDICTS[right.verdict]}")
    wrong += gate_agrees(lode_gate, judged, named) if status == 0 else []
    tap.check(not wrong, f"{sizes[0]} and {sizes[1]} runs, {functions} functions at level {level}, seed {seed}: compare and gate are the reference", wrong[:SHOWN])


def gate_agrees(answer, judged, named):
    """The gate on the same runs: the intervals of compare, and failures where they are beyond the limit."""
    wrong, outcomes = [], ("pass", "fail", "cannot tell")
    for row in answer["rows"]:
        right = judged.total() if row["name"] is None else judged.at(int(row["name"][len("function"):]), True)
        limit = row["limit_percent"] / 100
        numbers = {"base": right.base, "new": right.new, "low_percent": 100 * (right.low - 1), "high_percent": 100 * (right.high - 1)}
        wrong += [f"gate, {row['name']}: {key} is {row[key]}, should be {value}" for key, value in numbers.items() if not near(row[key], value, 1e-6)]
        if row["outcome"] != outcomes[right.outcome(limit)] and row["moved_within"] is None:
            wrong.append(f"gate, {row['name']}: {row['outcome']}, should be {outcomes[right.outcome(limit)]}")
    return wrong


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


def with_main(data, own):
    """The same, where main has costs of its own."""
    for profile in data["profiles"]:
        for context in "0", "1", "2":
            profile["values"][context]["2"] += own
        profile["values"]["2"].update({"0": own, "1": own})
    return data


def check_moved_elsewhere(tap, lode):
    """Between caller and callee, and to another name: the sum decides. In time of several runs and in calls of one."""
    def renamed(name):
        return [(name, f"/src/{name}.c"), ("apply", "/src/b.c"), ("rest", "/src/c.c")]

    cases = [("an inlined function", renamed("solve"), [600, 400, 1000], 100.0, [0, 400, 1000], 700.0, 0),
             ("a caller that takes more than its callee gave", renamed("solve"), [600, 400, 1000], 100.0, [0, 400, 1000], 1100.0, 1),
             ("a renamed function", renamed("project"), [600, 400, 1000], 100.0, [600, 400, 1000], 100.0, 0),
             ("a renamed function that is slower", renamed("project"), [600, 400, 1000], 100.0, [900, 400, 1000], 100.0, 1)]
    for title, functions, before, main_before, after, main_after, status in cases:
        for metric, runs, words in (("calls", 1, []), ("cycles", 5, ["--max-function", "10%"])):
            random = Random(title + metric)
            with tempfile.TemporaryDirectory() as folder:
                sides = []
                for side, own, values, names in (("base", main_before, before, renamed("solve")), ("new", main_after, after, functions)):
                    sides.append(f"--{side}")
                    for i in range(runs):
                        noise = [1.0 if metric == "calls" else math.exp(random.gauss(0, 0.01)) for _ in range(4)]
                        data = db_made.flat(names, [[v * n for v, n in zip(values, noise)]], metric)
                        db_write.write(Path(folder) / f"{side}{i}", with_main(data, own * noise[3]))
                        sides.append(f"{side}{i}")
                found, answer = run(lode, folder, "gate", "--max-function", "10%", *words, *sides)
            tap.check(found == status, f"gate, {metric}: {title}: status {status}", answer if isinstance(answer, str) else answer["rows"])


def check_period(tap, lode):
    """A database without traces whose costs are multiples of one: that many samples, and their error."""
    functions = [(f"function{i}", f"/src/{i}.c") for i in range(6)]
    base, new, period = [40, 25, 10, 5, 3, 1], [52, 25, 11, 4, 3, 1], 10000
    with tempfile.TemporaryDirectory() as folder:
        for name, counts in (("a", base), ("b", new), ("c", [base[0] + 0.5, *base[1:]])):
            db_write.write(Path(folder) / name, db_made.flat(functions, [[period * v for v in counts]]))
        _, sampled = run(lode, folder, "compare", "--all", "--limit", "0", "a", "b")
        _, other = run(lode, folder, "compare", "--all", "--limit", "0", "a", "c")
    errors = {row["name"]: row["sampling_error"] for row in sampled["rows"]}
    wrong = [(i, errors[f"function{i}"]) for i in range(6) if not near(errors[f"function{i}"], period * math.sqrt(base[i] + new[i]))]
    tap.check(not wrong, "without traces, the sampling error is that of cost / period samples", wrong)
    tap.check(all(row["sampling_error"] is None for row in other["rows"]), "costs that are no multiples of one have no known sampling error")


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
    if reference is None:
        tap.skip("verdicts", "there is no scipy")
        return tap.finish()
    check_moved(tap, lode)
    check_moved_elsewhere(tap, lode)
    check_period(tap, lode)
    check_imbalance(tap, lode, Random(1))
    for seed in range(options.count):
        check_case(tap, counts, lode, seed)
    tap.check(set(counts) == set(VERDICTS.values()), f"all verdicts occur: {dict(counts)}")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
