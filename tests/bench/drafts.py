#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A database of a draft, brought up to date: how fast beside `lode convert` on the same data in 4.0, and with how much memory.

Usage: drafts.py BUILD_DIRECTORY [--profiles N] [--contexts N] [--draft NAME] [--assert FACTOR]

Twice: with a quarter of the profiles and with all of them. With --assert, prints TAP and fails if an upgrade takes more than FACTOR times
as long in processor time, or if four times the profiles take notably more memory.
"""
import argparse
import os
import shutil
import tempfile

from measure import run_once, use_processor_time

MEMORY = 8 * 2**20  # for work on values: less than there is of them in any run
SAMPLES = 2000
REPEATS = 3
# MiB that four times the profiles may take more: 200 bytes for each of a few thousand, and what an allocator keeps.
GROWTH = 16


class Bench:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.lode = os.path.join(options.build, "src/cli/lode")

    def path(self, name):
        return os.path.join(self.folder, name)

    def convert(self, old, new, *more):
        """Seconds and MiB of one conversion."""
        shutil.rmtree(self.path(new), ignore_errors=True)
        seconds, memory, _ = run_once([self.lode, "convert", self.path(old), "-o", self.path(new), "--memory",
                                       str(MEMORY), *more])
        return seconds, memory

    def make(self, profiles):
        """The draft and the same data in 4.0; the bytes of the draft."""
        run_once([self.lode, "synth", "database", "--profiles", str(profiles), "--contexts",
                  str(self.options.contexts), "--samples", str(SAMPLES), "--memory", str(MEMORY), "-f", "-o",
                  self.path("made")])
        self.convert("made", "draft", "--format", self.options.draft)
        shutil.rmtree(self.path("made"))
        self.convert("draft", "new")
        return sum(entry.stat().st_size for entry in os.scandir(self.path("draft")))

    def measure(self, profiles):
        """The ratio of times, and MiB of the upgrade."""
        size = self.make(profiles)
        upgrades, copies = [], []
        for _ in range(REPEATS):  # in turn, so that what else the machine does hits both
            upgrades.append(self.convert("draft", "again"))
            copies.append(self.convert("new", "again"))
        upgrade, copy = min(upgrades)[0], min(copies)[0]
        memory = max(result[1] for result in upgrades)
        print(f"# {profiles} profiles, {size / 2**20:.0f} MiB: upgraded in {upgrade:.2f} s with {memory:.0f} MiB of "
              f"anonymous memory; the same in 4.0 converted in {copy:.2f} s with "
              f"{max(result[1] for result in copies):.0f} MiB; ratio {upgrade / copy:.2f}")
        return upgrade / copy, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--profiles", type=int, default=8500)
    parser.add_argument("--contexts", type=int, default=4000)
    parser.add_argument("--draft", default="hpctoolkit-draft-xml")
    parser.add_argument("--assert", dest="factor", type=float)
    options = parser.parse_args()
    if options.factor is not None:
        use_processor_time()
    with tempfile.TemporaryDirectory(dir=os.environ.get("LODE_BENCH_DIR")) as folder:
        bench = Bench(options, folder)
        _, few = bench.measure(options.profiles // 4)
        ratio, many = bench.measure(options.profiles)
    if options.factor is None:
        return
    print(f"{'ok' if ratio <= options.factor else 'not ok'} 1 - upgrading takes at most {options.factor} times as long "
          "as converting the same in 4.0")
    print(f"{'ok' if many <= few + GROWTH else 'not ok'} 2 - four times the profiles take at most {GROWTH} MiB more")
    print("1..2")


if __name__ == "__main__":
    main()
