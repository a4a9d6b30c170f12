#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The page of `lode view`, built once with npm for all steps that do not test it: page.sh FOLDER. The page is in FOLDER/dist.
# Status 77: npm cannot be reached. `lode view` has no page then.
set -euo pipefail

tree=$(cd "$(dirname "$0")/.." && pwd)
version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" "$tree/meson.build" | head -n 1)
python3 "$tree/web/build.py" "$1" --optional --version "$version"
if [ ! -f "$1/dist/index.html" ]; then
    echo "skip: npm cannot install what builds the page"
    exit 77
fi
