#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A database that was built shows what its recording shows: functions with their times and calls, tasks with their times, trace lines
that add up to the same, ids, and nothing for a full check to complain about.
"""

import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from building import Lode, Tap, corpus_recordings, is_off_processor, made_recordings, parse_arguments, stored_name

# Sums of doubles of up to some thousand profiles, in seconds.
TOLERANCE = 1e-12


def close(a, b):
    return abs(a - b) <= TOLERANCE + 1e-12 * max(abs(a), abs(b))


def key(row, name):
    return row["module"], row["file"], row["line"], name


def functions_of_recordings(lode, paths):
    """(self, total, calls) by function, added up over recordings."""
    result = defaultdict(lambda: [0, 0, 0])
    for path in paths:
        for row in lode.json("top", path, "--by", "symbol", "--limit", 0, "--names", "full", "--sched")["rows"]:
            sums = result[key(row, stored_name(row))]
            for i, column in enumerate(("self_ns", "total_ns")):
                sums[i] += row[column]
            sums[2] += 0 if is_off_processor(row) else row["calls"]
    return result


def functions_of_database(lode, path):
    result = defaultdict(lambda: [0, 0, 0])
    for row in lode.json("top", path, "--by", "symbol", "--limit", 0)["rows"]:
        sums = result[key(row, row["name"])]
        sums[0] += row["exclusive"]
        sums[1] += row["inclusive"]
    for row in lode.json("top", path, "--by", "symbol", "--limit", 0, "--metric", "calls")["rows"]:
        result[key(row, row["name"])][2] += row["exclusive"]
    return result


def function_differences(lode, paths, database):
    wanted, found = functions_of_recordings(lode, paths), functions_of_database(lode, database)
    for function in sorted(wanted.keys() | found.keys(), key=str):
        own, total, calls = wanted[function]
        if calls != found[function][2] or not close(own / 1e9, found[function][0]) or \
                not close(total / 1e9, found[function][1]):
            yield f"{function}: {wanted[function]} in the recording, {found[function]} in the database"


def call_differences(lode, paths, database):
    """As many calls as `top` says of the recordings, on its first line too."""
    wanted = sum(lode.json("top", path)["calls"] for path in paths)
    found = lode.json("top", database, "--metric", "calls")["total"]
    if wanted != found:
        yield f"{wanted} calls in the recording, {found} in the database"


def task_differences(lode, paths, database):
    wanted = [row["total_ns"] / 1e9 for path in paths for row in lode.json("profiles", path, "--limit", 0)["rows"]]
    found = [row["value"] for row in lode.json("profiles", database, "--limit", 0)["rows"]]
    # A database does not list profiles that are empty.
    wanted = sorted(value for value in wanted if value > 0)
    if len(wanted) != len(found) or not all(close(a, b) for a, b in zip(wanted, sorted(found))):
        yield f"tasks took {wanted} in the recording, {sorted(found)} in the database"


def trace_differences(lode, paths, database):
    """What a trace line says about the functions on top is what they took themselves."""
    names = defaultdict(int)
    for (_, _, _, name), (own, _, _) in functions_of_recordings(lode, paths).items():
        names[name] += own
    found = {row["name"]: row["nanoseconds"] for row in lode.json("trace", database, "--limit", 0)["rows"]}
    for name, own in names.items():
        if found.get(name, 0) != own:
            yield f"{name}: {own} ns in the recording, {found.get(name, 0)} in trace lines"


def look_at(tap, lode, name, paths, folder, *options):
    database = Path(folder) / "db"
    done = lode.run("build", "--force", *options, *paths, "-o", database)
    if not tap.check(done.returncode == 0, f"{name} is built", done.stderr.splitlines()):
        return
    tap.check(not (complaints := lode.complaints(database)), f"{name}: a full check is clean", complaints)
    problems = list(function_differences(lode, paths, database)) + list(task_differences(lode, paths, database))
    problems += call_differences(lode, paths, database)
    tap.check(not problems, f"{name}: functions, calls and tasks are those of the recording", problems)


def check_ids(tap, lode, folder):
    """Ranks from paths, from a table, from the order."""
    paths = made_recordings(lode, folder, 3)
    database, table = Path(folder) / "ids", Path(folder) / "ranks.txt"
    table.write_text("# ranks\n" + "".join(f"{path}/ {5 - i}\n" for i, path in enumerate(paths)))

    def names(*options):
        lode.must("build", "--force", "--trace", "none", *options, *paths, "-o", database)
        rows = lode.json("profiles", database, "--limit", 0)["rows"]
        return [row["name"] for row in sorted(rows, key=lambda row: row["profile"])]

    def ids(*ranks):
        threads = {rank: 1 + i for i, rank in enumerate(ranks)}
        return [f"node 0 rank {rank} thread {i}" for rank in sorted(ranks) for i in range(threads[rank])]

    tap.check(names() == ids(0, 1, 2), "ranks follow the order of recordings", [names()])
    tap.check(names("--rank-from", r"rank-(\d)") == ids(0, 1, 2), "ranks come from paths", [names()])
    tap.check(names("--ranks", table) == ids(5, 4, 3), "ranks come from a table", [names("--ranks", table)])
    bad = {"--rank-from": ["rank-[0-9]", "(no)", "rank-(", "(r)ank"], "--ranks": [str(table) + "x", paths[0] / "info"]}
    for option, values in bad.items():
        for value in values:
            done = lode.run("build", option, value, *paths, "-o", Path(folder) / "never")
            tap.check(done.returncode == 2 and done.stderr.count("\n") == 1 and not (Path(folder) / "never").exists(),
                      f"{option} {Path(str(value)).name} is refused", [done.stderr])


def check_traces(tap, lode, folder):
    recording = Path(folder) / "traced"
    lode.must("synth", "recording", "--records", 20000, "--tasks", 3, "-o", recording)

    def samples(option):
        database = Path(folder) / f"traces-{option}"
        stats = lode.json("build", recording, "--trace", option, "-o", database)
        complaints = lode.complaints(database)
        tap.check(not complaints, f"--trace {option}: a full check is clean", complaints)
        return stats["samples"], (database / "trace.db").exists(), stats

    full, has_full, stats = samples("full")
    tap.check(full == stats["events"] == 20000 and has_full, "a full trace has a sample for every event", [stats])
    some, has_some, _ = samples("10us")
    tap.check(0 < some < full / 2 and has_some, "a resolution leaves samples out", [some, full])
    none, has_none, _ = samples("none")
    tap.check(none == 0 and not has_none, "no trace is no trace.db")
    problems = list(trace_differences(lode, [recording], Path(folder) / "traces-full"))
    tap.check(not problems, "trace lines add up to what functions took themselves", problems)


def check_rare_samples(tap, lode, recordings, folder):
    """A thread that does not run says so once, however few samples are kept."""
    database = Path(folder) / "rare"
    lode.must("build", "--trace", "10us", *recordings.values(), "-o", database)
    complaints = lode.complaints(database)
    tap.check(not complaints, "the whole corpus with --trace 10us: a full check is clean", complaints)


def main():
    options = parse_arguments(__doc__)
    lode, tap = Lode(options.lode), Tap()
    recordings = corpus_recordings()
    with tempfile.TemporaryDirectory() as folder:
        if not recordings:
            tap.skip("recordings of the corpus", "there is no corpus")
        for name, path in recordings.items():
            look_at(tap, lode, name, [path], folder, "--trace", "full")
        made = made_recordings(lode, folder, 6, records=5000)
        look_at(tap, lode, "six made recordings", made, folder)
        if recordings:
            look_at(tap, lode, "the whole corpus", list(recordings.values()), folder, "--threads", 2)
            check_rare_samples(tap, lode, recordings, folder)
    with tempfile.TemporaryDirectory() as folder:
        check_ids(tap, lode, folder)
        check_traces(tap, lode, folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
