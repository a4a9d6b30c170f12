#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What is written is sound and always the same: each database of the corpus, converted, has nothing that `lode
check` objects to; converting the result, other numbers of threads and other limits of memory give the same
bytes. So do made databases.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from tool import Tap, corpus_databases, parse_arguments
import lodejson  # noqa: E402  tool knows where it is

WAYS = {
    "1 thread": ["--threads", "1"],
    "2 threads": ["--threads", "2"],
    "7 threads": ["--threads", "7"],
    "64 KiB of memory": ["--memory", "64K"],
    "1 thread and 64 KiB": ["--threads", "1", "--memory", "64K"],
    "7 threads and 1 MiB": ["--threads", "7", "--memory", "1M"],
}
# Peculiarities that a converted database may share with the original.
ACCEPTED = {"context-unlisted", "part-absent"}
# Without unlisted contexts, inclusive values are larger than what is left of their parts.
ACCEPTED_IF_DROPPED = {"part-absent", "scope-execution", "scope-point"}

MADE = {
    "as it comes": [],
    "the smallest": ["--profiles", "1", "--contexts", "3", "--depth", "4", "--density", "1"],
    "no traces": ["--samples", "0", "--profiles", "5"],
    "deep": ["--depth", "500", "--contexts", "3000", "--profiles", "6"],
    "flat": ["--depth", "4", "--contexts", "3000", "--profiles", "6"],
    "many metrics": ["--metrics", "25", "--contexts", "200", "--profiles", "10"],
    "every line": ["--density", "1", "--skew", "0", "--profiles", "33", "--contexts", "400"],
    "few lines": ["--density", "0.01", "--skew", "3", "--profiles", "200", "--contexts", "500"],
    "another seed": ["--seed", "2"],
    "many profiles": ["--profiles", "2000", "--contexts", "50", "--samples", "3"],
}


def contents(database):
    """All files of a database, and directories, by name."""
    return {str(path.relative_to(database)): path.read_bytes() if path.is_file() else None
            for path in sorted(database.rglob("*"))}


def differing(a, b):
    left, right = contents(a), contents(b)
    return sorted(name for name in left.keys() | right.keys() if left.get(name, 0) != right.get(name, 0))


def findings(lode, database, accepted):
    """What a full check objects to."""
    status, out, err = lode.run("check", "--level", "full", "--limit", "5", "--json", database)
    if status not in (0, 1) or not out:
        return [f"exit status {status}: {err}"]
    report = lodejson.loads(out)
    found = [f"{finding['severity']} {finding['rule']}: {finding['text']}" for finding in report["findings"]
             if finding["rule"] not in accepted]
    result = report["result"]
    if accepted is ACCEPTED and (status != 0 or result["errors"] or result["warnings"]):
        found.append(f"exit status {status}, {result}")
    return found


class Subject:
    """Something to write in several ways: `arguments` of lode without the place that it goes to."""

    def __init__(self, lode, folder, arguments):
        self.lode = lode
        self.folder = Path(folder)
        self.arguments = arguments
        self.first = self.folder / "first"

    def write(self, target, more=()):
        self.lode.must(*self.arguments, *more, "-o", target)

    def same(self, how, more):
        """Differences from the first one, if written in another way."""
        target = self.folder / "again"
        self.write(target, more)
        names = differing(self.first, target)
        shutil.rmtree(target)
        return [f"{how}: {', '.join(names)}"] if names else []

    def converted_in_place(self):
        target = self.folder / "in place"
        shutil.copytree(self.first, target)
        self.lode.must("convert", "--force", target, "-o", target)
        names = differing(self.first, target)
        shutil.rmtree(target)
        return [f"converted in place: {', '.join(names)}"] if names else []

    def converted_again(self):
        target = self.folder / "converted"
        self.lode.must("convert", self.first, "-o", target)
        names = differing(self.first, target)
        shutil.rmtree(target)
        return [f"converted again: {', '.join(names)}"] if names else []


def check_subject(tap, title, subject, accepted=ACCEPTED):
    try:
        subject.write(subject.first)
        leftovers = [path.name for path in subject.folder.iterdir() if path.name != "first"]
        objections = findings(subject.lode, subject.first, accepted) + [f"left behind: {name}" for name in leftovers]
        names = subject.converted_again() + subject.converted_in_place()
        for how, more in WAYS.items():
            names += subject.same(how, more)
    except (ValueError, OSError) as error:
        tap.check(False, title, [error])
        return
    tap.check(not objections, f"{title}: sound", objections)
    tap.check(not names, f"{title}: the same bytes, {2 + len(WAYS)} times", names)


def check_seed(tap, lode):
    with tempfile.TemporaryDirectory(prefix="lode-bytes-") as folder:
        one, two = Path(folder) / "one", Path(folder) / "two"
        for target, seed in ((one, 1), (two, 2)):
            lode.must("synth", "database", "--seed", seed, "-o", target)
        names = differing(one, two)
    tap.check({"cct.db", "meta.db", "profile.db", "trace.db"} <= set(names), "another seed gives other bytes", names)


def main():
    options = parse_arguments(__doc__)
    tap = Tap()
    for name, parameters in MADE.items():
        with tempfile.TemporaryDirectory(prefix="lode-bytes-") as folder:
            check_subject(tap, f"made: {name}", Subject(options.lode, folder, ["synth", "database", *parameters]))
    check_seed(tap, options.lode)
    databases = corpus_databases(options)
    if not databases:
        tap.skip("databases of the corpus", "no corpus: set LODE_CORPUS")
    for name, database in databases.items():
        with tempfile.TemporaryDirectory(prefix="lode-bytes-") as folder:
            check_subject(tap, name, Subject(options.lode, folder, ["convert", database]))
        with tempfile.TemporaryDirectory(prefix="lode-bytes-") as folder:
            dropping = Subject(options.lode, folder, ["convert", "--drop-unlisted", database])
            check_subject(tap, f"{name}, unlisted contexts dropped", dropping, ACCEPTED_IF_DROPPED)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
