# SPDX-License-Identifier: BSD-3-Clause
"""
What a database says of a run, in terms that do not depend on how it is laid out: functions, costs of call paths and of the
lines on them, samples. Read off what `lode dump` writes.

A call path is a tuple of steps: entry points, functions, and instructions that stand for functions that are not known.
Loops and lines are places on it. What is at a context that is not listed counts for the nearest one above that is.
"""

from collections import defaultdict

CLOSE = 1e-9


def _function(meta, number):
    function = meta["functions"][number]
    module = function["module"]
    return (function["name"], None if module is None else meta["modules"][module]["path"].split("/")[-1])


def _module(meta, context):
    return meta["modules"][context["module"]]["path"].split("/")[-1]


class Meaning:
    """All of one database. `rename` maps steps of call paths to what they are called in the other."""

    def __init__(self, dump, rename=None):
        self.rename = rename or {}
        self.meta = dump["meta"]
        self.functions = set()
        self.place_of = {0: ((), None)}  # by context id: call path, line
        self.parent, self.is_loop = {}, {0: False}
        self.loops = {0: None}  # by context id: the loops of the function that it is in, outermost first
        for entry in self.meta["entry_points"]:
            self._walk(entry)
        self.profiles = {self._name(p): self._values(p) for p in dump["profiles"] if not p["summary"]}
        names = {p["index"]: self._name(p) for p in dump["profiles"]}
        self.samples = {names[line["profile"]]: self._samples(line) for line in dump["traces"]["lines"]}

    def _walk(self, entry):
        # A loop, not a recursion: trees can be deep.
        work = [(entry, 0)]
        while work:
            context, parent = work.pop()
            path, line = self.place_of[parent]
            self.parent[context["id"]] = parent
            loops = self.loops[parent] or ()
            if "entry" in context:
                path, line = path + (context["entry"],), None
            else:
                path, line = self._place(context, path, line)
            is_loop = context.get("lexical") == "loop"
            self.loops[context["id"]] = loops + (line,) if is_loop else () if path != self.place_of[parent][0] else loops
            self.is_loop[context["id"]] = is_loop
            self.place_of[context["id"]] = (path, line)
            work.extend((child, context["id"]) for child in context["children"])

    def _place(self, context, path, line):
        if context["relation"] != "lexical":
            if context["function"] is not None:
                self._add_function(context["function"])
                step = _function(self.meta, context["function"])[0]
            elif context["module"] is not None:
                step = f"{_module(self.meta, context)}+{context['offset']:#x}"
            else:
                step = "unknown"
            inlined = " [inlined]" if context["relation"] == "inlined_call" else ""
            return path + (self.rename.get(step, step) + inlined,), None
        if context["lexical"] in ("line", "loop") and context["file"] is not None:
            file = self.meta["files"][context["file"]]["path"].split("/")[-1]
            return path, (file, context["line"])
        return path, line

    def _add_function(self, number):
        function = self.meta["functions"][number]
        file = None if function["file"] is None else self.meta["files"][function["file"]]["path"].split("/")[-1]
        self.functions.add((*_function(self.meta, number), file, function["line"]))

    def _name(self, profile):
        kinds = self.meta["id_names"]
        return tuple((kinds[i["kind"]], i["logical"], i["physical"]) for i in profile["ids"])

    def _metric(self, scope_type):
        for scope in self.meta["metrics"][0]["scopes"]:
            if self.meta["scopes"][scope["scope"]]["type"] == scope_type:
                return str(scope["id"])
        raise ValueError(scope_type)

    def _values(self, profile):
        """Inclusive cost by call path and by loop; own cost by (call path, line)."""
        metric = self._metric("execution")
        cost = {int(c): v[metric] for c, v in profile["values"].items() if metric in v and int(c) in self.place_of}
        own = dict(cost)
        for context, value in cost.items():
            if context in self.parent and self.parent[context] in own:
                own[self.parent[context]] -= value
        paths, lines, loops = defaultdict(float), defaultdict(float), defaultdict(float)
        for context, value in cost.items():
            path, line = self.place_of[context]
            # A call path's cost is that of the context that begins it.
            if context == 0 or self.place_of[self.parent[context]][0] != path:
                paths[path] += value
            if self.is_loop[context]:
                loops[(path, self.loops[context])] += value
            lines[(path, line)] += own[context]
        return {"call paths": paths, "loops": loops, "lines": lines}

    def _samples(self, line):
        return [(time, *self.place_of[context]) for time, context in line["samples"]]


def cost_differences(a, b):
    """Of two maps from something to a cost: what differs, and by how much."""
    scale = max([abs(v) for v in a.values()] + [abs(v) for v in b.values()] + [0.0])
    return {key: (a.get(key, 0.0), b.get(key, 0.0)) for key in {*a, *b}
            if abs(a.get(key, 0.0) - b.get(key, 0.0)) > CLOSE * scale}


def differences(a, b):
    """All that two databases say differently, as lines of text."""
    found = [f"function only in the one: {f}" for f in sorted(a.functions - b.functions, key=str)]
    found += [f"function only in the other: {f}" for f in sorted(b.functions - a.functions, key=str)]
    found += [f"profile only in one: {p}" for p in sorted({*a.profiles} ^ {*b.profiles}, key=str)]
    for profile in {*a.profiles} & {*b.profiles}:
        for what, costs in a.profiles[profile].items():
            differ = cost_differences(costs, b.profiles[profile][what])
            found += [f"{what}: {profile}: {key}: {x!r} and {y!r}" for key, (x, y) in differ.items()]
    for profile in {*a.samples} | {*b.samples}:
        mine, yours = a.samples.get(profile, []), b.samples.get(profile, [])
        if mine != yours:
            found.append(f"samples: {profile}: {len(mine)} and {len(yours)}, or at other times or places")
    return found
