#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
grouped(of, by, value, condition): the rows that GROUP BY of plain SQLite gives on the file that `lode export` writes. Tables, keys, values
and conditions are random, of stores of all kinds, with any number of threads; --queries 3000 is the campaign. Wrong arguments are refused.
"""

import math
import random
import struct
import sys
import tempfile
from pathlib import Path

import stores
from grammar import ODD
from stores import DATABASE, RECORDING, REQUESTS, SMALL, THREADS

FIELDS = "key, key2, key3, text, rows, count, sum, min, max, exact_sum, exact_min, exact_max"
WRONG = (("'nothing', 'id'", "there is no table 'nothing'"), ("'grouped', 'key'", "there is no table 'grouped'"), ("'value', 'id'", "has no column 'id'"),
         ("'value', ''", "has no column ''"), ("'value', 'metric_id,'", "has no column ''"), ("'value', 'metric_id context_id'", "a comma is missing"),
         ("'value', 'value'", "columns of integers"), ("'context', 'name,kind'", "columns of integers"),
         ("'context', 'id,id,id,id'", "columns of integers"), ("'context', 'id', 'name'", "is a text"), ("'context', 'id', 'x'", "has no column 'x'"),
         ("'value'", "needs the argument 'by'"))
CONDITIONS = ("", "id", "id =", "id = x", "id = 1.5", "id = 1x", "id = 99999999999999999999", "id ! 1", "id = 1 or id = 2", "id = 1 and", "id = 1, id = 2", "id in 1", "id in (",
              "id in ()", "id in (1", "id in (1,)", "id in (1 2)", "name in ('a')", "name < 'a'", "name = a", "name = 'a", "nothing = 1", "and id = 1", "id = 1 id = 2",
              " and ".join(["id >= 0"] * 65))
REALS = ("value > inf", "value < -infinity", "value = nan", "value < 0x1p3", "value > 1x", "value > x", "value in (1)")


class Questions:
    def __init__(self, tables, plain, seed):
        self.random = random.Random(seed)
        known = {r[0] for r in plain.execute("select name from sqlite_schema")} - {"store"}
        self.tables = {t: c for t, c in tables.items() if t in known and any(k == "integer" for _, k in c)}
        self.samples = {t: {n: [r[0] for r in plain.execute(f'select distinct "{n}" from "{t}" where "{n}" is not null limit 500')] for n, _ in c} for t, c in self.tables.items()}

    def condition(self, table):
        name, kind = self.random.choice(self.tables[table])
        known = [v for v in self.samples[table][name] if not isinstance(v, float) or math.isfinite(v)]
        if not known:
            return None
        value = lambda: self.random.choice(known)  # noqa: E731
        if kind == "text":
            return f"{name} = '" + value().replace("'", "''") + "'"
        if kind == "real":
            return f"{name} {self.random.choice(('=', '<', '<=', '>', '>='))} {value()!r}"
        odd = [int(o) for o in ODD if o.lstrip("-").isdigit()]
        number = lambda: self.random.choice(odd) if self.random.random() < 0.2 else value() + self.random.choice((-1, 0, 0, 1))  # noqa: E731
        if self.random.random() < 0.3:
            return f"{name} in ({', '.join(str(clamp(number())) for _ in range(self.random.randrange(1, 5)))})"
        return f"{name} {self.random.choice(('=', '<', '<=', '>', '>='))} {clamp(number())}"

    def ask(self):
        """(arguments of grouped, columns of keys, column of values or None, condition or None)."""
        r = self.random
        table = r.choice(list(self.tables))
        columns = dict(self.tables[table])
        integers, texts = ([n for n, k in columns.items() if k == kind] for kind in ("integer", "text"))
        keys = r.sample(integers, r.randrange(1, min(3, len(integers)) + 1))
        if texts and r.random() < 0.3:
            keys[r.randrange(len(keys))] = r.choice(texts)
        value = r.choice([n for n, k in columns.items() if k != "text"] + [None])
        parts = [c for c in (self.condition(table) for _ in range(r.randrange(3))) if c]
        return table, keys, value, " and ".join(parts) or None


def clamp(number):
    return max(-2**63, min(2**63 - 1, number))


def quoted(text):
    return "null" if text is None else "'" + text.replace("'", "''") + "'"


def expected(plain, question, kinds):
    """Rows of plain SQLite in the columns of `grouped`."""
    table, keys, value, condition = question
    by = ", ".join(f'"{k}"' for k in keys)
    sums = f'count("{value}"), total("{value}"), min("{value}"), max("{value}")' if value else "null, null, null, null"
    found = plain.execute(f'select {by}, count(*), {sums} from "{table}"' + (f" where {condition}" if condition else "") + f" group by {by} order by {by}").fetchall()
    rows = []
    for row in found:
        cells, (count, known, total, least, greatest) = row[:len(keys)], row[len(keys):]
        numbers = [c for k, c in zip(keys, cells) if kinds[k] != "text"]
        text = next((c for k, c in zip(keys, cells) if kinds[k] == "text"), None)
        numbers += [None] * (3 - len(numbers))
        is_known = bool(known)
        exact = is_known and kinds.get(value) == "integer"
        real = [float(x) if is_known else None for x in (total or 0, least or 0, greatest or 0)]
        integers = [x if exact else None for x in (None, least, greatest)]
        rows.append((*numbers, text, count, known, *real, *integers))
    return rows


def number_of(cell):
    return int(cell) if isinstance(cell, str) else cell


def same(found, wanted):
    """The same groups in the same order; sums of doubles depend on the order of rows, which is that of the store."""
    if len(found) != len(wanted):
        return False
    for ours, theirs in zip(found, wanted):
        ours = [*map(number_of, ours[:3]), ours[3], *map(number_of, ours[4:])]
        if ours[:6] != list(theirs[:6]) or any((a is None) != (b is None) for a, b in zip(ours[6:9], theirs[6:9])):
            return False
        if any(a is not None and not math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-300) for a, b in zip(ours[6:9], theirs[6:9])):
            return False
        if ours[10:] != list(theirs[10:]) or (ours[9] is None) != (theirs[10] is None or abs(theirs[6]) >= 2**63):
            return False
        if ours[9] is not None and float(ours[9]) != ours[6]:
            return False
    return True


def check_store(tap, lode, store, count, seed):
    with tempfile.TemporaryDirectory() as folder:
        plain = lode.plain(store, folder)
        tables = lode.tables(store)
        asked = Questions(tables, plain, seed)
        questions = [asked.ask() for _ in range(count)]
        texts = [f"select {FIELDS} from grouped({quoted(t)}, {quoted(','.join(k))}, {quoted(v)}, {quoted(c)})" for t, k, v, c in questions]
        wrong, rows, sums = [], 0, 0
        for text, question, (_, found) in zip(texts, questions, lode.results(store, *texts)):
            wanted = expected(plain, question, dict(tables[question[0]]))
            rows += len(wanted)
            sums += sum(row[9] is not None for row in found)
            if not same(found, wanted):
                wrong.append(f"{text}: {found[:3]}, not {wanted[:3]}")
        tap.check(not wrong and rows > count and sums > 0, f"{store.parent.name}/{store.name}: {rows} groups of {count} questions are those of plain SQLite, {sums} with exact sums", wrong[:4])
        exact = [(t, f"select {', '.join(k)}, count(*), sum({v}) from {t} group by {', '.join(k)}") for t, k, v in
                 (("event", ["track_id"], "depth"), ("call", ["depth"], "duration_ns"), ("sample", ["profile_id"], "duration_ns")) if t in asked.tables]
        for table, text in exact:
            keys, value = text.split("group by ")[1], text.split("sum(")[1].split(")")[0]
            found = [tuple(map(number_of, r)) for r in lode.rows(store, f"select key, rows, exact_sum from grouped('{table}', '{keys}', '{value}')")]
            tap.check(found == plain.execute(text).fetchall() and found, f"{store.name}: exact sums of {table}", found[:4])


def threads(tap, lode, folder):
    """More rows than a batch, so that several threads read; sums of doubles in every bit."""
    for kind, more, text in (("database", ("--profiles", 60, "--contexts", 3000, "--density", 1), "grouped('value', 'profile_id,metric_id', 'value', 'context_id > 3')"),
                             ("recording", ("--records", 400000, "--tasks", 6), "grouped('call', 'function', 'duration_ns')")):
        store = f"{folder}/{kind}"
        done = lode.call("synth", kind, *more, "-o", store)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        found = [lode.call("sql", store, "--threads", n, "--json", f"select {FIELDS} from {text}").stdout for n in (1, 2, 5)]
        if kind == "database":
            ours, theirs = (lode.rows(store, t) for t in ("select key, rows, count, sum, min, max from grouped('value', 'metric_id', 'value')",
                                                          "select metric_id, count(*), count(value), sum(value), min(value), max(value) from value group by metric_id"))
            tap.check(len(ours) == len(theirs) > 1 and all(a[:3] == b[:3] and a[4:] == b[4:] and math.isclose(a[3], b[3], rel_tol=1e-9) for a, b in zip(ours, theirs)),
                      "long runs of rows of one group add up as SQLite adds them", [ours, theirs])
        tap.check(len(found[0]) > 1000 and found[1:] == found[:1] * 2, f"{text}: every byte is the same with 1, 2 and 5 threads", [f[:300] for f in found])


def refusals(tap, lode):
    wrong = []
    for arguments, message in WRONG:
        done = lode.call("sql", DATABASE, f"select * from grouped({arguments})")
        if done.returncode == 0 or message not in done.stderr:
            wrong.append(f"{arguments}: {done.stderr}")
    for condition in CONDITIONS:
        done = lode.call("sql", DATABASE, f"select * from grouped('context', 'kind', 'id', {quoted(condition)})")
        if done.returncode == 0 or "in the condition" not in done.stderr:
            wrong.append(f"{condition}: {done.stderr or done.stdout}")
    for condition in REALS:
        done = lode.call("sql", DATABASE, f"select * from grouped('value', 'metric_id', 'value', {quoted(condition)})")
        if done.returncode == 0 or "in the condition" not in done.stderr:
            wrong.append(f"{condition}: {done.stderr or done.stdout}")
    tap.check(not wrong, f"{len(WRONG) + len(CONDITIONS) + len(REALS)} wrong arguments are refused with a reason", wrong)


def infinite(tap, lode, folder):
    """Nothing is beyond infinity, which a value may be, and a bound too."""
    store = Path(folder) / "infinite"
    if lode.call("synth", "database", "--profiles", 3, "--contexts", 50, "-o", store).returncode != 0:
        raise RuntimeError("no database")
    (largest,), = lode.rows(store, "select max(value) from value where profile_id > 0")
    for path in (store / "profile.db", store / "cct.db"):
        path.write_bytes(path.read_bytes().replace(struct.pack("<d", largest), struct.pack("<d", math.inf)))
    wrong = [] if lode.rows(store, "select max(value) > 1e300 from value") == [(1,)] else ["no value is infinite"]
    for test in ("> 9e999", ">= 9e999", "< 9e999", "< -9e999", "> -9e999", "= 9e999"):
        found, wanted = (lode.rows(store, f"select coalesce(sum({n}), 0) from {t}") for n, t in
                         (("rows", f"grouped('value', 'metric_id', 'value', 'value {test}')"), ("value is not null", f"value where value {test}")))
        if found != wanted:
            wrong.append(f"{test}: {found}, not {wanted}")
    tap.check(not wrong, "bounds and values that are infinite", wrong)


def body(tap, lode, options):
    for number, store in enumerate((SMALL, DATABASE, RECORDING, THREADS, REQUESTS)):
        check_store(tap, lode, store, options.queries, options.seed + number)
    with tempfile.TemporaryDirectory() as folder:
        threads(tap, lode, folder)
        infinite(tap, lode, folder)
    refusals(tap, lode)


if __name__ == "__main__":
    sys.exit(stores.main(body, needs=(SMALL, DATABASE, RECORDING, THREADS, REQUESTS), queries=150, seed=1))
