#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Recordings are always written the same: each recording of the corpus, and made ones, converted with other numbers of threads, converted
again, and over themselves, give the same bytes. What is made is sound, and what uftrace counts in it is what its records say.
"""

import shutil
import struct
import sys
import tempfile
from collections import Counter
from pathlib import Path

from bytes import differing
from recording_same import judged, objections
from recording_tool import Uftrace, convert, corpus, rows
from tool import Tap, parse_arguments

THREADS = ("1", "2", "7")
MADE = {
    "as it comes": ["--records", "100000"],
    "the smallest": ["--records", "2", "--tasks", "1", "--functions", "4", "--depth", "2"],
    "one task": ["--records", "30001", "--tasks", "1"],
    "many tasks": ["--records", "20000", "--tasks", "200", "--functions", "50"],
    "deep": ["--records", "50000", "--depth", "2000", "--functions", "20"],
    "flat": ["--records", "20000", "--depth", "2"],
    "arguments": ["--records", "40000", "--arguments"],
    "another seed": ["--records", "20000", "--seed", "9"],
}


def check_threads(tap, title, write, first):
    """`write` takes a target and options."""
    problems = []
    for threads in THREADS:
        again = first.parent / f"with {threads}"
        write(again, "--threads", threads)
        problems += [f"{threads} threads: {name}" for name in differing(first, again)]
        shutil.rmtree(again)
    tap.check(not problems, f"{title}: the same bytes for {', '.join(THREADS)} threads", problems)


def check_again(tap, title, lode, first):
    again = convert(lode, first.parent / "again", first)
    names = differing(first, again)
    lode.must("convert", "--force", again, "-o", again)
    names += differing(first, again)
    tap.check(not names, f"{title}: converted again, and over itself, it has the same bytes", names)


def counted(recording):
    """Calls, time of outermost calls, and the deepest of all tracks, from plain records."""
    calls, total, deepest = 0, 0, 0
    for path in recording.glob("*.dat"):
        data, offset, stack = path.read_bytes(), 0, []
        while offset < len(data):
            time, word = struct.unpack_from("<QQ", data, offset)
            offset += 16
            if word & 4:
                # A number, and, for an entry, a text behind it.
                length = 4 if word & 3 else 6 + struct.unpack_from("<H", data, offset + 4)[0]
                offset += (length + 7) // 8 * 8
            if word & 3 == 0:
                stack.append(time)
                deepest = max(deepest, len(stack))
            else:
                calls += 1
                begin = stack.pop()
                total += 0 if stack else time - begin
        assert not stack
    return calls, total, deepest


def check_made(tap, lode, title, parameters, folder):
    first = Path(folder) / "first"

    def write(target, *options):
        lode.must("synth", "recording", *parameters, *options, "-o", target)

    write(first)
    check_threads(tap, title, write, first)
    check_again(tap, title, lode, first)
    found = objections(lode, first)
    tap.check(not found, f"{title}: sound", found)
    wanted = dict(zip(parameters[::2], parameters[1::2]))
    calls, total, deepest = counted(first)
    tracks = rows(lode, "profiles", first, "--limit", "0")
    ours = (sum(row["calls"] for row in tracks), sum(row["total_ns"] for row in tracks))
    tap.check(ours == (calls, total) and calls == int(wanted["--records"]) // 2 and deepest <= int(wanted.get("--depth", 24)),
              f"{title}: {calls} calls, {deepest} deep", [ours, (calls, total)])
    if Uftrace.there:
        found = judged(lode, first)
        tap.check(not found, f"{title}: uftrace counts the same", found)
    else:
        tap.skip(f"{title}: uftrace counts the same", Uftrace.reason)


def check_shape(tap, lode, folder):
    """What made recordings are like, as far as it matters for measuring."""
    target = Path(folder) / "shape"
    lode.must("synth", "recording", "--records", "400000", "--tasks", "2", "-o", target)
    calls, depths, leaves = 0, 0, Counter()
    for path in target.glob("*.dat"):
        data, level, entered = path.read_bytes(), 0, None
        for _, word in struct.iter_unpack("<QQ", data):
            if word & 3 == 0:
                calls, level, entered = calls + 1, level + 1, word >> 16
                depths += level
            else:
                leaves[entered] += entered is not None
                level, entered = level - 1, None
    leaves.pop(None, None)
    mean, share = depths / calls, sum(leaves.values()) / calls
    tap.check(8 <= mean <= 11, f"the mean depth is {mean:.1f}")
    tap.check(share > 0.6, f"{share:.0%} of the calls call nothing")


def check_converted(tap, lode, name, source, folder):
    try:
        first = convert(lode, Path(folder) / "first", source)
        check_threads(tap, name, lambda target, *options: convert(lode, target, source, *options), first)
        check_again(tap, name, lode, first)
    except (ValueError, OSError) as error:
        tap.check(False, name, [error])


def main():
    options = parse_arguments(__doc__)
    tap = Tap()
    for title, parameters in MADE.items():
        with tempfile.TemporaryDirectory(prefix="lode-recording-") as folder:
            check_made(tap, options.lode, f"made: {title}", parameters, folder)
    with tempfile.TemporaryDirectory(prefix="lode-recording-") as folder:
        check_shape(tap, options.lode, folder)
    found = corpus()
    if not found:
        tap.skip("recordings of the corpus", "no corpus: set LODE_CORPUS")
    for name, source in found.items():
        with tempfile.TemporaryDirectory(prefix="lode-recording-") as folder:
            check_converted(tap, options.lode, name, source, folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
