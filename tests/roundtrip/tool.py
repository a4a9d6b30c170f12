# SPDX-License-Identifier: BSD-3-Clause
"""Running lode on databases of the corpus and on made ones."""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import corpora  # noqa: E402
import lodejson  # noqa: E402
from tap import Tap  # noqa: E402, F401

SECONDS = 300
# Contexts nest as deep as call chains do, and so does JSON.
sys.setrecursionlimit(20000)


class Lode:
    def __init__(self, program):
        self.program = program

    def run(self, *arguments):
        """Exit status, what it printed, what it complained about."""
        run = subprocess.run([self.program, *map(str, arguments)], capture_output=True, timeout=SECONDS)
        return run.returncode, run.stdout, run.stderr.decode(errors="replace")

    def must(self, *arguments):
        status, out, err = self.run(*arguments)
        if status != 0:
            raise ValueError(f"lode {' '.join(map(str, arguments))}: exit status {status}: {err[:2000]}")
        return out

    def dump(self, database):
        return lodejson.loads(self.must("dump", database))


def _no_constant(text):
    raise ValueError(f"{text} is not JSON")


def default_corpus():
    return corpora.root() / "hpctoolkit"


def parse_arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--lode", required=True, help="the program to test")
    parser.add_argument("--corpus", type=Path, default=default_corpus(), help="holds final/")
    parser.add_argument("names", nargs="*", help="databases; all if none is named")
    options = parser.parse_args()
    options.lode = Lode(options.lode)
    return options


def corpus_databases(options):
    """The databases to look at, by name; none if there is no corpus."""
    final = options.corpus / "final"
    names = options.names or [path.name for path in corpora.stores(final)]
    return {name: final / name for name in names if (final / name / "meta.db").is_file()}
