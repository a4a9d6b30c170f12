#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
How long an answer takes on the largest database of the corpus: a small part of what it takes to print all of it. Processor time, best
of three runs each: neither the speed of the machine nor other programs matter. (The dump takes 0.4 s on a machine of 2024.)
"""

import resource
import sys

import cli

LARGE = "viewer-issue-233"
RUNS = 3
# Calls, and the largest part of the time of the dump that they may take.
CALLS = ((["tree", LARGE], 0.1), (["tree", "--bottom-up", LARGE], 0.1),
         (["tree", "--lines", "--limit", "0", "--min-percent", "0", LARGE], 0.5),
         (["top", LARGE], 0.1), (["top", "--by", "line", LARGE], 0.1), (["top", "--profiles", "rank=0-26", LARGE], 0.1),
         (["profiles", LARGE], 0.1), (["context", LARGE, "main"], 0.1), (["trace", LARGE], 0.1),
         (["trace", "--from", "1s", "--to", "2s", LARGE], 0.1))


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
    program.databases()
    dump = min(seconds(program, ["dump", LARGE]) for _ in range(RUNS))
    for call, bound in CALLS:
        part = min(seconds(program, call) for _ in range(RUNS)) / dump
        program.check(part < bound, f"lode {' '.join(call)}: {part:.3f} of the time of the dump", [f"more than {bound}"])


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, answers_take_a_part_of_the_dump))
