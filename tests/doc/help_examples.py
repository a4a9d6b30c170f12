#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Types every example of the help pages: help_examples.py --lode PROGRAM. The stores that they name are those of `lode
example` (NAMES below), and traces.pb has spans of services. Each must succeed and print something, or write what it says. Not run: examples that start with
another program than lode, those of more than a million of something, servers (tests/view), and what records.
"""

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))

from follow import ROOT, Report, environment, programs_of, why_not  # noqa: E402
from made_measurements import many_profiles  # noqa: E402

PAGES = ROOT / "src" / "cli" / "help"
# What the stores of examples are called, and what they are.
NAMES = {"db": "solver", "hpctoolkit-app-database": "solver", "uftrace.data": "thumbs", "store": "shop",
         "before": "solver", "after": "solver", "before.uftrace": "thumbs", "after.uftrace": "thumbs",
         **{f"{side}{run}": "solver" for side in "ab" for run in range(1, 6)},
         "rank0.data": "thumbs", "rank1.data": "thumbs", "rank-0/uftrace.data": "thumbs", "rank-1/uftrace.data": "thumbs"}
SECONDS = 120
# What an export says of what is not in the file, and the one finding of the spans: the clocks of their services differ.
SAID = re.compile(r"lode: (note: |traces\.pb: 1 finding, such as otlp-clock ).*\n")


def examples_of(page):
    """(command, line)"""
    section = None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if re.fullmatch(r"[A-Z]+( [A-Z]+)*", line):
            section = line
        elif section == "EXAMPLES" and line and not line.startswith(" "):
            yield line, number


def run(command, folder, env):
    return subprocess.run(["sh", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=SECONDS, check=False)


def make_stores(folder, env):
    """demo, its stores under the names of the examples, an old database, measurements, and source files."""
    result = run("lode example demo && lode convert demo/solver --format hpctoolkit-draft-metadb -o old-db", folder, env)
    if result.returncode != 0:
        raise SystemExit(result.stderr)
    for name, store in NAMES.items():
        shutil.copytree(folder / "demo" / store, folder / name)
    shutil.copytree(folder / "demo" / "solver" / "src", folder / "src")
    shutil.copy(ROOT / "tests/data/otlp/small/traces.pb", folder)
    many_profiles(folder / "hpctoolkit-heat-measurements", 2)
    # A history for trends and checks.
    for day in range(1, 13):
        run(f"lode runs add db --label machine=cluster1 --time 2026-01-{day:02} --again", folder, env)
    (folder / "lode.gate").write_text("max-slower 5%\n", encoding="utf-8")


def outputs_of(command):
    """What -o, --svg, --pdf and > name."""
    return [name for name in re.findall(r"(?:-o|--svg|--pdf|>) (\S+)", command) if name != "-"]


def state_of(path):
    """What an entry of a folder is, with all that is in it. No change goes unseen, since nobody sets the time of a change."""
    found = [(str(path), *_state(path.lstat()))]
    with os.scandir(path) if path.is_dir() and not path.is_symlink() else contextlib.nullcontext(()) as entries:
        for entry in entries:
            found += state_of(Path(entry.path)) if entry.is_dir(follow_symlinks=False) else [(entry.path, *_state(entry.stat(follow_symlinks=False)))]
    return sorted(found)


def _state(status):
    return status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class Fresh:
    """A copy of the stores that every example finds as they were made. Only what an example changed is copied again: all of them, for each example, would be 40,000 files."""

    def __init__(self, stores, folder):
        self.stores, self.folder, self.states = stores, folder, {}
        folder.mkdir()
        self.restore()

    def restore(self):
        for name in {path.name for path in (*self.stores.iterdir(), *self.folder.iterdir())}:
            path, source = self.folder / name, self.stores / name
            is_there = path.is_symlink() or path.exists()
            if is_there and self.states.get(name) == state_of(path):
                continue
            if is_there:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            self.states.pop(name, None)
            if source.exists():
                shutil.copytree(source, path) if source.is_dir() else shutil.copy2(source, path)
                self.states[name] = state_of(path)


def try_example(report, name, command, fresh, env):
    reason = why_not(command.replace("| less", "| cat"), env)
    if programs_of(command)[0] != "lode":
        reason = "starts with another program"
    elif re.search(r"\b\d{6,}\b", command):
        reason = "takes long"
    elif "postgresql://" in command:
        reason = "needs a server"
    elif command.startswith(("lode view", "lode tui")):
        reason = "serves until it is stopped"
    elif command.startswith("lode record"):
        reason = "records a program of the reader (doc/recording.md)"
    elif "--pdf" in command and not shutil.which("chromium"):
        reason = "needs a browser"
    elif command.startswith("lode structure"):
        reason = "analyses a program of the reader (tests/symbols)"
    if reason:
        report.skip(name, reason)
        return
    folder = fresh.folder
    for output in outputs_of(command):
        shutil.rmtree(folder / output, ignore_errors=True)
    if command.startswith("lode example"):
        shutil.rmtree(folder / "demo")
    result = run(command.replace("| less", "| cat"), folder, env)
    written = [output for output in outputs_of(command) if not (folder / output).exists()]
    fresh.restore()
    if "no page for browsers" in result.stderr:
        report.skip(name, "needs the page, which was not built")
        return
    fits = result.returncode == 0 and not written and not SAID.sub("", result.stderr) and (result.stdout or outputs_of(command))
    report.say(bool(fits), name, [f"exit status {result.returncode}", *result.stderr.splitlines(), *written])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True)
    options = parser.parse_args()
    report = Report()
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "lode").symlink_to(Path(options.lode).resolve())
        env = environment(Path(scratch) / "lode")
        env["LODE_CATALOGUE"] = str(Path(scratch) / "runs.sqlite")  # not that of the user
        stores = Path(scratch) / "stores"
        stores.mkdir()
        make_stores(stores, env)
        fresh = Fresh(stores, Path(scratch) / "fresh")
        for page in sorted(PAGES.glob("*.txt")):
            for command, line in examples_of(page):
                try_example(report, f"{page.name}:{line}: $ {command}", command, fresh, env)
    report.say(report.count > 40, "there are examples")
    print(f"1..{report.count}")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
