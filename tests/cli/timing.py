#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
How long an answer takes on the largest database of the corpus: a small part of what it takes to print all of it. Processor time, best
of three runs each: neither the speed of the machine nor other programs matter. (The dump takes 0.4 s on a machine of 2024.) The project's own
databases are too small for that: there, the database is a synthetic one.
"""

import resource
import sys
import tempfile
from pathlib import Path

import cli

LARGE = "viewer-issue-233"
SYNTHETIC = ("--profiles", "96", "--contexts", "1500", "--metrics", "2", "--samples", "1500")
FUNCTION = cli.corpora.either("main", "function22")
RUNS = 3
# Calls, and the largest part of the time of the dump that they may take.
CALLS = ((["tree"], 0.1), (["tree", "--bottom-up"], 0.1), (["tree", "--lines", "--limit", "0", "--min-percent", "0"], 0.5),
         (["top"], 0.1), (["top", "--by", "line"], 0.1), (["top", "--profiles", "rank=0-26"], 0.1),
         (["profiles"], 0.1), (["context", FUNCTION], 0.1), (["trace"], 0.1), (["trace", "--from", "1s", "--to", "2s"], 0.1))


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def seconds(program, call):
    """Processor time of one run."""
    before = processor_time()
    result = program.run(*call)
    if result.status != 0:
        raise ValueError(result.err)
    return processor_time() - before


def answers_take_a_part_of_the_dump(program):
    with tempfile.TemporaryDirectory() as folder:
        store = LARGE
        if cli.corpora.is_own():
            store = str(Path(folder) / "synthetic")
            program.run("synth", "database", *SYNTHETIC, "-o", store)
        dump = min(seconds(program, ["dump", store]) for _ in range(RUNS))
        for (command, *words), bound in CALLS:
            part = min(seconds(program, [command, store, *words]) for _ in range(RUNS)) / dump
            program.check(part < bound, f"lode {' '.join([command, *words])}: {part:.3f} of the time of the dump", [f"more than {bound}"])


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, answers_take_a_part_of_the_dump))
