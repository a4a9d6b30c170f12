#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The program, its documents and its public headers use the standard terms: words.py [--lode PROGRAM]

Each entry of WORDS is a pattern that must not occur, and what to write instead. They are looked for, without regard to
case and across line breaks, in the documents, in the help texts and manual pages, in the public headers, and in the
string literals of src, which hold the messages. EXCEPTIONS are the contexts in which such a word is the right one.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from tap import Tap  # noqa: E402

WORDS = [
    (r"crews?|lode_crew\w*|crew_\w+", "communicator"),
    (r"members?", "rank"),
    (r"--(crew|mpi) alone", "--mpi off"),
    (r"holders?", "staging directory"),
    (r"wish(es)?", "options"),
    (r"desks?", "scratch"),
    (r"growers?", "tree builder"),
    (r"growth|lode_growth\w*", "call tree"),
    (r"harvests?", "track result"),
    (r"sprouts?", "node"),
    (r"keepers?", "finding buffer"),
    (r"kept", "stored, preserved; finding list"),
    (r"turns?|turned", "trace slot; becomes"),
    (r"phrases?", "substring"),
    (r"texts|pack_text", "strings"),
    (r"drafted|drafts? of a profile|lode_draft\w*", "profile builder"),
    (r"points?|lode_points?|LODE_EVENT_POINT", "event; point value"),
    (r"spans? of (bytes|time)", "byte range; interval, duration"),
    (r"(recordings?|traces?|thread|store) of (a )?traces?(?! (lines?|stores?))|of (these|its|other) traces|calls-per-trace|--per trace|"
     r"per trace(?! lines?)|traces? (that|which|whose|in which|began|took|had|failed)|a trace (has|is|of|that|whose)|this trace|"
     r"trace (id|number|%u|\d+)s?|only these traces|by trace", "request"),
    (r"windows?", "time window; batch; context range"),
    (r"LODE_EVENT_(OUT|IN)", "LODE_EVENT_SCHED_OUT, LODE_EVENT_SCHED_IN"),
    (r"off (the|its|a) processor", "off-CPU"),
    (r"places?", "location, position"),
    (r"order of time", "chronological"),
    (r"whole,? or not( at all)?", "atomically"),
    (r"up to date", "upgraded"),
    (r"anew", "again; rewritten"),
    (r"(the )?same bytes", "byte-identical, reproducible"),
    (r"added (up )?in any order", "order-independent"),
    (r"behind", "after"),
    (r"foresee\w*", "predict"),
    (r"heed\w*", "are used, apply"),
    (r"told apart|tell apart", "distinguished"),
    (r"facts? about", "metadata"),
    (r"ma[dk]e up|made-up|helped with", "recovered, repaired, synthetic"),
    (r"case of letters", "case-insensitive"),
    (r"where chance", "random seed"),
    (r"threads to work with", "number of worker threads"),
    (r"memory for work", "memory budget"),
    (r"there already|--force replaces it", "already exists; use --force to replace it"),
    (r"has no use for", "unexpected argument"),
    (r"'lode \S+' needs", "missing argument"),
    (r"where should|say -o", "missing option"),
    (r"of an? (database|recording):", "For databases: ... For recordings: ..."),
    (r"who calls", "callers of"),
    (r"by as much", "imbalance (max/mean - 1)"),
    (r"the first \S+ rows", "showing N of M rows"),
    (r"a HPCToolkit", "an HPCToolkit"),
    (r"alone in the world", "globally unique id"),
    (r"never measured", "synthetic"),
    (r"costs what it", "cost proportional to"),
]

# (pattern of the text around a hit, or of the file; why it is right there)
EXCEPTIONS = [
    (r"entry points?", "what HPCToolkit calls the start of a thread"),
    (r"change points?|lode_change_points?|\*points\b", "where a series changes, in statistics"),
    (r"floating[- ]points?", "numbers"),
    (r"points? (to|at|exactly at)\b", "what a pointer does"),
    (r"point values?|scopes? `?point|point, (function|execution)|point\(|`point`|point +(function|execution)|point is the|\| point \||custom point|all points|the points of", "a scope of HPCToolkit and its values"),
    (r"LODE_CORPUS` points|points into", "what a path or a pointer does"),
    (r"\btime window|sliding window|proportional to the window", "the meanings of window that stay"),
    (r"in place", "not moved"),
    (r"help texts?", "text in the usual sense"),
    (r"trace id.*0x|TRACE_ID", "a key in the files of Zorka"),
    (r"ahead or behind|\bbehind\s+ahead", "of clocks"),
]
# What files hold, word by word: written to outputs, whose bytes do not change.
FILES = {
    "src/format/zorka/values.c": r"trace ids?",
    # Words of OpenTelemetry, Jaeger and Zipkin, about their files.
    "src/format/otlp/": r"trace ids?|a trace",
    "doc/rules.md": r"trace id",
    "doc/formats/otlp.md": r"trace ids?|a trace (is|or)|by trace|a trace",
    "doc/decisions/0083-spans-are-requests.md": r"a trace (is|of)|by trace",
    # Output of replay: numbers that the tracer calls so.
    "doc/tutorial.md": r"trace id",
    "src/format/hpctoolkit/write/companions.c": r"of a database:",
    "src/model/companions.c": r"of a database:",
}

LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"')
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
BEFORE, AFTER = 40, 40


def allowed(text, match):
    around = text[max(0, match.start() - BEFORE):match.end() + AFTER]
    start = match.start() - max(0, match.start() - BEFORE)
    for pattern, _ in EXCEPTIONS:
        for context in re.finditer(pattern, around, re.IGNORECASE):
            if context.start() <= start < context.end():
                return True
    return False


def hits(name, text):
    """[(name:line, word, what to write)] of all words in a text."""
    joined = re.sub(r"[ \t]*\n[ \t*#]*", lambda m: " " + "\x00" * m.group(0).count("\n"), text)
    plain = joined.replace("\x00", "")
    lines = []
    for pattern, instead in WORDS:
        for match in re.finditer(rf"(?<![\w-])(?:{pattern})(?![\w])", plain, re.IGNORECASE):
            right = next((words for start, words in FILES.items() if name == start or start.endswith("/") and name.startswith(start)), None)
            if right and re.fullmatch(right, match.group(0), re.IGNORECASE) or allowed(plain, match):
                continue
            lines.append((name, plain[max(0, match.start() - 30):match.end() + 30], match.group(0), instead))
    return lines


def literals(text):
    """The string literals of a C source, one to a line; what is next to each other is one."""
    code = re.sub(r"^\s*#\s*include.*$", "", COMMENT.sub("", text), flags=re.MULTILINE)
    joined = re.sub(r'"\s*"', "", code)
    found = [match.group(0)[1:-1] for match in LITERAL.finditer(joined)]
    # Words and messages; not keys of formats, such as "%s".
    return "\n\n".join(piece.replace("\\n", " ") for piece in found)


def sources():
    for path in [*ROOT.glob("*.md"), *sorted((ROOT / "doc").rglob("*.md")), *sorted((ROOT / "src" / "cli" / "help").glob("*.txt")),
                 *sorted((ROOT / "include" / "lode").glob("*.h"))]:
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix in (".c", ".h", ".def"):
            yield str(path.relative_to(ROOT)), literals(path.read_text(encoding="utf-8"))


def help_texts(lode):
    def output(*arguments):
        return subprocess.run([lode, "help", *arguments], capture_output=True, text=True, check=True).stdout
    overview = output()
    yield "lode help", overview
    for command in re.findall(r"^  ([a-z]+) ", overview.split("'lode help COMMAND'")[0], re.MULTILINE):
        yield f"lode help {command}", output(command)
        yield f"lode-{command}.1", output("--man", command).replace("\\-", "-")


SPOILT = [("crew", "a crew of 4 members"), ("order of time", "calls in the order of time"), ("behind", "bytes behind the header"),
          ("window", "a window of memory"), ("points", "attributes and exceptions are points"), ("places", "samples go to their places"),
          ("trace", "only these traces, of a recording of traces"), ("a HPCToolkit", "a HPCToolkit database"),
          ("who calls", "Who calls malloc"), ("texts", "two texts have one id")]
SOUND = ["entry points", "a time window", "point values of instructions", "floating point", "a trace line", "the pointer points at a string",
         "an HPCToolkit database", "the order of ids", "returns the rank", "--trace none", "Memory grows with contexts"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lode", help="the program, to read its help")
    options = parser.parse_args()
    tap = Tap()
    texts = [*sources(), *(help_texts(options.lode) if options.lode else ())]
    tap.check(len(texts) > 100, f"{len(texts)} texts are read")
    for name, text in texts:
        found = hits(name, text)
        if found or not name.startswith("src/"):
            tap.check(not found, name, [f"'{word}' in '...{around}...': write {instead}" for _, around, word, instead in found])
    for word, text in SPOILT:
        tap.check(hits("test", text), f"self-test: '{word}' is found", [text])
        tap.check(hits("test", literals(f'report("{text}");'.replace("\n", " "))), f"self-test: '{word}' is found in a message", [text])
    tap.check(hits("test", "calls in the order\n * of time"), "self-test: a phrase is found across lines")
    for text in SOUND:
        tap.check(not hits("test", text), f"self-test: '{text}' is right", [str(hits("test", text))])
    tap.check(not hits("test", literals("/* a crew */ int behind; // x\n")), "self-test: comments and code of src are not messages")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
