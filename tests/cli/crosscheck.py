#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Numbers that the program prints, against numbers worked out here from what an independent reader made of the same
database. Nothing of the program's own analysis is used: the values come from the reader, the arithmetic is below. Needs
PyYAML with libyaml, and the corpus.
"""

import math
import statistics
import sys
from collections import defaultdict

import cli

try:
    import expected
except ImportError:  # no PyYAML, or one without libyaml
    expected = None

NAMES = ("made-small", "made-loops-cputime-t-mpi3ranks", "viewer-issue-328", "viewer-issue-233")
TOLERANCE = 1e-9
METRICS = ("GPUOP (sec)", "CPUTIME (sec)", "REALTIME (sec)")  # the first that has a total is the default


def close(found, wanted):
    return math.isclose(found, wanted, rel_tol=TOLERANCE, abs_tol=1e-12)


class Database:
    """One database as the independent reader has it, and what follows from that by addition."""

    def __init__(self, root, name):
        self.name = name
        self.data = expected.from_file(root / "expected" / f"{name}.yaml.gz")
        self.meta = self.data["meta"]
        self.metric = None
        for name in METRICS:
            self.metric = next((metric for metric in self.meta["metrics"] if metric["name"] == name), None)
            if self.metric and self.summed("execution", 0):
                break
        self.parents, self.contexts = {}, {}
        for entry in self.meta["entry_points"]:
            self._walk(entry, None)

    def _walk(self, context, parent):
        self.contexts[context["id"]], self.parents[context["id"]] = context, parent
        for child in context["children"]:
            self._walk(child, context["id"])

    def _id(self, table, scope):
        scopes = [entry["name"] for entry in self.meta["scopes"]]
        return next(str(entry["id"]) for entry in self.metric[table]
                    if scopes[entry["scope"]] == scope and entry.get("combine", "sum") == "sum"
                    and entry.get("formula", "$$") == "$$")

    def summed(self, scope, context):
        """Over all profiles, from the summary."""
        return self.data["profiles"][0]["values"].get(str(context), {}).get(self._id("statistics", scope), 0.0)

    def measured(self, profile, scope, context):
        """In one profile."""
        values = self.data["profiles"][profile]["values"]
        return values.get(str(context), {}).get(self._id("scopes", scope), 0.0)

    def begins_function(self, context):
        """Whether it is called. Entry points are not, nor is what lies inside a function."""
        return self.contexts[context].get("relation") in ("call", "inlined_call")

    def function(self, context):
        """What names a called thing: a function, or an address where none is known."""
        node = self.contexts[context]
        return node["function"], node["module"], node["offset"] if node["function"] is None else None

    def caller(self, context):
        """The innermost context, upwards from here, that begins a function; None above all of them."""
        while context is not None and not self.begins_function(context):
            context = self.parents[context]
        return context

    def place(self, function):
        """Module, file and line, as the program shows them."""
        record = None if function[0] is None else self.meta["functions"][function[0]]
        module, file, line = (record["module"], record["file"], record["line"]) if record else (function[1], None, 0)
        path = None if file is None else self.meta["files"][file]["path"]
        return None if module is None else self.meta["modules"][module]["path"], path, line if type(line) is int else 0

    def profiles(self):
        """Indices of those with values, without the summary."""
        return [index for index, profile in enumerate(self.data["profiles"]) if index and profile["values"]]


def costs_by_place(database):
    """{(module, file, line): [exclusive, inclusive]}; a recursive function counts once, where it is outermost."""
    costs = defaultdict(lambda: [0.0, 0.0])
    for context in database.contexts:
        if not database.begins_function(context):
            continue
        function = database.function(context)
        cost = costs[database.place(function)]
        cost[0] += database.summed("function", context)
        above = database.caller(database.parents[context])
        while above is not None and database.function(above) != function:
            above = database.caller(database.parents[above])
        if above is None:
            cost[1] += database.summed("execution", context)
    return {place: cost for place, cost in costs.items() if any(cost)}


def totals(program, database):
    """The total of the metric: of the global context in the summary, and of all profiles added up."""
    top = program.json("top", database.name)
    info = {metric["name"]: metric["total"] for metric in program.json("info", database.name)["metrics"]}
    wanted = database.summed("execution", 0)
    added = math.fsum(database.measured(profile, "execution", 0) for profile in database.profiles())
    program.check(top["total"] == wanted == info[database.metric["name"]] and close(added, wanted),
                  f"{database.name}: total of {database.metric['name']}", [top["total"], wanted, added])


def functions(program, database):
    """Exclusive is the function scope at all contexts of a function; inclusive the execution scope of the outermost."""
    rows = program.json("top", "--by", "symbol", "--limit", 0, "--metric", database.metric["name"], database.name)["rows"]
    wanted, found = costs_by_place(database), defaultdict(lambda: [0.0, 0.0])
    for row in rows:
        cost = found[row["module"], row["file"], row["line"] or 0]
        cost[0] += row["exclusive"]
        cost[1] += row["inclusive"]
    wrong = [(place, wanted.get(place), found.get(place)) for place in {*wanted, *found}
             if not all(map(close, found.get(place, (0, 0)), wanted.get(place, (0, 0))))]
    program.check(not wrong, f"{database.name}: costs of {len(rows)} functions", wrong[:10])


def parts(program, database):
    """Whatever costs are added up by, exclusive costs are all there is, and none exceeds its inclusive cost."""
    for by in ("function", "line", "module", "file"):
        top = program.json("top", "--by", by, "--limit", 0, database.name)
        added = math.fsum(row["exclusive"] for row in top["rows"])
        over = [row for row in top["rows"] if row["exclusive"] > row["inclusive"] * (1 + TOLERANCE)]
        program.check(close(added, top["total"]) and not over, f"{database.name}: exclusive costs by {by} add up",
                      [added, top["total"], *over[:5]])


def tree(program, database):
    """A row has the inclusive cost of its context, and is what it costs itself and what the rows below it cost."""
    rows = program.json("tree", "--limit", 0, "--min-percent", 0, database.name)["rows"]
    wrong = [row for row in rows if row["contexts"] == 1
             and not close(row["inclusive"], database.summed("execution", row["context"]))]
    path, below = [], [0.0] * len(rows)
    for index, row in enumerate(rows):
        del path[row["depth"]:]
        if path:
            below[path[-1]] += row["inclusive"]
        path.append(index)
    wrong += [row for row, cost in zip(rows, below) if not close(row["inclusive"], row["exclusive"] + cost)]
    program.check(rows and not wrong, f"{database.name}: {len(rows)} rows of the tree", wrong[:10])


def percentile(values, fraction):
    place = (len(values) - 1) * fraction
    low = math.floor(place)
    return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (place - low)


def profiles(program, database):
    """The value of every profile, and the distribution as Python has it."""
    answer = program.json("profiles", "--limit", 0, database.name)
    wanted = {index: database.measured(index, "execution", 0) for index in database.profiles()}
    found = {row["profile"]: row["value"] for row in answer["rows"]}
    program.check(found == wanted, f"{database.name}: {len(wanted)} profiles", [found, wanted])
    values, spread = sorted(wanted.values()), answer["distribution"]
    numbers = {"count": len(values), "sum": math.fsum(values), "min": values[0], "max": values[-1],
               "mean": statistics.fmean(values), "stddev": statistics.pstdev(values),
               "imbalance": values[-1] / statistics.fmean(values) - 1, "median": statistics.median(values),
               "p25": percentile(values, 0.25), "p75": percentile(values, 0.75), "p99": percentile(values, 0.99)}
    wrong = [(name, spread[name], number) for name, number in numbers.items()
             if not math.isclose(spread[name], number, rel_tol=1e-7, abs_tol=1e-9)]
    program.check(not wrong, f"{database.name}: distribution over profiles", wrong)


def selection(program, database):
    """Some profiles: their costs, added up."""
    kinds = database.meta["id_names"]
    chosen = [index for index in database.profiles()
              if all(identity["logical"] == 0 for identity in database.data["profiles"][index]["ids"]
                     if kinds[identity["kind"]] == "THREAD")]
    wanted = math.fsum(database.measured(index, "execution", 0) for index in chosen)
    answer = program.json("top", "--profiles", "thread=0", database.name)
    program.check(close(answer["total"], wanted), f"{database.name}: total of thread 0", [answer["total"], wanted])


def contexts(program, database):
    """One context over all profiles: a few expensive ones, under two scopes."""
    hottest = sorted(database.contexts, key=lambda context: -database.summed("function", context))[:3]
    for context in [database.meta["entry_points"][0]["id"], *hottest]:
        for scope in ("execution", "function"):
            rows = program.json("context", "--all", "--scope", scope, database.name, context)["rows"]
            found = {row["profile"]: row["value"] for row in rows}
            wanted = {index: database.measured(index, scope, context) for index in database.profiles()}
            program.check(found == wanted, f"{database.name}: context {context} in every profile, {scope} scope",
                          [found, wanted])


def shares_of(database, begin, end):
    """{place of a function, None for not running: [nanoseconds, samples]} of a window."""
    shares = defaultdict(lambda: [0, 0])
    for line in database.data["traces"]["lines"]:
        samples = line["samples"]
        ends = [time for time, _ in samples[1:]] + [time for time, _ in samples[-1:]]
        for (time, context), after in zip(samples, ends):
            within = begin <= time < end
            held = max(0, min(after, end) - max(time, begin))
            if within or held:
                share = shares[place_of(database, context)]
                share[0] += held
                share[1] += within
    return shares


def place_of(database, context):
    caller = database.caller(context) if context else None
    return None if caller is None else database.place(database.function(caller))


def traces(program, database):
    """Samples and time of every function, over the whole run and in a window: a sample holds until the next one."""
    first = database.data["traces"]["min_time_ns"]
    last = database.data["traces"]["max_time_ns"] + 1
    third = (last - first) // 3
    for options, begin, end in (((), 0, last), (("--from", f"@{first + third}", "--to", f"@{last - third}"),
                                                first + third, last - third)):
        answer = program.json("trace", "--limit", 0, *options, database.name)
        wanted, found = shares_of(database, begin, end), defaultdict(lambda: [0, 0])
        for row in answer["rows"]:
            share = found[place_of(database, row["context"])]
            share[0] += row["nanoseconds"]
            share[1] += row["samples"]
        wrong = [(place, wanted.get(place), found.get(place)) for place in {*wanted, *found}
                 if wanted.get(place) != found.get(place)]
        program.check(not wrong and answer["samples"] == sum(samples for _, samples in wanted.values()),
                      f"{database.name}: functions over time{' in a window' if options else ''}", wrong[:10])


def names(program, database):
    """What is called, by its name, or by its address where it has none. Mangled names are left to the demangler."""
    rows = program.json("trace", "--limit", 0, database.name)["rows"]
    rows += program.json("tree", "--limit", 0, "--min-percent", 0, database.name)["rows"]
    wrong = []
    for row in rows:
        if not row["context"] or not database.begins_function(row["context"]):
            continue
        function, module, offset = database.function(row["context"])
        wanted = database.meta["functions"][function]["name"] if function is not None else (
            f"{database.meta['modules'][module]['path'].rpartition('/')[2]}+{offset:#x}" if module is not None
            else "<unknown function>")
        if row["name"] != wanted and not wanted.startswith("_Z"):
            wrong.append((row["name"], wanted))
    program.check(not wrong, f"{database.name}: names of {len(rows)} rows", wrong[:10])


def counts(program, database):
    """What a database holds, counted."""
    info, data = program.json("info", database.name), database.data
    kinds = [context.get("lexical", "entry") for context in database.contexts.values()]
    found = (info["contexts"]["count"], info["contexts"]["loops"], info["contexts"]["lines"], info["functions"],
             info["profiles"]["count"], info["profiles"]["values"], info["traces"]["samples"])
    wanted = (len(kinds), kinds.count("loop"), kinds.count("line"), len(database.meta["functions"]),
              len(data["profiles"]) - 1,
              sum(len(values) for profile in data["profiles"][1:] for values in profile["values"].values()),
              sum(len(line["samples"]) for line in data["traces"]["lines"]))
    program.equal(found, wanted, f"{database.name}: what it holds")


def numbers_against_an_independent_reader(program):
    program.databases()
    if expected is None:
        program.skip("numbers against an independent reader", "this Python has no yaml with libyaml")
        return
    sys.setrecursionlimit(20000)
    for name in NAMES:
        database = Database(program.corpus, name)
        for test in (counts, totals, functions, parts, tree, names, profiles, selection, contexts,
                     traces):
            test(program, database)


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, numbers_against_an_independent_reader))
