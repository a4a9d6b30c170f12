#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Databases of the two layouts of 2022 that are nearly 4.0: read as an independent reader reads their bytes, with the findings that
doc/formats/hpctoolkit-drafts.md explains, and, brought up to date by `lode convert`, sound without a warning and saying what they said.
"""

import argparse
import struct
import sys
import tempfile
from collections import Counter
from pathlib import Path

from meaning import Meaning, differences
from upgrades import COMMANDS, ROOT, Lode, without_repeats

sys.path.insert(0, str(ROOT / "tests" / "tools"))

import corpora  # noqa: E402
from tap import Tap  # noqa: E402

# What a check finds besides notes.
DATABASES = {
    "pre-a/toolkit-small-v4.0-v2": {"scope-lost", "summary-squares"},
    "pre-a/viewer-loop-inline": set(),
    "pre-a/viewer-loop-inline-v1": {"block-start", "block-order", "value-profile", "value-zero", "scope-lost"},
    "pre-a/viewer-loop-inline-v2": set(),
    "pre-a/viewer-multithread": {"scope-lost"},
    "pre-a/viewer-quicksilver": {"scope-lost"},
    "pre-b/toolkit-small-v4.0-v1": {"scope-lost", "summary-squares"},
}
OWN = {"pre-b/made-small": set()}
NAMED_BY = {"pre-a": "draft-variant", "pre-b": "profile-flagless"}
ROOTS = {"<program root>": "main thread", "<thread root>": "application thread", None: "unknown entry"}
IDLE = "<no activity>"
METRICS, CONTEXTS = 2, 3  # sections
LEXICAL = ("function", "loop", "line", "instruction")


class Raw:
    """meta.db of pre-A, read without Lode."""

    def __init__(self, path):
        self.bytes = path.read_bytes()
        self.metrics = list(self._metrics())
        size, place = self._get("QQ", self._section(CONTEXTS))
        self.contexts = {}  # by id: parent, lexical type, function, file, line, module, offset
        self.roots = {}
        self._siblings(place, size, 0)

    def _get(self, form, place):
        return struct.unpack_from("<" + form, self.bytes, place)

    def _section(self, index):
        return self._get("QQ", 16 + 16 * index)[1]

    def _text(self, place):
        return self.bytes[place:self.bytes.index(0, place)].decode() if place else None

    def _metrics(self):
        place, count, size, scope_size, statistic_size = self._get("QIBBB", self._section(METRICS))
        for index in range(count):
            name, scopes, scopes_at = self._get("QH6xQ", place + index * size)
            for scope in range(scopes):
                scope_name, statistics, id, at = self._get("QHH4xQ", scopes_at + scope * scope_size)
                formulas = [self._get("QBxH", at + i * statistic_size) for i in range(statistics)]
                yield (self._text(name), self._text(scope_name), id,
                       tuple((self._text(formula), combine, statistic) for formula, combine, statistic in formulas))

    def _siblings(self, place, size, parent):
        end = place + size
        while place < end:
            children, children_at, id, flags, _, lexical, words = self._get("QQIBBBB", place)
            more = list(self._get(f"{words}Q", place + 24))
            function = self._text(self._get("Q", more.pop(0))[0]) if flags & 1 else None
            file, line = (self._text(self._get("Q", more.pop(0) + 8)[0]), more.pop(0) & 0xffffffff) if flags & 2 else (None, None)
            module, offset = (self._text(self._get("Q", more.pop(0) + 8)[0]), more.pop(0)) if flags & 4 else (None, None)
            if parent == 0:
                self.roots[id] = function
            self.contexts[id] = (parent, LEXICAL[lexical], function, file, line, module, offset)
            if children:
                self._siblings(children_at, children, id)
            place += 24 + 8 * words


def contexts_of(dump):
    meta = dump["meta"]

    def path(table, index):
        return None if index is None else meta[table][index]["path"]

    rest = [(child, entry["id"]) for entry in meta["entry_points"] for child in entry["children"]]
    while rest:
        context, parent = rest.pop()
        function = None if context["function"] is None else meta["functions"][context["function"]]["name"]
        yield context["id"], (parent, context["lexical"], function, path("files", context["file"]), context["line"],
                              path("modules", context["module"]), context["offset"])
        rest += [(child, context["id"]) for child in context["children"]]


def metrics_of(dump):
    scopes = dump["meta"]["scopes"]
    combines = ("sum", "min", "max")
    for metric in dump["meta"]["metrics"]:
        for instance in metric["scopes"]:
            statistics = tuple((s["formula"], combines.index(s["combine"]), s["id"]) for s in metric["statistics"]
                               if s["scope"] == instance["scope"])
            yield metric["name"], scopes[instance["scope"]]["name"], instance["id"], statistics


def is_read_whole(tap, name, dump, raw):
    entries = {entry["id"]: entry["name"] for entry in dump["meta"]["entry_points"]}
    wanted = {id: ROOTS[function] for id, function in raw.roots.items() if function != IDLE}
    tap.check(entries == wanted, f"{name}: the {len(wanted)} roots are entry points", [entries, wanted])
    found = dict(contexts_of(dump))
    wanted = {id: context for id, context in raw.contexts.items() if id not in raw.roots}
    tap.check(found == wanted, f"{name}: the {len(wanted)} contexts are what the bytes say",
              [(id, found.get(id), wanted.get(id)) for id in found.keys() | wanted.keys()
               if found.get(id) != wanted.get(id)][:10])
    tap.check(list(metrics_of(dump)) == raw.metrics, f"{name}: the {len(raw.metrics)} metrics under scopes are what the bytes say",
              [raw.metrics[:5]])


def upgrade(tap, lode, path, name, dump, folder):
    target = Path(folder) / "new"
    run = lode.run("convert", path, "-o", target)
    tap.check(run.returncode == 0, f"{name}: upgraded", [run.stderr])
    found = [f for f in lode.findings(target) if f["severity"] != "note"]
    tap.check(not found, f"{name}: upgraded, it is sound at the full level", found)
    new = lode.dump(target)
    found = differences(Meaning(without_repeats(dump)), Meaning(new))
    tap.check(not found and new["format"] == "HPCToolkit 4.0", f"{name}: upgraded, it says what it said", found)


def look_at(tap, lode, path, name, wanted, folder):
    found = lode.findings(path)
    rules = Counter(f["rule"] for f in found if f["severity"] != "note")
    tap.check(set(rules) == wanted, f"{name}: a check finds {sorted(wanted) or 'nothing'}", [dict(rules)])
    layout = NAMED_BY[name.split("/")[0]]
    tap.check([f["rule"] for f in found].count(layout) == 1, f"{name}: a check names the layout ({layout})")
    damaged = "block-start" in wanted  # then cct.db cannot be dumped
    for command, *operands in COMMANDS:
        more = ["--only", "meta,profiles,traces"] if command == "dump" and damaged else []
        run = lode.run(command, *more, path, *operands)
        tap.check(run.returncode == 0 and run.stdout, f"{name}: lode {command} works", [run.stderr])
    dump = lode.dump(path, *(["--only", "meta,profiles,traces"] if damaged else []))
    if name.startswith("pre-a/"):
        is_read_whole(tap, name, dump, Raw(path / "meta.db"))
    upgrade(tap, lode, path, name, dump, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, help="the program to test")
    options = parser.parse_args()
    lode, tap = Lode(options.lode), Tap()
    for name, wanted in (OWN if corpora.is_own() else DATABASES).items():
        path = corpora.root() / "hpctoolkit" / name
        if not path.is_dir():
            tap.skip(name, "not in the corpus")
            continue
        with tempfile.TemporaryDirectory() as folder:
            look_at(tap, lode, path, name, wanted, folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
