#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Records that share their content do not make a small database a large one: commands refuse it, and need little for that."""

import argparse
import os
import resource
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
from tap import Tap  # noqa: E402

COPIES = 2000
METRICS = 2  # the section of metrics in meta.db
# Several times what the databases here have, and a small part of what they would become.
MAX_OUTPUT = 16 << 20
MAX_SECONDS = 10  # of processor time
MAX_KILOBYTES = 400 << 10  # with sanitizers


def change(path, edit):
    """Lets `edit` append to a file, in front of its footer."""
    data = bytearray(path.read_bytes())
    footer = data[-8:]
    del data[-8:]
    data += bytes(-len(data) % 8)
    edit(data)
    path.write_bytes(data + footer)


def section(data, index):
    return struct.unpack_from("<QQ", data, 16 + 16 * index)


def move_section(data, index, place):
    struct.pack_into("<QQ", data, 16 + 16 * index, len(data) - place, place)


def profiles_share_blocks(store):
    """A new table of profiles: the summary, and the first profile many times."""
    def edit(data):
        first, _, size = struct.unpack_from("<QIB", data, section(data, 0)[1])
        place = len(data)
        data += struct.pack("<QIB3x", place + 16, COPIES + 1, size) + data[first:first + size]
        data += data[first + size:first + 2 * size] * COPIES
        move_section(data, 0, place)
    change(store / "profile.db", edit)


def profiles_share_ids(store):
    """Profiles without values that have one long id tuple."""
    def edit(data):
        first, _, size = struct.unpack_from("<QIB", data, section(data, 0)[1])
        tuples = len(data)
        data += struct.pack("<H6x", 20000) + b"".join(struct.pack("<B3xIQ", 1 + i % 3, i, i) for i in range(20000))
        move_section(data, 1, tuples)
        place = len(data)
        data += struct.pack("<QIB3x", place + 16, COPIES + 1, size) + data[first:first + size]
        data += struct.pack("<QQI4xQQI4x", 0, 0, 0, 0, tuples, 0) * COPIES
        move_section(data, 0, place)
    change(store / "profile.db", edit)
    (store / "trace.db").unlink()


def contexts_share_blocks(store):
    """A new table of contexts: the one with most values, many times."""
    def edit(data):
        first, count, size = struct.unpack_from("<QIB", data, section(data, 0)[1])
        records = [bytes(data[first + i * size:first + (i + 1) * size]) for i in range(count)]
        place = len(data)
        data += struct.pack("<QIB3x", place + 16, COPIES, size)
        data += max(records, key=lambda record: struct.unpack_from("<Q", record)) * COPIES
        move_section(data, 0, place)
    change(store / "cct.db", edit)


def lines_share_samples(store):
    """A new table of trace lines: the samples of the first, many times."""
    def edit(data):
        first, _, size, low, high = struct.unpack_from("<QIB3xQQ", data, section(data, 0)[1])
        _, start, end = struct.unpack_from("<I4xQQ", data, first)
        place = len(data)
        data += struct.pack("<QIB3xQQ", place + 32, COPIES, size, low, high)
        data += b"".join(struct.pack("<I4xQQ", 1 + i % 2, start, end) for i in range(COPIES))
        move_section(data, 0, place)
    change(store / "trace.db", edit)


def metrics_share_scopes(store):
    """Metrics that have one long array of scope instances. Strings and scopes are where they were, in a section that begins there."""
    def edit(data):
        size, old = section(data, METRICS)
        _, _, _, _, summary, scopes, count, scope = struct.unpack_from("<QIBBBxQHB", data, old)
        place = len(data)
        data += data[old:old + size]
        data += bytes(-len(data) % 8)
        moved = scopes + place - old
        for i in range(count):
            (name,) = struct.unpack_from("<Q", data, moved + i * scope)
            struct.pack_into("<Q", data, moved + i * scope, name + place - old)
        (name,) = struct.unpack_from("<Q", data, moved)
        instances = len(data)
        data += b"".join(struct.pack("<QH6x", moved, i) for i in range(5000))
        metrics = len(data)
        data += struct.pack("<QQQHH4x", name, instances, 0, 5000, 0) * 5000
        struct.pack_into("<QIBBBxQHB", data, place, metrics, 5000, 32, 16, summary, moved, count, scope)
        move_section(data, METRICS, place)
    change(store / "meta.db", edit)


DRAFTS = (("convert", "--format", "hpctoolkit-draft-xml"), ("convert", "--format", "hpctoolkit-draft-metadb"))
CASES = [
    (profiles_share_blocks, "share their blocks", (("convert",), *DRAFTS, ("top", "--profiles", "THREAD=0-9"))),
    (profiles_share_blocks, "share their content", (("dump",),)),
    (profiles_share_ids, "share their blocks or ids", (("convert",), *DRAFTS)),
    (profiles_share_ids, "share their content", (("dump",), ("info",))),
    (profiles_share_ids, "overlap", (("check",),)),
    (contexts_share_blocks, "share their blocks", DRAFTS),
    (contexts_share_blocks, "share their content", (("dump",),)),
    (lines_share_samples, "share their samples", (("convert",), ("trace",), *DRAFTS)),
    (lines_share_samples, "share their content", (("dump",),)),
    (metrics_share_scopes, "is used twice", (("check",),)),
]


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_OUTPUT, MAX_OUTPUT))


def run(tap, lode, damage, place, words, cause):
    """Whether a command refuses the database in `place`, and says why."""
    store, new, is_check = place / "db", place / "new", words[0] == "check"
    arguments = [*words, store, "-o", new] if words[0] == "convert" else [*words, store]
    with open(place / "out", "wb") as out, open(place / "errors", "wb") as errors:
        process = subprocess.Popen([lode, *arguments], stdout=out, stderr=errors, preexec_fn=limit)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    said = (place / ("out" if is_check else "errors")).read_text(errors="replace")
    names_it = is_check or f"{store}: " in said
    refused = process.returncode == (1 if is_check else 2) and cause in said and names_it and not new.exists()
    tap.check(refused and usage.ru_maxrss < MAX_KILOBYTES,
              f"{' '.join(words)} refuses a database where {damage.__name__.replace('_', ' ')}",
              [process.returncode, usage.ru_maxrss, said[:600]])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    options = parser.parse_args()
    tap = Tap()
    for damage, cause, commands in CASES:
        with tempfile.TemporaryDirectory() as name:
            place = Path(name)
            subprocess.run([options.lode, "synth", "database", "--profiles", "40", "--contexts", "300", "--samples", "1000", "-o", place / "db"],
                           check=True)
            damage(place / "db")
            for words in commands:
                run(tap, options.lode, damage, place, words, cause)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
