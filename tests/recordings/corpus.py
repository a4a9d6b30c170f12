#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The 30 recordings of the corpus: what the program says of them is what happened, to the nanosecond, and what both
versions of uftrace print, to the precision in which they print it, but for the differences that are listed and
proven. Needs the corpus.
"""

import sys
from collections import Counter

import comparison
import corpus_files
import differences
import differences_shown as shown
import explained
import golden
import happened
import reader
import replays
from names import simple_name

import cli  # noqa: E402  corpus_files knows where it is


def recordings(program):
    """(name, data, recording, tracks) of each."""
    found = corpus_files.recorded()
    if not found:
        raise cli.MissingCorpus
    if not hasattr(program, "read"):
        program.read = []
        for name, data in found:
            recording = reader.Recording(data)
            program.read.append((name, data, recording, happened.tracks(recording)))
    return program.read


def ask(program, command, data, *options):
    return program.json(command, data, *options, cwd=data.parent)


def printed_name(row):
    """The name of a row as uftrace prints it."""
    return simple_name(row["symbol"] or row["name"])


def rows_of_functions(program):
    for name, data, _, tracks in recordings(program):
        rows = ask(program, "top", data, "--by", "symbol", "--limit", "0", "--sched")["rows"]
        wanted = happened.rows(tracks)
        problems = comparison.exact_rows(rows, wanted)
        program.check(not problems, f"{name}: top: {len(wanted)} functions are what happened, to the nanosecond", problems)
        for version in corpus_files.versions(data):
            if (name, version) in differences.NO_REPORT:
                continue
            report = golden.report(corpus_files.printed(data, version, "report.txt"))
            listed = explained.expected(differences.FUNCTIONS, name, version)
            problems = comparison.printed_rows(comparison.by(rows, printed_name), report, listed)
            program.check(not problems, f"{name}: top: {len(report)} rows of uftrace 0.{version},"
                          f" {len(listed)} differ as listed", problems)


def rows_of_tasks(program):
    for name, data, _, tracks in recordings(program):
        rows = ask(program, "profiles", data, "--limit", "0")["rows"]
        found = {row["tid"]: (row["calls"], row["total_ns"], row["out_ns"]) for row in rows}
        wanted = {tid: (calls, total, off) for tid, (calls, _, total, off) in happened.by_task(tracks).items()}
        program.equal(found, wanted, f"{name}: profiles: {len(wanted)} tasks are what happened")
        times = explained.task_rows(tracks)
        for version in corpus_files.versions(data):
            if (name, version) in differences.NO_REPORT:
                continue
            tasks = golden.report_task(corpus_files.printed(data, version, "report_task.txt"))
            listed = explained.expected(differences.TASKS, name, version)
            problems = comparison.printed_rows(times, tasks, listed)
            names = {row["tid"]: row["name"] for row in rows}
            problems += [f"task {tid} is called {names.get(tid)}, not {task[3]}" for tid, task in tasks.items()
                         if names.get(tid) != task[3]]
            program.check(not problems, f"{name}: profiles: {len(tasks)} rows and names of uftrace 0.{version},"
                          f" {len(listed)} differ as listed", problems)


def events_of_replays(program):
    for name, data, recording, tracks in recordings(program):
        wanted = replays.happenings(recording, tracks)
        problems = replays.event_problems(replays.lode_events(ask(program, "replay", data)), wanted)
        program.check(not problems, f"{name}: replay: {len(wanted)} events are what happened, in order", problems)


def listed_lines(name, version):
    """The lines of a recording that differ, as a multiset: where they are in the replay is checked by the events."""
    return Counter(line for recorded, versions, _, lines in shown.REPLAYS
                   if name in recorded and version in versions for line in lines)


def check_lines(program, name, version, ours, text):
    theirs = [shown.in_form_of_lode(item) for item in golden.replay(text)]
    if (name, version) in shown.ENDS_EARLY:
        problems, times = replays.differences(ours[:len(theirs)], theirs)
        program.check(theirs and not problems + times, f"{name}: replay: {len(theirs)} lines of uftrace 0.{version},"
                      f" up to its end: {shown.ENDS_EARLY[name, version]}", problems + times)
        return
    lines, times = replays.differences(ours, theirs)
    listed = listed_lines(name, version)
    unlisted, gone = Counter(lines) - listed, listed - Counter(lines)
    program.check(not unlisted and not gone and not times,
                  f"{name}: replay: {len(theirs)} lines of uftrace 0.{version}, {listed.total()} differ as listed",
                  [f"not listed: {line}" for line in unlisted] + [f"gone: {line}" for line in gone] + times)


def lines_of_replays(program):
    for name, data, _, _ in recordings(program):
        items = [shown.in_form_of_uftrace(item) for item in replays.lode_items(program, data)]
        ours = [item for item in items if item is not None]
        for version in corpus_files.versions(data):
            text = corpus_files.printed(data, version, "replay.txt")
            if text is not None:
                check_lines(program, name, version, ours, text)
            elif name not in shown.NOT_KEPT:
                program.check(False, f"{name}: the replay of uftrace 0.{version} is there")


def paths_of(rows):
    """{path: (calls, total)} of the rows of `lode tree`."""
    result, path = {}, []
    for row in rows:
        path[row["depth"]:] = [row["name"]]
        before = result.get(tuple(path), (0, 0))
        result[tuple(path)] = (before[0] + row["calls"], before[1] + row["total_ns"])
    return result


def trees(program):
    for name, data, _, tracks in recordings(program):
        found = paths_of(ask(program, "tree", data, "--limit", "0", "--min-percent", "0", "--sched")["rows"])
        wanted = happened.by_path(tracks)
        problems = [f"{'/'.join(path)}: {found.get(path)}, not {wanted.get(path)}"
                    for path in sorted(set(found) | set(wanted)) if found.get(path) != wanted.get(path)]
        program.check(not problems, f"{name}: tree: {len(wanted)} call paths are what happened", problems[:40])
        for version in corpus_files.versions(data):
            if (name, version) not in differences.NO_REPORT:
                check_graph(program, name, version, found, golden.graph(corpus_files.printed(data, version, "graph.txt")))


def check_graph(program, name, version, found, graph):
    listed = {path: sides for recorded, versions, _, paths in shown.GRAPHS
              if name in recorded and version in versions for path, sides in paths.items()}
    differing = {}
    for path in set(found) | set(graph):
        ours, theirs = found.get(path), graph.get(path)
        if not ours or not theirs or ours[0] != theirs[0] or not theirs[1].fits(ours[1]):
            differing[path] = (theirs is not None, ours is not None)
    wrong = [path for path in sorted(set(differing) | set(listed)) if differing.get(path) != listed.get(path)]
    program.check(not wrong, f"{name}: tree: {len(graph)} call paths of uftrace 0.{version}, {len(listed)} differ as listed",
                  [f"{'/'.join(path)}: {differing.get(path)}, listed is {listed.get(path)};"
                   f" {found.get(path)}, {graph.get(path)}" for path in wrong[:40]])


def findings(program):
    for name, data, _, _ in recordings(program):
        answer = ask(program, "check", data, "--level", "full")
        found = Counter(finding["rule"] for finding in answer["findings"])
        wanted = {"symbols-missing": shown.NO_SYMBOLS.get(name, 2), **shown.FINDINGS.get(name, {})}
        program.equal(dict(found), wanted, f"{name}: check: nothing but what is special about it")


def threads_make_no_difference(program):
    for name, data, _, _ in recordings(program):
        if name in ("mt", "n_forkexec", "exc"):
            for command in ("top", "tree", "profiles"):
                answers = [program.run(command, data, "--threads", number, "--json", cwd=data.parent).out
                           for number in (1, 2, 5)]
                program.check(answers[0] and len(set(answers)) == 1, f"{name}: {command} says the same on 1, 2 and 5 threads")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, rows_of_functions, rows_of_tasks, events_of_replays, lines_of_replays, trees, findings,
                      threads_make_no_difference))
