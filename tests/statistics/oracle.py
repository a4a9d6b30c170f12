#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Statistics of the library against scipy, on generated cases: oracle.py --cases PROGRAM [--count 1000] [--seed 1]

Where scipy has no such function (Holm, Benjamini-Hochberg, Fieller, U with ties), or is slow (a line of least squares), the reference is the definition, written
out: all subsets, all pairs, a root that is checked by putting it into the equation. Each part that LODE_SHARE selects has as many cases
fewer, and other ones.
"""

import argparse
import itertools
import math
import random
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from share import Share  # noqa: E402
from tap import Tap  # noqa: E402

try:
    from scipy import stats
    import judge_reference as reference
except ImportError:
    stats = None

EXPONENTS = [(0, 1, 1), (0, 1, 2)] + [(n, d, j) for n, d, most in (
    (1, 4, 2), (1, 3, 2), (1, 2, 2), (2, 3, 2), (3, 4, 2), (4, 5, 0), (1, 1, 2), (5, 4, 1), (4, 3, 1), (3, 2, 2), (5, 3, 0), (7, 4, 0),
    (2, 1, 2), (9, 4, 0), (7, 3, 0), (5, 2, 2), (8, 3, 0), (11, 4, 0), (3, 1, 1)) for j in range(most + 1)]


class Cases:
    """Cases that one process answers."""

    def __init__(self, program):
        self.program = program
        self.lines = []
        self.keys = []

    def add(self, key, name, parameters=(), base=(), new=()):
        lists = [f"{len(values)} {' '.join(repr(float(v)) for v in values)}" for values in (parameters, base, new)]
        self.lines.append(" ".join([name, *lists]))
        self.keys.append(key)

    def run(self):
        """[(key, numbers)]; the first number is the status."""
        run = subprocess.run([self.program], input="\n".join(self.lines), capture_output=True, text=True, check=True)
        answers = [line.split() for line in run.stdout.splitlines()]
        assert len(answers) == len(self.keys), f"{len(answers)} answers to {len(self.keys)} cases"
        return list(zip(self.keys, answers))


def close(a, b, relative=1e-9, absolute=1e-12):
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= absolute + relative * max(abs(a), abs(b))


class Differences:
    """Collects what does not agree."""

    def __init__(self):
        self.found = []
        self.checked = 0

    def compare(self, what, got, expected, relative=1e-9, absolute=1e-12):
        self.checked += 1
        if not close(float(got), float(expected), relative, absolute):
            self.found.append(f"{what}: {got}, expected {expected}")

    def note(self, text):
        self.found.append(text)

    def report(self, tap, name):
        tap.check(not self.found and self.checked > 0, f"{name}: {self.checked} numbers agree", self.found[:10])


def runs(rng, count, tied=False):
    """Positive numbers like run times: log-normal, some with equal values."""
    values = [math.exp(rng.gauss(0, rng.choice([0.01, 0.1, 0.5]))) * rng.choice([1, 1, 1.2]) for _ in range(count)]
    return [float(round(v * 4)) + 1 for v in values] if tied else values


def check_distributions(tap, program, rng, count):
    cases = Cases(program)
    for _ in range(count):
        t, p, freedom = rng.gauss(0, 4), rng.choice([rng.random(), 10 ** rng.uniform(-12, -1)]), rng.choice([1, 2, 4, 10.5, 30, 400, rng.uniform(1, 50)])
        cases.add((t, p, freedom), "distributions", (t, p, freedom))
    differences = Differences()
    for (t, p, freedom), got in cases.run():
        differences.compare(f"normal cdf {t}", got[1], stats.norm.cdf(t))
        differences.compare(f"normal quantile {p}", got[2], stats.norm.ppf(p))
        differences.compare(f"t cdf {t} {freedom}", got[3], stats.t.cdf(t, freedom))
        differences.compare(f"t quantile {p} {freedom}", got[4], stats.t.ppf(p, freedom), 1e-7)
    differences.report(tap, "normal and t distribution")


def enumerated_u(base, new):
    """(p_less, p_greater) by definition: all ways to choose the new runs."""
    pooled = base + new
    ranks = stats.rankdata(pooled)
    observed = sum(ranks[len(base):])
    less = greater = total = 0
    for chosen in itertools.combinations(ranks, len(new)):
        total += 1
        less += sum(chosen) <= observed + 1e-9
        greater += sum(chosen) >= observed - 1e-9
    return less / total, greater / total


def check_u_test(tap, program, rng, count):
    untied, tied, large = Cases(program), Cases(program), Cases(program)
    for _ in range(count):
        base, new = runs(rng, rng.randint(1, 20)), runs(rng, rng.randint(1, 20))
        untied.add((base, new), "u_test", (), base, new)
        base, new = runs(rng, rng.randint(1, 6), True), runs(rng, rng.randint(1, 6), True)
        tied.add((base, new), "u_test", (), base, new)
        is_tied = rng.random() < 0.5
        base, new = runs(rng, rng.randint(21, 60), is_tied), runs(rng, rng.randint(5, 60), is_tied)
        large.add((base, new), "u_test", (), base, new)
    for name, cases, method in (("U test, no ties", untied, "exact"), ("U test, more than 20 runs", large, "asymptotic")):
        differences = Differences()
        for (base, new), got in cases.run():
            less, greater = (stats.mannwhitneyu(new, base, alternative=alternative, method=method) for alternative in ("less", "greater"))
            differences.compare(f"u of {len(base)} and {len(new)}", got[1], less.statistic)
            differences.compare(f"p of {base} {new}", got[2], min(1.0, 2 * min(less.pvalue, greater.pvalue)))
            differences.compare(f"p less of {base} {new}", got[3], less.pvalue)
            differences.compare(f"p greater of {base} {new}", got[4], greater.pvalue)
        differences.report(tap, name)
    differences = Differences()
    for (base, new), got in tied.run():
        less, greater = enumerated_u(base, new)
        differences.compare(f"p less of {base} {new}", got[3], less)
        differences.compare(f"p greater of {base} {new}", got[4], greater)
        differences.compare(f"p of {base} {new}", got[2], min(1.0, 2 * min(less, greater)))
    differences.report(tap, "U test with ties, all subsets")


def check_intervals(tap, program, rng, count):
    means, shifts, predictions, ratios, samples = (Cases(program) for _ in range(5))
    for _ in range(count):
        level, shift = rng.choice([0.05, 0.01, 0.001, 0.2]), rng.choice([0.0, 0.1])
        base, new = runs(rng, rng.randint(2, 20)), runs(rng, rng.randint(2, 20))
        means.add((level, shift, base, new), "mean_difference", (level, shift), base, new)
        shifts.add((level, base, new), "median_shift", (level,), base, new)
        predictions.add((level, base), "prediction", (level,), base)
        centred = [v - rng.choice([0, 0, 1]) for v in base]
        ratios.add((level, centred, new), "mean_ratio", (level,), centred, new)
        given = (level, *(math.exp(rng.gauss(0, 2)) for _ in range(4)))
        samples.add(given, "sampled_ratio", given)
    differences = Differences()
    for (level, shift, base, new), got in means.run():
        expected = stats.ttest_ind(new, [v + shift for v in base], equal_var=False, alternative="greater")
        differences.compare("p of Welch's test", got[4], expected.pvalue, 1e-8)
        # The ends are where the two-sided test reaches the level.
        for end in (float(got[2]), float(got[3])):
            differences.compare("Welch's test at the end of its interval",
                                stats.ttest_ind([v - end for v in new], base, equal_var=False).pvalue, level, 1e-6)
    differences.report(tap, "difference of means")
    check_shifts(tap, shifts)
    differences = Differences()
    for (level, base), got in predictions.run():
        mean, half = stats.tmean(base), stats.t.ppf(1 - level / 2, len(base) - 1) * stats.tstd(base) * math.sqrt(1 + 1 / len(base))
        for value, expected in zip(got[1:], (mean, mean - half, mean + half)):
            differences.compare("prediction", value, expected, 1e-7, 1e-7 * (abs(mean) + half))
    differences.report(tap, "prediction interval")
    check_ratios(tap, ratios)
    differences = Differences()
    for (level, base, base_sample, new, new_sample), got in samples.run():
        deviation = math.sqrt(base_sample / base + new_sample / new)
        low, high = stats.lognorm.interval(1 - level, deviation, scale=new / base)
        for value, expected in zip(got[1:], (new / base, low, high)):
            differences.compare("sampled ratio", value, expected)
    differences.report(tap, "sampling error")


def check_shifts(tap, cases):
    """Hodges-Lehmann: the median of all pairs, and the shifts that scipy's exact test does not reject."""
    differences = Differences()
    for (level, base, new), got in cases.run():
        pairs = sorted(y - x for x in base for y in new)
        value, low, high = map(float, got[1:])
        differences.compare("median of pairs", value, (pairs[(len(pairs) - 1) // 2] + pairs[len(pairs) // 2]) / 2)
        for end, sign in ((low, 1), (high, -1)):
            if math.isinf(end):
                if stats.mannwhitneyu(range(100, 100 + len(new)), range(len(base)), method="exact").pvalue <= level:
                    differences.note(f"infinite at {level} with {len(base)} and {len(new)} runs")
                continue
            tiny = 1e-9
            inside, outside = stats.mannwhitneyu([[v - end - sign * tiny for v in new], [v - end + sign * tiny for v in new]], [base, base],
                                                 method="exact", axis=1).pvalue
            differences.checked += 1
            if not outside <= level * (1 + 1e-9) < inside + level * 2e-9:
                differences.note(f"end {end}: p {outside} outside, {inside} inside, level {level}")
    differences.report(tap, "Hodges-Lehmann shift and interval")


def check_ratios(tap, cases):
    """Fieller: the ends r are where mean(new) - r mean(base) is t standard errors away from 0."""
    differences = Differences()
    for (level, base, new), got in cases.run():
        value, low, high = map(float, got[1:])
        differences.compare("ratio", value, stats.tmean(new) / stats.tmean(base), 1e-7)
        a, b = stats.tvar(base) / len(base), stats.tvar(new) / len(new)
        freedom = (a + b) ** 2 / (a * a / (len(base) - 1) + b * b / (len(new) - 1))
        t = stats.t.ppf(1 - level / 2, freedom)
        if math.isinf(low):
            differences.checked += 1
            if stats.tmean(base) ** 2 > t * t * a * (1 + 1e-6):
                differences.note("an infinite interval where the base is known")
            continue
        for end in (low, high):
            distance = abs(stats.tmean(new) - end * stats.tmean(base)) / math.sqrt(b + end * end * a)
            differences.compare("Fieller's equation", distance, t, 1e-4)
    differences.report(tap, "ratio of means with Fieller's interval")


def holm(p):
    order = sorted(range(len(p)), key=lambda i: p[i])
    return {i: max(min(1.0, (len(p) - k) * p[order[k]]) for k in range(order.index(i) + 1)) for i in order}


def hochberg(p):
    order = sorted(range(len(p)), key=lambda i: p[i])
    return {i: min(min(1.0, len(p) / (k + 1) * p[order[k]]) for k in range(order.index(i), len(p))) for i in order}


def check_adjusted(tap, program, rng, count):
    cases = Cases(program)
    for _ in range(count):
        p = [rng.choice([rng.random(), rng.random() / 100, 0.02]) for _ in range(rng.randint(1, 30))]
        cases.add(p, "adjust", (), p)
    differences = Differences()
    for p, got in cases.run():
        first, second = holm(p), hochberg(p)
        for i in range(len(p)):
            differences.compare(f"Holm of {p}", got[1 + 2 * i], first[i])
            differences.compare(f"Benjamini-Hochberg of {p}", got[2 + 2 * i], second[i])
    differences.report(tap, "Holm and Benjamini-Hochberg")


def check_judgements(tap, program, rng, count):
    """One row alone."""
    cases = Cases(program)
    for _ in range(count):
        level, limit = rng.choice([0.05, 0.01, 0.001]), rng.choice([0.0, 0.05, 0.2])
        base, new = runs(rng, rng.randint(1, 8)), runs(rng, rng.randint(2, 8))
        scale = rng.choice([0.5, 1, 2])
        new = [v * scale if rng.random() < 0.97 else 0.0 for v in new]
        cases.add((level, limit, base, new), "judge", (level, limit, 0, 0, 0), base, new)
    differences = Differences()
    methods, verdicts = set(), set()
    for (level, limit, base, new), got in cases.run():
        wanted = reference.judge(base + new, len(base), level)
        methods.add(wanted.method)
        verdicts.add(wanted.verdict)
        beyond = math.log(wanted.new / wanted.base) - math.log1p(limit) if wanted.is_log else wanted.new - (1 + limit) * wanted.base
        for what, number, value in (("verdict", got[4], wanted.verdict), ("method", got[5], wanted.method), ("p", got[8], wanted.p),
                                    ("base", got[6], wanted.base), ("new", got[7], wanted.new), ("ratio", got[1], wanted.ratio),
                                    ("low end", got[2], wanted.low), ("high end", got[3], wanted.high),
                                    ("p beyond the limit", got[9], stats.t.sf(beyond / wanted.deviation, wanted.freedom)),
                                    ("needed runs", got[11], wanted.needed)):
            differences.compare(f"{what} of {base} {new} at {level}", number, value, 1e-6, 1e-9)
    differences.report(tap, "judgements")
    tap.check(methods == {3, 5} and {0, 2, 3} <= verdicts, f"judgements by all methods and with all verdicts: {methods} {verdicts}")


def random_table(rng):
    """Rows of a program in two sets of runs: a common speed, noise of each row, some changes, some zeros, some runs without a value."""
    base, new, rows = rng.choice([(1, 1), (1, 4), (5, 1), (2, 3), (3, 3), (5, 5), (8, 6)]) + (rng.choice([1, 3, 6, 12, 30]),)
    common, noise, shift = rng.choice([0, 0.02, 0.1]), rng.choice([0.001, 0.01, 0.05]), rng.choice([0, 0, 0.3])
    speed = [rng.gauss(shift if i >= base else 0, common) for i in range(base + new)]
    table = []
    for _ in range(rows):
        size, own = rng.choice([1, 10, 1000]), noise * math.exp(rng.gauss(0, 0.4))
        change = rng.choice([0, 0, 0, 0.2, -0.2])
        row = [size * math.exp(speed[i] + rng.gauss(change if i >= base else 0, own)) for i in range(base + new)]
        if rng.random() < 0.05:
            row = [0.0 if i < base else v for i, v in enumerate(row)]
        if rng.random() < 0.05 and base > 2:
            row[rng.randrange(base)] = None
        table.append(row)
    totals = [sum(v or 0.0 for v in column) for column in zip(*table)]
    return base, table, totals


def check_rows(tap, program, rng, count):
    """Tables: total and rows, small ones pooled, noise of all."""
    cases = Cases(program)
    for _ in range(count):
        base, table, totals = random_table(rng)
        level, least = rng.choice([0.05, 0.01]), rng.choice([0.0, 0.02, -1])
        samples = rng.choice([(0.0, 0.0), (0.01, 0.02)])
        values = [math.nan if v is None else v for row in table for v in row]
        cases.add((base, table, totals, level, least, samples), "rows", (level, least, *samples, 0, base, len(totals)), values, totals)
    differences = Differences()
    equal, verdicts, pooled = set(), set(), 0
    for (base, table, totals, level, least, samples), got in cases.run():
        wanted = reference.Table(table, totals, base, level, least or reference.LEAST_SHARE, samples)
        differences.compare("status", got[0], 0)
        differences.compare(f"tests of {table}", got[1], wanted.tests)
        differences.compare("pooled rows", got[2], sum(wanted.pooled))
        differences.compare(f"equal speed of {table} at {level}", got[3], wanted.equal_speed)
        equal.add(wanted.equal_speed)
        pooled += sum(wanted.pooled)
        for number, judged in enumerate([wanted.total()] + [wanted.at(i) for i in range(len(table))]):
            fields = got[4 + 11 * number:15 + 11 * number]
            verdicts.add(judged.verdict)
            for what, value, right in zip(("verdict", "method", "base", "new", "ratio", "low", "high", "p", "adjusted p", "level", "needed runs"), fields,
                                          (judged.verdict, judged.method, judged.base, judged.new, judged.ratio, judged.low, judged.high, judged.p,
                                           judged.adjusted, judged.level, judged.needed)):
                differences.compare(f"{what} of row {number - 1} of {table}", value, right, 1e-6, 1e-9)
    differences.report(tap, "tables of judgements")
    tap.check(equal == {False, True} and verdicts == {0, 1, 2, 3} and pooled > 0, f"tables with all verdicts {verdicts}, with and without equal speed {equal}")


def check_edges(tap, program):
    """Judgements that need no oracle: (what, parameters, base, new, verdict, method)."""
    edges = [
        ("an exact metric that did not change", (0, 0, 0, 0, 1), [7], [7], 1, 1),
        ("an exact metric that grew by one", (0, 0, 0, 0, 1), [1e9], [1e9 + 1], 3, 1),
        ("an exact metric that shrank, in three runs", (0, 0, 0, 0, 1), [9, 9, 9], [8, 8], 2, 1),
        ("a count that differs between runs is not exact", (0, 0, 0, 0, 1), [9, 8, 9], [8, 9], 0, 5),
        ("one run a side without samples", (0, 0, 0, 0, 0), [1], [100], 0, 0),
        ("one run a side, beyond sampling error", (0, 0, 0.01, 0.01, 0), [10], [12], 3, 2),
        ("one run a side, within sampling error", (0, 0, 0.5, 0.5, 0), [10], [12], 0, 2),
        ("nothing on both sides", (0, 0, 0, 0, 0), [0, 0], [0], 1, 1),
        ("appeared", (0, 0, 0, 0, 0), [0, 0, 0, 0, 0], [5, 6, 5, 6, 5], 3, 5),
        ("went away", (0, 0, 0, 0, 0), [5, 6, 5, 6, 5], [0, 0, 0, 0, 0], 2, 5),
        ("the same within 5 %", (0, 0, 0, 0, 0), [100, 101, 102, 100.5, 101.5], [100.2, 101.1, 101.9, 100.6, 101.4], 1, 5),
    ]
    cases = Cases(program)
    for edge in edges:
        cases.add(edge, "judge", *edge[1:4])
    for (what, _, base, new, verdict, method), got in cases.run():
        tap.check(got[0] == "0" and (int(got[4]), int(got[5])) == (verdict, method), f"judgement: {what}", [got])
    refused = Cases(program)
    for values in ([float("nan")], [float("inf")], []):
        refused.add(values, "judge", (0, 0, 0, 0, 0), values, [1.0])
    refused.add([1] * 1001, "u_test", (), [1.0] * 1001, [1.0])
    refused.add(4, "model", (), [1, 2, 3, 4], [1, 2, 3, 4])
    statuses = [int(got[0]) for _, got in refused.run()]
    tap.check(statuses == [-1, -1, -1, -6, 3], "values that are not finite, too many, none, or of too few sizes are refused", [statuses])


def smape(values, fitted):
    return 100 / len(values) * sum(2 * abs(v - f) / (abs(v) + abs(f)) if v or f else 0 for v, f in zip(values, fitted))


def predicted(exponents, sizes, values, size):
    """The line of least squares by its definition, applied."""
    if exponents is None:
        return sum(values) / len(values)
    terms = [s ** (exponents[0] / exponents[1]) * math.log2(s) ** exponents[2] for s in sizes]
    x, y = math.fsum(terms) / len(terms), math.fsum(values) / len(values)
    slope = math.fsum([(t - x) * (v - y) for t, v in zip(terms, values)]) / math.fsum([(t - x) ** 2 for t in terms])
    return y + slope * (size ** (exponents[0] / exponents[1]) * math.log2(size) ** exponents[2] - x)


def check_models(tap, program, rng, count):
    cases = Cases(program)
    for _ in range(count):
        sizes = [2 ** i for i in range(1, rng.randint(6, 9))]
        true = rng.choice([None, *EXPONENTS])
        noise = rng.choice([0, 0.01, 0.05])
        values = [(rng.uniform(1, 10) if true is None else
                   5 + s ** (true[0] / true[1]) * math.log2(s) ** true[2]) * math.exp(rng.gauss(0, noise)) for s in sizes]
        cases.add((sizes, values, true, noise), "model", (), sizes, values)
    differences = Differences()
    exact = found = 0
    for (sizes, values, true, noise), got in cases.run():
        errors = {}
        for exponents in [None, *EXPONENTS]:
            left_out = [predicted(exponents, sizes[:i] + sizes[i + 1:], values[:i] + values[i + 1:], sizes[i]) for i in range(len(sizes))]
            errors[exponents] = smape(values, left_out)
        chosen = tuple(map(int, got[3:6]))
        chosen = None if chosen[0] == 0 and chosen[2] == 0 else chosen
        differences.compare("error of the chosen model", got[7], errors[chosen], 1e-6, 1e-6)
        differences.compare("smallest error", got[7], min(errors.values()), 1e-6, 1e-6)
        differences.compare("error of the constant", got[8], errors[None], 1e-6, 1e-6)
        differences.compare("prediction", got[11], predicted(chosen, sizes, values, 1000), 1e-6)
        if noise == 0 and true is not None:
            exact += 1
            found += chosen == true
    differences.report(tap, "models of five and more sizes")
    tap.check(found == exact > 0, f"without noise, the true exponents are found: {found} of {exact}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tap = Tap()
    if stats is None:
        tap.skip("statistics agree with scipy", "this Python has no scipy")
        return tap.finish()
    share = Share.of_cases()
    rng = random.Random(options.seed + share.part)
    count = max(1, options.count // share.parts)
    check_distributions(tap, options.cases, rng, count)
    check_u_test(tap, options.cases, rng, count)
    check_intervals(tap, options.cases, rng, count)
    check_adjusted(tap, options.cases, rng, count)
    check_judgements(tap, options.cases, rng, count)
    check_rows(tap, options.cases, rng, min(count, 100))
    check_edges(tap, options.cases)
    check_models(tap, options.cases, rng, max(1, count // 10))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
