#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Values of databases as Parquet, beside bare compression by zstd of the same bytes: time, and memory for ever more values.

Usage: tables.py BUILD_DIRECTORY [--profiles N,N...] [--contexts N] [--threads N] [--assert FACTOR]

Bare compression takes the file that Lode writes without compression, in pieces of 1 MiB and at the same level. With --assert,
prints TAP and fails if the export takes more than FACTOR times as long, or if memory grows with values; times are then processor
time.
"""
import argparse
import json
import os
import shutil
import sys
import tempfile

from measure import run_once, use_processor_time

REPEATS = 3
# MiB by which memory may differ between sizes: the footer, and what the allocator keeps.
SLACK = 16
LEVEL = 1
BARE = """
import ctypes, ctypes.util, sys
zstd = ctypes.CDLL(ctypes.util.find_library("zstd"))
zstd.ZSTD_compress.restype = ctypes.c_size_t
zstd.ZSTD_compressBound.restype = ctypes.c_size_t
room = zstd.ZSTD_compressBound(ctypes.c_size_t(1 << 20))
out = ctypes.create_string_buffer(room)
total = 0
with open(sys.argv[1], "rb") as file, open(sys.argv[2], "wb") as packed:
    while piece := file.read(1 << 20):
        size = zstd.ZSTD_compress(out, ctypes.c_size_t(room), piece, ctypes.c_size_t(len(piece)), int(sys.argv[3]))
        packed.write(memoryview(out)[:size])
        total += size
print(total)
"""


def best(command, fresh, repeats):
    found = []
    for _ in range(repeats):
        if os.path.exists(fresh):
            os.remove(fresh)
        found.append(run_once(command))
    return min(f[0] for f in found), max(f[1] for f in found), found[0][2]


def measure(options, folder, profiles):
    """(ratio to bare compression, MiB of memory)"""
    lode = os.path.join(options.build, "src/cli/lode")
    store, plain, packed, bare = (os.path.join(folder, name) for name in ("db", "plain.parquet", "packed.parquet", "bare.zst"))
    run_once([lode, "synth", "database", "--profiles", str(profiles), "--contexts", str(options.contexts), "--samples", "0", "--seed", "7",
              "--memory", "1G", "-o", store])
    common = [lode, "export", store, "--format", "parquet", "--table", "value", "--threads", str(options.threads)]
    repeats = 1 if profiles * options.contexts > 2e7 else REPEATS
    without, _, _ = best([*common, "--compression", "none", "-o", plain], plain, repeats)
    zstd, _, _ = best([sys.executable, "-c", BARE, plain, bare, str(LEVEL)], bare, repeats)
    seconds, memory, _ = best([*common, "-o", packed], packed, repeats)
    rows = json.loads(run_once([lode, "info", store, "--json"])[2])["profiles"]["values"]
    size, small = os.path.getsize(plain), os.path.getsize(packed)
    print(f"# {profiles} profiles, {rows} values: exported in {seconds:.2f} s with {memory:.0f} MiB of anonymous memory, {small / 2**20:.0f} MiB;"
          f" {without:.2f} s without compression, {size / 2**20:.0f} MiB; zstd of these alone {zstd:.2f} s")
    sys.stdout.flush()
    for path in (plain, packed, bare):
        os.remove(path)
    shutil.rmtree(store)
    return seconds / zstd, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--profiles", default="1000,10000")
    parser.add_argument("--contexts", type=int, default=10000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--assert", dest="factor", type=float)
    options = parser.parse_args()
    if options.factor is not None:
        use_processor_time()
    found = []
    with tempfile.TemporaryDirectory(prefix="lode-bench-", dir=os.environ.get("LODE_BENCH_DIR")) as folder:
        for profiles in options.profiles.split(","):
            found.append(measure(options, folder, int(profiles)))
    if options.factor is None:
        return 0
    worst, memories = max(ratio for ratio, _ in found), [memory for _, memory in found]
    is_fast, is_bounded = worst <= options.factor, max(memories) <= min(memories) + SLACK
    print(f"{'ok' if is_fast else 'not ok'} 1 - Parquet takes {worst:.2f} times bare compression")
    print(f"{'ok' if is_bounded else 'not ok'} 2 - memory does not grow with values: {', '.join(f'{m:.0f}' for m in memories)} MiB")
    print("1..2")
    return 0 if is_fast and is_bounded else 1


if __name__ == "__main__":
    sys.exit(main())
