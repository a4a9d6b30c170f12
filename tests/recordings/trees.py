# SPDX-License-Identifier: BSD-3-Clause
"""
Traces as call trees, against what the original program's readers said of them and the texts that it wrote: every call with its share and
times, attributes, and exceptions with stacks and causes. trees.py --lode FILE
"""

import json
import re
import subprocess
import sys
from fractions import Fraction

from zorka import Tap, corpus, is_chunked, java_types, pairs
import corpora  # zorka knows where it is

TICK = 65536  # nanoseconds
NUMBERS = 33  # columns in front of names: share, duration, time in itself, mark
UNITS = {"us": 1000, "ms": 1000**2, "s": 1000**3}


class Texts:
    """The text index, as the original program listed it."""

    def __init__(self, expected):
        listed = expected.split("== text index", 1)[1].splitlines()
        self.items = {int(line.split("\t")[0]): unescape(line.split("\t")[1]) for line in listed if re.match(r"\d+\t", line)}

    def plain(self, number):
        text = self.items[number] if number else ""
        return text[1:-1] if text and ord(text[0]) < 8 else text

    def parts(self, number):
        """Numbers between marks, base 64."""
        return [sum((ord(digit) - 48) << 6 * place for place, digit in enumerate(reversed(part)))
                for part in self.items[number][1:-1].split(self.items[number][0])]

    def exception(self, number, words=""):
        """As lines, with those that caused it."""
        name, message, stack, cause = self.parts(number)
        lines = [f"! {words}{self.plain(name)}: {self.plain(message)}"]
        for item in self.parts(stack) if stack else []:
            where, method, file, line = self.parts(item)
            lines.append(f"    at {self.plain(where)}.{self.plain(method)}({self.plain(file)}:{line})")
        return lines + (self.exception(cause, "caused by ") if cause else [])

    def value(self, text):
        if text.startswith("ref["):
            return self.plain(int(text[4:-1]))
        if text.startswith("["):
            return [self.value(part) for part in re.split(r", ", text[1:-1])]
        if text.startswith("{"):
            return self.attributes(text)
        return {"null": None, "true": True, "false": False}[text] if text.isalpha() else int(text)

    def attributes(self, text):
        if text == "null":
            return {}
        found = [re.fullmatch(r"ref\[(\d+)\]=(.*)", pair) for pair in pairs(text[1:-1])]
        return {self.plain(int(match[1])): self.value(match[2]) for match in found}


def unescape(text):
    return re.sub(rb"\\x([0-9a-f]{2})", lambda match: bytes([int(match[1], 16)]), text.encode()).decode()


def blocks(expected, texts):
    """The calls of each trace that was read whole: (level, name, ticks, attributes, exception)."""
    found = []
    for line in expected.split("== text index", 1)[0].splitlines():
        match = re.fullmatch(r"(  +)(.*) mid=\d+ .*dur=(-?\d+) .*eid=(\d+) attrs=(.*)", line)
        if line.startswith(("== trace", "slot ")):
            found.append((line, []))
        elif match:
            level, number = len(match[1]) // 2 - 1, int(match[4])
            found[-1][1].append((level, match[2], int(match[3]), texts.attributes(match[5]), texts.exception(number) if number else []))
    return [(head, calls) for head, calls in found if calls and not is_chunked(head)]


def java_name(text):
    match = re.fullmatch(r"(\S+?)\((\S*)\)(\S+)", text)
    return f"{java_types(match[3])[0]} {match[1]}({', '.join(java_types(match[2]))})"


def parse(text):
    """What a replay printed, in the same form, by trace; with the share, the time in itself and the mark."""
    traces, stack = [], []
    for line in text.splitlines():
        rest = line[NUMBERS:]
        level = (len(rest) - len(rest.lstrip())) // 2
        if line.startswith("Request "):
            traces.append((line, []))
        elif "%" in line[:8]:
            share, duration, own = line[:8].split()[0], line[8:19].split(), line[19:30].split()
            call = {"level": level, "name": java_name(rest.strip()), "share": share, "duration": duration, "self": own, "mark": line[31] == "!",
                    "attributes": {}, "exception": []}
            traces[-1][1].append(call)
            stack[level:] = [call]
        elif rest.strip().startswith(("!", "at ")):
            # A stack is indented by four more.
            call = stack[level - 1] if rest.strip().startswith("!") else stack[level - 3]
            call["exception"].append(rest[2 * (call["level"] + 1):])
        elif " = " in rest:
            key, value = rest.strip().split(" = ", 1)
            stack[level - 1]["attributes"][key] = json.loads(value.replace("NULL", "null"))
    return traces


def is_time(words, nanoseconds):
    """Three digits behind the point, rounded."""
    unit = UNITS[words[1]]
    return abs(Fraction(words[0]) * unit - nanoseconds) <= Fraction(unit, 2000) and (unit == 1000 or nanoseconds * 2000 >= unit * 1999)


def differences(calls, ours, total, start):
    """What is not as it should be in calls that stand one behind the other in a trace."""
    wrong = []
    for i, (level, name, ticks, attributes, exception) in enumerate(calls):
        call = ours[start + i]
        inside = 0
        for other in calls[i + 1:]:
            if other[0] <= level:
                break
            inside += other[2] if other[0] == level + 1 else 0
        share = f"{100 * ticks / total:.1f}"
        if (call["level"] - ours[start]["level"], call["name"], call["attributes"], call["exception"]) != (level, name, attributes, exception):
            wrong.append((call, name, attributes, exception))
        if call["mark"] != bool(exception) or call["share"] != share:
            wrong.append((call, share))
        if not is_time(call["duration"], ticks * TICK) or not is_time(call["self"], (ticks - inside) * TICK):
            wrong.append((call, ticks, inside))
    return wrong


def find(calls, traces, root):
    """Where they stand: the trace, and the place in it."""
    for head, ours in traces:
        for start in range(len(ours) - len(calls) + 1):
            if all(ours[start + i]["name"] == name for i, (_, name, *_) in enumerate(calls)) and (not root or len(ours) == len(calls)):
                return head, ours, start
    return None


def compare(tap, lode, root, name, expected_name):
    expected = (root / expected_name).read_text()
    texts = Texts(expected)
    said = subprocess.run([lode, "replay", "--names", "raw", root / "stores" / name], capture_output=True, text=True, check=False)
    traces = parse(said.stdout)
    tap.check(said.returncode == 0 and not said.stderr and len(traces) == 5, f"{name}: five traces", [said.stderr, said.stdout])
    for head, calls in blocks(expected, texts):
        is_root = " startOffs=0 " in head or head.startswith("== trace")
        found = find(calls, traces, is_root) or find(calls, traces, False)
        if not tap.check(found is not None, f"{name}: {head[:40]} is there", [calls, said.stdout]):
            continue
        line, ours, start = found
        total = calls[0][2] if start == 0 else next(c[0][2] for _, c in blocks(expected, texts) if len(c) == len(ours) and c[0][1] == ours[0]["name"])
        wrong = differences(calls, ours, total, start)
        tap.check(not wrong, f"{name}: {head[:40]}: {len(calls)} calls with shares, times, attributes and exceptions", wrong)
        errors = sum(bool(call[4]) for call in calls)
        words = f"{len(calls)} call{'s' * (len(calls) > 1)}" + (f", {errors} error{'s' * (errors > 1)}" if errors else "")
        tap.check(start > 0 or line.endswith(", " + words), f"{name}: {head[:40]}: its heading counts them", [line])


def folding(tap, lode, store):
    """What is folded is still counted: calls, time and errors."""
    def replay(*options):
        return subprocess.run([lode, "replay", "--names", "raw", *options, store], capture_output=True, text=True, check=False).stdout
    whole = parse(replay())
    for percent in (10, 42, 95, 100):
        wrong = []
        text = replay("--min-percent", str(percent))
        folded = {head: calls for head, calls in parse(re.sub(r"(?m)^.*\.\.\. .*\n", "", text))}
        for head, calls in whole:
            # What is long is shown, if all around it is; it always is.
            long = [call["name"] for call in calls if float(call["share"]) >= percent]
            part = text.split(head + "\n", 1)[1].split("\nRequest ", 1)[0]
            counts = [(int(match[1]), int(match[2] or 0)) for match in re.finditer(r"\.\.\. (\d+) calls?(?:, (\d+) errors?)?$", part, re.M)]
            errors = sum(call["mark"] for call in calls)
            if [call["name"] for call in folded[head]] != long or len(long) + sum(count for count, _ in counts) != len(calls) \
                    or sum(call["mark"] for call in folded[head]) + sum(count for _, count in counts) != errors:
                wrong.append((head, long, counts, part))
        tap.check(not wrong, f"below {percent} %: folded calls and errors are counted", wrong)
    tap.check(" 49.0 %  642.253 ms                ... 3 calls\n" in replay("--min-percent", "30"), "calls side by side are one line, with all their time")
    tap.check(" ! " + "  ... 2 calls, 2 errors\n" in replay("--min-percent", "95"), "errors among them are said, and marked")
    text = replay("--limit", "7")
    tap.check(text.splitlines()[-1].startswith("showing 7 lines") and len([line for line in text.splitlines() if line]) == 9,
              "so many lines, below those that say what they are", [text])
    text = replay("--depth", "1")
    tap.check([len(calls) for _, calls in parse(text)] == [1] * 5, "the outermost calls only", [text])
    text = replay("--min-time", "1300ms")
    tap.check([len(calls) for _, calls in parse(text)] == [1] * 4, "long calls only, and traces that have some", [text])


def main():
    tap = Tap()
    lode, root = sys.argv[sys.argv.index("--lode") + 1], corpus()
    if root is None or corpora.is_own():
        tap.skip("traces as call trees", "what the original program says of stores is in the larger corpus")
        return tap.finish()
    compare(tap, lode, root, "master", "master-expected.txt")
    compare(tap, lode, root, "master-fmi", "master-expected.txt")
    compare(tap, lode, root, "first", "first-expected.txt")
    folding(tap, lode, root / "stores" / "master")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
