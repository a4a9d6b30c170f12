#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a command takes on a small store, beside a program that does nothing, and `lode trace` of many samples, beside a bare scan of trace.db.

Usage: starting.py BUILD_DIRECTORY [--samples N] [--runs N] [--assert FACTOR]

All times are processor times; runs alternate. What starting takes is the mean of the lower half of many runs. With --assert, prints TAP and fails
if a ratio is more than FACTOR times what is noted below.
"""
import argparse
import os
import subprocess
import tempfile

# Ratios that --assert multiplies.
NOTED = {"info": 5.5, "trace": 4.5}
LINES = 100


def processor_time(command):
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"failed: {command}")
    return used.ru_utime + used.ru_stime


def alternating(commands, runs, share):
    """The mean of the best `share` of the runs of each."""
    times = [[] for _ in commands]
    for _ in range(runs):
        for found, command in zip(times, commands):
            found.append(processor_time(command))
    most = max(1, int(runs * share))
    return [sum(sorted(found)[:most]) / most for found in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--samples", type=int, default=20_000_000)
    parser.add_argument("--runs", type=int, default=200, help="of the short command")
    parser.add_argument("--assert", dest="factor", type=float)
    options = parser.parse_args()
    lode, scan = os.path.join(options.build, "src/cli/lode"), os.path.join(options.build, "tests/bench/bare_pass")
    ratios = {}
    with tempfile.TemporaryDirectory(dir=os.environ.get("LODE_BENCH_DIR")) as folder:
        small, large = os.path.join(folder, "small"), os.path.join(folder, "large")
        for path, lines, samples, contexts in (small, 4, 100, 50), (large, LINES, options.samples // LINES, 10000):
            subprocess.run([lode, "synth", "database", "--profiles", str(lines), "--contexts", str(contexts), "--density", "0.01",
                            "--samples", str(samples), "-o", path], check=True, stdout=subprocess.DEVNULL)
        own, nothing = alternating([[lode, "info", small], ["/bin/true"]], options.runs, 0.5)
        ratios["info"] = own / nothing
        print(f"# info: {own * 1e3:.2f} ms, {ratios['info']:.1f} times a program that does nothing ({nothing * 1e3:.2f} ms)")
        own, bare = alternating([[lode, "trace", large], [scan, "scan", "1", os.path.join(large, "trace.db")]], 5, 0.2)
        ratios["trace"] = own / bare
        print(f"# trace of {options.samples:,} samples: {own:.3f} s, {ratios['trace']:.1f} times a bare scan of trace.db ({bare:.3f} s)")
    if options.factor is None:
        return
    for number, (name, noted) in enumerate(NOTED.items(), 1):
        fine = ratios[name] <= noted * options.factor
        print(f"{'ok' if fine else 'not ok'} {number} - {name} is within {options.factor:g} times {noted}: {ratios[name]:.2f}")
    print(f"1..{len(NOTED)}")


if __name__ == "__main__":
    main()
