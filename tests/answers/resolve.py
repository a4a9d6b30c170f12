# SPDX-License-Identifier: BSD-3-Clause
"""
Which functions a typed name means, written to be obvious: a list of rules, the best first, and the first rule that finds something
decides. A candidate has names, and places where it is.
"""

import re
import string

LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def _small(text):
    return text.translate(LOWER)


def pattern(text):
    """The regular expression for a pattern; None if the text is none."""
    if len(text) > 2 and text[0] == text[-1] == "/":
        return re.compile(text[1:-1], re.DOTALL)
    if not re.search(r"[*?…]|\.\.\.", text):
        return None
    parts = re.findall(r"\\.|\*|\?|…|\.\.\.|.", text, re.DOTALL)
    any_of = {"*": ".*", "…": ".*", "...": ".*", "?": "."}
    body = "".join(any_of.get(part) or re.escape(part[-1:]) for part in parts)
    return re.compile(rf"\A{body}\Z", re.DOTALL)


def rules(text):
    """Rules for one name, the best first."""
    expression = pattern(text)
    return [lambda name: name == text, lambda name: _small(name) == _small(text), lambda name: text in name,
            lambda name: _small(text) in _small(name), lambda name: bool(expression and expression.search(name))]


def resolve(text, candidates, names_of, places_of, shown_of):
    """
    The candidates that match best. `names_of` gives the names of one; `places_of` what may be in brackets after a name: paths, their last
    components, "file:line"; `shown_of` the name that people see, which comes first.
    """
    inside = re.fullmatch(r"(.+) \[([^\[\]]+)\]", text, re.DOTALL)
    shown = [candidate for candidate in candidates if shown_of(candidate) == text]
    if shown:
        return shown
    plain = rules(text)
    bracketed = rules(inside.group(1)) if inside else [lambda name: False] * len(plain)
    for rule, inner in zip(plain, bracketed):
        found = [candidate for candidate in candidates
                 if any(rule(name) for name in names_of(candidate))
                 or (inside and inside.group(2) in places_of(candidate) and any(inner(name) for name in names_of(candidate)))]
        if found:
            return found
    return []


def filter_rows(rows, include, exclude):
    """
    What --include and --exclude leave of the rows of a whole tree: without rows below and at functions to exclude, and only those on a path
    (above, at or below) of a function to include. Both are conditions on a name; `include` may be None.
    """
    above, kept = [], []
    for i, row in enumerate(rows):
        del above[row["depth"]:]
        above.append(row["name"])
        below = []
        for other in rows[i + 1:]:
            if other["depth"] <= row["depth"]:
                break
            below.append(other["name"])
        is_wanted = include is None or any(map(include, above)) or any(map(include, below))
        if is_wanted and not any(map(exclude, above)):
            kept.append(row)
    return kept
