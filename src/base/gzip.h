/* SPDX-License-Identifier: BSD-3-Clause */
/* gzip (RFC 1952): any number of members make one stream. Checksums and lengths are checked. */
#ifndef LODE_BASE_GZIP_H
#define LODE_BASE_GZIP_H

#include "base/blob.h"
#include "base/range.h"

enum lode_gzip_end {
    LODE_GZIP_SOUND,
    LODE_GZIP_TRAILING, /* bytes after the last member, which is sound */
    LODE_GZIP_CORRUPT,  /* bytes that are no gzip, or another checksum or length */
    LODE_GZIP_CUT,      /* the last member does not end */
    LODE_GZIP_LIMIT,    /* more than `most` bytes; the first `most` of them are there */
    LODE_GZIP_MEMORY
};

/* Whether bytes begin like a gzip member. */
bool lode_gzip_begins(struct lode_range bytes);
/*
 * Appends what is unpacked to `out`, at most `most` bytes of it. `offset` is where reading ended in
 * the packed bytes.
 */
enum lode_gzip_end lode_gzip_unpack(struct lode_range packed, size_t most, struct lode_blob *out,
                                    uint64_t *offset);

#endif
