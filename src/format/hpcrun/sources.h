/* SPDX-License-Identifier: BSD-3-Clause */
/* Source files of measurements that are copied into the database. */
#ifndef LODE_FORMAT_HPCRUN_SOURCES_H
#define LODE_FORMAT_HPCRUN_SOURCES_H

#include "format/hpcrun/module_file.h"

enum {
    SOURCES_BYTES_MOST = 1 << 30 /* of all copies */
};

/*
 * Whether a file is copied: a text at an absolute path, which is found as binaries are, without
 * hidden components, and not too large. Then where to, and from: a path below the root, without
 * links. `budget` is what the copies may still take.
 */
bool lode_hpcrun_find_source(const struct hpcrun_asking *asking, const char *path, uint64_t *budget,
                             char copy[PATH_MAX], char source[PATH_MAX]);

#endif
