# SPDX-License-Identifier: BSD-3-Clause
"""Profiles and traces of hpcrun, read field by field without any check: slow, and obvious."""

import lzma
import struct
from pathlib import Path


class Reader:
    def __init__(self, data, position):
        self.data, self.position = data, position

    def get(self, layout):
        size = struct.calcsize(">" + layout)
        fields = struct.unpack(">" + layout, self.data[self.position:self.position + size])
        self.position += size
        return fields if len(fields) > 1 else fields[0]

    def string(self):
        length = self.get("I")
        self.position += length
        return self.data[self.position - length:self.position].decode()


def read_profile(path):
    """What one .hpcrun file says, as a dictionary."""
    data = Path(path).read_bytes()
    starts = struct.unpack(">14Q", data[-112:])[0:12:2]
    header, load_map, tree, metrics, kinds, values = (Reader(data, start) for start in starts)
    header.get("24s")
    profile = {"attributes": dict((header.string(), header.string()) for _ in range(header.get("I")))}
    modules = [read_module(load_map) for _ in range(load_map.get("I"))]
    profile["modules"], profile["module_flags"] = [path for path, _ in modules], [flags for _, flags in modules]
    profile["nodes"] = [tree.get("IIHQB") for _ in range(tree.get("Q"))]
    profile["metrics"] = [read_metric(metrics) for _ in range(metrics.get("I"))]
    profile["kinds"] = dict((kinds.get("H"), kinds.string()) for _ in range(kinds.get("H")))
    profile["ids"] = [values.get("HQQ") for _ in range(values.get("H"))]
    value_count, profile["valued"] = values.get("QI")
    profile["values"] = [values.get("8sH") for _ in range(value_count)]
    # The last entry of the index ends it.
    index = [values.get("IQ") for _ in range(profile["valued"] + 1)]
    profile["value_nodes"] = [node for (node, start), (_, past) in zip(index, index[1:]) for _ in range(past - start)]
    return profile


def read_module(reader):
    reader.get("H")
    path = reader.string()
    return path, reader.get("Q")


def read_metric(reader):
    metric = {"name": reader.string(), "description": reader.string()}
    flags = reader.get("16s")
    metric |= {"type": flags[0], "is_integer": flags[2] == 1, "is_relation": flags[3] == 1, "visibility": flags[6], "shows_percent": flags[7] != 0,
               "period": reader.get("Q")}
    metric["formula"] = reader.string() or None
    metric["format"] = reader.string()
    reader.get("HHdQ")
    return metric


def number(raw, metric):
    bits = struct.unpack(">Q" if metric["is_integer"] else ">d", raw)[0]
    return float(bits) * metric["period"]


def read_trace(path):
    """Flags, and (time, node) of each record."""
    data = Path(path).read_bytes()
    return struct.unpack(">Q", data[24:32])[0], list(struct.iter_unpack(">QI", data[32:]))


def read_kernel(path):
    """Functions of kernel symbols, and how many addresses they have."""
    lines = [line.split() for line in lzma.decompress(Path(path).read_bytes()).decode().splitlines()]
    addresses = [int(fields[0], 16) for fields in lines if fields[1] in ("t", "T")]
    return len(addresses), len(set(addresses))


def read_logical(path):
    """Distinct functions of a logical file, and its ids."""
    data = Path(path).read_bytes()
    reader, functions, ids = Reader(data, 10), set(), set()
    while reader.position < len(data):
        number, name, _, file, line = reader.get("I"), reader.string(), reader.get("B"), reader.string(), reader.get("I")
        ids.add(number)
        if name:
            functions.add((name, file, line))
    return len(functions), len(ids)
