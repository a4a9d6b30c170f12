# SPDX-License-Identifier: BSD-3-Clause
"""Programs that others wrote and that read what Lode exports."""

import json
import os
import subprocess
from pathlib import Path

LARGE = 16 << 20  # bytes that are worth a compiler that optimizes


def where():
    """The folder of the validators, set up; None if there is none."""
    folder = os.environ.get("LODE_VALIDATORS")
    return Path(folder) if folder and (Path(folder) / "node_modules").is_dir() else None


def environment(path):
    """What makes readers start sooner."""
    if Path(path).is_file() and Path(path).stat().st_size >= LARGE:
        return None
    return {**os.environ, "NODE_OPTIONS": f"--require {Path(__file__).resolve().with_name('liftoff.cjs')}"}


def run(script, path, *more, timeout=300):
    """(status, what it printed) of a validator: 0 accepted, 1 refused."""
    # Modules that Debian packages have are those of its own Python.
    program = "/usr/bin/python3" if script.endswith(".py") else "node"
    done = subprocess.run([program, str(where() / script), str(path), *more], capture_output=True, text=True, timeout=timeout, env=environment(path))
    try:
        return done.returncode, json.loads(done.stdout)
    except ValueError:
        return done.returncode or 1, {"error": (done.stderr or done.stdout)[:500]}
