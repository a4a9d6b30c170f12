# SPDX-License-Identifier: BSD-3-Clause
"""
Databases whose trees are made to be mistaken for others, in the shape of tests/dump/expected.py. The same seed makes the same database. All
costs are small whole numbers, so that every sum is exact.
"""

import random

KINDS = ["SUMMARY", "NODE", "RANK", "THREAD"]
SCOPES = [("point", "point", 255), ("function", "transitive", 0), ("execution", "execution", 255)]
METRICS = ("CPUTIME (sec)", "cycles")
HUGE = (0, 1, 2, 3, 1 << 31, 1 << 32, (1 << 40) - 1, 1 << 40, (1 << 40) + 2, 1 << 62, 3 << 62, (1 << 64) - 1)
STEP = 1000


class Maker:
    """A tree while it grows. Contexts are dictionaries as in the dump, with `parent` and `cost` besides."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.modules = [{"path": path} for path in ("/bin/app", "/lib/liba.so", "/lib/libb.so", "/opt/lib/liba.so")]
        self.files = [{"path": path, "copied": False} for path in ("/src/a.c", "/src/b.c", "/src/include/a.c")]
        self.functions, self.entries, self.contexts = [], [], []
        self.names = {}

    # -- what contexts are made of --

    def function(self, name, module=0, file=0, line=1, offset=0):
        """The same again is the same record, or another one that says the same."""
        record = {"name": name, "module": module, "offset": offset, "file": file, "line": line}
        key = tuple(record.values())
        if key not in self.names or self.random.random() < 0.1:
            self.names[key] = len(self.functions)
            self.functions.append(record)
        return self.names[key]

    def entry(self, kind="main_thread", name="main thread"):
        context = {"id": 0, "entry": kind, "name": name, "children": [], "parent": None, "cost": {}, "lexical": "entry"}
        self.entries.append(context)
        self.contexts.append(context)
        return context

    def add(self, parent, lexical, relation="lexical", function=None, file=None, line=0, module=None, offset=0):
        context = {"id": 0, "flags": 0, "relation": relation, "lexical": lexical,
                   "propagation": 1 if relation == "lexical" else 0, "function": function, "file": file, "line": line,
                   "module": module, "offset": offset, "children": [], "parent": parent, "cost": {}}
        parent["children"].append(context)
        self.contexts.append(context)
        return context

    def line(self, parent, line=None, file=None):
        file = self.random.randrange(len(self.files)) if file is None else file
        return self.add(parent, "line", file=file, line=self.random.randrange(1, 6) if line is None else line)

    def call(self, parent, function, relation="call", line=None):
        """From a line, mostly, as hpcprof has it."""
        site = self.line(parent, line) if self.random.random() < 0.8 else parent
        return self.add(site, "function", relation, function)

    def unnamed(self, parent, module, offset, lexical="instruction"):
        return self.add(parent, lexical, "call", module=module, offset=offset)

    def loop(self, parent, with_file=True):
        pick = self.random
        if with_file:
            has_point = pick.random() < 0.5
            return self.add(parent, "loop", file=pick.randrange(len(self.files)), line=pick.randrange(1, 5),
                            module=pick.randrange(2) if has_point else None, offset=pick.randrange(4) if has_point else 0)
        return self.add(parent, "loop", module=pick.randrange(len(self.modules)), offset=pick.choice(HUGE))


# ---- shapes ----

def recursion(maker):
    """One function that calls itself, with loops and other functions in between."""
    at = maker.call(maker.entry(), maker.function("main", line=1))
    recursive = maker.function("recursive", line=10)
    for _ in range(maker.random.randrange(3, 25)):
        between = maker.random.random()
        if between < 0.3:
            at = maker.loop(at)
        elif between < 0.5:
            at = maker.call(at, maker.function("helper", line=20))
        at = maker.call(at, recursive)
        if maker.random.random() < 0.3:
            maker.call(at, maker.function("leaf", line=30))


def mutual_recursion(maker):
    """Several functions that call each other, inlined at times."""
    functions = [maker.function(name, line=i) for i, name in enumerate("abcd", 1)]
    starts = [maker.call(maker.entry(), functions[0])]
    for _ in range(maker.random.randrange(5, 40)):
        relation = "inlined_call" if maker.random.random() < 0.3 else "call"
        starts.append(maker.call(maker.random.choice(starts), maker.random.choice(functions), relation))


def unnamed_code(maker):
    """Addresses without functions, whose offsets look like numbers of functions; code of which nothing is known."""
    main = maker.call(maker.entry(), maker.function("main"))
    for i in range(4):
        maker.call(main, maker.function(f"f{i}", offset=i, line=i))
    places = [main, maker.entries[0]]
    for _ in range(maker.random.randrange(5, 40)):
        parent, kind = maker.random.choice(places), maker.random.random()
        if kind < 0.6:
            places.append(maker.unnamed(parent, maker.random.randrange(len(maker.modules)), maker.random.randrange(5)))
        elif kind < 0.75:
            places.append(maker.add(parent, "function", "call"))
        elif kind < 0.85:
            places.append(maker.unnamed(parent, None, 0))
        else:
            places.append(maker.call(parent, maker.function(None, module=maker.random.randrange(3), file=None,
                                                            line=0, offset=maker.random.randrange(3))))


def entry_points(maker):
    """Several of a kind, with the same and with different names, that call the same functions and have costs themselves."""
    functions = [maker.function(name, line=i) for i, name in enumerate(("main thread", "run", "wait"), 1)]
    for _ in range(maker.random.randrange(2, 8)):
        kind, name = maker.random.choice((("main_thread", "main thread"), ("application_thread", "application thread"),
                                          ("application_thread", "worker"), ("unknown_entry", "unknown entry")))
        at = maker.entry(kind, name)
        for _ in range(maker.random.randrange(0, 6)):
            at = maker.call(at, maker.random.choice(functions))


def one_name_in_two_modules(maker):
    """Functions that differ in one field only: module, offset, file or line."""
    functions = [maker.function("init", module=m, file=f, line=n, offset=o)
                 for m in (0, 1, None) for f, n in ((0, 1), (0, 2), (1, 1), (None, 0)) for o in (0, 16)]
    places = [maker.call(maker.entry(), maker.function("main"))]
    for _ in range(maker.random.randrange(10, 50)):
        places.append(maker.call(maker.random.choice(places), maker.random.choice(functions)))


def huge_offsets(maker):
    """Addresses at the ends of 32, 40 and 64 bits, in several modules, beside functions with such offsets."""
    places = [maker.call(maker.entry(), maker.function("main"))]
    for _ in range(maker.random.randrange(10, 50)):
        parent, offset = maker.random.choice(places), maker.random.choice(HUGE)
        module = maker.random.randrange(len(maker.modules))
        if maker.random.random() < 0.5:
            places.append(maker.unnamed(parent, module, offset))
        elif maker.random.random() < 0.5:
            places.append(maker.loop(parent, with_file=False))
        else:
            places.append(maker.call(parent, maker.function("far", module=module, offset=offset, line=0, file=None)))


def inlined_in_loops(maker):
    """Loops in loops, inlined functions in them with loops of the same lines, and calls of the same functions."""
    functions = [maker.function(name, line=i) for i, name in enumerate(("main", "kernel", "step", "norm"), 1)]
    places = [maker.call(maker.entry(), functions[0])]
    for _ in range(maker.random.randrange(10, 60)):
        parent, kind = maker.random.choice(places), maker.random.random()
        if kind < 0.4:
            places.append(maker.loop(parent, maker.random.random() < 0.8))
        elif kind < 0.6:
            places.append(maker.line(parent))
        else:
            places.append(maker.call(parent, maker.random.choice(functions), "inlined_call" if kind < 0.85 else "call"))


def a_thousand_paths(maker):
    """One function at the end of many paths, through functions that are on several of them."""
    target = maker.function("target", line=99)
    width = maker.random.randrange(5, 11)
    tops = [maker.call(maker.entry(), maker.function(f"top{i}", line=i)) for i in range(width)]
    for top in tops:
        for i in range(width):
            middle = maker.call(top, maker.function(f"middle{i}", line=i))
            for k in range(width):
                low = maker.call(middle, maker.function(f"low{k}", line=k), line=k)
                maker.call(low, target)["cost"]["likely"] = 1


def anything(maker):
    """All of these at once: any context below any other."""
    names = ["main", "run", "main thread", None, "_ZN3app3runEv", "operator()", "a very long name " * 8]
    places = [maker.entry(), maker.entry("application_thread", "application thread")]
    for _ in range(maker.random.randrange(20, 150)):
        parent, kind, pick = maker.random.choice(places), maker.random.random(), maker.random
        if kind < 0.35:
            function = maker.function(pick.choice(names), pick.randrange(3), pick.choice((0, 1, None)), pick.randrange(3),
                                      pick.choice(HUGE[:5]))
            places.append(maker.call(parent, function, pick.choice(("call", "call", "inlined_call"))))
        elif kind < 0.5:
            places.append(maker.loop(parent, pick.random() < 0.7))
        elif kind < 0.65:
            places.append(maker.line(parent))
        elif kind < 0.8:
            places.append(maker.unnamed(parent, pick.randrange(4), pick.choice(HUGE)))
        elif kind < 0.9:
            places.append(maker.add(parent, "instruction", module=pick.randrange(4), offset=pick.randrange(9)))
        else:
            places.append(maker.add(parent, pick.choice(("line", "loop")), "call", file=0, line=pick.randrange(3)))


SHAPES = (recursion, mutual_recursion, unnamed_code, entry_points, one_name_in_two_modules, huge_offsets, inlined_in_loops,
          a_thousand_paths, anything, anything)


# ---- numbers ----

def _number(maker):
    """Ids with gaps. Returns those that the metadata will not list, each with the listed context that it is below."""
    order = list(maker.contexts)
    maker.random.shuffle(order)
    unlisted, next_id = {}, 1
    for context in order:
        next_id += maker.random.random() < 0.1
        context["id"], next_id = next_id, next_id + 1
        if maker.random.random() < 0.05:
            unlisted[next_id], next_id = context, next_id + 1
    return unlisted, next_id


def _costs(maker, unlisted):
    """{context id: whole number} of one profile and metric."""
    density, costs = maker.random.choice((0.05, 0.3, 0.8)), {}
    for context in maker.contexts:
        if maker.random.random() < max(density, 0.5 if "likely" in context["cost"] else 0):
            costs[context["id"]] = maker.random.randrange(1, 100)
    for id in unlisted:
        if maker.random.random() < 0.5:
            costs[id] = maker.random.randrange(1, 100)
    if maker.random.random() < 0.2:
        costs[0] = maker.random.randrange(1, 100)  # nobody's
    return costs


def _propagated(maker, unlisted, points):
    """{scope: {context id: value}} from point values."""
    parents = {c["id"]: c["parent"]["id"] if c["parent"] else 0 for c in maker.contexts}
    parents.update({id: context["id"] for id, context in unlisted.items()})
    passes_on = {c["id"] for c in maker.contexts if c["lexical"] != "entry" and c["propagation"]} | unlisted.keys()
    function, execution = {}, {}
    for id, value in points.items():
        at, is_inside = id, True
        while True:
            execution[at] = execution.get(at, 0) + value
            if is_inside:
                function[at] = function.get(at, 0) + value
            if at == 0:
                break
            is_inside = is_inside and at in passes_on
            at = parents[at]
    return {"point": points, "function": function, "execution": execution}


def _profiles(maker, unlisted):
    summary = {"index": 0, "summary": True, "flags": 1, "ids": [], "values": {}}
    profiles, count = [summary], maker.random.randrange(1, 7)
    for index in range(1, count + 1):
        ids = [{"kind": 2, "flags": 0, "logical": (index - 1) // 2, "physical": (index - 1) // 2},
               {"kind": 3, "flags": 0, "logical": (index - 1) % 2, "physical": (index - 1) % 2}]
        profile = {"index": index, "summary": False, "flags": 0, "ids": ids, "values": {}}
        profiles.append(profile)
        if index > 1 and maker.random.random() < 0.15:
            continue  # without any value
        for metric in range(len(METRICS)):
            if metric and maker.random.random() < 0.3:
                continue  # without this metric
            tables = _propagated(maker, unlisted, _costs(maker, unlisted))
            for scope, (name, _, _) in enumerate(SCOPES):
                for context, value in tables[name].items():
                    id = str(metric * len(SCOPES) + scope)
                    profile["values"].setdefault(str(context), {})[id] = float(value)
                    sums = summary["values"].setdefault(str(context), {})
                    sums[id] = sums.get(id, 0.0) + value
    return profiles


def _traces(maker, unlisted, profiles):
    if maker.random.random() < 0.2:
        return None
    ids, lines = [0, *(c["id"] for c in maker.contexts)], []
    for profile in profiles[1:]:
        # Steps of one length make intervals that several functions fill alike.
        time, samples = maker.random.randrange(10 ** 9, 10 ** 9 + 50 * STEP), []
        is_even = maker.random.random() < 0.5
        for _ in range(maker.random.randrange(0, 60)):
            context = maker.random.choice(ids)
            if not samples or context != samples[-1][1] or context:
                samples.append([time, context])
            time += STEP if is_even else maker.random.choice((1, 7, STEP, 10 * STEP, maker.random.randrange(1, STEP)))
        lines.append({"profile": profile["index"], "samples": samples})
    times = [s[0] for line in lines for s in line["samples"]]
    return {"min_time_ns": min(times, default=0), "max_time_ns": max(times, default=0), "lines": lines}


def _metric(number, name):
    ids = [number * len(SCOPES) + scope for scope in range(len(SCOPES))]
    return {"name": name, "scopes": [{"scope": scope, "id": id} for scope, id in enumerate(ids)],
            "statistics": [{"scope": scope, "formula": "$$", "combine": "sum", "id": id} for scope, id in enumerate(ids)]}


def make(seed):
    """The name of the shape, and the database."""
    maker, shape = Maker(seed), SHAPES[seed % len(SHAPES)]
    shape(maker)
    unlisted, id_count = _number(maker)
    profiles = _profiles(maker, unlisted)
    data = {"meta": {"title": f"nasty {seed}", "description": shape.__doc__, "id_names": KINDS,
                     "scopes": [{"name": n, "type": t, "propagation_index": p} for n, t, p in SCOPES],
                     "metrics": [_metric(i, name) for i, name in enumerate(METRICS)], "modules": maker.modules,
                     "files": maker.files, "functions": maker.functions, "entry_points": maker.entries},
            "profiles": profiles, "context_block_count": id_count, "traces": _traces(maker, unlisted, profiles)}
    return shape.__name__, data
