#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Trace stores are always written the same: made ones, those of the corpus and slices of them, in both layouts. Other numbers of threads,
reading and writing again, over itself, and by way of the other layout give the same bytes. What is written is sound, and says what the source said.
"""

import re
import sys
import tempfile
from pathlib import Path

from bytes import differing
from recording_bytes import check_threads
from tool import Tap, parse_arguments
import corpora  # noqa: E402
import lodejson  # noqa: E402  tool knows where it is

LAYOUTS = {"page": "zico", "zico": "page"}
MADE = {
    "as it comes": ["--records", "60000"],
    "the smallest": ["--records", "2", "--tasks", "1", "--functions", "4", "--depth", "2"],
    "many small traces": ["--records", "30000", "--calls-per-request", "7", "--tasks", "50"],
    "long traces": ["--records", "200000", "--calls-per-request", "90000"],
    "deep": ["--records", "40000", "--depth", "3000", "--functions", "20", "--calls-per-request", "9000"],
    "another seed": ["--records", "20000", "--seed", "9"],
}
SLICES = {
    "the middle": ["--from", "10ms", "--to", "100ms"],
    "outer calls": ["--depth", "2"],
    "longer calls": ["--min-time", "200us"],
}
# What is said of chunks and, in one of the layouts, of the trace as a whole.
ADDED = re.compile(r"trace id=.*?(?=,? chunk number=|, type=|$)|(chunk (number|offset|length)|duration|records|errors)=\d+(?=,| |$)")


def corpus():
    stores = corpora.root() / "zorka" / "stores"
    return {path.name: path for path in corpora.stores(stores)}


def convert(lode, target, source, layout, *options):
    lode.must("convert", "--layout", layout, *options, source, "-o", target)
    return target


def objections(lode, store):
    """What a full check says, notes too."""
    report = lodejson.loads(lode.must("check", "--level", "full", "--json", store))
    return [f"{finding['severity']} {finding['rule']}: {finding['text']}" for finding in report["findings"]]


def meaning(lode, store):
    """All events, without what only one of the layouts has."""
    found = []
    for row in lodejson.loads(lode.must("replay", "--json", store))["rows"]:
        values = [word for word in re.split(",? ", ADDED.sub("", row["values"])) if word] if row["values"] else []
        if values or row["name"] != "info":
            found.append((row["time_ns"], row["tid"], row["kind"], row["depth"], row["duration_ns"], row["name"], values))
    return found


def check_store(tap, lode, title, first, layout, write):
    """A store that `write` has written."""
    check_threads(tap, title, write, first)
    again = convert(lode, first.parent / "again", first, layout)
    names = differing(first, again)
    lode.must("convert", "--layout", layout, "--force", again, "-o", again)
    names += differing(first, again)
    other = convert(lode, first.parent / "other", first, LAYOUTS[layout])
    back = convert(lode, first.parent / "back", other, layout)
    names += differing(first, back)
    tap.check(not names, f"{title}: again, over itself, and by way of the other layout it has the same bytes", names)
    found = objections(lode, first) + objections(lode, other)
    tap.check(not found, f"{title}: sound in both layouts", found[:5])
    tap.check(meaning(lode, first) == meaning(lode, other), f"{title}: both layouts say the same")


def check_made(tap, lode, title, parameters, layout, folder):
    def write(target, *options):
        lode.must("synth", "recording", "--format", "zorka", "--layout", layout, *parameters, *options, "-o", target)

    first = Path(folder) / "first"
    write(first)
    check_store(tap, lode, title, first, layout, write)


def check_converted(tap, lode, title, source, layout, folder, *options):
    def write(target, *more):
        convert(lode, target, source, layout, *options, *more)

    first = Path(folder) / "first"
    write(first)
    check_store(tap, lode, title, first, layout, write)
    if not options:
        wanted, found = meaning(lode, source), meaning(lode, first)
        different = [pair for pair in zip(wanted, found) if pair[0] != pair[1]]
        tap.check(wanted == found, f"{title}: says what the source says", different[:3])


def check_slices(tap, lode, folder):
    source = Path(folder) / "source"
    lode.must("synth", "recording", "--format", "zorka", "--records", "40000", "-o", source)
    for title, options in SLICES.items():
        with tempfile.TemporaryDirectory(prefix="lode-store-") as inner:
            check_converted(tap, lode, f"slice: {title}", source, "page", inner, *options)
            calls = [lodejson.loads(lode.must("top", "--json", *asked))["calls"] for asked in ([*options, source], [Path(inner) / "first"])]
            tap.check(calls[0] == calls[1] and calls[0] > 0, f"slice: {title}: {calls[0]} calls", calls)


def check_refusals(tap, lode, folder):
    store, other = Path(folder) / "store", Path(folder) / "other"
    lode.must("synth", "recording", "--format", "zorka", "--records", "200", "-o", store)
    status, _, err = lode.run("convert", store, "-o", store)
    tap.check(status == 2 and "already exists" in err, "what is there stays without --force", [status, err])
    other.mkdir()
    (other / "letter.txt").write_text("dear all")
    status, _, err = lode.run("convert", "--force", store, "-o", other)
    tap.check(status == 2 and "letter.txt, which is not part of the trace store" in err and (other / "letter.txt").exists(), "what is no store is not replaced", [err])
    status, _, err = lode.run("convert", "--format", "uftrace", store, "-o", Path(folder) / "new")
    tap.check(status == 2 and "cannot be converted to uftrace" in err, "a store is no uftrace recording", [err])


def main():
    options = parse_arguments(__doc__)
    tap, lode = Tap(), options.lode
    found = corpus()
    if not found:
        tap.skip("stores of the corpus", "no corpus: set LODE_CORPUS")
    for layout in LAYOUTS:
        for title, parameters in MADE.items():
            with tempfile.TemporaryDirectory(prefix="lode-store-") as folder:
                check_made(tap, lode, f"made, {layout}: {title}", parameters, layout, folder)
        for name, source in found.items():
            with tempfile.TemporaryDirectory(prefix="lode-store-") as folder:
                check_converted(tap, lode, f"{name}, {layout}", source, layout, folder)
    for check in (check_slices, check_refusals):
        with tempfile.TemporaryDirectory(prefix="lode-store-") as folder:
            check(tap, lode, folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
