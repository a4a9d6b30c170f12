# SPDX-License-Identifier: BSD-3-Clause
"""What threads did, read from speedscope profiles, OTF2 archives and profiles for the Firefox Profiler. Archives need the package python3-otf2."""

import json
import re
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

OTF2_PYTHON = "/usr/bin/python3"  # that of the system has the package


class Bad(Exception):
    """What no reader should accept."""


class Speedscope:
    """Calls (begin, time, depth, name) of each evented profile; costs by frame of each sampled one."""

    def __init__(self, text):
        data = json.loads(text)
        self.frames = data["shared"]["frames"]
        found = re.search(r"\(time 0 is (\d+) ns\)$", data["name"])
        self.base = int(found.group(1)) if found else None
        self.lists, self.threads, self.sampled, self.events, self.ends = {}, {}, {}, 0, set()
        for number, profile in enumerate(data["profiles"]):
            key = (number, profile["name"])
            if profile["type"] == "evented":
                self.lists[key] = self._calls(profile)
                self.threads[key] = Counter(self.lists[key])
                self.ends.add((profile["startValue"], profile["endValue"]))
            else:
                self.sampled[key] = self._costs(profile)

    def _calls(self, profile):
        """In the order of their ends."""
        calls, stack, last = [], [], profile["startValue"]
        for event in profile["events"]:
            at = event["at"]
            if not isinstance(at, int) or at < last or at > profile["endValue"]:
                raise Bad(f"time {at} after {last}")
            last = at
            self.events += 1
            if event["type"] == "O":
                stack.append((event["frame"], at))
                continue
            frame, begin = stack.pop()
            if event["type"] != "C" or frame != event["frame"]:
                raise Bad(f"{event} ends frame {frame}")
            calls.append((self.base + begin, at - begin, len(stack), self.frames[frame]["name"]))
        if stack:
            raise Bad("a call never ends")
        return calls

    def _costs(self, profile):
        own, inclusive = Counter(), Counter()
        if len(profile["samples"]) != len(profile["weights"]):
            raise Bad("samples and weights")
        for stack, weight in zip(profile["samples"], profile["weights"]):
            if weight <= 0 or not isinstance(weight, int) or not stack:
                raise Bad(f"weight {weight} of {stack}")
            names = [self.frames[frame]["name"] for frame in stack]
            own[names[-1]] += weight
            for name in set(names):
                inclusive[name] += weight
        if sum(own.values()) != profile["endValue"]:
            raise Bad("the sum is not that of the weights")
        return own, inclusive, max(map(len, profile["samples"]), default=0)


def speedscope(tap, store, *options):
    path, said = tap.export(store, "speedscope", *options)
    trace = Speedscope(path.read_text("utf-8"))
    trace.path, trace.said = path, said
    return trace


class Otf2:
    """What the library of the format reads."""

    def __init__(self, path):
        done = subprocess.run([OTF2_PYTHON, str(Path(__file__).with_name("otf2_calls.py")), str(path / "traces.otf2")], capture_output=True, text=True, timeout=300)
        if done.returncode != 0 or done.stderr:
            raise Bad(done.stderr)
        data = json.loads(done.stdout)
        self.locations, self.regions, self.nodes = data["locations"], data["regions"], data["nodes"]
        self.lists = {(n, row["name"]): list(map(tuple, row["calls"])) for n, row in enumerate(self.locations)}
        self.threads = {key: Counter(calls) for key, calls in self.lists.items()}
        self.events = sum(row["events"] for row in self.locations)
        for row in self.locations:
            if row["events"] != row["declared"] or row["events"] != 2 * len(row["calls"]) + row["metrics"]:
                raise Bad(f"{row['name']}: {row['declared']} events are declared, {row['events']} are there")
        files = sorted(p.name for p in (path / "traces").iterdir())
        if files != sorted(f"{n}.{end}" for n in range(len(self.locations)) for end in ("def", "evt")):
            raise Bad(f"files {files[:9]}")


def otf2(tap, store, *options):
    path, said = tap.export(store, "otf2", *options)
    trace = Otf2(path)
    trace.path, trace.said = path, said
    return trace


def has_otf2(tap):
    """Whether this build writes archives, and somebody else reads them."""
    answer = subprocess.run([tap.lode, "export", "--list", "--json"], capture_output=True, text=True)
    is_there = any(f["name"] == "otf2" and f["is_available"] for f in json.loads(answer.stdout)["formats"])
    return is_there and subprocess.run([OTF2_PYTHON, "-c", "import otf2"], capture_output=True).returncode == 0


class Firefox:
    """Own and total time by function of each thread, from columns of samples and tables of the file."""

    def __init__(self, text):
        data = json.loads(text)
        self.meta, shared = data["meta"], data["shared"]
        for name in ("stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols", "sources"):
            self.whole(shared[name], name)
        stacks, functions, strings = shared["stackTable"], shared["funcTable"], shared["stringArray"]
        for index, prefix in enumerate(stacks["prefix"]):
            if prefix is not None and not 0 <= prefix < index:
                raise Bad(f"the prefix of stack {index} is {prefix}")
        names = [strings[functions["name"][shared["frameTable"]["func"][frame]]] for frame in stacks["frame"]]
        above = []
        for name, prefix in zip(names, stacks["prefix"]):
            above.append(frozenset([name]) | (above[prefix] if prefix is not None else frozenset()))
        self.names, self.threads = names, {}
        for number, thread in enumerate(data["threads"]):
            self.threads[(number, thread["name"])] = self._times(thread, names, above)
        self.rows = data["threads"]
        if sum(t["isMainThread"] for t in self.rows) != len({t["pid"] for t in self.rows}) or len({t["tid"] for t in self.rows}) != len(self.rows):
            raise Bad("main threads")

    @staticmethod
    def whole(table, name):
        wrong = [key for key, column in table.items() if isinstance(column, list) and len(column) != table["length"]]
        if wrong:
            raise Bad(f"{name}: columns {wrong} have another length")

    def _times(self, thread, names, above):
        samples = thread["samples"]
        self.whole(samples, "samples")
        self.whole(thread["markers"], "markers")
        found, at = defaultdict(lambda: [0, 0]), None
        for stack, time, weight in zip(samples["stack"], samples["time"], samples["weight"]):
            time, weight = round(time * 10 ** 6), round(weight * 10 ** 6)
            if at is not None and time != at:
                raise Bad(f"{time} is not the end of the sample before, {at}")
            at = time + weight
            if stack is None:
                continue
            found[names[stack]][1] += weight
            for name in above[stack]:
                found[name][0] += weight
        return {name: tuple(row) for name, row in found.items()}


def firefox(tap, store, *options):
    path, said = tap.export(store, "firefox", *options)
    trace = Firefox(path.read_text("utf-8"))
    trace.path, trace.said = path, said
    return trace
