#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every call by which the writer changes the file system fails in turn.

Usage: faults.py --lode PROGRAM --shim SHIM [--only TEXT] [--share K/N]

For each way of writing (a scenario), for each call in turn, and for each fault (the disk is full from here on; an I/O error, once; a
short write; an interrupted one; SIGKILL), the program writes a small store. It must either succeed with the same bytes as
undisturbed, or say why not and change nothing. The next run, undisturbed, must succeed and leave nothing behind.

--share, or LODE_SHARE_FAULTS or LODE_SHARE in the environment, selects the K-th of N parts of the calls: each scenario has another part, and the N parts
together are all calls.
"""
import argparse
import concurrent.futures
import errno
import json
import os
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import corpora  # noqa: E402
from outcome import NAME, PARTIAL, Program, Situation, beside, fingerprint, scratch  # noqa: E402
from share import Share  # noqa: E402
from tap import Tap  # noqa: E402

# Buffers that fill up while profiles are added.
NEW = ["--profiles", "40", "--contexts", "300", "--samples", "2500", "--seed", "7"]
# Several windows of the transpose; without, its pieces are larger than a buffer.
LITTLE = ["--memory", "50K"]
OLD = ["--profiles", "3", "--contexts", "40", "--samples", "10", "--seed", "8"]
# Data files that are longer than what is gathered before it is written.
NEW_RECORDING = ["--records", "150000", "--tasks", "2", "--functions", "40", "--arguments", "--seed", "7"]
OLD_RECORDING = ["--records", "100", "--tasks", "3", "--functions", "10", "--seed", "8"]
# Chunks that fill buffers, of traces that have several.
NEW_STORE = ["--format", "zorka", "--records", "150000", "--calls-per-request", "50000", "--functions", "40", "--seed", "7"]
OLD_STORE = ["--format", "zorka", "--records", "100", "--seed", "8"]
DATABASE, RECORDING, STORE, EXAMPLES = "database", "recording", "store", "examples"
SOURCE, MEASURED = "source", "measurements"
# Of the corpus, if there is one.
MEASUREMENTS = str(corpora.root() / "measurements" / "loops-cputime-t")
JOBS = 2


class Scenario:
    """A way of writing: what is there before, the arguments, and settings of the shim."""

    def __init__(self, name, arguments, previous=False, in_place=False, leftover=None, kind=DATABASE, **settings):
        self.name, self.arguments, self.settings, self.kind = name, arguments, settings, kind
        self.previous = previous or in_place
        self.in_place = in_place  # the source is what is replaced
        self.leftover = leftover  # the number of the call at which an earlier run was killed
        self.plain = bool(settings.get("plain"))


def scenarios():
    synth = ["synth", "database", *NEW, *LITTLE]
    convert = ["convert", SOURCE]
    return [
        Scenario("synth", [*synth, "--threads", "1"]),
        Scenario("synth over a database", [*synth, "--threads", "1", "--force"], previous=True),
        Scenario("synth with 2 threads over a database", [*synth, "--threads", "2", "--force"], previous=True),
        Scenario("synth after a killed run", [*synth, "--threads", "1"], leftover=40),
        Scenario("convert", [*convert, "--threads", "1"]),
        Scenario("convert over a database", [*convert, "--threads", "2", "--force"], previous=True),
        Scenario("convert over itself", ["convert", *LITTLE, NAME, "--threads", "1", "--force"], in_place=True),
        Scenario("merge of databases", ["merge", SOURCE, SOURCE, "--threads", "1", *LITTLE]),
        Scenario("merge over a database", ["merge", SOURCE, SOURCE, "--threads", "1", "--force"],
                 previous=True),
        Scenario("slice of a database after a killed run", ["slice", SOURCE, "--from", "1us", "--threads", "1"], leftover=40),
        Scenario("slice of a database over itself", ["slice", NAME, "--depth", "4", "--threads", "1", "--force"], in_place=True),
        Scenario("synth on a plain file system", [*synth, "--threads", "1"], plain=1),
        Scenario("synth over a database on a plain file system", [*synth, "--threads", "1", "--force"], previous=True,
                 plain=1),
        Scenario("synth of a recording", ["synth", "recording", *NEW_RECORDING, "--threads", "1"], kind=RECORDING),
        Scenario("convert of a recording", [*convert, "--threads", "1"], kind=RECORDING),
        Scenario("convert with 2 threads over a recording", [*convert, "--threads", "2", "--force"], previous=True,
                 kind=RECORDING),
        Scenario("merge of a recording after a killed run", [*convert, SOURCE, "--threads", "1"], leftover=30, kind=RECORDING),
        Scenario("synth of a trace store", ["synth", "recording", *NEW_STORE, "--threads", "1"], kind=STORE),
        Scenario("convert of a trace store", [*convert, "--threads", "1"], kind=STORE),
        Scenario("convert with 2 threads over a trace store", [*convert, "--threads", "2", "--force"], previous=True, kind=STORE),
        Scenario("a recording as a trace store after a killed run", [*convert, "--format", "zorka", "--layout", "zico", "--threads", "1"],
                 leftover=20, kind=RECORDING),
        Scenario("convert of a recording over itself", ["convert", NAME, "--threads", "1", "--force"], in_place=True,
                 kind=RECORDING),
        Scenario("export to Parquet", ["export", SOURCE, "--format", "parquet", "--threads", "2"]),
        Scenario("export to CSV after a killed run", ["export", SOURCE, "--format", "csv"], leftover=20),
        Scenario("export to an SQLite file", ["export", SOURCE, "--format", "sqlite"]),
        Scenario("export of a recording to JSON lines", ["export", SOURCE, "--format", "jsonl", "--compression", "gzip"], kind=RECORDING),
        Scenario("export of a recording to Perfetto", ["export", SOURCE, "--format", "perfetto", "--threads", "2"], kind=RECORDING),
        Scenario("export to Chrome trace events after a killed run", ["export", SOURCE, "--format", "chrome", "--threads", "1"], leftover=5),
        Scenario("export of a recording to OTF2", ["export", SOURCE, "--format", "otf2", "--threads", "2"], kind=RECORDING),
        Scenario("export of a trace store to speedscope", ["export", SOURCE, "--format", "speedscope"], kind=STORE),
        Scenario("export to a Firefox profile", ["export", SOURCE, "--format", "firefox"]),
        Scenario("build of measurements", ["build", MEASURED, "--foreign", "--threads", "1", *LITTLE]),
        Scenario("build of measurements over a database on ranks", ["build", MEASURED, "--foreign", "--local-ranks", "2", "--threads", "1", "--force"],
                 previous=True),
        Scenario("example over examples after a killed run", ["example", NAME, "--threads", "1", "--force"], previous=True, leftover=90,
                 kind=EXAMPLES),
    ]


class Fault:
    def __init__(self, name, mode, code=0, classes=("room", "write", "other")):
        self.name, self.mode, self.code, self.classes = name, mode, code, classes


FAULTS = [
    Fault("a full disk", "full", errno.ENOSPC, ("room", "write")),
    Fault("an I/O error", "fail", errno.EIO),
    Fault("a short write", "short", classes=("write",)),
    Fault("an interrupted write", "fail", errno.EINTR, ("write",)),
    Fault("SIGKILL", "kill"),
]


def copy_sources(database):
    """Turns the source files that a database names into files that were copied into it."""
    meta = os.path.join(database, "meta.db")
    with open(meta, "rb") as stream:
        data = bytearray(stream.read())
    for found in re.finditer(rb"\0/opt/synthetic/(src/file[0-9]+\.c)\0", data):
        start, name = found.start() + 1, found.group(1)
        data[start:found.end()] = name.ljust(found.end() - start, b"\0")
        record = data.index(struct.pack("<IIQ", 0, 0, start))
        data[record:record + 4] = struct.pack("<I", 1)
        os.makedirs(os.path.join(database, "src"), exist_ok=True)
        with open(os.path.join(database, name.decode()), "wb") as stream:
            stream.write(b"int synthetic;\n" * 9000)
    with open(meta, "wb") as stream:
        stream.write(data)


def add_companions(recording):
    """Gives a recording the files that others have beside what synth makes."""
    begin = min(int(word.partition(".")[0]) for word in re.findall(r"timestamp=(\S+)", read(recording, "task.txt")))
    companions = {"extern.dat": f"# messages\n{begin}.999999999 before it all\n{begin + 1}.000002000 a message\n",
                  "events.txt": "EVENT: 1000000 prog:begin\n", "note.txt": "a note\n"}
    for name, text in companions.items():
        with open(os.path.join(recording, name), "w", encoding="utf-8") as stream:
            stream.write(text)


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as stream:
        return stream.read()


class Bench:
    """The stores to start from, and what a scenario should give."""

    def __init__(self, program, root):
        self.program, self.root = program, root
        self.made = {}
        for kind, name, parameters in ((DATABASE, "new", NEW), (DATABASE, "old", OLD), (RECORDING, "new", NEW_RECORDING),
                                       (RECORDING, "old", OLD_RECORDING), (STORE, "new", NEW_STORE), (STORE, "old", OLD_STORE),
                                       (EXAMPLES, "new", []), (EXAMPLES, "old", [])):
            path = os.path.join(root, name if kind == DATABASE else f"{name}-{kind}")
            made = ["example", path] if kind == EXAMPLES else [
                "synth", DATABASE if kind == DATABASE else RECORDING, *parameters, "-o", path]
            run = program.run(made)
            if run.status != 0:
                raise SystemExit(f"cannot make a {kind}: {run.message}")
            self.made[kind, name] = path
        copy_sources(self.made[DATABASE, "new"])
        add_companions(self.made[RECORDING, "new"])
        self.prints = {key: fingerprint(path) for key, path in self.made.items()}

    def prepare(self, scenario, parent):
        """A directory as it is before the program runs."""
        os.makedirs(parent)
        if scenario.previous:
            shutil.copytree(self.made[scenario.kind, "new" if scenario.in_place else "old"], os.path.join(parent, NAME))
        if scenario.leftover:
            self.program.run(self.arguments(scenario, parent), mode="kill", at=scenario.leftover)

    def source(self, scenario):
        """Of a trace store, itself rather than the directory of stores, which is not known for one if it cannot be listed."""
        if MEASURED in scenario.arguments:
            return MEASUREMENTS
        return os.path.join(self.made[scenario.kind, "new"], *(["000000"] if scenario.kind == STORE else []))

    def arguments(self, scenario, parent):
        target = os.path.join(parent, NAME)
        places = {SOURCE: self.source(scenario), MEASURED: MEASUREMENTS, NAME: target}
        output = [] if scenario.kind == EXAMPLES else ["-o", target]
        return [*(places.get(word, word) for word in scenario.arguments), *output]

    def situation(self, scenario, parent, expected):
        previous = self.prints[scenario.kind, "new" if scenario.in_place else "old"] if scenario.previous else None
        return Situation(self.program, parent, expected, previous, self.source(scenario))

    def undisturbed(self, scenario):
        """The calls of a run without faults, and what it writes."""
        parent = os.path.join(self.root, "undisturbed")
        self.prepare(scenario, parent)
        run = self.program.run(self.arguments(scenario, parent), log=os.path.join(self.root, "log"), **scenario.settings)
        expected = fingerprint(os.path.join(parent, NAME))
        complaints = list(self.situation(scenario, parent, expected).succeeded(run))
        if expected is None:
            complaints.append("nothing was written")
        shutil.rmtree(parent)
        return run.calls, expected, complaints

    def disturb(self, scenario, fault, number, expected):
        """One run with a fault, and the next one. Returns complaints, and what became of the run."""
        parent = os.path.join(self.root, f"{fault.mode}-{fault.code}-{number}")
        self.prepare(scenario, parent)
        situation = self.situation(scenario, parent, expected)
        run = self.program.run(self.arguments(scenario, parent), log=parent + ".log", mode=fault.mode, at=number,
                               errno=fault.code, **scenario.settings)
        complaints, outcome = [], "killed"
        if len(run.calls) < number:
            complaints.append(f"only {len(run.calls)} calls were made")
        elif fault.mode == "kill":
            complaints += situation.killed(in_steps=scenario.plain)
        else:
            outcome = "succeeded" if run.status == 0 else "failed"
            complaints += judge(situation, scenario, fault, run, run.calls[number - 1])
        complaints += self.next_runs(situation, scenario)
        shutil.rmtree(parent)
        os.unlink(parent + ".log")
        return [f"{fault.name} at call {number} ({describe(run, number)}): {text}" for text in complaints], outcome

    def next_runs(self, situation, scenario):
        """What was left is cleared. A run that may not replace anything comes first: it brings back what was moved away."""
        arguments = self.arguments(scenario, situation.parent)
        if scenario.plain and beside(situation.parent):
            yield from self.refused_run(situation, scenario)
        if scenario.previous and fingerprint(situation.target) is None:
            self.program.run([word for word in arguments if word != "--force"])
            if fingerprint(situation.target) != situation.previous:
                yield "the next run did not bring back the previous output"
        if os.path.lexists(situation.target) and "--force" not in arguments:
            arguments.append("--force")
        yield from (f"next run: {text}" for text in situation.succeeded(self.program.run(arguments)))

    def refused_run(self, situation, scenario):
        """Where files cannot be locked, nobody can tell a killed process from one that writes."""
        before = fingerprint(situation.parent)
        run = self.program.run(self.arguments(scenario, situation.parent), **scenario.settings)
        refused = situation.told(run, "has no locks") if "--force" in scenario.arguments else ()
        yield from (f"refused run: {text}" for text in refused)
        if fingerprint(situation.parent) != before:
            yield "refused run: it changed something"


def judge(situation, scenario, fault, run, call):
    """Complaints about a run that was not killed; `call` is the one that was disturbed."""
    reason = os.strerror(fault.code)
    # Where clearing is what failed, or where it was too early for it.
    may_leave = call[1] == "other" or (scenario.leftover and call[2] in (PARTIAL, "lock"))
    if run.status == 0:
        yield from situation.succeeded(run, may_leave)
    elif call[1] == "write" and (fault.mode == "short" or fault.code == errno.EINTR):
        # Where several threads write, another call may have taken its number; such a write is to be gone on with.
        yield f"it failed: {run.message.strip()}"
    elif fault.mode == "full" and may_go_astray(call, situation, scenario):
        yield from situation.astray(run, reason)
    else:
        yield from situation.failed(run, reason, may_leave)


def may_go_astray(call, situation, scenario):
    """On a disk that is full for good, what was renamed cannot be renamed back."""
    if call[0] == "fsync":
        return call[2] == os.path.realpath(situation.parent)
    return scenario.plain and scenario.previous and call[0] == "renameat" and call[2] == NAME


def describe(run, number):
    if number > len(run.calls):
        return "not reached"
    name, _, about = run.calls[number - 1]
    at = about.find(PARTIAL)
    return f"{name} {about[at:] if at >= 0 else os.path.basename(about)}"


def missing_formats(lode):
    """Formats that this build does not write."""
    done = subprocess.run([lode, "export", "--list", "--json"], stdout=subprocess.PIPE, check=True)
    return {row["name"] for row in json.loads(done.stdout)["formats"] if not row["is_available"]}


def test_scenario(tap, bench, scenario, share):
    calls, expected, complaints = bench.undisturbed(scenario)
    if not tap.check(not complaints and len(calls) > 15, f"{scenario.name}: undisturbed, {len(calls)} calls", complaints):
        return
    for fault in FAULTS:
        numbers = [i for i, call in enumerate(calls, 1) if call[1] in fault.classes and share.has(i)]
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            results = list(pool.map(lambda n: bench.disturb(scenario, fault, n, expected), numbers))
        complaints = [text for found, _ in results for text in found]
        outcomes = [outcome for _, outcome in results]
        counts = ", ".join(f"{outcomes.count(word)} {word}" for word in dict.fromkeys(sorted(outcomes)))
        tap.check(not complaints, f"{scenario.name}: {fault.name} at each of {len(numbers)} calls: {counts}", complaints)


def test_listing(tap, program, root):
    """A directory without other marks that opens and cannot be listed is not taken for something unknown."""
    directory = os.path.join(root, "unlisted")
    os.makedirs(directory)
    with open(os.path.join(directory, "x.hpcrun"), "wb") as stream:
        stream.write(b"HPCRUN-profile____")
    for command in (["info"], ["check"], ["build", "-o", os.path.join(root, "of-unlisted")]):
        run = program.run([*command, directory], mode="list", at=1, errno=errno.EIO)
        told = directory in run.message and os.strerror(errno.EIO) in run.message and run.message.count("\n") == 1
        tap.check(run.status == 2 and told, f"{command[0]}: a directory that cannot be listed is named", [run.status, run.message])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    parser.add_argument("--shim", required=True)
    parser.add_argument("--only", default="", help="only scenarios whose name contains this")
    parser.add_argument("--share", type=Share, default=Share.of_faults(), help="the K-th of N parts of the calls")
    options = parser.parse_args()
    tap = Tap()
    tap.note(f"{options.share} of the calls")
    with scratch() as root:
        bench, missing = Bench(Program(options.lode, options.shim), root), missing_formats(options.lode)
        test_listing(tap, bench.program, root)
        for i, scenario in enumerate(scenarios()):
            if missing & set(scenario.arguments):
                tap.skip(scenario.name, "this build does not write the format")
            elif MEASURED in scenario.arguments and not os.path.isdir(MEASUREMENTS):
                tap.skip(scenario.name, "there is no corpus")
            elif options.only in scenario.name:
                test_scenario(tap, bench, scenario, options.share.shifted(i))
        touched = [path for key, path in bench.made.items() if fingerprint(path) != bench.prints[key]]
        tap.check(not touched, "what is converted stays as it is", touched)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
