#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
`lode compare --markdown`: names of programs, which anybody can choose, are code in a cell of a table, and nothing of them is markup, HTML, a
link, a mention or another cell. Recordings are made with such names; a table is read as the specification of GitHub's Markdown has it.
"""

import re
import sys
import tempfile
from pathlib import Path

import cli

sys.path.append(str(cli.ROOT / "tests" / "recordings"))

import made  # noqa: E402

NAMES = ("main", "a|b", "`tick`", "``two``", "`", "\\|", "\\", "@someone", "fix_no.1_#12", "<img/src=x>", "[link](http://x.example)", "**bold**",
         "www.x.example", "http://x.example", "|", "end|", "&amp;", "~~gone~~", "a``b`c", "--", "1.", "+1", "$x^2$", "<!--", "</td>|", "`|`")


def write(folder, factor):
    """main calls every function once; the second recording has longer calls."""
    folder.mkdir()
    functions = {name: 0x1000 + 0x40 * i for i, name in enumerate(NAMES)}
    time, records = made.TIME, [made.record("entry", made.TIME, 0, made.BASE + functions["main"])]
    for i, name in enumerate(NAMES[1:], 1):
        address = made.BASE + functions[name]
        records.append(made.record("entry", time + 100, 1, address))
        time += 100 + 1000 * i * factor
        records.append(made.record("exit", time, 1, address))
    records.append(made.record("exit", time + 100, 0, made.BASE + functions["main"]))
    made.write(folder, {100: records}, [], functions)


def cells_of(line):
    """A bar that no backslash precedes ends a cell, also in code."""
    return [cell.strip(" ") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def code_of(cell):
    """What a cell shows that is one piece of code from its beginning to its end; None: it is not."""
    found = re.fullmatch(r"(`+)(?!`)(.*?)(?<!`)\1", cell, re.S)
    if not found or re.search(rf"(?<!`)`{{{len(found[1])}}}(?!`)", found[2]):
        return None
    text = found[2]
    if text.startswith(" ") and text.endswith(" ") and text.strip(" "):
        text = text[1:-1]
    return text.replace("\\|", "|")


def names_are_code(program):
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder, "base"), 1)
        write(Path(folder, "new"), 2)
        result = program.run("compare", "base", "new", "--markdown", "--limit", "0", "--names", "raw", cwd=folder)
        lines = [line for line in result.out.splitlines() if line.startswith("|")]
        header, rule, *rows = map(cells_of, lines)
        program.check(result.status == 0 and not result.err and len(rows) == len(NAMES) - 1 and header[-1] == "Function", "there is a row for each function",
                      [result.err, header, len(rows)])
        program.equal({len(row) for row in (header, rule, *rows)}, {len(header)}, "every row has the cells of the header")
        found = [code_of(row[-1]) for row in rows]
        program.equal(set(found), set(NAMES[1:]), "every name is one piece of code, and shows as it is")


def sentences_have_no_markup(program):
    with tempfile.TemporaryDirectory() as folder:
        strange = "@team #1 <b>x [a](http:x) _y_ www.x.example *"
        for name, factor in (("base", 1), (strange, 2)):
            write(Path(folder, name), factor)
        out = program.run("compare", "base", strange, "--markdown", cwd=folder).out
        line = next(line for line in out.splitlines() if line.startswith("new "))
        plain = re.sub(r"<b></b>([@#])<b></b>|\\[\\`*_{}\[\]!|~$^:.]|&(amp|lt|gt);", "", line)
        program.check(not re.search(r"[@#<>*_\[\]`|~]|://|www\.", plain), "a path in a sentence is text, whatever it is", [line, plain])
        program.check("&lt;b&gt;x" in line and "<b></b>@<b></b>team" in line, "and shows as it is", [line])


def formats_exclude_each_other(program):
    program.says(program.run("compare", "--markdown", "--json", "made-small", "made-small"), 2, "--markdown and --json cannot be used together.*", "--markdown --json")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, names_are_code, sentences_have_no_markup, formats_exclude_each_other))
