#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Rules of `lode diagnose` on databases with planted problems (diagnose_made.py): where a rule has to speak, where it must not, just below its limit,
and behind each guard. All figures are compared with the reference (diagnose_reference.py), and intervals with the truth on simulated samples.
"""

import argparse
import json
import math
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import db_write  # noqa: E402
import diagnose_reference as reference  # noqa: E402
from db_model import Database  # noqa: E402
from diagnose_made import APP, CUDA, GOMP, KERNEL, LIBC, MAIN, MPI, PERIOD, REGION, STARTED, WAIT, WORKER, Stream, Thread, database  # noqa: E402
from tap import Tap  # noqa: E402

SOLVE = MAIN + ((APP, "solve"),)
ALLREDUCE = SOLVE + ((MPI, "MPI_Allreduce"), (LIBC, "__poll"))
FREE = MAIN + ((APP, "release"), (LIBC, "_int_free"), (LIBC, "__brk"))
WRITE = MAIN + ((APP, "save"), (LIBC, "write"))
INIT = MAIN + ((MPI, "PMPI_Init"),)
BLOCKED, READY = ((None, "linux:schedule"),), ((None, "linux:schedule (pre-empted)"),)
JOIN, LOCK = MAIN + ((APP, "pthread_join"),) + BLOCKED, SOLVE + ((APP, "pthread_mutex_lock"),) + BLOCKED
RUN = STARTED + ((APP, "run"),)
GOMP_REGION, BODY = MAIN + ((APP, "GOMP_parallel"), (APP, "solve._omp_fn.0")), STARTED + ((APP, "solve._omp_fn.0"),)
HELPER = ((LIBC, "start_thread"), (MPI, "progress_engine"))


def ranks(count, work, mpi, line=(0, 10), **more):
    """`work`, `mpi`: seconds of each rank."""
    return [Thread({SOLVE: work[i], ALLREDUCE: mpi[i]}, rank=i, line=line, **more) for i in range(count)]


def openmp(threads, serial, inside, wait, place=SOLVE, count=1):
    """Processes with one master and workers."""
    made = []
    for rank in range(count):
        made.append(Thread({place: serial, REGION: inside[0], MAIN + WAIT[1:]: wait[0]}, rank=rank, thread=0, line=(0, 10)))
        made += [Thread({WAIT: wait[t], WORKER: inside[t]}, rank=rank, thread=t, line=(0, 10)) for t in range(1, threads)]
    return made


def late_waits():
    """Masters work alone for as long as others wait, but at other times: profiles cannot tell, trace lines do."""
    master = Thread({REGION: 5.0, SOLVE: 5.0}, rank=0, thread=0, line=(0, 10))
    return [master] + [Thread({WAIT: 5.0, WORKER: 5.0}, rank=0, thread=t, line=(0, 10)) for t in range(1, 4)]


def rare_samples():
    """The master is in a long system call, in which nobody is sampled: a sample stands for the time before it."""
    late = [6 + 0.005 * i for i in range(1, 801)]
    master = Thread({FREE: 6.0, REGION: 4.0}, rank=0, thread=0, samples=[(0, REGION), (6, FREE), *((time, REGION) for time in late)])
    return [master] + [Thread({WAIT: 6.0, WORKER: 4.0}, rank=0, thread=t, samples=[(0, WORKER), (6, WAIT), *((time, WORKER) for time in late)])
                       for t in range(1, 4)]


def calls(*threads, length=10):
    """A database that was built from a recording of calls: `time (sec)` and `calls`."""
    made = [Thread(times, thread=t, line=(0, length), others={1: {path: 1 for path in times}}) for t, times in enumerate(threads)]
    return database(made, ["time (sec)", "calls"])


def sampled(*threads, waits=SOLVE + ((LIBC, "pthread_cond_timedwait"),), names=("cpu-clock (sec)", "cpu-clock:samples"), length=10):
    """A recording of perf: times and numbers of samples; threads do not run in the rest of the time, if that is recorded."""
    made = []
    for number, times in enumerate(threads):
        others = {1: {path: round(time / PERIOD) for path, time in times.items()}}
        others |= {2: {waits: length - sum(times.values())}} if len(names) > 2 else {}
        made.append(Thread(times, thread=number, line=(0, length), others=others))
    return database(made, names)


OFF = ("cpu-clock (sec)", "cpu-clock:samples", "off-CPU (sec)")


def gpu(*streams, kernels=4.0, count=1000, stalls=None):
    """A thread that computes for 10 s, and kernels of a GPU; `stalls`: share of the samples of its instructions that wait."""
    others = {1: {KERNEL: kernels}, 2: {KERNEL: kernels}, 3: {KERNEL: count}}
    if stalls is not None:
        others |= {4: {KERNEL: 1e6}, 5: {KERNEL: 1e6 * stalls}, 6: {KERNEL: 6e5 * stalls}, 7: {KERNEL: 4e5 * stalls}}
    names = ["CPUTIME (sec)", "GPUOP (sec)", "GKER (sec)", "GKER:COUNT", "GINS", "GINS:STL_ANY", "GINS:STL_GMEM", "GINS:STL_IDEP"]
    return database([Thread({SOLVE: 10.0}, line=(0, 10), others=others), *streams], names)


def kernels(length, begin=0.0):
    return [(begin + i, begin + i + length) for i in range(10)]


# Name, database, ids that have to be said, notes that have to be said. All others must not.
CASES = [
    ("one thread that computes", database([Thread({SOLVE: 10.0}, line=(0, 10))]), {"hot-spot"}, set()),
    ("MPI with equal work", database(ranks(4, [7.0] * 4, [3.0] * 4)), {"mpi", "hot-spot"}, set()),
    ("MPI with threads of its own", database(ranks(4, [7.0] * 4, [3.0] * 4) + [Thread({HELPER: 9.0}, rank=i, thread=1, line=(0, 10)) for i in range(4)]),
     {"mpi", "hot-spot"}, {"helpers"}),
    ("MPI below its limit", database(ranks(4, [8.6] * 4, [1.4] * 4)), {"hot-spot"}, set()),
    ("MPI on fewer processors than ranks", database([Thread({SOLVE: 3.0, ALLREDUCE: 1.8}, rank=i, core=i % 2, line=(0, 10)) for i in range(4)]),
     {"hot-spot", "efficiency"}, {"oversubscribed"}),
    ("an id that may stand for seven processors", database([Thread({SOLVE: 1.5, ALLREDUCE: 0.9}, rank=i, core=0, line=(0, 10)) for i in range(4)]),
     {"hot-spot", "efficiency"}, set()),
    ("more ranks than an id may stand for", database([Thread({SOLVE: 1.5, ALLREDUCE: 0.9}, rank=i, core=0, line=(0, 10)) for i in range(12)]),
     {"hot-spot", "efficiency"}, {"oversubscribed"}),
    ("ids of processors that cannot be", database([Thread({SOLVE: 7.0, ALLREDUCE: 3.0}, rank=i, core=0, line=(0, 10)) for i in range(4)]),
     {"mpi", "hot-spot"}, set()),
    ("one rank with three times the work", database(ranks(4, [3.0, 3.0, 3.0, 9.0], [6.5, 6.5, 6.5, 0.5])), {"imbalance", "hot-spot"}, set()),
    ("ranks that differ by 6 %", database(ranks(4, [9.0, 9.0, 9.0, 9.6], [0.9, 0.9, 0.9, 0.3])), {"hot-spot"}, set()),
    ("too few samples for an imbalance", database(ranks(4, [0.11, 0.11, 0.11, 0.15], [0.0] * 4, line=(0, 0.15))), {"hot-spot"}, set()),
    ("a process alone in MPI", database(ranks(1, [6.0], [4.0])), {"hot-spot"}, set()),
    ("start of MPI", database([Thread({SOLVE: 7.0, INIT: 3.0}, rank=i, line=(0, 10)) for i in range(2)]), {"mpi-startup", "hot-spot", }, set()),
    ("start of MPI below its limit", database([Thread({SOLVE: 9.2, INIT: 0.8}, rank=i, line=(0, 10)) for i in range(2)]), {"hot-spot"}, set()),
    ("threads wait for the first", database(openmp(4, 5.0, [4.8] * 4, [0.1, 5.1, 5.1, 5.1])), {"omp-serial", "hot-spot"}, set()),
    ("threads wait while memory is freed", database(openmp(4, 5.0, [4.8] * 4, [0.1, 5.1, 5.1, 5.1], FREE, 2)), {"allocation", "hot-spot"}, set()),
    ("threads wait before and after what the first does alone", database(late_waits()), {"efficiency", "omp-imbalance", "hot-spot"}, set()),
    ("threads wait for a long system call", database(rare_samples()), {"allocation", "hot-spot"}, set()),
    ("unequal parts of regions", database(openmp(4, 0.1, [9.8, 4.0, 4.0, 4.0], [0.0, 5.9, 5.9, 5.9])), {"imbalance", "hot-spot"}, set()),
    ("unequal parts of regions, and more work outside", database(openmp(4, 4.0, [5.0, 2.5, 2.5, 2.5], [1.0, 7.5, 7.5, 7.5])),
     {"imbalance", "omp-serial", "hot-spot"}, set()),
    ("regions that are too small", database(openmp(4, 0.1, [6.0] * 4, [3.8] * 4)), {"omp-imbalance", "hot-spot"}, set()),
    ("equal parts of regions", database(openmp(4, 0.1, [9.4] * 4, [0.4, 0.5, 0.5, 0.5])), {"hot-spot"}, set()),
    ("waiting without names of regions", database([Thread({SOLVE: 10.0}, line=(0, 10)), Thread({WAIT: 10.0}, thread=1, line=(0, 10))]),
     {"efficiency", "hot-spot"}, set()),
    ("allocation by all threads", database([Thread({WORKER: 8.0, WORKER + ((LIBC, "malloc"),): 2.0}, thread=t, line=(0, 10)) for t in range(4)]),
     {"allocation", "hot-spot"}, set()),
    ("allocation below its limit", database([Thread({SOLVE: 9.6, FREE: 0.4}, line=(0, 10))]), {"hot-spot"}, set()),
    ("file I/O", database([Thread({SOLVE: 8.0, WRITE: 2.0}, line=(0, 10))]), {"file-io", "hot-spot"}, set()),
    ("file I/O below its limit", database([Thread({SOLVE: 9.2, WRITE: 0.8}, line=(0, 10))]), {"hot-spot"}, set()),
    ("the GPU runtime", database([Thread({SOLVE: 6.0, MAIN + ((CUDA, "cudaMalloc"),): 4.0}, line=(0, 10))]), {"gpu-runtime", "hot-spot"}, set()),
    ("a GPU that waits", gpu(Stream(kernels(0.4))), {"gpu-idle", "hot-spot"}, set()),
    ("a GPU that waits less than the limit", gpu(Stream(kernels(0.7)), kernels=7.0), {"hot-spot"}, set()),
    ("a GPU with little work", gpu(Stream(kernels(0.04)), kernels=0.4), {"hot-spot"}, set()),
    ("streams of a GPU that work in turn", gpu(Stream(kernels(0.4)), Stream(kernels(0.4, 0.45), 1), kernels=8.0), {"hot-spot"}, set()),
    ("GPUs that both wait", gpu(Stream(kernels(0.4)), Stream(kernels(0.4, 0.45), 1, 1), kernels=8.0), {"gpu-idle", "hot-spot"}, set()),
    ("a GPU whose instructions are sampled", gpu(Stream(kernels(0.4)), stalls=0.3), {"hot-spot"}, set()),
    ("GPU instructions that wait", gpu(stalls=0.6), {"gpu-stalls", "hot-spot"}, set()),
    ("GPU instructions that wait less than the limit", gpu(stalls=0.49), {"hot-spot"}, set()),
    ("GPU instructions that wait in 9 ms", gpu(stalls=0.6, kernels=0.009), {"hot-spot"}, set()),
    ("short kernels", gpu(Stream(kernels(0.9)), kernels=4.0, count=500_000), {"gpu-small-kernels", "hot-spot"}, set()),
    ("kernels above the limit", gpu(Stream(kernels(0.9)), kernels=4.0, count=390_000), {"hot-spot"}, set()),
    ("short kernels with little work", gpu(Stream(kernels(0.9)), kernels=0.4, count=50_000), {"hot-spot"}, set()),
    ("samples of a program that waits", sampled({SOLVE: 2.0}, names=OFF), {"off-cpu", "hot-spot"}, {"sampled"}),
    ("samples of a program that waits less than the limit", sampled({SOLVE: 8.2}, names=OFF), {"hot-spot"}, {"sampled"}),
    ("samples of threads that run in turn", sampled({SOLVE: 4.6}, {RUN: 4.6}, names=OFF), {"efficiency", "hot-spot"}, {"sampled"}),
    ("samples of a program whose waits are not recorded", sampled({SOLVE: 2.0}), {"hot-spot"}, {"sampled"}),
    ("samples of cycles of the user", sampled({SOLVE: 8.0}, names=("cycles:u", "cycles:u:samples")), {"hot-spot"}, {"sampled"}),
    ("samples of helpers", sampled({SOLVE: 5.0}, {HELPER: 4.0}), {"hot-spot"}, {"helpers", "sampled"}),
    ("few samples", database([Thread({SOLVE: 0.3, WRITE: 0.1}, line=(0, 0.4))]), set(), {"few-samples"}),
    ("no trace lines, few values", database([Thread({SOLVE: 10.0})]), set(), {"few-samples"}),
    ("code without names", database([Thread({MAIN + ((APP, None),): 10.0}, line=(0, 10))]), set(), {"no-symbols"}),
    ("unknown procedures", database([Thread({MAIN + ((APP, "<unknown procedure> 0x10 [solver]"),): 10.0}, line=(0, 10))]), set(), {"no-symbols"}),
    ("time without a function", database([Thread({SOLVE: 9.0}, line=(0, 10))], root=1.0), {"hot-spot"}, {"unattributed"}),
    ("several runs", database([Thread({SOLVE: 10.0, WRITE: 5.0}, thread=t, line=(100 * t, 100 * t + 10)) for t in range(8)]), set(), {"several-runs"}),
    ("a metric that does not fit the lines", database([Thread({SOLVE: 10.0, WRITE: 5.0}, thread=t, line=(0, 5)) for t in range(4)]), {"hot-spot"},
     {"inconsistent"}),
    ("threads of libraries", database([Thread({SOLVE: 10.0}, line=(0, 10)), Thread({HELPER: 9.0}, thread=1, line=(0, 10))]), {"hot-spot"}, {"helpers"}),
    ("threads without time", database([Thread({SOLVE: 10.0}, line=(0, 10)), Thread({}, thread=1, line=(0, 10))]), {"hot-spot"}, {"empty"}),
    ("calls, one thread", calls({SOLVE: 8.0, SOLVE + BLOCKED: 2.0}), {"hot-spot"}, set()),
    ("calls of 5 ms", calls({SOLVE: 0.005}, length=0.005), set(), {"few-samples"}),
    ("calls of 15 ms", calls({SOLVE: 0.012}, length=0.015), {"hot-spot"}, set()),
    ("calls, threads that are blocked", calls({SOLVE: 6.0, SOLVE + BLOCKED: 4.0}, {SOLVE: 4.0, SOLVE + BLOCKED: 6.0}), {"efficiency", "hot-spot"}, set()),
    ("calls, threads that are pre-empted", calls({SOLVE: 6.0, SOLVE + READY: 4.0}, {SOLVE: 4.0, SOLVE + READY: 6.0}), {"hot-spot"}, {"pre-empted"}),
    ("calls, a thread that waits for the ends of others", calls({JOIN: 9.5, SOLVE: 0.5}, {RUN: 10.0}, {RUN: 10.0}), {"hot-spot"}, {"helpers"}),
    ("calls, a thread that also works", calls({JOIN: 8.0, SOLVE: 2.0}, {RUN: 10.0}, {RUN: 10.0}), {"hot-spot"}, set()),
    ("calls, one thread with four times the work", calls({JOIN: 10.0}, {RUN: 2.4, RUN + BLOCKED: 7.6}, {RUN: 9.6, RUN + BLOCKED: 0.4},
                                                         {RUN: 2.4, RUN + BLOCKED: 7.6}), {"imbalance", "hot-spot"}, {"helpers"}),
    ("calls, threads that share work and processors", calls({JOIN: 10.0}, {RUN: 8.0, RUN + READY: 2.0}, {RUN: 4.0, RUN + READY: 6.0},
                                                            {RUN: 4.0, RUN + READY: 6.0}), {"hot-spot"}, {"helpers", "pre-empted"}),
    ("calls, threads that do not do the same", calls({JOIN: 10.0}, {RUN: 9.9, RUN + BLOCKED: 0.1}, {STARTED + ((APP, "log"),): 2.0}),
     {"efficiency", "hot-spot"}, {"helpers"}),
    ("calls, threads that live one after another", database(
        [Thread({RUN: 5.0}, thread=t, line=(5 * (t // 2), 5 * (t // 2) + 5), others={1: {RUN: 1}}) for t in range(4)], ["time (sec)", "calls"]),
     {"hot-spot"}, set()),
    ("calls that read a file", calls({SOLVE: 6.0, SOLVE + ((APP, "pread [solver]"),): 1.0, SOLVE + ((APP, "pread [solver]"),) + BLOCKED: 3.0}),
     {"file-io", "hot-spot"}, set()),
    ("calls of an own function that is named like one of a library", calls({SOLVE: 6.0, SOLVE + ((APP, "read"), (APP, "parse")): 4.0}), {"hot-spot"}, set()),
    ("calls, workers that wait between regions", calls({SOLVE: 5.0, GOMP_REGION: 5.0}, {BODY: 5.0}, {BODY: 5.0}), {"omp-serial", "hot-spot"}, set()),
    ("calls, short waits between regions", calls({SOLVE: 0.8, GOMP_REGION: 9.2}, {BODY: 9.2}, {BODY: 9.2}), {"hot-spot"}, set()),
    ("calls, workers that are pre-empted", calls({SOLVE: 5.0, GOMP_REGION: 3.5, GOMP_REGION + READY: 1.5}, {BODY: 3.5, BODY + READY: 1.5},
                                                 {BODY: 3.5, BODY + READY: 1.5}), {"hot-spot"}, {"pre-empted"}),
    ("calls of MPI while another rank is pre-empted", database(
        [Thread({SOLVE: 6.0, SOLVE + ((APP, "MPI_Allreduce"),): 4.0}, rank=0, line=(0, 10), others={1: {SOLVE: 1}}),
         Thread({SOLVE: 6.0, SOLVE + READY: 4.0}, rank=1, line=(0, 10), others={1: {SOLVE: 1}})], ["time (sec)", "calls"]), {"hot-spot"}, {"pre-empted"}),
    ("calls without their numbers", database([Thread({SOLVE: 10.0}, line=(0, 10))], ["time (sec)"]), set(), {"no-cpu-metric"}),
    ("no metric of the processor", database([Thread({SOLVE: 10.0}, line=(0, 10))], ["GINS"]), set(), {"no-cpu-metric"}),
]


def ask(lode, path, *options):
    done = subprocess.run([lode, "diagnose", "--json", *options, str(path)], capture_output=True, timeout=300)
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr.decode()}


def close(a, b):
    return a is None and b is None or a is not None and b is not None and abs(a - b) <= 1e-9 * max(1, abs(a), abs(b))


def blame_differences(said, facts):
    """What trace lines say about waiting: in whole per cent."""
    texts, wrong = [e["text"] for s in said["statements"] for e in s["evidence"] if "(trace lines)" in e["text"]], []
    for text in texts:
        share = facts.blame()[0 if "outside of regions" in text else 1]
        percent = int(re.search(r"(\d+)% of (it|the waiting)", text)[1])
        if share is None or abs(100 * share - percent) > 0.5 + 1e-6:
            wrong.append(f"{text}: not {share}")
    return wrong


def differences(said, data):
    """What the program says of run, activities and efficiencies, and the reference does not."""
    facts, wrong = reference.Facts(Database(data)), []
    if facts.metric is None:
        return [] if said["run"]["metric"] is None else ["there is no metric"]
    run = said["run"]
    wanted = {"metric": facts.metric["name"], "ranks": len(facts.ranks), "threads": len(facts.threads), "empty": facts.empty,
              "helpers": len(facts.helpers)}
    wrong += [f"{key}: {run[key]}, not {value}" for key, value in wanted.items() if run[key] != value]
    if facts.samples is not None and run["samples"] != facts.samples:
        wrong.append(f"samples: {run['samples']}, not {facts.samples}")
    if not any(note["id"] == "several-runs" for note in said["quality"]) and not close(run["run_time"], facts.run_time):
        wrong.append(f"run time {run['run_time']}, not {facts.run_time}")
    times = facts.activities()
    found = {row["activity"]: row["time"] for row in said["activities"]}
    wrong += [f"{name}: {found.get(name)}, not {times.get(name)}" for name in sorted({*times, *found}) if not close(found.get(name, 0), times.get(name, 0))]
    wrong += blame_differences(said, facts)
    if said["efficiency"]:
        for name, value in facts.efficiency().items():
            if not close(said["efficiency"][name], value):
                wrong.append(f"{name}: {said['efficiency'][name]}, not {value}")
        parts = [said["efficiency"][name] for name in ("process", "serial", "openmp")]
        if None not in parts and not close(sum(parts) - 2, said["efficiency"]["parallel"]):
            wrong.append("parts do not add up")
    return wrong + differences_of_statements(said, facts)


def differences_of_statements(said, facts):
    """Gains, and the hot spot, if samples are counted."""
    wrong, statements = [], {s["id"]: s for s in said["statements"]}
    if not said["run"]["can_judge"]:
        return [f"says {id}" for id in statements]
    for id, gain in facts.gains().items():
        if id in statements and not close(statements[id]["gain_percent"], 100 * gain):
            wrong.append(f"{id}: gain {statements[id]['gain_percent']}, not {100 * gain}")
    if facts.samples is None or any(note["id"] == "no-symbols" for note in said["quality"]):
        return wrong
    key, time = facts.hot_spot() or (None, 0.0)
    share = time / math.fsum(t.total for t in facts.threads)
    is_hot = share - 1.96 * math.sqrt(max(0.0, share * (1 - share)) / facts.samples) > 0.2
    if is_hot != ("hot-spot" in statements):
        wrong.append(f"a hot spot of {share}")
    if is_hot and "hot-spot" in statements:
        spot = statements["hot-spot"]
        if facts.name_key(facts.db.by_id[spot["context"]]) != key or not close(spot["evidence"][0]["value"], time):
            wrong.append(f"hot spot {spot['function']} {spot['evidence'][0]['value']}, not {key} {time}")
    return wrong


def rules_speak_where_they_have_to(tap, lode, folder):
    for number, (name, data, ids, notes) in enumerate(CASES):
        path = folder / str(number)
        db_write.write(path, data)
        said = ask(lode, path)
        wrong = [said["failed"]] if "failed" in said else []
        if not wrong:
            wrong = differences(said, data)
            found = {s["id"] for s in said["statements"]}
            if found != ids:
                wrong.append(f"says {sorted(found)}, not {sorted(ids)}")
            if {n["id"] for n in said["quality"]} != notes:
                wrong.append(f"notes {sorted(n['id'] for n in said['quality'])}, not {sorted(notes)}")
            wrong += [f"{s['id']}: gain {s['gain_percent']}" for s in said["statements"]
                      if s["gain_percent"] is not None and not 0 <= s["low_percent"] <= s["gain_percent"] <= s["high_percent"] <= 100]
        tap.check(not wrong, name, wrong)


def figures_are_those_that_were_planted(tap, lode, folder):
    """Texts and gains that follow from the numbers above."""
    numbers = {name: i for i, (name, *_) in enumerate(CASES)}

    def statement(name, id):
        return next((s for s in ask(lode, folder / str(numbers[name]))["statements"] if s["id"] == id), None)

    mpi = statement("MPI with equal work", "mpi")
    tap.check(mpi and close(mpi["gain_percent"], 30) and "mostly in MPI_Allreduce below solve" in mpi["text"] and "at most 0%" in mpi["evidence"][1]["text"],
              "MPI with equal work: 30 %, MPI_Allreduce below solve, not explained by unequal work", [mpi])
    helped = statement("MPI with threads of its own", "mpi")
    tap.check(helped and "mostly in MPI_Allreduce below solve" in helped["text"] and "MPI_Allreduce below solve: 100%" in helped["evidence"][0]["text"],
              "MPI with threads of its own: what is said is not of threads that are left out", [helped])
    inside = statement("unequal parts of regions, and more work outside", "imbalance")
    tap.check(inside and inside["function"] == "solve._omp_fn.0", "unequal parts of regions: the function is in a region", [inside])
    unequal = statement("one rank with three times the work", "imbalance")
    tap.check(unequal and close(unequal["gain_percent"], 45) and "0.50" in unequal["text"] and "rank 3" in unequal["evidence"][0]["text"] and
              unequal["rank"] == 3 and unequal["function"] == "solve",
              "one rank with three times the work: rank 3, load balance 0.50", [unequal])
    slow = statement("calls, one thread with four times the work", "imbalance")
    tap.check(slow and slow["thread"] == 2 and slow["function"] == "run" and "in run: load balance 0.50" in slow["text"] and close(slow["gain_percent"], 48),
              "one thread with four times the work: thread 2, in run", [slow])
    between = statement("calls, workers that wait between regions", "omp-serial")
    tap.check(between and between["function"] == "solve" and "33.3%" in between["evidence"][0]["text"] and close(between["gain_percent"], 50),
              "workers that wait between regions: a third of the time, for solve", [between])
    waits = statement("samples of a program that waits", "off-cpu")
    tap.check(waits and close(waits["gain_percent"], 80) and "at least 78%" in waits["text"] and "solve > pthread_cond_timedwait" in waits["evidence"][0]["text"],
              "samples of a program that waits: 80 %, in solve", [waits])
    idle = statement("a GPU that waits", "gpu-idle")
    tap.check(idle and close(idle["gain_percent"], 54) and "57%" in idle["text"] and "in solve for 100% of it" in idle["evidence"][1]["text"],
              "a GPU that waits: 5.4 of 9.4 s, meanwhile the CPU is in solve", [idle])
    stalls = statement("GPU instructions that wait", "gpu-stalls")
    tap.check(stalls and "60%" in stalls["text"] and "global memory" in stalls["text"] and close(stalls["evidence"][0]["value"], 0.6),
              "GPU instructions that wait: 60 %, for global memory", [stalls])
    serial = statement("threads wait for the first", "omp-serial")
    tap.check(serial and serial["function"] == "solve" and "solve" in serial["evidence"][1]["text"] and close(serial["gain_percent"], 50),
              "threads wait for the first, which is in solve", [serial])
    alloc = statement("threads wait while memory is freed", "allocation")
    tap.check(alloc and close(alloc["gain_percent"], 50) and {"omp-serial", "efficiency"} == set(alloc["explains"]) and
              "release > _int_free > __brk" in alloc["evidence"][0]["text"] and "TRIM" in alloc["advice"],
              "memory that the first thread frees explains the waiting", [alloc])


def exit_status_says_whether_something_limits(tap, lode, folder):
    numbers = {name: i for i, (name, *_) in enumerate(CASES)}
    for name, option, status in (("MPI with equal work", "likely:10%", 1), ("MPI with equal work", "likely:31%", 0), ("MPI with equal work", "sure", 0),
                                 ("one thread that computes", "likely", 0), ("few samples", "likely", 2)):
        done = subprocess.run([lode, "diagnose", "--fail-on", option, str(folder / str(numbers[name]))], capture_output=True, timeout=300)
        tap.check(done.returncode == status, f"--fail-on {option}, {name}: {status}", [done.returncode, done.stderr.decode()])
    for option in ("possible", "likely:x", "likely:101%", ""):
        done = subprocess.run([lode, "diagnose", "--fail-on", option, str(folder / "0")], capture_output=True, timeout=300)
        tap.check(done.returncode == 2 and not done.stdout, f"--fail-on '{option}' is refused", [done.stdout.decode()])


def functions_of_one_name_are_one(tap, lode, folder):
    """`lode top` adds up functions of one name in several modules and says so; the hot spot is the same row."""
    kernels = "/opt/app/libkernels.so"
    paths = {"twin": (MAIN + ((APP, "twin"),), MAIN + ((kernels, "twin"),)), "other": (MAIN + ((APP, "other"),),), "pair": (MAIN + ((APP, "pair"),),)}
    times = {paths["twin"][0]: 2.5, paths["twin"][1]: 3.5, paths["other"][0]: 3.0, paths["pair"][0]: 1.0}
    db_write.write(folder / "twins", database([Thread(times, line=(0, 10))]))
    rows = {row["name"]: row for row in json.loads(subprocess.run([lode, "top", "--json", folder / "twins"], capture_output=True, check=True).stdout)["rows"]}
    twin = rows["twin"]
    tap.check(close(twin["exclusive"], 6.0) and twin["functions"] == 2 and twin["module"] is None and twin["kind"] is None and twin["has_several_modules"], "a row of two modules", [twin])
    tap.check({name for name, row in rows.items() if row["has_several_modules"]} == {"twin"}, "only that one", [rows.keys()])
    symbols = json.loads(subprocess.run([lode, "top", "--json", "--by", "symbol", folder / "twins"], capture_output=True, check=True).stdout)["rows"]
    tap.check(sorted((row["exclusive"], row["module"]) for row in symbols if row["name"] == "twin") == [(2.5, APP), (3.5, kernels)] and not any(row["has_several_modules"] for row in symbols),
              "--by symbol lists them", [symbols])
    for words, said in (((), True), (("--limit", "1"), True), (("--by", "symbol"), False), (("--include", "other"), False), (("--metric", "all"), True)):
        text = subprocess.run([lode, "top", *words, folder / "twins"], capture_output=True, text=True, check=True).stdout
        tap.check(("1 row adds up functions of one name in several modules" in text) == said and ("(several)" in text) <= said, f"top {' '.join(words)} says so: {said}", [text])
    spot = next(s for s in ask(lode, folder / "twins")["statements"] if s["id"] == "hot-spot")
    tap.check(spot["function"] == "twin" and "60.0%" in spot["text"] and close(spot["evidence"][0]["value"], 6.0), "the hot spot has both", [spot])
    parts = [(evidence["value"], evidence["text"].rsplit(" ", 1)[-1]) for evidence in spot["evidence"][1:]]
    tap.check(len(parts) == 2 and close(parts[0][0], 3.5) and parts[0][1] == "libkernels.so" and close(parts[1][0], 2.5) and parts[1][1] == "solver", "and says what each module has", [spot])
    for evidence in spot["evidence"]:
        done = subprocess.run([lode, *evidence["command"][1:]], capture_output=True, text=True, check=False)
        tap.check(done.returncode == 0 and "twin" in done.stdout, f"{evidence['command'][1]} shows it", [done.stderr])


def rules_of_the_user_count(tap, lode, folder):
    kinds = folder / "kinds"
    kinds.write_text("# what our site has\nmpi * solve\n")
    said = ask(lode, folder / "0", "--kinds", str(kinds))
    tap.check({row["activity"] for row in said.get("activities", [])} == {"mpi"}, "--kinds makes a function MPI", [said])
    kinds.write_text("mpi\n")
    tap.check("line 1" in ask(lode, folder / "0", "--kinds", str(kinds)).get("failed", ""), "--kinds with a wrong line is refused", [])


def drawn(random, shares, count):
    """Seconds by call path, from samples that fall at random on a program with known shares."""
    found = dict.fromkeys(shares, 0)
    for path in random.choices(list(shares), list(shares.values()), k=count):
        found[path] += 1
    return {path: number * PERIOD for path, number in found.items()}


def simulate_mpi(random, count):
    """One thread in a rank."""
    return ([Thread(drawn(random, {SOLVE: 0.7, ALLREDUCE: 0.3}, count), rank=r, line=(0, count * PERIOD)) for r in range(2)],
            {"mpi": 0.3, "efficiency": 0.7, "hot-spot": 0.7})


def simulate_hybrid(random, count):
    """Masters have a quarter of the samples."""
    made = []
    for rank in range(2):
        made.append(Thread(drawn(random, {SOLVE: 0.4, REGION: 0.6}, count), rank=rank, line=(0, count * PERIOD)))
        made += [Thread(drawn(random, {WAIT: 0.4, WORKER: 0.6}, count), rank=rank, thread=t, line=(0, count * PERIOD)) for t in range(1, 4)]
    return made, {"omp-serial": 0.4, "efficiency": 0.7, "hot-spot": 0.6}


def simulate_unequal(random, count):
    """One of four ranks has three times the work."""
    return ([Thread(drawn(random, {SOLVE: 0.9 if r == 3 else 0.3, ALLREDUCE: 0.1 if r == 3 else 0.7}, count), rank=r, line=(0, count * PERIOD))
             for r in range(4)], {"imbalance": 0.45, "efficiency": 0.45})


def says_truth(said, id, truth):
    """Whether the interval of a statement, or of the efficiency, contains it."""
    if id == "efficiency":
        return said["efficiency"]["low"] <= truth <= said["efficiency"]["high"]
    statement = next((s for s in said["statements"] if s["id"] == id), None)
    if statement and id == "hot-spot":
        share, error = map(float, re.search(r"([0-9.]+)% \+- ([0-9.]+)%", statement["text"]).groups())
        return abs(share - 100 * truth) <= error + 0.05
    return statement is not None and statement["low_percent"] <= 100 * truth <= statement["high_percent"]


def intervals_contain_the_truth(tap, lode, folder, count):
    random = Random(20)
    for simulate in (simulate_mpi, simulate_hybrid, simulate_unequal):
        inside = {}
        for _ in range(count):
            threads, truths = simulate(random, 1000)
            db_write.write(folder / "simulated", database(threads))
            said = ask(lode, folder / "simulated")
            shutil.rmtree(folder / "simulated")
            for id, truth in truths.items():
                inside[id] = inside.get(id, 0) + says_truth(said, id, truth)
        least = 0.95 * count - 3 * math.sqrt(count * 0.05 * 0.95)
        for id, number in inside.items():
            tap.check(number >= least, f"{simulate.__name__}: intervals of {id} contain the truth in {number} of {count} simulated runs", [])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, help="the program to test")
    parser.add_argument("--count", type=int, default=60, help="simulated profiles")
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rules_speak_where_they_have_to(tap, options.lode, folder)
        figures_are_those_that_were_planted(tap, options.lode, folder)
        exit_status_says_whether_something_limits(tap, options.lode, folder)
        functions_of_one_name_are_one(tap, options.lode, folder)
        rules_of_the_user_count(tap, options.lode, folder)
        intervals_contain_the_truth(tap, options.lode, folder, options.count)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
