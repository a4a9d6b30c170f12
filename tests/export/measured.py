#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Exports of measurements are byte-identical to exports of the database that `lode build` makes from them, with the same messages; nothing is left in
TMPDIR, whether the export is done, refused, ended by a signal or without a place for its database. Damaged profiles are named. Parts of it need the
corpus.
"""

import argparse
import functools
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools")]

import corpora  # noqa: E402
from made_measurements import many_profiles  # noqa: E402
from tap import Tap  # noqa: E402

FORMATS = {"loops-cputime-t": ("folded", "pprof", "speedscope", "parquet", "perfetto", "chrome"), "small": ("csv", "jsonl", "firefox", "callgrind"),
           "recursion-cuda-nvidiapc-t": ("folded", "hatchet", "csv"), "loops-perf": ("pprof", "folded")}
OPTIONS = {"loops-cputime-t": ("--loops", "--lines", "--by-profile"), "recursion-cuda-nvidiapc-t": ("--metric", corpora.either("GINS", "cycles"), "--no-entries")}
# Moments at which a signal comes, in seconds after the database is begun; the last ones are within or after the export.
DELAYS = (0, 0.01, 0.05, 0.1, 0.3)


def corpus():
    return corpora.root() / "measurements"


class Exporter(Tap):
    def __init__(self, lode, folder):
        super().__init__()
        self.lode, self.folder, self.temporary = lode, Path(folder), Path(folder) / "temporary"
        self.temporary.mkdir()

    def environment(self, temporary=None):
        return {**os.environ, "TMPDIR": str(temporary or self.temporary)}

    def run(self, *words, temporary=None, before=None):
        done = subprocess.run([self.lode, *map(str, words)], capture_output=True, timeout=300, env=self.environment(temporary), preexec_fn=before)
        return done.returncode, done.stdout, done.stderr.decode(errors="replace")

    def left(self):
        return sorted(path.name for path in self.temporary.rglob("*"))

    def read(self, path):
        """The bytes of a file, or of all files of a directory."""
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        content = {str(file.relative_to(path)): file.read_bytes() for file in files if file.is_file()}
        shutil.rmtree(path, ignore_errors=True)
        path.unlink(missing_ok=True)
        return content

    def exported(self, store, form, options):
        target = self.folder / "exported"
        status, out, said = self.run("export", store, "--format", form, *options, "-o", target)
        return status, out, said.replace(str(store), "STORE"), self.read(target) if status == 0 else None


def equal_exports(tap, directory):
    name = directory.name
    database = tap.folder / f"built-{name}"
    status, _, said = tap.run("build", directory, "-o", database)
    tap.check(status == 0, f"{name} is built", [said])
    for form in FORMATS[name]:
        for options in ((), OPTIONS.get(name, ())) if form == "folded" else ((),):
            wanted, found = (tap.exported(store, form, options) for store in (database, directory))
            title = " ".join([name, form, *options])
            tap.check(wanted[0] == 0 and wanted[3] and found[0::3] == wanted[0::3] and found[1] == wanted[1],
                      f"{title}: an export of measurements has the bytes of one of their database", [wanted[:3], found[:3]])
            tap.check(wanted[2] in found[2] and not tap.left(), f"{title}: the same messages, and nothing is left", [wanted[2], found[2], tap.left()])
    shutil.rmtree(database)


def from_corpus(tap):
    for name in FORMATS:
        if (corpus() / name).is_dir():
            equal_exports(tap, corpus() / name)
        else:
            tap.skip(name, "no corpus")


def to_standard_output(tap, made):
    profile = sorted(made.glob("*.hpcrun"))[0]
    for store in (made, profile):
        to_file = tap.exported(store, "folded", ())
        status, out, _ = tap.run("export", store, "--format", "folded", "-o", "-")
        tap.check(status == 0 and out and [out] == list(to_file[3].values()), f"{store.suffix or 'a directory'}: standard output has the same bytes")


def refused(tap, made):
    """(name, words, what is said) of exports that fail; nothing is left by any."""
    target = tap.folder / "there"
    target.write_bytes(b"precious")
    damaged = tap.folder / "damaged"
    damaged.mkdir()
    (damaged / "x.hpcrun").write_bytes(sorted(made.glob("*.hpcrun"))[0].read_bytes()[:-9])
    cases = [("a target that is there", [made, "-o", target], "use --force"),
             ("an unknown metric", [made, "-o", "-", "--metric", "NONE"], f"{made}: no metric 'NONE'"),
             ("an option for recordings", [made, "-o", "-", "--task", "1"], "--task is not for measurements"),
             ("measurements that are damaged throughout", [damaged, "-o", "-"], "x.hpcrun"),
             ("a missing directory", [tap.folder / "missing", "-o", "-"], "no such file or directory")]
    for name, words, text in cases:
        status, out, said = tap.run("export", *words, "--format", "folded")
        tap.check(status == 2 and not out and text in said and said.count("\n") == 1 and not tap.left(), f"{name} is refused", [status, said, tap.left()])
    tap.check(target.read_bytes() == b"precious", "what was there stays")
    status, _, said = tap.run("export", made, "-o", "-", "--format", "folded", temporary=tap.folder / "missing")
    tap.check(status == 2 and "missing" in said and "TMPDIR" in said, "without a place for the database, TMPDIR is named", [status, said])
    limit = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (1000, 1000))
    status, _, said = tap.run("export", made, "-o", "-", "--format", "folded", before=limit)
    tap.check(status == 2 and "File too large" in said and str(tap.temporary) in said and not tap.left(), "without room for it, too", [status, said, tap.left()])


def damaged_profile(tap, made):
    partly = shutil.copytree(made, tap.folder / "partly")
    first = sorted(partly.glob("*.hpcrun"))[0]
    first.write_bytes(first.read_bytes()[:-9])
    status, out, said = tap.run("export", partly, "-o", "-", "--format", "folded")
    tap.check(status == 0 and out and f"{partly}: 1 finding copied to standard output, such as hpcrun-footer" in said, "a damaged profile is said, the rest exported",
              [status, said])
    status, out, said = tap.run("export", partly, "-o", "-", "--format", "folded", "--strict")
    tap.check(status == 2 and not out and first.name in said and not tap.left(), "with --strict, it is refused", [status, said, tap.left()])


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def end_by_signal(tap, made, number, delay, whole):
    """The exit status, and what is left; a complete export may be: the signal came after it."""
    target = tap.folder / "ended"
    words = [tap.lode, "export", str(made), "--format", "csv", "-o", str(target)]
    with subprocess.Popen(words, env=tap.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        while process.poll() is None and not tap.left():
            time.sleep(0.001)
        time.sleep(delay)
        process.send_signal(number)
        process.communicate(timeout=300)
    left = [*tap.left(), *(path.name for path in tap.folder.glob(".ended*"))]
    if target.exists() and bytes_of(target) != whole:
        left.append(target.name)
    shutil.rmtree(target, ignore_errors=True)
    return process.returncode, left


def signals(tap):
    many = tap.folder / "many"
    many_profiles(many, 200)
    subprocess.run([tap.lode, "export", str(many), "--format", "csv", "-o", str(tap.folder / "whole")], env=tap.environment(), check=True, capture_output=True)
    whole = bytes_of(tap.folder / "whole")
    shutil.rmtree(tap.folder / "whole")
    for number in (signal.SIGTERM, signal.SIGINT):
        ends = [end_by_signal(tap, many, number, delay, whole) for delay in DELAYS]
        tap.check(all(status in (0, -number) for status, _ in ends) and ends[0][0] == -number, f"{number.name} ends an export", [ends])
        tap.check(not any(left for _, left in ends), f"{number.name} leaves nothing behind", [ends])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    with tempfile.TemporaryDirectory() as folder:
        tap = Exporter(parser.parse_args().lode, folder)
        made = tap.folder / "made"
        many_profiles(made, 3, nodes=50, samples=100)
        to_standard_output(tap, made)
        refused(tap, made)
        damaged_profile(tap, made)
        signals(tap)
        from_corpus(tap)
        return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
