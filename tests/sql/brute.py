#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Every set of conditions on the columns of `value`, with every order of up to three columns: the rows are those of a copy in
memory, in that order. Also as groups, and in the other order that the store has.
"""

import itertools
import sqlite3
import sys

import stores
from stores import SMALL

KEYS = ("profile_id", "context_id", "metric_id")


def conditions(rows):
    """For each key: none, equal, an IN list, ranges; with values that are there, and that are not."""
    result = []
    for i, key in enumerate(KEYS):
        known = sorted({r[i] for r in rows})
        middle, last = known[len(known) // 2], known[-1]
        result.append(["", f"{key} = {middle}", f"{key} in ({last}, {known[0]}, 999999, {middle})", f"{key} >= {middle}",
                       f"{key} < {middle}", f"{key} between {known[0]} and {middle}", f"{key} = 999999"])
    return result


def orders():
    for count in range(4):
        yield from itertools.permutations(KEYS, count)


def body(tap, lode, options):
    rows = [r for r in lode.rows(SMALL, "select * from value")]
    copy = sqlite3.connect(":memory:")
    copy.execute("create table value (profile_id integer, context_id integer, metric_id integer, value real)")
    copy.executemany("insert into value values (?, ?, ?, ?)", rows)
    statements = []
    for chosen in itertools.product(*conditions(rows)):
        where = " and ".join(c for c in chosen if c)
        where = f" where {where}" if where else ""
        for number, order in enumerate(orders()):
            by = ", ".join(order)
            statements.append(f"select {', '.join(KEYS)}, value from value{where}" + (f" order by {by}" if by else ""))
            if order and number % 3 == 0:
                statements.append(f"select {by}, count(*), max(value) from value{where} group by {by} order by {by}")
                statements.append(f"select {by}, count(*), max(value) from value{where} group by {by} order by max(value) desc, {by}")
    wrong, step = [], 1000
    for first in range(0, len(statements), step):
        part = statements[first:first + step]
        for text, (_, found) in zip(part, lode.results(SMALL, *part)):
            wanted = [tuple(r) for r in copy.execute(text)]
            by = text.partition(" order by ")[2].split(", ") if "group by" not in text else None
            at = [KEYS.index(k) for k in by if k in KEYS] if by else range(len(found[0]) if found and by is None else 0)
            if sorted(found) != sorted(wanted) or [[r[i] for i in at] for r in found] != [[r[i] for i in at] for r in wanted]:
                wrong.append(text)
    tap.check(not wrong and len(statements) > 5000, f"{len(statements)} statements on `value` give the rows of a copy", wrong[:5])


if __name__ == "__main__":
    sys.exit(stores.main(body, needs=(SMALL,)))
