#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The dependency law between the folders of src/, read off the #include lines.

The table BELOW says what each folder may include besides itself; doc/architecture.md shows it (tests/doc/layers.py). Everybody
may include the public headers. What stands on the public API (cli, sql, runs) includes nothing of the library
but them, and headers of its own folder with paths that begin there ("text/label.h" in src/cli). One format knows
nothing of another, but for drafts: they know the format that they are drafts of. Only comm_mpi.c knows MPI, only view_microhttpd.c the HTTP library, and only src/postgresql libpq; they are plug-ins, which know the interface that they implement and nothing else.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from public_api import without_comments  # noqa: E402
from tap import Tap  # noqa: E402

# What each layer may include besides itself.
BELOW = {
    "base": set(),
    "model": {"base"},
    "format": {"base", "model"},
    "analysis": {"base", "model"},
    "table": {"base", "model", "format", "analysis"},
    "transform": {"base", "model", "format", "analysis"},
    "export": {"base", "model", "format", "analysis", "table"},
    "cli": set(),
    "sql": set(),
    "view": set(),
    "tui": set(),
    "runs": set(),
    "postgresql": set(),
    "mpi": set(),
    "symbols": set(),
}
# What stands on the public API, and knows nothing else of the library.
ON_THE_API = {"cli", "sql", "runs"}
# What of them others of them may include.
SHARED = {"runs/backend.h", "runs/catalogue.h", "sql/sql.h"}
OF_PLUGINS = {"mpi": "base/comm/comm.h", "symbols": "format/hpcrun/scopes/binary_protocol.h", "view": "cli/view/transport.h", "tui": "cli/tui/screen.h", "postgresql": "runs/backend.h"}
# Formats that may know another: drafts of it, or what is analysed as it is.
KNOWN = {"hpctoolkit_drafts": "hpctoolkit", "perf": "hpcrun", "pprof": "hpcrun"}
GENERATED = {"lode_version.h", "schema_text.h"}
# What each folder has, in a line that fits into a box.
CONTENT = {
    "base": "byte ranges, arenas, interner, mapped input, atomic output, worker pool, communicators",
    "model": "content tree, metrics, blocks, trace lines, recordings, findings, profile sources, sinks, tables",
    "format": "one folder for each input format, and the registry",
    "analysis": "costs, calls, trees, times, comparison, diagnosis",
    "table": "tables, scans, streams",
    "transform": "pumps from profile sources to sinks",
    "export": "formats of other tools",
    "cli": "commands, options, output",
    "sql": "tables as SQL",
    "runs": "the catalogue of runs",
    "mpi": "ranks of an MPI job",
    "symbols": "names, lines and loops of binaries",
    "view": "HTTP for the page",
    "tui": "the terminal",
    "postgresql": "catalogues of runs on a server",
}

INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b[ \t]*([^\n]*)", re.MULTILINE)


def includes(path):
    """(line, target as written) of every #include."""
    text = without_comments(path.read_text(encoding="utf-8"))
    return [(text.count("\n", 0, m.start()) + 1, m.group(1).strip()) for m in INCLUDE.finditer(text)]


def _format_of(path):
    """hpctoolkit for format/hpctoolkit/wire.h; None for what is not inside one format's folder."""
    return path.parts[1] if len(path.parts) > 2 and path.parts[0] == "format" else None


def complaint(source, path, written):
    """What is wrong with one include of the file `path` (relative to the folder `source`), or None."""
    match = re.fullmatch(r'<([^>]+)>|"([^"]+)"', written)
    if not match:
        return "an include that is computed"
    if match.group(1):
        if match.group(1) == "mpi.h" and path.name != "comm_mpi.c":
            return "only comm_mpi.c may include mpi.h"
        if match.group(1) == "curses.h" and path.name != "screen_ncurses.c":
            return "only screen_ncurses.c may include curses.h"
        if match.group(1).startswith(("elfutils/", "gelf.h", "libelf.h", "dwarf.h")) and path.parts[0] != "symbols":
            return "only src/symbols may include headers of elfutils"
        if match.group(1) == "libpq-fe.h" and path.parts[0] != "postgresql":
            return "only src/postgresql may include libpq-fe.h"
        if match.group(1) == "microhttpd.h" and path.name != "view_microhttpd.c":
            return "only view_microhttpd.c may include microhttpd.h"
        return None
    target = Path(match.group(2))
    layer = path.parts[0]
    if target.parts[0] == "lode":
        return "a public header is included with <>"
    if len(target.parts) == 1:
        if (source / (layer if layer in ON_THE_API else path.parent) / target).is_file() or (target.name in GENERATED and layer not in ON_THE_API):
            return None
        return "a header that is not in the same folder"
    if layer in ON_THE_API and (str(target) in SHARED or target.parts[0] == layer in ("runs", "sql")) and (source / target).is_file():
        return None
    if layer in ON_THE_API and (source / layer / target).is_file() and ".." not in target.parts:
        return None
    if ".." in target.parts or not (source / target).is_file():
        return "a header that is not in src/"
    if layer in OF_PLUGINS:
        return None if str(target) == OF_PLUGINS[layer] or target.parts[0] == layer else "a plug-in knows itself and its interface only"
    if layer in ON_THE_API:
        return f"{layer} includes only <lode/...> and headers of its own folder"
    below = target.parts[0]
    if below != layer and below not in BELOW[layer]:
        return f"{layer} may not know {below}"
    known = {_format_of(path), KNOWN.get(_format_of(path))}
    if _format_of(path) and _format_of(target) and _format_of(target) not in known:
        return f"the format {_format_of(path)} may not know the format {_format_of(target)}"
    return None


def violations(source):
    """All violations below the folder `source`, and the number of includes that were read."""
    found, count = [], 0
    for file in sorted(source.rglob("*.[ch]")):
        path = file.relative_to(source)
        if len(path.parts) == 1 or path.parts[0] not in BELOW:
            found.append(f"{path}: belongs to no layer")
            continue
        for line, written in includes(file):
            count += 1
            why = complaint(source, path, written)
            if why:
                found.append(f"{path}:{line}: {written}: {why}")
    return found, count


SOUND_TREE = {
    "base/memory/arena.h": "#include <lode/status.h>\n#include <stddef.h>\n",
    "base/memory/arena.c": '#include "base/memory/arena.h"\n/* #include "model/database/context.h" */\n',
    "model/database/context.h": '#include "base/memory/arena.h"\n',
    "format/format.h": '#include "model/database/context.h"\n',
    "format/registry.c": '#include "format/format.h"\n#include "format/hpctoolkit/wire.h"\n',
    "format/hpctoolkit/wire.h": '#include "format/format.h"\n',
    "format/hpctoolkit_drafts/wire.h": '#include "format/hpctoolkit/wire.h"\n',
    "format/uftrace/wire.h": '#  include "base/memory/arena.h"\n#include "wire.h"\n',
    "analysis/diff.h": '#include "model/database/context.h"\n',
    "base/comm/comm.h": '#include "base/memory/arena.h"\n',
    "transform/build/build.h": '#include "base/comm/comm.h"\n#include "format/format.h"\n',
    "mpi/comm_mpi.c": '#include <mpi.h>\n#include "base/comm/comm.h"\n',
    "export/pprof.h": '#include "analysis/diff.h"\n',
    "transform/open.c": '#include "transform/build/build.h"\n#include "lode_version.h"\n',
    "cli/options.h": "#include <lode/lode.h>\n",
    "cli/text/label.c": '#include "options.h"\n#include "text/label.h"\n',
    "cli/text/label.h": "#include <lode/lode.h>\n",
    "runs/catalogue.h": "#include <stdint.h>\n",
    "runs/sqlite/database.h": '#include "runs/catalogue.h"\n#include <sqlite3.h>\n',
    "cli/runs.h": '#include "runs/catalogue.h"\n',
    "cli/main.c": '#include "options.h"\n#include <stdio.h>\n',
}
# One more file or line each, which must be found.
BROKEN = [
    ("a lower layer that knows a higher one", "base/bad.c", '#include "model/database/context.h"\n'),
    ("the model that knows a format", "model/bad.c", '#include "format/format.h"\n'),
    ("a format that knows analysis", "format/hpctoolkit/bad.c", '#include "analysis/diff.h"\n'),
    ("analysis that knows a format", "analysis/bad.c", '#include "format/format.h"\n'),
    ("a format that knows another", "format/uftrace/bad.c", '#include "format/hpctoolkit/wire.h"\n'),
    ("a format that knows its drafts", "format/hpctoolkit/bad.c", '#include "format/hpctoolkit_drafts/wire.h"\n'),
    ("drafts that know a format that is not theirs", "format/hpctoolkit_drafts/bad.c",
     '#include "format/uftrace/wire.h"\n'),
    ("transform and export that know each other", "transform/bad.c", '#include "export/pprof.h"\n'),
    ("a layer that knows the commands", "transform/bad.c", '#include "cli/options.h"\n'),
    ("the commands that know the inside", "cli/bad.c", '#include "base/memory/arena.h"\n'),
    ("the commands that name themselves by layer", "cli/bad.c", '#include "cli/options.h"\n'),
    ("the commands that know a generated header", "cli/bad.c", '#include "lode_version.h"\n'),
    ("the commands that know the inside of the catalogue", "cli/bad.c", '#include "runs/sqlite/database.h"\n'),
    ("the catalogue that knows the library", "runs/bad.c", '#include "base/memory/arena.h"\n'),
    ("a viewer that knows the inside", "view/bad.c", '#include "base/memory/arena.h"\n'),
    ("a database outside its plug-in", "runs/bad.c", "#include <libpq-fe.h>\n"),
    ("mpi.h outside comm_mpi.c", "transform/bad.c", "#include <mpi.h>\n"),
    ("a plug-in that knows more than its interface", "mpi/bad.c", '#include "base/memory/arena.h"\n'),
    ("a way around by ..", "format/uftrace/bad.c", '#include "../hpctoolkit/wire.h"\n'),
    ("a public header in quotes", "transform/bad.c", '#include "lode/lode.h"\n'),
    ("a computed include", "base/bad.c", "#include HEADER\n"),
    ("a file outside all layers", "common/bad.c", "#include <stdio.h>\n"),
    ("a header that is not there", "transform/bad.c", '#include "base/gone.h"\n'),
]


def _write_tree(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def self_test(tap):
    with tempfile.TemporaryDirectory() as folder:
        _write_tree(Path(folder), SOUND_TREE)
        found, _ = violations(Path(folder))
        tap.check(not found, "self-test: a sound tree passes", found)
    for name, path, text in BROKEN:
        with tempfile.TemporaryDirectory() as folder:
            _write_tree(Path(folder), {**SOUND_TREE, path: text})
            found, _ = violations(Path(folder))
            tap.check(len(found) == 1 and found[0].startswith(path), f"self-test: finds {name}", found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, default=ROOT / "src")
    options = parser.parse_args()
    tap = Tap()
    self_test(tap)
    found, count = violations(options.source)
    tap.check(not found and count > 0, f"src: {count} includes keep the dependency law", found)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
