#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What a user gets who runs `meson setup` without options: defaults.sh FOLDER. No tests and nothing that only tests need is asked for, and
# a warning of a newer compiler does not end the build. Then a program without the libraries that are optional: it says what is missing.
# A release builds with its page where there is no npm; without both, `lode view` says so.
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
meson setup -Doptimization=0 -Ddebug=false -Dman=false -Dmpi=disabled -Dlibdeflate=disabled -Dzstd=disabled -Dlzma=disabled -Dbzip2=disabled -Dotf2=disabled -Dsqlite=disabled -Dsymbols=disabled \
    -Dviewer=disabled -Dtui=disabled -Dpostgresql=disabled "$folder/without" >"$folder/without.log"
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

# The program above has no page; the plug-in is that of the plain build.
ninja -C "$folder/user" src/view/lode-view.so >>"$folder/without.log"
echo "== lode view without a page"
LODE_PLUGINS="$folder/user/src/view" python3 tests/view/server/pageless.py --lode "$folder/without/src/cli/lode"

# A release without npm. Packages and page are those that were made for all steps.
if [ -n "${LODE_CI_PAGE:-}" ]; then
    mkdir -p "$folder/user/web"
    cp -r "$(dirname "$LODE_CI_PAGE")" "$folder/user/web/page"
    meson dist -C "$folder/user" --no-tests --allow-dirty --formats gztar >"$folder/dist.log" 2>&1 || (tail -n 50 "$folder/dist.log" && exit 1)
    tar -C "$folder" -xzf "$folder"/user/meson-dist/lode-*.tar.gz
    printf "[binaries]\nnpm = '%s'\n" "$folder/no-npm" >"$folder/native.ini"
    meson setup --native-file "$folder/native.ini" -Dman=false "$folder/release" "$folder"/lode-*/ | grep -F 'page of lode view' | tee "$folder/output"
    grep -q 'web/dist' "$folder/output"
    ninja -C "$folder/release" web/page.c >>"$folder/dist.log"
    cmp <(python3 web/embed.py /dev/stdout "$LODE_CI_PAGE") "$folder/release/web/page.c"
    echo "== a release has the page without npm"
fi
