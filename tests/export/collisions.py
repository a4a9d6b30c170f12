#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Threads of one number, in timelines: two processes, two recordings or two runs of a database have them, and viewers put what has the
same number into one row. Every format keeps them apart; calls and times of each are those of `lode replay`, or of `lode top` for
trace lines; numbers are unique, and names have the recorded ones. With LODE_VALIDATORS, Perfetto finds as many threads and processes,
with the same sums for each. LODE_SHARE selects a part of the stores.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import pftrace
import threads
import timeline
import validators
from readers import thread_files
from share import Share

import made

MS = 10 ** 6
PERFETTO = ("select p.pid, t.tid, s.name, count(*) n, sum(s.dur) d from slice s join thread_track k on s.track_id = k.id "
            "join thread t using (utid) join process p using (upid) where s.category is null or s.category = 'sched' group by p.pid, t.tid, s.name")


class Program(threads.Program):
    def run(self, *arguments):
        done = subprocess.run([self.lode, *map(str, arguments)], capture_output=True, text=True, timeout=600)
        if done.returncode:
            raise RuntimeError(f"{arguments}: {done.stderr}")
        return done.stdout


# ---- stores ----

def recording(folder, pid, tids, first):
    """A recording of one process: each thread calls main, and in it f or g, as often as its place says."""
    folder.mkdir()
    tasks = {}
    for place, tid in enumerate(tids, 1):
        at = made.TIME + first * MS + place
        records = [made.record("entry", at, 0, made.BASE + made.FUNCTIONS["main"])]
        for number in range(place + first):
            address = made.BASE + made.FUNCTIONS["f" if (number + place) % 2 else "g"]
            records += [made.record("entry", at + MS, 1, address), made.record("exit", at + (3 + number) * MS, 1, address)]
            at += (4 + number) * MS
        tasks[tid] = records + [made.record("exit", at + MS, 0, made.BASE + made.FUNCTIONS["main"])]
    made.write(folder, tasks, [], made.FUNCTIONS)
    text = (folder / "task.txt").read_text()
    (folder / "task.txt").write_text(text.replace("pid=100", f"pid={pid}"))
    return folder


def agents(tap, name, *recordings):
    """A trace store with the recordings as its agents."""
    store = tap.folder / name
    for number, one in enumerate(recordings):
        part = tap.folder / f"{name}-{number}"
        tap.run("convert", one, "--format", "zorka", "-o", part)
        shutil.copytree(part / "000000", store / f"{number:06}")
    return store


def nameless(store):
    """Agents that recorded no numbers: the attributes that have them get other names."""
    for path in store.rglob("text-*.wal"):
        texts = path.read_bytes()
        path.write_bytes(texts.replace(b"process.pid", b"process.was").replace(b"thread.id", b"thread.no"))
    return store


def first_and_master(tap):
    """Two agents of the larger corpus that recorded no numbers: both have threads 1, 2 and 3."""
    for number, name in enumerate(("first", "master")):
        shutil.copytree(threads.corpus() / "zorka" / "stores" / name / "000000", tap.folder / "agents" / f"{number:06}")
    return tap.folder / "agents"


def stores(tap):
    """(what it is, its path, processes)."""
    one = recording(tap.folder / "one.data", 100, (100, 7, 8), 0)
    two = recording(tap.folder / "two.data", 200, (200, 7, 8), 2)
    again = recording(tap.folder / "again.data", 100, (100, 7, 8), 3)
    seven = recording(tap.folder / "seven.data", 7, (7, 100), 1)
    yield "threads 7 and 8 of two processes", agents(tap, "processes", one, two), 2
    yield "threads of one process that overlap", agents(tap, "overlap", one, again), 1
    yield "a process with the number of a thread of another", agents(tap, "crossed", one, seven), 2
    yield "processes without numbers", nameless(agents(tap, "nameless", one, two)), 2
    if not threads.corpora.is_own():
        yield "processes of the corpus without numbers", first_and_master(tap), 2
    tap.run("merge", one, again, "-o", tap.folder / "merged.data")
    yield "two recordings of one process, merged", tap.folder / "merged.data", 2


# ---- what Lode says ----

def calls_by_track(tap, store):
    """{track: calls (begin, time, depth, name) by their ends}."""
    stacks, found = defaultdict(list), defaultdict(list)
    for row in tap.json("replay", store, "--names", "raw")["rows"]:
        stack = stacks[row["track"]]
        if row["kind"] in ("enter", "sched_out"):
            stack.append((int(row["time_ns"]), row["name"]))
        elif row["kind"] in ("leave", "sched_in"):
            begin, name = stack.pop()
            found[row["track"]].append((begin, int(row["time_ns"]) - begin, len(stack), name))
    if any(stacks.values()):
        raise RuntimeError("a call never ends")
    return found


def expected_lines(tap, store):
    """[(pid, tid, calls)]: requests of a thread are one after the other, unless they overlap."""
    calls, lanes = calls_by_track(tap, store), defaultdict(list)
    tasks = sorted(tap.json("info", store)["tasks"], key=lambda task: (int(task["begin_ns"]), task["track"]))
    for task in tasks:
        free = next((lane for lane in lanes[task["pid"], task["tid"]] if lane["end"] <= int(task["begin_ns"])), None)
        if free is None:
            free = {"calls": []}
            lanes[task["pid"], task["tid"]].append(free)
        free["end"] = int(task["end_ns"])
        free["calls"] += calls[task["track"]]
    return [(*key, lane["calls"]) for key, found in lanes.items() for lane in found]


# ---- what readers find ----

def timeline_lines(trace):
    """{tid: (pid, name, calls)} of Perfetto and Chrome traces."""
    found = {tid: (pid, name, Counter()) for tid, (pid, name) in trace.threads.items()}
    for s in trace.slices:
        found[s.thread][2][s.key[1:]] += 1
    return found


def read(tap, form, store, *options):
    """[(process, number or None, name, calls or times by function)]."""
    path, _ = tap.export(store, form, *options)
    if form == "perfetto":
        rows = timeline_lines(pftrace.Trace(path.read_bytes()))
    elif form == "chrome":
        rows = timeline_lines(timeline.Chrome(json.loads(path.read_text("utf-8"))))
    elif form == "firefox":
        trace = thread_files.Firefox(path.read_text("utf-8"))
        rows = {t["tid"]: (t["pid"], t["name"], one) for t, one in zip(trace.rows, trace.threads.values())}
    elif form == "otf2":
        trace = thread_files.Otf2(path)
        return path, [(row["group"], None, row["name"], calls) for row, calls in zip(trace.locations, trace.threads.values())]
    else:
        return path, [(None, None, name, calls) for (_, name), calls in thread_files.Speedscope(path.read_text("utf-8")).threads.items()]
    return path, [(pid, tid, name, calls) for tid, (pid, name, calls) in rows.items()]


def comparable(form, calls):
    """What a format has of the calls of a thread, which come by their ends."""
    if form != "firefox":
        return frozenset(Counter(calls).items())
    return frozenset((name, total, own) for name, (_, total, own) in threads.sums({0: calls}).items() if total)


def number_faults(rows, process_count):
    """Numbers that a viewer would take for those of something else."""
    owners = {tid: pid for pid, tid, _, _ in rows}
    wrong = [f"{len(rows)} threads with {len(owners)} numbers"] if len(owners) < len(rows) else []
    pids = {pid for pid, _, _, _ in rows}
    wrong += [f"{len(pids)} processes, not {process_count}"] if len(pids) != process_count else []
    wrong += [f"process {pid} has the number of a thread of process {owners[pid]}" for pid in pids if owners.get(pid, pid) != pid]
    return wrong + [f"number {number}" for number in [*owners, *pids] if int(number) <= 0]


def name_faults(form, rows, wanted):
    """Threads that show a number which was not recorded."""
    shown = Counter()
    for _, tid, name, _ in rows:
        kept = re.search(r"\(tid (\d+)\)", name) or re.search(r"thread (\d+)$", name)
        shown[int(kept.group(1)) if kept else tid] += 1
    recorded = Counter(tid for _, tid, _ in wanted)
    return [f"threads {shown}, not {recorded}"] if form in ("perfetto", "chrome") and shown != recorded else []


def check_perfetto(tap, what, path, rows):
    """Perfetto's own grouping by process and thread."""
    status, said = validators.run("perfetto.mjs", path, PERFETTO)
    found = defaultdict(dict)
    for row in said.get("queries", [[]])[0]:
        found[str(row["pid"]), row["tid"]][row["name"]] = (row["n"], int(row["d"]))
    wanted = defaultdict(dict)
    for pid, tid, _, calls in rows:
        for name in {key[3] for key in calls}:
            mine = [(n, key[1]) for key, n in calls.items() if key[3] == name]
            wanted[str(pid), tid][name] = (sum(n for n, _ in mine), sum(n * time for n, time in mine))
    wrong = [said.get("error") or said.get("lost")] if status else []
    wrong += [f"{key}: {found.get(key)}, not {wanted.get(key)}" for key in found.keys() | wanted.keys() if found.get(key) != wanted.get(key)]
    wrong += [f"processes {said['processes']}"] if not status and len(said["processes"]) != len({pid for pid, _, _, _ in rows}) else []
    tap.check(not wrong, f"Perfetto itself: {what}: calls and times of {len(wanted)} threads", wrong[:6])


def check_store(tap, what, store, process_count, forms):
    wanted = expected_lines(tap, store)
    tap.check(len({tid for _, tid, _ in wanted}) < len(wanted) or store.suffix == ".data", f"{what}: numbers occur twice", [len(wanted)])
    for form in forms:
        path, rows = read(tap, form, store)
        lines = Counter(comparable(form, calls) for _, _, calls in wanted)
        found = Counter(frozenset((n, *row) for n, row in calls.items() if row[0]) if form == "firefox" else frozenset(calls.items()) for _, _, _, calls in rows)
        wrong = [f"{note}: {sorted(row)[:3]}" for note, rest in (("too many", found - lines), ("missing", lines - found)) for row in list(rest)[:2]]
        if form in ("perfetto", "chrome", "firefox"):
            wrong += number_faults(rows, process_count) + name_faults(form, rows, wanted)
        tap.check(not wrong and len(rows) == len(wanted), f"{form}: {what}: {len(wanted)} threads stay apart, and have the calls of replay", wrong)
        if form in ("perfetto", "chrome") and validators.where():
            check_perfetto(tap, f"{form}: {what}", path, rows)


# ---- databases ----

def check_runs(tap, forms):
    """A database merged with another of the same ids: each profile of each run is a thread with its own times."""
    parts = []
    for seed in (1, 2):
        parts.append(tap.folder / f"run{seed}")
        tap.run("synth", "database", "--profiles", 3, "--contexts", 40, "--samples", 30, "--seed", seed, "-o", parts[-1])
    store = tap.folder / "runs"
    tap.run("merge", *parts, "--labels", "a,b", "-o", store)
    profiles = [row["profile"] for row in tap.json("profiles", store)["rows"]]
    wanted = Counter()
    for profile in profiles:
        rows = tap.json("top", store, "--limit", 0, "--from", 0, "--profiles", f"profile={profile}", "--names", "raw")["rows"]
        wanted[frozenset((name, own) for name, own in own_times(rows).items() if own)] += 1
    for form in forms:
        _, rows = read(tap, form, store)
        found = Counter()
        for _, _, _, calls in rows:
            own = {n: row[1] for n, row in calls.items()} if form == "firefox" else {n: row[2] for n, row in threads.sums({0: threads.ordered(calls)}).items()}
            found[frozenset((n, time) for n, time in own.items() if time)] += 1
        wrong = [f"{note}: {sorted(row)[:3]}" for note, rest in (("too many", found - wanted), ("missing", wanted - found)) for row in list(rest)[:2]]
        wrong += number_faults(rows, 2) if form in ("perfetto", "chrome", "firefox") else []
        tap.check(not wrong and len(wanted) == 6, f"{form}: two runs with the same ids: 6 threads with the times of top", [len(wanted), *wrong])


def own_times(rows):
    found = Counter()
    for row in rows:
        found[row["name"]] += round(row["exclusive"] * 10 ** 9)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    options = parser.parse_args()
    forms = ["perfetto", "chrome", "speedscope", "otf2", "firefox"]
    with tempfile.TemporaryDirectory(prefix="lode-collisions-") as folder:
        tap = Program(str(Path(options.lode).resolve()), Path(folder))
        if not thread_files.has_otf2(tap):
            forms.remove("otf2")
            tap.skip("OTF2 archives", "this build does not write them, or python3-otf2 is missing")
        if validators.where() is None:
            tap.skip("Perfetto's own reader", "LODE_VALIDATORS names no folder of validators")
        cases = [lambda case=case: check_store(tap, *case, forms) for case in stores(tap)]
        for case in Share.of_cases().of([*cases, lambda: check_runs(tap, forms)]):
            case()
        return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
