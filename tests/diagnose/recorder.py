# SPDX-License-Identifier: BSD-3-Clause
"""Compiles the programs, and records them with the uftrace of this machine."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[1:1] = [str(ROOT / "tests" / "ranks"), str(ROOT / "tests" / "cli")]

from jobs import MPICH, OPENMPI, Job, environment  # noqa: E402

MPIS = {"openmpi": OPENMPI, "mpich": MPICH}
SECONDS = 120
TOO_MANY = 2  # ranks per processor
PRINTED = re.compile(r"^(rank|thread) (\d+)$", re.MULTILINE)
BUSY = ("sh", "-c", "while :; do :; done")
EACH_RANK = 'exec uftrace record -d "rank-${%s}" "$0" "$@"'


class Recorded(NamedTuple):
    store: Path
    truth: dict  # what the program printed: {"rank": ..., "thread": ...}


def missing(case):
    """What is not installed; None: nothing."""
    tools = ["uftrace", "gcc"]
    if case.mpi:
        tools += [MPIS[case.mpi].launcher, MPIS[case.mpi].compiler]
    absent = [tool for tool in tools if shutil.which(tool) is None]
    return f"there is no {', '.join(absent)}" if absent else None


def priority():
    """Before the command, where that is allowed: other programs do not interrupt it. Its threads take turns if there are many."""
    words = ["chrt", "-r", "1"]
    is_allowed = shutil.which("chrt") and subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0
    return words if is_allowed else []


@contextlib.contextmanager
def load(is_wanted):
    """Keeps all processors busy with twice as many programs."""
    programs = [subprocess.Popen(BUSY) for _ in range(2 * os.cpu_count() if is_wanted else 0)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


class Recorder:
    def __init__(self, lode, folder, has_priority=True):
        self.lode, self.folder = lode, Path(folder)
        self.before = priority() if has_priority else []

    def run(self, command, env=None, cwd=None):
        ended = Job(command, {**environment(self.lode), **(env or {})}, SECONDS, cwd or self.folder).wait()
        if ended.late or ended.status != 0:
            raise RuntimeError("\n".join([" ".join(map(str, command)), *ended.describe()]))
        return ended.out

    def program(self, case):
        """The path of the compiled program. Calls must stay calls, and go through the tables that uftrace watches."""
        path = self.folder / f"{case.source}{'-' + case.mpi if case.mpi else ''}"
        if not path.exists():
            compiler = MPIS[case.mpi].compiler if case.mpi else "gcc"
            self.run([compiler, "-D_GNU_SOURCE", "-O1", "-g", "-fno-inline", *case.flags, "-pthread", "-Wl,-z,lazy", "-o", path,
                      HERE / "programs" / f"{case.source}.c"])
        return path

    def record(self, case, variant, number):
        """One run of a program, as a recording or, if the case asks for that, as a database."""
        program, place = self.program(case), self.folder / f"{len(os.listdir(self.folder))}-{case.source}-{variant}-{number}"
        place.mkdir()
        before = self.before if case.has_priority else []
        argument = variant if case.has_plant else "control"
        ranks = case.ranks or TOO_MANY * os.cpu_count()
        with load(case.has_load):
            if case.mpi and case.is_database:
                mpi = MPIS[case.mpi]
                words = [*before, *mpi.job(ranks, "sh", "-c", EACH_RANK % mpi.rank, program, argument)]
            else:
                launcher = MPIS[case.mpi].job(ranks) if case.mpi else []
                force = ["--force"] if case.mpi else []
                words = [*before, "uftrace", "record", *force, "-d", "recording", *launcher, program, argument]
            out = self.run(words, dict(case.environment), place)
        truth = {key: int(value) for key, value in PRINTED.findall(out)}
        if not case.is_database:
            return Recorded(place / "recording", truth)
        recordings = sorted(place.glob("rank-*")) if case.mpi else [place / "recording"]
        ranks = ["--rank-from", "rank-([0-9]+)"] if case.mpi else []
        self.run([self.lode, "build", "--mpi", "off", *ranks, *recordings, "-o", "db"], None, place)
        return Recorded(place / "db", truth)
