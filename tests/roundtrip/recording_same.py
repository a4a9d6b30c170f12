#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Recordings written anew mean the same. Each recording of the corpus, converted: functions, tracks, events with their values, and what the
recorder noted are those of the original; `lode check` has nothing against it; uftrace reads it and counts what `lode top` does.
Big-endian and 32-bit recordings carry values and events, and become what uftrace can read.
"""

import json
import re
import struct
import sys
import tempfile
from pathlib import Path

from recording_tool import ENTRY, EVENT, EXIT, LOST, Made, Uftrace, convert, corpus, rows
from tool import Tap, parse_arguments
import lodejson  # noqa: E402  tool knows where it is

# What a converted recording may still be found to have: what nobody can add, and what is written as the recorder would have.
ACCEPTED = {"symbols-missing", "task-empty", "address-unknown", "event-unknown", "call-replaced", "call-jumped", "depth-wrapped",
            "record-depth", "record-lost"}
# In these the thread ends inside calls. They end with records now, so that the end of the thread is outside of all calls, and no event.
ENDS_INSIDE = {"recorded/ended", "recorded/extern", "recorded/killed", "recorded/mt", "recorded/n_mt"}
# Calls that end with a loss end before it.
LOSES = {"handmade/lost", "handmade/lost_t"}
# uftrace 0.13 stops at events of later versions.
TOO_NEW = {"recorded/n_callsite", "recorded/n_watchvar"}
# What uftrace counts otherwise in sound recordings too: it shows 1,024 levels; it forgets calls that are open when another program takes
# over, with what they wait for; it forgets calls that longjmp leaves, and counts setjmp twice; around a loss it adds a nanosecond.
UFTRACE_DIFFERS = {
    "recorded/deep4k": {"rec"},
    "recorded/forkexec": {"execl", "linux:schedule", "linux:schedule (pre-empted)"},
    "recorded/n_forkexec": {"execl", "linux:schedule (pre-empted)"},
    "recorded/longjmp": {"jumper", "longjmp", "_setjmp"},
    "recorded/children": {"<unnamed>"},
    "recorded/jumps": {"_setjmp", "deeper", "leave", "longjmp"},
    "recorded/ended": {"_setjmp", "deeper", "leave", "longjmp"},
    "handmade/lost": {"f1"},
    "handmade/lost_t": {"f1"},
    "repairs": {"f0"},
}


def same_events(name, before, after):
    """What differs, but for what is repaired."""
    def plain(row):
        ignored = ("made", "moved", "depth") if row["kind"] == "lost" else ("made", "moved")
        return {key: value for key, value in row.items() if key not in ignored}

    before, after = [[plain(row) for row in rows] for rows in (before, after)]
    if name in ENDS_INSIDE:
        before = [row for row in before if row["name"] != "linux:task-exit"]
    if name in LOSES:
        before, after = [sorted(rows, key=lambda row: json.dumps(row, sort_keys=True)) for rows in (before, after)]
    return [f"{x} became {y}" for x, y in zip(before, after) if x != y] or (
        [] if len(before) == len(after) else [f"{len(before)} events became {len(after)}"])


def differences(lode, name, source, target):
    """Complaints by kind."""
    top = [rows(lode, "top", path, "--by", "symbol", "--limit", "0") for path in (source, target)]
    yield "functions", [] if top[0] == top[1] else [f"{x} became {y}" for x, y in zip(*top) if x != y] + [list(map(len, top))]
    replays = [rows(lode, "replay", path, "--limit", "0") for path in (source, target)]
    yield "events", same_events(name, *replays)
    kept = ("tid", "pid", "name", "program", "calls", "total_ns", "out_ns")
    tracks = [[{key: row[key] for key in kept} for row in rows(lode, "profiles", path, "--limit", "0")] for path in (source, target)]
    yield "tracks", [] if tracks[0] == tracks[1] else [f"{x} became {y}" for x, y in zip(*tracks) if x != y] + [list(map(len, tracks))]
    infos = [lodejson.loads(lode.must("info", "--json", path)) for path in (source, target)]
    facts = [[(fact["key"], fact["value"]) for fact in info["facts"] if fact["key"] != "recorder"] for info in infos]
    if source.joinpath("info").read_bytes()[:7] == b"Ftrace!":
        yield "facts", [] if facts[0] == facts[1] else sorted(set(facts[0]) ^ set(facts[1]))


def objections(lode, target):
    _, out, err = lode.run("check", "--level", "full", "--json", target)
    if not out:
        return [err]
    return [f"{finding['rule']}: {finding['text']}" for finding in lodejson.loads(out)["findings"] if finding["rule"] not in ACCEPTED]


def printed(text):
    """{name: (calls, total, self)} of a report, times in nanoseconds with the step that they are cut off to."""
    units = {"us": 1, "ms": 1000, "s": 1000000, "m": 60000000}

    def parse(column):
        match = re.fullmatch(r"\s*(\d+)\.(\d+) *(\w+)\s*", column)
        return (int(match[1] + match[2]) * units[match[3]], units[match[3]]) if match else (0, 1)

    table = text.splitlines()
    while table and not table.pop(0).strip().startswith("=="):
        pass
    return {line[38:]: (int(line[24:36]), parse(line[:12]), parse(line[12:24])) for line in table}


def by_name(pairs):
    """Rows of one name, added up."""
    result = {}
    for name, numbers in pairs:
        result[simple(name)] = [x + y for x, y in zip(result.get(simple(name), [0] * len(numbers)), numbers)]
    return result


def judged(lode, target, listed=()):
    """How uftrace's report of a recording differs from `lode top`, but for names that are listed. Same names are one row for uftrace."""
    status, text = Uftrace.run("report", target)
    if status != 0:
        return [f"uftrace ends with {status}: {text[-300:]}"]
    top = rows(lode, "top", target, "--sched", "--by", "symbol", "--limit", "0")
    ours = by_name((row["name"], (row["calls"], row["total_ns"], row["self_ns"])) for row in top)
    theirs = by_name((name, (calls, *total, *own)) for name, (calls, total, own) in printed(text).items())
    problems = []
    for name in sorted(ours.keys() | theirs.keys()):
        calls, total, own = ours.get(name, (0, 0, 0))
        shown = theirs.get(name, (0, 0, 1, 0, 1))
        fits = calls == shown[0] and shown[1] <= total < shown[1] + shown[2] and shown[3] <= own < shown[3] + shown[4]
        if fits == (name in listed):
            problems.append(f"{name}: {ours.get(name)}, uftrace prints {theirs.get(name)}" + (", though it is listed" if fits else ""))
    return problems


def simple(name):
    """Names without what demanglers disagree on."""
    if name.startswith("["):
        return "<unnamed>"
    name = re.sub(r"^<[0-9a-f]+>$", "<unnamed>", name)
    while "<" in name and not name.startswith("<unnamed>") and "operator" not in name:
        shorter = re.sub(r"<[^<>]*>", "", name)
        if shorter == name:
            break
        name = shorter
    name = name.replace("[abi:cxx11]", "")
    return name[:name.index("(")] if "(" in name and not name.startswith("linux:") else name


def check_recording(tap, lode, name, source, folder):
    try:
        target = convert(lode, Path(folder) / "new", source)
        for kind, complaints in differences(lode, name, source, target):
            tap.check(not complaints, f"{name}: the same {kind}", complaints[:10])
        found = objections(lode, target)
        tap.check(not found, f"{name}: sound", found)
        if name in TOO_NEW or not Uftrace.there:
            tap.skip(f"{name}: read by uftrace", Uftrace.reason if not Uftrace.there else "events that this uftrace does not know")
            return
        if not any(row["calls"] for row in rows(lode, "profiles", target, "--limit", "0")):
            status, text = Uftrace.run("report", target)
            tap.check("No data" in text or status == 0, f"{name}: uftrace finds nothing to read", [text])
            return
        found = judged(lode, target, UFTRACE_DIFFERS.get(name, ()))
        tap.check(not found, f"{name}: uftrace counts the same", found)
    except (ValueError, OSError, KeyError) as error:
        tap.check(False, name, [repr(error)])


def foreign(order, word):
    """Values and events of all kinds, in another byte order or with another size of addresses."""
    made = Made(order, word)
    made.features |= 0x98
    made.specs = ["argspec:f0@arg1/i32,arg2/s,arg3;f1@arg1/c,arg2/i16,arg3/x64,fparg1/64;f2@arg1/t12:pair,arg2/f32",
                  "retspec:f0@retval/s;f1@retval/f64;f2@retval/i32"]
    float64, float32 = struct.pack(order + "d", 2.5), struct.pack(order + "f", -1.25)
    made.record(ENTRY, 0, 0, 0, made.values(made.number(-7, 4), made.text(b"some text"), made.number(77, word)))
    made.record(EVENT, 5, 0, 100001, b"".join(made.number(value, 8) for value in (1000, 200, 30)))
    made.record(EVENT, 6, 0, 100002, b"".join(made.number(value, 8) for value in (4, 5)))
    made.record(EVENT, 7, 0, 100011, made.number(3, 4))
    made.record(ENTRY, 10, 1, 1, made.values(b"x", made.number(-300, 2), made.number(0x123456789A, 8), float64))
    made.record(ENTRY, 20, 2, 2, made.values(b"0123456789ab", float32))
    made.record(EXIT, 30, 2, 2, made.number(-5, 4))
    made.record(EXIT, 40, 1, 1, float64)
    made.record(EXIT, 50, 0, 0, made.text(b""))
    return made


def check_foreign(tap, lode, folder):
    """The same values whatever the source's byte order was, and whatever lay between them."""
    shown = {}
    for title, order, word in (("little-endian", "<", 8), ("big-endian", ">", 8), ("32 bits", "<", 4), ("big-endian, 32 bits", ">", 4)):
        source = foreign(order, word).write(Path(folder) / f"{title} source")
        target = convert(lode, Path(folder) / title, source)
        for kind, complaints in differences(lode, "", source, target):
            tap.check(not complaints, f"{title}: the same {kind}", complaints)
        found = objections(lode, target)
        tap.check(not found, f"{title}: sound", found)
        data = (target / "100.dat").read_bytes()
        tap.check(b"\xee" not in data, f"{title}: zeros between values")
        shown[title] = (data, [(row["name"], row["values"]) for row in rows(lode, "replay", target)])
        if Uftrace.there:
            status, text = Uftrace.run("replay", target)
            words = ["-7, \"some text\", 77", "vmsize=1000KB", "major=4", "cpu=3", "'x', -300", "0x123456789a", "2.5", "= -5"]
            missing = [word for word in words if word not in text]
            tap.check(status == 0 and not missing, f"{title}: uftrace shows the values", [text, *missing])
        else:
            tap.skip(f"{title}: uftrace shows the values", Uftrace.reason)
    for one, other in (("little-endian", "big-endian"), ("32 bits", "big-endian, 32 bits")):
        tap.check(shown[one] == shown[other], f"{other} becomes what {one} is", [shown[one], shown[other]])


def check_depth(tap, lode, folder):
    """Calls that are deeper than a record can say, as recorders write them: the depth carries over into the address."""
    made, levels = Made(), 3000
    made.max_stack = 4096
    for level in range(levels):
        made.record(ENTRY, level, level, level % 3)
    for level in reversed(range(levels)):
        made.record(EXIT, 2 * levels - level, level, level % 3)
    source = made.write(Path(folder) / "deep source")
    target = convert(lode, Path(folder) / "deep", source)
    for kind, complaints in differences(lode, "", source, target):
        tap.check(not complaints, f"{levels} levels: the same {kind}", complaints[:5])
    tap.check((source / "100.dat").read_bytes() == (target / "100.dat").read_bytes(), f"{levels} levels: the same records")
    deepest = max(row["depth"] for row in rows(lode, "replay", target, "--limit", "0"))
    tap.check(deepest == levels - 1, f"{levels} levels: all are there", [deepest])


def check_repairs(tap, lode, folder):
    """What is repaired when it is read is written as sound records."""
    made = Made()
    made.record(EXIT, 0, 1, 3)  # never began
    made.record(ENTRY, 10, 0, 0)
    made.record(ENTRY, 20, 1, 1)
    made.record(ENTRY, 30, 2, 2)  # never ends
    made.record(EXIT, 60, 1, 1)
    made.record(ENTRY, 70, 1, 4)
    made.record(LOST, 0, 0, 5)
    made.record(EXIT, 100, 0, 0)
    made.record(ENTRY, 110, 0, 5)  # open at the end
    made.record(EVENT, 120, 0, 1000000)
    target = convert(lode, Path(folder) / "repaired", made.write(Path(folder) / "damaged"))
    wanted = {"f0": (1, 90), "f1": (1, 40), "f2": (1, 30), "f4": (1, 0), "f5": (1, 10)}
    found = {row["name"]: (row["calls"], row["total_ns"]) for row in rows(lode, "top", target)}
    tap.check(found == wanted, "repairs are written", [found, wanted])
    complaints = objections(lode, target)
    tap.check(not complaints, "repairs: sound", complaints)
    if Uftrace.there:
        complaints = judged(lode, target, UFTRACE_DIFFERS["repairs"])
        tap.check(not complaints, "repairs: uftrace counts the same", complaints)
    else:
        tap.skip("repairs: uftrace counts the same", Uftrace.reason)


def main():
    options = parse_arguments(__doc__)
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lode-recording-") as folder:
        check_foreign(tap, options.lode, folder)
        check_depth(tap, options.lode, folder)
        check_repairs(tap, options.lode, folder)
    found = {name: path for name, path in corpus().items() if not options.names or name in options.names}
    if not found:
        tap.skip("recordings of the corpus", "no corpus: set LODE_CORPUS")
    for name, source in found.items():
        with tempfile.TemporaryDirectory(prefix="lode-recording-") as folder:
            check_recording(tap, options.lode, name, source, folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
