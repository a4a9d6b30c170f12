# SPDX-License-Identifier: BSD-3-Clause
"""
What users ask of requests, computed slowly from spans of spans_reference.py: critical paths and what they would save.
"""

import sys
from collections import defaultdict

from spans_reference import label

NO_CALL = "(no call)"


class Requests:
    """All traces of a store; `spans` are assembled and repaired."""

    def __init__(self, spans):
        self.traces = defaultdict(list)
        for span in spans:
            self.traces[span.trace].append(span)


# ---- critical path ----

def critical_path(name, begin, end, children):
    """
    Steps, the last first, and what each function would save: (name, begin, end), {name: ns}. Back from the end, the child that ended last, of equal
    ones that which began last, then that with the highest id. A child could be shorter until the one that ended before it, and beside it, decides.
    """
    steps, saves, at = [], defaultdict(int), end
    kids = [(min(kid.end, end), max(kid.begin, begin), kid) for kid in children if kid.begin < end and kid.end > begin and kid.end > kid.begin]
    kids.sort(key=lambda item: (item[0], item[1], item[2].id), reverse=True)

    def own(until):
        nonlocal at
        if at > until:
            steps.append((name, until, at))
            saves[name] += at - until
        at = until

    for index, (kid_end, kid_begin, kid) in enumerate(kids):
        if kid_end > at:
            continue
        own(kid_end)
        inner, gains = critical_path(label(kid), kid_begin, kid_end, kid.children)
        rival = kids[index + 1][0] if index + 1 < len(kids) else kid_begin
        slack = kid_end - max(kid_begin, rival)
        steps += inner
        for function, gain in gains.items():
            saves[function] += min(gain, slack)
        at = kid_begin
    own(begin)
    return steps, saves


def path_of(trace):
    roots = [span for span in trace if not span.up]
    if len(roots) == 1:
        return critical_path(label(roots[0]), roots[0].begin, roots[0].end, roots[0].children)
    return critical_path(NO_CALL, min(root.begin for root in roots), max(root.end for root in roots), roots)


def critical_paths(requests):
    """{name: [requests, steps, time, max, saves]} of all requests."""
    sys.setrecursionlimit(20000)
    rows = defaultdict(lambda: [0, 0, 0, 0, 0])
    for trace in requests.traces.values():
        steps, saves = path_of(trace)
        times = defaultdict(int)
        for name, begin, end in steps:
            rows[name][1] += 1
            times[name] += end - begin
        for name, time in times.items():
            row = rows[name]
            row[:] = row[0] + 1, row[1], row[2] + time, max(row[3], time), row[4] + saves[name]
    return dict(rows)


# ---- rates ----

SERVER, CONSUMER = 2, 5
KINDS = ["unspecified", "internal", "server", "client", "producer", "consumer"]


def percentile(durations, percent):
    """Nearest rank, of sorted durations."""
    return durations[max(0, -(-len(durations) * percent // 100) - 1)]


def rate(items):
    """[count, failures, p50, p95, p99, max] of (duration, has failed)."""
    durations = sorted(duration for duration, _ in items)
    return [len(items), sum(failed for _, failed in items), *(percentile(durations, percent) for percent in (50, 95, 99, 100))]


def rates(items, interval):
    """{(begin of the interval, group): rate} of (begin, end, has failed, group)."""
    found = defaultdict(list)
    for begin, end, failed, group in items:
        found[begin // interval * interval if interval else None, group].append((end - begin, failed))
    return {key: rate(values) for key, values in found.items()}


def call_items(requests, chooses, group):
    return [(span.begin, span.end, span.failed, group(span)) for trace in requests.traces.values() for span in trace if chooses(span)]


def request_items(requests):
    """Of requests with one outermost call; None if some have several."""
    found = []
    for trace in requests.traces.values():
        roots = [span for span in trace if not span.up]
        if len(roots) > 1:
            return None
        failed = any(span.failed and (not span.up or span.kind in (SERVER, CONSUMER)) for span in trace)
        found.append((roots[0].begin, roots[0].end, failed, (roots[0].service or "unknown service",)))
    return found


# ---- the map of services ----

def edges(requests):
    """{(caller, callee): rate}, and the same of all calls that a service gets."""
    found, entries = defaultdict(list), defaultdict(list)
    for trace in requests.traces.values():
        for span in trace:
            caller = (span.up.service or "unknown service") if span.up else None
            callee = span.service or "unknown service"
            if caller != callee:
                found[caller, callee].append((span.end - span.begin, span.failed))
                entries[callee].append((span.end - span.begin, span.failed))
    return {key: rate(items) for key, items in found.items()}, {key: rate(items) for key, items in entries.items()}


# ---- structure ----

def matches(requests, terms):
    """Traces with a span that meets the first term, whose callers meet the others: (condition, whether the next term is of the next caller)."""

    def meets(span, number):
        condition, directly = terms[number]
        if not condition(span):
            return False
        if number + 1 == len(terms):
            return True
        up = span.up
        while up:
            if meets(up, number + 1):
                return True
            up = None if directly else up.up
        return False

    return {name for name, trace in requests.traces.items() if any(meets(span, 0) for span in trace)}
