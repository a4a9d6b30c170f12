# SPDX-License-Identifier: BSD-3-Clause
"""Calls of uftrace recordings for the reference: raw records by an independent reader, the rules of repair by happened.py."""

import functools
import re

import rec_reference as reference  # noqa: F401  knows where the others are

import happened
import names
import reader


THREAD_EVENTS = (reader.TASK_NEW, reader.TASK_EXIT, reader.TASK_NAME)


def _raw(function):
    if function.symbol:
        return function.symbol
    tail = function.module.rsplit("/", 1)[-1]
    return f"[{tail}+{function.offset:#x}]" if tail else f"<{function.offset:x}>"


def stubs(folder):
    """(module, name) of all PLT slots."""
    found = set()
    for path in folder.glob("*.sym"):
        module = ""
        for line in path.read_text(errors="replace").splitlines():
            if line.startswith("# path name: "):
                module = line.removeprefix("# path name: ")
            match = re.fullmatch(r"[0-9a-f]+ (?:[0-9a-f]+ )?P (.*)", line)
            if match:
                found.add((module, match[1]))
    return frozenset(found)


@functools.lru_cache(None)
def _function(function, is_stub):
    raw = _raw(function)
    return reference.Function(function.symbol, function.module, function.offset, raw, names.demangled(raw),
                              names.simple_stored_name(raw), is_stub)


def _forest(track, slots):
    """The outermost calls of what happened on a track, with all that they call."""
    outermost, open_calls = [], []
    for item in track.happenings:
        if item.kind in (happened.ENTER, happened.OUT):
            call = reference.Call(_function(item.function, (item.function.module, item.function.symbol) in slots), item.time, item.kind == happened.OUT)
            (open_calls[-1].inside if open_calls else outermost).append(call)
            open_calls.append(call)
        elif item.kind in (happened.LEAVE, happened.IN):
            open_calls.pop().end = item.time
        elif item.kind == happened.GAP:
            for call in open_calls:
                call.has_loss = True
    return outermost


def tracks(folder):
    """All tasks of a recording in the order of the info file. Raises reader.Damaged where the reader does not guess."""
    recording, slots = reader.Recording(folder), stubs(folder)
    result = []
    for number, track in enumerate(happened.tracks(recording)):
        calls = _forest(track, slots)
        # What becomes of the thread while calls are open is an event too.
        threads = [event.time for event in recording.perf.get(track.tid, ())
                   if event.kind in THREAD_EVENTS and any(call.begin <= event.time <= call.end for call in calls)]
        times = sorted([item.time for item in track.happenings] + threads)
        result.append(reference.Track(calls, track=number, tid=track.tid, events=len(times),
                                      begin_ns=times[0] if times else 0, end_ns=times[-1] if times else 0,
                                      duration_ns=times[-1] - times[0] if times else 0))
    return result


def moments(found):
    """All moments at which a call of tracks begins or ends, in order."""
    return sorted({time for call, _ in reference.all_calls(found) for time in (call.begin, call.end)})


def quiet_moment(times, share):
    """A moment inside at which nothing happens, nor just behind it; None if there is none."""
    taken = set(times)
    wanted = times[0] + int((times[-1] - times[0]) * share)
    candidates = (wanted + i for i in range(times[-1] - wanted) if wanted + i not in taken and wanted + i + 1 not in taken)
    return next(candidates, None)
