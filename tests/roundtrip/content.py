# SPDX-License-Identifier: BSD-3-Clause
"""A dump as content: what a database says, with every reference resolved, beside the numbers it uses to say it."""

from collections import Counter

GLOBAL = 0  # the id of the context above all entry points


class Node:
    """A context. `key` is what it is, without its place, its id and its values."""

    __slots__ = ("id", "key", "parent", "children", "lexical")

    def __init__(self, id, key, parent, lexical):
        self.id = id
        self.key = key
        self.parent = parent  # index in Content.nodes; -1 for the global context
        self.children = []
        self.lexical = lexical


class Profile:
    """A profile that is no summary: who it is of, {context id: {metric id: value}}, [(time, context id)]."""

    __slots__ = ("index", "key", "values", "samples")

    def __init__(self, index, key, values):
        self.index = index
        self.key = key
        self.values = values
        self.samples = []


class Statistic:
    """A statistic of a metric. `value_id` names the values that it is of."""

    __slots__ = ("id", "key", "metric", "value_id", "scope_type", "formula", "combine")

    def __init__(self, id, key, metric, value_id, scope_type, formula, combine):
        self.id = id
        self.key = key
        self.metric = metric
        self.value_id = value_id
        self.scope_type = scope_type
        self.formula = formula
        self.combine = combine


class Content:
    def __init__(self, dump):
        meta = dump["meta"]
        self.title, self.description = meta["title"], meta["description"]
        self.id_names = meta["id_names"]
        self._read_metrics(meta)
        self._read_symbols(meta)
        self._read_tree(meta["entry_points"])
        self._read_profiles(dump["profiles"])
        self._read_contexts(dump)
        self._read_traces(dump["traces"])

    # ---- metadata ----

    def _read_metrics(self, meta):
        self.scopes = [(scope["name"], scope["type"]) for scope in meta["scopes"]]
        self.bits = {(*self.scopes[i], scope["propagation_index"]) for i, scope in enumerate(meta["scopes"])
                     if scope["type"] == "transitive"}
        self.metric_names = [metric["name"] for metric in meta["metrics"]]
        self.value_ids, self.statistics, self.metric_of = {}, {}, {}
        twins = Counter()
        for index, metric in enumerate(meta["metrics"]):
            twins[metric["name"]] += 1
            name = (metric["name"], twins[metric["name"]])
            ids = {}
            for instance in metric["scopes"]:
                _once(self.value_ids, instance["id"], (name, self.scopes[instance["scope"]]))
                self.metric_of[instance["id"]] = index
                ids[instance["scope"]] = instance["id"]
            for stored in metric["statistics"]:
                scope = self.scopes[stored["scope"]]
                key = (name, scope, stored["formula"], stored["combine"])
                _once(self.statistics, stored["id"],
                      Statistic(stored["id"], key, index, ids.get(stored["scope"]), scope[1], stored["formula"],
                                stored["combine"]))

    def _read_symbols(self, meta):
        self.modules = [module["path"] for module in meta["modules"]]
        self.files = [(file["path"], file["copied"]) for file in meta["files"]]
        self.functions = [(function["name"], _pick(self.modules, function["module"]), function["offset"],
                           _pick(self.files, function["file"]), function["line"]) for function in meta["functions"]]

    def _context_key(self, context):
        if "entry" in context:
            return ("entry point", context["entry"], context["name"])
        return (context["flags"], context["relation"], context["lexical"], context["propagation"],
                _pick(self.functions, context["function"]), _pick(self.files, context["file"]), context["line"],
                _pick(self.modules, context["module"]), context["offset"])

    def _read_tree(self, entries):
        """Nodes in the order of the dump, depth-first; nodes[0] is the global context. Call chains can be deep."""
        self.nodes = [Node(GLOBAL, ("global",), -1, None)]
        self.node_of = {GLOBAL: 0}
        waiting = [(0, entry) for entry in reversed(entries)]
        while waiting:
            parent, context = waiting.pop()
            index = len(self.nodes)
            _once(self.node_of, context["id"], index)
            self.nodes.append(Node(context["id"], self._context_key(context), parent, context.get("lexical")))
            self.nodes[parent].children.append(index)
            waiting.extend((index, child) for child in reversed(context["children"]))

        self._find_inner_loops()

    def _find_inner_loops(self):
        """inner_loops: for each loop, the loops that are lexically inside it and in no other one."""
        self.inner_loops = {node.id: [] for node in self.nodes if node.lexical == "loop"}
        for node in self.nodes:
            above = node
            while node.id in self.inner_loops and above.parent > 0 and above.key[3] & 1:
                above = self.nodes[above.parent]
                if above.id in self.inner_loops:
                    self.inner_loops[above.id].append(node.id)
                    break

    # ---- values ----

    def _read_profiles(self, profiles):
        self.profiles, self.summary, self.profile_of = [], {}, {}
        self.summary_count = sum(profile["summary"] for profile in profiles)
        for profile in profiles:
            values = _numbered(profile["values"])
            if profile["summary"]:
                self.summary = values
                self.summary_key = (profile["index"], profile["flags"], tuple(profile["ids"]))
                continue
            key = (profile["flags"],
                   tuple((_pick(self.id_names, id["kind"]), id["flags"], id["logical"], id["physical"])
                         for id in profile["ids"]))
            _once(self.profile_of, profile["index"], len(self.profiles))
            self.profiles.append(Profile(profile["index"], key, values))
        self.unlisted = sorted({id for profile in self.profiles for id in profile.values} - self.node_of.keys())

    def _read_contexts(self, dump):
        """self.contexts: {context id: {metric id: {profile index: value}}}, or None."""
        self.block_count = dump["context_block_count"]
        self.contexts = None
        if dump["contexts"] is not None:
            self.contexts = {}
            for context in dump["contexts"]:
                _once(self.contexts, context["id"], _numbered(context["values"]))

    def _read_traces(self, traces):
        self.has_requests = traces is not None
        self.bounds = (traces["min_time_ns"], traces["max_time_ns"]) if traces else None
        self.lines = [line["profile"] for line in traces["lines"]] if traces else []
        for line in traces["lines"] if traces else ():
            profile = self.profiles[self.profile_of[line["profile"]]]
            if profile.samples:
                raise ValueError(f"profile {line['profile']} has two trace lines")
            profile.samples = [tuple(sample) for sample in line["samples"]]

    def without_unlisted(self):
        """Takes out values at contexts that the metadata does not list."""
        for values in (self.summary, self.contexts or {}, *(profile.values for profile in self.profiles)):
            for id in values.keys() - self.node_of.keys():
                del values[id]
        self.unlisted = []
        return self

    def transposed(self):
        """What cct.db should hold."""
        result = {}
        for profile in self.profiles:
            for id, group in profile.values.items():
                metrics = result.setdefault(id, {})
                for metric, value in group.items():
                    metrics.setdefault(metric, {})[profile.index] = value
        return result

    def path(self, index):
        """Where a context is, for people."""
        parts = []
        while index > 0:
            kind, *key = self.nodes[index].key
            if kind == "entry point":
                parts.append(str(key[1]))
            else:
                function, file, line, module = key[3:7]
                parts.append(str(function[0] if function else f"{file[0]}:{line}" if file else module))
            index = self.nodes[index].parent
        return "/".join(reversed(parts)) or "the global context"


def _pick(table, index):
    return None if index is None else table[index] if 0 <= index < len(table) else ("number", index)


def _once(mapping, key, value):
    if key in mapping:
        raise ValueError(f"number {key} is used twice")
    mapping[key] = value


def _numbered(values):
    """{"3": {"0": 1.5}} with numbers for keys; explicit zeros say nothing."""
    result = {}
    for key, group in values.items():
        numbers = {int(inner): float(value) for inner, value in group.items() if value != 0}
        if numbers:
            result[int(key)] = numbers
    return result
