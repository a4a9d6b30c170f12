#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Runs the examples of the documents: in README.md and doc/**/*.md, blocks that are marked ```console, where a line that
begins with "$ lode" is a command, and what follows, up to the next "$" or the end of the block, is what it prints.
There, "..." alone on a line stands for any number of lines, and at the end of a line for the rest of that line.

A command must succeed, unless "$ echo $?" comes next and says what its exit status is. Commands run in a shell, in the
folder of the databases or, where they name an uftrace.data, of the recordings that they name, or where they name something in stores/, beside
the trace stores; other programs are not run.
"""

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import cli

BLOCK = re.compile(r"^(?P<indent> *)```console\n(?P<body>.*?)^ *```$", re.MULTILINE | re.DOTALL)
ANY_LINES = "..."


class Example(NamedTuple):
    document: str
    line: int
    command: str
    output: list
    status: int


def documents(program):
    """Those that are named, or all of them."""
    named = [Path(name) for name in program.documents]
    return named or [cli.ROOT / "README.md", *sorted((cli.ROOT / "doc").rglob("*.md"))]


def without_blank_end(lines):
    kept = [line.rstrip() for line in lines]
    while kept and not kept[-1]:
        kept.pop()
    return kept


def commands_of(text):
    """(line, command, output) of everything after a "$" in the blocks of a document."""
    for block in BLOCK.finditer(text):
        indent = len(block["indent"])
        first = text.count("\n", 0, block.start("body")) + 1
        found = []
        for number, line in enumerate(block["body"].splitlines(), first):
            line = line[indent:]
            if line.startswith("$ "):
                found.append((number, line[2:], []))
            elif found:
                found[-1][2].append(line)
        yield from found


def examples_of(path):
    """Commands of lode. The status of one is 0 unless the next command asks for it."""
    commands = list(commands_of(path.read_text(encoding="utf-8")))
    for (line, command, output), after in zip(commands, [*commands[1:], None]):
        asked = after is not None and after[1] == "echo $?"
        if re.match(r"([A-Z_]+=\S+ )*lode\b", command):
            yield Example(path.name, line, command, output, int(after[2][0]) if asked else 0)


def line_matches(pattern, line):
    if pattern.endswith(ANY_LINES):
        return line.startswith(pattern[:-len(ANY_LINES)].rstrip())
    return line == pattern


def output_matches(patterns, lines):
    """Whether lines are what the patterns say; "..." takes as few lines as it can."""
    if not patterns:
        return not lines
    if patterns[0] == ANY_LINES:
        return any(output_matches(patterns[1:], lines[skipped:]) for skipped in range(len(lines) + 1))
    return bool(lines) and line_matches(patterns[0], lines[0]) and output_matches(patterns[1:], lines[1:])


def run_example(program, example, folder):
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    command = example.command
    where = program.recordings() if "uftrace.data" in command else program.stores().parent if "stores/" in command else program.databases()
    result = program.run_any("sh", "-c", f"exec 2>&1; {command}", env={"PATH": path}, cwd=where)
    wanted, found = without_blank_end(example.output), without_blank_end(result.out.splitlines())
    fits = result.status == example.status and output_matches(wanted, found)
    program.check(fits, f"{example.document}:{example.line}: $ {example.command}",
                  [f"exit status {result.status}, wanted {example.status}", "wanted:", *wanted, "found:", *found])


def the_runner_itself(program):
    """It must not take everything for a match."""
    cases = ((["a", "...", "z"], ["a", "b", "c", "z"], True), (["a", "...", "z"], ["a", "z"], True),
             (["..."], [], True), (["a"], ["a", "b"], False), (["a", "..."], ["b"], False), ([], ["a"], False),
             (["a b ..."], ["a b  c"], True), (["a b ..."], ["a c"], False), (["...", "b"], ["a", "c"], False))
    wrong = [case for case in cases if output_matches(case[0], case[1]) != case[2]]
    program.check(not wrong, "patterns of lines", wrong)
    found = list(commands_of("x\n```console\n$ lode a\n1\n2\n$ echo $?\n0\n```\n```c\n$ lode b\n```\n"))
    program.equal(found, [(3, "lode a", ["1", "2"]), (6, "echo $?", ["0"])], "commands in a document")


def examples_of_the_documents(program):
    program.databases()
    program.recordings()
    program.stores()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "lode").symlink_to(program.lode)
        for path in documents(program):
            for example in examples_of(path):
                run_example(program, example, folder)


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, the_runner_itself, examples_of_the_documents, operands="documents"))
