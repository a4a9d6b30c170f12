#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A database of many profiles: made, checked, asked; each beside the bare limit of the machine in the same run.

Usage: scale.py BUILD_DIRECTORY [--profiles N] [--contexts N] [--memory BYTES] [--threads N] [--assert FACTOR]

With --assert, prints TAP and fails if a ratio is more than FACTOR times what is noted below; then times are processor time.
"""
import argparse
import os
import subprocess
import tempfile

from measure import run, run_once, use_processor_time

# Ratios to the bare limit that --assert multiplies: for the transpose what 4,000 profiles give (100,000 give 1.1), for the
# check what 100,000 give (4,000 give 5 to 8), for top and tree, which take 3 ms, what is asked of them.
NOTED = {"transpose": 3.8, "check full": 6.3, "top": 1.3, "tree": 1.3}
SAMPLES = 50


class Bench:
    def __init__(self, options):
        self.options = options
        self.tools = os.path.join(options.build, "tests/bench")
        self.lode = os.path.join(options.build, "src/cli/lode")
        self.ratios = {}

    def tool(self, name, *arguments):
        return [os.path.join(self.tools, name), *map(str, arguments)]

    def make(self, directory, profiles):
        """Makes a database; returns how long each phase took, and the memory."""
        o = self.options
        _, memory, output = run_once(self.tool("synth_phases", directory, profiles, o.contexts, SAMPLES, o.memory,
                                               o.threads, "wall" if o.factor is None else "processor"))
        phases = {}
        for line in output.splitlines():
            name, seconds = line.rsplit(" ", 1)
            phases[name] = float(seconds)
        return phases, memory

    def note(self, name, seconds, bare, what):
        self.ratios[name] = seconds / bare
        print(f"# {name}: {seconds:.3f} s, {seconds / bare:.2f} times {what} ({bare:.3f} s)")

    def writing(self, directory):
        phases, memory = self.make(directory, self.options.profiles)
        size = {name: os.path.getsize(f"{directory}/{name}.db") for name in ("meta", "profile", "cct", "trace")}
        print(f"# {self.options.profiles} profiles, {sum(size.values()) / 2**30:.2f} GiB, made in "
              f"{sum(phases.values()):.1f} s with {memory:.0f} MiB of anonymous memory")
        scratch = directory + ".bare"
        read, _, _ = run_once(self.tool("bare_pass", "read", f"{directory}/profile.db"))
        write, _, _ = run_once(self.tool("bare_pass", "write", scratch, size["cct"]))
        os.unlink(scratch)
        self.note("transpose", phases["transposing"], read + write, "a bare read of profile.db and write of cct.db")
        self.memory = memory

    def checking(self, directory):
        threads = self.options.threads
        files = [f"{directory}/{name}.db" for name in ("meta", "profile", "cct", "trace")]
        bare, _ = run(self.tool("bare_pass", "scan", threads, *files))
        full, memory = run([self.lode, "check", "--level", "full", "--threads", str(threads), directory], 2)
        self.note("check full", full, bare, f"a bare scan with {threads} threads")
        print(f"# check full: {memory:.0f} MiB of anonymous memory")

    def asking(self, directory, small):
        for command in ("top", "tree"):
            many, _ = run([self.lode, command, directory], 5)
            few, _ = run([self.lode, command, small], 5)
            self.note(command, many, few, "the same on 1,000 profiles")
        seconds, _ = run([self.lode, "context", directory, "main"], 5)
        print(f"# context: {seconds * 1e3:.1f} ms")
        self.context = seconds

    def run(self):
        with tempfile.TemporaryDirectory(dir=os.environ.get("LODE_BENCH_DIR")) as folder:
            large, small = os.path.join(folder, "large"), os.path.join(folder, "small")
            self.writing(large)
            self.checking(large)
            self.make(small, min(1000, self.options.profiles))
            self.asking(large, small)
            subprocess.run([self.lode, "info", large], check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--profiles", type=int, default=100000)
    parser.add_argument("--contexts", type=int, default=2000)
    parser.add_argument("--memory", type=int, default=2**30)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--assert", dest="factor", type=float)
    bench = Bench(parser.parse_args())
    if bench.options.factor is not None:
        use_processor_time()
    bench.run()
    if bench.options.factor is None:
        return
    for number, (name, noted) in enumerate(NOTED.items(), 1):
        fine = bench.ratios[name] <= noted * bench.options.factor
        print(f"{'ok' if fine else 'not ok'} {number} - {name} is within {bench.options.factor} times {noted}")
    print(f"1..{len(NOTED)}")


if __name__ == "__main__":
    main()
