#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whatever seed the hashes have, every command prints and writes the same bytes."""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
from tap import Tap  # noqa: E402

SEEDS = (0, 1, 2, 3, 12345678901234567890)

MADE = {
    "database": ("database", "--profiles", 12, "--contexts", 3000, "--metrics", 2),
    "recording": ("recording", "--records", 60000, "--tasks", 5, "--arguments"),
    "store": ("recording", "--format", "zorka", "--records", 60000),
}
QUESTIONS = {
    "database": (("top",), ("top", "--by", "line"), ("tree",), ("tree", "--bottom-up"), ("profiles",), ("trace",), ("dump",),
                 ("check", "--level", "full")),
    "recording": (("top",), ("tree",), ("tree", "--bottom-up"), ("profiles",), ("search",), ("replay", "--limit", 2000), ("check", "--level", "full")),
    "store": (("top",), ("tree",), ("profiles",), ("search",), ("replay", "--limit", 2000), ("check", "--level", "full")),
}
WRITES = {
    "database": (("convert",), ("merge",), ("slice", "--depth", "6"), ("slice", "--from", "1us"), ("convert", "--format", "hpctoolkit-draft-xml"), ("convert", "--format", "hpctoolkit-draft-metadb")),
    "recording": (("build",), ("convert",), ("convert", "--format", "zorka")),
    "store": (("build",), ("convert",)),
}


class Lode:
    """The program with one seed."""

    def __init__(self, path, seed):
        self.path, self.environment = path, {**os.environ, "LODE_TEST_SEED": str(seed), "TZ": "UTC"}

    def run(self, *words):
        return subprocess.run([self.path, *map(str, words)], env=self.environment, capture_output=True, check=False)


def contents(folder):
    """All files below a folder, by name."""
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def fresh(folder):
    shutil.rmtree(folder / "new", ignore_errors=True)
    return folder / "new"


def made(lode, words, folder):
    target = fresh(folder)
    done = lode.run("synth", *words, "-o", target)
    return done.returncode, done.stdout, done.stderr, contents(target)


def answer(lode, question, store):
    word, *more = question
    done = lode.run(word, *more, *(() if word == "dump" else ("--json",)), store)
    return done.returncode, done.stdout, done.stderr


def written(lode, write, store, folder):
    target = fresh(folder)
    done = lode.run(*write, store, "-o", target)
    return done.returncode, done.stdout, done.stderr, contents(target)


def compare(tap, name, results):
    """The same for all seeds, and not a failure that is the same everywhere."""
    differing = [f"seed {seed}: {str(result)[:300]}" for seed, result in results.items() if result != results[SEEDS[0]]]
    first = results[SEEDS[0]]
    tap.check(first[0] == 0 and not differing, f"{name}: the same with {len(SEEDS)} seeds",
              differing or [f"exit status {first[0]}", first[2].decode(errors="replace")])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    options = parser.parse_args()
    tap = Tap()
    lodes = {seed: Lode(options.lode, seed) for seed in SEEDS}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for kind, words in MADE.items():
            compare(tap, f"synth {kind}", {seed: made(lode, words, folder) for seed, lode in lodes.items()})
            store = folder / kind
            (folder / "new").rename(store)
            for question in QUESTIONS[kind]:
                compare(tap, f"{kind}: {' '.join(map(str, question))}",
                        {seed: answer(lode, question, store) for seed, lode in lodes.items()})
            for write in WRITES[kind]:
                compare(tap, f"{kind}: {' '.join(map(str, write))}",
                        {seed: written(lode, write, store, folder) for seed, lode in lodes.items()})
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
