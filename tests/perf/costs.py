#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Costs of recordings of perf: for each event, the total, the own and the inclusive cost of each load module, and the cost of each thread follow
from the samples that `perf script` shows. A database that `lode build` makes of a recording has the same, with any number of threads, and so have
its trace lines.
"""

import argparse
import filecmp
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tools")]

import corpora  # noqa: E402
from recordings import UNWOUND, Recordings  # noqa: E402
from tap import Tap  # noqa: E402

CLOCKS = ("cpu-clock", "task-clock", "sched:sched_stat_")
# What differs in form and content; all others, by hand: --all.
CHOSEN = ("bpf", "dir", "dlopen", "faults", "forkexec", "group", "jit", "overwrite", "perthread", "pipe", "sched", "systemwide", "terms", "threads", "zstd2")
BUILT = ("dir", "group", "sched", "threads", "zstd2")


def ask(lode, *words):
    done = subprocess.run([lode, *map(str, words)], capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"lode {' '.join(map(str, words))}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout)


def metric_of(event):
    return event + " (sec)" if event.startswith(CLOCKS) else event


def module_of(frame):
    """Code without a file has one module in Lode; perf names it after the map of its process."""
    return "//anon" if frame[1].startswith("/tmp/perf-") else frame[1]


class Wanted:
    """What follows from samples."""

    def __init__(self, samples):
        self.totals, self.counts = Counter(), Counter()
        self.own, self.inclusive = defaultdict(Counter), defaultdict(Counter)
        self.threads = defaultdict(Counter)
        for words, frames in samples:
            event, period = words[5], int(words[4])
            self.totals[event] += period
            self.counts[event] += 1
            self.threads[event][int(words[1].split("/")[1])] += period
            if frames:
                self.own[event][module_of(frames[0])] += period
            for module in {module_of(frame) for frame in frames}:
                self.inclusive[event][module] += period


def near(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1e-300)


def differences(lode, path, wanted, has_frames):
    wrong = []
    for event, total in wanted.totals.items():
        metric = metric_of(event)
        unit = 1e-9 if metric != event else 1
        answer = ask(lode, "top", "--json", "--limit", 0, "--by", "module", "-m", metric, path)
        if not near(answer["total"], total * unit):
            wrong.append(f"{metric}: {answer['total']} instead of {total * unit}")
        samples = ask(lode, "top", "--json", "--limit", 1, "-m", f"{event}:samples", path)
        if samples["total"] != wanted.counts[event]:
            wrong.append(f"{event}: {samples['total']} samples instead of {wanted.counts[event]}")
        if not has_frames:
            continue
        rows = {row["module"]: row for row in answer["rows"] if row["module"]}
        for module in {*rows, *wanted.inclusive[event]}:
            own, inclusive = wanted.own[event][module] * unit, wanted.inclusive[event][module] * unit
            row = rows.get(module, {"exclusive": 0, "inclusive": 0})
            if not near(row["exclusive"], own) or not near(row["inclusive"], inclusive):
                wrong.append(f"{metric}, {module}: {row['exclusive']}, {row['inclusive']} instead of {own}, {inclusive}")
    return wrong


def profile_differences(lode, path, wanted):
    """Threads of one id that are several, one after the other, are added up."""
    wrong = []
    for event, threads in wanted.threads.items():
        metric = metric_of(event)
        unit = 1e-9 if metric != event else 1
        found = Counter()
        answer = ask(lode, "profiles", "--json", "--limit", 0, "-m", metric, path)
        for row in answer["rows"]:
            thread = int(next(part["physical"] for part in row["id_tuple"] if part["kind"] == "THREAD"))
            found[thread if thread < 1 << 31 else thread - (1 << 32)] += row["value"]
        for thread in {*found, *threads}:
            if not near(found[thread], threads[thread] * unit):
                wrong.append(f"{metric}, thread {thread}: {found[thread]} instead of {threads[thread] * unit}")
    return wrong


def check_built(tap, lode, name, path, wanted, scratch):
    one, four = scratch / f"{name}-1", scratch / f"{name}-4"
    wrong = []
    for threads, target in ((1, one), (4, four)):
        done = subprocess.run([lode, "build", path, "-o", target, "--threads", str(threads), "--foreign"], capture_output=True, check=False)
        wrong += [done.stderr.decode(errors="replace")] if done.returncode else []
    if not wrong:
        wrong = differences(lode, one, wanted, name not in UNWOUND)
        names = sorted(file.relative_to(one) for file in one.rglob("*") if file.is_file())
        same, other, errors = filecmp.cmpfiles(one, four, names, shallow=False)
        wrong += [f"{file} differs with four threads" for file in [*other, *errors]]
        findings = ask(lode, "check", "--json", "--level", "full", one)["findings"]
        wrong += [str(finding) for finding in findings if finding["severity"] != "note"]
    tap.check(not wrong, f"{name}: built with any number of threads, sound, with the same costs", wrong[:8])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--all", action="store_true", help="all recordings of the corpus")
    options = parser.parse_args()
    # Names of functions are not compared, and binaries of this machine need not be read.
    os.environ["LODE_PLUGINS"] = "/nonexistent"
    tap = Tap()
    with Recordings(corpora.root()) as recordings:
        for name, path in recordings.all():
            samples = recordings.samples(name) if options.all or name in CHOSEN else None
            if samples is None:
                continue
            wanted = Wanted(samples)
            wrong = differences(options.lode, path, wanted, name not in UNWOUND)
            tap.check(not wrong, f"{name}: totals and load modules of {len(wanted.totals)} events follow from the samples", wrong[:8])
            wrong = profile_differences(options.lode, path, wanted)
            tap.check(not wrong, f"{name}: costs of threads follow from the samples", wrong[:8])
            if name in BUILT:
                check_built(tap, options.lode, name, path, wanted, Path(recordings.scratch.name))
        if tap.count == 0:
            tap.skip("costs", "there is no corpus with recordings of perf")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
