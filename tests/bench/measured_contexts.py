#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`lode build` from measurements with large trees: what contexts cost rank 0, which alone makes them, and the other ranks.

Usage: measured_contexts.py BUILD_DIRECTORY MEASUREMENTS [--nodes N,N,...] [--addresses N] [--profiles N] [--ranks N] [--runs N]

A profile of MEASUREMENTS is written several times with another tree: nodes at random places below each other, with random addresses in one load
module, and one value each. All profiles have the same tree. Seconds are the best of all runs.
"""
import argparse
import json
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

SECTIONS = ("header", "modules", "nodes", "metrics", "kinds", "values")
FOOTER = 112
MAGIC = 0x48504352554E736D
END = 0x656E6421
DEPTH = 32
RANK = 0xC002


def sections_of(path):
    data = path.read_bytes()
    bounds = struct.unpack_from(">14Q", data, len(data) - FOOTER)
    return {name: data[bounds[2 * i]:bounds[2 * i + 1]] for i, name in enumerate(SECTIONS)}


def tree(count, addresses):
    """A root and `count` nodes; parents before children."""
    chance, depth = random.Random(1), [0]
    out = bytearray(struct.pack(">QIIHQB", count + 1, 12, 0, 0, 0x5E5072696D617279, 1))
    for i in range(1, count + 1):
        parent = chance.randrange(i)
        while depth[parent] >= DEPTH:
            parent = chance.randrange(i)
        depth.append(depth[parent] + 1)
        out += struct.pack(">IIHQB", 12 + 2 * i, 12 + 2 * parent, 1, 0x1000 + chance.randrange(addresses), 1)
    return bytes(out)


def values(count, rank):
    ids = struct.pack(">H", 2) + struct.pack(">HQQ", 0x4001, 1, 0) + struct.pack(">HQQ", RANK, rank, rank)
    rows = b"".join(struct.pack(">dH", 1.0, 0) for _ in range(count))
    index = b"".join(struct.pack(">IQ", 12 + 2 * i, i - 1) for i in range(1, count + 1))
    return ids + struct.pack(">QI", count, count) + rows + index + struct.pack(">IQ", END, count)


def write(path, sections):
    data, bounds = bytearray(), []
    for name in SECTIONS:
        bounds += [len(data), len(data) + len(sections[name])]
        data += sections[name] + bytes(-(len(data) + len(sections[name])) % 1024)
    path.write_bytes(bytes(data) + struct.pack(">14Q", *bounds, len(data), MAGIC))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("measurements", type=Path)
    parser.add_argument("--nodes", type=lambda text: [int(word) for word in text.split(",")], default=[250_000, 500_000, 1_000_000])
    parser.add_argument("--addresses", type=int, default=100_000)
    parser.add_argument("--profiles", type=int, default=4)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    lode = options.build / "src" / "cli" / "lode"
    sections = sections_of(min(options.measurements.glob("*.hpcrun")))
    print("| nodes | contexts | ranks | merging: s | merging: sent, bytes per node and rank | messages per rank | peak: MiB | finishing: s |")
    print("|" + "---:|" * 8)
    for count in options.nodes:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "measurements"
            folder.mkdir()
            sections["nodes"] = tree(count, options.addresses)
            for rank in range(options.profiles):
                sections["values"] = values(count, rank)
                write(folder / f"made-{rank:06d}-000-00000001-{rank + 1}-0.hpcrun", sections)
            for ranks in sorted({1, options.ranks}):
                command = [lode, "build", "--foreign", "--threads", "1", "--local-ranks", str(ranks), "--stats", "--json", "--force",
                           folder, "-o", Path(scratch) / "db"]
                runs = [json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout) for _ in range(options.runs)]
                stats, phases = runs[0], {phase["phase"]: phase for phase in runs[0]["phases"]}
                seconds = [min(phase["seconds"] for run in runs for phase in run["phases"] if phase["phase"] == name)
                           for name in ("merging", "finishing")]
                sent = phases["merging"]["sent_bytes"] / count / max(1, ranks - 1)
                print(f"| {count:,} | {stats['contexts']:,} | {ranks} | {seconds[0]:.2f} | {sent:.1f} "
                      f"| {sum(phase['messages'] for phase in stats['phases'])} | {stats['memory_bytes'] >> 20} | {seconds[1]:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
