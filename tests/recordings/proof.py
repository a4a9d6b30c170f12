# SPDX-License-Identifier: BSD-3-Clause
"""
Proofs on raw records. A proof names points, such as "20754.dat:0x50 entry 1 pthread_exit", which must be found as
stated at that offset, and gives numbers as formulas on their times. It looks at bytes: the reader is used to name
addresses only.
"""

import re
import struct

import reader

FORMULA = re.compile(r"[\w\s+\-*()]+")
PERF_TIMES = {reader.PERF_SWITCH: 16, reader.PERF_EXIT: 24, reader.PERF_FORK: 24}


class Wrong(Exception):
    """A point that is not as stated."""


def point(recording, text):
    """The time at a point."""
    place, _, stated = text.partition(" ")
    name, _, offset = place.rpartition(":")
    if name == "task.txt":
        return _line_time(recording, int(offset), stated)
    data, offset = (recording.folder / name).read_bytes(), int(offset, 16)
    time, found = _perf_point(data, offset) if name.startswith("perf") else _record_point(recording, name, data, offset)
    if found != stated:
        raise Wrong(f"{place} is {found!r}, not {stated!r}")
    return time


def _line_time(recording, number, stated):
    line = (recording.folder / "task.txt").read_text().splitlines()[number - 1]
    match = re.match(r"(\w+) timestamp=(\d+)\.(\d{9}) (?:tid|pid)=(\d+)", line)
    if f"{match.group(1)} {match.group(4)}" != stated:
        raise Wrong(f"line {number} of task.txt is {line!r}, not of {stated!r}")
    return int(match.group(2)) * 10**9 + int(match.group(3))


def _perf_point(data, offset):
    kind, misc, size = struct.unpack_from("<IHH", data, offset)
    time, = struct.unpack_from("<Q", data, offset + PERF_TIMES[kind])
    tid, = struct.unpack_from("<I", data, offset + (12 if kind == reader.PERF_SWITCH else 16))
    if kind == reader.PERF_SWITCH:
        what = "in" if not misc & reader.MISC_OUT else "preempted" if misc & reader.MISC_PREEMPT else "out"
    else:
        what = "exit" if kind == reader.PERF_EXIT else "new"
    return time, f"{what} {tid}"


def _record_point(recording, name, data, offset):
    time, word = struct.unpack_from("<QQ", data, offset)
    kind, address = reader.KINDS[word & 3], word >> 16
    if kind == "event":
        return time, f"event {address}"
    function = recording.resolve(int(name[:-4]), time, address)
    return time, f"{kind} {word >> 6 & 0x3FF} {function.name or hex(address)}"


def count(recording, kind, function):
    """Records of a kind with the address of a function, in all files."""
    kind = reader.KINDS.index(kind)
    return sum(record.kind == kind and recording.resolve(tid, record.time, record.address).name == function
               for tid in recording.tids for record in recording.records(tid))


class Points:
    """The points of a proof, for formulas."""

    def __init__(self, recording, points):
        self.recording = recording
        self.times = {name: point(recording, text) for name, text in points.items()}

    def value(self, formula):
        """A number, a sum of times, or how many records there are: "entries name", "exits name"."""
        if isinstance(formula, int) or formula is None:
            return formula
        match = re.fullmatch(r"(entries|exits) (\S+)(?: ([+-]) (\d+))?", formula)
        if match:
            kind, function, sign, number = match.groups()
            kind = "entry" if kind == "entries" else "exit"
            return count(self.recording, kind, function) + (int(f"{sign}{number}") if sign else 0)
        if not FORMULA.fullmatch(formula):
            raise Wrong(f"no formula: {formula!r}")
        return eval(formula, {"__builtins__": {}}, dict(self.times))  # noqa: S307  only names, numbers and signs
