/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of binaries by build id: the directory .debug beside the recording, into which an archive
 * of 'perf archive' was unpacked, that of the user, which perf fills, and debug files of packages.
 */
#ifndef LODE_FORMAT_PERF_COPIES_H
#define LODE_FORMAT_PERF_COPIES_H

#include "format/perf/read/replay.h"
#include <limits.h>

enum perf_copy {
    PERF_COPY_BESIDE,
    PERF_COPY_CACHE,
    PERF_COPY_WITH_CODE, /* how many are whole binaries */
    PERF_COPY_PACKAGE = PERF_COPY_WITH_CODE,
    PERF_COPIES
};

/* The path of a binary; `directory` is that of the recording, or -1. False: there cannot be one. */
bool lode_perf_copy_path(char path[PATH_MAX], enum perf_copy copy, const struct perf_build_id *id,
                         int directory);
/* The same for the list of symbols of a kernel, of which there are copies with code only. */
bool lode_perf_kernel_path(char path[PATH_MAX], enum perf_copy copy, const struct perf_build_id *id,
                           int directory);

#endif
