#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Runs what failed once more, alone: again.py OUT, where .ci/run has put its logs. Test programs that pass then count as passed; they and the
steps that pass are listed by name as flaky, and both logs stay. More than FLAKY_MAX of them are a failure. If more than AGAIN_MAX failed,
that is no chance, and nothing is repeated.

OUT/results has a line "PASSED FAILED SKIPPED NAME" for each step; a step of Meson's tests has a folder OUT/NAME with `test-command`, and
OUT/again/NAME has the command of any other step that failed.
"""

import shlex
import subprocess
import sys
from pathlib import Path

import count

FLAKY_MAX = 3
AGAIN_MAX = 8
LOG = "again"


def run(command, log):
    with open(log, "wb") as stream:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT).returncode


def again_programs(out, name, programs):
    """Runs test programs of a folder once more; returns the counts of the step and the names of those that pass."""
    command = shlex.split((out / name / "test-command").read_text(encoding="utf-8"))
    # Meson shows "project:suite / test", and takes "test".
    names = [program.rpartition(" / ")[2] for program in programs]
    run([*command, "--no-rebuild", "--num-processes", "1", "--logbase", LOG, *names], out / "log" / f"{name}.again.log")
    folder = out / name / "meson-logs"
    passed = count.passed_programs(folder, LOG)
    again = count.count(folder, LOG)
    for program in set(programs) - passed - set(count.failed_programs(folder, LOG)):
        again.add(f"{program} (it did not run again)", "failed")
    counts = count.count(folder, leave_out=programs)
    counts.extend(again)
    return counts, [program for program in programs if program in passed]


def main():
    out = Path(sys.argv[1])
    results = count.read_results(out / "results")
    programs = {name: count.failed_programs(out / name / "meson-logs") for name in results if (out / name / "test-command").is_file()}
    steps = sorted(path.name for path in (out / "again").iterdir())
    failed = sum(map(len, programs.values())) + len(steps)
    if failed == 0:
        return
    print("== again")
    if failed > AGAIN_MAX:
        print(f"   {failed} programs and steps failed: too many to be chance, none is repeated")
        return
    flaky = []
    for name, names in programs.items():
        # Whatever else went wrong in the step stays as it was.
        if names and results[name][1] > 0:
            counts, passed = again_programs(out, name, names)
            results[name] = counts.numbers()
            flaky += [f"{name}: {program}" for program in passed]
    for name in steps:
        if run(["bash", "-c", (out / "again" / name).read_text(encoding="utf-8")], out / "log" / f"{name}.again.log") == 0:
            results[name] = [1, 0, 0]
            flaky.append(name)
    print(f"   {failed} failed and ran again; {failed - len(flaky)} failed twice")
    for name in flaky:
        print(f"   flaky: {name}")
    if len(flaky) > FLAKY_MAX:
        print(f"   more than {FLAKY_MAX} are flaky: that is a failure")
        results["flaky"] = [0, 1, 0]
    count.write_results(out / "results", results)


if __name__ == "__main__":
    main()
