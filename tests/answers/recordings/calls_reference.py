# SPDX-License-Identifier: BSD-3-Clause
"""
What `lode diagnose` says of the time of threads in a recording, obvious and slow: a forest of calls (rec_uftrace.py), and for each call a loop
over those that it lies in.
"""

import functools
import itertools
import re

import kinds
import rec_uftrace as uftrace

PREEMPTED = "linux:schedule (pre-empted)"
WAITING = {"mpi", "mpi-startup", "omp", "omp-wait", "omp-idle", "lock", "net", "sleep", "gpu"}
SPINNING = {"mpi", "mpi-startup", "omp", "omp-wait", "omp-idle", "gpu"}
SPINS = {"yield", "spin-lock"}
WEAK = {"tool", "thread", "kernel", "unknown"}
# Templates of the C++ library that are part of the program, mangled or not.
CXX = re.compile(r"_ZN?K?S[tabsiod]|_ZNK?9__gnu_cxx|std::|__gnu_cxx::")
BODY = re.compile(r"\._omp_fn\.|\.omp_outlined|__omp_outlined|_omp_par_region")
JOINS = {"join-thread", "wait-process"}


def is_stub(function, slots):
    return bool(function.symbol) and (function.module, function.symbol) in slots


@functools.lru_cache(None)
def activity_of(function, slots):
    name = function.symbol
    found = kinds.activity(function.module or None, name, is_stub(function, slots))
    if found == "own" and is_stub(function, slots):
        found = "lib"
    if name and BODY.search(name):
        return "own"
    return "lib" if name and found == "own" and CXX.match(name) else found


@functools.lru_cache(None)
def effect_of(function, slots):
    name = function.symbol
    return "none" if name and BODY.search(name) else kinds.effect(function.module or None, name, is_stub(function, slots))


@functools.lru_cache(4096)
def path_of(path, slots):
    """The activity that the time of the last call of a path of functions belongs to."""
    above = "unknown"
    for function in path:
        found = activity_of(function, slots)
        if found == "own" or (found == "omp-wait" and above == "omp"):
            above = found
        elif found not in ("lib", "off-cpu") and (above == "own" or above in WEAK):
            above = found
    return above


@functools.lru_cache(4096)
def spins(path, slots):
    """Whether the last call of a path of functions waits without being blocked: a switch to another thread is then part of the waiting."""
    activity = path_of(path, slots)
    library = itertools.takewhile(lambda function: activity_of(function, slots) != "own", reversed(path))
    return activity in SPINNING or (activity == "lock" and any(effect_of(function, slots) in SPINS for function in library))


@functools.lru_cache(4096)
def is_join(path, slots):
    """Whether the last call of a path of functions waits for the end of others, and is not part of a library function that does."""
    library = [*itertools.takewhile(lambda function: activity_of(function, slots) != "own", reversed(path))]
    joins = [effect_of(function, slots) in JOINS for function in library]
    return bool(joins) and joins[0] and not any(joins[1:])


def track_times(track, slots):
    """({activity: time}, useful running time, pre-empted while useful, joining) of a track."""
    times, useful, stolen, joining = {}, 0, 0, 0

    def add(activity, time):
        times[activity] = times.get(activity, 0) + time

    for call, above in uftrace.reference.walk(track.calls):
        path = tuple([outer.function for outer in above])
        if not call.is_off:
            path += (call.function,)
            activity = path_of(path, slots)
            add(activity, call.own)
            useful += 0 if activity in WAITING or activity == "off-cpu" else call.own
            if is_join(path, slots):
                joining += call.time - sum(inner.time for inner in call.inside if inner.is_off and inner.function.symbol == PREEMPTED)
            continue
        activity = path_of(path, slots) if above else "unknown"
        is_preempted = call.function.symbol == PREEMPTED
        if above and (spins(path, slots) if is_preempted else activity in WAITING or activity == "file"):
            add(activity, call.time)
        else:
            add("unknown" if not above and not is_preempted else "off-cpu", call.time)
        stolen += call.time if is_preempted and above and not spins(path, slots) else 0
    outside = track.facts["duration_ns"] - sum(times.values())
    is_worker = track.calls and track.calls[0].function.symbol and BODY.search(track.calls[0].function.symbol)
    add("omp-idle" if is_worker else "unknown", outside + (times.pop("unknown", 0) if is_worker else 0))
    return times, useful, stolen, joining


def processors(folder):
    """How many processors the machine has; 0: not known."""
    found = re.search(rb"nr_cpus=(\d+)", (folder / "info").read_bytes())
    return int(found[1]) if found else 0


def run(folder):
    """Figures of a recording: run time, time by activity, efficiency. For recordings without MPI launchers."""
    slots = uftrace.stubs(folder)
    tracks = [track for track in uftrace.tracks(folder) if any(not call.is_off for call in track.calls)]
    found = [(track, *track_times(track, slots)) for track in tracks]
    parents = [joining > 0.5 * track.facts["duration_ns"] for track, _, _, _, joining in found]
    if all(parents):
        parents = [False] * len(found)
    kept = [one for one, is_parent in zip(found, parents) if not is_parent or one[2] >= 0.01 * one[0].facts["duration_ns"]]
    activities = {}
    for _, times, *_ in kept:
        for name, time in times.items():
            activities[name] = activities.get(name, 0) + time
    begin, end = min(t.facts["begin_ns"] for t in tracks), max(t.facts["end_ns"] for t in tracks)
    workers = [(t.facts["begin_ns"], t.facts["end_ns"], useful) for (t, _, useful, *_), is_parent in zip(found, parents) if not is_parent]
    workers.sort(key=lambda worker: worker[0])
    slots_of = []  # [end, useful]
    for first, last, useful in workers:
        slot = next((slot for slot in slots_of if slot[0] <= first), None)
        if slot is None:
            slots_of.append(slot := [0, 0])
        slot[0], slot[1] = last, slot[1] + useful
    slots_of[0][1] += sum(useful for (_, _, useful, *_), is_parent in zip(found, parents) if is_parent)
    length = end - begin
    most = min(max(slot[1] for slot in slots_of), length)
    usable = min(len(slots_of), processors(folder) or len(slots_of))
    parallel = min(1, sum(slot[1] for slot in slots_of) / (usable * length)) if length else 0
    return {"run_time": length / 1e9, "activities": {name: time / 1e9 for name, time in activities.items() if time},
            "threads": len(kept), "parallel": parallel if len(slots_of) > 1 else None,
            "load_balance": min(1, parallel / min(1, most / length * len(slots_of) / usable)) if len(slots_of) > 1 and most else None,
            "stolen": sum(one[3] for one in kept) / 1e9}
