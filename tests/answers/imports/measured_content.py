# SPDX-License-Identifier: BSD-3-Clause
"""
Whether two databases say the same of the same measurements. Numbers of contexts, metrics and profiles, and all orders, are free; sums may differ
in their last bits, as their order is free, too. Contexts are matched by their keys from the root, equal siblings by what is below and at them.
"""

import collections

CLOSE = 1e-11


def close(a, b):
    return abs(a - b) <= CLOSE * max(abs(a), abs(b))


def tuple_key(profile):
    """Numbers that the analysis gives to hosts are free."""
    return tuple((kind, flags, physical if flags & 1 else logical) for kind, flags, logical, physical in profile.key[1])


class Side:
    """A database with its values by what they are, and its profiles in an order that follows from their content."""

    def __init__(self, content):
        self.content = content
        named = {id: key for id, key in content.value_ids.items()}
        order = sorted(content.profiles, key=lambda p: (tuple_key(p), len(p.values), round(self.total(p), 6), len(p.samples)))
        self.order = order
        self.cells = collections.defaultdict(dict)
        for number, profile in enumerate(order):
            for context, values in profile.values.items():
                for id, value in values.items():
                    self.cells[context][number, *named[id]] = value
        for context, values in content.summary.items():
            for id, value in values.items():
                self.cells[context]["summary", *content.statistics[id].key] = value
        self.shapes = {}
        for index in range(len(content.nodes) - 1, -1, -1):
            node = content.nodes[index]
            self.shapes[index] = hash((repr(node.key), tuple(sorted(self.shapes[child] for child in node.children))))

    @staticmethod
    def total(profile):
        return sum(value for values in profile.values.values() for value in values.values())

    def rank(self, index):
        node = self.content.nodes[index]
        return repr(node.key), self.shapes[index], self.sketch(node.id)

    def sketch(self, context):
        return sorted((repr(key), float(f"{value:.6e}")) for key, value in self.cells.get(context, {}).items())


def compare_cells(path, found, wanted, minima):
    for key in found.keys() | wanted.keys():
        a, b = found.get(key, 0.0), wanted.get(key, 0.0)
        if not close(a, b) and not (minima and key[-1] == "min"):
            yield f"{path}: {key} is {a!r} instead of {b!r}"


def compare_tables(found, wanted):
    for name in ("title", "id_names"):
        if getattr(found, name) != getattr(wanted, name):
            yield f"{name}: {getattr(found, name)} instead of {getattr(wanted, name)}"
    for name in ("modules", "files", "functions"):
        a, b = (collections.Counter(getattr(side, name)) for side in (found, wanted))
        if a != b:
            yield f"{name}: {list((a - b).items())[:3]} instead of {list((b - a).items())[:3]}"
    for name in ("value_ids", "statistics"):
        a, b = (sorted(repr(item.key if name == "statistics" else item) for item in getattr(side, name).values()) for side in (found, wanted))
        if a != b:
            yield f"{name}: {set(a) ^ set(b)}"
    if found.block_count != wanted.block_count or found.bounds != wanted.bounds:
        yield f"contexts {found.block_count}, times {found.bounds} instead of {wanted.block_count}, {wanted.bounds}"


def compare_trees(found, wanted, partner, minima):
    waiting = [(0, 0)]
    while waiting:
        a, b = waiting.pop()
        x, y = found.content.nodes[a], wanted.content.nodes[b]
        partner[x.id] = y.id
        yield from compare_cells(wanted.content.path(b), found.cells.get(x.id, {}), wanted.cells.get(y.id, {}), minima)
        left, right = sorted(x.children, key=found.rank), sorted(y.children, key=wanted.rank)
        if [found.content.nodes[i].key for i in left] != [wanted.content.nodes[i].key for i in right]:
            yield f"{wanted.content.path(b)}: {len(left)} children instead of {len(right)}, or others"
            continue
        waiting.extend(zip(left, right))


def compare_unlisted(found, wanted, minima):
    left, right = (sorted(side.content.unlisted, key=side.sketch) for side in (found, wanted))
    if len(left) != len(right):
        yield f"{len(left)} unlisted contexts instead of {len(right)}"
        return
    for a, b in zip(left, right):
        yield from compare_cells("unlisted", found.cells[a], wanted.cells[b], minima)


def compare_samples(found, wanted, partner):
    for a, b in zip(found.order, wanted.order):
        if [(time, partner.get(context)) for time, context in a.samples] != list(b.samples):
            yield f"samples of {tuple_key(a)}"


def differences(found, wanted, minima=False):
    """Of two tests/roundtrip Content. With `minima`, those of the summary may differ."""
    sides = Side(found), Side(wanted)
    if [tuple_key(p) for p in sides[0].order] != [tuple_key(p) for p in sides[1].order]:
        return ["id tuples"]
    partner = {}
    lines = list(compare_tables(found, wanted))
    lines += compare_trees(*sides, partner, minima)
    lines += compare_unlisted(*sides, minima)
    lines += compare_samples(*sides, partner)
    if found.contexts is not None and found.contexts != found.transposed():
        lines.append("cct.db is not the transpose of profile.db")
    return lines
