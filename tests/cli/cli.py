# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the program share: how it is run, where the databases are, how a test reports."""

import argparse
import csv
import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import traceback
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(ROOT / "tests" / "tools"), str(ROOT / "tests" / "dump")]

import corpora  # noqa: E402
from compare import parse_dump as parse_json  # noqa: E402,F401  strict: no key twice, no NaN
import findings  # noqa: E402
from tap import Tap  # noqa: E402

SECONDS = 120
COMMANDS = ("info", "check", "top", "tree", "profiles", "context", "trace", "dump", "help", "version")
# Those that say something about a recording; and those that make a store, or are for recordings only.
RECORDING_COMMANDS = ("info", "check", "top", "tree", "profiles", "search", "replay")
ALL_COMMANDS = (*COMMANDS, "search", "replay", "convert", "synth")
# One database of each kind: CPU, MPI, OpenMP, GPU, statistics, without traces, without source, merged.
DATABASES = ("made-small", "made-small-notraces", "made-loops-cputime-t-mpi3ranks", "made-loops-cputime-t-Mstats",
             "made-merged-5-measurements", "hatchet-saxpy-mpi-cuda-database", "toolkit-loops-hip-amd-t-v0",
             "toolkit-loops-perf.nostruct-v0", "viewer-issue-328", "viewer-issue-233", "db2pprof")
ESCAPE = re.compile(r"\033\[[0-9;]*[A-Za-z]")


class MissingCorpus(Exception):
    """A test needs a real database, and there is none."""


class Result(NamedTuple):
    status: int
    out: str
    err: str


def environment(**changes):
    """The same for everybody, so that output is; a value of None takes a variable away."""
    result = {name: value for name, value in os.environ.items()
              if not name.startswith("LC_") and name not in ("LANGUAGE", "LINES", "TERM")}
    result.update(LANG="C.UTF-8", TZ="UTC", NO_COLOR="1", COLUMNS="100")
    result.update(changes)
    return {name: value for name, value in result.items() if value is not None}


def corpus_folder(name):
    """A folder of the corpus, or None without one."""
    folder = corpora.root() / name
    return folder if folder.is_dir() else None


def corpus_root():
    """The folder of HPCToolkit databases: final/ holds the databases, expected/ what is in them. None without one."""
    root = corpus_folder("hpctoolkit")
    return root if root and (root / "final").is_dir() else None


class Cli(Tap):
    """The program under test, and the protocol that tests report in."""

    def __init__(self, lode):
        super().__init__()
        self.lode = str(Path(lode).resolve())
        self.corpus = corpus_root()

    def need_larger(self):
        """For tests that state what is in a store of the larger corpus."""
        if corpora.is_own():
            raise MissingCorpus

    def databases(self):
        """Where the real databases are. Tests run there, so that no output holds the path of a machine."""
        if self.corpus is None:
            raise MissingCorpus
        return self.corpus / "final"

    def recordings(self):
        """Where the real recordings are: each has a folder with an uftrace.data in it."""
        folder = corpus_folder("uftrace/recorded")
        if folder is None:
            raise MissingCorpus
        return folder

    def stores(self):
        """Where the real trace stores are."""
        folder = corpus_folder("zorka/stores")
        if folder is None:
            raise MissingCorpus
        return folder

    def run(self, *arguments, **options):
        """Runs the program among the databases, or in `cwd`."""
        return self.run_any(self.lode, *arguments, **options)

    def run_any(self, *words, env=None, **options):
        """The same with any program."""
        if "cwd" not in options:
            options["cwd"] = self.databases()
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        done = subprocess.run([*map(str, words)], stdin=subprocess.DEVNULL, timeout=SECONDS,
                              env=environment(**(env or {})), **options)
        return Result(done.returncode, *((text or b"").decode() for text in (done.stdout, done.stderr)))

    def json(self, *arguments, **options):
        """The answer of a command that must succeed, without a word on standard error but that a store has findings."""
        result = self.run(*arguments, "--json", **options)
        if result.status != 0 or findings.without(result.err):
            raise ValueError(f"lode {' '.join(map(str, arguments))}: exit status {result.status}: {result.err}")
        return parse_json(result.out)

    def on_terminal(self, *arguments, columns=80, env=None, cwd=None):
        """Runs the program with standard output on a terminal of its own; line feeds are plain again."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        changes = {"NO_COLOR": None, "COLUMNS": None, "TERM": "xterm", **(env or {})}
        child = subprocess.Popen([self.lode, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=slave,
                                 stderr=subprocess.PIPE, cwd=cwd or self.databases(), env=environment(**changes))
        os.close(slave)
        output = _read_terminal(master)
        errors = child.communicate(timeout=SECONDS)[1].decode()
        return Result(child.returncode, output.decode().replace("\r\n", "\n"), errors)

    def equal(self, found, wanted, name):
        return self.check(found == wanted, name, [f"wanted {wanted!r}", f"found  {found!r}"])

    def says(self, result, status, pattern, name):
        """The status, nothing but one line on standard error, and that matches."""
        fits = result.status == status and result.out == "" and re.fullmatch(f"lode: {pattern}\n", result.err)
        return self.check(fits, name, [f"wanted exit status {status} and 'lode: {pattern}'", f"found  {result}"])


def _read_terminal(master):
    chunks = []
    try:
        while chunk := os.read(master, 65536):
            chunks.append(chunk)
    except OSError:  # how Linux says that the other end was closed
        pass
    os.close(master)
    return b"".join(chunks)


def csv_rows(text):
    """Header and rows. Lines must end as RFC 4180 has it, and have the same number of fields."""
    if not text.endswith("\r\n") or re.search(r"[^\r]\n", re.sub(r'"[^"]*"', "", text)):
        raise ValueError("lines that do not end with CR LF")
    header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    if len(set(header)) != len(header) or any(len(row) != len(header) for row in rows):
        raise ValueError(f"not a table with the columns {header}")
    return header, rows


def arguments_of(command, database):
    """What a command needs to say something about a database."""
    return [command, database, "main"] if command == "context" else [command, database]


def main(description, *tests, flags=(), operands=None):
    """Runs tests, which are functions that take a Cli. Flags and operands of the script become attributes of it."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True, help="the program to test")
    for name in flags:
        parser.add_argument(f"--{name}", action="store_true")
    if operands:
        parser.add_argument(operands, nargs="*")
    given = vars(parser.parse_args())
    cli = Cli(given.pop("lode"))
    vars(cli).update(given)
    for test in tests:
        name = test.__name__.replace("_", " ")
        try:
            test(cli)
        except MissingCorpus:
            cli.skip(name, "it needs the larger corpus")
        except Exception:  # noqa: BLE001  whatever went wrong, the other tests still run
            cli.check(False, name, [traceback.format_exc()])
    return cli.finish()
