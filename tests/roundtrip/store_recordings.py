#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Recordings of the corpus, and a made one, as trace stores: every function is called as often, and takes as long up to one tick for each call,
also in the databases that are built from the one and from the other; what cannot be taken over is counted once; the store is sound; the bytes do not depend on threads, nor on writing the store again.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from bytes import differing
from recording_bytes import check_threads
from recording_tool import Made, corpus, rows
from store_bytes import convert, objections
from store_reader import STAMP, STOP, Store
from tool import Tap, parse_arguments

TICK = 65536
LAYOUTS = ("page", "zico")
OFF_PROCESSOR = "linux:schedule"


def demangled(symbols):
    """{symbol: name}, as the tool of the linker has it; None without it."""
    if not shutil.which("c++filt"):
        return None
    symbols = sorted(symbols)
    names = subprocess.run(["c++filt", "-i"], input="\n".join(symbols), capture_output=True, text=True, check=True).stdout.splitlines()
    return {symbol: name if symbol.startswith("_Z") else symbol for symbol, name in zip(symbols, names)}


def means(stored, module, name):
    """Whether a method is what a function is called: `class.method(...)` is the name with another sign, and without the type of the result."""
    stored = re.sub(r"@[^@]*\+0x[0-9a-f]+(?=\()", "", stored)
    if stored == f"{module}.{name}()":
        return True
    for dot in (i for i, letter in enumerate(stored) if letter == "."):
        joined = stored[dot + 1:] if stored[:dot] == module else f"{stored[:dot]}::{stored[dot + 1:]}"
        if name == joined or name.endswith(f" {joined}"):
            return True
    return False


def compare(lode, source, store):
    """Complaints."""
    wanted, found = (rows(lode, "top", side, "--sched", "--by", "symbol", "--names", "full", "--limit", "0") for side in (source, store))
    names = demangled({row["symbol"] or row["name"] for row in wanted})
    if len(wanted) != len(found):
        yield f"{len(found)} functions, not {len(wanted)}"
    for row in wanted:
        module, name = (row["module"] or "<unknown>").rsplit("/", 1)[-1], row["symbol"] or row["name"]
        same = [other for other in found if names is None or means(other["name"], module, names[name])]
        near = [other for other in same if other["calls"] == row["calls"] and
                abs(other["mean_ns"] - row["mean_ns"]) <= TICK]
        if not near:
            yield f"{name} of {module}: {row['calls']} calls of {row['mean_ns']} ns; there are {[other['name'] for other in same]}"


def costs(lode, recording, target):
    """{(module, symbol): (calls, seconds)} of a database that is built from a recording."""
    lode.must("build", "--trace", "none", recording, "-o", target)
    calls, seconds = (rows(lode, "top", target, "--by", "symbol", "--metric", metric, "--limit", "0") for metric in ("calls", "time (sec)"))
    times = {(row["module"], row["function"]): row["inclusive"] for row in seconds}
    found = {(row["module"], row["function"]): (row["exclusive"], times.get((row["module"], row["function"]), 0)) for row in calls}
    # A built database has the module behind a name. Off-CPU time is a call in a trace store, and none in a recording.
    return {(module, re.sub(r" \[[^]]*\]$", "", name) if module else name): cost for (module, name), cost in found.items()
            if OFF_PROCESSOR not in name}


def compare_databases(lode, source, store, folder):
    """Complaints."""
    wanted, found = costs(lode, source, folder / "db-of-recording"), costs(lode, store, folder / "db-of-store")
    names = demangled({symbol for _, symbol in wanted})
    if len(wanted) != len(found):
        yield f"{len(found)} functions, not {len(wanted)}"
    for (module, symbol), (calls, seconds) in wanted.items():
        module = (module or "<unknown>").rsplit("/", 1)[-1]
        same = {name: cost for (_, name), cost in found.items() if names is None or means(name, module, names[symbol])}
        if not any(cost[0] == calls and abs(cost[1] - seconds) <= calls * TICK / 1e9 + 1e-9 for cost in same.values()):
            yield f"{symbol} of {module}: {calls} calls, {seconds} s; there are {same}"


def check(tap, lode, name, source, folder):
    for layout in LAYOUTS:
        title, first = f"{name}, {layout}", Path(folder) / layout / "first"
        first.parent.mkdir()

        def write(target, *options):
            return lode.must("convert", "--format", "zorka", "--layout", layout, *options, source, "-o", target).decode()

        said = write(first)
        complaints = list(compare(lode, source, first))
        tap.check(not complaints, f"{title}: the same calls, and times up to a tick for each", complaints[:5])
        found = objections(lode, first)
        tap.check(not found, f"{title}: sound", found[:5])
        check_left_out(tap, lode, title, source, said)
        if layout == LAYOUTS[0]:
            complaints = list(compare_databases(lode, source, first, first.parent))
            tap.check(not complaints, f"{title}: databases say the same, too", complaints[:5])
            check_threads(tap, title, write, first)
            names = differing(first, convert(lode, first.parent / "again", first, layout))
            tap.check(not names, f"{title}: written again it has the same bytes", names)


def check_left_out(tap, lode, title, source, said):
    kinds = Counter(row["kind"] for row in rows(lode, "replay", source))
    count = sum(kinds[kind] for kind in kinds if kind not in ("enter", "leave", "sched_out", "sched_in"))
    found = [int(number) for number in re.findall(r"(\d+) events? ha(?:s|ve) no equivalent", said)]
    tap.check(found == ([count] if count else []), f"{title}: {count} events are left out, which is said once", [kinds, said])


def check_attributes(tap, lode, folder):
    """What a recording says beside names and times."""
    made = Made(pid=321, begin=5_000_000_000)
    made.utc_offset = 1_700_000_000
    made.call(0, 0, 1_000_000)
    made.call(2, 1_000_000_000, 1_000_065_536)
    source = made.write(Path(folder) / "made")
    target = Path(folder) / "store"
    lode.must("convert", "--format", "zorka", "--layout", "zico", source, "-o", target)
    store = Store(target)
    attributes = [dict(trace.attributes) for trace in store.traces]
    tap.check([(found.get("process.pid"), found.get("thread.id")) for found in attributes] == [(321, 321)] * 2,
              "every outermost call is a trace, and says its thread", attributes)
    tap.check([trace.info[STOP] for trace in store.traces] == [15, 1], "ticks count from the beginning of the trace",
              [trace.info for trace in store.traces])
    tap.check(store.traces[1].info[STAMP] - store.traces[0].info[STAMP] == 1000, "time stamps are a second apart")
    tap.check([store.method(trace) for trace in store.traces] == ["prog.f0()", "prog.f2()"], "functions of C are methods of their module")


def main():
    options = parse_arguments(__doc__)
    tap, lode = Tap(), options.lode
    with tempfile.TemporaryDirectory(prefix="lode-store-") as folder:
        made = Path(folder) / "made"
        lode.must("synth", "recording", "--records", "60000", "--arguments", "-o", made)
        check(tap, lode, "made", made, folder)
    with tempfile.TemporaryDirectory(prefix="lode-store-") as folder:
        check_attributes(tap, lode, folder)
    found = corpus()
    if not found:
        tap.skip("recordings of the corpus", "no corpus: set LODE_CORPUS")
    for name, source in found.items():
        with tempfile.TemporaryDirectory(prefix="lode-store-") as folder:
            try:
                check(tap, lode, name, source, folder)
            except (ValueError, OSError) as error:
                tap.check(False, name, [error])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
