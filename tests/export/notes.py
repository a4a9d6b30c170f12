#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What an export loses is one line on standard error, in every format: a table of formats and of what a store has, with the
line or none for each. And names of files: every one that --list shows means its format.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
import findings  # noqa: E402
from pprof_reader import write  # noqa: E402
from tap import Tap  # noqa: E402

STACKS = ("pprof", "folded", "callgrind", "hatchet")
TIMELINES = ("perfetto", "chrome", "firefox", "otf2")
TABLES = ("parquet", "csv", "jsonl", "sqlite")
BOTH = ("speedscope",)  # a timeline, or stacks if there is none or a metric is named
ALL = STACKS + TIMELINES + TABLES + BOTH

REPAIRED = r"1 error of the recording was repaired"
OTHERS = r"2 other metrics with a total are not exported \(--metric selects\)"
TIMES = r"metrics are not exported: {} has times only"
WINDOW = r"metrics are not exported: a time window has times only"
THOUSANDTHS = [rf"EVENT{i} is in thousandths: it is not whole, and the format has whole numbers" for i in (1, 2)]
ONE = r"only CPUTIME \(sec\) is exported: folded has one number"

LABELS = r"labels of samples are not exported: {} has none"

# Store, options: what formats say, one line or several; formats that are not in the table say nothing.
NOTES = {
    ("sound", ""): {},
    ("damaged", ""): dict.fromkeys(ALL, REPAIRED),
    ("damaged", "--from 0s --to 1h"): dict.fromkeys(ALL, REPAIRED),
    ("metrics", ""): dict.fromkeys(STACKS, OTHERS),
    ("metrics", "-m all"): {**dict.fromkeys(STACKS + BOTH, THOUSANDTHS), "folded": ONE, **{name: TIMES.format(name) for name in TIMELINES}},
    ("metrics", "-m CPUTIME"): {name: TIMES.format(name) for name in TIMELINES},
    ("metrics", "-m CPUTIME --from 0s --to 1h"): {**dict.fromkeys(STACKS + BOTH, WINDOW),
                                                 **{name: TIMES.format(name) for name in TIMELINES}},
    ("metrics", "--from 0s --to 1h"): {},
    ("labels.pb.gz", ""): {name: LABELS.format(name) for name in ALL if name not in ("pprof", *TIMELINES)},
    ("plain.pb.gz", ""): {},
}


class Program:
    def __init__(self, lode, folder):
        self.lode, self.folder = str(Path(lode).resolve()), Path(folder)

    def run(self, *words):
        return subprocess.run([self.lode, *map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL)

    def list(self):
        """Formats that this program has: (name, patterns)."""
        formats = json.loads(self.run("export", "--list", "--json").stdout)["formats"]
        return {found["name"]: found["names"] for found in formats if found["is_available"]}


def make_stores(program):
    for name in ("sound", "damaged"):
        program.run("synth", "recording", "--records", 400, "--tasks", 1, "-o", name)
    program.run("synth", "database", "--metrics", 3, "--contexts", 60, "--profiles", 2, "--samples", 20, "-o", "metrics")
    for name, labels in (("labels", [("user", "ann", 0, "")]), ("plain", [])):
        write(program.folder / f"{name}.pb.gz", [("cpu", "nanoseconds")], [(["work", "main"], [7], labels)], ["main", "work"])
    # Without the begin of a call, its end has none.
    data = program.folder / "damaged" / "1000.dat"
    records = data.read_bytes()
    data.write_bytes(records[:16 * 100] + records[16 * 101:])


def databases_say_that_labels_are_lost(tap, program):
    wrong = []
    for command in (["convert"], ["slice", "--depth", 9], ["merge"]):
        for name in ("labels", "plain"):
            operands = [f"{name}.pb.gz"] * (2 if command == ["merge"] else 1)
            result = program.run(*command, *operands, "--force", "-o", "made")
            said = result.stdout.count("warning labels-dropped: labels of samples were omitted")
            if result.returncode != 0 or said != (len(operands) if name == "labels" else 0):
                wrong.append(f"{command[0]} of {name}: {said} times, status {result.returncode}: {result.stdout}{result.stderr}")
    tap.check(not wrong, "convert, slice and merge say that labels of samples are lost", wrong)


def lines_of(result):
    """What is lost; findings of the source are said in a line of their own."""
    return [line for line in findings.without(result.stderr).splitlines() if line]


def notes_are_those_of_the_table(tap, program):
    formats = program.list()
    tap.check(set(formats) <= set(ALL), "the table has all formats", sorted(set(formats) - set(ALL)))
    for (store, options), wanted in NOTES.items():
        wrong = []
        for name in ALL:
            # A profile has no timeline.
            if name not in formats or (store.endswith(".pb.gz") and name in TIMELINES):
                continue
            result = program.run("export", store, *options.split(), "--force", "--format", name, "-o", f"out.{name}")
            patterns = wanted.get(name, [])
            patterns = [patterns] if isinstance(patterns, str) else patterns
            lines = lines_of(result)
            fits = len(lines) == len(patterns) and all(re.fullmatch(f"lode: note: {pattern}", line)
                                                       for pattern, line in zip(patterns, lines))
            if result.returncode != 0 or not fits:
                wrong.append(f"{name}: wanted {patterns!r}, found {lines} and status {result.returncode}")
        tap.check(not wrong, f"export {store} {options}: {len(wanted)} formats say what is lost", wrong)


def files_of(path):
    """The bytes of a file, or of those in a directory; the anchor of OTF2 has a new id every time."""
    if not path.is_dir():
        return path.read_bytes() if path.exists() else None
    return {file.relative_to(path): file.read_bytes() for file in path.rglob("*") if file.is_file() and file.suffix != ".otf2"}


def names_mean_formats(tap, program):
    wrong = []
    for name, patterns in program.list().items():
        program.run("export", "sound", "--format", name, "-o", f"named.{name}")
        named = files_of(program.folder / f"named.{name}")
        for i, pattern in enumerate(patterns):
            path = pattern.replace("*", "x") if i != 1 else pattern.replace("*", "x").upper()
            result = program.run("export", "sound", "-o", path)
            found = files_of(program.folder / path)
            wrong += [] if result.returncode == 0 and found and found == named else [f"{path}: {result}"]
    tap.check(not wrong, "every name that --list shows means its format, in any case", wrong)
    shown = program.run("export", "--list").stdout
    usual = ("*.perfetto-trace", "*.pftrace", "*.chrome.json", "callgrind.out.*", "*.pb.gz", "*.speedscope.json", "*.folded",
             "*.collapsed", "*.parquet", "*.db", "*.sqlite", "*.otf2")
    tap.check(all(name in shown for name in usual), "--list shows the usual names", [name for name in usual if name not in shown])
    packed = program.run("export", "sound", "-o", "x.chrome.json.gz")
    tap.check(packed.returncode == 0 and (program.folder / "x.chrome.json.gz").read_bytes()[:2] == b"\x1f\x8b",
              "the suffix of a compression asks for it", packed)
    unknown = program.run("export", "sound", "-o", "x.unknown")
    tap.check(unknown.returncode == 2 and "'x.unknown' has the suffix of no format" in unknown.stderr, "other names are refused", unknown)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True)
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        program = Program(parser.parse_args().lode, folder)
        make_stores(program)
        notes_are_those_of_the_table(tap, program)
        databases_say_that_labels_are_lost(tap, program)
        names_mean_formats(tap, program)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
