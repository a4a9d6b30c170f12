#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The dependency rule between the folders of src/, read off the object files with nm. #include lines show which headers a layer
knows; symbols show what it really calls: a function that a public header declares can be defined in a higher layer.
"""

import argparse
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tools"))

from layering import BELOW, KNOWN  # noqa: E402
from tap import Tap  # noqa: E402

LINE = re.compile(r"^(?P<object>[^:]+\.o):(?:[0-9a-f]+| +) (?P<kind>[A-Za-z]) (?P<symbol>\S+)$")


def sources(folder):
    """By the name that Meson gives an object file: the path of its source below src/."""
    return {str(path.relative_to(folder)).replace("/", "_") + ".o": path.relative_to(folder)
            for path in folder.rglob("*.c")}


def read_symbols(nm_lines, known):
    """By source file: the symbols that it defines, and those that it uses."""
    defined, used = {}, defaultdict(set)
    for line in nm_lines:
        match = LINE.match(line)
        source = match and known.get(match["object"].split("/")[-1].split(":")[-1])
        if not source:
            continue
        if match["kind"] == "U":
            used[source].add(match["symbol"])
        elif match["kind"].isupper():
            defined[match["symbol"]] = source
    return defined, used


def unit_of(path):
    """The layer, and the format if it is inside the folder of one."""
    parts = path.parts
    return parts[0], parts[1] if parts[0] == "format" and len(parts) > 2 else None


def complaint(user, owner):
    """What is wrong with a file that uses a symbol of another, or None."""
    (layer, own), (below, other) = unit_of(user), unit_of(owner)
    if layer == below:
        if own and other and other not in (own, KNOWN.get(own)):
            return f"the format {own} may not call the format {other}"
        return None
    return None if below in BELOW.get(layer, ()) else f"{layer} may not call {below}"


def violations(defined, used):
    return sorted(f"{user}: {symbol} of {defined[symbol]}: {why}" for user, symbols in used.items() for symbol in symbols
                  if symbol in defined and (why := complaint(user, defined[symbol])))


def self_test(tap):
    known = {f"{name.replace('/', '_')}.o": Path(name) for name in
             ("base/arena.c", "model/tree.c", "export/store.c", "transform/build.c", "format/uftrace/open.c",
              "format/hpctoolkit/open.c", "format/hpctoolkit_drafts/open.c")}
    text = ["base_arena.c.o:0000000000000000 T arena_alloc", "model_tree.c.o:0000000000000000 T tree_open",
            "export_store.c.o:0000000000000000 T lode_open", "format_uftrace_open.c.o:0000000000000000 T uft_open",
            "format_hpctoolkit_open.c.o:0000000000000000 D hpct_table"]
    sound = ["model_tree.c.o:                 U arena_alloc", "export_store.c.o:                 U tree_open",
             "format_hpctoolkit_drafts_open.c.o:                 U hpct_table", "base_arena.c.o:                 U malloc"]
    tap.check(not violations(*read_symbols(text + sound, known)), "self-test: a sound archive passes")
    for name, line in (("a call upwards", "transform_build.c.o:                 U lode_open"),
                       ("a call from base to the model", "base_arena.c.o:                 U tree_open"),
                       ("a call from one format to another", "format_uftrace_open.c.o:                 U hpct_table")):
        found = violations(*read_symbols(text + sound + [line], known))
        tap.check(len(found) == 1, f"self-test: finds {name}", found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, default=ROOT / "src")
    parser.add_argument("archive", type=Path)
    options = parser.parse_args()
    tap = Tap()
    self_test(tap)
    lines = subprocess.run(["nm", "-A", options.archive], capture_output=True, text=True, check=True).stdout.splitlines()
    known = sources(options.source)
    defined, used = read_symbols((line.removeprefix(f"{options.archive}:") for line in lines), known)
    tap.check(len(used) > 100 and len(defined) > 500, "the archive has symbols of the layers", [len(used), len(defined)])
    found = violations(defined, used)
    tap.check(not found, "no layer calls a higher one", found)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
