#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The judges of this folder, judged: on a recording whose every number is known they are content, and with any one thing
changed, in the recording, in what the program says, in what uftrace prints, in a list of differences, they are not.
"""

import sys
import tempfile
from pathlib import Path

import comparison
import corpus_files  # noqa: F401  knows where tap is
import differences
import explained
import golden
import happened
import made
import proof
import reader
import replays
import slices

from tap import Tap  # noqa: E402

# Task 100: main calls f twice, which calls itself, and is off its processor inside; task 101 is pre-empted, and ends in f.
RECORDS = {
    100: (("entry", 1000, 0, "main"), ("entry", 1100, 1, "f"), ("entry", 1200, 2, "f"), ("exit", 1300, 2, "f"),
          ("exit", 1900, 1, "f"), ("entry", 2000, 1, "f"), ("exit", 2050, 1, "f"), ("exit", 5000, 0, "main")),
    101: (("entry", 1150, 0, "f"), ("entry", 1250, 1, "g"), ("exit", 1350, 1, "g")),
}
PERF = ((100, 1400, "out"), (100, 1750, "in"), (101, 1360, "preempted"), (101, 1500, "in"), (101, 2200, "exit"))
FUNCTIONS = {"main": 0x1000, "f": 0x1040, "g": 0x1080}

# By hand, in nanoseconds: (calls, total, self, durations).
#   main  1000..5000, less f's 800 + 50
#   f     1100..1900 with 1200..1300 and 350 off; 2000..2050; 1150..2200 with g's 100 and 140 off
ROWS = {
    "main": (1, 4000, 3150, [4000]),
    "f": (4, 800 + 50 + 1050, (800 - 100 - 350) + 100 + 50 + (1050 - 100 - 140), [50, 100, 800, 1050]),
    "g": (1, 100, 100, [100]),
    "linux:schedule": (1, 350, 350, [350]),
    "linux:schedule (pre-empted)": (1, 140, 140, [140]),
}
REPORT = """\
  Total time   Self time       Calls  Function
  ==========  ==========  ==========  ====================
    4.000 us    3.150 us           1  main
    1.900 us    1.310 us           4  f
    0.350 us    0.350 us           1  linux:schedule
    0.140 us    0.140 us           1  linux:schedule (pre-empted)
    0.100 us    0.100 us           1  g
"""
REPLAY = """\
# DURATION     TID     FUNCTION
            [   100] | main() {
            [   100] |   f(1, "a") {
            [   101] | f() {
            [   100] |   } = 2; /* f */
   0.100 us [   101] |   g() = "x";
   0.350 us [   100] |   /* linux:schedule */
   4.000 us [   100] | } /* main */
"""


def write_recording(folder):
    tasks = {tid: [made.record(kind, made.TIME + time, depth, made.BASE + FUNCTIONS[name]) for kind, time, depth, name in records]
             for tid, records in RECORDS.items()}
    made.write(folder, tasks, [(tid, made.TIME + time, kind) for tid, time, kind in PERF], FUNCTIONS)


def top_rows(rows):
    """What `lode top --json` would say."""
    found = []
    for name, (calls, total, own, durations) in rows.items():
        mean = sum(durations) / calls
        is_state = name.startswith("linux:")
        found.append({"name": name, "symbol": name, "module": None if is_state else "/opt/x/prog",
                      "offset": None if is_state else FUNCTIONS[name], "calls": calls, "total_ns": total, "self_ns": own,
                      "min_ns": durations[0], "max_ns": durations[-1], "mean_ns": mean,
                      "deviation_ns": (sum((number - mean) ** 2 for number in durations) / calls) ** 0.5,
                      **{key: comparison.quantile(durations, q) for key, q in comparison.PERCENTILES}})
    return found


def changed(value):
    """Another value of the same kind, near enough to be overlooked, far enough to count."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, float):
        return value * 1.001 + 0.001
    if isinstance(value, int):
        return value + 1
    return 1 if value is None else value + "x"


def judge_rows(tap, tracks):
    rows, wanted = top_rows(ROWS), happened.rows(tracks)
    problems = comparison.exact_rows(rows, wanted)
    tap.check(not problems, "exact rows: content with what is right", problems)
    missed = []
    for i, row in enumerate(rows):
        others = rows[:i] + rows[i + 1:]
        for key in comparison.KEYS:
            is_label = key == "name" and row["module"] or key == "offset" and not row["module"]
            changes = [changed(row[key])] if key not in ("p50_ns", "p95_ns", "p99_ns") else [row[key] * 1.02 + 2]
            for value in [] if is_label else changes:
                if not comparison.exact_rows(others + [{**row, key: value}], wanted):
                    missed.append((row["name"], key, value))
        for bad in (others, rows + [row], rows + [{**row, "offset": 0x2000, "module": "/opt/x/prog"}]):
            if not comparison.exact_rows(bad, wanted):
                missed.append((row["name"], "left out, doubled or added"))
    tap.check(not missed, "exact rows: every field that is changed, every row left out, doubled or added", missed)


def judge_printed(tap, tracks):
    rows, report = happened.by_name(tracks), golden.report(REPORT)
    tap.check(len(report) == 5 and not comparison.printed_rows(rows, report), "printed rows: content with what is right",
              comparison.printed_rows(rows, report))
    missed = []
    for name, row in rows.items():
        variants = [row[:i] + (row[i] + step,) + row[i + 1:] for i in range(3) for step in (1, -1)]
        missed += [(name, other) for other in variants if not comparison.printed_rows({**rows, name: other}, report)]
        left = {other: row for other, row in rows.items() if other != name}
        missed += [(name, "left out")] if not comparison.printed_rows(left, report) else []
        less = {other: row for other, row in report.items() if other != name}
        missed += [(name, "too much")] if not comparison.printed_rows(rows, less) else []
        missed += [(name, "listed")] if not comparison.printed_rows(rows, report, [name]) else []
        if comparison.printed_rows({**rows, name: (99, 99, 99)}, report, [name]):
            missed.append((name, "listed, but not accepted"))
    missed += ["listed and nowhere"] if not comparison.printed_rows(rows, report, ["nobody"]) else []
    tap.check(not missed, "printed rows: every number one step off, every row left out, listed in vain or not listed", missed)
    times = {"   0.001 us": 1, "  12.345 us": 12_345, "  12.345 ms": 12_345_000, "   1.500  s": 1_500_000_000,
             "   2.500  m": 150 * 10**9}
    wrong = [text for text, ns in times.items() if golden.parse_time(text).ns != ns]
    tap.check(not wrong, "printed times are read", wrong)
    cut = golden.parse_time("  12.345 ms")
    tap.check([cut.fits(ns) for ns in (12_344_999, 12_345_000, 12_345_999, 12_346_000)] == [False, True, True, False],
              "a printed time stands for the digits that were cut off")


def judge_replays(tap, recording, tracks):
    events = replays.happenings(recording, tracks)
    # 11 records, 4 times on or off the processor, and an end that was made up.
    tap.check(len(events) == 16 and not replays.event_problems(events, events), "events: content with themselves", events)
    missed = []
    for i, event in enumerate(events):
        for field in event._fields:
            other = events[:i] + [event._replace(**{field: changed(getattr(event, field))})] + events[i + 1:]
            missed += [(i, field)] if not replays.event_problems(other, events) else []
        missed += [(i, "left out")] if not replays.event_problems(events[:i] + events[i + 1:], events) else []
    tap.check(not missed, "events: every field that is changed, every event left out", missed)
    items = golden.replay(REPLAY)
    tap.check(len(items) == 8 and replays.differences(items, items) == ([], []), "lines: content with themselves", items)
    missed = []
    for i, item in enumerate(items):
        variants = [item._replace(tid=item.tid + 1), item._replace(level=item.level + 1), item._replace(name=item.name + "x")]
        variants += [item._replace(values=item.values + "1")] if item.kind != "note" else []
        variants += [item._replace(duration=golden.Time(item.duration.ns + 2, 1))] if item.duration else []
        missed += [(i, other) for other in variants
                   if replays.differences(items[:i] + [other] + items[i + 1:], items) == ([], [])]
        missed += [(i, "left out")] if replays.differences(items[:i] + items[i + 1:], items) == ([], []) else []
    tap.check(not missed, "lines: every part of one that is changed, every line left out", missed)


def judge_graph(tap):
    text = ("   13.000 us : (1) prog\n    1.000 us :  +-(1) a\n    0.500 us :  | (2) b\n             :  | \n"
            "    5.000 us :  +-(1) main\n    2.000 us :     +-(4) f\n             :     | (1) g\n    1.000 us :     +-(1) h (x)\n")
    wanted = {("a",): (1, 1000), ("a", "b"): (2, 500), ("main",): (1, 5000), ("main", "f"): (4, 2000), ("main", "f", "g"): (1, 0),
              ("main", "h (x)"): (1, 1000)}
    found = {path: (calls, time.ns) for path, (calls, time) in golden.graph(text).items()}
    tap.check(found == wanted, "graphs are read", [found])


def judge_reader(tap, folder, sound):
    """Every record that is altered changes what happened or what is to be repaired, or is no record any more."""
    missed = []
    for tid in RECORDS:
        path = folder / f"{tid}.dat"
        data = path.read_bytes()
        for offset in range(0, len(data), 16):
            for byte, bit in ((0, 0), (8, 0), (8, 3), (8, 6), (11, 6)):  # time; type, magic, depth, address
                other = bytearray(data)
                other[offset + byte] ^= 1 << bit
                path.write_bytes(other)
                try:
                    if _all_of(*_read(folder)) == sound:
                        missed.append((tid, hex(offset), byte, bit))
                except reader.Damaged:
                    pass
        path.write_bytes(data)
    tap.check(not missed, "the reader: every record with another time, type, magic, depth or address", missed)


def judge_proofs(tap, recording):
    points = {"begin": "100.dat:0x0 entry 0 main", "end": "100.dat:0x70 exit 0 main", "out": "perf-cpu0.dat:0x18 out 100",
              "gone": "perf-cpu0.dat:0x60 exit 101", "task": "task.txt:2 TASK 100"}
    sound = proof.Points(recording, points)
    values = [sound.value(formula) for formula in ("end - begin", "gone - out", "begin - task", "entries f", "exits f - 1", 7)]
    tap.check(values == [4000, 800, 999, 4, 2, 7], "proofs: points and formulas", [values])
    accepted = []
    for text in ("100.dat:0x0 exit 0 main", "100.dat:0x0 entry 1 main", "100.dat:0x0 entry 0 f", "100.dat:0x10 entry 0 main",
                 "perf-cpu0.dat:0x18 in 100", "perf-cpu0.dat:0x18 out 101", "task.txt:2 TASK 101", "task.txt:1 TASK 100"):
        try:
            proof.point(recording, text)
            accepted.append(text)
        except proof.Wrong:
            pass
    tap.check(not accepted, "proofs: points that are not as stated", accepted)
    item = differences.Difference(("x",), "f", "a reason", points, calls=(5, "entries f"), total=("end - begin", 1900))
    tap.check(not explained.proven(recording, item, (5, 4000, 3), (4, 1900, 3)), "proofs: a difference that is proven")
    wrong = (((4, 4000, 3), (4, 1900, 3)), ((5, 4001, 3), (4, 1900, 3)), ((5, 4000, 3), (5, 1900, 3)),
             ((5, 4000, 3), (4, 1901, 3)), ((5, 4000, 3), (4, 1900, 4)), (None, (4, 1900, 3)), ((5, 4000, 3), None))
    accepted = [sides for sides in wrong if not explained.proven(recording, item, *sides)]
    tap.check(not accepted, "proofs: differences that are not", accepted)


def judge_slices(tap, tracks):
    """By hand: 1250 to 1800 cuts main, f twice, and what is off; f's inner call is 50 long there."""
    calls = [call for track in tracks for call in slices.cut(track, made.TIME + 1250, made.TIME + 1800)]
    found = {name: (row[0], row[1], row[2]) for name, row in happened.by_name([_Calls(calls)]).items()}
    wanted = {"main": (1, 550, 0), "f": (3, 550 + 550, (550 - 50 - 350) + 50 + (550 - 100 - 140)), "g": (1, 100, 100),
              "linux:schedule": (1, 350, 350), "linux:schedule (pre-empted)": (1, 140, 140)}
    tap.check(found == wanted, "slices: a window", [found, wanted])
    outer = [call.function.name for track in tracks for call in slices.cut(track, depth=1)]
    tap.check(outer == ["main", "f"], "slices: a depth", outer)
    long = [call.function.name for track in tracks for call in slices.cut(track, min_time=200)]
    tap.check(long == ["main", "f", "linux:schedule", "f"], "slices: a duration", long)


class _Calls:
    def __init__(self, calls):
        self.calls = calls


def _all_of(recording, tracks):
    return replays.happenings(recording, tracks), [track.repairs for track in tracks]


def _read(folder):
    recording = reader.Recording(folder)
    return recording, happened.tracks(recording)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lode-judge-") as name:
        folder = Path(name)
        write_recording(folder)
        recording, tracks = _read(folder)
        found = {function.symbol: (row.calls, row.total, row.self_time, sorted(row.durations))
                 for function, row in happened.rows(tracks).items()}
        tap.check(found == ROWS, "what happened, as derived by hand", [found, ROWS])
        judge_rows(tap, tracks)
        judge_printed(tap, tracks)
        judge_replays(tap, recording, tracks)
        judge_graph(tap)
        judge_proofs(tap, recording)
        judge_slices(tap, tracks)
        judge_reader(tap, folder, _all_of(recording, tracks))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
