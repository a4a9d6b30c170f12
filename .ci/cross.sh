#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Debian's cmocka, expat, zlib, lz4 and PCRE2 for s390x, unpacked beside the build: cross.sh FOLDER. apt works on lists of its own here, so that the
# machine does not have to learn a second architecture. Writes FOLDER/cmocka.ini, which goes with tests/cross/s390x.ini.
set -euo pipefail

mkdir -p "$1"
folder=$(cd "$1" && pwd)
mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/root"
options=(
    -o APT::Architecture=s390x -o APT::Architectures::=s390x -o APT::Sandbox::User=root
    -o Dir::State::lists="$folder/lists" -o Dir::Cache="$folder/cache" -o Dir::State::status=/dev/null
    -o Acquire::Languages=none
)
cd "$folder"
# Sources that know nothing of s390x are no reason to stop: what counts is whether the packages come.
apt-get "${options[@]}" update || echo "some sources were not read"
apt-get "${options[@]}" download libcmocka0:s390x libcmocka-dev:s390x libexpat1:s390x libexpat1-dev:s390x \
    zlib1g:s390x zlib1g-dev:s390x liblz4-1:s390x liblz4-dev:s390x libpcre2-8-0:s390x \
    libpcre2-dev:s390x
for package in ./*.deb; do
    dpkg-deb -x "$package" root
done
cat >cmocka.ini <<INI
[properties]
sys_root = '$folder/root'
pkg_config_libdir = '$folder/root/usr/lib/s390x-linux-gnu/pkgconfig'
INI
