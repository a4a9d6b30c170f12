#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The questions of `.questions` fit the store: on the stores of `lode example`, and on those of the corpus, each gives rows. Those on plain
tables give the rows that SQLite gives on an exported file; numbers that a command shows are those of its JSON (and thereby of tests/answers).
"""

import math
import re
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import stores
from grammar import difference
from stores import CORPUS, DATABASE, REQUESTS, SMALL, THREADS, as_json

# Statements on tables that are computed: no file has them.
COMPUTED = {1, 2, 3, 4, 5, 8, 9, 16}
OTHERS = (CORPUS / "pprof", CORPUS / "folded")


class Quantile:
    """median(x) and quantile(x, q), slowly."""

    def __init__(self):
        self.values, self.share = [], 0.5

    def step(self, value, share=0.5):
        self.share = share
        if value is not None:
            self.values.append(value)

    def finalize(self):
        if not self.values:
            return None
        values = sorted(self.values)
        position = self.share * (len(values) - 1)
        below = int(position)
        return values[below] + (position - below) * (values[min(below + 1, len(values) - 1)] - values[below])


class Asked:
    """The questions of a store, and the columns of their rows by number."""

    def __init__(self, lode, store):
        found = re.findall(r"^-- (\d+): ([^\n]*)\n(.*?)\n\n", lode.call("sql", store, ".questions").stdout, re.M | re.S)
        self.lode, self.store = lode, store
        self.titles = {int(number): title for number, title, _ in found}
        self.texts = {int(number): body.strip().rstrip(";") for number, _, body in found}
        results = lode.results(store, *self.texts.values()) if found else []
        self.names = dict(zip(self.texts, (columns for columns, _ in results)))
        self.rows = dict(zip(self.texts, (rows for _, rows in results)))

    def column(self, number, name):
        at = self.names[number].index(name)
        return [row[at] for row in self.rows[number]]

    def json(self, *arguments):
        return self.lode.json(arguments[0], self.store, *arguments[1:])

    def literal(self, number):
        """The name that a question was fitted to."""
        return re.findall(r" = '((?:[^']|'')*)'", self.texts[number])[-1].replace("''", "'")


def near(found, wanted):
    return len(found) == len(wanted) and all(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) for a, b in zip(found, wanted))


def give_rows(tap, asked, least):
    empty = [n for n, rows in asked.rows.items() if not rows]
    tap.check(not empty and len(asked.rows) >= least, f"{asked.store.name}: all {len(asked.rows)} questions give rows", empty)
    mixed = [t for t in asked.texts.values() if " value v " in t and "v.value" in t and "m.name =" not in t]
    tap.check(not mixed, f"{asked.store.name}: no question adds up values of several metrics", mixed)


def same_as_plain(tap, asked):
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        plain = asked.lode.plain(asked.store, folder)
        plain.create_aggregate("median", 1, Quantile)
        plain.create_aggregate("quantile", 2, Quantile)
        for number in sorted(set(asked.texts) - COMPUTED):
            wanted = [as_json(r) for r in plain.execute(asked.texts[number])]
            problem = difference(asked.rows[number], wanted, 0)
            if problem:
                wrong.append(f"{number}: {problem}")
    tap.check(not wrong, f"{asked.store.name}: rows of plain tables are as in a file", wrong)


def costs(tap, asked):
    """Questions 1 to 5: what `lode top`, `lode tree` and `lode context` say."""
    top = {by: asked.json("top", "--by", by, "--limit", 0)["rows"] for by in ("function", "line", "kind")}
    wanted = sorted((r["exclusive"] for r in top["function"]), reverse=True)
    tap.check(near(asked.column(1, "exclusive"), wanted[:10]) and set(asked.column(1, "name")) <= {r["name"] for r in top["function"]}, "1: the rows of lode top")
    tap.check(near(asked.column(1, "percent"), [100 * v / sum(wanted) for v in wanted[:10]]), "1: percentages")
    if 2 in asked.rows:
        lines = sorted((r["exclusive"] for r in top["line"] if r["file"] == asked.literal(2)), reverse=True)
        tap.check(near(asked.column(2, "exclusive"), lines[:5]) and lines, "2: the rows of lode top --by line")
    kinds = sorted(((r["exclusive"], r["name"]) for r in top["kind"]), reverse=True)
    tap.check(sorted(zip(asked.column(3, "exclusive"), asked.column(3, "name")), reverse=True) == kinds, "3: the rows of lode top --by kind")
    if 4 in asked.rows:
        rows = asked.json("tree", "--callers", asked.literal(4), "--limit", 0, "--min-percent", 0)["rows"]
        callers = defaultdict(float)
        for row in rows:
            if row["depth"] == 1:
                callers[row["name"]] += row["inclusive"]
        found = dict(zip(asked.column(4, "caller"), asked.column(4, "total")))
        # Where the address of a call is all that is known, the tree has it instead of the entry point.
        common = found.keys() & callers.keys()
        tap.check(common and near([found[n] for n in common], [callers[n] for n in common]) and near(sorted(found.values()), sorted(callers.values())),
                  "4: the callers of lode tree", [found, dict(callers)])
    context = asked.lode.rows(asked.store, "select context_id from cost order by exclusive desc, context_id limit 1")[0][0]
    path = asked.json("context", context)["path"]
    tap.check([r[1] for r in asked.rows[5]] == [p["name"] for p in path] and [r[0] for r in asked.rows[5]] == list(range(len(path))), "5: the path of lode context")
    found = dict(asked.lode.rows(asked.store, "select context_id, inclusive from cost"))
    tree = {r["context"]: r["inclusive"] for r in asked.json("tree", "--limit", 0, "--min-percent", 0)["rows"] if r["contexts"] == 1}
    tap.check(len(tree) > 3 and all(math.isclose(found.get(c, 0), v, rel_tol=1e-9, abs_tol=1e-12) for c, v in tree.items()), "cost: as lode tree has it")


def below(tap, asked):
    """Question 6, by a walk through parents."""
    parents = asked.lode.rows(asked.store, "select id, parent_id, kind from context order by position")
    root = int(re.search(r"r\.id = (\d+)", asked.texts[6])[1])
    inside, kinds = {root}, defaultdict(int)
    for number, parent, kind in parents:
        if number == root or parent in inside:
            inside.add(number)
            kinds[kind] += 1
    tap.check(dict(asked.rows[6]) == kinds, "6: the contexts below one", [asked.rows[6], dict(kinds)])


def spreads(tap, asked):
    """Questions 7 to 11: what `lode profiles`, `lode context` and `lode top --by rank` say."""
    profiles = asked.json("profiles", "--limit", 0)
    values = [r["value"] for r in profiles["rows"]]
    tap.check(near(asked.column(7, "value"), values[:5]) and profiles["metric"] in asked.titles[7], "7: the values of lode profiles")
    if 8 in asked.rows:
        one = dict(zip(asked.names[8], asked.rows[8][0]))
        spread = asked.json("context", re.search(r"\((\d+)\)", asked.texts[8])[1])["distribution"]
        tap.check(near([one[k] for k in ("min", "p5", "p25", "p50", "p75", "p95", "p99", "max", "mean", "stddev", "imbalance")],
                       [spread[k] for k in ("min", "p5", "p25", "median", "p75", "p95", "p99", "max", "mean", "stddev", "imbalance")]),
                  "8: the distribution of lode context", [one, spread])
    wasted = asked.column(9, "wasted")
    tap.check(wasted == sorted(wasted, reverse=True), "9: the largest first")
    name, most, imbalance = asked.rows[9][0]
    contexts = [asked.json("context", r[0])["distribution"] for r in asked.lode.rows(asked.store, f"select id from context where kind = 'function' and name = '{name}'")]
    tap.check(any(near((d["max"] - d["mean"], d["imbalance"]), (most, imbalance)) for d in contexts), "9: the imbalance of lode context", [asked.rows[9][0], contexts])
    if 10 in asked.rows:
        ranks = {r["id_tuple"][-1]["id"]: (r["value"], r["max"]) for r in asked.json("top", "--by", "rank", "--limit", 0)["rows"]}
        found = {r: (t, m) for r, t, m in zip(*(asked.column(10, c) for c in ("rank", "total", "largest"))) if r is not None}
        tap.check(found.keys() == ranks.keys() and all(near(found[r], ranks[r]) for r in found), "10: the values of lode top --by rank", [found, ranks])
    middle = statistics.median(values)
    wanted = sorted((abs(v - middle) for v in values), reverse=True)[:5]
    tap.check(near([abs(d) for d in asked.column(11, "deviation")], wanted) and near([x - middle for x in asked.column(11, "x")], asked.column(11, "deviation")),
              "11: the values of lode profiles that are farthest from their median")
    metric = profiles["metric"]
    totals = [v for n, scope, combine, v in asked.rows.get(14, ()) if (n, scope, combine) == (metric, "execution", "sum")]
    tap.check(14 not in asked.rows or near(totals[:1], [asked.json("top")["total"]]), "14: the total of lode top", totals)


def of_databases(tap, lode, store, least):
    asked = Asked(lode, store)
    give_rows(tap, asked, least)
    same_as_plain(tap, asked)
    costs(tap, asked)
    if 6 in asked.rows:
        below(tap, asked)
    spreads(tap, asked)


def of_recordings(tap, lode, store, least):
    asked = Asked(lode, store)
    give_rows(tap, asked, least)
    same_as_plain(tap, asked)
    rows = asked.json("top", "--limit", 0, "--sched")["rows"]
    top = {r["name"]: r for r in rows}
    found = lode.rows(store, "select function, calls, total_ns, self_ns, p50_ns, p99_ns, max_ns from call_stat")
    tap.check(len(found) == len(rows) and sorted(found) == sorted(tuple(r[k] for k in ("name", "calls", "total_ns", "self_ns", "p50_ns", "p99_ns", "max_ns")) for r in rows),
              "call_stat: the rows of lode top", found)
    tap.check(near(asked.column(15, "ms")[:1], [max(r["max_ns"] for r in rows) / 1e6]), "15: the longest call of lode top")
    tails = sorted((r["p99_ns"] / r["p50_ns"] for r in rows if r["p50_ns"]), reverse=True)[:5]
    tap.check(near(asked.column(16, "tail"), tails), "16: the worst tails of lode top")
    tap.check(17 not in asked.rows or near([sum(asked.column(17, "ms"))], [sum(r["total_ns"] for r in rows if r["name"].startswith("linux:schedule")) / 1e6]),
              "17: the off-CPU time of lode top")
    tap.check(sum(asked.column(18, "calls")) == sum(r["calls"] for r in rows) and near([sum(asked.column(18, "ms"))], [sum(r["self_ns"] for r in rows) / 1e6]),
              "18: the calls and times of lode top")
    name = asked.literal(19)
    callers = defaultdict(lambda: (0, 0))  # functions of one name are several rows
    for row in asked.json("top", "--callers", name, "--limit", 0, "--sched")["rows"]:
        callers[row["name"]] = (callers[row["name"]][0] + row["calls"], callers[row["name"]][1] + row["total_ns"] / 1e6)
    found = {c: (n, t) for c, n, t in zip(*(asked.column(19, k) for k in ("caller", "calls", "total_ms"))) if c is not None}
    tap.check(found.keys() <= callers.keys() and all(near(found[c], callers[c]) for c in found if c != name), "19: the callers of lode top", [name, found, callers])
    tap.check(top[name]["calls"] == sum(asked.column(19, "calls")), "19: all of its calls")
    return asked


def of_requests(tap, lode, store, least):
    asked = of_recordings(tap, lode, store, least)
    failures = defaultdict(list)
    for row in asked.json("search", "--limit", 0)["rows"]:
        if row["errors"]:
            failures[row["exception"]].append(row["duration_ns"])
    found = {r[0]: r[1:] for r in asked.rows.get(20, ())}
    tap.check(found == {k: (len(v), max(v) / 1e6) for k, v in failures.items()}, "20: the failures of lode search", [found])
    groups = {r["value"]: (r["requests"], r["mean_ns"] / 1e6, r["max_ns"] / 1e6) for r in asked.json("search", "--by", asked.literal(21), "--limit", 0)["rows"]}
    groups.pop(None, None)
    found = {r[0]: (r[1], r[2], r[4]) for r in asked.rows[21]}
    tap.check(found.keys() == groups.keys() and all(near(found[k], groups[k]) for k in found), "21: the groups of lode search", [found, groups])


def hostile_names(tap, lode, demo):
    """A name with quotes is a text of SQL; what a terminal would not get is in no question."""
    store = demo.parent / "quotes.folded"
    store.write_text("main;it's \"a\" {metric} {} -- name 5\nmain;other 2\n", encoding="utf-8")
    asked = Asked(lode, store)
    tap.check("it's" in asked.titles[4] and asked.rows[4] == [("main", 1, 5.0)], "a function whose name has quotes and marks", [asked.titles, asked.rows.get(4)])


def body(tap, lode, options):
    with tempfile.TemporaryDirectory() as folder:
        demo = Path(folder) / "demo"
        lode.call("example", demo)
        of_databases(tap, lode, demo / "solver", 14)
        of_recordings(tap, lode, demo / "thumbs", 5)
        of_requests(tap, lode, demo / "shop", 6)
        hostile_names(tap, lode, demo)
    for ask, store, least in ((of_databases, DATABASE, 12), (of_recordings, THREADS, 4), (of_requests, REQUESTS, 5)):
        if store.exists():
            ask(tap, lode, store, least)
        else:
            tap.skip(f"questions about {store.name}", "it is not in the corpus")
    imported = [path for folder in OTHERS if folder.exists() for path in sorted(folder.iterdir()) if path.is_file()][:6]
    for store in [SMALL] * SMALL.exists() + imported:
        if lode.call("sql", store, "select 1").returncode == 0:
            asked = Asked(lode, store)
            give_rows(tap, asked, 5)


if __name__ == "__main__":
    sys.exit(stores.main(body))
