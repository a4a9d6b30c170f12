#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The Python package as a wheel: wheel.sh BUILD-FOLDER FOLDER. Builds it from the files of this tree, not optimized, because that takes long;
# installs it into an environment of every Python at hand, where there is no numpy, and has it answer what the program of BUILD-FOLDER answers.
set -euo pipefail

ci=$(cd "$(dirname "$0")" && pwd)
tree=$(dirname "$ci")
lode=$(cd "$1" && pwd)/src/cli/lode
rm -rf "$2"
mkdir -p "$2/lode"
folder=$(cd "$2" && pwd)

# meson-python writes into the tree.
cd "$tree"
{ git -c safe.directory="$tree" ls-files -z --cached --others --exclude-standard 2>/dev/null ||
    find . -type f -not -path './build*' -not -path './.git/*' -print0; } |
    while IFS= read -r -d '' file; do
        [ ! -f "$file" ] || printf '%s\0' "$file"
    done | xargs -0 cp --parents -t "$folder/lode"
[ ! -d /usr/lib/ccache ] || PATH=/usr/lib/ccache:$PATH
(cd "$folder/lode" && /usr/bin/python3 -m build --wheel --no-isolation --outdir "$folder" -Csetup-args=-Doptimization=0 -Csetup-args=-Ddebug=false .) \
    >"$folder/build.log" 2>&1 || (tail -n 50 "$folder/build.log" && exit 1)
wheel=$(ls "$folder"/lode-*.whl)
echo "== $(basename "$wheel")"
case $wheel in *-cp311-abi3-*) ;; *) exit 1 ;; esac

cd "$folder"
"$lode" example demo >/dev/null
"$lode" top demo/solver --json >top.json
cat >answer.py <<'PYTHON'
import json, sys

import lode

assert "numpy" not in sys.modules
with lode.open("demo/solver") as db:
    rows = json.load(open("top.json"))["rows"]
    assert [row.exclusive for row in db.top().head(len(rows))] == [row["exclusive"] for row in rows] != []
    assert sum(db.table("value", profile_id=3)["value"]) > 0
    assert len(db.flame()) > 0 and db.timeline().to_png()
    assert db.sql("select count(*), median(value) from value").to_dicts()[0]["count(*)"] == len(db.table("value"))
assert lode.check("demo/solver") and len(lode.open("demo/thumbs").calls()) > 0
print(f"== Python {sys.version.split()[0]}: the wheel answers as the program does")
PYTHON
count=0
for python in /usr/bin/python3 "${HOME:-/root}"/.pyenv/versions/*/bin/python3; do
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        continue
    fi
    count=$((count + 1))
    "$python" -m venv "environment$count"
    "environment$count/bin/python" -m pip install --quiet --disable-pip-version-check --no-index "$wheel"
    "environment$count/bin/python" -I answer.py
done
test $count -gt 0
rm -rf "$folder/lode" environment*
