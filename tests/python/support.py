# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the Python package share: stores, and answers of the program to compare with."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import corpora  # noqa: E402
import lodejson  # noqa: E402
from share import Share  # noqa: E402
from tap import Tap  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None


def environment(**more):
    """For other programs: the library of the sanitizer is for the interpreter only."""
    return {**{key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}, **more}


def corpus(*parts):
    return corpora.root().joinpath(*parts)


def databases():
    return sorted(path for kind in ("final", "pre-a", "pre-b", "draft-xml") for path in corpora.stores(corpus("hpctoolkit", kind)))


def recordings():
    return [path / "uftrace.data" for path in corpora.stores(corpus("uftrace", "recorded"))]


def trace_stores():
    return corpora.stores(corpus("zorka", "stores"))


class Tests:
    """Runs functions named test_... of a module; each gets this object."""

    def __init__(self, **options):
        parser = argparse.ArgumentParser()
        parser.add_argument("--lode", required=True, help="the program")
        for name, value in options.items():
            parser.add_argument("--" + name, default=value)
        self.options = parser.parse_args()
        self.options.lode = os.path.abspath(self.options.lode)
        self.tap = Tap()
        self.share = Share.of_cases()

    def ask(self, *words, allowed=(0, 1)):
        """The program's JSON; None if it refuses."""
        result = subprocess.run([self.options.lode, *map(str, words), "--json"], capture_output=True, env=environment(), check=False)
        if result.returncode not in allowed:
            return None
        return lodejson.loads(result.stdout.decode())

    def run(self, *words):
        return subprocess.run([self.options.lode, *map(str, words)], capture_output=True, env=environment(), check=True)

    def check(self, passed, name, details=()):
        return self.tap.check(bool(passed), name, details)

    def finish(self, tests, scratch=True):
        with tempfile.TemporaryDirectory() as folder:
            self.folder = Path(folder)
            if scratch:
                self.run("example", self.folder / "demo")
            for test in tests:
                try:
                    test(self)
                except Exception:  # pylint: disable=broad-except
                    import traceback
                    self.check(False, f"{test.__name__} ends", traceback.format_exc().splitlines())
        sys.exit(self.tap.finish())
