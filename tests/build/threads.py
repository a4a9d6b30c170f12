#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The same recordings give the same bytes, whatever the number of threads, and in whatever pieces the work is done."""

import sys
import tempfile
from pathlib import Path

from building import Lode, Tap, corpus_recordings, fingerprints, made_recordings, parse_arguments

WAYS = (["--threads", "1"], ["--threads", "2"], ["--threads", "7"], ["--threads", "2", "--memory", "100K"])


def look_at(tap, lode, name, paths, folder, *options):
    prints = {}
    for way in WAYS:
        database = Path(folder) / "db"
        lode.must("build", "--force", *way, *options, *paths, "-o", database)
        prints[" ".join(way)] = fingerprints(database)
    first = next(iter(prints.values()))
    differing = [f"{way}: {name}" for way, files in prints.items() for name in files if files[name] != first[name]]
    tap.check(not differing, f"{name}: {len(first)} files are the same in {len(WAYS)} ways", differing)
    complaints = lode.complaints(Path(folder) / "db")
    tap.check(not complaints, f"{name}: a full check is clean", complaints)


def main():
    options = parse_arguments(__doc__)
    lode, tap = Lode(options.lode), Tap()
    recordings = corpus_recordings()
    with tempfile.TemporaryDirectory() as folder:
        made = made_recordings(lode, folder, 200)
        look_at(tap, lode, "200 made recordings", made, folder, "--rank-from", r"rank-(\d+)")
        large = Path(folder) / "large"
        lode.must("synth", "recording", "--records", 400000, "--tasks", 9, "--depth", 60, "-o", large)
        look_at(tap, lode, "nine tasks", [large], folder)
        look_at(tap, lode, "nine tasks, some samples", [large], folder, "--trace", "3us")
        if recordings:
            look_at(tap, lode, f"{len(recordings)} recordings of the corpus", list(recordings.values()), folder)
        else:
            tap.skip("recordings of the corpus", "there is no corpus")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
