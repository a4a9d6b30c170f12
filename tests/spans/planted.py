#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Problems of services that were planted in made traffic (traffic.py) are found by `lode diagnose`, each by its rule, with the place and the count of the
truth; other rules stay silent; healthy traffic has no statement and no note. So are those of the corpus, with the counts of its README.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools")]

import corpora  # noqa: E402
from tap import Tap  # noqa: E402
from traffic import Traffic  # noqa: E402

# By problem: the rule, what its statement says; with {n}, the count of the truth. And rules that may speak beside it, since it is their cause, too.
PLANTED = {
    "": None,
    "statements": ("n-plus-one", r"gateway: GET /order/:id runs one statement [\d.]+ times a request, one after the other: select \* from lines where id = \?", ()),
    "round trips": ("n-plus-one", r"gateway: GET /order/:id calls inventory: GET /stock/:sku [\d.]+ times a request", ()),
    "retries": ("retries", r"gateway: POST /checkout calls gateway: reserve attempt again after an error, in {n} of \d+ calls", ("failures", "error-rate", "attribute", "slow-method", "gap")),
    "exception": ("failures", r"{n} of \d+ calls of gateway: POST /checkout fail: TypeError in orders: validate order", ("error-rate",)),
    "release": ("failures", r"{n} of \d+ calls of gateway: POST /checkout fail: TypeError in orders: validate order", ("error-rate",)),
    "lock": ("waiting", r"inventory: POST /reserve/:sku waits: inventory: lock.wait takes \d+% of its time", ()),
    "pool": ("waiting", r"inventory: POST /reserve/:sku waits: inventory: HikariPool.getConnection takes \d+% of its time", ()),
    "serial": ("serial-calls", r"gateway: collect calls services one after the other: 3 calls take", ()),
    "outliers": ("slow-calls", r"{n} of \d+ calls of inventory: GET /stock/:sku take [\d.]+ ms instead of [\d.]+ ms: those (that call inventory: load cache|with cache.state=cold)",
                 ("slow-method", "attribute")),
    "queues": ("outside-spans", r"In \d+% of the time of all requests clients wait while no call of the server runs, most from gateway: GET to orders: GET /orders/:id", ()),
}

# The full run of the corpus: rule and text, with the counts of its README.
CORPUS = [("n-plus-one", r"orders: request handler - /orders/:id/lines runs one statement 13.3 times a request"), ("retries", r"reserve attempt again after an error, in 95 of 457 calls: 132 tries failed"),
          ("failures", r"89 of 457 calls of gateway: POST /checkout fail: TypeError in orders: validate order"), ("waiting", r"inventory: request handler - /reserve/:sku waits: inventory: lock.wait"),
          ("slow-calls", r"18 of 1624 calls of inventory: GET /stock/:sku take .* those that call inventory: cold cache")]
CORPUS_NOTES = [("clock-offset", "The clock of inventory is behind"), ("missing-spans", "100 calls have a caller"), ("late-calls", "orders: audit.write ends after its caller in 368 of 368 calls")]


def diagnose(lode, path, *words):
    done = subprocess.run([lode, "diagnose", "--json", *words, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode(errors="replace"))
    return json.loads(done.stdout)


def judge(result, planted, truth):
    """What is wrong with a diagnosis."""
    said = [(statement["id"], statement["text"]) for statement in result["statements"]]
    if PLANTED[planted] is None:
        return [str(one) for one in said + [note["text"] for note in result["quality"]]]
    rule, text, beside = PLANTED[planted]
    pattern = re.compile(text.replace("{n}", str(truth)))
    wrong = [] if any(one[0] == rule and pattern.search(one[1]) for one in said) else [f"not found: {rule}, {pattern.pattern}"]
    return wrong + [f"unexpected: {one}" for one in said if one[0] not in (rule, *beside)] + ([str(one) for one in said] if wrong else [])


def check_release(tap, result):
    shown = [evidence["text"] for statement in result["statements"] for evidence in statement["evidence"]]
    tap.check(any("failed calls of orders: POST /orders have service.version=1.5.0" in text for text in shown), "the release of failed calls is named", shown)


def check_made(tap, lode, folder, seeds):
    for planted in PLANTED:
        wrong, results = [], []
        for seed in seeds:
            traffic = Traffic(seed, planted, 400 if planted == "outliers" else 240).run()
            path = folder / "traffic.json"
            traffic.write(path)
            results.append(diagnose(lode, path))
            wrong += [f"seed {seed}: {line}" for line in judge(results[-1], planted, traffic.truth)]
        tap.check(not wrong, f"{planted or 'no problem'}: {'found with its cause' if planted else 'silence'}, {len(seeds)} seeds", wrong[:12])
        if planted == "release":
            check_release(tap, results[0])


def check_corpus(tap, lode):
    for name in ("otlp/full/traces.pb.gz", "zipkin/full.jsonl.gz"):
        path = corpora.root() / name
        if not path.exists():
            tap.skip(name, "not in the corpus")
            continue
        result = diagnose(lode, path)
        found = [(statement["id"], statement["text"]) for statement in result["statements"]] + [(note["id"], note["text"]) for note in result["quality"]]
        # Zipkin has no types of exceptions.
        wanted = [(rule, text.replace("TypeError", "(TypeError|an error)") if "zipkin" in name else text) for rule, text in CORPUS] + CORPUS_NOTES
        missing = [one for one in wanted if not any(rule == one[0] and re.search(one[1], text) for rule, text in found)]
        tap.check(not missing, f"{name}: what the README says is found", [str(one) for one in missing + found])
        tap.check(all(note["id"] != "damaged" for note in result["quality"]), f"{name}: clocks are no damage", [str(note) for note in result["quality"]])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    parser.add_argument("--seeds", type=int, default=10 if os.environ.get("LODE_CI") == "full" else 1)
    parser.add_argument("--first", type=int, default=1)
    arguments = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        check_made(tap, arguments.lode, Path(folder), range(arguments.first, arguments.first + arguments.seeds))
    check_corpus(tap, arguments.lode)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
