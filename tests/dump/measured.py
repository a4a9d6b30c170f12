#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode dump` of measurements: every field of every profile and trace is what an independent reader finds in the files; damaged files are named; --only
selects members; nothing is written if nothing can be read. Profiles that the test makes, and the corpus where it is.
"""

import argparse
import json
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools")]

import references  # noqa: E402,F401
import corpora  # noqa: E402
import measured_reference as reference  # noqa: E402
from made_measurements import many_profiles  # noqa: E402
from tap import Tap  # noqa: E402

# In the order of --only.
MEMBERS = {"meta": {"attributes", "modules", "metrics", "id_kinds", "ids"}, "profiles": {"values"}, "contexts": {"nodes"}, "traces": {"trace"}}
WHOLE = 1 << 53


def corpus():
    return corpora.root() / "measurements"


def whole(number):
    """As JSON has it: a string where readers would lose digits."""
    return number if number < WHOLE else str(number)


def stored(raw, metric):
    return whole(struct.unpack(">Q", raw)[0]) if metric["is_integer"] else struct.unpack(">d", raw)[0]


def expected(path):
    """A row of `profiles`."""
    profile = reference.read_profile(path)
    trace = path.with_suffix(".hpctrace")
    values = {}
    for (raw, metric), node in zip(profile["values"], profile["value_nodes"]):
        values.setdefault(str(node), {})[str(metric)] = stored(raw, profile["metrics"][metric])
    row = {"file": path.name, "attributes": profile["attributes"],
           "modules": [{"id": i, "path": name, "flags": whole(flags)} for i, (name, flags) in
                       enumerate(zip(profile["modules"], profile["module_flags"]), 1)],
           "metrics": [{**metric, "period": whole(metric["period"])} for metric in profile["metrics"]],
           "id_kinds": [{"kind": kind, "name": name} for kind, name in profile["kinds"].items()],
           "ids": [{"kind": kind & 0x3fff, "meaning": kind >> 14, "physical": str(physical), "logical": str(logical)}
                   for kind, physical, logical in profile["ids"]],
           "nodes": [{"id": i, "parent": parent, "module": module, "offset": str(offset), "flags": flags}
                     for i, parent, module, offset, flags in profile["nodes"]],
           "values": values, "trace": expected_trace(trace) if trace.exists() else None}
    return row


def expected_trace(path):
    flags, records = reference.read_trace(path)
    return {"file": path.name, "flags": flags, "samples": [[str(time), node] for time, node in records]}


class Dumper(Tap):
    def __init__(self, lode):
        super().__init__()
        self.lode = lode

    def run(self, *words, before=None):
        done = subprocess.run([self.lode, "dump", *map(str, words)], capture_output=True, timeout=300, preexec_fn=before)
        return done.returncode, done.stdout, done.stderr.decode(errors="replace")

    def rows(self, *words):
        status, out, said = self.run(*words)
        return json.loads(out) if status == 0 else {"profiles": None, "skipped": said}


def differing(found, wanted):
    if found is None or len(found) != len(wanted):
        return [f"{found and len(found)} profiles instead of {len(wanted)}"]
    lines = []
    for a, b in zip(found, wanted):
        lines += [f"{b['file']}: {key} is {str(a.get(key))[:300]} instead of {str(b.get(key))[:300]}" for key in {**a, **b} if a.get(key) != b.get(key)]
        lines += [f"{b['file']}: the order of {key}" for key in ("values",) if list(a.get(key, ())) != list(b.get(key, ()))]
    return lines


def every_field(tap, directory):
    wanted = [expected(path) for path in sorted(directory.glob("*.hpcrun"))]
    found = tap.rows(directory)
    lines = differing(found["profiles"], wanted) + [str(skip) for skip in found["skipped"]]
    values = sum(len(metrics) for row in wanted for metrics in row["values"].values())
    tap.check(wanted and not lines, f"{directory.name}: {len(wanted)} profiles, {sum(len(row['nodes']) for row in wanted)} nodes, {values} values", lines)
    return wanted


def single_files(tap, directory, wanted):
    path = sorted(directory.glob("*.hpcrun"))[0]
    alone = {**wanted[0], "trace": None}
    lines = differing(tap.rows(path)["profiles"], [alone])
    tap.check(not lines, "one profile, without its trace", lines)
    trace = path.with_suffix(".hpctrace")
    tap.check(tap.rows(trace)["profiles"] == [{"file": None, "trace": expected_trace(trace)}], "one trace")


def parts(tap, directory, wanted):
    for only in ("meta", "profiles", "contexts", "traces", "meta,traces", "profiles,contexts"):
        members = {"file"}.union(*(MEMBERS[word] for word in only.split(",")))
        chosen = [{key: value for key, value in row.items() if key in members} for row in wanted]
        tap.check(tap.rows("--only", only, directory)["profiles"] == chosen, f"--only {only}")


def damage(tap, directory, wanted, folder):
    partly = shutil.copytree(directory, folder / "partly")
    paths = sorted(partly.glob("*.hpcrun"))
    paths[0].write_bytes(paths[0].read_bytes()[:-9])
    trace = paths[1].with_suffix(".hpctrace")
    trace.write_bytes(b"x" + trace.read_bytes()[1:])
    found = tap.rows(partly)
    tap.check(not differing(found["profiles"], [{**wanted[1], "trace": None}, *wanted[2:]]), "what is damaged is left out, the rest is there")
    tap.check([skip["file"] for skip in found["skipped"]] == [paths[0].name, trace.name], "damaged files are named", [found["skipped"]])
    for path in partly.glob("*.hpcrun"):
        path.write_bytes(path.read_bytes()[:-9])
    for name, store in (("damaged throughout", partly), ("missing", folder / "missing")):
        status, out, said = tap.run(store)
        tap.check(status == 2 and not out and said.count("\n") == 1, f"measurements that are {name}: one line, and no output", [status, out[:99], said])
    (folder / "x.hpcstruct").write_text('<?xml version="1.0"?>\n<!DOCTYPE HPCToolkitStructure [\n]>\n<HPCToolkitStructure i="0" version="4.9" n="">'
                                        "</HPCToolkitStructure>\n", encoding="utf-8")
    status, out, said = tap.run(folder / "x.hpcstruct")
    tap.check(status == 2 and not out and "no profile" in said, "a structure file has no profile", [status, out[:99], said])


def output(tap, directory, folder):
    target = folder / "out.json"
    status, out, _ = tap.run(directory)
    tap.check(status == 0 and tap.run(directory, "-o", target)[0] == 0 and target.read_bytes() == out, "-o writes the same")
    target.unlink()
    status, _, said = tap.run(directory, "-o", target, before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
    left = [path.name for path in folder.iterdir() if "out" in path.name]
    tap.check(status == 2 and not left, "a full disk leaves nothing", [status, said, left])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    tap = Dumper(parser.parse_args().lode)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = folder / "made"
        many_profiles(made, 3, nodes=700, samples=600)
        wanted = every_field(tap, made)
        single_files(tap, made, wanted)
        parts(tap, made, wanted)
        damage(tap, made, wanted, folder)
        output(tap, made, folder)
    for directory in corpora.stores(corpus()):
        every_field(tap, directory)
    if not corpus().is_dir():
        tap.skip("measurements of the corpus", "no corpus")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
