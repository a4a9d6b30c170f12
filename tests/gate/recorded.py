# SPDX-License-Identifier: BSD-3-Clause
"""Runs of a program that uftrace records, and what `lode gate` says of them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from tap import Tap  # noqa: E402,F401

SECONDS = 300


def missing():
    """What is not installed; None: nothing."""
    for name in ("uftrace", "gcc"):
        if shutil.which(name) is None:
            return f"there is no {name}"
    return None


def compile_program(folder, *words, name="work"):
    subprocess.run(["gcc", "-O2", "-pg", "-o", name, str(HERE / "work.c"), *words], cwd=folder, check=True, timeout=SECONDS)


def priority():
    """Before the command, where that is allowed: other programs do not interrupt it."""
    words = ["chrt", "-f", "1"]
    is_allowed = shutil.which("chrt") and subprocess.run([*words, "true"], capture_output=True).returncode == 0
    return words if is_allowed else []


def record(folder, name, slower=0, program="work", before=()):
    """One run. Where that is allowed, it has the times when the program did not run, which running time is without."""
    subprocess.run([*before, "uftrace", "record", "-d", name, f"./{program}"], cwd=folder, check=True, timeout=SECONDS,
                   env={**os.environ, "SLOWER": str(slower)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return name


def gate(lode, folder, *words):
    """(exit status, verdicts as JSON, or the error)."""
    done = subprocess.run([lode, "gate", "--json", *words], cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr
