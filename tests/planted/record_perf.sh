#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the programs of a folder without tracing and records each with perf, samples and context switches: record_perf.sh LODE FOLDER OUT [NAME...].
# Recordings are OUT/rec/NAME.data. With priority, if that is allowed, so that other programs do not interrupt them.
set -euo pipefail

lode=$(realpath "$1")
folder=$(cd "$2" && pwd)
mkdir -p "$3/bin" "$3/rec"
cd "$3"
shift 3
first=()
! chrt -r 1 true 2>/dev/null || first=(chrt -r 1)

for source in "$folder"/[pkqhrg][0-9]*.c*; do
    name=$(basename "${source%.*}")
    [ $# = 0 ] || [[ " $* " == *" $name "* ]] || continue
    compiler=(gcc) omp=()
    case $source in *.cpp) compiler=(g++ -std=c++20) ;; esac
    ! grep -q '#pragma omp' "$source" || omp=(-fopenmp)
    "${compiler[@]}" -O2 -g "${omp[@]}" -w "$source" -o "bin/$name" -lpthread -ldl
    rm -f "rec/$name".*
    timeout 120 "${first[@]}" "$lode" record --with perf --off-cpu --call-graph dwarf --then none -o "rec/$name.data" -- "bin/$name" >/dev/null 2>"rec/$name.err" || echo "$name: status $?"
done
