#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Names that a store or another user has chosen: none can command a terminal, hide or reorder text, or run in a spreadsheet.

hostile_stores makes a database, a recording, a trace store and spans that have such names in every field. Every command is run
on them, in every format, and with arguments that are wrong.
"""

import csv
import io
import os
import re
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

import cli

NASTY = "\x1b]0;owned\x07\x1b[2J\x7f\x9b31m\u202e\u2066\u2028\u200f\u061c\u200b\ufeff\U000e0041\r\nlode: all is well\t."
# What is shown as nothing and still sent: joiners, and marks of scripts that are no formats in spite of their category.
SENT = {*map(chr, (0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6dd, 0x70f, 0x890, 0x891, 0x8e2, 0x200c, 0x200d, 0x110bd, 0x110cd))}
# Default_Ignorable_Code_Point of Unicode beyond the categories below, other than joiners and variation selectors.
IGNORED = {*map(chr, (0x115f, 0x1160, 0x17b4, 0x17b5, 0x2065, 0x3164, 0xffa0, *range(0xfff0, 0xfff9), *range(0xe0000, 0xe1000)))}
# What begins a formula, as OWASP lists it; tabs and carriage returns never come raw.
FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
# The words that names of a store begin with, and where they must be seen in text.
WORDS = {
    "database": {"title", "description", "IDKIND", "metric", "module", "file", "function", "entry"},
    "recording": {"symbol", "variable", "plug", "processor", "host", "cmdline", "enumeration", "event", "message", "comm",
                  "argument"},
    "traces": {"class", "method", "type", "key", "value", "inline-key", "inline-value", "property"},
    "spans": {"service", "other", "operation", "inner", "broken-name", "scope", "key", "value", "broken", "state", "status", "event", "detail",
              "detail-value", "class", "message", "frame", "resource", "resource-value"},
}
MISTAKES = (["--metric", NASTY], ["--profiles", NASTY], ["--sort", NASTY], ["--limit", NASTY], ["--task", NASTY],
            ["--from", NASTY], ["--id", NASTY], [f"--{NASTY}"], ["-\x1b"], [NASTY, NASTY])


def is_unsafe(character):
    """What may never be sent, by the tables of Unicode rather than by those of the program."""
    category = unicodedata.category(character)
    return character in IGNORED or (category in ("Cc", "Cf", "Zl", "Zp") and character not in SENT)


def unsafe(text, allowed="\n"):
    return sorted({f"U+{ord(character):04X}" for character in text if is_unsafe(character) and character not in allowed})


class Stores:
    """The stores, in a folder with a name of the same kind."""

    def __init__(self, program, folder):
        self.folder = Path(folder) / f"=folder{NASTY}".replace("/", "")
        self.folder.mkdir()
        subprocess.run([*program.maker, os.fsencode(self.folder)], check=True)

    def calls(self, name):
        """Every command that has something to say of a store, and options that show more."""
        shared = [["info"], ["info", "--verbose"], ["check", "--verbose"], ["check", "--level", "full"], ["top"], ["tree"],
                  ["tree", "--bottom-up"], ["profiles"], ["compare", "--all", name], ["compare", "--diagnose", name], ["compare", "--tree", name],
                  ["compare", "--explain-match", "--limit", "0", name]]
        own = {"database": [["diagnose"], ["diagnose", "--all"], ["efficiency"]] + [["top", "--by", by] for by in ("line", "loop", "module", "file")]
               + [["tree", "--lines"], ["context"], ["trace"]],
               "recording": [["replay"], ["replay", "--names", "raw"], ["search"], ["top", "--names", "full"],
                             ["top", "--callers", "main"], ["top", "--callees", "main"]],
               "traces": [["replay"], ["search"], ["top", "--names", "full"]],
               "spans": [["replay"], ["search"], ["top", "--names", "full"], ["search", "--map"], ["search", "--critical-path"],
                         ["search", "--calls", "--by", "service,name"], ["search", "--where", "failed"], ["diagnose"]]}
        for call in shared + own[name]:
            yield call + [name, *(["1"] if call == ["context"] else [])]


def run(program, stores, *arguments, lang="C.UTF-8", columns="100"):
    """Exit status, standard output and standard error as bytes."""
    done = subprocess.run([program.lode, *arguments], cwd=stores.folder, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=cli.SECONDS, env=cli.environment(LANG=lang, COLUMNS=columns))
    return done.returncode, done.stdout, done.stderr


def text_shows_and_does_not_send(program, stores):
    for name, words in WORDS.items():
        seen = ""
        for call in stores.calls(name):
            status, out, err = run(program, stores, *call, columns=None)
            text = (out + err).decode()
            seen += text
            program.check(status in (0, 1) and out and not unsafe(text), f"lode {' '.join(call)} sends no control character",
                          [status, *unsafe(text)])
            program.check("\nlode: all is well" not in text, f"lode {' '.join(call)}: no name makes a line of its own")
        missing = {word for word in words if f"={word}" not in seen}
        program.check(not missing, f"{name}: every field was shown", missing)
        program.check("\\x1b]0;owned\\x07" in seen and "\\u009b31m\\u202e" in seen, f"{name}: escapes are shown")


def only_ascii_where_the_terminal_knows_no_other(program, stores):
    """In a terminal of eight bits, bytes of a longer character are control characters."""
    for name in WORDS:
        for call in stores.calls(name):
            _, out, err = run(program, stores, *call, lang="C")
            program.check((out + err).isascii() and not unsafe((out + err).decode()), f"LANG=C lode {' '.join(call)} is ASCII")


def json_escapes(program, stores):
    for name in WORDS:
        for call in (*stores.calls(name), *([["dump", name]] if name == "database" else [])):
            options = [] if call[0] == "dump" else ["--json"]
            status, out, err = run(program, stores, *call, *options)
            parsed = cli.parse_json(out.decode())
            program.check(status in (0, 1) and parsed and not unsafe(out.decode()) and not unsafe(err.decode()),
                          f"lode {' '.join(call + options)} escapes what is not safe to show", [status, *unsafe(out.decode())])
    title = cli.parse_json(run(program, stores, "info", "database", "--json")[1].decode())["title"]
    program.check(title.startswith(f"=title{NASTY[:9]}") and title.endswith("\r\nlode: all is well\t."), "JSON is exact", [title])


def csv_is_safe(program, stores):
    for name in WORDS:
        for call in stores.calls(name):
            _, out, err = run(program, stores, *call, "--csv")
            text = out.decode()
            header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
            program.check(not unsafe(text.replace("\r\n", "\n")) and not unsafe(err.decode()) and "\r" not in text.replace("\r\n", ""),
                          f"lode {' '.join(call)} --csv has no control characters", unsafe(text.replace("\r\n", "\n")))
            program.check(all(len(row) == len(header) for row in rows), f"lode {' '.join(call)} --csv is RFC 4180", rows)
            formulas = [cell for row in rows for cell in row if cell.lstrip(" ").startswith(FORMULA) and not re.fullmatch(NUMBER, cell)]
            program.check(not formulas, f"lode {' '.join(call)} --csv has no formula", formulas)


def formulas_get_a_quote(program, stores):
    """And nothing else does: what OWASP lists, also behind blanks; numbers and quotes stay as they are."""
    names = ("=1+1", "+1+1", "-1+1", "@SUM(1)", "\uff1d1+1", "\uff0b1+1", "\uff0d1+1", "\uff201+1", "  =1+1", "-")
    others = ("-12.5e+3", "a=b", '"=1+1', "'=1+1", "e,=1+1")
    for option, mark in (("--csv", "'"), ("--csv-raw", "")):
        text = run(program, stores, "top", "database", "--limit", "0", option)[1].decode()
        found = {row["name"] for row in csv.DictReader(io.StringIO(text, newline="")) if "owned" not in row["name"]}
        program.equal(found, {mark + name for name in names} | set(others), f"lode top {option}: formulas")
        program.check(all(f'"{mark}{name}"' in text for name in names) or not mark, f"lode top {option}: formulas are quoted", [text])


NUMBER = r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?"


def csv_raw_is_as_the_store_has_it(program, stores):
    """The same rows as JSON, whatever they hold."""
    for call in (["info", "database"], ["profiles", "database"], ["replay", "traces"], ["search", "traces"]):
        wanted = cli.parse_json(run(program, stores, *call, "--json")[1].decode())
        raw = list(csv.DictReader(io.StringIO(run(program, stores, *call, "--csv-raw")[1].decode(errors="replace"), newline="")))
        safe = list(csv.DictReader(io.StringIO(run(program, stores, *call, "--csv")[1].decode(), newline="")))
        rows = next(value for value in wanted.values() if isinstance(value, list) and value and isinstance(value[0], dict)
                    and set(value[0]) >= set(raw[0]))
        differing = [(cell, row[key]) for row, cells in zip(rows, raw) for key, cell in cells.items()
                     if isinstance(row[key], str) and cell != row[key]]
        program.check(len(raw) == len(rows) and not differing and raw != safe, f"lode {' '.join(call)} --csv-raw has texts as JSON has them",
                      differing)
    status, out, err = run(program, stores, "top", "database", "--json", "--csv-raw")
    program.check(status == 2 and b"cannot be used together" in err and not out, "--json and --csv-raw exclude each other")


def numbers_stay_numbers(program, stores):
    """Also those that are part of a text, such as arguments of a call."""
    table = csv.DictReader(io.StringIO(run(program, stores, "top", "database", "--csv")[1].decode(), newline=""))
    rows = [[cell for key, cell in row.items() if key not in ("name", "module", "file", "function", "kind", "has_several_modules")] for row in table]
    program.check(rows and all(re.fullmatch(NUMBER, cell) for row in rows for cell in row if cell), "numbers of --csv are numbers", rows)


def mistakes_are_shown(program, stores):
    """What somebody typed, or pasted, comes back in messages."""
    calls = [[NASTY], ["help", NASTY], ["--" + NASTY], ["synth", NASTY, "-o", "new"], ["info", NASTY], ["dump", "database", "-o", f"{NASTY}/x/y"],
             ["context", "database", NASTY], ["convert", "database", "-o", f"no/{NASTY}"], ["build", "recording", "-o", f"no/{NASTY}"],
             ["convert", "database", "-o", "database"], ["top", "--callers", NASTY, "recording"], ["search", "traces", "--with", NASTY]]
    for command in ("info", "check", "top", "tree", "profiles", "context", "trace", "dump", "replay", "search", "convert", "build"):
        calls += [[command, name, *mistake] for name in WORDS for mistake in MISTAKES]
    for call in calls:
        for lang in ("C.UTF-8", "C") if call[0] in ("top", "replay") or len(call) < 3 else ("C.UTF-8",):
            _, out, err = run(program, stores, *call, lang=lang)
            text = (out + err).decode()
            found = unsafe(text.replace("\r\n", "\n") if "--csv" in call else text)
            if found or "\nlode: all is well" in text or (lang == "C" and not text.isascii()):
                program.check(False, f"lode {ascii(call)} with LANG={lang}", [*found, ascii(text)])
    program.check(True, f"{len(calls)} calls with mistakes send no control character")


def completions_are_safe(program, stores):
    """A name that a terminal must not see is no candidate."""
    for words in (["top", "database", "-m", ""], ["top", "database", "--callers", ""], ["context", "database", ""], ["top", "database", "-p", ""],
                  ["context", "database", "main", "--scope", ""], [""], ["top", "-"]):
        for shell in ("zsh", "fish"):
            status, out, err = run(program, stores, "complete", shell, *words)
            program.check(status == 0 and not err and not unsafe(out.decode()), f"lode complete {shell} {' '.join(words)}", [ascii(out)])


def what_is_written_says_so_safely(program, stores):
    """Findings on the way, names in the new store, and progress."""
    for call in (["convert", "database", "-o", "new-database"], ["build", "recording", "-o", "built"], ["build", "traces", "-o", "built-traces"],
                 ["convert", "recording", "-o", "new-recording"], ["convert", "traces", "-o", "new-traces"], ["top", "built"],
                 ["convert", "--format", "hpctoolkit-draft-xml", "database", "-o", "xml"], ["top", "xml"], ["check", "--verbose", "xml"],
                 ["convert", "--format", "hpctoolkit-draft-metadb", "database", "-o", "metadb"], ["tree", "metadb"], ["info", "metadb"],
                 ["info", "--verbose", "built"], ["info", "--verbose", "new-traces"], ["replay", "new-traces"], ["convert", "database", "-o", "built"]):
        status, out, err = run(program, stores, *call)
        text = (out + err).decode()
        wanted = 2 if call == ["convert", "database", "-o", "built"] else 0
        program.check(status == wanted and not unsafe(text) and "\nlode: all is well" not in text, f"lode {' '.join(call)}",
                      [status, ascii(text)])


def every_character_of_unicode(program, stores):
    """The whole of the basic plane, and what is not shown beyond it: exactly what is not safe is escaped, all else is sent."""
    characters = [chr(code) for code in (*range(1, 0xd800), *range(0xe000, 0x10000), 0x1f600, 0x110bd, 0x13430, 0x1bca0, 0x1d173,
                                         *range(0xe0000, 0xe0200), 0xe0fff, 0xe1000, 0x10ffff)]
    wrong = []
    for start in range(0, len(characters), 900):
        part = characters[start:start + 900]
        _, _, err = run(program, stores, "info", "|".join(part).replace("|||", "||"))
        shown = err.decode()[len("lode: "):].rsplit(": ", 1)[0]
        wanted = "|".join(escape(character) if is_unsafe(character) else character for character in part).replace("|||", "||")
        if shown != wanted:
            wrong.append(f"from {part[0]!a} on: {[(a, b) for a, b in zip(shown.split('|'), wanted.split('|')) if a != b][:5]}")
    program.check(not wrong, f"{len(characters)} characters: those that are not safe to show, and only those, are escaped", wrong)


def escape(character):
    short, code = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character), ord(character)
    return short or (f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


def bytes_that_are_no_characters(program, stores):
    wrong = b"\xff|\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80|\x9b|\xe2\x80"
    _, _, err = run(program, stores, "info", wrong)
    program.equal(err.decode().split(": ")[1], r"\xff|\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80|\x9b|\xe2\x80", "bytes that are no UTF-8 are shown")


def lines_fit_a_terminal(program, stores):
    """Escapes are counted in the widths of columns; colours are the only codes that are sent."""
    for name in WORDS:
        for call in stores.calls(name):
            if call[0] not in ("top", "tree", "trace", "context"):  # others have lines that nothing can break
                continue
            for columns in (80, 132):
                result = program.on_terminal(*call, columns=columns, cwd=stores.folder)
                plain = cli.ESCAPE.sub("", result.out)
                broken = [line for line in plain.splitlines() if len(line) > columns and not line.startswith("=metric")]
                program.check(plain and not unsafe(plain) and not broken, f"lode {' '.join(call)} on a terminal of {columns} columns",
                              [*unsafe(plain), *broken])


def with_stores(test):
    def wrapped(program):
        if not hasattr(program, "hostile"):
            program.keep = tempfile.TemporaryDirectory()
            program.hostile = Stores(program, program.keep.name)
        test(program, program.hostile)

    wrapped.__name__ = test.__name__
    return wrapped


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, *map(with_stores, (
        text_shows_and_does_not_send, only_ascii_where_the_terminal_knows_no_other, json_escapes, csv_is_safe,
        formulas_get_a_quote, csv_raw_is_as_the_store_has_it, what_is_written_says_so_safely, numbers_stay_numbers, mistakes_are_shown, completions_are_safe, every_character_of_unicode,
        bytes_that_are_no_characters, lines_fit_a_terminal)), operands="maker"))
