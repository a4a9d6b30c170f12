/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raw deflate and checksums, by zlib or, several times as fast, by libdeflate. Streams that
 * libdeflate rejects go to zlib. libdeflate is slightly more lenient: code lengths may repeat
 * beyond their end. Use it only for streams with a right checksum: only attackers damage these.
 */
#ifndef LODE_ZORKA_INFLATE_H
#define LODE_ZORKA_INFLATE_H

#include "base/io/range.h"

struct zor_inflater {
    struct z_stream_s *stream;            /* NULL: not needed yet */
    struct libdeflate_decompressor *fast; /* the same; stays NULL without libdeflate */
    uint8_t *finished;                    /* a stream, and the end that it lacks */
    size_t capacity;
};

enum zor_inflated {
    ZOR_INFLATED,
    ZOR_INFLATE_DAMAGED,
    ZOR_INFLATE_MEMORY
};

/* Unpacks exactly `size` bytes into `out`, with zlib. Accepts unfinished streams. */
enum zor_inflated lode_zor_inflate(struct zor_inflater *self, struct lode_range packed, uint8_t *out,
                                   uint32_t size);
/* The same for streams with a right checksum. */
enum zor_inflated lode_zor_inflate_fast(struct zor_inflater *self, struct lode_range packed, uint8_t *out,
                                        uint32_t size);
void lode_zor_inflater_free(struct zor_inflater *self);

uint32_t lode_zor_crc32(struct lode_range bytes);

#endif
