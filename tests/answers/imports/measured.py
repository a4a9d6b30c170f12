#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Measurements: what `lode info --json` says of directories and of single files equals what an independent reader counts: nodes, values, samples,
id tuples, totals of metrics, load modules. `lode check --level full` finds nothing. Where the independent model of hpcprof is beside the corpus,
its parser must agree, too; and totals of the metrics are those of the databases that hpcprof made. Needs the corpus.
"""

import argparse
import collections
import importlib.util
import math
import re
import sys
from pathlib import Path


ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "tools")]

import references  # noqa: E402,F401
import measured_reference as reference  # noqa: E402
from imports import ask, corpus, same  # noqa: E402
import corpora  # noqa: E402
from tap import Tap  # noqa: E402

LOGICAL_ONLY = 3


def id_words(profile):
    words = []
    for kind, physical, logical in profile["ids"]:
        words.append(f"{profile['kinds'][kind & 0x3fff]} {logical if kind >> 14 == LOGICAL_ONLY else physical}")
    return ", ".join(words)


def profile_row(path):
    """A row of `profiles`, from the two files."""
    profile = reference.read_profile(path)
    trace = path.with_suffix(".hpctrace")
    flags, records = reference.read_trace(trace) if trace.exists() else (0, [])
    times = [time for time, _ in records]
    return profile, {
        "nodes": len(profile["nodes"]), "placeholders": sum(node[2] == 0 for node in profile["nodes"]),
        "inferred": sum(node[4] & 1 == 0 for node in profile["nodes"]), "valued": profile["valued"],
        "values": len(profile["values"]), "samples": len(records),
        "bytes": path.stat().st_size + (trace.stat().st_size if trace.exists() else 0),
        "begin_ns": str(min(times)) if times else None, "end_ns": str(max(times)) if times else None,
        "is_call_trace": flags & 4 != 0, "host": profile["attributes"]["host-id"], "job": profile["attributes"]["job-id"],
        "trace_file": trace.name if trace.exists() else None, "ids": id_words(profile), "file": path.name}


def metric_rows(profiles):
    rows, parts, unsaid = {}, collections.defaultdict(list), ("type", "format", "shows_percent")
    for profile in profiles:
        for metric in profile["metrics"]:
            rows.setdefault(metric["name"], {**{key: metric[key] for key in metric if key not in unsaid}, "index": len(rows)})
        for raw, index in profile["values"]:
            metric = profile["metrics"][index]
            parts[metric["name"]].append(reference.number(raw, metric))
    return [{**row, "total": math.fsum(parts[name]), "values": len(parts[name])} for name, row in rows.items()]


def module_rows(profiles):
    rows = {}
    for profile in profiles:
        counts = collections.Counter(node[2] for node in profile["nodes"])
        for number, path in enumerate(profile["modules"], 1):
            row = rows.setdefault(path, {"nodes": 0, "profiles": 0, "path": path})
            row["nodes"] += counts[number]
            row["profiles"] += counts[number] > 0
    return list(rows.values())


def differing(name, found, wanted):
    """Rows that differ, as lines; totals are sums in another order."""
    if len(found) != len(wanted):
        return [f"{name}: {len(found)} rows instead of {len(wanted)}"]
    lines = []
    for a, b in zip(found, wanted):
        for key in {**a, **b}:
            equal = same(a[key], b[key]) if key == "total" else a.get(key) == b.get(key)
            if not equal:
                lines.append(f"{name}: {key} is {a.get(key)!r} instead of {b.get(key)!r}")
    return lines


def compare(answer, paths):
    read = [profile_row(path) for path in paths]
    profiles = [profile for profile, _ in read]
    wanted = [row for _, row in read]
    wrong = differing("profiles", answer["profiles"], wanted)
    wrong += differing("metrics", answer["metrics"], metric_rows(profiles))
    wrong += differing("modules", answer["modules"], module_rows(profiles))
    for key in ("nodes", "placeholders", "inferred", "values", "samples", "bytes"):
        if answer[key] != sum(row[key] for row in wanted):
            wrong.append(f"{key}: {answer[key]} instead of {sum(row[key] for row in wanted)}")
    if answer["title"] != profiles[0]["attributes"]["program-name"] or answer["skipped"]:
        wrong.append(f"title {answer['title']}, skipped {answer['skipped']}")
    return wrong


def load_model():
    path = corpus().parent / "oracles" / "hpcprof_model.py"
    if not path.is_file():
        return None
    spec = importlib.util.spec_from_file_location("hpcprof_model", path)
    model = importlib.util.module_from_spec(spec)
    sys.modules["hpcprof_model"] = model
    spec.loader.exec_module(model)
    return model


def compare_with_model(answer, paths, model):
    """The same counts by the parser of the model."""
    wrong = []
    for row, path in zip(answer["profiles"], paths):
        raw, trace = model.RawProfile(path), model.read_trace(path.with_suffix(".hpctrace"))
        found = (row["nodes"], row["valued"], row["values"], row["samples"], row["ids"].count(",") + 1)
        wanted = (len(raw.nodes), len(raw.values), sum(len(cells) for _, cells in raw.values),
                  len(trace[1]) if trace else 0, len(raw.id_tuple))
        if found != wanted:
            wrong.append(f"{path.name}: {found} instead of {wanted}")
    return wrong


def compare_structures(answer, directory, model):
    """Binaries of structure files: what the model stores of each."""
    wanted = []
    for path in sorted((directory / "structs").glob("*.hpcstruct")):
        for structure in model.StructureReader(path, "").structures:
            wanted.append({"file": f"structs/{path.name}", "path": structure.module, "functions": len(structure.by_address),
                           "inlined": len(structure.functions) - len(structure.by_address), "ranges": len(structure.ranges),
                           "calls": len(structure.call_sites), "has_calls": structure.has_calls})
    found = [{key: row[key] for key in ("file", "path", "functions", "inlined", "ranges", "calls", "has_calls")}
             for row in answer["structures"] if row["kind"] == "structure"]
    return differing("structures", found, wanted)


def compare_symbols(answer, directory):
    """Kernel symbols and logical files: functions, and addresses or ids."""
    wanted = []
    for kind, folder, read in (("kernel", "kernel_symbols", reference.read_kernel), ("logical", "logical", reference.read_logical)):
        for path in sorted((directory / folder).glob("*")):
            functions, ranges = read(path)
            wanted.append({"kind": kind, "file": f"{folder}/{path.name}", "path": f"{folder}/{path.name}", "functions": functions, "ranges": ranges})
    found = [{key: row[key] for key in ("kind", "file", "path", "functions", "ranges")} for row in answer["structures"] if row["kind"] != "structure"]
    for row in wanted:
        single, = ask(answer["lode"], "info", directory / row["file"])["structures"]
        found.append({"functions": single["functions"], "ranges": single["ranges"], "kind": single["kind"]})
    return differing("symbols", found, wanted + [{"functions": row["functions"], "ranges": row["ranges"], "kind": row["kind"]} for row in wanted])


def oracles(folder):
    """From the table of the corpus: {directory: databases that hpcprof made of it alone}."""
    made = collections.defaultdict(list)
    if corpora.is_own():
        return made
    for line in (folder / "README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if len(cells) >= 3 and (folder / cells[0]).is_dir() and re.fullmatch(r"[\w.-]+", cells[1]):
            made[cells[0]].append(cells[1])
    return made


def compare_totals(lode, answer, databases):
    """The totals of the metrics are inclusive costs of the root, as hpcprof computed them."""
    wrong = []
    totals = {metric["name"]: metric["total"] for metric in answer["metrics"] if metric["formula"] is None}
    for database in databases:
        for metric in ask(lode, "info", database)["metrics"]:
            if not same(metric["total"], totals.get(metric["name"], math.nan)):
                wrong.append(f"{database.name}: {metric['name']}: {totals.get(metric['name'])} instead of {metric['total']}")
    return wrong


def check_directory(lode, tap, directory, databases, model):
    paths = sorted(directory.glob("*.hpcrun"))
    answer = ask(lode, "info", directory)
    wrong = compare(answer, paths)
    tap.check(paths and not wrong, f"{directory.name}: {len(paths)} profiles as counted", wrong[:8])
    found = ask(lode, "check", "--level", "full", directory)
    result = found["result"]
    counts = (result["profiles"], result["contexts"], result["values"], result["samples"])
    wanted = (len(paths), answer["nodes"], answer["values"], answer["samples"])
    findings = [finding for finding in found["findings"] if finding["rule"] != "hpcstruct-overlap"]
    tap.check(not findings and counts == wanted, f"{directory.name}: no findings but overlaps", [findings[:5], counts])
    single = compare_single(lode, paths)
    tap.check(not single, f"{directory.name}: each file alone", single[:8])
    wrong = compare_symbols({**answer, "lode": lode}, directory)
    tap.check(not wrong, f"{directory.name}: kernel symbols and logical files as counted", wrong[:8])
    if model:
        wrong = compare_with_model(answer, paths, model)
        tap.check(not wrong, f"{directory.name}: the model agrees", wrong[:8])
        wrong = compare_structures(answer, directory, model)
        tap.check(not wrong and any(row["kind"] == "structure" for row in answer["structures"]), f"{directory.name}: structures as the model reads them", wrong[:8])
    if databases:
        wrong = compare_totals(lode, answer, databases)
        tap.check(not wrong, f"{directory.name}: totals of {len(databases)} databases", wrong[:8])


def compare_single(lode, paths):
    """A profile alone is like one without a trace, and a trace alone has only samples."""
    wrong = []
    for path in paths:
        row, = ask(lode, "info", path)["profiles"]
        _, wanted = profile_row(path)
        if (row["nodes"], row["values"], row["samples"]) != (wanted["nodes"], wanted["values"], 0):
            wrong.append(f"{path.name}: {row}")
        if wanted["trace_file"]:
            row, = ask(lode, "info", path.with_suffix(".hpctrace"))["profiles"]
            if (row["nodes"], row["samples"], row["begin_ns"]) != (0, wanted["samples"], wanted["begin_ns"]):
                wrong.append(f"{path.stem}.hpctrace: {row}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    options = parser.parse_args()
    folder = corpus() / "measurements"
    tap = Tap()
    if not folder.is_dir():
        tap.skip("measurements", "there is no corpus")
        return tap.finish()
    made, model = oracles(folder), load_model()
    if model is None:
        tap.skip("the model of hpcprof", "it is not beside the corpus")
    for directory in corpora.stores(folder):
        databases = [corpus() / "hpctoolkit" / "final" / name for name in made.get(directory.name, ())]
        check_directory(options.lode, tap, directory, [path for path in databases if path.is_dir()], model)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
