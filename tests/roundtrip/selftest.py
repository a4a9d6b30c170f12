#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Would the comparison notice? A sample is altered in every place and kind of way; each must be a difference."""

import copy
import math
import sys
from collections import Counter

import sample
from comparison import Comparison, misnumbered
from content import Content
from tool import Tap

SHUFFLES = 100
# What says nothing: the reader's own words, and the propagation index of scopes that are not transitive.
SILENT = {("format",), ("meta", "version")} | {("meta", "scopes", scope, "propagation_index") for scope in (0, 2, 3)}


def problems(old, new, drop=False, numbers=True):
    """Differences as text; a dump that contradicts itself is one."""
    try:
        left, right = Content(copy.deepcopy(old)), Content(copy.deepcopy(new))
        comparison = Comparison(left.without_unlisted() if drop else left, right)
        return comparison.differences + (list(misnumbered(right)) if numbers else [])
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        return [repr(error)]


# ---- every place ----

def places(node, path=()):
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in items:
        yield path + (key,)
        yield from places(child, path + (key,))


def at(node, path):
    for key in path:
        node = node[key]
    return node


def other(leaf):
    """Another value of the same kind; for a number, the nearest."""
    if isinstance(leaf, bool):
        return not leaf
    if isinstance(leaf, int):
        return leaf + 1
    if isinstance(leaf, float):
        return math.nextafter(leaf, math.inf)
    return "x" if leaf is None else leaf + "x"


def in_summary(path):
    return path[:2] == ("profiles", 0)


def double(parent, key):
    parent.insert(key, copy.deepcopy(parent[key]))


def rename(parent, key):
    parent["99" + key] = parent.pop(key)


def altered_places(sound):
    """(kind, path, changed copy). Statistics are altered by more than the tolerance."""
    def changed(path, change):
        result = copy.deepcopy(sound)
        change(at(result, path[:-1]), path[-1])
        return result

    for path in places(sound):
        if path in SILENT or path[:2] in SILENT:
            continue
        node = at(sound, path)
        if not isinstance(node, (dict, list)):
            value = node * (1 + 1e-11) if in_summary(path) and isinstance(node, float) else other(node)
            yield "leaf altered", path, changed(path, lambda parent, key: parent.__setitem__(key, value))
        yield "element left out", path, changed(path, lambda parent, key: parent.pop(key))
        if isinstance(path[-1], int):
            yield "element doubled", path, changed(path, double)
        elif path[-1].isdigit():
            yield "key renamed", path, changed(path, rename)


def try_places(tap, sound):
    tried, unnoticed = Counter(), []
    for kind, path, mutant in altered_places(sound):
        tried[kind] += 1
        if not problems(sound, mutant):
            unnoticed.append((kind, path))
    for kind, count in sorted(tried.items()):
        paths = [path for missed, path in unnoticed if missed == kind]
        tap.check(not paths, f"{kind}: {count} of them are noticed", paths)


# ---- what would still look sound ----

def main_of(dump):
    return dump["meta"]["entry_points"][0]["children"][0]


def values_of(dump, profile):
    return dump["profiles"][profile]["values"]


def in_context(dump, id):
    return next(context["values"] for context in dump["contexts"] if context["id"] == id)


def swap_twins_in_one_profile(dump):
    values = values_of(dump, 1)
    values["5"], values["6"] = values["6"], values["5"]
    five, six = in_context(dump, 5)["0"], in_context(dump, 6)["0"]
    five["1"], six["1"] = six["1"], five["1"]
    summary = values_of(dump, 0)
    for id in ("5", "6"):
        numbers = [values_of(dump, profile).get(id, {}).get("0") for profile in (1, 2, 3)]
        summary[id]["0"] = sum(number for number in numbers if number)


def swap_subtrees(dump):
    children = main_of(dump)["children"]
    children[3]["children"], children[0]["children"] = children[0]["children"], children[3]["children"]


def move_subtree_up(dump):
    inner = main_of(dump)["children"][0]
    main_of(dump)["children"] += inner["children"]
    inner["children"] = []


def swap_samples(dump):
    first, _, third = dump["traces"]["lines"][0]["samples"]
    first[1], third[1] = third[1], first[1]


def exchange_tuples(dump):
    profiles = dump["profiles"]
    profiles[1]["ids"], profiles[2]["ids"] = profiles[2]["ids"], profiles[1]["ids"]


def exchange_unlisted(dump):
    for profile in dump["profiles"]:
        left, right = (profile["values"].pop(str(id), None) for id in sample.UNLISTED)
        profile["values"].update({key: group for key, group in (("15", right), ("16", left)) if group})
    for context in dump["contexts"]:
        context["id"] = {15: 16, 16: 15}.get(context["id"], context["id"])


def lose_context(dump):
    """With all its values, everywhere."""
    dump["meta"]["entry_points"][1]["children"].pop()
    for values in [profile["values"] for profile in dump["profiles"]]:
        values.pop("14", None)
    dump["contexts"] = [context for context in dump["contexts"] if context["id"] != 14]
    for line in dump["traces"]["lines"]:
        line["samples"] = [[time, id] for time, id in line["samples"] if id != 14]


def lose_twin(dump):
    """One of two contexts that are alike in all, with its values."""
    dump["meta"]["entry_points"][1]["children"].pop(1)
    for profile in dump["profiles"]:
        profile["values"].pop("13", None)
    dump["contexts"] = [context for context in dump["contexts"] if context["id"] != 13]


def lose_profile(dump):
    dump["profiles"].pop()
    dump["traces"]["lines"].pop()


def lose_traces(dump):
    dump["traces"] = None


def lose_contexts_file(dump):
    dump["contexts"] = dump["context_block_count"] = None


def change_last_bit_everywhere(dump):
    values_of(dump, 1)["4"]["0"] = in_context(dump, 4)["0"]["1"] = math.nextafter(0.1, 1)


def exchange_metrics(dump):
    names = dump["meta"]["metrics"]
    names[0]["name"], names[1]["name"] = names[1]["name"], names[0]["name"]


def change_call(dump):
    main_of(dump)["children"][3]["children"][0]["relation"] = "inlined"


def delay_sample(dump):
    dump["traces"]["lines"][1]["samples"][0][0] += 1


SUBTLE = [swap_twins_in_one_profile, swap_subtrees, move_subtree_up, swap_samples, exchange_tuples, exchange_unlisted,
          lose_context, lose_twin, lose_profile, lose_traces, lose_contexts_file, change_last_bit_everywhere,
          exchange_metrics, change_call, delay_sample]


def try_subtle(tap, sound):
    for change in SUBTLE:
        mutant = copy.deepcopy(sound)
        change(mutant)
        found = problems(sound, mutant, numbers=False)
        tap.check(found, f"{change.__name__.replace('_', ' ')}: noticed")


# ---- the summary, and values at unlisted contexts ----

def old_summary(sound, context, formula, combine, scope, value):
    """A copy whose summary has another value for a statistic of the second metric."""
    result = copy.deepcopy(sound)
    stored = next(s for s in result["meta"]["metrics"][1]["statistics"]
                  if (s["formula"], s["combine"], s["scope"]) == (formula, combine, scope))
    result["profiles"][0]["values"][str(context)][str(stored["id"])] = value
    return result


def try_summaries(tap, sound):
    known = {
        "a sum of squares that is the plain sum": (4, "($$^2)", "sum", 0, 7.0),
        "a minimum that was forgotten": (4, "$$", "min", 0, 5.0),
    }
    wrong = {
        "a sum of squares that is nothing known": (4, "($$^2)", "sum", 0, 7.5),
        "a minimum where every profile has a value": (0, "$$", "min", 3, 3.5),
        "a minimum above the maximum": (4, "$$", "min", 0, 5.5),
        "a plain sum": (4, "$$", "sum", 0, 7.1),
        "a loop's statistic of a custom scope": (3, "$$", "sum", 2, 0.7),
        "a custom scope outside a loop": (4, "$$", "sum", 2, 2.1),
    }
    for name, change in known.items():
        found = problems(old_summary(sound, *change), sound)
        tap.check(not found, f"the old summary may be wrong: {name}", found)
        tap.check(problems(sound, old_summary(sound, *change)), f"the new summary must not: {name}")
    for name, change in wrong.items():
        tap.check(problems(old_summary(sound, *change), sound), f"the old summary is not known to be wrong: {name}")


def without_unlisted(sound):
    result = copy.deepcopy(sound)
    for profile in result["profiles"]:
        for id in sample.UNLISTED:
            profile["values"].pop(str(id), None)
    result["contexts"] = [context for context in result["contexts"] if context["id"] not in sample.UNLISTED]
    result["context_block_count"] -= len(sample.UNLISTED)
    return result


def try_dropping(tap, sound):
    dropped = without_unlisted(sound)
    found = problems(sound, dropped, drop=True)
    tap.check(not found, "values at unlisted contexts can be left out", found)
    tap.check(problems(sound, dropped), "values at unlisted contexts that are lost: noticed")
    tap.check(problems(sound, sound, drop=True), "values at unlisted contexts that were to be left out: noticed")
    del dropped["profiles"][1]["values"]["5"]
    tap.check(problems(sound, dropped, drop=True), "a listed context's values that went with them: noticed")


def main():
    tap = Tap()
    sound = sample.make()
    found = problems(sound, sound)
    tap.check(not found, f"equal ones are equal ({Comparison(Content(sound), Content(sound)).summary()})", found)
    wrong = [seed for seed in range(SHUFFLES)
             if Comparison(Content(sample.shuffled(sound, seed)), Content(sound)).differences]
    tap.check(not wrong, f"{SHUFFLES} times under other numbers and in another order: the same", wrong)
    try_places(tap, sound)
    try_subtle(tap, sound)
    try_summaries(tap, sound)
    try_dropping(tap, sound)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
