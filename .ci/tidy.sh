#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# clang-tidy over the files of a compile database: tidy.sh BUILD-FOLDER [PATTERN | --part K/N]. What it checks is in .clang-tidy.
# With --part: files that changed since LODE_CI_BASE, and the K-th of N parts of all. LODE_CI_BASE is by default where this branch left
# origin/main or, on it, the commit before; without a history, nothing changed.
set -euo pipefail

build=$1
pattern=${2:-.}
fraction=1/1
if [ "$pattern" = --part ]; then
    pattern=.
    fraction=$3
fi

# Changed files, below the root of the sources. The folder may belong to somebody else than who runs this.
changed() {
    local git=(git -c safe.directory="$PWD") head base
    head=$("${git[@]}" rev-parse -q --verify HEAD) || return 0
    base=${LODE_CI_BASE:-$("${git[@]}" merge-base HEAD origin/main 2>/dev/null)} || base=$head
    [ "$base" != "$head" ] || base=$("${git[@]}" rev-parse -q --verify HEAD~1) || return 0
    echo "changed since $base" >&2
    # Files that moved, or include what moved, have not changed.
    "${git[@]}" diff -M -z -I '^[[:space:]]*#[[:space:]]*include' --numstat "$base" |
        python3 -c '
import sys
fields = iter(sys.stdin.read().split("\0"))
for field in fields:
    added, removed, name = (field.split("\t") + ["", ""])[:3]
    if added and not name:  # a move: the old name and the new one follow
        next(fields)
        name = next(fields)
    if added and (added, removed) != ("0", "0"):
        print(name)
' || true
}
mapfile -t changes < <(if [ "$fraction" != 1/1 ]; then changed; fi)
export LODE_TIDY_CHANGED="${changes[*]:-}"

# What sources include that is generated.
ninja -C "$build" -t targets all | sed -n 's/\(\.h\): CUSTOM_COMMAND$/\1/p' | xargs -r ninja -C "$build" >/dev/null

# One entry for each file, whatever the number of programs that it is compiled for: with several, the va_list checker of clang-tidy 14
# mistakes those after the first.
mkdir -p "$build/tidy"
python3 - "$build" <<'PYTHON'
import json, os, sys

with open(os.path.join(sys.argv[1], "compile_commands.json"), encoding="utf-8") as stream:
    entries = {os.path.realpath(os.path.join(entry["directory"], entry["file"])): entry for entry in reversed(json.load(stream))}
with open(os.path.join(sys.argv[1], "tidy", "compile_commands.json"), "w", encoding="utf-8") as stream:
    json.dump(list(entries.values()), stream)
PYTHON

sources() { # library | program | tests
    python3 - "$build" "$pattern" "$1" "$fraction" <<'PYTHON'
import json, os, re, sys, zlib

build, pattern, kind, share = sys.argv[1:]
number, parts = map(int, share.split("/"))
changed = {os.path.realpath(name) for name in os.environ["LODE_TIDY_CHANGED"].split()}
folders = {"library": "/src/(?!cli/|runs/)", "program": "/src/(cli|runs)/", "tests": "/tests/"}
with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as stream:
    entries = json.load(stream)
for file in sorted({os.path.realpath(os.path.join(entry["directory"], entry["file"])) for entry in entries}):
    chosen = file in changed or zlib.crc32(os.path.relpath(file).encode()) % parts == number - 1
    # What is generated is below the build folder.
    is_source = file.endswith(".c") and os.path.relpath(file, os.path.realpath(build)).startswith("..")
    if is_source and chosen and re.search(pattern, file) and re.search(folders[kind], file):
        sys.stdout.write(file + "\0")
PYTHON
}

tidy() { # PART CLANG-TIDY-OPTIONS
    local part=$1
    shift
    # One file at a time, for the same reason.
    sources "$part" | xargs -0 -r -n 1 -P "$(nproc)" clang-tidy -p "$build/tidy" --quiet "$@" 2>&1 |
        sed -E '/^[0-9]+ warnings? generated\.$/d'
}

count=$(for part in library program tests; do sources $part; done | tr -cd '\0' | wc -c)
echo "$count files, part ${fraction%/*} of ${fraction#*/}, ${#changes[@]} changed"
test "$count" -gt 0

# The tests run under the sanitizers, which see more than the analyzer; they may recurse, and multiply small numbers.
status=0
tidy library --checks=concurrency-mt-unsafe || status=1
tidy program || status=1
tidy tests "--checks=-clang-analyzer-*,-misc-no-recursion,-performance-no-int-to-ptr,-bugprone-unused-return-value,\
-bugprone-implicit-widening-of-multiplication-result" || status=1
exit $status
