#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Compares `lode dump` with what an independent reader made of the same databases: every field, every value bit by bit,
every sample. Needs PyYAML with libyaml, and the corpus.
"""

import argparse
import json
import math
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import corpora  # noqa: E402
import lodejson  # noqa: E402
from tap import Tap  # noqa: E402

try:
    import expected
except ImportError:  # no PyYAML, or one without libyaml
    expected = None

SHOWN = 20
DUMP_SECONDS = 300
MISSING = object()


class Comparison:
    """Walks two structures, counts what it compared and keeps the first differences."""

    def __init__(self):
        self.counts = Counter()
        self.fields = 0
        self.differences = []
        self.difference_count = 0
        self.extra = Counter()

    def _differ(self, path, wanted, found):
        self.difference_count += 1
        if len(self.differences) < SHOWN:
            found = "nothing" if found is MISSING else json.dumps(found)[:120]
            self.differences.append(f"{path}: expected {_shown(wanted)}, found {found}")

    def compare(self, path, wanted, found):
        if isinstance(wanted, expected.Record):
            self._record(path, wanted, found)
        elif isinstance(wanted, expected.Values):
            self._values(path, wanted, found)
        elif isinstance(wanted, list):
            self._list(path, wanted, found)
        else:
            self.fields += 1
            if not _same(wanted, found):
                self._differ(path, wanted, found)

    def _record(self, path, wanted, found):
        self.counts[wanted.noun] += 1
        if not isinstance(found, dict):
            self._differ(path, wanted, found)
            return
        for key, value in wanted.items():
            self.compare(f"{path}.{key}", value, found.get(key, MISSING))
        for key in found.keys() - wanted.keys():
            self.extra[f"{wanted.noun}.{key}"] += 1

    def _values(self, path, wanted, found):
        if not isinstance(found, dict):
            self._differ(path, wanted, found)
            return
        for key, value in wanted.items():
            if isinstance(value, expected.Values):
                self._values(f"{path}[{key}]", value, found.get(key, MISSING))
                continue
            self.counts[wanted.noun] += 1
            if not _same(value, found.get(key, MISSING)):
                self._differ(f"{path}[{key}]", value, found.get(key, MISSING))
        for key in found.keys() - wanted.keys():
            self._differ(f"{path}[{key}]", MISSING, found[key])
        if found.keys() == wanted.keys() and list(found) != list(wanted):
            self._differ(f"{path}, its order", list(wanted), list(found))

    def _list(self, path, wanted, found):
        if isinstance(wanted, expected.Row):
            self.counts[wanted.noun] += 1
        if not isinstance(found, list):
            self._differ(path, wanted, found)
            return
        if len(wanted) != len(found):
            self._differ(f"{path}, its length", len(wanted), len(found))
        for index, (left, right) in enumerate(zip(wanted, found)):
            self.compare(f"{path}[{index}]", left, right)

    def summary(self):
        counts = [f"{count} {_plural(noun)}" for noun, count in self.counts.items() if count > 1]
        return ", ".join(counts)


def _plural(noun):
    head, *rest = noun.split(" ", 1)
    if noun in ("entry point", "trace line", "context block"):
        return noun + "s"
    return " ".join([head + "s", *rest])


def _shown(wanted):
    if wanted is MISSING:
        return "nothing"
    if wanted is expected.NOT_KNOWN:
        return repr(wanted)
    return json.dumps(wanted, default=repr)[:120]


def _same(wanted, found):
    if wanted is expected.NOT_KNOWN:
        return found is None or (type(found) is int and found == 0)
    if type(wanted) is float:
        # A whole number may be written without a point. The sign tells 0.0 from -0.0.
        if type(found) is int:
            found = float(found)
        return type(found) is float and wanted == found and math.copysign(1, wanted) == math.copysign(1, found)
    return type(wanted) is type(found) and wanted == found


parse_dump = lodejson.loads


def compare(wanted, found):
    comparison = Comparison()
    comparison.compare("$", wanted, found)
    return comparison


def compare_database(tap, lode, corpus, name):
    database = corpus / "final" / name
    started = time.monotonic()
    try:
        run = subprocess.run([lode, "dump", str(database)], capture_output=True, timeout=DUMP_SECONDS)
        if run.returncode != 0:
            raise ValueError(f"lode dump: exit status {run.returncode}: {run.stderr.decode(errors='replace')[:2000]}")
        found = parse_dump(run.stdout)
        wanted = expected.from_file(corpus / "expected" / f"{name}.yaml.gz")
        version = expected.stated_version(database / "meta.db")
        wanted["format"] = "HPCToolkit " + ".".join(str(number) for number in version)
        wanted["meta"]["version"] = version
        comparison = compare(wanted, found)
    except (ValueError, OSError, subprocess.TimeoutExpired, RecursionError) as error:
        tap.check(False, name, [error])
        return
    if comparison.difference_count:
        hidden = comparison.difference_count - len(comparison.differences)
        more = [f"... and {hidden} more"] if hidden else []
        tap.check(False, f"{name}: {comparison.difference_count} differences", comparison.differences + more)
    else:
        tap.check(True, f"{name}: equal ({comparison.summary()})")
    for field, count in sorted(comparison.extra.items()):
        tap.note(f"{name}: not compared, as the reader does not have it: {field} ({count} times)")
    tap.note(f"{name}: {comparison.fields} other fields, {time.monotonic() - started:.1f} s")


def default_corpus():
    return corpora.root() / "hpctoolkit"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, help="the program to test")
    parser.add_argument("--corpus", type=Path, default=default_corpus(), help="holds final/ and expected/")
    parser.add_argument("names", nargs="*", help="databases; all if none is named")
    options = parser.parse_args()

    tap = Tap()
    suffix = ".yaml.gz"
    present = [path.name[:-len(suffix)] for path in corpora.expected(options.corpus)]
    if expected is None or not present:
        reason = "there is no corpus" if expected else "this Python has no yaml with libyaml"
        for name in options.names or ["all databases"]:
            tap.skip(name, reason)
        return tap.finish()
    sys.setrecursionlimit(20000)
    for name in options.names or present:
        compare_database(tap, options.lode, options.corpus, name)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
