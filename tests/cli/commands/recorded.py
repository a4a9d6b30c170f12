# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of 'lode record' share: programs to record, tools that stand in for real ones, and what is said."""

import contextlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import cli  # noqa: E402

SOURCE = cli.ROOT / "tests" / "cli" / "programs" / "recorded.c"
HAS_CALLS = ("-pg",)
FLAGS = {
    "plain": ("-fomit-frame-pointer",),
    "frames": ("-fno-omit-frame-pointer",),
    "calls": HAS_CALLS,
    "hooks": ("-finstrument-functions",),
    "patchable": ("-fpatchable-function-entry=5",),
    "static": ("-pg", "-static"),
}
X86_FLAGS = {"fentry": ("-pg", "-mfentry"), "nops": ("-pg", "-mfentry", "-mnop-mcount", "-fno-pie", "-no-pie")}
# A tool that writes its words, one a line, makes the directory of -o or -d, and runs the program. It is no hpcrun: what a test
# shows with it is how the tool is called.
STAND_IN = """#!/bin/sh
printf '%s\\n' "$0" "$@" >"{log}"
while [ $# -gt 0 ]; do
    case "$1" in
    -o | -d) /bin/mkdir -p "$2"; echo something >"$2/file"; shift 2 ;;
    -e) shift 2 ;;
    -*) shift ;;
    record) shift ;;
    *) exec "$@" ;;
    esac
done
"""


def compiler():
    return shutil.which("gcc") or shutil.which("cc")


def variants():
    return {**FLAGS, **(X86_FLAGS if platform.machine() == "x86_64" else {})}


def compile_program(folder, name, *flags):
    """A program in the folder; None if this compiler cannot make it so."""
    path = Path(folder) / name
    done = subprocess.run([compiler(), "-O2", "-g", *flags, "-o", path, SOURCE], capture_output=True, check=False)
    return path if done.returncode == 0 else None


def put_script(path, text):
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def put_tools(folder, *names):
    """Stand-ins that write what they are called with into FOLDER/NAME.log; returns the folder."""
    folder.mkdir(exist_ok=True)
    for name in names:
        put_script(folder / name, STAND_IN.format(log=folder / f"{name}.log"))
    return folder


def logged(folder, name):
    """What a stand-in was called with, without its path."""
    return (folder / f"{name}.log").read_text(encoding="utf-8").splitlines()[1:]


NOBODY = 65534


def can_run(program, folder):
    """Whether a user without rights can run the program in a folder."""
    try:
        return program.run("version", cwd=folder, user=NOBODY).status == 0
    except OSError:
        return False


@contextlib.contextmanager
def scratch():
    """An empty directory, and no variables of launchers around it."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name).resolve()


def why_no_perf(program):
    """Why perf cannot be tested here; None: it can."""
    if not shutil.which("perf"):
        return "perf is not installed"
    with scratch() as folder:
        asked = program.run("record", "--with", "perf", "--dry-run", "true", cwd=folder)
    return None if asked.status == 0 else f"perf is not permitted: {asked.err.strip().splitlines()[-1]}"


def why_not_read(program, store):
    """Why no answer follows from a file of perf; None: one does."""
    asked = program.run("info", store, cwd=store.parent)
    return None if asked.status == 0 else "this program does not read files of perf"


def is_alive(pid):
    """A process that has ended may still wait for its parent."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def words_of(line):
    """How bash reads a line that was printed."""
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {line}"], stdout=subprocess.PIPE, check=True)
    return [os.fsdecode(word) for word in done.stdout.split(b"\0")[:-1]]
