# SPDX-License-Identifier: BSD-3-Clause
"""Every row of an answer against the reference. All return (rows that were compared, what is wrong)."""

import math

import boxes as charts
import db_reference as plots
import kinds
import rec_reference as reference

EXACT = ("self_ns", "total_ns", "calls", "errors", "min_ns", "max_ns")
REAL = ("self_percent", "mean_ns", "deviation_ns")
PERCENTILES = ("p50_ns", "p95_ns", "p99_ns")


def is_close(found, wanted):
    if found is None or wanted is None:
        return found is wanted
    return abs(found - wanted) <= reference.REAL_ERROR * max(1.0, abs(wanted))


def is_percentile(found, wanted):
    """Within the error that lode/calls.h states, and a whole number."""
    return abs(found - wanted) <= reference.PERCENTILE_ERROR * wanted + 1


def _identity(function):
    return function.module or None, function.offset if function.module else None


def top(answer, tracks, names="raw"):
    """Rows by symbol."""
    wanted = {(getattr(function, names), *_identity(function)): row for function, row in reference.top(tracks).items()}
    found = {(row["name"], row["module"], row["offset"]): row for row in answer["rows"]}
    count, wrong = _top(answer, tracks, found, wanted)
    functions = {(getattr(call.function, names), *_identity(call.function)): call.function for call, _ in reference.all_calls(tracks)}
    wrong += [f"top: {key}: {found[key]['kind']}" for key in found.keys() & functions.keys() if found[key]["kind"] != kind_of(functions[key])]
    return count, wrong


def top_names(answer, tracks, names="raw", shows=lambda function: True):
    """Rows by name: functions with one name are one row, and functions that are hidden add nothing to it."""
    def row_of(function):
        return getattr(function, names) if shows(function) else (function,)

    everything = reference.top(tracks, row_of)
    wanted = {name: row for name, row in everything.items() if isinstance(name, str)}
    functions = {}
    for call, _ in reference.all_calls(tracks):
        functions.setdefault(row_of(call.function), set()).add(call.function)
    found = {row["name"]: row for row in answer["rows"]}
    count, wrong = _top(answer, tracks, found, wanted)
    for name in found.keys() & wanted.keys():
        modules = {function.module or None for function in functions[name]}
        merged = len(functions[name]), modules.pop() if len(modules) == 1 else None
        if (found[name]["functions"], found[name]["module"]) != merged:
            wrong.append(f"top: {name}: {merged} is right, found {found[name]['functions']}, {found[name]['module']}")
    if answer["hidden_count"] != len(everything) - len(wanted):
        wrong.append(f"top: {answer['hidden_count']} rows are hidden, not {len(everything) - len(wanted)}")
    return count, wrong


def kind_of(function):
    """Calls of library functions are part of system libraries, unless a rule knows more."""
    found = kinds.kind(function.module or None, function.raw, function.is_stub)
    return "system" if function.is_stub and found == "own" else found


def top_list(answer, tracks):
    """Rows of `top --by kind --list`: what functions do. Those without calls that took time have none."""
    wanted = {}
    for call, _ in reference.all_calls(tracks):
        function = call.function
        activity, effect = (ask(function.module or None, function.raw, function.is_stub) for ask in (kinds.activity, kinds.effect))
        is_lib = function.is_stub and activity == "own"
        wanted[function.raw, function.module or None] = kind_of(function), "lib" if is_lib else activity, effect
    found = {(row["name"], row["module"]): (row["kind"], row["activity"], row["effect"]) for row in answer["rows"]}
    return len(found), [f"top --list: {key}: {row}, not {wanted.get(key)}" for key, row in found.items() if row != wanted.get(key)]


def top_kinds(answer, tracks):
    """Rows by kind of function."""
    wanted, functions = reference.top(tracks, kind_of), {}
    for call, _ in reference.all_calls(tracks):
        functions.setdefault(kind_of(call.function), set()).add(call.function)
    found = {row["kind"]: row for row in answer["rows"]}
    everything = reference.total(tracks)
    wrong = [] if answer["total_ns"] == everything else [f"top --by kind: {answer['total_ns']} ns in all, not {everything}"]
    # A call tree has no row for calls that took no time.
    wanted = {kind: row for kind, row in wanted.items() if row["total_ns"] or row["self_ns"]}
    wrong += [f"top --by kind: {kind}: only in the {'answer' if kind in found else 'reference'}" for kind in found.keys() ^ wanted.keys()]
    for kind in found.keys() & wanted.keys():
        row = found[kind]
        amounts = row["self_ns"], row["total_ns"], row["functions"], row["name"]
        right = wanted[kind]["self_ns"], wanted[kind]["total_ns"], len(functions[kind]), kinds.TITLES[kind]
        wrong += [] if amounts == right else [f"top --by kind: {kind}: {amounts}, not {right}"]
    return len(wanted), wrong


def _top(answer, tracks, found, wanted):
    wrong = [] if len(found) == len(answer["rows"]) else ["a function has two rows"]
    wrong += [f"top: {key}: only in the {'answer' if key in found else 'reference'}" for key in found.keys() ^ wanted.keys()]
    for key in found.keys() & wanted.keys():
        checks = [(column, found[key][column] == wanted[key][column]) for column in EXACT]
        checks += [(column, is_close(found[key][column], wanted[key][column])) for column in REAL]
        checks += [(column, is_percentile(found[key][column], wanted[key][column])) for column in PERCENTILES]
        wrong += [f"top: {key}: {column} is {found[key][column]}, not {wanted[key][column]}" for column, holds in checks if not holds]
    heads = {"total_ns": reference.total(tracks), "calls": sum(not call.is_off for call, _ in reference.all_calls(tracks)),
             "errors": sum(call.failed for call, _ in reference.all_calls(tracks)), "row_count": len(wanted), "task_count": len(tracks)}
    wrong += [f"top: {key} is {answer[key]}, not {value}" for key, value in heads.items() if answer[key] != value]
    times = [row["self_ns"] for row in answer["rows"]]
    wrong += [] if times == sorted(times, reverse=True) else ["top: not in order"]
    return len(wanted), wrong


def neighbours(answer, tracks, name, is_callers):
    asked = reference.resolved(tracks, name)
    wanted = reference.neighbours(tracks, lambda function: function in asked, is_callers)
    rows = sorted((("(outermost calls)" if function is None else function.raw), *row) for function, row in wanted.items())
    found = sorted((row["name"], row["calls"], row["total_ns"], row["self_ns"]) for row in answer["rows"])
    return len(rows), [] if found == rows else [f"neighbours of {name}: {item}" for item in set(rows) ^ set(found)]


# ---- tree ----

def _nested(rows):
    """[(row, rows below)] of the rows of an answer."""
    outermost = []
    open_lists = [outermost]
    for row in rows:
        below = []
        del open_lists[row["depth"] + 1:]
        open_lists[row["depth"]].append((row, below))
        open_lists.append(below)
    return outermost


def _flat_wanted(rows):
    """Each row by the names above it: (path, numbers). Functions of one name stay apart by what is below them."""
    pending = [(row, ()) for row in rows]
    while pending:
        row, above = pending.pop()
        path = above + (row.function.raw,)
        yield path, (row.total, row.own, row.calls, len(row.members), row.folded, len(row.below))
        pending += [(below, path) for below in row.below]


def _flat_found(nested, has_calls):
    pending = [(row, below, ()) for row, below in nested]
    while pending:
        row, inner, above = pending.pop()
        path = above + (row["name"],)
        yield path, (row["total_ns"], row["self_ns"], row["calls"] if has_calls else 0, row["contexts"], row["folded"], len(inner))
        pending += [(other, below, path) for other, below in inner]


def _count(pairs):
    counted = {}
    for pair in pairs:
        counted[pair] = counted.get(pair, 0) + 1
    return counted


def _order(nested, everything):
    """Siblings fall; the hot path begins at the first row and goes on while a callee has half of its caller's cost; shares are shares."""
    pending = [(nested, None)]
    while pending:
        rows, parent = pending.pop()
        costs = [row["total_ns"] for row, _ in rows]
        if costs != sorted(costs, reverse=True):
            yield f"tree: rows below {parent and parent['name']} are not in order"
        for i, (row, below) in enumerate(rows):
            is_hot = i == 0 and (parent is None or (parent["hot"] and 2 * row["total_ns"] >= parent["total_ns"]))
            if row["hot"] != is_hot:
                yield f"tree: {row['name']}: hot is {row['hot']}"
            share = 100 * row["total_ns"] / everything if everything else None
            if not is_close(row["total_percent"], share):
                yield f"tree: {row['name']}: {row['total_percent']} %, not {share}"
            pending.append((below, row))


def tree(answer, tracks, **options):
    wanted = reference.tree(tracks, **options)
    everything = reference.total(tracks)
    has_calls = not (options.get("callers") or options.get("bottom_up"))
    nested = _nested(answer["rows"])
    left, right = _count(_flat_found(nested, has_calls)), _count(_flat_wanted(wanted))
    wrong = [f"tree: {' / '.join(path[-4:])}: {numbers} {left.get((path, numbers), 0)} times, not {right.get((path, numbers), 0)}"
             for path, numbers in left.keys() | right.keys()
             if left.get((path, numbers), 0) != right.get((path, numbers), 0)]
    wrong += _order(nested, everything)
    if answer["total_ns"] != everything:
        wrong.append(f"tree: total_ns is {answer['total_ns']}, not {everything}")
    return len(answer["rows"]), wrong


# ---- flame graphs ----

def _cut_boxes(rows, above, step, least):
    """Boxes of rows and of those below: (level, names from the origin, cost, own cost, contexts, kind, rows that are merged)."""
    pending = [(rows, above, step if above else 0)]
    while pending:
        siblings, path, level = pending.pop()
        narrow = [row.total for row in siblings if row.total < least]  # also calls that took no time
        if narrow and sum(narrow) >= least:
            yield level, path, sum(narrow), None, 0, None, len(narrow)
        for row in siblings:
            if row.total >= least and row.total > 0:
                name = row.function.raw
                yield level, path + (name,), row.total, row.own, len(row.members), kind_of(row.function), 0
                pending.append((row.below, path + (name,), level + step))


def _wanted_boxes(rows, mode, least):
    step = -1 if mode == "sandwich" else 1
    yield from _cut_boxes(rows, (), step, least)
    for row in rows if mode == "sandwich" else ():
        if row.total >= least and row.total > 0:
            yield from _cut_boxes(reference.callees(row), (row.function.raw,), 1, least)


def _found_boxes(answer):
    boxes = answer["boxes"]
    for box in boxes:
        path, above = (), box
        while above is not None:
            path = (() if above["more"] else (above["name"],)) + path
            above = None if above["parent_box"] is None else boxes[above["parent_box"]]
        yield box["level"] - answer["origin_level"], path, box["inclusive"], box["exclusive"], box["contexts"], box["kind"], box["more"]


def _positions(answer, whole):
    """Boxes are as wide as their costs, and stand in their parents one after the other by falling cost, merged ones last."""
    ends, last = {}, {}
    for box in answer["boxes"]:
        parent = answer["boxes"][box["parent_box"]] if box["parent_box"] is not None else None
        place = box["parent_box"], box["level"]
        begin, end = (parent["x"], parent["x"] + parent["width"]) if parent else (0.0, 1.0)
        if not is_close(box["x"], ends.get(place, begin)) or box["x"] + box["width"] > end + 1e-9:
            yield f"flame: box {box['box']} is not where it belongs"
        if not is_close(box["width"], box["inclusive"] / whole):
            yield f"flame: box {box['box']} is {box['width']} wide"
        if place in last and (last[place]["more"] or (not box["more"] and box["inclusive"] > last[place]["inclusive"])):
            yield f"flame: box {box['box']} is not in order"
        if parent and abs(box["level"] - parent["level"]) != 1:
            yield f"flame: box {box['box']} is not beside its parent"
        ends[place], last[place] = box["x"] + box["width"], box


def flame_words(mode="top-down", focus=None):
    """Options of a picture that has narrow boxes."""
    words = {"bottom-up": ["--bottom-up"], "sandwich": ["--function", focus]}.get(mode, ["--focus", focus] if focus else [])
    return ["--limit", "1000000", "--width", "700", "--min-width", "0.9", *words]


def flame(answer, tracks, mode="top-down", focus=None, merged=False):
    """Boxes against rows of the reference. A cost that is just as wide as the narrowest box may count either way."""
    rows = reference.merged_tree(tracks) if merged else reference.tree(
        tracks, bottom_up=mode == "bottom-up", callers=focus if mode == "sandwich" else None, focus=focus if mode == "top-down" else None)
    whole = sum(row.total for row in rows)
    least = answer["min_width"] / answer["width"] * whole
    left, right = _count(_found_boxes(answer)), _count(_wanted_boxes(rows, mode, least))
    near = [(1 + sign * 1e-9) * least for sign in (-1, 1)]
    if any(_count(_wanted_boxes(rows, mode, limit)) != right for limit in near):
        return 0, []
    wrong = [f"flame: {box[0]}: {' / '.join(box[1][-4:])}: {box[2:]} {left.get(box, 0)} times, not {right.get(box, 0)}"
             for box in left.keys() | right.keys() if left.get(box, 0) != right.get(box, 0)]
    facts = answer["mode"], answer["focus"], answer["function"], answer["total_ns"], answer["whole"], answer["is_truncated"]
    expected = mode, focus if mode == "top-down" else None, focus if mode == "sandwich" else None, reference.total(tracks), whole, False
    wrong += [] if facts == expected else [f"flame: {facts}, not {expected}"]
    return len(answer["boxes"]), wrong + list(_positions(answer, whole))


# ---- profiles ----

def _distribution(values):
    ordered = sorted(values)

    def rank(share):
        position = share * (len(ordered) - 1)
        low = math.floor(position)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (ordered[high] - ordered[low]) * (position - low)

    mean = math.fsum(ordered) / len(ordered)
    return {"count": len(ordered), "sum": sum(ordered), "min": ordered[0], "p5": rank(0.05), "p25": rank(0.25), "median": rank(0.5),
            "mean": mean, "p75": rank(0.75), "p95": rank(0.95), "p99": rank(0.99), "max": ordered[-1],
            "stddev": math.sqrt(math.fsum((value - mean) ** 2 for value in ordered) / len(ordered)),
            "imbalance": ordered[-1] / mean - 1 if mean else 0}


def _plots(answer, values, bins):
    """What --bins adds, of the totals by track, largest first."""
    order = sorted(values, key=lambda track: (-values[track], track))
    wanted = plots.in_bins([(track, values[track]) for track in order], bins)
    found = [(row["first"], row["count"], row["min"], row["max"], row["track"]) for row in answer["bins"]]
    if found != [(row["first"], row["count"], row["min"], row["max"], row["profile"]) for row in wanted]:
        yield f"profiles: bins are {found}"
    yield from (f"profiles: mean of a bin is {row['mean']}" for row, right in zip(answer["bins"], wanted) if not is_close(row["mean"], right["mean"]))
    spread, far = _distribution(values.values()), plots.outliers(values)
    if spread["max"] > spread["min"] and [row["count"] for row in answer["value_histogram"]] != plots.histogram(values.values(), min(bins, 60)):
        yield f"profiles: histogram is {answer['value_histogram']}"
    farthest = sorted(far, key=lambda track: (-abs(far[track] - spread["median"]), track))[:5]
    if answer["outlier_count"] != len(far) or [row["track"] for row in answer["outliers"]] != farthest:
        yield f"profiles: outliers are {answer['outliers']}, not {farthest} of {len(far)}"


def profiles(answer, tracks, bins=0):
    rows = sorted(answer["rows"], key=lambda row: row["track"])
    wanted = [reference.profile(track) for track in tracks]
    if len(rows) != len(wanted) or answer["row_count"] != len(wanted):
        return 0, [f"profiles: {len(rows)} rows, not {len(wanted)}"]
    wrong = [f"profiles: track {i}: {key} is {row[key]!r}, not {value!r}" for i, (row, facts) in enumerate(zip(rows, wanted))
             for key, value in facts.items() if row[key] != value]
    if wanted:
        spread = _distribution([row["total_ns"] for row in wanted])
        wrong += [f"profiles: {key} is {answer['distribution'][key]}, not {value}" for key, value in spread.items()
                  if not is_close(answer["distribution"][key], value)]
        wrong += [f"profiles: track {i}: percent of mean is {row['percent_of_mean']}" for i, row in enumerate(rows)
                  if spread["mean"] and not is_close(row["percent_of_mean"], 100 * row["total_ns"] / spread["mean"])]
        wrong += list(_plots(answer, {row["track"]: row["total_ns"] for row in answer["rows"]}, bins)) if bins else []
    return len(rows), wrong


def boxes(answer, tracks, columns):
    """Calls over time by depth, of all tasks; tasks with one number are compared together."""
    start, end = int(answer["from_ns"]), int(answer["to_ns"])
    found, wanted = {}, {}
    for row in answer["rows"]:
        numbers = (row["depth"], int(row["begin_ns"]), int(row["end_ns"]), row["duration_ns"], row["calls"], row["name"])
        found.setdefault(int(row["line"].split()[0]), []).append(numbers)
    for track in tracks:
        calls = [(len(path) + 1, call.begin, call.end, call.function.raw) for call, path in reference.walk(track.calls)]
        rows = charts.boxes(calls, start, end, columns)
        if rows:
            wanted.setdefault(track.facts["tid"], []).extend(rows)
    wrong = []
    for tid in sorted(found.keys() | wanted.keys()):
        left, right = sorted(found.get(tid, [])), sorted(wanted.get(tid, []))
        wrong += [f"task {tid}: {a}, not {b}" for a, b in zip(left, right) if a != b][:3]
        if len(left) != len(right):
            wrong.append(f"task {tid}: {len(left)} boxes, not {len(right)}")
    return sum(map(len, wanted.values())), wrong
