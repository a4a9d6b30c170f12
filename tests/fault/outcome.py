# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of this folder share: running the program before the shim, and judging what it left behind."""

import hashlib
import os
import shutil
import subprocess
import tempfile

TIMEOUT = 300
MEMORY_DISK, ENOUGH = "/dev/shm", 256 << 20

# Every path that a complaint or a message may name is short, or the messages cut it.
NAME = "out"
PARTIAL = f".{NAME}.partial"


def scratch():
    """A directory that goes away: in memory if there is room, because the disk is the shim's part here."""
    room = os.access(MEMORY_DISK, os.W_OK) and shutil.disk_usage(MEMORY_DISK).free > ENOUGH
    chosen = MEMORY_DISK if room and "TMPDIR" not in os.environ else None
    return tempfile.TemporaryDirectory(prefix="lode-", dir=chosen)


def fingerprint(path):
    """Everything below a path by name: size and hash of files, None for directories. None if nothing is there."""
    if not os.path.lexists(path):
        return None
    found = {}
    if os.path.isfile(path):
        with open(path, "rb") as stream:
            return {"": (os.path.getsize(path), hashlib.file_digest(stream, "sha256").hexdigest())}
    for folder, folders, files in os.walk(path):
        for name in folders:
            found[os.path.relpath(os.path.join(folder, name), path)] = None
        for name in files:
            file = os.path.join(folder, name)
            with open(file, "rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
            found[os.path.relpath(file, path)] = (os.path.getsize(file), digest)
    return found


def differences(found, wanted):
    """One line on how two fingerprints differ."""
    if found is None or wanted is None:
        return "is not there" if found is None else "is there"
    names = sorted(name for name in found.keys() | wanted.keys() if found.get(name, 0) != wanted.get(name, 0))
    return "differs in " + ", ".join(names)


class Run:
    """One run of the program: how it ended and what it said."""

    def __init__(self, status, message, calls=()):
        self.status, self.message, self.calls = status, message, list(calls)


class Program:
    """The program, and the shim to put before it, if any."""

    def __init__(self, lode, shim=None):
        self.lode, self.shim = os.path.abspath(lode), shim and os.path.abspath(shim)

    def has_page(self):
        """Whether it was built with the page, which files for browsers are."""
        return "no page for browsers" not in self.run(["flame", "nothing", "-o", "none.html"]).message

    def environment(self, log=None, **settings):
        """Settings are those of the shim, in small letters and without their prefix."""
        if self.shim is None:
            return {**os.environ, "LC_ALL": "C"}
        env = {**os.environ, "LC_ALL": "C", "LD_PRELOAD": self.shim, "LODE_FAULT_FAST": "1"}
        # The address sanitizer wants to come first, but does without.
        env["ASAN_OPTIONS"] = ":".join(filter(None, [env.get("ASAN_OPTIONS"), "verify_asan_link_order=0"]))
        env.update({f"LODE_FAULT_{name.upper()}": str(value) for name, value in settings.items()})
        if log:
            env["LODE_FAULT_LOG"] = log
        return env

    def start(self, arguments, **settings):
        return subprocess.Popen([self.lode, *arguments], env=self.environment(**settings), stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, errors="replace")

    def run(self, arguments, log=None, **settings):
        if log and os.path.exists(log):
            os.unlink(log)
        process = self.start(arguments, log=log, **settings)
        try:
            _, message = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            message = "it did not end"
        return Run(process.returncode, message, read_log(log) if log else ())

    def opens(self, path):
        """Whether the program takes a directory for a database: a question is answered, or the quick check is content."""
        return any(self.run([*command, path]).status == 0 for command in (["info"], ["check", "--level", "quick"]))


def read_log(path):
    """The calls in order: (name, class, what it is about)."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", errors="replace") as stream:
        lines = [line.rstrip("\n").split(" ", 3)[:4] for line in stream]
    lines.sort(key=lambda line: int(line[0]))
    return [tuple(line[1:]) for line in lines]


def beside(parent, name=NAME):
    """What is in a directory beside the output."""
    return sorted(set(os.listdir(parent)) - {name})


class Situation:
    """A directory in which the program wrote an output: what must be there, and what may be."""

    def __init__(self, program, parent, expected, previous=None, source=None, name=NAME):
        self.program, self.parent, self.source, self.name = program, parent, source, name
        self.expected, self.previous = expected, previous
        self.target = os.path.join(parent, name)

    def succeeded(self, run, may_leave=False):
        """Complaints, if a run that should have succeeded did not leave what it should."""
        found = fingerprint(self.target)
        if run.status != 0:
            yield f"exit status {run.status}: {run.message.strip()}"
        elif run.message:
            yield f"it succeeded, but said: {run.message.strip()}"
        if found != self.expected:
            yield f"it succeeded, but the output {differences(found, self.expected)}"
        if not may_leave:
            yield from self.leftovers()

    def failed(self, run, reason, may_leave=False):
        """Complaints about a run that failed: a clear message, and nothing changed."""
        yield from self.told(run, reason)
        found = fingerprint(self.target)
        if found != self.previous:
            yield f"it failed, but the output {differences(found, self.previous)}"
        if not may_leave:
            yield from self.leftovers()
        yield from self.openings()

    def told(self, run, reason):
        lines = run.message.splitlines()
        subjects = [self.target, self.source]
        if run.status != 2:
            yield f"exit status {run.status} instead of 2"
        if len(lines) != 1 or not any(lines[0].startswith(f"lode: {subject}: ") for subject in subjects):
            yield f"not one line that names the output: {run.message!r}"
        elif reason not in lines[0]:
            yield f"the message does not say '{reason}': {lines[0]}"

    def astray(self, run, reason):
        """Complaints about a run that could not even give names back: all is there, and the message says where."""
        yield from self.told(run, reason)
        found = fingerprint(self.target)
        if found not in (None, self.expected):
            yield f"the output is neither missing nor complete: it {differences(found, self.expected)}"
        if self.previous is None:
            if found is None:
                yield "neither the new output is there nor a reason for it"
            return
        kept = [fingerprint(os.path.join(self.parent, PARTIAL, name)) for name in ("new", "old")]
        if self.previous not in kept:
            yield "the previous output is lost"
        if PARTIAL not in run.message:
            yield f"the message does not say where the previous output is: {run.message.strip()}"
        yield from self.openings()

    def killed(self, in_steps=False):
        """Complaints about what a killed run left. With `in_steps`, the previous output may wait for the next run to come back."""
        found = fingerprint(self.target)
        moved = fingerprint(os.path.join(self.parent, PARTIAL, "old")) if in_steps else None
        waits = found is None and moved is not None and moved == self.previous
        if found not in (self.previous, self.expected) and not waits:
            yield f"the output is neither the previous nor the new one: it {differences(found, self.expected)}"
        yield from self.openings()

    def leftovers(self):
        names = beside(self.parent, self.name)
        if names:
            yield f"left behind: {', '.join(names)}"

    def openings(self):
        """No directory beside the output opens; below them, only one that is complete, or is being removed."""
        for name in beside(self.parent, self.name):
            path = os.path.join(self.parent, name)
            if self.program.opens(path):
                yield f"{name} opens as a database"
            for inner in ("new", "old"):
                folder = os.path.join(path, inner)
                if os.path.isdir(folder) and self.program.opens(folder) and self.half_done(folder):
                    yield f"{name}/{inner} is not complete, but opens as a database"

    def half_done(self, path):
        found = fingerprint(path)
        wholes = [whole for whole in (self.expected, self.previous) if whole is not None]
        return not any(found.items() <= whole.items() for whole in wholes)
