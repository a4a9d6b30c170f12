#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Profiles that share one block do not make a small database a large one: convert and sums over profiles refuse it."""

import argparse
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
from tap import Tap  # noqa: E402

COPIES = 2000


def share_blocks(path):
    """Puts a new table of profiles behind the file: the summary, and the first profile many times."""
    data = bytearray(path.read_bytes())
    footer = data[-8:]
    del data[-8:]
    (section,) = struct.unpack_from("<Q", data, 24)
    first, _, size = struct.unpack_from("<QIB", data, section)
    data += bytes(-len(data) % 8)
    place = len(data)
    data += struct.pack("<QIB3x", place + 16, COPIES + 1, size) + data[first:first + size] + data[first + size:first + 2 * size] * COPIES
    struct.pack_into("<QQ", data, 16, len(data) - place, place)
    path.write_bytes(data + footer)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as place:
        store = Path(place) / "db"
        subprocess.run([options.lode, "synth", "database", "--profiles", "2", "--contexts", "3000", "-o", store], check=True)
        share_blocks(store / "profile.db")
        for words in ((), ("--to", "hpctoolkit-draft-xml"), ("--to", "hpctoolkit-draft-metadb")):
            done = subprocess.run([options.lode, "convert", *words, store, "-o", Path(place) / "new"], capture_output=True, check=False)
            text = done.stderr.decode()
            tap.check(done.returncode == 2 and "share their blocks" in text and not (Path(place) / "new").exists(),
                      f"convert {' '.join(words)} refuses {COPIES} profiles that share a block", [done.returncode, text])
        done = subprocess.run([options.lode, "top", "--profiles", "THREAD=0-9", store], capture_output=True, check=False)
        tap.check(done.returncode == 2 and b"share their blocks" in done.stderr, "a sum over such profiles is refused",
                  [done.returncode, done.stderr])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
