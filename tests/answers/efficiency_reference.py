# SPDX-License-Identifier: BSD-3-Clause
"""
What `lode efficiency` has to compute, worked out slowly from the facts of diagnose_reference.py.

group       Threads with the same ids. Its run time is that of the run. Additive parts only if it has all threads of its ranks.
class       Of the time at a context: useful outside of OpenMP regions, useful inside, OpenMP runtime, other.
phase       The time from the first sample of threads to the last is cut into equal parts. Each sample stands for the time since the sample before it
            of its line, but for no more than ten periods (time of the thread / samples; without seconds, length of the line / samples). In a database
            that was built from calls it stands for the time until the next one. The time of a thread in a class is spread over phases as its samples
            of that class are; without any, over the length of its line.
run time    Of a phase: that of the run x length of the phase / length of all.
"""

import copy

from diagnose_reference import NOT_USEFUL, OPENMP, Thread, paths

STANDS_FOR = {"outside": ("own", 1), "inside": ("own", 2), "runtime": ("omp", 1), "other": ("mpi", 1)}


def class_of(activity, place):
    if activity in OPENMP:
        return "runtime"
    if activity in NOT_USEFUL:
        return "other"
    return "inside" if place == 2 else "outside"


def part(facts, threads, run_time=None):
    """Facts of some threads, and the efficiencies of them."""
    some = copy.copy(facts)
    some.threads = threads
    some.run_time = facts.run_time if run_time is None else run_time
    some._find_ranks()
    return some


def efficiency_of(facts, some):
    """Of threads `some`, which may be those of a phase, of the run `facts`."""
    figures = some.efficiency()
    whole = {tuple(t.profile for t in rank) for rank in facts.ranks}
    is_hybrid = "process" in facts.efficiency() and all(tuple(t.profile for t in rank) in whole for rank in some.ranks)
    keys = ("parallel", "load_balance", "communication", "process", "serial", "openmp", "rank_balance", "rank_communication")
    if is_hybrid and "process" not in figures:  # without time inside of regions in this phase
        figures.update(hybrid(some))
    return {key: figures.get(key) if is_hybrid or key in keys[:3] else None for key in keys}


def hybrid(some):
    """The same formulas as Facts.efficiency, for any threads."""
    n, run = len(some.threads), some.run_time
    masters = [(rank[0].useful((0, 1)), rank[0].useful((2,)) + rank[0].sum(OPENMP), len(rank)) for rank in some.ranks]
    inside = sum(t.useful() for t in some.threads) - sum(m[0] for m in masters)
    work = [serial + omp for serial, omp, _ in masters]
    return {"process": sum(t * (s + o) for s, o, t in masters) / (n * run), "serial": 1 - sum(s * (t - 1) for s, _, t in masters) / (n * run),
            "openmp": 1 - (sum(t * o for _, o, t in masters) - inside) / (n * run),
            "rank_balance": sum(work) / len(work) / max(work) if max(work) else 1.0, "rank_communication": max(work) / run}


def groups(threads, kind):
    """{id: threads}."""
    found = {}
    for thread in threads:
        if kind in thread.ids:
            found.setdefault(thread.ids[kind], []).append(thread)
    return dict(sorted(found.items()))


def overlap(begin, end, low, high):
    return max(0, min(end, high) - max(begin, low))


def phases(facts, count):
    """[(from, to, facts)]; None: not all threads have a line of two samples."""
    where = paths(facts.db)
    lines = {}
    for line in (facts.db.traces or {"lines": []})["lines"]:
        if len(line["samples"]) > 1:
            lines.setdefault(line["profile"], line["samples"])
    if not all(t.profile in lines for t in facts.threads):
        return None
    first = min(lines[t.profile][0][0] for t in facts.threads)
    last = max(lines[t.profile][-1][0] for t in facts.threads)
    bounds = [first + (last - first) * i // count for i in range(count + 1)]
    made = [[] for _ in range(count)]
    for thread in facts.threads:
        for k, times in enumerate(spread(facts, thread, lines[thread.profile], where, bounds)):
            made[k].append(Thread(thread.profile, thread.ids, times))
    return [(bounds[k], bounds[k + 1], part(facts, made[k], facts.run_time * (bounds[k + 1] - bounds[k]) / (last - first))) for k in range(count)]


def spread(facts, thread, samples, where, bounds):
    """The times of a thread in each phase."""
    count = len(bounds) - 1
    is_seconds = facts.metric["name"].endswith("(sec)")
    period = (thread.total * 1e9 if is_seconds else samples[-1][0] - samples[0][0]) / (len(samples) - 1)
    weights = {name: [0.0] * count for name in STANDS_FOR}
    total = dict.fromkeys(STANDS_FOR, 0.0)
    is_counted = facts.metric["name"] == "time (sec)"
    for (before, last), (time, next) in zip(samples, samples[1:]):
        context = facts.db.by_id.get(last if is_counted else next)
        name = class_of(*where[context.index]) if context is not None else "other"
        begin = time - int(10 * period) if time - before > 10 * period and not is_counted else before
        total[name] += time - begin
        for k in range(count):
            weights[name][k] += overlap(begin, time, bounds[k], bounds[k + 1])
    times = dict.fromkeys(STANDS_FOR, 0.0)
    for (activity, place), value in thread.time.items():
        times[class_of(activity, place)] += value
    length = samples[-1][0] - samples[0][0]
    shares = {name: [weights[name][k] / total[name] if total[name] else overlap(samples[0][0], samples[-1][0], bounds[k], bounds[k + 1]) / length
                     for k in range(count)] for name in STANDS_FOR}
    return [{STANDS_FOR[name]: times[name] * shares[name][k] for name in STANDS_FOR} for k in range(count)]
