#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode compare --tree` against the reference (compare_tree_reference.py): every row with its parent, own and inclusive costs of both sides, gross and net
change, and the matched shares. On pairs of real databases, on generated trees (db_nasty.py), and on generated trees of which one is another
build of the other: functions renamed and inlined, loops gone, lines moved, costs changed. Real ones need PyYAML with libyaml, and the corpus.
"""

import argparse
import copy
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "tools"), str(ROOT / "tests" / "dump")]

import references  # noqa: E402,F401
import corpora  # noqa: E402
import compare_tree_reference as reference  # noqa: E402
import db_nasty as nasty  # noqa: E402
import db_write  # noqa: E402
import findings  # noqa: E402
from db_model import Cost, Database  # noqa: E402
from tap import Tap  # noqa: E402

try:
    import expected
except ImportError:  # no PyYAML, or one without libyaml
    expected = None

PAIRS = [("toolkit-loops-cputime-t-v0", "toolkit-loops-cputime-t-v5"), ("toolkit-loops-cputime-t-v3", "toolkit-loops-cputime-t-v4"),
         ("toolkit-loops-perf-v0", "toolkit-loops-perf-v5"), ("toolkit-recursion-cuda-nvidiapc-t-v0", "toolkit-recursion-cuda-nvidiapc-t-v4"),
         ("viewer-loop-fork-cycles-v0", "viewer-loop-fork-cycles-v1"),
         ("hatchet-hatchet-cpi-v4-database-v0", "hatchet-hatchet-cpi-v4-database-v1"),
         ("made-loops-cputime-t", "made-loops-cputime-t-mpi3ranks"), ("toolkit-loops-cuda-nvidia-t-v0", "toolkit-loops-cuda-nvidia-t-v4"),
         ("hatchet-hatchet-cpi-v4-database-v1", "viewer-issue-233")]
SHOWN = 10


def near(found, wanted, scale):
    return abs(found - wanted) <= 1e-9 * max(abs(wanted), abs(scale)) + 1e-300


class Comparison:
    """An answer of the program beside that of the reference."""

    def __init__(self, lode, paths, dbs, metric, is_all=False):
        """is_all: with rows that did not change."""
        done = subprocess.run([lode, "compare", "--tree", "--json", "--limit", "0", "--min-percent", "0", "--metric", metric, *(["--all"] if is_all else []), *map(str, paths)],
                              capture_output=True, timeout=300)
        if done.returncode or findings.without(done.stderr):
            raise AssertionError(f"{paths}: status {done.returncode}: {done.stderr.decode(errors='replace')[:300]}")
        self.answer, self.dbs, self.wrong, self.count, self.is_all = json.loads(done.stdout), dbs, [], 0, is_all
        costs = [Cost(db, next(m for m in db.metrics if m["name"] == metric)) for db in dbs]
        self.scale = max(abs(cost.total) for cost in costs)
        self.root, shares = reference.compare(*costs)
        self.below = defaultdict(list)
        for row in self.answer["rows"]:
            self.below[row["parent_row"]].append(row)
        self._head({"base_total": costs[0].total, "new_total": costs[1].total, "gross": self.root.gross})
        self._head({"matched_base_percent": 100 * shares[0], "matched_new_percent": 100 * shares[1]}, 100.0)
        self._rows(None, self.root, "root")

    def _head(self, wanted, scale=None):
        for key, value in wanted.items():
            if not near(self.answer[key], value, scale or self.scale):
                self.wrong.append(f"{key} is {self.answer[key]}, should be {value}")

    def _is(self, row, pair):
        """Whether a row says what is true of a pair."""
        for side, name in ((0, row["base_name"]), (1, row["new_name"])):
            if (name is None) != (not pair.nodes[side]) or (name is not None and name not in pair.labels(side, self.dbs[side])):
                return False
        wanted = {"base_own": pair.own[0], "new_own": pair.own[1], "base": pair.inclusive[0], "new": pair.inclusive[1], "gross": pair.gross,
                  "difference": pair.inclusive[1] - pair.inclusive[0]}
        only = "base" if not pair.nodes[1] else "new" if not pair.nodes[0] else None
        return row["only_in"] == only and all(near(row[key], value, self.scale) for key, value in wanted.items())

    def _fits(self, row, pair):
        """With all below it: of siblings that have the same numbers, the one that is meant."""
        if not self._is(row, pair):
            return False
        left = self._shown(pair)
        for child in self.below[row["row"]]:
            fits = next((p for p in left if self._fits(child, p)), None)
            if fits is None:
                return False
            left.remove(fits)
        return not left

    def _shown(self, pair):
        return [child for child in pair.children if self._has_row(child.gross, child.inclusive)]

    def _has_row(self, gross, inclusive):
        return gross > 1e-12 * self.scale or (self.is_all and max(map(abs, inclusive)) > 1e-12 * self.scale)

    def _rows(self, number, pair, path):
        left = self._shown(pair)
        for row in self.below[number]:
            if not self._has_row(row["gross"], (row["base"], row["new"])):
                continue
            self.count += 1
            fits = next((p for p in left if self._fits(row, p)), None) or next((p for p in left if self._is(row, p)), None)
            if fits is None:
                near_names = [p for p in left if row["name"] in p.labels(0, self.dbs[0]) | p.labels(1, self.dbs[1])]
                self.wrong.append(f"below {path}: {row['base_name']}, {row['new_name']}: own {row['base_own']}, {row['new_own']}, inclusive {row['base']}, {row['new']}, "
                                  f"gross {row['gross']}; the reference has {[(p.own, p.inclusive, p.gross) for p in near_names]}")
                continue
            left.remove(fits)
            self._rows(row["row"], fits, f"{path}/{row['name']}")
        self.wrong += [f"below {path}: missing {p.key}: own {p.own}, inclusive {p.inclusive}, gross {p.gross}" for p in left]


# ---- pairs ----

def all_contexts(data):
    work = [(entry, None) for entry in data["meta"]["entry_points"]]
    while work:
        context, parent = work.pop()
        yield context, parent
        work += [(child, context) for child in context["children"]]


def remove(data, context, parent):
    """As if it were inlined: its children are those of its parent, its own cost is the parent's."""
    at = next(i for i, child in enumerate(parent["children"]) if child is context)
    parent["children"][at:at + 1] = context["children"]
    for profile in data["profiles"]:
        profile["values"].pop(str(context["id"]), None)
        profile["values"].pop(context["id"], None)


def grow(data, random):
    """More cost at a context, and so at all above it."""
    above = {id(context): parent for context, parent in all_contexts(data)}
    by_id = {id(context): context for context, _ in all_contexts(data)}
    context, more = random.choice(list(by_id.values())), random.randrange(1, 1000)
    ids = ["0"]
    while context is not None:
        ids.append(str(context["id"]))
        context = above[id(context)]
    for profile in data["profiles"][:2]:
        for id_ in ids:
            for key in profile["values"].get(id_, {}):
                profile["values"][id_][key] += more


def another_build(data, seed):
    random = Random(seed)
    data = copy.deepcopy(data)
    for record in data["meta"]["functions"]:
        chance = random.random()
        if record["name"] and chance < 0.1:
            record["name"] += "_v2"
        elif record["name"] and chance < 0.3:
            record["name"] += random.choice((".isra.0", ".part.3", "(int)", "<long>(long)"))
    moved = {file: random.choice((0, 0, 3)) for file in range(len(data["meta"]["files"]))}
    for record in data["meta"]["functions"]:
        if record["file"] is not None and record["line"]:
            record["line"] += moved[record["file"]]
    for context, _ in all_contexts(data):
        if context.get("file") is not None and context["line"]:
            context["line"] += moved[context["file"]] + (random.random() < 0.1)
    for _ in range(random.randrange(1, 6)):
        context, parent = random.choice(list(all_contexts(data)))
        if parent is not None:
            remove(data, context, parent)
    for _ in range(random.randrange(1, 5)):
        grow(data, random)
    return data


def check_seed(lode, seed):
    """Runs in a process of its own: a database against another one, and against another build of itself."""
    sys.setrecursionlimit(20000)
    shape, data = nasty.make(seed)
    wrong, counts = [], Counter()
    others = {"another database": nasty.make(seed + 5000)[1], "another build": another_build(data, seed), "a third build": another_build(data, seed + 7)}
    for title, other in others.items():
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / "a", Path(folder) / "b"]
            db_write.write(paths[0], data)
            db_write.write(paths[1], other)
            for is_all in (False, True):
                found = Comparison(lode, paths, [Database(data), Database(other)], "CPUTIME (sec)", is_all)
                wrong += [f"{title}{' --all' if is_all else ''}: {text}" for text in found.wrong]
                counts["rows"] += found.count
            counts["trees"] += 1
            counts["pairs"] += sum(bool(p.nodes[0] and p.nodes[1]) for p in found.root.all())
    return seed, shape, counts, wrong


def check_corpus(tap, counts, lode, share):
    corpus = corpora.root() / "hpctoolkit"
    if expected is None or not (corpus / "final").is_dir():
        tap.skip("pairs of the corpus", "there is no corpus" if expected else "this Python has no yaml with libyaml")
        return
    for names in PAIRS:
        dbs = [Database(expected.from_file(corpus / "expected" / (name + ".yaml.gz"))) for name in names]
        both = [m["name"] for m in dbs[0].metrics if m["name"] in {n["name"] for n in dbs[1].metrics} and dbs[0].scope_id(m, "execution") is not None]
        costly = [m for m in both if any(Cost(db, next(x for x in db.metrics if x["name"] == m)).total for db in dbs)]
        for metric in costly[::share]:
            for is_all in (False, True):
                found = Comparison(lode, [corpus / "final" / name for name in names], dbs, metric, is_all)
                counts["rows"] += found.count
                what = f"{' '.join(names)}: {metric}{' --all' if is_all else ''}"
                tap.check(not found.wrong, f"{what}: {found.count} rows are those of the reference", found.wrong[:SHOWN])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, help="the program to test")
    parser.add_argument("--share", type=int, default=1, help="ask about every so manieth metric")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first generated tree")
    parser.add_argument("--count", type=int, default=200, help="how many generated trees, three pairs each")
    options = parser.parse_args()
    tap, counts, lode = Tap(), Counter(), str(Path(options.lode).resolve())
    check_corpus(tap, counts, lode, options.share)
    shapes = defaultdict(int)
    with ProcessPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        seeds = range(options.first, options.first + options.count)
        for seed, shape, found, wrong in pool.map(check_seed, [lode] * len(seeds), seeds):
            counts += found
            shapes[shape] += 1
            if wrong:
                tap.check(False, f"{shape}, seed {seed}: {len(wrong)} wrong", wrong[:SHOWN])
    for shape, done in sorted(shapes.items()):
        tap.check(True, f"{shape.replace('_', ' ')}: {3 * done} pairs of trees were compared")
    tap.check(counts["pairs"] > counts["trees"], f"{counts['pairs']} pairs of both sides in {counts['trees']} trees")
    tap.note(", ".join(f"{count} {noun}" for noun, count in sorted(counts.items())))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
