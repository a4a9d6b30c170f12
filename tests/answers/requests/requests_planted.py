#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode diagnose` on generated services of 10,000 requests (requests_made.py): a planted cause is found and named, and nothing else is; no attribute without
influence is named. All seeds, by hand: tests/bench/README.md. --report prints figures and does not judge, for a program that was broken on purpose.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import references  # noqa: E402,F401
from tap import Tap  # noqa: E402

# What has to be said of each cause: the rule, and a part of the text.
WANTED = {
    "none": None,
    "tenant": ("attribute", "have tenant={tenant};"),
    "n-plus-one": ("n-plus-one", "com.shop.web.SearchController.search() runs one statement"),
    "identical": ("identical-calls", "com.shop.web.SearchController.search() runs the same statement"),
    "burst": ("error-burst", "failed requests fall into"),
    "queueing": ("queueing", "when more are in flight"),
    "retries": ("retries", "com.shop.payment.PaymentClient.charge() again after an error"),
    "slow-method": ("slow-method", "is in com.shop.web.Templates.render()"),
    "outliers": ("slow-method", "is in com.shop.web.Templates.render()"),
    "gap": ("gap", "in the outermost methods themselves"),
    "error-rate": ("error-rate", "requests fail"),
}
MAKE = """
import sys
sys.path.insert(0, sys.argv[1])
from requests_made import Service
service = Service(sys.argv[2], sys.argv[3], int(sys.argv[6]))
service.make().write(sys.argv[4], sys.argv[5])
print(service.tenant, service.burst, service.span)
"""


def judge(options, cause, seed):
    """(found, other statements, innocent attributes, texts)."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        made = subprocess.run([sys.executable, "-c", MAKE, str(Path(__file__).parent), cause, str(seed), options.write, str(path), str(options.requests)],
                              capture_output=True, check=True, timeout=300)
        tenant = made.stdout.decode().split()[0]
        done = subprocess.run([options.lode, "diagnose", "--json", str(path)], capture_output=True, timeout=300, check=True)
    said = json.loads(done.stdout)["statements"]
    wanted = WANTED[cause]
    right = [s for s in said if wanted and s["id"] == wanted[0] and wanted[1].format(tenant=tenant) in s["text"]]
    named = [pair for s in said if s["id"] == "attribute" for pair in [re.search(r" have (\S+=\S+);", s["text"]).group(1)] +
             [re.search(r"also have (\S+)", e["text"]).group(1) for e in s["evidence"] if "also have" in e["text"]]]
    innocent = [pair for pair in named if cause != "tenant" or pair != f"tenant={tenant}"]
    return bool(right), [s["id"] for s in said if s not in right], innocent, [s["text"] for s in said]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    parser.add_argument("--write", required=True)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--requests", type=int, default=10000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("causes", nargs="*")
    options = parser.parse_args()
    tap, innocent, stores = Tap(), 0, 0
    for cause in options.causes or WANTED:
        with ThreadPoolExecutor(options.jobs) as pool:
            seeds = range(options.first, options.first + options.seeds)
            results = list(pool.map(lambda seed: judge(options, cause, seed), seeds))
        found = sum(r[0] for r in results)
        others = [(seed, r[1], r[3]) for seed, r in zip(seeds, results) if r[1]]
        named = [(seed, r[2]) for seed, r in zip(seeds, results) if r[2]]
        innocent, stores = innocent + len(named), stores + len(results)
        text = f"{cause}: found in {found} of {len(results)}, other statements in {len(others)}, attributes without influence in {len(named)}"
        good = (found == len(results) or WANTED[cause] is None) and not others and not named
        tap.check(options.report or good, text, [f"seed {seed}: {rest}" for seed, *rest in others + named])
        for seed, *rest in others + named:
            tap.note(f"{cause} {seed}: {rest}")
    tap.note(f"{innocent} of {stores} stores with an attribute without influence")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
