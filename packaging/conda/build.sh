#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Run by conda-build in the directory of the sources. MPI plug-ins belong to the MPI of a machine: they are not in this package.
set -euo pipefail

# conda-build sets MESON_ARGS (prefix, library directory, cross files) where its compiler activates it.
read -ra arguments <<<"${MESON_ARGS:-}"
meson setup build-conda "${arguments[@]}" --prefix="$PREFIX" --libdir=lib --buildtype=release -Dmpi=disabled -Dlibdeflate=enabled -Dsqlite=enabled -Dotf2=disabled
meson compile -C build-conda
meson install -C build-conda --no-rebuild
