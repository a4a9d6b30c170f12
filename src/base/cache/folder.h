/* SPDX-License-Identifier: BSD-3-Clause */
/* Directories of files that save work later, below the user's cache. Failures are never errors. */
#ifndef LODE_BASE_CACHE_FOLDER_H
#define LODE_BASE_CACHE_FOLDER_H

#include "base/memory/blob.h"
#include <stdbool.h>

/* Files of one kind, by their names. */
struct lode_cache_kind {
    const char *prefix, *suffix;
    uint64_t most; /* bytes of all */
};

/* Like mkdir -p, for this user alone. Whether it worked shows when it is opened. */
void lode_cache_make(const char *path);
/* A directory that only its user can write; with `makes`, it is made. -1: none. */
int lode_cache_directory(const char *path, bool makes);
/* A file that only its user can read. -1: none. */
int lode_cache_file(int directory, const char *name);
/* Reads bytes of a file; false if it does not have them. */
bool lode_cache_read(int fd, uint64_t offset, uint64_t size, struct lode_blob *bytes);
/* Removes the files that were not used for longest, but not `kept`, until there are few enough. */
void lode_cache_trim(int directory, const struct lode_cache_kind *kind, const char *kept);

#endif
