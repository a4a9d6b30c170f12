#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Exports of a timeline: time, memory and size for recordings of several lengths, against a bare write of as many bytes, and against
`uftrace dump --chrome`. usage: timeline.py --lode PROGRAM [--records N] [--folder DIRECTORY]
"""

import argparse
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

CHUNK = 256 * 1024


def measured(words, output=None):
    """(wall, processor seconds, peak memory in MB) of a program."""
    begin = time.monotonic()
    with open(output or os.devnull, "wb") as sink:
        process = subprocess.Popen([*map(str, words)], stdout=sink, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    if status:
        raise SystemExit(f"{words}: {status}")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def bare_write(path, size):
    """(wall, processor seconds) of writing as many bytes, and of making them durable, as an export does."""
    data, begin, before = os.urandom(CHUNK), time.monotonic(), time.process_time()
    with open(path, "wb", buffering=0) as file:
        for _ in range(size // CHUNK):
            file.write(data)
        file.write(data[:size % CHUNK])
        os.fsync(file.fileno())
    return time.monotonic() - begin, time.process_time() - before


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--records", type=int, default=50_000_000)
    parser.add_argument("--tasks", type=int, default=16)
    parser.add_argument("--folder")
    parser.add_argument("--no-uftrace", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        for records in (options.records // 10, options.records):
            store, out = folder / "r.data", folder / "out"
            shutil.rmtree(store, ignore_errors=True)
            subprocess.run([options.lode, "synth", "recording", "--records", str(records), "--tasks", str(options.tasks), "-o", str(store)],
                           check=True, stdout=subprocess.DEVNULL)
            for format in ("perfetto", "chrome"):
                for threads in (1, 0):
                    wall, busy, memory = measured([options.lode, "export", store, "--format", format, "--threads", threads, "-f", "-o", out])
                    size = out.stat().st_size
                    bare, bare_busy = bare_write(folder / "bare", size)
                    print(f"{records:,} events, {format}, {threads or 'all'} threads: {wall:.2f} s, {busy:.2f} s of processor time, {memory:.0f} MB, "
                          f"{size / 1e6:.0f} MB written ({size / records:.1f} bytes per event), bare write {bare:.2f} s ({bare_busy:.2f} s)", flush=True)
        if not options.no_uftrace and shutil.which("uftrace"):
            wall, busy, memory = measured(["uftrace", "dump", "--chrome", "--no-pager", "-d", store], folder / "peer")
            print(f"{records:,} events, uftrace dump --chrome: {wall:.2f} s, {busy:.2f} s of processor time, {memory:.0f} MB, "
                  f"{(folder / 'peer').stat().st_size / 1e6:.0f} MB", flush=True)


if __name__ == "__main__":
    main()
