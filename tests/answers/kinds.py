# SPDX-License-Identifier: BSD-3-Clause
"""
The activity and the kind of a function, worked out from the rules (src/analysis/kinds.def, activities.def) with regular expressions.
"""

import re
from functools import lru_cache
from pathlib import Path

RULES = Path(__file__).resolve().parents[2] / "src" / "analysis" / "kinds.def"
TITLES = {"own": "own code", "mpi": "MPI", "threads": "threads and OpenMP", "memory": "memory", "io": "input and output",
          "system": "system libraries", "gpu": "GPU", "idle": "not running"}
ACTIVITIES = {name.lower(): (kind.lower(), text) for name, kind, text in
              re.findall(r'^ACTIVITY\((\w+), (\w+), "([^"]+)"', RULES.with_name("activities.def").read_text(), flags=re.MULTILINE)}
LONGEST = 1024  # bytes of a name that are compared


def _expression(pattern):
    parts = (".*" if letter == "*" else "." if letter == "?" else re.escape(letter) for letter in pattern)
    return re.compile("".join(parts), re.DOTALL)


def _read():
    text = re.sub(r"^/\*.*?\*/", "", RULES.read_text(), flags=re.DOTALL | re.MULTILINE)
    return [(section, kind.lower(), pattern, _expression(pattern))
            for section, kind, pattern in re.findall(r'(\w+)\((\w+), "([^"]*)"\)', text)]


_rules = _read()


def _first(sections, *names):
    """The first rule of some sections that matches one of the names."""
    for section, kind, _, expression in _rules:
        if section in sections and any(name and expression.fullmatch(name) for name in names):
            return section, kind
    return None


def _of_module(path):
    for section, kind, pattern, expression in _rules:
        if section in ("MODULE", "MIXED") and expression.fullmatch(path if pattern.startswith("/") else path.rsplit("/", 1)[-1]):
            return section, kind
    return None


@lru_cache(maxsize=None)
def _activity(module, name):
    name = (name or "").encode()[:LONGEST].decode("latin-1")
    module = module and module.encode()[:LONGEST].decode("latin-1")
    word = _first(["WORD"], name)
    if word:
        return word[1]
    rule = _of_module(module) if module else None
    if rule and (rule[0] == "MODULE" or not name):
        return rule[1]
    is_kernel = re.match(r"(?s).+?_\[k\]", name) is not None
    name = re.sub(r"(?s)(?<=.)_\[k\].*", "", name, count=1) if is_kernel else re.sub(r"(?s)(?<=.)_\[[ij]\].*", "", name, count=1)
    is_stub = "@plt" in name[1:]
    name = re.sub(r"(?s)(?<=.)( \[|@).*", "", name, count=1)
    plain = re.sub(r"^_+(?=.)", "", re.sub(r"^__GI_(?=.)", "", name))
    plain = re.sub(r"^libc_(?=.)", "", plain)
    found = _first(["ANYWHERE"], name, plain)
    if not found and (rule or is_stub or is_kernel):
        found = _first(["SYMBOL"], plain)
    return found[1] if found else rule[1] if rule else "kernel" if is_kernel else "own"


def activity(module, name):
    """Either may be None."""
    return ACTIVITIES[_activity(module, name)][1]


def kind(module, name):
    """Either may be None."""
    return ACTIVITIES[_activity(module, name)][0]
