#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Every name that `lode top --limit 0` prints, typed back: `tree --focus NAME`, `tree --callers NAME`, for databases `context NAME`, and for
recordings `top --callers NAME` find exactly the functions of that row. Needs the corpus. With --share N, every N-th name of each store.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools")]

import corpora  # noqa: E402
from tap import Tap  # noqa: E402

CLOSE = 1e-9
DATABASES = ("final", "pre-a", "pre-b", "draft-xml")
NAMES = ((), ("--names", "full"), ("--names", "simple"), ("--names", "raw"))


class Wrong(Exception):
    """A name that does not find its function."""


class Store:
    def __init__(self, lode, path):
        self.lode, self.path = lode, path

    def ask(self, command, *options, operands=()):
        words = [self.lode, command, "--json", *map(str, options), "--", str(self.path), *operands]
        done = subprocess.run(words, capture_output=True, timeout=300)
        if done.returncode not in (0, 1):
            raise Wrong(f"{' '.join(words[1:])}: {done.stderr.decode(errors='replace').strip()[:300]}")
        return json.loads(done.stdout)


def _check(good, text):
    if not good:
        raise Wrong(text)


def _same(found, wanted, total):
    return abs(found - wanted) <= CLOSE * max(abs(wanted), abs(total))


def _roots(answer):
    return [row for row in answer["rows"] if row["depth"] == 0]


def _trees(store, row, names, column, total):
    """The roots are the functions of the row, and have its cost together."""
    name = row["name"]
    answer = store.ask("tree", "--focus=" + name, "--depth", 1, "--min-percent", 0, "--limit", 0, *names)
    roots = _roots(answer)
    _check({root["name"] for root in roots} <= {name}, f"--focus '{name}' shows {sorted({root['name'] for root in roots})[:4]}")
    _check(_same(sum(root[column] for root in roots), row[column], total),
           f"--focus '{name}': {sum(root[column] for root in roots)}, not {row[column]}")
    answer = store.ask("tree", "--callers=" + name, "--depth", 1, "--min-percent", 0, "--limit", 0, *names)
    roots = _roots(answer)
    _check({root["name"] for root in roots} <= {name}, f"--callers '{name}' shows {sorted({root['name'] for root in roots})[:4]}")
    # A recursive function counts once; two of one name that call each other count twice here.
    found = sum(root[column] for root in roots)
    _check(_same(found, row[column], total) or (len(roots) > 1 and found > row[column]), f"--callers '{name}': {found}, not {row[column]}")


def _database_name(store, row, names, total):
    _trees(store, row, names, "inclusive", total)
    name = row["name"]
    if names or name.isdigit():
        return
    found = store.ask("context", operands=[name])["name"]
    _check(found == name, f"context '{name}' is '{found}'")


def _recording_name(store, row, names, total):
    _trees(store, row, names, "total_ns", total)
    rows = store.ask("top", "--callers=" + row["name"], "--limit", 0, *names)["rows"]
    calls = sum(caller["calls"] for caller in rows)
    _check(calls == row["calls"], f"top --callers '{row['name']}': {calls} calls, not {row['calls']}")


def type_back(lode, path, share, is_database):
    """(names that were typed, what is wrong) for one store; None if `top` does not open it."""
    store, typed, wrong, seen = Store(lode, path), 0, [], set()
    for names in NAMES:
        try:
            answer = store.ask("top", "--limit", 0, *names)
        except Wrong:
            return None
        total = answer["total"] if is_database else answer["total_ns"]
        rows = [row for row in answer["rows"] if row["name"] not in seen]
        seen |= {row["name"] for row in rows}
        for name, count in Counter(row["name"] for row in rows).items():
            if count > 1:
                wrong.append(f"{count} rows are called '{name}'")
        for row in rows[::share]:
            typed += 1
            try:
                (_database_name if is_database else _recording_name)(store, row, names, total)
            except Wrong as problem:
                wrong.append(str(problem))
    return typed, wrong


def stores(corpus):
    for kind in DATABASES:
        for path in corpora.stores(corpus / "hpctoolkit" / kind):
            yield f"{kind}/{path.name}", path, True
    for path in corpora.stores(corpus / "uftrace" / "recorded"):
        data = path / "uftrace.data"
        yield path.name, data if data.exists() else path, False
    for kind in ("uftrace/handmade", "zorka/stores"):
        for path in corpora.stores(corpus / kind):
            yield f"{kind}/{path.name}", path, False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--share", type=int, default=1, help="type every so manieth name")
    options = parser.parse_args()
    corpus = corpora.root()
    tap = Tap()
    found = list(stores(corpus))
    if not found:
        tap.skip("names typed back", "there is no corpus")
        return tap.finish()
    total = opened = 0
    with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        runs = [(name, pool.submit(type_back, options.lode, path, options.share, is_database)) for name, path, is_database in found]
        for name, run in runs:
            result = run.result()
            if result is None:
                continue
            opened += 1
            total += result[0]
            tap.check(not result[1], f"{name}: {result[0]} names typed back find their functions", result[1][:8])
    tap.check(opened >= (50 if corpora.is_own() else 100) and total > 0, f"{opened} stores open, {total} names typed back")
    tap.note(f"{total:,} names typed back in {opened} stores")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
