# SPDX-License-Identifier: BSD-3-Clause
"""Measurements as hpcrun writes them, version 04.00, made by tests: doc/formats/hpcrun.md. Strings may be bytes."""

import struct
from typing import NamedTuple

ALIGNMENT = 1024
PRIMARY, MAIN_THREAD = (int.from_bytes(name, "big") for name in (b"^Primary", b"| Main  "))
NODE, RANK, THREAD = 0x4001, 0xc002, 0xc003
KINDS = ("SUMMARY", "NODE", "RANK", "THREAD")
RAW, REAL, SHOWN = 1, 2, 1
INDEX_END = 0x656e6421
ATTRIBUTES = {"program-name": "made", "program-path": "/bin/made", "env-path": "/bin", "job-id": "", "mpi-rank": "0", "thread-id": "0",
              "host-id": "abc", "process-id": "7", "trace-min-time": "0", "trace-max-time": "0", "trace-disorder": "0"}


class Node(NamedTuple):
    """Of the calling context tree; `values` by number of the metric. Parents come first, and the first is the root."""

    id: int
    parent: int
    module: int
    offset: int
    values: dict = {}


def string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack(">I", len(data)) + data


def header(attributes):
    chosen = {**ATTRIBUTES, **attributes}
    return b"HPCRUN-profile____04.00b" + struct.pack(">I", len(chosen)) + b"".join(
        string(name) + string(value) for name, value in chosen.items())


def load_map(modules):
    return struct.pack(">I", len(modules)) + b"".join(
        struct.pack(">H", number) + string(path) + struct.pack(">Q", 1) for number, path in enumerate(modules, 1))


def tree(nodes):
    return struct.pack(">Q", len(nodes)) + b"".join(struct.pack(">IIHQB", *node[:4], 1) for node in nodes)


def metric_table(metrics):
    """`metrics`: (name, description)."""
    flags = struct.pack(">BBBBHBB8xQ", RAW, 0, REAL, 0, 0, SHOWN, 1, 1)
    return struct.pack(">I", len(metrics)) + b"".join(
        string(name) + string(text) + flags + string("") + string("") + struct.pack(">HHdQ", 0, 0, 0.0, 0) for name, text in metrics)


def id_kinds(kinds):
    return struct.pack(">H", len(kinds)) + b"".join(struct.pack(">H", number) + string(name) for number, name in enumerate(kinds))


def id_tuple(ids):
    return struct.pack(">H", len(ids)) + b"".join(struct.pack(">HQQ", *one) for one in ids)


def values(nodes):
    rows, index = [], []
    for node in nodes:
        if node.values:
            index.append(struct.pack(">IQ", node.id, len(rows)))
            rows += [struct.pack(">dH", value, metric) for metric, value in sorted(node.values.items())]
    index.append(struct.pack(">IQ", INDEX_END, len(rows)))
    return struct.pack(">QI", len(rows), len(index) - 1) + b"".join(rows) + b"".join(index)


class Measured:
    """What profiles of one run share; each has its own id tuple."""

    def __init__(self, nodes, modules=("/bin/made",), metrics=(("TIME (sec)", "time"),), kinds=KINDS, **attributes):
        attributes = {name.replace("_", "-"): value for name, value in attributes.items()}
        self.sections = [header(attributes), load_map(modules), tree(nodes), metric_table(metrics), id_kinds(kinds)]
        self.values = values(nodes)

    def profile(self, *ids):
        """Bytes of a profile; ids as (kind, physical, logical)."""
        data, bounds = b"", []
        for section in [*self.sections, id_tuple(ids) + self.values]:
            data += bytes(-len(data) % ALIGNMENT)
            bounds += [len(data), len(data) + len(section)]
            data += section
        data += bytes(-len(data) % ALIGNMENT)
        return data + struct.pack(">13Q", *bounds, len(data)) + b"HPCRUNsm"


def trace(records):
    """Bytes of a trace; records as (time, id of a node)."""
    return b"HPCRUN-trace______01.01b" + bytes(8) + b"".join(struct.pack(">QI", *record) for record in records)


def many_profiles(folder, ranks, nodes=400, samples=2000):
    """A directory with one profile for each of so many ranks, all with the same call paths and with traces."""
    made = [Node(2, 0, 0, PRIMARY), Node(4, 2, 0, MAIN_THREAD)]
    for i in range(nodes):
        made.append(Node(6 + 2 * i, made[1 + i // 3].id, 1, 0x1000 + 4 * i, {0: 0.5 + i}))
    measured = Measured(made)
    records = trace((1_700_000_000_000_000_000 + 1000 * i, made[1 + i % nodes].id) for i in range(samples))
    folder.mkdir()
    for rank in range(ranks):
        stem = f"made-{rank:06}-000-00000abc-{rank}-0"
        (folder / f"{stem}.hpcrun").write_bytes(measured.profile((NODE, 0xabc, 0), (RANK, 0, rank), (THREAD, 0, 0)))
        (folder / f"{stem}.hpctrace").write_bytes(records)
