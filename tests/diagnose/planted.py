#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Programs with planted problems (cases.py) and their controls, recorded live by uftrace, some of them as MPI jobs or built into databases, and what
`lode diagnose` says of each: planted.py --lode PROGRAM [--recordings 5] [--only TEXT] [--no-priority] [--keep FOLDER]

A problem is found if its rule names the planted function, and the rank or thread where there is one. A false alarm is a
statement on a control, other than a hot spot, that is likely or sure. Prints how many were found, how many controls had a
false alarm, and each sentence that is wrong.

Tests are: every run is diagnosed without an error, its JSON follows the schema, the commands of the evidence run, and problems that are
counted, whatever the machine does, are found. Others depend on times, and so on what else the machine does: they are reported,
not asserted. Where that is allowed, the programs run with priority; --no-priority shows what a busy machine does.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

import recorder
from cases import CASES

sys.path.insert(1, str(recorder.ROOT / "tests" / "tools"))

import schemas  # noqa: E402  of tests/cli
from jobs import room  # noqa: E402
from share import Share  # noqa: E402
from tap import Tap  # noqa: E402

SECONDS = 120
RELIABLE = ("likely", "sure")
NO_FAULT = ("hot-spot",)


def ask(lode, store):
    """(exit status, what is said as JSON, or the error)."""
    done = subprocess.run([lode, "diagnose", "--all", "--json", store], capture_output=True, text=True, timeout=SECONDS, check=False)
    return done.returncode, json.loads(done.stdout) if done.returncode == 0 else done.stderr


def words_of(statement):
    return " ".join([statement["function"] or "", statement["text"], *(item["text"] for item in statement["evidence"])])


def names(statement, case, truth):
    """Whether a statement says where the problem is."""
    is_named = not case.functions or any(function in words_of(statement) for function in case.functions)
    if case.who and is_named:
        known = {key: statement[key] for key in ("rank", "thread") if statement[key] is not None}
        return any(truth.get(key) == value for key, value in known.items())
    return is_named


def reliable(said):
    """Statements that would send somebody after something."""
    return [s for s in said["statements"] if s["confidence"] in RELIABLE and s["id"] not in NO_FAULT]


def is_found(case, said, truth):
    if case.note:
        return any(note["id"] == case.note for note in said["quality"]) and not wrong_statements(case, "control", said, truth)
    return any(s["id"] in case.rules and names(s, case, truth) for s in said["statements"])


def wrong_statements(case, variant, said, truth):
    """On controls, all that are reliable; else those that are neither the planted problem nor an effect of it."""
    if variant == "control" or case.note:
        return [s for s in reliable(said) if s["id"] not in case.always]
    return [s for s in reliable(said) if s["id"] not in case.true_too and not (s["id"] in case.rules and names(s, case, truth))]


def wrong_gains(case, said, truth):
    """Statements on the planted problem whose gain it does not allow."""
    found = [s for s in said["statements"] if s["id"] in case.rules and names(s, case, truth)]
    return [line_of(s) for s in found if s["gain_percent"] is not None and not case.gain[0] <= s["gain_percent"] <= case.gain[1]]


def line_of(statement):
    gain = "" if statement["gain_percent"] is None else f" {statement['gain_percent']:.0f} %"
    where = "".join(f" {key} {statement[key]}" for key in ("rank", "thread") if statement[key] is not None)
    return f"{statement['id']} ({statement['confidence']}{gain}{where}): {statement['text']}"


def broken_commands(lode, said):
    """Commands of evidence that fail."""
    broken, seen = [], set()
    for command in (tuple(item["command"]) for s in said["statements"] for item in s["evidence"] if item["command"]):
        if command in seen:
            continue
        seen.add(command)
        words = command[1:] if command[0] == "lode" else command
        done = subprocess.run([lode, *words], capture_output=True, text=True, timeout=SECONDS, check=False)
        if done.returncode != 0 or not done.stdout.strip():
            broken.append(f"{' '.join(command)}: {done.returncode}: {done.stderr.strip()}")
    return broken


class Campaign:
    def __init__(self, tap, lode, recorder_, is_kept):
        self.tap, self.lode, self.recorder, self.is_kept = tap, lode, recorder_, is_kept
        self.judge = schemas.Judge() if schemas.jsonschema else None
        self.counts = {case.kind: Counter() for case in CASES}
        self.wrong = []

    def one(self, case, variant, number):
        title = f"{case.kind}, {variant}"
        recorded = self.recorder.record(case, variant, number)
        status, said = ask(self.lode, recorded.store)
        if not self.tap.check(status == 0, f"{title}: is diagnosed", [said]):
            return
        if self.judge:
            problems = self.judge.problems(said)
            self.tap.check(not problems, f"{title}: the JSON follows the schema", problems)
        if case.mpi and not case.is_database:
            page = subprocess.run([self.lode, "diagnose", recorded.store], capture_output=True, text=True, timeout=SECONDS, check=True).stdout
            self.tap.check(page.startswith(case.source), f"{title}: the page has the name of the program, not of the launcher", [page[:80]])
        broken = broken_commands(self.lode, said)
        self.tap.check(not broken, f"{title}: all commands of the evidence run", broken)
        self.count(case, variant, said, recorded)
        if not self.is_kept:
            shutil.rmtree(recorded.store.parent)

    def count(self, case, variant, said, recorded):
        counts, title = self.counts[case.kind], f"{case.kind}, {variant}"
        counts[variant] += 1
        found = variant == "planted" and is_found(case, said, recorded.truth)
        counts["found"] += found
        wrong = wrong_statements(case, variant, said, recorded.truth)
        counts["alarms" if variant == "control" else "beside"] += bool(wrong)
        notes = [note["id"] for note in said["quality"]]
        if variant == "planted" and not found:
            others = [line_of(s) for s in said["statements"]] or [f"nothing; notes: {', '.join(notes) or 'none'}"]
            self.wrong += [f"missed: {title}: {recorded.truth or ''} {recorded.store}", *(f"    said: {line}" for line in others)]
        self.wrong += [f"wrong: {title}: {line_of(s)}; notes: {', '.join(notes)}; {recorded.store}" for s in wrong]
        if variant == "planted":
            self.wrong += [f"gain: {title}: {line}, not {case.gain[0]} to {case.gain[1]} %" for line in wrong_gains(case, said, recorded.truth)]
        if case.is_counted and variant == "planted":
            self.tap.check(found, f"{title}: is found", [*map(line_of, said["statements"]), *notes])

    def case(self, case, recordings):
        if reason := recorder.missing(case):
            self.tap.skip(case.kind, reason)
            return
        for number in range(recordings):
            for variant in case.variants:
                try:
                    self.one(case, variant, number)
                except Exception:  # the others are still judged
                    self.tap.check(False, f"{case.kind}, {variant}: is recorded and judged", traceback.format_exc().splitlines())

    def report(self):
        def row(kind, counts):
            planted, control = (f"{counts[a]}/{counts[b]}" if counts[b] else "-" for a, b in (("found", "planted"), ("alarms", "control")))
            self.tap.note(f"{kind:36} {planted:>8} {control:>13} {counts['beside']:>7}")
        self.tap.note(f"{'kind':36} {'found':>8} {'false alarms':>13} {'beside':>7}")
        total = Counter()
        for kind, counts in self.counts.items():
            if counts:
                row(kind, counts)
                total.update(counts)
        row("all", total)
        for line in self.wrong:
            self.tap.note(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, help="the program to test")
    parser.add_argument("--recordings", type=int, default=1, help="recordings of each program")
    parser.add_argument("--only", default="", help="kinds that have this text in their name")
    parser.add_argument("--no-priority", action="store_true", help="compete with what else the machine does")
    parser.add_argument("--keep", help="a folder where recordings stay, and are used again")
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lode-planted-", dir=room()) as folder:
        place = Path(options.keep or folder).resolve()
        place.mkdir(parents=True, exist_ok=True)
        lode = str(Path(options.lode).resolve())
        campaign = Campaign(tap, lode, recorder.Recorder(lode, place, not options.no_priority), bool(options.keep))
        share = Share.of_cases()
        for number, case in enumerate(CASES):
            if options.only in case.kind and (case.is_counted or share.has(number)):
                campaign.case(case, options.recordings)
        campaign.report()
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
