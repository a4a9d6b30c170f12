#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Profiles of pprof: `lode top --limit 0` equals what `go tool pprof -top` says (flat and cum of every function, every sample type), before and
after a conversion to HPCToolkit 4.0, which `check --level full` finds sound; files that pprof refuses are refused, legacy files are named.
Needs the corpus. With --share N, conversions of every N-th file.
"""

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path


ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "tools")]

import references  # noqa: E402,F401
from imports import ask, corpus, differences, run, same, top  # noqa: E402
import corpora  # noqa: E402
from tap import Tap  # noqa: E402

# Accepted by pprof, but refused here, with this rule: their size does not allow what they hold.
BOMBS = {"bomb-strings.pb.gz": "pprof-ratio", "bomb-text.pb.gz": "pprof-ratio"}
# pprof refuses them; Lode reads them and says so: bytes after the end of the gzip stream do no harm.
READ_NEVERTHELESS = {"gzip-trailing-zeros.pb.gz": "pprof-trailing", "gzip-trailing-text.pb.gz": "pprof-trailing"}
PAIRS = (("go-heap", "made-diff-heap.pb.gz"), ("go-block", "made-base-block.pb.gz"))
OWN_PAIRS = (("heap", "heap-difference.pb.gz"),)
NOT_COMPARED = {
    "name-control.pb": "pprof prints a name over two lines",
    "name-bad-utf8.pb": "pprof prints bytes that are no text",
    "name-only-system.pb": "Lode shows the linker's name, pprof <unknown>",
    "units.pb": "pprof scales units",
    "values-2-53.pb": "a double cannot hold the sum",
    "values-int64-max.pb": "the sum overflows in pprof",
    "values-int64-min.pb": "its absolute value overflows in pprof",
}


def rows_of(functions):
    """Rows of pprof by name, as Lode prints it, without those that are 0."""
    return {re.sub("[\x00-\x1f]", "?", row[0]): (row[1], row[2]) for row in functions if (row[1], row[2]) != (0, 0)}


def compare_tables(lode, path, expected):
    wrong, count = [], 0
    for kind in expected["types"]:
        answer, rows = top(lode, path, kind["index"])
        wrong += [f"type {kind['index']}: {line}" for line in differences(rows, rows_of(kind["functions"]))]
        if not same(answer["total"], kind["sum"]) and "stackless" not in expected:
            wrong.append(f"type {kind['index']}: the total is {answer['total']} instead of {kind['sum']}")
        count += len(rows)
    return wrong, count


def check_corpus(tap, lode, folder, share, scratch):
    rows = tables = 0
    for number, path in enumerate(sorted(folder.glob("expected/*.json"))):
        expected = json.loads(path.read_text())
        store = folder / expected["file"]
        if expected.get("legacy") or expected["verdict"] != "accepted":
            done = run(lode, "info", store)
            hint = b"jeprof" if "jemalloc" in store.name else b"legacy pprof file"
            tap.check(done.returncode != 0 and hint in done.stderr, f"{store.name}: named as what it is", [done.stderr.decode()])
            continue
        if "threadcreate" in store.name:
            expected["stackless"] = True
        wrong, count = compare_tables(lode, store, expected)
        default = ask(lode, "top", "--limit", 1, store)["metric"]
        if expected["default_type"] and not default.startswith(expected["default_type"]):
            wrong.append(f"the default metric is {default} instead of {expected['default_type']}")
        rows, tables = rows + count, tables + len(expected["types"])
        tap.check(not wrong, f"{store.name}: {count} rows equal those of pprof", wrong[:8])
        if number % share == 0:
            check_converted(tap, lode, store, expected, scratch / str(number))
    tap.check(tables >= (18 if corpora.is_own() else 155), f"{tables} tables, {rows} rows")
    tap.note(f"{tables} tables of pprof with {rows:,} rows compared")


def check_converted(tap, lode, store, expected, target):
    done = run(lode, "convert", store, "-o", target)
    wrong = [done.stderr.decode(errors="replace")] if done.returncode else []
    if not wrong:
        found = ask(lode, "check", "--level", "full", target)
        wrong += [f"check: {finding}" for finding in found["findings"] if finding["severity"] != "note"]
        wrong += compare_tables(lode, target, expected)[0]
    tap.check(not wrong, f"{store.name}: converted to HPCToolkit 4.0, sound, with the same rows", wrong[:8])


def check_handmade(tap, lode, folder):
    for name, expected in sorted(json.loads((folder / "expected.json").read_text()).items()):
        found = ask(lode, "check", "--level", "full", folder / name) if recognised(lode, folder / name) else None
        errors = found["result"]["errors"] if found else 1
        if name in READ_NEVERTHELESS:
            rules = {finding["rule"] for finding in found["findings"]}
            tap.check(not errors and READ_NEVERTHELESS[name] in rules, f"{name}: read, with a warning", [str(found)])
            continue
        is_refused = run(lode, "top", folder / name).returncode != 0
        if name in BOMBS:
            rules = {finding["rule"] for finding in found["findings"]}
            tap.check(is_refused and rules == {BOMBS[name]}, f"{name}: refused, with {BOMBS[name]}", [str(found)])
            continue
        wanted = expected["go"] != "accepted"
        wrong = [] if (errors > 0) == wanted == is_refused else [f"errors {errors}, refused {is_refused}, pprof: {expected['go']}"]
        if not wanted and name not in NOT_COMPARED:
            for index, table in enumerate(expected["top"]):
                wanted_rows, rows = rows_of(table), top(lode, folder / name, index)[1]
                # Only the first rows of large tables are recorded.
                wrong += differences({key: rows[key] for key in rows if key in wanted_rows or len(rows) < 20}, wanted_rows)
        tap.check(not wrong, f"{name}: {expected['what']}", wrong[:8])


def check_compared(tap, lode, folder):
    """`lode compare` of two profiles against `go tool pprof -diff_base` and `-base`."""
    for pair, difference in OWN_PAIRS if corpora.is_own() else PAIRS:
        expected = json.loads((folder / "expected" / f"{difference}.json").read_text())
        sides = folder / f"{pair}-before.pprof", folder / f"{pair}-after.pprof"
        wrong = []
        for kind in expected["types"]:
            rows = {}
            for column, option in enumerate(("--all", "--inclusive")):
                answer = ask(lode, "compare", "--limit", 0, "--all", option, "-m", kind["index"], *sides)
                for row in answer["rows"]:
                    rows.setdefault(row["name"], [0, 0])[column] = row["difference"]
            found = {name: tuple(costs) for name, costs in rows.items() if any(costs)}
            wrong += [f"{kind['type']}: {line}" for line in differences(found, rows_of(kind["functions"]))]
            # Without changes, there are rows that say so.
            wrong += [] if rows else [f"{kind['type']}: no rows"]
        tap.check(not wrong, f"{pair}: differences equal those of {difference}", wrong[:8])


def recognised(lode, path):
    return run(lode, "check", "--level", "quick", path).returncode in (0, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--share", type=int, default=1, help="convert every so manieth profile")
    options = parser.parse_args()
    folder = corpus() / "pprof"
    tap = Tap()
    if not folder.is_dir():
        tap.skip("profiles of pprof", "there is no corpus")
        return tap.finish()
    with tempfile.TemporaryDirectory() as scratch:
        check_corpus(tap, options.lode, folder, options.share, Path(scratch))
    check_compared(tap, options.lode, folder)
    check_handmade(tap, options.lode, folder / "handmade")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
