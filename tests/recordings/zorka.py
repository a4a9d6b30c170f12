# SPDX-License-Identifier: BSD-3-Clause
"""Trace stores of the corpus, against what the original program's readers said of them: zorka.py --printer FILE."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(1, str(ROOT / "tests" / "tools"))

import corpora  # noqa: E402
from tap import Tap

TYPES = {"V": "void", "I": "int", "J": "long", "Z": "boolean", "B": "byte", "S": "short", "C": "char", "D": "double", "F": "float"}
SIGNED = 1 << 64


def corpus():
    path = corpora.root() / "zorka"
    return path if path.is_dir() else None


def java_types(signature):
    found = []
    while signature:
        match = re.match(r"(\[*)(?:L([^;]+);|([VIJZBSCDF]))", signature)
        found.append((match[2].replace("/", ".").rsplit(".", 1)[-1] if match[2] else TYPES[match[3]]) + "[]" * len(match[1]))
        signature = signature[match.end() :]
    return found


def as_java(line):
    """A call of ours with its signature as Java has it."""
    match = re.fullmatch(r"( *)(\S+?)\((\S*)\)(\S+) (mid=.*)", line)
    if not match:
        return line
    return f"{match[1]}{java_types(match[4])[0]} {match[2]}({', '.join(java_types(match[3]))}) {match[5]}"


def pairs(text):
    """Splits attributes at the commas that are not inside of others."""
    found, depth, last = [], 0, ""
    for character in text:
        depth += (character in "[{") - (character in "]}")
        if character == "," and depth == 0:
            found.append(last.strip())
            last = ""
        else:
            last += character
    return sorted(filter(None, [*found, last.strip()]))


def normal(line):
    """Without the indent; attributes in order, which in the original is that of a hash table; fields of its time only."""
    line = re.sub(r" (span|parent)=0\b", "", line.strip())
    match = re.fullmatch(r"(.* attrs=)\{(.*)\}", line)
    if not match:
        return line
    inner = [re.sub(r"^(ref\[\d+\]=)\{(.*)\}$", lambda m: m[1] + "{" + ", ".join(pairs(m[2])) + "}", pair) for pair in pairs(match[2])]
    return match[1] + "{" + ", ".join(sorted(inner)) + "}"


def calls(text):
    """[(indent, line)] of all calls and exceptions of each block; blocks by their head."""
    blocks = []
    for line in text.splitlines():
        if line.startswith(("== trace", "slot ")):
            blocks.append((line, []))
        elif line.startswith("=="):
            break
        elif line.startswith("  ") and not line.startswith(("  meta:", "  retrieve")):
            blocks[-1][1].append((len(line) - len(line.lstrip()), normal(as_java(line))))
    return blocks


def texts(text):
    return [line for line in text.split("== text index", 1)[1].splitlines()[1:] if "\t" in line]


def is_part(block, ours):
    """Whether the lines stand one behind the other in a trace of ours, indented alike."""
    for _, lines in ours:
        for start in range(len(lines) - len(block) + 1):
            shift = lines[start][0] - block[0][0]
            if all(lines[start + i] == (indent + shift, line) for i, (indent, line) in enumerate(block)):
                return True
    return False


def is_chunked(head):
    """The original reads the chunks of a long trace one by one, or fails."""
    match = re.search(r" flags=(\w+) ", head)
    return head.startswith("slot") and int(match[1], 16) & 2 != 0


def compare(tap, printer, root, name, expected_name):
    said = subprocess.run([printer, root / "stores" / name], capture_output=True, text=True, check=False).stdout
    expected = (root / expected_name).read_text()
    ours = calls(said)
    if "!!" not in expected:
        ours = [(head, [line for line in lines if not line[1].startswith("!!")]) for head, lines in ours]
    for head, block in calls(expected):
        if not block:
            continue
        if is_chunked(head):
            block = block[-1:]
        tap.check(is_part(block, ours), f"{name}: {head[:60]}", [line for _, line in block] + ["ours:"] + [line for _, lines in ours for _, line in lines])
    # Files that are compressed have their texts in another order.
    tap.check(sorted(texts(said)) == sorted(texts(expected)), f"{name}: {len(texts(expected))} texts", texts(said))
    return said


def main():
    tap = Tap()
    printer, root = sys.argv[sys.argv.index("--printer") + 1], corpus()
    if root is None or corpora.is_own():
        tap.skip("trace stores", "what the original program says of stores is in the larger corpus")
        return tap.finish()
    compare(tap, printer, root, "first", "first-expected.txt")
    wal = compare(tap, printer, root, "master", "master-expected.txt")
    fmi = compare(tap, printer, root, "master-fmi", "master-expected.txt")
    head = "== text index"
    tap.check(wal.split(head)[0] == fmi.split(head)[0], "both forms of the text index give the same traces")
    long = [lines for name, lines in calls(wal) if name.startswith("== trace a5 ")]
    tap.check(len(long) == 1 and len(long[0]) == 4 and "tstop=90000" in long[0][0][1] and "calls=4" in long[0][0][1],
              "a trace of three chunks is one", [line for lines in long for _, line in lines])
    said = subprocess.run([printer, root / "stores" / "real-agent"], capture_output=True, text=True, check=False).stdout
    tap.check("tstart=0 tstop=95 dur=95 calls=1" in said and "7f128efec83c68ec" in said, "what an agent sent", [said])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
