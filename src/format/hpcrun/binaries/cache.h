/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers of lode-symbols in a directory, by build id: a binary that was analysed once is not read
 * again. An entry has the offsets that were asked about and what the helper said; a question about
 * others is asked together with those, so that entries grow with what is sampled.
 *
 * An entry that is damaged, of another version of the helper, or of a user who is not trusted is no
 * entry. Trusted are this user, root and the owner of the directory. Failures to write are none.
 */
#ifndef LODE_FORMAT_HPCRUN_BINARIES_CACHE_H
#define LODE_FORMAT_HPCRUN_BINARIES_CACHE_H

#include "format/hpcrun/binaries/notes.h"
#include "format/hpcrun/scopes/binary.h"
#include <sys/stat.h>

enum {
    BINARY_CACHE_MOST = 256 << 20, /* bytes of all entries: then the oldest ones go */
    BINARY_ENTRY_MOST = 32 << 20
};

struct binary_cache {
    int directory; /* -1: there is none */
    struct stat about, program;
};

#define BINARY_CACHE_NONE ((struct binary_cache){.directory = -1})

/* Opens a directory, which is made if it is missing. Without one, nothing is cached. */
void lode_binary_cache_open(struct binary_cache *cache, const char *path, const char *program);
void lode_binary_cache_close(struct binary_cache *cache);

/*
 * As lode_binary_ask, of a binary with these notes, through the cache; it may be NULL. What is said
 * of an offset does not depend on what is in the cache.
 */
lode_status lode_binary_ask_cached(struct binary_cache *cache, const struct binary_notes *notes,
                                   struct binary_reply *reply, const struct binary_request *request,
                                   lode_error *error);

/*
 * Restricts a reply to these offsets, which it was asked about: scopes are numbered in the order of
 * offsets, whatever else was asked about. False if out of memory.
 */
bool lode_binary_select(struct binary_reply *reply, const uint64_t *offsets, uint32_t count);

#endif
