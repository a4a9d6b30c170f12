# SPDX-License-Identifier: BSD-3-Clause
"""Databases of programs whose every cost is given: a model, its bytes (tests/answers/db_write.py), and what expected/ says of it."""

import struct
from random import Random

KINDS = ["SUMMARY", "NODE", "RANK", "THREAD", "GPUDEVICE", "GPUCONTEXT", "GPUSTREAM", "CORE"]
SCOPES = [("point", "point", 255), ("function", "transitive", 0), ("execution", "execution", 255)]
SUM = (("$$", "sum"),)
STATISTICS = (("1", "sum"), ("$$", "sum"), ("($$^2)", "sum"), ("$$", "min"), ("$$", "max"))
START = 1_700_000_000_000_000_000
STEP = 5_000_000  # nanoseconds between samples


# ---- programs ----

def call(name, *children, file=None, line=0, module=0, offset=0, relation="call"):
    return {"kind": "function", "name": name, "file": file, "line": line, "module": module, "offset": offset, "relation": relation,
            "children": children}


def inlined(name, *children, **more):
    return call(name, *children, relation="inlined_call", **more)


def loop(file, line, *children, offset=0):
    return {"kind": "loop", "file": file, "line": line, "offset": offset, "children": children}


def at(file, line, *children, cost=0):
    """A line; `cost` is its own, in samples."""
    return {"kind": "line", "file": file, "line": line, "children": children, "cost": cost}


def address(offset, *children, module=1, cost=0):
    """Code without a name."""
    return {"kind": "instruction", "offset": offset, "module": module, "children": children, "cost": cost}


MODULES = ["/opt/app/bin/app", "/usr/lib/libc.so.6", "/usr/lib/libgomp.so.1"]
FILES = ["/src/app/main.c", "/src/app/solve.c", "/src/app/norm.h", "/src/app/io.c"]


def small():
    spin = call("spin", at(0, 3, cost=2), loop(0, 4, at(0, 5, cost=9), at(0, 6, cost=3), offset=0x1130), file=0, line=2, offset=0x1120)
    return [("main_thread", "main thread", [call("main", at(0, 12, call("caller", at(0, 9, spin), file=0, line=8, offset=0x1160)), at(0, 13, spin),
                                                 file=0, line=11, offset=0x1180)])]


def solver(is_new):
    """A later version inlines a function, has another one and lost a third; some costs differ."""
    norm = (inlined if is_new else call)("norm", at(2, 4, cost=6 if is_new else 4), file=2, line=3, offset=0x1100)
    kernel = loop(1, 20, loop(1, 21, at(1, 22, cost=40 if is_new else 30), at(1, 23, norm), offset=0x1220), offset=0x1210)
    extra = [at(1, 27, call("limit", at(1, 41, cost=5), file=1, line=40, offset=0x1400))] if is_new else \
        [at(1, 26, call("smooth", at(1, 51, cost=7), at(1, 52, call("norm", at(2, 5, cost=1), file=2, line=3, offset=0x1100)), file=1, line=50, offset=0x1500))]
    recursive = call("refine", at(1, 61, cost=2), at(1, 62, call("refine", at(1, 61, cost=3), at(1, 62, call("refine", at(1, 61, cost=1), file=1, line=60, offset=0x1600)),
                                                                 file=1, line=60, offset=0x1600)), file=1, line=60, offset=0x1600)
    solve = call("solve", kernel, *extra, at(1, 30, recursive), file=1, line=18, offset=0x1200)
    write = call("write_all", at(3, 9, call("write", address(0x114a, cost=4), module=1, offset=0x1140)), at(3, 10, cost=1), file=3, line=7, offset=0x1700)
    wait = call("gomp_team_barrier_wait_end", address(0x2200, module=2, cost=8), module=2, offset=0x2180)
    main = call("main", at(0, 33, solve), at(0, 34, write), at(0, 35, cost=1), file=0, line=30, offset=0x1800)
    worker = call("gomp_thread_start", call("solve._omp_fn.0", kernel, file=1, line=19, offset=0x1250), wait, address(0x2400, module=2, cost=1), module=2, offset=0x2100)
    return [("main_thread", "main thread", [main]), ("application_thread", "application thread", [worker])]


# ---- models ----

class Tree:
    """Contexts of a program with their numbers, parents first."""

    def __init__(self, program):
        self.functions, self.entries, self.nodes = [], [], []  # nodes: (context, parent's id, whether its cost is also its parent's, own cost)
        self.count = 1
        for kind, name, roots in program:
            entry = {"id": self._number(), "entry": kind, "name": name, "children": []}
            self.entries.append(entry)
            self.nodes.append((entry, 0, False, 0, kind))
            for root in roots:
                self._add(entry, root, kind)

    def _number(self):
        self.count += 1
        return self.count - 1

    def _add(self, parent, spec, kind):
        is_function = spec["kind"] == "function"
        context = {"id": self._number(), "flags": 0, "relation": spec.get("relation", "lexical"), "lexical": spec["kind"], "propagation": int(not is_function),
                   "function": None, "file": None, "line": 0, "module": None, "offset": 0, "children": []}
        if is_function:
            record = {key: spec[key] for key in ("name", "module", "offset", "file", "line")}
            if record not in self.functions:
                self.functions.append(record)
            context["function"] = self.functions.index(record)
        elif spec["kind"] == "instruction":
            context.update(module=spec["module"], offset=spec["offset"])
        else:
            context.update(file=spec["file"], line=spec["line"])
        if spec["kind"] == "loop":
            context.update(module=0, offset=spec["offset"])
        parent["children"].append(context)
        self.nodes.append((context, parent["id"], not is_function, spec.get("cost", 0), kind))
        for child in spec["children"]:
            self._add(context, child, kind)


def _propagated(tree, points):
    """{scope: {context: value}} from the own costs of contexts."""
    parents = {node["id"]: (parent, passes) for node, parent, passes, _, _ in tree.nodes}
    function, execution = {}, {}
    for id, value in points.items():
        place, is_inside = id, True
        while True:
            execution[place] = execution.get(place, 0) + value
            if is_inside:
                function[place] = function.get(place, 0) + value
            if place == 0:
                break
            above, passes = parents[place]
            is_inside = is_inside and passes
            place = above
    return points, function, execution


def _summary(profiles, statistics):
    """The first profile: statistics over the others."""
    step, found = len(SCOPES), {}
    join = {"sum": float.__add__, "min": min, "max": max}
    for profile in profiles:
        for context, numbers in profile["values"].items():
            sums = found.setdefault(context, {})
            for metric, scope in ((metric, scope) for metric in {int(id) // step for id in numbers} for scope in range(step)):
                value = numbers.get(str(metric * step + scope))
                for place, (formula, combine) in enumerate(statistics):
                    # A profile counts with each scope of a context that has any value.
                    if value is None and formula != "1":
                        continue
                    number = str((metric * len(statistics) + place) * step + scope)
                    term = {"1": lambda: 1.0, "$$": lambda: value, "($$^2)": lambda: value * value}[formula]()
                    sums[number] = join[combine](sums[number], term) if number in sums else term
    return {"index": 0, "summary": True, "flags": 1, "ids": [], "values": found}


def _metric(number, name, statistics):
    step = len(SCOPES)
    return {"name": name, "scopes": [{"scope": scope, "id": number * step + scope} for scope in range(step)],
            "statistics": [{"scope": scope, "formula": formula, "combine": combine, "id": (number * len(statistics) + place) * step + scope}
                           for scope in range(step) for place, (formula, combine) in enumerate(statistics)]}


def _samples(costs, random, begin):
    """What ran, one sample for each step; the last says that nothing runs any more."""
    times, samples = begin, []
    for id, count in costs.items():
        for _ in range(count):
            samples.append([times, id])
            times += STEP + random.randrange(1000)
    return samples + [[times, 0]]


def model(title, program, threads, metrics=(("CPUTIME (sec)", 1 / 256),), statistics=SUM, has_traces=True, seed=1):
    """`threads`: (ids, kind of entry, factor). `metrics`: (name, value of one sample)."""
    tree, random, profiles, lines = Tree(program), Random(seed), [], []
    for index, (ids, kind, factor) in enumerate(threads, 1):
        values, first = {}, None  # first: costs of the first metric, in samples
        for number, (_, unit) in enumerate(metrics):
            costs = {node["id"]: cost * factor for node, _, _, cost, of in tree.nodes if cost and of == kind and (cost > 2 or random.random() < 0.8)}
            first = first or costs
            for scope, table in enumerate(_propagated(tree, {id: cost * unit for id, cost in costs.items()})):
                for context, value in table.items():
                    values.setdefault(str(context), {})[str(number * len(SCOPES) + scope)] = float(value)
        ids = [{"kind": KINDS.index(name), "flags": 0, "logical": id, "physical": id} for name, id in ids]
        profiles.append({"index": index, "summary": False, "flags": 0, "ids": ids, "values": values})
        lines.append({"profile": index, "samples": _samples(first, random, START + 1_000_000 * index)})
    times = [sample[0] for line in lines for sample in line["samples"]]
    return {"meta": {"title": title, "description": "Made for tests, not measured", "id_names": KINDS,
                     "scopes": [{"name": n, "type": t, "propagation_index": p} for n, t, p in SCOPES],
                     "metrics": [_metric(i, name, statistics) for i, (name, _) in enumerate(metrics)], "modules": [{"path": path} for path in MODULES],
                     "files": [{"path": path, "copied": False} for path in FILES], "functions": tree.functions, "entry_points": tree.entries},
            "profiles": [_summary(profiles, statistics), *profiles], "context_block_count": tree.count,
            "traces": {"min_time_ns": min(times), "max_time_ns": max(times), "lines": lines} if has_traces else None}


def ranks(count, threads=2):
    """The last rank has twice the work."""
    return [([("NODE", rank // 2), ("RANK", rank), ("THREAD", thread)], "application_thread" if thread else "main_thread", 2 if rank == count - 1 else 1)
            for rank in range(count) for thread in range(threads)]


ONE = [([("NODE", 0), ("THREAD", 0)], "main_thread", 1)]
COUNTERS = (("cycles", 1024.0), ("instructions", 2048.0))
MODELS = {
    "made-small": lambda: model("made-small", small(), ONE),
    "made-small-notraces": lambda: model("made-small", small(), ONE, has_traces=False),
    "made-ranks": lambda: model("app", solver(False), ranks(3)),
    "made-statistics": lambda: model("app", solver(False), ranks(3), statistics=STATISTICS),
    "made-old": lambda: model("app", solver(False), ranks(2), COUNTERS),
    "made-new": lambda: model("app", solver(True), ranks(2), COUNTERS, seed=2),
}


def zero_values(path):
    """A cct.db of a draft whose blocks were never written."""
    file = bytearray(path.read_bytes())
    size, begin = struct.unpack_from(">QQ", file, 0x18)
    file[begin + size:-8] = bytes(len(file) - 8 - begin - size)
    path.write_bytes(file)
