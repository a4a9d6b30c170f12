# SPDX-License-Identifier: BSD-3-Clause
"""
Do two databases mean the same? Names, trees, values and samples are compared by content; numbers and orders
are not. Values and times are equal bit by bit. The summary of the new one is compared with what the profiles
give, and with the old summary wherever that is not known to be wrong. At loops, scope lex_aware is what scope function
has without the loops inside, whatever the profiles have there.
"""

import math
from collections import Counter, defaultdict

from matching import Matching

SHOWN = 20
TOLERANCE = 1e-12
FUNCTION, LEX_AWARE = ("function", "transitive"), ("lex_aware", "custom")
SQUARES = ("($$^2)", "$$^2", "($$)^2")


class Comparison:
    def __init__(self, old, new):
        self.old, self.new = old, new
        self.counts = Counter()
        self.old_bugs = Counter()  # statistics that hpcprof got wrong, by how
        self.differences = []
        self.difference_count = 0
        self.matching = Matching(old, new)
        for text in self.matching.lost:
            self.differ(f"lost: {text}")
        for text in self.matching.found:
            self.differ(f"not in the old one: {text}")
        self._compare_metadata()
        self._compare_profiles()
        self._compare_contexts()
        self._compare_summary()

    def differ(self, text):
        self.difference_count += 1
        if len(self.differences) < SHOWN:
            self.differences.append(text)

    def _same(self, what, old, new):
        if old != new:
            self.differ(f"{what}: {str(old)[:160]} became {str(new)[:160]}")

    def _same_multiset(self, noun, old, new):
        self.counts[noun] += len(old)
        left, right = Counter(old), Counter(new)
        for item in (left - right).elements():
            self.differ(f"lost: {noun} {item}")
        for item in (right - left).elements():
            self.differ(f"not in the old one: {noun} {item}")

    # ---- metadata ----

    def _compare_metadata(self):
        old, new = self.old, self.new
        self._same("the title", old.title, new.title)
        self._same("the description", old.description, new.description)
        self._same("the kinds of ids", old.id_names, new.id_names)
        self._same("the bits of transitive scopes", old.bits, new.bits)
        self._same_multiset("scopes", old.scopes, new.scopes)
        self._same_multiset("metrics", old.metric_names, new.metric_names)
        self._same_multiset("modules", old.modules, new.modules)
        self._same_multiset("files", old.files, new.files)
        self._same_multiset("functions", old.functions, new.functions)
        self.counts["statistics of metrics"] += len(old.statistics)
        self.counts["contexts"] += len(old.nodes)
        self.counts["contexts with twins"] += self.matching.twins
        self.counts["unlisted contexts"] += len(old.unlisted)

    # ---- values and samples ----

    def _translated(self, values, outer, inner):
        """The values under their new numbers; those of what was lost are reported with it."""
        result = {}
        for key, group in values.items():
            if key in outer:
                result[outer[key]] = {inner[id]: value for id, value in group.items() if id in inner}
        return {key: group for key, group in result.items() if group}

    def _same_values(self, where, wanted, found):
        self.counts["values" if where != "cct.db" else "values by context"] += sum(map(len, wanted.values()))
        if wanted == found:
            return
        for key in sorted(wanted.keys() | found.keys()):
            left, right = wanted.get(key, {}), found.get(key, {})
            for id in sorted(left.keys() | right.keys()):
                if left.get(id) != right.get(id):
                    self.differ(f"{where}, [{key}][{id}]: {left.get(id)} became {right.get(id)}")

    def _compare_profiles(self):
        matching, new = self.matching, self.new
        self._same("the number of summaries", 1, new.summary_count)
        self._same("the summary's index, flags and ids", (0, 1, ()), new.summary_key)
        self._same("whether there are traces", self.old.has_requests, new.has_requests)
        if self.old.has_requests:
            has_samples = any(profile.samples for profile in self.old.profiles)
            self._same("the bounds of time", self.old.bounds if has_samples else (0, 0), new.bounds)
        for profile in self.old.profiles:
            if profile.index not in matching.profiles:
                continue
            partner = new.profiles[new.profile_of[matching.profiles[profile.index]]]
            self.counts["profiles"] += 1
            self._same_values(f"profile {partner.index}",
                              self._translated(profile.values, matching.contexts, matching.metrics), partner.values)
            self._compare_samples(profile, partner)

    def _compare_samples(self, profile, partner):
        self.counts["samples"] += len(profile.samples)
        wanted = [(time, self.matching.contexts.get(id)) for time, id in profile.samples]
        if wanted == partner.samples:
            return
        self._same(f"the number of samples of profile {partner.index}", len(wanted), len(partner.samples))
        for index, (left, right) in enumerate(zip(wanted, partner.samples)):
            self._same(f"sample {index} of profile {partner.index}", left, right)

    def _compare_contexts(self):
        """cct.db as it was; if there was none, from the profiles."""
        matching = self.matching
        old = self.old.contexts if self.old.contexts is not None else self.old.transposed()
        wanted = {}
        for id, metrics in old.items():
            if id in matching.contexts:
                wanted[matching.contexts[id]] = self._translated(metrics, matching.metrics, matching.profiles)
        found = self.new.contexts
        if found is None:
            self.differ("cct.db is missing")
            return
        for id in sorted(wanted.keys() | found.keys()):
            self._same_values("cct.db" if wanted.get(id) == found.get(id) else f"cct.db, context {id}",
                              wanted.get(id, {}), found.get(id, {}))

    # ---- the summary ----

    def _compare_summary(self):
        profiles = _Accumulated(self.new)
        old = {}
        for id, group in self.old.summary.items():
            if id in self.matching.contexts:
                old[self.matching.contexts[id]] = {self.matching.statistics[statistic]: value
                                                   for statistic, value in group.items()
                                                   if statistic in self.matching.statistics}
        for context in sorted(profiles.contexts | old.keys() | self.new.summary.keys()):
            stored = self.new.summary.get(context, {})
            for id in stored.keys() - self.new.statistics.keys():
                self.differ(f"summary, context {context}: there is no statistic {id}")
            for id, statistic in self.new.statistics.items():
                self._compare_statistic(profiles, context, statistic, old.get(context, {}).get(id, 0.0),
                                        stored.get(id, 0.0))

    def _compare_statistic(self, profiles, context, statistic, old, new):
        wanted = profiles.expected(context, statistic)
        if wanted == 0.0 and old == 0.0 and new == 0.0:
            return
        self.counts["values of the summary"] += 1
        if not _close(new, wanted, profiles.scale(context, statistic)):
            self.differ(f"summary, context {context}, {statistic.key}: {new}, but profiles give {wanted}")
        if not _close(old, new):
            bug = profiles.known_bug(context, statistic, old)
            if bug:
                self.old_bugs[bug] += 1
            else:
                self.differ(f"summary, context {context}, {statistic.key}: {old} became {new}")

    def summary(self):
        counts = [f"{count} {noun}" for noun, count in self.counts.items() if count]
        bugs = [f"{count} {noun}" for noun, count in sorted(self.old_bugs.items())]
        return ", ".join(counts + bugs)


class _Accumulated:
    """The values of all profiles, by context and metric id, and which profiles have a metric at a context."""

    def __init__(self, content):
        self._values = defaultdict(list)
        self._seen = defaultdict(set)
        self._lexical = _lexical_ids(content)
        self.contexts = set()
        for profile in content.profiles:
            for id, group in profile.values.items():
                self.contexts.add(id)
                for metric, value in group.items():
                    self._seen[id, content.metric_of.get(metric)].add(profile.index)
                    if id not in content.inner_loops or metric not in self._lexical:
                        self._values[id, metric].append(value)
            for id, inner in content.inner_loops.items():
                for lexical, function in self._lexical.items():
                    value = without_loops(profile.values, id, inner, function)
                    if value:
                        self._values[id, lexical].append(value)

    def expected(self, context, statistic):
        values = self._values.get((context, statistic.value_id), [])
        seen = len(self._seen.get((context, statistic.metric), ()))
        if statistic.formula in SQUARES:
            values = [value * value for value in values]
        elif statistic.formula == "1":
            values = [1.0] * seen
        elif statistic.formula != "$$":
            raise ValueError(f"a statistic has the formula {statistic.formula}")
        if not values:
            return 0.0
        return {"sum": math.fsum, "min": min, "max": max}[statistic.combine](values)

    def scale(self, context, statistic):
        """A difference is exact relative to what was subtracted from."""
        function = self._lexical.get(statistic.value_id)
        return math.fsum(map(abs, self._values.get((context, function), []))) if function is not None else 0.0

    def known_bug(self, context, statistic, old):
        """What hpcprof is known to write instead, or None."""
        values = self._values.get((context, statistic.value_id), [])
        seen = len(self._seen.get((context, statistic.metric), ()))
        if statistic.formula in SQUARES and _close(old, math.fsum(values)):
            return "sums of squares put right"
        if statistic.combine == "min" and 0 < len(values) < seen and (old == 0.0 or min(values) < old <= max(values)):
            return "minima put right"
        return None


def _lexical_ids(content):
    """From value ids of scope lex_aware to those of scope function of the same metric."""
    ids = {key: id for id, key in content.value_ids.items()}
    return {id: ids[metric, FUNCTION] for id, (metric, scope) in content.value_ids.items()
            if scope == LEX_AWARE and (metric, FUNCTION) in ids}


def without_loops(values, loop, inner, function):
    """What scope function has at a loop without the loops inside; 0 if nothing but rounding is left."""
    whole = values.get(loop, {}).get(function, 0.0)
    left = math.fsum([whole] + [-values.get(id, {}).get(function, 0.0) for id in inner])
    return left if abs(left) > TOLERANCE * abs(whole) else 0.0


def _close(a, b, scale=0.0):
    return a == b or abs(a - b) <= TOLERANCE * max(abs(a), abs(b), scale)


def misnumbered(content):
    """What is not in canonical order in a database that was converted, as text."""
    listed = [node.id for node in content.nodes]
    if listed != list(range(len(listed))):
        yield "contexts are not numbered depth-first"
    if content.unlisted != list(range(len(listed), len(listed) + len(content.unlisted))):
        yield "unlisted contexts are not numbered behind the listed ones"
    if content.block_count != len(listed) + len(content.unlisted):
        yield f"cct.db has {content.block_count} blocks"
    if content.contexts != content.transposed():
        yield "cct.db is not the transpose of profile.db"
    if [profile.index for profile in content.profiles] != list(range(1, len(content.profiles) + 1)):
        yield "profiles are not numbered from 1"
    kinds = {name: place for place, name in enumerate(content.id_names)}
    tuples = [[(kinds.get(kind, -1), logical, physical) for kind, _, logical, physical in profile.key[1]]
              for profile in content.profiles]
    if tuples != sorted(tuples):
        yield "profiles are not in the order of their ids"
    if content.has_requests and content.lines != [profile.index for profile in content.profiles]:
        yield "trace lines are not those of the profiles in their order"
    times = [time for profile in content.profiles for time, _ in profile.samples]
    low, high = content.bounds or (0, 0)
    if content.has_requests and not (low <= min(times) and max(times) <= high if times else low == high == 0):
        yield f"the bounds of time {content.bounds} do not hold the samples"
