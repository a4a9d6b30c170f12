#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Every function that system libraries export is in the rules for kinds, or is declared to compute: exported.py --decide PROGRAM [--write]

exported.txt.xz lists the functions that the libraries of Debian 12 export: a line "@LIBRARY", and a line for each function. On Debian 12, those that are
installed are looked at, too; --write stores their list.
A function is listed if a rule for its name says what it does, or all functions of its library are of one activity. computing.txt declares others.
"""

import argparse
import json
import lzma
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(HERE.parent / "tools"), str(HERE.parent / "answers")]

import kinds  # noqa: E402
from tap import Tap  # noqa: E402

LISTING = HERE / "exported.txt.xz"
FOLDER = Path("/usr/lib/x86_64-linux-gnu")
LIBRARIES = ("ld-linux-x86-64.so.2", "libc.so.6", "libm.so.6", "libmvec.so.1", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1", "libanl.so.1",
             "libresolv.so.2", "libgcc_s.so.1", "libstdc++.so.6", "libc++.so.1", "libc++abi.so.1", "libgomp.so.1", "libomp.so.5", "libmpi.so.40",
             "libmpich.so.12", "libz.so.1", "libsqlite3.so.0", "libssl.so.3", "libcrypto.so.3")
OF_ONE_ACTIVITY = {"libgomp.so.1": "omp", "libomp.so.5": "omp", "libmpi.so.40": "mpi", "libmpich.so.12": "mpi"}


def stored():
    """{library: functions}"""
    found = {}
    for line in lzma.decompress(LISTING.read_bytes()).decode().splitlines():
        if line.startswith("@"):
            functions = found.setdefault(line[1:], [])
        else:
            functions.append(line)
    return found


def installed(library):
    """The functions that a library of this machine exports."""
    run = subprocess.run(["nm", "-D", "--defined-only", FOLDER / library], capture_output=True, text=True, check=True)
    return sorted({match[1] for match in re.finditer(r"^[0-9a-f]+ [TWi] ([^@\n]+)", run.stdout, re.MULTILINE)})


def is_debian_12():
    path = Path("/etc/os-release")
    return path.exists() and re.search(r'VERSION_ID="12"', path.read_text()) and re.search("^ID=debian", path.read_text(), re.MULTILINE)


class Computing:
    """What computing.txt declares: {library: {word: expression}}."""

    def __init__(self):
        self.words, self.used = {}, set()
        for line in (HERE / "computing.txt").read_text().splitlines():
            if match := re.fullmatch(r"(\S+):", line):
                words = self.words.setdefault(match[1], {})
            elif line and not line.startswith("#"):
                words.update((word, re.compile(re.escape(word).replace(r"\*", ".*")) if "*" in word else None) for word in line.split())

    def declares(self, library, name):
        words = self.words.get(library, {})
        found = [name] if name in words else [word for word, expression in words.items() if expression and expression.fullmatch(name)]
        self.used.update((library, word) for word in found)
        return bool(found)

    def unused(self):
        return [f"{library}: {word}" for library, words in self.words.items() for word in words if (library, word) not in self.used]


def decide(program, functions):
    """[(library, name, what decided, activity, effect, scoped name)]"""
    text = "".join(f"{FOLDER}/{library}\t{name}\n" for library, name in functions)
    run = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in run.stdout.splitlines()]
    return [(*function, decided, activity, effect, scoped) for function, (decided, activity, effect, _, scoped) in zip(functions, rows, strict=True)]


def lost_words(program):
    """Names and scopes of the rules that do not decide about a function of that name."""
    places = {word: "libcrypto.so.3" if rule[0] == "INSIDE" else "libx.so.1" for word, rule in kinds.words().items()}
    text = "".join(f"{FOLDER / place}\t{word.replace('::*', '::any')}\n" for word, place in places.items())
    run = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    return [word for word, line in zip(places, run.stdout.splitlines(), strict=True) if line.split("\t")[3] != word]


def check_documents(tap, figures):
    """Documents, help and schema have the words and figures of the rules."""
    text = (ROOT / "doc" / "kinds.md").read_text()
    table = [line for line in text.splitlines() if re.match(r"\| (lib|ld-)\S+ \| [\d,]+ \|", line)]
    tap.check(table == figures, "doc/kinds.md has the numbers of functions", figures)
    words = re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE)
    effects = [effect for effect in words if effect not in kinds.TITLES]
    tap.check(effects == list(kinds.EFFECTS.values()), "doc/kinds.md has all effects", effects)
    shown = json.loads((ROOT / "doc" / "schemas" / "lode-top-list.json").read_text())["properties"]["rows"]["items"]["properties"]
    activities = [name for _, name in kinds.ACTIVITIES.values()]
    tap.check((shown["activity"]["enum"], shown["effect"]["enum"]) == (activities, effects), "the schema has all activities and effects")
    page = (ROOT / "src" / "cli" / "help" / "diagnose.txt").read_text()
    listed = [re.findall(r"[a-z-]+", re.search(rf"{title}: ([^.]*)\.", page)[1]) for title in ("Activities", "Effects")]
    tap.check(listed == [activities, effects[1:]], "'lode help diagnose' has all activities and effects", listed)


def state_of(row, computing):
    library, name, decided, activity, effect, scoped = row
    if activity == OF_ONE_ACTIVITY.get(library):
        return "listed"
    if decided == "name":
        return "listed" if effect != "none" or activity not in ("lib", "loader", "math") else "computing"
    return "computing" if computing.declares(library, scoped or name) or computing.declares(library, name) else "unknown"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--decide", required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.write:
        text = "".join(f"@{library}\n" + "".join(f"{name}\n" for name in installed(library)) for library in LIBRARIES)
        LISTING.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    tap, computing, listing = Tap(), Computing(), stored()
    functions = [(library, name) for library in listing for name in listing[library]]
    figures, states = [], {"listed": {}, "computing": {}, "unknown": {}}
    for row in decide(options.decide, functions):
        states[state_of(row, computing)].setdefault(row[0], []).append(row[1])
    for library in listing:
        counts = {state: len(found.get(library, ())) for state, found in states.items()}
        tap.check(counts["unknown"] == 0, f"{library}: {len(listing[library])} functions: {counts['listed']} listed, {counts['computing']} computing",
                  states["unknown"].get(library, ())[:40])
        figures.append(f"| {library} | {len(listing[library]):,} | {counts['listed']:,} | {counts['computing']:,} |")
    check_documents(tap, figures)
    lost = lost_words(options.decide)
    tap.check(not lost, f"{len(kinds.words()):,} names and scopes of the rules decide", lost[:40])
    unused = computing.unused()
    tap.check(not unused, "every declaration means a function", unused[:40])
    here = [library for library in LIBRARIES if is_debian_12() and (FOLDER / library).exists()]
    if here:
        new = [(library, name) for library in here for name in sorted(set(installed(library)) - set(listing.get(library, ())))]
        unknown = [f"{row[0]}: {row[1]}" for row in decide(options.decide, new) if state_of(row, computing) == "unknown"]
        tap.check(not unknown, f"{len(here)} installed libraries: {len(new)} functions that are not stored, none unknown", unknown[:40])
    else:
        tap.skip("installed libraries", "this is no Debian 12")
    invented = decide(options.decide, [("libc.so.6", "brand_new_function"), ("libstdc++.so.6", "_ZNSt9brand_new8functionEv")])
    tap.check(all(state_of(row, computing) == "unknown" for row in invented), "a new function is unknown")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
