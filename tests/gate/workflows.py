#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The workflows of doc/ci.md: their commands are run here, in the order of the file, for a first run of the main branch, for a
change that changes nothing, and for one with more calls: workflows.py --lode PROGRAM

What only the service can do (uses:, caches, artifacts, packages) is left out; folders stay as a cache would keep them.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from recorded import HERE, ROOT, SECONDS, Tap, missing

try:
    import yaml
except ImportError:
    yaml = None

DOCUMENT = ROOT / "doc" / "ci.md"
MAIN, CHANGE = "main", "change"


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def github_commands(workflow, branch):
    """Steps of the job that run commands; those of packages need the service."""
    for step in workflow["jobs"]["gate"]["steps"]:
        condition = step.get("if", "")
        assert condition in ("", "github.ref == 'refs/heads/main'"), condition
        if "run" in step and "apt-get" not in step["run"] and not (condition and branch != MAIN):
            yield step["run"]


def run(folder, lode, commands, branch):
    """The first exit status that is not 0, and what was printed."""
    environment = {**os.environ, "PATH": f"{Path(lode).parent}{os.pathsep}{os.environ['PATH']}", "GITHUB_STEP_SUMMARY": "summary.md",
                   "CI_COMMIT_BRANCH": branch, "CI_DEFAULT_BRANCH": MAIN}
    printed = ""
    for command in commands:
        # As the services do: a shell that stops at the first error.
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS)
        printed += done.stdout + done.stderr
        if done.returncode:
            return done.returncode, printed
    return 0, printed


def prepare(folder):
    shutil.copy(HERE / "work.c", Path(folder, "app.c"))
    Path(folder, "Makefile").write_text("app: app.c\n\t$(CC) -O2 -pg $(MORE) -o app app.c\n", encoding="utf-8")
    Path(folder, "lode.gate").write_text(blocks("text")[0], encoding="utf-8")


def change_program(folder, more):
    Path(folder, "Makefile").write_text(f"app: app.c Makefile\n\t$(CC) -O2 -pg {more} -o app app.c\n", encoding="utf-8")


def follow(tap, lode, name, commands_of):
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        status, printed = run(folder, lode, commands_of(MAIN), MAIN)
        tap.check(status == 0 and Path(folder, "base").is_dir(), f"{name}: the first run of the main branch makes a base", [status, printed])
        status, printed = run(folder, lode, commands_of(CHANGE), CHANGE)
        report = Path(folder, "gate.xml")
        tap.check(status == 0 and report.exists() and Path(folder, "new").is_dir(), f"{name}: a change that changes nothing passes", [status, printed])
        change_program(folder, "-DMORE")
        status, printed = run(folder, lode, commands_of(CHANGE), CHANGE)
        failures = ElementTree.parse(report).getroot().get("failures")
        tap.check(status == 1 and int(failures) > 0, f"{name}: a change with more calls fails, and its report says so", [status, failures, printed])
        summary = Path(folder, "summary.md")
        shown = summary.read_text(encoding="utf-8") if summary.exists() else printed
        tap.check("fail" in shown.lower() and "calls of norm" in shown, f"{name}: the function is named", [shown])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True)
    options = parser.parse_args()
    tap = Tap()
    reason = missing() or (None if shutil.which("make") else "there is no make") or (None if yaml else "this Python has no yaml")
    if reason:
        tap.skip("workflows of doc/ci.md", reason)
        return tap.finish()
    lode = str(Path(options.lode).resolve())
    github, gitlab, night = (yaml.safe_load(block) for block in blocks("yaml"))
    follow(tap, lode, "GitHub Actions", lambda branch: github_commands(github, branch))
    follow(tap, lode, "GitLab CI", lambda branch: gitlab["gate"]["script"])
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        subprocess.run(["make", "app"], cwd=folder, check=True, capture_output=True, timeout=SECONDS)
        shutil.copy(Path(folder, "app"), Path(folder, "app.yesterday"))
        status, printed = run(folder, lode, night["time"]["script"], MAIN)
        tap.check(status in (0, 1) and "visible from" in printed, "each night: time is judged, with what the runs can show", [status, printed])
        tap.check(status == 0, "each night: the same program passes", [printed])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
