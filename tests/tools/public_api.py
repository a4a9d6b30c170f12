# SPDX-License-Identifier: BSD-3-Clause
"""Reads the public headers: which functions they declare, and which comments stand where."""

import re
from pathlib import Path

_TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_DECLARATION = re.compile(r"\bLODE_API\b[^;{}()]*?\b(\w+)\s*\([^;{}]*;")


def _blank(text):
    """The same number of characters and lines, with nothing in them."""
    return re.sub(r"[^\n]", " ", text)


def without_comments(text, keep_strings=True):
    """Replaces comments, and strings too if asked, by spaces; offsets and line numbers stay as they are."""

    def replace(match):
        token = match.group(0)
        if token.startswith("/"):
            return _blank(token)
        return token if keep_strings else token[0] + _blank(token[1:-1]) + token[-1]

    return _TOKEN.sub(replace, text)


def without_directives(text):
    """Replaces preprocessor lines, with their continuations, by spaces."""
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: _blank(m.group(0)), text, flags=re.MULTILINE)


def comments(text):
    """(start, end, text) of every comment."""
    return [(m.start(), m.end(), m.group(0)) for m in _TOKEN.finditer(text) if m.group(0).startswith("/")]


def declarations(text):
    """(start, end, name) of every function that is declared with LODE_API."""
    code = without_directives(without_comments(text))
    return [(m.start(), m.end(), m.group(1)) for m in _DECLARATION.finditer(code)]


# Folders of include/lode. What is private is exported for programs that are built with the library, and not installed.
TIERS = {"stable": ".", "unstable": "unstable", "private": "private"}


def public_headers(directory, tiers=TIERS):
    return sorted(header for tier in tiers for header in (Path(directory) / TIERS[tier]).glob("*.h"))


def public_functions(directory, tiers=TIERS):
    """The names of all functions of the headers, in alphabetical order."""
    names = set()
    for header in public_headers(directory, tiers):
        names.update(name for _, _, name in declarations(header.read_text(encoding="utf-8")))
    return sorted(names)
