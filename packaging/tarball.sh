#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A tarball for login nodes: tarball.sh [OUTPUT-DIRECTORY]. Unpack it anywhere and run bin/lode.
#
# The program is linked statically, the C library included: it needs Linux 3.2 or newer on this architecture, and no library of the machine.
# It cannot load MPI plug-ins, which are shared libraries: for 'mpirun lode build', build from source with the MPI of the machine, or install
# the packages. The tarball has the program, its manual pages and shell completions, the static library with its headers and pkg-config file,
# and the documents.
#
# 'lode view' is in it: the server is linked, and so is its page, which npm builds unless there is one (web/dist).
#
# Needs what a build needs, with static libraries: Debian's -dev packages have them. LODE_SETUP has more arguments of 'meson setup'.
set -euo pipefail

tree=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${1:-.}"
output=$(cd "${1:-.}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" "$tree/meson.build" | head -n 1)
name=lode-$version-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)
# The time of what is packed, if it is known: the same sources give the same tarball.
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
    SOURCE_DATE_EPOCH=$(git -c safe.directory="$tree" -C "$tree" log -1 --format=%ct 2>/dev/null || date +%s)
fi
export SOURCE_DATE_EPOCH

meson setup "$work/build" "$tree" --prefix="/$name" --libdir=lib --buildtype=release -Ddefault_library=static -Dprefer_static=true \
    -Dc_link_args=-static -Db_pie=false -Dmpi=disabled -Dsqlite=enabled -Dpostgresql=disabled -Dotf2=disabled -Dviewer=enabled ${LODE_CI_PAGE:+"-Dviewer_page=$LODE_CI_PAGE"} \
    -Dpkgconfig.relocatable=true ${LODE_SETUP:-}
meson compile -C "$work/build"
DESTDIR=$work/root meson install -C "$work/build" --no-rebuild
root=$work/root/$name
strip "$root/bin/lode"
mkdir -p "$root/share/doc/lode"
cp "$tree/README.md" "$tree/LICENSE" "$tree/CHANGELOG.md" "$root/share/doc/lode/"

# Nothing of the machine is left to load.
if readelf -d "$root/bin/lode" | grep -E 'NEEDED|RPATH|RUNPATH' || readelf -l "$root/bin/lode" | grep INTERP; then
    echo "bin/lode is not static"
    exit 1
fi
tar -C "$work/root" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -c "$name" |
    gzip -n -9 >"$output/$name.tar.gz"
(cd "$output" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
echo "$output/$name.tar.gz"
