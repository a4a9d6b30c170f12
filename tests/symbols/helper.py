# SPDX-License-Identifier: BSD-3-Clause
"""Runs lode-symbols as the library does, and parses what it says: src/format/hpcrun/scopes/binary_protocol.h."""

import os
import struct
import tempfile
from pathlib import Path

NONE = 0xffffffff
FUNCTION, INLINED, LINE, LOOP = range(4)


class Reply:
    """Strings, scopes as (kind, parent, name, file, line, function, address), and the scope of each answered offset."""

    def __init__(self, data, offsets):
        self.strings, self.scopes, self.answers, self.ranges, self.debug, position = [], [], {}, [], None, 8
        assert data[:8] == b"LODESYM1", data[:8]

        def take(layout):
            nonlocal position
            fields = struct.unpack_from("=" + layout, data, position)
            position += struct.calcsize("=" + layout)
            return fields if len(fields) > 1 else fields[0]

        def take_bytes():
            nonlocal position
            size = take("I")
            position += size
            return data[position - size:position]

        while True:
            kind = take("c")
            if kind == b"S":
                self.strings.append(take_bytes().decode(errors="surrogateescape"))
            elif kind == b"C":
                self.scopes.append(take("BIIIIIQ"))
            elif kind == b"A":
                index, scope = take("II")
                self.answers[offsets[index]] = scope
            elif kind == b"R":
                self.ranges.append(take("QQI"))
            elif kind == b"D":
                self.debug = (take("B"), take_bytes().hex(), take_bytes().decode(errors="surrogateescape"))
            else:
                assert kind == b"E" and take("III") == (len(self.strings), len(self.scopes), len(self.answers) + len(self.ranges)), kind
                assert position == len(data)
                return

    def text(self, number):
        return None if number == NONE else self.strings[number]

    def chain(self, offset):
        """From the outermost scope to the innermost: (kind, name, file, line, address)."""
        return self.chain_of(self.answers.get(offset, NONE))

    def chain_of(self, at):
        chain = []
        while at != NONE:
            kind, parent, name, file, line, _, address = self.scopes[at]
            chain.append((kind, self.text(name), self.text(file), line, address))
            at = parent
        return chain[::-1]


def run(program, binary, offsets, debug=None, megabytes=2048, seconds=60, mode=None):
    """(status as of os.waitpid, bytes)."""
    with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as output:
        asked.write(struct.pack(f"={len(offsets)}Q", *offsets))
        asked.flush()
        read, write = os.pipe()
        opened = [(os.open(binary, os.O_RDONLY), 3), (asked.fileno(), 4)] + ([(os.open(debug, os.O_RDONLY), 5)] if debug else [])
        # Away from the numbers that they get.
        high = [(os.dup(fd) if fd > 20 else os.dup2(fd, 40 + number), number) for fd, number in opened]
        actions = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, write, 1)]
        actions += [(os.POSIX_SPAWN_DUP2, fd, number) for fd, number in high]
        pid = os.posix_spawn(program, [str(program), str(megabytes), str(seconds), mode or ("beside" if debug else "inside")], {}, file_actions=actions)
        os.close(write)
        for fd in {fd for fd, _ in high} | {fd for fd, number in opened if number != 4}:
            os.close(fd)
        with open(read, "rb") as pipe:
            data = pipe.read()
        _ = output
        return os.waitpid(pid, 0)[1], data


def ask(program, binary, offsets, **options):
    status, data = run(program, binary, offsets, **options)
    assert status == 0, f"{Path(binary).name}: status {status:#x}"
    return Reply(data, offsets)
