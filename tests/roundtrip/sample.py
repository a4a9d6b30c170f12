# SPDX-License-Identifier: BSD-3-Clause
"""
A small dump in canonical form with all that is hard to match: siblings that look alike, profiles of the same id tuple,
unlisted contexts, statistics of every kind; and the same content under other numbers and in another order.
"""

import copy
import random

SCOPES = [("point", "point", 255), ("function", "transitive", 0), ("lex_aware", "custom", 255),
          ("execution", "execution", 255)]
STATISTICS = [("$$", "sum"), ("1", "sum"), ("($$^2)", "sum"), ("$$", "min"), ("$$", "max")]
UNLISTED = (15, 16)
START = 1600000000000000000


def _context(id, lexical, relation, children=(), function=None, file=None, line=None, module=None, offset=None):
    flags = (function is not None) + 2 * (file is not None) + 4 * (module is not None)
    return {"id": id, "flags": flags, "relation": relation, "lexical": lexical,
            "propagation": int(relation == "lexical"), "function": function, "file": file, "line": line,
            "module": module, "offset": offset, "children": list(children)}


def _line(id, line, *children):
    return _context(id, "line", "lexical", children, file=0, line=line)


def _tree():
    # 5 and 6 are told apart by their values, 7 and 9 by what is below them, 12 and 13 by nothing.
    main = _context(2, "function", "call", [
        _context(3, "loop", "lexical", [_line(4, 11)], file=0, line=10, module=0, offset=64),
        _line(5, 20), _line(6, 20),
        _line(7, 30, _context(8, "function", "call", function=1)),
        _line(9, 30, _context(10, "function", "inlined", function=1)),
    ], function=0)
    thread = [_line(12, 40), _line(13, 40), _context(14, "instruction", "call", module=1, offset=4096)]
    return [{"id": 1, "entry": "main_thread", "name": "main thread", "children": [main]},
            {"id": 11, "entry": "application_thread", "name": "application thread", "children": thread}]


def _metrics():
    metrics, statistic = [], 0
    for index, name in enumerate(("time (sec)", "cycles")):
        kinds = STATISTICS if index else STATISTICS[:1]
        stored = []
        for formula, combine in kinds:
            for scope in range(len(SCOPES)):
                stored.append({"scope": scope, "formula": formula, "combine": combine, "id": statistic})
                statistic += 1
        metrics.append({"name": name, "statistics": stored,
                        "scopes": [{"scope": scope, "id": 4 * index + scope} for scope in range(len(SCOPES))]})
    return metrics


def _ids(rank, thread):
    return [{"kind": 1, "flags": 1, "logical": 0, "physical": 77},
            {"kind": 2, "flags": 0, "logical": rank, "physical": rank},
            {"kind": 3, "flags": 0, "logical": thread, "physical": thread}]


def _values():
    """By profile. Profiles 2 and 3 are of the same tuple, and so are 4 and 5, which are empty."""
    return [
        {0: {3: 9.5, 7: 3.25}, 2: {3: 9.5}, 3: {1: 1.5, 2: 1.5, 3: 1.5}, 4: {0: 0.1, 4: 2.0, 5: 2.0, 6: 2.0, 7: 2.0},
         5: {0: 2.5}, 6: {0: 3.5}, 7: {3: 1.0}, 9: {3: 1.0}, 12: {0: 0.5}, 13: {0: 0.5}, 15: {0: 0.25}, 16: {0: 0.75}},
        {0: {3: 4.0}, 4: {0: 0.2, 4: 5.0}, 5: {0: 1.0 / 3}, 14: {0: 8.0, 7: 1.25}},
        {0: {3: 5.0}, 4: {0: 0.3, 7: 6.0}, 6: {0: 1.0 / 3}, 14: {0: 8.0}, 15: {4: 0.5}},
        {}, {},
    ]


def _samples():
    return [[(START, 4), (START + 5, 0), (START + 9, 5)], [(START + 1, 6), (START + 2, 14)],
            [(START + 1, 5), (START + 3, 14)], [], []]


def _summarise(profiles, metrics):
    """The statistics of all contexts, the plain way."""
    summary = {}
    for context in sorted({id for profile in profiles for id in profile}):
        groups = [profile.get(context, {}) for profile in profiles]
        found = {}
        for index, metric in enumerate(metrics):
            for stored in metric["statistics"]:
                id = 4 * index + stored["scope"]
                series = [group[id] for group in groups if id in group]
                seen = sum(any(key // 4 == index for key in group) for group in groups)
                if stored["formula"] == "1":
                    found[stored["id"]] = float(seen)
                elif stored["formula"] == "($$^2)":
                    found[stored["id"]] = sum(value * value for value in series)
                else:
                    combine = {"sum": sum, "min": min, "max": max}[stored["combine"]]
                    found[stored["id"]] = combine(series) if series else 0.0
        summary[context] = {id: value for id, value in found.items() if value}
    return summary


def _written(values):
    return {str(key): {str(id): value for id, value in group.items()} for key, group in sorted(values.items())}


def _transposed(profiles):
    result = {}
    for index, profile in enumerate(profiles, 1):
        for context, group in profile.items():
            for metric, value in group.items():
                result.setdefault(context, {}).setdefault(metric, {})[index] = value
    return [{"id": id, "values": _written(metrics)} for id, metrics in sorted(result.items())]


def make():
    values, metrics = _values(), _metrics()
    tuples = [_ids(0, 0), _ids(0, 1), _ids(0, 1), _ids(1, 0), _ids(1, 0)]
    profiles = [{"index": 0, "summary": True, "flags": 1, "ids": [], "values": _written(_summarise(values, metrics))}]
    profiles += [{"index": index, "summary": False, "flags": 0, "ids": ids, "values": _written(group)}
                 for index, (ids, group) in enumerate(zip(tuples, values), 1)]
    meta = {
        "version": [4, 0], "title": "sample", "description": "for the self-test",
        "id_names": ["SUMMARY", "NODE", "RANK", "THREAD"],
        "scopes": [{"name": name, "type": kind, "propagation_index": bit} for name, kind, bit in SCOPES],
        "metrics": metrics, "modules": [{"path": "/bin/app"}, {"path": "/lib/lib.so"}],
        "files": [{"path": "/src/a.c", "copied": False}, {"path": "src/b.c", "copied": True}],
        "functions": [{"name": "main", "module": 0, "offset": 4096, "file": 0, "line": 9},
                      {"name": "work", "module": 0, "offset": 8192, "file": 1, "line": 3}],
        "entry_points": _tree(),
    }
    lines = [{"profile": index, "samples": [list(sample) for sample in samples]}
             for index, samples in enumerate(_samples(), 1)]
    return {"format": "HPCToolkit 4.0", "meta": meta, "profiles": profiles, "contexts": _transposed(values),
            "context_block_count": 17, "traces": {"min_time_ns": START, "max_time_ns": START + 9, "lines": lines}}


def _all_contexts(contexts):
    for context in contexts:
        yield context
        yield from _all_contexts(context["children"])


def _permute(chance, items):
    """Shuffles a list in place; returns where each item went."""
    order = list(range(len(items)))
    chance.shuffle(order)
    items[:] = [items[i] for i in order]
    return {old: new for new, old in enumerate(order)}


def _renamed(values, outer, inner):
    return {str(outer[int(key)]): {str(inner[int(id)]): value for id, value in group.items()}
            for key, group in values.items()}


def _shuffle_symbols(chance, meta):
    modules, files = _permute(chance, meta["modules"]), _permute(chance, meta["files"])
    functions = _permute(chance, meta["functions"])
    tables = {"module": modules, "file": files, "function": functions}
    for record in (*meta["functions"], *_all_contexts(meta["entry_points"])):
        for field, places in tables.items():
            if record.get(field) is not None:
                record[field] = places[record[field]]


def _shuffle_metrics(chance, meta):
    """New ids: of values, of statistics."""
    scopes = _permute(chance, meta["scopes"])
    _permute(chance, meta["metrics"])
    result = []
    for field in ("scopes", "statistics"):
        records = [record for metric in meta["metrics"] for record in metric[field]]
        ids = {record["id"]: new for record, new in zip(records, chance.sample(range(200), len(records)))}
        for record in records:
            record["id"], record["scope"] = ids[record["id"]], scopes[record["scope"]]
        for metric in meta["metrics"]:
            chance.shuffle(metric[field])
        result.append(ids)
    return result


def _shuffle_contexts(chance, meta):
    contexts = list(_all_contexts(meta["entry_points"]))
    numbers = chance.sample(range(1, 500), len(contexts))
    places = {0: 0, **{context["id"]: number for context, number in zip(contexts, numbers)}}
    # Unlisted ones keep their order, wherever they stand.
    free = sorted(chance.sample([id for id in range(1, 500) if id not in numbers], len(UNLISTED)))
    places.update(zip(UNLISTED, free))
    for context in contexts:
        context["id"] = places[context["id"]]
        chance.shuffle(context["children"])
    chance.shuffle(meta["entry_points"])
    return places


def shuffled(dump, seed):
    """The same content under other numbers and in another order."""
    chance = random.Random(seed)
    dump = copy.deepcopy(dump)
    meta = dump["meta"]
    _shuffle_symbols(chance, meta)
    values, statistics = _shuffle_metrics(chance, meta)
    contexts = _shuffle_contexts(chance, meta)
    summary, *others = dump["profiles"]
    _permute(chance, others)
    profiles = {profile["index"]: new for new, profile in enumerate(others, 1)}
    summary["values"] = _renamed(summary["values"], contexts, statistics)
    for profile in others:
        profile["index"] = profiles[profile["index"]]
        profile["values"] = _renamed(profile["values"], contexts, values)
    dump["profiles"] = [summary, *others]
    for context in dump["contexts"]:
        context["id"] = contexts[context["id"]]
        context["values"] = _renamed(context["values"], values, profiles)
    for line in dump["traces"]["lines"]:
        line["profile"] = profiles[line["profile"]]
        line["samples"] = [[time, contexts[id]] for time, id in line["samples"]]
    chance.shuffle(dump["traces"]["lines"])
    return dump
