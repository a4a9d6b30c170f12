#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by steps that test in a Debian of their own, below a folder: makes it, runs commands in it. Packages come from where this machine
# gets its own.

# Without them there is no such root: says why, and ends with the status that means "skipped".
skip() {
    echo "skip: $*"
    exit 77
}

# The sources of this machine that are Debian's, for a release.
sources_of() { # RELEASE
    local here file
    here=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    [ -n "$here" ] || return 0
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list; do
        if [ -f "$file" ] && grep -q "\<$here\>" "$file"; then
            sed "s/\<$here\>/$1/g; s/\<$here-/$1-/g" "$file"
            echo
        fi
    done
}

# A root with apt, or less.
make_root() { # FOLDER RELEASE VARIANT [OPTION...]
    local folder=$1 release=$2 variant=$3
    shift 3
    [ "$(id -u)" = 0 ] || skip "only root can make a Debian $release to test in"
    command -v mmdebstrap >/dev/null || skip "there is no mmdebstrap to make a Debian $release with"
    sources_of "$release" >"$folder.sources"
    [ -s "$folder.sources" ] || skip "this machine names no sources of Debian packages"
    apt-config dump | grep -E '^Acquire::[a-z]+::Proxy' >"$folder.proxy" || true
    rm -rf --one-file-system "$folder"
    mmdebstrap --mode=root --variant="$variant" --aptopt="$folder.proxy" --aptopt='APT::Install-Recommends "false"' \
        --aptopt='Acquire::Languages "none"' --dpkgopt=force-unsafe-io "$@" "$release" "$folder" "$folder.sources" ||
        skip "a Debian $release could not be made"
    # Processes of a job find each other by the name of this machine.
    cp /etc/hosts "$folder/etc/hosts"
}

# Runs a command in a root; its processes and mounts end with it.
in_root() { # FOLDER COMMAND...
    local folder=$1
    shift
    unshare --mount --pid --fork --kill-child sh -ec '
        mount -t proc proc "$0/proc"
        mount -t sysfs sysfs "$0/sys"
        mkdir -p "$0/dev/shm"
        mount -t tmpfs -o mode=1777 tmpfs "$0/dev/shm"
        mkdir -p "$0/dev/pts"
        mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$0/dev/pts"
        ln -sf pts/ptmx "$0/dev/ptmx"
        exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive TMPDIR=/tmp "$@"
    ' "$folder" "$@"
}
