#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What is written as a trace store says, to a reader that shares nothing with Lode, what Lode reads of it: calls, times, attributes and
exceptions, in both layouts; and the numbers beside them are those of the traces.
"""

import json
import struct
import sys
import tempfile
from pathlib import Path

import store_reader as zorka
from store_reader import Store
from tool import Tap, parse_arguments
import lodejson  # noqa: E402  tool knows where it is

LAYOUTS = ("page", "zico")
MADE = {
    "small traces": ["--records", "20000", "--calls-per-request", "12", "--tasks", "3", "--functions", "80"],
    "long traces": ["--records", "300000", "--calls-per-request", "70000"],
    "one call": ["--records", "2", "--tasks", "1", "--functions", "4", "--depth", "2"],
    "deep": ["--records", "20000", "--calls-per-request", "5000", "--depth", "900", "--functions", "9"],
}


def shown(value):
    return json.dumps(value) if isinstance(value, str) else {True: "true", False: "false"}.get(value, str(value))


def expected(store, trace, begin):
    """Lines as they are made of lode's rows, too."""
    lines, first = [], trace.info[zorka.START]

    def time(tick):
        return begin + (tick - first) * zorka.TICK

    stack = [(trace, 0)]
    while stack:
        call, depth = stack.pop()
        if depth < 0:
            duration = (call.info[zorka.STOP] - call.info[zorka.START]) * zorka.TICK
            lines.append(("leave", ~depth, store.method(call), time(call.info[zorka.STOP]), duration))
            continue
        lines.append(("enter", depth, store.method(call), time(call.info[zorka.START])))
        lines += [("attribute", depth, key, shown(value)) for key, value in call.attributes]
        lines += [("thrown", depth, *store.exception(thrown)[0][:2], len(store.exception(thrown))) for thrown in call.thrown]
        stack.append((call, ~depth))
        stack += [(inner, depth + 1) for inner in reversed(call.calls)]
    return sorted(lines, key=repr)


def said(rows):
    lines = []
    for row in rows:
        if row["kind"] == "enter":
            lines.append(("enter", row["depth"], row["name"], row["time_ns"]))
        elif row["kind"] == "leave":
            lines.append(("leave", row["depth"], row["name"], row["time_ns"], row["duration_ns"]))
        elif row["name"] == "exception":
            words = row["values"].split('"')
            lines.append(("thrown", row["depth"] - 1, words[1], words[3], 1 + row["values"].count('cause="')))
        elif row["name"] != "info":
            lines.append(("attribute", row["depth"] - 1, row["name"], row["values"]))
    return sorted(lines, key=repr)


def check_traces(tap, lode, title, store, path):
    stamps = [trace.info[zorka.STAMP] for trace in store.traces]
    wanted = []
    for trace, stamp in zip(store.traces, stamps):
        wanted += expected(store, trace, (stamp - min(stamps)) * 1_000_000)
    rows = lodejson.loads(lode.must("replay", "--json", "--names", "full", path))["rows"]
    wanted, found = sorted(wanted, key=repr), said(rows)
    different = [pair for pair in zip(wanted, found) if pair[0] != pair[1]][:5]
    tap.check(wanted == found, f"{title}: lode reads the {len(wanted)} things that are there",
              [f"{len(wanted)} and {len(found)}", *different])


def walk(trace):
    todo = [trace]
    while todo:
        call = todo.pop()
        yield call
        todo += call.calls


def check_numbers(tap, title, store, is_page):
    problems = []
    for number, trace in enumerate(store.traces):
        calls, info = list(walk(trace)), trace.info
        for call in calls:
            inside = 1 + sum(inner.info[zorka.CALLS] for inner in call.calls)
            if call.info[zorka.CALLS] != inside:
                problems.append(f"trace {number}: {call.info[zorka.CALLS]} calls, not {inside}")
        sums = [info.get(key) for key in (zorka.DURATION, zorka.RECORDS, zorka.ERRORS)]
        wanted = [info[zorka.STOP] - info[zorka.START], len(calls), sum(bool(call.thrown) for call in calls)]
        if sums != (wanted if is_page else [None] * 3):
            problems.append(f"trace {number}: duration, records and errors {sums}, not {wanted}")
    tap.check(not problems, f"{title}: sums are right", problems[:5])


def check_page_chunks(tap, title, store):
    problems = []
    for number, trace in enumerate(store.traces):
        sizes = [size for _, size, owner in store.chunks if owner == number]
        wanted = (list(range(len(sizes))), [sum(sizes[:i]) for i in range(len(sizes))], sizes)
        found = tuple(trace.info.get(key, []) for key in (zorka.CHUNK, zorka.OFFSET, zorka.LENGTH))
        if found != (wanted if len(sizes) > 1 else ([], [], [])):
            problems.append(f"trace {number}: {found}, not {wanted}")
        if len(trace.info[zorka.TRACE_ID]) != 16:
            problems.append(f"trace {number}: an id of {len(trace.info[zorka.TRACE_ID])} bytes")
    tap.check(not problems, f"{title}: chunks are numbered", problems[:5])


def check_index(tap, title, store, ids):
    """qmeta.idx against traces; ids are those of the other layout."""
    data = (store.folder / "qmeta.idx").read_bytes()
    magic, end, first, last = struct.unpack(">4sIII", data[:16])
    stamps = [trace.info[zorka.STAMP] for trace in store.traces]
    problems = []
    if (magic, end, first, last) != (b"MQI0", len(data), min(stamps) & 0xFFFFFFFF, max(stamps) & 0xFFFFFFFF):
        problems.append(f"the header says {magic}, {end}, {first}, {last}")
    if len(data) != 64 * (1 + len(store.chunks)):
        problems.append(f"{len(data)} bytes for {len(store.chunks)} chunks")
    for i, (offset, _, owner) in enumerate(store.chunks):
        trace, words = store.traces[owner], struct.unpack_from(">8Q", data, 64 * (i + 1))
        siblings = [k for k, chunk in enumerate(store.chunks) if chunk[2] == owner]
        is_last, count = i == siblings[-1], len(siblings)
        flags = (count > 1) * 2 | (i == siblings[0]) * 4 | is_last * 8
        errors = sum(bool(call.thrown) for call in walk(trace))
        wanted = {"stamp": (words[0], trace.info[zorka.STAMP] // 1000), "flags": (words[1] & 0xE, flags),
                  "chunk": (words[2], siblings.index(i) << 48 | offset), "id": (struct.pack(">QQ", *words[6:]), ids[owner]),
                  "method": (words[3] & 0x7FFFFFFF, trace.info[zorka.METHOD])}
        if is_last:
            wanted |= {"duration": (words[3] >> 32, trace.info[zorka.STOP] - trace.info[zorka.START]),
                       "records": (words[5] >> 40, len(list(walk(trace)))), "calls": (words[5] & 0xFFFFFFFF, trace.info[zorka.CALLS]),
                       "errors": ((words[5] >> 32 & 0xFF) << 8 | words[1] >> 8 & 0xFF, errors), "error": (words[1] & 1, errors > 0)}
        problems += [f"chunk {i}: {name} {pair[0]}, not {pair[1]}" for name, pair in wanted.items() if pair[0] != pair[1]]
    tap.check(not problems, f"{title}: qmeta.idx says the same", problems[:5])


def check_made(tap, lode, title, parameters, folder):
    stores = {}
    for layout in LAYOUTS:
        path = Path(folder) / layout
        lode.must("synth", "recording", "--format", "zorka", "--layout", layout, *parameters, "-o", path)
        name = f"{title}, {layout}"
        store = stores[layout] = Store(path)
        check_traces(tap, lode, name, store, path)
        check_numbers(tap, name, store, layout == "page")
    check_page_chunks(tap, f"{title}, page", stores["page"])
    check_index(tap, f"{title}, zico", stores["zico"], [trace.info[zorka.TRACE_ID] for trace in stores["page"].traces])
    wanted = dict(zip(parameters[::2], parameters[1::2]))
    calls = sum(trace.info[zorka.CALLS] for trace in stores["page"].traces)
    tap.check(calls == int(wanted["--records"]) // 2, f"{title}: {calls} calls in {len(stores['page'].traces)} traces")
    return stores["page"]


def check_shape(tap, store):
    """What made stores are like, as far as it matters for measuring."""
    failed = [trace for trace in store.traces if trace.thrown]
    share = len(failed) / len(store.traces)
    tap.check(0.005 < share < 0.03, f"{share:.1%} of the requests fail")
    chains = [store.exception(trace.thrown[0]) for trace in failed]
    tap.check(chains and all(len(chain) == 2 and chain[0][2] and chain[1][2] for chain in chains), "with a stack and a cause")
    ends = {}
    late = 0
    for trace in sorted(store.traces, key=lambda trace: trace.info[zorka.START]):
        thread = dict(trace.attributes)["thread.id"]
        late += trace.info[zorka.START] < ends.get(thread, 0)
        ends[thread] = trace.info[zorka.STOP]
    tap.check(late == 0 and len(ends) == 3, "threads serve one request after the other")


def main():
    options = parse_arguments(__doc__)
    tap = Tap()
    for title, parameters in MADE.items():
        with tempfile.TemporaryDirectory(prefix="lode-store-") as folder:
            store = check_made(tap, options.lode, title, parameters, folder)
            if title == "small traces":
                check_shape(tap, store)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
