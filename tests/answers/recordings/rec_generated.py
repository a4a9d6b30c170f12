#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Generated recordings, made to be nasty (rec_made.py): every row is that of the reference, and what must hold whatever the numbers are holds:
roots of the view by callers are the self times of `top`, rows below a row add up to it, self times add up to the total, tasks add up to the
whole, and neither `convert` nor `build` changes an answer.
"""

import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import references  # noqa: E402,F401
import rec_compare as compare  # noqa: E402
import rec_made  # noqa: E402
import rec_uftrace as uftrace  # noqa: E402

import cli  # noqa: E402
import names  # noqa: E402

SOUND, DAMAGED = 24, 24
SHOWN = 12
TOLERANCE = 1e-12


class Recording:
    def __init__(self, program, path):
        self.program, self.path = program, path
        self.tracks = uftrace.tracks(path)
        self.top = self.ask("top", "--sort", "self")
        self.tree = self.ask("tree", "--min-percent", "0")
        self.callers = self.ask("tree", "--min-percent", "0", "--bottom-up")
        self.profiles = self.ask("profiles")

    def ask(self, command, *options, path=None):
        raw = ["--names", "raw"] if command != "profiles" else []
        raw += ["--sched"] if command in ("top", "tree", "flame") else []
        result = self.program.run(command, path or self.path, "--json", "--limit", "0", *raw, *options, cwd=self.path.parent)
        if result.status not in (0, 1):
            raise ValueError(f"lode {command} {' '.join(map(str, options))}: {result.err}")
        return cli.parse_json(result.out)


# ---- what must hold ----

def reference_rows(one):
    for count, wrong in (compare.top_names(one.top, one.tracks), compare.tree(one.tree, one.tracks),
                         compare.tree(one.callers, one.tracks, bottom_up=True), compare.profiles(one.profiles, one.tracks)):
        one.program.rows += count
        yield from wrong


def roots_are_self_times(one):
    roots, rows = Counter(), Counter()
    for row in one.callers["rows"]:
        roots[row["name"]] += row["total_ns"] if row["depth"] == 0 else 0
    for row in one.top["rows"]:
        rows[row["name"]] += row["self_ns"]
    if roots != rows:
        yield f"roots {roots - rows}, self times {rows - roots}"


def rows_add_up(one):
    for row, below in _with_below(one.tree["rows"]):
        if row["total_ns"] != row["self_ns"] + sum(other["total_ns"] for other in below):
            yield f"{row['name']}: {row['total_ns']} is not {row['self_ns']} and what is below it"
    for row, below in _with_below(one.callers["rows"]):
        if row["total_ns"] < sum(other["total_ns"] for other in below):
            yield f"{row['name']}: {row['total_ns']} is less than what came through its callers"
    if sum(row["self_ns"] for row in one.top["rows"]) != one.top["total_ns"]:
        yield "self times do not add up to the total"


def _with_below(rows):
    below = [[] for _ in rows]
    path = []
    for i, row in enumerate(rows):
        del path[row["depth"]:]
        if path:
            below[path[-1]].append(row)
        path.append(i)
    return zip(rows, below)


def _sums(rows, result=None):
    result = defaultdict(Counter) if result is None else result
    for row in rows:
        for column in ("calls", "self_ns", "total_ns"):
            result[row["name"]][column] += row[column]
    return result


def tasks_add_up(one):
    tids = [str(track.facts["tid"]) for track in one.tracks]
    parts = [part for part in (tids[::3], tids[1::3], tids[2::3]) if part]
    found = None
    for part in parts:
        found = _sums(one.ask("top", "--task", ",".join(part))["rows"], found)
    if found != _sums(one.top["rows"]):
        yield "the parts are not the whole"


def conversion_changes_nothing(one):
    path = one.path.parent / "converted"
    done = one.program.run("convert", "--force", one.path, "-o", path, cwd=one.path.parent)
    if done.status not in (0, 1):
        yield f"convert: {done.err}"
        return
    for command, answer, options in (("top", one.top, ("--sort", "self")), ("tree", one.tree, ("--min-percent", "0")),
                                     ("tree", one.callers, ("--min-percent", "0", "--bottom-up"))):
        other = one.ask(command, *options, path=path)
        for left, right in zip(answer["rows"] + [None], other["rows"] + [None]):
            if left != right:
                yield f"{command}: {left}, converted {right}"
                break
        if answer["total_ns"] != other["total_ns"]:
            yield f"{command}: {answer['total_ns']}, converted {other['total_ns']}"


def _database_name(row):
    """What the function of a row is called in a database: demangled, with its module, for there is no source."""
    name = names.demangled(row["symbol"] or "")
    return f"{name} [{row['module'].rsplit('/', 1)[-1]}]" if row["symbol"] and row["module"] else row["symbol"] or row["name"]


def building_changes_nothing(one):
    path = one.path.parent / "built"
    done = one.program.run("build", "--force", one.path, "-o", path, cwd=one.path.parent)
    if done.status not in (0, 1):
        yield f"build: {done.err}"
        return
    check = one.program.run("check", "--level", "full", path, cwd=one.path.parent)
    if check.status != 0:
        yield f"check: {check.out}"
    found = defaultdict(Counter)
    for metric, scale in (("calls", 1), ("time (sec)", 1e9)):
        answer = one.program.json("top", path, "--by", "symbol", "--limit", "0", "--metric", metric, cwd=one.path.parent)
        for row in answer["rows"]:
            if metric == "calls":
                found[row["name"]]["calls"] += round(row["exclusive"])
            else:
                found[row["name"]]["self_ns"] += round(row["exclusive"] * scale)
                found[row["name"]]["total_ns"] += round(row["inclusive"] * scale)
    wanted = defaultdict(Counter)
    for row in one.ask("top", "--by", "symbol")["rows"]:
        is_off = row["name"].startswith("linux:schedule")
        wanted[_database_name(row)].update(calls=0 if is_off else row["calls"], self_ns=row["self_ns"], total_ns=row["total_ns"])
    for name in found.keys() | wanted.keys():
        if +found[name] != +wanted[name]:
            yield f"{name}: {dict(wanted[name])} in the recording, {dict(found[name])} in the database"


PROPERTIES = (reference_rows, roots_are_self_times, rows_add_up, tasks_add_up, conversion_changes_nothing, building_changes_nothing)


def look_at(program, count, is_damaged):
    program.rows = 0
    wrong = {holds: [] for holds in PROPERTIES}
    for seed in range(count):
        with tempfile.TemporaryDirectory(prefix="lode-answers-") as folder:
            rec_made.make(Path(folder) / "data", seed, is_damaged)
            one = Recording(program, Path(folder) / "data")
            for holds in PROPERTIES:
                wrong[holds] += [f"seed {seed}: {problem}" for problem in holds(one)]
    for holds, problems in wrong.items():
        program.check(not problems, f"{count} {'damaged' if is_damaged else 'sound'} recordings: {holds.__name__.replace('_', ' ')}",
                      problems[:SHOWN])
    program.note(f"{count} recordings, {program.rows} rows")


def sound_recordings(program):
    look_at(program, SOUND, False)


def damaged_recordings(program):
    look_at(program, DAMAGED, True)


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, sound_recordings, damaged_recordings))
