# SPDX-License-Identifier: BSD-3-Clause
"""
What `lode diagnose` has to compute for databases, worked out slowly and in the plainest way from files that Lode did not write (the shape of
tests/dump/expected.py).

activity    Of a function: kinds.py. Of the costs at a context: walk down the path from the entry point. A function of the application
            makes it "own". Libraries that pass time on ("lib", "off-cpu") change nothing. Below an application function, or below what says
            less than its callees (measurement tool, start of threads, kernel, nothing at all), a library function makes it its own activity;
            below another library function it does not, but that waiting inside the OpenMP runtime is "omp-wait". What the scheduler
            has directly below an application function is "off-cpu".
            In a database that was built from calls, a function that calls no other (but the scheduler) has the activity of a library function
            of its name.
place       0: no application function above; 1: below one; 2: below one whose name marks the body of an OpenMP region; 3: below a function of
            the activity "lock" whose name contains "join"; 4: what the scheduler has of threads that are ready to run.
time        Of a profile: own costs (inclusive value less that of listed children) by activity and place. Only profiles without GPU ids.
threads     Profiles with time that have some below an application function or in the OpenMP runtime, and not more than 90 % at place 3; the
            others are helpers.
rank        Threads with one (NODE, RANK); without RANK, with one NODE. Its master is that with the lowest THREAD.
useful      All time but that in MPI, the OpenMP runtime, locks, network and polling, sleep, off-CPU, GPU runtime.
metric      The first of REALTIME, CPUTIME, trace time, cycles, perf::cpu-clock and perf::task-clock that has a total; else "time (sec)" of a database that
            was built from calls and counts them: these are not samples.
run time    The largest of: time of a thread; if the metric is in seconds, first to last sample of all lines of threads.
holder      Of the costs at a context: the innermost application function above it that is not of the C++ standard library; if all are, the
            outermost of them. The hot spot is the function that holds most own time.
gain        allocation: time of masters / (ranks x run time) if they have more than 80 % of it, else of all threads / (threads x run time).
            gpu-runtime: share of the time of threads, less the time of kernels / run time. file-io: share of the time of threads.
            off-cpu: 1 - time of all threads / run time, which is the least time in which none of them runs.
"""

import bisect
import math
import re
from collections import defaultdict

import kinds
from db_model import GLOBAL, Cost

TRANSPARENT = {"lib", "off-cpu"}
WEAK = {"tool", "thread", "kernel", None}
NOT_USEFUL = {"mpi", "mpi-startup", "omp", "omp-wait", "omp-idle", "lock", "net", "sleep", "off-cpu", "gpu"}
OPENMP = {"omp", "omp-wait", "omp-idle"}
REGION = re.compile(r"\._omp_fn\.|\.omp_outlined|__omp_outlined|_omp_par_region")
STD = re.compile(r"std::|__gnu_cxx::|_ZSt|_ZNSt|_ZNKSt|_ZN9__gnu_cxx|_ZNK9__gnu_cxx")
ALLOCATION = {"alloc", "pages"}


def module_and_name(db, context):
    record = db.functions[context.function] if context.function is not None else None
    module = record["module"] if record and record["module"] is not None else context.module
    return db.module_path(module), record["name"] if record else None


def leaves(db):
    """Functions that call no other than the scheduler."""
    starts = [c for c in db.contexts if c.begins_function() and c.lexical not in ("entry", "global")]
    callers = {c.parent.function for c in starts if not (module_and_name(db, c)[1] or "").startswith("linux:schedule")
               and c.parent in starts}
    return {c.function for c in starts if c.function is not None} - callers


def activity_by_name(name):
    found = kinds.activity(None, name.split(" [")[0] + "@plt") if name else "own"
    return "own" if found == "lib" else found


def paths(db):
    """By index of context: (activity or None, place)."""
    found = []
    metric = metric_of(db)
    named = leaves(db) if metric and metric["name"] == "time (sec)" else set()
    for context in db.contexts:
        above, place = found[context.parent.index] if context.parent else (None, 0)
        if context.begins_function() and context.lexical not in ("entry", "global"):
            module, name = module_and_name(db, context)
            activity = kinds.activity(module, name)
            if activity == "own" and context.function in named:
                activity = activity_by_name(name)
            if activity == "own":
                above, place = "own", max(place, 1)
                if name and REGION.search(name):
                    place = 2
            elif activity == "omp-wait" and above == "omp":
                above = activity
            elif activity not in TRANSPARENT and (above == "own" or above in WEAK):
                above = activity
            if above == "own" and (name or "").startswith("linux:schedule"):
                above = "off-cpu"
            if activity != "own" and above == "lock" and name and "join" in name:
                place = 3
            elif activity == "off-cpu" and "pre-empted" in name:
                place = 4
        found.append((above, place))
    return found


def metric_of(db):
    """The metric of CPU time, and whether it is in seconds."""
    with_total = [m for m in db.metrics if db.sum_id(m, "execution") and db.values(0, db.sum_id(m, "execution")).get(GLOBAL)]
    for wanted in ("REALTIME (sec)", "CPUTIME (sec)", "trace time (sec)", "cpu-clock (sec)", "cpu-clock:u (sec)", "task-clock (sec)", "task-clock:u (sec)", "cycles",
                   "cycles:u", "cycles:P", "cycles:Pu", "perf::cpu-clock", "perf::task-clock"):
        for metric in with_total:
            if metric["name"] == wanted:
                return metric
    names = {metric["name"]: metric for metric in with_total}
    return names["time (sec)"] if {"time (sec)", "calls"} <= set(names) else None


class Thread:
    def __init__(self, profile, ids, time):
        self.profile, self.ids, self.time = profile, ids, time  # time: by (activity, place)
        self.total = math.fsum(time.values())

    def sum(self, activities=None, places=(0, 1, 2, 3, 4)):
        return math.fsum(t for (a, p), t in self.time.items() if p in places and (activities is None or a in activities))

    def useful(self, places=(0, 1, 2, 3, 4)):
        return math.fsum(t for (a, p), t in self.time.items() if p in places and a not in NOT_USEFUL)

    def is_helper(self):
        if self.sum(places=(3,)) > 0.9 * self.total:
            return True
        return not self.sum(places=(1, 2)) and not self.sum(OPENMP)


class Facts:
    def __init__(self, db):
        self.db, self.metric = db, metric_of(db)
        self.empty, self.helpers, self.threads = 0, [], []
        if self.metric is None:
            return
        where = paths(db)
        id = db.scope_id(self.metric, "execution")
        for number in db.ordinary_profiles():
            ids = {db.id_names[i["kind"]]: i["logical"] for i in db.profiles[number]["ids"]}
            if any(kind.startswith("GPU") for kind in ids):
                continue
            values = db.values(number, id)
            time = defaultdict(float)
            for context in db.contexts:
                if db.by_id[context.id] is not context:
                    continue
                own = math.fsum([values.get(context.id, 0.0), *(-values.get(c.id, 0.0) for c in context.children)])
                if abs(own) > 1e-11 * abs(values.get(context.id, 0.0)):
                    time[where[context.index]] += own
            thread = Thread(number, ids, dict(time))
            if not values.get(GLOBAL):
                self.empty += 1
            elif thread.is_helper():
                self.helpers.append(thread)
            else:
                self.threads.append(thread)
        self._find_ranks()
        self._find_run_time()

    def _find_ranks(self):
        ranks = defaultdict(list)
        for thread in self.threads:
            ranks[thread.ids.get("NODE"), thread.ids.get("RANK")].append(thread)
        for members in ranks.values():
            members.sort(key=lambda t: (t.ids.get("THREAD", 0), t.profile))
        self.ranks = list(ranks.values())

    def _find_run_time(self):
        self.run_time = max((t.total for t in self.threads), default=0.0)
        self.samples, self.span, self.cover = None, None, None
        lines = [line["samples"] for line in (self.db.traces or {"lines": []})["lines"]
                 if line["profile"] in {t.profile for t in self.threads} and line["samples"]]
        if not lines:
            return
        if self.metric["name"] != "time (sec)":
            self.samples = self._counted() or sum(len(line) - 1 for line in lines)
        first, last = min(line[0][0] for line in lines), max(line[-1][0] for line in lines)
        self.span = (last - first) * 1e-9
        self.cover = sum((line[-1][0] - line[0][0]) * 1e-9 for line in lines) / (len(lines) * self.span) if last > first else None
        if self.metric["name"].endswith("(sec)"):
            self.run_time = max(self.run_time, self.span)

    def _counted(self):
        """Recordings of perf have a metric of the number of samples; of that, the share of threads that are not left out."""
        counted = self.total_of(self.metric["name"].removesuffix(" (sec)") + ":samples")
        threads, others = (math.fsum(t.total for t in group) for group in (self.threads, self.helpers))
        return round(counted * threads / (threads + others)) if counted else None

    def blame(self):
        """
        Shares of the time that workers wait in the OpenMP runtime in which the master of their rank is neither in a region nor in that runtime, and
        in which it allocates memory outside of regions. A sample stands for the time since the one before it.
        """
        where = paths(self.db)
        lines = {line["profile"]: line["samples"] for line in reversed(self.db.traces["lines"])}

        def intervals(thread):
            samples = lines.get(thread.profile, [])
            for before, after in zip(samples, samples[1:]):
                context = self.db.by_id.get(after[1]) if after[1] else None
                yield before[0], after[0], where[context.index] if context else None

        waiting = explained = allocating = 0
        for rank in self.ranks:
            master = list(intervals(rank[0]))
            ends = [end for _, end, _ in master]
            for worker in rank[1:] if master else []:
                for begin, end, state in intervals(worker):
                    if not state or state[0] not in OPENMP:
                        continue
                    waiting += end - begin
                    for other in master[bisect.bisect_left(ends, begin):bisect.bisect_right(ends, end) + 1]:
                        common = min(end, other[1]) - max(begin, other[0])
                        if common > 0 and other[2] and other[2][0] not in OPENMP and other[2][1] != 2:
                            explained += common
                            allocating += common if other[2][0] in ("alloc", "pages") else 0
        return (explained / waiting, allocating / waiting) if waiting else (None, None)

    def activities(self):
        """Time of all threads by what they did."""
        times = defaultdict(list)
        for thread in self.threads:
            for (activity, _), time in thread.time.items():
                times[activity or "unknown"].append(time)
        return {name: math.fsum(parts) for name, parts in times.items()}

    def efficiency(self):
        n, run = len(self.threads), self.run_time
        useful = [t.useful() for t in self.threads]
        balance = sum(useful) / n / max(useful) if max(useful) else 1.0
        out = {"parallel": sum(useful) / (n * run), "load_balance": balance, "communication": max(useful) / run}
        if any(t.sum(places=(2,)) for t in self.threads) and n > len(self.ranks):
            process = serial_loss = omp_time = 0.0
            work = []
            for rank in self.ranks:
                master, t = rank[0], len(rank)
                serial = master.useful((0, 1))
                omp = master.useful((2,)) + master.sum(OPENMP)
                work.append(serial + omp)
                process += t * (serial + omp) / (n * run)
                serial_loss += serial * (t - 1) / (n * run)
                omp_time += t * omp / (n * run)
            inside = sum(useful) - sum(rank[0].useful((0, 1)) for rank in self.ranks)
            out.update(process=process, serial=1 - serial_loss, openmp=1 - (omp_time - inside / (n * run)),
                       rank_balance=sum(work) / len(work) / max(work), rank_communication=max(work) / run)
        return out

    def name_key(self, holder):
        """Functions of one name are one, in whatever modules."""
        return ("named", name) if (name := module_and_name(self.db, holder)[1]) else self.db.function_key(holder)

    def hot_spot(self):
        """(key of the function, its own time), or None."""
        cost, where, times = Cost(self.db, self.metric), paths(self.db), defaultdict(list)
        for context in self.db.contexts:
            own = cost.own[context.index]
            if own > 0 and where[context.index][0] == "own" and (holder := self._holder(context)) is not None:
                times[self.name_key(holder)].append(own)
        sums = {key: math.fsum(parts) for key, parts in times.items()}
        return max(sums.items(), key=lambda item: item[1]) if sums else None

    def _holder(self, context):
        application = []
        for above in context.above():
            if above.begins_function() and above.lexical not in ("entry", "global"):
                module, name = module_and_name(self.db, above)
                if kinds.activity(module, name) == "own":
                    application.append((above, name))
        for above, name in application:
            if not (name and STD.match(name)):
                return above
        return application[-1][0] if application else None

    def total_of(self, name):
        """Of a metric, over all profiles; 0 if there is none."""
        for metric in self.db.metrics:
            id = self.db.sum_id(metric, "execution")
            if metric["name"] == name and id is not None:
                return self.db.values(0, id).get(GLOBAL, 0.0)
        return 0.0

    def gains(self):
        """By rule, whether it speaks or not."""
        total = math.fsum(t.total for t in self.threads)
        every, masters = math.fsum(t.sum(ALLOCATION) for t in self.threads), math.fsum(rank[0].sum(ALLOCATION) for rank in self.ranks)
        seconds = self.run_time if self.metric["name"].endswith("(sec)") else self.span
        kernels = self.total_of("GKER (sec)") / seconds if seconds else 0.0
        return {"allocation": masters / (len(self.ranks) * self.run_time) if every and masters > 0.8 * every
                else every / (len(self.threads) * self.run_time),
                "gpu-runtime": max(0.0, math.fsum(t.sum({"gpu"}) for t in self.threads) / total - kernels),
                "file-io": math.fsum(t.sum({"file"}) for t in self.threads) / total,
                "off-cpu": max(0.0, 1 - math.fsum(t.total for t in [*self.threads, *self.helpers]) / seconds) if seconds else None}
