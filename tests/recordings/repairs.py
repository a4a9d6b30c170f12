#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Repairs, done twice: recordings that are made up and damaged at random, records lost, doubled, out of order, of another
depth, address or kind, read by the program and by happened.py. Both must say the same, event by event and row by row.
"""

import struct
import sys
import tempfile
from pathlib import Path

import comparison
import corpus_files  # noqa: F401  knows where cli is
import happened
import made
import reader
import replays

import cli  # noqa: E402
import lodejson  # noqa: E402

SOUND, DAMAGED = 20, 300
SHOWN = 5
FUNCTIONS = {"f": 0x1040, "g": 0x1080}


def problems_of(program, folder):
    """What the program and happened.py say differently of a recording."""
    recording = reader.Recording(folder)
    tracks = happened.tracks(recording)
    answers = {command: program.run(command, folder, "--json", "--limit", "0", *(["--by", "symbol", "--sched"] if command == "top" else []), cwd=folder)
               for command in ("replay", "top")}
    for command, answer in answers.items():
        if answer.status not in (0, 1):
            return [f"lode {command}: exit status {answer.status}: {answer.err}"]
    events = replays.lode_events(lodejson.loads(answers["replay"].out))
    rows = lodejson.loads(answers["top"].out)["rows"]
    return (replays.event_problems(events, replays.happenings(recording, tracks))[:SHOWN] +
            comparison.exact_rows(rows, happened.rows(tracks))[:SHOWN])


def sound_recordings(program):
    wrong = []
    for seed in range(SOUND):
        with tempfile.TemporaryDirectory(prefix="lode-repairs-") as name:
            tasks, perf = made.make(seed)
            made.write(Path(name), tasks, perf, made.FUNCTIONS, made.SPECS)
            wrong += [f"seed {seed}: {problem}" for problem in problems_of(program, Path(name))]
    program.check(not wrong, f"{SOUND} recordings that were made up", wrong)


def damaged_recordings(program):
    kinds = {operation: [] for operation in made.OPERATIONS}
    counts = dict.fromkeys(made.OPERATIONS, 0)
    for seed in range(DAMAGED):
        with tempfile.TemporaryDirectory(prefix="lode-repairs-") as name:
            tasks, perf = made.make(seed)
            tasks[100], done = made.damage(seed, tasks[100])
            made.write(Path(name), tasks, perf, made.FUNCTIONS, made.SPECS)
            problems = problems_of(program, Path(name))
            first = done[0].rsplit(" at ", 1)[0]
            counts[first] += 1
            kinds[first] += [f"seed {seed}, {', '.join(done)}: {problem}" for problem in problems]
    for operation, wrong in kinds.items():
        program.check(counts[operation] and not wrong, f"{counts[operation]} damaged recordings, first: {operation}",
                      wrong[:4 * SHOWN])


def values_of_another_length(program):
    """
    f's entry carries a number and a pointer, but one number is specified. The pointer and the time of the exit behind it look
    like a record, of the next day, at a depth of 874 and at no address of the program: it must not be taken for one, or all
    that follows would be in the past.
    """
    f, g, exit_time = made.BASE + FUNCTIONS["f"], made.BASE + FUNCTIONS["g"], made.TIME + 0x10AD - made.TIME % 0x100
    records = [made.record("entry", made.TIME + 100, 0, f, struct.pack("<QQ", 32, 0x5615_1249_5FC0)),
               made.record("exit", exit_time, 0, f)]
    for i in range(6):
        records += [made.record("entry", exit_time + 1000 * i + 100, 0, g), made.record("exit", exit_time + 1000 * i + 200, 0, g)]
    with tempfile.TemporaryDirectory(prefix="lode-repairs-") as name:
        made.write(Path(name), {100: records}, [], FUNCTIONS, ("argspec:f@arg1",))
        answer = lodejson.loads(program.run("top", name, "--by", "symbol", "--json", "--limit", "0", cwd=name).out)
        rows = {row["name"]: (row["calls"], row["total_ns"]) for row in answer["rows"]}
        rules = [finding["rule"] for finding in answer["findings"]]
    program.equal(rows, {"f": (1, exit_time - made.TIME - 100), "g": (6, 600)}, "values that are longer than specified: rows")
    program.equal(rules, ["record-payload"], "values that are longer than specified: findings")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, sound_recordings, damaged_recordings, values_of_another_length))
