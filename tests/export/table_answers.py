# SPDX-License-Identifier: BSD-3-Clause
"""
The tables that a store must have, from Lode's other answers: `dump`, which an independent reader confirms, for databases;
`replay`, `top` and `search` for recordings. Each function yields (what, expected, found).
"""

from collections import Counter, defaultdict


def signed(number):
    return number - (1 << 64) if number >= 1 << 63 else number


def _clean(text):
    """As lode/name.h shows text."""
    if text is None:
        return None
    return "".join("?" if ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u2028\u2029" or "\u202a" <= c <= "\u202e"
                   or "\u2066" <= c <= "\u2069" or c in "\u200e\u200f\u061c" or "\ud800" <= c <= "\udfff" else c for c in text)


def _tail(path):
    head, slash, tail = path.rpartition("/")
    return tail if slash and tail else path


class Tree:
    """Contexts of a dump in depth-first order: (id, parent, caller, depth, position, last, node)."""

    def __init__(self, meta):
        self.rows = [[0, None, None, 0, 0, 0, {"lexical": "global"}]]
        for entry in meta["entry_points"]:
            self.add(entry, 0, None, 1)
        self.rows[0][5] = len(self.rows) - 1

    def add(self, root, parent, caller, depth):
        stack = [(root, parent, caller, depth, None)]
        while stack:
            node, parent, caller, depth, done = stack.pop()
            if done is not None:
                self.rows[done][5] = len(self.rows) - 1
                continue
            lexical = "entry" if "entry" in node else node["lexical"]
            place = len(self.rows)
            self.rows.append([node["id"], parent, caller, depth, place, None, dict(node, lexical=lexical)])
            stack.append((None, None, None, None, place))
            below = node["id"] if lexical in ("function", "entry") else caller
            stack += [(child, node["id"], below, depth + 1, None) for child in reversed(node["children"])]


def database(dump, tables):
    meta = dump["meta"]
    rows = {name: found for name, (_, found) in tables.items()}
    yield "store", [("database", dump["format"], _clean(meta["title"]) or None, _clean(meta["description"]) or None, None)], rows["store"]
    yield "module", [(i, _clean(m["path"]), _clean(_tail(m["path"]))) for i, m in enumerate(meta["modules"])], rows["module"]
    yield ("file", [(i, _clean(f["path"]), _clean(_tail(f["path"])), int(f["copied"])) for i, f in enumerate(meta["files"])],
           rows["file"])
    yield ("function", [(i, f["module"], None if f["module"] is None else signed(f["offset"]), f["file"], f["line"] or None, _clean(f["name"]))
                        for i, f in enumerate(meta["functions"])],
           [(r[0],) + r[3:8] for r in rows["function"]])
    yield from contexts(meta, rows)
    yield from metrics(meta, rows)
    yield from profiles(dump, rows)


def contexts(meta, rows):
    tree = Tree(meta).rows
    yield "context", [tuple(r[:3]) + (r[4], r[5], r[3], r[6]["lexical"]) for r in tree], [r[:7] for r in rows["context"]]
    listed = [r[6] for r in tree]
    # A context without flags of its own names nothing.
    yield ("context: lines, files and modules",
           [(n.get("file"), n.get("line") or None, n.get("module")) for n in listed],
           [(r[9], r[10], r[11]) for r in rows["context"]])
    yield ("context: addresses", [None if n.get("module") is None else signed(n.get("offset") or 0) for n in listed],
           [r[12] for r in rows["context"]])
    yield "context: relations", ["inlined" if n.get("relation") == "inlined_call" else n.get("relation") for n in listed], [r[7] for r in rows["context"]]


def metrics(meta, rows):
    scopes = [s["name"] for s in meta["scopes"]]
    yield ("metric", [(s["id"], _clean(m["name"]), scopes[s["scope"]], i) for i, m in enumerate(meta["metrics"]) for s in m["scopes"]],
           [(r[0], r[1], r[2], r[4]) for r in rows["metric"]])
    yield ("statistic", [(s["id"], _clean(m["name"]), scopes[s["scope"]], s["formula"], s["combine"])
                         for m in meta["metrics"] for s in m["statistics"]], rows["statistic"])


def profiles(dump, rows):
    kinds = dump["meta"]["id_names"]
    real = [p for p in dump["profiles"] if not p["summary"]]
    samples = Counter()
    for line in dump["traces"]["lines"] if dump["traces"] else []:
        samples[line["profile"]] += len(line["samples"])
    yield ("profile", [(p["index"], sum(len(g) for g in p["values"].values()), samples[p["index"]]) for p in real],
           [(r[0], r[9], r[10]) for r in rows["profile"]])
    names = ["NODE", "RANK", "THREAD", "CORE", "GPUDEVICE", "GPUCONTEXT", "GPUSTREAM"]
    expected = []
    for p in real:
        ids = {}
        for i in p["ids"]:
            ids.setdefault(kinds[i["kind"]], i["logical"])
        expected.append(tuple(ids.get(name) for name in names))
    yield "profile: ids", expected, [r[1:8] for r in rows["profile"]]
    yield ("profile_id", [(p["index"], level, kinds[i["kind"]], i["logical"], signed(i["physical"]))
                          for p in real for level, i in enumerate(p["ids"])], rows["profile_id"])
    yield ("value", sorted((p["index"], int(c), int(m), v) for p in real for c, g in p["values"].items() for m, v in g.items()),
           sorted(rows["value"]))
    yield ("total", sorted((int(c), int(m), v) for p in dump["profiles"][:1] for c, g in p["values"].items() for m, v in g.items()),
           sorted(rows["total"]))
    expected = []
    for line in dump["traces"]["lines"] if dump["traces"] else []:
        times = [s[0] for s in line["samples"]]
        ends = times[1:] + times[-1:]
        expected += [(line["profile"], signed(t), max(0, e - t), c) for (t, c), e in zip(line["samples"], ends)]
    yield "sample", expected, rows["sample"]


# ---- recordings ----


def recording(replay, top, search, tables):
    rows = {name: found for name, (_, found) in tables.items()}
    yield from events(replay, rows)
    yield from calls(top, rows)
    if search is not None:
        yield ("request", sorted((r["id"], r["track"], signed(r["time_ns"]), r["duration_ns"], r["calls"], r["errors"], r["name"], r["exception"])
                                 for r in search["rows"]), sorted(rows["request"]))


def _flags(row):
    return " ".join(f for f in ("made", "moved", "preempted", "failed") if row[f]) or None


def events(replay, rows):
    """Of each track, in order; `replay` merges the tracks."""
    labels = {r[0]: r for r in rows["function"]}
    modules = {r[0]: r[1] for r in rows["module"]}
    expected, found = defaultdict(list), defaultdict(list)
    for r in replay["rows"]:
        has_function = r["kind"] not in ("instant", "lost")
        module = r["module"] if has_function else None
        expected[r["track"]].append((signed(r["time_ns"]), r["kind"], r["name"] if r["kind"] == "instant" else None, _flags(r), module))
    for r in rows["event"]:
        function = labels.get(r[3])
        found[r[0]].append((r[1], r[2], r[6], r[5], modules.get(function[3]) if function else None))
    yield "event: by track", dict(expected), dict(found)
    yield ("argument: number", sum(len(r["arguments"]) for r in replay["rows"] if r["instant"] != "attribute"), len(rows["argument"]))
    yield ("attribute", sorted((r["track"], signed(r["time_ns"]), r["name"]) for r in replay["rows"] if r["instant"] == "attribute"),
           sorted(r[:3] for r in rows["attribute"]))


def calls(top, rows):
    """By function, as `top --by symbol` counts. Total counts a recursive function once: here only where it does not recur."""
    functions = {r[0]: r for r in rows["function"]}
    modules = {r[0]: r[1] for r in rows["module"]}
    numbers = defaultdict(lambda: [0, 0, 0, 1 << 64, 0])
    for track, begin, duration, own, depth, function, name, failed, *_ in rows["call"]:
        row = numbers[functions[function][7], modules.get(functions[function][3]), functions[function][4]]
        row[0] += 1
        row[1] += own
        row[2] += failed
        row[3] = min(row[3], duration)
        row[4] = max(row[4], duration)
    expected = {(_clean(r["symbol"]), r["module"], None if r["module"] is None else signed(r["offset"])):
                [r["calls"], r["self_ns"], r["errors"], r["min_ns"], r["max_ns"]] for r in top["rows"]}
    yield "call: by function", sorted(map(str, expected.items())), sorted(map(str, numbers.items()))
