#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Three words that mean several things mean one thing each where they stand alone, in the names of files, of types and of what
object files define: the table of words in doc/architecture.md. What a folder of src/analysis/diagnose defines for others
begins with lode_diagnose_, unless it is public.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from link_layering import read_symbols, sources  # noqa: E402
from public_api import without_comments  # noqa: E402
from tap import Tap  # noqa: E402

TYPE = re.compile(r"\b(?:struct|enum|union)\s+(\w+)\s*\{|^\}\s*(\w+);", re.MULTILINE)
# Words, where each may stand alone, and its other meanings, which carry another word. Public names stay as they are.
WORDS = {
    # A profile source; of source text, `source_text`, `source_file` and what belongs to the command of this name.
    "source": (("model/source.h", "transform/", "format/format.h", "format/hpcrun/source/", "format/perf/source/", "cli/commands/source/", "cli/help/source"),
               r"source_(text|file|line)|(profile|database|merge)_source"),
    # The page server, which is called like its command; of trees, `tree_view`.
    "view": (("view/", "cli/view/", "cli/commands/cmd_view.c", "cli/help/view"), r"tree_view"),
    # A rule of `check`; others are rules of something.
    "rule": (("format/",), r"(name|kind|diagnose|export)_rule"),
}
# Files that are named after a public function or type.
PUBLIC = {"lode_view", "lode_source_text", "lode_name_rules", "lode_kind_rules"}
DIAGNOSE = "analysis/diagnose/"


def misused(path, names):
    """Names of a file below src/ that use one of the words in another meaning than that of its folder."""
    found = []
    for word, (folders, others) in WORDS.items():
        if path.startswith(folders):
            continue
        for name in names:
            rest = re.sub(others, "", name)
            if name not in PUBLIC and re.search(rf"(^|_){word}s?(_|$)", rest):
                found.append(f"{path}: {name}: '{word}' has another meaning (doc/architecture.md)")
    return found


def names_of(source, file):
    """The stem of a file, and the types that it defines. In diagnose, folder and prefix say which rules are meant."""
    path = file.relative_to(source).as_posix()
    types = [a or b for a, b in TYPE.findall(without_comments(file.read_text(encoding="utf-8")))]
    return path, types + ([] if path.startswith(DIAGNOSE) else [file.stem])


def unprefixed(defined, public):
    """Symbols of diagnose that neither are public nor say where they belong."""
    return sorted(f"{path}: {symbol}" for symbol, path in defined.items()
                  if path.as_posix().startswith(DIAGNOSE) and symbol not in public and not symbol.startswith("lode_diagnose_"))


def self_test(tap):
    for name, path, names, count in (
            ("a profile source", "transform/database_source.h", ["lode_database_source"], 0),
            ("bytes that are called a source", "base/io/source.h", ["lode_source", "source"], 2),
            ("source text", "model/names/source_text.c", ["lode_source_text", "source_text"], 0),
            ("a tree view", "analysis/tree/tree_view.c", ["lode_tree_view_node", "lode_view"], 0),
            ("a node of an unnamed view", "analysis/tree/tree_view.h", ["lode_view_node"], 1),
            ("a rule of check", "format/pprof/rules.h", ["pprof_rule", "rules"], 0),
            ("a rule for names", "analysis/compare/name_rules.c", ["name_rule", "name_rules"], 0),
            ("rules of what", "analysis/compare/rules.c", ["rules"], 1)):
        found = misused(path, names)
        tap.check(len(found) == count, f"self-test: {name}", found)
    defined = {"lode_diagnose_x": Path("analysis/diagnose/x.c"), "lode_x": Path("analysis/diagnose/y.c"), "lode_y": Path("base/y.c"),
               "lode_diagnosis_free": Path("analysis/diagnose/x.c")}
    found = unprefixed(defined, {"lode_diagnosis_free"})
    tap.check(found == ["analysis/diagnose/y.c: lode_x"], "self-test: a symbol without its prefix", found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, default=ROOT / "src")
    parser.add_argument("archive", type=Path)
    options = parser.parse_args()
    tap = Tap()
    self_test(tap)
    files = sorted(options.source.rglob("*.[ch]"))
    found = [line for file in files for line in misused(*names_of(options.source, file))]
    tap.check(not found and len(files) > 500, f"{len(files)} files: source, view and rule have one meaning each", found)
    lines = subprocess.run(["nm", "-A", options.archive], capture_output=True, text=True, check=True).stdout.splitlines()
    defined, _ = read_symbols((line.removeprefix(f"{options.archive}:") for line in lines), sources(options.source))
    public = set(re.findall(r"^\s+(lode_\w+);", (options.source / "lode.map").read_text(encoding="utf-8"), re.MULTILINE))
    of_diagnose = [symbol for symbol, path in defined.items() if path.as_posix().startswith(DIAGNOSE)]
    found = unprefixed(defined, public)
    tap.check(not found and len(of_diagnose) > 100, f"{len(of_diagnose)} symbols of diagnose say so", found)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
