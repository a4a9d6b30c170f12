#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The costs of a catalogue on a server as Parquet by month, with the commands of doc/runs.md: DuckDB finds what 'lode runs trend' shows."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(ROOT / "tests" / name) for name in ("cli", "tools", "export")]

import cli  # noqa: E402
import make_catalogue  # noqa: E402
import postgresql  # noqa: E402
import validators  # noqa: E402
from tap import Tap  # noqa: E402

RUNS = 20


def commands():
    """What psql and DuckDB are to do, of the last two lines of code."""
    text = (ROOT / "doc/runs.md").read_text(encoding="utf-8")
    export = re.search(r'^    psql "\$LODE_CATALOGUE" -c "(.*)"$', text, re.MULTILINE)[1]
    return export, re.findall(r"""^    duckdb -c "(COPY .*PARTITION_BY \(month\)\))"$""", text, re.MULTILINE)[0]


def compare(tap, lode, server, folder):
    file, address = folder / "file", server.address(server.database())
    make_catalogue.create(lode, file)
    make_catalogue.fill(file, RUNS, 5, 2, interval=5 * make_catalogue.DAY)
    for words in (["init", "--catalogue", address], ["copy", file, address]):
        subprocess.run([lode, "runs", *map(str, words)], check=True, stdout=subprocess.DEVNULL)
    export, convert = commands()
    subprocess.run([server.bin / "psql", "-X", "-q", address, "-c", export], cwd=folder, check=True)
    convert = convert.replace("costs.csv", str(folder / "costs.csv")).replace("'costs'", f"'{folder / 'costs'}'")
    status, said = validators.run("duckdb.mjs", folder / "costs.csv", convert)
    tap.check(status == 0, "DuckDB writes Parquet", [str(said)[:500]])
    months = sorted(path.name for path in (folder / "costs").iterdir())
    tap.check(months == [f"month=2026-{month:02}" for month in range(1, 5)], "a directory for each month", months)
    done = subprocess.run([lode, "runs", "trend", "function_3(int)", "--json", "--catalogue", address], capture_output=True, check=True, env=cli.environment())
    wanted = [(row["run"], row["exclusive"]) for row in json.loads(done.stdout)["rows"]]
    status, said = validators.run("duckdb.mjs", f"{folder}/costs/*/*.parquet",
                                  "SELECT run, exclusive FROM t WHERE function = 'function_3(int)' AND metric = 'CPUTIME (sec)' ORDER BY run")
    found = [(int(row["run"]), float(row["exclusive"])) for row in said["queries"][0]] if status == 0 else said
    tap.check(found == wanted and len(wanted) == RUNS, "the history of a function is that of 'lode runs trend'", [str(found)[:300], wanted[:3]])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    lode = os.path.abspath(parser.parse_args().lode)
    tap = Tap()
    if validators.where() is None:
        tap.skip("Parquet by month", "set LODE_VALIDATORS")
        return tap.finish()
    try:
        with tempfile.TemporaryDirectory() as folder, postgresql.Server() as server:
            compare(tap, lode, server, Path(folder))
    except postgresql.Missing as reason:
        tap.skip("Parquet by month", str(reason))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
