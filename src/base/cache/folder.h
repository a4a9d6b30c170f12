/* SPDX-License-Identifier: BSD-3-Clause */
/* Directories of files that save work later, below the user's cache. Failures are never errors. */
#ifndef LODE_BASE_CACHE_FOLDER_H
#define LODE_BASE_CACHE_FOLDER_H

#include <stdint.h>

/* Files of one kind, by their names. */
struct lode_cache_kind {
    const char *prefix, *suffix;
    uint64_t most; /* bytes of all */
};

/* Like mkdir -p, for this user alone. Whether it worked shows when it is opened. */
void lode_cache_make(const char *path);
/* Removes the files that were not used for longest, but not `kept`, until there are few enough. */
void lode_cache_trim(int directory, const struct lode_cache_kind *kind, const char *kept);

#endif
