#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The questions of `.questions`: each runs on a store of its kind. Those on plain tables give the rows that SQLite gives on an exported
file; numbers that a command shows are those of its JSON (and thereby of tests/answers).
"""

import math
import re
import sys
import tempfile
from collections import defaultdict

import stores
from grammar import difference
from stores import DATABASE, REQUESTS, THREADS, as_json

# Statements on tables that are computed: no file has them.
COMPUTED = {1, 2, 3, 4, 5, 8, 9, 16}


def questions(lode, store):
    text = lode.call("sql", store, ".questions").stdout
    return {int(number): body.strip().rstrip(";") for number, body in re.findall(r"^-- (\d+): [^\n]*\n(.*?)\n\n", text, re.M | re.S)}


def near(found, wanted):
    return len(found) == len(wanted) and all(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) for a, b in zip(found, wanted))


def same_as_plain(tap, lode, store, asked, numbers):
    with tempfile.TemporaryDirectory() as folder:
        plain = lode.plain(store, folder)
        for number in sorted(set(numbers) & set(asked)):
            wanted = [as_json(r) for r in plain.execute(asked[number])]
            problem = difference(lode.rows(store, asked[number]), wanted, 0)
            tap.check(not problem, f"question {number}: {len(wanted)} rows, as in a file", [problem])


def of_databases(tap, lode):
    asked = questions(lode, DATABASE)
    same_as_plain(tap, lode, DATABASE, asked, set(range(1, 15)) - COMPUTED)
    slowest = [r["value"] for r in lode.json("profiles", DATABASE, "--limit", 5)["rows"]]
    tap.check(near([r[2] for r in lode.rows(DATABASE, asked[7])], slowest), "question 7: the values of lode profiles")
    if 1 not in asked:
        tap.skip("questions about costs", "this library has no table functions")
        return
    top = lode.json("top", DATABASE, "--limit", 0)["rows"]
    first = lode.rows(DATABASE, asked[1])
    wanted = sorted((r["exclusive"] for r in top), reverse=True)
    tap.check(near([r[1] for r in first], wanted[:10]) and {r[0] for r in first} <= {r["name"] for r in top}, "question 1: the rows of lode top", first)
    tap.check(near([r[2] for r in first], [100 * v / sum(wanted) for v in wanted[:10]]), "question 1: percentages")
    lines = [r for r in lode.json("top", DATABASE, "--by", "line", "--limit", 0)["rows"] if (r["file"] or "").lower().endswith(".cc")]
    tap.check(near([r[1] for r in lode.rows(DATABASE, asked[2])], sorted((r["exclusive"] for r in lines), reverse=True)[:5]), "question 2: the rows of lode top --by line")
    tap.check(near([sum(r[1] for r in lode.rows(DATABASE, asked[3]))], [sum(wanted)]), "question 3: the parts add up")
    path = lode.rows(DATABASE, asked[5])
    tap.check([r[0] for r in path] == list(range(len(path))) and len(path) > 1, "question 5: a path from the root", path)
    costs = dict(lode.rows(DATABASE, "select context_id, inclusive from cost"))
    tree = lode.json("tree", DATABASE, "--limit", 0, "--min-percent", 0)["rows"]
    tree = {r["context"]: r["inclusive"] for r in tree if r["contexts"] == 1}
    tap.check(len(tree) > 3 and all(math.isclose(costs.get(c, 0), v, rel_tol=1e-9, abs_tol=1e-12) for c, v in tree.items()), "cost: as lode tree has it")
    callers = lode.rows(DATABASE, asked[4].replace("%brk%", "%"))
    tap.check(sum(r[1] for r in callers) > 0 and all(r[2] >= 0 for r in callers), "question 4: callers and paths")
    context, found = lode.rows(DATABASE, "select id from context where name like 'main%' and kind = 'function' limit 1")[0][0], lode.results(DATABASE, asked[8])[0]
    one = dict(zip(found[0], found[1][0]))
    spread = lode.json("context", DATABASE, context)["distribution"]
    tap.check(near([one[k] for k in ("min", "p5", "p25", "p50", "p75", "p95", "p99", "max", "mean", "stddev", "imbalance")],
                   [spread[k] for k in ("min", "p5", "p25", "median", "p75", "p95", "p99", "max", "mean", "stddev", "imbalance")]),
              "question 8: the distribution of lode context", [one, spread])
    worst = lode.rows(DATABASE, asked[9])
    tap.check(all(a[1] >= b[1] for a, b in zip(worst, worst[1:])), "question 9: the largest first")


def of_recordings(tap, lode):
    asked = questions(lode, THREADS)
    same_as_plain(tap, lode, THREADS, asked, {15, 17, 18})
    if 16 not in asked:
        tap.skip("question 16", "this library has no table functions")
        return
    top = {r["name"]: r for r in lode.json("top", THREADS, "--limit", 0)["rows"]}
    found = lode.rows(THREADS, "select function, calls, total_ns, self_ns, p50_ns, p99_ns, max_ns from call_stat")
    tap.check(len(found) == len(top) and all([r[1:]] == [tuple(top[r[0]][k] for k in ("calls", "total_ns", "self_ns", "p50_ns", "p99_ns", "max_ns"))] for r in found),
              "call_stat: the rows of lode top", found)
    tails = sorted((r["p99_ns"] / r["p50_ns"] for r in top.values() if r["calls"] >= 5), reverse=True)[:5]
    tap.check(near([r[4] for r in lode.rows(THREADS, asked[16])], tails), "question 16: the worst tails of lode top")


def of_requests(tap, lode):
    asked = questions(lode, REQUESTS)
    same_as_plain(tap, lode, REQUESTS, asked, {15, 18, 19, 20})
    rows = lode.json("search", REQUESTS, "--limit", 0)["rows"]
    failures, uris = defaultdict(list), defaultdict(list)
    for row in rows:
        if row["errors"]:
            failures[row["exception"]].append(row["duration_ns"])
        if "URI" in row["attributes"]:
            uris[str(row["attributes"]["URI"])].append(row["duration_ns"])
    found = {r[0]: r[1:] for r in lode.rows(REQUESTS, asked[19])}
    tap.check(found == {k: (len(v), max(v) / 1e6) for k, v in failures.items()}, "question 19: the failures of lode search", [found])
    found = {r[0]: r[1:] for r in lode.rows(REQUESTS, asked[20])}
    tap.check(found.keys() == uris.keys() and all(near(found[k], (len(v), sum(v) / len(v) / 1e6, max(v) / 1e6)) for k, v in uris.items()),
              "question 20: the requests of lode search", [found, dict(uris)])


def body(tap, lode, options):
    of_databases(tap, lode)
    of_recordings(tap, lode)
    of_requests(tap, lode)


if __name__ == "__main__":
    sys.exit(stores.main(body, needs=(DATABASE, THREADS, REQUESTS)))
