#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The gate on real runs: noise.py --lode PROGRAM [--runs 20] [--tries 4]

A/A: runs of one program, recorded by uftrace, against each other: at most 5 % of the comparisons raise an alarm with exact
counts; with time, no more than that rate explains. A/B: one function that does 20 % more is found with 5 and 5 runs, unless the machine is so noisy that
these runs cannot show it; then others are recorded, and at last the test says what the noise is and is skipped by name.
Runs of both sides alternate, so that both see the same machine.
"""

import argparse
import math
import statistics
import sys
import tempfile
from pathlib import Path

from recorded import Tap, compile_program, gate, missing, priority, record

PLANTED = 20  # percent
LIMIT = 5
REPEATS = 3


def allowed(count, is_exact):
    """5 %; for times, which differ by chance, what a rate of 5 % exceeds once in 1,000 tests."""
    if is_exact:
        return 0.05 * count
    most, tail = count, 0.0
    while most > 0 and (tail := tail + math.comb(count, most) * 0.05 ** most * 0.95 ** (count - most)) < 0.001:
        most -= 1
    return most


def alarms(lode, folder, comparisons, *words):
    """(comparisons that fail, the smallest visible changes of their totals)."""
    failed, visible = 0, []
    for base, new in comparisons:
        status, result = gate(lode, folder, *words, "--base", *base, "--new", *new)
        assert status in (0, 1), result
        failed += status
        visible += [row["smallest_visible_percent"] for row in result["rows"] if row["name"] is None]
    return failed, visible


def time_of(lode, folder, run):
    """Running time, where the times when the program did not run were recorded."""
    _, result = gate(lode, folder, "--metric", "running", run, run)
    return ["--metric", "running" if isinstance(result, dict) else "time"]


def noise_of(lode, folder, runs):
    """Standard deviation of the logarithm of a run's time of `relax`, in percent."""
    times, words = [], time_of(lode, folder, runs[0])
    for run in runs:
        _, result = gate(lode, folder, *words, "--max-exclusive", "relax=5%", run, run)
        times.append(result["rows"][0]["base"])
    return 100 * statistics.stdev(map(math.log, times)), times


def same_program(tap, lode, folder, count):
    runs = [record(folder, f"a{i}") for i in range(count)]
    noise, _ = noise_of(lode, folder, runs)
    tap.note(f"noise of this machine: {noise:.1f} % (standard deviation of the logarithm of the time of one function, {count} runs)")
    one = [([run for run in runs if run != new], [new]) for new in runs]
    halves = [([runs[(i + j) % count] for j in range(0, count, 2)], [runs[(i + j) % count] for j in range(1, count, 2)]) for i in range(2)]
    fives = [([runs[(i + 4 * j) % count] for j in range(5)], [runs[(i + 2 + 4 * j) % count] for j in range(5)]) for i in range(min(count, 20))] if count >= 20 else []
    for name, words in (("the default gate (calls)", []), ("the default limits of time", time_of(lode, folder, runs[0]))):
        failures = comparison_count = 0
        for kind, comparisons in (("one run against the others", one), ("halves", halves), ("5 and 5 runs", fives)):
            failed, visible = alarms(lode, folder, comparisons, *words)
            known = [v for v in visible if v is not None]
            seen = f"visible from {min(known):.1f} % to {max(known):.1f} %" if known else "no change is visible"
            tap.note(f"{name}, {kind}: {failed} of {len(comparisons)} raise an alarm; {seen}")
            failures, comparison_count = failures + failed, comparison_count + len(comparisons)
        tap.check(failures <= allowed(comparison_count, not words), f"A/A, {name}: {failures} of {comparison_count} raise an alarm")


def record_best(lode, folder, name, slower=0):
    """A run is the fastest of some, with priority, as benchmarks are run: what another program took is not part of it."""
    runs = [record(folder, f"{name}.{i}", slower, before=priority()) for i in range(REPEATS)]
    words = time_of(lode, folder, runs[0])
    times = [gate(lode, folder, *words, "--max-slower", "5%", run, run)[1]["rows"][0]["base"] for run in runs]
    return runs[times.index(min(times))]


def planted(tap, lode, folder, tries):
    """5 and 5 runs; on a noisy machine again."""
    for attempt in range(tries):
        base, new = [], []
        for i in range(5):
            base.append(record_best(lode, folder, f"base{attempt}.{i}"))
            new.append(record_best(lode, folder, f"slow{attempt}.{i}", PLANTED))
        status, result = gate(lode, folder, *time_of(lode, folder, base[0]), "--max-exclusive", f"relax={LIMIT}%", "--max-exclusive", f"gather={LIMIT}%", "--base", *base, "--new", *new)
        relax, gather = result["rows"]
        noise, _ = noise_of(lode, folder, base)
        visible = relax["smallest_visible_percent"]
        tap.note(f"attempt {attempt + 1}: {relax['change_percent']:+.1f} % measured, visible from {visible:.1f} %, noise {noise:.1f} %; "
                 f"gather {gather['change_percent']:+.1f} %: {gather['outcome']}")
        # What the runs can show is what they say themselves: the planted change must exceed limit and visible change.
        if (1 + LIMIT / 100) * (1 + visible / 100) < 1 + PLANTED / 100 * 0.9:
            tap.check(status == 1 and relax["outcome"] == "fail", f"a planted {PLANTED} % is found with 5 and 5 runs (visible from {visible:.1f} %)", [relax])
            tap.check(gather["outcome"] != "fail", "the function that did not change is not blamed", [gather])
            return
    tap.skip(f"a planted {PLANTED} % is found with 5 and 5 runs", f"this machine is too noisy: visible from {visible:.1f} %, noise {noise:.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--tries", type=int, default=8)
    options = parser.parse_args()
    tap = Tap()
    if missing():
        tap.skip("the gate on real runs", missing())
        return tap.finish()
    lode = str(Path(options.lode).resolve())
    with tempfile.TemporaryDirectory() as folder:
        compile_program(folder)
        same_program(tap, lode, folder, options.runs)
        planted(tap, lode, folder, options.tries)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
