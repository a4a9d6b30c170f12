#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the program says about what is not a sound database: nothing there, something else, one that was cut short."""

import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

import cli
import findings

FILES = ("meta.db", "profile.db", "cct.db", "trace.db")
READERS = ("info", "top", "tree", "profiles", "context", "trace", "dump", "check")


@contextlib.contextmanager
def copy_of(program, name="made-small"):
    """A database that may be written to, called db, and the folder it is in."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "db"
        database.mkdir()
        for file in FILES:
            if (program.databases() / name / file).exists():
                shutil.copyfile(program.databases() / name / file, database / file)
        yield database, folder


def nothing_there(program):
    for command in (*READERS, "replay"):
        program.says(program.run(*cli.arguments_of(command, "nowhere"), cwd=os.sep), 2, "nowhere: no such file or directory",
                     f"lode {command} nowhere")

EMPTY = (r"empty: unknown store: no meta.db \(HPCToolkit database\), info or task.txt \(uftrace recording\), traces.dat \(Zorka store\), "
         r"pprof profile \(.pb.gz\), folded stacks, recording of perf \(perf.data\), "
         r"measurements \(.hpcrun\) or OpenTelemetry, Jaeger or Zipkin spans \(.json, .pb\)")


def something_else(program):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "file").write_bytes(b"x")
        (Path(folder) / "empty").mkdir()
        (Path(folder) / "old").mkdir()
        (Path(folder) / "old" / "experiment.xml").write_bytes(b"<x/>")
        for command in (*READERS, "replay"):
            program.says(program.run(*cli.arguments_of(command, "file"), cwd=folder), 2,
                         "file: neither a profile of pprof nor folded stacks, nor a directory with meta.db, info and task.txt, or "
                         "traces.dat",
                         f"lode {command} on a file")
            if command != "check":
                program.says(program.run(*cli.arguments_of(command, "old"), cwd=folder), 2,
                             r"old: an HPCToolkit database older than 4.0 \(experiment.xml\); not supported",
                             f"lode {command} on an old database")
            program.says(program.run(*cli.arguments_of(command, "empty"), cwd=folder), 2,
                         EMPTY, f"lode {command} on an empty directory")
        program.says(program.run("build", "empty", "-o", "db", cwd=folder), 2, EMPTY, "lode build on an empty directory")


def files_that_must_not_be_read(program):
    """They are there: the message names one, and why it cannot be read. Root may read everything, unless it gives that up."""
    limited = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    if limited and shutil.which("setpriv") is None:
        program.skip("files that must not be read", "no setpriv")
        return
    with tempfile.TemporaryDirectory() as folder:
        program.run("example", "demo", cwd=folder)
        for path in Path(folder, "demo").rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0)
        for store, file in (("solver", "meta.db"), ("thumbs", "info"), ("shop", "000000/config.props")):
            for command in ("info", "check", "diagnose"):
                program.says(program.run_any(*limited, program.lode, command, f"demo/{store}", cwd=folder), 2,
                             f"demo/{store}: {file}: cannot open: Permission denied", f"lode {command} on {store}, which must not be read")


def a_sample_nowhere(program):
    """A sample at a context that meta.db does not list is shown as such."""
    with copy_of(program) as (database, folder):
        data = bytearray((database / "trace.db").read_bytes())
        # Of the last sample, the 4 bytes of its context; behind it there are 4 of padding and 8 of the footer.
        data[-16:-12] = (12345).to_bytes(4, "little")
        (database / "trace.db").write_bytes(data)
        result = program.run("trace", "db", cwd=folder)
        program.check(result.status == 0 and "(not listed)" in result.out and findings.LINE.fullmatch(result.err),
                      "lode trace with a sample at a context that is not listed", [result])


def cut_short(program):
    """Opening says which file and where; a check finds the same and exits with 1."""
    for file in FILES:
        with copy_of(program) as (database, folder):
            size = (database / file).stat().st_size
            for length, rule in ((size - 1, "file-footer"), (size // 2, "file-footer"), (7, "file-short")):
                os.truncate(database / file, length)
                offset = hex(max(0, length - 8)) if rule == "file-footer" else "0x0"
                program.says(program.run("info", "db", cwd=folder), 2,
                             rf"db: {file} at {offset}: the file .* \({rule}\)", f"{file} cut to {length}: open")
                result = program.run("check", "--csv", "db", cwd=folder)
                rows = cli.csv_rows(result.out)[1]
                program.check(result.status == 1 and ["error", rule, file, str(int(offset, 16))]
                              in [row[:4] for row in rows], f"{file} cut to {length}: check", [result])


def every_reader_names_the_damage(program):
    with copy_of(program) as (database, folder):
        os.truncate(database / "profile.db", 1000)
        for command in READERS:
            if command != "check":
                program.says(program.run(*cli.arguments_of(command, "db"), cwd=folder), 2,
                             r"db: profile.db at 0x3e0: .* \(file-footer\)", f"lode {command} on a damaged database")


def missing_files(program):
    for file, status in (("meta.db", 2), ("profile.db", 2), ("cct.db", 0), ("trace.db", 0)):
        with copy_of(program) as (database, folder):
            (database / file).unlink()
            result = program.run("info", "db", cwd=folder)
            told = result.err if status else result.out
            program.check(result.status == status and file in told, f"lode info without {file}", [result])
            found = program.run("check", "--level", "full", "db", cwd=folder).status
            program.equal(found, 1 if file == "profile.db" or file == "meta.db" else 0, f"lode check without {file}")


def context_without_cct(program):
    with copy_of(program, "made-loops-cputime-t") as (database, folder):
        wanted = program.json("context", "--all", "db", "main", cwd=folder)
        (database / "cct.db").unlink()
        found = program.json("context", "--all", "db", "main", cwd=folder)
        program.check((wanted.pop("values_by_context"), found.pop("values_by_context")) == (True, False)
                      and found == wanted, "lode context without cct.db: the same values, from the profiles")


def statuses_of_a_check(program):
    """0 sound, 1 errors, 2 could not check: in every format."""
    for format_options in ([], ["--json"], ["--csv"]):
        with copy_of(program) as (database, folder):
            statuses = [program.run("check", "db", *format_options, cwd=folder).status]
            with open(database / "trace.db", "r+b") as stream:
                stream.write(b"?")
            statuses.append(program.run("check", "db", *format_options, cwd=folder).status)
            shutil.rmtree(database)
            statuses.append(program.run("check", "db", *format_options, cwd=folder).status)
        program.equal(statuses, [0, 1, 2], f"exit statuses of lode check {' '.join(format_options)}")


def findings_as_text(program):
    with copy_of(program) as (database, folder):
        os.truncate(database / "trace.db", 200)
        result = program.run("check", "db", cwd=folder)
        first, *_, verdict, scope = result.out.splitlines()
        program.check(first.startswith("error file-footer trace.db@0xc0: the file does not end with 'trace.db'")
                      and verdict.startswith("damaged: db: 2 errors, 0 warnings, ")
                      and scope.startswith("checked at level structure: ") and result.err == "",
                      "lode check: a line for each finding, a verdict, what was looked at", [result])


def findings_as_json(program):
    with copy_of(program) as (database, folder):
        os.truncate(database / "trace.db", 200)
        answer = cli.parse_json(program.run("check", "--json", "db", cwd=folder).out)
        listed = [finding["severity"] for finding in answer["findings"]]
        result = answer["result"]
        program.check(not result["sound"] and result["errors"] == listed.count("error") == 2
                      and result["notes"] == listed.count("note") and result["suppressed"] == 0
                      and {"contexts", "profiles", "values", "samples"} < result.keys(), "lode check --json", [answer])


def limit_of_findings(program):
    database = "made-loops-cputime-t-Mstats"
    some, everything = (program.json("check", "--level", "full", "--limit", limit, database) for limit in (1, 0))
    rules = {finding["rule"] for finding in everything["findings"]}
    program.check(len(some["findings"]) == len(rules) and everything["result"]["suppressed"] == 0
                  and some["result"]["suppressed"] + len(rules) == len(everything["findings"])
                  and some["result"]["warnings"] == everything["result"]["warnings"],
                  "lode check --limit 1: one of each rule, the rest counted", [some["result"], everything["result"]])


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, nothing_there, something_else, files_that_must_not_be_read, a_sample_nowhere, cut_short,
                      every_reader_names_the_damage, missing_files, context_without_cct, statuses_of_a_check,
                      findings_as_text, findings_as_json, limit_of_findings))
