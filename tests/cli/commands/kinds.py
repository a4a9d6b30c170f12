#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
--kinds FILE: the rules of a user decide first, in every command that says what functions do, for names as they are shown and as they
are in the files; and 'lode top --by kind --list' says which rule decided.
"""

import json
import re
import sqlite3
import sys
import tempfile
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import cli  # noqa: E402

# Functions of the example stores that compute, and what the rules make of them. Nothing of theirs is MPI or GPU without rules.
SOLVER, THUMBS = "axpy", "decode"
RULES = f"gpu * {SOLVER}*\ngpu * *{THUMBS}*\n"


class Example:
    """The stores of 'lode example', and rules."""

    def __init__(self, program, folder):
        self.folder, self.program = folder, program
        done = program.run("example", folder / "demo", cwd=folder)
        assert done.status == 0, done
        self.solver, self.thumbs = folder / "demo/solver", folder / "demo/thumbs"
        self.rules = folder / "site rules.txt"
        self.rules.write_text(RULES)

    def both(self, *words):
        """The answers without and with the rules."""
        return [self.program.json(*words, *more, cwd=self.folder) for more in ((), ("--kinds", self.rules))]


def kinds_of(rows, name):
    return {row["kind"] for row in rows if row["name"] and name in row["name"]}


def rules_decide_in_every_command(program):
    with tempfile.TemporaryDirectory() as scratch:
        example = Example(program, Path(scratch))
        for name, key, words in (
                (SOLVER, "rows", ("top", example.solver, "--limit", 0)), (SOLVER, "rows", ("top", example.solver, "--by", "symbol", "--limit", 0)),
                (SOLVER, "rows", ("top", example.solver, "--metric", "all", "--limit", 0)), (THUMBS, "rows", ("top", example.thumbs, "--limit", 0)),
                (SOLVER, "boxes", ("flame", example.solver)), (SOLVER, "boxes", ("flame", example.solver, "--bottom-up")), (THUMBS, "boxes", ("flame", example.thumbs)),
                (SOLVER, "rows", ("trace", example.solver, "--limit", 0)), (SOLVER, "rows", ("trace", example.solver, "--merge", "--limit", 0)),
                (SOLVER, "rows", ("trace", example.solver, "--boxes", "--rows", 1)), (THUMBS, "rows", ("trace", example.thumbs, "--limit", 0)),
                (THUMBS, "rows", ("trace", example.thumbs, "--boxes"))):
            before, after = (kinds_of(answer[key], name) for answer in example.both(*words))
            program.check(before and "gpu" not in before and after == {"gpu"}, f"{' '.join(map(str, [words[0], words[1].name, *words[2:]]))}: {name} is what the rules say", [before, after])
        before, after = ({row["kind"]: row["exclusive"] for row in answer["rows"]} for answer in example.both("top", example.solver, "--by", "kind"))
        moved = sum(row["exclusive"] for row in program.json("top", example.solver, "--limit", 0, cwd=example.folder)["rows"] if SOLVER in row["name"])
        program.check(abs(before["own"] - after["own"] - moved) < 1e-9 * before["own"] and abs(after["gpu"] - moved) < 1e-9 * moved > 0, "top --by kind: its cost moves from own code", [before, after])


def lines_inside_functions_have_their_kind(program):
    with tempfile.TemporaryDirectory() as scratch:
        example = Example(program, Path(scratch))
        for by in ("line", "loop"):
            before, after = ({row["kind"] for row in answer["rows"] if row["function"] and SOLVER in row["function"]} for answer in example.both("top", example.solver, "--by", by, "--limit", 0))
            program.check(before == {"own"} and after == {"gpu"}, f"top --by {by}", [before, after])


def pictures_have_the_colours_of_the_rules(program):
    """The legend of a flame graph lists the kinds that are there; time of the kind "idle" has no colour in a timeline."""
    with tempfile.TemporaryDirectory() as scratch:
        example = Example(program, Path(scratch))
        legends = []
        for more in ((), ("--kinds", example.rules)):
            done = program.run("flame", example.solver, "-o", "-", *more, cwd=example.folder)
            legends.append(done.status == 0 and re.findall(r">GPU<", done.out))
        program.check(legends == [[], [">GPU<"]], "flame: the legend", legends)
        example.rules.write_text(f"sleep * {SOLVER}*\n")
        shown = []
        for more in ((), ("--kinds", example.rules)):
            done = program.run("trace", example.solver, "-o", "-", *more, cwd=example.folder)
            shown.append(done.status == 0 and SOLVER in done.out)
        program.check(shown == [True, False], "trace: what sleeps has no colour of its own", shown)


def tables_have_the_kinds_of_the_rules(program):
    with tempfile.TemporaryDirectory() as scratch:
        example = Example(program, Path(scratch))
        query = f"select distinct kind, activity from function where name like '%{SOLVER}%'"
        answers = [answer["results"][0]["rows"] for answer in example.both("sql", example.solver, query)]
        program.check(answers == [[["own", "own"]], [["gpu", "gpu"]]], "sql: the table function", answers)
        query = "select count(*) from hotspot('kind') where name = 'GPU'"
        answers = [answer["results"][0]["rows"] for answer in example.both("sql", example.solver, query)]
        program.check(answers == [[[0]], [[1]]], "sql: hotspot('kind')", answers)
        found = []
        for number, more in enumerate(((), ("--kinds", example.rules))):
            target = example.folder / f"{number}.sqlite"
            done = program.run("export", example.solver, "--format", "sqlite", "-o", target, *more, cwd=example.folder)
            if done.status != 0 and "built without" in done.err:
                return program.skip("export: the table function", "there is no SQLite")
            with sqlite3.connect(target) as link:
                found.append(link.execute(f"select distinct kind from function where name like '%{SOLVER}%'").fetchall())
        return program.check(found == [[("own",)], [("gpu",)]], "export: the table function", found)


def comparisons_and_diagnoses_use_the_rules(program):
    """The same run on both sides has no activity that changed; the command for more has the rules."""
    with tempfile.TemporaryDirectory() as scratch:
        example = Example(program, Path(scratch))
        diagnosed = example.both("diagnose", example.solver)
        times = [{row["activity"] for row in answer["activities"]} for answer in diagnosed]
        program.check("gpu" not in times[0] and "gpu" in times[1], "diagnose: time by activity", times)
        half = example.folder / "half"
        done = program.run("slice", example.solver, "--profiles", "rank=0-3", "-o", half, cwd=example.folder)
        assert done.status == 0, done
        answers = example.both("compare", "--diagnose", half, example.solver)
        changed = [{row["activity"] for row in answer["activities"]} for answer in answers]
        program.check("gpu" not in changed[0] and "gpu" in changed[1], "compare --diagnose: activities that changed", changed)
        program.equal(answers[1]["diagnose_command"], ["lode", "diagnose", str(example.solver), "--base", str(half), "--kinds", str(example.rules)], "compare --diagnose: the command for more")
        said = program.run("compare", "--diagnose", half, example.solver, "--kinds", example.rules, cwd=example.folder).out
        program.check(f"--kinds {str(example.rules).replace(' ', chr(92) + ' ')}" in said, "the same in text, quoted", [said[-300:]])


def commands_that_show_more_have_the_rules(program):
    """Of statements of 'lode diagnose': where what the command prints depends on them, and there only."""
    with tempfile.TemporaryDirectory() as scratch:
        example = Example(program, Path(scratch))
        seen = set()
        for store in (example.solver, cli.ROOT / "tests/data/hpctoolkit/final/made-ranks", cli.ROOT / "tests/data/hpctoolkit/final/made-openmp"):
            if not store.exists():
                continue
            for number, answer in enumerate(example.both("diagnose", store)):
                for words in (evidence["command"] for statement in answer["statements"] for evidence in statement["evidence"] if evidence["command"]):
                    follows = words[1] == "efficiency" or ("--by", "kind") in zip(words, words[1:])
                    seen.add((number, follows))
                    rules = ["--kinds", str(example.rules)] if follows and number else []
                    program.equal(words[len(words) - 1 - len(rules):], [*rules, str(store)], f"{store.name}: {' '.join(words[:3])}")
        program.check(seen == {(0, False), (0, True), (1, False), (1, True)}, "commands of all sorts", [seen])
        said = program.run("diagnose", example.solver, "--all", "--kinds", example.rules, cwd=example.folder).out
        program.check(re.search(r"lode (efficiency|top --by kind.*) --kinds '?.*site.*rules\.txt", said) is not None, "the same in text", [said])


def reports_have_the_kinds_of_the_rules(program):
    """Reports, those of a gate too; an anonymous one does not tell where the rules are."""
    with tempfile.TemporaryDirectory() as scratch:
        example, folder = Example(program, Path(scratch)), Path(scratch)
        (folder / "acme").mkdir()
        (folder / "acme/rules.txt").write_text(RULES)
        made = []
        for words in (("report", example.solver, "-o", "a.html"), ("gate", example.solver, example.solver, "--report", "b.html"),
                      ("report", example.solver, "-o", "c.html", "--anonymous")):
            done = program.run(*words, "--kinds", "acme/rules.txt", cwd=folder)
            if done.status == 2 and " page" in done.err:
                return program.skip("reports", "the program has no page")
            made.append((folder / [word for word in words if str(word).endswith(".html")][0]).read_text(encoding="ascii"))
        for name, text in zip(("report", "gate --report", "report --anonymous"), made):
            answers = dict(re.findall(r'data-target="([^"]*)" data-status="200">([^<]*)<', text))
            boxes = json.loads(next(answer for target, answer in answers.items() if target.startswith("flame/0")))["boxes"]
            program.equal(kinds_of(boxes, SOLVER), {"gpu"}, f"{name}: {SOLVER} is what the rules say")
            program.equal(json.loads(answers["session"])["kinds"], "rules.txt" if "anonymous" in name else "acme/rules.txt", f"{name}: the session names the rules")
            program.equal("acme/" in text, "anonymous" not in name, f"{name}: the folder of the rules")
        return None


# What tracers, linkers and compilers make of names: the raw name, a pattern that means it, and whether the pattern is the raw name, what
# c++filt prints, or the same without parameters.
FORMS = (("_ZN4pool4Pool7acquireEi", ("_ZN4pool4Pool7acquireEi", "pool::Pool::acquire(int)", "pool::Pool::acquire")),
         ("pool::Pool::acquire(int)", ("pool::Pool::acquire(int)", "pool::Pool::acquire")),
         ("_ZN4poolI3JobiE3runEv", ("pool<Job, int>::run()", "pool::run", "_ZN4poolI3JobiE3runEv")),
         ("void pool<Job>::run<3>(std::vector<int, std::allocator<int> >&)", ("void pool<Job>::run<3>(*", "pool::run")),
         ("pool_wait@plt", ("pool_wait", "pool_wait@plt")), ("pool_wait@@SITE_1.0", ("pool_wait", "pool_wait@@SITE_*")),
         ("pool_wait@SITE_1.0", ("pool_wait",)), ("pool_wait.part.0", ("pool_wait", "pool_wait.part.0")),
         ("_ZN4pool4Pool7acquireEi.constprop.0.isra.0", ("pool::Pool::acquire", "pool::Pool::acquire(int)")),
         ("_ZN4pool4Pool7acquireEi.cold", ("pool::Pool::acquire",)), ("pool_wait_[k]", ("pool_wait",)),
         ("_ZN4pool4task3run17h0123456789abcdefE", ("pool::task::run", "pool::task::run::h*")),
         ("site::__1::Pool<int>::take[abi:v2](int) const", ("site::Pool::take", "site::__1::Pool<int>::take*")))


def listed(program, folder, name, rules):
    """What --list says of a function in a file of folded stacks."""
    store, file = folder / "s.folded", folder / "rules"
    store.write_text(f"main;{name} 3\n")
    file.write_text(rules)
    rows = program.json("top", store, "--by", "kind", "--list", "*", "--kinds", file, "--limit", 0, cwd=folder)["rows"]
    assert len(rows) == 2, rows
    return [(row["activity"], row["rule"]) for row in rows if row["name"] != "main"][0]


def rules_match_names_in_every_form(program):
    with tempfile.TemporaryDirectory() as scratch:
        for name, patterns in FORMS:
            for pattern in patterns:
                found = listed(program, Path(scratch), name, f"# a comment\nomp * {pattern}\n")
                program.equal(found, ("omp", f"line 2: {pattern}"), f"{name}: {pattern}")
            found = listed(program, Path(scratch), name, "omp * other\n")
            program.check(found[0] != "omp", f"{name}: another rule does not", [found])


# Names that the rules of the program know, as tracers show them: inlined wrappers of C++ with their parameters and template arguments.
KNOWN = (("std::thread::join()", "name std::thread::join"), ("_ZNSt6thread4joinEv", "name std::thread::join"),
         ("_ZNSt6thread4joinEv@plt", "name std::thread::join"), ("std::thread::join@@GLIBCXX_3.4.11", "name std::thread::join"),
         ("std::__1::thread::join()", "name std::thread::join"), ("std::jthread::join()", "name std::jthread::join"),
         ("pthread_join@plt", "name pthread_join"), ("pthread_join@@GLIBC_2.34", "name pthread_join"), ("__pthread_clockjoin_ex", None),
         ("fdatasync@plt", "name fdatasync"), ("malloc@plt", "name malloc"), ("__GI___libc_malloc@plt", "name malloc"),
         ("std::future<int>::get()", None), ("std::condition_variable::wait(std::unique_lock<std::mutex>&)", None),
         ("std::shared_mutex::lock_shared()", None), ("std::counting_semaphore<1l>::acquire()", None), ("std::barrier<std::__empty_completion>::arrive_and_wait()", None),
         ("std::latch::wait() const", None), ("thrd_join", None))


def the_rule_of_the_program_is_named(program):
    with tempfile.TemporaryDirectory() as scratch:
        for name, rule in KNOWN:
            activity, reason = listed(program, Path(scratch), name, "")
            fits = reason == rule if rule else reason.startswith("name ")
            program.check(fits and activity not in ("own", "lib"), f"{name}: {activity} by {reason}", [rule])


def a_wrapper_that_is_inlined_is_listed(program):
    """Of a function with parts of one name in several places, --list has a row each, as --by symbol does."""
    with tempfile.TemporaryDirectory() as scratch:
        example = Example(program, Path(scratch))
        symbols = {(row["name"], row["module"]) for row in program.json("top", example.solver, "--by", "symbol", "--limit", 0, cwd=example.folder)["rows"]}
        rows = {(row["name"], row["module"]) for row in program.json("top", example.solver, "--by", "kind", "--list", "*", "--limit", 0, cwd=example.folder)["rows"]}
        program.equal(rows, symbols, "--list '*' has all functions")


def wrong_files_are_refused(program):
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "s.folded").write_text("main 3\n")
        (folder / "rules").write_text("nothing * main\n")
        for command in (("top",), ("flame", "-o", "-"), ("diagnose",), ("sql", "select 1"), ("export", "-o", "-")):
            words = (command[0], "s.folded", *command[1:])
            program.says(program.run(*words, "--kinds", "none", cwd=folder), 2, "none: No such file or directory", f"{command[0]}: no file")
            program.says(program.run(*words, "--kinds", "rules", cwd=folder), 2, "rules: line 1 of the rules: no such activity; .*", f"{command[0]}: no rule")
        for command, option in (("compare", "--diagnose"), ("gate", "--report")):
            program.says(program.run(command, "--kinds", "rules", "s.folded", "s.folded", cwd=folder), 2, rf"--kinds is for {option} \(see 'lode help {command}'\)", f"{command}: without {option}")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, rules_decide_in_every_command, lines_inside_functions_have_their_kind, pictures_have_the_colours_of_the_rules,
                      tables_have_the_kinds_of_the_rules, comparisons_and_diagnoses_use_the_rules, commands_that_show_more_have_the_rules,
                      reports_have_the_kinds_of_the_rules, rules_match_names_in_every_form,
                      the_rule_of_the_program_is_named, a_wrapper_that_is_inlined_is_listed, wrong_files_are_refused))
