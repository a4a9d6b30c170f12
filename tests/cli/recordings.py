#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Commands on recordings: every format, options that choose, and answers of different commands that must agree."""

import csv
import difflib
import io
import os
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import cli
import corpora  # cli knows where it is
import findings

# Where the rows are in JSON.
TABLES = {"info": "tasks", "check": "findings", "top": "rows", "tree": "rows", "profiles": "rows", "search": "rows",
          "replay": "rows"}
THREADS, ARGUMENTS, EXCEPTIONS, FORKS = "mt", "pg_args", "exc", "forkexec"
BEGIN, END = ("enter", "sched_out"), ("leave", "sched_in")


def names(program):
    return [path.name for path in corpora.stores(program.recordings())]


def run(program, command, name, *options, **more):
    return program.run(command, f"{name}/uftrace.data", *options, cwd=program.recordings(), **more)


def answer(program, command, name, *options):
    """As JSON. A check that finds errors has an exit status that says so."""
    result = run(program, command, name, "--json", *options)
    if result.status not in ((0, 1) if command == "check" else (0,)) or findings.without(result.err):
        raise ValueError(f"lode {command} {name} {options}: exit status {result.status}: {result.err}")
    return cli.parse_json(result.out)


def cells(row):
    """What of a row fits a table: not the arguments of a call, which CSV has as text."""
    return {key: value for key, value in row.items() if not isinstance(value, list)}


def rows(program, command, name, *options):
    return answer(program, command, name, "--limit", "0", *options)["rows"]


def every_format_of_every_command(program):
    """JSON is one object, CSV one table with the same rows, text is there; nothing is said on standard error."""
    for name in names(program):
        wrong = []
        for command, table in TABLES.items():
            found = answer(program, command, name)
            text, comma = run(program, command, name), run(program, command, name, "--csv")
            header, lines = cli.csv_rows(comma.out)
            listed = found[table]
            if (found["command"], found["recording"]) != (command, f"{name}/uftrace.data"):
                wrong.append((command, list(found)))
            if text.status != comma.status or text.err or comma.err or not text.out or len(lines) != len(listed) \
                    or (listed and header != list(cells(listed[0]))):
                wrong.append((command, text.status, text.err, comma.err, header, len(lines), len(listed)))
        program.check(not wrong, f"{name}: text, JSON and CSV of every command", wrong)


def csv_and_json_say_the_same(program):
    for command in ("info", "top", "tree", "profiles", "replay"):
        listed = answer(program, command, ARGUMENTS)[TABLES[command]]
        table = list(csv.DictReader(io.StringIO(run(program, command, ARGUMENTS, "--csv").out, newline="")))
        wanted = [{key: "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
                   for key, value in cells(row).items()} for row in listed]
        program.check(table == wanted, f"lode {command}: CSV says what JSON says", [table[:2], wanted[:2]])


def top_is_what_replay_shows(program):
    """Calls, times and extremes of every function, from the rows of a replay."""
    for name in names(program):
        times = defaultdict(list)
        for row in rows(program, "replay", name):
            if row["kind"] in END:
                times[row["symbol"], row["module"]].append(row["duration_ns"])
        wanted = {key: (len(all_times), min(all_times), max(all_times)) for key, all_times in times.items()}
        found = defaultdict(lambda: (0, 1 << 64, 0))
        for row in rows(program, "top", name, "--by", "symbol", "--sched"):  # functions of one name and module are one here
            calls, least, most = found[row["symbol"], row["module"]]
            found[row["symbol"], row["module"]] = (calls + row["calls"], min(least, row["min_ns"]), max(most, row["max_ns"]))
        program.check(dict(found) == wanted, f"{name}: lode top counts what lode replay shows",
                      [sorted(map(str, set(found.items()) ^ set(wanted.items())))[:6]])


def costs_add_up(program):
    """Self over functions, total over tasks, and the tree's own cost are the same time."""
    for name in names(program):
        own = sum(row["self_ns"] for row in rows(program, "top", name))
        total = sum(row["total_ns"] for row in rows(program, "profiles", name))
        tree = answer(program, "tree", name, "--limit", "0", "--min-percent", "0")
        by_path = sum(row["self_ns"] for row in tree["rows"])
        program.equal((total, tree["total_ns"], by_path), (own, own, own), f"{name}: top, profiles and tree add up to one time")


def kept(listed, keep):
    """
    The rows of a replay that are left if calls are left out with all that is inside: `keep(call)` says whether a call stays,
    where a call is (its first row, its last row, how many calls are around it).
    """
    stacks, ends, hidden = defaultdict(list), {}, set()
    for i, row in enumerate(listed):
        if row["kind"] in BEGIN:
            stacks[row["tid"]].append(i)
        elif row["kind"] in END:
            ends[stacks[row["tid"]].pop()] = i
    stacks = defaultdict(list)
    for i, row in enumerate(listed):
        stack = stacks[row["tid"]]
        if row["kind"] in BEGIN:
            is_kept = (not stack or stack[-1] not in hidden) and keep(row, listed[ends[i]], len(stack))
            hidden.update(() if is_kept else (i, ends[i]))
            stack.append(i)
        elif row["kind"] in END:
            stack.pop()
        elif stack and stack[-1] in hidden:
            hidden.add(i)
    return [row for i, row in enumerate(listed) if i not in hidden]


def replay_leaves_out_what_it_is_told_to(program):
    for name in names(program):
        listed = rows(program, "replay", name)
        wrong = []
        for limit in (1, 2, 3):
            wanted = kept(listed, lambda first, last, level, limit=limit: level < limit)
            if rows(program, "replay", name, "--depth", limit) != wanted:
                wrong.append(("--depth", limit))
        for bound in (100, 1000, 10_000, 250_000, 1_000_000):
            wanted = kept(listed, lambda first, last, level, bound=bound: last["time_ns"] - first["time_ns"] >= bound)
            if rows(program, "replay", name, "--min-time", f"{bound}ns") != wanted:
                wrong.append(("--min-time", bound))
        program.check(not wrong, f"{name}: lode replay --depth and --min-time", wrong)


def windows_of_a_replay(program):
    """
    A window holds the rows of its time; of calls that began before it, the end, without a duration. What a repair adds at the end
    of a track is not there for who does not read so far.
    """
    for name in (THREADS, ARGUMENTS, EXCEPTIONS):
        listed = [row for row in rows(program, "replay", name) if not row["made"]]
        first, last = listed[0]["time_ns"], listed[-1]["time_ns"]
        wrong = []
        for begin, end in ((0, 0.5), (0.25, 0.75), (0.5, 1), (0.9, 0.91)):
            begin_ns, end_ns = (int((last - first) * share) for share in (begin, end))
            wanted = [row["time_ns"] for row in listed if begin_ns <= row["time_ns"] - first < end_ns]
            found = rows(program, "replay", name, "--from", f"{begin_ns}ns", "--to", f"{end_ns}ns")
            same = rows(program, "replay", name, "--from", f"@{first + begin_ns}", "--to", f"@{first + end_ns}")
            early = [row for row in found if row["kind"] in END and row["duration_ns"] is None]
            if [row["time_ns"] for row in found if not row["made"]] != wanted or found != same or (begin == 0 and early):
                wrong.append((begin, end, len(found), len(wanted)))
        program.check(not wrong, f"{name}: lode replay --from --to", wrong)


def tasks_by_what_people_call_them(program):
    tasks = {row["tid"]: row for row in answer(program, "info", FORKS)["tasks"]}
    for option, wanted in ((lambda row: str(row["tid"]), lambda row, other: other["tid"] == row["tid"]),
                           (lambda row: f"pid={row['pid']}", lambda row, other: other["pid"] == row["pid"]),
                           (lambda row: row["name"], lambda row, other: other["name"] == row["name"])):
        for row in tasks.values():
            found = {other["tid"] for other in rows(program, "profiles", FORKS, "--task", option(row))}
            program.equal(found, {other["tid"] for other in tasks.values() if wanted(row, other)},
                          f"lode profiles --task {option(row)}")
    listed = rows(program, "replay", THREADS)
    chosen = sorted({row["tid"] for row in listed})[1:3]
    found = rows(program, "replay", THREADS, "--task", ",".join(map(str, chosen)))
    program.equal(found, [row for row in listed if row["tid"] in chosen], "lode replay --task with two tasks")


def orders_of_rows(program):
    keys = {"self": "self_ns", "exclusive": "self_ns", "total": "total_ns", "inclusive": "total_ns", "calls": "calls",
            "mean": "mean_ns", "min": "min_ns", "max": "max_ns", "errors": "errors", "p50": "p50_ns", "p95": "p95_ns", "p99": "p99_ns"}
    default = rows(program, "top", EXCEPTIONS)
    for word, key in keys.items():
        found = rows(program, "top", EXCEPTIONS, "--sort", word)
        values = [row[key] for row in found]
        program.check(values == sorted(values, reverse=True) and len(found) == len(default),
                      f"lode top --sort {word}: by {key}", values)
    for word in ("p50", "p95", "p99", "min", "mean", "max"):
        heading = run(program, "top", EXCEPTIONS, "--sort", word, "--limit", 1).out.split("\n")[2]
        program.check(word in heading.lower().split(), f"lode top --sort {word}: the column is shown", [heading])
    program.equal(rows(program, "top", EXCEPTIONS, "--sort", "self"), default, "lode top is by self")
    found = [row["name"] for row in rows(program, "top", EXCEPTIONS, "--sort", "name", "--names", "full")]
    program.equal(found, sorted(found), "lode top --sort name")


def names_of_functions(program):
    program.need_larger()
    simple, full, raw = ({row["offset"]: row["name"] for row in rows(program, "top", EXCEPTIONS, "--by", "symbol", "--names", names)}
                         for names in ("simple", "full", "raw"))
    by_raw = {raw[offset]: (simple[offset], full[offset]) for offset in raw}
    program.equal(by_raw["_ZN3app7throwerEi"], ("app::thrower", "app::thrower(int)"), "simple and full names")
    program.equal(by_raw["_ZN3appplIiEENS_3BoxIT_EERKS3_S5_"][0] if "_ZN3appplIiEENS_3BoxIT_EERKS3_S5_" in by_raw
                  else "app::operator+", "app::operator+", "simple names of operators")
    program.check(all(not set("<(") & set(name.replace("operator<<", "").replace("operator()", ""))
                      for name in simple.values()), "simple names have no parameters", list(simple.values()))


def threads_change_nothing(program):
    for command in ("top", "tree", "profiles"):
        found = {run(program, command, THREADS, "--threads", threads, "--json").out for threads in (1, 2, 7)}
        program.equal(len(found), 1, f"lode {command}: the same with any number of threads")


def text_of_a_replay(program):
    """Lines are rows, a call inside which nothing happens being one line."""
    for name in names(program):
        listed = rows(program, "replay", name)
        lines, i = 0, 0
        while i < len(listed):
            row, after = listed[i], listed[i + 1] if i + 1 < len(listed) else None
            is_leaf = row["kind"] in BEGIN and after and after["kind"] == dict(zip(BEGIN, END))[row["kind"]] \
                and after["tid"] == row["tid"] and after["depth"] == row["depth"]
            i += 2 if is_leaf else 1
            lines += 1
        text = run(program, "replay", name).out
        found = [line for line in text.splitlines() if " | " in line[:30]]
        program.equal(len(found), lines, f"{name}: lines of lode replay")
        cut = run(program, "replay", name, "--limit", "3").out.splitlines()
        program.check(cut[:4] == text.splitlines()[:4] and "showing 3 lines; there are more (--limit 0 shows all)" in cut,
                      f"{name}: lode replay --limit 3", cut)


def replay_looks_as_users_of_uftrace_know_it(program):
    """Line by line, where there is nothing to repair and uftrace gets everything right. Line feeds in a text are escaped here."""
    program.need_larger()
    for name in ("cyg", "dlopen", "estret", "events", "exc", "n_cyg", "n_fentry", "nestlib", "nolibcall", "nopie",
                 "patchable_P", "pg_args", "plain_P_U", "sdt"):
        wanted = (program.recordings() / name / "golden13" / "replay.txt").read_text(encoding="utf-8")
        wanted = wanted.replace("quoted\\\n\ttext", "quoted\\\\n\\ttext").splitlines()
        found = run(program, "replay", name).out.splitlines()
        program.check(found == wanted, f"{name}: lode replay is uftrace replay",
                      [line for line in difflib.unified_diff(wanted, found, lineterm="", n=0)][:12])


def findings_are_counted(program):
    """By rule, where a recording was read: the same as a check lists."""
    program.need_larger()
    for name in (THREADS, FORKS, "killed", "longjmp"):
        listed = defaultdict(int)
        for finding in answer(program, "check", name, "--limit", "0")["findings"]:
            listed[finding["rule"]] += 1
        for command in ("top", "tree", "profiles", "replay"):
            found = answer(program, command, name)["findings"]
            program.check(found and all(listed[item["rule"]] == item["count"] for item in found),
                          f"{name}: lode {command} counts findings as lode check does", [found, dict(listed)])
            verbose, plain = (run(program, command, name, *options).err for options in (["--verbose"], []))
            program.check(findings.LINE.fullmatch(verbose) and "lode check --verbose'" in verbose, f"{name}: lode {command} --verbose says so", [verbose[-200:]])
            is_damaged = any(item["severity"] != "note" for item in found)
            program.check(bool(findings.LINE.fullmatch(plain)) == is_damaged, f"{name}: lode {command} says so if it is more than a note", [plain[-200:]])


def damage_is_repaired_or_refused(program):
    """A record whose first bytes are gone is passed over, or ends the work with --strict."""
    program.need_larger()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        shutil.copytree(program.recordings() / THREADS / "uftrace.data", data, copy_function=shutil.copyfile)
        with open(data / "20753.dat", "r+b") as stream:
            stream.seek(0x100 + 8)
            stream.write(b"\xff")
        for command in ("top", "tree", "profiles", "replay"):
            found = program.json(command, "data", cwd=folder)["findings"]
            program.check("record-magic" in {item["rule"] for item in found}, f"lode {command}: damage is counted", found)
            result = program.run(command, "--strict", "data", cwd=folder)
            program.check(result.status == 2 and "20753.dat at 0x100" in result.err and result.err.count("\n") == 1,
                          f"lode {command} --strict: damage ends it", [result])
            result = program.run(command, "--strict", "--json", "data", cwd=folder)
            program.check(result.status == 2 and (not result.out or cli.parse_json(result.out)),
                          f"lode {command} --strict --json: what was written is whole", [result.err])
        program.equal(program.run("check", "data", cwd=folder).status, 1, "lode check of a damaged recording")
        result = program.run("convert", "--strict", "data", "-o", "new", cwd=folder)
        program.check(result.status == 2 and result.err.count("\n") == 1 and "(record-magic)" in result.err
                      and os.listdir(folder) == ["data"], "lode convert --strict: damage ends it", [result])
        result = program.run("convert", "data", "-o", "new", cwd=folder)
        program.check(result.status == 0 and "record-magic" in result.err and " copied to new, " in result.err
                      and program.run("check", "new", cwd=folder).status == 0, "lode convert repairs", [result])


def written(listed):
    """Rows as they should be again once they were written: repaired, and without what was noted about the task as such."""
    return [{**row, "made": False} for row in listed if not row["name"].startswith("linux:task-")]


def converted_recordings_say_the_same(program):
    program.need_larger()
    with tempfile.TemporaryDirectory() as folder:
        for name in (THREADS, ARGUMENTS, EXCEPTIONS):
            target = Path(folder) / name
            result = run(program, "convert", name, "-o", target, "--format", "uftrace")
            found = written(program.json("replay", target, cwd=folder)["rows"])
            wanted = written(rows(program, "replay", name))
            program.check(result.status == 0 and not findings.without(result.err) and found == wanted,
                          f"{name}: lode convert: the same events", [result, len(found), len(wanted)])
            result = run(program, "convert", name, "-o", target)
            program.says(result, 2, f"{target}: already exists; use --force to replace it", f"{name}: convert again")
        result = program.run("convert", THREADS, ARGUMENTS, "-o", "both", cwd=folder)
        found = program.json("profiles", "both", cwd=folder)["row_count"]
        program.run("synth", "database", "--contexts", "10", "-o", "db", cwd=folder)
        program.says(program.run("convert", THREADS, "db", "-o", "mixed", cwd=folder), 2,
                     "db is a database; expected a recording", "lode convert of a recording and a database")
        program.check(result.status == 0 and found == 6, "lode convert of two recordings has the tasks of both",
                      [result, found])


def made_recordings(program):
    with tempfile.TemporaryDirectory() as folder:
        made = program.run("synth", "recording", "--records", "5000", "--tasks", "3", "--functions", "20", "--depth", "6",
                           "--arguments", "--seed", "7", "-o", "data", cwd=folder)
        again = program.run("synth", "recording", "--records", "5000", "--tasks", "3", "--functions", "20", "--depth",
                            "6", "--arguments", "--seed", "7", "-o", "same", cwd=folder)
        program.check((made.status, again.status) == (0, 0) and not made.err, "lode synth recording", [made, again])
        top, tasks = program.json("top", "data", cwd=folder), program.json("profiles", "data", cwd=folder)
        program.check(top["calls"] == 2500 and tasks["row_count"] == 3 and top["findings"] == [],
                      "a made recording has what was asked for", [top["calls"], tasks["row_count"], top["findings"]])
        program.equal(program.run("check", "--level", "full", "data", cwd=folder).status, 0, "a made recording is sound")
        program.equal(sorted(os.listdir(Path(folder) / "data")), sorted(os.listdir(Path(folder) / "same")),
                      "a made recording has the same files again")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, every_format_of_every_command, csv_and_json_say_the_same, top_is_what_replay_shows,
                      costs_add_up, replay_leaves_out_what_it_is_told_to, windows_of_a_replay,
                      tasks_by_what_people_call_them, orders_of_rows, names_of_functions, threads_change_nothing,
                      text_of_a_replay, replay_looks_as_users_of_uftrace_know_it, findings_are_counted, damage_is_repaired_or_refused,
                      converted_recordings_say_the_same, made_recordings))
