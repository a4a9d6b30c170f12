#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A file that somebody truncates while it is read: no command ends by a signal, none believes what it read, none writes a store from it."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
from tap import Tap  # noqa: E402

DATABASE = ("database", "--profiles", 40, "--contexts", 3000)
STORES = {
    "a database": (DATABASE, ("meta.db", "profile.db", "cct.db", "trace.db"),
                   (("check", "--level", "full"), ("convert",), ("merge",), ("slice", "--depth", "5"), ("dump",), ("top",), ("tree",), ("trace",), ("profiles",))),
    "a draft": (DATABASE, ("experiment.xml", "profile.db", "cct.db"), (("check", "--level", "full"), ("convert",), ("dump",), ("top",))),
    "a recording": (("recording", "--records", 200000, "--tasks", 2), ("*.dat", "app.sym", "*.map"),
                    (("check", "--level", "full"), ("convert",), ("build",), ("top",), ("search",), ("replay",))),
    "a trace store": (("recording", "--format", "zorka", "--records", 100000), ("*/traces.dat",),
                      (("check", "--level", "full"), ("convert",), ("build",), ("search", "--text", "GET"), ("top",))),
}
WRITES = ("convert", "build", "merge", "slice")
MOST = 6  # places in a run at which the file becomes shorter


class Shrinking:
    """Runs the program on copies of a store, one file of which becomes shorter."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def lode(self, *words, **environment):
        return subprocess.run([self.options.lode, *map(str, words)], capture_output=True, check=False,
                              env={**os.environ, **{key: str(value) for key, value in environment.items()}})

    def make(self, kind, words):
        store = self.folder / "whole"
        shutil.rmtree(store, ignore_errors=True)
        made = self.lode("synth", *words, "-o", store)
        assert made.returncode == 0, made.stderr
        if kind == "a draft":
            made = self.lode("convert", "--format", "hpctoolkit-draft-xml", store, "-o", self.folder / "draft")
            assert made.returncode == 0, made.stderr
            shutil.rmtree(store)
            (self.folder / "draft").rename(store)
        return store

    def run(self, command, whole, name, at, size):
        """None if the file was not read so often; else what the program did, and whether it left something."""
        store, target = self.folder / "store", self.folder / "new"
        shutil.rmtree(store, ignore_errors=True)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(whole, store)
        more = ("-o", target) if command[0] in WRITES else ()
        done = self.lode(*command, store, *more, LD_PRELOAD=self.options.shim, LODE_SHRINK_FILE=store / name, LODE_SHRINK_AT=at,
                         LODE_SHRINK_TO=size, ASAN_OPTIONS="verify_asan_link_order=0")
        if (store / name).stat().st_size != size:
            return None
        left = [path.name for path in self.folder.iterdir() if path.name not in ("whole", "store")]
        return done.returncode, done.stderr.decode(errors="replace"), left


def wrong_with(outcome, name, is_last):
    """Cut before the store is opened for good, it is a store that is damaged; behind that, it is one that cannot be read."""
    status, text, left = outcome
    problems = [f"left {left}"] if left else []
    if status not in (1, 2):
        problems.append(f"status {status}: {text[:200]}")
    elif is_last and (status != 2 or len(text.splitlines()) != 1 or name not in text):
        problems.append(f"status {status}: {text!r}")
    return problems


def problems_of(shrinking, command, whole, name):
    """What is wrong with a command: for a file that is cut between pages at every place, and at the last one cut in a page, or gone."""
    size, outcomes = (whole / name).stat().st_size, []
    while len(outcomes) < MOST:
        outcome = shrinking.run(command, whole, name, len(outcomes) + 1, size // 8192 * 4096)
        if outcome is None:
            break
        outcomes.append(outcome)
    last = len(outcomes)
    problems = [] if outcomes else ["it was never read"]
    for at, outcome in enumerate(outcomes):
        problems += [f"at {at + 1} of {last}: {text}" for text in wrong_with(outcome, name, at + 1 == last)]
    for cut in (0, size - 1):
        outcome = shrinking.run(command, whole, name, last, cut)
        problems += [f"cut to {cut}: {text}" for text in (wrong_with(outcome, name, True) if outcome else ["it was not read again"])]
    return problems, last + 2


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--shim", required=True)
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as place:
        shrinking = Shrinking(options, Path(place))
        for kind, (words, patterns, commands) in STORES.items():
            whole = shrinking.make(kind, words)
            names = [str(sorted(whole.glob(pattern))[0].relative_to(whole)) for pattern in patterns]
            for command in commands:
                for name in names:
                    if name == "trace.db" and command[0] in ("top", "tree", "profiles") or name == "cct.db" and command[0] == "trace":
                        continue
                    problems, runs = problems_of(shrinking, command, whole, name)
                    tap.check(not problems, f"{kind}: {command[0]} while {name} shrinks, {runs} runs", problems)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
