#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Imported profiles, exported again, and databases exported to pprof, imported again: `go tool pprof -top` finds in the exported file what it found in the original (every function, flat and
cum), folded stacks give the same lines, sorted and added up, and databases have the same costs by function. Needs the corpus and Go. With --share N, every N-th file; LODE_SHARE selects a part of those.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tools")]

import references  # noqa: E402,F401
from imports import corpora, corpus, differences, run, top  # noqa: E402
from stacks import PPROF_UNITS, SCALES, Lode, code_name, compare, database_rows, pprof_top, renamed, split_unit  # noqa: E402
from share import Share  # noqa: E402
from tap import Tap  # noqa: E402

# Names of these hold what a text table cannot.
UNNAMED = {"parca-unnamed-type.pb.gz"}
UNKNOWN = "<unknown function>"


def shown(name):
    """Control characters are '?' in everything that Lode writes."""
    return re.sub("[\x00-\x1f]", "?", name)


def without_zeros(rows):
    return {name: tuple(costs) for name, costs in rows.items() if tuple(costs) != (0, 0)}


def part_of(cases, share):
    """The part of every `share`-th case that LODE_SHARE selects; never nothing."""
    cases = cases[::share]
    return Share.of_cases().of(cases) or cases[:1]


def check_pprof(tap, lode, folder, share, scratch):
    compared = 0
    files = [json.loads(path.read_text()) for path in sorted(folder.glob("expected/*.json"))]
    files = [expected for expected in files if expected.get("types") and expected["file"] not in UNNAMED and not expected["file"].startswith("legacy")]
    for expected in part_of(files, share):
        wrong = []
        for kind in expected["types"]:
            target = scratch / "again.pb.gz"
            done = run(lode, "export", folder / expected["file"], "--format", "pprof", "--names", "raw", "-m", kind["index"], "-f", "-o", target)
            if done.returncode != 0:
                wrong.append(done.stderr.decode(errors="replace"))
                continue
            wanted = without_zeros({shown(row[0]): row[1:3] for row in kind["functions"]})
            unit = PPROF_UNITS.get(kind["unit"], "count")
            found, total = pprof_top(target, 0, unit)
            wrong += [f"{kind['type']}: {line}" for line in differences(without_zeros(found), wanted)] if found is not None else [str(total)]
            wrong += [f"{kind['type']}, read again: {line}" for line in differences(top(lode, target, 0)[1], wanted)]
            compared += len(wanted)
        tap.check(not wrong, f"{expected['file']}: go tool pprof finds the same in the export", wrong[:6])
    tap.check(compared > 0, f"{compared} rows")


def check_labels(tap, lode, folder, scratch):
    """Labels as frames, and one value of a label, by pprof: doc/formats/pprof.md says how. Values by function are those of pprof's own answer."""
    cases = corpora.either(
        [("made-go-cpu-labels.pb.gz", "-tagroot=rank,request"), ("made-go-cpu-labels.pb.gz", "-tagleaf=rank"), ("parca-ebpf-threads.pb.gz", "-tagroot=thread_id"),
         ("go-cpu-labels.pb.gz", "-tagroot=mylabel"), ("made-go-cpu-labels.pb.gz", "-tagfocus=request=.*id=1")],
        [("labels.pb.gz", "-tagroot=thread,request"), ("labels.pb.gz", "-tagleaf=thread"), ("labels.pb.gz", "-tagfocus=thread=worker-1")])
    for file, option in part_of(cases, 1):
        target = scratch / "labels.pb.gz"
        done = subprocess.run(["go", "tool", "pprof", "-proto", "-symbolize=none", option, f"-output={target}", str(folder / file)], capture_output=True,
                              text=True, timeout=300, env={**os.environ, "HOME": "/tmp", "PPROF_TMPDIR": "/tmp"})
        answer, found = top(lode, target, 0)
        metric = re.fullmatch(r"(.*) \((\w+)\)", answer["metric"])
        wanted, said = pprof_top(folder / file, 0, PPROF_UNITS.get(metric.group(2), "count") if metric else "count", option)
        wrong = differences(found, without_zeros({shown(name): costs for name, costs in wanted.items()})) if wanted else [done.stderr, said]
        tap.check(not wrong and found != top(lode, folder / file, 0)[1], f"{file}: {len(found)} functions with {option} are those of pprof", wrong[:6])


def lines_of(text):
    """Stacks and their counts, as facts about the file: empty frames, blanks and carriage returns left out."""
    stacks = Counter()
    for line in text.splitlines():
        line = line.rstrip()
        found = re.fullmatch(r"(.*\S)\s+(\d+)", line)
        if found and not line.lstrip().startswith("#"):
            frames = [frame for frame in found.group(1).split(";") if frame.strip()]
            stacks[";".join(frames)] += int(found.group(2))
    return Counter({stack: count for stack, count in stacks.items() if count})


def check_folded(tap, lode, folder, scratch):
    for path in part_of(sorted(folder.glob("*.folded")), 1):
        text = path.read_text(errors="replace")
        # Fractions are scaled, and two counts are two metrics: `answers folded` has them.
        if re.search(r"\d+\.\d*\r?$", text, re.MULTILINE) or path.name.startswith(("diff-two", "diff-perf", "two-columns")) or not lines_of(text):
            continue
        target = scratch / "again.folded"
        done = run(lode, "export", path, "--format", "folded", "--names", "raw", "-f", "-o", target)
        wanted = lines_of(text)
        found = lines_of(target.read_text()) if done.returncode == 0 else Counter()
        wrong = [f"{stack}: {found[stack]} instead of {wanted[stack]}" for stack in {**wanted, **found} if found[stack] != wanted[stack]]
        tap.check(not wrong and done.returncode == 0, f"{path.name}: {len(wanted)} stacks are the same in the export",
                  [*wrong[:6], done.stderr.decode(errors="replace")])


def check_databases(tap, program, folder, share, scratch):
    """A database, exported to pprof and read again: own and inclusive cost of every function, rounded to whole units."""
    lode, compared = Lode(program), 0
    stores = [(path, lode.json("top", path, "--limit", "0")) for path in sorted(folder.glob("*")) if path.is_dir()]
    for store, answer in part_of([(store, answer) for store, answer in stores if answer.get("metric")], share):
        metric = answer["metric"]
        # Entry points have rows if they have own costs; code without a function is none.
        entries = {row["name"] for row in answer["rows"] if row["function"] is None and "+0x" not in row["name"] and row["name"] != UNKNOWN}
        rows, total, _ = database_rows(lode, store, metric, SCALES.get(split_unit(metric)[1], 1))
        done, message = lode.export(store, "pprof", scratch / "a.pb.gz", "--metric", metric, "--no-entries")
        if not tap.check(done, f"{store.name}: {metric}: exported", [message]) or "thousandths" in message:
            continue
        answer, found = top(program, scratch / "a.pb.gz", 0)
        rows = {name: row for name, row in rows.items() if name not in entries}
        wrong = compare(renamed(rows, code_name), {name: list(costs) for name, costs in found.items()},
                        lambda row: row[2] + 1e-9 * abs(row[1]))
        if abs(answer["total"] - total) > 1 + 1e-9 * abs(total):
            wrong.append(f"the total is {answer['total']} instead of {total}")
        compared += len(rows)
        tap.check(not wrong, f"{store.name}: {metric}: {len(rows)} functions are the same in the export", wrong[:5])
    tap.check(compared > 0, f"{compared} functions of databases")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--share", type=int, default=1, help="only every so manieth profile")
    options = parser.parse_args()
    tap = Tap()
    if not (corpus() / "pprof").is_dir():
        tap.skip("imported profiles, exported", "there is no corpus")
        return tap.finish()
    with tempfile.TemporaryDirectory() as scratch:
        check_folded(tap, options.lode, corpus() / "folded", Path(scratch))
        check_databases(tap, options.lode, corpus() / "hpctoolkit" / "final", options.share, Path(scratch))
        if shutil.which("go") is None:
            tap.skip("profiles of pprof, exported", "there is no go")
        else:
            check_pprof(tap, options.lode, corpus() / "pprof", options.share, Path(scratch))
            check_labels(tap, options.lode, corpus() / "pprof", Path(scratch))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
