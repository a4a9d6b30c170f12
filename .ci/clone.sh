#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What somebody gets who clones the repository: clone.sh LOG-FOLDER. A clone with nothing beside it, built and tested as CONTRIBUTING.md says, by a
# user who is not root. No test may fail; those that skip are listed with their reasons.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
rm -rf "$1"
mkdir -p "$1"
logs=$(cd "$1" && pwd)
scratch=$(mktemp -d /tmp/lode-clone.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/home" "$scratch/tmp"
# The repository may belong to somebody else than who runs this.
git config --file "$scratch/home/.gitconfig" safe.directory '*'
HOME="$scratch/home" git clone -q --no-hardlinks "$root" "$scratch/lode"
user=()
if [ "$(id -u)" = 0 ]; then
    chown -R nobody: "$scratch"
    user=(setpriv --reuid nobody --regid nogroup --clear-groups)
fi

# Objects that other steps have compiled, if this user may read them.
cache=${CCACHE_DIR:-$HOME/.cache/ccache}
compiler=gcc
if command -v ccache >/dev/null && "${user[@]}" test -r "$cache" -a -x "$cache"; then
    compiler="ccache gcc"
fi
env=(env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$scratch/home" TMPDIR="$scratch/tmp" LC_ALL=C.UTF-8 CC="$compiler"
    CCACHE_DIR="$cache" CCACHE_READONLY=1 CCACHE_TEMPDIR="$scratch/tmp" CCACHE_BASEDIR="$scratch/lode" CCACHE_NOHASHDIR=1)
options=()
if [ -n "${LODE_CI_PAGE:-}" ] && [ -d "$LODE_CI_PAGE" ]; then
    cp -r "$LODE_CI_PAGE" "$scratch/page"
    chmod -R a+rX "$scratch/page"
    options=("-Dviewer_page=$scratch/page")
fi

run() {
    (cd "$scratch/lode" && "${user[@]}" "${env[@]}" "$@")
}
run meson setup build -Dtests=true --werror "${options[@]}"
run meson compile -C build
status=0
begin=$SECONDS
run meson test -C build --timeout-multiplier 10 --print-errorlogs || status=$?
seconds=$((SECONDS - begin))
cp "$scratch"/lode/build/meson-logs/testlog*.json "$logs/tests.json"
python3 - "$logs/tests.json" $seconds <<'PYTHON'
import json, re, sys
from collections import Counter

results, reasons = Counter(), Counter()
for line in open(sys.argv[1], encoding="utf-8"):
    test = json.loads(line)
    results[test["result"]] += 1
    name, output = test["name"].split(" / ")[-1], test.get("stdout", "")
    for what, reason in re.findall(r"^(?:ok \d+(?: -)?|1\.\.0)(.*?)# SKIP *(.*)$", output, re.M):
        reasons[f"skip: {name}: {' '.join(filter(None, (what.strip(), reason.strip())))}"] += 1
for line, count in reasons.items():
    print(line)
print(f"== {sum(results.values())} test programs of a clean clone in {sys.argv[2]} s:", ", ".join(f"{count} {word}" for word, count in results.items()))
PYTHON
exit $status
