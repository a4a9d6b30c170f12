#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Live: an MPI program of four ranks, each recorded by uftrace into a directory of its own, becomes one database on two ranks, which shows
four ranks and their MPI calls.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from jobs import MPICH, OPENMPI, environment, missing, room, run

from building import Lode, Tap, fingerprints, parse_arguments

PROGRAM = Path(__file__).resolve().parent / "relax.c"
RANKS, BUILDERS = 4, 2
STEPS = 100  # as in the program
# Each rank has its own directory, as a batch script would have it.
RECORD = 'mkdir -p "rank-${%s}" && exec uftrace record -d "rank-${%s}/uftrace.data" ./relax'


def record(mpi, folder, env):
    """The recordings of a job. Calls must stay calls, and go through the tables that uftrace watches."""
    compiled = run([mpi.compiler, "-O1", "-fno-inline", "-pg", "-Wl,-z,lazy", "-o", "relax", PROGRAM], env, cwd=folder)
    if compiled.status != 0:
        return compiled, []
    ended = run(mpi.job(RANKS, "sh", "-c", RECORD % (mpi.rank, mpi.rank)), env, cwd=folder)
    return ended, sorted(Path(folder).glob("rank-*/uftrace.data"))


def plain(name):
    """Without the module that a built database puts behind a name."""
    return name.split(" [", 1)[0]


def rows_below(rows, name):
    """The names of the rows of a tree that stand right below those of a name."""
    path, found = [], set()
    for row in rows:
        path[row["depth"]:] = [plain(row["name"])]
        if len(path) > 1 and path[-2] == name:
            found.add(path[-1])
    return found


def look_at(tap, lode, mpi, folder):
    env = environment(lode.program)
    ended, recordings = record(mpi, folder, env)
    if not tap.check(ended.status == 0 and len(recordings) == RANKS, f"{mpi.name}: {RANKS} ranks are recorded", ended.describe()):
        return
    database = Path(folder) / "db"
    ended = run(mpi.job(BUILDERS, lode.program, "build", "--rank-from", "rank-([0-9]+)", *recordings, "-o", database), env)
    if not tap.check(ended.status == 0 and database.exists(), f"{mpi.name}: {BUILDERS} ranks build a database", ended.describe()):
        return
    complaints = lode.complaints(database)
    tap.check(not complaints, f"{mpi.name}: a full check is clean", complaints)
    judge(tap, lode, mpi, database)
    alone = Path(folder) / "alone" / "db"  # the name of a database is in it
    alone.parent.mkdir()
    lode.must("build", "--mpi", "off", "--rank-from", "rank-([0-9]+)", *recordings, "-o", alone)
    tap.check(fingerprints(alone) == fingerprints(database), f"{mpi.name}: one process builds the same bytes")


def judge(tap, lode, mpi, database):
    names = sorted(row["name"] for row in lode.json("profiles", database, "--limit", 0)["rows"])
    wanted = [f"node 0 rank {rank} thread 0" for rank in range(RANKS)]
    # An MPI may have threads of its own.
    tap.check([name for name in names if name.endswith("thread 0")] == wanted, f"{mpi.name}: there are {RANKS} ranks", names)
    tree = lode.json("tree", database, "--limit", 0, "--min-percent", 0)["rows"]
    found = rows_below(tree, "step")
    tap.check({"relax", "MPI_Allreduce"} <= found, f"{mpi.name}: the tree shows MPI calls where they were made", [found])
    calls = {plain(row["name"]): row["exclusive"] for row in lode.json("top", database, "--limit", 0, "--metric", "calls")["rows"]}
    expected = {"MPI_Allreduce": RANKS * STEPS, "step": RANKS * STEPS, "MPI_Init": RANKS, "MPI_Barrier": RANKS, "main": RANKS}
    differing = [f"{name}: {calls.get(name)}, not {count}" for name, count in expected.items() if calls.get(name) != count]
    tap.check(not differing, f"{mpi.name}: every MPI call is counted", differing)


def main():
    options = parse_arguments(__doc__)
    lode, tap = Lode(options.lode), Tap()
    for mpi in (OPENMPI, MPICH):
        reason = missing(mpi, options.lode)
        absent = [tool for tool in ("uftrace", mpi.compiler) if shutil.which(tool) is None]
        if reason or absent:
            tap.skip(f"{mpi.name}: a recorded job", reason or f"there is no {', '.join(absent)}")
            continue
        with tempfile.TemporaryDirectory(prefix="lode-ranks-", dir=room()) as folder:
            look_at(tap, lode, mpi, folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
