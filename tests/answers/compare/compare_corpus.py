#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode compare` on pairs of real databases: every number is that of the reference (compare_reference.py); a database compared with itself shows
nothing, exchanged sides change signs only, and own differences add up. Needs PyYAML with libyaml, and the corpus.
"""

import argparse
import math
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "tools"), str(ROOT / "tests" / "dump")]

import references  # noqa: E402,F401
import corpora  # noqa: E402
import db_reference  # noqa: E402
import compare_reference as reference  # noqa: E402
import lodejson  # noqa: E402
import findings  # noqa: E402
from db_model import Cost, Database  # noqa: E402
from tap import Tap  # noqa: E402

try:
    import expected
except ImportError:  # no PyYAML, or one without libyaml
    expected = None

OWN_PAIRS = (("made-old", "made-new"), ("made-new", "made-old"), ("made-ranks", "made-statistics"), ("made-small", "made-ranks"), ("example-solver", "made-openmp"))
PAIRS = [("toolkit-loops-cputime-t-v0", "toolkit-loops-cputime-t-v5"), ("toolkit-loops-cputime-t-v3", "toolkit-loops-cputime-t-v4"),
         ("toolkit-loops-perf-v0", "toolkit-loops-perf-v5"), ("toolkit-recursion-cuda-nvidiapc-t-v0", "toolkit-recursion-cuda-nvidiapc-t-v4"),
         ("viewer-loop-fork-cycles-v0", "viewer-loop-fork-cycles-v1"),
         ("hatchet-hatchet-cpi-v4-database-v0", "hatchet-hatchet-cpi-v4-database-v1"),
         ("made-loops-cputime-t", "made-loops-cputime-t-mpi3ranks"), ("toolkit-loops-cuda-nvidia-t-v0", "toolkit-loops-cuda-nvidia-t-v4"),
         ("hatchet-hatchet-cpi-v4-database-v1", "viewer-issue-233")]
BY = ("function", "module", "file")
NUMBERS = ("base", "new", "difference", "ratio", "share_percent", "share_of_base_percent", "sampling_error")
SHOWN = 10


class Program:
    def __init__(self, lode, corpus, tap):
        self.lode, self.corpus, self.tap = lode, corpus, tap
        self.databases, self.counts = {}, Counter()

    def path(self, name):
        return self.corpus / "final" / name

    def run(self, *words):
        done = subprocess.run([self.lode, "compare", "--json", *map(str, words)], capture_output=True, timeout=300)
        self.counts["commands"] += 1
        if done.returncode or findings.without(done.stderr):
            raise AssertionError(f"{words}: status {done.returncode}: {done.stderr.decode(errors='replace')[:300]}")
        return lodejson.loads(done.stdout)

    def database(self, name):
        if name not in self.databases:
            self.databases[name] = Database(expected.from_file(self.corpus / "expected" / (name + ".yaml.gz")))
        return self.databases[name]


def same(found, wanted, scale=0.0):
    if found is None or wanted is None or isinstance(wanted, bool):
        return found is wanted
    return abs(found - wanted) <= 1e-9 * max(abs(wanted), abs(scale)) + 1e-300


def metrics_of(program, names):
    """Metrics that both have, with a cost in one at least."""
    a, b = (program.database(name) for name in names)
    both = {m["name"] for m in a.metrics} & {m["name"] for m in b.metrics}
    found = [m["name"] for m in a.metrics if m["name"] in both]
    return [n for n in found if cost_of(a, n).total or cost_of(b, n).total]


def cost_of(db, name):
    return Cost(db, next(m for m in db.metrics if m["name"] == name))


def wrong_rows(program, answer, base, new):
    """What differs from the reference."""
    wanted, wrong = reference.rows(base, new), []
    scale = max(abs(base.cost.total), abs(new.cost.total))
    by_name = {}
    for row in wanted:
        for name in row["names"]:
            by_name.setdefault(name, []).append(row)
    taken = set()
    for row in answer["rows"]:
        names = {row["base_name"], row["new_name"]} - {None}
        fits = [w for name in names for w in by_name.get(name, ()) if id(w) not in taken]
        if not fits:
            wrong.append(f"{names}: not in the reference")
            continue
        right = fits[0]
        taken.add(id(right))
        program.counts["rows"] += 1
        limits = {"share_percent": 1.0, "share_of_base_percent": 1.0, "ratio": 1.0}
        for key in NUMBERS:
            is_close = key == "sampling_error" and right["is_guess"] and None not in (row[key], right[key]) and abs(row[key] - right[key]) <= 0.01 * right[key]
            if not is_close and not same(row[key], right[key], limits.get(key, scale)):
                wrong.append(f"{names}: {key} is {row[key]}, should be {right[key]}")
        if row["is_beyond_sampling_error"] is not right["is_beyond_sampling_error"] and not right["is_near"]:
            wrong.append(f"{names}: is_beyond_sampling_error {row['is_beyond_sampling_error']}")
        for key in ("base_inclusive", "new_inclusive"):
            if right[key] is not None and not same(row[key], right[key], scale):
                wrong.append(f"{names}: {key} is {row[key]}, should be {right[key]}")
        if row["only_in"] != right["only_in"]:
            wrong.append(f"{names}: only in {row['only_in']}, should be {right['only_in']}")
    wrong += [f"missing: {w['names']}" for w in wanted if id(w) not in taken]
    return wrong


def check_table(program, names, by, metric):
    answer = program.run("--limit", 0, "--all", "--by", by, "--metric", metric, *map(program.path, names))
    sides = [reference.Side(program.database(n), cost_of(program.database(n), metric), by) for n in names]
    wrong = wrong_rows(program, answer, *sides)
    head, shares = answer["metrics"][0], reference.matched(*sides)
    totals = [side.cost.total for side in sides]
    for key, value in (("base", totals[0]), ("new", totals[1]), ("difference", totals[1] - totals[0]),
                       ("matched_base_percent", 100 * shares[0]), ("matched_new_percent", 100 * shares[1])):
        if not same(head[key], value, max(map(abs, totals))):
            wrong.append(f"{key} is {head[key]}, should be {value}")
    program.tap.check(not wrong, f"{names[0]}, {names[1]}: --by {by} --metric {metric}: {len(answer['rows'])} rows are those of the reference",
                      wrong[:SHOWN])


def check_profiles(program, names, metric):
    dbs = [program.database(n) for n in names]
    kinds = [{db.id_names[i["kind"]].lower() for p in db.ordinary_profiles() for i in db.profiles[p]["ids"]} for db in dbs]
    for by in ["profile", *sorted(kinds[0] & kinds[1])]:
        values = [reference.profile_values(db, next(m for m in db.metrics if m["name"] == metric), None if by == "profile" else [by])
                  for db in dbs]
        answer = program.run("--limit", 0, "--by", by, "--metric", metric, *map(program.path, names))
        found = {row["name"]: row for row in answer["rows"]}
        wrong = [f"{set(found) ^ (set(values[0]) | set(values[1]))}"] if set(found) != set(values[0]) | set(values[1]) else []
        scale = max([abs(v) for side in values for v in side.values()] or [1.0])
        for name, row in found.items():
            a, b = (side.get(name, 0.0) for side in values)
            if not (same(row["base"], a, scale) and same(row["new"], b, scale) and same(row["difference"], b - a, scale)):
                wrong.append(f"{name}: {row}, should be {a}, {b}")
            program.counts["rows"] += 1
        both = sorted(values[1][n] - values[0][n] for n in set(values[0]) & set(values[1]))
        counts = [len(both), sum(d > 1e-13 * scale for d in both), sum(d < -1e-13 * scale for d in both)]
        if [answer["matched_count"], answer["more_count"], answer["less_count"]] != counts:
            wrong.append(f"counts {answer['matched_count']}, {answer['more_count']}, {answer['less_count']}, should be {counts}")
        wanted = [db_reference.distribution(both)["median"], *(db_reference.distribution(list(v.values()))["imbalance"] for v in values)]
        for key, value in zip(("median_difference", "base_imbalance", "new_imbalance"), wanted):
            if not same(answer[key], value, max(scale, 1.0) if key == "median_difference" else 1.0):
                wrong.append(f"{key} is {answer[key]}, should be {value}")
        program.tap.check(not wrong, f"{names[0]}, {names[1]}: --by {by}: {len(found)} rows are those of the reference", wrong[:SHOWN])


def check_ranks(program, names, metric):
    """In how many profiles a difference has its sign."""
    dbs = [program.database(n) for n in names]
    if max(len(db.ordinary_profiles()) for db in dbs) > 20:
        return
    wanted = reference.ranks(dbs, metric, lambda db, name, profiles: Cost(db, next(m for m in db.metrics if m["name"] == name), profiles))
    answer = program.run("--limit", 0, "--metric", metric, *map(program.path, names))
    wrong = []
    for row in answer["rows"]:
        both, more, less = wanted[row["new_name"] or row["base_name"]]
        is_rounding = abs(row["difference"]) <= 1e-12 * (abs(row["base"]) + abs(row["new"]))
        if row["ranks"] is not None and not is_rounding and (row["ranks"], row["ranks_with_sign"]) != (both, more if row["difference"] > 0 else less):
            wrong.append(f"{row['name']}: {row['ranks_with_sign']} of {row['ranks']}, should be {(more, less)} of {both}")
    program.tap.check(not wrong, f"{names[0]}, {names[1]}: profiles with the sign of a row, of {len(answer['rows'])} rows", wrong[:SHOWN])


def check_algebra(program, names, by, metric):
    """compare(A, B) = -compare(B, A), and exclusive differences add up to that of the totals."""
    options = ("--limit", 0, "--by", by, "--metric", metric)
    there, back = (program.run(*options, *map(program.path, pair)) for pair in (names, names[::-1]))
    key = {"base": lambda r: (r["base_name"], r["new_name"]), "new": lambda r: (r["new_name"], r["base_name"])}
    left = sorted((key["base"](r) for r in there["rows"]), key=str)
    right = sorted((key["new"](r) for r in back["rows"]), key=str)
    one = {key["base"](r): r for r in there["rows"]}
    other = {key["new"](r): r for r in back["rows"]}
    wrong = [] if left == right else [f"rows {set(one) ^ set(other)}"]
    for name in set(one) & set(other):
        a, b = one[name], other[name]
        if (a["difference"], a["base"], a["new"], a["moved_within"]) != (-b["difference"], b["new"], b["base"], b["moved_within"]):
            wrong.append(f"{name}: {a} {b}")
    program.tap.check(not wrong, f"{names[0]}, {names[1]}: --by {by}: exchanged sides change the sign of {len(one)} rows, and nothing else", wrong[:SHOWN])
    total = there["metrics"][0]["difference"]
    scale = there["metrics"][0]["base"] + there["metrics"][0]["new"]
    added = math.fsum(r["new_exclusive"] - r["base_exclusive"] for r in there["rows"])
    if by != "loop":  # what is in no loop has no row
        program.tap.check(same(added, total, scale), f"{names[0]}, {names[1]}: --by {by}: exclusive differences add up to that of the totals",
                          [added, total])


def check_tree(program, names, metric):
    """Costs of a row are its own and those below it; gross changes add up; exchanged sides change signs."""
    options = ("--tree", "--limit", 0, "--min-percent", 0, "--metric", metric)
    there, back = (program.run(*options, *map(program.path, pair)) for pair in (names, names[::-1]))
    rows, wrong = there["rows"], []
    scale = max(abs(there["base_total"]), abs(there["new_total"]))
    below = {i: [] for i in range(-1, len(rows))}
    for row in rows:
        below[-1 if row["parent_row"] is None else row["parent_row"]].append(row)
    for i, row in enumerate(rows):
        # Rows without a change are left out, so inclusive costs have to be made of differences.
        parts = row["new_own"] - row["base_own"] + math.fsum(child["difference"] for child in below[i])
        gross = abs(row["new_own"] - row["base_own"]) + math.fsum(child["gross"] for child in below[i])
        if not same(row["difference"], parts, scale) or not same(row["gross"], gross, scale) or not same(row["new"] - row["base"], row["difference"], scale):
            wrong.append(f"{row['name']}: {row['difference']}, {row['gross']}, should be {parts}, {gross}")
        program.counts["rows"] += 1
    totals = [cost_of(program.database(n), metric).total for n in names]
    change = math.fsum(row["new_own"] - row["base_own"] for row in rows)
    if not (same(there["base_total"], totals[0], scale) and same(there["new_total"], totals[1], scale)):
        wrong.append(f"totals {there['base_total']}, {there['new_total']}, should be {totals}")
    # What was measured at the root itself has no row.
    root = [cost_of(program.database(n), metric).own[0] for n in names]
    if not same(change, totals[1] - totals[0] - (root[1] - root[0]), scale):
        wrong.append(f"own differences are {change} in total, should be {totals[1] - totals[0]}")
    program.tap.check(not wrong, f"{names[0]}, {names[1]}: --tree: net and gross changes of {len(rows)} rows add up", wrong[:SHOWN])
    digits = 11 - math.floor(math.log10(scale)) if scale else 0  # children are added up in another order
    mine = sorted((str(r["base_name"]), str(r["new_name"]), r["depth"], round(0.0 + r["difference"], digits), round(r["gross"], digits)) for r in rows)
    other = sorted((str(r["new_name"]), str(r["base_name"]), r["depth"], round(0.0 - r["difference"], digits), round(r["gross"], digits)) for r in back["rows"])
    program.tap.check(mine == other, f"{names[0]}, {names[1]}: --tree: exchanged sides change signs, and nothing else",
                      [sorted(set(mine) ^ set(other))[:SHOWN]])


def check_scaling(program, names, metric):
    """Losses of functions add up to the loss of efficiency."""
    totals = [cost_of(program.database(n), metric).total for n in names]
    profiles = [len(program.database(n).ordinary_profiles()) for n in names]
    if not all(totals):
        return
    sides = [reference.Side(program.database(n), cost_of(program.database(n), metric), "function") for n in names]
    for how, shares in (("strong", (1, 1)), ("weak", profiles)):
        answer = program.run("--scaling", how, "--limit", 0, "--metric", metric, *map(program.path, names))
        base, new = (total / share for total, share in zip(totals, shares))
        wrong = [] if same(answer["loss_percent"], 100 * (new - base) / new, 100) else [f"loss {answer['loss_percent']}, should be {100 * (new - base) / new}"]
        added = math.fsum(row["own_percent"] for row in answer["rows"])
        if not same(added, answer["loss_percent"], 100 * max(1.0, base / new)):
            wrong.append(f"own losses are {added} in total, should be {answer['loss_percent']}")
        wanted = {name: 100 * (row["new"] / shares[1] - row["base"] / shares[0]) / new for row in reference.rows(*sides) for name in row["names"]}
        # Loops of a function that one side inlines, and that is looked through, belong to the function around it.
        is_matched = min(answer["matched_base_percent"], answer["matched_new_percent"]) > 80
        for row in answer["rows"]:
            if is_matched and row["name"] in wanted and not same(row["own_percent"], wanted[row["name"]], 100 * max(1.0, base / new)):
                wrong.append(f"{row['name']}: {row['own_percent']}, should be {wanted[row['name']]}")
            program.counts["rows"] += 1
        program.tap.check(not wrong, f"{names[0]}, {names[1]}: --scaling {how}: {len(answer['rows'])} losses are those of the reference", wrong[:SHOWN])


def check_itself(program, present):
    wrong = []
    for name in present:
        for by in ("function", "line", "loop", "module", "file"):
            answer = program.run("--by", by, program.path(name), program.path(name))
            if answer["rows"] or answer["metrics"][0]["difference"] != 0 or answer["metrics"][0]["matched_base_percent"] != 100:
                wrong.append(f"{name} --by {by}: {answer['rows'][:1]}")
        answer = program.run("--tree", "--min-percent", 0, program.path(name), program.path(name))
        if answer["rows"] or answer["gross"] != 0 or answer["matched_base_percent"] != 100:
            wrong.append(f"{name} --tree: {answer['rows'][:1]}")
    program.tap.check(not wrong, f"{len(present)} databases compared with themselves show nothing", wrong[:SHOWN])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, help="the program to test")
    parser.add_argument("--share", type=int, default=1, help="ask about every so manieth metric")
    options = parser.parse_args()
    tap = Tap()
    corpus = corpora.root() / "hpctoolkit"
    present = sorted(path.name for path in (corpus / "final").glob("*") if (path / "cct.db").exists())
    if expected is None or not present:
        tap.skip("comparisons of databases", "there is no corpus" if expected else "this Python has no yaml with libyaml")
        return tap.finish()
    program = Program(options.lode, corpus, tap)
    for names in OWN_PAIRS if corpora.is_own() else PAIRS:
        metrics = metrics_of(program, names)
        for metric in metrics[::options.share] or metrics[:1]:
            for by in BY:
                check_table(program, names, by, metric)
        for by in ("function", "line", "loop", "module", "file"):
            check_algebra(program, names, by, metrics[0])
        check_profiles(program, names, metrics[0])
        check_ranks(program, names, metrics[0])
        check_tree(program, names, metrics[0])
        check_scaling(program, names, metrics[0])
    check_itself(program, present[::options.share])
    tap.note(", ".join(f"{count} {noun}" for noun, count in sorted(program.counts.items())))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
