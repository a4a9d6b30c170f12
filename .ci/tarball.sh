#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The tarball for login nodes: tarball.sh FOLDER. Builds it, unpacks it in a clean Debian 11, whose libraries are older than those that it was
# built with, and types every command of README and tutorial there.
set -euo pipefail

ci=$(cd "$(dirname "$0")" && pwd)
tree=$(dirname "$ci")
. "$ci/roots.sh"
rm -rf --one-file-system "$1"
mkdir -p "$1"
folder=$(cd "$1" && pwd)
root=$folder/root

[ ! -d /usr/lib/ccache ] || PATH=/usr/lib/ccache:$PATH
# What is tested here does not depend on optimization, which takes long.
[ "${LODE_CI:-}" = full ] || export LODE_SETUP=-Doptimization=0
bash "$tree/packaging/tarball.sh" "$folder"
(cd "$folder" && sha256sum -c ./*.sha256)
name=$(basename "$folder"/lode-*.tar.gz .tar.gz)
tar -C "$folder" -xzf "$folder/$name.tar.gz"
here=$folder/$name
test "$(find "$here" -name '*.so*' | wc -l)" = 0
"$here/bin/lode" version
# man finds the pages beside the program; pkg-config finds the library wherever it is.
test "$(PATH="$here/bin:$PATH" man -w lode)" -ef "$here/share/man/man1/lode.1"
PKG_CONFIG_PATH=$here/lib/pkgconfig pkg-config --static --libs lode | grep -F "$here"

make_root "$root" bullseye apt --include=python3,jq
in_root "$root" ldd --version | head -n 1
mv "$here" "$root/opt/lode"
mkdir -p "$root/documents/tests"
cp -r "$tree/README.md" "$tree/doc" "$root/documents/"
cp -r "$tree/tests/doc" "$root/documents/tests/"
in_root "$root" /opt/lode/bin/lode version
in_root "$root" sh -ec 'cd /documents && PATH="/opt/lode/bin:$PATH" python3 tests/doc/follow.py'
# A login node has nothing but the tarball, and python3 for this test.
in_root "$root" sh -ec 'cd /tmp && /opt/lode/bin/lode example demo >/dev/null && PATH="/opt/lode/bin:$PATH" python3 /documents/tests/doc/view.py demo/solver'
echo "== the tarball answers as its documents say in Debian 11 ($(in_root "$root" ldd --version | head -n 1))"
rm -rf --one-file-system "$root"
