#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Every option has a help text, and every help text has an option: the pages of src/cli/help against what 'lode help' and
the manual pages print.
"""

import re
import sys

import cli

sys.path.insert(0, str(cli.ROOT / "src" / "cli" / "help"))

import pages  # noqa: E402

FOLDER = cli.ROOT / "src" / "cli" / "help"
OPTION = re.compile(r"^ {2}(?:    )?(?P<term>(?:-\w, )?--[a-z-]+(?: \S+)?)(?: +(?P<meaning>\S.*))?$", re.MULTILINE)
ABOUT_NO_COMMAND = ("lode", "shared")


def command_names(overview):
    return re.findall(r"^  ([a-z]+) ", overview.split("'lode help COMMAND'")[0], re.MULTILINE)


def printed_options(text):
    """{term: whether anything is said about it} of what 'lode help COMMAND' prints."""
    lines = text.split("\nExamples\n")[0].splitlines()
    found = {}
    for line, after in zip(lines, [*lines[1:], ""]):
        match = OPTION.match(line)
        if match:
            found[match["term"]] = bool(match["meaning"]) or after.startswith(" " * 20) and bool(after.strip())
    return found


def differences(printed, own, shared):
    """What is wrong with the help of one command: its options as printed, and the terms of the two pages."""
    wrong = [f"no help text: {term}" for term, is_said in printed.items() if not is_said]
    wrong += [f"not in a page: {term}" for term in printed if term not in own and term not in shared]
    return wrong + [f"no such option: {term}" for term in own if term not in printed]


def terms(name):
    return [term for term, _ in pages.Page(FOLDER / f"{name}.txt").sections["OPTIONS"]]


def every_option_has_help(program):
    overview = program.run("help", cwd=".").out
    names = command_names(overview)
    shared, used = terms("shared"), set()
    for name in names:
        text = program.run("help", name, cwd=".").out
        printed, own = printed_options(text), terms(name)
        used |= {term for term in printed if term not in own}
        wrong = differences(printed, own, shared)
        program.check(not wrong and printed, f"lode help {name}", wrong)
        summary = pages.Page(FOLDER / f"{name}.txt").summary
        program.check(f"lode {name}: {summary}\n" in text and summary in " ".join(overview.split()), f"{name}: the summary", [summary])
    program.equal(sorted(set(shared) - used), [], "every shared option belongs to a command")
    on_disk = sorted(path.stem for path in FOLDER.glob("*.txt") if path.stem not in ABOUT_NO_COMMAND)
    program.equal(on_disk, sorted(names), "every page belongs to a command, and every command has a page")


def every_option_is_in_its_manual_page(program):
    for name in command_names(program.run("help", cwd=".").out):
        page = program.run("help", "--man", name, cwd=".").out.replace("\\-", "-").replace("\\fB", "").replace("\\fR", "").replace("\\fI", "")
        missing = [term for term in terms(name) if term not in page]
        program.check(not missing and ".SH EXIT STATUS" in page, f"lode help --man {name}", missing)


def items_stand_on_lines_of_their_own(program):
    """A term and the first word of its meaning begin a line, and a paragraph of the manual page."""
    count = 0
    for path in sorted(FOLDER.glob("*.txt")):
        for item in pages.Page(path).description:
            match = re.match(r"  (\S.*?)  +(\S+)", item)
            if not match:
                continue
            count += 1
            text, page = (program.run("help", *option, path.stem, cwd=".").out for option in ((), ("--man",)))
            program.check(re.search(rf"^  {re.escape(match[1])}  +{re.escape(match[2])}", text, re.MULTILINE)
                          and f".TP\n.B {match[1]}\n{match[2]}" in page, f"lode help {path.stem}: item '{match[1]}'", [text])
    program.check(count >= 7, "there are items", [count])


def the_test_itself(program):
    good = {"-n, --limit N": True, "--json": True}
    program.equal(differences(good, ["-n, --limit N"], ["--json"]), [], "nothing is wrong")
    program.check(differences({**good, "--new": True}, ["-n, --limit N"], ["--json"]), "an option without a text is found")
    program.check(differences({"--json": False}, [], ["--json"]), "an option with an empty text is found")
    program.check(differences(good, ["-n, --limit N", "--old"], ["--json"]), "a text without an option is found")
    printed = printed_options("Options\n  -n, --limit N           rows\n      --a b|c\n                          \n      --man\n                          text\n\nExamples\n  lode --x\n")
    program.equal(printed, {"-n, --limit N": True, "--a b|c": False, "--man": True}, "options as they are printed")


def every_kind_of_store_is_named(program):
    text = program.run("help").out
    tools = ("HPCToolkit", "pprof", "folded stacks", "perf record", "uftrace", "Zorka", "OpenTelemetry", "Jaeger", "Zipkin", "hpcrun")
    program.equal([name for name in tools if name not in text], [], "lode help names all kinds of stores")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, the_test_itself, every_kind_of_store_is_named, every_option_has_help, every_option_is_in_its_manual_page, items_stand_on_lines_of_their_own))
