#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Every sample of every recording is what `perf script` says of it: name, process, thread, processor, time, period, event, and each frame with its
module and offset. Where user stacks must be unwound and binaries are missing, perf shows no user frame; Lode shows the sample's own address.
"""

import argparse
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tools")]

import corpora  # noqa: E402
from recordings import UNWOUND, Recordings, blocks, counted  # noqa: E402
from tap import Tap  # noqa: E402


def shown(program, path):
    done = subprocess.run([program, path], capture_output=True, check=False)
    return blocks(done.stdout.decode(errors="replace")) if done.returncode == 0 else None


def without_own_address(samples, expected):
    """Samples whose only frame is their own address, as perf shows them where it has none."""
    bare = {words for words, frames in expected if not frames}
    return [(words, [] if words in bare and len(frames) == 1 else frames) for words, frames in samples]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", required=True)
    options = parser.parse_args()
    tap = Tap()
    with Recordings(corpora.root()) as recordings:
        for name, path in recordings.all():
            expected = recordings.samples(name)
            if expected is None:
                continue
            found = shown(options.show, path)
            if name in UNWOUND and found is not None:
                found = without_own_address(found, expected)
            missing = counted(expected) - counted(found or [])
            more = counted(found or []) - counted(expected)
            wrong = [f"perf: {list(missing)[0]}" for _ in range(bool(missing))] + [f"Lode: {list(more)[0]}" for _ in range(bool(more))]
            tap.check(not missing and not more, f"{name}: {len(expected)} samples are what perf says", wrong)
        if tap.count == 0:
            tap.skip("samples", "there is no corpus with recordings of perf")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
