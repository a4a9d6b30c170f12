#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The tests of this folder see what they are there to see.

Usage: selftest.py --lode PROGRAM --shim SHIM [--nm NM --library LIBRARY]

What opens as a database is told from what does not; every bad end of a run is complained about; a disk that loses writes and says nothing
is noticed at each of them; and the shim stands before every function by which the library changes the file system.
"""
import argparse
import errno
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from faults import Bench, Fault, scenarios  # noqa: E402
from outcome import NAME, PARTIAL, Program, Run, Situation, fingerprint, scratch  # noqa: E402
from tap import Tap  # noqa: E402

FULL = os.strerror(errno.ENOSPC)

# By which a program can change the file system. sync_file_range only asks the disk to begin early; fsync tells what was written.
CHANGING = set("""chmod chown copy_file_range creat creat64 fallocate fallocate64 fchmod fchmodat fchown fchownat fclose fdatasync fdopen
    fopen fopen64 freopen freopen64 fsync ftruncate ftruncate64 link linkat lchown mkdir mkdirat mkdtemp mkfifo mknod mknodat mkostemp
    mkostemp64 mkstemp mkstemp64 mmap mmap64 msync open open64 openat openat64 posix_fallocate posix_fallocate64 pwrite pwrite64 pwritev
    pwritev64 pwritev2 remove rename renameat renameat2 rmdir sendfile sendfile64 splice symlink symlinkat
    syncfs tmpfile tmpfile64 truncate truncate64 unlink unlinkat utimensat write writev""".split())


class Place:
    """A directory with a complete new output, an old one to begin with, and room for a bad end."""

    def __init__(self, program, root):
        self.program, self.root = program, root
        self.new, self.old = os.path.join(root, "new"), os.path.join(root, "old")
        for path, seed in ((self.new, "1"), (self.old, "2")):
            program.run(["synth", "database", "--profiles", "4", "--contexts", "50", "--seed", seed, "-o", path])

    def situation(self, name, target=None, previous=None):
        """`target` is what a run left; `previous` what was there before."""
        parent = os.path.join(self.root, name)
        os.makedirs(parent)
        if target:
            shutil.copytree(target, os.path.join(parent, NAME))
        return Situation(self.program, parent, fingerprint(self.new), fingerprint(previous) if previous else None)


def overwrite(path, offset, data):
    with open(path, "r+b") as stream:
        stream.seek(offset)
        stream.write(data)


def test_opens(tap, place):
    def damaged(name, damage):
        path = os.path.join(place.root, name)
        shutil.copytree(place.new, path)
        damage(path)
        return path

    alone = os.path.join(damaged("alone", lambda path: shutil.rmtree(path) or os.mkdir(path)), "meta.db")
    shutil.copy(os.path.join(place.new, "meta.db"), alone)
    cases = [
        ("a complete database", True, place.new),
        ("a file of a database", True, os.path.join(place.new, "meta.db")),
        ("one without cct.db", True, damaged("no-cct", lambda path: os.unlink(os.path.join(path, "cct.db")))),
        ("nothing", False, os.path.join(place.root, "nothing")),
        ("a file of no store", False, alone),
        ("an empty directory", False, damaged("empty", lambda path: shutil.rmtree(path) or os.mkdir(path))),
        ("no meta.db", False, damaged("no-meta", lambda path: os.unlink(os.path.join(path, "meta.db")))),
        ("no header", False, damaged("header", lambda path: overwrite(os.path.join(path, "meta.db"), 0, bytes(48)))),
        ("a file cut short", False, damaged("cut", lambda path: os.truncate(os.path.join(path, "profile.db"), 4096))),
    ]
    for name, wanted, path in cases:
        tap.check(place.program.opens(path) is wanted, f"{name} {'opens' if wanted else 'does not open'}")


def bad_ends(place):
    """(name, complaints, a word of the one that must be among them)"""
    good = Run(0, "")

    def refusal(situation, text=f"cannot write: {FULL}", status=2):
        return Run(status, f"lode: {situation.target}: profile.db: {text}\n")

    at = place.situation("a", target=place.old)
    yield "success without the output", at.succeeded(good), "differs in"
    at = place.situation("b", target=place.new)
    os.mkdir(os.path.join(at.parent, PARTIAL))
    yield "success with a leftover", at.succeeded(good), "left behind"
    at = place.situation("c", target=place.new)
    yield "failure that is none", at.failed(refusal(at), FULL), "is there"
    at = place.situation("d", previous=place.old)
    yield "a lost previous output", at.failed(refusal(at), FULL), "is not there"
    at = place.situation("e", target=place.old, previous=place.old)
    overwrite(os.path.join(at.target, "trace.db"), 100, b"x")
    yield "a previous output with another byte", at.failed(refusal(at), FULL), "differs in trace.db"
    at = place.situation("f")
    yield "a message without a reason", at.failed(refusal(at, "cannot write"), FULL), "does not say"
    at = place.situation("g")
    yield "two messages", at.failed(Run(2, refusal(at).message * 2), FULL), "not one line"
    at = place.situation("h")
    yield "no message", at.failed(Run(2, ""), FULL), "not one line"
    at = place.situation("i")
    yield "a crash", at.failed(refusal(at, status=-11), FULL), "exit status -11"
    at = place.situation("j", target=place.old, previous=place.old)
    shutil.copytree(place.new, os.path.join(at.parent, PARTIAL))
    yield "a leftover that opens", at.killed(), f"{PARTIAL} opens"
    at = place.situation("k")
    shutil.copytree(place.new, os.path.join(at.parent, PARTIAL, "new"))
    overwrite(os.path.join(at.parent, PARTIAL, "new", "trace.db"), 100, b"x")
    yield "a half-written database that opens in a leftover", at.killed(), "is not complete, but opens"
    at = place.situation("l", target=place.new, previous=place.old)
    os.unlink(os.path.join(at.target, "trace.db"))
    yield "a half-written output after a kill", at.killed(), "neither the previous nor the new"
    at = place.situation("m", previous=place.old)
    yield "a previous output lost by a kill", at.killed(in_steps=True), "neither the previous nor the new"
    at = place.situation("n", target=place.new, previous=place.old)
    yield "a previous output that went astray", at.astray(refusal(at), FULL), "is lost"


def good_ends(place):
    at = place.situation("o", target=place.new, previous=place.old)
    yield "success", at.succeeded(Run(0, ""))
    at = place.situation("p", target=place.old, previous=place.old)
    yield "failure", at.failed(Run(2, f"lode: {at.target}: cct.db: cannot write: {FULL}\n"), FULL)
    at = place.situation("q", target=place.old, previous=place.old)
    os.makedirs(os.path.join(at.parent, PARTIAL, "new"))
    yield "a kill", at.killed()


def test_lost_writes(tap, program, root):
    """A disk that takes writes and forgets them: no run may pass."""
    bench, scenario = Bench(program, root), scenarios()[0]
    calls, expected, _ = bench.undisturbed(scenario)
    numbers = [number for number, call in enumerate(calls, 1) if call[1] == "write"]
    passed = [number for number in numbers if not bench.disturb(scenario, Fault("a lie", "lie"), number, expected)[0]]
    tap.check(numbers and not passed, f"each of {len(numbers)} lost writes is noticed", [f"not at {passed}"])


def symbols(nm, file, which):
    output = subprocess.run([nm, "-D", which, file], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in output.splitlines()}


def test_symbols(tap, options):
    used = symbols(options.nm, options.library, "--undefined-only") & CHANGING
    covered = symbols(options.nm, options.shim, "--defined-only")
    missed = sorted(used - covered)
    tap.check(used and not missed, f"the shim stands before all {len(used)} functions that change files",
              [f"not before: {', '.join(missed)}"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    parser.add_argument("--shim", required=True)
    parser.add_argument("--nm")
    parser.add_argument("--library")
    options = parser.parse_args()
    program, tap = Program(options.lode, options.shim), Tap()
    with scratch() as root:
        place = Place(program, root)
        test_opens(tap, place)
        for name, complaints, word in bad_ends(place):
            found = list(complaints)
            tap.check(any(word in text for text in found), f"complained about: {name}", found or ["no complaint"])
        for name, complaints in good_ends(place):
            found = list(complaints)
            tap.check(not found, f"not complained about: {name}", found)
    with scratch() as root:
        test_lost_writes(tap, program, root)
    if options.nm:
        test_symbols(tap, options)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
