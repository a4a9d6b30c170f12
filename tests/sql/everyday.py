#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What people meet on their first day, on the stores of `lode example`: comments, numbers with all their digits, names that are not there,
median and quantile, hotspots by kind, and advice of --explain.
"""

import csv
import io
import json
import random
import statistics
import sys
import tempfile
from pathlib import Path

import stores


def comments(tap, lode, demo):
    store = demo / "solver"
    for text in ("-- what\nselect 7", "--what is it\nselect 7", "--\nselect 7", "/* what */ select 7", "  -- what\n  /* and */ select 7 -- more"):
        done = lode.call("sql", store, "--csv", text)
        tap.check(done.returncode == 0 and done.stdout.splitlines()[1:] == ["7"], f"a statement begins with a comment: {text!r}", [done.stdout, done.stderr])
    done = lode.call("sql", store, "--explain", "-- what\nselect * from metric")
    tap.check(done.returncode == 0 and "metric" in done.stdout, "so does one that is explained", [done.stderr])
    for text in ("--what", "--limit 5", "--=x\nselect 7"):
        done = lode.call("sql", store, text)
        tap.check(done.returncode == 2 and "unknown option" in done.stderr, f"{text!r} is an option", [done.stdout, done.stderr])


def digits(tap, lode, demo):
    r = random.Random(7)
    numbers = [1 / 3, 0.1, 0.1 + 0.2, 123456.789012345, 2.0**53, 2.0**60, 1e300, 5e-324, -1.5, *(r.uniform(-1, 1) * 10 ** r.randint(-20, 20) for _ in range(40))]
    whole = [2**53 + 1, 2**63 - 1, -(2**63), 1234567890123456789]
    text = f"select * from (values {', '.join(f'({n!r})' for n in numbers)}, {', '.join(f'({n})' for n in whole)})"
    found = lode.call("sql", demo / "solver", text).stdout.split()[1:]
    tap.check([float(n) for n in found[:len(numbers)]] == numbers, "text has all digits of reals", found)
    tap.check(all(len(n) <= len(repr(w)) for n, w in zip(found, numbers) if 1e-300 < abs(w) < 2**53), "and no more than needed", found)
    tap.check([int(n) for n in found[len(numbers):]] == whole, "and all of integers", found)


def names(tap, lode, demo):
    solver, thumbs = demo / "solver", demo / "thumbs"
    for given, text, wanted in (((solver,), "select * from calls", ("no such table: calls", "context", "hotspot")), ((thumbs,), "select * from samples", ("call_stat",)),
                                ((f"a={solver}", f"b={thumbs}"), "select * from b.sample", ("'a' has store", "'b' has store")),
                                ((solver,), "select time from value", ("no such column: time", "'value' has profile_id, context_id")),
                                ((f"a={solver}", f"b={thumbs}"), "select v.x from a.value v", ("'value' has profile_id",)),
                                ((solver,), "select * from hotspot('thing')", ("symbol or kind",)), ((f"a={solver}", f"b={solver}"), "select * from compare('kind')", ("not by 'kind'",))):
        done = lode.call("sql", *given, text)
        tap.check(done.returncode == 2 and done.stderr.count("\n") == 1 and all(w in done.stderr for w in wanted), f"{text}: the message lists names", [done.stderr])
    nine = [f"s{i}={solver}" for i in range(9)]
    done = lode.call("sql", *nine, "select * from nowhere")
    tap.check(done.returncode == 2 and len(done.stderr) < 700 and done.stderr.endswith("...\n"), "a list that is too long ends with ...", [done.stderr])


def reference(values, q):
    """As numpy.quantile has it by default."""
    values = sorted(values)
    position = q * (len(values) - 1)
    below = int(position)
    above = min(below + 1, len(values) - 1)
    return values[below] + (position - below) * (values[above] - values[below])


def quantiles(tap, lode, demo):
    r, wrong, count = random.Random(11), [], 0
    shares = (0, 0.01, 0.25, 0.5, 0.9, 0.99, 1)
    for size in (1, 2, 3, 16, 17, 18, 40, 1000):
        for values in ([r.random() for _ in range(size)], [r.randrange(4) for _ in range(size)], list(range(size)), list(range(size, 0, -1)), [5.5] * size):
            rows = ", ".join(f"({v!r})" for v in values)
            found = lode.rows(demo / "solver", f"with t(x) as (values {rows}) select median(x), {', '.join(f'quantile(x, {q})' for q in shares)} from t")[0]
            wanted = (statistics.median(values), *(reference(values, q) for q in shares))
            count += len(wanted)
            if any(abs(a - b) > 1e-12 * abs(b) for a, b in zip(found, wanted)):
                wrong.append((values[:20], found, wanted))
    tap.check(not wrong, f"{count} medians and quantiles are those of a slow reference", wrong[:3])
    found = lode.rows(demo / "solver", "with t(x) as (values (null), (1), (null), ('3')) select median(x), quantile(x, 0.75) from t")
    tap.check(found == [(2, 2.5)], "NULL counts as nothing, text that is a number as that", found)
    found = lode.rows(demo / "solver", "select median(1), quantile(1, 0.5) where 0 union all select median(null), quantile(null, 0.5)")
    tap.check(found == [(None, None), (None, None)], "without values there is none", found)
    found = lode.rows(demo / "thumbs", "select function, median(duration_ns), quantile(duration_ns, 0.9) from call group by function")
    calls = {}
    for function, duration in lode.rows(demo / "thumbs", "select function, duration_ns from call"):
        calls.setdefault(function, []).append(duration)
    tap.check(len(found) > 2 and all(abs(a - statistics.median(calls[f])) < 1e-6 and abs(b - reference(calls[f], 0.9)) < 1e-3 for f, a, b in found), "by group", found)
    for text in ("select quantile(value, 1.5) from value", "select quantile(value, null) from value", "select quantile(value, 'a') from value",
                 "select quantile(value, context_id * 0.001) from value", "select median(name) from context"):
        done = lode.call("sql", demo / "solver", text)
        tap.check(done.returncode == 2 and done.stderr.count("\n") == 1, f"{text} is refused", [done.stdout, done.stderr])
    spread = lode.json("context", demo / "solver", 0)
    one = lode.rows(demo / "solver", "select median(value), quantile(value, 0.25), quantile(value, 0.99) from value v join metric m on m.id = v.metric_id "
                                     "where context_id = 0 and m.name = 'CPUTIME (sec)' and m.scope = 'execution'")[0]
    tap.check(spread["profiles_without_value"] == 0 and all(abs(a - spread["distribution"][k]) < 1e-9 for a, k in zip(one, ("median", "p25", "p99"))),
              "the percentiles of lode context", [one, spread["distribution"]])


def bounded(tap, lode, demo):
    text = "with recursive r(x) as (select 1 union all select x + 1 from r limit 4000000) select median(x) from r"
    done = lode.call("sql", demo / "solver", "--memory", "20M", text)
    tap.check(done.returncode == 2 and "--memory" in done.stderr, "median is held to the memory budget", [done.stdout, done.stderr])
    tap.check(lode.rows(demo / "solver", text.replace("4000000", "1000000")) == [(500000.5,)], "and takes a million values")


def kinds(tap, lode, demo):
    for metric in ("null", "'CPUTIME (sec)'"):
        found = lode.rows(demo / "solver", f"select name, exclusive, inclusive, contexts from hotspot('kind', {metric})")
        wanted = [(r["name"], r["exclusive"], r["inclusive"], r["contexts"]) for r in lode.json("top", demo / "solver", "--by", "kind")["rows"]]
        tap.check(found == wanted and len(found) > 2, f"hotspot('kind', {metric}): the rows of lode top --by kind", [found, wanted])


def advice(tap, lode, demo):
    for text, is_advised in (("select function, count(*) from call group by function", True), ("select function_id, avg(self_ns) a from call c group by 1 order by a", True),
                             ("select f.name, count(*) from call c join function f on f.id = c.function_id group by f.name", True),
                             ("select track_id, count(*) from call group by 1", False), ("select depth, count(*) from call group by 1", False),
                             ("select * from call where function = 'main'", False)):
        done = lode.call("sql", demo / "thumbs", "--explain", text)
        tap.check(("advice: call_stat" in done.stdout) == is_advised and done.returncode == 0, f"{text}: {'call_stat' if is_advised else 'nothing'} is advised", [done.stdout])
    for store, text, is_advised in (("solver", "select metric_id, profile_id, max(value) from value group by metric_id, profile_id", True), ("thumbs", "select depth, count(*) from call group by 1", True),
                                    ("solver", "select kind, count(*) from context group by kind", False), ("solver", "select profile_id, max(value) from value group by profile_id", False)):
        done = lode.call("sql", demo / store, "--explain", text)
        tap.check(("advice: grouped" in done.stdout) == is_advised and done.returncode == 0, f"{text}: {'grouped' if is_advised else 'nothing'} is advised", [done.stdout])


def calls_of(events, tracks):
    """(track, begin, duration, id, parent) of calls in the order of their ends, from events by track."""
    rows, counts, stacks = [], {}, {}
    for track, time, kind in events:
        stack = stacks.setdefault(track, [])
        if kind in ("enter", "sched_out"):
            number = counts.get(track, 0)
            counts[track] = number + 1
            stack.append((time, number * tracks + track))
        elif kind in ("leave", "sched_in") and stack:
            begin, number = stack.pop()
            rows.append((track, begin, time - begin, number, stack[-1][1] if stack else None))
    return rows


def ids(tap, lode, demo):
    columns = "track_id, begin_ns, duration_ns, id, parent_id"
    for store in (demo / "thumbs", demo / "shop"):
        tracks = lode.rows(store, "select count(*) from track")[0][0]
        wanted = calls_of(lode.rows(store, "select track_id, time_ns, kind from event where track_id is not null"), tracks)
        tap.check(len({r[3] for r in wanted}) == len(wanted) > 100 and any(r[4] is not None for r in wanted), f"{store.name}: the reference has unique ids")
        for threads in ("1", "2"):
            done = lode.call("sql", store, "--threads", threads, "--json", f"select {columns} from call")
            found = [tuple(r) for r in json.loads(done.stdout)["results"][0]["rows"]]
            tap.check(found == wanted, f"{store.name}: ids and parents of {len(found)} calls, {threads} threads", [r for r in zip(found, wanted) if r[0] != r[1]][:3])
        last = wanted[-1][0]
        for where, keep in ((f"track_id = {last}", lambda r: r[0] == last), (f"id = {wanted[7][3]}", lambda r: r[3] == wanted[7][3]),
                            (f"parent_id = {wanted[7][4] or 0}", lambda r: r[4] == (wanted[7][4] or 0)), ("parent_id is null", lambda r: r[4] is None)):
            found = lode.rows(store, f"select {columns} from call where {where}")
            tap.check(found == [r for r in wanted if keep(r)] != [], f"{store.name}: calls where {where}", found[:5])
        found = lode.rows(store, f"select {columns} from call limit 20 offset 50")
        tap.check(found == wanted[50:70], f"{store.name}: calls after others", found[:5])
        found = lode.rows(store, "with p as materialized (select id, depth, begin_ns, duration_ns from call) select count(*), "
                                 "sum(c.depth = p.depth + 1 and c.begin_ns >= p.begin_ns and c.begin_ns + c.duration_ns <= p.begin_ns + p.duration_ns) "
                                 "from call c join p on p.id = c.parent_id")[0]
        tap.check(found == (sum(r[4] is not None for r in wanted),) * 2, f"{store.name}: a call is within its parent", [found])
    # A time window: export has the tables of a slice.
    window = ("--from", "70ms", "--to", "110ms")
    tables = {}
    for name in ("event", "call"):
        done = lode.call("export", demo / "thumbs", "--format", "csv", "--table", name, *window, "-o", "-")
        tables[name] = list(csv.DictReader(io.StringIO(done.stdout)))
        tap.check(done.returncode == 0 and len(tables[name]) > 10, f"{name}: {len(tables[name])} rows in a time window", [done.stderr])
    wanted = calls_of([(int(r["track_id"]), int(r["time_ns"]), r["kind"]) for r in tables["event"] if r["track_id"]], 4)
    found = [(int(r["track_id"]), int(r["begin_ns"]), int(r["duration_ns"]), int(r["id"]), int(r["parent_id"]) if r["parent_id"] else None) for r in tables["call"]]
    tap.check(found == wanted, "ids and parents of calls in it", [r for r in zip(found, wanted) if r[0] != r[1]][:3])


def body(tap, lode, options):
    with tempfile.TemporaryDirectory() as folder:
        demo = Path(folder) / "demo"
        lode.call("example", demo)
        for part in (comments, digits, names, quantiles, bounded, kinds, advice, ids):
            part(tap, lode, demo)


if __name__ == "__main__":
    sys.exit(stores.main(body))
