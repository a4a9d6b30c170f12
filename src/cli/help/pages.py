#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Turns the help texts of this folder into a C source: pages.py OUTPUT PAGE.txt...

A page is plain text. Its first line is "NAME: summary". Paragraphs of description follow, separated by blank lines. A
line that is indented by two blanks is an item, "  term   meaning"; lines that are indented by more continue it.
A line of capital letters begins a section: OPTIONS, EXAMPLES, EXIT STATUS or ENVIRONMENT. In a section, a line that is
not indented is a term (an option as 'lode help' shows it, a command line), and the indented lines below it are its
meaning. Line breaks do not matter: the program wraps the text. shared.txt holds options that several commands have;
lode.txt is about the program as a whole.
"""

import re
import sys
from pathlib import Path

SECTIONS = ("OPTIONS", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT")
HEADER = """/* SPDX-License-Identifier: BSD-3-Clause */
/* Generated from src/cli/help by pages.py. */
#include "help.h"
"""


class Page:
    def __init__(self, path):
        lines = path.read_text(encoding="utf-8").splitlines()
        self.name, _, self.summary = lines[0].partition(": ")
        if self.name != path.stem or not self.summary:
            raise ValueError(f"{path}: the first line is not '{path.stem}: summary'")
        self.description = []
        self.sections = {name: [] for name in SECTIONS}
        section = None
        for number, line in enumerate(lines[1:], 2):
            if line in SECTIONS:
                section = self.sections[line]
            elif section is None:
                self.add_description(line)
            elif line.strip():
                add_term(section, line, f"{path}:{number}")
        for terms in self.sections.values():
            missing = [term for term, meaning in terms if not meaning]
            if missing:
                raise ValueError(f"{path}: no meaning: {missing}")

    def add_description(self, line):
        last = self.description[-1] if self.description else ""
        if not line.strip():
            self.description.append("")
        elif re.match(r"  \S", line):
            self.description.append(line.rstrip())
        elif last.startswith("  ") and not line.startswith("   "):
            self.description.append(line.strip())
        elif last:
            self.description[-1] = f"{last} {line.strip()}"
        else:
            self.description[-1] = line.strip()


def add_term(section, line, where):
    if not line.startswith(" "):
        section.append((line.strip(), ""))
    elif section:
        term, meaning = section[-1]
        section[-1] = (term, f"{meaning} {line.strip()}".strip())
    else:
        raise ValueError(f"{where}: a meaning without a term")


def quoted(text):
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def identifier(page, what):
    return f"page_{page.name}_{what.lower().replace(' ', '_')}"


def definitions(page):
    yield f"static const char *const {identifier(page, 'description')}[] = {{"
    yield from (f"    {quoted(text)}," for text in page.description if text)
    yield "    NULL,\n};"
    for name, terms in page.sections.items():
        yield f"static const help_term {identifier(page, name)}[] = {{"
        yield from (f"    {{{quoted(term)}, {quoted(meaning)}}}," for term, meaning in terms)
        yield "    {NULL, NULL},\n};"


def entry(page):
    tables = ", ".join(identifier(page, name) for name in ("description", *SECTIONS))
    return f"    {{{quoted(page.name)}, {quoted(page.summary)}, {tables}}},"


def main():
    output, *names = sys.argv[1:]
    pages = [Page(Path(name)) for name in names]
    lines = [HEADER, *(line for page in pages for line in definitions(page))]
    lines += ["const help_page help_pages[] = {", *map(entry, pages), "    {0},\n};", ""]
    Path(output).write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
