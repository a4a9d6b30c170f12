#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Merging and slicing damaged databases: merge_mutated.py --lode PROGRAM [--count N] [--seed N]. Each input has a few changed or
missing bytes. The program writes a database that a check accepts, or says in one line why not; it ends soon, in bounded memory,
and leaves nothing behind.
"""

import argparse
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
from tap import Tap  # noqa: E402

SECONDS = 60
MEMORY = 2 << 30
FILES = ("meta.db", "profile.db", "trace.db", "cct.db")
COMMANDS = (["merge", "good", "bad"], ["merge", "--local-ranks", "2", "bad", "good"], ["merge", "bad", "bad", "--align", "start"],
            ["slice", "--depth", "3", "bad"], ["slice", "--from", "1us", "bad"], ["slice", "--profiles", "rank=0", "bad"],
            ["slice", "--min-share", "1", "--keep-contexts", "bad"], ["slice", "--focus", "function1", "bad"])


def limit():
    """Of the address space, unless sanitizers need all of it."""
    if "ASAN_OPTIONS" not in os.environ and "LODE_TEST_SANITIZED" not in os.environ:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(lode, folder, *words):
    return subprocess.run([lode, *words], cwd=folder, capture_output=True, text=True, errors="replace", timeout=SECONDS,
                          check=False, preexec_fn=limit)


def damage(path, chance):
    data = bytearray(path.read_bytes())
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(data))
        kind = chance.randrange(5)
        if kind == 0:
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            data[at] = chance.choice((0, 1, 0x7f, 0x80, 0xff))
        elif kind == 2:
            data[at:at + 4] = chance.choice((b"\xff" * 4, b"\0" * 4, b"\xff\xff\xff\x7f"))[:len(data) - at]
        elif kind == 3:
            other = chance.randrange(len(data))
            data[at:at + 8] = data[other:other + 8][:len(data) - at]
        else:
            data[at:at + 8] = (at // 2).to_bytes(8, "little")[:len(data) - at]
    if chance.randrange(10) == 0:
        del data[chance.randrange(len(data)):]
    path.write_bytes(data)


def problems(lode, folder, words):
    before = sorted(path.name for path in folder.iterdir())
    try:
        done = run(lode, folder, *words, "-o", "new")
    except subprocess.TimeoutExpired:
        return ["it did not end"], "endless"
    if done.returncode == 0:
        check = run(lode, folder, "check", "new")
        shutil.rmtree(folder / "new")
        return ([] if check.returncode in (0, 1) else [f"written, but not readable: {check.stderr}"]), "written"
    left = [name for name in sorted(path.name for path in folder.iterdir()) if name not in before]
    found = [f"left {left}"] if left else []
    if done.returncode != 2 or len(done.stderr.splitlines()) != 1:
        found.append(f"exit status {done.returncode}: {done.stderr[-2000:]}")
    return found, "refused"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    lode, tap = os.path.abspath(options.lode), Tap()
    with tempfile.TemporaryDirectory(prefix="lode-mutated-") as scratch:
        folder = Path(scratch)
        made = run(lode, folder, "synth", "database", "--profiles", "6", "--contexts", "60", "--samples", "20", "-o", "good")
        assert made.returncode == 0, made.stderr
        for number, words in enumerate(COMMANDS):
            outcomes = {"written": 0, "refused": 0, "endless": 0}
            wrong = []
            for case in range(options.count):
                chance = random.Random(options.seed * 1000003 + number * 7919 + case)
                shutil.rmtree(folder / "bad", ignore_errors=True)
                shutil.copytree(folder / "good", folder / "bad")
                damage(folder / "bad" / chance.choice(FILES[:3] if case % 8 else FILES), chance)
                found, outcome = problems(lode, folder, words)
                outcomes[outcome] += 1
                wrong += [f"case {case}: {text}" for text in found]
            tap.check(not wrong and outcomes["refused"] > 0, f"lode {' '.join(words)}: {outcomes['written']} written, "
                      f"{outcomes['refused']} refused", wrong[:5])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
