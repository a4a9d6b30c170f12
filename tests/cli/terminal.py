#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""On a terminal: colours, if they are wanted; lines that fit; progress only where somebody watches."""

import sys
import tempfile
import unicodedata

import cli

LARGE = "viewer-issue-233"
OTHER = "made-loops-cputime-t-mpi3ranks" if cli.corpora.is_own() else "hatchet-hatchet-cpi-v4-database-v0"
LEAF, DEEP = ("solve", "args") if cli.corpora.is_own() else ("__brk", "deep4k")
# Every kind of table that people see.
VIEWS = (["info", LARGE], ["info", "--verbose", "viewer-issue-328"], ["top", LARGE], ["top", "--by", "line", LARGE],
         ["top", "--by", "loop", LARGE], ["top", "--by", "module", LARGE], ["top", "--by", "file", LARGE],
         ["tree", "--limit", "0", LARGE], ["tree", "--lines", LARGE], ["tree", "--bottom-up", LARGE],
         ["tree", "--min-percent", "0", "viewer-issue-328"], ["profiles", LARGE],
         ["profiles", "made-loops-cputime-t-mpi3ranks"], ["context", LARGE, "main"], ["context", LARGE, LEAF],
         ["trace", LARGE], ["trace", "viewer-issue-328"], ["trace", "made-merged-5-measurements"],
         ["compare", OTHER, LARGE], ["compare", "--by", "line", "--sort", "new", OTHER, LARGE], ["compare", "--tree", OTHER, LARGE],
         ["compare", "--by", "rank", OTHER, LARGE], ["compare", "--explain-match", OTHER, LARGE],
         ["compare", "--base", OTHER, OTHER, "--new", LARGE],
         ["diagnose", LARGE], ["diagnose", "--all", "made-small"], ["efficiency", LARGE], ["efficiency", "--phases", "4", LARGE],
         ["efficiency", LARGE, LARGE],
         ["check", "made-small"], ["check", "--rules"], ["help"], ["help", "top"])
# The same of recordings; a replay is a program text, whose lines are as long as they are.
RECORDING_VIEWS = (["info", "mt/uftrace.data"], ["info", "--verbose", "exc/uftrace.data"], ["top", "exc/uftrace.data"],
                   ["top", "--names", "full", "exc/uftrace.data"], ["top", "--callees", "main", "exc/uftrace.data"],
                   ["top", "autoargs/uftrace.data"], ["tree", "exc/uftrace.data"],
                   ["tree", "--min-percent", "0", "--limit", "0", f"{DEEP}/uftrace.data"],
                   ["tree", "--bottom-up", "mt/uftrace.data"], ["profiles", "mt/uftrace.data"],
                   ["compare", "mt/uftrace.data", "exc/uftrace.data"], ["compare", "--tree", "mt/uftrace.data", "exc/uftrace.data"],
                   ["profiles", "forkexec/uftrace.data"], ["check", "mt/uftrace.data"], ["search", "mt/uftrace.data"],
                   ["diagnose", "--all", "mt/uftrace.data"])


def width(line):
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in cli.ESCAPE.sub("", line)
               if not unicodedata.combining(character))


def lines_fit(program):
    for columns in (80, 100, 132, 200):
        for view in VIEWS:
            result = program.on_terminal(*view, columns=columns)
            too_long = [line for line in result.out.splitlines() if width(line) > columns]
            program.check(result.status == 0 and result.out and not too_long,
                          f"lode {' '.join(view)} fits {columns} columns", too_long)


def lines_about_recordings_fit(program):
    for columns in (80, 100, 132, 200):
        for view in RECORDING_VIEWS:
            result = program.on_terminal(*view, columns=columns, cwd=program.recordings())
            too_long = [line for line in result.out.splitlines() if width(line) > columns]
            blanks = [line for line in cli.ESCAPE.sub("", result.out).splitlines() if line != line.rstrip()]
            program.check(result.status == 0 and result.out and not too_long and not blanks,
                          f"lode {' '.join(view)} fits {columns} columns", too_long + blanks)


def pages_fit_80_columns_in_a_pipe(program):
    """A diagnosis is mailed, and pasted into issues. Command lines are as long as they are."""
    with tempfile.TemporaryDirectory() as folder:
        program.run("example", "a-folder-with-a-rather-long-name", cwd=folder)
        for store in ("solver", "thumbs", "shop"):
            result = program.run("diagnose", "--all", f"a-folder-with-a-rather-long-name/{store}", cwd=folder, env={"COLUMNS": None})
            wrong = [line for line in result.out.splitlines() if (width(line) > 80 and not line.strip().startswith("lode ")) or line != line.rstrip()]
            program.check(result.status == 0 and result.out and not wrong, f"lode diagnose --all {store} fits 80 columns in a pipe", wrong)


def clocks_of_perf_are_times(program):
    """They count nanoseconds."""
    program.need_larger()
    result = program.run("diagnose", "toolkit-loops-perf-v0")
    program.check("run time 987.500 ms, 314 samples of perf::cpu-clock\n" in result.out, "perf::cpu-clock is shown as a time", [result])


def colours_of_a_replay(program):
    """They change nothing else, and every colour ends with its line."""
    call = ("replay", "mt/uftrace.data")
    coloured = program.on_terminal(*call, cwd=program.recordings()).out
    plain = program.on_terminal(*call, env={"NO_COLOR": "1"}, cwd=program.recordings()).out
    program.check("\033[" in coloured and "\033" not in plain and cli.ESCAPE.sub("", coloured) == plain
                  and all(line.count("\033[") == 2 * line.count("\033[0m") for line in coloured.splitlines()),
                  "lode replay: colours change nothing else, and end with their line")
    program.equal(plain, program.run(*call, cwd=program.recordings(), env={"COLUMNS": "80"}).out,
                  "lode replay: the same on a terminal")


def lines_end_without_blanks(program):
    """Other than in a timeline, where blanks are times without samples."""
    for view in VIEWS:
        lines = program.on_terminal(*view, env={"NO_COLOR": "1"}).out.splitlines()
        program.check(all(line == line.rstrip() for line in lines), f"lode {' '.join(view)}: no blanks at line ends",
                      [repr(line) for line in lines if line != line.rstrip()])


def colours_on_a_terminal(program):
    for view in (["top", LARGE], ["tree", LARGE], ["trace", LARGE], ["check", "made-small"], ["help", "top"]):
        coloured, plain = program.on_terminal(*view), program.on_terminal(*view, env={"NO_COLOR": "1"})
        program.check("\033[" in coloured.out and "\033" not in plain.out
                      and cli.ESCAPE.sub("", coloured.out) == plain.out,
                      f"lode {' '.join(view)}: colours change nothing else, and NO_COLOR takes them away")
        every_line = [line for line in coloured.out.splitlines() if line.count("\033[") != 2 * line.count("\033[0m")]
        program.check(not every_line, f"lode {' '.join(view)}: every colour ends with its line", every_line[:5])


def colours_only_where_they_are_wanted(program):
    colour = "\033["
    cases = ((program.run, [], {"NO_COLOR": None, "TERM": "xterm"}, False, "a pipe"),
              (program.run, ["--color", "always"], {}, True, "a pipe with --color always"),
              (program.on_terminal, ["--color=never"], {}, False, "a terminal with --color=never"),
              (program.on_terminal, ["--color", "auto"], {"NO_COLOR": ""}, True, "a terminal, NO_COLOR empty"),
              (program.on_terminal, ["--color", "always"], {"NO_COLOR": "1"}, True, "NO_COLOR, --color always"),
              (program.on_terminal, [], {"TERM": "dumb"}, False, "a dumb terminal"),
              (program.on_terminal, ["--json"], {}, False, "a terminal with --json"),
              (program.on_terminal, ["--csv"], {}, False, "a terminal with --csv"))
    for run, options, env, is_coloured, where in cases:
        result = run("top", LARGE, *options, env=env)
        program.check(result.status == 0 and (colour in result.out) == is_coloured, f"colours on {where}")


def width_without_a_terminal(program):
    for columns, bound in (("60", 60), ("120", 120), (None, None), ("nonsense", None), ("-5", None)):
        lines = program.run("top", LARGE, env={"COLUMNS": columns}).out.splitlines()
        longest = max(map(width, lines))
        program.check(longest <= bound if bound else longest > 120, f"COLUMNS={columns} in a pipe", [longest])


def machines_get_the_same_everywhere(program):
    for command in ("top", "tree", "trace"):
        wanted = program.run(command, LARGE, "--json").out
        program.equal(program.on_terminal(command, LARGE, "--json", columns=61).out, wanted,
                      f"lode {command} --json does not depend on the terminal")


def progress_is_for_terminals(program):
    for call in (["check", "--level", "full", LARGE], ["dump", LARGE], ["top", "--profiles", "rank=0-26", LARGE],
                 ["trace", LARGE]):
        on_terminal = program.on_terminal(*call)
        program.check(on_terminal.status == 0 and not on_terminal.err, f"lode {' '.join(call)}: no progress in a pipe",
                      [on_terminal.err])


def a_locale_that_is_not_installed(program):
    with tempfile.TemporaryDirectory() as folder:
        program.run("example", "demo", cwd=folder)
        shown = {name: program.run("tree", "demo/solver", cwd=folder, env={"LANG": None, "LC_ALL": name})
                 for name in ("C.UTF-8", "xx_YY.UTF-8", "xx_YY.utf8@euro", "xx_YY.ISO-8859-1", "C")}
    program.check(not shown["C.UTF-8"].out.isascii() and shown["C"].out.isascii(), "UTF-8 and ASCII differ")
    for name, like in (("xx_YY.UTF-8", "C.UTF-8"), ("xx_YY.utf8@euro", "C.UTF-8"), ("xx_YY.ISO-8859-1", "C")):
        program.equal(shown[name], shown[like], f"{name} is shown as {like}")


def names_without_utf8(program):
    for view in VIEWS:
        result = program.on_terminal(*view, env={"LANG": "C"})
        program.check(result.status == 0 and result.out.isascii(), f"lode {' '.join(view)} in the C locale is ASCII")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, lines_fit, lines_about_recordings_fit, pages_fit_80_columns_in_a_pipe, clocks_of_perf_are_times, colours_of_a_replay,
                      lines_end_without_blanks,
                      colours_on_a_terminal, colours_only_where_they_are_wanted, width_without_a_terminal, machines_get_the_same_everywhere,
                      progress_is_for_terminals, a_locale_that_is_not_installed, names_without_utf8))
