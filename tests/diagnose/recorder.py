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

    def command(self, case, variant):
        """What records a run: all ranks of a job together or, for a database, one by one."""
        before = self.before if case.has_priority else []
        program = [self.program(case), variant if case.has_plant else "control"]
        if not case.mpi:
            return [*before, "uftrace", "record", "-d", "recording", *program]
        mpi, ranks = MPIS[case.mpi], case.ranks or TOO_MANY * os.cpu_count()
        if case.is_database:
            return [*before, *mpi.job(ranks, "sh", "-c", EACH_RANK % mpi.rank, *program)]
        return [*before, "uftrace", "record", "--force", "-d", "recording", *mpi.job(ranks, *program)]

    def build(self, place):
        """The database of what was recorded."""
        ranks = sorted(place.glob("rank-*"))
        words = ["--rank-from", "rank-([0-9]+)", *ranks] if ranks else [place / "recording"]
        self.run([self.lode, "build", "--mpi", "off", *words, "-o", "db"], None, place)

    def record(self, case, variant, number):
        """One run of a program, as a recording or, if the case asks for that, as a database. One that is there is used again."""
        place = self.folder / re.sub(r"\W+", "-", f"{case.kind} {variant} {number}")
        printed, store = place / "printed", place / ("db" if case.is_database else "recording")
        if not printed.exists():
            place.mkdir()
            with load(case.has_load):
                out = self.run(self.command(case, variant), dict(case.environment), place)
            if case.is_database:
                self.build(place)
            printed.write_text(out, encoding="utf-8")
        return Recorded(store, {key: int(value) for key, value in PRINTED.findall(printed.read_text(encoding="utf-8"))})
