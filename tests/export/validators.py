# SPDX-License-Identifier: BSD-3-Clause
"""Programs that others wrote and that read what Lode exports."""

import json
import os
import subprocess
from pathlib import Path


def where():
    """The folder of the validators, set up; None if there is none."""
    folder = os.environ.get("LODE_VALIDATORS")
    return Path(folder) if folder and (Path(folder) / "node_modules").is_dir() else None


def run(script, path, *more, timeout=300):
    """(status, what it printed) of a validator: 0 accepted, 1 refused."""
    # Modules that Debian packages have are those of its own Python.
    program = "/usr/bin/python3" if script.endswith(".py") else "node"
    done = subprocess.run([program, str(where() / script), str(path), *more], capture_output=True, text=True, timeout=timeout)
    try:
        return done.returncode, json.loads(done.stdout)
    except ValueError:
        return done.returncode or 1, {"error": (done.stderr or done.stdout)[:500]}
