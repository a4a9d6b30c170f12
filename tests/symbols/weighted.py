# SPDX-License-Identifier: BSD-3-Clause
"""
Agreement with hpcstruct where programs spend their time: at each address of the live measurements, weighted by its cost, and by the cost that passes
through it. The measurements are read by the model of hpcprof, and structure by compare_structure.py: neither is Lode's.
"""

import collections
import os


def costs_of(model, folder):
    """{(base name of the module, offset): [cost there, cost of all that passes through]} of a run, by its first metric; shares of the whole."""
    found, total = collections.defaultdict(lambda: [0, 0]), 0
    for path in sorted(folder.glob("*.hpcrun")):
        raw = model.RawProfile(str(path))
        nodes = {number: (parent, os.path.basename(raw.modules.get(module, "")), offset) for number, parent, module, offset, _ in raw.nodes}
        for node, cells in raw.values:
            cost = sum(raw.value(data, raw.metrics[metric]) for data, metric in cells if metric == 0)
            total += cost
            if node in nodes:
                found[nodes[node][1:]][0] += cost
            passed = set()
            while node in nodes:
                if nodes[node][1] and nodes[node][1:] not in passed:    # of recursion once
                    passed.add(nodes[node][1:])
                    found[nodes[node][1:]][1] += cost
                node = nodes[node][0]
    return {key: (own / total, through / total) for key, (own, through) in found.items() if through} if total else {}


def lines_of(loops, nest):
    return [sorted(line for (_, header), line in loops.items() if header == one) for one in nest]


class Agreement:
    """Weights of addresses: of all that hpcstruct's file knows, and of those where both say the same."""
    WHAT = ("nest of loops", "lines of loops", "line", "depth of inlining")

    def __init__(self):
        self.known, self.same, self.unknown, self.wrong = [0, 0], [[0, 0] for _ in self.WHAT], [0, 0], collections.Counter()

    def add(self, name, offset, weights, theirs, ours):
        """One address, with its weights: own cost, and cost that passes through."""
        found = theirs.at(offset)
        if found is None:
            self.unknown = [a + b for a, b in zip(self.unknown, weights)]
            return
        _, _, _, function, loops, file, line, inlined = found
        nest, at = ours.nest(offset, function), ours.line(offset)
        same = (nest == loops, [lines for lines in lines_of(ours.loops, nest) if any(line[1] for line in lines)]
                == [lines for lines in lines_of(theirs.loops, loops) if any(line[1] for line in lines)],
                line == 0 or (at is not None and (os.path.basename(at[2]), at[3]) == (file, line)), line == 0 or (at is not None and at[4] == inlined))
        for i in (0, 1):
            self.known[i] += weights[i]
            for what, is_same in enumerate(same):
                self.same[what][i] += weights[i] * is_same
        for what, is_same in zip(self.WHAT, same):
            if not is_same:
                self.wrong[f"{name} {offset:#x}: {what}: {nest} {at} instead of {loops} {file}:{line} {inlined}"] += weights[1]

    def percent(self, what, which):
        return 100 * self.same[what][which] / self.known[which] if self.known[which] else 0

    def worst(self, count=8):
        return [f"{weight:.4f} {text}" for text, weight in self.wrong.most_common(count)]


def compare(model, live, structures, answers):
    """The agreement at all addresses of all runs; each run has the weight 1."""
    all_of, runs = Agreement(), 0
    for folder in sorted(live.glob("*/measurement")):
        try:
            costs = costs_of(model, folder)
        except model.Refused:
            continue
        runs += bool(costs)
        for (module, offset), weights in costs.items():
            name = next((name for name in structures if module == name or module.startswith(name + ".")), None)
            if name:
                all_of.add(name, offset, weights, structures[name], answers[name])
    return all_of, runs
