#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What `meson install` puts in place can be used: install.sh BUILD-FOLDER FOLDER. A C and a C++ program are built with
# pkg-config against it, with the shared and with the static library; the program runs, there and where the tree is moved to, and finds its
# plug-ins; the manual pages are found and render. The programs of examples/ are built and run.
set -euo pipefail

build=$1
source=$(cd "$(dirname "$0")/.." && pwd)
rm -rf "$2"
mkdir -p "$2"
folder=$(cd "$2" && pwd)
DESTDIR=$folder/root meson install -C "$build" --no-rebuild

pc=$(find "$folder/root" -name lode.pc)
export PKG_CONFIG_SYSROOT_DIR=$folder/root
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
library=$(dirname "$PKG_CONFIG_PATH")
version=$(pkg-config --modversion lode)
read -ra shared < <(pkg-config --cflags --libs lode)
read -ra static < <(pkg-config --static --cflags --libs lode)

cat >"$folder/program.c" <<'C'
#include <lode/lode.h>
#include <stdio.h>

int main(void)
{
    lode_database *db = NULL;
    lode_error error;
    lode_status status = lode_database_open(&db, "/nonexistent", &error);
    lode_database_close(db);
    printf("%s\n", lode_version());
    return status < 0 && error.text[0] != '\0' ? 0 : 1;
}
C
cp "$folder/program.c" "$folder/program.cpp"
cd "$folder"
set -x
gcc -std=c11 -Wall -Werror program.c -o c-shared "${shared[@]}"
g++ -std=c++17 -Wall -Werror program.cpp -o cpp-shared "${shared[@]}"
gcc -std=c11 -Wall -Werror -static program.c -o c-static "${static[@]}"
g++ -std=c++17 -Wall -Werror -static program.cpp -o cpp-static "${static[@]}"
for program in ./c-shared ./cpp-shared ./c-static ./cpp-static; do
    test "$(LD_LIBRARY_PATH=$library $program)" = "$version"
done

# The programs of examples/ are built as its README says, and print what it says.
cp -r "$source/examples" examples
make -C examples CFLAGS="-std=c11 -Wall -Wextra -Wpedantic -Werror"
lode=$(find "$folder/root" -path '*/bin/lode' -type f)
LD_LIBRARY_PATH=$library python3 "$source/tests/doc/follow.py" --lode "$lode" \
    --beside examples/hottest --beside examples/slow --beside examples/write "$source/examples/README.md"

# The program starts wherever the tree is moved to, without a word about where: with its library, its plug-ins and its manual pages.
unset LD_LIBRARY_PATH LODE_PLUGINS MANPATH
lode=$(find root -path '*/bin/lode' -type f)
prefix=$(dirname "$(dirname "$lode")")
for place in "$folder/$prefix" "$folder/moved here"; do
    if [ ! -e "$place" ]; then
        mv "$folder/$prefix" "$place"
        ln -s "../moved here" "$folder/root/link"
    fi
    (cd / && "$place/bin/lode" --version) | grep -Fx "lode $version"
    test "$("$place/bin/lode" version --json | python3 -c '
import json, os, sys
place, version = sys.argv[1], json.load(sys.stdin)
found = [plugin for plugin in version["mpi_plugins"] if plugin["state"] == "found"]
assert all(os.path.samefile(os.path.commonpath([plugin["path"], place]), place) for plugin in found), found
assert os.path.samefile(version["program"], place + "/bin/lode"), version
print(len(found))' "$place")" = "$(find "$place" -name 'lode-mpi-*.so' | wc -l)"
    # man looks beside the directories of PATH.
    test "$(PATH="$place/bin:$PATH" man -w lode)" -ef "$place/share/man/man1/lode.1"
    test "$(man -M "$place/share/man" -w lode-top)" -ef "$place/share/man/man1/lode-top.1"
done
"$folder/root/link/bin/lode" --version | grep -Fx "lode $version"
# Relative to the program and nothing else: no directory that somebody else could create.
test "$(readelf -d "$folder/moved here/bin/lode" | grep -c -E 'RPATH|RUNPATH')" = 1
readelf -d "$folder/moved here/bin/lode" | grep -E 'RUNPATH.*\[\$ORIGIN/\.\./[^:]*\]'

pages=0
while read -r page; do
    pages=$((pages + 1))
    MANWIDTH=80 man --warnings -l "$page" >page.txt 2>page.err
    test -s page.txt
    test ! -s page.err
done < <(find "moved here" -path '*/man/man*' -type f)
test $pages -gt 0
echo "$pages manual pages"
# Shells find the completions.
for file in bash-completion/completions/lode zsh/site-functions/_lode fish/vendor_completions.d/lode.fish; do
    test -s "$folder/moved here/share/$file"
done
