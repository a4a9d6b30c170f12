#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The Debian packages: debian.sh FOLDER. Builds them from the files of this tree, checks them with lintian, and makes a clean Debian 12,
# where a new user installs the program, and then all of them; runs the tests of debian/tests there; and removes all, so that nothing stays.
set -euo pipefail

ci=$(cd "$(dirname "$0")" && pwd)
tree=$(dirname "$ci")
. "$ci/roots.sh"
rm -rf --one-file-system "$1"
mkdir -p "$1/build/lode"
folder=$(cd "$1" && pwd)
root=$folder/root
begin=$SECONDS
lap() {
    echo "== $*, after $((SECONDS - begin)) s"
}

cd "$tree"
{ git -c safe.directory="$tree" ls-files -z --cached --others --exclude-standard 2>/dev/null ||
    find . -type f -not -path './build*' -not -path './.git/*' -print0; } |
    while IFS= read -r -d '' file; do
        [ ! -f "$file" ] || printf '%s\0' "$file"
    done | xargs -0 cp --parents -t "$folder/build/lode"
cd "$folder/build/lode"
# As in a release.
[ -z "${LODE_CI_PAGE:-}" ] || cp -r "$LODE_CI_PAGE" web/dist
test "$(dpkg-parsechangelog -S Version)" = "$(sed -n "s/^ *version: '\(.*\)',/\1/p" meson.build | head -n 1)"
[ ! -d /usr/lib/ccache ] || PATH=/usr/lib/ccache:$PATH
# What is tested here does not depend on optimization, which takes long.
[ "${LODE_CI:-}" = full ] || export DEB_BUILD_OPTIONS="noopt noautodbgsym"
dpkg-buildpackage -us -uc -b
cd ..
lap "the packages are built"
for package in lode liblode1 liblode-dev lode-mpi-openmpi lode-mpi-mpich lode-postgresql lode-view python3-lode; do
    ls "$package"_*.deb
done
lintian --allow-root --fail-on error ./*.changes
lap "lintian has no errors"

# A new user has the program alone.
make_root "$root" bookworm apt
lap "there is a clean Debian 12"
in_root "$root" apt-get update
mkdir "$root/packages"
cp ./*_*.deb "$root/packages/"
rm -f "$root"/packages/*-dbgsym_*
cp -r lode "$root/packages/tree"
first=$SECONDS
in_root "$root" sh -ec 'cd /packages && apt-get install -y ./lode_*.deb ./liblode1_*.deb'
in_root "$root" sh -ec 'mkdir /tmp/first && cd /tmp/first && lode example demo && lode top demo/solver --limit 3'
lap "first answer $((SECONDS - first)) s after apt-get install"

run_test() { # NAME
    in_root "$root" sh -ec 'mkdir "/tmp/$0" && cd /packages/tree && AUTOPKGTEST_TMP="/tmp/$0" "debian/tests/$0"' "$1"
    lap "debian/tests/$1"
}

# The tests of one entry of debian/tests/control, and what they depend on.
depends_of() { # NAME
    awk -v name="$1" 'BEGIN { RS = ""; FS = "\n" } $1 == "Tests: " name { for (i = 2; i <= NF; i++) if (sub(/^Depends: /, "", $i)) print $i }' \
        lode/debian/tests/control | sed 's/,//g; s/:any//g'
}

# Every line of the documents, with nothing but the program and what runs the commands.
in_root "$root" apt-get install -y python3 jq
run_test documents

mapfile -t names < <(sed -n 's/^Tests: //p' lode/debian/tests/control)
test ${#names[@]} -gt 1
in_root "$root" sh -ec 'cd /packages && apt-get install -y ./*.deb'
lap "all packages are installed"
for name in "${names[@]}"; do
    read -ra depends < <(depends_of "$name")
    in_root "$root" apt-get install -y "${depends[@]}"
    [ "$name" = documents ] || run_test "$name"
done
in_root "$root" lode version
test "$(in_root "$root" lode version | grep -c '^MPI .*: /usr/lib/.*/lode/lode-mpi-')" = 2
# The system knows where the library is.
test "$(readelf -d "$root/usr/bin/lode" "$root"/usr/lib/*/lode/*.so "$root"/usr/lib/python3/dist-packages/lode/*.so | grep -c -E 'RPATH|RUNPATH')" = 0

in_root "$root" sh -ec 'dpkg -L lode liblode1 liblode-dev lode-mpi-openmpi lode-mpi-mpich lode-postgresql lode-view python3-lode' | sort -u >installed
in_root "$root" apt-get purge -y lode liblode1 liblode-dev lode-mpi-openmpi lode-mpi-mpich lode-postgresql lode-view python3-lode
left=0
while read -r path; do
    if { [ -e "$root$path" ] || [ -L "$root$path" ]; } && [ ! -d "$root$path" ]; then
        echo "left behind: $path"
        left=1
    fi
done <installed
find "$root" -xdev -path "$root/packages" -prune -o -path "$root/tmp" -prune -o -name '*lode*' -not -name '*explode*' -print >named
test ! -s named || { cat named; left=1; }
test $left = 0
if in_root "$root" dpkg -l | grep -w lode; then exit 1; fi
lap "all packages are removed"
rm -rf --one-file-system "$root"
