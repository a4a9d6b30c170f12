#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Rules of `lode diagnose` on recordings with planted problems (calls_cases.py, calls_costs.py). Run time, activities and efficiencies are compared with the reference
(calls_reference.py); evidence commands have to work.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import references  # noqa: E402,F401
import calls_reference as reference  # noqa: E402
from calls_cases import CASES, io, lock, main_with, MS, openmp, shares, single_wait  # noqa: E402
from calls_costs import COSTS  # noqa: E402
from calls_made import Thread, write  # noqa: E402

from tap import Tap  # noqa: E402


def ask(lode, path, *options):
    done = subprocess.run([lode, "diagnose", "--json", *options, path], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr}


def differences(said, wanted):
    """Where figures differ from those of the reference."""
    found = {row["activity"]: row["time"] for row in said["activities"]}
    efficiency = said["efficiency"] or {"parallel": None, "load_balance": None}
    pairs = [("run time", said["run"]["run_time"], wanted["run_time"]), ("threads", said["run"]["threads"], wanted["threads"])]
    pairs += [(f"activity {name}", found.get(name, 0), wanted["activities"].get(name, 0)) for name in found.keys() | wanted["activities"].keys()]
    pairs += [(name, efficiency[name], wanted[name]) for name in ("parallel", "load_balance") if said["efficiency"]]
    return [f"{name}: {value}, not {right}" for name, value, right in pairs if right is None or abs(value - right) > 1e-9 + 1e-9 * abs(right)]


def wrong_with(said, ids, notes, more):
    statements = {s["id"]: s for s in said["statements"]}
    known = statements.keys() | {note["id"] for note in said["quality"]}
    if statements.keys() - {"hot-spot"} != ids:
        yield f"said {[s['id'] + ': ' + s['text'] for s in said['statements']]}, not {sorted(ids)}"
        return
    for name in notes:
        if (name.removeprefix("-") in known) == name.startswith("-"):
            yield f"{name}: said {sorted(known)}"
    if "hybrid" in more and (said["efficiency"]["serial"] is not None) != more["hybrid"]:
        yield f"efficiency is {said['efficiency']}"
    for s in said["statements"]:
        if s["id"] in ids:
            for key in ("function", "thread", "rank", "confidence"):
                if key in more and s[key] != more[key]:
                    yield f"{key} is {s[key]}, not {more[key]}"
            if "evidence" in more and not any(more["evidence"] in one["text"] for one in s["evidence"]):
                yield f"evidence is {s['evidence']}"
            if "gain" in more and abs(s["gain_percent"] - more["gain"]) > 0.5:
                yield f"gain is {s['gain_percent']}, not {more['gain']}"
            if "explains" in more and more["explains"] not in s["explains"]:
                yield f"explains {s['explains']}"
            if more.get("-explains") in s["explains"]:
                yield f"explains {s['explains']}"


def parts_of_openmp_runs_add_up(tap, lode, folder):
    """Two processes of 4 and 2 threads; the second one ends after a third of the run."""
    said = ask(lode, write(folder / "two-processes", [*openmp(30, [60, 40, 20, 20]), *openmp(10, [20, 10], pid=500)]))
    whole = 6 * 90
    wanted = {"parallel": (30 + 140 + 10 + 30) / whole, "process": (4 * 90 + 2 * 30) / whole, "serial": 1 - (30 * 3 + 10) / whole,
              "openmp": 1 - (4 * 60 - 140 + 2 * 20 - 30) / whole, "rank_balance": (90 + 30) / 2 / 90, "rank_communication": 1}
    wrong = [f"{key}: {said['efficiency'][key]}, not {value}" for key, value in wanted.items() if abs(said["efficiency"][key] - value) > 2e-3]
    wrong += [] if abs(sum(wanted[key] for key in ("process", "serial", "openmp")) - 2 - wanted["parallel"]) < 1e-9 else ["they do not add up"]
    tap.check(not wrong, "OpenMP: process + serial + regions - 2 is the parallel efficiency", wrong)


def damaged_files_are_said(tap, lode, folder):
    """A thread whose file is missing cannot be compared with the others; a thread that sleeps still does."""
    path = write(folder / "a-file-is-missing", shares([80 * MS, 20 * MS, 80 * MS]))
    (path / "101.dat").unlink()
    said = ask(lode, path)
    tap.check([note["id"] for note in said["quality"]][0] == "damaged" and said["efficiency"] is None
              and not [s for s in said["statements"] if s["id"] != "hot-spot"], "a file is missing: a note, and threads are not compared",
              [said["quality"], said["statements"]])
    path = write(folder / "a-line-is-malformed", single_wait(30 * MS, 60 * MS, count=30))
    with (path / "task.txt").open("a") as file:
        file.write("TASK timestamp=x\n")
    said = ask(lode, path)
    tap.check([note["id"] for note in said["quality"]][0] == "damaged" and {s["id"] for s in said["statements"]} == {"sleep", "hot-spot"},
              "a malformed line of task.txt: a note, and what does not compare threads is judged", [said["quality"], said["statements"]])


def rules_of_a_user_decide(tap, lode, folder):
    """Also that a function of a library is one of the program."""
    path = write(folder / "kinds", io(20, 1 * MS, 40 * MS))
    (folder / "kinds.txt").write_text("own * write\n")
    said = [{s["id"] for s in ask(lode, path, *options)["statements"]} - {"hot-spot"} for options in ((), ("--kinds", folder / "kinds.txt"))]
    tap.check(said == [{"file-io"}, set()], "a rule of the user says that write is own code", said)
    path = write(folder / "bodies", io(20, 1 * MS, 40 * MS, name="main._omp_fn.0"))
    (folder / "bodies.txt").write_text("sleep * main._omp_fn.0\n")
    said = [{row["activity"] for row in ask(lode, path, *options)["activities"]} for options in ((), ("--kinds", folder / "bodies.txt"))]
    tap.check("sleep" not in said[0] and "sleep" in said[1], "a rule of the user decides about the body of a region", said)


def texts_name_the_largest(tap, lode, folder):
    """Five callers with a fifth each have no most; the evidence of churn is the function that is called most."""
    def fill(thread):
        for _ in range(50):
            thread.work("solve", 1000)
            for name in "abcde":
                with thread.call("use_" + name):
                    thread.work("malloc", 50)
    text = ask(lode, write(folder / "equal", main_with(fill)))["statements"][0]["text"]
    tap.check("the largest part in malloc" in text, "no part is called most that is not", [text])

    def build(thread):
        with thread.call("build"):
            thread.work("calloc", 1)
            for _ in range(100_000):
                thread.work("malloc", 0.2)
    found = [s for s in ask(lode, write(folder / "build", main_with(build)))["statements"] if s["id"] == "churn"]
    tap.check(len(found) == 1 and "100,001 times, 100,001 times in each call" in found[0]["text"], "numbers are as people write them", found)
    texts = [e["text"] for s in found for e in s["evidence"]]
    tap.check(texts and texts[0].startswith("malloc below build"), "churn shows the function that is called most", texts)


def functions_of_one_name_are_one(tap, lode, folder):
    """A function that the program and a library have: one row of `lode top`, which says so, and one hot spot."""
    def fill(thread):
        for _ in range(30):
            thread.work("alone", 900).work("work", 600).work("ztwin", 500)
    path = write(folder / "twins", main_with(fill))
    # From the last function on, the addresses are those of a library, which calls it as the program does another one.
    symbols = (path / "prog.sym").read_text().splitlines()
    address = int(symbols[-1].split()[0], 16)
    assert symbols[-1].endswith("ztwin"), symbols
    (path / "prog.sym").write_text("\n".join(["# symbols: %d" % (len(symbols) - 3), *symbols[1:-1]]) + "\n")
    (path / "libtwin.so.sym").write_text("# symbols: 1\n# path name: /opt/x/libtwin.so\n%016x 00000040 T work\n" % 0)
    entry = next(path.glob("sid-*.map"))
    begin, end = (int(word, 16) for word in entry.read_text().split()[0].split("-"))
    entry.write_text("".join("%x-%x r-xp 00000000 00:00 0                          /opt/x/%s\n" % line for line in (
        (begin, begin + address, "prog"), (begin + address, end, "libtwin.so"))))
    answer = json.loads(subprocess.run([lode, "top", "--json", path], capture_output=True, text=True, check=True).stdout)
    rows = {row["name"]: row for row in answer["rows"]}
    whole = 30 * 1100 * 1000
    tap.check(rows["work"]["self_ns"] == whole and rows["work"]["functions"] == 2 and rows["work"]["module"] is None and rows["work"]["kind"] is None and rows["work"]["has_several_modules"],
              "a row of two modules", [rows["work"]])
    tap.check(not rows["alone"]["has_several_modules"] and rows["alone"]["kind"] == "own", "another row", [rows["alone"]])
    text = subprocess.run([lode, "top", path], capture_output=True, text=True, check=True).stdout
    tap.check("1 row adds up functions of one name in several modules (--by symbol lists them)" in text and "(several)" in text, "the text says so", [text])
    said = next(s for s in ask(lode, path)["statements"] if s["id"] == "hot-spot")
    tap.check(said["function"] == "work" and f"{100 * whole / answer['total_ns']:.1f}%" in said["text"] and ": 60 calls of" in said["text"], "the hot spot is the same row", [said])
    tap.check(any("several modules" in evidence["text"] and "symbol" in evidence["command"] for evidence in said["evidence"]), "and says so", [said])


def being_preempted_is_nothing_that_a_program_does(tap, lode, folder):
    def fill(thread):
        for _ in range(40):
            with thread.call("compute"):
                thread.run(500)
                thread.preempt(1500)
            with thread.call("check"):
                thread.run(500)
    text = subprocess.run([lode, "diagnose", write(folder / "stolen", main_with(fill))], capture_output=True, text=True, check=True).stdout
    tap.check("Nothing stands out.\nMost time: own code, 100% of the time of threads without off-CPU time.\nNot looked at: " in text,
              "nothing stands out: the largest share of time, and rules that could not look", [text])


def commands_fail(said):
    for s in said["statements"]:
        for evidence in s["evidence"]:
            if evidence["command"]:
                yield evidence["command"]


def look_at(tap, lode, folder, case):
    name, threads, ids, notes, more = (*case, {})[:5]
    path = write(folder / name.replace(" ", "-").replace(":", "").replace("/", ""), threads, more.get("processors", 8), more.get("has_sched", True), more.get("has_perf", False))
    said = ask(lode, path, "--threads", "1")
    if "failed" in said:
        tap.check(False, name, [said["failed"]])
        return
    tap.check(not (wrong := list(wrong_with(said, ids, notes, more))), name, wrong)
    if "launcher" not in name:
        tap.check(not (wrong := differences(said, reference.run(path))), f"{name}: figures", wrong)
    parts = said["efficiency"]
    tap.check(not parts or abs(parts["parallel"] - parts["load_balance"] * parts["communication"]) < 1e-9, f"{name}: efficiency is load balance x communication", [parts])
    tap.check(all(ask(lode, path, "--threads", count) == said for count in ("2", "7")), f"{name}: the same with 2 and 7 threads", [])
    for command in commands_fail(said):
        done = subprocess.run([lode, *command[1:]], capture_output=True, text=True, check=False)
        tap.check(done.returncode == 0, f"{name}: {' '.join(command[:3])} works", [done.stderr])


def damaged_recordings_do_not_end_it(tap, lode, folder):
    """Truncated files and flipped bits: an answer or an error, no crash."""
    wrong = []
    for seed in range(24):
        path = write(folder / f"damaged-{seed}", lock(800, 800, 100, rounds=5))
        victim = sorted(path.glob("*.dat"))[seed % 4]
        data = bytearray(victim.read_bytes())
        if seed % 2:
            del data[(seed * 37) % max(1, len(data)):]
        else:
            for k in range(seed, len(data), 97):
                data[k] ^= 1 << seed % 8
        victim.write_bytes(data)
        done = subprocess.run([lode, "diagnose", "--all", path], capture_output=True, text=True, check=False)
        if done.returncode not in (0, 2):
            wrong.append(f"seed {seed}: {done.returncode} {done.stderr[-300:]}")
    tap.check(not wrong, "damaged recordings do not end it", wrong)


def many_waits(count, waits):
    """Threads that wait for a lock by turns."""
    threads = []
    for i in range(count):
        thread = Thread(tid=100 + i, pid=100, begin=i % 50)
        with thread.call("worker"):
            for k in range(waits):
                thread.work("compute", 20 + (i * 7 + k * 3) % 20)
                thread.wait("pthread_mutex_lock", 50 + (i * 5 + k * 11) % 100)
                thread.work("pthread_mutex_unlock", 1)
        threads.append(thread)
    return threads


def seconds_of(lode, command, path):
    """Processor time of a command, the shortest of three."""
    best = None
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([lode, command, "--threads", "1", path], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = spent if best is None else min(best, spent)
    return best


def waits_of_many_threads_take_little_time(tap, lode, folder):
    write(folder / "waiting", many_waits(4000, 40), processors=9999)
    times = [seconds_of(lode, command, folder / "waiting") for command in ("top", "diagnose")]
    # Measured: 1.5 times as long as `top`; 4.4 times with a loop over threads at each change.
    tap.check(times[1] < 2.5 * times[0], "waits of many threads take little time", times)


def left_out_waits_are_said(tap, lode, folder):
    write(folder / "many", many_waits(1, 70000))
    notes = ask(lode, folder / "many")["quality"]
    tap.check(any(note["id"] == "short-waits" for note in notes), "waits that are left out are said", notes)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True, help="the program to test")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lode-answers-") as name:
        for case in (*CASES, *COSTS):
            if options.only in case[0]:
                look_at(tap, options.lode, Path(name), case)
        parts_of_openmp_runs_add_up(tap, options.lode, Path(name))
        rules_of_a_user_decide(tap, options.lode, Path(name))
        functions_of_one_name_are_one(tap, options.lode, Path(name))
        being_preempted_is_nothing_that_a_program_does(tap, options.lode, Path(name))
        texts_name_the_largest(tap, options.lode, Path(name))
        damaged_files_are_said(tap, options.lode, Path(name))
        damaged_recordings_do_not_end_it(tap, options.lode, Path(name))
        waits_of_many_threads_take_little_time(tap, options.lode, Path(name))
        left_out_waits_are_said(tap, options.lode, Path(name))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
