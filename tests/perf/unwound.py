#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Copies of user stacks are unwound as perf does it with libdw: every frame of every sample, in recordings of the corpus. The programs that were
recorded are compiled from the corpus; a recording counts if all of its binaries here have the build ids that it has.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tools")]

import corpora  # noqa: E402
from recordings import UNWOUND, Recordings, blocks  # noqa: E402
from tap import Tap  # noqa: E402

PREFIX = "/opt/demo"
PROGRAMS = {"dwarf": "shapes-nofp", "lost": "calls", "terms": "clocks"}
KERNEL = "[kernel.kallsyms]"


def compile_programs(sources, target):
    """Those of the recordings here, by the lines of build.sh that make them. False if they cannot be compiled."""
    wanted = [f'"$P/bin/{name}"' for name in PROGRAMS.values()]
    lines = (sources / "build.sh").read_text().replace('"$(dirname "$0")"', f'"{sources}"').splitlines()
    kept = [line for line in lines if not line.startswith(("cc ", "c++ ", "install ")) or any(name in line for name in wanted)]
    try:
        done = subprocess.run(["sh", "-e", "-c", "\n".join(kept)], env={**os.environ, "PREFIX": str(target)}, capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


def build_id(path):
    """From the notes of an ELF file, as readelf shows them."""
    text = subprocess.run(["readelf", "-n", path], capture_output=True, check=False).stdout.decode(errors="replace")
    return next((line.split()[-1] for line in text.splitlines() if "Build ID:" in line), None)


def others(build_ids, target):
    """Binaries that are not here as they were recorded."""
    found = []
    for path, wanted in build_ids.items():
        here = path.replace(PREFIX, str(target), 1) if path.startswith(PREFIX) else path
        if path.startswith("/") and build_id(here) != wanted:
            found.append(path)
    return found


def is_equal(frames, wanted, stack):
    """Frames of Lode are return addresses; those of perf that it unwound are one byte less, but for the innermost one of the user."""
    if len(frames) != len(wanted):
        return False
    is_first = True
    for frame, other in zip(frames, wanted, strict=True):
        is_user = other[1] != KERNEL
        moved = 1 if stack and is_user and not is_first else 0
        if int(frame[0], 16) - moved != int(other[0], 16) or frame[1] != other[1]:
            return False
        is_first &= not is_user
    return True


def count_equal(found, expected, name):
    """How many samples are equal, and those that are not. Only one event of `terms` has stacks."""
    equal, different = 0, []
    by_words = {}
    for words, frames in found:
        by_words.setdefault(words, []).append(frames)
    for words, frames in expected:
        stack = name != "terms" or "dwarf" in words[5]
        mine = by_words.get(words, [[]]).pop(0) if by_words.get(words) else []
        if is_equal(mine, frames, stack):
            equal += 1
        else:
            different.append((words, frames, mine))
    return equal, different


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", required=True)
    parser.add_argument("--symbols", required=True, help="the program lode-symbols")
    options = parser.parse_args()
    tap = Tap()
    with Recordings(corpora.root()) as recordings:
        target = Path(recordings.scratch.name) / "demo"
        if not (recordings.folder / "sources/build.sh").exists():
            tap.skip("unwinding", "there is no corpus with recordings of perf")
            return tap.finish()
        if not compile_programs(recordings.folder / "sources", target):
            tap.skip("unwinding", "programs of the corpus cannot be compiled here")
            return tap.finish()
        for name, path in recordings.all():
            expected = recordings.samples(name, "unwound") if name in UNWOUND else None
            if expected is None:
                continue
            missing = others(recordings.build_ids(name), target)
            if missing:
                tap.skip(f"{name} unwound", f"other builds here of {', '.join(missing)}")
                continue
            done = subprocess.run([options.show, path, options.symbols, f"{PREFIX}={target}"], capture_output=True, check=False)
            equal, different = count_equal(blocks(done.stdout.decode(errors="replace")), expected, name)
            # perf drops a user address that is in no mapping; Lode keeps it.
            dropped = [item for item in different if len(item[2]) == len(item[1]) + 1 and item[2][-1][1] == "[unknown]"]
            wrong = [item for item in different if item not in dropped]
            tap.check(done.returncode == 0 and not wrong, f"{name}: {equal} of {len(expected)} samples are unwound as by perf", wrong[:2])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
