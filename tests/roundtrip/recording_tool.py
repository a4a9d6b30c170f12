# SPDX-License-Identifier: BSD-3-Clause
"""Recordings to convert: those of the corpus, and ones that are put together here, record by record."""

import shutil
import struct
import subprocess
from pathlib import Path

import tool  # noqa: F401  knows where corpora is
import corpora  # noqa: E402
import lodejson  # noqa: E402  tool knows where it is

ENTRY, EXIT, LOST, EVENT = range(4)
BASE = 0x555555554000
SECONDS = 300


def corpus():
    """{name: directory} of all recordings of the corpus, made ones too; empty without a corpus."""
    root = corpora.root() / "uftrace"
    found = {}
    if root.is_dir():
        found = {f"recorded/{path.name}": path / "uftrace.data" for path in corpora.stores(root / "recorded")}
        found |= {f"handmade/{path.name}": path for path in corpora.stores(root / "handmade")}
    return found


def rows(lode, command, recording, *options):
    """The rows of a command's JSON."""
    return lodejson.loads(lode.must(command, "--json", *options, recording))["rows"]


def convert(lode, target, *words):
    lode.must("convert", *words, "--format", "uftrace", "-o", target)
    return target


class Uftrace:
    """The program that judges; `there` is false where it is not installed."""

    there = shutil.which("uftrace") is not None
    reason = "there is no uftrace"

    @staticmethod
    def run(command, recording):
        """Exit status, and what it printed."""
        done = subprocess.run(["uftrace", command, "-d", str(recording)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=SECONDS)
        return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


class Made:
    """A recording of one program in one process, as a recorder could have written it."""

    def __init__(self, order="<", word=8, name="prog", pid=100, sid="0123456789abcdef", build_id="", begin=1_000_000_000):
        self.order, self.word, self.name, self.pid, self.sid, self.build_id = order, word, name, pid, sid, build_id
        self.symbols = [(0x1000 + 0x40 * i, f"f{i}") for i in range(8)]
        self.tracks = {pid: []}
        self.begin = begin
        self.features = 0x63
        self.max_stack = 1024
        self.specs = []  # lines of info
        self.files = {}  # further ones
        self.utc_offset = 0

    def number(self, value, size):
        return value.to_bytes(size, "little" if self.order == "<" else "big", signed=value < 0)

    def text(self, text):
        return self.number(len(text), 2) + text

    def values(self, *values):
        """What a record carries: each value at a multiple of 4, with whatever was there in between."""
        data = b""
        for value in values:
            data += b"\xee" * (-len(data) % 4) + value
        return data

    def record(self, kind, time, depth, address, data=None, tid=None):
        """`address` is the number of a function, or that of an event."""
        place = address if kind in (LOST, EVENT) else BASE + self.symbols[address][0]
        word = (kind | 5 << 3 | (4 if data is not None else 0)) + (depth << 6) + (place << 16)
        record = self.number(self.begin + time if kind != LOST else 0, 8) + self.number(word, 8)
        if data is not None and kind == EVENT:
            data = self.number(len(data), 2) + data
        record += (data or b"") + b"\xee" * (-len(data or b"") % 8)
        self.tracks.setdefault(tid or self.pid, []).append(record)

    def call(self, function, begin, end, depth=0, tid=None):
        self.record(ENTRY, begin, depth, function, tid=tid)
        self.record(EXIT, end, depth, function, tid=tid)

    def info(self):
        lines = {0: f"exename:/opt/x/{self.name}\n", 7: "taskinfo:lines=2\ntaskinfo:nr_tid={}\ntaskinfo:tids={}\n".format(
            len(self.tracks), ",".join(map(str, self.tracks)))}
        if self.specs:
            lines[10] = f"argspec:lines={len(self.specs)}\n" + "".join(f"{line}\n" for line in self.specs)
            lines[12] = "pattern_type:simple\n"
        if self.utc_offset:
            lines[14] = f"utc_offset:{self.utc_offset}\n"
        mask = sum(1 << bit for bit in lines)
        header = struct.pack(self.order + "8sIHBBQQHHI", b"Ftrace!", 4, 40, 1 if self.order == "<" else 2, self.word // 4,
                             self.features, mask, self.max_stack, 0, 0)
        return header + "".join(lines[bit] for bit in sorted(lines)).encode()

    def write(self, folder):
        folder = Path(folder)
        folder.mkdir()
        seconds, rest = divmod(self.begin, 1_000_000_000)
        stamp = f"timestamp={seconds}.{rest:09}"
        tail = f" build-id:{self.build_id}" if self.build_id else ""
        stack = "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0   [stack]\n"
        heading = f"# symbols: {len(self.symbols)}\n# path name: /opt/x/{self.name}\n"
        if self.build_id:
            heading += f"# build-id: {self.build_id}\n"
        files = {
            "info": self.info(),
            "default.opts": b"",
            "task.txt": (f'SESS {stamp} pid={self.pid} sid={self.sid} exename="/opt/x/{self.name}"\n' + "".join(
                f"TASK {stamp} tid={tid} pid={self.pid}\n" for tid in self.tracks)).encode(),
            f"sid-{self.sid}.map": f"{BASE:x}-{BASE + 0x10000:x} r-xp 00000000 00:00 0   /opt/x/{self.name}{tail}\n{stack}".encode(),
            f"{self.name}.sym": (heading + "".join(f"{address:016x} T {name}\n" for address, name in self.symbols) +
                                 f"{self.symbols[-1][0] + 0x40:016x} ? __sym_end\n").encode(),
            **{f"{tid}.dat": b"".join(records) for tid, records in self.tracks.items()},
            **self.files,
        }
        for name, data in files.items():
            (folder / name).write_bytes(data)
        return folder
