#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Damaged stores and what commands say of them: an answer that differs from that of the sound store must not come in silence.

Mutant N of a seed and a kind is the same on every machine that has the same sources. Those that `lode check --level full` finds nothing
wrong with are passed over. A command is silent and different if its answer, or what it writes, differs from that of the original, its exit
status is 0, and neither standard error nor the field `findings` says anything. Without the corpus, only stores that the program makes.
"""
import argparse
import collections
import gzip
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "tools"))

import corpora  # noqa: E402

SECONDS = 120
TOP = ["--limit", "0"]
SQL = {"database": "select * from metric, (select count(*), total(exclusive) from cost)", "recording": "select function, count(*), sum(duration_ns) from call group by 1 order by 1"}
EITHER = (("top", "{}", *TOP), ("tree", "{}", *TOP, "--json"), ("profiles", "{}", *TOP), ("compare", "../original/{}", "{}"), ("diagnose", "{}"),
          ("export pprof", "{}", "-o", "new.pb.gz"), ("export csv", "{}", "--format", "csv", "-o", "new"), ("slice", "{}", "-o", "new"),
          ("merge", "{}", "{}", "-o", "new"), ("convert", "{}", "-o", "new"))
DATABASE = (*EITHER, ("sql", "{}", SQL["database"]), ("flame", "{}", "--json"))
RECORDING = (*EITHER, ("sql", "{}", SQL["recording"]), ("build", "{}", "-o", "new"))
MEASURED = (("info", "{}", "--verbose"), ("export pprof", "{}", "-o", "new.pb.gz"), ("export csv", "{}", "--format", "csv", "-o", "new"), ("build", "{}", "-o", "new"))
COMMANDS = {"databases": DATABASE, "drafts": DATABASE, "recordings": RECORDING, "requests": RECORDING, "pprof": DATABASE, "folded": DATABASE,
            "measurements": MEASURED}
# Small ones: what a mutation does to them shows as well, and costs less.
CORPUS = {"databases": [f"hpctoolkit/final/{name}" for name in ("made-small", "toolkit-small-v4", "viewer-d.x", "viewer-loop-fork-cycles-v0",
                                                                "pipit-ping-pong-v0", "toolkit-loops-hip-amd-t.nostruct-v0")],
          "drafts": ["hpctoolkit/pre-a/viewer-loop-inline-v1", "hpctoolkit/pre-b/toolkit-small-v4.0-v1", "hpctoolkit/draft-xml/made-small"],
          "recordings": [f"uftrace/recorded/{name}/uftrace.data" for name in ("mt", "exc", "events", "autoargs")],
          "requests": [f"zorka/stores/{name}" for name in ("first", "master")],
          "pprof": [f"pprof/{name}.pb.gz" for name in ("go-cpu-small", "made-java-cpu", "node-heap", "made-diff-heap")],
          "folded": [f"folded/{name}.folded" for name in ("austin", "pyspy", "diff-two-columns", "perf-large-counts")],
          "measurements": [f"measurements/{name}" for name in ("small", "small-v4")]}
SYNTH = {"databases": ["database", "--profiles", "3", "--contexts", "40", "--samples", "10"],
         "recordings": ["recording", "--records", "300", "--tasks", "2", "--functions", "12"],
         "requests": ["recording", "--format", "zorka", "--records", "200", "--functions", "12", "--calls-per-request", "20"]}
# What the answers of commands do not depend on is not worth a mutation.
UNREAD = (".yaml", ".opts", ".txt.default", "default.opts")


def run(words, cwd):
    return subprocess.run([str(word) for word in words], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC", "COLUMNS": "200", "NO_COLOR": "1"})


def digest(path):
    """What a command wrote: the bytes of a file, or of all files in a directory."""
    sums = hashlib.sha256()
    files = [path] if path.is_file() else sorted(inner for inner in path.rglob("*") if inner.is_file())
    for file in files:
        data = file.read_bytes()
        sums.update(str(file.relative_to(path)).encode() + b"\0" + (gzip.decompress(data) if file.suffix == ".gz" else data))
    return sums.hexdigest()


def ask(lode, command, name, cwd):
    """Exit status, the answer, whether anything was said."""
    words = [word.replace("{}", name) for word in command[1:]]
    done = run([lode, *command[0].split()[:1], *words], cwd)
    answer, is_said = done.stdout, bool(done.stderr.strip())
    for target in (cwd / "new", cwd / "new.pb.gz"):
        if target.exists():
            answer += digest(target).encode()
            shutil.rmtree(target) if target.is_dir() else target.unlink()
    if b'"findings": [{' in done.stdout:
        is_said = True
    return done.returncode, answer, is_said


class Source:
    """A sound store in a folder of its own, and the answers about it."""

    def __init__(self, lode, path, folder):
        self.lode, self.name, self.folder = lode, path.name, folder
        folder.mkdir()
        copy(path, folder / self.name)
        self.answers = {}

    def answer(self, command):
        if command not in self.answers:
            self.answers[command] = ask(self.lode, command, self.name, self.folder)
        return self.answers[command]


def copy(source, target):
    if source.is_file():
        shutil.copyfile(source, target)
    else:
        shutil.copytree(source, target, copy_function=shutil.copyfile, dirs_exist_ok=True)
        for inner in (target, *target.rglob("*")):
            inner.chmod(0o755 if inner.is_dir() else 0o644)


def make_sources(lode, kind, corpus, folder):
    made = folder / f"made-{kind}"
    paths = [corpus / name for name in CORPUS[kind] if corpus and (corpus / name).exists()]
    if kind in SYNTH:
        run([lode, "synth", *SYNTH[kind], "-o", made], folder)
        paths.append(made)
    elif kind == "folded":
        made = made.with_suffix(".folded")
        made.write_text("".join(f"main;f{n % 7};g{n % 3} {n + 1}\n" for n in range(40)), encoding="utf-8")
        paths.append(made)
    elif kind == "pprof":
        run([lode, "synth", *SYNTH["databases"], "-o", made], folder)
        run([lode, "export", made, "-o", made.with_suffix(".pb.gz")], folder)
        paths.append(made.with_suffix(".pb.gz"))
    elif kind == "drafts":
        run([lode, "synth", *SYNTH["databases"], "-o", folder / "for-draft"], folder)
        run([lode, "convert", "--format", "hpctoolkit-draft-metadb", folder / "for-draft", "-o", made], folder)
        paths.append(made)
    sources = []
    for number, path in enumerate(paths):
        inner = folder / f"{kind}-{number}"
        inner.mkdir()
        sources.append(Source(lode, path, inner / "original"))
    return sources


SPECIAL = (0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, 1 << 32, (1 << 63) - 1, (1 << 64) - 1)


def bend(data, chance):
    """One change of some bytes."""
    data = bytearray(data)
    at = chance.randrange(len(data))
    way = chance.choice(("bit", "bit", "byte", "byte", "field", "add", "cut", "swap", "zero", "remove"))
    if way == "bit":
        data[at] ^= 1 << chance.randrange(8)
    elif way == "byte":
        data[at] = chance.randrange(256)
    elif way in ("field", "add"):
        size = chance.choice((2, 4, 8))
        at -= at % size
        old = int.from_bytes(data[at:at + size], "little")
        new = chance.choice(SPECIAL) if way == "field" else old + chance.choice((-1, 1, 8, 256))
        data[at:at + size] = (new % (1 << 8 * size)).to_bytes(size, "little")[:len(data) - at]
    elif way == "cut":
        del data[at:]
    elif way == "swap":
        size = chance.choice((4, 8, 16, 64))
        other = chance.randrange(len(data))
        first, second = data[at:at + size], data[other:other + size]
        if len(first) == len(second):
            data[at:at + size], data[other:other + size] = second, first
    elif way == "zero":
        end = min(len(data), at + chance.randrange(1, 64))
        data[at:end] = bytes(end - at)
    else:
        del data[at:at + chance.randrange(1, 16)]
    return bytes(data)


def mutate(store, chance):
    """Bends one file of the store, in what is packed if it is packed."""
    files = [store] if store.is_file() else sorted(inner for inner in store.rglob("*") if inner.is_file() and not inner.name.endswith(UNREAD)
                                                   and inner.stat().st_size > 0 and "src" not in inner.relative_to(store).parts)
    file = chance.choice(files)
    data = file.read_bytes()
    is_packed = data[:2] == b"\x1f\x8b"
    for _ in range(chance.choice((1, 1, 1, 2))):
        plain = gzip.decompress(data) if is_packed else data
        if plain:
            plain = bend(plain, chance)
        data = gzip.compress(plain, 1, mtime=0) if is_packed else plain
    file.write_bytes(data)
    return file.name


def count_findings(lode, store, cwd):
    done = run([lode, "check", "--level", "full", "--json", store], cwd)
    if done.returncode not in (0, 1):
        return 0
    result = json.loads(done.stdout)["result"]
    return result["errors"] + result["warnings"]


def judge(source, number, seed, kind, keep):
    """What each command did with a mutant: said, refused, same or silent; nothing if the mutant is sound."""
    chance = random.Random(f"{seed} {kind} {number}")
    folder = source.folder.parent / "mutant"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    copy(source.folder / source.name, folder / source.name)
    mutate(folder / source.name, chance)
    if count_findings(source.lode, source.name, folder) == 0:
        return {}
    found = {}
    for command in COMMANDS[kind]:
        wanted = source.answer(command)
        if wanted[0] == 2:  # the store has no traces, for example
            continue
        status, answer, is_said = ask(source.lode, command, source.name, folder)
        if status < 0 or status > 2:
            found[command[0]] = "crash"
        else:
            found[command[0]] = "refused" if status == 2 else "said" if is_said else "same" if (status, answer) == wanted[:2] else "silent"
        if found[command[0]] in ("silent", "crash"):
            print(f"# {found[command[0]]}: {kind} {number}: lode {' '.join(command)} ({source.name})", flush=True)
            if keep:
                copy(folder / source.name, Path(keep) / f"{kind}-{number}-{source.name}")
    return found


def sound_sources(sources):
    """A source that has findings of its own is no measure."""
    return [source for source in sources if count_findings(source.lode, source.name, source.folder) == 0]


def campaign(options, kind, folder):
    table = collections.defaultdict(collections.Counter)
    sources = sound_sources(make_sources(options.lode, kind, options.corpus, folder))
    damaged, number, most = 0, options.first, options.first + 50 * options.count
    end = time.monotonic() + (options.seconds or float("inf"))
    while sources and damaged < options.count and number < most and time.monotonic() < end:
        found = judge(sources[number % len(sources)], number, options.seed, kind, options.keep)
        number += 1
        damaged += bool(found)
        for command, verdict in found.items():
            table[command][verdict] += 1
    return damaged, number - options.first, table


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--kind", choices=COMMANDS, action="append", help="only this one")
    parser.add_argument("--seed", type=int, default=28)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=160, help="damaged mutants of each kind")
    parser.add_argument("--seconds", type=float, default=0, help="ends a kind that takes longer (default: never)")
    parser.add_argument("--keep", help="where mutants go that a command was silent about")
    parser.add_argument("--without-corpus", action="store_true", help="only stores that the program makes")
    options = parser.parse_args()
    options.lode = os.path.abspath(options.lode)
    options.corpus = None if options.without_corpus else corpora.root()
    kinds, is_bad = options.kind or [kind for kind in COMMANDS if options.corpus or kind != "measurements"], False
    print(f"1..{len(kinds)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="lode-silent-") as folder:
        for at, kind in enumerate(kinds, 1):
            damaged, tried, table = campaign(options, kind, Path(folder))
            bad = sum(row["silent"] + row["crash"] for row in table.values())
            is_bad |= bad > 0 or damaged == 0
            print(f"{'not ok' if bad or damaged == 0 else 'ok'} {at} - {kind}: {damaged} damaged mutants of {tried}, silent and different: {bad}")
            for command, row in table.items():
                print(f"# {kind:12} {command:14} " + " ".join(f"{word} {row[word]:5}" for word in ("said", "refused", "same", "silent", "crash")))
            sys.stdout.flush()
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main())
