# SPDX-License-Identifier: BSD-3-Clause
"""Recordings of uftrace put together byte by byte, each odd or broken in one way: tests/recordings/handmade.py says what holds for each."""

import struct

ENTRY, EXIT, LOST, EVENT = range(4)
MAGIC, SECOND, BASE = 5, 1_000_000_000, 0x555555554000
SID = "0123456789abcdef"
INFO = """exename:/opt/x/prog
exit_status:0
cmdline:uftrace record ./prog
taskinfo:lines=2
taskinfo:nr_tid={count}
taskinfo:tids={tids}
record_date:Thu Jan  1 00:00:00 2026
elapsed_time:0.001 sec
pattern_type:regex
uftrace_version:v0.13 (test)
"""


def f(number):
    """The address of a function."""
    return BASE + 0x1000 + 0x40 * number


def record(kind, time, depth, address, more=0, magic=MAGIC):
    return SECOND + time if time is not None else 0, kind | more << 2 | magic << 3 | depth << 6 | address << 16


SOUND = [record(ENTRY, 1000, 0, f(0)), record(ENTRY, 1010, 1, f(1)), record(ENTRY, 1020, 2, f(2)), record(EXIT, 1030, 2, f(2)),
         record(EXIT, 1040, 1, f(1)), record(ENTRY, 1050, 1, f(3)), record(EXIT, 1060, 1, f(3)), record(EXIT, 1070, 0, f(0))]


def changed(**records):
    """The sound records with some others, by place: r3=..."""
    return [records.get(f"r{i}", one) for i, one in enumerate(SOUND)]


def around(*inner):
    """A call of f0 with something inside, or nothing."""
    return [record(ENTRY, 1000, 0, f(0)), *inner, record(EXIT, 1010, 0, f(0))]


class Directory:
    """The parts of a recording; what is not given is sound."""

    def __init__(self, records=SOUND, order="<", head=b"Ftrace!\0", version=4, size=40, endian=None, word=2, features=0x63, lines=0x388d, stack=1024,
                 tids=(100,), data=(100,), session=f"SESS timestamp=1.000000000 pid=100 sid={SID} exename=\"/opt/x/prog\"", tasks=None, symbols=8,
                 has_map=True, cut=None):
        self.head = head + struct.pack(order + "IHBBQQHH4x", version, size, endian or (2 if order == ">" else 1), word, features, lines, stack, 0)
        self.info = INFO.format(count=len(tids), tids=",".join(map(str, tids)))
        self.records = b"".join(struct.pack(order + "QQ", *one) for one in records)[:cut]
        self.data, self.symbols, self.has_map = data, symbols, has_map
        tasks = ["TASK timestamp=1.000000001 tid=100 pid=100"] if tasks is None else tasks
        self.tasks = [session, *tasks] if session else tasks

    def write(self, path):
        path.mkdir()
        (path / "info").write_bytes(self.head + self.info.encode())
        (path / "default.opts").write_bytes(b"")
        (path / "task.txt").write_text("".join(line + "\n" for line in self.tasks))
        names = "".join(f"{0x1000 + 0x40 * i:016x} 00000040 T f{i}\n" for i in range(8))
        (path / "prog.sym").write_text(f"# symbols: {self.symbols}\n# path name: /opt/x/prog\n{names}")
        for tid in self.data:
            (path / f"{tid}.dat").write_bytes(self.records)
        if self.has_map:
            (path / f"sid-{SID}.map").write_text(
                f"{BASE:x}-{BASE + 0x10000:x} r-xp 00000000 00:00 0                          /opt/x/prog\n"
                "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]\n")


def task(tid=100, second=1):
    return f"TASK timestamp={second}.000000001 tid={tid} pid=100"


def session(second=1, sid=SID):
    return f"SESS timestamp={second}.000000000 pid=100 sid={sid} exename=\"/opt/x/prog\""


LOST_RECORDS = {"r4": record(EXIT, 1045, 1, f(1))}
DIRECTORIES = {
    "ok": Directory(),
    "be": Directory(order=">"),
    "c32": Directory(word=1),
    "v3": Directory(version=3),
    "badhdrmagic": Directory(head=b"Xtrace!\0"),
    "v5": Directory(version=5),
    "be_noswap_hdr": Directory(endian=2),
    "hs48": Directory(size=48),
    "featbit20": Directory(features=0x63 | 1 << 20),
    "infobit20": Directory(lines=0x388d | 1 << 20),
    "ms0": Directory(stack=0),
    "ms2": Directory(stack=2),
    "garbagetask": Directory(tasks=["TASK foo", task()]),
    "longsid": Directory(session=session(sid=4 * SID)),
    "extratid": Directory(tids=(100, 101), data=(100, 101)),
    "nodat": Directory(tids=(100, 101), tasks=[task(), task(101)]),
    "empty": Directory(records=[]),
    "nosess": Directory(session=None),
    "sesslate": Directory(session=session(9), tasks=[task(second=9)]),
    "nomap": Directory(has_map=False),
    "hugesym": Directory(symbols=999_999_999_999),
    "unknownsym": Directory([record(ENTRY, 1000, 0, 0x1234), record(EXIT, 1010, 0, 0x1234)]),
    "badmagic": Directory(changed(r4=record(EXIT, 1040, 1, f(1), magic=3))),
    "trunc": Directory(cut=7 * 16 + 11),
    "missexit": Directory([one for i, one in enumerate(SOUND) if i != 3]),
    "orphanexit": Directory([record(EXIT, 990, 1, f(1)), record(EXIT, 1005, 0, f(0)), *SOUND]),
    "exitmismatch": Directory(changed(r3=record(EXIT, 1030, 2, f(5)))),
    "depthjump": Directory([record(ENTRY, 1000, 0, f(0)), record(ENTRY, 1010, 5, f(1)), record(EXIT, 1020, 5, f(1)), record(EXIT, 1030, 0, f(0))]),
    "inverted": Directory(changed(r3=record(EXIT, 1005, 2, f(2)))),
    "lost": Directory(changed(r3=record(LOST, None, 0, 7), **LOST_RECORDS)),
    "lost_t": Directory(changed(r3=record(LOST, 1025, 0, 7), **LOST_RECORDS)),
    "moreflag": Directory([record(ENTRY, 1000, 0, f(0), more=1), record(EXIT, 1010, 0, f(0))]),
    "evunk": Directory(around(record(EVENT, 1005, 0, 100_099, more=1))),
    "evuser": Directory(around(record(EVENT, 1005, 0, 1_000_000))),
}


def make(target):
    target.mkdir()
    for name, directory in DIRECTORIES.items():
        directory.write(target / name)
