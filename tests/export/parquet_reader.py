#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A slow reader of Parquet files, as plain as the specification: every number of the footer and of each page header is used,
and what does not fit is an error. Types, encodings and codecs that `lode export` writes; nothing else.
"""

import ctypes
import ctypes.util
import struct
import sys
import zlib
from pathlib import Path

BOOLEAN, INT32, INT64, DOUBLE, BYTE_ARRAY = 0, 1, 2, 5, 6
PLAIN, RLE, RLE_DICTIONARY = 0, 3, 8


class Broken(Exception):
    """The file contradicts itself or the specification."""


def need(condition, text):
    if not condition:
        raise Broken(text)


class Bytes:
    """A cursor over bytes."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, count):
        need(0 <= count <= len(self.data) - self.at, f"{count} bytes at {self.at} of {len(self.data)}")
        self.at += count
        return self.data[self.at - count:self.at]

    def byte(self):
        return self.take(1)[0]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)


def thrift(data):
    """A struct of the compact protocol as {field: value}."""
    fields, last = {}, 0
    while True:
        header = data.byte()
        if header == 0:
            return fields
        last = last + (header >> 4) if header >> 4 else data.zigzag()
        need(last not in fields, f"field {last} twice")
        fields[last] = thrift_value(data, header & 15)


def thrift_value(data, kind, in_list=False):
    if kind in (1, 2):
        return (data.byte() if in_list else kind) == 1
    if kind == 3:
        return struct.unpack("b", data.take(1))[0]
    if kind in (4, 5, 6):
        return data.zigzag()
    if kind == 7:
        return struct.unpack("<d", data.take(8))[0]
    if kind == 8:
        return bytes(data.take(data.varint()))
    if kind == 9:
        header = data.byte()
        count = header >> 4 if header >> 4 < 15 else data.varint()
        return [thrift_value(data, header & 15, True) for _ in range(count)]
    need(kind == 12, f"type {kind}")
    return thrift(data)


def runs(data, width, count):
    """Numbers of the RLE and bit-packing hybrid. What follows the last number of a packed run is zero."""
    numbers = []
    size = (width + 7) // 8
    while len(numbers) < count:
        header = data.varint()
        need(header > 1, "an empty run")
        if header & 1:
            mask = (1 << width) - 1
            for _ in range(header >> 1):
                bits = int.from_bytes(data.take(width), "little")
                numbers += [bits >> i * width & mask for i in range(8)]
            need(len(numbers) < count + 8, "a packed run beyond the last eight")
        else:
            numbers += [int.from_bytes(data.take(size), "little")] * (header >> 1)
            need(len(numbers) <= count, "a run beyond the last value")
    need(not any(numbers[count:]), "numbers after the last")
    return numbers[:count]


def plain(data, kind, count, unsigned=False):
    if kind == BOOLEAN:
        packed = data.take((count + 7) // 8)
        return [bool(packed[i // 8] >> i % 8 & 1) for i in range(count)]
    if kind == BYTE_ARRAY:
        return [bytes(data.take(struct.unpack("<I", data.take(4))[0])).decode("utf-8") for _ in range(count)]
    letter, size = {INT32: ("I" if unsigned else "i", 4), INT64: ("q", 8), DOUBLE: ("d", 8)}[kind]
    return list(struct.unpack(f"<{count}{letter}", data.take(count * size)))


_zstd = None


def unpack(codec, body, size):
    global _zstd
    if codec == 0:
        return body
    if codec == 2:
        return zlib.decompress(body, 31)
    need(codec == 6, f"codec {codec}")
    if _zstd is None:
        _zstd = ctypes.CDLL(ctypes.util.find_library("zstd"))
        _zstd.ZSTD_decompress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(max(size, 1))
    found = _zstd.ZSTD_decompress(out, ctypes.c_size_t(size), bytes(body), ctypes.c_size_t(len(body)))
    need(found == size, "zstd refuses a page")
    return out.raw[:size]


class Column:
    """One column chunk: its pages, values and statistics."""

    def __init__(self, data, meta, element):
        self.meta, self.kind = meta, meta[1]
        self.optional = element[3] == 1
        self.unsigned = element.get(6) == 13
        self.dictionary, self.pages = None, 0
        self.values = []
        at = meta.get(11, meta[9])
        cursor, end, unpacked = Bytes(data, at), at + meta[7], 0
        while cursor.at < end:
            begin = cursor.at
            header = thrift(cursor)
            unpacked += cursor.at - begin + header[2]
            self.page(header, cursor, begin)
        need(cursor.at == end, "pages beyond their chunk")
        need(unpacked == meta[6], f"{unpacked} bytes unpacked, {meta[6]} in the footer")
        need(len(self.values) == meta[5], f"{len(self.values)} values, {meta[5]} in the footer")
        self.check_statistics()

    def page(self, header, cursor, begin):
        stored = cursor.take(header[3])
        need(zlib.crc32(stored) == header[4] & 0xFFFFFFFF, "the sum of a page")
        body = Bytes(unpack(self.meta[4], stored, header[2]))
        need(len(body.data) == header[2], "the size of a page")
        if header[1] == 2:
            need(self.dictionary is None and begin == self.meta[11] and not self.pages, "a dictionary in a wrong place")
            need(header[7][2] == PLAIN, "the encoding of a dictionary")
            self.dictionary = plain(body, self.kind, header[7][1], self.unsigned)
            need(len(set(map(repr, self.dictionary))) == len(self.dictionary), "a dictionary with equal values")
        else:
            need(header[1] == 0 and (self.pages or begin == self.meta[9]), "a page of another kind")
            self.pages += 1
            self.data_page(header[5], body)
        need(body.at == len(body.data), f"{len(body.data) - body.at} bytes after the last value")

    def data_page(self, header, body):
        count = header[1]
        levels = [1] * count
        if self.optional:
            inner = Bytes(body.take(struct.unpack("<I", body.take(4))[0]))
            levels = runs(inner, 1, count)
            need(inner.at == len(inner.data), "bytes after the levels")
        present = sum(levels)
        if header[2] == RLE_DICTIONARY:
            width = body.byte()
            values = [self.dictionary[i] for i in runs(body, width, present)]
        else:
            need(header[2] == PLAIN, "an encoding")
            values = plain(body, self.kind, present, self.unsigned)
        values = iter(values)
        self.values += [next(values) if level else None for level in levels]

    def check_statistics(self):
        found = [v for v in self.values if v is not None]
        statistics = self.meta[12]
        need(statistics[3] == len(self.values) - len(found), "the number of NULLs")
        if self.kind in (BOOLEAN, BYTE_ARRAY) or not found or any(v != v for v in found):
            need(5 not in statistics and 6 not in statistics, "bounds where there are none")
            return
        least, greatest = (plain(Bytes(statistics[i]), self.kind, 1, self.unsigned)[0] for i in (6, 5))
        need((least, greatest) == (min(found), max(found)), f"bounds {least}, {greatest}")
        if self.kind == DOUBLE and least == 0:
            need(str(least) == "-0.0", "a least value of +0")
        if self.kind == DOUBLE and greatest == 0:
            need(str(greatest) == "0.0", "a greatest value of -0")


class Table:
    """A file: names, columns {name: [values]}, the number of rows of each row group."""

    def __init__(self, path):
        data = Path(path).read_bytes()
        need(data[:4] == b"PAR1" and data[-4:] == b"PAR1", "no PAR1")
        size = struct.unpack("<I", data[-8:-4])[0]
        footer = thrift(Bytes(data[len(data) - 8 - size:len(data) - 8]))
        root, *elements = footer[2]
        need(root[5] == len(elements) == len(footer[7]), "the number of columns")
        self.name = root[4].decode()
        self.names = [e[4].decode() for e in elements]
        self.optional = {e[4].decode(): e[3] == 1 for e in elements}
        self.elements = elements
        self.created = footer[6].decode()
        self.columns = {name: [] for name in self.names}
        self.groups, self.encodings, at = [], [], 4
        self.codec = footer[4][0][1][0][3][4] if footer[4] else 0
        for group in footer[4]:
            at = self.group(data, group, at)
        need(at == len(data) - 8 - size, "bytes between the last row group and the footer")
        need(sum(self.groups) == footer[3], "the number of rows")

    def group(self, data, group, at):
        need(group[5] == at, "a gap between row groups")
        begin = at
        for name, chunk, element in zip(self.names, group[1], self.elements):
            meta = chunk[3]
            need(meta[3] == [name.encode()] and meta[1] == element[1], "a column in a wrong place")
            need(meta.get(11, meta[9]) == at, "a gap between columns")
            column = Column(data, meta, element)
            need(len(column.values) == group[3], "rows of a column")
            self.columns[name] += column.values
            self.encodings.append((name, column.dictionary is not None, column.pages))
            at += meta[7]
        need(group[6] == at - begin and group[2] == sum(c[3][6] for c in group[1]), "the size of a row group")
        self.groups.append(group[3])
        return at

    def rows(self):
        return list(zip(*(self.columns[name] for name in self.names)))


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        table = Table(argument)
        print(argument, table.name, len(table.rows()), "rows", len(table.groups), "row groups", table.names)
