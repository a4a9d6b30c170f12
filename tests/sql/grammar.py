#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Random statements from a grammar over the tables of a store: `lode sql` gives the rows that plain SQLite gives on the file that
`lode export` writes. Conditions compare columns with constants of every type, also of another one than the column's; there are
joins, groups, orders, IN lists, subqueries, LIMIT and OFFSET. --queries 10000 is the campaign; --seed chooses other statements.
"""

import math
import random
import sqlite3
import sys
import tempfile

import stores
from stores import REQUESTS, SMALL, RECORDING, as_json

ODD = ["null", "-1", "0", "1", "2.5", "3.0", "'1'", "'2.0'", "'x'", "''", "' 3 '", "1e300", "-1e300", "4294967295", "4294967296",
       "9223372036854775807", "-9223372036854775808", "x'31'", "0.1"]
JOINS = {("value", "context"): ("context_id", "id"), ("value", "profile"): ("profile_id", "id"), ("value", "metric"): ("metric_id", "id"),
         ("sample", "context"): ("context_id", "id"), ("sample", "profile"): ("profile_id", "id"), ("total", "context"): ("context_id", "id"),
         ("context", "function"): ("function_id", "id"), ("function", "file"): ("file_id", "id"), ("context", "context"): ("parent_id", "id"),
         ("function", "context"): ("id", "function_id"), ("context", "value"): ("id", "context_id"), ("profile", "value"): ("id", "profile_id"),
         ("context", "sample"): ("id", "context_id"), ("module", "context"): ("id", "module_id"), ("context", "total"): ("id", "context_id"),
         ("call", "track"): ("track_id", "id"), ("call", "function"): ("function_id", "id"), ("event", "track"): ("track_id", "id"),
         ("track", "call"): ("id", "track_id"), ("function", "call"): ("id", "function_id"), ("track", "event"): ("id", "track_id"),
         ("request", "attribute"): ("track_id", "track_id"), ("attribute", "track"): ("track_id", "id")}


class Grammar:
    def __init__(self, tables, plain, seed):
        self.random = random.Random(seed)
        # A file has no path of its store: agreement.py has that table.
        known = {r[0] for r in plain.execute("select name from sqlite_schema")} - {"store"}
        self.tables = {t: c for t, c in tables.items() if t in known}
        self.samples = {}
        for table, columns in self.tables.items():
            rows = plain.execute(f"select * from \"{table}\" limit 2000").fetchall()
            self.samples[table] = {name: [r[i] for r in rows] for i, (name, _) in enumerate(columns)}

    def pick(self, things):
        return self.random.choice(list(things))

    def chance(self, part):
        return self.random.random() < part

    def constant(self, table, column):
        known = self.samples[table][column]
        if not known or self.chance(0.25):
            return self.pick(ODD)
        value = self.pick(known)
        if value is None:
            return "null"
        if isinstance(value, str):
            return "'" + value.replace("'", "''") + "'"
        if isinstance(value, float):
            return repr(value)
        if self.chance(0.2):
            value += self.pick((-1, 1))
        return self.pick((str(value), str(value), f"'{value}'", f"{value}.0" if abs(value) < 2**53 else str(value)))

    def condition(self, names):
        alias, table = self.pick(names)
        column, kind = self.pick(self.tables[table])
        c, v = f"{alias}.{column}", lambda: self.constant(table, column)
        form = self.random.randrange(12)
        if form < 5:
            return f"{c} {self.pick(('=', '=', '=', '<', '<=', '>', '>=', '<>'))} {v()}"
        if form == 5:
            return f"{c} between {v()} and {v()}"
        if form < 8:
            return f"{c} in ({', '.join(v() for _ in range(self.random.randrange(1, 6)))})"
        if form == 8:
            return f"{c} is {self.pick(('', 'not '))}{self.pick(('null', v()))}"
        if form == 9 and kind == "text":
            return f"{c} {self.pick(('like', 'glob'))} '{self.pick(('%a%', 'm%', '*a*', 'CPU%'))}'"
        if form == 10 and kind == "text":
            return f"{c} = {v()} collate nocase"
        if form == 11:
            other, other_table = self.pick(names)
            return f"{c} {self.pick(('=', '<='))} {other}.{self.pick(self.tables[other_table])[0]}"
        return f"{c} in (select {column} from \"{table}\" where {column} >= {v()} order by 1 limit 3)" if kind == "integer" and not c.endswith("_ns") else f"{c} = {v()}"

    def conditions(self, names):
        count = self.random.choice((0, 1, 1, 1, 2, 2, 3))
        parts = [self.condition(names) for _ in range(count)]
        if count > 1 and self.chance(0.2):
            parts = [f"({parts[0]} or {parts[1]})", *parts[2:]]
        return f" where {' and '.join(parts)}" if parts else ""

    def source(self):
        table = self.pick(self.tables)
        pairs = [p for p in JOINS if p[0] == table and p[1] in self.tables]
        if not pairs or self.chance(0.65):
            return f'"{table}" a', [("a", table)]
        pair = self.pick(pairs)
        left, right = JOINS[pair]
        return f'"{table}" a {self.pick(("join", "join", "left join"))} "{pair[1]}" b on a.{left} = b.{right}', [("a", table), ("b", pair[1])]

    def column(self, names):
        alias, table = self.pick(names)
        return f"{alias}.{self.pick(self.tables[table])[0]}"

    def statement(self):
        """(SQL, how many of the first columns are in order, whether the rows are cut without an order)."""
        source, names = self.source()
        where = self.conditions(names)
        form = self.random.randrange(10)
        if form < 3:
            keys = list(dict.fromkeys(self.column(names) for _ in range(self.pick((1, 1, 2, 3)))))
            last = f" order by {', '.join(str(i + 1) + self.pick(('', '', ' desc')) for i in range(len(keys)))}" if self.chance(0.5) else ""
            having = " having count(*) > 1" if self.chance(0.2) else ""
            value = self.column(names)
            return f"select {', '.join(keys)}, count(*), min({value}), max({value}) from {source}{where} group by {', '.join(keys)}{having}{last}", len(keys) if last else 0, 0
        if form == 3:
            keys = list(dict.fromkeys(self.column(names) for _ in range(self.pick((1, 2)))))
            return f"select distinct {', '.join(keys)} from {source}{where}", 0, 0
        if form == 4:
            value = self.column(names)
            return f"select count(*), count({value}), min({value}), max({value}) from {source}{where}", 0, 0
        every = [f"{a}.{c}" for a, t in names for c, _ in self.tables[t]]
        if form < 8:
            keys = list(dict.fromkeys(self.column(names) for _ in range(self.pick((1, 2, 3)))))
            others = [c for c in every if c not in keys]
            way = self.pick(("", "", "", " desc"))
            text = f"select {', '.join(keys + others)} from {source}{where} order by {', '.join(f'{i + 1}{way}' for i in range(len(keys)))}"
            if self.chance(0.4):
                # All columns: equal rows are the same row.
                text += "".join(f", {i + 1}" for i in range(len(keys), len(every)))
                text += f" limit {self.random.randrange(20)}" + (f" offset {self.random.randrange(30)}" if self.chance(0.6) else "")
                return text, len(every), 0
            return text, len(keys), 0
        return f"select {', '.join(every)} from {source}{where}", 0, 0


def is_near(a, b):
    return a == b or (isinstance(a, float) and isinstance(b, (int, float)) and math.isclose(a, b, rel_tol=1e-9))


def sort_key(row):
    return tuple((v is not None, isinstance(v, str), v if v is not None else 0) for v in row)


def difference(found, wanted, ordered):
    if len(found) != len(wanted):
        return f"{len(found)} rows instead of {len(wanted)}"
    if [r[:ordered] for r in found] != [r[:ordered] for r in wanted]:
        return "another order"
    for a, b in zip(sorted(found, key=sort_key), sorted(wanted, key=sort_key)):
        if len(a) != len(b) or not all(map(is_near, a, b)):
            return f"{a} instead of {b}"
    return None


def compare(lode, store, plain, cases):
    """Those of the cases that differ. A statement that is an error must be one in both."""
    wanted = []
    for text, _, _ in cases:
        try:
            wanted.append([as_json(r) for r in plain.execute(text).fetchall()])
        except sqlite3.Error as error:
            wanted.append(str(error))
    wrong = []
    sound = [i for i, w in enumerate(wanted) if not isinstance(w, str)]
    found = dict(zip(sound, lode.results(store, *(cases[i][0] for i in sound))))
    for i in sound:
        problem = difference(found[i][1], wanted[i], cases[i][1])
        if problem:
            wrong.append(f"{cases[i][0]}: {problem}")
    return wrong, len(sound)


def check_store(tap, lode, store, count, seed):
    with tempfile.TemporaryDirectory() as folder:
        plain = lode.plain(store, folder)
        grammar = Grammar(lode.tables(store), plain, seed)
        wrong, sound, step = [], 0, 200
        for first in range(0, count, step):
            part, done = compare(lode, store, plain, [grammar.statement() for _ in range(min(step, count - first))])
            wrong += part
            sound += done
        tap.check(not wrong and sound > count * 0.9, f"{store.parent.name}/{store.name}: {sound} random statements give the rows of plain SQLite", wrong[:5])


def offsets_are_jumps(tap, lode):
    """LIMIT and OFFSET without an order: a part of what comes without them."""
    wrong = []
    for table in ("value", "sample", "context"):
        for where in ("", "where context_id = 3" if table != "context" else "where depth > 3", "where profile_id in (1, 3)" if table != "context" else "where id > 5"):
            whole, *parts = (r for _, r in lode.results(SMALL, f"select * from {table} {where}", *(
                f"select * from {table} {where} limit {limit} offset {offset}" for limit in (0, 1, 7, -1) for offset in (0, 1, 5, 10000000))))
            at = 0
            for limit in (0, 1, 7, -1):
                for offset in (0, 1, 5, 10000000):
                    end = len(whole) if limit < 0 else offset + limit
                    if parts[at] != whole[offset:end]:
                        wrong.append(f"{table} {where} limit {limit} offset {offset}: {len(parts[at])} rows")
                    at += 1
    tap.check(not wrong, "LIMIT and OFFSET cut the rows that come without them", wrong)


def body(tap, lode, options):
    for store in (SMALL, RECORDING, REQUESTS):
        check_store(tap, lode, store, options.queries // 3, options.seed)
    offsets_are_jumps(tap, lode)


if __name__ == "__main__":
    sys.exit(stores.main(body, needs=(SMALL, RECORDING, REQUESTS), queries=450, seed=1))
