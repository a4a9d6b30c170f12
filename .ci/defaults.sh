#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What a user gets who runs `meson setup` without options: defaults.sh FOLDER. No tests and nothing that only tests need is asked for, and
# a warning of a newer compiler does not end the build. Then a program without the libraries that are optional: it says what is missing.
set -euo pipefail

rm -rf "$1"
mkdir -p "$1"
folder=$(cd "$1" && pwd)

# Says what Meson asks for, and has nothing of what is for tests.
cat >"$folder/pkg-config" <<SH
#!/bin/bash
echo "\$*" >>'$folder/asked'
for word; do
    case \$word in cmocka | libcbor) exit 1 ;; esac
done
exec pkg-config "\$@"
SH
chmod +x "$folder/pkg-config"

PKG_CONFIG="$folder/pkg-config" meson setup "$folder/user"
grep -q expat "$folder/asked" # it is this pkg-config that Meson asks
if grep -E 'cmocka|libcbor' "$folder/asked"; then
    echo "a plain 'meson setup' asks for what only tests need"
    exit 1
fi
# The tests do.
PKG_CONFIG="$folder/pkg-config" meson setup "$folder/tests" -Dtests=true >"$folder/tests.log" 2>&1 || true
grep -q cmocka "$folder/asked"

python3 - "$folder/user" <<'PYTHON'
import json, subprocess, sys

def introspect(what):
    return json.loads(subprocess.run(["meson", "introspect", what, sys.argv[1]], check=True, capture_output=True).stdout)

options = {option["name"]: option["value"] for option in introspect("--buildoptions")}
assert options["werror"] is False and options["tests"] is False and options["fuzz"] is False, options
assert introspect("--tests") == []
PYTHON

# Without what is optional: messages name what is missing, and tests of exports skip what needs it.
meson setup -Doptimization=0 -Ddebug=false -Dman=false -Dmpi=disabled -Dlibdeflate=disabled -Dzstd=disabled -Dotf2=disabled -Dsqlite=disabled \
    -Dviewer=disabled -Dtui=disabled "$folder/without" >"$folder/without.log"
meson compile -C "$folder/without" src/cli/lode >>"$folder/without.log" || (tail -n 50 "$folder/without.log" && exit 1)
without() { # SCRIPT ARGUMENTS...
    echo "== $*"
    PYTHONPATH=tests/tools LODE_SHARE=1/64 python3 "tests/export/$1" --lode "$folder/without/src/cli/lode" "${@:2}" | tee "$folder/output"
}
cd "$(dirname "$0")/.."
without without.py --without
without traps.py --seeds 1
grep -q '# SKIP this build does not write them' "$folder/output"
without collisions.py
grep -q '# SKIP this build does not write them' "$folder/output"
