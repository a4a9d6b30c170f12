#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the libFuzzer targets of a build folder and runs each for LODE_FUZZ_SECONDS: fuzz.sh FOLDER RESULTS LOG. Each target is a test.
# A target fuzz_NAME starts from tests/fuzz/corpus/NAME (or fuzz_NAME) and uses tests/fuzz/NAME.dict, where these exist; of NAME_PART,
# NAME.dict serves all parts.
set -euo pipefail

folder=$1
results=$2
log=$3
seconds=${LODE_FUZZ_SECONDS:-15}

report() { # PASSED FAILED NAME
    echo "$1 $2 0 $3" >>"$results"
}

if ! ninja -C "$folder" fuzz-targets >"$log" 2>&1; then
    echo "   FAILED to build; the end of $log:"
    tail -n 50 "$log" | sed 's/^/   | /'
    report 0 1 fuzz
    exit 0
fi
mapfile -t targets < <(find "$folder/tests/fuzz" -maxdepth 1 -type f -executable -name 'fuzz_*' 2>/dev/null | sort)
if [ ${#targets[@]} -eq 0 ]; then
    echo "   FAILED: there are no targets"
    report 0 1 fuzz
    exit 0
fi

run_target() { # EXECUTABLE
    local target name work arguments=()
    target=$(basename "$1")
    name=${target#fuzz_}
    work=$folder/run/$target
    mkdir -p "$work/corpus"
    for seeds in "tests/fuzz/corpus/$name" "tests/fuzz/corpus/$target"; do
        [ -d "$seeds" ] && arguments+=("$seeds")
    done
    for words in "tests/fuzz/$name.dict" "tests/fuzz/$target.dict" "tests/fuzz/${name%_*}.dict"; do
        if [ -f "$words" ]; then
            arguments+=("-dict=$words")
            break
        fi
    done
    # New inputs go to the first folder; the seeds stay as they are.
    "$1" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$work/" "$work/corpus" "${arguments[@]}" >"$work/log" 2>&1
}

# As many at a time as there are processors.
declare -A started
next=0
finish() { # PID
    local target=${started[$1]} work status=0
    wait "$1" || status=$?
    work=$folder/run/$(basename "$target")
    if [ "$status" -eq 0 ]; then
        echo "   $(basename "$target"): $(grep -Eo '^Done [0-9]+ runs in [0-9]+ second' "$work/log" || echo "ran for $seconds second")s," \
            "$(grep -Eo 'cov: [0-9]+ ft: [0-9]+' "$work/log" | tail -n 1)"
        report 1 0 "$(basename "$target")"
    else
        echo "   $(basename "$target"): FAILED; the end of $work/log:"
        tail -n 60 "$work/log" | sed 's/^/   | /'
        report 0 1 "$(basename "$target")"
    fi
}
while [ $next -lt ${#targets[@]} ]; do
    batch=()
    for ((i = 0; i < $(nproc) && next < ${#targets[@]}; i++, next++)); do
        run_target "${targets[$next]}" &
        started[$!]=${targets[$next]}
        batch+=($!)
    done
    for pid in "${batch[@]}"; do
        finish "$pid"
    done
done
