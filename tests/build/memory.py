#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Memory depends on contexts, not on events: ten times the events, of the same program, take as much."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from building import Lode, Tap, parse_arguments

MOST_RUNS = 8
RATIO = 1.1
# Deep enough for thousands of contexts, shallow enough that all are met early.
PROGRAM = ["--tasks", "4", "--functions", "60", "--depth", "6"]
RECORDS = 1000000


def anonymous(process):
    """Bytes of anonymous memory that a process has now; 0 when it is over."""
    try:
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            return sum(int(line.split()[1]) << 10 for line in status if line.startswith("RssAnon"))
    except (OSError, ValueError):
        return 0


def peak(command):
    """The most anonymous memory that was seen while a command ran."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        most = 0
        while process.poll() is None:
            most = max(most, anonymous(process))
            time.sleep(0.0005)
        if process.returncode != 0:
            raise SystemExit(f"{command}: {process.returncode}")
    return most


def main():
    options = parse_arguments(__doc__, records={"type": int, "default": RECORDS})
    lode, tap = Lode(options.lode), Tap()
    if not os.path.exists("/proc/self/status"):
        tap.skip("memory", "there is no /proc")
        return tap.finish()
    with tempfile.TemporaryDirectory() as folder:
        recordings = {}
        for factor in (1, 10):
            recordings[factor] = Path(folder) / f"times-{factor}"
            lode.must("synth", "recording", *PROGRAM, "--records", options.records * factor, "-o", recordings[factor])
        for trace in ("full", "none"):
            command = [options.lode, "build", "--force", "--threads", "2", "--memory", "16M", "--trace", trace, "-o", Path(folder) / "db"]
            small, large = 0, peak([*command, recordings[10]])
            # On a busy machine, a short run may be over before its peak was seen.
            for _ in range(MOST_RUNS):
                small = max(small, peak([*command, recordings[1]]))
                if large <= small * RATIO:
                    break
            tap.check(0 < large <= small * RATIO, f"--trace {trace}: ten times the events take the same memory",
                      [f"{small >> 10} KiB and {large >> 10} KiB"])
            tap.note(f"--trace {trace}: {small >> 10} KiB and {large >> 10} KiB")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
