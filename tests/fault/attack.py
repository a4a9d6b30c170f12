#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Another user attacks whoever writes an output into a directory that both may write to.

Usage: attack.py --lode PROGRAM --attacker ATTACKER [--rounds N] [--only TEXT]

Needs root, to be several users. In a sticky directory that all may write to, user 65534 makes the staging directory first, with and without links
in it, puts others in its place, tries to reach the victim's, or makes the output itself a link, all the time, while a victim (root, or user 1000) runs every command
that writes. The victim may be refused: then nothing is there but what the attacker made. If it succeeds, the output is its own, byte by
byte what it is without an attack. In either case no file outside has changed, and none has come.

By hand, 200 rounds of each attack on each command, half of them by each victim (ten minutes):

    nice tests/fault/attack.py --lode build/src/cli/lode --attacker build/tests/fault/attack --rounds 200
"""
import argparse
import glob
import os
import shutil
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from outcome import NAME, fingerprint, scratch  # noqa: E402
from tap import Tap  # noqa: E402

ATTACKER = 65534
VICTIMS = [0, 1000]
WAYS = ["before", "filled", "swap", "plant", "link"]
TIMEOUT = 120
SECRET = b"what the victim has elsewhere\n"
BATCH = 10  # runs of one victim while one attacker is at work, at most


def commands(made):
    """The arguments of every command that writes, by name."""
    database = ["synth", "database", "--profiles", "3", "--contexts", "40", "--samples", "20", "--threads", "1"]
    return {
        "synth database": database,
        "synth database --force": [*database, "--force"],
        "synth recording": ["synth", "recording", "--records", "500", "--threads", "1"],
        "synth traces": ["synth", "recording", "--format", "zorka", "--records", "500", "--threads", "1"],
        "convert database": ["convert", made["database"], "--threads", "1"],
        "merge databases": ["merge", made["database"], made["database"], "--threads", "1"],
        "slice database": ["slice", made["database"], "--depth", "5", "--threads", "1"],
        "convert to draft-xml": ["convert", made["database"], "--format", "hpctoolkit-draft-xml"],
        "convert to draft-metadb": ["convert", made["database"], "--format", "hpctoolkit-draft-metadb"],
        "convert recording": ["convert", made["recording"], "--threads", "1"],
        "convert traces": ["convert", made["traces"], "--threads", "1"],
        "build": ["build", made["recording"], "--threads", "1"],
        "build as a comm": ["build", made["recording"], made["recording"], "--local-ranks", "2"],
        "dump": ["dump", made["database"]],
    }


def as_user(user):
    def become():
        os.umask(0)  # the worst: what is made is open to all, if nobody takes care
        if user:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
    return become


class Bench:
    def __init__(self, lode, attacker, root):
        self.lode, self.attacker, self.root = lode, os.path.abspath(attacker), root
        self.parent, self.outside = os.path.join(root, "shared"), os.path.join(root, "outside")
        os.chmod(root, 0o755)
        self.made = {}
        for name, arguments in (("database", ["synth", "database", "--profiles", "3", "--contexts", "40"]),
                                ("recording", ["synth", "recording", "--records", "500"]),
                                ("traces", ["synth", "recording", "--format", "zorka", "--records", "500"])):
            self.made[name] = os.path.join(root, name)
            subprocess.run([self.lode, *arguments, "-o", self.made[name]], check=True)

    def clear(self, victim):
        """A directory that all may write to, and a place of the victim's that nobody else may."""
        for folder in (self.parent, self.outside):
            shutil.rmtree(folder, ignore_errors=True)
            os.mkdir(folder)
        os.chmod(self.parent, 0o1777)
        os.mkdir(os.path.join(self.outside, "folder"))
        for name in ("file", "folder/file"):
            with open(os.path.join(self.outside, name), "wb") as stream:
                stream.write(SECRET)
        for name in ("", "folder", "file", "folder/file"):
            path = os.path.join(self.outside, name)
            os.chown(path, victim, victim)
            os.chmod(path, 0o755 if os.path.isdir(path) else 0o644)

    def run(self, arguments, victim):
        return subprocess.run([self.lode, *arguments, "-o", os.path.join(self.parent, NAME)], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, preexec_fn=as_user(victim), check=False)

    def expected(self, arguments):
        """What the command writes if nobody disturbs it."""
        self.clear(0)
        result = self.run(arguments, 0)
        if result.returncode != 0:
            raise SystemExit(f"{arguments}: {result.stderr}")
        return contents(os.path.join(self.parent, NAME))

    def attack(self, arguments, victim, way, expected, rounds):
        """One attacker, and some runs of the victim. Complaints, and runs that succeeded."""
        self.clear(victim)
        outside = fingerprint(self.outside)
        attacker = subprocess.Popen([self.attacker, str(ATTACKER), self.parent, NAME, self.outside, way], stdout=subprocess.PIPE,
                                    text=True)
        complaints, succeeded = [], 0
        if attacker.stdout.readline() != "ready\n":
            complaints.append("the attacker did not begin")
        for _ in range(rounds):
            result = self.run(arguments, victim)
            succeeded += result.returncode == 0
            complaints += self.judge(result, victim, expected)
            remove_own(os.path.join(self.parent, NAME), victim)
        attacker.terminate()
        attacker.communicate()
        if fingerprint(self.outside) != outside:
            complaints.append("files outside have changed")
        return complaints, succeeded

    def judge(self, result, victim, expected):
        target = os.path.join(self.parent, NAME)
        if result.returncode not in (0, 2):
            yield f"exit status {result.returncode}: {result.stderr}"
        if result.returncode != 0:
            return
        if not os.path.lexists(target):
            yield "it succeeded, but there is no output"
            return
        for path in all_paths(target):
            status = os.lstat(path)
            if status.st_uid != victim or stat.S_ISLNK(status.st_mode):
                yield f"{path} belongs to {status.st_uid}"
        if contents(target) != expected:
            yield f"the output is not the victim's: {contents(target)}"


def for_everybody(lode, folder):
    """A copy of the program, and of its library where it looks for it, that all users can run."""
    program = os.path.join(folder, "src", "cli", "lode")
    os.makedirs(os.path.dirname(program))
    shutil.copy(lode, program)
    for library in glob.glob(os.path.join(os.path.dirname(os.path.abspath(lode)), "..", "liblode.so*")):
        if os.path.isfile(library):
            shutil.copy(library, os.path.join(folder, "src"))
    for where, _, files in os.walk(folder):
        for path in (where, *(os.path.join(where, name) for name in files)):
            os.chmod(path, 0o755)
    return program


def all_paths(target):
    yield target
    for folder, folders, files in os.walk(target):
        yield from (os.path.join(folder, name) for name in [*folders, *files])


def contents(target):
    if os.path.isdir(target):
        return fingerprint(target)
    with open(target, "rb") as stream:
        return stream.read()


def remove_own(target, victim):
    """Makes room for the next run, unless the output is the attacker's."""
    try:
        status = os.lstat(target)
        if status.st_uid == victim and stat.S_ISDIR(status.st_mode):
            shutil.rmtree(target, ignore_errors=True)
        elif status.st_uid == victim:
            os.unlink(target)
    except FileNotFoundError:
        pass  # the attacker was faster


def test_command(tap, bench, name, arguments, rounds, ways):
    """All attacks; the victims take turns."""
    expected = bench.expected(arguments)
    size = min(BATCH, (rounds + 1) // len(VICTIMS))
    for way in ways:
        complaints, succeeded = [], 0
        for i, first in enumerate(range(0, rounds, size)):
            found, good = bench.attack(arguments, VICTIMS[i % len(VICTIMS)], way, expected, min(size, rounds - first))
            complaints += found
            succeeded += good
        # Where the attacker cannot be first, it cannot even be in the way.
        if way == "plant" and succeeded < rounds:
            complaints.append(f"{rounds - succeeded} refused")
        tap.check(not complaints, f"{name}, {way}: {rounds} rounds, {rounds - succeeded} refused, {len(complaints)} complaints",
                  complaints[:10])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    parser.add_argument("--attacker", required=True)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--only", default="", help="only commands whose name contains this")
    parser.add_argument("--ways", nargs="*", choices=WAYS, help="only these attacks")
    options = parser.parse_args()
    tap = Tap()
    if os.geteuid() != 0:
        tap.skip("outputs where another user can write", "only root can be several users")
        return tap.finish()
    with scratch() as root, tempfile.TemporaryDirectory(prefix="lode-program-") as folder:
        bench = Bench(for_everybody(options.lode, folder), options.attacker, root)
        for name, arguments in commands(bench.made).items():
            if options.only in name:
                test_command(tap, bench, name, arguments, options.rounds, options.ways or WAYS)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
