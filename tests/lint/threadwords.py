#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Every public function says which threads may call it: "MT: any thread" or "MT: one thread".

A comment with such a word covers the declarations after it up to the next blank line. If it stands alone (a blank line
follows) or says "All of these", it covers everything after it, up to the next comment with such a word. A function that
frees or closes something may not share the word of the function that made it: it needs a comment of its own.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from public_api import comments, declarations, public_headers  # noqa: E402
from tap import Tap  # noqa: E402

WORD = re.compile(r"\bMT:\s*(\*\s*)?(any|one)\s+(\*\s*)?thread\b")
ENDS_LIFE = re.compile(r"_(free|close)$")


def _comment_before(text, start, spans):
    """The comment that ends right above a declaration, or None."""
    for begin, end, comment in spans:
        if end <= start and not text[end:start].strip() and text.count("\n", end, start) <= 1:
            return comment
    return None


def lacking(text):
    """(name, why) of the functions of a header that no thread-safety word covers."""
    spans = comments(text)
    missing = []
    for start, _, name in declarations(text):
        own = _comment_before(text, start, spans)
        if own is not None and WORD.search(own):
            continue
        if ENDS_LIFE.search(name):
            missing.append((name, "ends a life, and has no word in a comment of its own"))
            continue
        words = [(begin, end, comment) for begin, end, comment in spans
                 if end <= start and WORD.search(comment)]
        if not words:
            missing.append((name, "has no word before it"))
            continue
        _, end, comment = words[-1]
        reaches_far = "All of these" in comment or re.match(r"[ \t]*\n[ \t]*\n", text[end:])
        if not reaches_far and re.search(r"\n[ \t]*\n", text[end:start]):
            missing.append((name, "stands after the blank line that ends the last word's group"))
    return missing


SELF_TEST = """
/* A. MT: any thread. */
LODE_API int lode_a(void);
/* No word, but in A's group. */
LODE_API int lode_b(void);

LODE_API int lode_c(void);

/* Each. MT: any thread. */

LODE_API int lode_d(void);

LODE_API int lode_e(void);
LODE_API void lode_e_free(void);
/* MT: one
 * thread. */
LODE_API void lode_f_free(void);

/* All of these: MT: any thread. */
LODE_API int lode_g(void);

LODE_API int lode_h(void);
/* MT: maybe. */
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--headers", type=Path, default=ROOT / "include" / "lode")
    options = parser.parse_args()

    tap = Tap()
    found = [name for name, _ in lacking(SELF_TEST)]
    tap.check(found == ["lode_c", "lode_e_free"], "the rule finds what lacks a word", [f"found {found}"])
    tap.check([name for name, _ in lacking("LODE_API int lode_x(void);")] == ["lode_x"],
              "the rule finds a function without any comment")
    for header in public_headers(options.headers):
        text = header.read_text(encoding="utf-8")
        missing = lacking(text)
        tap.check(not missing, f"{header.name}: {len(declarations(text))} functions",
                  [f"{name} {why}" for name, why in missing])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
