#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
uftrace's reports, explained: the independent reader foretells what both versions print for every recording of the
corpus, and where that is not what happened, differences.py says so, with a proof that holds. Needs the corpus, not
the program.
"""

import sys

import corpus_files
import corpora  # corpus_files knows where it is
import counted
import differences
import golden
import happened
import proof
import reader

from tap import Tap  # noqa: E402  corpus_files knows where it is

COLUMNS = ("calls", "total", "self")


def show(row):
    return "no such row" if row is None else ", ".join(f"{name} {number}" for name, number in zip(COLUMNS, row))


def fits(printed, row):
    """Whether a printed row is that of these numbers."""
    if printed is None or row is None:
        return printed is None and row is None
    return printed[0] == row[0] and printed[1].fits(row[1]) and printed[2].fits(row[2])


def mismatches(printed, rows):
    """Subjects whose printed row is not that of the numbers."""
    subjects = sorted(set(printed) | set(rows), key=str)
    return [subject for subject in subjects if not fits(printed.get(subject), rows.get(subject))]


def task_rows(tracks):
    """What happened, in the columns of `report --task`: a time off the processor is one of the functions."""
    return {tid: (calls + outs, total, total - off)
            for tid, (calls, outs, total, off) in happened.by_task(tracks).items()}


def expected(table, recording, version):
    """The differences that a table lists for a recording: {subject: Difference}."""
    return {item.subject: item for item in table if recording in item.recordings and version in item.versions}


def proven(recording, item, counts, facts):
    """What is wrong with the proof of a difference; `counts` are uftrace's numbers and `facts` what happened."""
    points = proof.Points(recording, item.points)
    problems = []
    for i, pair in enumerate((item.calls, item.total, item.self_time)):
        if pair == "same":
            if counts is None or facts is None or counts[i] != facts[i]:
                problems.append(f"{COLUMNS[i]} is in dispute: {counts} and {facts}")
            continue
        for side, formula, row in (("uftrace", pair[0], counts), ("Lode", pair[1], facts)):
            found = None if row is None else row[i]
            if points.value(formula) != found:
                problems.append(f"{side}'s {COLUMNS[i]} is {found}, the proof says {points.value(formula)} ({formula})")
    return problems


def check_table(tap, title, recording, printed, counts, facts, listed):
    """One report of one recording: foretold, and all that differs from what happened is listed and proven."""
    wrong = mismatches(printed, counts)
    tap.check(not wrong, f"{title}: foretold, {len(printed)} rows",
              [f"{subject}: printed {printed.get(subject)}, foretold {show(counts.get(subject))}" for subject in wrong])
    differing = mismatches(printed, facts)
    tap.check(differing == sorted(listed, key=str), f"{title}: what happened, with {len(listed)} listed differences",
              [f"differ: {differing}", f"listed: {sorted(listed, key=str)}"])
    for subject, item in listed.items():
        problems = proven(recording, item, counts.get(subject), facts.get(subject))
        tap.check(not problems, f"{title}: {subject}: {item.reason}", problems)


def explain(tap, name, data):
    recording = reader.Recording(data)
    tracks = happened.tracks(recording)
    for version in corpus_files.versions(data):
        title = f"{name}, uftrace 0.{version}"
        if (name, version) in differences.NO_REPORT:
            reason, point = differences.NO_REPORT[name, version]
            proof.point(recording, point)
            texts = [corpus_files.printed(data, version, file) for file in ("report.txt", "report_task.txt")]
            tap.check(texts == ["", ""] and counted.ends(recording, version), f"{title}: no report: {reason}", texts)
            continue
        by_total = golden.report(corpus_files.printed(data, version, "report.txt"))
        by_self = golden.report(corpus_files.printed(data, version, "report_self.txt"))
        tap.check(by_total == by_self, f"{title}: the reports by total and by self agree")
        check_table(tap, title, recording, by_total, counted.report(recording, version), happened.by_name(tracks),
                    expected(differences.FUNCTIONS, name, version))
        tasks = golden.report_task(corpus_files.printed(data, version, "report_task.txt"))
        check_table(tap, f"{title}, --task", recording, tasks, counted.report_task(recording, version),
                    task_rows(tracks), expected(differences.TASKS, name, version))


def main():
    tap = Tap()
    recordings = corpus_files.recorded()
    if not recordings:
        tap.skip("reports of uftrace explained", "there is no corpus")
        return tap.finish()
    tap.check(len(recordings) >= corpus_files.RECORDED, f"{len(recordings)} recordings")
    for name, data in recordings:
        explain(tap, name, data)
    if corpora.is_own():
        return tap.finish()
    names = {name for name, _ in recordings}
    listed = {name for table in (differences.FUNCTIONS, differences.TASKS) for item in table for name in item.recordings}
    tap.check(listed <= names, "differences are listed for recordings that are there", listed - names)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
