#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode efficiency` against its reference (efficiency_reference.py) on databases that Lode did not write: made ones whose every cost is known, and real ones.
Groups and phases agree with the whole; parts of efficiencies multiply and add up.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools"), str(ROOT / "tests" / "dump")]

import corpora  # noqa: E402
import db_write  # noqa: E402
import efficiency_reference as reference  # noqa: E402
from db_model import Database  # noqa: E402
from diagnose_made import REGION, WAIT, WORKER, Thread, database  # noqa: E402
from diagnose_reference import Facts  # noqa: E402
from diagnose_rules import CASES, SOLVE, close, openmp, ranks  # noqa: E402
from tap import Tap  # noqa: E402

try:
    import expected
except ImportError:  # no PyYAML, or one without libyaml
    expected = None

SUFFIX = ".yaml.gz"
KEYS = ("parallel", "load_balance", "communication", "process", "serial", "openmp", "rank_balance", "rank_communication")


def ask(lode, *arguments):
    done = subprocess.run([lode, "efficiency", "--json", "--limit", "0", *map(str, arguments)], capture_output=True, timeout=300)
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr.decode(), "status": done.returncode}


def differences_of_row(row, facts, some, what):
    wanted = reference.efficiency_of(facts, some)
    wrong = [f"{what}: {key} {row[key + '_percent']}, not {100 * wanted[key] if wanted[key] is not None else None}" for key in KEYS
             if not close(row[key + "_percent"], 100 * wanted[key] if wanted[key] is not None else None)]
    useful = sum(t.useful() for t in some.threads)
    if not close(row["useful"], useful) or not close(row["run_time"], some.run_time):
        wrong.append(f"{what}: useful {row['useful']}, not {useful}, or run time {row['run_time']}, not {some.run_time}")
    if row["threads"] != len(some.threads) or row["ranks"] != len(some.ranks):
        wrong.append(f"{what}: {row['threads']} threads of {row['ranks']} ranks, not {len(some.threads)} of {len(some.ranks)}")
    return wrong + properties_of(row, what)


def properties_of(row, what):
    """What holds of any efficiencies."""
    wrong = []
    if not close(row["parallel_percent"], row["load_balance_percent"] * row["communication_percent"] / 100):
        wrong.append(f"{what}: parallel is not load balance x communication")
    if row["is_hybrid"] and not close(row["parallel_percent"], row["process_percent"] + row["serial_percent"] + row["openmp_percent"] - 200):
        wrong.append(f"{what}: the additive parts do not add up")
    if not row["low_percent"] <= max(0, min(100, row["parallel_percent"])) <= row["high_percent"]:
        wrong.append(f"{what}: not in its interval")
    return wrong


def differences(lode, path, data):
    """Of the whole, by rank and thread, and over time; None: efficiencies cannot be told."""
    facts = Facts(Database(data))
    said = ask(lode, path)
    if "failed" in said:
        return [said["failed"]]
    if said["reason"]:
        return [f"rows, and {said['reason']}"] if said["rows"] else None
    wrong = differences_of_row(said["rows"][0], facts, facts, "all")
    for kind in ("RANK", "THREAD"):
        wrong += differences_of_groups(lode, path, facts, kind)
    return wrong + differences_of_phases(lode, path, facts)


def differences_of_groups(lode, path, facts, kind):
    wanted = reference.groups(facts.threads, kind)
    if not wanted:
        return []
    said = ask(lode, "--by", kind.lower(), path)
    rows = [row for row in said.get("rows", []) if row["is_group"]]
    if [row["id_tuple"][0]["id"] for row in rows] != list(wanted):
        return [f"groups by {kind}: {said.get('failed') or [row['id_tuple'] for row in rows]}, not {list(wanted)}"]
    wrong = []
    for row, (id, threads) in zip(rows, wanted.items()):
        wrong += differences_of_row(row, facts, reference.part(facts, threads), f"{kind} {id}")
    if said["threads_without_ids"] == 0:
        mean = sum(row["parallel_percent"] * row["threads"] for row in rows) / said["rows"][0]["threads"]
        if not close(mean, said["rows"][0]["parallel_percent"]):
            wrong.append(f"groups by {kind} do not agree with the whole: {mean}")
    return wrong


def differences_of_phases(lode, path, facts, count=3):
    said, wanted = ask(lode, "--phases", count, path), reference.phases(facts, count)
    if "failed" in said:
        return [] if wanted is None and "trace" in said["failed"] or "too short" in said["failed"] else [said["failed"]]
    rows, wrong = said["rows"], []
    if wanted is None or len(rows) != count + 1:
        return [f"{len(rows)} rows"]
    for row, (begin, end, some) in zip(rows[1:], wanted):
        wrong += differences_of_row(row, facts, some, f"phase from {begin}")
        if (row["from_ns"], row["to_ns"]) != (str(begin), str(end)):
            wrong.append(f"phase {row['from_ns']} to {row['to_ns']}, not {begin} to {end}")
    if not close(sum(row["useful"] for row in rows[1:]), rows[0]["useful"]) or not close(sum(row["run_time"] for row in rows[1:]), rows[0]["run_time"]):
        wrong.append("phases do not add up to the run")
    return wrong


def figures_of_made_databases(tap, lode, folder):
    for number, (name, data, _, notes) in enumerate(CASES):
        path = folder / str(number)
        db_write.write(path, data)
        wrong = differences(lode, path, data)
        refused = notes & {"few-samples", "several-runs", "inconsistent", "no-cpu-metric"}
        tap.check((wrong is None) == bool(refused) and not wrong, f"{name}: {'refused' if refused else 'as the reference'}", wrong or ["refused"])


def phases_tell_when(tap, lode, folder):
    """Four threads wait 5 s for the first, then all work; and a thread that is off the processor from 2.5 s to 7.5 s."""
    path = folder / "phases"
    db_write.write(path, database([Thread({SOLVE: 5.0, REGION: 5.0}, thread=0, line=(0, 10))] +
                                  [Thread({WAIT: 5.0, WORKER: 5.0}, thread=t, line=(0, 10)) for t in range(1, 4)]))
    rows = ask(lode, "--phases", 2, path)["rows"]
    found = [row[key] for row in rows[1:] for key in ("parallel_percent", "serial_percent", "openmp_percent")]
    tap.check(all(abs(a - b) < 1 for a, b in zip(found, [25, 25, 100, 100, 100, 100])), "serial first half: 25 %, then 100 %", found)
    gap = database([Thread({SOLVE: 10.0}, thread=0, line=(0, 10)), Thread({SOLVE: 5.0}, thread=1, line=(0, 10))])
    line = gap["traces"]["lines"][1]["samples"]
    line[:] = [s for s in line if not 2.5 < (s[0] - 10**18) * 1e-9 < 7.5]
    db_write.write(folder / "gap", gap)
    wrong = differences(lode, folder / "gap", gap)
    rows = [r for r in ask(lode, "--phases", 4, "--by", "thread", folder / "gap")["rows"] if r["name"].endswith("thread 1") and r["from_ns"]]
    found = [row["parallel_percent"] for row in rows]
    tap.check(not wrong and all(abs(a - b) < 3 for a, b in zip(found, [100, 0, 0, 100])), "a thread off the processor does nothing meanwhile", [found, wrong])
    window = ask(lode, "--from", "5s", "--to", "7.5s", path)["rows"][1]
    tap.check(abs(window["parallel_percent"] - 100) < 1 and abs(window["run_time"] - 2.5) < 0.01, "--from and --to select a part", [window])
    for options, word in ((["--phases", 1000], "too short"), (["--from", "20s"], "before")):
        said = ask(lode, *options, path)
        tap.check(word in said.get("failed", "") and said["status"] == 2, f"{options[0]} {options[1]} is refused", [said])


def runs_are_compared_with_the_first(tap, lode, folder):
    def make(name, work, mpi, run, cycles, instructions):
        counters = [Thread({SOLVE: cycles}, thread=90, metric=1), Thread({SOLVE: instructions}, thread=91, metric=2)] if cycles else []
        path = folder / name
        db_write.write(path, database(ranks(len(work), work, mpi, line=(0, run)) + counters, ["CPUTIME (sec)", "cycles", "instructions"]))
        return path

    one = make("one", [10.0] * 2, [0.0] * 2, 10, 1e9, 2e9)
    two = make("two", [6.0] * 4, [2.0] * 4, 8, 1.6e9, 2.4e9)
    bare = make("bare", [6.0] * 4, [2.0] * 4, 8, 0, 0)
    for how, computation, instructions in (("strong", 2000 / 24, 200 / 2.4), ("weak", 1000 / 6, 400 / 2.4)):
        first, second = ask(lode, *(["--weak"] if how == "weak" else []), one, two)["rows"]
        wanted = {"parallel_percent": 75, "computation_percent": computation, "global_percent": 0.75 * computation, "speedup": 1.25,
                  "ipc": 1.5, "ipc_percent": 75, "instructions_percent": instructions, "useful": 24, "run_time": 8}
        wrong = [f"{key}: {second[key]}, not {value}" for key, value in wanted.items() if not close(second[key], value)]
        wrong += [f"{key}: {first[key]}" for key in ("computation_percent", "global_percent", "ipc_percent") if not close(first[key], 100)]
        tap.check(not wrong, f"{how} scaling from 2 to 4 ranks", wrong)
    second = ask(lode, one, bare)["rows"][1]
    tap.check(second["ipc_percent"] is None and second["instructions_percent"] is None and close(second["computation_percent"], 2000 / 24),
              "without counters there is no IPC", [second])
    other = folder / "cycles"
    db_write.write(other, database(ranks(2, [10.0] * 2, [0.0] * 2), ["cycles"]))
    said = ask(lode, one, other)
    tap.check(said.get("status") == 2 and "cannot be compared" in said["failed"], "runs of different metrics are refused", [said])


def parts_add_up(tap, lode, folder):
    """Also if workers have more useful time than their first thread was in regions, so that a loss is below zero."""
    path = folder / "parts"
    db_write.write(path, database([Thread({SOLVE: 2.0, REGION: 1.0}, thread=0, line=(0, 10))] +
                                  [Thread({WAIT: 2.0, WORKER: 8.0}, thread=t, line=(0, 10)) for t in range(1, 4)]))
    row = ask(lode, path)["rows"][0]
    text = subprocess.run([lode, "diagnose", str(path)], capture_output=True, timeout=300, text=True).stdout
    table = text[text.index("Efficiency"):].split("\n\n")[0].splitlines()[1:]
    parts = [float(found.group(1)) for line in table if (found := re.search(r"\s(\d+\.\d)\b", line))]
    tap.check(min(row[key + "_percent"] for key in ("process", "serial", "openmp")) < 100 < max(row[key + "_percent"] for key in ("process", "serial", "openmp"))
              and len(parts) == 4 and abs(sum(parts) - 100) < 0.25, "the parts of the efficiency add up to 100 %", [parts, row])


def threads_do_not_matter(tap, lode, folder):
    path = folder / "many"
    db_write.write(path, database(openmp(4, 3.0, [5.0, 4.0, 3.0, 2.0], [1.0, 2.0, 3.0, 4.0], count=6)))
    answers = {subprocess.run([lode, "efficiency", "--by", "node,rank", "--phases", "7", "--threads", str(n), str(path)], capture_output=True,
                              timeout=300).stdout for n in (1, 2, 7)}
    tap.check(len(answers) == 1 and answers.pop(), "1, 2 and 7 threads give the same bytes", [])


def figures_of_real_databases(tap, lode, corpus, names):
    if expected is None or not (corpus / "final").is_dir():
        tap.skip("real databases", "there is no corpus" if expected else "this Python has no yaml with libyaml")
        return
    told = 0
    for path in corpora.expected(corpus):
        name = path.name[:-len(SUFFIX)]
        if names and name not in names:
            continue
        wrong = differences(lode, corpus / "final" / name, expected.from_file(path))
        told += wrong is not None
        if wrong is not None:
            tap.check(not wrong, f"figures of {name}", wrong[:10])
    tap.check(told > (0 if names else 5 if corpora.is_own() else 15), f"efficiencies of {told} real databases can be told", [])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, help="the program to test")
    parser.add_argument("names", nargs="*", help="real databases; all if none is named")
    options = parser.parse_args()
    tap = Tap()
    corpus = corpora.root() / "hpctoolkit"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures_of_made_databases(tap, options.lode, folder)
        phases_tell_when(tap, options.lode, folder)
        runs_are_compared_with_the_first(tap, options.lode, folder)
        parts_add_up(tap, options.lode, folder)
        threads_do_not_matter(tap, options.lode, folder)
    figures_of_real_databases(tap, options.lode, corpus, options.names)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
