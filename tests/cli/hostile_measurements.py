#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Names that measurements have chosen, as hostile_names.py tests them for other stores: of programs, load modules, metrics, ids, files and, in
structure files and kernel symbols, of functions. In what is said of the measurements, while a database is built from them, and of that database.
"""

import csv
import io
import lzma
import os
import re
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import quoteattr

import cli
from hostile_names import FORMULA, NASTY, NUMBER, run, unsafe

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))

from made_measurements import KINDS, MAIN_THREAD, NODE, PRIMARY, THREAD, Measured, Node, trace  # noqa: E402

BROKEN = NASTY.encode() + b"\xff\x9b"
# What XML can have; what a line of kernel symbols can.
IN_XML = re.sub("[\x00-\x08\x0b-\x1f]", "", NASTY)
IN_LINE = re.sub(r"\s", "", NASTY)
# Where each must be seen.
WORDS = {"measurements": {"title", "metric", "meaning", "IDKIND", "module", "profile"},
         "built": {"title", "metric", "IDKIND", "module", "described", "file", "function", "kernel"}}
STRUCTURE = """<?xml version="1.0"?>
<HPCToolkitStructure i="0" version="4.9" n="">
<LM i="1" n={module} v="{{}}"><F i="2" n={file}><P i="3" n={function} l="10" v="{{[0x1000-0x1001)}}">
<S i="4" l="11" v="{{[0x1000-0x1100)}}"/></P></F></LM>
</HPCToolkitStructure>
"""


def quoted(text):
    """An attribute; white space stays as it is."""
    return quoteattr(text, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


class Measurements:
    """In a folder with a name of the same kind, and a damaged profile beside the good one."""

    def __init__(self, folder):
        self.folder = Path(folder) / f"=folder{NASTY}".replace("/", "")
        directory = self.folder / "measurements"
        (directory / "structs").mkdir(parents=True)
        (directory / "kernel_symbols").mkdir()
        described = f"/m/=described{IN_XML}"
        text = STRUCTURE.format(module=quoted(described), file=quoted(f"/f/=file{IN_XML}"), function=quoted(f"=function{IN_XML}"))
        (directory / "structs" / "a.hpcstruct").write_text(text, encoding="utf-8")
        kernel = f"ffffffff81000000 T =kernel{IN_LINE}\nffffffff81001000 T next\n"
        (directory / "kernel_symbols" / "vmlinux.abc").write_bytes(lzma.compress(kernel.encode()))
        nodes = [Node(2, 0, 0, PRIMARY), Node(4, 2, 0, MAIN_THREAD), Node(6, 4, 1, 0x10, {0: 1.0}), Node(8, 4, 2, 0x1010, {0: 2.0}),
                 Node(10, 4, 3, 0xffffffff81000010, {0: 4.0})]
        made = Measured(nodes, modules=(b"/m/=module" + BROKEN, described, "kernel_symbols/vmlinux.abc"),
                        metrics=((b"=metric" + BROKEN, b"=meaning" + BROKEN),), kinds=(*KINDS[:3], b"=IDKIND" + BROKEN),
                        **{"program-name": b"=title" + BROKEN, "program-path": b"/bin/=path" + BROKEN, f"=attribute{NASTY}": BROKEN})
        profile = made.profile((NODE, 0xabc, 0), (THREAD, 0, 0))
        (directory / "made-0.hpcrun").write_bytes(profile)
        (directory / "made-0.hpctrace").write_bytes(trace((1_700_000_000_000_000_000 + i, nodes[2 + i % 3].id) for i in range(9)))
        (directory / f"=profile{NASTY}.hpcrun".replace("/", "")).write_bytes(profile[:-50])

    @staticmethod
    def calls(name):
        shared = [["info"], ["info", "--verbose"], ["check", "--verbose"], ["check", "--level", "full"]]
        built = [["top"], *(["top", "--by", by] for by in ("line", "module", "file")), ["tree"], ["tree", "--lines"], ["tree", "--bottom-up"],
                 ["profiles"], ["context"], ["trace"], ["diagnose", "--all"]]
        for call in shared + (built if name == "built" else []):
            yield [*call, name, *(["1"] if call == ["context"] else [])]


def is_kernel_unread(program, stores):
    """In a build without liblzma."""
    return b"kernel-unread" in run(program, stores, "check", "--verbose", "measurements")[1]


def text_is_safe(program, stores, name):
    seen = ""
    for call in stores.calls(name):
        status, out, err = run(program, stores, *call, columns=None)
        text = (out + err).decode()
        seen += text
        program.check(status in (0, 1) and out and not unsafe(text) and "\nlode: all is well" not in text,
                      f"lode {' '.join(call)} sends no control character", [status, *unsafe(text), ascii(text)])
        _, out, err = run(program, stores, *call, lang="C")
        program.check((out + err).isascii() and not unsafe((out + err).decode()), f"LANG=C lode {' '.join(call)} is ASCII")
    unread = {"kernel"} if is_kernel_unread(program, stores) else set()
    missing = {word for word in WORDS[name] - unread if f"={word}" not in seen}
    program.check(not missing, f"{name}: every field was shown", [missing, ascii(seen)])


def tables_are_safe(program, stores, name):
    for call in (*stores.calls(name), ["dump", name]):
        status, out, err = run(program, stores, *call, *([] if call[0] == "dump" else ["--json"]))
        program.check(status in (0, 1) and cli.parse_json(out.decode()) and not unsafe((out + err).decode()), f"lode {' '.join(call)}: JSON is safe",
                      [status, *unsafe((out + err).decode())])
        if call[0] == "dump":
            continue
        text = run(program, stores, *call, "--csv")[1].decode()
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        formulas = [cell for row in rows for cell in row if cell.lstrip(" ").startswith(FORMULA) and not re.fullmatch(NUMBER, cell)]
        program.check(rows and not formulas and not unsafe(text.replace("\r\n", "\n")), f"lode {' '.join(call)}: CSV is safe", formulas)


def names_of_measurements(program):
    with tempfile.TemporaryDirectory() as folder:
        stores = Measurements(folder)
        text_is_safe(program, stores, "measurements")
        tables_are_safe(program, stores, "measurements")
        for words, wanted in ((["--strict", "-o", "strict"], 2), (["--stats", "-o", "built"], 0), (["--stats", "-o", "built"], 2),
                              (["--force", "--json", "-o", "built"], 0)):
            status, out, err = run(program, stores, "build", "--foreign", "measurements", *words)
            text = (out + err).decode()
            program.check(status == wanted and not unsafe(text) and "\nlode: all is well" not in text, f"lode build {' '.join(words)}",
                          [status, *unsafe(text), ascii(text)])
        program.equal(sorted(os.listdir(stores.folder)), ["built", "measurements"], "what is there")
        for words in (["--metric", f"=none{NASTY}".replace("\0", "")], []):
            status, out, err = run(program, stores, "export", "measurements", "--format", "folded", "-o", "-", *words)
            program.check(status == (2 if words else 0) and bool(out) != bool(words) and err and not unsafe(err.decode()),
                          f"lode export {' '.join(words[:1])}: messages are safe", [status, *unsafe(err.decode()), ascii(err.decode())])
        text_is_safe(program, stores, "built")
        tables_are_safe(program, stores, "built")


if __name__ == "__main__":
    sys.exit(cli.main(__doc__, names_of_measurements))
