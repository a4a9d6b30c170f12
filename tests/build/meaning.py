#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What a built database means: quantities that go down are no damage, a share of nothing is not printed, a clock that is not UTC is not shown as
a date, off-CPU time is no call, and functions have the names that hpcprof gives them.
"""

import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from building import ROOT, Lode, Tap, corpus_recordings, parse_arguments

sys.path[1:1] = [str(ROOT / "tests" / "recordings")]

import made  # noqa: E402

FUNCTIONS = {"main": 0x1000, "parent": 0x1040, "child": 0x1080, "_ZN5outer5innerEi": 0x10C0}
READ, DIFF = 100001, 100003  # proc/statm: vmsize, vmrss, shared
GROWN = 65536
PROGRAM = ROOT / "tests" / "build" / "memory_back.c"


def counters(*values):
    data = struct.pack("<3q", *values)
    return struct.pack("<H", len(data)) + data


class Program:
    """Records of one task."""

    def __init__(self):
        self.records, self.depth, self.time = [], 0, made.TIME

    def _add(self, kind, depth, address, payload=None):
        self.time += 1000
        self.records.append(made.record(kind, self.time, depth, address, payload))

    def call(self, name):
        self._add("entry", self.depth, made.BASE + FUNCTIONS[name])
        self._add("event", self.depth, READ, counters(0, 0, 0))
        self.depth += 1

    def leave(self, name, *changes):
        self.depth -= 1
        self._add("event", self.depth, DIFF, counters(*changes))
        self._add("exit", self.depth, made.BASE + FUNCTIONS[name])


def rising_and_falling():
    """What a child maps its parent unmaps; another one leaves something less than there was."""
    program = Program()
    program.call("main")
    program.call("parent")
    program.call("child")
    program.leave("child", GROWN, GROWN, 4)
    program.leave("parent", 0, 0, 4)
    program.call("_ZN5outer5innerEi")
    program.leave("_ZN5outer5innerEi", 0, -8, 0)
    program.leave("main", 0, -8, 4)
    return program


def write(folder):
    program = rising_and_falling()
    folder.mkdir()
    waits = [(100, made.TIME + 1500, "out"), (100, made.TIME + 1700, "in")]
    made.write(folder, {100: program.records}, waits, FUNCTIONS)
    return folder


def check_quantities(tap, lode, database):
    complaints = lode.complaints(database)
    tap.check(not complaints, "what goes down and comes to nothing is no damage", complaints)
    converted = database.parent / "converted"
    lode.must("convert", database, "-o", converted)
    complaints = lode.complaints(converted)
    tap.check(not complaints, "nor is it after a conversion", complaints)
    rows = {row["name"]: (row["exclusive"], row["inclusive"], row["exclusive_percent"], row["inclusive_percent"])
            for row in lode.json("top", database, "--limit", 0, "--metric", "proc/statm vmsize (KB)")["rows"]}
    wanted = {"child [prog]": (GROWN, GROWN, None, None), "parent [prog]": (-GROWN, 0, None, None)}
    tap.check(rows == wanted, "vmsize: rows that add up to nothing have no shares", [rows])
    text = lode.must("top", "--metric", "vmsize", database)
    tap.check(not re.search(r"\d%", text), "and none is printed", text.splitlines())
    rows = {row["name"]: row["exclusive"] for row in lode.json("top", database, "--limit", 0, "--metric", "vmrss")["rows"]}
    wanted = {"main [prog]": 0, "child [prog]": GROWN, "parent [prog]": -GROWN, "outer::inner(int) [prog]": -8}
    tap.check(rows == wanted, "vmrss: what each has of its own", [rows])
    rows = [(row["depth"], row["name"], row["inclusive"], row["exclusive"])
            for row in lode.json("tree", database, "--metric", "vmsize", "--limit", 0)["rows"]]
    wanted = [(0, "main thread", 0, 0), (1, "main [prog]", 0, 0), (2, "parent [prog]", 0, -GROWN), (3, "child [prog]", GROWN, GROWN)]
    tap.check(rows == wanted, "vmsize: the tree shows what cancels out", [rows])
    rows = [(row["depth"], row["name"], row["inclusive"])
            for row in lode.json("tree", database, "--bottom-up", "--metric", "vmsize", "--depth", 1, "--limit", 0)["rows"]]
    tap.check(sorted(rows) == [(0, "child [prog]", GROWN), (0, "parent [prog]", -GROWN)], "vmsize: callers of what cancels out", [rows])


def check_damage(tap, lode, database):
    """A value of a falling quantity that is not what its parts give is found, wherever it is stored: own and inclusive."""
    path = database / "profile.db"
    whole = path.read_bytes()
    found, places = 0, [match.start() for number in (GROWN, -GROWN) for match in re.finditer(re.escape(struct.pack("<d", number)), whole)]
    for place in places:
        value, = struct.unpack_from("<d", whole, place)
        path.write_bytes(whole[:place] + struct.pack("<d", value + 1) + whole[place + 8:])
        found += "scope-" in lode.run("check", "--level", "full", "--verbose", database).stdout
    path.write_bytes(whole)
    # Of two metrics, the child's own and inclusive value and the parent's own; not those of scope lex_aware, which need not add up, nor
    # those of the summary, which has rules of its own.
    tap.check(len(places) == 20 and found == 6, "damaged values are found by what they should add up to", [len(places), found])


def check_clock(tap, lode, database):
    info, trace = lode.json("info", database)["traces"], lode.json("trace", database)
    tap.check(info["is_utc"] is False and trace["is_utc"] is False, "a clock that started with the machine is not UTC", [info])
    for command in ("info", "trace"):
        text = lode.must(command, database)
        tap.check("1970" not in text and "1.000 s (not UTC)" in text, f"{command} says so", text.splitlines())


def check_calls(tap, lode, recording, database):
    rows = {row["name"]: row["exclusive"] for row in lode.json("top", database, "--limit", 0, "--metric", "calls")["rows"]}
    wanted = {"main [prog]": 1, "parent [prog]": 1, "child [prog]": 1, "outer::inner(int) [prog]": 1}
    tap.check(rows == wanted, "off-CPU time is no call; names are demangled, with the module where there is no source", [rows])
    times = {row["name"]: round(row["exclusive"] * 1e9) for row in lode.json("top", database, "--limit", 0)["rows"]}
    tap.check(times.get("linux:schedule") == 200, "its time is there", [times])
    said = lode.json("top", recording)["calls"]
    tap.check(said == sum(rows.values()), "as many calls as in the recording", [said])


def check_flipped(tap, lode, folder):
    """A counter of a real recording that two flipped bits make fall."""
    recording = corpus_recordings().get("events")
    if recording is None:
        tap.skip("a recording with flipped bits", "there is no corpus")
        return
    copy, database = Path(folder) / "flipped", Path(folder) / "flipped-db"
    shutil.copytree(recording, copy, copy_function=shutil.copyfile)
    data = bytearray((copy / "20854.dat").read_bytes())
    data[1359] ^= 0x08
    data[1362] ^= 0x40
    copy.chmod(0o755)
    (copy / "20854.dat").write_bytes(data)
    lode.must("build", copy, "-o", database)
    complaints = lode.complaints(database)
    tap.check(not complaints, "a recording with flipped bits makes a sound database", complaints)


def check_live(tap, lode, folder):
    """A program that maps memory in one function and unmaps it in another, as uftrace records it here."""
    if shutil.which("uftrace") is None or shutil.which("gcc") is None:
        tap.skip("memory that is given back", "there is no uftrace or no gcc")
        return
    subprocess.run(["gcc", "-pg", "-O0", "-o", "mem", PROGRAM], cwd=folder, check=True)
    triggers = [word for name in ("child", "parent", "main") for word in ("-T", f"{name}@read=proc/statm")]
    done = subprocess.run(["uftrace", "record", "--no-libcall", *triggers, "-d", "mem.data", "./mem"], cwd=folder, capture_output=True,
                          text=True, check=False)
    if not tap.check(done.returncode == 0, "memory that is given back is recorded", done.stderr.splitlines()):
        return
    database = Path(folder) / "mem-db"
    lode.must("build", Path(folder) / "mem.data", "-o", database)
    complaints = lode.complaints(database)
    tap.check(not complaints, "memory that is given back makes a sound database", complaints)
    rows = {row["name"]: row["exclusive"] for row in lode.json("top", database, "--limit", 0, "--metric", "vmsize")["rows"]}
    tap.check(rows.get("child [mem]", 0) >= GROWN and rows.get("parent [mem]", 0) <= -GROWN, "it goes up and down", [rows])


def main():
    options = parse_arguments(__doc__)
    lode, tap = Lode(options.lode), Tap()
    with tempfile.TemporaryDirectory(prefix="lode-meaning-") as name:
        recording, database = write(Path(name) / "data"), Path(name) / "db"
        lode.must("build", recording, "-o", database)
        check_quantities(tap, lode, database)
        check_damage(tap, lode, database)
        check_clock(tap, lode, database)
        check_calls(tap, lode, recording, database)
        check_flipped(tap, lode, name)
        check_live(tap, lode, name)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
