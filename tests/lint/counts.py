#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Counts in texts have one form: "1 error", "1,000 rows". Texts of the program use COUNTED and GROUPED (src/cli/text/number.h), those of the library
LODE_COUNTED (src/base/text/count.h); nothing else chooses between singular and plural, and messages have no digits without separators before a noun.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from tap import Tap  # noqa: E402

# Where the functions are.
OWN = {"src/cli/text/number.c", "src/base/text/count.c"}
# A plural by hand: count == 1 ? "" : "s", "file%s" after a number, "file(s)". "(s)" alone is a unit.
PLURALS = (re.compile(r'[!=]= 1 \? "\w*" : "\w*"'), re.compile(r'\? "" : "e?s"'), re.compile(r'%(?:[lz]*u|"\s*PRIu\d+\s*") [a-z ]*[a-rt-z]%s'))
# "file(s)", in a literal.
BOTH = re.compile(r"[a-z]\(e?s\)")
LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"')
# A number before a noun, in texts of the program.
DIGITS = re.compile(r'\b(?:report|out_say|out_line|out_entry)\([^;]*?"[^"\n;]*(%(?:[lz]*u|"\s*PRIu\d+\s*")(?: of them| more)? (?!is\b|has\b|was\b)[a-z]+s\b)')
# A number and a word that it does not count.
NAMES = re.compile(r"%\w+ (shows|lists|needs)$")
# "once" is no plural.
WORDS = re.compile(r'== 1 \? "once" :')
SAMPLES = {'report("%zu file%s", n, n == 1 ? "" : "s");': True, 'snprintf(t, 9, "%u row%s", n, word);': True, 'report("%llu errors in it", n);': True,
           'report("file(s) of %s", n);': True, 'say(o, n == 1 ? "row" : "rows");': True, 'out_say(o, "%s in it", COUNTED(n, "row", "rows"));': False,
           'report("Context %u is not listed", n);': False, '"time (s)"': False}


def found(text, is_program):
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    hits = [hit[0] for pattern in PLURALS for hit in pattern.finditer(text) if not WORDS.search(text[hit.start():hit.end() + 4])]
    hits += [hit[0] for literal in LITERAL.findall(text) for hit in BOTH.finditer(literal)]
    return hits + [hit[1] for hit in DIGITS.finditer(text) if is_program and not NAMES.match(hit[1])]


def main():
    tap = Tap()
    files = sorted(path for path in (ROOT / "src").rglob("*.[ch]") if str(path.relative_to(ROOT)) not in OWN)
    wrong = [f"{path.relative_to(ROOT)}: {hit}" for path in files
             for hit in found(path.read_text(encoding="utf-8"), (ROOT / "src" / "cli") in path.parents)]
    tap.check(len(files) > 400 and not wrong, f"{len(files)} files leave counts to one function", wrong)
    for text, is_wrong in SAMPLES.items():
        tap.check(bool(found(text, True)) == is_wrong, f"self-test: {text} is {'found' if is_wrong else 'right'}", found(text, True))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
