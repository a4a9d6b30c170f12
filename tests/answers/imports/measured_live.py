#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The live measurements of the corpus. With their structure files, `lode build --like-hpcprof` gives what hpcprof gave, by content. Without, costs by call
path, function, inlined call and line are those that addr2line says of the addresses, in modules that are beside the corpus; how much of the cost
hpcprof put elsewhere is said. A structure file that `lode structure` wrote gives, by the model of hpcprof, the database of `lode build`. Needs the corpus.
"""

import argparse
import collections
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / part) for part in ("tools", "roundtrip", "symbols")]

import references  # noqa: E402,F401
import compiled  # noqa: E402
from imports import corpus, run  # noqa: E402
import lodejson  # noqa: E402
from content import Content  # noqa: E402
from measured_content import differences  # noqa: E402
import corpora  # noqa: E402
from tap import Tap  # noqa: E402

INLINED = "inlined"
OTHER = ("*", "", 0)    # frames of modules that are not beside the corpus
ORIGIN = "/opt/live/bin/"


def load_model():
    path = corpus().parent / "oracles" / "hpcprof_model.py"
    if not path.is_file():
        return None
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def plain(name):
    """A function's own name, without what demanglers write in different ways."""
    name = re.sub(r"\.(cold|isra|part|constprop)[.\d]*|\[clone [^]]*\]", "", name)
    while (shorter := re.sub(r"<[^<>]*>|\([^()]*\)", "", name)) != name:
        name = shorter
    return re.split(r"::|\s", name.strip().removesuffix("const").strip())[-1]


def extended(path, frames):
    for frame in frames:
        if frame != OTHER or path[-1:] != (OTHER,):
            path = (*path, frame)
    return path


def wanted_paths(model, measured, binaries):
    """({frames from the outermost: cost}, name), of the first metric, as addr2line reads the addresses."""
    profiles, addresses = [], collections.defaultdict(set)
    for path in sorted(measured.glob("*.hpcrun")):
        raw = model.RawProfile(str(path))
        nodes = {number: (parent, raw.modules.get(module), offset) for number, parent, module, offset, _ in raw.nodes}
        profiles.append((raw, nodes))
        for _, module, offset in nodes.values():
            if module and module.startswith(ORIGIN):
                addresses[module].add(offset)
    # addr2line has wrong names for some calls that are inlined twice over, and right lines.
    frames = {(module, address): [(plain(compiled.demangled(name)) if number == 0 else INLINED, os.path.basename(file or ""), line)
                                  for number, (name, file, line) in enumerate(found[::-1])]
              for module, offsets in addresses.items()
              for address, found in compiled.frames_by("addr2line", binaries / module.removeprefix(ORIGIN), sorted(offsets)).items()}
    costs = collections.Counter()
    for raw, nodes in profiles:
        for node, cells in raw.values:
            chain = []
            while node in nodes:
                parent, module, offset = nodes[node]
                if module:
                    chain.append(frames.get((module, offset), [OTHER]))
                node = parent
            path = ()
            for part in reversed(chain):
                path = extended(path, part)
            costs[path] += sum(raw.value(data, raw.metrics[metric]) for data, metric in cells if metric == 0)
    return costs, profiles[0][0].metrics[0].name


def own_paths(lode, database, name):
    """The same of a database, by the name of the metric."""
    dump = lodejson.loads(run(lode, "dump", database).stdout)
    meta, found = dump["meta"], collections.Counter()
    metric = next(one for one in meta["metrics"] if one["name"] == name)
    total = next(one["id"] for one in metric["statistics"] if meta["scopes"][one["scope"]]["name"] == "execution" and one["combine"] == "sum")
    values = next(profile for profile in dump["profiles"] if profile["summary"])["values"]

    def cost(context):
        return float(values.get(str(context["id"]), {}).get(str(total), 0))

    def is_ours(function):
        module = function.get("module")
        return module is not None and "/live/bin/" in meta["modules"][module]["path"]

    waiting = [(entry, (), False) for entry in meta["entry_points"]]
    while waiting:
        context, path, ours = waiting.pop()
        if context.get("lexical") == "function":
            function = meta["functions"][context["function"]] if context.get("function") is not None else {}
            # An inlined function is of the module that it is inlined into.
            ours = is_ours(function)
            name = INLINED if context["relation"] == "inlined_call" else plain(function["name"]) if ours else ""
            path = extended(path, [(name, "", 0) if ours else OTHER])
        elif context.get("lexical") == "line" and ours:
            path = (*path[:-1], (path[-1][0], os.path.basename(meta["files"][context["file"]]["path"]), context["line"]))
        elif context.get("lexical") == "instruction" and context["relation"] == "call":
            path, ours = extended(path, [OTHER]), False    # of no known function
        found[path] += cost(context) - sum(map(cost, context["children"]))
        waiting += [(child, path, ours) for child in context["children"]]
    return found


def unequal(found, wanted):
    return [path for path in {**found, **wanted} if abs(found.get(path, 0) - wanted.get(path, 0)) > 1e-9 * max(1, abs(wanted.get(path, 0)))]


def build(lode, target, *words):
    done = run(lode, "build", "--like-hpcprof", "--no-source", *words, "-o", target)
    return done.stderr.decode(errors="replace") if done.returncode != 0 else None


def content(lode, database):
    return Content(lodejson.loads(run(lode, "dump", database).stdout))


def check_lines(tap, lode, model, live, folder, scratch):
    target, name = scratch / "without", folder.name
    failed = build(lode, target, "--replace", f"/opt/live={live}", "--ignore-structs", folder / "measurement")
    wanted, metric = wanted_paths(model, folder / "measurement", live / "bin")
    found, theirs = (own_paths(lode, database, metric) for database in (target, folder / "DB-nostruct"))
    total = sum(wanted.values()) or 1
    wrong = [f"{path}: {found.get(path)} instead of {wanted.get(path)}" for path in unequal(found, wanted)]
    elsewhere = sum(max(0, theirs.get(path, 0) - wanted.get(path, 0)) for path in theirs)
    tap.check(not failed and not wrong and len(wanted) > 1, f"{name}: {len(wanted)} call paths without structure files are those of addr2line; "
              f"hpcprof has {100 * elsewhere / total:.1f} % of the cost elsewhere", [failed, *wrong[:8]])


def check_run(tap, lode, model, live, folder, scratch):
    name = folder.name
    failed = build(lode, scratch / "with", "--foreign", folder / "measurement")
    wrong = [failed] if failed else differences(content(lode, scratch / "with"), content(lode, folder / "DB"))
    # hpcprof takes the title from the profile that it reads first.
    programs = {path.name.split("-")[0] for path in folder.glob("measurement/*.hpcrun")}
    wrong = [text for text in wrong if len(programs) == 1 or not text.startswith("title: ")]
    tap.check(not wrong, f"{name}: as hpcprof's, with its structure files", wrong[:8])
    if model is None or not shutil.which("addr2line"):
        tap.skip(f"{name}: without structure files", "needs the model of hpcprof and addr2line")
        return
    check_lines(tap, lode, model, live, folder, scratch)
    check_written(tap, lode, live, folder, scratch)


def check_written(tap, lode, live, folder, scratch):
    """Structure files that Lode wrote instead of those of hpcstruct."""
    measured = scratch / "measurement"
    shutil.copytree(folder / "measurement", measured, symlinks=True, ignore=shutil.ignore_patterns("structs"))
    (measured / "structs").mkdir()
    said = []
    for theirs in sorted((folder / "measurement" / "structs").glob("*.hpcstruct")):
        binary = live / "bin" / re.sub(r"-[0-9a-f]{32}$", "", theirs.stem)
        target = measured / "structs" / theirs.name
        done = run(lode, "structure", binary, "-o", target)
        said += [done.stderr] if done.returncode else []
        if not done.returncode:    # where the binary was when it ran
            target.write_text(target.read_text(encoding="utf-8").replace(f'"{binary}"', f'"{ORIGIN}{binary.name}"'), encoding="utf-8")
    failed = build(lode, scratch / "written", "--foreign", measured)
    compared = subprocess.run([sys.executable, corpus().parent / "oracles" / "hpcprof_model.py", measured, "--compare", scratch / "written"],
                              capture_output=True, text=True, timeout=300, check=False)
    tap.check(not failed and not said and compared.returncode == 0, f"{folder.name}: structure files that Lode wrote, as the model of hpcprof reads them",
              [failed, *said, *compared.stdout.splitlines()[:20], compared.stderr[:500]])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, type=Path)
    options = parser.parse_args()
    tap, live = Tap(), corpus() / "live"
    if corpora.is_own() or not live.is_dir():
        tap.skip("live measurements", "they are in the larger corpus")
        return tap.finish()
    sys.setrecursionlimit(100000)
    model = load_model()
    for folder in sorted(live.iterdir()):
        if (folder / "DB").is_dir():
            with tempfile.TemporaryDirectory() as scratch:
                check_run(tap, options.lode, model, live, folder, Path(scratch))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
