# SPDX-License-Identifier: BSD-3-Clause
"""As much of Markdown as the documents under test use: headings, and what follows each."""

import re


class Part:
    """A heading and the lines up to the next one."""

    def __init__(self, level, title, lines):
        self.level = level
        self.title = plain(title)
        self.lines = lines

    def table(self):
        """The part's first table: its column titles and its rows, as lists of plain text. None if there is none."""
        rows = []
        for line in self.lines:
            if line.startswith("|"):
                rows.append([plain(cell) for cell in line.strip().strip("|").split("|")])
            elif rows:
                break
        if len(rows) < 2:
            return None
        return rows[0], rows[2:]


def plain(text):
    return text.replace("`", "").replace("**", "").strip()


def parts(text):
    """All parts of a document, in order. Headings inside fenced code are none."""
    found = []
    fenced = False
    for line in text.split("\n"):
        fenced ^= line.startswith("```")
        heading = None if fenced else re.match(r"(#+) (.*)", line)
        if heading:
            found.append(Part(len(heading[1]), heading[2], []))
        elif found:
            found[-1].lines.append(line)
    return found
