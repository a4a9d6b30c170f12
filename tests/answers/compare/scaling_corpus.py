#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Scaling losses of pairs of real databases, in the library: the loss of every function is that of the reference
(compare_reference.py), fed from what another reader makes of the databases; losses of nodes add up, and the hot path is the one that
a walk over all nodes finds. Needs PyYAML with libyaml, and the corpus.
"""

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "tools"), str(ROOT / "tests" / "dump")]

import references  # noqa: E402,F401
import corpora  # noqa: E402
import compare_reference as reference  # noqa: E402
from db_model import Cost, Database  # noqa: E402
from tap import Tap  # noqa: E402

try:
    import expected
except ImportError:  # no PyYAML, or one without libyaml
    expected = None

# Databases of one metric.
PAIRS = [("made-loops-cputime-t", "made-loops-cputime-t-mpi3ranks"), ("toolkit-loops-cputime-t-v0", "toolkit-loops-cputime-t-v5"),
         ("viewer-loop-fork-cycles-v0", "viewer-loop-fork-cycles-v1")]
RANKS = [("strong", 1, 1), ("strong", 2, 8), ("weak", 1, 3), ("weak", 8, 64)]


def near(a, b):
    return abs(a - b) <= 1e-9


def loss(how, p, q, base, new, total):
    """What the manual of the toolkit has: strong (new - base) / total; weak, all of them per rank."""
    if how == "strong":
        return (new - base) / total
    return (new / q - base / p) / (total / q)


def own_losses(sides, how, p, q):
    base, new = sides
    values = [loss(how, p, q, base.exclusive(a), new.exclusive(b), new.cost.total) for a, b in reference.pairs(base, new)]
    return sorted(value for value in values if value != 0.0)


def hot_path(nodes):
    """From the root to the child of the largest loss, while that is at least half of its parent's."""
    path = [0]
    while True:
        children = [i for i, node in enumerate(nodes) if i > 0 and node["parent"] == path[-1]]
        losses = {i: nodes[i]["loss"][1] for i in children if nodes[i]["loss"][1] > 0.0}
        if not losses or max(losses.values()) < 0.5 * nodes[path[-1]]["loss"][1]:
            return path
        path.append(max(losses, key=losses.get))


def check(tap, shown, corpus, names, how, p, q):
    title = f"{names[0]}, {names[1]}: {how} scaling from {p} to {q} ranks"
    done = subprocess.run([shown, *(str(corpus / "final" / name) for name in names), how, str(p), str(q)],
                          capture_output=True, timeout=300, check=True)
    answer = json.loads(done.stdout.decode(errors="replace"))
    sides = []
    for name in names:
        db = Database(expected.from_file(corpus / "expected" / (name + ".yaml.gz")))
        sides.append(reference.Side(db, Cost(db, db.metrics[0]), "function"))
    wrong = []
    nodes, total = answer["nodes"], [side.cost.total for side in sides]
    if not near(nodes[0]["loss"][1], loss(how, p, q, *total, total[1])):
        wrong.append(f"the loss of everything is {nodes[0]['loss'][1]}")
    wanted, found = own_losses(sides, how, p, q), sorted(row["own"] for row in answer["losses"] if row["own"] != 0.0)
    wanted, found = [[x for x in list_ if abs(x) > 1e-12] for list_ in (wanted, found)]
    if len(wanted) != len(found) or not all(map(near, wanted, found)):
        wrong.append(f"functions: {found}, should be {wanted}")
    by_callers = math.fsum(row["own"] for row in answer["losses_by_callers"])
    if not near(by_callers, nodes[0]["loss"][1]):
        wrong.append(f"by callers: {by_callers}")
    for i, node in enumerate(nodes):
        below = math.fsum(child["loss"][1] for k, child in enumerate(nodes) if k > 0 and child["parent"] == i)
        if not near(node["loss"][1], node["loss"][0] + below):
            wrong.append(f"{node['name']}: {node['loss']}, children {below}")
    if answer["hot_path"] != hot_path(nodes):
        wrong.append(f"hot path {answer['hot_path']}, should be {hot_path(nodes)}")
    tap.check(not wrong, f"{title}: {len(found)} functions lose what the reference says", wrong[:10])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shown", required=True, help="tests/compare/shown")
    options = parser.parse_args()
    tap = Tap()
    corpus = corpora.root() / "hpctoolkit"
    if expected is None or not (corpus / "final").is_dir():
        tap.skip("scaling losses", "there is no corpus" if expected else "this Python has no yaml with libyaml")
        return tap.finish()
    for names in PAIRS:
        for how, p, q in RANKS:
            check(tap, options.shown, corpus, names, how, p, q)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
