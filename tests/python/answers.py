#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every number that the package gives is the number that the program prints as JSON: all commands, all stores of the corpus in parts."""

import warnings

import lode
import support

NUMBERS = (int, float)


def is_same(mine, theirs):
    """None and "" are what JSON has null for; zero stands for lines and calls that are not known."""
    if theirs is None:
        return mine is None or mine in (0, "", False)
    if isinstance(theirs, bool):
        return bool(mine) == theirs
    if isinstance(theirs, NUMBERS) and isinstance(mine, NUMBERS):
        return mine == theirs or abs(mine - theirs) <= 1e-14 * abs(theirs)
    return mine == theirs


def different(mine, theirs, names):
    """Rows against rows; names maps columns to members."""
    if len(mine) != len(theirs):
        return [f"{len(mine)} rows, not {len(theirs)}"]
    wrong = []
    for number, (row, other) in enumerate(zip(mine, theirs)):
        wrong += [f"row {number}: {column}: {row[column]!r}, not {other[name]!r}"
                  for column, name in names.items() if not is_same(row[column], other[name])]
    return wrong


def same_names(*names, **others):
    return {**{name: name for name in names}, **others}


TOP = same_names("name", "exclusive", "exclusive_percent", "inclusive", "inclusive_percent", "function", "file", "line", "module",
                 "contexts", "kind")
TREE = same_names("name", "depth", "inclusive", "inclusive_percent", "exclusive", "exclusive_percent", "hot", "folded", "kind", "relation",
                  "context", "contexts", "call_file", "call_line", "children", "omitted", "omitted_inclusive")
REC_TREE = {**{key: key for key in TREE if not key.startswith(("inclusive", "exclusive"))}, "calls": "calls",
            "inclusive": "total_ns", "inclusive_percent": "total_percent", "exclusive": "self_ns", "exclusive_percent": "self_percent"}
FLAME = same_names("level", "x", "width", "inclusive", "exclusive", "kind", "more", "folded", "contexts")
CALLS = same_names("calls", "errors", "file", "line", "module", "functions", "kind", function="name", total="total_ns", self="self_ns",
                   mean="mean_ns", min="min_ns", p50="p50_ns", p95="p95_ns", p99="p99_ns", max="max_ns", deviation="deviation_ns")
EVENTS = same_names("kind", "depth", time="time_ns", name="name")
COMPARED = same_names("name", "difference", "gross", "ratio", "base", "new", "base_own", "new_own", "base_calls", "new_calls", "only_in", "base_name",
                      "new_name", "depth", "parent_row")
SHARES = same_names("name", "nanoseconds", "samples", "kind")


class Case:
    """One store: counts comparisons, and keeps what is wrong."""

    def __init__(self, tests, path):
        self.tests, self.path, self.rows, self.wrong = tests, path, 0, []

    def compare(self, words, mine, answer, names, table="rows"):
        if answer is None:
            self.wrong.append(f"{words}: the program refuses")
            return
        rows = mine.to_dicts()
        self.rows += len(rows)
        self.wrong += [f"{words}: {text}" for text in different(rows, answer[table], names)]

    def equal(self, words, mine, theirs):
        self.rows += 1
        if not is_same(mine, theirs):
            self.wrong.append(f"{words}: {mine!r}, not {theirs!r}")

    def report(self):
        self.tests.check(not self.wrong, f"{self.path.parent.name}/{self.path.name}: {self.rows} rows are the program's", self.wrong[:20])


def compare_costs(case, db, ask):
    for by in ("function", "symbol", "line", "loop", "module", "file", "kind"):
        case.compare(f"top by {by}", db.top(by=by), ask("top", "--by", by, "--limit", 0), TOP)
    case.compare("top sorted", db.top(sort="inclusive", names="simple"), ask("top", "--sort", "inclusive", "--names", "simple", "--limit", 0),
                 TOP)
    case.compare("tree", db.tree(limit=0), ask("tree", "--limit", 0), TREE)
    case.compare("tree of all", db.tree(limit=0, min_share=0), ask("tree", "--limit", 0, "--min-percent", 0), TREE)
    case.compare("callers", db.tree(limit=0, bottom_up=True), ask("tree", "--bottom-up", "--limit", 0), TREE)
    flame = db.flame(width=1200)
    answer = ask("flame")
    case.compare("flame", flame.boxes, answer, FLAME, "boxes")
    case.equal("whole", flame.whole, answer["whole"])


def compare_contexts(case, db, ask):
    total = len(db.contexts)
    for row in sorted({0, total // 3, total - 1}):
        id = int(db.contexts["id"][row])
        answer = ask("context", id, "--all", "--limit", 0)
        context = db.context(id)
        if answer is None:
            continue
        case.equal("name", context.name, answer["name"])
        case.equal("path", [step.id for step in context.path], [step["context"] for step in answer["path"]])
        case.equal("distribution", context.distribution().to_dict(), answer["distribution"])
        values = {profile: value for profile, value in context.values().tolist()} if support.numpy and context.values() is not None else None
        if values is not None and answer["adds_up"]:
            case.equal("values", values, {item["profile"]: item["value"] for item in answer["rows"] if item["value"]})


def compare_traces(case, db, ask):
    timeline = db.timeline(columns=100)
    answer = ask("trace", "--columns", 100, "--limit", 0)
    if timeline is None:
        return
    case.equal("samples", timeline.samples, answer["samples"])
    case.equal("window", [timeline.start, timeline.stop], [answer["from_ns"], answer["to_ns"]])
    ran = timeline.shares.filter([kind != "idle" for kind in timeline.shares._raw("kind")])
    rows = {"rows": [row for row in answer["rows"] if row["kind"] not in ("idle", None) and row["context"] is not None]}
    named = ran.filter([context != 0 for context in ran._raw("context")])
    case.compare("trace", named, rows, {**SHARES, "context": "context"})


def compare_database(case):
    with lode.open(case.path) as db:
        def ask(command, *words):
            operands = [case.path, words[0]] if command == "context" else [case.path]
            return case.tests.ask(command, *operands, *(words[1:] if command == "context" else words))
        info = ask("info")
        case.equal("contexts", len(db.contexts) - 1, info["contexts"]["count"])
        case.equal("title", db.title, info["title"])
        for metric, other in zip(db.metrics, info["metrics"]):
            case.equal("metric", metric.name, other["name"])
            if other["total"] is not None:
                case.equal("total", metric.total, other["total"])
        if ask("top") is not None and ask("top")["schema"]["name"] == "lode-top-database":
            compare_costs(case, db, ask)
            compare_contexts(case, db, ask)
        compare_traces(case, db, ask)


def compare_recording(case):
    with lode.open(case.path) as recording:
        def ask(command, *words):
            return case.tests.ask(command, case.path, *words)
        case.compare("top", recording.top(), ask("top", "--limit", 0), CALLS)
        case.compare("top by symbol", recording.calls(by="symbol", sort="p99", names="raw"),
                     ask("top", "--by", "symbol", "--sort", "p99", "--names", "raw", "--limit", 0), CALLS)
        case.compare("tree", recording.tree(limit=0), ask("tree", "--limit", 0), REC_TREE)
        case.compare("flame", recording.flame(width=1200).boxes, ask("flame"), FLAME, "boxes")
        answer = ask("replay", "--limit", 0)
        for track in range(len(recording.tracks)):
            events = recording.events(track=track)
            mine = events.filter([kind in ("enter", "leave", "sched_out", "sched_in") for kind in events._raw("kind")])
            case.compare(f"events of {track}", mine, {"rows": [
                row for row in answer["rows"] if row["track"] == track and row["kind"] in ("enter", "leave", "sched_out", "sched_in")]}, EVENTS)
        tracks = ask("profiles", "--sort", "index", "--limit", 0)
        if tracks is not None:
            case.compare("tracks", recording.tracks, tracks, same_names("track", "tid", "pid"))


def compare_checks(case):
    answer = case.tests.ask("check", case.path)
    mine = lode.check(case.path)
    case.equal("sound", bool(mine), answer["result"]["sound"])
    case.equal("errors", mine.counts["errors"], answer["result"]["errors"])
    case.compare("findings", mine, answer, same_names("severity", "rule", "offset", "text"), "findings")


def each(tests, found, compare, what):
    chosen = tests.share.of(found)
    if not chosen:
        tests.tap.skip(what, "there is no corpus" if not found else "not in this part")
    for path in chosen:
        case = Case(tests, path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compare(case)
            compare_checks(case)
        case.report()


def test_databases(tests):
    each(tests, [tests.folder / "demo" / "solver", *support.databases()], compare_database, "databases")


def test_recordings(tests):
    each(tests, [tests.folder / "demo" / "thumbs", *support.recordings()], compare_recording, "recordings")


def test_trace_stores(tests):
    each(tests, [tests.folder / "demo" / "shop", *support.trace_stores()], compare_recording, "trace stores")


def test_comparison(tests):
    """Pairs of databases that measured the same, and of recordings with off-CPU time and without."""
    found = [tests.folder / "demo" / "solver"] + [path for path in support.databases() if "loops-cputime" in path.name]
    pairs = tests.share.of(list(zip(found, found[1:] + found[:1])))
    recordings = {path.parent.name: path for path in support.recordings()}
    pairs += [(tests.folder / "demo" / "thumbs", tests.folder / "demo" / "thumbs")]
    pairs += [(recordings[a], recordings[b]) for a, b in (("mt", "n_mt"), ("exc", "n_exc")) if a in recordings and b in recordings]
    for base, new in pairs:
        case = Case(tests, base)
        answer = tests.ask("compare", base, new, "--all", "--limit", 0)
        if answer is None:
            continue
        mine = lode.compare(base, new, names="simple" if base.name in ("thumbs", "uftrace.data") else "full")
        total = answer["metrics"][0]
        case.equal("totals", list(mine.totals), [total["base"], total["new"]])
        case.equal("matched", [100 * share for share in mine.matched], [total["matched_base_percent"], total["matched_new_percent"]])
        theirs = {(row["name"], row["base_exclusive"], row["new_exclusive"], row["base_inclusive"], row["new_inclusive"])
                  for row in answer["rows"]}
        ours = {(row.name, row.base_exclusive, row.new_exclusive, row.base_inclusive, row.new_inclusive) for row in mine.table}
        case.rows += len(theirs)
        case.wrong += [f"compare: {row}" for row in sorted(theirs - ours, key=str)]
        for words, options in (((), {}), (("--all", "--min-percent", 0), {"all": True, "min_share": 0}), (("--all", "--min-percent", 5), {"all": True, "min_share": 0.05})):
            answer, tree = tests.ask("compare", base, new, "--tree", "--limit", 0, *words), mine.tree(**options)
            case.compare(f"tree {words}", tree, answer, COMPARED)
            case.equal("gross", tree.gross, answer["gross"])
            case.equal("totals", list(tree.totals), [answer["base_total"], answer["new_total"]])
            case.equal("matched", [100 * share for share in tree.matched], [answer["matched_base_percent"], answer["matched_new_percent"]])
        case.report()


def by_function(nodes):
    """[own cost, inclusive cost of roots] by name, and the number of nodes."""
    own, count, stack = {}, 0, list(nodes)
    metric = next(iter(nodes[0]["metrics"]))
    while stack:
        node = stack.pop()
        count += 1
        name = node["frame"]["name"]
        own[name] = own.get(name, 0) + node["metrics"][metric]
        stack += node["children"]
    return metric, {name: cost for name, cost in own.items() if cost}, sum(node["metrics"][metric + " (inc)"] for node in nodes)


def test_hatchet(tests):
    """What Hatchet gets is what `lode export --format hatchet` writes, but for loops, which have rows of their own."""
    import json
    import sys
    import types
    sys.modules["hatchet"] = types.SimpleNamespace(GraphFrame=types.SimpleNamespace(from_literal=lambda literal: literal))
    for name, options in (("solver", {}), ("solver", {"metric": "PAPI_TOT_INS"}), ("thumbs", {})):
        target = tests.folder / "hatchet.json"
        tests.run("export", tests.folder / "demo" / name, "--format", "hatchet", "--force", "-o", target, *(["-m", options["metric"]] if options else []))
        with lode.open(tests.folder / "demo" / name) as store:
            (metric, mine, total), (expected, theirs, whole) = by_function(store.to_hatchet(**options, **({"sched": True} if name == "thumbs" else {}))), by_function(json.loads(target.read_text()))
        mine = {key: cost for key, cost in mine.items() if not key.startswith("loop at ")}
        wrong = [f"{key}: {mine.get(key)}, not {cost}" for key, cost in theirs.items()
                 if key in mine and mine[key] > cost * (1 + 1e-9)] + sorted(mine.keys() - theirs.keys())
        tests.check(not wrong and metric == expected and abs(total - whole) <= 1e-9 * whole, f"{name} {options}: a tree for Hatchet", [metric, expected, total, whole, *wrong[:5]])
    del sys.modules["hatchet"]


if __name__ == "__main__":
    support.Tests().finish([test_databases, test_recordings, test_trace_stores, test_comparison, test_hatchet])
