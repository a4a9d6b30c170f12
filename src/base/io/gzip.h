/* SPDX-License-Identifier: BSD-3-Clause */
/* gzip (RFC 1952): any number of members make one stream. Checksums and lengths are checked. */
#ifndef LODE_BASE_GZIP_H
#define LODE_BASE_GZIP_H

#include "base/io/range.h"
#include "base/memory/blob.h"

enum lode_gzip_end {
    LODE_GZIP_SOUND,
    LODE_GZIP_TRAILING, /* bytes after the last member, which is sound */
    LODE_GZIP_CORRUPT,  /* bytes that are no gzip, or another checksum or length */
    LODE_GZIP_CUT,      /* the last member does not end */
    LODE_GZIP_LIMIT,    /* more than `most` bytes; the first `most` of them are there */
    LODE_GZIP_MEMORY
};

/*
 * What a file may unpack to beyond a floor, as a multiple of its size. Deflate reaches 1032,
 * profiles reach 50; text of one recursion reaches more in files that are below the floor.
 */
enum {
    LODE_GZIP_FLOOR = 1 << 23,
    LODE_GZIP_RATIO = 64
};

static inline uint64_t lode_gzip_allowed(uint64_t packed)
{
    return LODE_GZIP_FLOOR + (packed < UINT64_MAX / LODE_GZIP_RATIO / 2 ? packed : 0) * LODE_GZIP_RATIO;
}

/* Whether bytes begin like a gzip member. */
bool lode_gzip_begins(struct lode_range bytes);
/*
 * Appends what is unpacked to `out`, at most `most` bytes of it. `offset` is where reading ended in
 * the packed bytes.
 */
enum lode_gzip_end lode_gzip_unpack(struct lode_range packed, size_t most, struct lode_blob *out,
                                    uint64_t *offset);

#endif
