/* SPDX-License-Identifier: BSD-3-Clause */
/* Fingerprints: whether a store is the one that was seen before. */
#ifndef LODE_UNSTABLE_FINGERPRINT_H
#define LODE_UNSTABLE_FINGERPRINT_H

#include <lode/status.h>

LODE_BEGIN_DECLS

/*
 * Looks at the files of a store, at those of the directories in it, and no deeper: the name, the
 * size and the first and last 4 KiB of each. `content` is the same for a copy, on any machine;
 * `identity` also differs if a file was replaced or written to since. Either may be NULL. Files
 * that differ only further inside have the same content. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_store_fingerprint(const char *path, uint64_t *content,
                                                         uint64_t *identity, lode_error *error);

LODE_END_DECLS
#endif
