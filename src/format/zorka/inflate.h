/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raw deflate and checksums, by zlib or, where it is there, several times as fast by libdeflate. What that refuses is asked of zlib again. It
 * refuses a little less: lengths of codes may be repeated beyond their end. So it is for streams whose checksum was right, which are
 * damaged only if somebody wanted them to be.
 */
#ifndef LODE_ZORKA_INFLATE_H
#define LODE_ZORKA_INFLATE_H

#include "base/range.h"

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

/* Whether bytes become exactly `size`, which are written to `out`. Streams without their end are as good as others. With zlib alone. */
enum zor_inflated lode_zor_inflate(struct zor_inflater *self, struct lode_range packed, uint8_t *out,
                                   uint32_t size);
/* The same, for streams whose checksum was right. */
enum zor_inflated lode_zor_inflate_fast(struct zor_inflater *self, struct lode_range packed, uint8_t *out,
                                        uint32_t size);
void lode_zor_inflater_free(struct zor_inflater *self);

uint32_t lode_zor_crc32(struct lode_range bytes);

#endif
