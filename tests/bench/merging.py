#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ten databases merged, beside a bare read of them and a bare write of the result, and beside `lode convert` of the result.

Usage: merging.py BUILD_DIRECTORY [--profiles N] [--contexts N] [--threads N] [--assert FACTOR]

With --assert, prints TAP and fails if a ratio is more than FACTOR times what is noted below; then times are processor time.
"""
import argparse
import os
import shutil
import tempfile

from measure import run_once, use_processor_time

# Of processor time, with 500 profiles of 2,000 contexts each.
NOTED = {"read and write": 5.0, "convert": 1.1}
DATABASES, REPEATS = 10, 3


def best(command, fresh=None):
    found = []
    for _ in range(REPEATS):
        if fresh:
            shutil.rmtree(fresh, ignore_errors=True)
        found.append(run_once(command))
    return min(seconds for seconds, _, _ in found), max(memory for _, memory, _ in found)


def size(folder, names):
    return sum(os.path.getsize(os.path.join(folder, name)) for name in names)


def measure(options, folder):
    lode, bare = (os.path.join(options.build, path) for path in ("src/cli/lode", "tests/bench/bare_pass"))
    stores = [os.path.join(folder, f"run{number}") for number in range(DATABASES)]
    for store in stores:
        run_once([lode, "synth", "database", "--profiles", str(options.profiles), "--contexts", str(options.contexts),
                  "--samples", "1000", "--seed", "7", "-o", store])
    merged, again, scratch = (os.path.join(folder, name) for name in ("merged", "again", "scratch"))
    threads = ["--threads", str(options.threads)]
    seconds, memory = best([lode, "merge", *stores, *threads, "-o", merged], merged)
    written = size(merged, ("meta.db", "profile.db", "cct.db", "trace.db"))
    read = sum(best([bare, "read", os.path.join(store, name)])[0] for store in stores for name in ("profile.db", "trace.db"))
    write, _ = best([bare, "write", scratch, str(written)])
    convert, _ = best([lode, "convert", merged, *threads, "-o", again], again)
    print(f"# {DATABASES} x {options.profiles} profiles, {written / 2**20:.0f} MiB: merged in {seconds:.2f} s with {memory:.0f} MiB of "
          f"anonymous memory; bare read {read:.2f} s, bare write {write:.2f} s, convert {convert:.2f} s")
    return {"read and write": seconds / (read + write), "convert": seconds / convert}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--profiles", type=int, default=500)
    parser.add_argument("--contexts", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--assert", dest="factor", type=float)
    options = parser.parse_args()
    if options.factor is not None:
        use_processor_time()
    with tempfile.TemporaryDirectory(prefix="lode-merging-", dir=os.environ.get("LODE_BENCH_DIR")) as folder:
        ratios = measure(options, folder)
    for number, (name, ratio) in enumerate(ratios.items(), 1):
        print(f"# {ratio:.2f} times {name}")
        if options.factor is not None:
            fine = ratio <= NOTED[name] * options.factor
            print(f"{'ok' if fine else 'not ok'} {number} - {name}: within {options.factor} times {NOTED[name]}")
    if options.factor is not None:
        print(f"1..{len(ratios)}")


if __name__ == "__main__":
    main()
