#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every call by which a picture is written fails in turn.

Usage: pictures.py --lode PROGRAM --shim SHIM [--only TEXT] [--share K/N]

'lode flame' and 'lode trace' write a picture, where nothing was and over another one (--force). For each call in turn and each fault of
faults.py, the picture is the one of an undisturbed run, or the run says why not, and what was there before is there, with nothing beside it.
A killed run may leave its unfinished file, which nobody else can read and which is no picture by its name. The next run succeeds.

--share as in faults.py: the K-th of N parts of the calls.
"""
import argparse
import concurrent.futures
import errno
import os
import shutil
import stat
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from faults import FAULTS, JOBS  # noqa: E402
from outcome import NAME, Program, Situation, beside, fingerprint, scratch  # noqa: E402
from share import Share  # noqa: E402
from tap import Tap  # noqa: E402

DATABASE = ["synth", "database", "--profiles", "12", "--contexts", "300", "--samples", "200", "--seed", "7"]
RECORDING = ["synth", "recording", "--records", "20000", "--tasks", "3", "--seed", "7"]
PREVIOUS = b"<svg/>\n"


class Case:
    """A command that writes a picture; the end of its name says which kind."""

    def __init__(self, name, arguments, suffix, previous=False):
        self.name, self.arguments = name + (" over another" if previous else ""), [*arguments, "--threads", "1"]
        self.file, self.previous = NAME + suffix, previous
        self.source = arguments[1]


def make(program, root):
    made = {}
    for name, words in (("database", DATABASE), ("recording", RECORDING)):
        made[name] = os.path.join(root, name)
        run = program.run([*words, "-o", made[name]])
        if run.status != 0:
            raise SystemExit(f"cannot make a {name}: {run.message}")
    return made


def cases(made, has_page):
    for previous in (False, True):
        yield Case("flame graph of a database as SVG", ["flame", made["database"]], ".svg", previous)
        if has_page:
            yield Case("flame graph of a recording as HTML", ["flame", made["recording"]], ".html", previous)
        yield Case("timeline of a database as SVG", ["trace", made["database"]], ".svg", previous)
        yield Case("timeline of a recording as PNG", ["trace", made["recording"]], ".png", previous)


class Bench:
    def __init__(self, program, root):
        self.program, self.root = program, root

    def prepare(self, case, name, expected=None):
        """A directory as it is before the program runs, and the arguments."""
        parent = os.path.join(self.root, name)
        os.mkdir(parent)
        target = os.path.join(parent, case.file)
        if case.previous:
            with open(target, "wb") as stream:
                stream.write(PREVIOUS)
        situation = Situation(self.program, parent, expected, fingerprint(target), case.source, case.file)
        return situation, [*case.arguments, "-o", target, *(["--force"] if case.previous else [])]

    def undisturbed(self, case):
        situation, arguments = self.prepare(case, "undisturbed")
        run = self.program.run(arguments, log=os.path.join(self.root, "log"))
        situation.expected = fingerprint(situation.target)
        complaints = list(situation.succeeded(run))
        if situation.expected in (None, situation.previous):
            complaints.append("nothing was written")
        shutil.rmtree(situation.parent)
        return run.calls, situation.expected, complaints

    def disturb(self, case, fault, number, expected):
        """Complaints about one run with a fault and about the next one; and what became of the first."""
        situation, arguments = self.prepare(case, f"{fault.mode}-{fault.code}-{number}", expected)
        log = situation.parent + ".log"
        run = self.program.run(arguments, log=log, mode=fault.mode, at=number, errno=fault.code)
        if len(run.calls) < number:
            complaints, outcome = [f"only {len(run.calls)} calls were made"], "early"
        elif fault.mode == "kill":
            complaints, outcome = list(killed(situation)), "killed"
        else:
            outcome = "succeeded" if run.status == 0 else "failed"
            complaints = list(judge(situation, fault, run, run.calls[number - 1]))
        again = self.program.run([word for word in arguments if word != "--force"] + ["--force"])
        if again.status != 0 or again.message or fingerprint(situation.target) != expected:
            complaints.append(f"next run: status {again.status}, {again.message.strip()}")
        name = run.calls[number - 1][0] if len(run.calls) >= number else "not reached"
        shutil.rmtree(situation.parent)
        os.unlink(log)
        return [f"{fault.name} at call {number} ({name}): {text}" for text in complaints], outcome


def judge(situation, fault, run, call):
    if run.status == 0:
        yield from situation.succeeded(run)
    elif call[1] == "write" and (fault.mode == "short" or fault.code == errno.EINTR):
        yield f"it failed: {run.message.strip()}"
    else:
        yield from situation.failed(run, os.strerror(fault.code))


def killed(situation):
    yield from situation.killed()
    for name in beside(situation.parent, situation.name):
        found = os.stat(os.path.join(situation.parent, name))
        if not name.startswith(situation.name + ".") or os.path.splitext(name)[1] in (".svg", ".html", ".png"):
            yield f"{name} looks like a picture"
        if stat.S_IMODE(found.st_mode) & 0o077 and not is_complete(situation, name):
            yield f"others can read {name}: {stat.S_IMODE(found.st_mode):o}"


def is_complete(situation, name):
    """The mask of the user counts from when all bytes are there."""
    return fingerprint(os.path.join(situation.parent, name)) == situation.expected


def test_case(tap, bench, case, share):
    calls, expected, complaints = bench.undisturbed(case)
    kinds = {call[1] for call in calls}
    if not tap.check(not complaints and {"room", "write"} <= kinds, f"{case.name}: undisturbed, {len(calls)} calls", complaints):
        return
    for fault in FAULTS:
        numbers = [i for i, call in enumerate(calls, 1) if call[1] in fault.classes and share.has(i)]
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            results = list(pool.map(lambda n: bench.disturb(case, fault, n, expected), numbers))
        complaints = [text for found, _ in results for text in found]
        outcomes = sorted(outcome for _, outcome in results)
        counts = ", ".join(f"{outcomes.count(word)} {word}" for word in dict.fromkeys(outcomes))
        tap.check(not complaints, f"{case.name}: {fault.name} at each of {len(numbers)} calls: {counts}", complaints)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    parser.add_argument("--shim", required=True)
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument("--share", type=Share, default=Share.of_faults(), help="the K-th of N parts of the calls")
    options = parser.parse_args()
    tap = Tap()
    tap.note(f"{options.share} of the calls")
    with scratch() as root:
        program = Program(options.lode, options.shim)
        made = make(program, root)
        before = {name: fingerprint(path) for name, path in made.items()}
        for i, case in enumerate(cases(made, program.has_page())):
            if options.only in case.name:
                test_case(tap, Bench(program, root), case, options.share.shifted(i))
        touched = [name for name, path in made.items() if fingerprint(path) != before[name]]
        tap.check(not touched, "the stores stay as they are", touched)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
