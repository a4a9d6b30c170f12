#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Folded stacks: `lode top --limit 0` equals what an independent counter in perl says of every frame (own and inclusive), and the totals, before
and after a conversion to HPCToolkit 4.0, which `check --level full` finds sound. Needs the corpus.
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


def shown(name):
    """As Lode prints it."""
    return re.sub("[\x00-\x1f]", "?", name)


def compare_columns(lode, path, counted):
    wrong = []
    for column, total in enumerate(counted["totals"]):
        wanted = {shown(name): (own[column], inclusive[column]) for name, own, inclusive in columns(counted)}
        wanted = {name: costs for name, costs in wanted.items() if costs != (0, 0)}
        answer, rows = top(lode, path, column)
        wrong += [f"column {column}: {line}" for line in differences(rows, wanted)]
        if not same(answer["total"], total):
            wrong.append(f"column {column}: the total is {answer['total']} instead of {total}")
    return wrong


def columns(counted):
    """Rows whose costs are lists, one number for each column."""
    for name, own, inclusive in counted["functions"]:
        yield name, own if isinstance(own, list) else [own], inclusive if isinstance(inclusive, list) else [inclusive]


def check_file(tap, lode, store, expected, scratch):
    counted = expected["perl"]
    wrong = compare_columns(lode, store, counted) if counted["functions"] else []
    found = ask(lode, "check", "--level", "full", "--limit", 0, store)
    bad = sum(finding["rule"] == "folded-line" for finding in found["findings"])
    if bad != counted["bad"]:
        wrong.append(f"{bad} bad lines instead of {counted['bad']}")
    if found["result"]["samples"] != counted["lines"]:
        wrong.append(f"{found['result']['samples']} stacks instead of {counted['lines']}")
    tap.check(not wrong, f"{store.name}: {len(counted['functions'])} frames equal those that perl counts", wrong[:8])
    if not counted["functions"]:
        return
    target = scratch / store.name
    done = run(lode, "convert", store, "-o", target)
    wrong = [done.stderr.decode(errors="replace")] if done.returncode else []
    if not wrong:
        found = ask(lode, "check", "--level", "full", target)
        wrong += [f"check: {finding}" for finding in found["findings"] if finding["severity"] != "note"]
        wrong += compare_columns(lode, target, counted)
    tap.check(not wrong, f"{store.name}: converted to HPCToolkit 4.0, sound, with the same frames", wrong[:8])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    options = parser.parse_args()
    folder = corpus() / "folded"
    tap = Tap()
    if not folder.is_dir():
        tap.skip("folded stacks", "there is no corpus")
        return tap.finish()
    files = sorted(folder.glob("expected/*.json"))
    with tempfile.TemporaryDirectory() as scratch:
        for path in files:
            expected = json.loads(path.read_text())
            check_file(tap, options.lode, folder / expected["file"], expected, Path(scratch))
    tap.check(len(files) >= (8 if corpora.is_own() else 30), f"{len(files)} files")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
