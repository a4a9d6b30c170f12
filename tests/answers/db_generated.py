#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Every answer of `lode` on generated databases (db_nasty.py), against the reference and against each other: what is cut into parts adds up to the whole,
what is seen from two sides is the same, and a converted database gives the answers of its source.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import db_made  # noqa: E402
import db_nasty as nasty  # noqa: E402
import db_write  # noqa: E402
import db_tree  # noqa: E402
import db_window  # noqa: E402
import findings  # noqa: E402
from db_agreement import BY, Agreement, Wrong, interesting_functions, nested  # noqa: E402
from db_reference import OPERATORS  # noqa: E402
from tap import Tap  # noqa: E402

SHOWN = 20
DEEP = 20000


def _formula(random, names, depth):
    """A formula at random: its text, and a function of {metric: sum}."""
    kind = random.choice("nm" if depth == 0 else "nmm+-*/(u<>")
    if kind == "n":
        number = random.choice((0, 1, 2, 3, 10, 0.5))
        # Digits alone are the number of a metric.
        return f"({number})", lambda v: float(number)
    if kind == "m":
        name = random.choice(names)
        quote = random.choice("'\"")
        return f"{quote}{name}{quote}", lambda v: v[name]
    (left, f), (right, g) = (_formula(random, names, depth - 1) for _ in range(2))
    if kind == "(":
        return f"({left})", f
    if kind == "u":
        return f"-({left})", lambda v: None if f(v) is None else -f(v)
    operator = {"<": "min", ">": "max"}.get(kind, kind)
    text = f"{operator}({left}, {right})" if kind in "<>" else f"({left}) {operator} ({right})"
    return text, lambda v: OPERATORS[operator]([f(v), g(v)])


def ask_about_formulas(answers, random):
    names = [m["name"] for m in answers.db.metrics]
    for _ in range(3):
        parts = [_formula(random, names, 4) for _ in range(3)]
        texts, formulas = [p[0] for p in parts], [p[1] for p in parts]
        texts, formulas = [f"'{names[0]}'*1", *texts], [lambda v: v[names[0]], *formulas]
        answers.attempt(f"top of {texts}", answers.top_metrics, texts, formulas, answers.db.metrics)


def ask(answers, random):
    """Every question about one database."""
    for metric in answers.db.metrics:
        name, cost = metric["name"], answers.cost(metric)
        for by in BY:
            answers.attempt(f"top --by {by} '{name}'", answers.top, cost, by)
        answers.attempt(f"tree '{name}'", answers.tree, cost)
        answers.attempt(f"tree --bottom-up '{name}'", answers.tree, cost, mode="bottom-up")
        answers.attempt(f"profiles '{name}'", answers.profiles, metric)
    metric = answers.db.metrics[0]
    cost, focus = answers.cost(metric), "main"
    kinds = sorted({i["kind"] for p in answers.db.ordinary_profiles() for i in answers.db.profiles[p]["ids"]})
    ask_about_formulas(answers, random)
    db_tree.ask(answers, [m for m in answers.db.metrics if answers.cost(m).total])
    for function in interesting_functions(answers.db, cost):
        answers.attempt(f"profiles --function {function}", answers.function_profiles, metric, function)
        answers.attempt(f"profiles --by {kinds[0]} --function {function}", answers.groups, metric, kinds[:1], function)
    for kind in kinds:
        answers.attempt(f"top --by {kind}", answers.groups, metric, [kind], command="top")
    answers.attempt("top --sort inclusive", answers.top, cost, "function", "inclusive")
    answers.attempt("tree --lines", answers.tree, cost, lines=True)
    answers.attempt("source", answers.source, cost)
    for mode in ("top-down", "bottom-up"):
        answers.attempt(f"tree {mode} 5 %", answers.tree, cost, mode=mode, min_percent=5)
        answers.attempt(f"tree {mode} --depth 2", answers.tree, cost, mode=mode, depth=2)
        if any(focus in answers.db.label(c).lower() for c in answers.db.contexts if c.begins_function()):
            answers.attempt(f"tree {mode} --focus", answers.tree, cost, mode=mode, focus=focus)
            answers.attempt("tree --callers", answers.tree, cost, mode="callers", focus=focus)
    for context in answers.db.contexts[::max(1, len(answers.db.contexts) // 3)]:
        answers.attempt(f"context {context.id}", answers.context, metric, context.id)
    if answers.db.traces:
        times = [s[0] for line in answers.db.traces["lines"] for s in line["samples"]]
        answers.attempt("trace", answers.trace)
        for window in db_window.windows(answers.db):
            answers.window(window)
        answers.attempt("trace --depth 2", answers.trace, depth=2, columns=13)
        for rows, columns, depth, idle in ((1, 7, 0, "dominant"), (3, 50, 0, "last"), (0, 31, 2, "dominant"), (2, 100, 1, "last")):
            answers.attempt(f"picture {rows} {columns} {depth} {idle}", answers.picture, None, depth, columns, rows, idle)
        answers.attempt("picture by probes", answers.picture, None, 0, 40, 3, probes=True)
        if times and min(times) + 2 < max(times):
            middle = (min(times) + max(times)) // 2
            answers.attempt("trace --from", answers.trace, (middle, max(times) + 1))
            for time in (min(times), middle, max(times) - 1, max(times) + 10):
                answers.attempt("trace --at", answers.stacks, time)
            answers.attempt("trace --boxes", answers.boxes, None, 9)
            answers.attempt("picture of a window", answers.picture, (middle - 77, middle + 3000), 0, 64, 2, "last")
            answers.attempt("trace --to", answers.trace, (min(times), middle))


# ---- what holds between answers ----

def _check(good, text):
    if not good:
        raise Wrong(text)


def _first_level_of_callers_is_top(answers, metric):
    top = answers.run("top", "--by", "symbol", "--limit", 0, "--metric", metric)["rows"]
    callers = answers.run("tree", "--bottom-up", "--min-percent", 0, "--limit", 0, "--metric", metric)["rows"]
    left = Counter((row["name"], row["exclusive"]) for row in top if row["exclusive"] > 0)
    right = Counter((row["name"], row["inclusive"]) for row in callers if row["depth"] == 0)
    _check(left == right, f"only in top: {left - right}, only in the tree by callers: {right - left}")


def _rows_add_up(answers, metric):
    """Children to their parent, with what is its own; callers to what they called."""
    def walk(pairs, is_callers):
        for row, children in pairs:
            below = sum(child["inclusive"] for child, _ in children)
            if is_callers:
                wanted = 0 if row["kind"] in ("entry", "global") else row["inclusive"]
            else:
                wanted = row["inclusive"] - row["exclusive"]
            _check(below == wanted, f"rows below {row['name']}: {below}, not {wanted}")
            walk(children, is_callers)
    for flags in ([], ["--lines"], ["--bottom-up"]):
        rows = answers.run("tree", *flags, "--min-percent", 0, "--limit", 0, "--metric", metric)["rows"]
        walk(nested(rows), "--bottom-up" in flags)


def _exclusive_rows_add_up_to_the_total(answers, metric):
    for by in ("function", "line", "module", "file"):
        answer = answers.run("top", "--by", by, "--limit", 0, "--metric", metric)
        found = sum(row["exclusive"] for row in answer["rows"])
        _check(found == answer["total"], f"by {by}: {found}, not {answer['total']}")


def _parts_add_up(answers, metric):
    """Two halves of the profiles."""
    ordinary = answers.db.ordinary_profiles()
    if len(ordinary) < 2:
        return
    whole, parts = Counter(), Counter()
    for selection in (ordinary, ordinary[::2], ordinary[1::2]):
        text = "profile=" + "+".join(map(str, selection))
        for by in BY:
            for row in answers.run("top", "--by", by, "--limit", 0, "--profiles", text, "--metric", metric)["rows"]:
                key = (by, *(row[k] for k in ("name", "function", "file", "line", "module")))
                for field in ("exclusive", "inclusive"):
                    (whole if selection is ordinary else parts)[(*key, field)] += row[field]
    # Lines and loops that different parts see in different functions are called by different functions.
    _check(_by_place(whole) == _by_place(parts), f"{_by_place(whole) - _by_place(parts)} differ")


def _by_place(amounts):
    places = Counter()
    for (by, name, function, file, line, module, field), amount in amounts.items():
        # A stand-in (an entry point, a line of a definition) counts only where it has costs of its own.
        if amount and field == "exclusive":
            places[(by, name, None if by in ("line", "loop") else function, file, line, module, field)] += amount
    return places


def _converted_answers_the_same(answers, metric, target):
    def shape(pairs):
        """Rows without numbers of contexts, siblings in any order."""
        return sorted((row["name"], row["inclusive"], row["exclusive"], row["contexts"], row["kind"], str(row["call_file"]),
                       str(row["call_line"]), shape(children)) for row, children in pairs)

    def seen(path):
        at = Agreement(answers.lode, path, answers.data)
        top = {by: sorted(json.dumps(row) for row in at.run("top", "--by", by, "--limit", 0, "--metric", metric)["rows"])
               for by in BY}
        trees = [shape(nested(at.run("tree", *flags, "--limit", 0, "--min-percent", 0, "--metric", metric)["rows"]))
                 for flags in ([], ["--lines"], ["--bottom-up"])]
        profiles = at.run("profiles", "--limit", 0, "--metric", metric)
        rows = sorted((row["name"], row["value"]) for row in profiles["rows"])
        trace = at.run("trace", "--limit", 0) if answers.db.traces else {"rows": []}
        shares = sorted((row["name"], row["nanoseconds"], row["samples"]) for row in trace["rows"])
        return {"top": top, "tree": trees, "profiles": (rows, profiles["distribution"]), "trace": shares}

    before, after = seen(answers.path), seen(target)
    for command, answer in before.items():
        if answer != after[command]:
            raise Wrong(f"{command} differs: {_first(answer, after[command])}")


def _first(left, right):
    """Where two answers differ first."""
    if isinstance(left, dict):
        key = next(k for k in left if left[k] != right[k])
        return _first(left[key], right[key])
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        for a, b in zip(left, right):
            if a != b:
                return _first(a, b)
        return f"{len(left)} or {len(right)} of {str((left or right)[-1])[:200]}"
    return f"{str(left)[:200]} or {str(right)[:200]}"


def check_properties(answers, folder):
    for metric in (m["name"] for m in answers.db.metrics):
        for check in (_first_level_of_callers_is_top, _rows_add_up, _exclusive_rows_add_up_to_the_total, _parts_add_up):
            answers.attempt(f"{check.__name__.strip('_').replace('_', ' ')}, {metric}", check, answers, metric)
    target = folder / "converted"
    done = subprocess.run([answers.lode, "convert", answers.path, "-o", target], capture_output=True, text=True)
    if done.returncode:
        answers.wrong.append(f"convert: {done.stderr}")
        return
    for metric in (m["name"] for m in answers.db.metrics):
        answers.attempt(f"converted answers the same, {metric}", _converted_answers_the_same, answers, metric, target)


def compare(lode, seed):
    """Runs in a process of its own."""
    sys.setrecursionlimit(DEEP)
    shape, data = nasty.make(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nasty"
        db_write.write(path, data)
        answers = Agreement(lode, path, data, exact=True)
        check = subprocess.run([lode, "check", "--level", "full", path], capture_output=True, text=True)
        if check.returncode:
            answers.wrong.append(f"it is not sound: {check.stdout[-500:]}")
        ask(answers, Random(seed))
        check_properties(answers, Path(folder))
    return seed, shape, answers.counts, answers.wrong


def check_total_of_nearly_nothing(tap, lode):
    """The share of a cost in a total that is damaged is beyond all numbers, and beyond every integer."""
    _, data = nasty.make(0)
    for values in (data["profiles"][0]["values"]["0"], *(p["values"].get("0", {}) for p in data["profiles"][1:])):
        values.update(dict.fromkeys(values, 5e-310))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "odd"
        db_write.write(path, data)
        for options in (["tree"], ["tree", "--bottom-up"], ["top"], ["profiles"]):
            for form in ([], ["--json"], ["--csv"]):
                more = ["--min-percent", "0"] if options[0] == "tree" else []
                done = subprocess.run([lode, *options, *more, *form, "--limit", "0", path], capture_output=True, text=True)
                tap.check(done.returncode == 0 and not findings.without(done.stderr),
                          f"a total of nearly nothing: {' '.join([*options, *form])}", [done.stderr[:500]])


def check_many_ids(tap, lode):
    """More ids of a kind than a matrix has rows or columns, with gaps: they are put together in ranges."""
    random, functions = Random(64), [("solve", "/src/a.c"), ("wait", "/src/b.c")]
    for ranks, threads in ((65, 3), (129, 70), (1, 200)):
        places = [(rank * 3, thread * 2) for rank in range(ranks) for thread in range(threads) if random.random() < 0.9][:1500]
        data = db_made.flat(functions, [[random.randrange(1, 1000), random.randrange(1000)] for _ in places])
        for profile, ids in zip(data["profiles"][1:], places):
            profile["ids"] = [{"kind": kind, "flags": 0, "logical": id, "physical": id} for kind, id in zip((2, 3), ids)]
        with tempfile.TemporaryDirectory() as folder:
            db_write.write(Path(folder) / "many", data)
            answers = Agreement(lode, Path(folder) / "many", data, exact=True)
            metric = answers.db.metrics[0]
            for order in ("value", "name"):
                answers.attempt(f"profiles by {order}", answers.profile_plots, metric, order, 40)
                answers.attempt(f"context by {order}", answers.context_plots, metric, 3, order, 40)
        tap.check(not answers.wrong, f"{len(places)} profiles of {ranks} ranks and {threads} threads: --bins and --matrix", answers.wrong[:SHOWN])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, help="the program to test")
    parser.add_argument("--count", type=int, default=200, help="how many databases")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first one")
    options = parser.parse_args()
    tap, total, shapes = Tap(), Counter(), defaultdict(list)
    with ProcessPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        seeds = range(options.first, options.first + options.count)
        for seed, shape, counts, wrong in pool.map(compare, [options.lode] * len(seeds), seeds):
            total += counts
            shapes[shape].append(seed)
            if wrong:
                tap.check(False, f"{shape}, seed {seed}: {len(wrong)} wrong answers", wrong[:SHOWN])
    check_total_of_nearly_nothing(tap, options.lode)
    check_many_ids(tap, options.lode)
    for shape, done in sorted(shapes.items()):
        tap.check(True, f"{shape.replace('_', ' ')}: {len(done)} databases were compared")
    tap.note(f"{len(seeds)} databases: " + ", ".join(f"{count} {noun}" for noun, count in sorted(total.items())))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
