#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode compare --statistic` and `lode gate --statistic` on pairs of real databases and of generated ones: the total and every function, exclusive and inclusive,
as the median, min or max over the profiles that have the metric, worked out slowly from each profile. Real ones need PyYAML with libyaml,
and the corpus.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "tools"), str(ROOT / "tests" / "dump")]

import references  # noqa: E402,F401
import corpora  # noqa: E402
import compare_reference as reference  # noqa: E402
import db_nasty as nasty  # noqa: E402
import db_write  # noqa: E402
import findings  # noqa: E402
from db_model import Cost, Database  # noqa: E402
from tap import Tap  # noqa: E402

try:
    import expected
except ImportError:  # no PyYAML, or one without libyaml
    expected = None

PAIRS = [("toolkit-loops-cputime-t-v0", "toolkit-loops-cputime-t-v5"), ("viewer-loop-fork-cycles-v0", "viewer-loop-fork-cycles-v1"),
         ("hatchet-hatchet-cpi-v4-database-v0", "hatchet-hatchet-cpi-v4-database-v1"),
         ("made-loops-cputime-t", "made-loops-cputime-t-mpi3ranks"), ("hatchet-hatchet-cpi-v4-database-v1", "viewer-issue-233")]
FUNCTIONS = {"median": statistics.median, "min": min, "max": max}
SHOWN = 10


def run(lode, *words, status=0):
    done = subprocess.run([lode, *map(str, words), "--json"], capture_output=True, timeout=300)
    if done.returncode != status or findings.without(done.stderr):
        raise AssertionError(f"{words}: status {done.returncode}: {done.stderr.decode(errors='replace')[:300]}")
    return json.loads(done.stdout)


class Run:
    """One database and one metric: what each function costs in each profile that has the metric."""

    def __init__(self, db, name):
        self.metric = next(m for m in db.metrics if m["name"] == name)
        self.names = defaultdict(set)  # by key: names that the program may show
        self.exclusive, self.inclusive, self.totals = defaultdict(list), defaultdict(list), []
        keys = self._keys(db)
        id = db.scope_id(self.metric, "execution")
        # As in `lode top`: entry points and the root count where they have a cost of their own.
        all_profiles = Cost(db, self.metric)
        is_counted = [c.begins_function() and (c.lexical not in ("entry", "global") or all_profiles.own[c.index] != 0.0) for c in db.contexts]
        profiles = [p for p in db.ordinary_profiles() if 0 in db.values(p, id)]
        for profile in profiles:
            cost = Cost(db, self.metric, [profile])
            self.totals.append(cost.total)
            own, whole = defaultdict(list), defaultdict(list)
            for context in db.contexts:
                key = keys[context.index]
                own[key].append(cost.own[context.index])
                outer = (above for above in context.above() if above is not context)
                if is_counted[context.index] and not any(is_counted[above.index] and keys[above.index] == key for above in outer):
                    whole[key].append(cost.inclusive[context.index])
            for key in set(keys):
                self.exclusive[key] += [math.fsum(own[key])]
                self.inclusive[key] += [math.fsum(whole[key])]

    def _keys(self, db):
        """The key of the function that each context is in. Regions are counted by their order."""
        parts = {}
        numbers = defaultdict(set)
        for context in db.contexts:
            if context.begins_function():
                record = None if context.function is None else db.functions[context.function]
                module = db.module_path(record["module"] if record else context.module)
                name, number = reference.normal_name(db.label(context), module)
                parts[context.index] = (name, number)
                if number is not None:
                    numbers[name].add(number)
        keys = []
        for context in db.contexts:
            name, number = parts[db.function_of(context).index]
            keys.append((name, None if number is None else sorted(numbers[name]).index(number)))
            if context.begins_function():
                self.names[keys[-1]].add(db.label(context))
        return keys

    def values(self, kind, key, statistic):
        table = self.exclusive if kind == "exclusive" else self.inclusive
        return FUNCTIONS[statistic](table[key]) if key in table and table[key] else 0.0


def near(found, wanted, scale):
    return abs(found - wanted) <= 1e-9 * max(abs(wanted), abs(scale)) + 1e-300


def wrong_rows(answer, runs, statistic, scale):
    wrong = []
    keys = [{name: key for key, names in side.names.items() for name in names} for side in runs]
    for row in answer["rows"]:
        for side, run_of, names in (("base", runs[0], keys[0]), ("new", runs[1], keys[1])):
            name = row[side + "_name"]
            # Functions without a cost in the summary are not known by a name.
            key = names.get(name) if name is not None else None
            if name is not None and key is None:
                wrong.append(f"{name}: not in the reference")
                continue
            for kind in ("exclusive", "inclusive"):
                value = run_of.values(kind, key, statistic) if key else 0.0
                if not near(row[f"{side}_{kind}"], value, scale):
                    wrong.append(f"{name}: {side} {kind} is {row[f'{side}_{kind}']}, should be {value}")
    return wrong


def check_pair(tap, counts, lode, title, paths, dbs, metric):
    runs = [Run(db, metric) for db in dbs]
    scale = max(map(abs, [*runs[0].totals, *runs[1].totals]), default=0.0)
    everything = {run(lode, "compare", "--limit", 0, "--all", "--metric", metric, *paths)["row_count"]}
    for statistic, function in FUNCTIONS.items():
        answer = run(lode, "compare", "--limit", 0, "--all", "--metric", metric, "--statistic", statistic, *paths)
        wrong = wrong_rows(answer, runs, statistic, scale)
        head, totals = answer["metrics"][0], [function(side.totals) if side.totals else 0.0 for side in runs]
        if not (near(head["base"], totals[0], scale) and near(head["new"], totals[1], scale)):
            wrong.append(f"totals {head['base']}, {head['new']}, should be {totals}")
        if answer["statistic"] != statistic or {answer["row_count"]} != everything:
            wrong.append(f"{answer['statistic']}, {answer['row_count']} rows instead of {everything}")
        counts["numbers"] += 4 * len(answer["rows"])
        tap.check(not wrong, f"{title}: --statistic {statistic} of {metric}: {len(answer['rows'])} rows are those of the reference", wrong[:SHOWN])


def check_gate(tap, lode, title, paths, dbs, metric, folder):
    """Whether a limit holds depends on the statistic; a file of limits and an option say the same."""
    runs = [Run(db, metric) for db in dbs]
    for statistic, function in FUNCTIONS.items():
        totals = [function(side.totals) if side.totals else 0.0 for side in runs]
        limits = Path(folder) / "limits"
        limits.write_text(f"statistic {statistic}\nmax-slower 1000%\nmax-function 1000%\nmin-share 0%\nmetric {metric}\n")
        wrong = []
        for words in (["--limits", limits], ["--statistic", statistic, "--max-slower", "1000%", "--max-function", "1000%", "--metric", metric]):
            done = subprocess.run([lode, "gate", "--json", *map(str, [*words, *paths])], capture_output=True, timeout=300)
            if done.returncode == 2 and b"these are other programs" in done.stderr:
                continue
            if done.returncode not in (0, 1):
                raise AssertionError(f"{words}: status {done.returncode}: {done.stderr.decode(errors='replace')[:300]}")
            answer = json.loads(done.stdout)
            row = next(r for r in answer["rows"] if r["name"] is None)
            if answer["statistic"] != statistic or not (near(row["base"], totals[0], totals[0]) and near(row["new"], totals[1], totals[1])):
                wrong.append(f"{answer['statistic']}: {row['base']}, {row['new']}, should be {totals}")
        tap.check(not wrong, f"{title}: gate judges the {statistic} over profiles, by option and by file", wrong)


def check_corpus(tap, counts, lode, share):
    corpus = corpora.root() / "hpctoolkit"
    if expected is None or not (corpus / "final").is_dir():
        tap.skip("pairs of the corpus", "there is no corpus" if expected else "this Python has no yaml with libyaml")
        return
    for names in PAIRS:
        dbs = [Database(expected.from_file(corpus / "expected" / (name + ".yaml.gz"))) for name in names]
        both = [m["name"] for m in dbs[0].metrics if m["name"] in {n["name"] for n in dbs[1].metrics}
                and dbs[0].scope_id(m, "execution") is not None]
        for metric in [m for m in both if any(Run(db, m).totals for db in dbs)][::share]:
            check_pair(tap, counts, lode, " ".join(names), [corpus / "final" / name for name in names], dbs, metric)


def check_generated(tap, counts, lode, seeds):
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            made = [nasty.make(seed), nasty.make(seed + 5000)]
            paths, dbs = [Path(folder) / name for name in ("a", "b")], [Database(data) for _, data in made]
            for path, (_, data) in zip(paths, made):
                db_write.write(path, data)
            names = [m["name"] for m in dbs[0].metrics if m["name"] in {n["name"] for n in dbs[1].metrics}]
            for metric in names[:2]:
                check_pair(tap, counts, lode, f"{made[0][0]}, {made[1][0]}, seed {seed}", paths, dbs, metric)
            if names:
                check_gate(tap, lode, f"seed {seed}", paths, dbs, names[0], folder)


def check_refusals(tap, lode):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([lode, "example", f"{folder}/demo"], check=True, stdout=subprocess.DEVNULL)
        for words in (["compare", "--statistic", "min", "demo/thumbs", "demo/thumbs"], ["gate", "--statistic", "min", "demo/thumbs", "demo/thumbs"],
                      ["compare", "--statistic", "min", "--by", "line", "demo/solver", "demo/solver"],
                      ["compare", "--statistic", "min", "--tree", "demo/solver", "demo/solver"],
                      ["compare", "--statistic", "min", "--from", "0.1", "demo/solver", "demo/solver"]):
            done = subprocess.run([lode, *words], capture_output=True, text=True, cwd=folder)
            tap.check(done.returncode == 2 and "--statistic is for" in done.stderr and not done.stdout, f"refused: {' '.join(words)}",
                      [done.returncode, done.stderr, done.stdout[:200]])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, help="the program to test")
    parser.add_argument("--share", type=int, default=1, help="ask about every so manieth metric")
    parser.add_argument("--count", type=int, default=100, help="how many generated pairs")
    options = parser.parse_args()
    tap, counts = Tap(), Counter()
    lode = str(Path(options.lode).resolve())
    check_corpus(tap, counts, lode, options.share)
    check_generated(tap, counts, lode, range(options.count))
    check_refusals(tap, lode)
    tap.note(", ".join(f"{count} {noun}" for noun, count in sorted(counts.items())))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
