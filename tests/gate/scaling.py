#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode scaling` on recordings of programs whose counts grow in a known way: scaling.py --lode PROGRAM
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from recorded import SECONDS, Tap, compile_program, missing, record

SIZES = (10, 20, 40, 80, 160)


def scaling(lode, folder, *words):
    done = subprocess.run([lode, "scaling", "--json", *words], cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", required=True)
    options = parser.parse_args()
    tap = Tap()
    if missing():
        tap.skip("models of recordings", missing())
        return tap.finish()
    lode = str(Path(options.lode).resolve())
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            compile_program(folder, f"-DSTEPS={size}", name="program")
            record(folder, f"run{size}", program="program")
        runs = [f"run{size}" for size in SIZES]
        sizes = ",".join(map(str, SIZES))
        status, result = scaling(lode, folder, "--metric", "calls", "--sizes", sizes, *runs)
        rows = {row["name"]: row for row in result["rows"]}
        relax, main_row = rows["relax"], rows["main"]
        tap.check(status == 0 and (relax["exponent"], relax["logarithms"]) == ("1/1", 0) and abs(relax["c1"] - 1) < 1e-9 and abs(relax["c0"]) < 1e-6 and
                  relax["error_percent"] < 1e-6, "one call a step: the model is p", [relax])
        tap.check((main_row["exponent"], main_row["c0"], main_row["c1"], main_row["error_percent"]) == ("0/1", 1, 0, 0), "main is called once: a constant", [main_row])
        tap.check((relax["smallest"], relax["largest"]) == (SIZES[0], SIZES[-1]), "the costs at both ends", [relax])
        total = rows[None]
        tap.check(abs(total["c1"] - 5) < 1e-6 and total["exponent"] == "1/1" and result["rows"][0] is total, "five calls a step in all", [total])
        status, result = scaling(lode, folder, "--per-profile", "--metric", "calls", "--sizes", sizes, *reversed(runs))
        wrong = {row["name"]: row for row in result["rows"]}["relax"]
        status, result = scaling(lode, folder, "--per-profile", "--metric", "calls", "--sizes", ",".join(map(str, reversed(SIZES))), *reversed(runs))
        relax = {row["name"]: row for row in result["rows"]}["relax"]
        tap.check((relax["exponent"], relax["c0"], relax["c1"]) == ("0/1", 1, 0) and wrong["c1"] != 0, "the mean is constant, whatever the order of runs", [relax])
        for name, words in (("four sizes are too few", [*runs[:4]]), ("five runs of four sizes are", ["--sizes", "1,2,4,8,8", *runs]),
                            ("a size for each store", ["--sizes", "1,2,4,8", *runs]), ("sizes are numbers", ["--sizes", "1,2,x,8,9", *runs]),
                            ("sizes are not below 1", ["--sizes", "0,2,4,8,9", *runs]), ("runs of one size have no model", [*runs])):
            status, error = scaling(lode, folder, *words)
            tap.check(status == 2, f"refused: {name}", [status, error])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
