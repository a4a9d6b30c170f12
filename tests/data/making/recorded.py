# SPDX-License-Identifier: BSD-3-Clause
"""Recordings of small programs by the uftrace of this machine, and what it prints of them. Their times are those of one run."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"
PRINTED = {"report": ("report",), "report_self": ("report", "-s", "self"), "report_task": ("report", "--task"), "replay": ("replay",), "graph": ("graph",), "dump": ("dump",)}
# What tells nothing about the calls, but something about a machine.
PERSONAL = ((rb"(hostname)=[^\n]*", rb"\1=localhost"), (rb"(kernel)=[^\n]*", rb"\1=Linux"), (rb"(cpuinfo:desc)=[^\n]*", rb"\1=a processor"))
WHERE = b"/opt/programs"


class Program(NamedTuple):
    source: str
    compile: tuple = ("-pg",)
    record: tuple = ()
    arguments: tuple = ()
    printed: tuple = tuple(PRINTED)


# uftrace counts calls that processes inherit, and waits of tasks, otherwise (tests/recordings/differences.py): of these only its dump is kept.
RECORDED = {
    "args": Program("args.c", ("-pg", "-g"), ("-a",)),
    "args-named": Program("args.c", ("-pg",), ("-A", "add@arg1/i32,arg2/i32", "-R", "add@retval/i32", "-A", "scale@fparg1/64", "-A", "length_of@arg1/s", "-R", "name_of@retval/s")),
    "instrumented": Program("args.c", ("-finstrument-functions",), ("--no-libcall",)),
    "workers": Program("workers.c", printed=("dump",)),
    "workers-calls": Program("workers.c", record=("--no-event",)),
    "children": Program("children.c", record=("--no-event",), printed=("dump",)),
    "throws": Program("throws.cc", record=("--no-event",)),
    "jumps": Program("jumps.c", printed=()),
    "ended": Program("jumps.c", arguments=("now",), printed=()),
}


def _run(*words, may_fail=False, **options):
    done = subprocess.run([*map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, **options)
    if done.returncode and not may_fail:
        raise SystemExit(f"{' '.join(map(str, words))}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def _clean(data, folder):
    for path in data.iterdir():
        # Records are binary; the head of info is, too, but has no text.
        if path.suffix == ".dat":
            continue
        # Large; calls of libraries have the names that the program has for them.
        if path.suffix == ".sym" and data.parent.name not in (path.stem, "args"):
            path.unlink()
            continue
        bytes = path.read_bytes().replace(str(folder).encode(), WHERE)
        for pattern, text in PERSONAL if path.name == "info" else ():
            bytes = re.sub(pattern, text, bytes)
        path.write_bytes(bytes)


def _record(name, program, target, folder):
    source = PROGRAMS / program.source
    exe, data = folder / name, target / name / "uftrace.data"
    _run("g++" if source.suffix == ".cc" else "gcc", "-O0", *program.compile, "-pthread", "-o", exe, source)
    data.parent.mkdir(parents=True)
    _run("uftrace", "record", "-d", "uftrace.data", *program.record, exe, *program.arguments, cwd=folder, may_fail=bool(program.arguments))
    shutil.move(folder / "uftrace.data", data)
    words = " ".join((*program.record, f"./{name}", *program.arguments))
    (target / name / "COMMAND").write_text(f"gcc -O0 {' '.join(program.compile)} {program.source}; uftrace record -d uftrace.data {words}\n")
    _clean(data, folder)
    for file in program.printed:
        words, printed = PRINTED[file], target / name / "golden13"
        printed.mkdir(exist_ok=True)
        (printed / f"{file}.txt").write_bytes(_run("uftrace", words[0], "-d", data, *words[1:], "--no-pager", "--color=no"))


def make(target):
    if not shutil.which("uftrace"):
        raise SystemExit("uftrace is not installed")
    with tempfile.TemporaryDirectory() as folder:
        for name, program in RECORDED.items():
            _record(name, program, target, Path(folder))
