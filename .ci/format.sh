#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every C file is as clang-format would write it.
set -euo pipefail

files=()
# The folder may belong to somebody else than who runs this. Files that were deleted but not committed are no matter.
while IFS= read -r -d '' file; do
    [ -f "$file" ] && files+=("$file")
done < <(git -c safe.directory="$PWD" ls-files -z --cached --others --exclude-standard '*.c' '*.h')
echo "${#files[@]} files"
test ${#files[@]} -gt 0
printf '%s\0' "${files[@]}" | xargs -0 -n 50 -P "$(nproc)" clang-format --dry-run -Werror
