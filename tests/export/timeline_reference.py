# SPDX-License-Identifier: BSD-3-Clause
"""
Slices of a timeline, written to be obvious and slow, from what independent readers made of databases and recordings (tests/answers). A slice is (thread, begin, duration, depth, name).
"""

import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(ROOT / "tests" / folder) for folder in ("dump", "tools", "recordings", "cli", "roundtrip")]

import references  # noqa: E402,F401

LEVELS = 512  # that Perfetto keeps


def _frames(db, context):
    """What a stack of functions is made of, the outermost first: (record or address, name)."""
    found = []
    for c in context.above():
        if c.begins_function() and c.lexical not in ("entry", "global"):
            key = ("function", c.function) if c.function is not None else db.function_key(c)
            name = db.function_label(c.function) if c.function is not None else db.label(c)
            found.append((key, name))
    return found[::-1]


def of_line(db, samples, begin=None, end=None):
    """The slices of one trace line: a sample holds until the next; the last has no length; context 0 is not running."""
    slices, stack, last = [], [], 0
    cache = {0: []}

    def go_to(frames, time):
        common = 0
        while common < min(len(stack), len(frames)) and stack[common][0] == frames[common][0]:
            common += 1
        while len(stack) > common:
            key, name, since = stack.pop()
            slices.append((since, time - since, len(stack), name))
        for key, name in frames[common:]:
            stack.append((key, name, time))

    for i, (time, context) in enumerate(samples):
        until = samples[i + 1][0] if i + 1 < len(samples) else time
        first, stop = time if begin is None else max(time, begin), until if end is None else min(until, end)
        if first >= stop:
            continue
        if context not in cache:
            known = db.by_id.get(context)
            cache[context] = _frames(db, known) if known else [("unlisted", "<unlisted context>")]
        go_to(cache[context], first)
        last = stop
    go_to([], last)
    return slices


def of_database(db, begin=None, end=None, depth=None, profiles=None):
    """All slices, and the profiles that have samples in the window."""
    found, threads = Counter(), set()
    for line in db.traces["lines"]:
        samples = [tuple(s) for s in line["samples"]]
        if not samples or (profiles is not None and line["profile"] not in profiles):
            continue
        if (begin is not None and samples[-1][0] < begin) or (end is not None and samples[0][0] >= end):
            continue
        threads.add(line["profile"] + 1)
        for since, time, level, name in of_line(db, samples, begin, end):
            if depth is None or level < depth:
                found[(line["profile"] + 1, since, time, level, name)] += 1
    return found, threads


def of_recording(tracks, with_thread, name=lambda function: function.raw):
    """All slices of calls that a reader found; off-CPU time is a slice too."""
    import rec_reference
    found = Counter()
    for track in tracks:
        for call, above in rec_reference.walk(track.calls):
            if len(above) < LEVELS:
                key = (call.begin, call.time, len(above), name(call.function))
                found[(track.facts["tid"], *key) if with_thread else key] += 1
    return found


def samples_of(db):
    """(thread, time, names from the outermost) of all samples that last and at which something ran."""
    found = Counter()
    for line in db.traces["lines"]:
        samples = [tuple(s) for s in line["samples"]]
        for (time, context), (until, _) in zip(samples, samples[1:]):
            known = db.by_id.get(context)
            names = tuple(name for _, name in _frames(db, known)) if known else ("<unlisted context>",)
            if until > time and context and names:
                found[(line["profile"] + 1, time, names)] += 1
    return found
