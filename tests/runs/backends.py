#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A file and a server give the same answers: random runs, copied from one to the other and back, and random questions to both. By hand, in
full: --runs 10000 --questions 500.
"""

import argparse
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(ROOT / "tests" / "cli"), str(ROOT / "tests" / "tools")]

import cli  # noqa: E402
import make_catalogue  # noqa: E402
import postgresql  # noqa: E402
from tap import Tap  # noqa: E402

TITLES = ("solver", "mesh \"v2\"", "a'b;--", "größe", "100% {json} \\")
BRANCHES = ("main", "dev", "fix/\U0001f680")
METRICS = ("CPUTIME (sec)", "calls", "PAPI_L1:COUNT", "bytes")
DAY = 86400 * 10**9
TABLES = {
    "run": "SELECT id, path, format, begun, added, modified, bytes, profiles, (SELECT name FROM metric WHERE id = run.metric) FROM run ORDER BY id",
    "label": "SELECT run, name, value FROM label ORDER BY 1, 2",
    "total": "SELECT run, name, value FROM total JOIN metric ON metric.id = metric ORDER BY 1, 2",
    "cost": "SELECT run, metric.name, key.name, module, file, exclusive, inclusive, min, max FROM cost JOIN metric ON metric.id = cost.metric "
            "JOIN key ON key.id = key ORDER BY 1, 2, 3",
}


def name_of(function):
    return f"f{function}(int, std::vector<{'x' * (function % 7)}>)" if function % 5 else f"näme {function} '\"\\ {{}}"


def fill(file, count, chance):
    """Runs over three years, some older than any month of a server; functions and metrics come and go."""
    connection = sqlite3.connect(file)
    connection.executemany("INSERT INTO metric(id, name) VALUES(?, ?)", enumerate(METRICS, 1))
    connection.executemany("INSERT INTO key(id, name, module, file) VALUES(?, ?, ?, ?)", [(i + 1, name_of(i), f"m{i % 3}", "" if i % 2 else f"/src/{i}.c") for i in range(60)])
    for run in range(1, count + 1):
        begun = 10**9 * 86400 * 365 + run if chance.random() < 0.02 else make_catalogue.BEGIN - 900 * DAY + chance.randrange(1100 * DAY)
        # Numbers of metrics are those of their first use.
        metrics = [1, 2, 3, 4] if run == 1 else [1, *sorted(chance.sample((2, 3, 4), chance.randrange(4)))]
        connection.execute("INSERT INTO run VALUES(?, ?, 'synthetic', ?, ?, ?, ?, ?, ?)", (run, f"/scratch/{run}/'\"", begun, begun + run, begun + 1, run * 10, run % 9, metrics[0]))
        labels = {"title": chance.choice(TITLES), "branch": chance.choice(BRANCHES), "commit": f"{chance.getrandbits(64):x}", **({"host": f"n{run % 4}"} if run % 3 else {})}
        connection.executemany("INSERT INTO label VALUES(?, ?, ?)", [(run, name, value) for name, value in labels.items()])
        for metric in metrics:
            costs = [(i + 1, metric, run, value, 2 * value, *((value / 2, value * 3) if metric == 1 else (None, None)))
                     for i in chance.sample(range(60), chance.randrange(60)) for value in [float(round(1000 / (i + 1))) if metric > 1 else chance.lognormvariate(0, 0.05) * 100 / (i + 1)]]
            connection.execute("INSERT INTO total VALUES(?, ?, ?)", (metric, run, sum(cost[3] for cost in costs) or 1.0))
            connection.executemany("INSERT INTO cost VALUES(?, ?, ?, ?, ?, ?, ?)", costs)
    connection.execute("DELETE FROM key WHERE NOT EXISTS (SELECT 1 FROM cost WHERE cost.key = key.id)")
    connection.commit()
    connection.close()


def question(chance, runs):
    """Words of a random question."""
    words = [chance.choice(("list", "list", "trend", "trend", "trend", "check"))]
    if words[0] == "trend" and chance.random() < 0.7:
        words.append(chance.choice((name_of(chance.randrange(60)), f"f{chance.randrange(60)}", "f1", "*vector*", "absent", "NÄME 5", "näme 5 '\"\\ {}")))
    for name, values in (("title", TITLES), ("branch", BRANCHES), ("host", ("n1", "n2")), ("none", ("x",))):
        for _ in range(2):
            if chance.random() < (0.2 if name != "none" else 0.02):
                words += ["--label", f"{name}={chance.choice(values)}"]
    if chance.random() < 0.3:
        words += ["--since", chance.choice(("2024-01-15", "2025-06-01T10:00Z", "1990-01-01"))]
    if chance.random() < 0.3:
        words += ["--until", chance.choice(("2025-02-01", "2026-03-01T00:00Z"))]
    if chance.random() < 0.3 or words[0] == "list":
        words += ["--limit", str(chance.choice((0, 1, 3, 50)))]
    if words[0] != "list":
        words += chance.choice(([], ["--inclusive"]))
        words += chance.choice(([], ["--same", "title,branch"], ["--same", "none"], ["--same", "title,host"]))
        words += chance.choice(([], [], ["--metric", chance.choice((*METRICS, "PAPI", "c"))]))
    if words[0] == "check":
        words += chance.choice(([], ["--run", str(chance.randrange(1, runs + 2))]))
        words += chance.choice(([], ["--history", str(chance.choice((5, 20, 100)))]))
    return words


def answer(lode, words, place):
    done = subprocess.run([lode, "runs", *words, "--catalogue", str(place), "--json"], capture_output=True, env=cli.environment())
    errors = done.stderr.decode().replace(str(place), "PLACE")
    if not done.stdout:
        return done.returncode, None, errors
    found = json.loads(done.stdout)
    found["catalogue"] = None
    return done.returncode, found, errors


def tables(file):
    connection = sqlite3.connect(file)
    found = {name: connection.execute(text).fetchall() for name, text in TABLES.items()}
    connection.close()
    return found


def compare(tap, options, server, folder):
    chance, file, back = random.Random(options.seed), Path(folder) / "file.sqlite", Path(folder) / "back.sqlite"
    lode = str(Path(options.lode).resolve())
    address = server.address(server.database())
    make_catalogue.create(lode, file)
    fill(file, options.runs, chance)
    for words in (["init", "--catalogue", address], ["copy", file, address], ["copy", address, back]):
        done = subprocess.run([lode, "runs", *map(str, words)], capture_output=True, env=cli.environment())
        tap.check(done.returncode == 0, f"lode runs {words[0]}", [done.stderr.decode()])
    before, after = tables(file), tables(back)
    for name in TABLES:
        tap.check(before[name] == after[name] and before[name], f"{len(before[name])} rows of '{name}' are the same after a copy to a server and back",
                  [next(((a, b) for a, b in zip(before[name], after[name]) if a != b), (len(before[name]), len(after[name])))])
    wrong, told = [], 0
    for _ in range(options.questions):
        words = question(chance, options.runs)
        answers = [answer(lode, words, place) for place in (file, address)]
        told += answers[0][1] is not None
        if answers[0] != answers[1]:
            wrong.append((words, *(str(found)[:600] for found in answers)))
    tap.check(not wrong and told > options.questions // 3, f"{options.questions} random questions have the same answers ({told} answered)", [len(wrong), *wrong[:3]])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--runs", type=int, default=150)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tap = Tap()
    try:
        with tempfile.TemporaryDirectory() as folder, postgresql.Server() as server:
            compare(tap, options, server, folder)
    except postgresql.Missing as reason:
        tap.skip("the same answers", str(reason))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
