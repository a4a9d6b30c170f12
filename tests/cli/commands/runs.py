#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The catalogue of runs: what 'lode runs' says and refuses, labels of CI systems, catalogues that are damaged or made to do
harm, several processes at once. Another reader, Python's sqlite3, looks at the file.
"""

import os
import random
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import cli  # noqa: E402
import findings  # noqa: E402

# Variables that would give labels.
SIGNS = ("GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL", "BUILDKITE", "CIRCLECI", "TF_BUILD", "SLURM_JOB_ID")


class Runs:
    """A folder with the example stores and a catalogue. tests/cli/commands/runs_server.py has one with a server."""

    def __init__(self, program):
        self.program = program
        self.holder = tempfile.TemporaryDirectory()
        self.folder = Path(self.holder.name).resolve()
        self.file = self.folder / "runs.sqlite"
        self.environment = {name: None for name in (*SIGNS, "LODE_CATALOGUE", "XDG_DATA_HOME")}
        self.do("example", "demo")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.holder.cleanup()

    def do(self, *words, env=None, **options):
        return self.program.run(*words, cwd=self.folder, env={**self.environment, **(env or {})}, **options)

    def runs(self, *words, **options):
        return self.do("runs", *words, "--catalogue", self.file, **options)

    def add(self, store="demo/solver", *words, **options):
        result = self.runs("add", store, "--again", *words, "--json", **options)
        if result.status != 0 or findings.without(result.err):
            raise ValueError(result)
        return cli.parse_json(result.out)

    def list(self, *words):
        result = self.runs("list", *words, "--json")
        if result.status != 0 or result.err:
            raise ValueError(result)
        return cli.parse_json(result.out)

    def sql(self, text, *values, file=None):
        connection = sqlite3.connect(file or self.file)
        try:
            with connection:
                return connection.execute(text, values).fetchall()
        finally:
            connection.close()


def stores_of_all_kinds_are_added(program):
    with Runs(program) as r:
        for number, (store, title, metrics) in enumerate((("demo/solver", "heat", 4), ("demo/thumbs", "thumbs", 2), ("demo/shop", "shop", 2)), 1):
            answer = r.add(store, "--label", "machine=m1")
            program.equal((answer["run"], answer["metric_count"], answer["labels"]["title"], answer["labels"]["machine"]),
                          (number, metrics, title, "m1"), f"{store}: what was added")
        rows = r.list()["rows"]
        program.equal([row["title"] for row in rows], ["shop", "thumbs", "heat"], "the list has the newest first")
        begun = cli.parse_json(r.do("info", "demo/solver", "--json").out)["traces"]["begin_ns"]
        program.equal(rows[-1]["begun_ns"], begun, "a run began with the first sample of its traces")
        size = sum(path.stat().st_size for path in (r.folder / "demo/solver").rglob("*") if path.is_file())
        program.equal((rows[-1]["bytes"], rows[-1]["path"]), (size, str(r.folder / "demo/solver")), "size and path of the store")
        program.equal(r.sql("PRAGMA integrity_check"), [("ok",)], "SQLite finds the file in order")
        program.equal(r.runs("list", "--csv").out.count("\r\n"), 4, "CSV has a line for each run")
        text = r.runs("list", env={"COLUMNS": "80"}).out
        program.check(max(map(len, text.splitlines())) <= 80 and "machine=m1" in text, "text fits 80 columns", [text])


def all_metrics_are_those_of_the_store(program):
    with Runs(program) as r:
        names = [metric["name"] for metric in program.json("info", r.folder / "demo/solver")["metrics"]]
        program.equal(r.add("demo/solver", "-m", "all")["metric_count"], len(names), "add -m all")
        program.equal({name for name, in r.sql("SELECT name FROM metric")}, set(names), "the catalogue has them")
        program.equal(r.add("demo/solver", "-m", names[1])["metric_count"], 1, "add -m METRIC")
        for _ in range(5):
            r.add("demo/solver")
        every, usual = (r.runs("check", "--json", "--limit", 0, *words) for words in (["-m", "all"], []))
        program.equal((every.status, every.out), (usual.status, usual.out), "check -m all is what check does")
        program.equal({row["metric"] for row in cli.parse_json(every.out)["rows"]}, set(names), "it checks all of them")
        program.says(r.runs("trend", "-m", "all"), 2, "one --metric at a time.*", "trend -m all")


def a_store_is_added_once(program):
    with Runs(program) as r:
        r.add()
        program.says(r.runs("add", "demo/solver"), 2, r".*demo/solver is run 1 of the catalogue already; use --again to add it again",
                     "the same store once more")
        os.utime(r.folder / "demo/solver/meta.db", (1e9, 2e9))
        program.equal(r.runs("add", "demo/solver").status, 0, "a store that was written again is another run")
        program.equal(r.list()["row_count"], 2, "two runs")
        profile = r.folder / "x.folded"
        for number, cost in ((3, 10), (4, 20)):
            profile.write_text(f"main;solve {cost}\n")
            os.utime(profile, (1e9, 1e9 + number))
            program.equal(r.runs("add", "x.folded").status, 0, "a file that was written again is another run, too")
        program.equal([row["bytes"] for row in r.list()["rows"] if row["path"].endswith("x.folded")], [profile.stat().st_size] * 2, "its size is that of the file")


CONTENTS = {
    "run": "SELECT path, format, begun, bytes, profiles, (SELECT name FROM metric WHERE id = metric) FROM run",
    "label": "SELECT path, name, value FROM label JOIN run ON run.id = run ORDER BY 1, 2",
    "metric": "SELECT name FROM metric ORDER BY 1",
    "key": "SELECT name, module, file FROM key ORDER BY 1, 2, 3",
    "total": "SELECT path, metric.name, value FROM total JOIN run ON run.id = run JOIN metric ON metric.id = total.metric ORDER BY 1, 2",
    "cost": "SELECT path, metric.name, key.name, exclusive, inclusive, min, max FROM cost JOIN run ON run.id = run "
            "JOIN metric ON metric.id = cost.metric JOIN key ON key.id = key ORDER BY 1, 2, 3"}


def a_run_is_removed_with_what_only_it_has(program):
    with Runs(program) as r:
        r.add("demo/solver")
        wanted = {name: r.sql(text) for name, text in CONTENTS.items()}
        r.add("demo/thumbs")
        before = {name: r.sql(text) for name, text in CONTENTS.items()}
        program.check(all(len(before[name]) > len(wanted[name]) for name in CONTENTS), "each table has more with two runs", [before])
        program.says(r.runs("remove", "3"), 2, re.escape(f"{r.file} has no run 3"), "no such run")
        program.equal({name: r.sql(text) for name, text in CONTENTS.items()}, before, "nothing was removed")
        # Lines are as wide as the terminal, and the name of a server may be long.
        program.equal(r.runs("remove", "2").out.split(), f"run 2 removed from {r.file}".split(), "a run is removed")
        program.equal({name: r.sql(text) for name, text in CONTENTS.items()}, wanted, "the catalogue is as if it had never been there")
        program.equal((r.sql("PRAGMA integrity_check"), r.sql("PRAGMA foreign_key_check")), ([("ok",)], []), "SQLite finds the file in order")
        program.equal(r.add("demo/shop")["run"], 3, "its number is not used again")
        program.says(r.runs("remove", "2"), 2, re.escape(f"{r.file} has no run 2"), "it cannot be removed twice")


def labels_select_runs(program):
    with Runs(program) as r:
        for branch, commit, day in (("main", "a1", "2026-01-01"), ("main", "a2", "2026-01-02T10:00Z"), ("dev", "a3", "2026-01-03T10:00Z")):
            r.add("demo/solver", "--label", f"branch={branch}", "--label", f"commit={commit}", "--time", day)
        for words, wanted in ((["--label", "branch=main"], ["a2", "a1"]), (["--label", "branch=main", "--label", "branch=dev"], ["a3", "a2", "a1"]),
                              (["--label", "branch=main", "--label", "commit=a2"], ["a2"]), (["--label", "branch=ma"], []),
                              (["--since", "2026-01-02T10:00Z"], ["a3", "a2"]), (["--until", "2026-01-02T10:00Z"], ["a1"]),
                              (["--since", "2026-01-02", "--until", "2026-01-03"], ["a2"]), (["--since", "1d"], []), (["--limit", "1"], ["a3"]),
                              (["--label", "branch='; DROP TABLE run; --"], [])):
            program.equal([row["labels"]["commit"] for row in r.list(*words)["rows"]], wanted, f"lode runs list {' '.join(words)}")
        program.equal((r.list("--limit", "1")["row_count"], r.list("--limit", "1")["is_truncated"]), (3, True), "a list that is cut says so")
        answer = r.add("demo/thumbs", "--label", "command=", "--label", "title=other")
        program.equal(answer["labels"], {"title": "other"}, "a label is replaced, and removed by an empty value")


def environments_give_labels(program):
    cases = {
        "github": ({"GITHUB_ACTIONS": "true", "GITHUB_SHA": "c0", "GITHUB_REF_NAME": "main", "GITHUB_RUN_ID": "7", "GITHUB_JOB": "perf",
                    "GITHUB_REPOSITORY": "o/r"}, {"ci": "github", "commit": "c0", "branch": "main", "build": "7", "job": "perf", "repository": "o/r"}),
        "github, a pull request": ({"GITHUB_ACTIONS": "true", "GITHUB_SHA": "c0", "GITHUB_REF_NAME": "5/merge", "GITHUB_HEAD_REF": "fix"},
                                   {"ci": "github", "commit": "c0", "branch": "fix"}),
        "gitlab": ({"GITLAB_CI": "true", "CI_COMMIT_SHA": "c1", "CI_COMMIT_REF_NAME": "b", "CI_PIPELINE_ID": "8", "CI_JOB_NAME": "j",
                    "CI_PROJECT_PATH": "g/p"}, {"ci": "gitlab", "commit": "c1", "branch": "b", "build": "8", "job": "j", "repository": "g/p"}),
        "jenkins": ({"JENKINS_URL": "http://x", "GIT_COMMIT": "c2", "GIT_BRANCH": "origin/b", "BUILD_NUMBER": "9", "JOB_NAME": "n"},
                    {"ci": "jenkins", "commit": "c2", "branch": "origin/b", "build": "9", "job": "n"}),
        "buildkite": ({"BUILDKITE": "true", "BUILDKITE_COMMIT": "c3", "BUILDKITE_BRANCH": "b", "BUILDKITE_BUILD_NUMBER": "1", "BUILDKITE_PIPELINE_SLUG": "p"},
                      {"ci": "buildkite", "commit": "c3", "branch": "b", "build": "1", "repository": "p"}),
        "circleci": ({"CIRCLECI": "true", "CIRCLE_SHA1": "c4", "CIRCLE_BRANCH": "b", "CIRCLE_BUILD_NUM": "2", "CIRCLE_PROJECT_REPONAME": "r"},
                     {"ci": "circleci", "commit": "c4", "branch": "b", "build": "2", "repository": "r"}),
        "azure": ({"TF_BUILD": "True", "BUILD_SOURCEVERSION": "c5", "BUILD_SOURCEBRANCHNAME": "b", "BUILD_BUILDID": "3", "BUILD_REPOSITORY_NAME": "r"},
                  {"ci": "azure", "commit": "c5", "branch": "b", "build": "3", "repository": "r"}),
        "slurm in gitlab": ({"GITLAB_CI": "true", "CI_COMMIT_SHA": "c6", "SLURM_JOB_ID": "77", "SLURM_CLUSTER_NAME": "k", "SLURM_JOB_NUM_NODES": "4"},
                            {"ci": "gitlab", "commit": "c6", "slurm_job": "77", "slurm_cluster": "k", "slurm_nodes": "4"}),
        "no system": ({"GITHUB_SHA": "c0", "CI_COMMIT_SHA": "c1"}, {}),
    }
    with Runs(program) as r:
        none = {name: None for variables, _ in cases.values() for name in variables}
        for name, (variables, labels) in cases.items():
            answer = r.add("demo/solver", env={**none, **variables})
            program.equal(answer["labels"], {"title": "heat", **labels}, f"labels of the environment: {name}")
        answer = r.add("demo/solver", "--label", "commit=mine", env={**none, **cases["github"][0]})
        program.equal(answer["labels"]["commit"], "mine", "--label goes before the environment")
        answer = r.add("demo/solver", env={**none, "GITHUB_ACTIONS": "1", "GITHUB_SHA": "a\x1b[31m\udcff" + "x" * 5000})
        shown = r.runs("list").out
        program.check(len(answer["labels"]["commit"]) <= 1024 and "\x1b" not in shown, "a value that is long, or commands a terminal, does no harm", [shown])


def usage(program):
    with Runs(program) as r:
        r.add()
        see = r" \(see 'lode help runs'\)"
        for words, pattern in ((["runs"], "missing argument: add.*"), (["runs", "ad"], "unknown argument 'ad'; did you mean 'add'\\?" + see),
                               (["runs", "frobnicate"], "unknown argument 'frobnicate': expected .*" + see),
                               (["runs", "list", "demo"], "unexpected argument 'demo'" + see),
                               (["runs", "add", "nowhere"], "nowhere: .*"), (["runs", "add"], "missing argument: STORE; there is no store in the current directory.*"),
                               (["runs", "list", "--label", "x"], "--label is NAME=VALUE, not 'x'.*" + see),
                               (["runs", "list", "--label", "a b=c"], "--label is NAME=VALUE, not 'a b=c'.*" + see),
                               (["runs", "list", "--since", "yesterday"], "--since is a date.*, not 'yesterday'" + see),
                               (["runs", "remove"], "missing argument: RUN" + see), (["runs", "remove", "solver"], "a run is a number.*, not 'solver'" + see),
                               (["runs", "remove", "1", "--since", "1d"], "--since and --until are not for 'lode runs remove'" + see),
                               (["runs", "remove", "1", "--label", "a=b"], "--label is not for 'lode runs remove'" + see),
                               (["runs", "list", "--again"], "--time and --again are for 'lode runs add'" + see),
                               (["runs", "add", "demo/solver", "--since", "1d"], "--since and --until are not for 'lode runs add'" + see),
                               (["runs", "list", "--catalogue", "none.sqlite"], "none.sqlite: there is no catalogue; 'lode runs add' creates it"),
                               (["runs", "list", "--catalogue", "no/where.sqlite"], "no/where.sqlite: there is no catalogue; 'lode runs add' creates it"),
                               (["runs", "add", "demo/solver", "--catalogue", "demo"], "demo: not a file, so no catalogue of runs")):
            program.says(r.do(*words), 2, pattern, f"lode {' '.join(words)}")
        program.check(not (r.folder / "none.sqlite").exists(), "reading creates no catalogue")


def the_default_is_the_directory_of_data(program):
    with Runs(program) as r:
        home = r.folder / "home"
        home.mkdir()
        r.do("runs", "add", "demo/solver", env={"HOME": str(home)})
        file = home / ".local/share/lode/runs.sqlite"
        program.check(file.is_file(), "~/.local/share/lode/runs.sqlite")
        program.equal([stat.S_IMODE(path.stat().st_mode) for path in (file.parent, file)], [0o700, 0o600], "a directory and a file of the user alone")
        r.do("runs", "add", "demo/solver", env={"HOME": str(home), "XDG_DATA_HOME": str(r.folder / "data")})
        program.check((r.folder / "data/lode/runs.sqlite").is_file(), "XDG_DATA_HOME")
        r.do("runs", "add", "demo/solver", env={"LODE_CATALOGUE": str(r.folder / "named.sqlite")})
        program.check((r.folder / "named.sqlite").is_file(), "LODE_CATALOGUE")
        program.says(r.do("runs", "list", env={"HOME": None}), 2, "there is no home directory for a catalogue.*", "without a home")


def links_are_not_followed(program):
    with Runs(program) as r:
        target = r.folder / "target"
        r.file.symlink_to(target)
        program.says(r.runs("add", "demo/solver"), 2, r".*runs.sqlite: a symbolic link; give the path of the file itself", "a link to nothing")
        program.check(not target.exists(), "nothing was created behind the link")
        target.write_bytes(b"precious")
        program.equal((r.runs("add", "demo/solver").status, target.read_bytes()), (2, b"precious"), "the file behind a link stays as it is")
        r.file.unlink()
        (r.folder / "real").mkdir()
        (r.folder / "alias").symlink_to(r.folder / "real")
        result = r.do("runs", "add", "demo/solver", "--catalogue", "alias/runs.sqlite")
        program.check(result.status == 0 and (r.folder / "real/runs.sqlite").is_file(), "links among directories are the user's", [result])
        r.add()
        journal = r.folder / "runs.sqlite-journal"
        journal.symlink_to(target)
        result = r.runs("add", "demo/solver", "--again")
        program.check(target.read_bytes() == b"precious", "a planted journal that is a link is not written through", [result])


def journal_that_names(victim, catalogue):
    """A journal of a transaction over several files that was interrupted: SQLite deletes the file that it names after the rollback."""
    magic, name = bytes.fromhex("d9d505f920a163d7"), str(victim).encode()
    data = catalogue.read_bytes()
    size = int.from_bytes(data[16:18], "big")
    words = lambda *numbers: b"".join(number.to_bytes(4, "big") for number in numbers)
    head = (magic + words(0, 7, len(data) // size, 512, size)).ljust(512, b"\0")
    return head + words(0x40000000 // size + 1) + name + words(len(name), sum(name)) + magic


def a_journal_of_somebody_else_deletes_nothing(program):
    with Runs(program) as r:
        r.add()
        victim, journal = r.folder / "precious", r.folder / "runs.sqlite-journal"
        for words in (["list"], ["trend"], ["add", "demo/thumbs"]):
            victim.write_bytes(b"precious")
            journal.write_bytes(journal_that_names(victim, r.file))
            result = r.runs(*words)
            program.check(victim.exists() and result.status == 0 and not journal.exists(), f"lode runs {words[0]}: a journal that names another file", [result])
        journal.write_bytes(journal_that_names(victim, r.file))
        r.sql("SELECT * FROM run")
        program.check(not victim.exists(), "control: with plain SQLite, that file is gone")


def a_journal_that_is_no_file_is_refused(program):
    with Runs(program) as r:
        r.add()
        journal = r.folder / "runs.sqlite-journal"
        for path in (journal, r.folder / "runs.sqlite-wal", r.folder / "runs.sqlite-shm"):
            os.mkfifo(path)
            for words in (["list"], ["add", "demo/thumbs"]):
                program.says(r.runs(*words), 2, r".*runs.sqlite: its journal is not a regular file", f"lode runs {words[0]}: {path.name} is a pipe")
            path.unlink()
        journal.mkdir()
        program.says(r.runs("list"), 2, r".*runs.sqlite: its journal is not a regular file", "the journal is a directory")
        journal.rmdir()
        if os.geteuid() != 0:
            program.skip("a journal that another user planted", "only root can make one")
            return
        journal.write_bytes(b"")
        os.chown(journal, 65534, 65534)
        program.equal(r.list()["row_count"], 1, "others who may write in a directory are trusted")
        r.folder.chmod(0o1777)
        program.says(r.runs("list"), 2, r".*runs.sqlite: its journal belongs to another user", "in a directory for all, they are not")


def other_files_are_refused(program):
    with Runs(program) as r:
        r.file.write_bytes(b"This is no catalogue. " * 100)
        program.says(r.runs("list"), 2, r".*runs.sqlite: not a catalogue of runs", "a text")
        before = r.file.read_bytes()
        program.equal((r.runs("add", "demo/solver").status, r.file.read_bytes() == before), (2, True), "a text is not replaced")
        r.file.write_bytes(b"")
        program.says(r.runs("list"), 2, r".*: an empty file; 'lode runs add' makes it a catalogue", "an empty file")
        r.file.unlink()
        r.sql("CREATE TABLE mine(x)")
        for words in (["list"], ["add", "demo/solver"]):
            program.says(r.runs(*words), 2, r".*: not a catalogue of runs", f"an SQLite file of somebody else: {words[0]}")
        program.equal(r.sql("SELECT name FROM sqlite_master"), [("mine",)], "it stays as it was")
        r.file.unlink()
        r.add()
        r.sql("PRAGMA user_version = 99")
        program.says(r.runs("list"), 2, r".*: a catalogue of another version of lode", "a later version")


HARM = {
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM cost; UPDATE run SET path = 'harm'; END",
    "a trigger on labels": "CREATE TRIGGER t BEFORE INSERT ON label BEGIN SELECT RAISE(ABORT, 'harm'); END",
    "a view": "CREATE VIEW v AS SELECT load_extension('/tmp/harm.so') FROM run",
    "another table": "CREATE TABLE other(x)",
    "another index": "CREATE INDEX mine ON run(format)",
}


def other_parts_of_a_schema_do_nothing(program):
    for name, sql in HARM.items():
        with Runs(program) as r:
            r.add()
            r.sql(sql)
            before = r.sql("SELECT count(*) FROM cost")[0][0]
            added = r.add()
            program.equal((r.sql("SELECT count(*) FROM cost")[0][0], r.list()["row_count"], r.list()["rows"][0]["path"]),
                          (before + added["cost_count"], 2, str(r.folder / "demo/solver")), f"{name} in a catalogue is ignored")


SPOILT = {
    "a view in place of a table": ("run", "CREATE VIEW run AS SELECT 1 AS id", "view"),
    "a table with a trap": ("label", "CREATE TABLE label(run INTEGER, name TEXT, value TEXT AS (abs(run)))", "table"),
    "a table that is missing": ("total", None, "table"),
}


def a_changed_schema_is_refused(program):
    for name, (part, sql, _) in SPOILT.items():
        with Runs(program) as r:
            r.add()
            r.sql(f"DROP TABLE {part}")
            if sql:
                r.sql(sql)
            for words in (["list"], ["add", "demo/solver", "--again"]):
                program.says(r.runs(*words), 2, r".*: damaged: '\w+' is not as a catalogue has it", f"{name}: {words[0]}")


def values_of_other_types_do_no_harm(program):
    with Runs(program) as r:
        r.add()
        r.sql("UPDATE run SET begun = -5, bytes = 'text', profiles = x'00ff', path = x'1b5b33316dff00', format = 1e308")
        r.sql("UPDATE label SET value = ?", "\x1b]0;harm\x07\n" + "x" * 100000)
        r.sql("UPDATE total SET value = 9e999")
        for words in (["list"], ["list", "--json"], ["list", "--csv"]):
            result = r.runs(*words)
            program.check(result.status in (0, 2) and not re.search("[\x00-\x09\x0b\x0c\x0e-\x1f]", result.out), f"lode runs {' '.join(words)}", [result])


def commands_of(r):
    return [["list"], ["list", "--label", "title=heat", "--json"], ["add", "demo/solver", "--again"], ["remove", "2"]]


def damaged_catalogues_end_with_a_message(program):
    chance = random.Random(7)
    with Runs(program) as r:
        for store in ("demo/solver", "demo/thumbs", "demo/shop"):
            r.add(store)
        whole = r.file.read_bytes()
        cases = [("truncated", whole[:size]) for size in (1, 50, 100, 512, 4096, 4097, 8192, len(whole) // 2, len(whole) - 1)]
        for _ in range(40):
            spoilt = bytearray(whole)
            for _ in range(chance.choice((1, 1, 4, 32))):
                spoilt[chance.randrange(len(spoilt))] ^= 1 << chance.randrange(8)
            cases.append(("bit flips", bytes(spoilt)))
        for _ in range(10):
            page, other = chance.randrange(1, len(whole) // 4096), chance.randrange(1, len(whole) // 4096)
            cases.append(("a page twice", whole[:page * 4096] + whole[other * 4096:other * 4096 + 4096] + whole[page * 4096 + 4096:]))
        wrong, refused = [], 0
        for name, data in cases:
            for words in commands_of(r):
                (r.folder / "runs.sqlite-journal").unlink(missing_ok=True)
                r.file.write_bytes(data)
                result = r.runs(*words)
                refused += result.status == 2
                if not (result.status in (0, 1) and not result.err or result.status == 2 and result.err.startswith("lode: ")):
                    wrong.append((name, words, result))
        program.check(not wrong, f"{len(cases)} damaged catalogues: an answer, or a message ({refused} refused)", wrong[:3])
        program.check(refused > 20, "some damage is noticed", [refused])


def pages_that_repeat_are_bounded(program):
    """An inner page whose entries all lead to one page: few bytes, endless rows."""
    with Runs(program) as r:
        r.add()
        root = r.sql("SELECT rootpage FROM sqlite_master WHERE name = 'label'")[0][0]
        data = bytearray(r.file.read_bytes())
        size = int.from_bytes(data[16:18], "big")
        # Inner pages of an index tree: each has many entries that lead to the next level.
        levels = 6
        first = len(data) // size + 1
        leaf = bytes(data[(root - 1) * size:root * size])
        payload = bytes([4, 1, 25, 15]) + bytes([1]) + b"namea" + b"v"
        def inner(child):
            cell = child.to_bytes(4, "big") + bytes([len(payload)]) + payload
            count = (size - 12) // (len(cell) + 2)
            page = bytearray(size)
            page[0:12] = bytes([2, 0, 0]) + count.to_bytes(2, "big") + (size - count * len(cell)).to_bytes(2, "big") + b"\0" + child.to_bytes(4, "big")
            for i in range(count):
                at = size - (i + 1) * len(cell)
                page[12 + 2 * i:14 + 2 * i] = at.to_bytes(2, "big")
                page[at:at + len(cell)] = cell
            return bytes(page)
        data[(root - 1) * size:root * size] = inner(first)
        for level in range(levels):
            data += inner(first + level + 1) if level + 1 < levels else leaf
        data[28:32] = (len(data) // size).to_bytes(4, "big")
        r.file.write_bytes(data)
        result = r.runs("list")
        program.says(result, 2, r".*: damaged: .*", "a tree of pages that repeat ends")


def several_processes_add_at_once(program):
    with Runs(program) as r:
        words = [program.lode, "runs", "add", "demo/solver", "--again", "--catalogue", str(r.file)]
        processes = [subprocess.Popen(words, cwd=r.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=cli.environment(**r.environment))
                     for _ in range(8)]
        errors = [process.communicate(timeout=cli.SECONDS)[1] for process in processes]
        program.equal([process.returncode for process in processes], [0] * 8, "eight processes create and add at once")
        program.equal((errors, r.sql("PRAGMA integrity_check"), r.list()["row_count"]), ([b""] * 8, [("ok",)], 8), "eight runs, in order")
        counts = r.sql("SELECT count(*) FROM cost GROUP BY run")
        program.check(len(counts) == 8 and len(set(counts)) == 1, "each of them whole", counts)


def readers_without_permission_to_write(program):
    if os.geteuid() == 0:
        program.skip("a reader who may not write", "root may")
        return
    with Runs(program) as r:
        r.add()
        r.file.chmod(0o400)
        program.equal(r.list()["row_count"], 1, "a reader who may not write")
        program.equal(r.runs("add", "demo/solver", "--again").status, 2, "a writer who may not")


def hostile_names_do_no_harm(program):
    """Stores whose every name would command a terminal."""
    if len(program.without) < 2:
        program.skip("hostile names", "there is no program that makes such stores")
        return
    with Runs(program) as r:
        (r.folder / "hostile").mkdir()
        subprocess.run([program.without[1], r.folder / "hostile"], check=True, stdout=subprocess.DEVNULL)
        for store in ("database", "recording", "traces"):
            r.add(f"hostile/{store}")
        name = r.sql("SELECT name FROM key ORDER BY length(name) DESC")[0][0]
        picture = r.folder / "picture.svg"
        for words in (["list"], ["list", "--json"], ["list", "--csv"], ["trend"], ["trend", "--json"], ["trend", name, "--same", "none", "--svg", picture], ["check"]):
            result = r.runs(*words)
            shown = result.out + result.err + (picture.read_text(encoding="utf-8") if picture.exists() else "")
            program.check(result.status in (0, 2) and not re.search("[\x00-\x09\x0b\x0c\x0e-\x1f\x7f\u0080-\u009f\u202e]", shown),
                          f"hostile names: lode runs {words[0]} {len(words)}", [result])


def without_sqlite(program):
    lode = program.without[0]
    with Runs(program) as r:
        env = cli.environment(**r.environment)
        done = subprocess.run([lode, "runs", "list"], capture_output=True, env=env)
        program.equal((done.returncode, done.stdout, done.stderr), (2, b"", b"lode: this program was built without SQLite, and so without a catalogue of runs: "
                      b"install libsqlite3-dev and build Lode with -Dsqlite=enabled\n"), "a program without SQLite says so")
        shown = subprocess.run([lode, "version"], capture_output=True, env=env).stdout.decode()
        program.check("built without SQLite" in shown and "sqlite 3" not in shown, "and so does its version", [shown])
        program.check(subprocess.run([lode, "help", "runs"], capture_output=True, env=env).returncode == 0, "it has the help")
        program.check(subprocess.run([lode, "top", r.folder / "demo/solver"], capture_output=True, env=env).returncode == 0, "the rest works")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, stores_of_all_kinds_are_added, all_metrics_are_those_of_the_store, a_store_is_added_once, a_run_is_removed_with_what_only_it_has, labels_select_runs, environments_give_labels, usage,
                      the_default_is_the_directory_of_data, links_are_not_followed, a_journal_of_somebody_else_deletes_nothing,
                      a_journal_that_is_no_file_is_refused, other_files_are_refused,
                      other_parts_of_a_schema_do_nothing, a_changed_schema_is_refused, values_of_other_types_do_no_harm,
                      damaged_catalogues_end_with_a_message, pages_that_repeat_are_bounded, several_processes_add_at_once,
                      readers_without_permission_to_write, hostile_names_do_no_harm, without_sqlite, operands="without"))
