#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tasks of a launcher that MPI does not connect are refused before anything is written, with one message.

Usage: launchers.py --lode PROGRAM

With each MPI's mpirun: the plug-in is missing, the plug-in is that of the other MPI, ranks inside the process are asked for as well. One
task needs no plug-in, and tasks that are told to be on their own report their own errors. Slurm is in slurm.py, others in
tests/unit/cli/test_launcher.c.
"""

import os
import sys
import tempfile
from pathlib import Path

from jobs import MPICH, OPENMPI, environment, missing, room, run

from building import Lode, Tap, parse_arguments

TASKS = 3
LIMIT = 120


def refused(tap, lode, mpi, folder, recording):
    other = MPICH if mpi is OPENMPI else OPENMPI
    cases = [("without the plug-in", (), folder / "none", "install the plug-in"),
             ("--local-ranks", ("--local-ranks", "2"), None, "--local-ranks")]
    if not missing(other, lode.program):
        cases.append((f"--mpi {other.name}", ("--mpi", other.name), None, f"{other.name} sees one rank"))
    for title, arguments, plugins, word in cases:
        with tempfile.TemporaryDirectory(dir=folder) as parent:
            env = environment(lode.program, **({"LODE_PLUGINS": str(plugins)} if plugins else {}))
            ended = run(mpi.job(TASKS, lode.program, "build", *arguments, recording, "-o", Path(parent) / "db"), env, LIMIT)
            said = ended.messages()
            is_said = len(said) == 1 and word in said[0] and f"started {TASKS} tasks" in said[0] and "--mpi off" in said[0]
            tap.check(ended.status not in (0, None) and is_said, f"mpirun of {mpi.name}, {title}: {TASKS} tasks are refused, with one message",
                      ended.describe())
            tap.check(not os.listdir(parent), f"mpirun of {mpi.name}, {title}: nothing is written", os.listdir(parent))


def without_mpi(tap, lode, mpi, folder, recording):
    """Commands that do not use MPI: what writes is refused at once, unless each task has an output of its own; what prints runs in every task."""
    env = environment(lode.program)
    for words in (("export", recording, "--format", "folded", "-o"), ("flame", recording, "-o")):
        with tempfile.TemporaryDirectory(dir=folder) as parent:
            target = Path(parent) / ("new.svg" if words[0] == "flame" else "new")
            ended = run(mpi.job(TASKS, lode.program, *words, target), env, LIMIT)
            said = ended.messages()
            tap.check(ended.status not in (0, None) and len(said) == 1 and f"started {TASKS} tasks" in said[0] and "does not use MPI" in said[0]
                      and not os.listdir(parent), f"mpirun of {mpi.name}: lode {words[0]} is refused with one message", ended.describe())
            ended = run(mpi.job(1, lode.program, *words, target), env, LIMIT)
            tap.check(ended.status == 0 and os.listdir(parent) == [target.name], f"mpirun of {mpi.name}: one task may be lode {words[0]}", ended.describe())
    for words in (("report", recording, "--pdf"), ("gate", recording, recording, "--max-slower", "5%", "--junit")):
        with tempfile.TemporaryDirectory(dir=folder) as parent:
            ended = run(mpi.job(TASKS, lode.program, *words, Path(parent) / "new.pdf"), env, LIMIT)
            said = ended.messages()
            tap.check(ended.status not in (0, None) and len(said) == 1 and "does not use MPI" in said[0] and not os.listdir(parent),
                      f"mpirun of {mpi.name}: lode {words[0]} {words[-1]} is refused with one message", ended.describe())
    with tempfile.TemporaryDirectory(dir=folder) as parent:
        command = f"{lode.program} export {recording} --format folded -o {parent}/new-${mpi.rank}"
        ended = run(mpi.job(TASKS, "sh", "-c", command), environment(lode.program, LODE_MPI="off"), LIMIT)
        tap.check(ended.status == 0 and len(os.listdir(parent)) == TASKS, f"mpirun of {mpi.name}, LODE_MPI=off: {TASKS} tasks, {TASKS} stores",
                  ended.describe())
    ended = run(mpi.job(TASKS, lode.program, "info", recording), env, LIMIT)
    tap.check(ended.status == 0 and not ended.messages(), f"mpirun of {mpi.name}: what prints runs in every task", ended.describe())


def allowed(tap, lode, mpi, folder, recording):
    env = environment(lode.program, LODE_PLUGINS=str(folder / "none"))
    with tempfile.TemporaryDirectory(dir=folder) as parent:
        ended = run(mpi.job(1, lode.program, "build", recording, "-o", Path(parent) / "db"), env, LIMIT)
        tap.check(ended.status == 0 and os.listdir(parent) == ["db"], f"mpirun of {mpi.name}: one task needs no plug-in", ended.describe())
    with tempfile.TemporaryDirectory(dir=folder) as parent:
        command = f"{lode.program} build --mpi off {recording} -o {parent}/db-${mpi.rank}"
        ended = run(mpi.job(TASKS, "sh", "-c", command), env, LIMIT)
        tap.check(ended.status == 0 and len(os.listdir(parent)) == TASKS, f"mpirun of {mpi.name}, --mpi off: {TASKS} tasks, {TASKS} databases",
                  ended.describe())
        # Tasks that fail at once may be ended by the launcher before all have spoken: the last one waits for nobody.
        ended = run(mpi.job(TASKS, "sh", "-c", f"[ ${mpi.rank} = {TASKS - 1} ] || exit 0; {lode.program} build --mpi off {parent}/none -o {parent}/db"),
                    env, LIMIT)
        tap.check(ended.status != 0 and len(ended.messages()) == 1, f"mpirun of {mpi.name}, --mpi off: another task than the first reports its error",
                  ended.describe())
        ended = run(mpi.job(TASKS, "sh", "-c", f"[ ${mpi.rank} = {TASKS - 1} ] || exit 0; {lode.program} info {parent}/none"), env, LIMIT)
        tap.check(ended.status != 0 and len(ended.messages()) == 1, f"mpirun of {mpi.name}: another command reports its error in every task",
                  ended.describe())


def main():
    options = parse_arguments(__doc__)
    tap = Tap()
    lode = Lode(str(Path(options.lode).resolve()))
    with tempfile.TemporaryDirectory(prefix="lode-launchers-", dir=room()) as folder:
        recording = Path(folder) / "recording"
        lode.must("synth", "recording", "--records", 2000, "-o", recording)
        for mpi in (OPENMPI, MPICH):
            if reason := missing(mpi, lode.program):
                tap.skip(f"mpirun of {mpi.name}", reason)
                continue
            refused(tap, lode, mpi, Path(folder), recording)
            without_mpi(tap, lode, mpi, Path(folder), recording)
            allowed(tap, lode, mpi, Path(folder), recording)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
