#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The Python package on one thread, in processor time: all values through the Arrow stream of db.table("value"), and summed by numpy where
they are in the file, beside the loops of arrow_rows. python_rows.py BUILD [--profiles N] [--contexts N] [--assert F]: F times the limits of
doc/scale.md are errors. Needs a build with -Dpython=enabled, and numpy.
"""

import argparse
import ctypes
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "tools"), str(ROOT / "tests" / "python")]
from tap import Tap  # noqa: E402

ROWS_PER_SECOND = 50e6
TIMES_A_LOOP = 3


def best(function, rounds=5):
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        result = function()
        times.append(time.process_time() - begin)
    return min(times), result


def streamed(arrow, db):
    """How many rows a stream has; each batch is looked at once."""
    _capsule, stream = arrow.opened(db.table("value"))
    rows = 0
    array = arrow.Array()
    while True:
        if stream.contents.get_next(stream, array):
            raise RuntimeError("the stream ends with an error")
        if not array.release:
            return rows
        rows += array.length
        ctypes.c_double.from_address(array.children[3].contents.buffers[1])
        array.release(array)


def measure(tap, options, store):
    lines = subprocess.run([options.build / "tests/bench/arrow_rows", store], check=True, capture_output=True, text=True).stdout
    loops = {name.strip(): (int(rows), float(seconds)) for name, rows, seconds in re.findall(r"^(\D+?) +(\d+) rows, ([\d.]+) s", lines, re.M)}
    import arrow_reader as arrow
    import lode
    with lode.open(store) as db:
        seconds, rows = best(lambda: streamed(arrow, db))
        factor = options.factor or 1e9
        tap.check(rows == loops["Arrow stream"][0] and rows / seconds * factor >= ROWS_PER_SECOND,
                  f"Arrow stream: {rows} rows, {rows / seconds / 1e6:.0f} million rows/s in Python, {rows / loops['Arrow stream'][1] / 1e6:.0f} in C, "
                  f"{rows / loops['bare loop'][1] / 1e6:.0f} by the bare loop")
        arrays = [db.values(profile) for profile in range(1, len(db.profiles))]
        seconds, _ = best(lambda: sum(float(array["value"].sum()) for array in arrays))
        loop = loops["sum in place"]
        tap.check(sum(map(len, arrays)) == loop[0] and seconds <= factor * TIMES_A_LOOP * loop[1],
                  f"numpy in place: {loop[0]} values in {seconds * 1e3:.1f} ms, by the loop in {loop[1] * 1e3:.1f} ms, {seconds / loop[1]:.1f} times")
        del arrays


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--profiles", type=int, default=500)
    parser.add_argument("--contexts", type=int, default=10000)
    parser.add_argument("--assert", dest="factor", type=float, default=0)
    options = parser.parse_args()
    sys.path.insert(0, str(options.build / "bindings" / "python"))
    tap = Tap()
    try:
        import numpy  # noqa: F401  # pylint: disable=unused-import
    except ImportError:
        tap.skip("values in Python", "there is no numpy")
        return tap.finish()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "db"
        subprocess.run([options.build / "src/cli/lode", "synth", "database", "--profiles", str(options.profiles), "--contexts", str(options.contexts),
                        "--density", "1", "--samples", "0", "-o", store], check=True, stdout=subprocess.DEVNULL)
        measure(tap, options, store)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
