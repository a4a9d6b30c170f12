#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Random recordings whose costs are known: processes that fork, threads, names that change, mappings that cover each other, switches, in records of two
buffers that are not in order of time. Lode finds the costs that the model counted, in every form of a recording.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tools")]

from tap import Tap  # noqa: E402
from write import BRANCHES, CHAIN, COMPRESSED, COMPRESSED2, ID, IDENTIFIER, MARK_USER, PAGE_FAULTS, RAW, READ, READ_ID, USUAL, Event, Recording  # noqa: E402

BASE, PAGE, PAGES = 0x400000, 0x1000, 48
MODULES = [f"/lib/lib{number}.so" for number in range(6)]
OFF = "off-CPU (sec)"
STEPS = 260


class Thread:
    def __init__(self, pid, tid, name, space):
        self.pid, self.tid, self.name, self.space = pid, tid, name, space
        self.off_since = None


class Model:
    """Writes a recording, and counts what must come out of it."""

    def __init__(self, seed, big, size):
        self.random = random.Random(seed)
        fields = USUAL | CHAIN | ID
        self.events = [Event(fields=fields, ids=(11, 12), size=size), Event(PAGE_FAULTS, fields, (21, 22), size=size)]
        self.recording = Recording(*self.events, big=big)
        self.time = 10000
        self.threads = {}
        self.buffers = [[], []]
        self.own, self.inclusive, self.total = Counter(), Counter(), Counter()
        self.counts, self.by_thread, self.by_process = Counter(), Counter(), Counter()
        self.off, self.instants, self.next_id = 0, 0, 100
        for _ in range(2):
            self.begin_process()
        for _ in range(STEPS):
            self.step()
        self.flush()

    # ---- records ----

    def put(self, method, *arguments, **options):
        """A record at the next time, in one of the buffers."""
        self.time += self.random.randrange(1, 50)
        getattr(self.recording, method)(*arguments, time=self.time, **options)
        self.random.choice(self.buffers).append(self.recording.records.pop())

    def flush(self):
        """A round: one buffer after the other, each in order of time."""
        for buffer in self.buffers:
            self.recording.records += buffer
            buffer.clear()
        self.recording.round()

    def new_id(self):
        self.next_id += 1
        return self.next_id

    def leaders(self):
        return [thread for thread in self.threads.values() if thread.pid == thread.tid]

    # ---- what happens ----

    def begin_process(self):
        """As perf lists what runs already: without a time."""
        pid = self.new_id()
        thread = Thread(pid, pid, f"first{pid}", {})
        self.recording.comm(pid, pid, thread.name)
        self.recording.mmap2(pid, BASE, PAGE * PAGES // 2, 0, MODULES[0])
        thread.space.update({page: MODULES[0] for page in range(PAGES // 2)})
        self.threads[pid] = thread

    def map(self, thread):
        first, module = self.random.randrange(PAGES), self.random.choice(MODULES)
        count = min(self.random.randrange(1, 12), PAGES - first)
        self.put("mmap2", thread.pid, BASE + first * PAGE, count * PAGE, self.random.randrange(100) * PAGE, module)
        thread.space.update({page: module for page in range(first, first + count)})

    def rename(self, thread):
        thread.name = f"name{self.random.randrange(5)}"
        self.put("comm", thread.pid, thread.tid, thread.name)

    def fork(self, thread):
        """A process; sometimes with an id that was used before."""
        others = [other.tid for other in self.leaders() if other is not thread and all(t.pid != other.tid or t is other for t in self.threads.values())]
        pid = self.random.choice(others) if others and self.random.random() < 0.3 else self.new_id()
        self.put("fork", pid, pid, thread.pid, thread.tid)
        self.threads[pid] = Thread(pid, pid, thread.name, dict(thread.space))

    def start(self, thread):
        tid = self.new_id()
        self.put("fork", thread.pid, tid, thread.pid, thread.tid)
        self.threads[tid] = Thread(thread.pid, tid, thread.name, thread.space)

    def switch(self, thread):
        is_out = thread.off_since is None
        self.put("switch", thread.pid, thread.tid, is_out=is_out)
        self.instants += 1
        if not is_out:
            self.off += self.time - thread.off_since
        thread.off_since = self.time if is_out else None

    def sample(self, thread):
        number = self.random.randrange(2)
        depth, period = self.random.randrange(1, 6), self.random.randrange(1, 10**6)
        pages = [self.random.randrange(PAGES) for _ in range(depth)]
        chain = [BASE + page * PAGE + self.random.randrange(1, PAGE) for page in pages]
        names = [thread.space.get(page, "[unknown]") for page in pages]
        event = self.events[number]
        self.put("sample", event, chain[0], thread.pid, thread.tid, period=period, chain=[MARK_USER, *chain], number=self.random.choice(event.ids))
        self.total[number] += period
        self.counts[number] += 1
        self.own[number, names[0]] += period
        for name in set(names):
            self.inclusive[number, name] += period
        self.by_thread[number, thread.tid] += period
        self.by_process[number, self.threads[thread.pid].name] += period
        self.instants += number == 0

    def step(self):
        thread = self.random.choice(list(self.threads.values()))
        if thread.off_since is not None:
            if self.random.random() < 0.5:
                self.switch(thread)
            return
        actions, weights = (self.sample, self.map, self.rename, self.fork, self.start, self.switch), (60, 12, 6, 5, 5, 12)
        self.random.choices(actions, weights)[0](thread)
        if self.random.random() < 0.05:
            self.flush()


# ---- what Lode says ----


def ask(lode, *words):
    done = subprocess.run([lode, *map(str, words)], capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"lode {' '.join(map(str, words))}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout)


def near(left, right):
    return abs(left - right) <= 1e-9 * max(abs(left), abs(right), 1e-300)


def unequal(what, found, wanted):
    return [f"{what} {key}: {found.get(key, 0)} instead of {wanted.get(key, 0)}" for key in {*found, *wanted} if not near(found.get(key, 0), wanted.get(key, 0))]


def scaled(counter, number, unit):
    return {key: value * unit for (event, key), value in counter.items() if event == number}


def differences(lode, path, model):
    wrong = []
    for number, metric, name, unit in ((0, "cpu-clock (sec)", "cpu-clock", 1e-9), (1, "page-faults", "page-faults", 1)):
        top = ask(lode, "top", "--json", "--limit", 0, "--by", "module", "-m", metric, path)
        rows = [row for row in top["rows"] if row["module"]]
        wrong += unequal("total", {metric: top["total"]}, {metric: model.total[number] * unit})
        wrong += unequal("own", {row["module"]: row["exclusive"] for row in rows}, scaled(model.own, number, unit))
        wrong += unequal("inclusive", {row["module"]: row["inclusive"] for row in rows}, scaled(model.inclusive, number, unit))
        profiles = ask(lode, "profiles", "--json", "--limit", 0, "-m", metric, path)
        found = Counter()
        for row in profiles["rows"]:
            found[int(row["id_tuple"][1]["physical"])] += row["value"]
        wrong += unequal("thread", found, scaled(model.by_thread, number, unit))
        tree = ask(lode, "tree", "--json", "--limit", 0, "--depth", 1, "--min-percent", 0, "-m", metric, path)
        entries = Counter()
        for row in tree["rows"]:
            if row["depth"] == 0:
                entries[row["name"]] += row["inclusive"]
        wrong += unequal("process", entries, scaled(model.by_process, number, unit))
        samples = ask(lode, "top", "--json", "--limit", 1, "-m", f"{name}:samples", path)
        wrong += unequal("samples", {name: samples["total"]}, {name: model.counts[number]})
    off = ask(lode, "top", "--json", "--limit", 1, "-m", OFF, path)
    wrong += unequal("total", {OFF: off["total"]}, {OFF: model.off * 1e-9})
    trace = ask(lode, "trace", "--json", path)
    wrong += unequal("instants", {"trace": trace["samples"]}, {"trace": model.instants})
    return wrong


def write(model, form, folder):
    """None: the form cannot be made here."""
    path = folder / f"{form}.data"
    if form == "directory":
        model.recording.directory(path, 3)
    elif form == "stream":
        path.write_bytes(model.recording.pipe())
    elif form.startswith("zstd"):
        if not model.recording.pack(COMPRESSED if form == "zstd" else COMPRESSED2):
            return None
        path.write_bytes(model.recording.file())
    else:
        path.write_bytes(model.recording.file())
    return path


def check_jit(tap, lode, folder):
    """Names of code without a file come from a map beside the recording, which must be a regular file."""
    event = Event()
    recording = Recording(event)
    recording.comm(10, 10, "work")
    recording.mmap2(10, 0x400000, 0x10000, 0, "//anon")
    recording.sample(event, 0x400110, 10, 10, 1000)
    path, names = folder / "jit.data", folder / "perf-10.map"
    path.write_bytes(recording.file())
    named = lambda: [row["name"] for row in ask(lode, "top", "--json", path)["rows"]]  # noqa: E731
    without = named()
    names.write_text("400200 10 other\n400100 40 made at run time\n")
    regular = named()
    names.rename(folder / "elsewhere")
    names.symlink_to(folder / "elsewhere")
    wrong = [without, regular, named()]
    tap.check(regular == ["made at run time"], "a map beside the recording names code without a file", wrong)
    tap.check(without == named() == ["[anon]"], "a map that is a link is not read", wrong)


def check_packed(tap, lode, folder):
    """Instants of a trace line may take more bytes than the compressed records that they come from."""
    event, what = Event(), "a recording that is smaller than its trace lines can be converted, and keeps every sample"
    recording = Recording(event)
    for i in range(20000):
        recording.sample(event, 0x400110, 10, 10, 1000 + i // 1000)
    if not recording.pack():
        tap.skip(what, "there is no program zstd")
        return
    path, copy = folder / "packed.data", folder / "copy"
    path.write_bytes(recording.file())
    done = subprocess.run([lode, "convert", path, "-o", copy], capture_output=True, text=True, check=False)
    rows = ask(lode, "sql", "--json", copy, "select count(*) from sample")["results"][0]["rows"] if done.returncode == 0 else done.stderr
    tap.check(path.stat().st_size < 12 * 20000 and rows == [[20000]], what, [rows])


def check_remapped(tap, lode, folder):
    """Two call chains with the same addresses, and another library there between them."""
    event = Event(fields=USUAL | CHAIN)
    recording = Recording(event)
    recording.comm(10, 10, "work")
    for time, module in ((0, "/lib/first.so"), (1100, "/lib/second.so"), (1300, "/lib/first.so")):
        recording.mmap2(10, 0x400000, 0x10000, 0, module, time)
    for time in (1000, 1200, 1400, 1500):
        recording.sample(event, 0x400110, 10, 10, time, chain=(MARK_USER, 0x400110, 0x400220))
    path = folder / "remapped.data"
    path.write_bytes(recording.file())
    rows = ask(lode, "top", "--json", "--by", "module", "-m", "cpu-clock:samples", path)["rows"]
    found = {row["module"]: row["exclusive"] for row in rows if row["exclusive"]}
    tap.check(found == {"/lib/first.so": 3, "/lib/second.so": 1}, "equal call chains are in the libraries of their times", [found])


def check_wakers(tap, lode, folder):
    """Off-CPU time is below the thread that ended it; sched_waking tells better than sched_wakeup who that is."""
    fields = USUAL | RAW | IDENTIFIER | CHAIN
    names = ("sched:sched_switch", "sched:sched_wakeup", "sched:sched_waking")
    switch, wakeup, waking = (Event((2, 300 + i), fields, (9 + i,), name) for i, name in enumerate(names))
    for events, waker in (((switch, wakeup, waking), "woken by second"), ((switch, wakeup), "woken by swapper")):
        recording = Recording(*events)
        recording.comm(1, 1, "first")
        recording.comm(2, 2, "second")
        sample = lambda event, tid, time, raw: recording.sample(event, 0x100, tid, tid, time, 1, (MARK_USER, 0x100), raw=raw)  # noqa: E731, B023
        go = lambda tid, other, time: sample(switch, tid, time, bytes(56) + other.to_bytes(4, "little"))  # noqa: E731, B023
        wake = lambda event, tid, other, time: sample(event, tid, time, bytes(24) + other.to_bytes(4, "little"))  # noqa: E731, B023
        go(1, 2, 100)
        if waking in events:
            wake(waking, 2, 1, 120)
        wake(wakeup, 0, 1, 130)
        wake(events[-1], 2, 77, 140)  # a thread that nothing else tells of
        go(2, 1, 150)  # the first one waited 50 ns
        go(1, 2, 200)  # the second one 50 ns, woken by nobody
        go(2, 1, 280)  # the first one 80 ns, woken by nobody
        go(1, 88, 300)  # a thread of another process
        recording.describe()
        path = folder / "wakers.data"
        path.write_bytes(recording.file())
        tree = ask(lode, "tree", "--json", "--limit", 0, "--depth", 9, "--min-percent", 0, "-m", OFF, path)
        found = {row["name"]: row["inclusive"] for row in tree["rows"] if row["name"].startswith("woken")}
        total = ask(lode, "top", "--json", "-m", OFF, path)["total"]
        tap.check(list(found) == [waker] and near(found[waker], 50e-9) and near(total, 180e-9), f"off-CPU time is {waker}", [found, total])
        threads = {int(row["id_tuple"][1]["physical"]) for row in ask(lode, "profiles", "--json", "--limit", 0, "-m", OFF, path)["rows"]}
        tap.check(threads <= {0, 1, 2}, "a thread that is only woken, or only gets the processor, has no profile", [threads])


def check_forms(tap, lode, folder):
    """Names of C++ are simple in every command, unless another form is asked for."""
    event = Event(fields=USUAL | CHAIN)
    recording = Recording(event)
    recording.comm(46, 46, "work")
    recording.mmap2(46, 0x400000, 0x10000, 0, "//anon")
    for time in (1000, 2000):
        recording.sample(event, 0x400110, 46, 46, time, chain=(MARK_USER, 0x400110, 0x400220))
    path = folder / "forms.data"
    path.write_bytes(recording.file())
    (folder / "perf-46.map").write_text("400100 80 _ZN3app4workIiEEvT_\n400200 80 _ZN3app3runEi\n")
    questions = {"top": ["top"], "tree": ["tree"], "flame": ["flame", "--json"], "trace": ["trace"], "boxes": ["trace", "--boxes"], "stacks": ["trace", "--at", "0"],
                 "context": ["context", path, "3"], "search": ["search", path, "work"], "export": ["export", path, "--format", "folded", "-o", "-"],
                 "compare": ["compare", path, path, "--all"]}
    wrong = []
    for name, words in questions.items():
        shown = {}
        for form in ("", "simple", "full") if name != "context" else ("",):
            line = [*words, *([] if path in words else [path]), *(["--names", form] if form else [])]
            done = subprocess.run([lode, *map(str, line)], capture_output=True, text=True, check=False)
            shown[form] = done.stdout
            if "app::work" not in done.stdout or ("app::work<int>" in done.stdout) != (form == "full"):
                wrong.append((name, form, done.stdout, done.stderr))
        if shown.get("simple", shown[""]) != shown[""]:
            wrong.append((name, shown))
    tap.check(not wrong, "names are simple by default", wrong)
    copy = folder / "forms.db"
    subprocess.run([lode, "convert", path, "-o", copy], capture_output=True, check=True)
    rows = ask(lode, "top", "--json", copy)["rows"]
    tap.check({row["name"] for row in rows} == {"void app::work<int>(int)", "app::run(int)"}, "a database that is made of it has full names", rows)


def check_branches(tap, lode, folder):
    """Branches before a sample are counted; those of a stack of calls are its callers."""
    event = Event(fields=USUAL | CHAIN | BRANCHES, name="cycles", kind=(0, 0))
    recording = Recording(event)
    recording.comm(10, 10, "work")
    recording.mmap2(10, 0x400000, 0x10000, 0, "/lib/first.so")
    for time, flags in ((1000, (1, 2, 3)), (1100, (2, 2))):
        recording.sample(event, 0x400110, 10, 10, time, chain=(MARK_USER, 0x400110), branches=[(0x400200, 0x400300, one) for one in flags])
    path = folder / "branches.data"
    path.write_bytes(recording.file())
    found = {metric["name"]: metric["total"] for metric in ask(lode, "info", "--json", path)["metrics"]}
    wanted = {"cycles": 2, "cycles:samples": 2, "cycles:branches": 5, "cycles:mispredicted": 2}
    tap.check(found == wanted, "branches before samples are counted, and how many were mispredicted", [found])
    event.branches = 1 << 11
    recording.records.clear()
    recording.comm(10, 10, "work")
    for start, name in ((0x400000, "/lib/first.so"), (0x500000, "/lib/second.so"), (0x600000, "/lib/third.so")):
        recording.mmap2(10, start, 0x10000, 0, name)
    calls = [(0x500010, 0x400100, 0), (0x600020, 0x500000, 0)]
    recording.sample(event, 0x400110, 10, 10, 1000, chain=(MARK_USER, 0x400110, 0x400999), branches=calls)
    path.write_bytes(recording.file())
    rows = ask(lode, "tree", "--json", "--limit", 0, "--min-percent", 0, "--lines", path)["rows"]
    metrics = [metric["name"] for metric in ask(lode, "info", "--json", path)["metrics"]]
    tap.check([row["name"] for row in rows] == ["work", "[third.so]", "[second.so]", "[first.so]"] and metrics == ["cycles", "cycles:samples"],
              "a branch stack of calls is a call stack", [rows, metrics])


def check_reads(tap, lode, folder):
    """Counters that threads had when they ended are costs of these threads."""
    fields = USUAL | IDENTIFIER
    events = Event(fields=fields, ids=(11, 12), name="cpu-clock", read_format=READ_ID), Event(PAGE_FAULTS, fields, (21,), "page-faults", read_format=READ_ID)
    recording = Recording(*events)
    recording.comm(10, 10, "work")
    recording.fork(10, 11, 10, 10, 900)
    for tid in (10, 11):
        recording.sample(events[0], 0x100, 10, tid, 1000)
    for tid, value, number in ((10, 3000000000, 11), (11, 500000000, 11), (11, 250000000, 12), (11, 7, 21)):
        recording.side(READ, recording.numbers("ii", 10, tid) + recording.words(value, number), 10, tid, 2000)
    recording.describe()
    path = folder / "reads.data"
    path.write_bytes(recording.file())
    counted = lambda metric: {int(row["id_tuple"][1]["physical"]): row["value"]  # noqa: E731
                              for row in ask(lode, "profiles", "--json", "--limit", 0, "-m", metric, path)["rows"] if row["value"]}
    found = counted("cpu-clock:counted (sec)"), counted("page-faults:counted")
    tap.check(found == ({10: 3, 11: 0.75}, {11: 7}), "counters of threads that ended are theirs", [found])


def check_names(tap, lode, folder):
    """Profiles have the last names of their threads."""
    recording = Recording(Event())
    recording.comm(10, 10, "work")
    recording.fork(10, 11, 10, 10, 900)
    recording.comm(10, 11, "helper \x1b[31m", 950)
    for tid in (10, 11):
        recording.sample(recording.events[0], 0x100, 10, tid, 1000)
    path = folder / "names.data"
    path.write_bytes(recording.file())
    text = subprocess.run([lode, "profiles", path], capture_output=True, check=False).stdout.decode()
    tap.check("thread 0 (work)" in text and "thread 1 (helper " in text and "\x1b" not in text, "profiles have the names of threads", [text])


FORMS = {"file": 136, "stream": 136, "directory": 136, "zstd": 136, "zstd2": 144, "big-endian": 136, "small events": 64, "large events": 200}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--seeds", type=int, default=1, help="recordings of each form")
    options = parser.parse_args()
    os.environ["LODE_PLUGINS"] = "/nonexistent"
    tap = Tap()
    with tempfile.TemporaryDirectory() as scratch:
        check_jit(tap, options.lode, Path(scratch))
        check_packed(tap, options.lode, Path(scratch))
        check_remapped(tap, options.lode, Path(scratch))
        check_wakers(tap, options.lode, Path(scratch))
        check_forms(tap, options.lode, Path(scratch))
        check_branches(tap, options.lode, Path(scratch))
        check_reads(tap, options.lode, Path(scratch))
        check_names(tap, options.lode, Path(scratch))
        for number, (form, size) in enumerate(FORMS.items()):
            for seed in range(options.seeds):
                model = Model(100 * number + seed, form == "big-endian", size)
                folder = Path(scratch) / f"{number}-{seed}"
                folder.mkdir()
                path = write(model, form, folder)
                if path is None:
                    tap.skip(form, "there is no program zstd")
                    continue
                wrong = differences(options.lode, path, model)
                tap.check(not wrong, f"{form}: {sum(model.counts.values())} samples of {len(model.threads)} threads cost what the model says", wrong[:12])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
