#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Timelines: Perfetto traces and Chrome trace events. Every slice of every store is that of a reference (timeline_reference.py) which never saw Lode, by readers that Lode has no part in; and Perfetto itself finds as many, with the same sums. Needs the corpus; what Perfetto says needs
LODE_VALIDATORS. With --all, also the stores that take long. LODE_SHARE selects a part of the stores and of the traps.
"""

import argparse
import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import known
import pftrace
import timeline_reference as reference
import validators
from share import Share
from tap import Tap

import corpora
import corpus_files
import db_model
import made
import rec_reference
import rec_uftrace
import rec_zorka
import reader

try:
    import expected
except ImportError:  # no PyYAML, or one without libyaml
    expected = None

# Readers give up on these: tests/answers/recordings/rec_corpus.py says why.
NOT_READ = {"badhdrmagic", "v5", "be_noswap_hdr", "badmagic", "evunk", "extratid", "nosess", "moreflag"}
SMALL = 1 << 15  # bytes of what an independent reader wrote about a database, packed
HIGH = 0xffff8000deadbee0
LARGE = known.LARGE


class Program(Tap):
    def __init__(self, lode, folder):
        super().__init__()
        self.lode, self.folder, self.made = lode, folder, 0

    def export(self, store, format, *options, name=None, status=0):
        """The path of an export, and what was said."""
        self.made += 1
        path = self.folder / (name or f"{self.made}.{format}")
        done = subprocess.run([self.lode, "export", str(store), "--format", format, "-o", str(path), "--names", "raw", *map(str, options)],
                              capture_output=True, text=True, timeout=600)
        if done.returncode != status:
            raise RuntimeError(f"{store}: exit status {done.returncode}: {done.stderr}")
        return path, done.stderr

    def perfetto(self, store, *options):
        path, said = self.export(store, "perfetto", *options)
        trace = pftrace.Trace(path.read_bytes())
        trace.path, trace.said = path, said
        return trace

    def chrome(self, store, *options):
        path, said = self.export(store, "chrome", *options)
        trace = Chrome(json.loads(path.read_text("utf-8"), object_pairs_hook=dict))
        trace.path, trace.said = path, said
        return trace


class Chrome:
    """Slices, instants, processes and threads of Chrome trace events; times are integers again."""

    def __init__(self, data):
        self.base = int(data["otherData"]["time_base_ns"])
        self.slices, self.instants, self.counters = [], [], []
        self.processes, self.threads, stacks = {}, {}, defaultdict(list)
        for event in data["traceEvents"]:
            kind, pid, tid = event["ph"], event["pid"], event["tid"]
            if kind == "M":
                if event["name"] == "process_name":
                    self.processes[pid] = event["args"]["name"]
                elif event["name"] == "thread_name":
                    self.threads[tid] = (pid, event["args"]["name"])
                continue
            time = self.base + round(event["ts"] * 1000)
            if kind == "B":
                stacks[tid].append(pftrace.Slice(tid, time, len(stacks[tid]), event["name"], [], list(event.get("args", {}).items())))
            elif kind == "E":
                call = stacks[tid].pop()
                if call.name != event["name"]:
                    raise pftrace.Bad(f"'{event['name']}' ends '{call.name}'")
                call.end = time
                call.args += event.get("args", {}).items()
                self.slices.append(call)
            elif kind == "i":
                self.instants.append((tid, time, event["name"], event.get("args", {})))
            elif kind == "C":
                self.counters.append((pid, time, event["name"], event["args"]))
            else:
                raise pftrace.Bad(f"an event {kind}")
        if any(stacks.values()):
            raise pftrace.Bad("a call never ends")

    def keys(self, with_thread=True):
        return Counter(s.key if with_thread else s.key[1:] for s in self.slices)


def differences(found, wanted):
    return [f"{what}: {key} x {count}" for what, rest in (("too many", found - wanted), ("missing", wanted - found))
            for key, count in list(rest.items())[:5]]


def both(tap, name, store, wanted, *options, threads=None, with_thread=True):
    """Both formats have the slices that are wanted."""
    for format, read in (("Perfetto", tap.perfetto), ("Chrome", tap.chrome)):
        trace = read(store, *options)
        found = trace.keys(with_thread)
        wrong = differences(found, wanted)
        if threads is not None and set(trace.threads) != threads:
            wrong.append(f"threads {sorted(trace.threads)}, not {sorted(threads)}")
        mains = {pid for pid, _ in trace.threads.values()} - set(trace.threads)
        if with_thread and threads is not None and mains:
            wrong.append(f"processes without a thread of their number: {mains}")
        tap.check(not wrong, f"{format}: {name}: {sum(wanted.values())} slices are those of the reference", wrong)
    return trace


# ---- stores ----

def databases(tap, options):
    root = corpora.root() / "hpctoolkit"
    if expected is None or not (root / "expected").is_dir():
        return tap.skip("databases", "there is no corpus, or no Python with libyaml")
    paths = [path for path in corpora.expected(root) if options.all or path.stat().st_size <= SMALL]
    for path in options.share.of(paths):
        name = path.name[:-len(".yaml.gz")]
        db = db_model.Database(expected.from_file(path))
        if not db.traces or not any(line["samples"] for line in db.traces["lines"]):
            continue
        wanted, threads = reference.of_database(db)
        both(tap, name, root / "final" / name, wanted, threads=threads)
        trace, wanted = tap.perfetto(root / "final" / name, "--samples"), reference.samples_of(db)
        tap.check(trace.samples == wanted and trace.slices, f"Perfetto: {name}: {sum(wanted.values())} samples with their stacks, beside the slices",
                  differences(trace.samples, wanted))
        database_windows(tap, name, root / "final" / name, db)
    return None


def database_windows(tap, name, store, db):
    times = sorted({s[0] for line in db.traces["lines"] for s in line["samples"]})
    if len(times) < 8:
        return
    begin, end = times[len(times) // 3] + 1, times[2 * len(times) // 3] - 1
    wanted, threads = reference.of_database(db, begin, end)
    both(tap, f"{name} in a window", store, wanted, "--from", f"@{begin}", "--to", f"@{end}", threads=threads)
    wanted, threads = reference.of_database(db, depth=3)
    both(tap, f"{name} to depth 3", store, wanted, "--depth", 3, threads=threads)
    first = next(line["profile"] for line in db.traces["lines"] if line["samples"])
    wanted, threads = reference.of_database(db, profiles={first})
    both(tap, f"{name}: one profile", store, wanted, "--profiles", f"profile={first}", threads=threads)


def recordings(tap, options):
    found = corpus_files.recorded()
    if not found:
        return tap.skip("recordings", "there is no corpus")
    made = [(name, path) for name, path in corpus_files.handmade() if name not in NOT_READ]
    for name, path in options.share.of(found + made):
        tracks = rec_uftrace.tracks(path)
        wanted = reference.of_recording(tracks, True)
        if not wanted:
            continue
        both(tap, name, path, wanted)
        times = rec_uftrace.moments(tracks)
        begin, end = rec_uftrace.quiet_moment(times, 0.3), rec_uftrace.quiet_moment(times, 0.7)
        if begin and end and begin < end and name not in ("inverted",):
            cut = rec_reference.cut(tracks, begin, end)
            both(tap, f"{name} in a window", path, reference.of_recording(cut, True), "--from", f"@{begin}", "--to", f"@{end}")
    return None


def stores(tap, options):
    root = corpora.root() / "zorka" / "stores"
    if not root.is_dir():
        return tap.skip("trace stores", "there is no corpus")
    for name in ("first", "master"):
        tracks = rec_zorka.tracks(rec_zorka.Read(root / name))
        trace = both(tap, name, root / name, reference.of_recording(tracks, False), with_thread=False)
        requests, threads, process = known.REQUESTS[name]
        tap.check(len(trace.threads) == threads and set(trace.processes) == {process}, f"{name}: {requests} requests on {threads} threads of one process",
                  [trace.threads, trace.processes])
        ids = [value for s in trace.slices if s.depth == 0 for key, value in s.args if key == "request"]
        tap.check(len(set(ids)) == requests and all(len(i) == 32 for i in ids), f"{name}: the outermost slices have the ids of requests", [ids])
    return None


# ---- Perfetto itself ----

QUERY = "select name, count(*) n, sum(dur) d from slice where category is null or category='sched' group by name"


def perfetto_agrees(tap, name, store, *options):
    """Perfetto finds what this file's reader found, in both formats."""
    trace = tap.perfetto(store, *options)
    status, said = validators.run("perfetto.mjs", trace.path, QUERY)
    calls, times = Counter(), Counter()
    for s in trace.slices:
        calls[s.name] += 1
        times[s.name] += s.end - s.begin
    # A name is absent where nothing has it.
    rows = {row["name"]: (row["n"], int(row["d"])) for row in said.get("queries", [[]])[0]}
    wrong = [said.get("error") or said.get("lost")] if status else []
    wrong += [f"{key}: {rows.get(key)}, not {(calls[key], times[key])}" for key in set(calls) | set(rows) if rows.get(key) != (calls[key], times[key])]
    if not status:
        wrong += [] if said["slices"]["unfinished"] == 0 else ["unfinished slices"]
        wrong += [] if len(said["processes"]) == len(trace.processes) else [f"processes {said['processes']}"]
        wrong += [] if said["threads"] == len(trace.threads) else [f"threads {said['threads']}, not {len(trace.threads)}"]
        wrong += [] if said["counters"]["n"] == sum(map(len, trace.counters.values())) else [f"counters {said['counters']}"]
    tap.check(not wrong, f"Perfetto reads {name}: {len(trace.slices)} slices, names and sums agree", wrong[:10])
    chrome = tap.chrome(store, *options)
    status, said = validators.run("chrome.mjs", chrome.path)
    good = status == 0 and said["slices"] == len(trace.slices) and {k: (v["calls"], v["time"]) for k, v in said["functions"].items()} == \
        {k: (calls[k], times[k]) for k in calls}
    tap.check(good, f"Chrome trace events of {name}: accepted, names and sums agree", [said.get("error"), said.get("slices")])
    return trace


def readers(tap, options):
    if validators.where() is None:
        return tap.skip("Perfetto's own reader", "LODE_VALIDATORS names no folder of validators")
    facts, root = known.facts(), corpora.root()
    final = root / "hpctoolkit" / "final"
    stores = [corpus_files.named(name) for name in (sorted(dict(corpus_files.recorded())) if options.all else corpora.either(("events", "deep4k"), ("events", "args")))]
    stores += [root / "zorka" / "stores" / name for name in (("first", "master", "master-fmi", "real-agent") if options.all else ("master",))]
    stores += [path for path in corpora.stores(final) if path.name != LARGE and has_samples(tap, path)] if options.all else []
    cases = [lambda: broken_chrome(tap), lambda: broken(tap, final / LARGE)]
    if facts is None:
        tap.skip(LARGE, known.UNKNOWN)
    else:
        cases.append(lambda: as_known(tap, final / LARGE, facts))
    cases += [lambda path=path: perfetto_agrees(tap, f"{path.parent.name}/{path.name}", path) for path in stores]
    for case in options.share.of(cases):
        case()
    return None


def has_samples(tap, store):
    return subprocess.run([tap.lode, "export", str(store), "--format", "perfetto", "-o", "-"], capture_output=True).returncode == 0


def as_known(tap, store, facts):
    trace = perfetto_agrees(tap, LARGE, store)
    status, said = validators.run("perfetto.mjs", trace.path, "select sum(dur) d from slice where depth=0")
    found = (said["slices"]["count"], said["packets"] - 1 - facts.processes - 2 * facts.threads, said["slices"]["depth"], said["threads"], len(said["processes"]),
             int(said["slices"]["total"]), int(said["queries"][0][0]["d"]), said["bounds"]["first"], said["bounds"]["last"])
    wanted = (facts.calls, 2 * facts.calls, facts.depth, facts.threads, facts.processes, facts.time, facts.outermost, str(facts.first), str(facts.last))
    tap.check(status == 0 and found == wanted, f"{LARGE}: slices, events, depth, threads, processes, sums and times as another program found them", [found, wanted])


def broken(tap, store):
    """What the readers refuse."""
    data = tap.export(store, "perfetto")[0].read_bytes()[:200000]
    packets, at = [], 0
    while at < len(data):
        size, begin = pftrace.varint(data, at + 1)
        packets.append(data[at:begin + size])
        at = begin + size
    packets.pop()
    first = next(i for i, p in enumerate(packets) if pftrace.dict_of(pftrace.fields(p)[0][1], repeated=()).get(13) == 3)
    cases = {"cut off": data[:-3],
             "a sequence without its beginning": b"".join(packets[:first] + packets[first + 1:]),
             "an undefined name": b"".join(packets).replace(b"\x48\x01\x50\x01", b"\x48\x01\x50\x7f")}
    for name, bad in cases.items():
        file = tap.folder / "bad.pftrace"
        file.write_bytes(bad)
        refused = validators.run("perfetto.mjs", file)[0] != 0
        try:
            pftrace.Trace(bad)
            strict = False
        except (pftrace.Bad, KeyError):
            strict = True
        tap.check(refused and strict, f"a Perfetto trace is refused: {name}", [refused, strict])


def broken_chrome(tap):
    chrome, _ = tap.export(corpus_files.recorded()[0][1], "chrome")
    text = chrome.read_text()
    for name, bad in {"cut off": text[:-4], "a call that never ends": text.replace('{"ph":"E"', '{"ph":"C"', 1), "thread 0": text.replace('"tid":', '"tid":0,"was":', 400)}.items():
        file = tap.folder / "bad.json"
        file.write_text(bad)
        tap.check(validators.run("chrome.mjs", file)[0] != 0, f"Chrome trace events are refused: {name}")


# ---- everything else ----

def same_bytes(tap, options):
    store = tap.folder / "many.data"
    subprocess.run([tap.lode, "synth", "recording", "--records", "60000", "--tasks", "70", "--arguments", "-o", str(store)], check=True, capture_output=True)
    for format in ("perfetto", "chrome"):
        made = [tap.export(store, format, "--threads", n)[0].read_bytes() for n in (1, 2, 7, 40)]
        tap.check(len(set(made)) == 1, f"{format}: the same {len(made[0])} bytes with 1, 2, 7 and 40 threads", map(len, made))
    stream = subprocess.run([tap.lode, "export", str(store), "--format", "chrome", "--names", "raw", "-o", "-"], capture_output=True).stdout
    tap.check(stream == made[0], "standard output gets the same bytes")
    packed, _ = tap.export(store, "chrome", "--compression", "gzip")
    tap.check(gzip.decompress(packed.read_bytes()) == made[0], "gzip: the same bytes inside")
    trace = pftrace.Trace(tap.export(store, "perfetto")[0].read_bytes())
    answer = json.loads(subprocess.run([tap.lode, "top", str(store), "--json", "--limit", "0", "--names", "raw"], capture_output=True).stdout)
    compare_top(tap, "70 tasks", trace, answer)


def compare_top(tap, name, trace, answer):
    """Calls, total and self time by name are those of `lode top`. Slices end from the inside out."""
    calls, total, own = Counter(), Counter(), Counter()
    by_thread = defaultdict(list)
    for s in trace.slices:
        by_thread[s.thread].append(s)
    for slices in by_thread.values():
        inside = Counter()
        stack = []
        for s in sorted(slices, key=lambda s: (s.begin, s.depth)):
            del stack[s.depth:]
            calls[s.name] += 1
            if s.name not in stack:
                total[s.name] += s.end - s.begin
            stack.append(s.name)
        for s in slices:  # in the order of ends
            own[s.name] += s.end - s.begin - inside.pop(s.depth + 1, 0)
            inside[s.depth] += s.end - s.begin
    wanted = {row["name"]: (row["calls"], row["total_ns"], row["self_ns"]) for row in answer["rows"]}
    found = {key: (calls[key], total[key], own[key]) for key in calls}
    wrong = [f"{key}: {found.get(key)}, not {wanted.get(key)}" for key in set(found) | set(wanted) if found.get(key) != wanted.get(key)]
    tap.check(not wrong and len(wanted) > 10, f"{name}: calls, total and self time of {len(wanted)} functions are those of `lode top`", wrong[:8])


def traps(tap, options):
    for trap in options.share.of((levels, epoch, arguments, errors, nameless, addresses)):
        trap(tap)


def made_recording(tap, name, records, specs=()):
    """A recording of one thread."""
    store = tap.folder / name
    store.mkdir()
    made.write(store, {100: records}, [], made.FUNCTIONS, specs)
    return store


def levels(tap):
    f = made.BASE + made.FUNCTIONS["f"]
    down = [made.record("entry", made.TIME + level, level, f) for level in range(1000)]
    up = [made.record("exit", made.TIME + 2000 - level, level, f) for level in reversed(range(1000))]
    for store, count in ((made_recording(tap, "levels.data", down + up), 488), *corpora.either([(corpus_files.named("deep4k"), 990)], [])):
        check_levels(tap, store, count)


def check_levels(tap, store, count):
    trace = tap.perfetto(store)
    tap.check(trace.depth == 512 and f"{count} calls were left out below 512 levels" in trace.said, "calls below 512 levels are left out, and that is said",
              [trace.depth, trace.said])
    trace = tap.perfetto(store, "--depth", 100)
    tap.check(trace.depth == 100 and "below 512" not in trace.said, "--depth cuts before", [trace.depth, trace.said])


def epoch(tap):
    facts = known.facts()
    if facts is None:
        return tap.skip(f"Chrome: times of {LARGE}", known.UNKNOWN)
    chrome = tap.chrome(known.store())
    first = min(s.begin for s in chrome.slices)
    return tap.check(chrome.base == first == facts.first and max(s.end for s in chrome.slices) == facts.last,
                     "Chrome: times count from the first event, and are exact", [chrome.base, first])


def arguments(tap):
    values = tap.perfetto(corpus_files.named("n_autoargs"))
    without = tap.perfetto(corpus_files.named("n_autoargs"), "--no-arguments")
    tap.check(sum(len(s.args) for s in values.slices) == known.ARGUMENTS and not any(s.args for s in without.slices) and values.keys() == without.keys(),
              "--no-arguments: the same slices without values", [sum(len(s.args) for s in values.slices)])
    counters = tap.perfetto(known.with_numbers(tap.folder)).counters
    tap.check("read:proc/statm vmrss" in counters and len(counters["read:proc/statm vmrss"]) > 1, "numbers are counters", [sorted(counters)])


def errors(tap):
    store = corpora.root() / "zorka" / "stores" / "master"
    values, chrome = tap.perfetto(store), tap.chrome(store, "--no-arguments")
    tap.check(any(key == "error" and value is True for s in values.slices for key, value in s.args) and not any(s.args for s in chrome.slices),
              "failed calls say so; without arguments they do not")
    thrown = [dict(i.args) for i in values.instants if i.name == "exception"]
    tap.check(len(thrown) == rec_zorka.exceptions(store) > 0 and all(i["class"] and i["message"] and i["stack"] for i in thrown) and any("cause stack" in i for i in thrown),
              "exceptions are instants with class, message, stack and causes", [thrown])


def nameless(tap):
    """Perfetto refuses empty names of processes and threads in JSON."""
    chrome, _ = tap.export(corpus_files.folder("handmade") / "nosess", "chrome")
    names = [event["args"]["name"] for event in json.loads(chrome.read_text())["traceEvents"] if event["name"] in ("process_name", "thread_name")]
    status, said = validators.run("chrome.mjs", chrome) if validators.where() else (0, {})
    tap.check(all(names) and status == 0, "Chrome: what has no name gets none", [names, said.get("error")])


def recorded_addresses(tap):
    """A recording with an address in place of another."""
    store = tap.folder / "addresses.data"
    shutil.copytree(corpus_files.named("n_exc"), store)
    before = tap.perfetto(store)
    known = next(int(v, 16) for s in before.slices for _, v in s.args if isinstance(v, str) and v.startswith("0x") and len(v) > 10)
    for path in store.glob("*.dat"):
        path.write_bytes(path.read_bytes().replace(known.to_bytes(8, "little"), HIGH.to_bytes(8, "little")))
    return store


def addresses(tap):
    """Addresses above 2^63 stay what they are."""
    f, records = made.BASE + made.FUNCTIONS["f"], []
    for number in range(12):
        address = HIGH - number if number % 2 == 0 else HIGH >> number
        at = made.TIME + 10 * number
        records += [made.record("entry", at, 0, f, address.to_bytes(8, "little")), made.record("exit", at + 5, 0, f)]
    check_addresses(tap, made_recording(tap, "made.data", records, ["argspec:f@arg1/x64"]))
    if not corpora.is_own():
        check_addresses(tap, recorded_addresses(tap))


def check_addresses(tap, store):
    perfetto, chrome = tap.perfetto(store), tap.chrome(store)
    found = Counter(str(value) for s in perfetto.slices for _, value in s.args)
    text = Counter(str(value) for s in chrome.slices for _, value in s.args)
    tap.check(found == text and len(found) > 10, f"both formats have the same {sum(found.values())} values", [found - text, text - found])
    tap.check(found[f"0x{HIGH:x}"] > 0 and f'"0x{HIGH:x}"' in chrome.path.read_text(), "addresses above 2^63 are pointers in Perfetto and strings in Chrome")
    if validators.where() is None:
        return tap.skip("Perfetto shows the address", "LODE_VALIDATORS names no folder of validators")
    status, said = validators.run("perfetto.mjs", perfetto.path, f"select count(*) n from args where display_value='0x{HIGH:x}' or cast(int_value as text)='{HIGH - 2 ** 64}'")
    return tap.check(status == 0 and said["queries"][0][0]["n"] > 0, "Perfetto shows the address", [said.get("queries"), said.get("error")])


# ---- uftrace's own export ----

def wrong_ends(events):
    """Ends of calls that are not open, by process: uftrace takes threads for such."""
    stacks, wrong = defaultdict(list), 0
    for event in events:
        stack = stacks[event["pid"]]
        if event["ph"] == "B":
            stack.append(event["name"])
        elif event["ph"] == "E":
            wrong += (stack.pop() if stack else None) != event["name"]
    return wrong + sum(map(len, stacks.values()))


def peer(tap, options):
    """`uftrace dump --chrome` ends calls too early where a thread was pre-empted."""
    uftrace, store = shutil.which("uftrace"), corpus_files.named("mt")
    if not uftrace:
        return tap.skip("uftrace dump --chrome", "there is no uftrace")
    theirs = subprocess.run([uftrace, "dump", "--chrome", "--no-pager", "-d", str(store)], capture_output=True, text=True).stdout
    path, _ = tap.export(store, "chrome")
    ours = json.loads(path.read_text())["traceEvents"]
    for event in ours:
        event["pid"] = event["tid"]
    wrong = wrong_ends(json.loads(theirs)["traceEvents"])
    tap.check(wrong > 0 and wrong_ends(ours) == 0, f"pre-empted calls: {wrong} ends of uftrace's are wrong, none of Lode's", [wrong, wrong_ends(ours)])
    slices = Chrome(json.loads(path.read_text())).slices
    out = [s for s in slices if s.name.startswith("linux:schedule")]
    preempted = [s for s in out if dict(s.args).get("preempted")]
    return tap.check(len(preempted) > 0 and all(s.depth > 0 for s in preempted), f"{len(preempted)} of {len(out)} off-CPU slices say that they were pre-empted", [out[:3]])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("only", nargs="*")
    options = parser.parse_args()
    options.share = Share() if options.all else Share.of_cases()
    with tempfile.TemporaryDirectory() as folder:
        tap = Program(str(Path(options.lode).resolve()), Path(folder))
        for part in (databases, recordings, stores, same_bytes, traps, peer, readers):
            if not options.only or part.__name__ in options.only:
                part(tap, options)
        return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
