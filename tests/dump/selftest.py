#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The comparison itself: it takes sample.json for what sample.yaml says, and rejects it with any one thing changed: every
field altered or left out, every list with an element too few, too many or out of place, every value with another bit.
"""

import copy
import math
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import compare  # noqa: E402
from tap import Tap  # noqa: E402

HERE = Path(__file__).resolve().parent


def other(leaf):
    """Another value of the same kind; for a number, the nearest."""
    if isinstance(leaf, bool):
        return not leaf
    if isinstance(leaf, int):
        return leaf + 1
    if isinstance(leaf, float):
        return math.nextafter(leaf, math.inf)
    return "" if leaf is None else leaf + "x"


def places(node, path=()):
    """The path of everything below a node."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in items:
        yield path + (key,)
        yield from places(child, path + (key,))


def at(node, path):
    for key in path:
        node = node[key]
    return node


def mutations(sound):
    """(kind, path, changed copy) for every way to change one thing."""

    def changed(path, change):
        result = copy.deepcopy(sound)
        change(at(result, path[:-1]), path[-1])
        return result

    def put(value):
        return lambda parent, key: parent.__setitem__(key, value)

    for path in places(sound):
        node, parent = at(sound, path), at(sound, path[:-1])
        if isinstance(node, (dict, list)):
            yield "whole part replaced by null", path, changed(path, put(None))
        else:
            yield "leaf altered", path, changed(path, put(other(node)))
            if isinstance(node, (int, float)) and not isinstance(node, bool):
                yield "number written as a string", path, changed(path, put(str(node)))
                yield "sign changed", path, changed(path, put(-node if node else -1))
        yield "element left out", path, changed(path, lambda parent, key: parent.pop(key))
        if isinstance(parent, list):
            yield "element doubled", path, changed(path, lambda parent, key: parent.insert(key, parent[key]))
            if path[-1] > 0:
                yield "elements swapped", path, changed(path, swap)
        elif str(path[-1]).isdigit():
            yield "key renamed", path, changed(path, lambda parent, key: parent.__setitem__("99" + key, parent.pop(key)))
        if isinstance(node, dict) and node and str(next(iter(node))).isdigit():
            yield "value too many", path, changed(path, lambda parent, key: parent[key].__setitem__("77", 1.5))
            if len(node) > 1:
                yield "keys out of order", path, changed(path, reverse)


def swap(parent, index):
    parent[index - 1], parent[index] = parent[index], parent[index - 1]


def reverse(parent, key):
    parent[key] = dict(reversed(parent[key].items()))


def missed(wanted, sound):
    """Counts the mutations by kind, and lists those that went unnoticed."""
    tried, unnoticed = Counter(), []
    for kind, path, mutant in mutations(sound):
        if mutant == sound and list(places(mutant)) == list(places(sound)):
            continue
        tried[kind] += 1
        if not compare.compare(wanted, mutant).difference_count:
            unnoticed.append((kind, path))
    return tried, unnoticed


def expect_error(tap, name, action):
    try:
        action()
    except ValueError:
        tap.check(True, name)
    else:
        tap.check(False, name, ["no error"])


def main():
    tap = Tap()
    if compare.expected is None:
        tap.skip("the comparison", "this Python has no yaml with libyaml")
        return tap.finish()
    text = (HERE / "sample.yaml").read_text(encoding="utf-8")
    wanted = compare.expected.from_text(text)
    sound = compare.parse_dump((HERE / "sample.json").read_text(encoding="utf-8"))
    same = compare.compare(wanted, sound)
    tap.check(same.difference_count == 0, f"equal ones are equal ({same.summary()})", same.differences)

    tried, unnoticed = missed(wanted, sound)
    for kind, count in sorted(tried.items()):
        paths = [path for missed_kind, path in unnoticed if missed_kind == kind]
        tap.check(not paths, f"{kind}: {count} of them are noticed", paths)

    more = copy.deepcopy(sound)
    more["meta"]["functions"][0]["colour"] = "red"
    tap.check(compare.compare(wanted, more).extra == {"function.colour": 1}, "a further field is told, not an error")
    absent = compare.expected.from_text(text[:text.index("\ncontext: !cct.db")] + "\ncontext:\ntrace:\n")
    without = {**sound, "contexts": None, "context_block_count": None, "traces": None}
    tap.check(not compare.compare(absent, without).difference_count, "absent files are null")
    tap.check(compare.compare(absent, sound).difference_count > 0, "a file too many is noticed")
    expect_error(tap, "a key that comes twice in the dump is an error", lambda: compare.parse_dump('{"1": 2, "1": 2}'))
    expect_error(tap, "NaN in the dump is an error", lambda: compare.parse_dump('{"1": NaN}'))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
