#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Source text in databases and below --source-path: it is found where it is, printed beside its costs, and nothing else is read, whatever paths a
database has and whatever lies where they lead.
"""

import csv
import io
import json
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / name) for name in ("answers", "cli")]

import cli  # noqa: E402
import corpora  # cli knows where it is
import db_nasty as nasty  # noqa: E402
import db_write  # noqa: E402

SECRET = "a secret from outside"
TOO_LARGE = (64 << 20) + 1
LINES = ["int main(void)", "{", "\treturn work();", "}  /* \x1b[31m red \x1b[0m */", "last"]


def make(folder, paths):
    """A database whose source files have these paths, as (path, copied)."""
    _, data = nasty.make(8)
    for file, (path, copied) in zip(data["meta"]["files"], paths):
        file.update(path=path, copied=copied)
    db_write.write(folder, data)
    return folder


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def ask(program, *arguments):
    result = program.run("source", "--all", "--json", *map(str, arguments), cwd=ROOT)
    return json.loads(result.out) if result.status == 0 else {"text": None, "problem": result.err}


def shown(answer):
    return [row["text"] for row in answer.get("rows", [])]


def text_of_copies(program):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        db = make(folder / "db", [("src/opt/u/a.c", True), ("/opt/u/b.c", False), ("/opt/u/c.c", False)])
        put(db / "src/opt/u/a.c", "\n".join(LINES))
        answer = ask(program, db, "a.c")
        program.check(shown(answer)[:5] == LINES, "the copy in the database is shown, line by line", [str(answer)[:300]])
        program.check(answer["source"].endswith("src/opt/u/a.c") and answer["source_problem"] is None,
                      "its origin is said")
        text = program.run("source", "--all", str(db), "a.c", cwd=ROOT).out
        program.check("\x1b" not in text and "red" in text, "control characters in source text are escaped", [text])
        rows = list(csv.DictReader(io.StringIO(program.run("source", "--all", "--csv", str(db), "a.c", cwd=ROOT).out)))
        program.check([int(row["line"]) for row in rows][:5] == [1, 2, 3, 4, 5], "lines as CSV", [str(rows)[:300]])
        answer = ask(program, db, "b.c")
        program.check(answer["rows"] and shown(answer) == [None] * len(answer["rows"]) and answer["source_problem"],
                      "without text, costs are shown with the reason")
        put(db / "src/opt/u/a.c", "one\r\ntwo\r\n")
        program.check(shown(ask(program, db, "a.c"))[:2] == ["one", "two"], "carriage returns end lines")
        put(db / "src/opt/u/a.c", "")
        program.check(ask(program, db, "a.c")["source_problem"] is None, "an empty file is a file")


def text_elsewhere(program):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        db = make(folder / "db", [("src/opt/u/a.c", True), ("/opt/u/b.c", False), ("../x/./c.c", False)])
        put(db / "src/opt/u/a.c", "copy")
        put(folder / "one/u/b.c", "below one")
        put(folder / "two/a.c", "below two")
        put(folder / "two/c.c", "relative")
        put(folder / "three/lib/b.c", "replaced")
        cases = [(["--source-path", folder / "one"], "b.c", "below one", "leading components are removed until there is a file"),
                 (["--source-path", folder / "two"], "a.c", "below two", "a directory comes before the copy"),
                 (["--source-path", folder / "one"], "a.c", "copy", "a directory without the file does not hide the copy"),
                 (["--source-path", f"/opt/u={folder}/three/lib"], "b.c", "replaced", "a prefix is replaced"),
                 (["--source-path", f"/opt/={folder}/one"], "b.c", "below one", "a prefix with a slash is replaced"),
                 (["--source-path", f"/op={folder}/three/lib"], "b.c", None, "a prefix has complete components"),
                 (["--source-path", folder / "no", "--source-path", folder / "one"], "b.c", "below one",
                  "a directory that is absent is passed over"),
                 (["--source-path", folder / "two"], "c.c", "relative", "'..' in a recorded path does not lead out")]
        for options, file, wanted, what in cases:
            answer = ask(program, *options, db, file)
            program.check(shown(answer)[:1] == [wanted], what, [str(answer)[:300]])


def hostile_paths(program):
    """(path, whether it is copied, what lies there)"""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        put(folder / "secret.c", SECRET)
        put(folder / "outside/secret.c", SECRET)
        recorded = ["src/../../secret.c", "../secret.c", "src/../meta.db", str(folder / "secret.c"), "src/link.c", "src/dir/secret.c",
                    "src/pipe.c", "src/large.c", "src/folder", "src/" + "../" * 30 + str(folder / "secret.c"), "", "src/", "meta.db",
                    "src/" + "a/" * 2000 + "x.c", "src/" + "n" * 5000]
        for number, path in enumerate(recorded):
            db = make(folder / f"db{number}", [(path, True), ("/b.c", False), ("/c.c", False)])
            (db / "src/folder").mkdir(parents=True)
            os.symlink(folder / "secret.c", db / "src/link.c")
            os.symlink(folder / "outside", db / "src/dir")
            os.mkfifo(db / "src/pipe.c")
            with open(db / "src/large.c", "wb") as stream:
                stream.truncate(TOO_LARGE)
            for options in ([], ["--source-path", db / "src"]):
                result = program.run("source", "--all", "--json", *map(str, options), str(db), path, cwd=ROOT)
                program.check(SECRET not in result.out and (result.status != 0 or json.loads(result.out)["source"] is None),
                              f"nothing is read for {path[:40]!r}{' below a directory' if options else ''}", [result.out[:300], result.err])


def lines_of_recordings(program):
    """Times at lines are those of the functions that are defined there."""
    for store in (path / "uftrace.data" for path in corpora.stores(program.recordings())):
        files = {}
        for row in json.loads(program.run("top", "--json", "--limit", "0", str(store)).out)["rows"]:
            if row["file"] is not None and row["line"] is not None:
                line = files.setdefault(row["file"], {}).setdefault(row["line"], [0, 0, 0])
                for i, key in enumerate(("self_ns", "total_ns", "calls")):
                    line[i] += row[key]
        for file, lines in files.items():
            rows = ask(program, store, file)["rows"]
            program.equal({row["line"]: [row["self_ns"], row["total_ns"], row["calls"]] for row in rows}, lines,
                          f"{store.parent.name}: lines of {file} have the times of their functions")


def names(program):
    databases = program.databases()
    db = str(databases / "made-small")
    answer = program.run("source", db, "no such function")
    program.check(answer.status == 2 and "no function or source file" in answer.err, "an unknown name is an error", [answer.err])
    with tempfile.TemporaryDirectory() as folder:
        program.run("example", f"{folder}/demo")
        solver = f"{folder}/demo/solver"
        for text, function in (("spmv", "spmv"), ("SPMV", "spmv"), ("spmv*0", "spmv._omp_fn.0"), ("/^axpy.*3$/", "axpy._omp_fn.3"),
                               ("cg_solve [heat]", "cg_solve"), ("ssemble_rhs._omp", "assemble_rhs._omp_fn.1")):
            program.equal(ask(program, solver, text)["function"], function, f"'{text}' means {function}")
        answer = program.run("source", solver, "dot*")
        program.check(answer.status == 2 and "several functions match 'dot*'" in answer.err and "dot._omp_fn.2" in answer.err,
                      "candidates of a pattern are listed", [answer.err])
        answer = program.run("source", solver, "/(/")
        program.check(answer.status == 2 and "not a regular expression" in answer.err, "what is no regular expression is an error", [answer.err])


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, text_of_copies, text_elsewhere, hostile_paths, lines_of_recordings, names))
