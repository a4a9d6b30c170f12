#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Databases of the drafts, brought up to date by `lode convert`: sound at the full level, saying what the draft said, and,
where the same measurement was written by a later hpcprof, what that one says. Every difference is listed and explained.
"""

import argparse
import copy
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import corpora  # noqa: E402
import lodejson  # noqa: E402
from meaning import Meaning, differences  # noqa: E402
from tap import Tap  # noqa: E402

# Databases of the corpus, and what a check says is wrong with them.
DRAFTS = {
    "made-loops-cputime-t": [],
    "made-small": [],
    "pipit-ping-pong-v2": ["draft-cct-zero"],
    "viewer-empty-trace": ["draft-cct-zero"],
}
OWN = {"made-openmp": [], "made-ranks": [], "made-small": [], "made-zero": ["draft-cct-zero"]}
# The same measurement, written by hpcprof of 2022-03 and of 2024-10.
#
# libgomp has no symbols for its threads' main function. The old hpcprof called an address behind the last symbol before it
# by that symbol; the new one says that the function is not known, and names the address.
EXPLAINED = {
    "made-small": {"steps": {}, "functions": set()},
    "made-loops-cputime-t": {"steps": {"GOMP_taskloop": "libgomp.so.1.0.0+0x1a86d"},
                             "functions": {("GOMP_taskloop", "libgomp.so.1.0.0", None, 0)}},
    "made-ranks": {"steps": {}, "functions": set()},
}
COMMANDS = (["info"], ["top"], ["tree"], ["profiles"], ["trace"], ["dump"], ["context", "main"])


class Lode:
    def __init__(self, program):
        self.program = program

    def run(self, *arguments):
        return subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, timeout=120)

    def dump(self, database, *options):
        return lodejson.loads(self.run("dump", *options, database).stdout)

    def findings(self, database):
        run = self.run("check", "--level", "full", "--json", database)
        return lodejson.loads(run.stdout)["findings"]


def reads_by_every_command(tap, lode, path):
    for command, *operands in COMMANDS:
        run = lode.run(command, path, *operands)
        tap.check(run.returncode == 0 and run.stdout, f"{path.name}: lode {command} works", [run.stderr])


def check_says(tap, lode, path, errors):
    found = lode.findings(path)
    bad = [f for f in found if f["severity"] != "note"]
    tap.check([f["rule"] for f in bad] == errors, f"{path.name}: a check finds {errors or 'nothing'}", bad)
    variants = [f["text"] for f in found if f["rule"] == "draft-variant"]
    tap.check(len(variants) == 3 and all(f"version {4 if corpora.is_own() else 1}.0" in text and "padded" in text for text in variants),
              f"{path.name}: a check notes which variant each file is", variants)
    for finding in bad:
        tap.check("never wrote" in finding["text"], f"{path.name}: the cause is named", [finding["text"]])


def upgrade(tap, lode, path, errors, folder):
    target = Path(folder) / path.name
    run = lode.run("convert", path, "-o", target)
    said = "draft-cct-damaged" in run.stdout + run.stderr
    tap.check(run.returncode == 0 and said == bool(errors), f"{path.name}: upgraded; a damaged cct.db is mentioned",
              [run.stdout, run.stderr])
    found = [f for f in lode.findings(target) if f["severity"] != "note"]
    tap.check(not found, f"{path.name}: upgraded, it is sound at the full level", found)
    old, new = lode.dump(path), lode.dump(target)
    tap.check(new["format"] == "HPCToolkit 4.0" and new["contexts"], f"{path.name}: upgraded, it is 4.0 with a cct.db")
    repeats = without_repeats(old)
    found = differences(Meaning(repeats), Meaning(new))
    tap.check(not found, f"{path.name}: upgraded, it says what it said", found)
    return new


def without_repeats(dump):
    """4.0 wants no two samples in a row that say that nothing ran; the second says nothing."""
    for line in dump["traces"]["lines"]:
        line["samples"] = [sample for i, sample in enumerate(line["samples"])
                           if i == 0 or sample[1] != 0 or line["samples"][i - 1][1] != 0]
    return dump


def same_as_final(tap, lode, new, final):
    explained = EXPLAINED[final.name]
    mine, theirs = Meaning(new, explained["steps"]), Meaning(lode.dump(final))
    tap.check(mine.functions - theirs.functions == explained["functions"],
              f"{final.name}: functions that only the draft names are those explained",
              [mine.functions - theirs.functions])
    mine.functions -= explained["functions"]
    found = differences(mine, theirs)
    tap.check(not found, f"{final.name}: functions, call paths, loops, lines and samples are those of 2024", found[:20])
    samples = sum(len(line) for line in theirs.samples.values())
    costs = sum(len(c) for profile in theirs.profiles.values() for c in profile.values())
    tap.check(samples > 0 and costs > 0, f"{final.name}: {samples} samples and {costs} costs were compared")


def spoilt(dump):
    """The dump with one thing changed at a time."""
    def change(what, apply):
        other = copy.deepcopy(dump)
        apply(other)
        return what, other
    value = next(iter(dump["profiles"][1]["values"]))
    metric = next(iter(dump["profiles"][1]["values"][value]))
    yield change("a value", lambda d: d["profiles"][1]["values"][value].update({metric: 77.0}))
    yield change("a sample's time", lambda d: d["traces"]["lines"][0]["samples"][1].__setitem__(0, 5))
    yield change("a sample's context", lambda d: d["traces"]["lines"][0]["samples"][1].__setitem__(1, 0))
    yield change("a function's name", lambda d: d["meta"]["functions"][0].update(name="other"))
    yield change("a function's line", lambda d: d["meta"]["functions"][0].update(line=999))
    yield change("an id", lambda d: d["profiles"][1]["ids"][0].update(physical=1))
    yield change("an entry point", lambda d: d["meta"]["entry_points"][0].update(entry="other"))


def self_test(tap, new):
    for what, other in spoilt(new):
        tap.check(differences(Meaning(new), Meaning(other)), f"self-test: noticed when {what} is changed")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, help="the program to test")
    options = parser.parse_args()
    lode, tap = Lode(options.lode), Tap()
    corpus = corpora.root() / "hpctoolkit"
    for name, errors in (OWN if corpora.is_own() else DRAFTS).items():
        path = corpus / "draft-xml" / name
        if not path.is_dir():
            tap.skip(name, "not in the corpus")
            continue
        with tempfile.TemporaryDirectory() as folder:
            reads_by_every_command(tap, lode, path)
            check_says(tap, lode, path, errors)
            new = upgrade(tap, lode, path, errors, folder)
            if name in EXPLAINED:
                same_as_final(tap, lode, new, corpus / "final" / name)
            if name == "made-small":
                self_test(tap, new)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
