# SPDX-License-Identifier: BSD-3-Clause
"""
Which context and which profile of one database is which of another, by content alone.

Both trees are coloured: a colour stands for all that is known of a context or profile. Siblings that say the
same are told apart by what is below them, then by their values and samples; profiles with the same id tuple
by their values and samples at contexts that are told apart. This is repeated until it tells nothing new. The
cost is that of a few passes over the data, however many siblings look alike. Colours only propose who belongs
together; all values are compared afterwards.
"""

from collections import Counter, defaultdict

from content import GLOBAL


class Palette:
    """Numbers for things of any kind: equal things, equal numbers, in both databases."""

    def __init__(self):
        self._numbers = {}

    def colour(self, *thing):
        return self._numbers.setdefault(thing, len(self._numbers))


class Colouring:
    """The colours of one database. Contexts are named by their index in content.nodes, or by -id if not listed."""

    def __init__(self, content, palette):
        self.content = content
        self.palette = palette
        self.profiles = [palette.colour("profile", profile.key) for profile in content.profiles]
        self.unlisted = {id: palette.colour("unlisted", place) for place, id in enumerate(content.unlisted)}
        self.metrics = {id: palette.colour("metric", key) for id, key in content.value_ids.items()}
        self.values = defaultdict(list)  # by node: (profile, metric, value)
        self.samples = defaultdict(list)  # by node: (profile, time)
        for index, profile in enumerate(content.profiles):
            for id, group in profile.values.items():
                if id in content.node_of:
                    self.values[content.node_of[id]] += [(index, self.metrics.get(metric, -1), value)
                                                         for metric, value in group.items()]
            for time, id in profile.samples:
                if id in content.node_of:
                    self.samples[content.node_of[id]].append((index, time))
        self.nodes = [0] * len(content.nodes)
        self._colour_nodes(range(len(self.nodes)), False)

    def _colour_nodes(self, chosen, with_values):
        """From the leaves up, then from the root down."""
        nodes, colour = self.content.nodes, self.palette.colour
        for index in reversed(chosen):
            node = nodes[index]
            below = tuple(sorted(self.nodes[child] for child in node.children))
            self.nodes[index] = colour("up", self.nodes[index], node.key, below,
                                       self._values_of(index) if with_values else ())
        for index in chosen:
            parent = nodes[index].parent
            self.nodes[index] = colour("down", self.nodes[index], self.nodes[parent] if parent >= 0 else -1)

    def _values_of(self, index):
        values = sorted((self.profiles[profile], metric, value) for profile, metric, value in self.values[index])
        return (*values, *sorted((self.profiles[profile], time) for profile, time in self.samples[index]))

    def context_colour(self, id):
        index = self.content.node_of.get(id)
        return self.nodes[index] if index is not None else self.unlisted.get(id, -1)

    def _colour_profile(self, index):
        profile = self.content.profiles[index]
        values = sorted((self.context_colour(id), self.metrics.get(metric, -1), value)
                        for id, group in profile.values.items() for metric, value in group.items())
        samples = tuple((time, self.context_colour(id)) for time, id in profile.samples)
        self.profiles[index] = self.palette.colour("profile", self.profiles[index], tuple(values), samples)

    def ambiguous(self):
        """Contexts, profiles that are not the only ones of their colour."""
        nodes, profiles = Counter(self.nodes), Counter(self.profiles)
        return ([index for index, colour in enumerate(self.nodes) if nodes[colour] > 1],
                [index for index, colour in enumerate(self.profiles) if profiles[colour] > 1])

    def classes(self):
        return len(set(self.nodes)), len(set(self.profiles))

    def refine(self):
        nodes, profiles = self.ambiguous()
        self._colour_nodes(nodes, True)
        for index in profiles:
            self._colour_profile(index)

    def first_ambiguous_profile(self):
        """One that has data, of the smallest colour; those without are alike."""
        _, profiles = self.ambiguous()
        found = [(self.profiles[index], index) for index in profiles
                 if self.content.profiles[index].values or self.content.profiles[index].samples]
        return min(found, default=None)


def _settle(a, b):
    before = None
    while before != (a.classes(), b.classes()):
        before = (a.classes(), b.classes())
        a.refine()
        b.refine()


def _colour_both(old, new):
    palette = Palette()
    a, b = Colouring(old, palette), Colouring(new, palette)
    _settle(a, b)
    # Twins among profiles that nothing tells apart: one of them is named, which may tell others apart.
    for _ in range(len(old.profiles)):
        chosen, other = a.first_ambiguous_profile(), b.first_ambiguous_profile()
        if chosen is None or other is None or chosen[0] != other[0]:
            break
        a.profiles[chosen[1]] = b.profiles[other[1]] = palette.colour("chosen", chosen[0], chosen[1])
        _settle(a, b)
    return a, b


class Matching:
    """From old numbers to new ones. What has no partner is in `lost` or `found`, as text."""

    def __init__(self, old, new):
        self.old, self.new = old, new
        self.lost, self.found = [], []
        self.twins = 0  # contexts that have a sibling of the same key
        a, b = _colour_both(old, new)
        self.contexts = {GLOBAL: GLOBAL}
        self._match_trees(a, b)
        self.contexts.update(zip(old.unlisted, new.unlisted))
        self._count("contexts that are not listed", len(old.unlisted), len(new.unlisted))
        self.profiles = {}
        self._match_profiles(a, b)
        self.metrics = self._by_key("metric", old.value_ids, new.value_ids)
        self.statistics = self._by_key("statistic", {id: s.key for id, s in old.statistics.items()},
                                       {id: s.key for id, s in new.statistics.items()})

    def _count(self, what, old, new):
        if old > new:
            self.lost.append(f"{old - new} {what}")
        elif new > old:
            self.found.append(f"{new - old} {what}")

    def _match_trees(self, a, b):
        waiting = [(0, 0)]
        while waiting:
            mine, yours = waiting.pop()
            groups = defaultdict(lambda: ([], []))
            for side, colouring, index in ((0, a, mine), (1, b, yours)):
                for child in colouring.content.nodes[index].children:
                    groups[colouring.content.nodes[child].key][side].append(child)
            for left, right in groups.values():
                self.twins += len(left) if len(left) > 1 else 0
                for pair in self._pairs(left, right, a.nodes, b.nodes):
                    self.contexts[self.old.nodes[pair[0]].id] = self.new.nodes[pair[1]].id
                    waiting.append(pair)
                self.lost += [f"the context {self.old.path(index)}" for index in left]
                self.found += [f"the context {self.new.path(index)}" for index in right]

    def _match_profiles(self, a, b):
        groups = defaultdict(lambda: ([], []))
        for side, content in ((0, self.old), (1, self.new)):
            for index, profile in enumerate(content.profiles):
                groups[profile.key][side].append(index)
        for key, (left, right) in groups.items():
            for mine, yours in self._pairs(left, right, a.profiles, b.profiles):
                self.profiles[self.old.profiles[mine].index] = self.new.profiles[yours].index
            self.lost += [f"a profile {key}"] * len(left)
            self.found += [f"a profile {key}"] * len(right)

    @staticmethod
    def _pairs(left, right, a, b):
        """Takes pairs out of both lists: first those of equal colours, then in their order."""
        by_colour = defaultdict(list)
        for index in reversed(right):
            by_colour[b[index]].append(index)
        pairs = [(index, by_colour[a[index]].pop()) for index in left if by_colour[a[index]]]
        for mine, yours in pairs:
            left.remove(mine)
            right.remove(yours)
        rest = list(zip(left, right))
        del left[:len(rest)], right[:len(rest)]
        return pairs + rest

    def _by_key(self, what, old, new):
        places = defaultdict(list)
        for id, key in sorted(new.items(), reverse=True):
            places[key].append(id)
        result = {}
        for id, key in sorted(old.items()):
            if places[key]:
                result[id] = places[key].pop()
            else:
                self.lost.append(f"the {what} {key}")
        self.found += [f"the {what} {key}" for key, ids in places.items() for _ in ids]
        return result
