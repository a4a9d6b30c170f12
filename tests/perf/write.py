# SPDX-License-Identifier: BSD-3-Clause
"""
A small writer of perf.data: what a test says, byte by byte, in the three forms that perf writes and in both byte orders. Nothing is checked: tests
also need recordings that are wrong.
"""

import shutil
import struct
import subprocess
from pathlib import Path

MMAP, LOST, COMM, EXIT, FORK, READ, SAMPLE, MMAP2 = 1, 2, 3, 4, 7, 8, 9, 10
AUX, LOST_SAMPLES, SWITCH, SWITCH_CPU, KSYMBOL = 11, 13, 14, 15, 17
HEADER_ATTR, TRACING_DATA, BUILD_ID, ROUND, AUXTRACE, EVENT_UPDATE, FEATURE = 64, 66, 67, 68, 71, 78, 80
COMPRESSED, COMPRESSED2 = 81, 83

KERNEL, USER = 1, 2  # modes, in `misc`
OUT = 1 << 13  # of SWITCH
HAS_BUILD_ID = 1 << 14  # of MMAP2
MARK_KERNEL, MARK_USER = 2**64 - 128, 2**64 - 512  # in call chains

# Fields of a sample, by bit.
IP, TID, TIME, ADDR, READS, CHAIN, ID, CPU, PERIOD, STREAM_ID, RAW = (1 << bit for bit in range(11))
BRANCHES, REGS_USER, STACK_USER, IDENTIFIER = 1 << 11, 1 << 12, 1 << 13, 1 << 16
USUAL = IP | TID | TIME | CPU | PERIOD
READ_ID, READ_GROUP = 4, 8
INHERIT, FREQ, ID_ALL, CLOCKID = 1 << 1, 1 << 10, 1 << 18, 1 << 25  # flags of an attribute
MONOTONIC = 1  # a clock

HOSTNAME, OSRELEASE, CMDLINE, EVENT_DESC, CLOCK_DATA = 3, 4, 11, 12, 29
CPU_CLOCK, PAGE_FAULTS, DUMMY = (1, 0), (1, 2), (1, 9)  # (type, config)
HEADER = 104


def padded(data, unit=8):
    return data + bytes(-len(data) % unit)


def turned_bits(number):
    """Flags of 64 bits as a big-endian compiler lays out bit-fields: each byte begins at its other end."""
    return bytes(int(f"{byte:08b}"[::-1], 2) for byte in number.to_bytes(8, "little"))


class Event:
    def __init__(self, kind=CPU_CLOCK, fields=USUAL, ids=(), name=None, period=1, size=136, flags=ID_ALL, read_format=0, max_stack=0, regs=0, said_size=None, clock=None, branches=0):
        if clock is not None:
            flags |= CLOCKID
        self.clock, self.branches = clock or 0, branches
        self.kind, self.fields, self.ids, self.name, self.period, self.size = kind, fields, tuple(ids), name, period, size
        self.flags, self.read_format, self.max_stack, self.regs = flags, read_format, max_stack, regs
        self.said_size = size if said_size is None else said_size


class Recording:
    """Records are kept in `records`, one after the other; a test may put them in another order."""

    def __init__(self, *events, big=False):
        self.order = ">" if big else "<"
        self.events = list(events) or [Event()]
        self.records = []
        self.features = {}

    # ---- numbers ----

    def numbers(self, kinds, *values):
        return struct.pack(self.order + kinds, *values)

    def words(self, *values):
        return self.numbers(f"{len(values)}Q", *(value % 2**64 for value in values))

    def string(self, text):
        """As sections of metadata have it: with its length before it."""
        data = padded(text.encode() + b"\0", 64)
        return self.numbers("I", len(data)) + data

    def attr(self, event):
        flags = turned_bits(event.flags) if self.order == ">" else self.words(event.flags)
        data = self.numbers("II", event.kind[0], event.said_size) + self.words(event.kind[1], event.period, event.fields, event.read_format) + flags
        data += self.numbers("II", 0, 0) + self.words(0, 0, event.branches, event.regs) + self.numbers("Ii", 4096 if event.fields & STACK_USER else 0, event.clock)
        data += self.words(0) + self.numbers("IH", 0, event.max_stack)
        return data.ljust(event.size, b"\0")[: event.size]

    # ---- records ----

    def add(self, kind, body=b"", misc=0, size=None):
        self.records.append(self.numbers("IHH", kind, misc, 8 + len(body) if size is None else size) + body)

    def trailer(self, event, pid, tid, time, cpu=0):
        """What ends a record that is no sample."""
        if not event.flags & ID_ALL:
            return b""
        number = event.ids[0] if event.ids else 0
        parts = ((TID, self.numbers("ii", pid, tid)), (TIME, self.words(time)), (ID, self.words(number)), (STREAM_ID, self.words(number)))
        parts += ((CPU, self.numbers("II", cpu, 0)), (IDENTIFIER, self.words(number)))
        return b"".join(data for field, data in parts if event.fields & field)

    def side(self, kind, body, pid, tid, time, misc=0):
        self.add(kind, body + self.trailer(self.events[0], pid, tid, time), misc)

    def comm(self, pid, tid, name, time=0):
        name = name if isinstance(name, bytes) else padded(name.encode() + b"\0")
        self.side(COMM, self.numbers("ii", pid, tid) + name, pid, tid, time)

    def fork(self, pid, tid, parent_pid, parent_tid, time, kind=FORK):
        self.side(kind, self.numbers("iiii", pid, parent_pid, tid, parent_tid) + self.words(time), pid, tid, time)

    def exit(self, pid, tid, time):
        self.fork(pid, tid, pid, pid, time, EXIT)

    def mmap(self, pid, start, size, offset, name, time=0, misc=USER):
        body = self.numbers("ii", pid, pid) + self.words(start, size, offset) + padded(name.encode() + b"\0")
        self.side(MMAP, body, pid, pid, time, misc)

    def mmap2(self, pid, start, size, offset, name, time=0, inode=1, build_id=None, protection=5):
        """`inode` is (major, minor, number) or a number."""
        major, minor, number = inode if isinstance(inode, tuple) else (8, 1, inode)
        file = self.numbers("II", major, minor) + self.words(number, 0)
        if build_id is not None:
            file = bytes([len(build_id), 0, 0, 0]) + build_id.ljust(20, b"\0")
        body = self.numbers("ii", pid, pid) + self.words(start, size, offset) + file + self.numbers("II", protection, 2) + padded(name.encode() + b"\0")
        self.side(MMAP2, body, pid, pid, time, USER | (HAS_BUILD_ID if build_id is not None else 0))

    def ksymbol(self, start, size, name, time, is_gone=False):
        self.side(KSYMBOL, self.words(start) + self.numbers("IHH", size, 1, is_gone) + padded(name.encode() + b"\0"), 0, 0, time)

    def switch(self, pid, tid, time, is_out):
        self.side(SWITCH, b"", pid, tid, time, OUT if is_out else 0)

    def lost(self, count, samples=0, time=0):
        self.side(LOST, self.words(0, count), 0, 0, time)
        self.side(LOST_SAMPLES, self.words(samples), 0, 0, time)

    def sample(self, event, ip, pid, tid, time=0, period=1, chain=(), cpu=0, mode=USER, counters=(), raw=b"", branches=(), more=b"", number=None):
        """`counters` are (value, id) of a group; `branches` are (from, to, flags); `more` is what follows."""
        number = number if number is not None else event.ids[0] if event.ids else 0
        raw = self.numbers("I", len(raw)) + raw
        parts = (
            (IDENTIFIER, self.words(number)),
            (IP, self.words(ip)),
            (TID, self.numbers("ii", pid, tid)),
            (TIME, self.words(time)),
            (ADDR, self.words(0)),
            (ID, self.words(number)),
            (STREAM_ID, self.words(number)),
            (CPU, self.numbers("II", cpu, 0)),
            (PERIOD, self.words(period)),
            (READS, self.words(len(counters), *(word for pair in counters for word in pair))),
            (CHAIN, self.words(len(chain), *chain)),
            (RAW, raw),
            (BRANCHES, self.words(len(branches), *(word for branch in branches for word in branch))),
        )
        self.add(SAMPLE, b"".join(data for field, data in parts if event.fields & field) + more, mode)

    def round(self):
        self.add(ROUND)

    # ---- metadata ----

    def describe(self):
        """Names of events."""
        parts = [self.numbers("II", len(self.events), self.events[0].size)]
        for event in self.events:
            parts += [self.attr(event), self.numbers("I", len(event.ids)), self.string(event.name or ""), self.words(*event.ids)]
        self.features[EVENT_DESC] = b"".join(parts)

    def usual_features(self, host="host", command=("perf", "record", "work")):
        self.features[HOSTNAME] = self.string(host)
        self.features[OSRELEASE] = self.string("6.1.0")
        self.features[CMDLINE] = self.numbers("I", len(command)) + b"".join(self.string(word) for word in command)

    # ---- compressed records ----

    def pack(self, kind=COMPRESSED, packet=300):
        """Puts all records into packets of one zstd stream; False if there is no zstd."""
        program = shutil.which("zstd")
        if program is None:
            return False
        packed = subprocess.run([program, "-q", "-c"], input=b"".join(self.records), capture_output=True, check=True).stdout
        self.records = []
        for at in range(0, len(packed), packet):
            part = packed[at : at + packet]
            self.add(kind, padded(self.words(len(part)) + part) if kind == COMPRESSED2 else part)
        return True

    # ---- containers ----

    def magic(self):
        return b"PERFILE2" if self.order == "<" else b"2ELIFREP"

    def file(self, data_size=None, attr_size=None):
        """A file with a header. Ids, events, records and metadata follow each other."""
        ids_at, parts = HEADER, []
        attrs_at = HEADER + sum(8 * len(event.ids) for event in self.events)
        for event in self.events:
            parts.append(self.attr(event) + self.words(ids_at, 8 * len(event.ids)))
            ids_at += 8 * len(event.ids)
        attrs, data = b"".join(parts), b"".join(self.records)
        data_at = attrs_at + len(attrs)
        stride = len(parts[0]) if parts else 152
        header = self.magic() + self.words(HEADER, attr_size or stride, attrs_at, len(attrs), data_at, len(data) if data_size is None else data_size, 0, 0)
        bits = sum(1 << number for number in self.features)
        header += self.words(*(bits >> 64 * i for i in range(4)))
        section_at, table, sections = data_at + len(data) + 16 * len(self.features), b"", b""
        for _, section in sorted(self.features.items()):
            table += self.words(section_at + len(sections), len(section))
            sections += section
        return header + b"".join(self.words(*event.ids) for event in self.events) + attrs + data + table + sections

    def pipe(self):
        """A stream: events and metadata are records, too."""
        parts = [self.magic() + self.words(16)]
        for event in self.events:
            body = self.attr(event) + self.words(*event.ids)
            parts.append(self.numbers("IHH", HEADER_ATTR, 0, 8 + len(body)) + body)
        for number, section in sorted(self.features.items()):
            parts.append(self.numbers("IHH", FEATURE, 0, 16 + len(section)) + self.words(number) + section)
        return b"".join(parts + self.records)

    def directory(self, path, count):
        """A directory: records are dealt out to `count` files beside that with the header."""
        path = Path(path)
        path.mkdir()
        parts = [self.records[i :: count + 1] for i in range(count + 1)]
        whole, self.records = self.records, parts[0]
        (path / "data").write_bytes(self.file())
        self.records = whole
        for number, part in enumerate(parts[1:]):
            (path / f"data.{number}").write_bytes(b"".join(part))
