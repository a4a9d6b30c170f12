# SPDX-License-Identifier: BSD-3-Clause
"""Recordings of perf in the corpus, and what perf says of their samples."""

import lzma
import tempfile
from collections import Counter
from pathlib import Path

# Their user stacks must be unwound from copies of the stack: without binaries, perf shows no user frame, and Lode the sample's own address.
UNWOUND = {"dwarf", "lost", "perl", "terms"}


class Recordings:
    def __init__(self, corpus):
        self.folder = corpus / "perf"
        self.scratch = tempfile.TemporaryDirectory()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.scratch.cleanup()

    def all(self):
        """(name, path) of each; packed ones are unpacked."""
        for path in sorted([*self.folder.glob("recorded/*.data*"), *self.folder.glob("extra/*.data*")]):
            name = path.name.split(".")[0]
            if path.suffix == ".xz":
                unpacked = Path(self.scratch.name) / f"{name}.data"
                unpacked.write_bytes(lzma.open(path).read())
                path = unpacked
            yield name, path

    def samples(self, name, form="plain"):
        """What perf says of each sample, as (words, frames); None if it says nothing."""
        for path in (self.folder / "expected" / f"{name}.{form}.txt", self.folder / "expected" / f"{name}.{form}.txt.xz"):
            if path.exists():
                content = lzma.open(path).read() if path.suffix == ".xz" else path.read_bytes()
                return blocks(content.decode(errors="replace"))
        return None


    def build_ids(self, name):
        """{path: build id} of a recording, as perf lists them."""
        path = self.folder / "expected/buildids.txt"
        parts = path.read_text().split("== ") if path.exists() else []
        lines = next((part.splitlines()[1:] for part in parts if part.startswith(f"{name}\n")), [])
        return {line.split(" ", 1)[1]: line.split(" ", 1)[0] for line in lines}


def blocks(text):
    """Samples: a line each, and lines of its frames, which begin with a tab."""
    found = []
    for line in text.split("\n"):
        if line.startswith("\t"):
            found[-1][1].append(tuple(line[1:].split("\t")))
        elif line:
            found.append((tuple(line.split("\t")), []))
    return found


def counted(samples):
    return Counter((words, tuple(frames)) for words, frames in samples)
