#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Small inputs stay small: amplification.py --lode PROGRAM [--scale N]. For each format, inputs that mean as much as possible in
few bytes. The memory of the program beyond that of an empty run is at most 64 MiB and 64 times the input, and processor time
grows with the input: four times the input takes no more than ten times as long. Diagnostics are the table of doc/security.md.
"""

import argparse
import functools
import gzip
import lzma
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
import made_measurements  # noqa: E402
from tap import Tap  # noqa: E402

FLOOR, FACTOR = 64 << 20, 64
SLOWER, NOISE = 10, 0.2
# A process of its own, as the peak of a process is never below that of the one it was forked from.
MEASURE = """
import os, resource, sys
pid = os.fork()
if pid == 0:
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    os.execv(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime)
"""


def measure(*words):
    """Exit status, peak of memory in bytes, and processor time."""
    # Meson sets what makes malloc write to all memory, used or not.
    env = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}
    done = subprocess.run([sys.executable, "-I", "-S", "-c", MEASURE, *map(str, words)], capture_output=True, text=True, check=True, env=env)
    status, peak, seconds = done.stdout.split()
    return int(status), int(peak), float(seconds)


# ---- pprof ----


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def message(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def scalar(field, number):
    return varint(field << 3) + varint(number)


def sample(locations, values=(1,)):
    return message(2, message(1, b"".join(map(varint, locations))) + message(2, b"".join(map(varint, values))))


def location(number, lines=1):
    return message(4, scalar(1, number) + message(4, scalar(1, 1)) * lines)


TYPE = message(1, scalar(1, 1) + scalar(2, 2))
BASE = message(6, b"") + message(6, b"samples") + message(6, b"count") + message(5, scalar(1, 1) + scalar(2, 1))


def pprof_contexts(scale):
    """A location of many lines below many roots: as many contexts as are allowed."""
    roots = b"".join(message(4, scalar(1, i + 2) + scalar(3, i + 1)) for i in range(60))
    return gzip.compress(TYPE + BASE + location(1, 1000 * scale) + roots + b"".join(sample([1, i + 2]) for i in range(60)), 9)


def pprof_beyond(scale):
    """The same with more roots: refused."""
    roots = b"".join(message(4, scalar(1, i + 2) + scalar(3, i + 1)) for i in range(400))
    return gzip.compress(TYPE + BASE + location(1, 1000 * scale) + roots + b"".join(sample([1, i + 2]) for i in range(400)), 9)


def pprof_visits(scale):
    """Roots that are the same function: the same long path, again and again."""
    roots = b"".join(location(i + 2) for i in range(500 * scale))
    return gzip.compress(TYPE + BASE + location(1, 10000 * scale) + roots + b"".join(sample([1, i + 2]) for i in range(500 * scale)), 9)


def pprof_deep(scale):
    return gzip.compress(TYPE + BASE + location(1) + message(2, message(1, b"\1" * 1000000 * scale) + message(2, b"\1")), 9)


def pprof_strings(scale):
    return TYPE + BASE + message(6, b"") * 60000 * scale + location(1) + sample([1])


def pprof_types(scale):
    """Sample types of one name, and a deep stack with a value of each."""
    count = 250 * scale
    return TYPE * count + BASE + location(1) + sample([1] * 250 * scale, [1] * count)


def pprof_names(scale):
    """Functions that share a long name, and mappings that do."""
    count = 3000 * scale
    names = message(6, b"/lib/x.so" + b"y/" * 50000 * scale)
    functions = b"".join(message(5, scalar(1, i + 2) + scalar(2, 3) + scalar(5, i)) for i in range(count))
    mappings = b"".join(message(3, scalar(1, i + 1) + scalar(2, i * 16) + scalar(3, i * 16 + 16) + scalar(5, 3)) for i in range(count))
    lines = b"".join(message(4, scalar(1, i + 1) + message(4, scalar(1, i + 2))) for i in range(count))
    places = b"".join(message(4, scalar(1, count + i + 1) + scalar(2, i + 1) + scalar(3, i * 16 + 1)) for i in range(count))
    return TYPE + BASE + names + functions + mappings + lines + places + b"".join(sample([i + 1]) for i in range(count * 2))


@functools.cache
def pprof_labels(scale):
    """Labels that share a long key and have a number each, 100 of them in a sample: 300,000 and 900 KB in the larger size."""
    labels = [b"\x1a\x06\x08\x03\x18" + bytes((i & 127 | 128, i >> 7 & 127 | 128, i >> 14)) for i in range(1 << 14, (1 << 14) + 75000 * scale)]
    samples = (message(2, b"\x0a\x01\x01\x12\x01\x01" + b"".join(labels[i:i + 100])) for i in range(0, len(labels), 100))
    return TYPE + BASE + message(6, b"k" * 225000 * scale) + location(1) + b"".join(samples)


def pprof_labels_packed(scale):
    return gzip.compress(pprof_labels(scale), 6)


def pprof_binary(folder, _, scale):
    """Mappings of a binary beside the profile, whose sections all are the same notes without a build id."""
    sections, mappings, notes = 10000 * scale, 5 * scale, bytes(65000)
    rows = struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 64, 16, 0, 0, 1, 0) + struct.pack("<IIQQQQIIQQ", 0, 7, 0, 0, 64, len(notes), 0, 0, 1, 0) * (sections - 1)
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64 + len(notes), 0, 64, 56, 0, 64, sections, 0)
    (folder / "program").write_bytes(header + notes + rows)
    words = message(6, b"/nowhere/program") + message(6, b"0123456789abcdef0123456789abcdef01234567")
    mapped = b"".join(message(3, scalar(1, i) + scalar(5, 3) + scalar(6, 4)) + message(4, scalar(1, i) + scalar(2, i) + scalar(3, i)) for i in range(1, mappings + 1))
    (folder / "x.pb").write_bytes(TYPE + BASE + words + mapped + sample([1]))
    return folder / "x.pb"


# ---- folded stacks ----


def folded_tree(scale):
    return b"".join(b"%x;" % i + b"f;" * 500 + b" 1\n" for i in range(100 * scale))


def folded_packed(scale):
    return gzip.compress(b"".join(b"%x;" % i + b"f;" * 500 + b" 1\n" for i in range(100 * scale)), 9)


def folded_names(scale):
    return b";".join(b"%x" % i for i in range(15000 * scale)) + b" 1\n"


def zeros(scale):
    return gzip.compress(bytes(10000000 * scale), 9)


# ---- stores that are directories ----


def uftrace_calls(folder, lode, scale):
    """Nested calls of functions without a name, each of which is a context of its own."""
    subprocess.run([lode, "example", folder / "made"], check=True, capture_output=True)
    store, time, records = folder / "made" / "thumbs", 1000000000, []
    for i in range(4 * scale):
        for depth, kind in [(depth, 0) for depth in range(1000)] + [(depth, 1) for depth in reversed(range(1000))]:
            time += 1000
            records.append(struct.pack("<QQ", time, kind | 5 << 3 | depth << 6 | (0x400000 + (i * 1000 + depth) * 16) << 16))
    (store / "4712.dat").write_bytes(b"".join(records))
    return store


def zorka_calls(folder, lode, scale):
    source = uftrace_calls(folder, lode, scale)
    subprocess.run([lode, "convert", source, "-o", folder / "zorka", "--format", "zorka"], check=True, capture_output=True)
    return folder / "zorka"


def database(folder, lode, scale, *options):
    (folder / "x.folded").write_bytes(b"".join(b"%x;" % i + b"f;" * 500 + b" 1\n" for i in range(15 * scale)))
    subprocess.run([lode, "convert", folder / "x.folded", "-o", folder / "database", *options], check=True, capture_output=True)
    return folder / "database"


def database_shared(folder, lode, scale):
    """Profiles that share one block of values."""
    (folder / "x.folded").write_bytes(folded_tree(1))
    subprocess.run([lode, "convert", folder / "x.folded", "-o", folder / "database"], check=True, capture_output=True)
    path = folder / "database" / "profile.db"
    data = bytearray(path.read_bytes())
    end, data = data[-8:], data[:-8]
    start, count, size = struct.unpack_from("<QIB", data, struct.unpack_from("<Q", data, 24)[0])
    records = [bytes(data[start + i * size:start + (i + 1) * size]) for i in range(count)]
    data += bytes(-len(data) % 8)
    new = struct.pack("<QIB3x", len(data) + 16, 2000 * scale + 1, size) + records[0] + records[1] * 2000 * scale
    struct.pack_into("<QQ", data, 16, len(new), len(data))
    path.write_bytes(data + new + end)
    return folder / "database"


def draft_xml(folder, lode, scale):
    return database(folder, lode, scale, "--format", "hpctoolkit-draft-xml")


def draft_metadb(folder, lode, scale):
    return database(folder, lode, scale, "--format", "hpctoolkit-draft-metadb")


def measured(folder, kernel=None, structure=None, nodes=3000):
    """One profile, of a chain of calls in a program or in the kernel."""
    program = "kernel_symbols/vmlinux.abc" if kernel else "/bin/made"
    made = [made_measurements.Node(2, 0, 0, made_measurements.PRIMARY), made_measurements.Node(4, 2, 0, made_measurements.MAIN_THREAD)]
    made += [made_measurements.Node(6 + 2 * i, made[-1].id if i == 0 else 4 + 2 * i, 1, 0x1000 + 4 * i, {0: 1.0}) for i in range(nodes)]
    store = folder / "measured"
    store.mkdir()
    profile = made_measurements.Measured(made, modules=(program,))
    ids = (made_measurements.NODE, 0xabc, 0), (made_measurements.RANK, 0, 0)
    (store / "made-000000-000-00000abc-7-0.hpcrun").write_bytes(profile.profile(*ids))
    for name, data in (("kernel_symbols/vmlinux.abc", kernel), ("structs/made-0.hpcstruct", structure)):
        if data:
            (store / name).parent.mkdir()
            (store / name).write_bytes(data)
    return store


def measured_calls(folder, _, scale):
    return measured(folder, nodes=3000 * scale)


def measured_kernel(folder, _, scale):
    """Many short lines of kernel symbols, in few bytes."""
    return measured(folder, lzma.compress(b"0 t a\n" * 250000 * scale), nodes=10)


def measured_structure(folder, _, scale):
    """A program structure of many short elements."""
    begin = b'<?xml version="1.0"?>\n<!DOCTYPE HPCToolkitStructure [\n]>\n<HPCToolkitStructure i="0" version="4.9" n="">\n'
    body = b"".join(b'<P i="%d" n="f" l="1" v="{[0x%x-0x%x)}"></P>' % (i, 4096 + 4 * i, 4100 + 4 * i) for i in range(4000 * scale))
    return measured(folder, None, begin + b'<LM i="1" n="/bin/made" v="{}"><F i="2" n="a.c">' + body + b"</F></LM></HPCToolkitStructure>\n",
                    nodes=10)


# ---- small files and arguments ----


def solver(folder, lode, _):
    subprocess.run([lode, "example", folder / "made"], check=True, capture_output=True)
    return folder / "made" / "solver"


def formula(folder, lode, scale):
    (folder / "text").write_text("(" * 500 * scale + "$0" + ")" * 500 * scale)
    return solver(folder, lode, scale)


def kinds(folder, lode, scale):
    (folder / "text").write_text("".join(f"file lib*x f{i}*x\n" for i in range(2000 * scale)))
    return solver(folder, lode, scale)


def limits(folder, lode, scale):
    (folder / "text").write_text("".join(f"absent f{i}*x\n" for i in range(60 * scale)))
    return solver(folder, lode, scale)


def taxonomy(folder, lode, scale):
    store = solver(folder, lode, scale)
    (store / "metrics" / "default.yaml").write_text("version: 0\ninputs:\n" + "".join(f"  - &i{i} [[*i0]]\n" for i in range(5000 * scale)))
    return store


READ, ALL = ("check", "top"), ("check", "convert", "slice")
# Format, what it is, name of the file or how the store is made, commands, whether it is refused.
CASES = (
    ("pprof", "contexts", "x.pb.gz", pprof_contexts, ALL, False),
    ("pprof", "contexts, too many", "x.pb.gz", pprof_beyond, ("check",), True),
    ("pprof", "visits", "x.pb.gz", pprof_visits, ALL, False),
    ("pprof", "a deep stack", "x.pb.gz", pprof_deep, ALL, False),
    ("pprof", "strings", "x.pb", pprof_strings, ("check",), None),
    ("pprof", "values", "x.pb", pprof_types, ("check",), None),
    ("pprof", "shared names", "x.pb", pprof_names, ("top",), False),
    ("pprof", "labels", "x.pb", pprof_labels, ("export",), False),
    ("pprof", "labels, packed", "x.pb.gz", pprof_labels_packed, ("export",), False),
    ("pprof", "zeros", "x.pb.gz", zeros, ("check",), True),
    ("pprof", "a binary of notes", None, pprof_binary, ("top",), False),
    ("folded", "contexts", "x.folded", folded_tree, ALL, False),
    ("folded", "contexts, packed", "x.folded.gz", folded_packed, ALL, False),
    ("folded", "names", "x.folded", folded_names, READ, False),
    ("folded", "zeros", "x.folded.gz", zeros, ("check",), True),
    ("uftrace", "contexts", None, uftrace_calls, READ, False),
    ("zorka", "calls", None, zorka_calls, READ, False),
    ("hpcrun", "calls", None, measured_calls, ("check", "build"), False),
    ("hpcrun", "kernel symbols", None, measured_kernel, ("check", "build"), None),
    ("hpcrun", "program structure", None, measured_structure, ("check", "build"), False),
    ("hpctoolkit", "contexts", None, database, READ, False),
    ("hpctoolkit", "shared blocks", None, database_shared, ("check", "top"), None),
    ("hpctoolkit", "metrics/default.yaml", None, taxonomy, ("check", "top"), None),
    ("arguments", "a formula", None, formula, ("formula",), None),
    ("arguments", "--kinds", None, kinds, ("kinds",), None),
    ("arguments", "--limits", None, limits, ("limits",), None),
    ("draft, XML", "contexts", None, draft_xml, READ, False),
    ("draft, meta.db", "contexts", None, draft_metadb, READ, False),
)


def size_of(path):
    return path.stat().st_size if path.is_file() else sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def make(case, folder, lode, scale):
    _, _, name, build, _, _ = case
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    if name is None:
        return build(folder, lode, scale)
    (folder / name).write_bytes(build(scale))
    return folder / name


def arguments(command, store, folder):
    if command in ("convert", "slice", "build"):
        return [command, store, "-o", folder / f"out-{command}"]
    if command == "export":
        return ["export", store, "-o", folder / "out.pb.gz"]
    special = {"formula": ["top", "-m", "{}", store], "kinds": ["diagnose", "--kinds", folder / "text", store],
               "limits": ["gate", "--limits", folder / "text", store, store]}
    words = special.get(command, [command, store])
    return [(folder / "text").read_text() if word == "{}" else word for word in words]


def judge(tap, case, lode, folder, scale, empty):
    form, what, _, _, commands, refused = case
    times, wrong, status = {}, [], 0
    for factor in (1, 4):
        store = make(case, folder, lode, scale * factor)
        size = size_of(store) + (size_of(folder / "text") if (folder / "text").exists() else 0)
        for command in commands:
            status, peak, seconds = measure(lode, *arguments(command, store, folder))
            memory = max(0, peak - empty)
            most = FLOOR + FACTOR * size
            if memory > most:
                wrong.append(f"{command}: {memory:,} bytes of memory for {size:,} of input; at most {most:,}")
            if status not in (0, 1, 2):
                wrong.append(f"{command}: exit status {status}")
            times.setdefault(command, []).append(seconds)
            tap.note(f"{form}, {what}, {command}: {size:,} bytes, {memory / 2**20:.1f} MiB, {memory / size:,.0f} times, {seconds:.2f} s")
    wrong += [f"{command}: {large:.2f} s instead of {small:.2f} s for four times the input" for command, (small, large) in times.items()
              if large > SLOWER * small + NOISE]
    if refused is not None and (status != 0) != refused:
        wrong.append(f"exit status {status}")
    tap.check(not wrong, f"{form}: {what}", wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True, type=Path)
    parser.add_argument("--scale", type=int, default=1, help="inputs that are so many times as large")
    options = parser.parse_args()
    tap = Tap()
    if "LODE_TEST_SANITIZED" in os.environ or "ASAN_OPTIONS" in os.environ:
        tap.skip("amplification", "sanitizers need memory of their own")
        return tap.finish()
    empty = measure(options.lode, "--version")[1]
    with tempfile.TemporaryDirectory() as scratch:
        for case in CASES:
            judge(tap, case, options.lode, Path(scratch) / "case", options.scale, empty)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
