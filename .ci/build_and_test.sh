#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Configures and builds a folder, and runs its tests: build_and_test.sh FOLDER COMPILER SETUP... -- TEST...
# COMPILER is gcc, clang, or cross: then a cross file names it.
set -euo pipefail

folder=$1
compiler=$2
shift 2
setup=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    setup+=("$1")
    shift
done
shift

case $compiler in
gcc) export CC=gcc CXX=g++ ;;
clang) export CC=clang CXX=clang++ ;;
cross) ;;
esac
meson setup "${setup[@]}" "$folder"
meson compile -C "$folder"

# The sanitizers of clang 14 do not start where the kernel spreads addresses over more bits than they know.
wrapper=()
if setarch -R true 2>/dev/null; then
    wrapper=(setarch -R)
fi
"${wrapper[@]}" meson test -C "$folder" --no-rebuild --print-errorlogs "$@"
