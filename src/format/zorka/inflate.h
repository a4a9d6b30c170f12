/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raw deflate and checksums: zlib says what is sound. Where libdeflate is there, it does the work first, several times as fast, and only
 * what it does not like is asked of zlib.
 */
#ifndef LODE_ZORKA_INFLATE_H
#define LODE_ZORKA_INFLATE_H

#include "base/span.h"

struct zor_inflater {
    struct z_stream_s *stream;            /* NULL: not needed yet */
    struct libdeflate_decompressor *fast; /* the same; stays NULL without libdeflate */
    uint8_t *finished;                    /* a stream and the end that it lacks */
    size_t capacity;
};

enum zor_inflated {
    ZOR_INFLATED,
    ZOR_INFLATE_DAMAGED,
    ZOR_INFLATE_MEMORY
};

/* Whether bytes become exactly `size`, which are written to `out`. Streams without their end are as good as others. */
enum zor_inflated lode_zor_inflate(struct zor_inflater *self, struct lode_span packed, uint8_t *out,
                                   uint32_t size);
/* The same, with zlib alone. */
enum zor_inflated lode_zor_inflate_slowly(struct zor_inflater *self, struct lode_span packed, uint8_t *out,
                                          uint32_t size);
void lode_zor_inflater_free(struct zor_inflater *self);

uint32_t lode_zor_crc32(struct lode_span bytes);

#endif
