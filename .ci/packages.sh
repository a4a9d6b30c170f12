#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what the other steps need.
set -euo pipefail

packages=(
    meson ninja-build pkg-config git gcc g++ binutils              # build
    libexpat1-dev zlib1g-dev libzstd-dev liblz4-dev liblzma-dev libbz2-dev libdeflate-dev libpcre2-dev # XML, compression, patterns
    libelf-dev libdw-dev                                           # names and lines of binaries
    libsqlite3-dev                                                 # the catalogue of runs
    libpq-dev postgresql                                           # the same on a server, and one for the tests
    libotf2-trace-dev otf2-tools python3-otf2                      # archives of event traces, and who reads them
    clang lld llvm libclang-rt-14-dev clang-format clang-tidy        # the second compiler, sanitizers, fuzzing, checks
    libcmocka-dev libcbor-dev python3 python3-yaml python3-jsonschema # tests
    python3-scipy                                                  # statistics are compared with it
    python3-dev python3-numpy python3-pandas mypy                  # the Python package, what it works with, types
    python3-nbconvert python3-ipykernel                            # its notebook is executed
    python3-mesonpy python3-build python3-venv patchelf            # its wheel is built, and installed
    golang-go valgrind sqlite3                                     # readers of exports, beside those of .ci/validators.sh
    tmux procps util-linux
    libncurses-dev python3-pyte                                    # lode tui, and a terminal for its tests
    zsh fish                                                       # completions, with bash
    libopenmpi-dev openmpi-bin libmpich-dev mpich iproute2         # both kinds of MPI jobs, and networks for them
    slurmctld slurmd slurm-client munge                            # jobs under a scheduler
    libmicrohttpd-dev openssh-server openssh-client                # lode view, and tunnels to it
    chromium firefox-esr fonts-dejavu-core                         # browsers that show it
    libncurses-dev                                                 # lode tui
    uftrace linux-perf                                             # recordings are made and read by them
    gcc-s390x-linux-gnu g++-s390x-linux-gnu qemu-user              # a big-endian machine
    abigail-tools                                                  # the public interface against its baseline
    cmark-gfm                                                      # the manual as HTML
    man-db groff-base                                              # the manual pages can be read
    dpkg-dev debhelper dh-python chrpath lintian mmdebstrap        # Debian packages, and roots to try them in
    faketime                                                       # builds of another day are byte-identical
    gzip ca-certificates jq                                         # jq: the tutorial uses it
)
missing=()
for package in "${packages[@]}"; do
    if ! dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed'; then
        missing+=("$package")
    fi
done
if [ ${#missing[@]} -gt 0 ]; then
    echo "installing: ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    # Tests start servers of their own: none of the system.
    mkdir -p /etc/postgresql-common
    [ -e /etc/postgresql-common/createcluster.conf ] || echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
    apt-get update
    apt-get install -y --no-install-recommends "${missing[@]}"
fi
meson --version
gcc --version | head -n 1
clang --version | head -n 1
