#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Building from measurements on ranks: bytes and messages of one rank as their number grows, beside the formulas of doc/scale.md.

Usage: measured_ranks.py BUILD_DIRECTORY MEASUREMENTS [--ranks N,N,...] [--launcher COMMAND]

Ranks are in one process, or in a job of --launcher, such as "mpirun.mpich -n": bytes and messages are the same. Each database is compared with that
of one rank. MEASUREMENTS is one directory whose ranks all have the same contexts, as replicated measurements do.
"""
import argparse
import filecmp
import json
import shlex
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

FILES = ("meta.db", "profile.db", "cct.db", "trace.db")
PHASES = ("opening", "reading", "merging", "profiles", "finishing")
ID = 18
FOOTER = 112
FEW = 2048  # bytes up to which a sum over all ranks is sent log R times, not twice


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


def model(ranks, stats, listed, merged):
    """Bytes that one rank sends on average, by phase; what does not grow with anything is left out."""
    rest, levels = 1 - 1 / ranks, (ranks - 1).bit_length()
    counts = 8 * (stats["contexts"] + 1)
    counts *= levels if counts <= FEW else min(2, levels)
    blocks = 10 * stats["values"] + 12 * stats["profile_contexts"]
    return {"opening": listed[0] + listed[1] * rest, "reading": 8 * (ranks - 1), "merging": merged[0] + merged[1] * rest,
            "profiles": 56 * stats["profiles"] / ranks * rest + 8 * (ranks - 1),
            "finishing": blocks / ranks * rest + 16 * stats["profiles"] * rest + counts + 8 * (ranks - 1)}


class Bench:
    def __init__(self, options, scratch):
        self.options, self.scratch = options, Path(scratch)

    def build(self, ranks, name):
        lode, target = (self.options.build / "src" / "cli" / "lode").resolve(), self.scratch / name
        command = [lode, "build", "--threads", "1", "--stats", "--json", "--force", self.options.measurements, "-o", target]
        if self.options.launcher:
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
        listed, merged, few = bytes_listed(self.options.measurements), None, None
        print("| ranks | messages per rank | " + " | ".join(f"{phase} | model" for phase in PHASES) + " | sum | model | difference |")
        print("|" + "---:|" * (2 * len(PHASES) + 5))
        self.build(1, "first")
        for ranks in self.options.ranks:
            stats = self.build(ranks, "db")
            sent = {phase["phase"]: phase["sent_bytes"] / ranks for phase in stats["phases"]}
            # What trees take is not in the statistics: two numbers of ranks give both terms of the formula, the others check it.
            if merged is None and few is not None:
                both = (sent["merging"] - few[1]) / (1 / few[0] - 1 / ranks)
                merged = (few[1] - both * (1 - 1 / few[0]), both)
            few = few or (ranks, sent["merging"])
            expected = model(ranks, stats, listed, merged or (sent["merging"], 0))
            total, said = sum(sent.values()), sum(expected.values())
            print(f"| {ranks} | {sum(phase['messages'] for phase in stats['phases'])} | "
                  + " | ".join(f"{sent[phase]:,.0f} | {expected[phase]:,.0f}" for phase in PHASES)
                  + f" | {total:,.0f} | {said:,.0f} | {100 * (said / total - 1):+.1f} % |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("measurements", type=Path)
    parser.add_argument("--ranks", type=lambda text: [int(word) for word in text.split(",")], default=[2, 4, 8, 16, 32, 64])
    parser.add_argument("--launcher", help="that starts a job; the number of ranks and the command follow it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        Bench(options, scratch).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
