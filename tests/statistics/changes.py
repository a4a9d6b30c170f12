#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Change points: against the definition of E-divisive written out, on planted steps and on noise alone.
changes.py --cases PROGRAM [--count 1000] [--seed 1]
"""

import argparse
import math
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from oracle import Cases, Differences, stats  # noqa: E402
from tap import Tap  # noqa: E402

LENGTH, LEAST, LEVEL = 50, 3, 0.001


def q_of(values, t, k):
    """The energy distance of values before t and from t to k, weighted: sums over all pairs."""
    left, right = values[:t], values[t:k]
    m, n = len(left), len(right)
    across = sum(abs(a - b) for a in left for b in right)
    inside_left = sum(abs(left[i] - left[j]) for j in range(m) for i in range(j))
    inside_right = sum(abs(right[i] - right[j]) for j in range(n) for i in range(j))
    mean = (inside_left / (m * (m - 1) / 2) if m > 1 else 0) + (inside_right / (n * (n - 1) / 2) if n > 1 else 0)
    return m * n / (m + n) * (2 / (m * n) * across - mean)


def p_of(values, begin, index, end):
    left, right = values[begin:index], values[index:end]
    if len(left) + len(right) <= 2:
        return 1.0
    return stats.ttest_ind(left, right).pvalue


def divide(values, begin, end, level):
    part = values[begin:end]
    best, where, until = 0.0, None, end
    for k in range(1, len(part) + 1):
        for t in range(LEAST, k - LEAST + 1):
            q = q_of(part, t, k)
            if q > best + 1e-12 * abs(best):
                best, where, until = q, begin + t, begin + k
    if where is None or (p_of(values, begin, where, end) > level and p_of(values, begin, where, until) > level / 100):
        return []
    return divide(values, begin, where, level) + [where] + divide(values, where, end, level)


def reference(values):
    """Change points by the definition, without running sums."""
    found, start = set(), 0
    while True:
        end = min(start + LENGTH, len(values))
        some = divide(values, start, end, 10 * LEVEL)
        found.update(some)
        if end == len(values):
            break
        start = max(max(some, default=0), start + LENGTH // 2)
    points = sorted(found)
    while points:
        ends = [0, *points, len(values)]
        p = [p_of(values, ends[i], ends[i + 1], ends[i + 2]) for i in range(len(points))]
        if max(p) < LEVEL:
            return points
        del points[p.index(max(p))]
    return points


def series(rng, lengths, levels, deviation):
    return [level * math.exp(rng.gauss(0, deviation)) for length, level in zip(lengths, levels) for _ in range(length)]


def check_definition(tap, program, rng, count):
    cases = Cases(program)
    for _ in range(count):
        lengths = [rng.randint(3, 30) for _ in range(rng.randint(1, 3))]
        values = series(rng, lengths, [rng.choice([1, 1.1, 1.3, 2]) for _ in lengths], 0.05)
        cases.add(values, "changes", (0, 0, 0, 0), values)
    differences = Differences()
    for values, got in cases.run():
        differences.checked += 1
        numbers = got[1:]
        points = [int(v) for v in numbers[::6]]
        expected = reference(values)
        if points != expected:
            differences.note(f"{points}, expected {expected}: {values}")
        ends = [0, *points, len(values)]
        for i, point in enumerate(points):
            row = numbers[6 * i:6 * i + 6]
            differences.compare("begin", row[1], ends[i])
            differences.compare("end", row[2], ends[i + 2])
            differences.compare("before", row[3], stats.tmean(values[ends[i]:point]))
            differences.compare("after", row[4], stats.tmean(values[point:ends[i + 2]]))
            differences.compare("p", row[5], p_of(values, ends[i], point, ends[i + 2]), 1e-7)
    differences.report(tap, "change points by the definition")


def check_planted(tap, program, rng, count):
    """Steps of four standard deviations with 10 to 40 runs a side: found, at most one run off."""
    cases = Cases(program)
    for _ in range(count):
        lengths = [rng.randint(10, 40) for _ in range(rng.randint(2, 5))]
        levels = [100.0]
        for _ in lengths[1:]:
            levels.append(levels[-1] * rng.choice([1 / 1.1, 1.1]))
        steps = [sum(lengths[:i]) for i in range(1, len(lengths))]
        cases.add(steps, "changes", (0, 0.02, 0, 0), series(rng, lengths, levels, 0.025))
    planted = found = invented = 0
    for steps, got in cases.run():
        points = [int(v) for v in got[1::6]]
        planted += len(steps)
        found += sum(any(abs(step - point) <= 1 for point in points) for step in steps)
        invented += sum(all(abs(step - point) > 3 for step in steps) for point in points)
    tap.note(f"{planted} planted steps: {found} found at most one run off, {invented} others")
    tap.check(found >= 0.99 * planted, f"99 % of the planted steps are found: {found} of {planted}")
    tap.check(invented <= 49 * LEVEL * planted, f"few others are: {invented}")


def check_noise(tap, program, rng, count):
    """Series of one level, of 50 values and of 1000: none invented beyond the level."""
    for length, runs in ((LENGTH, count), (1000, max(10, count // 20))):
        cases = Cases(program)
        for _ in range(runs):
            cases.add(None, "changes", (0, 0, 0, 0), series(rng, [length], [1], 0.05))
        invented = sum(len(got) > 1 for _, got in cases.run()) if length == LENGTH else sum((len(got) - 1) // 6 for _, got in cases.run())
        windows = runs * max(1, (length - LENGTH // 2) // (LENGTH // 2))
        limit = 49 * LEVEL * windows
        tap.check(invented <= limit + 3 * math.sqrt(limit),
                  f"noise of {length} values, {runs} series: {invented} invented in {windows} sliding windows, at most {limit:.0f} expected")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tap = Tap()
    if stats is None:
        tap.skip("change points agree with the definition", "this Python has no scipy")
    rng = random.Random(options.seed)
    if stats is not None:
        check_definition(tap, options.cases, rng, max(5, options.count // 25))
    check_planted(tap, options.cases, rng, options.count)
    check_noise(tap, options.cases, rng, options.count)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
