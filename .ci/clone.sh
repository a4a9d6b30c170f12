#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What somebody gets who clones the repository: clone.sh LOG-FOLDER [bare]. A clone with nothing beside it, built and tested as CONTRIBUTING.md says, by a
# user who is not root. No test may fail; those that skip are listed with their reasons. `bare`: in a Debian 12 of its own that has what
# building the Debian packages needs, cmocka and libcbor: what CONTRIBUTING.md asks for.
set -euo pipefail

ci=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$ci")
rm -rf "$1"
mkdir -p "$1"
logs=$(cd "$1" && pwd)
scratch=$(mktemp -d /tmp/lode-clone.XXXXXX)
trap 'rm -rf --one-file-system "$scratch"' EXIT
inside=$scratch # where the same folder is for the commands below
enter=()
if [ "${2:-}" = bare ]; then
    . "$ci/roots.sh"
    bare=$scratch/bare
    make_root "$bare" bookworm apt
    scratch=$bare/clone
    inside=/clone
    enter=(in_root "$bare")
    mkdir "$scratch"
fi
mkdir "$scratch/home" "$scratch/tmp"
# The repository may belong to somebody else than who runs this.
git config --file "$scratch/home/.gitconfig" safe.directory '*'
HOME="$scratch/home" git clone -q --no-hardlinks "$root" "$scratch/lode"
user=()
if [ "$(id -u)" = 0 ]; then
    chown -R nobody: "$scratch"
    user=(setpriv --reuid nobody --regid nogroup --clear-groups)
fi

cache=${CCACHE_DIR:-$HOME/.cache/ccache}
compiler=gcc options=()
if [ "${#enter[@]}" != 0 ]; then
    "${enter[@]}" apt-get update
    "${enter[@]}" apt-get build-dep -y --no-install-recommends "$inside/lode"
    "${enter[@]}" apt-get install -y --no-install-recommends libcmocka-dev libcbor-dev
else
    # Objects that other steps have compiled, if this user may read them.
    if command -v ccache >/dev/null && "${user[@]}" test -r "$cache" -a -x "$cache"; then
        compiler="ccache gcc"
    fi
    if [ -n "${LODE_CI_PAGE:-}" ] && [ -d "$LODE_CI_PAGE" ]; then
        cp -r "$LODE_CI_PAGE" "$scratch/page"
        chmod -R a+rX "$scratch/page"
        options=("-Dviewer_page=$scratch/page")
    fi
fi
env=(env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$inside/home" TMPDIR="$inside/tmp" LC_ALL=C.UTF-8 CC="$compiler"
    CCACHE_DIR="$cache" CCACHE_READONLY=1 CCACHE_TEMPDIR="$inside/tmp" CCACHE_BASEDIR="$inside/lode" CCACHE_NOHASHDIR=1)

run() {
    "${enter[@]}" "${user[@]}" "${env[@]}" sh -ec 'cd "$0" && exec "$@"' "$inside/lode" "$@"
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
