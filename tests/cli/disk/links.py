#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Files of a store that are not what they should be: for each file of a database, of recordings and of measurements, a link that leads out of the
store, a pipe, a directory, a link to nothing and a link to a device, while the store is written anew. Nothing from outside is in the output, nothing blocks, and a
link inside the store is as good as its file.

Usage: links.py --lode PROGRAM
"""

import argparse
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from made_measurements import MAIN_THREAD, NODE, PRIMARY, THREAD, Measured, Node  # noqa: E402
from tap import Tap  # noqa: E402

TIMEOUT = 60
SECRET = "a secret from outside\n"
LEADS_OUT = "leads out of the store; not followed"
STRUCTURE = """<?xml version="1.0"?>
<HPCToolkitStructure i="0" version="4.9" n=""><LM i="1" n="/bin/made" v="{}"><F i="2" n="a.c"><P i="3" n="f" l="1" v="{[0x1000-0x1001)}">
<S i="4" l="2" v="{[0x1000-0x1100)}"/></P></F></LM></HPCToolkitStructure>
"""
KERNEL = "kernel_symbols/vmlinux.abc"
# Those that are not read, or are companion files (companions.py).
OTHERS = {"FORMATS.md", "METRICS.yaml.ex", "default.yaml", "default.opts"}


def make_measurements(directory):
    nodes = [Node(2, 0, 0, PRIMARY), Node(4, 2, 0, MAIN_THREAD), Node(6, 4, 1, 0x1010, {0: 1.0}), Node(8, 4, 2, 0xffffffff81000010, {0: 2.0})]
    profile = Measured(nodes, modules=("/bin/made", KERNEL)).profile((NODE, 0xabc, 0), (THREAD, 0, 0))
    for name, content in (("structs/made.hpcstruct", STRUCTURE.encode()), (KERNEL, lzma.compress(b"ffffffff81000000 T start\nffffffff81001000 T next\n")),
                          ("made-0.hpcrun", profile)):
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


class Bench:
    def __init__(self, lode, scratch, tap):
        self.lode, self.scratch, self.tap = lode, scratch, tap
        (scratch / "stores").mkdir()

    def run(self, *words):
        return subprocess.run([self.lode, *map(str, words)], capture_output=True, text=True, errors="replace", timeout=TIMEOUT)

    def stores(self):
        """(name, path, the words that write it anew)."""
        folder = self.scratch / "stores"
        for name, words in (("database", ["database", "--profiles", "2", "--contexts", "20", "--samples", "9"]), ("recording", ["recording", "--records", "90"]),
                            ("traces", ["recording", "--format", "zorka", "--records", "90"])):
            self.run("synth", *words, "--threads", "1", "-o", folder / name)
            if name == "recording":
                (folder / name / "note.txt").write_text(SECRET)
            yield name, folder / name, ["convert", "--threads", "1"]
        make_measurements(folder / "measurements")
        yield "measurements", folder / "measurements", ["build", "--no-source"]

    def write(self, store, words):
        """How writing ended, what was said, and all bytes of the output."""
        target = self.scratch / "out"
        shutil.rmtree(target, ignore_errors=True)
        done = self.run(*words, store, "-o", target)
        files = {str(path.relative_to(target)): path.read_bytes() for path in sorted(target.rglob("*")) if path.is_file()}
        return done.returncode, done.stdout + done.stderr, files

    def replaced(self, store, path, make):
        """A copy of the store in which something else is in the place of one file, which is outside now."""
        copy, outside = self.scratch / "copy", self.scratch / "outside"
        for folder in (copy, outside):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(store, copy)
        outside.mkdir()
        place = copy / path
        place.rename(outside / place.name)
        make(place, outside / place.name)
        return copy


def link_inside(place, outside):
    """In a folder of the store: beside it, profiles are found by content, and it would be one more."""
    place.with_name("inside").mkdir()
    shutil.copy(outside, place.with_name("inside") / "another")
    place.symlink_to("inside/another")


MAKERS = {
    "a link out": lambda place, outside: place.symlink_to(outside),
    "a link by ..": lambda place, outside: place.symlink_to(os.path.relpath(outside, place.parent)),
    "a pipe": lambda place, _: os.mkfifo(place),
    "a directory": lambda place, _: place.mkdir(),
    "a link to nothing": lambda place, _: place.symlink_to("nothing"),
    "a link to a device": lambda place, _: place.symlink_to("/dev/zero"),
    "a link to /proc": lambda place, _: place.symlink_to("/proc/kmsg"),
}


def check_file(bench, store, words, path, whole):
    """Complaints about what is in the place of one file."""
    for what, make in MAKERS.items():
        status, said, files = bench.write(bench.replaced(store, path, make), words)
        if what.startswith("a link out") and status == 0 and LEADS_OUT not in said and files == whole:
            yield f"{what}: it was followed"
        if any(SECRET.strip().encode() in data for data in files.values()) and path.name == "note.txt":
            yield f"{what}: bytes from outside are in the output"
        if status not in (0, 1, 2) or "Traceback" in said:
            yield f"{what}: status {status}: {said}"
    status, said, files = bench.write(bench.replaced(store, path, link_inside), words)
    # Of load modules, none is followed.
    if status != 0 or (files != whole and str(path) != KERNEL):
        yield f"a link inside: status {status}: {said}"


def check_store(bench, name, store, words):
    status, said, whole = bench.write(store, words)
    bench.tap.check(status == 0 and whole, f"{name}: it is written", [said])
    files = sorted(path.relative_to(store) for path in store.rglob("*") if path.is_file() and path.name not in OTHERS)
    # Of recordings, one of each kind.
    chosen = files if name in ("database", "measurements") else {path.suffix or path.name: path for path in files}.values()
    for path in chosen:
        complaints = list(check_file(bench, store, words, path, whole))
        bench.tap.check(not complaints, f"{name}: {path.name} is something else", [f"{path}", *complaints])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lode-") as name:
        bench = Bench(os.path.abspath(options.lode), Path(name), tap)
        for store in bench.stores():
            check_store(bench, *store)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
