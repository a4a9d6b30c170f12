#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What failed in .ci/run runs once more, alone (.ci/again.py): programs and steps that pass then count as passed and are listed as flaky, unless
they are more than three. The tests are those of a Meson project without a compiler, whose programs fail as often as a file says.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CI = ROOT / ".ci"
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from tap import Tap  # noqa: E402

PROGRAM = """#!/bin/sh
# A TAP program with two subtests; the second fails as often as LEFT says.
echo 1..2
echo ok 1 - first
left=$(cat LEFT)
if [ "$left" -gt 0 ]; then echo $((left - 1)) >LEFT; echo not ok 2 - second; exit 1; fi
echo ok 2 - second
"""


def make_run(folder, failures, steps):
    """What .ci/run leaves: a step `made` with a program for each number of failures, and steps that fail as often as they say."""
    project, out = folder / "project", folder / "out"
    project.mkdir()
    for name in ("log", "times", "again"):
        (out / name).mkdir(parents=True)
    names = []
    for number, times in enumerate(failures):
        (folder / f"left{number}").write_text(f"{times}\n", encoding="utf-8")
        program = project / f"program{number}.sh"
        program.write_text(PROGRAM.replace("LEFT", str(folder / f"left{number}")), encoding="utf-8")
        program.chmod(0o755)
        names.append(f"test('program {number}', find_program('program{number}.sh'), suite: 'suite{number % 2}', protocol: 'tap')\n")
    (project / "meson.build").write_text("project('made')\n" + "".join(names), encoding="utf-8")
    subprocess.run(["meson", "setup", out / "made", project], check=True, stdout=subprocess.DEVNULL)
    (out / "made" / "test-command").write_text(f"env meson test -C {out / 'made'} --wrapper env", encoding="utf-8")
    first = subprocess.run(["meson", "test", "-C", out / "made", "--wrapper", "env"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    count(out / "made", "made", "failed" if first.returncode else "ok", out / "results")
    for name, command in steps.items():
        (out / "again" / name).write_text(command, encoding="utf-8")
        with open(out / "results", "a", encoding="utf-8") as stream:
            stream.write(f"0 1 0 {name}\n")
    return out


def count(*arguments):
    return subprocess.run([sys.executable, CI / "count.py", *arguments], capture_output=True, text=True).stdout


def run_again(failures, steps=None):
    """The output of again.py, the last line of the run, and which logs there are."""
    with tempfile.TemporaryDirectory() as name:
        out = make_run(Path(name), failures, steps or {})
        said = subprocess.run([sys.executable, CI / "again.py", out], capture_output=True, text=True, check=True).stdout
        logs = sorted(path.name for path in (out / "made" / "meson-logs").glob("*.json"))
        return said, count("--total", out / "results").strip(), logs


def main():
    tap = Tap()

    def compare(name, found, expected):
        tap.check(found == expected, name, [f"expected {expected!r}", f"found {found!r}"])

    said, total, logs = run_again([0, 0])
    compare("nothing is said if nothing failed", (said, total, logs), ("", "4 passed, 0 failed, 0 skipped", ["testlog-env.json"]))
    said, total, logs = run_again([0, 1], {"step": "true"})
    compare("a program and a step that pass the second time count as passed", total, "5 passed, 0 failed, 0 skipped")
    compare("they are listed as flaky", [line.strip() for line in said.splitlines() if "flaky" in line],
            ["flaky: made: made:suite1 / program 1", "flaky: step"])
    compare("both logs stay", logs, ["again-env.json", "testlog-env.json"])
    said, total, _ = run_again([0, 2], {"step": "false"})
    compare("what fails twice failed", (total, "flaky" in said), ("3 passed, 2 failed, 0 skipped", False))
    said, total, _ = run_again([1, 1, 1, 1])
    compare("more than three flaky programs fail the run", (total, "more than 3" in said), ("8 passed, 1 failed, 0 skipped", True))
    said, total, logs = run_again([1] * 9)
    compare("many failures are no chance, and are not repeated", (total, logs), ("9 passed, 9 failed, 0 skipped", ["testlog-env.json"]))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
