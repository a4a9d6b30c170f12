#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How the program takes what people type: wrong commands and options get one helpful line; help says what there is."""

import re
import shlex
import shutil
import string
import subprocess
import sys
import tempfile
from pathlib import Path

import cli

LISTED = re.compile(r"^  (?:-(\w), |    )--([a-z-]+)", re.MULTILINE)
DATABASE = "made-small"

# What is typed after the program's name, and what it says; no database is needed to know that these are wrong.
WRONG_USAGE = {
    "topp x": r"unknown command 'topp'; did you mean 'top'\? \(see 'lode help'\)",
    "profile x": r"unknown command 'profile'; did you mean 'profiles'\? \(see 'lode help'\)",
    "foo": r"unknown command 'foo' \(see 'lode help'\)",
    "--limit 3 top": r"unknown option '--limit'; options come after the command \(see 'lode help'\)",
    "help foo": r"unknown command 'foo' \(see 'lode help'\)",
    "top --limt 3 x": r"unknown option '--limt' for 'lode top'; did you mean --limit\? \(see 'lode help top'\)",
    "top --colour always x": r"unknown option '--colour' for 'lode top'; did you mean --color\? .*",
    "top --nonsense x": r"unknown option '--nonsense' for 'lode top' \(see 'lode help top'\)",
    "top -z x": r"unknown option '-z' for 'lode top' \(see 'lode help top'\)",
    "top --limit x y": r"--limit takes an integer, not 'x' \(see 'lode help top'\)",
    "top --limit -1 x": r"--limit takes an integer, not '-1' \(see 'lode help top'\)",
    "top --limit=99999999999999999999 x": r"--limit takes an integer, not '9+' \(see 'lode help top'\)",
    "top --limit": r"--limit needs an argument: N \(see 'lode help top'\)",
    "top -n": r"--limit needs an argument: N \(see 'lode help top'\)",
    "top --json=1 x": r"--json takes no argument \(see 'lode help top'\)",
    "top --by functions x": r"--by is function, .* file or kind, or a kind of id, not 'functions'; did you mean function\? .*",
    "tree --min-percent 200 x": r"--min-percent takes a percentage from 0 to 100, not '200' \(see 'lode help tree'\)",
    "trace --from noon x": r"--from takes a time such as 1.5s, 250ms, 16:26:03 or 2022-09-13T08:57Z, or @NANOSECONDS, not 'noon' .*",
    "trace --from 24:00 x": r"--from takes a time such as .*, not '24:00' .*",
    "trace --from 2023-02-29T10:00 x": r"--from takes a time such as .*, not '2023-02-29T10:00' .*",
    "dump --only values x": r"--only is meta, profiles, contexts or traces, not 'values' \(see 'lode help dump'\)",
    "dump --only profil x": r"--only is meta, .*, not 'profil'; did you mean profiles\? .*",
    "top --json --csv x": r"--json and --csv cannot be used together \(see 'lode help top'\)",
    "top": r"missing argument: STORE; there is no store in the current directory \(see 'lode help top'\)",
    "search": r"missing argument: STORE; there is no store in the current directory \(see 'lode help search'\)",
    "search --min-duration soon x": r"--min-duration takes a time such as .*, not 'soon' .*",
    "search --min-duration 2s --max-duration 1s x": r"--min-duration must not be above --max-duration .*",
    "search --attribute =500 x": r"--attribute takes KEY, KEY=VALUE, KEY!=VALUE, KEY~PART or a comparison such as KEY>=NUMBER, not '=500'",
    "search --attribute n>=many x": r"--attribute 'n>=many': 'many' is not a number",
    "search --attribute n< x": r"--attribute 'n<': '' is not a number",
    f"search {'--attribute b ' * 65}x": r"--attribute can be repeated at most 64 times \(see 'lode help search'\)",
    "search --critical-path --density x": r"--density, --critical-path, --map and --over or --calls exclude each other .*",
    "search --map --calls x": r"--density, --critical-path, --map and --over or --calls exclude each other .*",
    "search --map --by a x": r"--by cannot be used with --map .*",
    "search --svg a.svg x": r"--svg is for --map and --over .*",
    "search --dot a.dot --over 1s x": r"--dot is for --map .*",
    "search --sort name x": r"--sort is time, duration, calls or errors, not 'name'.*",
    "convert": r"missing argument: STORE; there is no store in the current directory \(see 'lode help convert'\)",
    "convert x": r"missing option: -o/--output \(see 'lode help convert'\)",
    "convert --layout page --format uftrace x -o y": r"--layout needs --format zorka \(see 'lode help convert'\)",
    "synth recording --layout zico -o x": r"--layout needs --format zorka \(see 'lode help synth'\)",
    "synth recording --format otlp --layout zico -o x": r"--layout needs --format zorka \(see 'lode help synth'\)",
    "synth recording --calls-per-request 9 -o x": r"--calls-per-request cannot be used with --format uftrace \(see 'lode help synth'\)",
    "synth recording --format otlp-json --tasks 1001 -o x": r"x: 1 to 1000 services can be made",
    "synth recording --format otlp --arguments -o x": r"--arguments cannot be used with --format otlp \(see 'lode help synth'\)",
    "synth recording --format zorka --arguments -o x": r"--arguments cannot be used with --format zorka \(see 'lode help synth'\)",
    "convert --format hpctolkit x -o y": r"--format is hpctoolkit, hpctoolkit-draft-xml, hpctoolkit-draft-metadb, uftrace, zorka or otlp, not 'hpctolkit'; did you mean hpctoolkit\? .*",
    "convert --to noon x -o y": r"--to takes a time such as .*, not 'noon' \(see 'lode help convert'\)",
    "convert --to uftrace x -o y": r"--to takes a time; did you mean --format uftrace\? \(see 'lode help convert'\)",
    "convert --to 3x x -o y": r"--to takes a time such as .*, not '3x' \(see 'lode help convert'\)",
    "build --trace some x -o y": r"--trace is full or none, or a time such as 10us, not 'some' \(see 'lode help build'\)",
    "build --mpi some x -o y": r"--mpi is auto, off, openmpi or mpich, not 'some' \(see 'lode help build'\)",
    "synth": r"missing argument: database\|recording \(see 'lode help synth'\)",
    "synth profile": r"unknown kind of store 'profile'; use 'database' or 'recording' \(see 'lode help synth'\)",
    "synth recording": r"missing option: -o/--output \(see 'lode help synth'\)",
    "synth recording --profiles 3 -o x": r"--profiles is for a database, not for a recording \(see 'lode help synth'\)",
    "synth database --tasks 3 -o x": r"--tasks is for a recording, not for a database \(see 'lode help synth'\)",
    "top --callers a --callees b x": r"--callers and --callees cannot be used together \(see 'lode help top'\)",
    "top --list main x": r"--list is for --by kind \(see 'lode help top'\)",
    "replay --min-time soon x": r"--min-time takes a time such as 1.5s, 250ms or 10us, not 'soon' .*",
    "top x y": r"unexpected argument 'y' \(see 'lode help top'\)",
    "check --rules x": r"unexpected argument 'x' \(see 'lode help check'\)",
}

# The same, where it takes a database to know; {0} is its name.
WRONG_QUESTIONS = {
    "{0}": r"'{0}' is a directory, not a command; try 'lode info {0}' \(see 'lode help'\)",
    "top --metric 99 {0}": r"{0}: no metric '99'; there are: 'CPUTIME \(sec\)'",
    "top --profiles rank=7 {0}": r"{0}: the selection has no profiles",
    "top --profiles color=7 {0}": r"{0}: this database has no such kind of id at 'color=7' .*",
    "top --profiles rank {0}": r"{0}: '=' is missing at 'rank' .* write it like rank=0-15\+20,thread=0",
    "top --profiles thread=x {0}": r"{0}: a number is missing at 'x' .*",
    "top --profiles thread=3-1 {0}": r"{0}: the range ends before it begins .*",
    "profiles --profiles thread=0; {0}": r"{0}: unexpected text at ';' .*",
    "tree --focus nobody {0}": r"{0}: no function matches 'nobody'",
    "context {0} nobody": r"{0}: no function matches 'nobody'",
    "context {0} 4711": r"{0}: there is no context 4711",
    "context --scope wide {0} main": r"{0}: metric 'CPUTIME \(sec\)' has no scope 'wide'; it has point, function, .*",
    "trace --from 5s --to 1s {0}": r"{0}: --from must be before --to and before the end of the traces",
    "trace --from 1h {0}": r"{0}: --from must be before --to and before the end of the traces",
    "trace made-small-notraces": r"made-small-notraces: the database has no traces",
    "efficiency --weak {0}": r"--weak is for several stores \(see 'lode help efficiency'\)",
    "replay {0}": r"{0} is a database; 'lode replay' is for recordings \(see 'lode help'\)",
    "top --min-time 1us {0}": r"{0} is a database; --min-time is for recordings \(see 'lode help top'\)",
    "top --sort calls {0}": r"{0} is a database; --sort calls is for recordings \(see 'lode help top'\)",
    "tree --task 1 {0}": r"{0} is a database; --task is for recordings \(see 'lode help tree'\)",
    "profiles --depth 1 {0}": r"{0} is a database; --depth is for recordings \(see 'lode help profiles'\)",
    "convert --from 1s {0} -o x": r"{0} is a database; --from is for recordings \(see 'lode help convert'\)",
    "convert --format uftrace {0} -o x": r"{0} is a database; it cannot be converted to a recording",
    "convert --format zorka {0} -o x": r"{0} is a database; it cannot be converted to a recording",
    "convert --layout zico {0} -o x": r"{0} is a database; --layout is for recordings \(see 'lode help convert'\)",
    "convert {0} {0} -o x": r"{0} is a database; use 'lode merge' for several databases",
}

# The same about a recording.
RECORDING = "mt/uftrace.data"
WRONG_QUESTIONS_ABOUT_RECORDINGS = {
    "context {0} main": r"{0} is a recording; 'lode context' is for databases: run 'lode build {0} -o DATABASE' and open the result",
    "dump {0}": r"{0} is a recording; 'lode dump' is for databases: run 'lode build {0} -o DATABASE' and open the result",
    "efficiency {0}": r"{0} is a recording; 'lode efficiency' is for databases: run 'lode build {0} -o DATABASE' and open the result",
    "top --metric CPUTIME {0}": r"{0}: a recording has the metrics time and running, not 'CPUTIME'",
    "top --metric time,running {0}": r"{0}: a recording has the metrics time and running, not 'time,running'",
    "profiles --metric time {0}": r"{0} is a recording; --metric is for databases \(see 'lode help profiles'\)",
    "top -b line {0}": r"{0} is a recording; --by line is for databases \(see 'lode help top'\)",
    "tree --lines {0}": r"{0} is a recording; --lines is for databases \(see 'lode help tree'\)",
    "profiles -p rank=0 {0}": r"{0} is a recording; --profiles is for databases \(see 'lode help profiles'\)",
    "convert --memory 1G {0} -o x": r"{0} is a recording; --memory is for databases \(see 'lode help convert'\)",
    "convert --format hpctoolkit {0} -o x": r"{0} is a recording; use 'lode build' to make a database",
    "convert --task 1 {0} {0} -o x": r"--task needs a single recording \(see 'lode help convert'\)",
    "top --task 1 {0}": r"{0}: no task '1' \('lode info {0}' lists them\)",
    "top --task {1},nobody {0}": r"{0}: no task 'nobody' \('lode info {0}' lists them\)",
    "top --task {1},,{1} {0}": r"{0}: no task '' \('lode info {0}' lists them\)",
    "top --task pid=1 {0}": r"{0}: no task 'pid=1' \('lode info {0}' lists them\)",
    "top --callers nobody {0}": r"{0}: no function matches 'nobody'",
    "tree --focus nobody {0}": r"{0}: no function matches 'nobody'",
    "replay --from 2ms --to 1ms {0}": r"{0}: --from must be before --to and before the end of the recording",
    "top --from 1h {0}": r"{0}: --from must be before --to and before the end of the recording",
    "profiles --from @0 --to @0 {0}": r"{0}: --from must be before --to and before the end of the recording",
    "build mt fib -o x": r"mt: not a database or recording; try mt/uftrace.data",
}


def wrong_usage_gets_one_helpful_line(program):
    with tempfile.TemporaryDirectory() as folder:
        for line, message in WRONG_USAGE.items():
            program.says(program.run(*line.split(), cwd=folder), 2, message, f"lode {line}")


def wrong_questions_get_one_helpful_line(program):
    for line, message in WRONG_QUESTIONS.items():
        command = line.format(DATABASE)
        program.says(program.run(*command.split()), 2, message.format(DATABASE), f"lode {command}")


def wrong_questions_about_recordings(program):
    task = program.json("info", RECORDING, cwd=program.recordings())["tasks"][0]["tid"]
    for line, message in WRONG_QUESTIONS_ABOUT_RECORDINGS.items():
        command = line.format(RECORDING, task)
        result = program.run(*command.split(), cwd=program.recordings())
        program.says(result, 2, message.format(RECORDING), f"lode {command}")


def options_listed(program, command):
    """The names and letters in the help of a command."""
    listed = LISTED.findall(program.run("help", command, cwd=None).out)
    return {name for _, name in listed}, {letter for letter, _ in listed if letter}


def is_taken(program, command, option):
    """Whether the parser knows an option; what else is wrong with the call does not matter."""
    return "unknown option" not in program.run(command, option, cwd=None).err


def help_lists_what_the_parser_takes(program):
    listed = {command: options_listed(program, command) for command in cli.ALL_COMMANDS}
    everywhere = set.union(*(names for names, _ in listed.values()))
    for command, (names, letters) in listed.items():
        taken = {name for name in everywhere if is_taken(program, command, f"--{name}")}
        program.equal(taken, names, f"lode help {command}: all options that it takes")
        taken = {letter for letter in string.ascii_letters if is_taken(program, command, f"-{letter}")}
        program.equal(taken, letters, f"lode help {command}: all letters that it takes")


def help_is_the_same_by_any_way(program):
    overview = program.run("help", cwd=None)
    program.check(overview.status == 0 and all(f"\n  {name} " in overview.out for name in cli.ALL_COMMANDS),
                  "lode help lists all commands")
    for arguments in ([], ["--help"], ["-h"]):
        program.equal(program.run(*arguments, cwd=None), overview, f"lode {' '.join(arguments)}")
    for command in cli.ALL_COMMANDS:
        page = program.run("help", command, cwd=None)
        same = [program.run(command, option, cwd=None) for option in ("--help", "-h")]
        too_long = [line for line in page.out.splitlines() if len(line) > 80]
        program.check(same == [page, page] and page.status == 0 and not too_long,
                      f"lode {command} --help is lode help {command}", too_long)


def examples_in_the_help_are_valid(program):
    """They name files that are not there, so that is all that may be wrong with them. Those of synth make large ones."""
    for command in (name for name in cli.ALL_COMMANDS if name != "synth"):
        lines = re.findall(r"^  lode (.*)$", program.run("help", command, cwd=None).out, re.MULTILINE)
        for line in lines:
            words = shlex.split(re.sub(r" [|>].*", "", line))
            with tempfile.TemporaryDirectory() as folder:
                result = program.run(*words, cwd=folder)
            program.check(result.status == 0 or "no such file or directory" in result.err, f"example: lode {line}", [result])


def version(program):
    found = program.run("--version", cwd=None)
    meson = (cli.ROOT / "meson.build").read_text(encoding="utf-8")
    wanted = re.search(r"^ *version: '([^']+)'", meson, re.MULTILINE).group(1)
    program.equal(found, (0, f"lode {wanted}\n", ""), "lode --version")
    program.check(found == program.run("version", "--short", cwd=None) == program.run("-V", cwd=None), "lode version --short, lode -V")
    program.check(program.run("version", cwd=None).out.startswith(found.out + "\n"), "lode version begins with the version")


def manual_pages_render(program):
    pages = {"lode": [], **{f"lode-{command}": [command] for command in cli.ALL_COMMANDS}}
    for name, arguments in pages.items():
        page = program.run("help", "--man", *arguments, cwd=None)
        sections = re.findall(r"^\.SH (.*)$", page.out, re.MULTILINE)
        program.check(page.status == 0 and {"NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS"} <= {*sections},
                      f"{name}.1 has all sections", sections)
        if shutil.which("groff") is None:
            program.skip(f"{name}.1 renders", "there is no groff")
            continue
        render = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-rLL=78n"], input=page.out.encode(),
                                capture_output=True, timeout=cli.SECONDS)
        text = cli.ESCAPE.sub("", render.stdout.decode())
        program.check(render.returncode == 0 and not render.stderr and all(word in text for word in arguments),
                      f"{name}.1 renders without warnings", [render.stderr.decode()])


def manual_pages_name_every_option(program):
    for command in cli.ALL_COMMANDS:
        page = program.run("help", "--man", command, cwd=None).out.replace("\\-", "-")
        missing = [name for name in options_listed(program, command)[0] if f"--{name}" not in page]
        program.equal(missing, [], f"lode-{command}.1 names every option")


def options_may_come_anywhere(program):
    wanted = program.run("top", "--limit", "2", "--by", "line", DATABASE)
    for line in (f"top {DATABASE} --limit 2 --by line", f"top --limit=2 {DATABASE} --by=line",
                 f"top -n2 -bline {DATABASE}", f"top -n 2 -b line -- {DATABASE}"):
        program.equal(program.run(*line.split()), wanted, f"lode {line}")


def names_that_look_like_options(program):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "--limit").symlink_to(program.databases() / DATABASE)
        result = program.run("top", "--json", "--", "--limit", cwd=folder)
    program.equal(cli.parse_json(result.out)["database"], "--limit", "lode top -- --limit")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, wrong_usage_gets_one_helpful_line, wrong_questions_get_one_helpful_line,
                      wrong_questions_about_recordings, help_lists_what_the_parser_takes,
                      help_is_the_same_by_any_way, examples_in_the_help_are_valid, version, manual_pages_render,
                      manual_pages_name_every_option, options_may_come_anywhere, names_that_look_like_options))
