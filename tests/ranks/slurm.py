#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`lode build` under a real Slurm with two nodes on this machine: MPICH with PMI-2, Open MPI with PMIx.

Usage: slurm.py --lode PROGRAM [--records N] [--only TEXT]

Jobs give the bytes of a build without MPI. Jobs that are cancelled, lose a task or meet their time limit leave nothing. Tasks that MPI does
not connect are refused before anything is written; batch scripts and shells of a job are not. The job script of doc/hpc.md runs. Needs
root, and slurmctld, slurmd, slurm-client and munge of Debian.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import hosts
from cluster import APART, NODES, ROOM, TOOLS, Cluster, wait_until
from jobs import MPICH, OPENMPI, ROOT, Job, environment, missing, run

from building import Lode, Tap, corpus_recordings, fingerprints, made_recordings

LIMIT = 120
TASKS = 4
SHAPE = ("-N", NODES, "-n", TASKS, f"--ntasks-per-node={TASKS // NODES}")
PLUGIN = {"pmi2": MPICH, "pmix": OPENMPI}
NAME, PARTIAL = "db", ".db.partial"


class Bench:
    def __init__(self, tap, options, cluster):
        self.tap, self.cluster, self.lode = tap, cluster, Lode(str(Path(options.lode).resolve()))
        self.env = environment(options.lode, **cluster.env)
        self.types = [kind for kind, mpi in PLUGIN.items() if not self.skipped(kind, missing(mpi, options.lode))]
        self.count = 0
        self.large = self.folder() / "recording"
        self.lode.must("synth", "recording", "--records", options.records, "--tasks", 16, "-o", self.large)

    def skipped(self, kind, reason):
        if reason and "mpirun" not in reason:
            self.tap.skip(f"--mpi={kind}", reason)
            return True
        return False

    def folder(self):
        """A new one; the database in it has always the same name, which is in its bytes."""
        self.count += 1
        path = ROOM / f"folder-{self.count}"
        path.mkdir()
        return path

    def srun(self, kind, *command, options=(), env=(), cwd=None):
        """A step of some tasks over all nodes."""
        words = ["srun", f"--mpi={kind}", *SHAPE, *options, *command]
        return run(words, {**self.env, **dict(env)}, LIMIT, cwd)

    def build(self, *arguments):
        return [self.lode.program, "build", "--threads", "1", *map(str, arguments)]


def same_bytes(bench):
    """Jobs of both MPIs, and the database that one process builds."""
    made = made_recordings(bench.lode, bench.folder(), 20)
    sources = {"made recordings": [*made, bench.large]}
    recordings = list(corpus_recordings().values())
    if recordings:
        sources["recordings of the corpus"] = recordings
    else:
        bench.tap.skip("recordings of the corpus", "there is no corpus")
    for title, paths in sources.items():
        alone = bench.folder() / NAME
        bench.lode.must("build", "--mpi", "off", *paths, "-o", alone)
        wanted = fingerprints(alone)
        local = bench.folder() / NAME
        bench.lode.must("build", "--local-ranks", TASKS, "--threads", 1, *paths, "-o", local)
        bench.tap.check(len(wanted) == 4 and fingerprints(local) == wanted, f"{title}: {TASKS} local ranks: the same bytes as from one")
        for kind in bench.types:
            database = bench.folder() / NAME
            ended = bench.srun(kind, *bench.build("--json", "--stats", *paths, "-o", database))
            bench.tap.check(ended.status == 0 and f'"comm_size": {TASKS}' in ended.out and fingerprints(database) == wanted,
                            f"{title}: srun --mpi={kind}, {TASKS} tasks on {NODES} nodes: the same bytes", ended.describe())


def job_script():
    """The one of doc/hpc.md."""
    text = (ROOT / "doc" / "hpc.md").read_text(encoding="utf-8")
    scripts = re.findall(r"```bash\n(#!/bin/bash\n#SBATCH.*?)```", text, re.DOTALL)
    assert len(scripts) == 1, scripts
    return scripts[0]


def documented_job(bench):
    """The job script, word for word; `module load` finds the program of this build."""
    folder, tools = bench.folder(), bench.folder()
    if "pmix" not in bench.types:
        bench.tap.skip("the job script of doc/hpc.md", "Open MPI is missing")
        return
    for i, path in enumerate(made_recordings(bench.lode, bench.folder(), 5)):
        (folder / f"rank-{i}").mkdir()
        shutil.move(path, folder / f"rank-{i}" / "uftrace.data")
    (tools / "lode").symlink_to(bench.lode.program)
    hosts.write_script(tools / "module", f'#!/bin/sh\necho "$@" >>{tools}/modules\n')
    hosts.write_script(folder / "job.sh", job_script())
    ended = run(["sbatch", "--wait", "job.sh"], {**bench.env, "PATH": f"{tools}:{os.environ['PATH']}"}, LIMIT, folder)
    said = "".join(path.read_text(encoding="utf-8") for path in folder.glob("slurm-*.out"))
    alone = bench.folder() / NAME
    done = subprocess.run([bench.lode.program, "build", "--mpi", "off", "--rank-from", r"rank-(\d+)",
                           *sorted(str(path.relative_to(folder)) for path in folder.glob("rank-*/uftrace.data")), "-o", alone],
                          cwd=folder, capture_output=True, text=True, check=False, timeout=LIMIT)
    is_same = done.returncode == 0 and fingerprints(folder / NAME) == fingerprints(alone)
    bench.tap.check(ended.status == 0 and is_same, "the job script of doc/hpc.md: the same bytes", [*ended.describe(), said, done.stderr])
    bench.tap.check((tools / "modules").exists(), "the job script of doc/hpc.md: it loads modules")


def refused(bench):
    """Several tasks that MPI does not connect."""
    tap = bench.tap
    nothing = {"LODE_PLUGINS": str(bench.folder())}
    cases = [("srun --mpi=none", "none", (), {}, "'srun --mpi=pmix'"),
             ("srun --mpi=none, --local-ranks", "none", ("--local-ranks", "2"), {}, "--local-ranks"),
             ("srun --mpi=none, --mpi mpich", "none", ("--mpi", "mpich"), {}, "mpich sees one rank")]
    cases += [(f"srun --mpi={kind} without the plug-in", kind, (), nothing, "install the plug-in") for kind in bench.types]
    for title, kind, arguments, env, word in cases:
        parent = bench.folder()
        ended = bench.srun(kind, *bench.build(*arguments, bench.large, "-o", parent / NAME), env=env)
        said = ended.messages()
        tap.check(ended.status == 2 and len(said) == 1 and word in said[0] and f"started {TASKS} tasks" in said[0] and "--mpi off" in said[0],
                  f"{title}: {TASKS} tasks are refused, with one message", ended.describe())
        tap.check(not os.listdir(parent), f"{title}: nothing is written", os.listdir(parent))


def not_refused(bench):
    """One process, or tasks that are on their own."""
    tap = bench.tap
    parent = bench.folder()
    script = f"{' '.join(bench.build('--mpi', 'off'))} {bench.large} -o {parent}/db-$SLURM_PROCID"
    ended = bench.srun("none", "sh", "-c", script)
    tap.check(ended.status == 0 and sorted(os.listdir(parent)) == [f"db-{i}" for i in range(TASKS)],
              f"--mpi off: {TASKS} tasks build {TASKS} databases", ended.describe())
    parent = bench.folder()
    ended = bench.srun("none", "sh", "-c", f"{' '.join(bench.build('--mpi', 'off'))} {parent}/rec-$SLURM_PROCID -o {parent}/db")
    tap.check(ended.status == 2 and len(ended.messages()) == TASKS, "--mpi off: each task reports its own error", ended.describe())
    ways = {"srun -n1": ["srun", "-n", "1"], f"salloc -n{TASKS}": ["salloc", "-n", TASKS]}
    for title, words in ways.items():
        database = bench.folder() / NAME
        ended = run([*words, *bench.build(bench.large, "-o", database)], bench.env, LIMIT)
        tap.check(ended.status == 0 and not ended.messages() and database.exists(), f"{title}: one process builds", ended.describe())
    folder = bench.folder()
    hosts.write_script(folder / "job.sh", f"#!/bin/sh\n{' '.join(bench.build(bench.large))} -o db 2>&1\n")
    ended = run(["sbatch", "--wait", "-n", TASKS, "-N", NODES, "job.sh"], bench.env, LIMIT, folder)
    said = "".join(path.read_text(encoding="utf-8") for path in folder.glob("slurm-*.out"))
    tap.check(ended.status == 0 and (folder / NAME).exists() and not said, f"the script of sbatch -n{TASKS}: one process builds",
              [*ended.describe(), said])


class Endless:
    """A job that waits for a task that is stopped, until something ends it."""

    def __init__(self, bench, kind, title, *options, stopped=1):
        self.bench, self.kind, self.title = bench, kind, title
        self.parent, name = bench.folder(), f"{title.split()[0]}-{kind}"
        command = ["srun", f"--mpi={kind}", "-J", name, *SHAPE, *options, *bench.build(bench.large, "-o", self.parent / NAME)]
        self.process = Job(command, bench.env, LIMIT)
        self.job = wait_until(lambda: bench.cluster.job(name))
        self.tasks = wait_until(self.all_tasks) or {}
        self.has_begun = bool(self.tasks) and wait_until(lambda: (self.parent / PARTIAL).is_dir())
        if self.has_begun:
            os.kill(self.tasks[stopped], signal.SIGSTOP)

    def all_tasks(self):
        found = self.bench.cluster.tasks(self.job)
        return found if len(found) == TASKS else None

    def check(self):
        """It has ended, and nothing is left."""
        with self.process as process:
            process.limit = time.monotonic() - process.begin + LIMIT
            ended = process.wait()
        tap, title = self.bench.tap, f"{self.title}, --mpi={self.kind}"
        left = wait_until(lambda: not self.bench.cluster.left(), 10) or self.bench.cluster.left()
        names = os.listdir(self.parent)
        tap.check(self.has_begun, f"{title}: it had begun to write", ended.describe())
        tap.check(ended.status != 0 and not ended.late, f"{title}: the job ends with an error", ended.describe())
        # The MPI library may abort the task that writes as soon as it misses another one: nobody can clean up then.
        is_aborted = "task 0: Aborted" in ended.err
        tap.check(not names or (is_aborted and names == [PARTIAL]), f"{title}: no output, complete or not", [*names, *ended.describe()])
        tap.check(left is True, f"{title}: no processes, no shared memory, no temporary files", [left])
        tap.note(f"{title}: {ended.seconds:.1f} s")


def cancelled(bench, kind):
    job = Endless(bench, kind, "scancel")
    bench.cluster.ask("scancel", job.job)
    job.check()


def killed(bench, kind):
    """A task is killed; srun -K ends the others."""
    job = Endless(bench, kind, "killed task", "-K")
    with contextlib.suppress(ProcessLookupError, KeyError):
        os.kill(job.tasks[2], signal.SIGKILL)
    job.check()


def limited(bench, kind):
    """To be ended by Slurm, which looks every 30 s for jobs that took too long."""
    job = Endless(bench, kind, "time limit", "--time=10")
    bench.cluster.ask("scontrol", "update", f"JobId={job.job}", "EndTime=now")
    return job


def inside(tap, options):
    try:
        cluster = Cluster()
    except OSError as error:
        tap.skip("Slurm", str(error))
        return
    bench = Bench(tap, options, cluster)
    # The last one has to wait: meanwhile, the others.
    waiting = [limited(bench, kind) for kind in bench.types if "limited" in options.only]
    for case in (same_bytes, documented_job, refused, not_refused):
        if case.__name__ in options.only:
            case(bench)
    for job in waiting:
        job.check()
    for case in (cancelled, killed):
        for kind in bench.types:
            if case.__name__ in options.only:
                case(bench, kind)


def main():
    cases = ["same_bytes", "documented_job", "refused", "not_refused", "limited", "cancelled", "killed"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--records", type=int, default=400000)
    parser.add_argument("--only", nargs="*", default=cases, choices=cases)
    options = parser.parse_args()
    tap = Tap()
    if not os.environ.get(hosts.INSIDE):
        return hosts.outside(tap, "Slurm", TOOLS, APART)
    inside(tap, options)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
