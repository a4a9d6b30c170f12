#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Every answer of `lode` on real databases against the reference (db_reference.py), which takes its input from what an independent reader made of
them, or for drafts from another one (db_drafts.py). Needs PyYAML with libyaml, and the corpus. With --share N, each database is asked about every N-th metric only.
"""

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools"), str(ROOT / "tests" / "dump")]

import corpora  # noqa: E402
import db_drafts  # noqa: E402
import db_tree  # noqa: E402
import db_window  # noqa: E402
import db_reference as reference  # noqa: E402
from db_agreement import BY, Agreement, Wrong, interesting_functions  # noqa: E402
from tap import Tap  # noqa: E402

try:
    import expected
except ImportError:  # no PyYAML, or one without libyaml
    expected = None

SUFFIX = ".yaml.gz"
DRAFTS = ("draft-xml", "pre-a", "pre-b")
# Its cct.db is damaged: values were taken out, but places were not adjusted.
DAMAGED = "pre-a/viewer-loop-inline-v1"
SHOWN = 20
DEEP = 20000


def ask_about_metric(answers, metric):
    """Everything that is cheap, about one metric."""
    name, cost = metric["name"], answers.cost(metric)
    answers.counts["metrics"] += 1
    for by in BY if cost.total else BY[:1]:
        answers.attempt(f"top --by {by} '{name}'", answers.top, cost, by)
    answers.attempt(f"tree '{name}'", answers.tree, cost)
    answers.attempt(f"tree --bottom-up '{name}'", answers.tree, cost, mode="bottom-up")
    answers.attempt(f"profiles '{name}'", answers.profiles, metric)


def _flame(answers, cost, mode, focus):
    if reference.resolved(answers.db, focus):
        answers.flame(cost, mode, focus)


def ask_more(answers, metric):
    """The options of commands, and parts of the profiles, for one metric that has costs."""
    name, cost = metric["name"], answers.cost(metric)
    for sort in ("inclusive", "name"):
        answers.attempt(f"top --sort {sort} '{name}'", answers.top, cost, "function", sort)
    for mode in ("top-down", "bottom-up"):
        answers.attempt(f"tree {mode} 1 % '{name}'", answers.tree, cost, mode=mode, min_percent=1)
        answers.attempt(f"tree {mode} --depth 3 '{name}'", answers.tree, cost, mode=mode, depth=3)
        answers.attempt(f"tree {mode} --focus main '{name}'", _focus, answers, cost, mode, "main")
        answers.attempt(f"tree {mode} --focus mp '{name}'", _focus, answers, cost, mode, "mp")
    for focus in ("main", "mp", "MPI_*"):
        answers.attempt(f"tree --callers {focus} '{name}'", _focus, answers, cost, "callers", focus)
    answers.attempt(f"tree --include, --exclude '{name}'", answers.filtered_tree, cost, "main")
    answers.attempt(f"tree --lines '{name}'", answers.tree, cost, lines=True)
    answers.attempt(f"tree --root '{name}'", answers.tree_at, cost)
    answers.attempt(f"flame '{name}'", answers.flame, cost)
    answers.attempt(f"flame --bottom-up '{name}'", answers.flame, cost, "bottom-up")
    answers.attempt(f"flame --merge-recursion '{name}'", answers.flame, cost, merged=True, width=5000)
    for mode in ("top-down", "sandwich"):
        answers.attempt(f"flame {mode} main '{name}'", _flame, answers, cost, mode, "main")
    answers.attempt(f"source '{name}'", answers.source, cost)
    ordinary = answers.db.ordinary_profiles()
    for part in (ordinary[::2], ordinary[-1:]):
        selection = "profile=" + "+".join(map(str, part))
        some = answers.cost(metric, part)
        answers.attempt(f"top --profiles {selection} '{name}'", answers.top, some, "function", selection=selection)
        answers.attempt(f"tree --profiles {selection} '{name}'", answers.tree, some, selection=selection)
    if str(answers.path).endswith(DAMAGED):
        return
    by_cost = sorted(answers.db.by_id.values(), key=lambda c: -cost.inclusive[c.index])
    for context in {c.id: c for c in (*by_cost[:3], *by_cost[len(by_cost) // 2:][:2], by_cost[-1])}.values():
        for kind in ("execution", "point") if answers.db.scope_id(metric, "point") else ("execution",):
            answers.attempt(f"context {context.id} {kind} '{name}'", answers.context, metric, context.id, kind)
    for order, bins in (("value", 5), ("name", 2000), ("index", 1)):
        answers.attempt(f"profiles --bins {bins} --sort {order} '{name}'", answers.profile_plots, metric, order, bins)
        answers.attempt(f"context --bins {bins} --sort {order} '{name}'", answers.context_plots, metric, by_cost[1].id if len(by_cost) > 1 else 0,
                        order, bins)
    for text in ("main", "a", "RANK 0", "cpu", ".so"):
        answers.attempt(f"search {text}", answers.found, text)


def ask_about_formulas(answers, metrics):
    """Several metrics and formulas of them, and what the database defines."""
    a, b = (metrics * 2)[:2]
    x, y = a["name"], b["name"]
    texts = [f"'{x}' - 0 ,'{y}'", f"'{x}'/'{y}'", f"100 * \"{y}\" / ('{x}' + 1)", f"min('{x}', '{y}') - max(2, -3)"]
    formulas = [lambda v: v[x], lambda v: v[y], lambda v: reference.quotient(v[x], v[y]),
                lambda v: reference.quotient(100 * v[y], v[x] + 1), lambda v: min(v[x], v[y]) - 2]
    for by, sort in (("function", "exclusive"), ("line", "inclusive"), ("module", "exclusive")):
        answers.attempt(f"top --by {by} of formulas", answers.top_metrics, texts, formulas, [a, b], by, sort)
    file = answers.path / "metrics" / "default.yaml"
    known = reference.taxonomy(expected.yaml.load(file.read_text(), expected.yaml.CSafeLoader)) if file.exists() else {}
    answers.attempt("info: derived metrics", answers.derived, known)
    by_name = {m["name"]: m for m in answers.db.metrics}
    for name, (formula, names) in list(known.items())[:4]:
        answers.attempt(f"top --metric {name}", answers.top_metrics, [name], [formula], [by_name[n] for n in names])
    sums = [m for m in answers.db.metrics if "_ACUMU" in m["name"] and answers.cost(m).total and "GKER:COUNT" in by_name]
    for metric in sums[:2]:
        mean = [lambda v: reference.quotient(v[metric["name"]], v["GKER:COUNT"])]
        answers.attempt(f"top --metric {metric['name']}", answers.top_metrics, [metric["name"]], mean, [metric, by_name["GKER:COUNT"]])


def ask_about_groups(answers, metric):
    """One function by profile, and all profiles by each kind of their ids."""
    name, cost = metric["name"], answers.cost(metric)
    functions = interesting_functions(answers.db, cost)
    for function in functions:
        answers.attempt(f"profiles --function {function} '{name}'", answers.function_profiles, metric, function)
    kinds = sorted({i["kind"] for p in answers.db.ordinary_profiles() for i in answers.db.profiles[p]["ids"]})
    for kind in kinds:
        answers.attempt(f"profiles --by {kind} '{name}'", answers.groups, metric, [kind])
        answers.attempt(f"top --by {kind} '{name}'", answers.groups, metric, [kind], command="top")
        for function in functions[:2]:
            answers.attempt(f"profiles --by {kind} --function {function} '{name}'", answers.groups, metric, [kind], function)
    if len(kinds) > 1:
        answers.attempt(f"profiles --by two kinds '{name}'", answers.groups, metric, kinds[:2])


def _focus(answers, cost, mode, focus):
    if reference.resolved(answers.db, focus):
        answers.tree(cost, mode=mode, focus=focus)


def ask_about_traces(answers, share):
    if not answers.db.traces:
        return
    times = sorted(s[0] for line in answers.db.traces["lines"] for s in line["samples"])
    answers.attempt("trace", answers.trace)
    answers.attempt("picture", answers.picture, None, 3, 60, 5, "last")
    if times:
        answers.attempt("trace --at", answers.stacks, times[len(times) // 3])
        answers.attempt("trace --boxes", answers.boxes)
        if times[0] + 10 < times[-1]:
            third = (times[-1] - times[0]) // 3
            answers.attempt("trace --boxes of a time window", answers.boxes, (times[0] + third, times[-1] - third), 7, 3)
    lines = [line["profile"] for line in answers.db.traces["lines"]]
    for window in db_window.windows(answers.db)[:None if share == 1 else 1]:
        answers.window(window)
        answers.window(window, lines[::2])
    for depth in (1, 3) if share == 1 else (3,):
        answers.attempt(f"trace --depth {depth}", answers.trace, depth=depth, columns=37)
    if len(times) > 10 and times[0] < times[-1]:
        third = (times[-1] - times[0]) // 3
        windows = ((times[0] + third, times[-1] - third), (times[0] - 10, times[len(times) // 2]),
                   (times[len(times) // 4], times[len(times) // 4] + 1))
        for window in windows if share == 1 else windows[:1]:
            if window[0] < window[1]:
                answers.attempt(f"trace of {window}", answers.trace, window)


def ask(answers, share):
    """All questions about one database."""
    metrics = answers.db.metrics
    with_costs = [m for m in metrics if answers.cost(m).total]
    for metric in metrics[::share]:
        ask_about_metric(answers, metric)
    db_tree.ask(answers, with_costs)
    for metric in with_costs[:1] if share > 1 else with_costs[:3]:
        if metric not in metrics[::share]:
            ask_about_metric(answers, metric)
        ask_more(answers, metric)
        ask_about_groups(answers, metric)
    sums = [m for m in with_costs if "_ACUMU" not in m["name"]]
    if sums:
        ask_about_formulas(answers, sums)
    ask_about_traces(answers, share)


def read(corpus, name):
    """Where a database is, and what is in it. Names of drafts say which draft."""
    if "/" in name:
        return corpus / name, db_drafts.read(corpus / name)
    return corpus / "final" / name, expected.from_file(corpus / "expected" / (name + SUFFIX))


def compare(lode, corpus, name, share):
    """Runs in a process of its own."""
    sys.setrecursionlimit(DEEP)
    began = time.monotonic()
    answers = Agreement(lode, *read(corpus, name), has_indices="/" not in name)
    ask(answers, share)
    return name, answers.counts, answers.wrong, time.monotonic() - began


def _size(corpus, name):
    return (corpus / name / "profile.db" if "/" in name else corpus / "expected" / (name + SUFFIX)).stat().st_size


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, help="the program to test")
    parser.add_argument("--share", type=int, default=1, help="ask about every so manieth metric")
    parser.add_argument("names", nargs="*", help="databases; all if none is named")
    options = parser.parse_args()
    tap = Tap()
    corpus = corpora.root() / "hpctoolkit"
    present = [path.name[:-len(SUFFIX)] for path in corpora.expected(corpus)]
    present += sorted(f"{draft}/{path.name}" for draft in DRAFTS for path in corpora.stores(corpus / draft))
    if expected is None or not present:
        tap.skip("answers on all databases", "there is no corpus" if expected else "this Python has no yaml with libyaml")
        return tap.finish()
    names = options.names or present
    total = Counter()
    with ProcessPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        # The largest first, so that it does not come last alone.
        order = sorted(names, key=lambda name: -_size(corpus, name))
        runs = [pool.submit(compare, options.lode, corpus, name, options.share) for name in order]
        for run in runs:
            name, counts, wrong, seconds = run.result()
            total += counts
            what = ", ".join(f"{count} {noun}" for noun, count in sorted(counts.items()))
            tap.check(not wrong, f"{name}: {len(wrong)} wrong answers ({what}, {seconds:.1f} s)", wrong[:SHOWN])
    tap.note(f"{len(names)} databases: " + ", ".join(f"{count} {noun}" for noun, count in sorted(total.items())))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
