#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two builds of the same sources install the same files, byte for byte: reproducible.sh FOLDER. The sources are in folders of different depth,
# one build folder is among them and the other is not, and the second build is a year later (faketime) and in another time zone. With LODE_CI=full,
# the same holds for the Debian packages, with their debug information.
set -euo pipefail

ci=$(cd "$(dirname "$0")" && pwd)
tree=$(dirname "$ci")
rm -rf --one-file-system "$1"
mkdir -p "$1"
folder=$(cd "$1" && pwd)

# As it is released, and with debug information, which has paths. Optimization takes long, and adds neither paths nor times.
optimization=0
[ "${LODE_CI:-}" != full ] || optimization=3
setup=("-Doptimization=$optimization" -Ddebug=true -Db_ndebug=true --prefix=/usr --libdir=lib -Dmpi=enabled -Dviewer=enabled -Dpython=enabled
    ${LODE_CI_PAGE:+"-Dviewer_page=$LODE_CI_PAGE"})

copy_sources() { # FOLDER
    mkdir -p "$1"
    { git -c safe.directory="$tree" ls-files -z --cached --others --exclude-standard 2>/dev/null ||
        find . -type f -not -path './build*' -not -path './.git/*' -print0; } |
        while IFS= read -r -d '' file; do
            [ ! -f "$file" ] || printf '%s\0' "$file"
        done | xargs -0 cp --parents -t "$1"
}

build() { # SOURCES BUILD ROOT COMMAND...
    "${@:4}" meson setup "$2" "$1" "${setup[@]}"
    "${@:4}" ninja -C "$2"
    DESTDIR=$3 "${@:4}" meson install -C "$2" --no-rebuild --quiet
}

# The Debian packages of a copy of the sources, which are beside it then.
package() { # SOURCES COMMAND...
    # As in a release.
    [ -z "${LODE_CI_PAGE:-}" ] || [ -e "$1/web/dist" ] || cp -r "$LODE_CI_PAGE" "$1/web/dist"
    (cd "$1" && "${@:2}" dpkg-buildpackage -us -uc -b)
}

# What is installed: modes, links and contents.
contents() { # ROOT
    (cd "$1" && find . -type l -printf '%p -> %l\n' && find . -type f -printf '%m ' -exec sha256sum {} \;) | sort -k 3
}

later=()
if command -v faketime >/dev/null; then
    later=(faketime -f +400d)
fi
cd "$tree"
copy_sources "$folder/one"
copy_sources "$folder/two/somewhere/else"
build "$folder/one" "$folder/one/build" "$folder/root1" env
# What a cache has was compiled elsewhere, or by the first build.
build "$folder/two/somewhere/else" "$folder/two/build" "$folder/root2" env CCACHE_DISABLE=1 TZ=Pacific/Auckland "${later[@]}"

contents "$folder/root1" >"$folder/first"
contents "$folder/root2" >"$folder/second"
for name in bin/lode liblode.so lode-view.so lode-tui.so lode-postgresql.so lode-mpi-openmpi.so lode-mpi-mpich.so lode_sqlite.so lode-symbols man1/lode.1; do
    grep -q "/$name" "$folder/first" || { echo "nothing is installed as $name" && exit 1; }
done
if ! diff "$folder/first" "$folder/second"; then
    # Paths are the usual reason.
    grep -rlaF -e "$folder/one" -e "$folder/two" "$folder/root1" "$folder/root2" | sed 's/^/has a path of its build: /' || true
    exit 1
fi
echo "== $(wc -l <"$folder/first") files are byte-identical${later[0]:+, 400 days later}"

if [ "${LODE_CI:-}" = full ]; then
    mkdir "$folder/packages1" "$folder/packages2"
    mv "$folder/one" "$folder/packages1/lode"
    mv "$folder/two/somewhere" "$folder/packages2/somewhere"
    rm -rf "$folder/packages1/lode/build"
    package "$folder/packages1/lode" env
    package "$folder/packages2/somewhere/else" env CCACHE_DISABLE=1 TZ=Pacific/Auckland "${later[@]}"
    (cd "$folder/packages1" && sha256sum ./*.deb) >"$folder/first"
    (cd "$folder/packages2/somewhere" && sha256sum ./*.deb) >"$folder/second"
    grep -q '/lode_.*\.deb$' "$folder/first"
    diff "$folder/first" "$folder/second"
    echo "== $(wc -l <"$folder/first") Debian packages are byte-identical${later[0]:+, 400 days later}"
fi
rm -rf --one-file-system "$folder/one" "$folder/two" "$folder/root1" "$folder/root2" "$folder/packages1" "$folder/packages2"
