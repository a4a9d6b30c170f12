# SPDX-License-Identifier: BSD-3-Clause
"""Measurements as hpcrun writes them, by tests/tools/made_measurements.py."""

from made_measurements import MAIN_THREAD, NODE, PRIMARY, RANK, THREAD, Measured, Node, trace

START, STEP = 1_700_000_000_000_000_000, 5_000_000
METRICS = (("CPUTIME (sec)", "time"), ("cycles", "cycles of the processor"))


def _write(folder, stem, nodes, modules, ids, samples, **attributes):
    """`samples`: how many, one after the other at all nodes below the entry point; none: without a trace."""
    times = [START + STEP * i for i in range(samples)]
    bounds = {"trace_min_time": str(times[0]), "trace_max_time": str(times[-1])} if times else {}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{stem}.hpcrun").write_bytes(Measured(nodes, modules, METRICS, **attributes, **bounds).profile(*ids))
    if times:
        (folder / f"{stem}.hpctrace").write_bytes(trace((time, nodes[2 + i % (len(nodes) - 2)].id) for i, time in enumerate(times)))


def small(folder):
    """One thread: main calls two functions, one of them from two places."""
    nodes = [Node(2, 0, 0, PRIMARY), Node(4, 2, 0, MAIN_THREAD), Node(6, 4, 1, 0x1180, {0: 0.25}), Node(8, 6, 1, 0x1120, {0: 0.5, 1: 1000.0}),
             Node(10, 6, 1, 0x1160, {0: 0.125}), Node(12, 10, 1, 0x1120, {0: 0.75, 1: 3000.0}), Node(14, 12, 2, 0x9040, {0: 0.5})]
    _write(folder, "small-000000-000-00000abc-7-0", nodes, ("/opt/app/bin/small", "/usr/lib/libc.so.6"), ((NODE, 0xabc, 0), (THREAD, 0, 0)), 20, program_name="small")


def threads(folder, ranks, threads, depth):
    """Ranks with threads, of which the last has no trace; `depth` calls below main."""
    for rank in range(ranks):
        for thread in range(threads):
            nodes = [Node(2, 0, 0, PRIMARY), Node(4, 2, 0, MAIN_THREAD), Node(6, 4, 1, 0x1180, {0: 0.25 * (rank + 1)})]
            for i in range(depth):
                nodes.append(Node(8 + 2 * i, nodes[2 + i // 2].id, 1, 0x1200 + 0x10 * (i + thread), {0: 1.5 + thread + i, 1: 500.0 * (rank + 1)}))
            samples = 0 if (rank, thread) == (ranks - 1, threads - 1) and threads > 1 else 30
            _write(folder, f"app-{rank:06}-{thread:03}-00000abc-{9 + rank}-0", nodes, ("/opt/app/bin/app",),
                   ((NODE, 0xabc, 0), (RANK, 0, rank), (THREAD, 0, thread)), samples, program_name="app", mpi_rank=str(rank), thread_id=str(thread))


def make(target):
    small(target / "small")
    threads(target / "threads", 2, 2, 1)
    threads(target / "ranks", 3, 1, 30)
