#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table `compare` of two stores has the rows of `lode compare --all`, in their order, for every kind of row and every metric."""

import json
import sys

import stores
from stores import CORPUS, DATABASE, RECORDING, REQUESTS, SMALL, THREADS

PAIRS = ((SMALL, DATABASE), (DATABASE, SMALL), (DATABASE, DATABASE), (RECORDING, THREADS), (THREADS, RECORDING), (REQUESTS, REQUESTS))
KEYS = ("function", "line", "loop", "module", "file")
COLUMNS = ("name", "base_exclusive", "new_exclusive", "difference", "base_inclusive", "new_inclusive", "only_in", "moved_within",
           "perhaps_renamed", "base_name", "new_name")


def metrics_of(lode, store):
    if store in (RECORDING, THREADS, REQUESTS):
        return [None, "time", "running", "calls"]
    return [None, *(r[0] for r in lode.rows(store, "select distinct name from metric order by name"))]


def wanted(lode, base, new, by, metric):
    """The rows of the command; None if it refuses the question."""
    more = ("--metric", metric) if metric else ()
    done = lode.call("compare", base, new, "--all", "--by", by, "--limit", "0", "--json", *more)
    if done.returncode not in (0, 1):
        return None
    return [tuple(row[c] for c in COLUMNS) for row in json.loads(done.stdout)["rows"]]


def check_pair(tap, lode, base, new):
    wrong, rows = [], 0
    for by in KEYS:
        for metric in metrics_of(lode, base):
            expected = wanted(lode, base, new, by, metric)
            text = f"select * from compare('{by}', {'null' if metric is None else repr(metric)})"
            done = lode.call("sql", f"a={base}", f"b={new}", "--json", "--file", "-", text=text + ";\n")
            if expected is None:
                if done.returncode == 0:
                    wrong.append(f"{text}: the command refuses it")
                continue
            if done.returncode != 0:
                wrong.append(f"{text}: {done.stderr}")
                continue
            # The command sorts rows of equal change by name; so does this.
            key = lambda r: (-abs(r[3]), *(str(v) for v in r))  # noqa: E731
            found = [tuple(row) for row in json.loads(done.stdout)["results"][0]["rows"]]
            rows += len(found)
            if sorted(found, key=key) != sorted(expected, key=key):
                wrong.append(f"{text}: {[r for r in found if r not in expected][:2]} instead of {[r for r in expected if r not in found][:2]}")
            if [abs(r[3]) for r in found] != sorted((abs(r[3]) for r in found), reverse=True):
                wrong.append(f"{text}: another order")
    tap.check(not wrong and rows > 0, f"{base.name} and {new.name}: {rows} rows of compare are those of the command", wrong[:5])


def refuses(tap, lode):
    for store, text, message in (((SMALL,), "select * from compare", "no such table"), ((f"a={SMALL}", f"b={RECORDING}"), "select * from compare", "no such table"),
                                 ((f"a={SMALL}", f"b={DATABASE}"), "select * from compare('thing')", "not by 'thing'"),
                                 ((f"a={SMALL}", f"b={DATABASE}"), "select * from compare('function', 'thing')", "thing"),
                                 ((f"a={RECORDING}", f"b={THREADS}"), "select * from compare('function', 'thing')", "time, running and calls")):
        done = lode.call("sql", *store, text)
        tap.check(done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1, f"{text} with {len(store)} stores is refused", [done.stderr])


def several(tap, lode):
    """Of several stores, each has a table that compares it with the first one."""
    three = (f"a={SMALL}", f"b={DATABASE}", f"c={SMALL}")
    found = lode.rows(three, "select count(*), sum(difference <> 0), max(only_in) from c.compare")[0]
    tap.check(found[0] > 0 and found[1:] == (0, None), "a store and itself: nothing changed", [found])
    rows = lode.rows(three, "select b.name, h.exclusive - b.new_exclusive from b.compare b join b.hotspot h on h.name = b.new_name where b.only_in = 'new'")
    tap.check(rows and all(abs(r[1]) < 1e-9 for r in rows), "a join with hotspots of the same store", [rows[:3]])


def body(tap, lode, options):
    for base, new in PAIRS:
        check_pair(tap, lode, base, new)
    refuses(tap, lode)
    several(tap, lode)


if __name__ == "__main__":
    sys.exit(stores.main(body, needs=(SMALL, DATABASE, RECORDING, THREADS, REQUESTS)))
