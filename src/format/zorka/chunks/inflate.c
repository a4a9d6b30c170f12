/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/zorka/chunks/inflate.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#if LODE_HAS_LIBDEFLATE
#include <libdeflate.h>
#endif

/* ---- zlib ---- */

static bool prepare_stream(struct zor_inflater *self)
{
    if (self->stream)
        return inflateReset(self->stream) == Z_OK;
    self->stream = calloc(1, sizeof *self->stream);
    if (self->stream && inflateInit2(self->stream, -MAX_WBITS) == Z_OK)
        return true;
    free(self->stream);
    self->stream = NULL;
    return false;
}

enum zor_inflated lode_zor_inflate(struct zor_inflater *self, struct lode_range packed, uint8_t *out,
                                   uint32_t size)
{
    uint8_t more;
    if (!prepare_stream(self))
        return ZOR_INFLATE_MEMORY;
    z_stream *stream = self->stream;
    stream->next_in = (z_const Bytef *)(uintptr_t)packed.data; // NOLINT(performance-no-int-to-ptr)
    stream->avail_in = (uInt)packed.size;
    stream->next_out = out;
    stream->avail_out = size;
    int status = inflate(stream, Z_SYNC_FLUSH);
    if ((status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) || stream->avail_out > 0)
        return ZOR_INFLATE_DAMAGED;
    /* One more byte would be too many. */
    stream->next_out = &more;
    stream->avail_out = 1;
    if (status != Z_STREAM_END)
        status = inflate(stream, Z_SYNC_FLUSH);
    bool is_sound = status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR;
    return is_sound && stream->avail_out == 1 ? ZOR_INFLATED : ZOR_INFLATE_DAMAGED;
}

/* ---- libdeflate ---- */

#if LODE_HAS_LIBDEFLATE

/* A flushed, unfinished stream ends with an empty block; making it the last finishes the stream. */
static const uint8_t flushed[] = {0x00, 0x00, 0xff, 0xff};
static const uint8_t last_block[] = {0x01, 0x00, 0x00, 0xff, 0xff};

static bool is_flushed(struct lode_range packed)
{
    return packed.size >= sizeof flushed &&
           memcmp(packed.data + packed.size - sizeof flushed, flushed, sizeof flushed) == 0;
}

/* Copies a stream and finishes it. */
static bool finish(struct zor_inflater *self, struct lode_range *packed)
{
    size_t size = (size_t)packed->size + sizeof last_block;
    if (size > self->capacity) {
        free(self->finished);
        self->finished = malloc(size);
        self->capacity = self->finished ? size : 0;
        if (self->finished == NULL)
            return false;
    }
    memcpy(self->finished, packed->data, (size_t)packed->size);
    memcpy(self->finished + packed->size, last_block, sizeof last_block);
    *packed = (struct lode_range){self->finished, size};
    return true;
}

static bool try_fast(struct zor_inflater *self, struct lode_range packed, uint8_t *out, uint32_t size)
{
    size_t used, made;
    if (self->fast == NULL)
        self->fast = libdeflate_alloc_decompressor();
    if (self->fast == NULL || (is_flushed(packed) && !finish(self, &packed)))
        return false;
    return libdeflate_deflate_decompress_ex(self->fast, packed.data, (size_t)packed.size, out, size, &used,
                                            &made) == LIBDEFLATE_SUCCESS &&
           made == size;
}

static void free_fast(struct zor_inflater *self)
{
    libdeflate_free_decompressor(self->fast);
}

uint32_t lode_zor_crc32(struct lode_range bytes)
{
    return libdeflate_crc32(0, bytes.data, (size_t)bytes.size);
}

#else

static bool try_fast(const struct zor_inflater *self, struct lode_range packed, const uint8_t *out,
                     uint32_t size)
{
    (void)self, (void)packed, (void)out, (void)size;
    return false;
}

static void free_fast(const struct zor_inflater *self)
{
    (void)self;
}

uint32_t lode_zor_crc32(struct lode_range bytes)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes.data, (size_t)bytes.size);
}

#endif

/* ---- both ---- */

enum zor_inflated lode_zor_inflate_fast(struct zor_inflater *self, struct lode_range packed, uint8_t *out,
                                        uint32_t size)
{
    if (try_fast(self, packed, out, size))
        return ZOR_INFLATED;
    return lode_zor_inflate(self, packed, out, size);
}

void lode_zor_inflater_free(struct zor_inflater *self)
{
    if (self->stream)
        inflateEnd(self->stream);
    free_fast(self);
    free(self->stream);
    free(self->finished);
    *self = (struct zor_inflater){0};
}
