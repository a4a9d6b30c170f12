# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of this folder share: which MPIs there are, and jobs that end in time, with all their processes."""

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(ROOT / "tests" / folder) for folder in ("fault", "tools")]
# Behind all others: numbers.py there is not the module of Python.
sys.path.append(str(ROOT / "tests" / "build"))

import findings  # noqa: E402
from outcome import Run  # noqa: E402

SECONDS = 300
GRACE = 3  # that a launcher has to end its job when it is told to
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
MEMORY_DISK = "/dev/shm"
LAUNCHERS = ("OMPI_", "PMI_", "PMIX_", "SLURM_", "FLUX_", "PALS_", "JSM_")  # how their variables begin


# Whoever ends a test ends its jobs, and clears its folders.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(f"{sys.argv[0]} was told to end"))


class Mpi(NamedTuple):
    """An MPI, and how its jobs are started with more processes than processors."""

    name: str
    launcher: str
    compiler: str
    options: tuple
    rank: str  # the variable by which a process knows its rank

    def job(self, ranks, *command, options=()):
        return [self.launcher, *self.options, *options, "-n", str(ranks), *map(str, command)]


OPENMPI = Mpi("openmpi", "mpirun.openmpi", "mpicc.openmpi",
              ("--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"), "OMPI_COMM_WORLD_RANK")
MPICH = Mpi("mpich", "mpirun.mpich", "mpicc.mpich", (), "PMI_RANK")


def load(path):
    """A module of another folder of tests, by its path there."""
    spec = importlib.util.spec_from_file_location(f"tests_{Path(path).stem}", ROOT / "tests" / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def plugins(lode):
    """The folder of the plug-ins."""
    return Path(os.environ.get("LODE_PLUGINS") or Path(lode).resolve().parents[1] / "mpi")


def missing(mpi, lode):
    """Why jobs of an MPI cannot run here; None if they can."""
    if shutil.which(mpi.launcher) is None:
        return f"there is no {mpi.launcher}"
    plugin = plugins(lode) / f"lode-mpi-{mpi.name}.so"
    return None if plugin.exists() else f"{plugin.name} was not built"


def environment(lode, **more):
    # What a launcher told this process is not for the jobs that it starts. mpirun of Open MPI 4.1 uses memory that it has freed
    # when tasks end with an error, and crashes where Meson fills such memory.
    kept = {name: value for name, value in os.environ.items() if not name.startswith((*LAUNCHERS, "MALLOC_PERTURB_"))}
    return {**kept, **AS_ROOT, "LC_ALL": "C", "LODE_PLUGINS": str(plugins(lode)), **more}


def room():
    """A folder for what is written: in memory if there is room, since syncing takes longer than all the rest."""
    enough = os.access(MEMORY_DISK, os.W_OK) and shutil.disk_usage(MEMORY_DISK).free > 2 << 30
    return MEMORY_DISK if enough and "TMPDIR" not in os.environ else None


def number(text):
    return int(text) if text.isdigit() else None


def status_of(pid):
    """(name, parent, session) of a process that runs; None if it does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stream:
            head, _, tail = stream.read().rpartition(")")
    except OSError:
        return None
    words = tail.split()
    return None if words[0] in "ZX" else (head.partition("(")[2], int(words[1]), int(words[3]))


def running():
    """{pid: (name, parent, session)} of all processes."""
    found = {pid: status_of(pid) for pid in map(number, os.listdir("/proc")) if pid}
    return {pid: status for pid, status in found.items() if status}


def family(root):
    """What runs in the session of a process, or below it."""
    all_of_them = running()
    chosen = {pid for pid, (_, _, session) in all_of_them.items() if session == root}
    size = -1
    while size != len(chosen):
        size = len(chosen)
        chosen |= {pid for pid, (_, parent, _) in all_of_them.items() if parent in chosen}
    return {pid: all_of_them[pid][0] for pid in chosen if pid in all_of_them}


def has_open(pid, text):
    """Whether a process has a file open whose path has a text in it."""
    folder = f"/proc/{pid}/fd"
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                if text in os.readlink(os.path.join(folder, name)):
                    return True
    return False


def variable(pid, name):
    """A variable of the environment that a process was started with."""
    try:
        words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    prefix = name.encode() + b"="
    return next((word[len(prefix):].decode() for word in words if word.startswith(prefix)), None)


class Ended(NamedTuple):
    status: int
    out: str
    err: str
    seconds: float
    late: bool  # it had to be ended
    running: tuple = ()  # names of processes that it had then

    def messages(self):
        """What the program said, but for findings, without what its launcher says of a job that failed."""
        return [line for line in findings.without(self.err).splitlines() if line.startswith("lode: ")]

    def as_run(self):
        """For tests/fault/outcome.py: what launchers say of a job that went well is no complaint."""
        return Run(self.status, "" if self.status == 0 and not self.messages() else self.err)

    def describe(self):
        return [f"{'did not end in time, ' if self.late else ''}status {self.status}, {self.seconds:.1f} s",
                *self.out.splitlines()[:20], *self.err.splitlines()[:40]]


class Job:
    """A command that has a session of its own, and some seconds."""

    def __init__(self, command, env, limit=SECONDS, cwd=None):
        self.limit, self.begin = limit, time.monotonic()
        self.process = subprocess.Popen([*map(str, command)], env=env, cwd=cwd, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                                        start_new_session=True)

    def ranks(self, mpi, program="lode"):
        """{rank: pid} of the processes that run a program."""
        pids = [pid for pid, name in family(self.process.pid).items() if name == program]
        ranks = {pid: variable(pid, mpi.rank) for pid in pids}
        return {int(rank): pid for pid, rank in ranks.items() if rank is not None}

    def clear(self):
        """Ends whatever runs: the launcher has a moment to do so itself."""
        if self.process.poll() is None:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(GRACE)
        for pid in family(self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def wait(self):
        late, names = False, ()
        try:
            out, err = self.process.communicate(timeout=max(0.0, self.begin + self.limit - time.monotonic()))
        except subprocess.TimeoutExpired:
            late, names = True, tuple(family(self.process.pid).values())
            self.clear()
            out, err = self.process.communicate()
        return Ended(self.process.returncode, out, err, time.monotonic() - self.begin, late, names)

    def survivors(self, program="lode", patience=30.0):
        """Processes of the job that still run some seconds after its launcher ended."""
        end = time.monotonic() + patience
        while True:
            left = [pid for pid, name in family(self.process.pid).items() if name == program]
            if not left or time.monotonic() > end:
                return left
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.clear()
        self.process.communicate()


def run(command, env, limit=SECONDS, cwd=None):
    with Job(command, env, limit, cwd) as job:
        return job.wait()
