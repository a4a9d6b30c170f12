# SPDX-License-Identifier: BSD-3-Clause
"""
Databases of a flat program whose every cost is given: main calls each function once. In the shape of tests/dump/expected.py, for db_write.py.
"""

SCOPES = [("point", "point", 255), ("function", "transitive", 0), ("execution", "execution", 255)]
KINDS = ["SUMMARY", "NODE", "RANK", "THREAD"]


def flat(functions, costs, metric="cycles"):
    """`functions`: (name, path of the file); `costs`: for each profile, a list with the own cost of each function."""
    files = sorted({path for _, path in functions})
    records = [{"name": name, "module": 0, "offset": 16 * i, "file": files.index(path), "line": 10 * i + 10} for i, (name, path) in enumerate(functions)]
    records.append({"name": "main", "module": 0, "offset": 4096, "file": 0, "line": 1})

    def call(id, function, children):
        return {"id": id, "flags": 0, "relation": "call", "lexical": "function", "propagation": 0, "function": function, "file": None, "line": 0,
                "module": None, "offset": 0, "children": children}

    leaves = [call(3 + i, i, []) for i in range(len(functions))]
    entry = {"id": 1, "entry": "main_thread", "name": "main thread", "children": [call(2, len(functions), leaves)]}
    profiles = [{"index": 0, "summary": True, "flags": 1, "ids": [], "values": {}}]
    for index, own in enumerate(costs, 1):
        ids = [{"kind": 2, "flags": 0, "logical": index - 1, "physical": index - 1}]
        values = {str(at): {"2": float(sum(own))} for at in (0, 1, 2)}
        for i, value in enumerate(own):
            if value:
                values[str(3 + i)] = {"0": float(value), "1": float(value), "2": float(value)}
        profiles.append({"index": index, "summary": False, "flags": 0, "ids": ids, "values": values})
        for context, numbers in values.items():
            sums = profiles[0]["values"].setdefault(context, {})
            for id, value in numbers.items():
                sums[id] = sums.get(id, 0.0) + value
    instances = [{"scope": scope, "id": scope} for scope in range(len(SCOPES))]
    statistics = [{"scope": scope, "formula": "$$", "combine": "sum", "id": scope} for scope in range(len(SCOPES))]
    return {"meta": {"title": "made", "description": "", "id_names": KINDS,
                     "scopes": [{"name": n, "type": t, "propagation_index": p} for n, t, p in SCOPES],
                     "metrics": [{"name": metric, "scopes": instances, "statistics": statistics}], "modules": [{"path": "/bin/app"}],
                     "files": [{"path": path, "copied": False} for path in files], "functions": records, "entry_points": [entry]},
            "profiles": profiles, "context_block_count": 3 + len(functions), "traces": None}
