#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What may be in the place of a file that a store names or consists of: a pipe, a device, links out of the store and to /proc, a directory, a
file that is larger than the disk. `lode source`, `export`, `merge`, `slice` and `view` end, take nothing from outside, and say what they did
not read. links.py and companions.py do the same for `convert` and `build`, with all files and more kinds.

Usage: hostile_paths.py --lode PROGRAM
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / name) for name in ("tools", "view/server")]

from companions import contents, fill, list_sources, make_device, make_large  # noqa: E402
from serving import Server, has_plugin  # noqa: E402
from tap import Tap  # noqa: E402

TIMEOUT = 60
SECRET, TEXT = b"a secret from outside", b"int synthetic;"
SOURCE = "src/file0.c"
EVERY = ("source", "export", "merge", "slice")
# Who reads what: the others need no word about it.
PLACES = {SOURCE: ("source", "merge", "slice"), "metrics/default.yaml": ("merge", "slice"), "meta.db": EVERY, "profile.db": EVERY, "cct.db": EVERY,
          "trace.db": EVERY}
MAKERS = {
    "a pipe": lambda place, _: os.mkfifo(place),
    "a device": lambda place, _: make_device(place),
    "a link out": lambda place, outside: place.symlink_to(outside),
    "a link to /proc": lambda place, _: place.symlink_to("/proc/kmsg"),
    "a directory": lambda place, _: place.mkdir(),
    "a huge file": lambda place, _: make_large(place),
}


def words_of(command, store, target):
    return {"source": [store, SOURCE], "export": [store, "-o", f"{target}.folded"], "merge": [store, store, "-o", target],
            "slice": ["--profiles", "rank=0", store, "-o", target]}[command]


class Bench:
    def __init__(self, lode, root):
        self.lode, self.root, self.outside = lode, root, root / "outside"
        self.outside.mkdir()
        self.run("synth", "database", "--profiles", 2, "--contexts", 300, "--samples", 20, "--threads", 1, "-o", root / "sound")
        self.is_made = SOURCE in list_sources(root / "sound")
        (root / "sound" / "src").mkdir()
        fill(root / "sound" / SOURCE, (TEXT + b"\n") * 300)

    def run(self, *words):
        return subprocess.run([self.lode, *map(str, words)], capture_output=True, timeout=TIMEOUT, check=False)

    def replace(self, place, make, name="store"):
        """A copy of the store with something else in one place. What was there is outside, with a secret."""
        store, outside = self.root / name, self.outside / name
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(self.root / "sound", store)
        data = (store / place).read_bytes()
        outside.write_bytes(SECRET + b"\n" + data if place == SOURCE else data.replace(b"version: 0", b"version: 0 # " + SECRET, 1))
        (store / place).unlink()
        make(store / place, outside)
        return store


def complaints_of(bench, command, place, store):
    """What is wrong with an answer about a store that has something else in one place."""
    target = bench.root / "out"
    shutil.rmtree(target, ignore_errors=True)
    (bench.root / "out.folded").unlink(missing_ok=True)
    done = bench.run(command, *words_of(command, store, target))
    text = (done.stdout + done.stderr).decode(errors="replace")
    is_part, is_read = place.endswith(".db"), command in PLACES[place]
    if done.returncode != (2 if is_part else 0):
        yield f"{command}: status {done.returncode}: {text}"
    if is_read and place not in text:
        yield f"{command}: nothing is said of {place}: {text}"
    if "too large" in text and not is_part:
        yield f"{command}: a file that no check reads keeps it from being made: {text}"
    if SECRET.decode() in text or any(SECRET in data for data in contents(target).values()):
        yield f"{command}: bytes from outside"


def check_commands(tap, bench):
    shown = bench.run("source", bench.root / "sound", SOURCE).stdout
    tap.check(TEXT in shown, "the source file of a sound store is shown", [shown])
    for place in PLACES:
        for what, make in MAKERS.items():
            store = bench.replace(place, make)
            wrong = [complaint for command in EVERY for complaint in complaints_of(bench, command, place, store)]
            tap.check(not wrong, f"{place} is {what}", wrong)


def check_view(tap, bench):
    reason = has_plugin(bench.lode)
    if reason:
        tap.skip("lode view", reason)
        return
    stores = [(place, what, bench.replace(place, make, f"{Path(place).name}-{number}"))
              for place in (SOURCE, "profile.db") for number, (what, make) in enumerate(MAKERS.items())]
    with Server(bench.lode, bench.root / "sound", *(store for _, _, store in stores)) as server:
        states = [store["state"] for store in server.wait_until_open()]
        tap.check(TEXT in server.command(("source", 0, {"location": SOURCE})).body, "lode view shows the source file of a sound store")
        for number, (place, what, _) in enumerate(stores, 1):
            answer = server.command(("source", number, {"location": SOURCE}))
            is_right = states[number] == "failed" if place.endswith(".db") else answer.status == 200 and TEXT not in answer.body
            tap.check(is_right and SECRET not in answer.body, f"lode view: {place} is {what}", [states[number], answer.status, answer.body[:300]])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    lode = os.path.abspath(parser.parse_args().lode)
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lode-") as name:
        bench = Bench(lode, Path(name))
        if tap.check(bench.is_made, "a database names a copied source file"):
            check_commands(tap, bench)
            check_view(tap, bench)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
