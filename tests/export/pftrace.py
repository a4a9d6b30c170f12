# SPDX-License-Identifier: BSD-3-Clause
"""
A strict reader of Perfetto traces, as far as Lode writes them: it knows the wire form of protocol buffers and the rules of packet sequences, and nothing
of Lode. What Perfetto would drop or misread without a word is an error here.
"""

import struct
from collections import Counter


class Bad(Exception):
    pass


def fields(data):
    """[(number, value)] of a message; values are ints, bytes, or floats for 64-bit fields."""
    at, found = 0, []
    while at < len(data):
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise Bad("a message is cut off")
        else:
            raise Bad(f"wire type {kind}")
        found.append((number, value))
    return found


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Bad("a number is cut off")
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def text(data):
    decoded = data.decode("utf-8")
    if any(ord(c) < 32 or ord(c) == 127 for c in decoded):
        raise Bad(f"a control character in {decoded!r}")
    return decoded


class Sequence:
    def __init__(self):
        self.time = self.track = None
        self.names, self.keys, self.categories = {}, {}, {}
        self.functions, self.frames, self.stacks = {}, {}, {}


class Slice:
    def __init__(self, thread, begin, depth, name, category, args):
        self.thread, self.begin, self.depth, self.name, self.category, self.args = thread, begin, depth, name, category, args
        self.end = None

    @property
    def key(self):
        return (self.thread, self.begin, self.end - self.begin, self.depth, self.name)


class Trace:
    """slices (with instants apart), processes {pid: name}, threads {tid: (pid, name)}, counters {name: [(time, value)]}."""

    def __init__(self, data):
        self.slices, self.instants, self.counters, self.samples = [], [], {}, Counter()
        self.processes, self.threads, self.real_offset = {}, {}, None
        self.packets = 0
        self.thread_of, self.counter_of, self.open, self.last, self.sequences = {}, {}, {}, {}, {}
        for number, packet in fields(data):
            if number != 1:
                raise Bad(f"field {number} of the trace")
            self.packets += 1
            self._packet(dict_of(packet, repeated=()))
        for calls in self.open.values():
            if calls:
                raise Bad(f"'{calls[-1].name}' never ends")

    @property
    def depth(self):
        return max((s.depth + 1 for s in self.slices), default=0)

    def keys(self, with_thread=True):
        return Counter(s.key if with_thread else s.key[1:] for s in self.slices)

    def _packet(self, packet):
        unknown = set(packet) - {6, 8, 10, 11, 12, 13, 59, 60, 66}
        if unknown:
            raise Bad(f"fields {unknown} of a packet")
        if 10 not in packet:
            return self._head(packet)
        if packet[10] == 0:
            raise Bad("sequence 0")
        flags = packet.get(13, 0)
        if flags & 1:
            return self._begin(packet)
        sequence = self.sequences.get(packet[10])
        if sequence is None or not flags & 2:
            raise Bad("a packet of a sequence that has not begun")
        sequence.time += packet[8]
        if sequence.time >> 63:
            raise Bad("a time that goes back")
        self._intern(sequence, packet.get(12, b""))
        if 60 in packet:
            self._describe(packet[60])
        if 11 in packet:
            self._event(sequence, packet[11])
        if 66 in packet:
            self._sample(sequence, dict_of(packet[66], repeated=()))
        return None

    def _sample(self, sequence, sample):
        if self.threads[sample[3]][0] != sample[2]:
            raise Bad(f"a sample of thread {sample[3]} in process {sample[2]}")
        names = tuple(sequence.functions[sequence.frames[frame]] for frame in sequence.stacks[sample[4]])
        self.samples[(sample[3], sequence.time, names)] += 1

    def _head(self, packet):
        if 6 in packet:
            clocks = clocks_of(packet[6])
            self.real_offset = clocks[1] - clocks[6]
        elif 60 in packet:
            self._describe(packet[60])
        else:
            raise Bad("a packet without a sequence")

    def _begin(self, packet):
        if packet[10] in self.sequences:
            raise Bad("a sequence that begins twice")
        sequence = self.sequences[packet[10]] = Sequence()
        clocks, defaults = clocks_of(packet[6]), dict_of(packet[59], repeated=())
        if clocks[6] != clocks[64] or defaults[58] != 64:
            raise Bad("a clock that is not related")
        sequence.time, sequence.track = clocks[64], dict_of(defaults[11], repeated=())[11]

    def _describe(self, data):
        track = dict_of(data, repeated=())
        if track[1] == 0:
            raise Bad("track 0")
        if 3 in track:
            process = dict_of(track[3], repeated=())
            if process[1] <= 0 or process[1] in self.processes:
                raise Bad(f"process {process[1]}")
            self.processes[process[1]] = text(process[6])
        elif 4 in track:
            thread = dict_of(track[4], repeated=())
            if thread[2] <= 0 or thread[2] in self.threads or thread[1] not in self.processes:
                raise Bad(f"thread {thread[2]}")
            self.threads[thread[2]] = (thread[1], text(thread[5]))
            self.thread_of[track[1]] = thread[2]
        elif 8 in track and track[5] in self.thread_of:
            self.counter_of[track[1]] = text(track[2])
        else:
            raise Bad("a track of nothing")

    def _intern(self, sequence, data):
        for number, entry in fields(data):
            table = {1: sequence.categories, 2: sequence.names, 3: sequence.keys,
                     5: sequence.functions, 6: sequence.frames, 7: sequence.stacks}[number]
            entry = dict_of(entry, repeated=(2,))
            if entry[1] == 0 or entry[1] in table:
                raise Bad(f"id {entry[1]} is defined twice")
            table[entry[1]] = entry[2] if number == 7 else entry[2][0] if number == 6 else text(entry[2][0])

    def _event(self, sequence, data):
        event = dict_of(data, repeated=(3, 4))
        kind, time = event[9], sequence.time
        if kind == 4:
            value = signed(event[30]) if 30 in event else event[44]
            self.counters.setdefault(self.counter_of[event[11]], []).append((time, value))
            return
        thread = self.thread_of[sequence.track]
        calls = self.open.setdefault(thread, [])
        args = [self._annotation(sequence, a) for a in event.get(4, ())]
        if time < self.last.get(thread, 0):
            raise Bad(f"thread {thread} goes back in time")
        self.last[thread] = time
        if kind == 2:
            if not calls:
                raise Bad("an end without a begin")
            calls[-1].end = time
            calls[-1].args += args
            self.slices.append(calls.pop())
            return
        name = sequence.names[event[10]] if 10 in event else text(event[23])
        category = [sequence.categories[c] for c in event.get(3, ())]
        made = Slice(thread, time, len(calls), name, category, args)
        if kind == 1:
            calls.append(made)
            if len(calls) > 512:
                raise Bad("more than 512 levels")
        else:
            made.end = time
            self.instants.append(made)

    def _annotation(self, sequence, data):
        annotation = dict_of(data, repeated=(12,))
        key = sequence.keys[annotation[1]] if 1 in annotation else text(annotation[10])
        return key, value_of(annotation)


def value_of(annotation):
    if 2 in annotation:
        return bool(annotation[2])
    if 3 in annotation:
        return annotation[3]
    if 4 in annotation:
        return signed(annotation[4])
    if 5 in annotation:
        return annotation[5]
    if 7 in annotation:
        return f"0x{annotation[7]:x}"
    if 12 in annotation:
        return [value_of(dict_of(item, repeated=())) for item in annotation[12]]
    return text(annotation[6])


def clocks_of(snapshot):
    clocks = [dict_of(clock, repeated=()) for _, clock in fields(snapshot)]
    return {clock[1]: clock[2] for clock in clocks}


def dict_of(data, repeated):
    """A message as a dict; a field twice is an error unless it may be repeated."""
    found = {}
    for number, value in fields(data):
        if number in repeated:
            found.setdefault(number, []).append(value)
        elif number in found:
            raise Bad(f"field {number} twice")
        else:
            found[number] = value
    return found
