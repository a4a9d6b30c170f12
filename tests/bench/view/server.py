#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
How long the server of `lode view` takes: server.py --lode PROGRAM [--profiles N] [--contexts N] [--store DIRECTORY].
Prints milliseconds, the least of several: until it listens, until a store is open, the first answer of each command, an
answer from other options with the same costs, and one that is cached. And the memory of the server.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "view" / "server"))

from serving import Server  # noqa: E402

REQUESTS = (("info", {}, {"verbose": ""}), ("top", {}, {"limit": "50", "sort": "inclusive"}), ("tree", {}, {"depth": "3"}), ("tree", {"bottom-up": ""}, {"bottom-up": "", "limit": "20"}),
            ("context", {"context": "0"}, {"context": "1"}), ("profiles", {"limit": "50"}, {"bins": "100"}), ("search", {"text": "a"}, {"text": "b"}))


def milliseconds(work, repeats=1):
    best = None
    for _ in range(repeats):
        begun = time.perf_counter()
        result = work()
        passed = (time.perf_counter() - begun) * 1000
        best = passed if best is None else min(best, passed)
    return best, result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, type=lambda text: Path(text).resolve())
    parser.add_argument("--profiles", type=int, default=1000)
    parser.add_argument("--contexts", type=int, default=200000)
    parser.add_argument("--store", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        store = asked.store or Path(scratch) / "db"
        if not asked.store:
            subprocess.run([asked.lode, "synth", "database", "--profiles", str(asked.profiles), "--contexts", str(asked.contexts), "--density", "0.01", "-o", store], check=True, capture_output=True)
        starts = []
        for _ in range(5):
            passed, server = milliseconds(lambda: Server(asked.lode, store))
            with server:
                starts.append(passed)
        print(f"link printed after {min(starts):.0f} ms")
        with Server(asked.lode, store) as server:
            print(f"open after {milliseconds(server.wait_until_open)[0]:.0f} ms")
            for name, first, other in REQUESTS:
                cold, answer = milliseconds(lambda: server.command((name, 0, first)))
                warm, second = milliseconds(lambda: server.command((name, 0, other)))
                again, _ = milliseconds(lambda: server.command((name, 0, first)), 10)
                print(f"{name} {first}: first {cold:.1f} ms, other options {warm:.1f} ms, again {again:.2f} ms ({answer.status}, {second.status}, {len(answer.body)} bytes)")
            memory = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{server.process.pid}/status").read_text()).group(1)
            print(f"memory at most {int(memory) // 1024} MiB")
            server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
