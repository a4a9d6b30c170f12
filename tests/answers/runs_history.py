#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
'lode runs trend' on catalogues whose every number is known: costs and order against a plain reading of the file by Python's
sqlite3, change points against the steps that were planted. 'lode runs check' against tests/statistics/judge_reference.py.

With --server, a PostgreSQL server is asked, to which each file is copied.
"""

import argparse
import json
import math
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(ROOT / "tests" / "cli"), str(ROOT / "tests" / "tools"), str(ROOT / "tests" / "statistics")]

import cli  # noqa: E402
import make_catalogue  # noqa: E402
import postgresql  # noqa: E402
from tap import Tap  # noqa: E402

try:
    import judge_reference as reference
except ImportError:  # no scipy
    reference = None


class Bench:
    def __init__(self, tap, lode, folder):
        self.tap, self.lode, self.folder = tap, lode, Path(folder)
        self.empty = self.folder / "empty.sqlite"
        make_catalogue.create(lode, self.empty)

    def catalogue(self, name, *arguments, **options):
        """A filled one: the file, and the costs in it."""
        file = self.folder / f"{name}.sqlite"
        file.write_bytes(self.empty.read_bytes())
        return file, make_catalogue.fill(file, *arguments, **options)

    def place(self, file):
        """What is asked in place of a file, which has been changed."""
        return file

    def run(self, file, *words):
        done = subprocess.run([self.lode, "runs", *map(str, words), "--catalogue", str(self.place(file))], capture_output=True, env=cli.environment())
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def json(self, file, *words, statuses=(0,)):
        status, text, errors = self.run(file, *words, "--json")
        if status not in statuses or errors:
            raise ValueError(f"lode runs {words}: {status}: {errors}")
        return json.loads(text)


class ServerBench(Bench):
    def __init__(self, tap, lode, folder, server):
        super().__init__(tap, lode, folder)
        self.server, self.template, self.copies = server, server.database(), {}
        subprocess.run([lode, "runs", "init", "--catalogue", server.address(self.template)], check=True, stdout=subprocess.DEVNULL)

    def place(self, file):
        version = file.stat().st_mtime_ns
        if self.copies.get(file, (None,))[0] != version:
            address = self.server.address(self.server.database(self.template))
            subprocess.run([self.lode, "runs", "copy", str(file), address], check=True, stdout=subprocess.DEVNULL)
            self.copies[file] = (version, address)
        return self.copies[file][1]


def plain_series(file, function, metric, where=lambda labels: True):
    """[(run, begun, exclusive, inclusive)] in chronological order, from whole tables."""
    connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    labels = {}
    for run, name, value in connection.execute("SELECT run, name, value FROM label"):
        labels.setdefault(run, {})[name] = value
    begun = dict(connection.execute("SELECT id, begun FROM run"))
    keys = {name: number for number, name in connection.execute("SELECT id, name FROM key")}
    metrics = {name: number for number, name in connection.execute("SELECT id, name FROM metric")}
    rows = []
    if function is None:
        for number, run, value in connection.execute("SELECT metric, run, value FROM total"):
            if number == metrics[metric]:
                rows.append((run, begun[run], value, value))
    else:
        for key, number, run, own, whole in connection.execute("SELECT key, metric, run, exclusive, inclusive FROM cost"):
            if key == keys[function] and number == metrics[metric]:
                rows.append((run, begun[run], own, whole))
    connection.close()
    return sorted((row for row in rows if where(labels.get(row[0], {}))), key=lambda row: (row[1], row[0]))


def found_series(answer):
    return [(row["run"], int(row["begun_ns"]), row["exclusive"], row["inclusive"]) for row in answer["rows"]]


def trends_are_what_the_file_has(bench):
    def labels(run):
        return {"title": "b" if run % 3 == 0 else "a", "branch": "main" if run % 2 else "dev"}
    file, _ = bench.catalogue("mixed", 60, 5, 2, seed=4, labels=labels)
    connection = sqlite3.connect(file)
    # Added in another order than they began; and some runs do not have some functions.
    connection.execute("UPDATE run SET begun = begun - 86400000000000 * 30 WHERE id > 40")
    connection.execute("DELETE FROM cost WHERE key = 2 AND run % 5 = 0")
    connection.commit()
    connection.close()
    newest = "b" if 39 % 3 == 0 else "a"  # run 40 is the newest now
    cases = [(None, "CPUTIME (sec)", [], lambda l: l["title"] == newest),
             ("function_0(int)", "CPUTIME (sec)", [], lambda l: l["title"] == newest),
             ("function_1(int)", "PAPI_TOT_INS", ["--metric", "PAPI_TOT_INS"], lambda l: l["title"] == newest),
             ("function_1(int)", "CPUTIME (sec)", ["--label", "title=a"], lambda l: l["title"] == "a"),
             ("function_1(int)", "CPUTIME (sec)", ["--same", "none"], lambda l: True),
             ("function_1(int)", "CPUTIME (sec)", ["--same", "none", "--label", "branch=dev"], lambda l: l["branch"] == "dev")]
    for function, metric, words, where in cases:
        answer = bench.json(file, "trend", *([function] if function else []), *words)
        wanted = plain_series(file, function, metric, where)
        bench.tap.check(found_series(answer) == wanted and len(wanted) > 5, f"trend of {function} {' '.join(words)}: {len(wanted)} runs",
                        [found_series(answer)[:3], wanted[:3]])
    answer = bench.json(file, "trend", "function_0", "--same", "none", "--limit", 7)
    bench.tap.check(found_series(answer) == plain_series(file, "function_0(int)", "CPUTIME (sec)")[-7:], "--limit has the newest runs")


def planted_steps_are_found(bench):
    found, wrong = 0, []
    for seed in range(12):
        first = 15 + 5 * seed
        file, series = bench.catalogue(f"step{seed}", 90, 3, 1, noise=0.03, steps=[(0, first, 1.12), (2, first, 0.8)], seed=seed)
        for function, size in ((0, 12), (2, -20)):
            answer = bench.json(file, "trend", f"function_{function}")
            changes = answer["changes"]
            near = [change for change in changes if abs(change["run"] - (first + 1)) <= 1]
            found += len(near) == 1
            if len(changes) != 1 or not near:
                wrong.append((seed, function, first + 1, [change["run"] for change in changes]))
                continue
            change = near[0]
            index = change["run"] - 1
            means = [sum(values) / len(values) for values in (series[function, 0][:index], series[function, 0][index:])]
            if change["run_before"] != change["run"] - 1 or abs(change["before"] / means[0] - 1) > 0.05 or abs(change["after"] / means[1] - 1) > 0.05:
                wrong.append((seed, change, means))
            if abs(change["change_percent"] - size) > 4:
                wrong.append((seed, change["change_percent"], size))
            if [row["run"] for row in answer["rows"] if row["is_change"]] != [change["run"]]:
                wrong.append((seed, "is_change"))
    bench.tap.check(len(wrong) <= 1, f"planted steps are found where they are: {found} of 24", wrong)


def quiet_series_have_no_changes(bench):
    count, invented = 0, []
    for seed in range(6):
        file, _ = bench.catalogue(f"quiet{seed}", 80, 5, 1, noise=0.05, seed=100 + seed)
        for function in range(5):
            changes = bench.json(file, "trend", f"function_{function}")["changes"]
            count += 1
            invented += [(seed, function, change) for change in changes]
    # 80 values can be divided at 79 places, each at the level 0.001: at most 8 % of series, if tests were independent.
    bench.tap.check(len(invented) <= 3, f"{count} series without a step: {len(invented)} changes", invented)


def exact_counts_need_no_noise(bench):
    file, _ = bench.catalogue("calls", 30, 2, 3, steps=[(1, 20, 1.02)])
    answer = bench.json(file, "trend", "function_1", "--metric", "calls")
    bench.tap.check([change["run"] for change in answer["changes"]] == [21], "a step of 2 % in a count without noise", answer["changes"])
    answer = bench.json(file, "trend", "function_1", "--metric", "calls", "--min-change", "5")
    bench.tap.check(answer["changes"] == [], "--min-change leaves it out", answer["changes"])


def pictures(bench):
    file, _ = bench.catalogue("picture", 150, 3, 1, steps=[(0, 70, 1.3)])
    status, text, _ = bench.run(file, "trend", "function_0")
    environment = cli.environment(COLUMNS="80")
    for words in (["trend", "function_0"], ["trend"], ["trend", "function_0", "--limit", "1"]):
        done = subprocess.run([bench.lode, "runs", *words, "--catalogue", str(bench.place(file))], capture_output=True, env=environment)
        lines = done.stdout.decode().splitlines()
        bench.tap.check(done.returncode == 0 and max(map(len, lines)) <= 80, f"lode runs {' '.join(words)}: text fits 80 columns", lines[:4])
    bench.tap.check("last run before: run 70," in text and "first run after: run 71," in text, "the runs on both sides of a change", [text])
    ascii_only = subprocess.run([bench.lode, "runs", "trend", "--catalogue", str(bench.place(file))], capture_output=True, env=cli.environment(LANG="C", LC_ALL="C"))
    bench.tap.check(ascii_only.stdout.isascii() and b"o" in ascii_only.stdout, "a terminal without other characters")
    picture = bench.folder / "picture.svg"
    connection = sqlite3.connect(file)
    connection.execute("UPDATE key SET name = 'f<a&b>\"''(int)' WHERE id = 1")
    connection.commit()
    connection.close()
    bench.json(file, "trend", "f<a&b>\"'(int)", "--svg", picture)
    root = ElementTree.parse(picture).getroot()
    space = "{http://www.w3.org/2000/svg}"
    texts = [element.text for element in root.iter(f"{space}text")]
    bench.tap.check(len(list(root.iter(f"{space}circle"))) == 150 and texts[0] == "f<a&b>\"'(int): CPUTIME (sec)" and any("at run 71" in text for text in texts),
                    "the picture has all runs, the name and the change", texts)


def names(bench):
    file, _ = bench.catalogue("names", 12, 14, 1)
    for text, status, pattern in (("function_1", 0, "function_1(int)"), ("function_1(int)", 0, "function_1(int)"), ("FUNCTION_9(INT)", 0, "function_9(int)"),
                                  ("ion_13", 0, "function_13(int)"), ("*_12(*", 0, "function_12(int)"), ("function", 2, "matches 14 functions: function_0(int); "),
                                  ("absent", 2, "no function in the catalogue matches 'absent'"), ("*" * 60 + "x", 2, "no function")):
        found, out, errors = bench.run(file, "trend", text)
        bench.tap.check(found == status and pattern in (out or errors), f"the function that '{text[:20]}' means", [found, out[:80], errors])
    found, _, errors = bench.run(file, "trend", "--metric", "nothing")
    bench.tap.check(found == 2 and "no metric in the catalogue matches 'nothing'" in errors, "a metric that is not there", [errors])


def checks_are_what_the_formulas_say(bench):
    if reference is None:
        bench.tap.skip("checks are what the formulas say", "there is no scipy")
        return
    # A step in the history, a step in the newest run, and one in which nothing happened.
    for name, steps, begin in (("quiet", [], {}), ("a step now", [(2, 39, 1.4), (4, 39, 0.6)], {}), ("a step before", [(1, 20, 1.5), (2, 39, 1.4)], {1: 20})):
        file, series = bench.catalogue(f"check {name}", 40, 6, 1, noise=0.02, steps=steps, seed=11)
        answer = bench.json(file, "check", "--limit", 0, statuses=(0, 1))
        rows = {row["function"]: row for row in answer["rows"]}
        total = [math.fsum(series[function, 0][run] for function in range(6)) for run in range(40)]
        wrong = []
        # What lies before a change does not count.
        table = [[None if run < begin.get(function, 0) else value for run, value in enumerate(series[function, 0])] for function in range(6)]
        first = {"a step before": 20}.get(name, 0)
        judged = reference.Table(table, [None if run < first else value for run, value in enumerate(total)], 39)
        for key, right in [(None, judged.total())] + [(f"function_{function}(int)", judged.at(function)) for function in range(6)]:
            row = rows[key]
            for what, value in (("p", right.p), ("expected", right.base), ("change_percent", 100 * (right.ratio - 1))):
                if abs(row[what] - value) > 1e-6 * max(abs(value), 1e-3):
                    wrong.append((key, what, row[what], value))
            if (row["verdict"] == "more") != (right.outcome(0.05) == 1):
                wrong.append((key, row["verdict"], right))
        wanted = rows
        more = sorted(row["function"] for row in answer["rows"] if row["verdict"] == "more" and row["function"])
        less = sorted(row["function"] for row in answer["rows"] if row["verdict"] == "less" and row["function"])
        bench.tap.check(not wrong, f"check, {name}: {len(wanted)} costs are those of the reference", wrong[:3])
        bench.tap.check((more, less) == (["function_2(int)"] if steps else [], ["function_4(int)"] if name == "a step now" else []),
                        f"check, {name}: what changed", [more, less])
        bench.tap.check(answer["more_count"] == sum(row["verdict"] == "more" for row in answer["rows"]), f"check, {name}: the count")


def alarms_are_rare(bench):
    """The same program 100 times: the shared level keeps the probability of an alarm at 5 % of checks, whatever the smallest change of interest."""
    file, _ = bench.catalogue("alarms", 160, 20, 1, noise=0.05, seed=21)
    statuses = [bench.run(file, "check", "--run", run, "--min-change", "0", "--json")[0] for run in range(61, 161)]
    bench.tap.check(set(statuses) <= {0, 1} and statuses.count(1) <= 13, f"100 runs without a change: {statuses.count(1)} alarms", statuses)
    file, _ = bench.catalogue("found", 60, 20, 1, noise=0.03, steps=[(7, 59, 1.25)], seed=22)
    bench.tap.check(bench.run(file, "check")[0] == 1, "a planted 25 % is found at once")


def checks_end_with_a_status(bench):
    file, _ = bench.catalogue("few", 12, 3, 3, labels=lambda run: {"title": "a", "branch": "x" if run > 8 else "y"})
    for words, wanted, text in ((["check"], 0, ""), (["check", "--same", "title,branch"], 2, "run 12 has 2 earlier runs with the same labels (title,branch); at least 5 are needed"),
                                (["check", "--run", "99"], 2, "the catalogue has no such run"), (["check", "--metric", "calls"], 0, ""),
                                (["check", "--history", "6"], 0, ""), (["check", "--history", "3"], 2, "at least 5 are needed")):
        status, _, errors = bench.run(file, *words)
        bench.tap.check(status == wanted and text in errors, f"lode runs {' '.join(words)}: status {wanted}", [status, errors])
    bench.tap.check(bench.json(file, "check", "--history", 6)["history_count"] == 6, "--history")
    connection = sqlite3.connect(file)
    connection.execute("UPDATE cost SET exclusive = exclusive + 1 WHERE run = 12 AND metric = 3 AND key = 2")
    connection.execute("INSERT INTO key(id, name, module, file) VALUES(9, 'fresh', '', '')")
    connection.execute("INSERT INTO cost(key, metric, run, exclusive, inclusive) VALUES(9, 1, 12, 50, 50)")
    connection.commit()
    connection.close()
    rows = bench.json(file, "check", "--limit", 0, "--min-change", "0", statuses=(0, 1))["rows"]
    bench.tap.check([row["verdict"] for row in rows if row["metric"] == "calls" and row["function"] == "function_1(int)"] == ["more"],
                    "a count that grows by one is more")
    bench.tap.check([row["verdict"] for row in rows if row["function"] == "fresh"] == ["new"], "a function that no run before has is new")


TESTS = [checks_are_what_the_formulas_say, alarms_are_rare, checks_end_with_a_status, trends_are_what_the_file_has, planted_steps_are_found, quiet_series_have_no_changes, exact_counts_need_no_noise, pictures, names]


# What depends on a series of numbers alone, and takes long, is the same wherever they come from.
LONG = (alarms_are_rare, planted_steps_are_found, quiet_series_have_no_changes)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lode", required=True)
    parser.add_argument("--server", choices=("short", "all"))
    options = parser.parse_args()
    lode = str(Path(options.lode).resolve())
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        if not options.server:
            bench = Bench(tap, lode, folder)
            for test in TESTS:
                test(bench)
            return tap.finish()
        try:
            with postgresql.Server() as server:
                bench = ServerBench(tap, lode, folder, server)
                for test in TESTS:
                    if options.server == "all" or test not in LONG:
                        test(bench)
        except postgresql.Missing as reason:
            tap.skip("trends and checks of a server", str(reason))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
