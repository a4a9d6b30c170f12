#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rehearsal of `lode build` on many ranks: all messages of up to 1,000 ranks are sent, counted, and compared with the formulas of doc/scale.md.

Usage: measured_ranks.py BUILD_DIRECTORY MEASUREMENTS [--ranks N,N,...] [--profiles N] [--common N] [--own N] [--launcher COMMAND] [--assert PERCENT]

Ranks are threads of one process, or the processes of a job of --launcher, such as "mpirun.openmpi --oversubscribe -n". A profile of MEASUREMENTS is
written --profiles times: each has --common nodes that all have, and --own nodes below them that only this one has. Every database is compared with
that of one rank. --assert: the difference from the formulas that is an error.
"""
import argparse
import filecmp
import json
import random
import shlex
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from measured_contexts import FOOTER, sections_of, values, write

FILES = ("meta.db", "profile.db", "cct.db")
ID = 18
PHASES = ("opening", "merging", "profiles", "finishing")
NODE, CONTENT, NUMBER, PLACE = 8, 16, 4, 8  # bytes of a hash, of what a node is, of a number; of how many contexts a node adds
ADDED = 9  # bytes of a context that a node adds
CUT = 16


def tree(common, own, profile):
    """A root, nodes that all profiles have, and nodes of this profile; below each other at random."""
    out = bytearray(struct.pack(">QIIHQB", common + own + 1, 12, 0, 0, 0x5E5072696D617279, 1))
    for i in range(1, common + own + 1):
        chance = random.Random(i if i <= common else profile * 10_000_000 + i)
        # Offsets of a profile's own nodes make them differ from those of others.
        offset = 0x1000 + chance.randrange(common) if i <= common else 0x1000000 + profile * own + i - common
        out += struct.pack(">IIHQB", 12 + 2 * i, 12 + 2 * chance.randrange(min(i, common)), 1, offset, 1)
    return bytes(out)


def bytes_listed(folder):
    """(bytes of the list of profiles, of their id tuples)."""
    names = ids = 0
    for path in folder.glob("*.hpcrun"):
        with path.open("rb") as file:
            file.seek(-FOOTER, 2)
            file.seek(struct.unpack(">14Q", file.read())[10])
            ids += 8 + ID * struct.unpack(">H", file.read(2))[0]
        names += 24 + len(path.name) + 1
    return names, ids


def alltoall(ranks):
    """What an all-to-all sends besides its bytes: sizes, and the largest sum."""
    return 8 * (ranks - 1) + 16 * (ranks - 1).bit_length()


def model(ranks, stats, listed, nodes):
    """Bytes that one rank sends on average, by phase; what does not grow with anything is left out."""
    rest, levels, distinct, contexts = 1 - 1 / ranks, (ranks - 1).bit_length(), stats["contexts"], stats["contexts"] + 1
    answer = PLACE + ADDED
    up = nodes * rest * (NODE + CONTENT + NUMBER) + distinct * (2 * NUMBER + CONTENT) * rest / ranks
    down = distinct * answer * rest / ranks + nodes * rest * answer
    blocks = 10 * stats["values"] + 12 * stats["profile_contexts"]
    batches = max(stats["rounds"], 1) * ranks + ranks
    return {"opening": listed[0] + listed[1] * rest,
            "merging": up + down + 3 * alltoall(ranks) + 8 * (ranks - 1) + 32 * levels,
            "profiles": 56 * stats["profiles"] / ranks * rest + 8 * (ranks - 1),
            "finishing": blocks / ranks * rest + 16 * stats["profiles"] * rest + 8 * contexts * rest + CUT * batches * rest
            + 8 * (ranks - 1) + max(stats["rounds"], 1) * alltoall(ranks)}


class Rehearsal:
    def __init__(self, options, scratch):
        self.options, self.scratch = options, Path(scratch)
        self.folder = self.scratch / "measurements"

    def make(self):
        sections = sections_of(min(self.options.measurements.glob("*.hpcrun")))
        self.folder.mkdir()
        for rank in range(self.options.profiles):
            sections["nodes"] = tree(self.options.common, self.options.own, rank)
            sections["values"] = values(self.options.common + self.options.own, rank)
            write(self.folder / f"made-{rank:06d}-000-00000001-{rank + 1}-0.hpcrun", sections)

    def build(self, ranks, name):
        lode, target = (self.options.build / "src" / "cli" / "lode").resolve(), self.scratch / name
        command = [lode, "build", "--foreign", "--threads", "1", "--memory", "16M", "--stats", "--json", "--force", self.folder, "-o", target]
        if self.options.launcher and ranks > 1:
            command = [*shlex.split(self.options.launcher), str(ranks), *command]
        else:
            command += ["--local-ranks", str(ranks)]
        stats = json.loads(subprocess.run([*map(str, command)], check=True, stdout=subprocess.PIPE).stdout)
        if stats["comm_size"] != ranks:
            sys.exit(f"{stats['comm_size']} ranks instead of {ranks}")
        if filecmp.cmpfiles(self.scratch / "first", target, FILES, shallow=False)[0] != list(FILES):
            sys.exit(f"another database on {ranks} ranks")
        return stats

    def run(self):
        self.make()
        listed, worst = bytes_listed(self.folder), 0
        self.build(1, "first")
        print("| ranks | contexts | messages per rank | " + " | ".join(f"{phase} | model" for phase in PHASES) + " | sum | difference | peak: MiB |")
        print("|" + "---:|" * (2 * len(PHASES) + 6))
        for ranks in self.options.ranks:
            stats = self.build(ranks, "db")
            sent = {phase["phase"]: phase["sent_bytes"] / ranks for phase in stats["phases"]}
            nodes = (self.options.common + self.options.own) * max(1, self.options.profiles / ranks)
            if ranks < self.options.profiles:
                nodes = self.options.common + self.options.own * self.options.profiles / ranks
            expected = model(ranks, stats, listed, nodes)
            total, said = sum(sent[phase] for phase in PHASES), sum(expected.values())
            worst = max(worst, abs(said / total - 1))
            print(f"| {ranks:,} | {stats['contexts']:,} | {sum(phase['messages'] for phase in stats['phases']):,} | "
                  + " | ".join(f"{sent[phase]:,.0f} | {expected[phase]:,.0f}" for phase in PHASES)
                  + f" | {total:,.0f} | {100 * (said / total - 1):+.1f} % | {stats['memory_bytes'] >> 20} |", flush=True)
        return worst * 100


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("measurements", type=Path)
    parser.add_argument("--ranks", type=lambda text: [int(word) for word in text.split(",")], default=[10, 100, 1000])
    parser.add_argument("--profiles", type=int, default=1000)
    parser.add_argument("--common", type=int, default=400)
    parser.add_argument("--own", type=int, default=100)
    parser.add_argument("--launcher", help="that starts a job; the number of ranks and the command follow it")
    parser.add_argument("--assert", dest="most", type=float, help="percent")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        worst = Rehearsal(options, scratch).run()
    if options.most is not None and worst > options.most:
        sys.exit(f"{worst:.1f} % from the formulas, at most {options.most}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
