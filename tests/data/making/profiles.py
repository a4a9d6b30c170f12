# SPDX-License-Identifier: BSD-3-Clause
"""
Profiles of pprof and folded stacks from samples that are given, and what other tools say of them: rows by function as `go tool pprof -top` has them
(a function counts once in a stack; its own cost is where it is innermost), frames of folded stacks likewise.
"""

import gzip
import json

# ---- profile.proto ----


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value) if value else b""


def message(field, body):
    return varint(field << 3 | 2) + varint(len(body)) + body


def packed(field, values):
    return message(field, b"".join(map(varint, values))) if values else b""


class Profile:
    """Samples as (stack, values, labels): the stack from the innermost on, frames as (function, line), several in a tuple where code was inlined."""

    def __init__(self, types, default=None):
        self.types, self.default = types, default
        self.texts, self.functions, self.locations, self.samples = {"": 0}, {}, {}, []

    def _text(self, text):
        return self.texts.setdefault(text, len(self.texts))

    def _location(self, frame):
        frames = frame if isinstance(frame[0], tuple) else (frame,)
        for name, _ in frames:
            self.functions.setdefault(name, len(self.functions) + 1)
        return self.locations.setdefault(frames, len(self.locations) + 1)

    def add(self, stack, *values, **labels):
        self.samples.append(([self._location(frame) for frame in stack], values, labels))

    def _label(self, key, value):
        what = number(2, self._text(value)) if isinstance(value, str) else number(3, value)
        return message(3, number(1, self._text(key)) + what)

    def bytes(self):
        kinds = b"".join(message(1, number(1, self._text(type)) + number(2, self._text(unit))) for type, unit in self.types)
        samples = b"".join(message(2, packed(1, stack) + packed(2, values) + b"".join(self._label(*label) for label in labels.items()))
                           for stack, values, labels in self.samples)
        mapping = message(3, number(1, 1) + number(2, 0x400000) + number(3, 0x500000) + number(5, self._text("/opt/app/bin/app")) + number(7, 1))
        locations = b"".join(message(4, number(1, id) + number(2, 1) + number(3, 0x400000 + 16 * id) + b"".join(
            message(4, number(1, self.functions[name]) + number(2, line)) for name, line in frames)) for frames, id in self.locations.items())
        functions = b"".join(message(5, number(1, id) + number(2, self._text(name)) + number(3, self._text(name)) + number(4, self._text("/src/app.go")) + number(5, 1))
                             for name, id in self.functions.items())
        default = number(14, self._text(self.default)) if self.default else b""
        texts = b"".join(message(6, text.encode()) for text in self.texts)
        return kinds + samples + mapping + locations + functions + texts + number(9, 1_700_000_000_000_000_000) + number(10, 1_000_000_000) + default

    def rows(self, index):
        """{function: [own, inclusive]}"""
        by_id, rows = {id: frames for frames, id in self.locations.items()}, {}
        for stack, values, _ in self.samples:
            names = [name for id in stack for name, _ in by_id[id]]
            for name in set(names):
                rows.setdefault(name, [0, 0])[1] += values[index]
            if names:
                rows[names[0]][0] += values[index]
        return rows

    def expected(self, file):
        types = [{"index": i, "type": type, "unit": unit, "sum": sum(values[i] for _, values, _ in self.samples),
                  "functions": [[name, *costs] for name, costs in sorted(self.rows(i).items())]} for i, (type, unit) in enumerate(self.types)]
        return {"file": file, "verdict": "accepted", "legacy": False, "types": types, "default_type": self.default or self.types[-1][0]}


MAIN, RUN, PARSE, READ, SUM, NORM = (("main.main", 10), ("main.run", 20), ("main.parse", 31), ("os.(*File).Read", 7), ("main.sum", 44), ("main.norm", 52))


def cpu():
    profile = Profile([("samples", "count"), ("cpu", "nanoseconds")])
    for i, stack in enumerate(([SUM, RUN, MAIN], [(NORM, SUM), RUN, MAIN], [READ, PARSE, RUN, MAIN], [PARSE, RUN, MAIN], [MAIN], [SUM, SUM, SUM, RUN, MAIN])):
        profile.add(stack, i + 1, (i + 1) * 10_000_000)
    return profile


def labelled():
    profile = Profile([("samples", "count"), ("cpu", "nanoseconds")])
    for i in range(12):
        profile.add([[SUM, RUN, MAIN], [PARSE, RUN, MAIN], [READ, MAIN]][i % 3], 1 + i % 2, (1 + i % 2) * 5_000_000, thread=f"worker-{i % 4}", request=100 + i)
    return profile


def heap(is_after):
    profile = Profile([("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")], "inuse_space")
    for i, stack in enumerate(([PARSE, RUN, MAIN], [READ, PARSE, RUN, MAIN], [SUM, RUN, MAIN], [NORM, RUN, MAIN])):
        if is_after and i == 3:
            continue
        factor = 3 if is_after and i == 1 else 1
        profile.add(stack, 40 * factor, 4096 * (i + 1) * factor, 10 * i * factor, 1024 * i * factor)
    if is_after:
        profile.add([("main.cache", 60), MAIN], 8, 65536, 8, 65536)
    return profile


def difference():
    """What is after less what was before, as `pprof -diff_base` has it."""
    profile = heap(True)
    before = heap(False)
    for stack, values, _ in before.samples:
        frames = {id: frames for frames, id in before.locations.items()}
        profile.add([frames[id] if len(frames[id]) > 1 else frames[id][0] for id in stack], *(-value for value in values))
    return profile


PROFILES = {"cpu.pb.gz": cpu, "labels.pb.gz": labelled, "heap-before.pprof": lambda: heap(False), "heap-after.pprof": lambda: heap(True),
            "heap-difference.pb.gz": difference, "plain.pb": cpu}


def compressed(data):
    return gzip.compress(data, 9, mtime=0)


def broken():
    """Files that pprof refuses: {name: (what, bytes)}."""
    whole = cpu().bytes()
    return {
        "cut.pb": ("the last message ends early", whole[:-3]), "cut.pb.gz": ("the gzip stream ends early", compressed(whole)[:-20]),
        "sum.pb.gz": ("the checksum of the gzip stream is wrong", compressed(whole)[:-8] + b"\1\2\3\4" + compressed(whole)[-4:]),
        "text-index.pb": ("a sample type has a name that is not in the table", message(1, number(1, 99)) + whole),
        "location.pb": ("a sample has a location that does not exist", whole + message(2, packed(1, [77]) + packed(2, [1, 2]))),
        "values.pb": ("a sample has one value instead of two", whole + message(2, packed(1, [1]) + packed(2, [1]))),
        "function.pb": ("a line has a function that does not exist", whole + message(4, number(1, 90) + message(4, number(1, 91))))}


# ---- folded stacks ----

FOLDED = {
    "simple": ["main;run;sum 5", "main;run;parse 3", "main 1", "main;run;sum 2"],
    "recursive": ["main;walk;walk;walk 4", "main;walk 1", "main;walk;leaf;walk 2"],
    "blanks": ["main loop;operator new(unsigned long) 7", "main loop;a b c [d] 1", "Builtin:A builtin;x 12"],
    "comments": ["# mode: wall", "", "main;idle 4", "   ", "main;work 6"],
    "bad-lines": ["main;run 3", "no count here", "main;run;deep 4", ";;", "main 12x"],
    "two-columns": ["main;a 3 5", "main;b 0 2", "main;c 7 7"],
    "fractions": ["main;a 0.5", "main;b 1.25", "main 3"],
    "large": [f"main;f{i % 7};g{i % 11};h{i % 3} {i * 1000 + 1}" for i in range(300)],
}


def _counts(line):
    """Frames and numbers at the end; None if there is no number, or no stack."""
    words, numbers = line.rstrip().split(" "), []
    while len(words) > 1 and words[-1].replace(".", "", 1).isdigit():
        numbers.insert(0, float(words.pop()))
    return (" ".join(words).split(";"), numbers) if numbers and "".join(words).strip() else None


def counted(lines):
    lines = [line for line in lines if line.strip() and not line.strip().startswith("#")]
    found = [one for one in map(_counts, lines) if one]
    columns, rows = 2 if all(len(numbers) > 1 for _, numbers in found) else 1, {}
    for frames, numbers in found:
        for column, value in enumerate(numbers[-columns:]):
            for name in set(frames):
                rows.setdefault(name, ([0] * columns, [0] * columns))[1][column] += value
            rows[frames[-1]][0][column] += value
    totals = [sum(numbers[-columns:][column] for _, numbers in found) for column in range(columns)]
    return {"lines": len(found), "bad": len(lines) - len(found), "totals": totals, "functions": [[name, *costs] for name, costs in sorted(rows.items())]}


def make(pprof, folded):
    for folder in (pprof / "expected", pprof / "handmade", folded / "expected"):
        folder.mkdir(parents=True)
    for name, profile in PROFILES.items():
        data = profile().bytes()
        (pprof / name).write_bytes(data if name.endswith(".pb") else compressed(data))
        (pprof / "expected" / f"{name}.json").write_text(json.dumps(profile().expected(name), indent=1) + "\n")
    (pprof / "handmade" / "expected.json").write_text(json.dumps({name: {"what": what, "go": "refused"} for name, (what, _) in broken().items()}, indent=1) + "\n")
    for name, (_, data) in broken().items():
        (pprof / "handmade" / name).write_bytes(data)
    for name, lines in FOLDED.items():
        (folded / f"{name}.folded").write_text("".join(line + "\n" for line in lines))
        (folded / "expected" / f"{name}.json").write_text(json.dumps({"file": f"{name}.folded", "perl": counted(lines)}, indent=1) + "\n")
