#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`lode build` from measurements with large structure files, on one rank.

Usage: measured_structures.py BUILD_DIRECTORY [--megabytes N,N,...] [--runs N]

Four profiles with 2,000 nodes, and one structure file: functions with a loop of 20 statements, of two ranges each. Processor time is the median of all
runs, without that of a build with a small file; memory is the peak.
"""
import argparse
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))

from made_measurements import many_profiles  # noqa: E402

BEGIN = """<?xml version="1.0"?>
<!DOCTYPE HPCToolkitStructure [
]>
<HPCToolkitStructure i="0" version="4.9" n="">
<LM i="1" n="/bin/made" v="{}">
<F i="2" n="/src/file.c">
"""
SMALL = 0.001


def function(number, address):
    lines = [f'<P i="{number}" n="function_{number}(int, double)" l="{number % 1000}" v="{{[{address:#x}-{address + 1:#x})}}">',
             f'<L i="{number + 1}" l="{number % 1000}" f="/src/file.c" v="{{[{address:#x}-{address + 1:#x})}}">']
    for i in range(20):
        at = address + 24 * i
        lines.append(f'<S i="{number + 2 + i}" l="{(number + i) % 1000}" v="{{[{at:#x}-{at + 12:#x}) [{at + 16:#x}-{at + 20:#x})}}"/>')
    return "\n".join([*lines, "</L>", "</P>", ""])


def write_structure(path, megabytes):
    path.parent.mkdir(exist_ok=True)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(BEGIN)
        number = 0
        while stream.tell() < megabytes * 1e6:
            stream.write(function(3 + 22 * number, 0x1000 + 480 * number))
            number += 1
        stream.write("</F></LM></HPCToolkitStructure>\n")


def build(lode, directory, target):
    """Processor time in seconds, and peak memory in MiB."""
    shutil.rmtree(target, ignore_errors=True)
    pid = os.posix_spawn(lode, [str(lode), "build", "--foreign", "--threads", "1", str(directory), "-o", str(target)], os.environ)
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        raise SystemExit(f"lode build failed: {status:#x}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--megabytes", type=lambda text: [float(word) for word in text.split(",")], default=[10, 50, 200])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    lode = (options.build / "src" / "cli" / "lode").resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        many_profiles(folder / "m", 4, nodes=2000)

        def median(megabytes):
            write_structure(folder / "m" / "structs" / "made.hpcstruct", megabytes)
            runs = [build(lode, folder / "m", folder / "db") for _ in range(options.runs)]
            return [statistics.median(column) for column in zip(*runs)]

        base = median(SMALL)
        print("| structure file | processor time | per MB | peak memory |\n|---:|---:|---:|---:|")
        for megabytes in options.megabytes:
            seconds, memory = median(megabytes)
            print(f"| {megabytes:g} MB | {seconds - base[0]:.2f} s | {1000 * (seconds - base[0]) / megabytes:.0f} ms | {memory:.0f} MiB |", flush=True)
        print(f"\nWithout: {base[0]:.2f} s, {base[1]:.0f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
