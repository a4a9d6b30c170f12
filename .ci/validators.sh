#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Other people's readers of what `lode export` writes, beside the corpus: sets them up in a folder, with npm.
#   validators.sh FOLDER
# Status 77: they are not there, or npm cannot be reached.
set -euo pipefail

from=${LODE_CORPUS:-/nowhere}/../validators
if [ ! -f "$from/setup.sh" ]; then
    echo "skip: no validators beside the corpus"
    exit 77
fi
if ! bash "$from/setup.sh" "$1"; then
    rm -rf "$1"
    echo "skip: npm cannot install the readers of other tools"
    exit 77
fi
