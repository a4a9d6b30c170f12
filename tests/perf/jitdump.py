#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Dumps of JIT compilers (jit-PID.dump): samples have the function that was at their address at their time or, if the clocks differ, the last one that
was there. Dumps that are cut off, damaged or no regular files cost names, and nothing else.
"""

import argparse
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tools")]

from tap import Tap  # noqa: E402
from write import MONOTONIC, Event, Recording  # noqa: E402

PID, BASE = 45, 0x7F0000001000
LOAD, MOVE, DEBUG, CLOSE = 0, 1, 2, 3
HEADER = 40


class Dump:
    """Bytes of a dump; `big` is the byte order."""

    def __init__(self, big=False, flags=0, version=1, size=HEADER):
        self.order = ">" if big else "<"
        self.bytes = struct.pack(self.order + "6I2Q", 0x4A695444, version, size, 62, 0, PID, 1000, flags)

    def record(self, kind, time, body, size=None):
        self.bytes += struct.pack(self.order + "IIQ", kind, 16 + len(body) if size is None else size, time) + body
        return self

    def load(self, time, start, name, size=0x100, index=1, said_size=None, nul=b"\0"):
        body = struct.pack(self.order + "II4Q", PID, PID, start, start, size if said_size is None else said_size, index)
        return self.record(LOAD, time, body + name.encode() + nul + bytes(size))

    def move(self, time, old, new, index, size=0x100):
        return self.record(MOVE, time, struct.pack(self.order + "II5Q", PID, PID, new, old, new, size, index))


def recording(clock=MONOTONIC, times=(2000, 3000, 4000, 5000), address=BASE + 0x10):
    """Samples at one address; the memory is mapped again when code is written."""
    event = Event(clock=clock)
    made = Recording(event)
    made.comm(PID, PID, "node")
    made.mmap2(PID, 0x7E0000000000, 0x1000, 0, f"/nonexistent/jit-{PID}.dump")
    made.mmap2(PID, BASE, 0x10000, BASE, "//anon", 1500)
    made.mmap2(PID, BASE, 0x10000, BASE, "//anon", 2500)
    for time in times:
        made.sample(event, address, PID, PID, time)
    return made.file()


def run(lode, *words):
    return subprocess.run([lode, *map(str, words)], capture_output=True, check=False, timeout=60)


def functions(lode, path):
    """{(module, function): samples}"""
    rows = json.loads(run(lode, "top", "--json", "--limit", 0, "-m", "cpu-clock:samples", path).stdout)["rows"]
    return {(row["module"], row["function"]): int(row["exclusive"]) for row in rows if row["exclusive"]}


def rules(lode, path):
    done = run(lode, "check", "--json", "--level", "full", path)
    return Counter(finding["rule"] for finding in json.loads(done.stdout)["findings"])


def check_times(tap, lode, path, dump):
    name = f"/nonexistent/jit-{PID}.dump"
    for big in (False, True):
        made = Dump(big).load(1800, BASE, "first").load(2800, BASE, "second", index=2).load(1900, BASE + 0x4000, "third", index=3)
        made.record(DEBUG, 1950, bytes(24)).move(3900, BASE + 0x4000, BASE, 3).load(9000, BASE, "last", index=4).record(CLOSE, 9999, b"")
        dump.write_bytes(made.bytes)
        path.write_bytes(recording())
        found = functions(lode, path)
        wanted = {(name, "first"): 1, (name, "second"): 1, (name, "third"): 2}
        tap.check(found == wanted and not rules(lode, path), f"{'big-endian' if big else 'little-endian'}: functions by address and time, also moved ones", [found])
    path.write_bytes(recording(clock=None))
    found = functions(lode, path)
    tap.check(found == {("//anon", "last"): 4}, "without a common clock, the last function at an address counts", [found])
    dump.write_bytes(Dump(flags=1).load(1800, BASE, "first").load(9000, BASE, "last").bytes)
    path.write_bytes(recording())
    found = functions(lode, path)
    tap.check(found == {("//anon", "last"): 4}, "the same if the dump has the clock of the processor", [found])


def check_damage(tap, lode, path, dump):
    """Names that are before the damage are used."""
    path.write_bytes(recording())
    whole = Dump().load(1800, BASE, "first", size=0x20).load(2800, BASE, "second", size=0x20).bytes
    end, wrong = len(whole) - (16 + 40 + 7 + 0x20), []
    for size in range(0, len(whole), 5):
        dump.write_bytes(whole[:size])
        found, names = rules(lode, path), {function for _, function in functions(lode, path)}
        is_cut = size not in (HEADER, end, len(whole))
        if (found["perf-jitdump"] > 0) != is_cut or ("first" in names) != (size >= end):
            wrong.append((size, found, names))
    tap.check(not wrong, "dumps that are cut off anywhere: what is before is used, and it is said", wrong[:3])
    first = Dump().load(1800, BASE, "first")
    damaged = {
        "a record of 4 GiB": Dump().load(1800, BASE, "first").record(LOAD, 2800, b"", size=0xFFFFFFFF),
        "a record of 0 bytes": Dump().load(1800, BASE, "first").record(LOAD, 2800, b"", size=0),
        "code that is larger than its record": Dump().load(1800, BASE, "first").load(2800, BASE, "second", said_size=1 << 60),
        "code beyond the address space": Dump().load(1800, BASE, "first").load(2800, 2**64 - 1, "second"),
        "code of no bytes": Dump().load(1800, BASE, "first").load(2800, BASE, "second", size=0),
        "a name without an end": Dump().load(1800, BASE, "first").load(2800, BASE, "second", size=0, nul=b""),
        "a move of what was never there": Dump().load(1800, BASE, "first").move(2800, BASE, BASE, 99),
    }
    for what, made in damaged.items():
        dump.write_bytes(made.bytes)
        found, names = rules(lode, path), {function for _, function in functions(lode, path)}
        tap.check(found == {"perf-jitdump": 1} and names == {"first"}, f"{what} is said, and the rest is used", [found, names])
    for what, content in {"another version": Dump(version=2), "a header of 4 GiB": Dump(size=0xFFFFFFFF), "another file": None}.items():
        dump.write_bytes(b"something else" * 10 if content is None else content.bytes + first.bytes[HEADER:])
        found = rules(lode, path)
        tap.check(found == {"perf-jitdump": 1, "perf-symbols": 1}, f"{what} is no dump", [found])


def check_mutants(tap, lode, path, dump):
    """Whatever a dump says: the recording is read."""
    source, wrong = random.Random(31), []
    whole = Dump().load(1800, BASE, "first").move(1900, BASE, BASE + 0x40, 1).load(2800, BASE, "second").bytes
    path.write_bytes(recording())
    for _ in range(40):
        mutant = bytearray(whole)
        for _ in range(source.randrange(1, 5)):
            width = source.choice((1, 2, 4, 8))
            at = source.randrange(len(mutant) // width) * width
            mutant[at : at + width] = source.choice((0, 1, 8, 0x7F, 0xFF, 2 ** (8 * width - 1), 2 ** (8 * width) - 1)).to_bytes(width, "little")
        dump.write_bytes(mutant)
        done = run(lode, "check", "--level", "full", path)
        wrong += [(bytes(mutant), done.stderr)] if done.returncode != 0 else []
    tap.check(not wrong, "40 mutants of a dump: the recording is sound", wrong[:1])


def check_files(tap, lode, path, dump):
    """What is no regular file is not opened, and nothing waits for it."""
    other = path.parent / "other"
    other.write_bytes(Dump().load(1800, BASE, "first").bytes)
    path.write_bytes(recording())
    for what, make in {"a link": lambda: dump.symlink_to(other), "a FIFO": lambda: os.mkfifo(dump), "a directory": dump.mkdir}.items():
        dump.unlink(missing_ok=True)
        make()
        found = rules(lode, path)
        tap.check(found == {"perf-symbols": 1}, f"{what} is no dump", [found])
    dump.rmdir()
    dump.write_bytes(other.read_bytes())
    os.truncate(dump, 1 << 40)
    found = rules(lode, path)
    tap.check(found == {"perf-symbols": 1}, "a dump of 1 TiB is not read", [found])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    options = parser.parse_args()
    os.environ["LODE_PLUGINS"] = "/nonexistent"
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        path, dump = Path(folder) / "perf.data", Path(folder) / f"jit-{PID}.dump"
        check_times(tap, options.lode, path, dump)
        check_damage(tap, options.lode, path, dump)
        check_mutants(tap, options.lode, path, dump)
        check_files(tap, options.lode, path, dump)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
