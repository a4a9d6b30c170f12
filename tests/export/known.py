# SPDX-License-Identifier: BSD-3-Clause
"""
What is known of stores of the corpus. The largest database: of the larger corpus, as another program found it; of the project's own, as the references
of tests/answers and timeline_reference.py find it in what an independent reader wrote.
"""

import struct
from typing import NamedTuple

import timeline_reference as reference

import corpora
import corpus_files
import db_model
import db_nasty
import db_reference
import db_write
import made

try:
    import expected
except ImportError:  # no PyYAML, or one without libyaml
    expected = None

LARGE = "viewer-issue-233"
# Of stores of requests: how many there are, on how many threads, and the number of the process.
REQUESTS = corpora.either({"first": (5, 3, 1), "master": (5, 3, 1)}, {"first": (25, 3, 4711), "master": (80, 4, 2217)})
ARGUMENTS = corpora.either(74, 271)  # and results, of the recording n_autoargs
UNKNOWN = "what is in the project's own databases needs a Python with libyaml"


class Facts(NamedTuple):
    calls: int
    depth: int
    threads: int
    processes: int
    time: int  # of all calls, in ns
    outermost: int  # of the outermost calls
    first: int
    last: int
    cost: int  # of CPUTIME, in ns
    row: tuple  # a name, and its own cost
    inlined: int  # contexts
    part: str  # of the name of an inlined function


LARGER = Facts(253211, 25, 81, 27, 5104473178000, 651849998000, 1663059471075931000, 1663059479261322000, 638016958000, ("<omp barrier wait>", 183402666000), 200,
               "LagrangeLeapFrog")


def with_numbers(folder):
    """A recording whose events have numbers: the memory of its process."""
    store = folder / "numbers.data"
    if not corpora.is_own():
        return corpus_files.named("events")
    if not store.is_dir():
        store.mkdir()
        main, memory = made.BASE + made.FUNCTIONS["main"], 100001  # the event read:proc/statm
        events = [made.record("event", made.TIME + at, 1, memory, struct.pack("<HQQQ", 24, 4096 + at, 1024 + at, 512)) for at in range(1, 9)]
        made.write(store, {100: [made.record("entry", made.TIME, 0, main), *events, made.record("exit", made.TIME + 10, 0, main)]}, [], made.FUNCTIONS)
    return store


def store():
    return corpora.root() / "hpctoolkit" / "final" / LARGE


def _process(db, profile):
    return tuple((id["kind"], id["physical"]) for id in db.profiles[profile]["ids"] if db.id_names[id["kind"]] in ("NODE", "RANK"))


def _own():
    db = db_model.Database(expected.from_file(corpora.root() / "hpctoolkit" / "expected" / f"{LARGE}.yaml.gz"))
    calls, threads = reference.of_database(db)
    cost = db_model.Cost(db, next(metric for metric in db.metrics if metric["name"].startswith("CPUTIME")))
    row = max(db_reference.top(cost, "function"), key=lambda row: row["exclusive"])
    inlined = [c for c in db.contexts if c.lexical == "function" and c.relation == "inlined_call"]
    return Facts(sum(calls.values()), max(key[3] for key in calls) + 1, len(threads), len({_process(db, thread - 1) for thread in threads}),
                 sum(key[2] * n for key, n in calls.items()), sum(key[2] * n for key, n in calls.items() if key[3] == 0),
                 min(key[1] for key in calls), max(key[1] + key[2] for key in calls), round(cost.total * 1e9), (row["name"], round(row["exclusive"] * 1e9)),
                 len(inlined), db.function_label(inlined[0].function))


def facts():
    """None if they cannot be known here."""
    if not corpora.is_own():
        return LARGER
    return _own() if expected is not None else None


def deep_database(folder, levels):
    """One call path: each function costs 1 cycle. The trace goes to its end, halfway back, and to its end again."""
    maker = db_nasty.Maker(1)
    at, function = maker.entry(), maker.function("f")
    for _ in range(levels):
        at = maker.add(at, "function", "call", function)
    for number, context in enumerate(maker.contexts, 1):
        context["id"] = number
    values = {str(n + 2): {"0": 1.0, "1": 1.0, "2": float(levels - n)} for n in range(levels)}
    values["0"] = values["1"] = {"2": float(levels)}
    ids = [{"kind": 2, "flags": 0, "logical": 0, "physical": 0}]
    samples = [[1000, levels + 1], [2000, levels // 2], [3000, levels + 1], [4000, 0]]
    db_write.write(folder, {
        "meta": {"title": "deep", "description": "", "id_names": db_nasty.KINDS, "modules": maker.modules, "files": maker.files,
                 "scopes": [{"name": n, "type": t, "propagation_index": p} for n, t, p in db_nasty.SCOPES],
                 "metrics": [db_nasty._metric(0, "cycles")], "functions": maker.functions, "entry_points": maker.entries},
        "profiles": [{"index": 0, "summary": True, "flags": 1, "ids": [], "values": values},
                     {"index": 1, "summary": False, "flags": 0, "ids": ids, "values": values}],
        "context_block_count": levels + 2,
        "traces": {"min_time_ns": 1000, "max_time_ns": 4000, "lines": [{"profile": 1, "samples": samples}]}})
