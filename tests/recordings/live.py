#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Live: compiles a threaded C and a C++ program, records them with the uftrace of this machine, and compares what `lode`
says with what uftrace says; then cuts, merges and converts recordings, and has uftrace read what came out. Names are
compared as symbols where uftrace can do without demangling. Needs uftrace, gcc and g++.
"""

import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import comparison
import corpus_files
import golden
import happened
import made
import reader
import replays
import slices
from names import simple_name

import cli  # noqa: E402  corpus_files knows where it is

PROGRAMS = Path(__file__).resolve().parent / "programs"
NEEDED = ("uftrace", "gcc", "g++")
SECONDS = 120


# What uftrace 0.13, the one of this machine, does not know.
BEYOND_13 = {
    "n_callsite": "0.13 does not know its events",
    "n_watchvar": "0.13 does not know its events",
    "deep4k": "uftrace hides calls beyond a depth of 1024",
}


# What uftrace does because of a function's name, however sound the records are: facts 3, longjmp and exec.
BY_NAME = {
    "longjmp": ("_setjmp", "jumper", "longjmp"),
    "forkexec": ("execl", "linux:schedule", "linux:schedule (pre-empted)"),
    "n_forkexec": ("execl", "linux:schedule (pre-empted)"),
}


class Skip(Exception):
    """A test that this machine cannot run."""


class Recorded(NamedTuple):
    name: str
    program: str  # source file
    functions: int  # that are called, at least
    compile: tuple
    record: tuple


# Both programs end all their calls and threads, so that uftrace has nothing to guess.
RECORDINGS = (
    Recorded("threads", "threads.c", 8, ("-pg",), ()),
    Recorded("threads, instrumented", "threads.c", 8, ("-finstrument-functions",), ("--no-libcall",)),
    Recorded("threads, without scheduling", "threads.c", 8, ("-pg",), ("--no-event",)),
    Recorded("threads, with values", "threads.c", 8, ("-pg",),
             ("-A", "fibonacci@arg1/i64", "-R", "fibonacci@retval/i64", "-A", "usleep@arg1/u32", "-A", "even@arg1/i32",
              "-R", "odd@retval/i32")),
    Recorded("shapes", "shapes.cc", 60, ("-pg",), ()),
    Recorded("shapes, automatic values", "shapes.cc", 60, ("-pg", "-g"), ("-a",)),
)


def run(*words, **options):
    done = subprocess.run([*map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=SECONDS, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done.stdout.decode(errors="surrogateescape")


def record(folder, what):
    """Compiles, records, and returns the directory of the recording."""
    source = PROGRAMS / what.program
    stem = re.sub(r"\W+", "-", what.name)
    program, data = folder / f"{stem}.exe", folder / stem
    compiler = "g++" if source.suffix == ".cc" else "gcc"
    run(compiler, "-O0", *what.compile, "-pthread", "-o", program, source)
    run("uftrace", "record", "-d", data, *what.record, program, cwd=folder)
    return data


def has_patterns(data):
    """Whether values are specified by name: then uftrace must demangle, or it does not find what it needs to read on."""
    return b"argspec:" in (data / "info").read_bytes()


def uftrace_report(data):
    words = () if has_patterns(data) else ("--demangle=no",)
    return golden.report(run("uftrace", "report", "-d", data, *words))


def uftrace_replay(data):
    words = () if has_patterns(data) else ("--demangle=no",)
    return golden.replay(run("uftrace", "replay", "-d", data, *words))


def lode_top(program, data, *options):
    return program.json("top", data, "--by", "symbol", "--limit", "0", "--sched", *options, cwd=data.parent)["rows"]


def lode_replay(program, data):
    words = () if has_patterns(data) else ("--names", "raw")
    return replays.lode_items(program, data, *words)


def label_of(data):
    """How rows of `lode top` are called in the report of uftrace."""
    if has_patterns(data):
        return lambda row: simple_name(row["symbol"] or row["name"])
    return lambda row: row["symbol"] or row["name"]


def need_tools(program):
    """Skips the test by name if this machine has no uftrace or compilers; else records once, for all tests."""
    missing = [tool for tool in NEEDED if shutil.which(tool) is None]
    if missing:
        raise Skip(f"there is no {', '.join(missing)}")
    if not hasattr(program, "recorded"):
        program.recorded = [(what, record(program.folder, what)) for what in RECORDINGS]


def same_as_uftrace(program, data, title, listed=()):
    """`lode top` and `uftrace report` of one recording, row by row; those that are listed must differ."""
    printed = uftrace_report(data)
    problems = comparison.printed_rows(comparison.by(lode_top(program, data), label_of(data)), printed, listed)
    program.check(not problems, f"{title}: {len(printed)} rows are those of uftrace report", problems)
    return printed


def recordings_say_the_same(program):
    """Each recording: rows to the nanosecond, rows of uftrace, lines of its replay."""
    need_tools(program)
    for what, data in program.recorded:
        recording = reader.Recording(data)
        tracks = happened.tracks(recording)
        program.equal([track.repairs for track in tracks if track.repairs], [], f"{what.name}: nothing to repair")
        problems = comparison.exact_rows(lode_top(program, data), happened.rows(tracks))
        program.check(not problems, f"{what.name}: rows are what happened, to the nanosecond", problems)
        printed = same_as_uftrace(program, data, what.name)
        program.check(len(printed) >= what.functions, f"{what.name}: at least {what.functions} functions were called",
                      sorted(printed))
        ours = lode_replay(program, data)
        lines, times = replays.differences(ours, uftrace_replay(data))
        program.check(ours and not lines + times, f"{what.name}: {len(ours)} lines of the replay are those of uftrace",
                      (lines + times)[:40])


def ties_are_in_the_order_of_uftrace(program):
    """A task leaves its processor in the nanosecond in which another one, which comes later in the list, calls."""
    need_tools(program)
    data = program.folder / "ties"
    data.mkdir()
    main, f = (made.BASE + made.FUNCTIONS[name] for name in ("main", "f"))
    tasks = {100: [made.record("entry", made.TIME, 0, main), made.record("exit", made.TIME + 9000, 0, main)],
             101: [made.record("entry", made.TIME + 500, 0, f), made.record("exit", made.TIME + 900, 0, f)]}
    made.write(data, tasks, [(100, made.TIME + 500, "out"), (100, made.TIME + 900, "in")], made.FUNCTIONS)
    # uftrace looks for the symbols of a program that is not there, so names are left out.
    ours, theirs = ([(item.tid, item.kind) for item in replay(data)]
                    for replay in (functools.partial(lode_replay, program), uftrace_replay))
    program.equal(ours[:3], [(100, "enter"), (101, "enter"), (100, "note")],
                  "a tie: the call comes first, then the end of a time on the processor")
    program.equal(ours, theirs, "a tie: as uftrace has it")


def convert(program, name, *words):
    """`lode convert` into a new directory."""
    target = program.folder / name
    answer = program.run("convert", *words, "--format", "uftrace", "-o", target, cwd=program.folder)
    if answer.status != 0:
        raise ValueError(f"lode convert {words}: {answer.err}")
    return target


def sizes(rows):
    """Rows for comparison between recordings, whose addresses may differ."""
    result = {}
    for function, row in rows.items():
        name = function.symbol or f"<{function.offset:x}>"
        before = result.get((function.module, name), (0, 0, 0, []))
        result[function.module, name] = (before[0] + row.calls, before[1] + row.total, before[2] + row.self_time,
                                         sorted(before[3] + row.durations))
    return result


def rows_in(data):
    return sizes(happened.rows(happened.tracks(reader.Recording(data))))


def copies_are_the_same(program):
    """A recording that is written anew, read by uftrace and by the independent reader."""
    need_tools(program)
    for number, (what, data) in enumerate(program.recorded):
        copy = convert(program, f"copy{number}", data)
        program.equal(rows_in(copy), rows_in(data), f"{what.name}: a copy has the same calls, to the nanosecond")
        for command in ("report", "replay", "graph"):
            texts = [run("uftrace", command, "-d", path) for path in (data, copy)]
            program.equal(texts[1].splitlines()[1:], texts[0].splitlines()[1:],
                          f"{what.name}: uftrace {command} of a copy prints the same")
        again = convert(program, f"again{number}", copy)
        differing = [path.name for path in sorted(copy.iterdir()) if path.read_bytes() != (again / path.name).read_bytes()]
        program.equal(differing, [], f"{what.name}: a copy of a copy has the same bytes")


def slices_are_cut(program):
    """Windows, depths, durations and tasks, cut by the program and by slices.py, and read by uftrace."""
    need_tools(program)
    for number, (what, data) in enumerate(program.recorded):
        recording = reader.Recording(data)
        tracks = happened.tracks(recording)
        moments = slices.times(tracks)
        begin, end = slices.between(moments, 0.3), slices.between(moments, 0.7)
        # The busiest in the window, so that something is left of it.
        tid = max(tracks, key=lambda track: len(slices.cut(track, begin, end, 4, 1000))).tid
        cuts = (
            ("a window", ("--from", f"@{begin}", "--to", f"@{end}"), {"begin": begin, "end": end}, None),
            ("three levels", ("--depth", "3"), {"depth": 3}, None),
            ("long calls", ("--min-time", "5us"), {"min_time": 5000}, None),
            ("one task", ("--task", str(tid)), {}, tid),
            ("all of that", ("--from", f"@{begin}", "--to", f"@{end}", "--depth", "4", "--min-time", "1us", "--task", str(tid)),
             {"begin": begin, "end": end, "depth": 4, "min_time": 1000}, tid),
        )
        for index, (title, options, limits, task) in enumerate(cuts):
            chosen = [track for track in tracks if task in (None, track.tid)]
            calls, written = ([call for track in chosen for call in slices.cut(track, **limits, is_written=is_written)]
                              for is_written in (False, True))
            title = f"{what.name}: {title}, {len(calls)} calls"
            problems = comparison.exact_rows(lode_top(program, data, *options), slices.rows(calls))
            program.check(not problems, f"{title}: rows of lode top", problems)
            cut = convert(program, f"slice{number}-{index}", data, *options)
            program.equal(rows_in(cut), sizes(slices.rows(written)), f"{title}: calls that were written")
            same_as_uftrace(program, cut, title)


def merged_recordings_add_up(program):
    """Two recordings in one: of two programs, and of one program twice, whose ids must be told apart."""
    need_tools(program)
    by_name = {what.name: data for what, data in program.recorded}
    pairs = (("threads", "shapes"), ("threads", "threads"), ("threads, with values", "shapes, automatic values"))
    for number, (one, other) in enumerate(pairs):
        merged = convert(program, f"merged{number}", by_name[one], by_name[other])
        wanted = rows_in(by_name[one])
        for key, row in rows_in(by_name[other]).items():
            before = wanted.get(key, (0, 0, 0, []))
            wanted[key] = (*map(sum, zip(before[:3], row[:3])), sorted(before[3] + row[3]))
        title = f"{one} and {other}"
        program.equal(rows_in(merged), wanted, f"{title}: the calls of both, to the nanosecond")
        tids = [len(reader.Recording(path).tids) for path in (by_name[one], by_name[other], merged)]
        program.equal(tids[2], tids[0] + tids[1], f"{title}: {tids[2]} tasks")
        same_as_uftrace(program, merged, title)


def repaired_recordings_are_counted_right(program):
    """The recordings of the corpus, written anew: what uftrace gets wrong on the originals it gets right on these."""
    need_tools(program)
    recorded = corpus_files.recorded()
    if not recorded:
        raise cli.MissingCorpus
    for name, data in recorded:
        copy = convert(program, f"repaired-{name}", data)
        tracks = happened.tracks(reader.Recording(data))
        program.equal(rows_in(copy), sizes(happened.rows(tracks)), f"{name}: what happened is written, to the nanosecond")
        if name in BEYOND_13:
            program.skip(f"{name}: read by uftrace", BEYOND_13[name])
            continue
        printed = same_as_uftrace(program, copy, f"{name}: repaired", BY_NAME.get(name, ()))
        program.check(printed, f"{name}: uftrace reads it")


def with_folder(test):
    """A test whose name and temporary directory are the run's, and that may be skipped for lack of tools."""
    @functools.wraps(test)
    def wrapped(program):
        try:
            test(program)
        except Skip as reason:
            program.skip(test.__name__.replace("_", " "), str(reason))
    return wrapped


def main():
    tests = (recordings_say_the_same, ties_are_in_the_order_of_uftrace, copies_are_the_same, slices_are_cut,
             merged_recordings_add_up, repaired_recordings_are_counted_right)
    # In memory if possible: what is written is synced, which takes longer than all the rest.
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="lode-live-", dir=place) as folder:
        cli.Cli.folder = Path(folder)
        return cli.main(__doc__, *map(with_folder, tests))


if __name__ == "__main__":
    sys.exit(main())
