#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""--force replaces a store, and nothing that only lies where one is expected.

Usage: force.py --lode PROGRAM

Stores of every layout, those of the corpus too, are replaced. With one file, link, directory or pipe more in them that is not theirs, be
it the part of another store, they are not: the message names it, and nothing has changed.
"""
import argparse
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "fault"))
import corpora  # noqa: E402
from companions import list_sources  # noqa: E402
from outcome import fingerprint, scratch  # noqa: E402
from tap import Tap  # noqa: E402

DATABASE = ["synth", "database", "--profiles", "2", "--contexts", "40"]
RECORDING = ["synth", "recording", "--records", "100"]
TRACES = [*RECORDING, "--format", "zorka"]
MAX_COPY = 4 << 20  # bytes of a store of the corpus that is worth copying


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=False)


class Stores:
    """One store of each layout, and how to write one of its kind."""

    def __init__(self, program, root):
        self.program, self.root, self.made = program, root, {}
        self.make("database", DATABASE, DATABASE)
        for layout in ("hpctoolkit-draft-xml", "hpctoolkit-draft-metadb"):
            self.make(layout, ["convert", self.path("database"), "--format", layout], DATABASE)
        self.make("recording", RECORDING, RECORDING)
        self.make("traces", TRACES, TRACES)
        self.make("zico", ["convert", self.path("traces"), "--layout", "zico"], TRACES)
        self.make("other-database", [*DATABASE, "--seed", "5"], DATABASE)

    def path(self, name):
        return os.path.join(self.root, name)

    def make(self, name, arguments, writer):
        result = run(self.program, *arguments, "-o", self.path(name))
        if result.returncode != 0:
            raise SystemExit(f"cannot make {name}: {result.stderr}")
        self.made[name] = writer

    def copy(self, store):
        target = self.path("target")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(store, target, symlinks=True)
        return target

    def force(self, writer):
        return run(self.program, *writer, "--seed", "9", "-o", self.path("target"), "--force")


def snapshot(path):
    """What is below a path, with links and pipes, which are not read."""
    found = {}
    for folder, folders, files in os.walk(path):
        for name in [*folders, *files]:
            status = os.lstat(os.path.join(folder, name))
            found[os.path.relpath(os.path.join(folder, name), path)] = (status.st_ino, status.st_size, status.st_mtime_ns)
    return found


def test_replaced(tap, stores):
    for name, writer in stores.made.items():
        before = fingerprint(stores.copy(stores.path(name)))
        result = stores.force(writer)
        after = fingerprint(stores.path("target"))
        tap.check(result.returncode == 0 and after != before, f"{name} is replaced", [result.stderr])


def test_copied_sources(tap, stores):
    """Source files that the database lists are its own; others below src/ are not."""
    target = stores.copy(stores.path("database"))
    paths = list_sources(target)
    os.mkdir(os.path.join(target, "src"))
    for path in paths:
        put(target, path, b"int listed;\n")
    put(target, "src/mine.c", b"int mine;\n")
    result = stores.force(DATABASE)
    tap.check(result.returncode == 2 and "src/mine.c" in result.stderr, "a source file that is not listed stays", [result.stderr])
    os.unlink(os.path.join(target, "src/mine.c"))
    result = stores.force(DATABASE)
    tap.check(result.returncode == 0 and not os.path.exists(os.path.join(target, "src")), "those that are listed go with it",
              [result.stderr])


def put(target, name, data):
    os.makedirs(os.path.dirname(os.path.join(target, name)), exist_ok=True)
    with open(os.path.join(target, name), "wb") as stream:
        stream.write(data)


def foreign(stores):
    """(name, where it is put, what puts it there)"""
    def copied(store, file):
        return lambda target, name: shutil.copy(os.path.join(stores.path(store), file), os.path.join(target, name))

    def text(target, name):
        put(target, name, b"mine\n")

    def linked(target, name):
        os.symlink("/nowhere", os.path.join(target, name))

    def piped(target, name):
        os.mkfifo(os.path.join(target, name))

    def folder(target, name):
        os.makedirs(os.path.join(target, name))

    return [
        ("a file of the user's", "notes.txt", text, ("database", "hpctoolkit-draft-xml", "traces", "recording")),
        ("a hidden file", ".git", text, ("database", "recording", "traces")),
        ("a file with the name of a part", "trace.db", text, ("database", "hpctoolkit-draft-metadb")),
        ("a file with the name of a part", "77.dat", text, ("recording",)),
        ("a file with the name of a part", "000000/qmeta.idx", text, ("traces",)),
        ("a file with the name of a companion", "metrics/default.yaml", text, ("database",)),
        ("a part of a draft", "trace.db", copied("hpctoolkit-draft-xml", "trace.db"), ("database",)),
        ("a part of 4.0", "trace.db", copied("database", "trace.db"), ("hpctoolkit-draft-xml", "hpctoolkit-draft-metadb")),
        ("a part of a recording", "info", copied("recording", "info"), ("database", "traces")),
        ("a part of a database", "meta.db", copied("database", "meta.db"), ("recording", "traces")),
        ("a part of a trace store", "traces.dat", copied("traces", "000000/traces.dat"), ("database", "recording", "traces")),
        ("a link", "trace.db", linked, ("database", "recording")),
        ("a pipe", "5.dat", piped, ("database", "recording")),
        ("an empty directory", "mine", folder, ("database", "recording", "traces")),
        ("a directory in a directory", "metrics/mine", folder, ("database",)),
    ]


def test_foreign(tap, stores):
    for what, name, place, where in foreign(stores):
        for store in where:
            target = stores.copy(stores.path(store))
            if os.path.lexists(os.path.join(target, name)):
                os.unlink(os.path.join(target, name))
            place(target, name)
            before = snapshot(target)
            result = stores.force(stores.made[store])
            named = name in result.stderr and result.stderr.count("\n") == 1
            # Of two parts that do not belong together, the message names the one that comes later.
            named = named or ("part of" in what and "which is not part of" in result.stderr)
            tap.check(result.returncode == 2 and named and snapshot(target) == before,
                      f"{store} with {what} ({name}) is not replaced", [result.returncode, result.stderr])


def test_others(tap, stores):
    """What is no store at all."""
    target = stores.path("target")
    for kind, writer in (("database", DATABASE), ("recording", RECORDING), ("trace store", TRACES)):
        shutil.rmtree(target, ignore_errors=True)
        os.mkdir(target)
        result = stores.force(writer)
        tap.check(result.returncode == 0, f"an empty directory becomes a {kind}", [result.stderr])
        shutil.rmtree(target)
        put(target, "note.txt" if kind == "recording" else "FORMATS.md", b"mine\n")
        result = stores.force(writer)
        tap.check(result.returncode == 2 and len(os.listdir(target)) == 1, f"a note alone is no {kind}", [result.stderr])
    shutil.rmtree(target)
    os.symlink(stores.path("database"), target)
    before = fingerprint(stores.path("database"))
    result = stores.force(DATABASE)
    tap.check(result.returncode == 2 and os.path.islink(target) and fingerprint(stores.path("database")) == before,
              "a link to a database is not replaced", [result.stderr])
    os.unlink(target)


def corpus_stores(corpus):
    """(kind of writer, path) of all stores that are small."""
    for folder, folders, files in os.walk(corpus):
        if "profile.db" in files:
            yield DATABASE, folder
        elif "info" in files and "task.txt" in files:
            yield RECORDING, folder
        elif "000000" in folders:
            yield TRACES, folder
            folders.clear()


def size_of(path):
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, files in os.walk(path) for name in files)


def test_corpus(tap, stores):
    corpus = str(corpora.root())
    if not os.path.isdir(corpus):
        tap.skip("stores of the corpus are replaced", "there is no corpus")
        return
    complaints, count = [], 0
    for writer, path in sorted(corpus_stores(corpus), key=lambda found: found[1]):
        if size_of(path) > MAX_COPY or "bad" in path:
            continue
        target = stores.copy(path)
        for folder, _, files in os.walk(target):
            for name in files:
                os.chmod(os.path.join(folder, name), 0o644)
        result = stores.force(writer)
        count += 1
        if result.returncode != 0:
            complaints.append(f"{path}: {result.stderr.strip()}")
    tap.check(not complaints and count > 50, f"{count} stores of the corpus are replaced", complaints)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    program = os.path.abspath(parser.parse_args().lode)
    tap = Tap()
    with scratch() as root:
        stores = Stores(program, root)
        test_replaced(tap, stores)
        test_copied_sources(tap, stores)
        test_foreign(tap, stores)
        test_others(tap, stores)
        test_corpus(tap, stores)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
