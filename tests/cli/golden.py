#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What the program prints, compared with files in golden/ that were read by a person: a line with the command, what it
prints, what it says on standard error if anything, and its exit status. --update writes them anew; then read the diff.

  $ COLUMNS=80 lode top --limit 2 made-small
  ...
  [status 0]

Databases are named as in the larger corpus, where the commands run; so are recordings, in golden/recordings, and trace stores, in golden/stores.
The same of the project's own stores (tests/data), which are there always, is in golden/own.
"""

import difflib
import shlex
import sys
from pathlib import Path

import cli
import corpora  # cli knows where it is

FOLDER = Path(__file__).resolve().parent / "golden"


def split_command(line):
    """Changes of the environment, and arguments of the program."""
    words = shlex.split(line[len("$ "):])
    at = words.index("lode")
    return dict(word.split("=", 1) for word in words[:at]), words[at + 1:]


def transcript(program, command, folder):
    """What a golden file holds. Carriage returns show, as they would not survive every editor."""
    env, arguments = split_command(command)
    result = program.run(*arguments, env=env, cwd=folder)
    errors = f"[stderr]\n{result.err}" if result.err else ""
    return f"{command}\n{result.out}{errors}[status {result.status}]\n".replace("\r", "\\r")


def compare(program, path, folder):
    wanted = path.read_text(encoding="utf-8")
    found = transcript(program, wanted.splitlines()[0], folder)
    if program.update:
        path.write_text(found, encoding="utf-8")
    difference = difflib.unified_diff(wanted.splitlines(), found.splitlines(), "wanted", "found", lineterm="")
    program.check(program.update or wanted == found, f"{path.stem}: {wanted.splitlines()[0]}", difference)


def compare_all(program, files, folder):
    """`files` is a folder of golden files, `folder` one of the corpus, where the commands run."""
    for path in sorted(files.glob("*.txt")):
        compare(program, path, folder)


def compare_larger(program, files, folder):
    if corpora.is_own():
        raise cli.MissingCorpus
    compare_all(program, files, folder)


def databases(program):
    compare_larger(program, FOLDER, program.databases())


def recordings(program):
    compare_larger(program, FOLDER / "recordings", program.recordings())


def stores(program):
    compare_larger(program, FOLDER / "stores", program.stores())


def own_databases(program):
    compare_all(program, FOLDER / "own", corpora.OWN / "hpctoolkit" / "final")


def own_recordings(program):
    compare_all(program, FOLDER / "own" / "recordings", corpora.OWN / "uftrace" / "recorded")


def own_spans(program):
    compare_all(program, FOLDER / "own" / "spans", corpora.OWN / "otlp" / "small")


def own_stores(program):
    compare_all(program, FOLDER / "own" / "stores", corpora.OWN / "zorka" / "stores")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, own_databases, own_recordings, own_spans, own_stores, databases, recordings, stores, flags=["update"]))
