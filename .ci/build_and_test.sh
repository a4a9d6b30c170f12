#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Configures a folder, builds and runs tests: build_and_test.sh FOLDER COMPILER SETUP... -- SELECTION... -- TEST...
# COMPILER is gcc, clang, or cross: then a cross file names it. SELECTION is for choose_tests.py. Only what the chosen tests need is built,
# unless LODE_CI_ALL_TARGETS is set.
set -euo pipefail

ci=$(cd "$(dirname "$0")" && pwd)
folder=$1
compiler=$2
shift 2
setup=()
while [ "$1" != -- ]; do
    setup+=("$1")
    shift
done
shift
selection=()
while [ "$1" != -- ]; do
    selection+=("$1")
    shift
done
shift

cache=$(command -v ccache || true)
case $compiler in
gcc) export CC="$cache gcc" CXX="$cache g++" ;;
clang) export CC="$cache clang" CXX="$cache clang++" CC_LD=lld CXX_LD=lld ;;
cross) ;;
esac
meson setup -Dtests=true --werror ${LODE_CI_PAGE:+"-Dviewer_page=$LODE_CI_PAGE"} "${setup[@]}" "$folder"
if [ -n "${LODE_CI_ALL_TARGETS:-}" ]; then
    meson compile -C "$folder"
fi
if [ -n "${LODE_SHARE:-}" ]; then
    echo "share: part $LODE_SHARE of mutations, part ${LODE_SHARE_FAULTS:-$LODE_SHARE} of faults"
fi
python3 "$ci/choose_tests.py" "$folder" "${selection[@]}" >"$folder/selected"
mapfile -t names <"$folder/selected"

# The sanitizers of clang 14 do not start where the kernel spreads addresses over more bits than they know.
wrapper=()
if setarch -R true 2>/dev/null; then
    wrapper=(setarch -R)
fi
command=(env LODE_SHARE="${LODE_SHARE:-1/1}" LODE_SHARE_FAULTS="${LODE_SHARE_FAULTS:-${LODE_SHARE:-1/1}}" LODE_CI_COSTS="$folder/costs"
    "${wrapper[@]}" meson test -C "$folder" --setup all --print-errorlogs --wrapper "bash $ci/cost.sh" "$@")
# For again.py.
printf '%q ' "${command[@]}" >"$folder/test-command"
"${command[@]}" "${names[@]}"
