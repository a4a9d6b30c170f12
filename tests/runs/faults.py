#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Writers of a catalogue on a server while the server is stopped at once, connections are cut, writers are killed and migrations run: no run that
was confirmed is lost, none is there twice, none is half-written. Runs are of several months, which are made meanwhile. By hand: --rounds 1000.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(ROOT / "tests" / "cli"), str(ROOT / "tests" / "tools")]

import cli  # noqa: E402
import make_catalogue  # noqa: E402
import postgresql  # noqa: E402
from tap import Tap  # noqa: E402

WRITERS, RUNS, FUNCTIONS, METRICS = 4, 12, 8, 2
CUT = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'lode'"
# Of the whole catalogue: runs that are there twice, or without their costs, or costs without a run.
DAMAGE = """SELECT (SELECT count(*) - count(DISTINCT (path, added_ns)) FROM lode.run),
    (SELECT count(*) FROM lode.run r WHERE cardinality(r.metrics) <> (SELECT count(*) FROM lode.cost c WHERE c.run = r.id AND c.begun = r.begun)),
    (SELECT count(*) FROM lode.cost c WHERE NOT EXISTS (SELECT FROM lode.run r WHERE r.id = c.run))"""


class Site:
    """A server with a catalogue, and a file of runs for each writer; every round has paths of its own."""

    def __init__(self, lode, server, folder, seed):
        self.lode, self.server, self.folder, self.chance = lode, server, Path(folder), random.Random(seed)
        self.database = server.database()
        self.address = server.address(self.database)
        self.environment = cli.environment(LODE_SPOOL="", LODE_CATALOGUE_TIMEOUT="60")
        self.empty = self.folder / "empty"
        make_catalogue.create(lode, self.empty)
        self.store = self.folder / "demo/solver"
        subprocess.run([lode, "example", str(self.folder / "demo")], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([lode, "runs", "init", "--catalogue", self.address], check=True, stdout=subprocess.DEVNULL)

    def file(self, number, index):
        file = self.folder / f"file{index}"
        file.write_bytes(self.empty.read_bytes())
        make_catalogue.fill(file, RUNS, FUNCTIONS, METRICS, seed=number, interval=40 * make_catalogue.DAY // 4)
        connection = make_catalogue.sqlite3.connect(file)
        connection.execute("UPDATE run SET path = ? || path, begun = begun - ?", (f"/{number}/{index}", number % 200 * 31 * make_catalogue.DAY))
        connection.commit()
        connection.close()
        return file

    def start(self, *words):
        return subprocess.Popen([self.lode, "runs", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment)

    def disturb(self, kind, writers):
        time.sleep(self.chance.uniform(0.01, 0.12))
        if kind == "stopped":
            self.server.stop("immediate")
            self.server.start()
        elif kind == "cut":
            self.server.sql(CUT, self.database)
        elif kind == "killed":
            for writer in self.chance.sample(writers, len(writers) // 2):
                writer.send_signal(signal.SIGKILL)
        else:
            for process in [self.start("migrate", "--catalogue", self.address) for _ in range(3)]:
                process.communicate(timeout=cli.SECONDS)

    def round(self, number, kind):
        """What is wrong afterwards; [] if nothing."""
        files = [self.file(number, index) for index in range(WRITERS)]
        writers = [self.start("copy", file, self.address) for file in files]
        adder = self.start("add", self.store, "--again", "--json", "--catalogue", self.address)
        self.disturb(kind, writers)
        wrong = []
        for index, writer in enumerate(writers):
            _, errors = writer.communicate(timeout=cli.SECONDS)
            if writer.returncode not in (0, -signal.SIGKILL):
                wrong.append((kind, "a writer gave up", errors.decode()))
        confirmed, errors = adder.communicate(timeout=cli.SECONDS)
        if adder.returncode != 0:
            wrong.append((kind, "an add gave up", errors.decode()))
        else:
            run = json.loads(confirmed)["run"]
            if self.server.sql(f"SELECT count(*) FROM lode.run WHERE id = {run}", self.database) != ["1"]:
                wrong.append((kind, "a run that was confirmed is gone", run))
        for file, writer in zip(files, writers):
            if writer.returncode != 0:  # whoever was killed does it again
                again = self.start("copy", file, self.address)
                again.communicate(timeout=cli.SECONDS)
        count = self.server.sql(f"SELECT count(*) FROM lode.run WHERE path LIKE '/{number}/%'", self.database)
        if count != [str(WRITERS * RUNS)]:
            wrong.append((kind, f"{count} of {WRITERS * RUNS} runs"))
        return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tap = Tap()
    kinds = ("stopped", "cut", "killed", "migrating")
    try:
        with tempfile.TemporaryDirectory() as folder, postgresql.Server(fsync="on", buffers="128MB") as server:
            site = Site(str(Path(options.lode).resolve()), server, folder, options.seed)
            wrong = [problem for number in range(options.rounds) for problem in site.round(number, kinds[number % len(kinds)])]
            tap.check(not wrong, f"{options.rounds} rounds of {WRITERS} writers with {RUNS} runs each: none is lost", wrong[:5])
            tap.check(server.sql(DAMAGE, site.database) == ["0|0|0"], "none is there twice, or half-written", server.sql(DAMAGE, site.database))
            runs, months = server.sql("SELECT (SELECT count(*) FROM lode.run), (SELECT count(*) FROM pg_inherits WHERE inhparent = 'lode.cost'::regclass)", site.database)[0].split("|")
            tap.check(int(runs) == options.rounds * (WRITERS * RUNS + 1), f"{runs} runs in {months} months", [runs])
    except postgresql.Missing as reason:
        tap.skip("writers and faults", str(reason))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
