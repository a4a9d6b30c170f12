#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The shards of `LODE_CI=full .ci/run` are together what runs without LODE_CI_SHARD: every step and every test, once. ci_shards.py --tests FILE

FILE is intro-tests.json of a build folder. Steps are those that LODE_CI_LIST prints; tests are chosen by .ci/choose_tests.py as steps say.
"""

import argparse
import contextlib
import io
import json
import os
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools"), str(ROOT / ".ci")]

import choose_tests  # noqa: E402
from tap import Tap  # noqa: E402

NUMBERS = (1, 2, 3, 5, 12)


def ci_list(shard=None, mode="full", part=None):
    """What .ci/run would do: (exit status, lines)."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("LODE_CI")}
    env |= {"LODE_CI_LIST": "1", "LODE_CI": mode, **({"LODE_CI_SHARD": shard} if shard else {}), **({"LODE_CI_PART": str(part)} if part else {})}
    done = subprocess.run(["bash", ROOT / ".ci" / "run"], env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


def chosen(tests, selection):
    with contextlib.redirect_stderr(io.StringIO()):
        return [test["name"] for test in choose_tests.choose(tests, choose_tests.parse(["BUILD", *selection]))]


def work(lines, tests):
    """What lines of .ci/run stand for, each as often as it runs: steps, and tests by step."""
    units = Counter()
    for line in lines:
        kind, name, *selection = shlex.split(line)
        if kind == "step":
            units[name] += 1
        else:
            units.update(f"{name}: {test}" for test in chosen(tests, selection))
    return units


def difference(found, expected):
    return [f"{found[name]} times instead of {expected[name]}: {name}" for name in sorted(found | expected) if found[name] != expected[name]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=Path, required=True)
    options = parser.parse_args()
    tests = json.loads(options.tests.read_text(encoding="utf-8"))
    tap = Tap()
    names = Counter(test["name"] for test in tests)
    double = [name for name, count in names.items() if count > 1]
    tap.check(len(names) > 100 and not double, f"{len(names)} tests have a name of their own", double)
    status, lines = ci_list()
    everything = work(lines, tests)
    tap.check(status == 0 and max(everything.values()) == 1, f"everything is {len(everything)} steps and tests, each once", lines)
    steps = {name for name in everything if ":" not in name}
    wanted = {"format", "tidy", "defaults", "cross-files", "tarball", "debian", "reproducible", "install", "wheel", "fuzz"}
    tap.check(wanted <= steps, "everything has the steps that other runs leave out", sorted(wanted - steps))
    missing = [name for name in names if f"gcc: {name}" not in everything]
    tap.check(not missing, "everything has all tests", missing)
    turns = [work(ci_list(mode="quick", part=part)[1], tests) for part in range(1, 9)]
    wrong = [part for part, turn in enumerate(turns, 1) if turn["gcc: recipes"] != turn["clone"]]
    tap.check(not wrong and sum(turn["clone"] for turn in turns) == 2, "every fourth commit runs the recipes, which no clone does by itself", wrong)
    for count in NUMBERS:
        shards = [work(ci_list(f"{number}/{count}")[1], tests) for number in range(1, count + 1)]
        wrong = difference(sum(shards, Counter()), everything)
        tap.check(not wrong, f"{count} shards are everything, once", wrong)
        sizes = [sum(name.startswith("sanitized: ") for name in shard) for shard in shards]
        tap.check(max(sizes) - min(sizes) <= 1, f"{count} shards have as many tests each", sizes)
    for shard, mode in (("1/3", "quick"), ("0/3", "full"), ("4/3", "full"), ("x", "full"), ("1/0", "full")):
        status, lines = ci_list(shard, mode)
        tap.check(status == 2 and not lines, f"shard {shard} of {mode} is refused", [status, *lines])
    spoilt = everything + Counter(["gcc: twice"])
    tap.check(difference(spoilt, everything) and difference(everything - Counter(["fuzz"]), everything), "self-test: what is left out or runs twice is found")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
