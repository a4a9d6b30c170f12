#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What threads did, as speedscope profiles, OTF2 archives and profiles for the Firefox Profiler. Every call of every store is that of a
reference (timeline_reference.py) which never saw Lode; sums by function are those of `lode top`; and the tools' own readers find
the same. Needs the corpus; archives need the package python3-otf2; what the tools say needs LODE_VALIDATORS. With --all, all stores.
LODE_SHARE selects a part of the stores and of the traps.
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import known
import timeline_reference as reference
import validators
from readers.thread_files import Bad, Firefox, Speedscope, firefox, has_otf2, otf2, speedscope
from share import Share
from tap import Tap

import corpora
import corpus_files
import db_model
import db_nasty
import db_write
import rec_reference
import rec_uftrace
import rec_zorka

try:
    import expected
except ImportError:  # no PyYAML, or one without libyaml
    expected = None

# Readers give up on these: tests/answers/recordings/rec_corpus.py says why.
NOT_READ = {"badhdrmagic", "v5", "be_noswap_hdr", "badmagic", "evunk", "extratid", "nosess", "moreflag"}
SMALL = 1 << 15  # bytes of what an independent reader wrote about a database, packed
LARGE = known.LARGE
OPENMP = corpora.either(LARGE, "made-openmp")
DEEPEST = {"speedscope": 3000}


class Program(Tap):
    def __init__(self, lode, folder):
        super().__init__()
        self.lode, self.folder, self.made, self.values = lode, folder, 0, 0

    def export(self, store, form, *options):
        """The path of an export, and what was said."""
        self.made += 1
        path = self.folder / f"{self.made}.{form}"
        if "--names" not in options:
            options = ("--names", "raw", *options)
        done = subprocess.run([self.lode, "export", str(store), "--format", form, "-o", str(path), *map(str, options)],
                              capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            raise RuntimeError(f"{store}: exit status {done.returncode}: {done.stderr}")
        return path, done.stderr

    def json(self, *arguments):
        done = subprocess.run([self.lode, *map(str, arguments), "--json"], capture_output=True, timeout=600)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode())
        return json.loads(done.stdout)

    def synth(self, name, *options):
        store = self.folder / name
        subprocess.run([self.lode, "synth", "recording", "-o", str(store), *map(str, options)], check=True, capture_output=True)
        return store


READERS = {"speedscope": speedscope, "otf2": otf2}


def ordered(calls):
    """Calls by their ends, if clocks are fine: of two that begin together, the deeper one is within the other."""
    return sorted(calls.elements(), key=lambda c: (c[0], c[2], -c[1]), reverse=True)


def sums(threads):
    """{name: [calls, total, own]} of lists of calls by their ends: a function that calls itself counts once in its total."""
    found = defaultdict(lambda: [0, 0, 0])
    for calls in threads.values():
        stack = []
        for _, time, depth, name in reversed(calls):
            del stack[depth:]
            found[name][0] += 1
            found[name][2] += time
            if depth:
                found[stack[-1]][2] -= time
            if name not in stack:
                found[name][1] += time
            stack.append(name)
    return {name: tuple(row) for name, row in found.items()}


def differences(found, wanted):
    return [f"{what}: {key} x {count}" for what, rest in (("too many", found - wanted), ("missing", wanted - found))
            for key, count in list(rest.items())[:5]]


def by_thread(wanted):
    """The calls of each thread, without saying which it is."""
    found = defaultdict(Counter)
    for (thread, *key), count in wanted.items():
        found[thread][tuple(key)] += count
    return Counter(frozenset(calls.items()) for calls in found.values())


def agree(tap, name, store, wanted, *options):
    """Each format has the calls that are wanted, on threads of their own. Returns what was read, by format."""
    traces = {}
    for form, read in READERS.items():
        trace = traces[form] = read(tap, store, *options)
        threads = {key: Counter({(begin, time, depth, n): c for (begin, time, depth, n), c in calls.items() if depth < reference.LEVELS})
                   for key, calls in trace.threads.items()}
        found = all_of(threads)
        wrong = differences(found, merged(wanted))
        groups = Counter(frozenset(calls.items()) for calls in threads.values() if calls)
        if not wrong and groups != by_thread(wanted):
            wrong.append("calls are on other threads")
        tap.values += 5 * sum(wanted.values())
        tap.check(not wrong, f"{form}: {name}: {sum(wanted.values())} calls are those of the reference", wrong)
    threads = defaultdict(Counter)
    for (thread, *key), count in wanted.items():
        threads[thread][tuple(key)] += count
    agree_firefox(tap, name, store, threads, *options)
    return traces


def agree_firefox(tap, name, store, threads, *options):
    """Times by function of each thread; what took no time is not there."""
    rows = Counter(frozenset((n, total, own) for n, (_, total, own) in sums({0: ordered(calls)}).items() if total) for calls in threads.values())
    found = Counter(frozenset((n, *row) for n, row in one.items() if row[0]) for one in firefox(tap, store, *options).threads.values())
    for counter in (rows, found):
        counter.pop(frozenset(), None)
    values = 2 * sum(len(row) * count for row, count in rows.items())
    tap.values += values
    tap.check(rows == found, f"firefox: {name}: {values} times of functions are those of the reference",
              [f"{what}: {sorted(row)[:4]}" for what, rest in (("too many", found - rows), ("missing", rows - found)) for row in list(rest)[:2]])


def merged(wanted):
    found = Counter()
    for (_, *key), count in wanted.items():
        found[tuple(key)] += count
    return found


def all_of(threads):
    """The calls of all threads."""
    found = Counter()
    for calls in threads.values():
        found.update(calls)
    return found


# ---- stores ----

def corpus():
    return corpora.root()


def databases(tap, options):
    root = corpus() / "hpctoolkit"
    if expected is None or not (root / "expected").is_dir():
        return tap.skip("databases", "there is no corpus, or no Python with libyaml")
    paths = [path for path in corpora.expected(root) if options.all or path.stat().st_size <= SMALL]
    for path in options.share.of(paths):
        name = path.name[:-len(".yaml.gz")]
        db = db_model.Database(expected.from_file(path))
        if not db.traces or not any(line["samples"] for line in db.traces["lines"]):
            continue
        wanted, _ = reference.of_database(db)
        agree(tap, name, root / "final" / name, wanted, "--names", "full")
        times = sorted({s[0] for line in db.traces["lines"] for s in line["samples"]})
        if len(times) >= 8:
            begin, end = times[len(times) // 3] + 1, times[2 * len(times) // 3] - 1
            wanted, _ = reference.of_database(db, begin, end)
            agree(tap, f"{name} in a window", root / "final" / name, wanted, "--names", "full", "--from", f"@{begin}", "--to", f"@{end}")
    return None


def generated(tap, options):
    """Databases that are made to be mistaken for others; contexts that are not listed; times that stand still."""
    for seed in options.share.of(range(200 if options.all else 12)):
        shape, data = db_nasty.make(seed)
        db = db_model.Database(data)
        if data["traces"] is None or not any(line["samples"] for line in data["traces"]["lines"]):
            continue
        store = tap.folder / f"nasty{seed}"
        db_write.write(store, data)
        wanted, _ = reference.of_database(db)
        agree(tap, f"{shape} {seed}", store, wanted, "--names", "full")


def recordings(tap, options):
    found = corpus_files.recorded()
    if not found:
        return tap.skip("recordings", "there is no corpus")
    made = [(name, path) for name, path in corpus_files.handmade() if name not in NOT_READ]
    for name, path in options.share.of(found + made):
        wanted = reference.of_recording(rec_uftrace.tracks(path), True)
        if wanted:
            compare_top(tap, name, path, agree(tap, name, path, wanted))
    return None


def compare_top(tap, name, store, traces=None):
    """Calls, total and self time by name are those of `lode top`; `traces` were read before."""
    answer = tap.json("top", store, "--limit", "0", "--names", "raw", "--sched")
    wanted = defaultdict(lambda: [0, 0, 0])
    for row in answer["rows"]:
        for i, key in enumerate(("calls", "total_ns", "self_ns")):
            wanted[row["name"]][i] += row[key]
    twice = {row["name"] for row in answer["rows"]} if len(wanted) < len(answer["rows"]) else set()
    for form, read in READERS.items():
        found = sums((traces[form] if traces else read(tap, store)).lists)
        wrong = [f"{key}: {found.get(key)}, not {wanted.get(key)}" for key in set(found) | set(wanted)
                 if key not in twice and tuple(wanted.get(key, ())) != found.get(key)]
        tap.values += 3 * len(wanted)
        tap.check(not wrong, f"{form}: {name}: calls, total and self time of {len(wanted)} functions are those of top", wrong[:8])


def stores(tap, options):
    root = corpus() / "zorka" / "stores"
    if not root.is_dir():
        return tap.skip("trace stores", "there is no corpus")
    for name in ("first", "master"):
        tracks = rec_zorka.tracks(rec_zorka.Read(root / name))
        wanted = reference.of_recording(tracks, False)
        for form, read in READERS.items():
            trace = read(tap, root / name)
            wrong = differences(all_of(trace.threads), wanted)
            requests, on_threads, _ = known.REQUESTS[name]
            tap.check(not wrong and (len(tracks), len(trace.threads)) == (requests, on_threads),
                      f"{form}: {name}: {sum(wanted.values())} calls of {requests} requests on {on_threads} threads", wrong)
            tap.values += 4 * sum(wanted.values())
        own = Counter()
        for call, _ in rec_reference.all_calls(tracks):
            own[call.function.raw] += call.own
        found = Counter()
        for one in firefox(tap, root / name).threads.values():
            found.update({n: row[1] for n, row in one.items()})
        wrong = [f"{n}: {found[n]}, not {own[n]}" for n in set(found) | set(own) if found[n] != own[n]]
        tap.check(not wrong, f"firefox: {name}: own times of {len(own)} functions are those of the reference", wrong[:5])
        compare_top(tap, name, root / name)
    return None


# ---- costs ----

def costs(tap, options):
    """Sampled profiles have the own and inclusive cost of each function. Whole numbers are off by less than 1 for each context."""
    root = corpus() / "hpctoolkit" / "final"
    if not root.is_dir():
        return tap.skip("costs", "there is no corpus")
    chosen = [root / name for name in (LARGE, "toolkit-small-v4", "made-small-notraces", "toolkit-loops-cputime-t-v4")]
    for path in corpora.stores(root) if options.all else options.share.of(chosen):
        try:
            metrics = tap.json("info", path)["metrics"][:None if options.all else 2]
        except (RuntimeError, KeyError):
            continue
        for metric in metrics:
            check_cost(tap, path, metric)
    return None


def is_entry(row):
    return row["function"] is None and "+0x" not in row["name"] and row["name"] != "<unknown function>"


def check_cost(tap, path, metric):
    answer = tap.json("top", path, "--limit", "0", "--names", "raw", "--metric", f"${metric['index']}")
    scale = 1e9 if metric["name"].endswith("(sec)") else 1
    wanted = defaultdict(lambda: [0.0, 0.0, 0, 0])
    for row in (row for row in answer["rows"] if not is_entry(row)):  # with --no-entries, their own cost has no stack
        for i, value in enumerate((row["exclusive"] * scale, row["inclusive"] * scale, row["contexts"], 1)):
            wanted[row["name"]][i] += value
    if any(row[0] < -0.5 for row in wanted.values()) or any(abs(row[0] - round(row[0])) > 1e-6 * max(1, row[0]) for row in wanted.values()):
        return
    trace = speedscope(tap, path, "--metric", f"${metric['index']}", "--no-entries")
    (own, inclusive, _), = trace.sampled.values()
    own.pop("<no stack>", None)
    wrong = [f"{name}: {own[name]}, {inclusive[name]}, not {row[:2]}" for name, row in wanted.items()
             if abs(own[name] - row[0]) > row[2] + 1e-9 * row[0] or (row[3] == 1 and abs(inclusive[name] - row[1]) > row[2] + 1e-9 * row[1])]
    wrong += [f"{name}: is not in top" for name in own if name not in wanted]
    tap.values += 2 * len(wanted)
    tap.check(not wrong and not trace.threads, f"speedscope: {path.name}: {metric['name']} of {len(wanted)} functions is that of top", wrong[:5])


def by_profile(tap, options):
    store, facts = known.store(), known.facts()
    if facts is None:
        return tap.skip("costs by profile", known.UNKNOWN)
    trace = speedscope(tap, store, "--by-profile", "--no-entries")
    whole = speedscope(tap, store, "--metric", "CPUTIME", "--no-entries")
    (own, inclusive, _), = whole.sampled.values()
    tap.check(len(trace.sampled) >= facts.threads and "RANK" in "".join(name for _, name in trace.sampled).upper(), "--by-profile: a profile for each thread of each rank",
              [len(trace.sampled), list(trace.sampled)[:3]])
    added = sum((one for one, _, _ in trace.sampled.values()), Counter())
    wrong = [f"{name}: {added[name]}, not {own[name]}" for name in own | added if abs(added[name] - own[name]) > 2000 * len(trace.sampled)]
    tap.check(not wrong and abs(sum(added.values()) - sum(own.values())) <= len(trace.sampled), "--by-profile: profiles add up to the whole", wrong[:5])
    both = speedscope(tap, store, "--samples", "--no-entries")
    tap.check(len(both.threads) == facts.threads and len(both.sampled) == 1 and both.sampled[next(iter(both.sampled))][0] == own,
              "--samples: costs and threads in one file")
    return None


# ---- traps ----

def traps(tap, options):
    facts = known.facts()
    if facts is None:
        tap.skip(f"traps of {LARGE}", known.UNKNOWN)
    cases = [deep, firefox_markers, *([speedscope_traps, firefox_traps] if facts else [])]
    if "otf2" in READERS:
        cases += [otf2_values, *([otf2_traps] if facts else [])]
    for case in options.share.of(cases):
        case(tap, facts)


def speedscope_traps(tap, facts):
    trace = speedscope(tap, known.store())
    calls = all_of(trace.threads)
    found = (sum(calls.values()), trace.events, max(key[2] for key in calls) + 1, len(trace.threads),
             sum(key[1] * n for key, n in calls.items()), sum(key[1] * n for key, n in calls.items() if key[2] == 0),
             min(key[0] for key in calls), max(key[0] + key[1] for key in calls))
    wanted = (facts.calls, 2 * facts.calls, facts.depth, facts.threads, facts.time, facts.outermost, facts.first, facts.last)
    tap.check(found == wanted, f"{LARGE}: calls, events, depth, threads, sums and times as another program found them", [found, wanted])
    tap.check(trace.ends == {(0, facts.last - facts.first)}, "times count from the first event: a double holds them exactly", [trace.ends])
    (own, _, _), = speedscope(tap, known.store(), "--metric", "CPUTIME").sampled.values()
    name, cost = facts.row
    tap.check(sum(own.values()) == facts.cost and own[name] == cost, f"{LARGE}: total and own cost as another program found them", [sum(own.values()), own[name]])
    inlined = tap.json("info", known.store())["contexts"]["inlined_calls"]
    tap.check(inlined == facts.inlined and any(facts.part in key[3] for key in calls), "inlined functions are calls of their own", [inlined])


def firefox_traps(tap, facts):
    trace = firefox(tap, known.store())
    own = sum(row[1] for one in trace.threads.values() for row in one.values())
    tap.check(own == facts.outermost and len(trace.threads) == facts.threads and len({t["pid"] for t in trace.rows}) == facts.processes,
              f"firefox: {LARGE}: sum, threads and processes as another program found them", [own, len(trace.threads)])
    tap.check(trace.meta["preprocessedProfileVersion"] == 60 and abs(trace.meta["startTime"] - facts.first / 1e6) < 0.001 and
              any(c["color"] == "grey" for c in trace.meta["categories"]), "firefox: version 60, with the epoch in startTime", [trace.meta])


def firefox_markers(tap, _):
    markers = firefox(tap, known.with_numbers(tap.folder)).rows
    tap.check(sum(t["markers"]["length"] for t in markers) > 0 and all(t["markers"]["phase"] == [0] * t["markers"]["length"] for t in markers),
              "firefox: what happened is a marker", [[t["markers"]["length"] for t in markers]])


def otf2_traps(tap, facts):
    trace = otf2(tap, known.store())
    calls = all_of(trace.threads)
    found = (sum(calls.values()), trace.events, max(key[2] for key in calls) + 1, len(trace.threads), len({row["group"] for row in trace.locations}),
             min(key[0] for key in calls), max(key[0] + key[1] for key in calls))
    wanted = (facts.calls, 2 * facts.calls, facts.depth, facts.threads, facts.processes, facts.first, facts.last)
    tap.check(found == wanted, f"otf2: {LARGE}: calls, events, depth, threads, processes and times as another program found them", [found, wanted])
    paradigms = {region[4] for name in {LARGE, OPENMP} for region in otf2(tap, corpus() / "hpctoolkit" / "final" / name).regions}
    tap.check({"MPI", "OPENMP"} <= paradigms and any(r[2].endswith((".c", ".cc")) and r[3] > 0 for r in trace.regions),
              "otf2: regions have paradigms, files and lines", trace.regions[:5])
    gpu = otf2(tap, corpus() / "hpctoolkit" / "final" / "toolkit-loops-cuda-nvidia-t-v4")
    tap.check(any(row["type"] == "GPU" for row in gpu.locations) and all((row["type"] == "GPU") == row["name"].startswith("GPU") for row in gpu.locations),
              "otf2: streams of accelerators are locations of their own",
              [[row["name"], row["type"]] for row in gpu.locations])


def otf2_values(tap, _):
    values = otf2(tap, corpus_files.named("n_autoargs"))
    without = otf2(tap, corpus_files.named("n_autoargs"), "--no-arguments")
    chrome = json.loads(tap.export(corpus_files.named("n_autoargs"), "chrome")[0].read_text())["traceEvents"]
    count = sum(len(row["attributes"]) for row in values.locations)
    same = Counter(key for row in values.locations for key, _ in row["attributes"]) == Counter(key for e in chrome if e["ph"] in "BE" for key in e.get("args", ()))
    tap.check(count == known.ARGUMENTS and same and not any(row["attributes"] for row in without.locations) and values.threads == without.threads,
              f"otf2: {known.ARGUMENTS} arguments and results are attributes; --no-arguments leaves them out", [count])
    numbers = otf2(tap, known.with_numbers(tap.folder))
    tap.check(sum(row["metrics"] for row in numbers.locations) > 0, "otf2: numbers are metrics", [row["metrics"] for row in numbers.locations])
    master = otf2(tap, corpus() / "zorka" / "stores" / "master")
    keys = Counter(key for row in master.locations for key, _ in row["attributes"])
    thrown = rec_zorka.exceptions(corpus() / "zorka" / "stores" / "master")
    tap.check(keys["request"] == known.REQUESTS["master"][0] and keys["error"] > 0 and keys["exception class"] == thrown > 0,
              "otf2: ids of requests, failed calls and exceptions are attributes", [keys])
    silent = subprocess.run([tap.lode, "export", str(corpus_files.named("mt")), "--format", "otf2", "-o", "-"], capture_output=True, text=True)
    tap.check(silent.returncode != 0 and not silent.stdout and "needs a path" in silent.stderr, "otf2: a directory cannot be streamed", [silent.stderr])


def deep(tap, _):
    """5000 levels are cut at 3000; the cost of those below goes to the last level."""
    store, levels = tap.folder / "deep", 5000
    known.deep_database(store, levels)
    trace = speedscope(tap, store)
    calls, = trace.threads.values()
    lengths = Counter(key[1] for key in calls.elements())
    tap.check(lengths == {3000: 2499, 1000: 1002} and max(key[2] for key in calls) == 2999, "calls below 3000 levels are left out, and no others", [lengths])
    tap.check("4,000 calls were left out below 3000 levels" in trace.said, "that calls were left out is said", [trace.said])
    cut = speedscope(tap, store, "--metric", "cycles", "--no-entries")
    (own, _, depth), = cut.sampled.values()
    tap.check(depth == 3000 and "2,000 stacks were cut at 3000 levels" in cut.said, "stacks are cut at 3000 levels, and that is said", [depth, cut.said])
    tap.check(sum(own.values()) == levels, "nothing of their cost is lost", [sum(own.values())])
    trace = speedscope(tap, store, "--depth", 100)
    tap.check(max(key[2] for calls in trace.threads.values() for key in calls) == 99 and "3000" not in trace.said, "--depth cuts before", [trace.said])
    if validators.where():
        path, _ = tap.export(store, "speedscope", "--samples")
        status, said = validators.run("speedscope.mjs", path)
        tap.check(status == 0 and [p["depth"] for p in said["profiles"]] == [3000, 3000], "speedscope bears 3000 levels", [said.get("error")])


def same_bytes(tap, options):
    store = tap.synth("many.data", "--records", 200000, "--tasks", 40, "--arguments")
    made = [tap.export(store, "speedscope", "--threads", n)[0].read_bytes() for n in (1, 2, 7)]
    tap.check(len(set(made)) == 1, f"speedscope: the same {len(made[0])} bytes with 1, 2 and 7 threads", map(len, made))
    packed, _ = tap.export(store, "speedscope", "--compression", "gzip")
    tap.check(gzip.decompress(packed.read_bytes()) == made[0], "gzip: the same bytes inside")
    made = [tap.export(store, "speedscope", "--by-profile", "--threads", n)[0].read_bytes() for n in (1, 2, 7)]
    tap.check(len(set(made)) == 1, f"costs: the same {len(made[0])} bytes with 1, 2 and 7 threads", map(len, made))
    made = [tap.export(store, "firefox", "--threads", n)[0].read_bytes() for n in (1, 2, 7)]
    tap.check(len(set(made)) == 1, f"firefox: the same {len(made[0])} bytes with 1, 2 and 7 threads", map(len, made))
    if "otf2" in READERS:
        made = [content(tap.export(store, "otf2", "--threads", n)[0]) for n in (1, 2, 7)]
        tap.check(made[0] == made[1] == made[2] and len(made[0]) == 2 * 40 + 3, f"otf2: the same {sum(map(len, made[0].values()))} bytes in {len(made[0])} files with 1, 2 and 7 threads",
                  [name for name in made[0] if made[0][name] != made[2].get(name)])
    compare_top(tap, "40 tasks", store)


def content(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# ---- speedscope itself ----

def importer_agrees(tap, name, trace):
    """Its importer finds what this file's reader found, in each profile."""
    status, said = validators.run("speedscope.mjs", trace.path)
    wrong = [said.get("error")] if status else []
    profiles = said.get("profiles", [])
    for number, profile in enumerate(profiles):
        key = (number, profile["name"])
        own = Counter()
        for frame in profile["frames"]:
            own[frame["name"]] += frame["self"]
        if key in trace.threads:
            calls = trace.threads[key]
            wanted = {n: row[2] for n, row in sums({0: trace.lists[key]}).items()}
            wrong += [] if profile["calls"] == sum(calls.values()) else [f"{key}: {profile['calls']} calls, not {sum(calls.values())}"]
        else:
            wanted = trace.sampled[key][0]
        wrong += [f"{key}: {n}: {own[n]}, not {wanted.get(n)}" for n in set(own) | set(wanted) if own[n] != wanted.get(n, 0)]
    wrong += [] if len(profiles) == len(trace.threads) + len(trace.sampled) else [f"{len(profiles)} profiles"]
    tap.check(not wrong and said.get("schema") == "valid", f"speedscope reads {name}: {len(profiles)} profiles, calls and own times agree", wrong[:8])


def readers(tap, options):
    if validators.where() is None:
        return tap.skip("speedscope's own importer", "LODE_VALIDATORS names no folder of validators")
    recorded = sorted(dict(corpus_files.recorded()))
    stores = [corpus_files.named(name) for name in (recorded if options.all else ("mt", "events"))]
    stores += [corpus() / "zorka" / "stores" / name for name in (("first", "master", "master-fmi", "real-agent") if options.all else ("master",))]
    finals = corpus() / "hpctoolkit" / "final"
    cases = [lambda path=path: importer_agrees(tap, f"{path.parent.name}/{path.name}", speedscope(tap, path)) for path in stores]
    cases += [lambda: importer_agrees(tap, f"costs of {LARGE}", speedscope(tap, finals / LARGE, "--metric", "CPUTIME"))]
    cases += [lambda path=path: samples_agree(tap, path)
              for path in (corpora.stores(finals) if options.all else [finals / "toolkit-small-v4", finals / "toolkit-loops-cuda-nvidia-t-v4"])]
    cases += [lambda: broken(tap, speedscope(tap, corpus_files.named("mt")).path)]
    both = [*(corpus_files.named(n) for n in (recorded if options.all else ("mt", "n_autoargs"))), finals / "toolkit-small-v4"]
    if "otf2" in READERS:
        cases += [lambda path=path: otf2_agrees(tap, path) for path in both] + [lambda: broken_archives(tap, corpus_files.named("mt"))]
    cases += [lambda path=path: firefox_agrees(tap, path) for path in both if options.all or path != corpus_files.named("n_autoargs")]
    cases += [lambda: broken_firefox(tap, corpus_files.named("mt"))]
    for case in options.share.of(cases):
        case()
    return None


def samples_agree(tap, path):
    try:
        trace = speedscope(tap, path, "--samples")
    except RuntimeError:  # there is no trace line
        return
    importer_agrees(tap, path.name, trace)


def otf2_agrees(tap, path):
    """otf2-print accepts archives, and the validator's own sums are those of this file's reader."""
    trace = otf2(tap, path)
    status, said = validators.run("otf2_check.py", trace.path / "traces.otf2")
    wanted = {n: {"calls": row[0], "total": row[1], "self": row[2]} for n, row in sums(trace.lists).items()}
    tap.check(status == 0 and said["functions"] == wanted and said["depth"] == max(key[2] for c in trace.threads.values() for key in c) + 1,
              f"otf2-print reads {path.parent.name}/{path.name}: calls and times of {len(wanted)} functions agree", [said.get("error")])


def broken_archives(tap, store):
    for name, change in {"definitions are missing": lambda p: p.joinpath("traces.def").unlink(),
                         "a location has no events": lambda p: p.joinpath("traces", "0.evt").unlink(),
                         "a location has no definitions": lambda p: p.joinpath("traces", "0.def").unlink()}.items():
        path, _ = tap.export(store, "otf2")
        change(path)
        status, _ = validators.run("otf2_check.py", path / "traces.otf2", timeout=60)
        tap.check(status != 0, f"an archive is refused: {name}")


def firefox_agrees(tap, path):
    """The profiler's own program finds the times that this file's reader found; milliseconds are doubles."""
    trace = firefox(tap, path)
    status, said = validators.run("firefox.mjs", trace.path, timeout=100)
    if "did not become ready" in str(said.get("error")):
        tap.skip(f"Firefox Profiler reads {path.name}", "its program had no time to start")
        return
    wrong = [said["error"]] if status else []
    wanted = Counter(frozenset((n, *row) for n, row in one.items()) for one in trace.threads.values())
    found = Counter(frozenset((f["name"], round(f["total"] * 10 ** 6), round(f["self"] * 10 ** 6)) for f in t["functions"]) for t in said.get("threads", []))
    wrong += [f"{sorted(row)[:5]}" for row in list((found - wanted) + (wanted - found))[:4]] if len(trace.threads) <= 16 else []
    wrong += [] if status or said["threadCount"] == len(trace.threads) else [f"{said['threadCount']} threads"]
    tap.check(not wrong, f"Firefox Profiler reads {path.parent.name}/{path.name}: {len(trace.threads)} threads, times agree", wrong)


def broken_firefox(tap, store):
    text = firefox(tap, store).path.read_text()
    for name, bad in {"cut off": text[:-9], "a newer version": text.replace("ProfileVersion\":60", "ProfileVersion\":600")}.items():
        file = tap.folder / "bad.firefox.json"
        file.write_text(bad)
        tap.check(validators.run("firefox.mjs", file, timeout=100)[0] != 0, f"a Firefox profile is refused: {name}")
    bad = json.loads(text)
    bad["shared"]["stackTable"]["prefix"][0] = 1
    try:
        Firefox(json.dumps(bad))
        is_refused = False
    except Bad:
        is_refused = True
    tap.check(is_refused, "a prefix that points forward, which would be an endless loop, is noticed")


def broken(tap, path):
    """What the importer refuses: else it would prove nothing."""
    data = json.loads(path.read_text())

    def case(name, change):
        bad = json.loads(json.dumps(data))
        change(bad["profiles"][0])
        file = tap.folder / "bad.speedscope.json"
        file.write_text(json.dumps(bad))
        try:
            Speedscope(file.read_text())
            strict = False
        except (Bad, IndexError):
            strict = True
        status, _ = validators.run("speedscope.mjs", file)
        tap.check(status != 0 and strict, f"a speedscope file is refused: {name}", [status, strict])

    case("a call that never ends", lambda p: p["events"].pop())
    case("calls that cross", lambda p: p["events"].__setitem__(-1, {**p["events"][-1], "frame": p["events"][-1]["frame"] + 1}))
    case("time that goes back", lambda p: p["events"].__setitem__(1, {**p["events"][1], "at": -5}))
    file = tap.folder / "cut.speedscope.json"
    file.write_bytes(path.read_bytes()[:-9])
    tap.check(validators.run("speedscope.mjs", file)[0] != 0, "a speedscope file is refused: cut off")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("only", nargs="*")
    options = parser.parse_args()
    reference.LEVELS = DEEPEST["speedscope"]
    options.share = Share() if options.all else Share.of_cases()
    with tempfile.TemporaryDirectory() as folder:
        tap = Program(str(Path(options.lode).resolve()), Path(folder))
        if not has_otf2(tap):
            READERS.pop("otf2")
            tap.skip("OTF2 archives", "this build does not write them, or python3-otf2 is missing")
        for part in (databases, generated, recordings, stores, costs, by_profile, traps, same_bytes, readers):
            if not options.only or part.__name__ in options.only:
                part(tap, options)
        tap.note(f"{tap.values} values compared")
        return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
