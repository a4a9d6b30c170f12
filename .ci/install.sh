#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What `meson install` puts in place can be used: install.sh BUILD-FOLDER FOLDER. A C and a C++ program are built with
# pkg-config against it, with the shared and with the static library; the program runs; the manual pages render.
set -euo pipefail

build=$1
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
lode=$(find root -path '*/bin/lode' -type f)
LD_LIBRARY_PATH=$library "$lode" --version | grep -F "$version"

pages=0
while read -r page; do
    pages=$((pages + 1))
    MANWIDTH=80 man --warnings -l "$page" >page.txt 2>page.err
    test -s page.txt
    test ! -s page.err
done < <(find root -path '*/man/man*' -type f)
test $pages -gt 0
echo "$pages manual pages"
