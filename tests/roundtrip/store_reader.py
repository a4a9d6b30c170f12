# SPDX-License-Identifier: BSD-3-Clause
"""Trace stores, read from what is known of their bytes and from nothing of Lode: WAL, chunks, CBOR, traces."""

import functools
import struct
import zlib
from pathlib import Path

TICK = 65536
BREAK = object()
INFO, ATTRIBUTES = (0x0E, 0x02), (0x09, 0x03)
TRACE_ID, CHUNK, OFFSET, LENGTH, STAMP, DURATION, TYPE, RECORDS, CALLS, ERRORS, FLAGS, START, STOP, METHOD = range(1, 15)
PARENT, SPAN = 0x11, 0x12


class Tag:
    def __init__(self, number, value):
        self.number, self.value = number, value


def number(digits):
    value = 0
    for digit in digits:
        value = value * 64 + digit - 0x30
    return value


def texts(path):
    """{id: bytes} of a WAL."""
    data, found = path.read_bytes(), {}
    assert data[:4] == b"WAL\x03"
    for record in data[4:].split(b"\x03")[:-1]:
        head, rest = record.split(b"\x01", 1)
        text, tail = rest.split(b"\x02", 1)
        assert head == tail
        out, escaped = bytearray(), False
        for byte in text:
            if escaped:
                out.append(0xFF if byte == 8 else byte - 4)
            elif byte != 0xFF:
                out.append(byte)
            escaped = byte == 0xFF and not escaped
        found[number(head)] = bytes(out)
    return found


def chunks(path):
    """Offset and payload of each."""
    data, at = path.read_bytes(), 16
    flags = struct.unpack(">4sIII", data[:16])
    assert flags[0] == b"ZTS0" and flags[1] in (0x11, 0x12) and flags[2:] == (0, 0)
    while at < len(data):
        magic, packed, size, checksum = struct.unpack_from(">4sIII", data, at)
        body = data[at + 16:at + 16 + packed]
        assert magic == b"ZCH0" and zlib.crc32(body) == checksum
        payload = zlib.decompressobj(-15).decompress(body)
        assert len(payload) == size and body.endswith(b"\0\0\xff\xff")
        yield at, payload
        at += 16 + packed


def item(data, at):
    """A whole item, or BREAK, and where it ends; tag 8 with its open array is the Tag(8, None)."""
    if data[at] < 24:
        return data[at], at + 1  # a small number, which most are
    major, low = data[at] >> 5, data[at] & 31
    at += 1
    if low == 31:
        assert major == 7
        return BREAK, at
    value = low
    if low >= 24:
        size = 1 << (low - 24)
        value = int.from_bytes(data[at:at + size], "big")
        at += size
    if major == 6 and value == 8:
        assert data[at] == 0x9F
        return Tag(8, None), at + 1
    if major == 6:
        inner, at = item(data, at)
        return Tag(value, inner), at
    if major in (2, 3):
        return data[at:at + value], at + value
    if major in (4, 5):
        items = []
        for _ in range(value * (major - 3)):
            one, at = item(data, at)
            items.append(one)
        return (items if major == 4 else list(zip(items[::2], items[1::2]))), at
    return ({0: value, 1: -1 - value}.get(major, {20: False, 21: True, 22: None}.get(value))), at


class Call:
    def __init__(self):
        self.info, self.attributes, self.thrown, self.calls = {}, [], [], []


class Store:
    """Traces as calls, of a directory that holds one store."""

    def __init__(self, path):
        self.folder = Path(path) / "000000"
        self.texts = texts(self.folder / "text-00000001.wal")
        self.traces, self.chunks, stack = [], [], []
        for offset, payload in chunks(self.folder / "traces.dat"):
            self.chunks.append((offset, len(payload), len(self.traces) - bool(stack)))
            at = 0
            while at < len(payload):
                event, at = item(payload, at)
                self.take(event, stack)
        assert not stack

    def take(self, event, stack):
        if event is BREAK:
            stack.pop()
        elif event.number == 8:
            call = Call()
            (stack[-1].calls if stack else self.traces).append(call)
            stack.append(call)
        elif event.number in INFO:
            for key, value in event.value:
                if key in (CHUNK, OFFSET, LENGTH):
                    stack[0].info.setdefault(key, []).append(value)
                else:
                    assert key not in stack[-1].info or key == TRACE_ID
                    stack[0 if key == TRACE_ID else -1].info[key] = value
        elif event.number in ATTRIBUTES:
            for key, value in event.value:
                stack[-1].attributes.append((self.string(key), self.value(value, event.number == 0x03)))
        else:
            assert event.number == 0x23
            stack[-1].thrown.append(event.value)

    def string(self, reference):
        value = reference.value if isinstance(reference, Tag) else reference
        return self.texts[value].decode() if value else ""

    def value(self, value, is_page):
        if isinstance(value, list):
            return [tuple(self.value(part, is_page) for part in one) if isinstance(one, tuple) else self.value(one, is_page) for one in value]
        return self.string(value) if isinstance(value, Tag) or is_page else value

    def parts(self, text_id, mark):
        text = self.texts[text_id]
        assert text[0] == text[-1] == mark
        return [number(part) for part in text[1:-1].split(bytes([mark]))]

    def plain(self, text_id):
        text = self.texts[text_id] if text_id else b""
        return (text[1:-1] if text[:1] in (b"\x05", b"\x06", b"\x08") else text).decode()

    def method(self, call):
        return self._method(call.info[METHOD])

    @functools.lru_cache(4096)
    def _method(self, text_id):
        names = [self.plain(part) for part in self.parts(text_id, 0x0B)]
        return f"{names[0]}.{names[1]}{names[2]}"

    def exception(self, text_id):
        """[(class, message, [(class, method, file, line)])] with its causes."""
        found = []
        while text_id:
            class_name, message, stack, text_id = self.parts(text_id, 0x0C)
            frames = [self.parts(frame, 0x0E) for frame in (self.parts(stack, 0x0D) if stack else [])]
            found.append((self.plain(class_name), self.plain(message),
                          [(*map(self.plain, frame[:3]), frame[3]) for frame in frames]))
        return found
