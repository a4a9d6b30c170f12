# SPDX-License-Identifier: BSD-3-Clause
"""
Databases of programs whose every cost is known, for tests of `lode diagnose`: threads with ids and the time at each call path. In the shape of
tests/dump/expected.py, for db_write.py.
"""

from collections import defaultdict

KINDS = ["SUMMARY", "NODE", "RANK", "THREAD", "CORE", "GPUCONTEXT", "GPUSTREAM"]
SCOPES = [("point", "point", 255), ("function", "transitive", 0), ("execution", "execution", 255)]
PERIOD = 0.005  # seconds between samples

APP, LIBC, MPI, GOMP, CUDA = "/opt/app/solver", "/lib/libc.so.6", "/opt/mpi/libmpi.so.40", "/opt/gcc/libgomp.so.1", "/opt/cuda/libcudart.so.11"
MAIN = ((APP, "main"),)
REGION = MAIN + ((GOMP, "GOMP_parallel"), (APP, "solve._omp_fn.0"))
WORKER = ((GOMP, "gomp_thread_start"), (APP, "solve._omp_fn.0"))
WAIT = ((GOMP, "gomp_thread_start"), (GOMP, "gomp_team_barrier_wait_end"))
STARTED = ((None, None),)  # threads that the program starts itself: before their first function
KERNEL = MAIN + ((CUDA, "cudaLaunchKernel"), (None, "<gpu kernel>"))


class Thread:
    """
    `times`: seconds at each call path, a tuple of (module, function). `line`: from when to when there are samples; None: no trace line.
    `others`: by number of a further metric, its values at call paths. `samples`: pairs of time and call path, instead of regular ones.
    """

    def __init__(self, times, rank=None, thread=0, node=0, core=None, line=None, metric=0, others=None, samples=None):
        self.times, self.line, self.metric, self.others, self.samples = times, line or samples, metric, others or {}, samples
        self.ids = [("NODE", node)] + ([("RANK", rank)] if rank is not None else []) + [("THREAD", thread)] + ([("CORE", core)] if core is not None else [])


class Stream(Thread):
    """A stream of a GPU: `busy` are pairs of times, from when to when it runs a kernel."""

    def __init__(self, busy, stream=0, context=0):
        super().__init__({}, line=busy)
        self.ids = [("NODE", 0), ("GPUCONTEXT", context), ("GPUSTREAM", stream)]


class _Tree:
    """Contexts by call path."""

    def __init__(self):
        self.modules, self.functions, self.nodes = [], [], {}
        self.entry = {"id": 1, "entry": "main_thread", "name": "main thread", "children": []}
        self.threads = {"id": 2, "entry": "application_thread", "name": "application thread", "children": []}
        self.count = 3

    def _module(self, path):
        if path not in self.modules:
            self.modules.append(path)
        return self.modules.index(path)

    def node(self, path):
        if not path or path == STARTED:
            return self.threads if path else self.entry
        if path not in self.nodes:
            key = (path[-1][1], self._module(path[-1][0]) if path[-1][0] else None)
            if key not in self.functions:
                self.functions.append(key)
            node = {"id": self.count, "flags": 0, "relation": "call", "lexical": "function", "propagation": 0,
                    "function": self.functions.index(key), "file": None, "line": 0, "module": None, "offset": 0, "children": []}
            self.count += 1
            self.nodes[path] = node
            self.node(path[:-1])["children"].append(node)
        return self.nodes[path]

    def above(self, path):
        """Ids of a context and of all above it."""
        return [0] + [self.node(path[:i])["id"] for i in range(path[:1] == STARTED, len(path) + 1)]


def _samples(thread, tree):
    """One for each period in the line; contexts in turn, as long as they last."""
    if isinstance(thread, Stream):
        kernel = tree.node(KERNEL)["id"]
        return [[round(time * 1e9) + 10**18, context] for begin, end in thread.line for time, context in ((begin, kernel), (end, 0))]
    if thread.samples:
        return [[round(time * 1e9) + 10**18, tree.node(path)["id"]] for time, path in thread.samples]
    begin, end = thread.line
    order = [tree.node(path)["id"] for path, time in thread.times.items() for _ in range(max(1, round(time / PERIOD)))] or [0]
    count = round((end - begin) / PERIOD)
    return [[round((begin + i * PERIOD) * 1e9) + 10**18, order[min(i * len(order) // max(1, count), len(order) - 1)]] for i in range(count + 1)]


def database(threads, metrics=("CPUTIME (sec)",), root=None):
    """`root`: seconds of the first thread that belong to no function."""
    tree = _Tree()
    profiles = [{"index": 0, "summary": True, "flags": 1, "ids": [], "values": {}}]
    summary = defaultdict(lambda: defaultdict(float))
    lines = []
    for index, thread in enumerate(threads, 1):
        values = defaultdict(lambda: defaultdict(float))
        for base, path, time in ((3 * metric, path, time) for metric, times in [(thread.metric, thread.times), *thread.others.items()]
                                 for path, time in times.items()):
            values[tree.node(path)["id"]][str(base)] += time
            values[tree.node(path)["id"]][str(base + 1)] += time
            for id in tree.above(path):
                values[id][str(base + 2)] += time
        if root and index == 1:
            for id in (0, 1):
                values[id]["2"] += root
        for id, numbers in values.items():
            for key, value in numbers.items():
                summary[id][key] += value
        ids = [{"kind": KINDS.index(kind), "flags": 0, "logical": number, "physical": number} for kind, number in thread.ids]
        profiles.append({"index": index, "summary": False, "flags": 0, "ids": ids, "values": {str(k): dict(v) for k, v in values.items() if v}})
        if thread.line:
            lines.append({"profile": index, "samples": _samples(thread, tree)})
    profiles[0]["values"] = {str(k): dict(v) for k, v in summary.items()}
    times = [sample[0] for line in lines for sample in line["samples"]]
    traces = {"lines": lines, "min_time_ns": min(times), "max_time_ns": max(times)} if lines else None
    described = [{"name": name, "scopes": [{"scope": s, "id": 3 * m + s} for s in range(3)],
                  "statistics": [{"scope": s, "formula": "$$", "combine": "sum", "id": 3 * m + s} for s in range(3)]} for m, name in enumerate(metrics)]
    return {"meta": {"title": "made", "description": "", "id_names": KINDS,
                     "scopes": [{"name": n, "type": t, "propagation_index": p} for n, t, p in SCOPES], "metrics": described,
                     "modules": [{"path": path} for path in tree.modules], "files": [],
                     "functions": [{"name": name, "module": module, "offset": 16 * i, "file": None, "line": 0}
                                   for i, (name, module) in enumerate(tree.functions)], "entry_points": [tree.entry] + [tree.threads] * bool(tree.threads["children"])},
            "profiles": profiles, "context_block_count": tree.count, "traces": traces}
