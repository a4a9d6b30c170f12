#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the programs of a folder, both variants of those with a problem, and records each with uftrace: record.sh FOLDER OUT [NAME...].
# Programs are OUT/bin/NAME and OUT/bin/NAME_fix, recordings OUT/rec/NAME. With priority, if that is allowed, so that other programs do not interrupt them.
set -euo pipefail

folder=$(cd "$1" && pwd)
mkdir -p "$2/bin" "$2/rec"
cd "$2"
shift 2
first=()
! chrt -r 1 true 2>/dev/null || first=(chrt -r 1)

build() { # SOURCE PROGRAM OPTION...
    local compiler=(gcc) omp=()
    case $1 in *.cpp) compiler=(g++ -std=c++20) ;; esac
    ! grep -q '#pragma omp' "$1" || omp=(-fopenmp)
    "${compiler[@]}" -O2 -g -pg "${omp[@]}" -w "${@:3}" "$1" -o "bin/$2" -lpthread -ldl
}

for source in "$folder"/[pkqhrg][0-9]*.c*; do
    name=$(basename "${source%.*}")
    [ $# = 0 ] || [[ " $* " == *" $name "* ]] || continue
    build "$source" "$name"
    case $name in [pqr]*) build "$source" "${name}_fix" -DFIX ;; esac
    rm -rf "rec/$name"
    timeout 120 "${first[@]}" uftrace record -E linux:schedule -d "rec/$name" "bin/$name" >/dev/null 2>"rec/$name.err" || echo "$name: status $?"
done
