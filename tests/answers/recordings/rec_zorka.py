# SPDX-License-Identifier: BSD-3-Clause
"""Calls of trace stores for the reference, by a reader that knows the bytes and nothing of Lode; texts may come from another store."""

import rec_reference as reference

import store_reader as zorka

ERROR = 8 | 1  # of the flags of a call: since September 2018, and before


class Read(zorka.Store):
    """A store whose texts are those of another one: a compressed index has the same ids."""

    def __init__(self, path, texts=None):
        self.folder = path / "000000"
        self.texts = zorka.texts((texts or path) / "000000" / "text-00000001.wal")
        self.traces, self.chunks, stack = [], [], []
        for offset, payload in zorka.chunks(self.folder / "traces.dat"):
            at = 0
            while at < len(payload):
                event, at = zorka.item(payload, at)
                self.take(event, stack)
            self.chunks.append(offset)
        if stack:
            raise ValueError("a call is open at the end")


def has_failed(call):
    return bool(call.thrown) or bool(call.info.get(zorka.FLAGS, 0) & ERROR)


def exceptions(path):
    """How many were thrown."""
    pending, count = list(Read(path).traces), 0
    while pending:
        call = pending.pop()
        count += len(call.thrown)
        pending += call.calls
    return count


def _calls(store, trace, begin):
    """The outermost call of a trace with all that it calls; ticks become nanoseconds after the first trace."""
    first, methods, outermost = trace.info[zorka.START], {}, []
    pending = [(trace, outermost)]
    while pending:
        call, into = pending.pop()
        name = store.method(call)
        made = reference.Call(methods.setdefault(name, reference.Function(name)), begin + (call.info[zorka.START] - first) * zorka.TICK)
        made.end = begin + (call.info[zorka.STOP] - first) * zorka.TICK
        made.failed = has_failed(call)
        into.append(made)
        pending += [(inner, made.inside) for inner in reversed(call.calls)]
    return outermost


def tracks(store):
    """The traces of a store in their order."""
    stamps = [trace.info[zorka.STAMP] for trace in store.traces]
    result = []
    for number, (trace, stamp) in enumerate(zip(store.traces, stamps)):
        calls = _calls(store, trace, (stamp - min(stamps)) * 1_000_000)
        result.append(reference.Track(calls, track=number, begin_ns=calls[0].begin, end_ns=calls[0].end, duration_ns=calls[0].time))
    return result
