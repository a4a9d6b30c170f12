#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Fresh traffic: services that OpenTelemetry's SDK for Node instruments run on 127.0.0.1 with a planted problem (live_service.mjs), and what the SDK exports is
diagnosed. Each problem is found by its rule, with its count; the healthy run is silent. Needs the packages, which npm installs: LODE_VALIDATORS names a
folder that has them, or --install, and LODE_CI=full, fetch them. By hand: tests/spans/live.py --lode LODE --install --seeds 5
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools")]

from tap import Tap  # noqa: E402

PACKAGES = ("api", "sdk-trace-node", "exporter-trace-otlp-http", "resources")
REQUESTS = 80  # rules need 30 of a kind
LATE = 5  # milliseconds: if timers are later, the machine is busy, and calls do wait
# By problem: the rule, what it says, and rules that may speak beside it. {n}: how often it was planted.
PROBLEMS = {
    "": None,
    "n+1": ("n-plus-one", r"orders: GET /lines runs one statement [\d.]+ times a request, one after the other: select \* from lines where id = \?", ()),
    "retries": ("retries", r"gateway: GET /order calls gateway: reserve attempt again after an error", ("failures", "error-rate", "slow-method", "gap", "attribute")),
    "serial": ("serial-calls", r"gateway: collect calls services one after the other: 3 calls take", ()),
}


def find_packages(folder, installs):
    """A folder with node_modules, or why there is none."""
    validators = Path(os.environ.get("LODE_VALIDATORS", "/nowhere"))
    if all((validators / "node_modules" / "@opentelemetry" / name).is_dir() for name in PACKAGES):
        return validators, None
    if not shutil.which("node") or not shutil.which("npm"):
        return None, "node and npm are not installed"
    if not installs:
        return None, "no packages of OpenTelemetry in LODE_VALIDATORS; --install fetches them"
    try:
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), *(f"@opentelemetry/{name}" for name in PACKAGES)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return None, "npm takes too long"
    return (folder, None) if done.returncode == 0 else (None, "npm cannot install the packages of OpenTelemetry")


def begin(packages, folder, problem, seed):
    path = folder / f"{problem or 'healthy'}-{seed}.json".replace("+", "")
    return path, subprocess.Popen(["node", str(Path(__file__).with_name("live_service.mjs")), str(packages), str(path), problem, str(seed), str(REQUESTS)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def judge(lode, path, problem):
    done = subprocess.run([lode, "diagnose", "--json", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    said = [(one["id"], one["text"]) for one in json.loads(done.stdout)["statements"]]
    if PROBLEMS[problem] is None:
        return [str(one) for one in said]
    rule, text, beside = PROBLEMS[problem]
    wrong = [] if any(one[0] == rule and re.search(text, one[1]) for one in said) else [f"not found: {rule}", *map(str, said)]
    return wrong + [f"unexpected: {one}" for one in said if one[0] not in (rule, *beside)]


def search(lode, path, *words):
    done = subprocess.run([lode, "search", "--json", "-n", "0", *words, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return json.loads(done.stdout)


def check_seed(tap, lode, packages, folder, seed):
    # One process each: they wait most of the time.
    running = {problem: begin(packages, folder, problem, seed) for problem in PROBLEMS}
    for problem, (path, process) in running.items():
        name = f"{problem or 'no problem'}, seed {seed}"
        output, errors = process.communicate(timeout=300)
        if process.returncode:
            tap.check(False, f"{name}: the services ran", errors.decode(errors="replace").splitlines()[:8])
            continue
        truth = json.loads(output)
        found = search(lode, path)
        tap.check(found["row_count"] == REQUESTS, f"{name}: all requests were exported", [str(found["row_count"]), str(truth)])
        if problem == "retries":
            failed = search(lode, path, "--where", "{service=stock failed} below {name=\"reserve attempt\"}")
            tap.check(0 < failed["row_count"] <= truth["planted"], f"{name}: search finds failed tries", [str(failed["row_count"]), str(truth)])
        if truth["late"] > LATE:
            tap.skip(f"{name}: {'found' if problem else 'silence'}", f"the machine is busy: timers are {truth['late']:.0f} ms late")
            continue
        wrong = judge(lode, path, problem)
        tap.check(not wrong, f"{name}: {'found' if problem else 'silence'}", [*wrong[:8], str(truth)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    parser.add_argument("--install", action="store_true", default=os.environ.get("LODE_CI") == "full")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=1)
    arguments = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        packages, reason = find_packages(Path(name), arguments.install)
        if packages is None:
            tap.skip("traffic of OpenTelemetry's SDK for Node", reason)
        for seed in range(arguments.first, arguments.first + arguments.seeds) if packages else ():
            check_seed(tap, arguments.lode, packages, Path(name), seed)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
