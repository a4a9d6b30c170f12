#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every call by which 'lode build' changes the file system fails in turn, as tests/fault has it for other writers.

Usage: disk.py --lode PROGRAM --shim SHIM [--every N]
"""

import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.join(HERE, "..", "fault"), os.path.join(HERE, "..", "tools")]

from faults import Bench, Scenario, test_scenario  # noqa: E402
from outcome import NAME, Program, fingerprint, scratch  # noqa: E402
from share import Share  # noqa: E402
from tap import Tap  # noqa: E402

# Spools that are longer than what is gathered before it is written.
RECORDING = ["--records", "100000", "--tasks", "3", "--functions", "40", "--seed", "7"]
SOURCE = "recording"


def scenarios():
    # On one thread, so that calls come in one order.
    build = ["build", SOURCE, SOURCE, "--threads", "1"]
    return [
        Scenario("build", build),
        Scenario("build over a database", [*build, "--memory", "50K", "--force"], previous=True),
        Scenario("build after a killed run", [*build, "--trace", "10us"], leftover=12),
    ]


class BuildBench(Bench):
    """The same, with a recording to build from."""

    def __init__(self, program, root):
        super().__init__(program, root)
        self.recording = os.path.join(root, "to-build-from")
        run = program.run(["synth", "recording", *RECORDING, "-o", self.recording])
        if run.status != 0:
            raise SystemExit(f"cannot make a recording: {run.message}")

    def arguments(self, scenario, parent):
        target = os.path.join(parent, NAME)
        places = {SOURCE: self.recording, NAME: target}
        return [*(places.get(word, word) for word in scenario.arguments), "-o", target]

    def source(self, scenario):
        return self.recording

    def undisturbed(self, scenario):
        """Opening what is read is no writing, and its errors are about the recording."""
        calls, expected, complaints = super().undisturbed(scenario)
        return [(name, "input" if self.recording in about else kind, about) for name, kind, about in calls], expected, complaints


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lode", required=True)
    parser.add_argument("--shim", required=True)
    parser.add_argument("--every", type=int, default=3, help="only each N-th call, another one in each scenario")
    options = parser.parse_args()
    tap = Tap()
    with scratch() as root:
        bench = BuildBench(Program(options.lode, options.shim), root)
        before = fingerprint(bench.recording)
        for i, scenario in enumerate(scenarios()):
            test_scenario(tap, bench, scenario, Share.of_faults().times(options.every).shifted(i))
        tap.check(fingerprint(bench.recording) == before, "recordings stay as they are")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
