#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes small recordings of several forms, for fuzzers and mutations: seeds.py DIRECTORY (tests/fuzz/corpus/fuzz_perf has them)."""

import struct
import sys
from pathlib import Path

from write import (
    BRANCHES,
    CHAIN,
    COMPRESSED2,
    ID,
    IDENTIFIER,
    KERNEL,
    MARK_KERNEL,
    MARK_USER,
    PAGE_FAULTS,
    RAW,
    READ,
    READ_GROUP,
    READ_ID,
    READS,
    USUAL,
    Event,
    Recording,
)


def usual(big=False):
    """Every kind of record that is used."""
    event = Event(fields=USUAL | CHAIN, period=1000)
    recording = Recording(event, big=big)
    recording.mmap(-1, 0xFFFFFFFF80000000, 0x1000000, 0xFFFFFFFF80000000, "[kernel.kallsyms]_text", misc=KERNEL)
    recording.comm(10, 10, "work")
    recording.mmap2(10, 0x400000, 0x10000, 0, "/bin/work")
    recording.mmap2(10, 0x700000, 0x10000, 0, "/lib/libc.so", build_id=bytes(range(20)))
    recording.mmap2(10, 0x900000, 0x1000, 0, "//anon")
    recording.fork(11, 11, 10, 10, 1010)
    recording.fork(10, 12, 10, 10, 1020)
    recording.comm(11, 11, "child", 1030)
    recording.ksymbol(0xFFFFFFFF90000000, 0x100, "bpf_prog_x", 1005)
    for i in range(9):
        pid, tid = ((10, 10), (11, 11), (10, 12))[i % 3]
        chain = (MARK_KERNEL, 0xFFFFFFFF80000100 + i, MARK_USER, 0x400100 + i, 0x700200, 0x400300)
        recording.sample(event, chain[1], pid, tid, 1030 + i * 10, 1000, chain, mode=KERNEL)
        if i % 4 == 0:
            recording.switch(pid, tid, 1032 + i * 10, True)
            recording.switch(pid, tid, 1036 + i * 10, False)
    recording.mmap2(11, 0x400800, 0x400, 0x20000, "/lib/other.so", 1075)
    recording.exit(11, 11, 2000)
    recording.lost(3, 2, 2001)
    recording.round()
    recording.usual_features()
    return recording


def group():
    fields = USUAL | READS | ID | CHAIN
    leader = Event(fields=fields, ids=(5, 6), read_format=READ_ID | READ_GROUP, name="clock")
    other = Event(kind=PAGE_FAULTS, fields=fields, ids=(7, 8), read_format=READ_ID | READ_GROUP, name="faults")
    recording = Recording(leader, other)
    recording.comm(1, 1, "x")
    for i in range(6):
        recording.sample(leader, 0x100 + i, 1, 1, 100 + i, 1, (MARK_USER, 0x100 + i, 0x500), counters=((i * 10, 5), (i * i, 7)))
    recording.describe()
    return recording


def switches():
    switch = Event(kind=(2, 300), fields=USUAL | RAW | IDENTIFIER | CHAIN, ids=(9,), name="sched:sched_switch")
    clock = Event(fields=USUAL | IDENTIFIER, ids=(10,))
    recording = Recording(switch, clock)
    recording.comm(1, 1, "x")
    recording.comm(2, 2, "y")
    for i in range(6):
        recording.sample(switch, 0x100, 1 + i % 2, 1 + i % 2, 100 + i * 10, 1, (MARK_USER, 0x100, 0x500), raw=bytes(56) + struct.pack("<i", 2 - i % 2))
        recording.sample(clock, 0x200, 2 - i % 2, 2 - i % 2, 105 + i * 10, 1)
    recording.describe()
    return recording


def branches(kind, big=False):
    """Branches before samples, or the calls that are open; counters of threads that ended."""
    event = Event(fields=USUAL | CHAIN | BRANCHES | ID, ids=(3, 4), read_format=READ_ID, branches=kind)
    recording = Recording(event, big=big)
    recording.comm(1, 1, "x")
    recording.mmap2(1, 0x400000, 0x10000, 0, "/bin/work")
    recording.fork(1, 2, 1, 1, 90)
    for i in range(6):
        taken = [(0x400500 + j, 0x400600, j) for j in range(i)]
        recording.sample(event, 0x400100 + i, 1, 1 + i % 2, 100 + i, 1, (MARK_USER, 0x400100 + i, 0x400500), branches=taken)
    for tid, value, number in ((1, 1000, 3), (2, 2000, 4)):
        recording.side(READ, recording.numbers("ii", 1, tid) + recording.words(value, number), 1, tid, 200)
    recording.describe()
    return recording


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    packed = usual()
    packed.pack(COMPRESSED2)
    seeds = {"file": usual().file(), "big": usual(big=True).file(), "stream": usual().pipe(), "group": group().file(), "switch": switches().file(), "zstd": packed.file()}
    seeds |= {"branches": branches(0).file(), "calls": branches(1 << 11, big=True).file()}
    for name, content in seeds.items():
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
