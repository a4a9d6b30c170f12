#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Recordings that perf makes here and now: what Lode says of them follows from what `perf script` of the same machine shows: events, threads, and
the own cost of each function of the program. Skips where perf is missing or not permitted.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tools")]

from tap import Tap  # noqa: E402

RECORDINGS = {
    "call chains": (["-g", "-F", "999", "-e", "cpu-clock:u"], []),
    "threads and switches": (["-g", "-F", "999", "--switch-events", "-e", "cpu-clock:u"], ["threads"]),
    "fork and exec, a fixed period": (["--sample-cpu", "-c", "1000000", "-e", "task-clock:u"], ["fork"]),
    "two events": (["-g", "-F", "499", "-e", "cpu-clock:u,page-faults:u"], ["threads"]),
    "compressed": (["-z", "-g", "-F", "999", "-e", "cpu-clock:u"], []),
    "unwound stacks": (["--call-graph", "dwarf,4096", "-F", "499", "-e", "cpu-clock:u"], ["threads"]),
    "unwound stacks, compressed": (["-z", "--call-graph", "dwarf,4096", "-F", "499", "-e", "cpu-clock:u"], []),
    "system-wide": (["-a", "-g", "-F", "199", "-e", "cpu-clock"], ["threads"]),
    "a group that is read": (["-F", "499", "-e", "{cpu-clock,page-faults}:S"], []),
}
HEAD = re.compile(r"^(?P<comm>.*?)\s+(?P<pid>-?\d+)/(?P<tid>-?\d+)\s+(?:\[\d+\]\s+)?(?:[\d.]+:\s+)?(?P<period>\d+)\s+(?P<event>\S+):(?P<rest>\s.*)?$")
# Names of C++ and paths can have " (", too: the module is the last part that begins as one.
FRAME = re.compile(r"^\s+[0-9a-f]+\s+(?P<symbol>.*)\s+\((?P<module>(?:[/\[]|inlined).*)\)$")


def run(*words, **more):
    return subprocess.run(list(map(str, words)), capture_output=True, check=False, **more)


def scripted(path):
    """Samples of perf script: (thread, event, period, symbols and modules of the frames, the innermost first)."""
    text = run("perf", "script", "--no-inline", "-i", path, "-F", "comm,pid,tid,event,period,ip,sym,dso").stdout.decode(errors="replace")
    found = []
    for line in text.split("\n"):
        head, frame = HEAD.match(line), FRAME.match(line)
        if head and not line.startswith("\t"):
            found.append((int(head["tid"]), head["event"], int(head["period"]), []))
            frame = FRAME.match(" " + (head["rest"] or ""))
        if frame and found:
            found[-1][3].append((frame["symbol"], frame["module"]))
    return found


def ask(lode, *words):
    done = run(lode, *words)
    if done.returncode != 0:
        raise RuntimeError(f"lode {' '.join(map(str, words))}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout)


def near(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1)


def differences(lode, path, program):
    wrong = []
    samples = scripted(path)
    if not samples:
        return ["perf shows no samples"]
    for event in {sample[1] for sample in samples}:
        own = [sample for sample in samples if sample[1] == event]
        is_time = "clock" in event
        unit = 1e-9 if is_time else 1
        metric = event + (" (sec)" if is_time else "")
        answer = ask(lode, "top", "--json", "--limit", 0, "--by", "symbol", "-m", metric, path)
        total = sum(sample[2] for sample in own) * unit
        if not near(answer["total"], total):
            wrong.append(f"{metric}: {answer['total']} instead of {total}")
        functions, callers = Counter(), Counter()
        for sample in own:
            frames = [symbol for symbol, module in sample[3] if module == str(program)]
            if frames and sample[3][0][1] == str(program):
                functions[frames[0]] += sample[2] * unit
            callers.update({name: sample[2] * unit for name in set(frames)})
        rows = {row["function"]: row for row in answer["rows"] if row["module"] == str(program)}
        for name, cost in callers.items():
            row = rows.get(name, {"exclusive": 0, "inclusive": 0})
            if not near(row["exclusive"], functions[name]) or not near(row["inclusive"], cost):
                wrong.append(f"{metric}, {name}: {row['exclusive']}, {row['inclusive']} instead of {functions[name]}, {cost}")
    threads = len({sample[0] for sample in samples})
    found = ask(lode, "info", "--json", path)["profiles"]
    if isinstance(found, int) and found - 1 < threads:
        wrong.append(f"{found} profiles of {threads} threads")
    return wrong


def modules(lode, path, samples, metric="cpu-clock:u (sec)"):
    """Own costs by module, of perf script and of Lode, if they differ."""
    wanted, found = Counter(), Counter()
    for _, _, period, frames in samples:
        wanted["//anon" if frames[0][1].startswith("/tmp/perf-") else frames[0][1]] += period * 1e-9
    for row in ask(lode, "top", "--json", "--limit", 0, "--by", "module", "-m", metric, path)["rows"]:
        found[row["module"]] += row["exclusive"]
    return [f"{name}: {found[name]} instead of {wanted[name]}" for name in {*wanted, *found} if name and not near(wanted[name], found[name])]


def check_dlopen(tap, lode, program, plugin, scratch):
    """Two libraries, one after the other, mostly at the same addresses."""
    path, libraries = scratch / "dlopen.data", [scratch / "libred.so", scratch / "libgreen.so"]
    for library in libraries:
        shutil.copy(plugin, library)
    run("perf", "record", "-q", "-g", "-F", "999", "-e", "cpu-clock:u", "-o", path, "--", program, "dlopen", *libraries)
    samples = scripted(path)
    wrong = modules(lode, path, samples)
    seen = {frames[0][1] for _, _, _, frames in samples}
    rows = ask(lode, "top", "--json", "--limit", 0, "--by", "symbol", path)["rows"]
    named = {row["module"] for row in rows if row["function"] == "plugin_work"}
    wanted = {str(library) for library in libraries}
    tap.check(not wrong and wanted <= seen and named == wanted, "dlopen: costs of libraries are those of perf script", [*wrong[:8], seen, named])


def check_map(tap, lode, what, words, function, scratch):
    """Code that an interpreter or a compiler made, with names from /tmp/perf-PID.map."""
    path = scratch / f"{what}.data"
    run("perf", "record", "-q", "-g", "-F", "999", "-e", "cpu-clock:u", "-o", path, "--", *words, cwd=scratch)
    samples = scripted(path)
    wrong = modules(lode, path, samples)
    made = {symbol for _, _, _, frames in samples for symbol, module in frames if module.startswith("/tmp/perf-")}
    rows = {row["function"] for row in ask(lode, "top", "--json", "--limit", 0, "--by", "symbol", path)["rows"] if row["module"] == "//anon"}
    # An interpreter without frame pointers has its own code in few samples, if any.
    is_named = any(function in name for name in rows) or not any(function in name for name in made)
    tap.check(not wrong and is_named, f"{what}: costs of modules are those of perf script, and {function} has its name", [*wrong[:8], sorted(rows)[:8]])
    for number in {module for _, _, _, frames in samples for _, module in frames if module.startswith("/tmp/perf-")}:
        Path(number).unlink(missing_ok=True)


def perf_python():
    """A Python that writes maps for perf; None: there is none."""
    test = "import sys; sys.exit(not sys.is_stack_trampoline_active())"
    beside = sorted(Path(sys.base_prefix).parent.glob("3.1[2-9]*/bin/python3"))
    candidates = [sys.executable, *filter(None, map(shutil.which, ("python3.14", "python3.13", "python3.12"))), *beside]
    return next((python for python in candidates if run(python, "-X", "perf", "-c", test).returncode == 0), None)


def check_maps(tap, lode, scratch):
    programs = Path(__file__).resolve().parent / "programs"
    python = perf_python()
    if python:
        check_map(tap, lode, "Python", [python, "-X", "perf", programs / "work.py"], "inner_work", scratch)
    else:
        tap.skip("Python with a map", "no Python here writes one: it needs 3.12")
    if shutil.which("node") is None:
        tap.skip("Node with a map", "node is missing")
        return
    check_map(tap, lode, "Node", ["node", "--perf-basic-prof", programs / "work.js"], "innerWork", scratch)
    path = scratch / "dump.data"
    run("perf", "record", "-q", "-k", "mono", "-g", "-F", "999", "-e", "cpu-clock:u", "-o", path, "--", "node", "--perf-prof", programs / "work.js", cwd=scratch)
    rows = [row for row in ask(lode, "top", "--json", "--limit", 0, "--by", "symbol", path)["rows"] if row["module"]]
    named = [row for row in rows if row["module"].endswith(".dump") and "innerWork" in (row["function"] or "")]
    share = sum(row["exclusive"] for row in named) / (sum(row["exclusive"] for row in rows) or 1)
    others = [row["function"] for row in rows if row["module"].endswith(".dump") and row["function"].startswith("[")]
    tap.check(bool(named) and not others and share > 0.05, "Node: functions have names from its dump (jitdump)", [share, others, rows[:3]])


SCHEDULED = re.compile(r"^\s*(?P<comm>.*?)\s+(?P<tid>-?\d+)\s+(?P<seconds>\d+)\.(?P<rest>\d{9}):\s+sched:(?P<event>\w+):\s+(?P<fields>.*)$")


def waits(path):
    """Off-CPU nanoseconds by the name of who ended them, from what perf script shows of switches; None: nobody."""
    text = run("perf", "script", "--ns", "-i", path, "-F", "comm,tid,time,event,trace").stdout.decode(errors="replace")
    out, wakers, sums = {}, {}, Counter()

    def arrive(tid, time):
        if tid in out:
            sums[wakers.pop(tid, None)] += time - out.pop(tid)

    for line in text.splitlines():
        match = SCHEDULED.match(line)
        if match is None:
            continue
        tid, time, fields = int(match["tid"]), int(match["seconds"] + match["rest"]), match["fields"]
        if match["event"] == "sched_switch":
            if tid not in out:
                out[tid] = time
            other = int(re.search(r"next_pid=(\d+)", fields)[1])
            arrive(other, time)
        else:
            woken = int(re.search(r" pid=(\d+)", fields)[1])
            if woken in out:
                wakers.setdefault(woken, match["comm"])
    return sums


def check_waits(tap, lode, program, scratch):
    """With all processors, each switch to a thread is recorded, too."""
    path = scratch / "waits.data"
    done = run("perf", "record", "-q", "-a", "-e", "sched:sched_switch,sched:sched_waking", "-o", path, "--", program, "threads")
    if done.returncode != 0:
        tap.skip("off-CPU time", "perf does not record it here")
        return
    wanted = waits(path)
    total = ask(lode, "top", "--json", "--limit", 1, "-m", "off-CPU (sec)", path)["total"]
    found = Counter()
    tree = ask(lode, "tree", "--json", "--limit", 0, "--depth", 0, "--min-percent", 0, "-m", "off-CPU (sec)", path)
    for row in tree["rows"]:
        if row["name"].startswith("woken by "):
            found[row["name"][len("woken by ") :]] += row["inclusive"]
    whole = sum(wanted.values()) * 1e-9
    # Threads of other PID namespaces all have the id 0 or -1, and cannot be distinguished.
    own = "busy"
    wrong = [] if near(found[own], wanted[own] * 1e-9) else [f"woken by {own}: {found[own]} instead of {wanted[own] * 1e-9}"]
    wrong += [] if near(total, whole) else [f"{total} instead of {whole}"]
    tap.check(not wrong and wanted[own] > 0, "off-CPU time, and who ended it, follow from the switches of perf script", [*wrong, wanted, found])


def check_killed(tap, lode, program, scratch):
    """perf itself shows nothing of a recording that it could not finish."""
    path = scratch / "killed.data"
    recorder = subprocess.Popen(["perf", "record", "-q", "-m", "2", "-F", "999", "-e", "cpu-clock:u", "-o", path, "--", program, "forever"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    for _ in range(6000):
        if path.exists() and path.stat().st_size > 1 << 14:
            break
        try:
            recorder.wait(0.01)
            break
        except subprocess.TimeoutExpired:
            pass
    os.killpg(recorder.pid, signal.SIGKILL)
    recorder.wait()
    findings = ask(lode, "check", "--json", path)
    rules = {finding["rule"] for finding in findings["findings"]}
    tap.check("perf-unfinished" in rules and findings["result"]["samples"] > 0, "killed: what was written is read, and said to be unfinished", [findings])


def said(lode, *words):
    """What a command says on standard error, and what it prints."""
    done = run(lode, *words)
    return done.stderr.decode(errors="replace"), done.stdout.decode(errors="replace")


def check_binary(tap, lode, program, scratch):
    """Names that are missing are said: which binary, why, and of how many samples."""
    path, binary = scratch / "binary.data", scratch / "moved"
    shutil.copy(program, binary)
    run("perf", "record", "-q", "-g", "-F", "999", "-e", "cpu-clock:u", "-o", path, "--", binary)
    content = binary.read_bytes()
    total = int(ask(lode, "top", "--json", "--limit", 1, "-m", "cpu-clock:u:samples", path)["total"])

    def check(what, pattern):
        wanted = re.compile(rf"perf-binary \({re.escape(str(binary))}: \d+ addresses have no name \(\d+ of {total} samples?\): {pattern}")
        build, listed = scratch / what.split()[-1], said(lode, "check", "--level", "full", path)[1]
        for words in (("top", path), ("tree", path), ("build", path, "-o", build)):
            text, _ = said(lode, *words)
            tap.check(bool(wanted.search(text)), f"{what}: 'lode {words[0]}' says so", [text])
        is_listed = re.search(rf"^warning perf-binary {re.escape(str(binary))}: .*{pattern}", listed, re.MULTILINE)
        tap.check(bool(is_listed), f"{what}: 'lode check --level full' lists it", [listed])

    binary.unlink()
    text, shown = said(lode, "top", path)
    tap.check("inner" in shown and "perf-binary" not in text, "a binary that is gone is found in perf's cache", [text, shown])
    (Path.home() / ".debug").rename(Path.home() / "kept")
    check("a binary is missing", "the file is missing")
    shutil.copy("/bin/true", binary)
    check("a binary is another", "the file has another build id")
    binary.write_bytes(content)
    text, shown = said(lode, "top", path)
    tap.check("inner" in shown and text == "", "a copy of the binary has its names, and nothing is said", [text, shown])
    loops = ask(lode, "top", "--json", "--by", "loop", "-m", "cpu-clock:u (sec)", path)["rows"]
    tap.check(loops and loops[0]["function"] == "inner" and loops[0]["exclusive_percent"] > 50, "the loop of inner has most of the time", [loops[:3]])


def check_reader(tap, lode, scratch):
    """A program that reads binaries and fails costs names, and nothing else."""
    plugins = scratch / "plugins"
    plugins.mkdir()
    (plugins / "lode-symbols").write_text("#!/bin/sh\nexit 1\n")
    (plugins / "lode-symbols").chmod(0o755)
    done = run(lode, "check", "--level", "full", "--json", scratch / "binary.data", env={**os.environ, "LODE_PLUGINS": str(plugins)})
    rules = {finding["rule"]: finding["severity"] for finding in json.loads(done.stdout)["findings"]}
    tap.check(rules == {"perf-binary": "warning", "perf-binary-unread": "note"}, "binaries that cannot be read are said to be unread", [rules])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--plugin", required=True, help="a library that the program opens")
    parser.add_argument("--symbols", required=True, help="the program lode-symbols")
    options = parser.parse_args()
    os.environ["LODE_PLUGINS"] = str(Path(options.symbols).resolve().parent)
    tap = Tap()
    program = Path(options.program).resolve()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        # perf keeps binaries there, by build id.
        os.environ["HOME"] = str(scratch / "home")
        (scratch / "home").mkdir()
        tried = run("perf", "record", "-q", "-e", "cpu-clock:u", "-o", scratch / "try.data", "--", "true") if shutil.which("perf") else None
        if tried is None or tried.returncode != 0 or not (scratch / "try.data").exists():
            tap.skip("fresh recordings", "perf is missing, or not permitted here")
            return tap.finish()
        for number, (name, (words, arguments)) in enumerate(RECORDINGS.items()):
            path = scratch / f"{number}.data"
            done = run("perf", "record", "-q", *words, "-o", path, "--", program, *arguments)
            if done.returncode != 0:
                tap.skip(name, "perf does not record it here")
                continue
            wrong = differences(options.lode, path, program)
            tap.check(not wrong, f"{name}: costs of functions are those of perf script", wrong[:8])
        check_dlopen(tap, options.lode, program, options.plugin, scratch)
        check_maps(tap, options.lode, scratch)
        check_waits(tap, options.lode, program, scratch)
        check_killed(tap, options.lode, program, scratch)
        check_binary(tap, options.lode, program, scratch)
        check_reader(tap, options.lode, scratch)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
