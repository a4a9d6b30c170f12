#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Parts and sums of recordings. Slices by time, task, depth and least duration hold what the raw records say they must, and uftrace counts
the same in them. Recordings that are merged add up: ids of threads, processes, sessions and events that clash get new ones, clocks
are brought together, modules that differ are told apart, and what contradicts is left out with a finding.
"""

import random
import struct
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from recording_same import judged, objections
from recording_tool import EVENT, Made, Uftrace, convert, rows
from tool import Tap, parse_arguments
import lodejson  # noqa: E402  tool knows where it is


# ---- slices ----

class Call:
    def __init__(self, address, begin, above):
        self.address, self.begin, self.end, self.above = address, begin, None, above
        self.level = above.level + 1 if above else 0


def calls_of(path):
    """The calls in a data file of plain records, callers first."""
    calls, stack = [], []
    for time, word in struct.iter_unpack("<QQ", path.read_bytes()):
        if word & 3 == 0:
            stack.append(Call(word >> 16, time, stack[-1] if stack else None))
            calls.append(stack[-1])
        else:
            stack.pop().end = time
    return calls


def cut(calls, begin=0, end=1 << 64, depth=1 << 32, least=0):
    """{address: [calls, total, self]} of a slice. A call that ends when the window begins is not in it."""
    sums, inside, kept = defaultdict(lambda: [0, 0, 0]), defaultdict(int), {}
    for call in calls:
        first, last = max(call.begin, begin), min(call.end, end)
        meets = call.end > begin or call.begin >= begin
        if meets and call.begin < end and last - first >= least and call.level < depth and (call.above is None or call.above in kept):
            kept[call] = last - first
            inside[call.above] += last - first
    for call, took in kept.items():
        above = call.above
        while above is not None and above.address != call.address:
            above = above.above
        row = sums[call.address]
        row[0] += 1
        row[1] += took if above is None else 0
        row[2] += took - inside[call]
    return sums


def added(parts):
    result = defaultdict(lambda: [0, 0, 0])
    for part in parts:
        for address, numbers in part.items():
            result[address] = [x + y for x, y in zip(result[address], numbers)]
    return dict(result)


def addresses(recording):
    """{(module, offset): address} of a made recording, whose maps and symbols stay where they are."""
    bases = {}
    for line in next(recording.glob("sid-*.map")).read_text().splitlines():
        words = line.split()
        bases[words[5]] = int(words[0].split("-")[0], 16)
    return bases


def written(lode, recording, *options):
    """The same sums, from `lode top`."""
    bases = addresses(recording)
    return {bases[row["module"]] + row["offset"]: [row["calls"], row["total_ns"], row["self_ns"]]
            for row in rows(lode, "top", recording, "--by", "symbol", "--limit", "0", *options)}


def check_slices(tap, lode, folder):
    source = Path(folder) / "source"
    lode.must("synth", "recording", "--records", "60000", "--tasks", "5", "--functions", "60", "-o", source)
    tracks = {int(path.stem): calls_of(path) for path in source.glob("*.dat")}
    moments = sorted(moment for calls in tracks.values() for call in calls for moment in (call.begin, call.end))
    begin, end = moments[len(moments) // 3], moments[len(moments) // 2]
    chance = random.Random(4)
    cases = [
        ("a window", {"begin": begin, "end": end}, None),
        ("from a time on", {"begin": begin}, None),
        ("up to a time", {"end": end}, None),
        ("one nanosecond", {"begin": begin, "end": begin + 1}, None),
        ("one level", {"depth": 1}, None),
        ("five levels", {"depth": 5}, None),
        ("calls of a microsecond", {"least": 1000}, None),
        ("long calls", {"least": 100000}, None),
        ("two tasks", {}, (1001, 1003)),
        ("all of that", {"begin": begin, "end": end, "depth": 7, "least": 300}, (1000, 1004)),
    ]
    for number in range(6):
        first, last = sorted(chance.sample(moments, 2))
        cases.append((f"by chance {number}", {"begin": first, "end": last + 1, "depth": chance.randrange(1, 12),
                                               "least": chance.choice((0, 50, 2000))}, None))
    for number, (title, limits, tids) in enumerate(cases):
        options = []
        options += ["--from", f"@{limits['begin']}"] if "begin" in limits else []
        options += ["--to", f"@{limits['end']}"] if "end" in limits else []
        options += ["--depth", limits["depth"]] if "depth" in limits else []
        options += ["--min-time", f"{limits['least']}ns"] if limits.get("least") else []
        options += ["--task", ",".join(map(str, tids))] if tids else []
        target = convert(lode, Path(folder) / f"slice{number}", source, *options)
        wanted = added(cut(calls, **limits) for tid, calls in tracks.items() if tids is None or tid in tids)
        found, direct = written(lode, target), written(lode, source, *options)
        count = sum(row[0] for row in wanted.values())
        tap.check(found == wanted and direct == wanted, f"{title}: {count} calls, as the records say",
                  [f"{key:#x}: {wanted.get(key)}, written {found.get(key)}, shown {direct.get(key)}"
                   for key in sorted(wanted.keys() | found.keys() | direct.keys())
                   if not wanted.get(key) == found.get(key) == direct.get(key)][:10])
        problems = objections(lode, target)
        tap.check(not problems, f"{title}: sound", problems)
        if not Uftrace.there:
            tap.skip(f"{title}: uftrace counts the same", Uftrace.reason)
        elif count:
            problems = judged(lode, target)
            tap.check(not problems, f"{title}: uftrace counts the same", problems)


# ---- merges ----

def sums(lode, recording, with_module=True):
    return {(row["module"] if with_module else "", row["name"]): (row["calls"], row["total_ns"], row["self_ns"])
            for row in rows(lode, "top", recording, "--by", "symbol", "--limit", "0")}


def merged_sums(lode, *recordings):
    result = {}
    for recording in recordings:
        for key, numbers in sums(lode, recording).items():
            result[key] = tuple(map(sum, zip(result.get(key, (0, 0, 0)), numbers)))
    return result


def check_merged(tap, lode, title, target, wanted):
    found = sums(lode, target)
    tap.check(found == wanted, f"{title}: sums of both", [f"{key}: {wanted.get(key)} became {found.get(key)}"
                                                         for key in wanted.keys() | found.keys() if wanted.get(key) != found.get(key)])
    problems = objections(lode, target)
    tap.check(not problems, f"{title}: sound", problems)
    if Uftrace.there:
        problems = judged(lode, target)
        tap.check(not problems, f"{title}: uftrace counts the same", problems)
    else:
        tap.skip(f"{title}: uftrace counts the same", Uftrace.reason)


def program(**settings):
    """Two threads with a few calls."""
    made = Made(**settings)
    made.call(0, 100, 900)
    made.call(1, 1000, 1300)
    made.call(2, 100, 700, tid=made.pid + 1)
    return made


def tracks_of(lode, recording):
    return sorted((row["pid"], row["tid"]) for row in rows(lode, "profiles", recording, "--limit", "0"))


def convert_loudly(lode, target, *sources):
    """Also what it says."""
    status, out, err = lode.run("convert", *sources, "-o", target)
    if status not in (0, 1):
        raise ValueError(err)
    return target, out.decode() + err


def check_twice(tap, lode, folder):
    """A recording with itself: everything clashes."""
    source = program().write(Path(folder) / "one")
    target = convert(lode, Path(folder) / "twice", source, source)
    wanted = {key: tuple(2 * number for number in numbers) for key, numbers in sums(lode, source).items()}
    check_merged(tap, lode, "twice", target, wanted)
    tap.check(tracks_of(lode, target) == [(100, 100), (100, 101), (102, 102), (102, 103)], "twice: new ids, above all others",
              tracks_of(lode, target))
    maps = sorted(path.name for path in target.glob("sid-*.map"))
    tap.check(len(maps) == 2 and f"sid-{Made().sid}.map" in maps, "twice: two sessions", maps)
    tap.check([path.name for path in target.glob("*.sym")] == ["prog.sym"], "twice: one module")
    again = convert(lode, Path(folder) / "thrice", source, source, source)
    tap.check(tracks_of(lode, again)[-1] == (104, 105), "three times: the next ids", tracks_of(lode, again))


def check_clocks(tap, lode, folder):
    """The second began 2.5 s after the first in UTC, on a machine that had been up for another time."""
    one, other = program(), program(pid=200, sid="fedcba9876543210", name="other", begin=500_000_000)
    one.utc_offset, other.utc_offset = 1_700_000_000, 1_700_000_005
    other.files["extern.dat"] = b"0.500000150 a message\n"
    paths = one.write(Path(folder) / "first"), other.write(Path(folder) / "second")
    target = convert(lode, Path(folder) / "clocks", *paths)
    check_merged(tap, lode, "clocks", target, merged_sums(lode, *paths))
    begins = {row["tid"]: row["begin_ns"] for row in rows(lode, "profiles", target)}
    tap.check(begins == {100: 1_000_000_100, 101: 1_000_000_100, 200: 5_500_000_100, 201: 5_500_000_100}, "clocks: moved by 5 s", [begins])
    tap.check((target / "extern.dat").read_text() == "5.500000150 a message\n", "clocks: messages too")
    offset = lodejson.loads(lode.must("info", "--json", target))["utc_offset_ns"]
    tap.check(offset == 1_700_000_000 * 10**9, "clocks: that of the first is kept", [offset])
    window = convert(lode, Path(folder) / "clocks window", "--from", "@1000001200", "--to", "@5500000500", *paths)
    tap.check(sums(lode, window) == {("/opt/x/prog", "f1"): (1, 100, 100), ("/opt/x/other", "f0"): (1, 400, 400),
                                     ("/opt/x/other", "f2"): (1, 400, 400)},
              "clocks: a window is in that of the first", [sums(lode, window)])
    status, _, err = lode.run("convert", paths[1], paths[0], "-o", Path(folder) / "too early")
    tap.check(status == 2 and "clock" in err and not (Path(folder) / "too early").exists(),
              "clocks: times before the first one's clock begins are refused", [status, err])


def check_modules(tap, lode, folder):
    """Same name, other path; same path, other build; same path, and nothing to tell them apart by."""
    other_symbols = [(0x1000 + 0x40 * i, f"g{i}") for i in range(8)]
    for title, first, second in (("another build", {"build_id": "ab" * 20}, {"build_id": "cd" * 20}), ("no build ids", {}, {})):
        one, other = program(**first), program(pid=200, sid="fedcba9876543210", **second)
        other.symbols = other_symbols
        paths = one.write(Path(folder) / f"{title} 1"), other.write(Path(folder) / f"{title} 2")
        target, err = convert_loudly(lode, Path(folder) / title, *paths)
        wanted = {name: numbers for path in paths for (_, name), numbers in sums(lode, path).items()}
        found = {name: numbers for (_, name), numbers in sums(lode, target).items()}
        tap.check(found == wanted, f"{title}: functions of both", [found, wanted])
        tap.check(("merge-names" in err) == (not first), f"{title}: said if a module is renamed", [err])
        if Uftrace.there:
            problems = judged(lode, target)
            tap.check(not problems, f"{title}: uftrace counts the same", problems)
        else:
            tap.skip(f"{title}: uftrace counts the same", Uftrace.reason)


def check_values(tap, lode, folder):
    """Arguments stay if they are specified alike, or once; otherwise those of the first stay."""
    def with_values(spec, **settings):
        made = Made(**settings)
        made.features |= 8
        made.specs = [f"argspec:{spec}"] if spec else []
        made.record(0, 10, 0, 0, made.number(7, 4) if spec else None)
        made.record(1, 20, 0, 0)
        return made

    def values(recording):
        return sorted(str(row["values"]) for row in rows(lode, "replay", recording) if row["kind"] == "enter")

    second = {"pid": 200, "sid": "fedcba9876543210"}
    cases = (("alike", "f0@arg1/i32", "f0@arg1/i32", ["7", "7"], False), ("once", "f0@arg1/i32", "", ["7", "None"], False),
             ("only the second", "", "f0@arg1/i32", ["7", "None"], False),
             ("contradicting", "f0@arg1/i32", "f0@arg1/u32", ["7", "None"], True))
    for title, one, other, wanted, is_said in cases:
        paths = (with_values(one).write(Path(folder) / f"{title} 1"), with_values(other, **second).write(Path(folder) / f"{title} 2"))
        target, err = convert_loudly(lode, Path(folder) / f"{title} values", *paths)
        tap.check(values(target) == wanted, f"values specified {title}", [values(target)])
        tap.check(("merge-arguments" in err) == is_said, f"values specified {title}: said if some are left out", [err])
        check_merged(tap, lode, f"values specified {title}", target, merged_sums(lode, *paths))


def check_events(tap, lode, folder):
    """Two user events of the same id and other names."""
    paths = []
    for number, settings in enumerate(({}, {"pid": 200, "sid": "fedcba9876543210"})):
        made = program(**settings)
        made.features |= 0x80
        made.record(EVENT, 1400, 0, 1000000)
        made.files["events.txt"] = f"EVENT: 1000000 prog:event{number}\n".encode()
        paths.append(made.write(Path(folder) / f"events {number}"))
    target = convert(lode, Path(folder) / "events", *paths)
    found = {(row["tid"], row["name"]) for row in rows(lode, "replay", target, "--limit", "0") if row["kind"] == "instant"}
    tap.check(found == {(100, "prog:event0"), (200, "prog:event1")}, "events of one id and two names", [found])
    tap.check((target / "events.txt").read_text() == "EVENT: 1000000 prog:event0\nEVENT: 1000001 prog:event1\n", "events: both named")


def check_refusals(tap, lode, folder):
    source = program().write(Path(folder) / "fine")
    target = Path(folder) / "there"
    target.mkdir()
    (target / "something").write_text("else")
    status, _, err = lode.run("convert", "--force", source, "-o", target)
    tap.check(status == 2 and "something, which is not part of the recording" in err and (target / "something").exists(), "what is no recording is not replaced", [err])
    status, _, err = lode.run("convert", "--task", "100", source, source, "-o", Path(folder) / "none")
    tap.check(status == 2 and not (Path(folder) / "none").exists(), "tasks of several recordings are not chosen", [err])


def main():
    options = parse_arguments(__doc__)
    tap = Tap()
    for check in (check_slices, check_twice, check_clocks, check_modules, check_values, check_events, check_refusals):
        with tempfile.TemporaryDirectory(prefix="lode-recording-") as folder:
            try:
                check(tap, options.lode, folder)
            except (ValueError, OSError, KeyError) as error:
                tap.check(False, check.__name__, [repr(error)])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
