#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Commands that read a database, on ranks: the bytes, the messages and the exit status are those of one process, whoever shares the work: ranks
inside the process, ranks of Open MPI and of MPICH. The same for damaged databases; and a job that loses a rank ends.

Usage: questions.py --lode PROGRAM [--mpi yes|no] [--stores N]
"""

import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from jobs import MPICH, OPENMPI, Job, environment, missing, room, run

import corpora
from building import Tap, parse_arguments

LOOPS = "toolkit-loops-cputime-t-v0"
# Arguments before the store.
QUESTIONS = (
    ("check", "--level", "full"),
    ("check", "--level", "full", "--limit", "1", "--json"),
    ("top", "--profiles", "profile=1-40", "--json"),
    ("top", "--metric", "all", "--by", "line", "--profiles", "profile=1-3", "--csv"),
    ("top", "--from", "1ns", "--json"),
    ("top", "--by", "rank"),
    ("profiles", "--json"),
    ("profiles", "--function", "a", "--json"),
    ("diagnose", "--all", "--deep", "--json"),
)
# What writes a store, and arguments before it.
WRITERS = (("convert",), ("convert", "--drop-unlisted"), ("merge", "--drop-unlisted"), ("convert", "--format", "hpctoolkit-draft-metadb"))
LOCAL = (("--local-ranks", "2", "--threads", "1"), ("--local-ranks", "3", "--threads", "2"), ("--local-ranks", "5"))
FLIPS = 6
RANKS = 3


class Answer(NamedTuple):
    status: int
    out: str
    messages: list

    def differences(self, other):
        for field, mine, theirs in zip(self._fields, self, other):
            if mine != theirs:
                yield f"{field}: {str(mine)[:300]!r}, not {str(theirs)[:300]!r}"


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Bench:
    def __init__(self, options, tap, folder):
        self.lode, self.tap, self.folder = str(Path(options.lode).resolve()), tap, folder
        self.env = environment(self.lode, NO_COLOR="1")
        self.mpis = [mpi for mpi in (OPENMPI, MPICH) if options.mpi == "yes" and self.can_use(mpi)]

    def can_use(self, mpi):
        reason = missing(mpi, self.lode)
        if reason:
            self.tap.skip(f"ranks of {mpi.name}", reason)
        return reason is None

    def make(self, *arguments):
        done = run([self.lode, "synth", *arguments], self.env)
        if done.status != 0:
            raise SystemExit("\n".join(done.describe()))

    def ask(self, words, store, options=("--mpi", "off"), mpi=None, ranks=1):
        # How many threads read the profiles of a database is no option there.
        options = options[:2] if words[0] == "profiles" else options
        command = [self.lode, *words, *options, store]
        ended = run(mpi.job(ranks, *command) if mpi else command, self.env)
        return Answer(ended.status, ended.out, ended.messages())

    def compare(self, store, title, ways):
        """`ways`: (name, options, MPI, ranks)."""
        for words in QUESTIONS:
            alone = self.ask(words, store)
            problems = [f"{name}: {text}" for name, options, mpi, ranks in ways
                        for text in self.ask(words, store, options, mpi, ranks).differences(alone)]
            self.tap.check(not problems and alone.status in (0, 1, 2), f"{title}: lode {' '.join(words)}", problems)

    def write(self, words, store, target, options=("--mpi", "off"), mpi=None, ranks=1):
        shutil.rmtree(target, ignore_errors=True)
        answer = self.ask((*words, "-o", target), store, options, mpi, ranks)
        return answer, contents(target) if target.is_dir() else None

    def compare_written(self, store, title, ways):
        target = self.folder / "written"
        for words in WRITERS:
            alone = self.write(words, store, target)
            problems = []
            for name, options, mpi, ranks in ways:
                answer, files = self.write(words, store, target, options, mpi, ranks)
                problems += [f"{name}: {text}" for text in answer.differences(alone[0])]
                if files != alone[1]:
                    problems.append(f"{name}: other bytes")
            self.tap.check(not problems and (alone[0].status != 0) == (alone[1] is None), f"{title}: lode {' '.join(words)}", problems)

    def local_ways(self):
        return [(" ".join(options), options, None, 1) for options in LOCAL]

    def job_ways(self, counts):
        return [(f"{ranks} of {mpi.name}", (), mpi, ranks) for mpi in self.mpis for ranks in counts]


def flip(source, target, seed):
    """A copy with some bits changed, most of them in values."""
    shutil.copytree(source, target)
    chance = random.Random(seed)
    for _ in range(chance.randrange(1, 6)):
        path = target / chance.choice(["profile.db", "profile.db", "cct.db", "trace.db", "meta.db"])
        data = bytearray(path.read_bytes())
        at = chance.randrange(len(data) // 4 if chance.randrange(8) else 0, len(data))
        data[at] ^= 1 << chance.randrange(8)
        path.write_bytes(data)


def look_at_damage(bench, source):
    for seed in range(FLIPS):
        damaged = bench.folder / f"damaged-{seed}"
        flip(source, damaged, seed)
        ways = bench.local_ways() + (bench.job_ways([2]) if seed % 3 == 0 else [])
        bench.compare(damaged, f"damage {seed}", ways)
        bench.compare_written(damaged, f"damage {seed}", ways)


def look_at_corpus(bench, most):
    stores = sorted(path for path in (corpora.root() / "hpctoolkit" / "final").glob("*") if path.is_dir())
    for store in stores[::max(1, len(stores) // most)]:
        bench.compare(store, store.name, bench.local_ways())
        bench.compare_written(store, store.name, bench.local_ways())


def look_at_status(bench, store):
    """Every task ends with the status of the first."""
    for mpi in bench.mpis:
        ended = run(mpi.job(RANKS, "sh", "-c", f"{bench.lode} check {store} > {os.devnull}; echo $?"), bench.env)
        bench.tap.check(ended.out.split() == ["1"] * RANKS, f"{mpi.name}: every task has the status of a check that found errors", ended.describe())
        ended = run(mpi.job(RANKS, bench.lode, "check", bench.folder / "nothing"), bench.env)
        bench.tap.check(ended.status == 2 and len(ended.messages()) == 1 and not ended.out, f"{mpi.name}: a store that is not there is reported once",
                        ended.describe())


def look_at_others(bench, store):
    """What ranks do not share out, the first one does; with LODE_MPI=off, and --mpi off, each does."""
    recording = bench.folder / "recording"
    bench.make("recording", "--records", "2000", "-o", recording)
    for mpi in bench.mpis:
        for words in (("check", recording), ("check", "--rules")):
            alone = run([bench.lode, *words], bench.env)
            ended = run(mpi.job(RANKS, bench.lode, *words), bench.env)
            bench.tap.check(ended.status == alone.status == 0 and ended.out == alone.out, f"{mpi.name}: lode {words[0]} {Path(words[1]).name}: one answer",
                            ended.describe())
        alone = run([bench.lode, "check", store], bench.env)
        for options, more in ((("--mpi", "off"), {}), ((), {"LODE_MPI": "off"})):
            ended = run(mpi.job(RANKS, bench.lode, "check", *options, store), environment(bench.lode, NO_COLOR="1", **more))
            bench.tap.check(ended.status == 0 and ended.out == alone.out * RANKS, f"{mpi.name}: tasks on their own: {RANKS} answers", ended.describe())


def lose_a_rank(bench, mpi, words, parent):
    """Stops a rank as soon as it is there, so that the others wait for it; then kills it. None: it was too late."""
    with Job(mpi.job(RANKS, bench.lode, *words), bench.env, 120) as job:
        ranks = {}
        while len(ranks) < RANKS and job.process.poll() is None:
            ranks = job.ranks(mpi)
            time.sleep(0.002)
        time.sleep(0.2)
        if job.process.poll() is not None or len(ranks) < RANKS:
            return None
        victim = ranks[RANKS - 1]
        os.kill(victim, signal.SIGSTOP)
        time.sleep(0.3)
        os.kill(victim, signal.SIGKILL)
        ended = job.wait()
        left = job.survivors()
    if ended.status == 0:
        return None
    problems = [f"{len(left)} processes run on"] if left else []
    problems += ["it did not end"] if ended.late else []
    return problems + [f"left behind: {name}" for name in os.listdir(parent) if not name.startswith(".")]


def look_at_kills(bench, store):
    for mpi in bench.mpis:
        for words in (QUESTIONS[0], *WRITERS[:1]):
            parent = bench.folder / f"killed {mpi.name} {words[0]}"
            parent.mkdir()
            command = [*words, "--threads", "1", store, *(["-o", parent / "db"] if words in WRITERS else [])]
            for _ in range(5):
                problems = lose_a_rank(bench, mpi, command, parent)
                if problems is not None:
                    break
                shutil.rmtree(parent / "db", ignore_errors=True)
            bench.tap.check(problems == [], f"{mpi.name}: lode {words[0]} loses a rank: the job ends with an error, and nothing is left",
                            problems if problems is not None else ["all jobs were complete before a rank was killed"])


def main():
    options = parse_arguments(__doc__, mpi={"choices": ["yes", "no"], "default": "yes"}, stores={"type": int, "default": 3})
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lode-questions-", dir=room()) as scratch:
        bench = Bench(options, tap, Path(scratch))
        store, large = bench.folder / "db", bench.folder / "large"
        bench.make("database", "--seed", "3", "--profiles", "50", "--contexts", "400", "-o", store)
        for path, counts in ((store, [1, 2, 3, 4]), (corpora.root() / "hpctoolkit" / "final" / LOOPS, [2, 3])):
            if path.is_dir():
                ways = bench.local_ways() + bench.job_ways(counts)
                bench.compare(path, path.name, ways)
                bench.compare_written(path, path.name, ways)
        look_at_corpus(bench, options.stores)
        look_at_damage(bench, store)
        look_at_others(bench, store)
        look_at_status(bench, bench.folder / "damaged-0")
        if bench.mpis:
            bench.make("database", "--seed", "5", "--profiles", "600", "--contexts", "6000", "-o", large)
            look_at_kills(bench, large)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
