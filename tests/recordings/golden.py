# SPDX-License-Identifier: BSD-3-Clause
"""What uftrace printed, as data. A time has three decimals in its unit, so it stands for a range of nanoseconds."""

import re
from typing import NamedTuple

UNITS = {"us": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "m": 60_000_000_000, "h": 3_600_000_000_000}
TIME = r"(\d+\.\d+) (us|ms| s| m| h)"


class Time(NamedTuple):
    """A printed time: the nanoseconds that it says, and the step that it was cut off to."""
    ns: int
    step: int

    def fits(self, ns):
        """Whether it is what uftrace prints for this many nanoseconds: digits behind the third are cut off."""
        return self.ns <= ns < self.ns + self.step

    def __str__(self):
        return f"{self.ns} ns" if self.step == 1 else f"{self.ns}..{self.ns + self.step - 1} ns"


def parse_time(text):
    """An empty column is how uftrace prints no time at all."""
    match = re.fullmatch(r"\s*" + TIME + r"\s*", text)
    if not match:
        if text.strip():
            raise ValueError(f"no time: {text!r}")
        return Time(0, 1)
    unit = UNITS[match.group(2).strip()]
    whole, fraction = match.group(1).split(".")
    return Time(int(whole) * unit + int(fraction) * unit // 10 ** len(fraction), unit // 10 ** len(fraction))


def _table(text):
    """The lines below the rule of a table; what is above it are messages and the header."""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if re.fullmatch(r"[ =]+", line) and "==" in line:
            return lines[i + 1:]
    return []


def report(text):
    """{name: (calls, total, self)} of `uftrace report`."""
    result = {}
    for line in _table(text):
        total, self_time, calls, name = line[:12], line[12:24], line[24:36], line[38:]
        if name in result:
            raise ValueError(f"twice in a report: {name}")
        result[name] = (int(calls), parse_time(total), parse_time(self_time))
    return result


def report_task(text):
    """{tid: (functions, total, self, name)} of `uftrace report --task`."""
    result = {}
    for line in _table(text):
        tid, functions, name = re.fullmatch(r" *(\d+) +(\d+)  (.*?) *", line[24:]).groups()
        result[int(tid)] = (int(functions), parse_time(line[:12]), parse_time(line[12:24]), name)
    return result


class Item(NamedTuple):
    """One thing that a replay shows. A call without others inside is on one line, and two items: enter and leave."""
    tid: int
    kind: str  # enter, leave, note
    level: int
    name: str  # of a function; of a note, all of it
    values: str = ""  # arguments of enter, result of leave
    duration: object = None  # a Time; of leave, and of notes that end something


LINE = re.compile(r"(?P<time>.{10,12}?) (?:\[ *(?P<tid>\d+)\]| {8,9}) \| (?P<indent> *)(?P<text>.*)", re.S)
COMMENT = re.compile(r"/\* (.*) \*/$", re.S)
CLOSE = re.compile(r"\}(?: = (?P<result>.*))?;? /\* (?P<name>.*?)(?:, end not recorded)? \*/$", re.S)
OPEN = re.compile(r"(?P<call>.*) \{(?: /\* from .* \*/)?$", re.S)
LEAF = re.compile(r"(?P<call>.*?\))(?: = (?P<result>.*))?;(?: /\* (?:from .*|end not recorded) \*/)?$", re.S)


def _lines(text):
    """Lines, with those that a value broke joined again. Ends where uftrace lists what was left open, and Lode its findings."""
    result = []
    for line in text.split("\n"):
        if line.startswith("uftrace stopped tracing") or re.match(r"\d+ findings?: ", line):
            break
        if line.startswith("# DURATION") or not line and not result:
            continue
        if LINE.match(line):
            result.append(line)
        elif result:
            result[-1] += "\n" + line
    return [line.rstrip("\n") for line in result]


def _call(text):
    """Name and arguments of `name(arguments)`."""
    name, _, rest = text.partition("(")
    if name.endswith("operator"):
        head, _, rest = rest.partition("(")
        name += "(" + head
    return name, rest.rstrip()[:-1]


def replay(text):
    """[Item] of `uftrace replay`."""
    result = []
    for line in _lines(text):
        match = LINE.match(line)
        duration = parse_time(match["time"]) if match["time"].strip() else None
        tid, level, body = int(match["tid"] or 0), len(match["indent"]) // 2, match["text"]
        if note := COMMENT.match(body):
            result.append(Item(tid, "note", level, note[1], duration=duration))
        elif closed := CLOSE.match(body):
            result.append(Item(tid, "leave", level, closed["name"], closed["result"] or "", duration))
        elif opened := OPEN.match(body):
            name, values = _call(opened["call"])
            result.append(Item(tid, "enter", level, name, values))
        elif leaf := LEAF.match(body):
            name, values = _call(leaf["call"])
            result.append(Item(tid, "enter", level, name, values))
            result.append(Item(tid, "leave", level, name, leaf["result"] or "", duration))
        else:
            raise ValueError(f"no line of a replay: {line!r}")
    return result


NODE = re.compile(r"(?P<time>.{10,12}?) :(?P<tree>[ |+-]*)\((?P<calls>\d+)\) (?P<name>.*)")


def graph(text):
    """{path: (calls, total)} of `uftrace graph`, over all its programs; a path is the names from the outermost call on."""
    result, parents, last = {}, {}, None
    for line in text.splitlines():
        match = NODE.fullmatch(line)
        if not match:
            continue
        column = len(match["tree"])
        if not match["tree"].strip(" "):
            # An only child, below the line before it; the first is the program.
            path = last[1] + (match["name"],) if last and last[0] == column else ()
        else:
            if match["tree"].endswith("+-"):
                if last[0] == column - 3:
                    parents[column] = last[1]
                path = parents[column] + (match["name"],)
            else:
                path = last[1] + (match["name"],)
        last = (column, path)
        if path:
            calls, time = result.get(path, (0, Time(0, 0)))
            printed = parse_time(match["time"])
            result[path] = (calls + int(match["calls"]), Time(time.ns + printed.ns, time.step + printed.step))
    return result
