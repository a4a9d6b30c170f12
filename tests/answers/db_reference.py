# SPDX-License-Identifier: BSD-3-Clause
"""
What the commands on databases have to answer, worked out slowly and in the plainest way. Nothing here comes from Lode: the input is
a database in the shape of tests/dump/expected.py, made by an independent reader or by a generator that knows the truth.

Definitions, as the documents have them (HPCToolkit 4.0: the specification; the others: 'lode help', include/lode/*.h):

contexts    Nodes of the tree, below the global context, which has the id 0. A context *begins a function* if it is called or
            inlined (its relation), is function-like, is an entry point, or is the global context. What lies below it, down to the next contexts that begin
            functions, is its body.
functions   Two functions are the same if name, module, offset, file and line are. Code without a function is known by module and
            offset; without a module, by file and line, if any; and by what it is: an instruction, an unknown function... Entry points are known by kind and name.
costs       Of a metric: the inclusive cost of a context is its value under the execution scope: without a selection of profiles,
            the statistic "sum of $$" in the summary; else the sum over the selected profiles. The own cost is the inclusive cost less that of the
            children that the metadata lists. What is left of rounding (below 1e-11 of the inclusive cost) is zero.
top         exclusive: own costs of all contexts that belong to a key; inclusive: inclusive costs of the contexts of a key that have no
            context of the same key above them. A context belongs to the key of the nearest context, from itself up, that has one:
              symbol    contexts that begin a function: their function
              function  the same, but functions with one name are one key
              line      contexts with a source file: file and line; others that begin a function: their function
              loop      loops: file, line and module; without a file, module and offset. Contexts that begin a function: none at all
              module    the module of the function, else that of the context; contexts that begin a function and have none: "unknown"
              file      the file of the context, else that of the function; contexts that begin a function and have none: "unknown"
              kind      contexts that begin a function: the kind of the function, by the module of the function, else that of the context, and
                        its name (kinds.py); entry points and the global context are own code
            What only stands in for a key counts as a context of it only if it, or a context that belongs to the key through it, has an own cost:
            entry points and the global context, and by line whatever is no source line. Rows without any cost are left out.
            A formula is applied to the exclusive and the inclusive sums of a row; one that divides by zero has no value. The metric
            "X:Y_ACUMU" is shown as its mean, the quotient with "X:COUNT".
tree        A row stands for contexts of one meaning below the same row. Contexts that begin a function and loops have rows, lines if asked
            for; own costs of what has none belong to the row above. Top-down, inlined and called functions are different, and what was
            measured at the global context itself has a row of its own beside the entry points. By callers: the first
            level holds functions by the own costs of their bodies; the rows below a row hold the functions that contain its contexts'
            parents, with the part of the cost that came through them. The global context is nobody's caller.
profiles    The value under the execution scope at the global context, of each profile that has it.
            Of a function, or of any contexts: inclusive is what the contexts cost that have none of them above; exclusive is the own cost
            of their bodies; in each profile that has the metric, 0 if it has none at them. A group holds the profiles with the same ids of
            some kinds (the innermost of each; a physical id counts with both numbers), and its amounts are sums over them.
context     The values of one context in all profiles; one without a value counts as 0, one without any values does not count.
trace       See asking/trace_reference.py.
"""

import math
import sys
from collections import defaultdict
from pathlib import Path

import kinds
import resolve
from db_model import GLOBAL, Cost, tail, to_number

sys.path.append(str(Path(__file__).resolve().parents[1] / "recordings"))

from names import simple_stored_name as simple_name  # noqa: E402


# ---- top ----

NO_KEY = ("none",)  # begins something that belongs to no row


def _key(db, by, context):
    """The key that a context has itself: None if it belongs to that of its parent."""
    begins, function = context.begins_function(), context.function
    if by == "symbol":
        return db.function_key(context) if begins else None
    if by == "function":
        return ("name", db.label(context)) if begins else None
    if by == "kind":
        return ("kind", kind_of(db, context)) if begins else None
    if by == "line":
        if context.file is not None:
            return ("line", context.file, context.line)
        return db.function_key(context) if begins else None
    if by == "loop":
        if context.lexical != "loop":
            return NO_KEY if begins else None
        if context.file is not None:
            return ("loop", context.module, context.file, context.line)
        return ("loop", context.module, None, context.offset)
    if by == "module":
        module = None if function is None else db.functions[function]["module"]
        module = context.module if module is None else module
        return ("module", module) if module is not None or begins else None
    file = context.file if context.file is not None else None if function is None else db.functions[function]["file"]
    return ("file", file) if file is not None or begins else None


def kind_of(db, context):
    """Of a context that begins a function."""
    if context.lexical in ("entry", "global"):
        return "own"
    if context.function is None:
        return kinds.kind(db.module_path(context.module), None)
    function = db.functions[context.function]
    module = context.module if function["module"] is None else function["module"]
    return kinds.kind(db.module_path(module), function["name"])


def _stands_in(by, context):
    return context.lexical in ("entry", "global") or (by == "line" and context.lexical != "line")


def _merged_names(db, name, contexts, counted):
    """The same for functions of one name: what holds for all of them."""
    groups = _grouped(contexts, db.function_key)
    rows = [_top_names(db, "symbol", db.function_key(group[0]), group, group) for group in groups]
    if len(rows) == 1:
        return rows[0]
    modules, files, lines = ({row[i] for row in rows} for i in (4, 2, 3))
    file = files.pop() if len(files) == 1 else None
    same_line = lines.pop() if len(lines) == 1 and len({row[2] for row in rows}) == 1 else None
    return (name, name, file, same_line, modules.pop() if len(modules) == 1 else None)


def _top_names(db, by, key, contexts, counted):
    """name, function, file, line and module of a row."""
    if key[0] == "name":
        return _merged_names(db, key[1], contexts, counted)
    first = contexts[0]
    inside = {db.function_identity(f.function) if f.function is not None else None
              for f in map(db.function_of, counted)}
    inside_number = db.function_of(counted[0]).function if len(inside) == 1 else None
    inside_label = None if inside_number is None else db.function_label(inside_number)
    file, module = db.file_path, db.module_path
    if by == "kind":
        return (kinds.TITLES[key[1]], None, None, None, None)
    if by == "module":
        return (module(key[1]) or "<unknown module>", None, None, None, module(key[1]))
    if by == "file":
        return (file(key[1]) or "<unknown file>", None, file(key[1]), None, None)
    if by == "loop":
        return (db.label(first), inside_label, file(first.file), first.line or None if first.file is not None else None,
                module(first.module))
    if key[0] == "line":
        return (db._place(first.file, first.line), inside_label, file(first.file), first.line or None, None)
    if key[0] == "function":
        label = db.function_label(first.function)
        return (db.label(first), inside_label if by == "line" else label, file(key[4]), key[5] or None, module(key[2]))
    if key[0] == "address":
        return (db.label(first), None, None, None, module(key[1]))
    if key[0] == "unknown":
        return (db.label(first), None, file(key[1]), key[2] or None, None)
    return (db.label(first), None, None, None, None)


def top(cost, by):
    """Rows as in JSON, and the key of each, in no order."""
    db = cost.db
    keys = [None] * len(db.contexts)  # that a context belongs to
    heads = [None] * len(db.contexts)  # the context that it belongs to the key through
    with_costs = set()  # of heads
    members, exclusive, inclusive = defaultdict(list), defaultdict(list), defaultdict(list)
    for context in db.contexts:
        i, own_key = context.index, _key(db, by, context)
        keys[i] = own_key or (keys[context.parent.index] if context.parent else NO_KEY)
        heads[i] = i if own_key or not context.parent else heads[context.parent.index]
        exclusive[keys[i]].append(cost.own[i])
        if cost.own[i] != 0.0:
            with_costs.add(heads[i])
        if own_key is not None and own_key != NO_KEY:
            members[own_key].append(context)
    counted = {key: [c for c in contexts if not _stands_in(by, c) or c.index in with_costs] for key, contexts in members.items()}
    rows = []
    for key, contexts in members.items():
        chosen = set(c.index for c in counted[key])
        for context in counted[key]:
            if not any(above.index in chosen for above in context.above() if above is not context):
                inclusive[key].append(cost.inclusive[context.index])
        sums = math.fsum(exclusive[key]), math.fsum(inclusive[key])
        if sums == (0.0, 0.0):
            continue
        names = _top_names(db, by, key, contexts, counted[key])
        rows.append(dict(zip(("name", "function", "file", "line", "module"), names), exclusive=sums[0], inclusive=sums[1],
                         contexts=len(counted[key]), key=key))
    return rows


# ---- derived metrics ----

def quotient(a, b):
    return None if a is None or b is None or b == 0 else a / b


def taxonomy(data):
    """
    {name: (formula, metrics)} of a loaded metrics/default.yaml: formulas that are more than one metric, of sums under one scope. A formula
    is a function of {metric: sum}. Nothing is a value that cannot be computed.
    """
    found, work = {}, list(data.get("roots") or [])
    while work:
        metric = work.pop(0)
        work[:0] = metric.get("children") or []
        for name, variant in (metric.get("variants") or {}).items():
            formula = variant.get("formula")
            for kind in ("inclusive", "exclusive"):
                standard = formula.get(kind, {}).get("standard") if isinstance(formula, dict) else None
                inputs = _inputs(standard)
                if not isinstance(standard, dict) or "metric" in standard or inputs is None or len({i["scope"] for i in inputs}) > 1:
                    continue
                if any(i["formula"] != "$$" or i["combine"] != "sum" for i in inputs):
                    continue
                full = metric["name"] + (f" {name}" if name and name != "Sum" else "")
                found.setdefault(full, (lambda values, node=standard: _evaluated(node, values), {i["metric"] for i in inputs}))
    return found


def _inputs(node):
    """All inputs of a formula; None if it has operators that are not known."""
    if isinstance(node, dict) and "metric" in node:
        return [node]
    if not isinstance(node, dict):
        return []
    (operator, arguments), *_ = node.items()
    inside = [_inputs(a) for a in arguments]
    return None if operator not in OPERATORS or None in inside else sum(inside, [])


def _folded(step):
    def fold(values):
        result = values[0]
        for value in values[1:]:
            result = None if result is None or value is None else step(result, value)
        return result
    return fold


OPERATORS = {"+": _folded(lambda a, b: a + b), "-": _folded(lambda a, b: a - b), "*": _folded(lambda a, b: a * b),
             "/": _folded(quotient), "min": _folded(min), "max": _folded(max)}


def _evaluated(node, values):
    if isinstance(node, dict) and "metric" in node:
        return values.get(node["metric"], 0.0)
    if not isinstance(node, dict):
        return float(node)
    (operator, arguments), *_ = node.items()
    return OPERATORS[operator]([_evaluated(a, values) for a in arguments])


# ---- tree ----

class Row:
    """A row of a tree: what it stands for, and the rows below it."""

    def __init__(self, db, contexts, inclusive, exclusive, children):
        self.first = min(contexts, key=lambda c: c.index)
        self.name, self.kind, self.relation = db.label(self.first), self.first.lexical, self.first.relation
        self.contexts = len(set(c.index for c in contexts))
        self.inclusive, self.exclusive, self.children = inclusive, exclusive, children
        self.members = sorted({c.index: c for c in contexts}.values(), key=lambda c: c.index)
        self.call_file = self.call_line = None


def _meaning(db, context):
    if context.begins_function():
        return (*db.function_key(context), context.relation == "inlined_call")
    if context.lexical == "loop":
        return _key(db, "loop", context)
    if context.file is not None:
        return ("line", context.file, context.line)
    return ("line at", context.module, context.offset)


def _call_site(context):
    """File and line of the line that a function is called from."""
    parent = context.parent
    if parent is None or parent.lexical != "line" or not context.begins_function():
        return None, None
    return parent.file, parent.line


def _is_shown(context, lines):
    return context.begins_function() or context.lexical == "loop" or (lines and context.lexical == "line")


def _split_body(context, lines):
    """Contexts in the body of one that has a row, itself first; and the contexts below that have rows of their own."""
    body, below, work = [], [], [context]
    while work:
        at = work.pop()
        if at is not context and _is_shown(at, lines):
            below.append(at)
        else:
            body.append(at)
            work.extend(at.children)
    return body, sorted(below, key=lambda c: c.index)


def _grouped(items, key):
    groups = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return list(groups.values())


def _top_down_row(cost, contexts, lines):
    db, body, below = cost.db, [], []
    for context in contexts:
        inside, outside = _split_body(context, lines)
        body += inside
        below += outside
    children = [_top_down_row(cost, group, lines) for group in _grouped(below, lambda c: _meaning(db, c))]
    row = Row(db, contexts, math.fsum(cost.inclusive[c.index] for c in contexts),
              math.fsum(cost.own[c.index] for c in body), children)
    sites = {_call_site(c) for c in contexts}
    if len(sites) == 1:
        file, line = sites.pop()
        row.call_file, row.call_line = db.file_path(file), line or None
    return row


def merged_tree(cost):
    """The same, where calls of a function by itself belong to the row of the outer call."""
    def below(context, function):
        """Contexts with rows below one of them, and those of its body."""
        body, shown = _split_body(context, False)
        for inner in list(shown):
            if function and inner.begins_function() and cost.db.function_key(inner) == function:
                shown.remove(inner)
                more, others = below(inner, function)
                body, shown = body + more, shown + others
        return body, sorted(shown, key=lambda c: c.index)

    def row(contexts):
        key = cost.db.function_key(contexts[0]) if contexts[0].begins_function() else ("none",)
        parts = [below(c, key if key[0] == "function" else None) for c in contexts]
        children = _grouped([c for _, shown in parts for c in shown], lambda c: _meaning(cost.db, c))
        return Row(cost.db, contexts, math.fsum(cost.inclusive[c.index] for c in contexts),
                   math.fsum(cost.own[c.index] for body, _ in parts for c in body), [row(group) for group in children])

    whole = tree(cost)
    return [r if r.members[0].index == 0 else row(r.members) for r in whole]


def callees(cost, centers):
    """The rows below functions of callers(), by the first context of each."""
    found = {}
    for center in centers:
        found[center.first.id] = _top_down_row(cost, center.members, False).children
    return found


def names_of(db, context):
    """All names that a context can be called by, and the places that can follow in brackets."""
    function = context.function if context.lexical == "function" else None
    if function is None or not db.functions[function]["name"]:
        return {db.label(context)}
    raw = db.functions[function]["name"]
    return {raw, db.label(context), simple_name(raw)}


def all_names(db, function):
    raw = db.functions[function]["name"]
    return {db.function_label(function)} | ({raw, simple_name(raw)} if raw else set())


def places_of(db, context):
    record = {} if context.function is None else db.functions[context.function]
    module = db.module_path(record.get("module") if record else context.module)
    file = db.file_path(record.get("file") if record else context.file)
    line = to_number(record.get("line")) if record else context.line
    places = {path for path in (module, file) if path}
    places |= {tail(path) for path in places}
    return places | ({f"{file}:{line}", f"{tail(file)}:{line}"} if file and line else set())


def resolved(db, text):
    """The indices of contexts that begin functions of a name."""
    begins = [c for c in db.contexts[1:] if c.begins_function()]
    found = resolve.resolve(text, begins, lambda c: names_of(db, c), lambda c: places_of(db, c), db.label)
    return {c.index for c in found}


def tree(cost, focus=None, lines=False):
    """The first rows of a tree from the top down."""
    db = cost.db
    unplaced = []
    if focus is None:
        body, first = _split_body(db.contexts[0], lines)
        own = math.fsum(cost.own[c.index] for c in body)
        unplaced = [Row(db, [db.contexts[0]], own, own, [])] if own > 0 else []
    else:
        wanted = resolved(db, focus)
        first = [db.contexts[i] for i in sorted(wanted)
                 if not any(a.index in wanted for a in db.contexts[i].above() if a.index != i)]
    return unplaced + [_top_down_row(cost, group, lines) for group in _grouped(first, lambda c: _meaning(db, c))]


def _callers_row(db, members, is_first):
    """Members are (context, cost that came through it)."""
    weight = math.fsum(w for _, w in members)
    callers = [(db.function_of(c.parent), w) for c, w in members if c.parent is not None]
    callers = [(c, w) for c, w in callers if c.lexical != "global"]
    children = [_callers_row(db, group, False) for group in _grouped(callers, lambda m: db.function_key(m[0]))]
    return Row(db, [c for c, _ in members], weight, weight if is_first else 0.0, children)


def callers(cost, focus):
    """The first rows of the callers of some functions: inclusive costs of their outermost contexts."""
    db, own, rows = cost.db, defaultdict(list), []
    wanted = resolved(db, focus)
    for context in db.contexts:
        own[db.function_of(context).index].append(cost.own[context.index])
    for group in _grouped([db.contexts[i] for i in sorted(wanted)], db.function_key):
        inside = {c.index for c in group}
        outermost = [c for c in group if not any(a.index in inside for a in c.above() if a is not c)]
        row = _callers_row(db, [(c, cost.inclusive[c.index]) for c in outermost], True)
        row.exclusive = math.fsum(value for c in group for value in own[c.index])
        rows.append(row)
    return rows


def bottom_up(cost, focus=None):
    """The first rows of a tree by callers."""
    db, own = cost.db, defaultdict(list)
    for context in db.contexts:
        own[db.function_of(context).index].append(cost.own[context.index])
    bodies = [(db.contexts[i], math.fsum(costs)) for i, costs in sorted(own.items())]
    wanted = None if focus is None else resolved(db, focus)
    bodies = [(c, w) for c, w in bodies if w != 0.0 and (wanted is None or c.index in wanted)]
    return [_callers_row(db, group, True) for group in _grouped(bodies, lambda m: db.function_key(m[0]))]


# ---- values of profiles ----

def _percentile(values, share):
    """Between the closest ranks, linearly."""
    position = share * (len(values) - 1)
    below = int(position)
    if below + 1 >= len(values):
        return values[-1]
    return values[below] + (position - below) * (values[below + 1] - values[below])


def distribution(values):
    values, count = sorted(values), len(values)
    if count == 0:
        return dict.fromkeys(("count", "sum", "min", "p5", "p25", "median", "mean", "p75", "p95", "p99", "max", "stddev",
                              "imbalance"), 0)
    total = math.fsum(values)
    mean = total / count
    shares = {"p5": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95, "p99": 0.99}
    return {"count": count, "sum": total, "min": values[0], "max": values[-1], "mean": mean,
            "stddev": math.sqrt(math.fsum((v - mean) ** 2 for v in values) / count),
            "imbalance": values[-1] / mean - 1 if mean else 0, **{k: _percentile(values, s) for k, s in shares.items()}}


def profiles(db, metric):
    """Rows in the order of profiles, how many profiles are empty, and how many do not have the metric."""
    id, rows, empty, without = db.scope_id(metric, "execution"), [], 0, 0
    for profile in db.ordinary_profiles():
        values = db.profiles[profile]["values"]
        if not values:
            empty += 1
        elif id not in values.get(str(GLOBAL), {}):
            without += 1
        else:
            rows.append({"profile": profile, "value": values[str(GLOBAL)][id], "name": db.profile_label(profile)})
    return rows, empty, without


def named_contexts(db, name):
    """The contexts of the functions that a name means."""
    wanted = resolved(db, name)
    return [context for context in db.contexts if context.index in wanted]


def spread(db, cost_of, contexts, profiles):
    """{profile: (inclusive, exclusive, total)} of contexts, or of everything; `cost_of` gives the Cost of one profile."""
    found = {}
    given = None if contexts is None else {c.index for c in contexts}
    outermost = [c for c in contexts or [] if not any(a.index in given for a in c.above() if a is not c)]
    body = {b.index for c in contexts or [] for b in _body(c)}
    for profile in profiles:
        cost = cost_of(profile)
        if contexts is None:
            found[profile] = (cost.total, cost.total, cost.total)
        else:
            found[profile] = (math.fsum(cost.inclusive[c.index] for c in outermost), math.fsum(cost.own[i] for i in body),
                              cost.total)
    return found


def _body(context):
    work = [context]
    while work:
        at = work.pop()
        yield at
        work.extend(c for c in at.children if not c.begins_function())


def groups(db, amounts, kinds):
    """[ids, profiles] of each group of the profiles in `amounts`, in the order of ids; and how many profiles are in none."""
    found, without = defaultdict(list), 0
    for profile in sorted(amounts):
        ids = []
        for kind in kinds:
            of_kind = [i for i in db.profiles[profile]["ids"] if i["kind"] == kind]
            ids += [(i["logical"], i["physical"] if i.get("flags") else 0) for i in of_kind[-1:]]
        if len(ids) == len(kinds):
            found[tuple(ids)].append(profile)
        else:
            without += 1
    return sorted(found.items()), without


def context(db, metric, context_id, kind="execution"):
    """{profile: value} of one context, and how many profiles are empty."""
    id, values, empty = db.scope_id(metric, kind), {}, 0
    for profile in db.ordinary_profiles():
        table = db.profiles[profile]["values"]
        if not table:
            empty += 1
        else:
            values[profile] = table.get(str(context_id), {}).get(id, 0.0)
    return values, empty


def in_bins(rows, count):
    """`rows` are (profile, value) in some order: bins of neighbours, bin i from position i * len(rows) // bins on."""
    count = min(count, len(rows))
    found = []
    for i in range(count):
        first, end = i * len(rows) // count, (i + 1) * len(rows) // count
        values = [value for _, value in rows[first:end]]
        found.append({"first": first, "count": end - first, "min": min(values), "mean": math.fsum(values) / len(values),
                      "max": max(values), "profile": rows[first][0]})
    return found


def in_order(db, values, order):
    """(profile, value) of {profile: value}."""
    keys = {"value": lambda p: (-values[p], p), "index": lambda p: p,
            "name": lambda p: ([i["logical"] for i in db.profiles[p]["ids"]], p)}
    return [(p, values[p]) for p in sorted(values, key=keys[order])]


def matrix(db, values, kinds, most):
    """Cells {(row, column): profiles} where rows and columns are (first, last) of ids; and how many profiles have not both."""
    ids, without = {}, 0
    for profile in values:
        pair = [[i["logical"] for i in db.profiles[profile]["ids"] if i["kind"] == kind][-1:] for kind in kinds]
        if all(pair):
            ids[profile] = (pair[0][0], pair[1][0])
        else:
            without += 1
    ranges = []
    for axis in (0, 1):
        used = sorted({pair[axis] for pair in ids.values()})
        count = min(most, len(used))
        parts = [used[i * len(used) // count:(i + 1) * len(used) // count] for i in range(count)]
        ranges.append({id: (part[0], part[-1]) for part in parts for id in part})
    cells = defaultdict(list)
    for profile, (row, column) in ids.items():
        cells[ranges[0][row], ranges[1][column]].append(profile)
    return cells, without


def outliers(values):
    """Profiles whose value lies more than one and a half times the distance between the quartiles outside of them."""
    d = distribution(values.values())
    reach = 1.5 * (d["p75"] - d["p25"])
    return {p: v for p, v in values.items() if v < d["p25"] - reach or v > d["p75"] + reach}


def histogram(values, bins):
    values = list(values)
    least, most = min(values), max(values)
    counts = [0] * bins
    for value in values:
        counts[min(bins - 1, int((value - least) / (most - least) * bins))] += 1
    return counts
