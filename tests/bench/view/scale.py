#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What each request of the page costs the server of `lode view`: scale.py --lode PROGRAM STORE [--memory SIZE] [--only TEXT].

For each request of each view, in the order in which a reader comes to them: processor time and wall-clock time in
milliseconds of the first answer, of a later answer that needs the same data in another order or part, and of the same answer
again. Then anonymous memory, and a bare pass over the store's bytes, to which times are compared. "!" marks later tables and
flame graphs of more than 50 ms of processor time.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "view" / "server"))

from serving import Server  # noqa: E402

BUDGET_MS = 50
PICTURE = {"merge": "", "rows": "300", "columns": "1000", "limit": "0"}
MINI_MAP = {**PICTURE, "probes": "", "rows": "28"}


def processor_ms(process):
    """Of all threads that live, and of those that ended; finer than the ticks of /proc/PID/stat."""
    tasks = Path(f"/proc/{process}/task")
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) / 1e6


def memory_mib(process, name):
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.search(rf"{name}:\s+(\d+)", status).group(1)) / 1024


class Bench:
    def __init__(self, server, asked):
        self.server, self.asked, self.link = server, asked, server.connection()
        self.peak = 0
        print(f"{'request':58} {'cpu ms':>9} {'ms':>9} {'again':>7} {'kB':>7}")

    def ask(self, name, options):
        process = self.server.process.pid
        before, begun = processor_ms(process), time.perf_counter()
        answer = self.server.command((name, 0, options), connection=self.link)
        passed = (time.perf_counter() - begun) * 1000
        self.peak = max(self.peak, memory_mib(process, "RssAnon"))
        return answer, processor_ms(process) - before, passed

    def note(self, name, options, is_first=False):
        """`is_first`: an answer that may take longer, since it computes what later ones use."""
        words = " ".join([name] + [f"{key}={value}" if value else key for key, value in options.items()])
        if self.asked.only and self.asked.only not in words:
            return None
        try:
            answer, cpu, wall = self.ask(name, options)
        except TimeoutError:
            # The answer is for nobody: the server gives the work up.
            self.link = self.server.connection()
            print(f"{words[:58]:58} given up")
            return None
        _, again, _ = self.ask(name, options)
        mark = "!" if not is_first and min(cpu, wall) > BUDGET_MS else " "
        print(f"{words[:58]:58} {cpu:9.1f}{mark}{wall:9.1f} {again:7.2f} {len(answer.body) / 1000:7.0f}{'' if answer.status == 200 else f' status {answer.status} {answer.body[:200]}'}", flush=True)
        return answer.json() if answer.status == 200 else None


def overview(bench):
    bench.note("info", {}, True)
    bench.note("top", {"limit": "12"}, True)
    bench.note("tree", {"min-percent": "1", "limit": "1000"}, True)
    bench.note("profiles", {"limit": "5"}, True)


def functions(bench, is_database):
    for group in ("module", "kind", "line", "loop", "file") if is_database else ("kind", "symbol"):
        bench.note("top", {"by": group, "limit": "200"}, True)
    found = bench.note("top", {"limit": "200"})
    orders = ("inclusive", "name") if is_database else ("inclusive", "name", "calls", "mean", "max", "p99")
    for order in orders:
        bench.note("top", {"sort": order, "limit": "200"})
    if is_database:
        bench.note("top", {"by": "line", "sort": "inclusive", "limit": "200"})
        bench.note("top", {"by": "line", "sort": "name", "limit": "200"})
    bench.note("top", {"include": "*1*", "limit": "200"})
    bench.note("top", {"exclude": "*1*", "limit": "200"})
    return [row["name"] for row in found["rows"]] if found else ["main"]


def trees(bench, names):
    bench.note("tree", {"min-percent": "0.1", "limit": "1000"})
    found = bench.note("tree", {"min-percent": "0", "limit": "1000"})
    context = next((str(row["context"]) for row in (found or {}).get("rows", [])[3:] if row.get("context") is not None), None)
    bench.note("tree", {"bottom-up": "", "min-percent": "1", "limit": "1000"}, True)
    bench.note("tree", {"bottom-up": "", "min-percent": "0.1", "limit": "1000"})
    bench.note("tree", {"callers": names[0], "min-percent": "1", "limit": "1000"})
    bench.note("tree", {"focus": names[0], "min-percent": "1", "limit": "1000"})
    bench.note("tree", {"include": "*1*", "min-percent": "1", "limit": "1000"})
    return context


def flames(bench, names, context):
    bench.note("flame", {"width": "1000"})
    bench.note("flame", {"bottom-up": "", "width": "1000"})
    bench.note("flame", {"function": names[0], "width": "1000"})
    bench.note("flame", {"focus": names[0], "width": "1000"})
    if context:
        bench.note("flame", {"root": context, "width": "1000"})


def times(bench, store, is_database):
    bench.note("trace", MINI_MAP)
    bench.note("trace", {**PICTURE, "probes": ""})
    span = int(store["end_ns"]) - int(store["begin_ns"])
    window = {"from": f"{span // 2}ns", "to": f"{span // 2 + span // 1000}ns"}
    bench.note("trace", {**PICTURE, "probes": "", **window})
    bench.note("trace", {**PICTURE, **window})
    which = {"profiles": "profile=1"} if is_database else {}
    bench.note("trace", {"at": f"{span // 2}ns", **which, "rows": "1"})
    bench.note("trace", PICTURE, True)
    bench.note("trace", {**PICTURE, "depth": "3", "probes": ""})


def others(bench, names, context, is_database):
    if not is_database:
        return
    bench.note("context", {"context": context or "0"})
    bench.note("profiles", {"sort": "name", "bins": "200", "limit": "200"}, True)
    bench.note("profiles", {"sort": "value", "bins": "200", "limit": "200"})
    bench.note("profiles", {"function": names[0], "limit": "5"})
    bench.note("profiles", {"function": names[1 % len(names)], "limit": "5"})
    bench.note("search", {"text": names[0][:6], "limit": "16"}, True)
    bench.note("search", {"text": "1", "limit": "16"})
    bench.note("search", {"text": names[0], "limit": "16"})


def requests(bench):
    found = bench.note("search", {"sort": "duration", "limit": "200"}, True)
    bench.note("search", {"sort": "time", "limit": "200"})
    bench.note("search", {"min-duration": "1ms", "sort": "duration", "limit": "200"})
    bench.note("search", {"text": "a", "sort": "duration", "limit": "200"}, True)
    if found and found["rows"]:
        bench.note("replay", {"id": str(found["rows"][0]["id"]), "limit": "2000"})


def walk(bench, server):
    store = server.session()["stores"][0]
    is_database = store["kind"] == "database"
    overview(bench)
    names = functions(bench, is_database)
    context = trees(bench, names)
    flames(bench, names, context)
    if store.get("has_requests"):
        requests(bench)
    elif "begin_ns" in store:
        times(bench, store, is_database)
    others(bench, names, context, is_database)


def starts(asked):
    """Until the link is printed: the least of several, by the clock and of the processor."""
    found = []
    for _ in range(5):
        begun = time.perf_counter()
        with Server(asked.lode, asked.store) as server:
            passed = (time.perf_counter() - begun) * 1000
            found.append((passed, processor_ms(server.process.pid)))
            server.stop()
    print(f"link printed after {min(wall for wall, _ in found):.1f} ms, {min(cpu for _, cpu in found):.1f} ms of processor time")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, type=lambda text: Path(text).resolve())
    parser.add_argument("--memory")
    parser.add_argument("--only", help="requests with this text")
    parser.add_argument("store", type=Path)
    asked = parser.parse_args()
    starts(asked)
    begun = time.perf_counter()
    with Server(asked.lode, asked.store, *(["--memory", asked.memory] if asked.memory else [])) as server:
        server.wait_until_open()
        process = server.process.pid
        print(f"open after {(time.perf_counter() - begun) * 1000:.0f} ms, {processor_ms(process):.0f} ms of processor time, {memory_mib(process, 'RssAnon'):.0f} MiB")
        bench = Bench(server, asked)
        walk(bench, server)
        print(f"anonymous memory: at most {bench.peak:.0f} MiB between answers, {memory_mib(process, 'RssAnon'):.0f} MiB at the end")
        server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
