/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of binaries by build id: the directory .debug beside the recording or profile, into which
 * an archive of 'perf archive' was unpacked, that of the user, which perf fills, and debug files of
 * packages.
 */
#ifndef LODE_FORMAT_HPCRUN_BINARIES_COPIES_H
#define LODE_FORMAT_HPCRUN_BINARIES_COPIES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A build id, as a recording or profile says it. */
struct binary_id {
    const uint8_t *bytes;
    size_t size;
};

enum binary_copy {
    BINARY_COPY_BESIDE,
    BINARY_COPY_CACHE,
    BINARY_COPY_WITH_CODE, /* how many are whole binaries */
    BINARY_COPY_PACKAGE = BINARY_COPY_WITH_CODE,
    BINARY_COPIES
};

/* The path of a binary; `directory` is that of the recording, or -1. False: there cannot be one. */
bool lode_binary_copy_path(char path[PATH_MAX], enum binary_copy copy, struct binary_id id, int directory);
/* The same for the list of symbols of a kernel, of which there are copies with code only. */
bool lode_binary_kernel_path(char path[PATH_MAX], enum binary_copy copy, struct binary_id id, int directory);

#endif
