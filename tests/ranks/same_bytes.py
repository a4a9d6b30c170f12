#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The same recordings or measurements give the same bytes whoever builds: threads, comms of threads, ranks of Open MPI and of MPICH. The
numbers are those of the recordings, and a full check is clean. For measurements, tests/answers/imports/measured_build.py compares the numbers.

Usage: same_bytes.py --lode PROGRAM [--only TEXT] [--mpi yes|no]
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from jobs import MPICH, OPENMPI, environment, load, missing, room, run

from building import FILES, Lode, Tap, corpus_recordings, corpus_root, fingerprints, made_recordings, parse_arguments

numbers = load("build/numbers.py")

# What depends on who did the work.
VARYING = ("comm_size", "worker_contexts", "rounds", "spooled_bytes", "memory_bytes")


class Way(NamedTuple):
    """Who builds: so many ranks of an MPI, or one process; and options of the program."""

    name: str
    options: tuple
    mpi: object = None
    ranks: int = 1

    def command(self, lode, *arguments):
        command = [lode, "build", *self.options, *arguments]
        return self.mpi.job(self.ranks, *command) if self.mpi else command


def counted(count, noun):
    return f"{count} {noun}{'s' if count > 1 else ''}"


def threads(count, *options):
    return Way(" ".join((counted(count, "thread"), *options)), ("--mpi", "off", "--threads", str(count), *options))


def comm(count, *options):
    return Way(" ".join((f"a comm of {count}", *options)), ("--local-ranks", str(count), *options), ranks=count)


def ranks(mpi, count, *options):
    return Way(" ".join((f"{counted(count, 'rank')} of {mpi.name}", *options)), options, mpi, count)


# Threads with traces, kernel symbols, samples inside GPU kernels.
MEASURED = ("loops-cputime-t", "loops-perf-t.d.t2", "recursion-cuda-nvidiapc-t", "small")
LITTLE = ("--memory", "100K")
ONE, TWO = ("--threads", "1"), ("--threads", "2")
JOINTLY = ("--write", "jointly")
ALONE = (threads(1), threads(2), threads(7), threads(2, *LITTLE), comm(2, *ONE), comm(3, *TWO), comm(7, *ONE, *LITTLE))
OF_MPI = {
    OPENMPI: (ranks(OPENMPI, 1), ranks(OPENMPI, 2, *TWO), ranks(OPENMPI, 5, *ONE, *LITTLE), ranks(OPENMPI, 16, *ONE),
              ranks(OPENMPI, 3, *ONE, *JOINTLY)),
    MPICH: (ranks(MPICH, 1), ranks(MPICH, 2, *ONE), ranks(MPICH, 5, *ONE, *LITTLE), ranks(MPICH, 16, *ONE),
            ranks(MPICH, 3, *ONE, *JOINTLY)),
}


class Bench:
    def __init__(self, tap, options, folder):
        self.tap, self.lode, self.folder, self.only = tap, Lode(options.lode), Path(folder), options.only
        self.env = environment(options.lode)
        self.ways = list(ALONE)
        for mpi, ways in OF_MPI.items():
            if options.mpi == "no":
                continue
            if reason := missing(mpi, options.lode):
                tap.skip(f"ranks of {mpi.name}", reason)
            else:
                self.ways += ways

    def build(self, way, arguments):
        """(how it ended, what it counted, hashes of files); the database stays for whoever comes next."""
        # The name of a database is in it.
        database = self.folder / "db"
        shutil.rmtree(database, ignore_errors=True)
        ended = run(way.command(self.lode.program, "--json", "--stats", *arguments, "-o", database), self.env)
        try:
            printed = json.loads(ended.out)
        except ValueError:
            return ended, None, None
        said = {key: value for key, value in printed.items() if isinstance(value, int)}
        return ended, said, fingerprints(database)

    def look_at(self, name, paths, *options, files=FILES, every=1, recorded=True):
        """Builds in each way, or in every third, and compares with the first."""
        if self.only not in name:
            return
        first = None
        for way in self.ways[::every]:
            ended, said, prints = self.build(way, [*options, *paths])
            title = f"{name}: {way.name}"
            if ended.status != 0 or prints is None or ended.messages() or ended.late:
                self.tap.check(False, f"{title}: it is built, and said so once", ended.describe())
                continue
            if first is None:
                self.tap.check(sorted(prints) == sorted(files), f"{title}: there are {len(files)} files", [prints])
                self.judge(name, paths if recorded else [])
                first = said, prints
                continue
            problems = [] if said["comm_size"] == way.ranks else [f"{said['comm_size']} ranks built it"]
            problems += [f"{file} differs" for file in files if prints.get(file) != first[1].get(file)]
            problems += [f"{key} is {said.get(key)}, not {value}" for key, value in first[0].items()
                         if key not in VARYING and said.get(key) != value]
            self.tap.check(not problems, f"{title}: the same bytes", problems)

    def judge(self, name, paths):
        """The first result is right; so the others are. `paths`: of recordings."""
        database = self.folder / "db"
        complaints = self.lode.complaints(database)
        self.tap.check(not complaints, f"{name}: a full check is clean", complaints)
        if not paths:
            return
        problems = [*numbers.function_differences(self.lode, paths, database),
                    *numbers.task_differences(self.lode, paths, database)]
        self.tap.check(not problems, f"{name}: functions and tasks are those of the recordings", problems)


def main():
    options = parse_arguments(__doc__, only={"default": ""}, mpi={"choices": ["yes", "no"], "default": "yes"})
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lode-ranks-", dir=room()) as folder:
        bench = Bench(tap, options, folder)
        made = made_recordings(bench.lode, folder, 200)
        bench.look_at("200 made recordings", made, "--rank-from", r"rank-(\d+)")
        recordings = corpus_recordings()
        if recordings:
            bench.look_at(f"{len(recordings)} recordings of the corpus", list(recordings.values()))
        else:
            tap.skip("recordings of the corpus", "there is no corpus")
        measured = [path for name in MEASURED if (path := corpus_root() / "measurements" / name).is_dir()]
        if measured:
            bench.look_at(f"{len(measured)} measurements", measured, recorded=False)
        else:
            tap.skip("measurements of the corpus", "there is no corpus")
        live = [path for path in sorted((corpus_root() / "live").glob("*/measurement")) if (path / "structs").is_dir() and any(path.glob("*.hpcrun"))]
        if live:
            binaries = ("--no-source", "--replace", f"/opt/live={corpus_root() / 'live'}", *live)
            bench.look_at(f"structure files of {len(live)} measurements", [], *binaries, recorded=False)
            bench.look_at(f"binaries of {len(live)} measurements", [], "--ignore-structs", *binaries, recorded=False)
        else:
            tap.skip("structure files of live measurements", "there is no corpus")
        large = Path(folder) / "large"
        bench.lode.must("synth", "recording", "--records", 300000, "--tasks", 9, "--depth", 60, "-o", large)
        bench.look_at("nine tasks, some samples", [large], "--trace", "3us")
        bench.look_at("nine tasks, no samples", [large], "--trace", "none", files=FILES[:3], every=3)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
