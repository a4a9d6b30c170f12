#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program that is told to end clears away what it wrote, and ends by the signal that it got.

Usage: signals.py --lode PROGRAM --shim SHIM [--moments N]

For every command that writes, SIGINT, SIGTERM and SIGHUP come at moments that are spread over all calls by which it changes the file
system: the shim stops the program before a call, the signal is sent, the last two are sent again, and the program goes on. There must be
no staging directory and no unfinished file, and the output is the one before or, if it was in place already, the new one. A signal that
was ignored at the start is ignored. A limit to the size of files is an error like a full disk. Closed streams do not matter.
"""
import argparse
import os
import resource
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
from outcome import NAME, Program, beside, differences, fingerprint, scratch  # noqa: E402
from tap import Tap  # noqa: E402

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
TIMEOUT = 60
LIMIT = 20000  # bytes, less than any of the outputs has


class Case:
    """A command that writes: its arguments, and what it reads."""

    def __init__(self, name, arguments, previous=None, suffix=""):
        self.name, self.arguments, self.previous, self.file = name, arguments, previous, NAME + suffix


def make(program, root):
    """Stores to read."""
    wanted = {
        "database": ["synth", "database", "--profiles", "12", "--contexts", "300", "--samples", "200"],
        "old": ["synth", "database", "--profiles", "2", "--contexts", "20"],
        "recording": ["synth", "recording", "--records", "20000", "--tasks", "3"],
        "traces": ["synth", "recording", "--format", "zorka", "--records", "20000"],
    }
    made = {name: os.path.join(root, name) for name in wanted}
    for name, arguments in wanted.items():
        run = program.run([*arguments, "-o", made[name]])
        if run.status != 0:
            raise SystemExit(f"cannot make {name}: {run.message}")
    return made


def cases(made):
    database = ["synth", "database", "--profiles", "12", "--contexts", "300", "--samples", "200", "--threads", "1"]
    return [
        Case("synth database", database),
        Case("synth database --force", [*database, "--force"], previous=made["old"]),
        Case("synth recording", ["synth", "recording", "--records", "20000", "--threads", "1"]),
        Case("synth traces", ["synth", "recording", "--format", "zorka", "--records", "20000", "--threads", "1"]),
        Case("convert database", ["convert", made["database"], "--threads", "2"]),
        Case("merge databases", ["merge", made["database"], made["database"], "--threads", "2"]),
        Case("slice database", ["slice", made["database"], "--depth", "5", "--threads", "2"]),
        Case("convert to a draft", ["convert", made["database"], "--format", "hpctoolkit-draft-xml"]),
        Case("convert recording", ["convert", made["recording"], "--threads", "2"]),
        Case("convert traces", ["convert", made["traces"], "--threads", "1"]),
        Case("build", ["build", made["recording"], "--threads", "1"]),
        Case("build as a comm", ["build", made["recording"], made["recording"], "--local-ranks", "2"]),
        Case("dump -o FILE", ["dump", made["database"]]),
        Case("export a timeline", ["export", made["recording"], "--format", "perfetto", "--threads", "2"]),
        Case("export a timeline as JSON", ["export", made["database"], "--format", "chrome", "--compression", "gzip", "--threads", "2"]),
        Case("flame -o FILE.svg", ["flame", made["recording"]], suffix=".svg"),
        Case("flame -o FILE.html", ["flame", made["recording"], "--bottom-up"], suffix=".html"),
        Case("trace -o FILE.svg", ["trace", made["database"]], suffix=".svg"),
        Case("trace -o FILE.png", ["trace", made["recording"], "--width", "8000", "--height", "1000"], suffix=".png"),
    ]


class Bench:
    def __init__(self, program, root):
        self.program, self.root = program, root

    def parent(self, case):
        parent = os.path.join(self.root, "parent")
        shutil.rmtree(parent, ignore_errors=True)
        os.mkdir(parent)
        if case.previous:
            shutil.copytree(case.previous, os.path.join(parent, case.file))
        return parent

    def arguments(self, case, parent):
        return [*case.arguments, "-o", os.path.join(parent, case.file)]

    def undisturbed(self, case):
        """The number of calls, and what is there in the end."""
        parent = self.parent(case)
        run = self.program.run(self.arguments(case, parent), log=os.path.join(self.root, "log"))
        if run.status != 0 or beside(parent, case.file):
            raise SystemExit(f"{case.name}: {run.message} {beside(parent, case.file)}")
        return len(run.calls), contents(parent, case)

    def interrupt(self, case, number, at, expected):
        """Complaints about one run that gets a signal before a call; and whether it ended by it."""
        parent = self.parent(case)
        before = contents(parent, case)
        process = self.program.start(self.arguments(case, parent), mode="stop", at=at)
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            return [f"it was not stopped, but ended with {status}"], False
        os.kill(process.pid, number)
        os.kill(process.pid, signal.SIGCONT)
        # Schedulers say it more than once; who presses Ctrl-C twice does not want to wait.
        if number != signal.SIGINT:
            os.kill(process.pid, number)
        _, status = os.waitpid(process.pid, 0)
        process.returncode = 0
        message = process.stderr.read()
        process.stderr.close()
        return list(judge(parent, case, number, status, message, before, expected)), os.WIFSIGNALED(status)


def contents(parent, case):
    """The output, be it a store or a file."""
    target = os.path.join(parent, case.file)
    if os.path.isfile(target):
        with open(target, "rb") as stream:
            return stream.read()
    return fingerprint(target)


def judge(parent, case, number, status, message, before, expected):
    found = contents(parent, case)
    if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != number:
        # A file that has its name is complete, and nothing holds signals back any more.
        if not (os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0 and found == expected):
            yield f"it ended with {status:#x} instead of {number.name}: {message.strip()}"
    if found not in (before, expected):
        yield f"the output {differences(found, expected) if isinstance(found, dict) else 'is half done'}"
    if beside(parent, case.file):
        yield f"left behind: {', '.join(beside(parent, case.file))}"
    if message:
        yield f"it said: {message.strip()}"


def test_moments(tap, bench, case, moments):
    count, expected = bench.undisturbed(case)
    step = max(1, count // moments)
    complaints, ended = [], 0
    chosen = list(range(1, count + 1, step))
    for i, at in enumerate(chosen):
        found, by_signal = bench.interrupt(case, SIGNALS[i % len(SIGNALS)], at, expected)
        complaints += [f"{SIGNALS[i % len(SIGNALS)].name} before call {at} of {count}: {text}" for text in found]
        ended += by_signal
    tap.check(not complaints and ended > 0, f"{case.name}: signals before {len(chosen)} of {count} calls, {ended} ended it", complaints)


def test_ignored(tap, bench, case):
    """As under nohup."""
    count, expected = bench.undisturbed(case)
    parent = bench.parent(case)
    process = subprocess.Popen([bench.program.lode, *bench.arguments(case, parent)], stderr=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, env=bench.program.environment(mode="stop", at=count // 2),
                               preexec_fn=lambda: [signal.signal(number, signal.SIG_IGN) for number in SIGNALS])
    os.waitpid(process.pid, os.WUNTRACED)
    for number in SIGNALS:
        os.kill(process.pid, number)
    os.kill(process.pid, signal.SIGCONT)
    _, status = os.waitpid(process.pid, 0)
    process.returncode = 0
    process.stderr.close()
    tap.check(status == 0 and contents(parent, case) == expected and not beside(parent, case.file), f"{case.name}: what is ignored stays ignored",
              [status, beside(parent, case.file)])


def test_limit(tap, bench, case):
    parent = bench.parent(case)
    before = contents(parent, case)
    result = subprocess.run([bench.program.lode, *bench.arguments(case, parent)], capture_output=True, text=True, check=False,
                            timeout=TIMEOUT, env={**os.environ, "LC_ALL": "C"},
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT)))
    passed = result.returncode == 2 and "File too large" in result.stderr and result.stderr.count("\n") == 1
    tap.check(passed and contents(parent, case) == before and not beside(parent, case.file), f"{case.name}: a limit to the size of files",
              [result.returncode, result.stderr, beside(parent, case.file)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    parser.add_argument("--shim", required=True)
    parser.add_argument("--moments", type=int, default=12, help="of each command")
    options = parser.parse_args()
    tap = Tap()
    with scratch() as root:
        program = Program(options.lode, options.shim)
        made = make(program, root)
        bench = Bench(program, root)
        for case in cases(made):
            if case.file.endswith(".html") and not program.has_page():
                tap.skip(case.name, "the program has no page")
                continue
            test_moments(tap, bench, case, options.moments)
            test_limit(tap, bench, case)
        for case in cases(made)[1], cases(made)[6], cases(made)[10]:
            test_ignored(tap, bench, case)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
