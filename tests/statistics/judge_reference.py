# SPDX-License-Identifier: BSD-3-Clause
"""
Judgements of runs, slowly, with scipy: what doc/statistics.md says, written down without the library. A table is a list of rows; a row has one number for each
run, those of the base first; None where a run has none.
"""

import math
import statistics
from dataclasses import dataclass

import numpy
from scipy import optimize, special, stats

CANNOT_TELL, SAME, LESS, MORE = range(4)
NONE, EXACT, SAMPLING, PREDICTION, _, MEANS = range(6)
LEAST_ROWS, LEAST_SHARE, MARGIN = 5, 0.005, 0.05


@dataclass
class Judged:
    verdict: int = CANNOT_TELL
    method: int = NONE
    base: float = 0.0
    new: float = 0.0
    ratio: float = 1.0
    low: float = 0.0
    high: float = math.inf
    p: float = math.nan
    adjusted: float = math.nan
    deviation: float = 0.0
    freedom: float = 0.0
    level: float = 0.05
    is_log: bool = True
    needed: int = 0

    def outcome(self, limit):
        """0: within, 1: beyond, 2: cannot tell."""
        if self.method == NONE:
            return 2
        return 1 if self.low > 1 + limit else 0 if self.high <= 1 + limit else 2


def known(values):
    return [v for v in values if v is not None]


def sides(values, base_count):
    return known(values[:base_count]), known(values[base_count:])


def is_untested(values, base_count, is_exact):
    base, new = (set(side) for side in sides(values, base_count))
    return (is_exact and len(base) == 1 and len(new) == 1) or (base == {0.0} and new == {0.0})


def within(values, base_count):
    """What is left of each value without the mean of its side; None stays."""
    means = [statistics.fmean(side) if side else 0.0 for side in sides(values, base_count)]
    return [None if v is None else v - means[i >= base_count] for i, v in enumerate(values)]


class Noise:
    """The speed of runs, and the variance that rows suggest."""

    def __init__(self, rows, base_count):
        self.speed, self.common, self.shift, self.freedom, self.prior, self.prior_freedom = None, 0.0, 0.0, 0.0, 0.0, 0.0
        rows = [row for row in rows if len(known(row)) > 2 and all(v is None or v > 0 for v in row)]
        if len(rows) < LEAST_ROWS:
            return
        runs = len(rows[0])
        logs = [[None if v is None else math.log(v) for v in row] for row in rows]
        means = [statistics.fmean(known(row)) for row in logs]
        columns = [[row[i] - mean for row, mean in zip(logs, means) if row[i] is not None] for i in range(runs)]
        if any(len(column) < LEAST_ROWS or 2 * len(column) < len(rows) for column in columns):
            return
        speed = [statistics.median(column) for column in columns]
        self.speed = [v - statistics.fmean(speed) for v in speed]
        self.freedom = runs - 2
        self.shift = statistics.fmean(self.speed[base_count:]) - statistics.fmean(self.speed[:base_count])
        if self.freedom > 0:
            self.common = sum(v * v for v in within(self.speed, base_count)) / self.freedom
        own = [self.of_row(row, base_count) for row in logs]
        own = [(variance, freedom) for variance, freedom in own if freedom > 0 and variance > 1e-20]
        if len(own) < LEAST_ROWS:
            return
        e = [math.log(v) - special.digamma(f / 2) + math.log(f / 2) for v, f in own]
        excess = statistics.variance(e) - statistics.fmean(special.polygamma(1, f / 2) for _, f in own)
        half = optimize.brentq(lambda x: special.polygamma(1, x) - excess, 1e-9, 1e12, xtol=1e-14, rtol=1e-14) if excess > 0 else math.inf
        self.prior = math.exp(statistics.fmean(e) + (special.digamma(half) - math.log(half) if math.isfinite(half) else 0.0))
        self.prior_freedom = min(2 * half, 2 * max(f for _, f in own))

    def of_row(self, logs, base_count):
        left = within(logs, base_count)
        common = within([None if v is None else s for v, s in zip(logs, self.speed)], base_count)
        freedom = len(known(logs)) - 2
        return (sum((a - b) ** 2 for a, b in zip(known(left), known(common))) / freedom if freedom > 0 else 0.0), max(freedom, 0)

    def moderated(self, logs, base_count):
        variance, freedom = self.of_row(logs, base_count)
        borrowed = min(self.prior_freedom, 2 * freedom)
        return (borrowed * self.prior + freedom * variance) / (borrowed + freedom), borrowed + freedom


def judge(values, base_count, level, whole=None, noise=None, equal_speed=False, samples=(0.0, 0.0), is_exact=False, is_estimate=False):
    """One row."""
    whole = level if whole is None else whole
    result = Judged(level=level)
    at_speed = [None if v is None else v * math.exp(-noise.speed[i]) if equal_speed else v for i, v in enumerate(values)]
    base, new = sides(at_speed, base_count)
    result.is_log = bool(base and new) and all(v > 0 for v in base + new)
    mean = statistics.geometric_mean if result.is_log else statistics.fmean
    result.base, result.new = (mean(side) if side else 0.0 for side in (base, new))
    scale = math.log if result.is_log else float
    difference = scale(result.new) - scale(result.base)
    variance = freedom = 0.0
    if is_untested(values, base_count, is_exact):
        result.method = EXACT
    elif base and new and not is_estimate:
        variance, freedom = noise_of(values, at_speed, base_count, noise, equal_speed, result.is_log)
        sampling = sum((s / c if result.is_log else s * c) / len(side) for s, c, side in zip(samples, (result.base, result.new), (base, new)) if c > 0)
        result.deviation = math.sqrt(max(variance * (1 / len(base) + 1 / len(new)), sampling))
        result.freedom = freedom if freedom > 0 else math.inf
        result.method = (PREDICTION if 1 in (len(base), len(new)) else MEANS) if freedom > 0 else SAMPLING if sampling > 0 else NONE
    distribution = stats.t(result.freedom) if 0 < result.freedom < math.inf else stats.norm
    half = math.inf if result.method == NONE else 0.0 if result.method == EXACT or result.deviation == 0 else distribution.isf(level / 2) * result.deviation
    if result.method not in (NONE, EXACT):
        result.p = min(1.0, 2 * distribution.sf(abs(difference) / result.deviation)) if result.deviation > 0 else float(difference == 0)
        result.adjusted = min(1.0, result.p * whole / level)
    set_ratio(result, difference, half)
    margin = math.log1p(MARGIN) if result.is_log else MARGIN * abs(result.base)
    result.verdict = MORE if difference - half > 0 else LESS if difference + half < 0 else SAME if abs(difference) + half <= margin else CANNOT_TELL
    if result.verdict == CANNOT_TELL and result.method in (PREDICTION, MEANS) and result.deviation > 0:
        result.needed = needed(result, len(base), len(new), max(abs(difference), margin - abs(difference)))
    return result


def noise_of(values, at_speed, base_count, noise, equal_speed, is_log):
    """The variance of one run, and its degrees of freedom."""
    scaled = [None if v is None else math.log(v) if is_log else v for v in at_speed]
    freedom = len(known(scaled)) - 2
    if freedom <= 0:
        return 0.0, 0
    if noise is None or noise.speed is None or not is_log:
        return sum(v * v for v in known(within(scaled, base_count))) / freedom, freedom
    own, own_freedom = noise.moderated([None if v is None else math.log(v) for v in values], base_count)
    if equal_speed:
        return own, own_freedom
    both = noise.common + own
    parts = noise.common ** 2 / noise.freedom + own ** 2 / own_freedom
    return both, both ** 2 / parts if parts > 0 else own_freedom


def set_ratio(result, difference, half):
    if result.is_log:
        result.ratio = result.new / result.base
        result.low, result.high = result.ratio * math.exp(-half), result.ratio * math.exp(half) if half < 700 else math.inf
    elif result.base:
        result.ratio, result.low, result.high = ((result.new + at) / result.base for at in (0, -half, half))
    else:
        result.ratio, result.low, result.high = (1.0 if v == 0 else math.copysign(math.inf, v) for v in (result.new, result.new - half, result.new + half))
    if result.base >= 0 and result.new >= 0:
        result.low = max(0.0, result.low)


def needed(result, base_count, new_count, half):
    """Runs a side, by trying all."""
    spread, freedom, runs = 1 / base_count + 1 / new_count, result.freedom / (base_count + new_count - 2), numpy.arange(2, 1001)
    widths = stats.t.isf(result.level / 2, freedom * (2 * runs - 2)) * result.deviation * numpy.sqrt(2 / runs / spread)
    enough = runs[widths <= half]
    return int(enough[0]) if len(enough) else 1001


class Table:
    """All rows and the total of one comparison."""

    def __init__(self, rows, totals, base_count, level=0.05, least=LEAST_SHARE, samples=(0.0, 0.0), is_exact=False, is_nested=False):
        self.rows, self.totals, self.base_count, self.level = rows, totals, base_count, level
        self.samples, self.is_exact = samples, is_exact
        whole = [statistics.fmean(side) for side in sides(totals, base_count)]
        shares = [max((statistics.fmean(side) / t if side and t > 0 else 0.0) for side, t in zip(sides(row, base_count), whole)) for row in rows]
        self.untested = [is_untested(row, base_count, is_exact) or not all(sides(row, base_count)) for row in rows]
        self.pooled = [not u and share < least for u, share in zip(self.untested, shares)]
        tested = [row for row, u, p in zip(rows, self.untested, self.pooled) if not u and not p]
        self.pool = None
        if any(self.pooled) and not is_nested:
            small = [row for row, p in zip(rows, self.pooled) if p]
            self.pool = [sum(known(column)) for column in zip(*small)]
        self.row_tests = len(tested) + (self.pool is not None)
        self.tests = self.row_tests + (not is_untested(totals, base_count, is_exact))
        runs = len(totals)
        self.noise = Noise((tested + [self.pool]) if self.pool else tested, base_count) if runs > 2 else Noise([], base_count)
        self.equal_speed = False
        if self._is_machine(runs):
            self.equal_speed = True
            odd = sum(self._judge(row).verdict in (LESS, MORE) for row in tested)
            self.equal_speed = odd <= len(tested) / 3

    def _is_machine(self, runs):
        if self.noise.speed is None or self.noise.freedom < 3 or self.noise.common <= 0:
            return False
        half = stats.t.isf(self.level / 4, self.noise.freedom) * math.sqrt(self.noise.common * (1 / self.base_count + 1 / (runs - self.base_count)))
        return abs(self.noise.shift) <= min(half, 0.2)

    def _judge(self, row, equal_speed=None, is_estimate=False):
        level = self.level / 2 / self.row_tests if self.row_tests else self.level
        return judge(row, self.base_count, level, self.level, self.noise, self.equal_speed if equal_speed is None else equal_speed, self.samples,
                     self.is_exact, is_estimate)

    def total(self):
        return judge(self.totals, self.base_count, self.level / 2 if self.row_tests else self.level, self.level, samples=self.samples, is_exact=self.is_exact)

    def at(self, index, is_named=False):
        return self._judge(self.rows[index], False if self.untested[index] else None, self.pooled[index] and not is_named)
