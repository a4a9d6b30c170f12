# SPDX-License-Identifier: BSD-3-Clause
"""
What `lode diagnose` has to say of a store of requests, slow and obvious: from the calls of all requests at once, as the independent reader of tests/roundtrip
gives them. Quantiles by definition, Fisher's test with exact fractions of integers, Holm step by step, ranks by comparison, all windows of the scan.
"""

import functools
import math
import re
import sys
from bisect import bisect_left, bisect_right
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "roundtrip"))

import store_reader as zorka  # noqa: E402

Z = 1.959963984540054
ERROR = 8
STATEMENTS = {"db.statement", "db.query.text", "db.sql", "sql", "statement", "http.url", "url.full", "url"}
UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"


@functools.lru_cache(1 << 16)
def normalised(text):
    """A statement without its values, and whether it has parameters."""
    text = re.sub(r"/\*.*?\*/", " ", text)
    text = re.sub(r"'(?:[^'\\]|''|\\.)*'", "\0", text)
    text, parameters = re.subn(r"\?(?!\w)|\$\d+|%s|(?<![\w:]):(?=[^\W\d])\w+", "\0", text)
    text = re.sub(rf"(?<!\w)(?:{UUID}|\d[\w.]*|(?=\w*\d)[0-9a-fA-F]{{8,}})(?!\w)", "\0", text)
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub("\0(?: ?, ?\0)*", "?", text)
    return text, parameters > 0


class Call:
    """Times are nanoseconds after the begin of the request."""

    def __init__(self, store, call, first):
        self.method = store.method(call)
        self.begin = (call.info[zorka.START] - first) * zorka.TICK
        self.end = (call.info[zorka.STOP] - first) * zorka.TICK
        self.failed = bool(call.thrown) or bool(call.info.get(zorka.FLAGS, 0) & ERROR)
        self.attributes = dict(call.attributes)
        self.inside = [Call(store, inner, first) for inner in call.calls]
        texts = [value for key, value in call.attributes if key.lower() in STATEMENTS]
        self.raw = texts[-1] if texts else None

    @property
    def time(self):
        return self.end - self.begin

    @property
    def own(self):
        return self.time - sum(call.time for call in self.inside)

    def all(self):
        """This call and all inside it, with the path to each."""
        found, pending = [], [(self, ())]
        while pending:
            call, path = pending.pop()
            found.append((call, path))
            pending += [(inner, path + (call,)) for inner in reversed(call.inside)]
        return found

    def holds(self, calls):
        """Whether one of some calls lies in this one."""
        inside = {id(call) for call, _ in self.all()[1:]} if self.inside else ()
        return bool(inside) and any(id(call) in inside for call in calls)


class Request:
    def __init__(self, store, trace, number):
        self.call, self.number = Call(store, trace, trace.info[zorka.START]), number
        self.begin = trace.info[zorka.STAMP] * 1_000_000
        self.duration, self.failed, self.entry = self.call.time, self.call.failed, self.call.method

    @functools.cached_property
    def calls(self):
        return self.call.all()


def quantile(values, q):
    values = sorted(values)
    at = q * (len(values) - 1)
    low = math.floor(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def choose(n, k):
    return math.comb(n, k) if 0 <= k <= n else 0


def tail(hits, size, marked, total):
    """P(at least `hits` marked in a sample)."""
    ways = sum(choose(marked, k) * choose(total - marked, size - k) for k in range(hits, min(size, marked) + 1))
    return float(Fraction(ways, choose(total, size)))


def holm(values):
    """Adjusted p values: the smallest times the number of tests, the next times one less, never falling."""
    order, adjusted, worst = sorted(range(len(values)), key=lambda i: values[i]), [0.0] * len(values), 0.0
    for position, index in enumerate(order):
        worst = max(worst, min(1.0, values[index] * (len(values) - position)))
        adjusted[index] = worst
    return adjusted


def ranks(values):
    """Mean ranks: how many are smaller, and half of the equal ones."""
    order, result, at = sorted(values), {}, 0
    while at < len(order):
        count = order.count(order[at]) if len(order) < 3000 else sum(1 for _ in _equal(order, at))
        result[order[at]] = at + (count + 1) / 2
        at += count
    return [result[value] for value in values]


def _equal(order, at):
    for value in order[at:]:
        if value != order[at]:
            return
        yield value


def correlation(x, y):
    a, b = ranks(x), ranks(y)
    mean = (len(x) + 1) / 2
    xx, yy = sum((v - mean) ** 2 for v in a), sum((v - mean) ** 2 for v in b)
    return sum((v - mean) * (w - mean) for v, w in zip(a, b)) / math.sqrt(xx * yy) if xx and yy else 0.0


def wilson(count, total):
    p, scale = count / total, 1 + Z * Z / total
    middle, half = (p + Z * Z / (2 * total)) / scale, Z * math.sqrt(p * (1 - p) / total + Z * Z / (4 * total * total)) / scale
    return p, middle - half, middle + half


class Facts:
    def __init__(self, path):
        store = zorka.Store(path)
        self.requests = [Request(store, trace, number) for number, trace in enumerate(store.traces)]
        self.requests.sort(key=lambda r: (r.begin, r.number))
        self.total = sum(r.duration for r in self.requests)
        self.entries = {}
        for request in self.requests:
            self.entries.setdefault(request.entry, []).append(request)
        self.slow, self.usual, self.median, self.limit = {}, {}, {}, {}
        for name, requests in self.entries.items():
            times = [r.duration for r in requests]
            q1, q2, q3 = (quantile(times, q) for q in (0.25, 0.5, 0.75))
            limit = max(q3 + 3 * (q3 - q1), 2 * q2)
            usual = [t for t in times if t <= limit]
            self.slow[name] = [r for r in requests if r.duration > limit] if len(requests) >= 30 else []
            self.usual[name], self.median[name], self.limit[name] = sum(usual) / len(usual), q2, limit

    def share(self, parts):
        """{request: time} as a share of the time of all: the ratio, and the ends of its interval by residuals."""
        ratio, n = sum(parts.values()) / self.total, len(self.requests)
        spread = sum((parts.get(r, 0) - ratio * r.duration) ** 2 for r in self.requests)
        half = Z * math.sqrt(spread * n / (n - 1)) / self.total
        return ratio, max(0, ratio - half), min(1, ratio + half)

    # ---- rules: each gives None, or what it says ----

    def slow_method(self):
        causes = {}
        for name, slow in self.slow.items():
            if len(slow) < 5:
                continue
            others = [r for r in self.entries[name] if r not in set(slow)]
            mean = sum(r.duration for r in slow) / len(slow) - self.usual[name]
            parts = {}
            for requests, sign in ((slow, 1), (others, -1)):
                for request in requests:
                    for call, _ in request.calls:
                        parts[call.method] = parts.get(call.method, 0) + sign * call.own / len(requests)
            best = max(parts, key=lambda m: parts[m])
            if parts[best] > 0.5 * mean:
                causes.setdefault(best, []).append(name)
        self.causes = {method: {r: r.duration - self.usual[e] for e in entries for r in self.slow[e]} for method, entries in causes.items()}
        return self._best(self.causes, 0.05)

    def _best(self, causes, limit):
        shares = {name: self.share(parts) for name, parts in causes.items()}
        good = [name for name in shares if shares[name][1] > limit]
        best = max(good, key=lambda name: shares[name][0], default=None)
        return None if best is None else (best, shares[best])

    def repeats(self, kind):
        """kind: statement, identical, method, retry. The call, the share that is saved, and its calls, requests and nanoseconds."""
        sites = {}
        for request in self.requests:
            for key, calls, time, saved in self._repeated(request, kind):
                sites.setdefault(key, {}).setdefault(request, []).append((calls, time, saved))
        sites = {key: parts for key, parts in sites.items() if len(parts) >= 5}
        # A request counts once, however many calls repeat it, and at most with its duration.
        totals = {key: {r: [sum(column) for column in zip(*rows)] for r, rows in parts.items()} for key, parts in sites.items()}
        best = self._best({key: {r: min(saved, r.duration) for r, (_, _, saved) in parts.items()} for key, parts in totals.items()},
                          0.10 if kind == "method" else 0.03)
        if best is None:
            return None
        parts = totals[best[0]]
        return *best, (sum(calls for calls, _, _ in parts.values()), len(parts), sum(min(time, r.duration) for r, (_, time, _) in parts.items()))

    def _repeated(self, request, kind):
        """What is repeated, the number of calls, their time, and what is saved."""
        def enough(calls):
            time = sum(c.time for c in calls)
            return len(calls) >= 5 and (time > 50_000_000 or time > request.duration // 10)

        if kind in ("statement", "identical"):
            groups = {}
            for call, path in request.calls:
                if call.raw is not None and path and not call.failed:
                    groups.setdefault(normalised(call.raw)[0], []).append(call)
            for text, calls in groups.items():
                inner = [c for c in calls if not c.holds(calls)]
                identical = len({c.raw for c in inner}) == 1 and not any(normalised(c.raw)[1] for c in inner)
                if enough(inner) and identical == (kind == "identical"):
                    yield (inner[0].method, text), len(inner), sum(c.time for c in inner), _all_but_one(inner)
            return
        for parent, path in request.calls:
            groups = {}
            for call in parent.inside:
                groups.setdefault((call.method, normalised(call.raw)[0] if call.raw is not None else None), []).append(call)
            for (method, text), calls in groups.items():
                failed = [c.failed for c in calls]
                is_retry = len(calls) > 1 and any(failed) and all(failed[:-1])
                is_recursive = method in {c.method for c in (*path, parent)}
                good = [c for c in calls if not c.failed]
                if kind == "retry" and is_retry:
                    saved = calls[-1].begin - calls[0].begin
                    yield (method, text or ""), len(calls), saved, saved
                elif kind == "method" and not is_retry and text is None and not is_recursive and enough(good):
                    yield (method, ""), len(good), sum(c.time for c in good), _all_but_one(good)

    def gap(self):
        """The share, the method with the most of it, and whether that has more than half."""
        share, own = self.share({r: r.call.own for r in self.requests}), {}
        for request in self.requests:
            for call, _ in request.calls:
                if call.method == request.entry:
                    own[call.method] = own.get(call.method, 0) + call.own
        most = max(sorted(own), key=lambda method: own[method])
        return (share, most, own[most] > sum(r.call.own for r in self.requests) / 2) if share[1] > 0.5 else None

    def burst(self):
        """Each window by itself; the smallest adjusted p, and failures and requests in it."""
        failures = [r for r in self.requests if r.failed]
        span, best = self.requests[-1].begin - self.requests[0].begin, (0.001, 0, 0)
        for width in (0.01, 0.03, 0.10):
            for first in failures:
                inside = [r for r in self.requests[self.requests.index(first):] if r.begin - first.begin < width * span]
                bad = sum(r.failed for r in inside)
                if bad >= 5:
                    p = min(1, 3 * len(failures) * tail(bad - 1, len(inside) - 1, len(failures) - 1, len(self.requests) - 1))
                    if p < best[0]:
                        best = (p, bad, len(inside), first.begin, inside[-1].begin)
        return best if best[1] else None

    def in_flight(self):
        """Of each request, how many others have begun before it and end after its begin. What takes no time is never in flight."""
        begins = sorted(r.begin for r in self.requests if r.duration)
        ends = sorted(r.begin + r.duration for r in self.requests if r.duration)
        return [bisect_left(begins, r.begin) - bisect_right(ends, r.begin) for r in self.requests]

    def queueing(self):
        flight = self.in_flight()
        times = [r.duration / self.median[r.entry] for r in self.requests]
        if sum(n >= 4 for n in flight) < len(flight) // 10:
            return None
        r = correlation(times, flight)
        low = math.tanh(math.atanh(r) - Z * math.sqrt(1.06 / (len(flight) - 3)))
        if low <= 0.5:
            return None
        crowd = math.floor(quantile(flight, 0.5)) + 1
        crowd -= all(n < crowd for n in flight)
        times = [quantile([t for t, n in zip(times, flight) if (n >= crowd) == many], 0.5) for many in (True, False)]
        return r, low, crowd, times[0] / times[1], self._waits([r for r, n in zip(self.requests, flight) if n >= crowd])

    def _waits(self, crowded):
        """Whether slow requests of which slow-method speaks are slow since they are crowded."""
        said = self.slow_method()
        if said is None:
            return False
        excess = self.causes[said[0]]
        both, share = set(excess) & set(crowded), len(crowded) / len(self.requests)
        return sum(excess[r] for r in both) > (1 + share) / 2 * sum(excess.values()) and tail(len(both), len(excess), len(crowded), len(self.requests)) < 0.01

    def attribute(self):
        """(key, value), the share of its slow requests beyond the usual, and the smallest adjusted p."""
        tests = []
        for name, slow in self.slow.items():
            if len(slow) < 5:
                continue
            pairs = {(k, str(v)) for r in self.entries[name] for k, v in r.call.attributes.items()}
            for pair in sorted(pairs):
                having = [r for r in self.entries[name] if str(r.call.attributes.get(pair[0])) == pair[1]]
                if 5 <= len(having) <= 0.9 * len(self.entries[name]):
                    hits = [r for r in slow if str(r.call.attributes.get(pair[0])) == pair[1]]
                    tests.append((pair, name, hits, len(having)))
        p = holm([tail(len(hits), len(self.slow[name]), count, len(self.entries[name])) for _, name, hits, count in tests])
        causes, smallest, lifts = {}, {}, {}
        for (pair, name, hits, count), value in zip(tests, p):
            share = len(hits) / len(self.slow[name])
            if value < 0.01 and share >= 0.5 and share >= 2 * count / len(self.entries[name]):
                causes.setdefault(pair, {}).update({r: r.duration - self.usual[name] for r in hits})
                smallest[pair] = min(value, smallest.get(pair, 1))
                lifts.setdefault(pair, []).append((len(hits), len(self.slow[name]), count, len(self.entries[name])))
        best = self._best(causes, 0.03)
        if best is None:
            return None
        # Of those that explain about as much, the one that is least likely by chance.
        shares = {pair: self.share(causes[pair]) for pair in causes}
        alike = [pair for pair in causes if shares[pair][1] > 0.03 and shares[pair][0] >= 0.9 * best[1][0]]
        pair = min(alike, key=lambda pair: (smallest[pair], -_lift(lifts[pair]), pair))
        return pair, shares[pair], smallest[pair]


def _all_but_one(calls):
    time = sum(c.time for c in calls)
    return time - time // len(calls)


def _lift(counts):
    """The share of the slow requests over the share of all, in all entry points together."""
    hits, slow, having, requests = (sum(column) for column in zip(*counts))
    return Fraction(hits * requests, slow * having)
