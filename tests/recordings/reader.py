# SPDX-License-Identifier: BSD-3-Clause
"""
An independent reader of uftrace directories: plain, slow, and without a line in common with the library. It hands out
what is in the files and says what addresses mean; what the records mean is up to counted.py and happened.py.
"""

import bisect
import re
import struct
from pathlib import Path
from typing import NamedTuple

from names import simple_name
from payload import Specs

ENTRY, EXIT, LOST, EVENT = range(4)
KINDS = ("entry", "exit", "lost", "event")
HEADER = 40
MAX_STACK_BIT = 6

# perf records, and what becomes of them
PERF_COMM, PERF_EXIT, PERF_FORK, PERF_SWITCH = 3, 4, 7, 14
MISC_OUT, MISC_PREEMPT = 0x2000, 0x4000
SCHED_IN, SCHED_OUT, SCHED_PREEMPTED, TASK_NEW, TASK_EXIT, TASK_NAME = "in", "out", "preempted", "new", "exit", "name"


MAP_LINE = re.compile(r"([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \d+ +(/\S*|\[stack\])(?: build-id:([0-9a-f]+))?")


class Damaged(Exception):
    """Something that this reader does not try to understand."""


class Record(NamedTuple):
    offset: int
    time: int
    kind: int
    depth: int
    address: int
    payload: bytes


class PerfEvent(NamedTuple):
    time: int
    kind: str
    tid: int
    file: str
    offset: int
    text: str = ""


class Function(NamedTuple):
    """What an address means. Functions are the same if module and offset are."""
    module: str  # path, "" if the address lies in none
    offset: int  # of the symbol in the module, or of the address if there is none
    symbol: str  # as in the .sym file; "" if there is none

    @property
    def name(self):
        return simple_name(self.symbol) if self.symbol else ""


class Symbols:
    """One .sym file."""

    def __init__(self, path):
        self.path_name = self.build_id = ""
        found = []
        for line in path.read_text(errors="surrogateescape").splitlines():
            if line.startswith("# path name: "):
                self.path_name = line[13:]
            elif line.startswith("# build-id: "):
                self.build_id = line[12:]
            elif match := re.fullmatch(r"([0-9a-f]+) (?:([0-9a-f]{8}) )?(\S) (.*)", line):
                address, size, kind, name = match.groups()
                found.append((int(address, 16), None if size is None else int(size, 16), kind, name))
        found.sort(key=lambda symbol: symbol[0])
        self.items = []
        for i, (address, size, kind, name) in enumerate(found):
            if size is None:
                later = [other[0] for other in found[i + 1:] if other[0] > address]
                size = later[0] - address if later else 0
            if kind != "?":
                self.items.append((address, size, kind, name))
        self.addresses = [item[0] for item in self.items]

    def find(self, offset):
        """The symbol that covers an offset: (address, name), or None."""
        i = bisect.bisect_right(self.addresses, offset) - 1
        while i >= 0:
            address, size, _, name = self.items[i]
            if address <= offset < address + size:
                # Of several names for one place, the first that the file has.
                while i > 0 and self.items[i - 1][0] == address and self.items[i - 1][1] > offset - address:
                    i -= 1
                return address, self.items[i][3]
            if address < offset - (1 << 20):
                return None
            i -= 1
        return None


class Session(NamedTuple):
    time: int
    pid: int
    sid: str
    program: str
    maps: tuple  # (start, end, path, build id)


class Recording:
    def __init__(self, folder):
        self.folder = Path(folder)
        self._symbols = {}
        self._debug = {}
        self._functions = {}
        self._sessions = {}
        self._read_info()
        self._read_tasks()
        # Between two of these times, nothing changes.
        self._session_times = sorted(session.time for session in self.sessions)
        self._dlopen_times = sorted(when for when, _, _ in self.dlopens)
        self.specs = Specs(self.lines)
        self.perf = self._read_perf()
        self.event_names = self._read_event_names()
        self.messages = self._read_messages()

    # The info file.

    def _read_info(self):
        data = (self.folder / "info").read_bytes()
        if len(data) < HEADER or data[:8] != b"Ftrace!\0":
            raise Damaged("no info header")
        self.endian = ">" if data[14] == 2 else "<"
        self.word = 4 if data[15] == 1 else 8
        self.version, = struct.unpack(self.endian + "I", data[8:12])
        self.features, self.info_mask, stack = struct.unpack(self.endian + "QQH", data[16:34])
        if self.version not in (3, 4):
            raise Damaged(f"version {self.version}")
        self.max_stack = stack if self.features >> MAX_STACK_BIT & 1 else 1024
        self.lines = data[HEADER:].decode(errors="surrogateescape").splitlines()
        self.tids = []
        for line in self.lines:
            if line.startswith("taskinfo:tids="):
                self.tids = [int(tid) for tid in line[14:].split(",") if tid]

    # task.txt, maps.

    def _read_tasks(self):
        self.sessions, self.dlopens = [], []
        self.task_times, self.pids, self.parents = {}, {}, {}
        path = self.folder / "task.txt"
        for line in path.read_text(errors="surrogateescape").splitlines() if path.exists() else ():
            fields = dict(re.findall(r'(\w+)=("[^"]*"|\S+)', line))
            if "timestamp" not in fields:
                continue  # damaged; the tests of the checker look at these
            time = _time(fields["timestamp"])
            if line.startswith("SESS"):
                sid = fields["sid"]
                self.sessions.append(Session(time, int(fields.get("pid") or fields["tid"]), sid,
                                             fields["exename"].strip('"'), self._read_map(sid)))
            elif line.startswith("TASK"):
                tid = int(fields["tid"])
                self.task_times.setdefault(tid, time)
                self.pids.setdefault(tid, int(fields["pid"]))
            elif line.startswith("FORK"):
                tid = int(fields["pid"])
                self.task_times.setdefault(tid, time)
                self.pids.setdefault(tid, tid)
                self.parents[tid] = int(fields["ppid"])
            elif line.startswith("DLOP"):
                self.dlopens.append((time, int(fields["base"], 16), fields["libname"].strip('"')))

    def _read_map(self, sid):
        path = self.folder / f"sid-{sid[:16]}.map"
        modules = {}
        for line in path.read_text(errors="surrogateescape").splitlines() if path.exists() else ():
            match = MAP_LINE.match(line)
            if match:
                start, end, name, build_id = match.groups()
                first = modules.get(name, (int(start, 16),))[0]
                modules[name] = (first, int(end, 16), name, build_id or "")
        return tuple(sorted(modules.values()))

    def session(self, tid, time):
        """The session that a task was in at a time."""
        key = tid, bisect.bisect_right(self._session_times, time)
        if key not in self._sessions:
            self._sessions[key] = self._session(tid, time)
        return self._sessions[key]

    def _session(self, tid, time):
        """That of its process, else that of the processes it comes from."""
        own, seen = self.pids.get(tid, tid), set()
        while own and own not in seen:
            seen.add(own)
            candidates = [session for session in self.sessions if session.pid == own]
            covering = [session for session in candidates if session.time <= time]
            if covering:
                return covering[-1]
            if candidates and own not in self.parents:
                return candidates[0]
            own = self.parents.get(own)
        return None

    def program(self, tid):
        session = self.session(tid, self.task_times.get(tid, 0))
        return session.program if session else ""

    # Symbols.

    def symbols(self, module, build_id):
        """The symbols of a module: of <basename>.sym and all <basename>-XXXX.sym, the one that says it belongs to it."""
        key = (module, build_id)
        if key not in self._symbols:
            base = module.rsplit("/", 1)[-1]
            names = [path.name for path in self.folder.iterdir()]
            fitting = [name for name in names if name == f"{base}.sym" or
                       name.startswith(f"{base}-") and re.fullmatch(r"[0-9a-f]{4}\.sym", name[len(base) + 1:])]
            read = [Symbols(self.folder / name) for name in sorted(fitting, key=len)]
            self._symbols[key] = next((found for found in read if _is_same_module(found, module, build_id)), None)
        return self._symbols[key]

    def locate(self, tid, time, address):
        """(module, build id, offset) of an address; None if no map or library covers it."""
        session = self.session(tid, time)
        for start, end, module, build_id in session.maps if session else ():
            if start <= address < end and module != "[stack]":
                return module, build_id, address - start
        loaded = [(when, base, name) for when, base, name in self.dlopens if when <= time and base <= address]
        if loaded:
            _, base, name = max(loaded, key=lambda library: (library[1], library[0]))
            return name, "", address - base
        return None

    def resolve(self, tid, time, address):
        """The function at an address. What that is can change with the session, and when a library is loaded."""
        session = self.session(tid, time)
        key = (session.time if session else None, session and session.sid,
               bisect.bisect_right(self._dlopen_times, time), address)
        if key not in self._functions:
            self._functions[key] = self._resolve(tid, time, address)
        return self._functions[key]

    def _resolve(self, tid, time, address):
        place = self.locate(tid, time, address)
        if place is None:
            return Function("", address, "")
        module, build_id, offset = place
        symbols = self.symbols(module, build_id)
        symbol = symbols.find(offset) if symbols else None
        return Function(module, symbol[0], symbol[1]) if symbol else Function(module, offset, "")

    def debug(self, function):
        """The (arguments, result) specifications of a .dbg file for a function."""
        if function.module not in self._debug:
            self._debug[function.module] = self.specs.read_debug(self._debug_file(function.module))
        return self._debug[function.module].get(function.offset, (None, None))

    def _debug_file(self, module):
        path = self.folder / (module.rsplit("/", 1)[-1] + ".dbg")
        return path if path.exists() else None

    # Records.

    def spec(self, function, is_result):
        """
        What the records of a function carry: what was asked for by name; else, if values are automatic, what the
        program's debugging information says, else what is known of functions of this name. The order matters:
        `operator new` is known to have one argument, but a program may have its own with two.
        """
        asked = self.specs.find(self.specs.asked, function.name, function.module, is_result)
        if asked is not None or not self.specs.has_auto:
            return asked
        found = self.debug(function)[is_result]
        if found is not None:
            return found
        return self.specs.find(self.specs.automatic, function.name, function.module, is_result)

    def records(self, tid):
        """The records of a task, up to the first thing that is none."""
        path = self.folder / f"{tid}.dat"
        data = path.read_bytes() if path.exists() else b""
        offset, unpack = 0, struct.Struct(self.endian + "QQ").unpack_from
        while offset + 16 <= len(data):
            time, word = unpack(data, offset)
            if word >> 3 & 7 != 5:
                raise Damaged(f"{tid}.dat: no record at {offset:#x}")
            kind, depth, address = word & 3, word >> 6 & 0x3FF, word >> 16
            size = 0
            if word >> 2 & 1:
                size = self._payload_size(tid, kind, time, address, data, offset + 16)
            yield Record(offset, time, kind, depth, address, data[offset + 16:offset + 16 + size])
            offset += 16 + (size + 7 & ~7)

    def _payload_size(self, tid, kind, time, address, data, offset):
        if kind == EVENT:
            return 2 + struct.unpack_from(self.endian + "H", data, offset)[0]
        spec = self.spec(self.resolve(tid, time, address), kind == EXIT)
        if spec is None:
            raise Damaged(f"{tid}.dat: values that nothing specifies at {offset - 16:#x}")
        return self.specs.size(spec, data, offset, self.endian, self.word)

    # Side files.

    def _read_perf(self):
        """Events of threads that have data, by thread and time."""
        events = {tid: [] for tid in self.tids}
        for path in sorted(self.folder.glob("perf-cpu*.dat")):
            for event in _perf_events(path, self.endian):
                if event.tid in events:
                    events[event.tid].append(event)
        return {tid: sorted(found, key=lambda event: event.time) for tid, found in events.items()}

    def _read_event_names(self):
        path = self.folder / "events.txt"
        text = path.read_text() if path.exists() else ""
        return {int(number): name for number, name in re.findall(r"^EVENT: (\d+) (\S+)$", text, re.M)}

    def _read_messages(self):
        """What the user noted, in extern.dat: (time, text)."""
        path = self.folder / "extern.dat"
        lines = path.read_text().splitlines() if path.exists() else ()
        found = [line.split(" ", 1) for line in lines if line and not line.startswith("#")]
        return [(_time(time), text) for time, text in found]


def _time(text):
    seconds, fraction = text.split(".")
    return int(seconds) * 1_000_000_000 + int(fraction)


def _is_same_module(symbols, module, build_id):
    if build_id and symbols.build_id:
        return symbols.build_id == build_id
    return not symbols.path_name or symbols.path_name == module or symbols.path_name.endswith("/" + _tail(module))


def _tail(path):
    return path[2:] if path.startswith("./") else path


def _perf_events(path, endian):
    data, offset = path.read_bytes(), 0
    while offset + 8 <= len(data):
        kind, misc, size = struct.unpack_from(endian + "IHH", data, offset)
        if size < 8 or offset + size > len(data):
            raise Damaged(f"{path.name}: no record at {offset:#x}")
        body = data[offset + 8:offset + size]
        if kind == PERF_SWITCH:
            _, tid, time = struct.unpack_from(endian + "IIQ", body)
            what = SCHED_IN if not misc & MISC_OUT else SCHED_PREEMPTED if misc & MISC_PREEMPT else SCHED_OUT
            yield PerfEvent(time, what, tid, path.name, offset)
        elif kind in (PERF_FORK, PERF_EXIT):
            _, _, tid, _, time = struct.unpack_from(endian + "IIIIQ", body)
            yield PerfEvent(time, TASK_NEW if kind == PERF_FORK else TASK_EXIT, tid, path.name, offset)
        elif kind == PERF_COMM:
            _, tid = struct.unpack_from(endian + "II", body)
            time, = struct.unpack_from(endian + "Q", body, len(body) - 8)
            yield PerfEvent(time, TASK_NAME, tid, path.name, offset, body[8:].split(b"\0", 1)[0].decode())
        offset += size
