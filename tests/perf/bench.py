#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A large recording of perf, made of a small one: its samples again and again, later each time. `lode top` beside `perf report` without call chains, and
beside a bare pass over the same bytes; then every sample as a row, `lode sql` and `lode export` beside `perf script`, of a tenth as many samples:
processor time, wall-clock time and resident memory of each.
"""

import argparse
import os
import resource
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SAMPLE, ROUND, USER_FIRST = 9, 68, 64
NEEDED = {69, 73, 74, 78, 82}  # records of perf itself that the others refer to


def grow(source, target, samples):
    """Returns the number of samples. Side records come once, and a round ends after each repetition."""
    data = source.read_bytes()
    if data[:8] != b"PERFILE2" or struct.unpack_from("<Q", data, 8)[0] != 104:
        sys.exit(f"{source}: not a recording of perf in a file, little-endian")
    attributes, begin, size = struct.unpack_from("<Q8xQQ", data, 24)
    kinds = struct.unpack_from("<Q", data, attributes + 24)[0]
    time_at = 8 + 8 * sum(kinds >> bit & 1 for bit in (16, 0, 1))
    sides, repeated, places = bytearray(), bytearray(), []
    at = begin
    while at + 8 <= begin + size:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if kind == SAMPLE:
            places.append(len(repeated) + time_at)
        if kind in (SAMPLE, ROUND):
            repeated += data[at : at + length]
        elif kind < USER_FIRST or kind in NEEDED:
            sides += data[at : at + length]
        at += length
    times = [struct.unpack_from("<Q", repeated, place)[0] for place in places]
    span = max(times) - min(times) + 1000
    count = -(-samples // len(places))
    put = struct.Struct("<Q").pack_into
    header = bytearray(data[:begin])
    struct.pack_into("<QQ", header, 40, begin, len(sides) + count * (len(repeated) + 8))
    header[72:104] = bytes(32)
    with target.open("wb") as file:
        file.write(header + sides)
        for number in range(count):
            for place, moment in zip(places, times):
                put(repeated, place, moment + number * span)
            file.write(repeated + struct.pack("<IHH", ROUND, 0, 8))
    return count * len(places)


def measure(words):
    """(processor seconds, wall-clock seconds, MiB) of a command."""
    started = time.monotonic()
    process = subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{words[0]} failed")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - started, usage.ru_maxrss // 1024


def show(samples, path):
    print(f"{samples:,} samples, {path.stat().st_size:,} bytes, page size {resource.getpagesize()}")


def compare(runs, commands):
    for name, words in commands.items():
        found = min(measure(words) for _ in range(runs))
        print(f"{name:12} {found[0]:7.2f} s of processor time, {found[1]:7.2f} s, {found[2]:,} MiB with mapped files", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("recording", type=Path, help="uncompressed, with call chains and times")
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    os.environ["LODE_PLUGINS"] = "/nonexistent"
    with tempfile.TemporaryDirectory(prefix="lode-bench-", dir=os.environ.get("LODE_BENCH_DIR")) as name:
        folder = Path(name)
        lode, target = options.build / "src/cli/lode", folder / "perf.data"
        no_symbols = ["--symfs", "/nonexistent"]
        show(grow(options.recording, target, options.samples), target)
        compare(
            options.runs,
            {
                "bare pass": [options.build / "tests/bench/bare_pass", "scan", "1", target],
                "lode top": [lode, "top", "--limit", "1", target],
                "perf report": ["perf", "report", "-i", target, "--stdio", "--no-children", "-g", "none", *no_symbols],
            },
        )
        show(grow(options.recording, target, options.samples // 10), target)
        compare(
            1,
            {
                "lode sql": [lode, "sql", "--csv", "-n", "0", target, "select time_ns, profile_id, context_id from sample"],
                "lode export": [lode, "export", "--format", "csv", "-o", folder / "tables", target],
                "perf script": ["perf", "script", "-i", target, *no_symbols],
            },
        )


if __name__ == "__main__":
    sys.exit(main())
