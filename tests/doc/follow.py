#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Follows documents as a reader would: types every command of their ```console blocks, in order, in an empty directory for
each document, and compares what is printed. Needs nothing but a lode and the documents.

    follow.py                          README.md, doc/tutorial.md and doc/hpc.md, with the lode in PATH
    follow.py --lode build/src/cli/lode --write
                                       writes what is printed into the documents; then read the difference

A line that begins with "$ " is a command; lines up to the next one or the end of the block are what it prints, on either
stream. There, "..." alone on a line stands for any number of lines, and at the end of a line for the rest of it. A command
must succeed, unless "$ echo $?" comes next and shows its exit status. Commands of other programs than lode and a few of
every system are not run; neither are those with a program that is not installed, nor a 'lode record' whose tool does not
work here. Prints the time from the first command of
a document to its first answer.
"""

import argparse
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ("README.md", "doc/tutorial.md", "doc/hpc.md")
BLOCK = re.compile(r"^(?P<indent> *)```console\n(?P<body>.*?)^ *```$", re.MULTILINE | re.DOTALL)
ANY_LINES = "..."
SECONDS = 120
# Programs that are typed, besides lode; they are on every machine, or their command is left out.
TYPED = ("lode", "cat", "cp", "echo", "g++", "gcc", "head", "jq", "ls", "mkdir", "mpicc", "printf", "rm", "wc")
# Commands of lode that answer no question.
NO_ANSWER = ("example", "help", "synth", "version")


class Command(NamedTuple):
    line: int     # in the document, from 1
    start: int    # the output: indices of lines
    end: int
    text: str
    output: list
    indent: str


def environment(lode):
    """The same for everybody, so that output is."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LODE_", "SLURM_"))}
    for name in ("LANGUAGE", "LINES", "TERM"):
        kept.pop(name, None)
    kept.update(LANG="C.UTF-8", TZ="UTC", NO_COLOR="1", COLUMNS="100")
    if lode:
        kept["PATH"] = f"{Path(lode).parent}{os.pathsep}{kept['PATH']}"
    return kept


def without_blank_end(lines):
    kept = [line.rstrip() for line in lines]
    while kept and not kept[-1]:
        kept.pop()
    return kept


def commands_of(text):
    """The commands of a document. A command that ends with a backslash goes on in the next line."""
    found = []
    for block in BLOCK.finditer(text):
        indent = block["indent"]
        number = text.count("\n", 0, block.start("body")) + 1
        lines = [line[len(indent):] for line in block["body"].splitlines()]
        starts = [i for i, line in enumerate(lines) if line.startswith("$ ")]
        for start, after in zip(starts, [*starts[1:], len(lines)]):
            first = start
            while lines[first].endswith("\\"):
                first += 1
            typed = "\n".join(lines[start:first + 1])[2:]
            found.append(Command(number + start, number + first, number - 1 + after, typed, lines[first + 1:after], indent))
    return found


def line_matches(pattern, line):
    if pattern.endswith(ANY_LINES) and pattern != ANY_LINES:
        return line.startswith(pattern[:-len(ANY_LINES)].rstrip())
    return line == pattern


def output_matches(patterns, lines):
    """Whether lines are what the patterns say; "..." takes as few lines as it can."""
    if not patterns:
        return not lines
    if patterns[0] == ANY_LINES:
        return any(output_matches(patterns[1:], lines[skipped:]) for skipped in range(len(lines) + 1))
    return bool(lines) and line_matches(patterns[0], lines[0]) and output_matches(patterns[1:], lines[1:])


def programs_of(command):
    """The first word of each part of a pipeline, without variables."""
    unquoted = re.sub(r"'[^']*'|\"[^\"]*\"", "Q", command)
    return [re.sub(r"^([A-Za-z_]+=\S* )*", "", part.strip()).split()[0]
            for part in re.split(r"\|\|?|&&|;", unquoted) if part.strip()]


@functools.cache
def why_no_perf(path):
    """Why 'lode record' with perf has no answer here, or None."""
    with tempfile.TemporaryDirectory() as folder:
        line = "lode record --with perf --then none -o probe true && lode info probe.data"
        done = subprocess.run(["sh", "-c", line], cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"perf: {done.stderr.strip().splitlines()[-1]}"


def why_not_recorded(command, env, folder):
    """Why what a 'lode record' starts does not work here, or None."""
    rehearsal = command.replace("lode record", "lode record --dry-run", 1)
    done = subprocess.run(["sh", "-c", rehearsal], cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return done.stderr.strip().splitlines()[-1].removeprefix("lode: ")
    has_answer = "--then none" not in command and "--dry-run" not in command
    return why_no_perf(env["PATH"]) if "perf record" in done.stdout and has_answer else None


def why_not(command, env):
    """Why a command is not run, or None."""
    for program in programs_of(command):
        if program not in TYPED and not program.startswith("./"):
            return f"{program} is not run"
        if not program.startswith("./") and program != "echo" and not shutil.which(program, path=env["PATH"]):
            return f"{program} is not installed"
    return None


class Report:
    """Lines of TAP."""

    def __init__(self):
        self.count = self.failed = 0

    def say(self, is_good, name, details=()):
        self.count += 1
        self.failed += not is_good
        print(f"{'ok' if is_good else 'not ok'} {self.count} - {name.replace('#', chr(92) + '#')}")
        for line in () if is_good else details:
            print(f"# {line}")

    def skip(self, name, reason):
        self.count += 1
        print(f"ok {self.count} - {name.replace('#', chr(92) + '#')} # SKIP {reason}")


class Reader:
    """Follows one document."""

    def __init__(self, report, path, env, options):
        self.report, self.path, self.env, self.writes, self.beside = report, path, env, options.write, options.beside
        self.text = path.read_text(encoding="utf-8")
        self.answered = None

    def type(self, command, previous, folder):
        """(output, exit status)"""
        done = subprocess.run(["sh", "-c", f"exec 2>&1; (exit {previous}); {command}"], cwd=folder, env=self.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=SECONDS, check=False)
        return without_blank_end(done.stdout.decode().splitlines()), done.returncode

    def follow(self):
        commands = commands_of(self.text)
        found = []
        with tempfile.TemporaryDirectory() as folder:
            for program in self.beside:
                (Path(folder) / program.name).symlink_to(program.resolve())
            began, previous = time.monotonic(), 0
            for command, after in zip(commands, [*commands[1:], None]):
                name = f"{self.path.name}:{command.line}: $ {command.text}".replace("\n", " ")
                reason = why_not(command.text, self.env)
                if not reason and command.text.startswith("lode record"):
                    reason = why_not_recorded(command.text, self.env, folder)
                if reason:
                    self.report.skip(name, reason)
                    continue
                output, previous = self.type(command.text, previous, folder)
                self.note_answer(command, time.monotonic() - began)
                status = self.wanted_status(after, previous)
                found.append((command, output))
                self.judge(name, command, output, (previous, status))
        if self.writes:
            self.write(found)
        return len(commands)

    def wanted_status(self, after, found):
        if after is None or after.text != "echo $?":
            return 0
        return found if self.writes else int((after.output or ["0"])[0])

    def note_answer(self, command, seconds):
        words = command.text.split()
        if self.answered is None and words[0] == "lode" and words[1] not in NO_ANSWER:
            self.answered = (seconds, command.text)

    def judge(self, name, command, output, statuses):
        wanted = without_blank_end(command.output)
        fits = statuses[0] == statuses[1] and (self.writes or output_matches(wanted, output))
        self.report.say(fits, name, [f"exit status {statuses[0]}, wanted {statuses[1]}", "wanted:", *wanted, "found:", *output])

    def write(self, found):
        """Output that still matches stays, with its dots."""
        lines = self.text.splitlines()
        for command, output in reversed(found):
            wanted = without_blank_end(command.output)
            if not output_matches(wanted, output):
                blank = [""] * (len(command.output) - len(wanted))
                lines[command.start:command.end] = [f"{command.indent}{line}".rstrip() for line in [*output, *blank]]
        self.path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def self_test(report):
    """It must not take everything for a match."""
    cases = ((["a", "...", "z"], ["a", "b", "c", "z"], True), (["a", "...", "z"], ["a", "z"], True),
             (["..."], [], True), (["a"], ["a", "b"], False), (["a", "..."], ["b"], False), ([], ["a"], False),
             (["a b ..."], ["a b  c"], True), (["a b ..."], ["a c"], False), (["...", "b"], ["a", "c"], False))
    wrong = [case for case in cases if output_matches(case[0], case[1]) != case[2]]
    report.say(not wrong, "self-test: patterns of lines", wrong)
    found = commands_of("x\n```console\n$ lode a\n1\n2\n$ lode \\\n  b\n$ echo $?\n0\n```\n```c\n$ lode c\n```\n")
    wanted = [(3, "lode a", ["1", "2"]), (6, "lode \\\n  b", []), (8, "echo $?", ["0"])]
    report.say([(c.line, c.text, c.output) for c in found] == wanted, "self-test: commands of a document", found)
    programs = programs_of("A=b lode top 'x | y' | jq -r .z && ls")
    report.say(programs == ["lode", "jq", "ls"], "self-test: programs of a command", programs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", help="the program (default: the one in PATH)")
    parser.add_argument("--write", action="store_true", help="write what is printed into the documents")
    parser.add_argument("--beside", action="append", default=[], type=Path, metavar="PROGRAM",
                        help="a program or another file that is in the empty directory, for ./PROGRAM")
    parser.add_argument("documents", nargs="*", type=Path)
    options = parser.parse_args()
    report = Report()
    self_test(report)
    with tempfile.TemporaryDirectory() as folder:
        # Only the program itself is in front of PATH, whatever else lies beside it.
        if options.lode:
            (Path(folder) / "lode").symlink_to(Path(options.lode).resolve())
        env = environment(Path(folder) / "lode" if options.lode else None)
        documents = options.documents or [ROOT / name for name in DOCUMENTS if (ROOT / name).is_file()]
        for path in documents:
            reader = Reader(report, path, env, options)
            count = reader.follow()
            if reader.answered:
                print(f"# {path.name}: {count} commands; the first answer came after {reader.answered[0]:.3f} s: "
                      f"$ {reader.answered[1]}")
    print(f"1..{report.count}")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
