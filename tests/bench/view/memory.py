#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The memory of `lode view` over many requests: memory.py --lode PROGRAM [--requests N] [--memory SIZE] [--store DIRECTORY].
Two clients ask for all that the page asks for, with other options each time, so that no answer is known already. Prints the memory of
the server as it grows, and fails if it grows by more than a tenth of --memory after the first tenth of the requests.
"""

import argparse
import http.client
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "view" / "server"))

from serving import Server  # noqa: E402

MARKS = (100, 1000, 2500, 5000, 10000, 25000, 50000, 75000, 100000)
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def requests(number):
    """All differ, and so do the results that they need: metrics, time windows, profiles, filters, sizes."""
    return (f"top/0?limit={number}", f"tree/0?min-percent={number / 1e6:.6f}", f"flame/0?width={200 + number % 8000}&depth={number % 60 + 1}", f"profiles/0?limit={number}&bins={number % 200 + 1}",
            f"search/0?text=a&limit={number}", f"trace/0?columns={number % 2000 + 1}&rows={number % 97 + 1}", f"top/0?exclude=x{number}", f"tree/0?bottom-up=&limit={number}",
            f"profiles/0?profiles=rank%3D{number % 4}&limit={number}", f"trace/0?from={number % 50}ms&columns={number % 50 + 1}")


def resident(server):
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{server.process.pid}/status").read_text()).group(1)) / 1024


def ask(server, first, count, statuses):
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    for number in range(first, first + count):
        link.request("GET", "/api/1/" + requests(number)[number % 10], headers={"Authorization": f"Bearer {server.token}", "Accept-Encoding": "gzip" if number % 3 else "identity"})
        answer = link.getresponse()
        answer.read()
        statuses[answer.status] = statuses.get(answer.status, 0) + 1
    link.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, type=lambda text: Path(text).resolve())
    parser.add_argument("--requests", type=int, default=100000)
    parser.add_argument("--memory", default="32M")
    parser.add_argument("--store", type=Path)
    asked = parser.parse_args()
    curve, done, statuses = [], 0, {}
    with tempfile.TemporaryDirectory() as scratch:
        store = asked.store or Path(scratch) / "db"
        if not asked.store:
            subprocess.run([asked.lode, "synth", "database", "--profiles", "8", "--contexts", "600", "--density", "0.2", "--samples", "50", "-o", store], check=True, capture_output=True)
        with Server(asked.lode, store, "--memory", asked.memory) as server:
            server.wait_until_open()
            print(f"open: {resident(server):.1f} MiB", flush=True)
            for mark in [mark for mark in MARKS if mark < asked.requests] + [asked.requests]:
                half = (mark - done) // 2
                clients = [threading.Thread(target=ask, args=(server, done, half, statuses)), threading.Thread(target=ask, args=(server, done + half, mark - done - half, statuses))]
                for client in clients:
                    client.start()
                for client in clients:
                    client.join()
                done = mark
                curve.append((done, resident(server)))
                print(f"{done} requests: {curve[-1][1]:.1f} MiB", flush=True)
            server.stop()
    print(f"answers by status: {statuses}")
    full = next(size for mark, size in curve if mark >= asked.requests / 10)
    most = int(asked.memory[:-1]) * UNITS[asked.memory[-1]] / UNITS["M"] / 10
    print(f"grown by {curve[-1][1] - full:.1f} MiB since the first tenth; {most:.1f} are allowed")
    return 0 if curve[-1][1] - full <= most else 1


if __name__ == "__main__":
    sys.exit(main())
