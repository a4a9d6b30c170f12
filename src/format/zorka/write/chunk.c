/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/zorka/write/chunk.h"

#include "base/error.h"
#include "base/io/bytes.h"
#include "base/memory/blob.h"
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

enum {
    LEVEL = 4, /* three times as fast as the collectors' level, for 3 % more bytes */
    TRACE_ID_SIZE = 20,
    NUMBERS_SIZE = 28 /* of a chunk: its number, offset and length, each of maximal width */
};

/* Flags of a record of qmeta.idx. */
enum {
    QMETA_ERROR = 1,
    QMETA_CHUNKED = 2,
    QMETA_FIRST = 4,
    QMETA_LAST = 8
};

lode_status lode_zor_encoder_open(struct zor_encoder *encoder, const struct zor_writer *writer,
                                  uint32_t number, lode_error *error)
{
    char name[32];
    *encoder = (struct zor_encoder){.layout = writer->layout,
                                    .is_noting = true,
                                    .number = number,
                                    .has_memory = true,
                                    .first_stamp = UINT64_MAX,
                                    .spool = LODE_SPOOL_INIT};
    open_calls_init(&encoder->calls, sizeof(struct zor_open_call), ZOR_DEPTH_MAX);
    lode_array_init(&encoder->chunks, sizeof(struct zor_packed), SIZE_MAX / sizeof(struct zor_packed));
    snprintf(name, sizeof name, "packed-%u", number);
    return lode_spool_open(&encoder->spool, writer->output.directory, name, error);
}

void lode_zor_encoder_close(struct zor_encoder *encoder)
{
    if (encoder->deflater)
        deflateEnd(encoder->deflater);
    free(encoder->deflater);
    free(encoder->packed);
    lode_blob_free(&encoder->payload);
    open_calls_free(&encoder->calls);
    lode_array_free(&encoder->chunks);
    lode_spool_close(&encoder->spool);
}

/* ---- numbers of chunks ---- */

uint8_t *lode_zor_put_trace_id(uint8_t *at, struct zor_id id)
{
    static const uint8_t head[4] = {ZOR_TAG << 5 | ZOR_TAG_INFO_PAGE, ZOR_MAP << 5 | 1, ZOR_KEY_TRACE_ID,
                                    ZOR_BYTES << 5 | 16};
    memcpy(at, head, sizeof head);
    put_u64be(at + 4, id.high);
    put_u64be(at + 12, id.low);
    return at + TRACE_ID_SIZE;
}

static uint8_t *put_chunk_head(uint8_t *at, uint8_t key, uint8_t width)
{
    at[0] = ZOR_TAG << 5 | ZOR_TAG_INFO_PAGE;
    at[1] = ZOR_MAP << 5 | 1;
    at[2] = key;
    at[3] = width;
    return at + 4;
}

static void put_numbers(uint8_t *at, const struct zor_written_trace *trace, size_t size)
{
    at = put_chunk_head(at, ZOR_KEY_CHUNK_NUMBER, 26);
    put_u32be(at, trace->chunk);
    at = put_chunk_head(at + 4, ZOR_KEY_CHUNK_OFFSET, 27);
    put_u64be(at, trace->offset);
    at = put_chunk_head(at + 8, ZOR_KEY_CHUNK_LENGTH, 26);
    put_u32be(at, (uint32_t)size);
}

/* The documentation requires numbered chunks: after the id in the first, at the start of others. */
static bool number_chunk(struct zor_encoder *encoder)
{
    struct lode_blob *payload = &encoder->payload;
    struct zor_written_trace *trace = &encoder->trace;
    bool is_first = trace->chunk == 0, has_id = !is_first && zor_id_is_known(trace->id);
    size_t at = is_first ? trace->ids_at : 0, size = NUMBERS_SIZE + (has_id ? (size_t)TRACE_ID_SIZE : 0);
    size_t end = payload->size;
    if (lode_blob_reserve(payload, size, 1) == LODE_BLOB_FULL)
        return false;
    memmove(payload->bytes + at + size, payload->bytes + at, end - at);
    uint8_t *out = payload->bytes + at;
    put_numbers(has_id ? lode_zor_put_trace_id(out, trace->id) : out, trace, payload->size);
    return true;
}

/* ---- packing ---- */

static bool prepare(struct zor_encoder *encoder)
{
    size_t size = encoder->payload.size;
    if (encoder->deflater == NULL) {
        encoder->deflater = calloc(1, sizeof *encoder->deflater);
        if (encoder->deflater == NULL)
            return false;
        if (deflateInit2(encoder->deflater, LEVEL, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL - 1,
                         Z_DEFAULT_STRATEGY) != Z_OK) {
            free(encoder->deflater);
            encoder->deflater = NULL;
            return false;
        }
    } else if (deflateReset(encoder->deflater) != Z_OK) {
        return false;
    }
    /* A flush adds a few bytes to the bound. */
    size_t bound = deflateBound(encoder->deflater, size) + 64;
    if (bound <= encoder->packed_capacity)
        return true;
    free(encoder->packed);
    encoder->packed = malloc(2 * bound);
    encoder->packed_capacity = encoder->packed ? 2 * bound : 0;
    return encoder->packed != NULL;
}

/* A raw stream without a final block, like all existing ones. */
static bool compress_payload(struct zor_encoder *encoder, size_t *size)
{
    if (!encoder->has_memory || !prepare(encoder))
        return false;
    z_stream *stream = encoder->deflater;
    stream->next_in = encoder->payload.bytes;
    stream->avail_in = (uInt)encoder->payload.size;
    stream->next_out = encoder->packed;
    stream->avail_out = (uInt)encoder->packed_capacity;
    int status = deflate(stream, Z_FULL_FLUSH);
    *size = encoder->packed_capacity - stream->avail_out;
    return status == Z_OK && stream->avail_in == 0 && stream->avail_out > 0;
}

static uint64_t at_most(uint64_t number, uint64_t most)
{
    return number < most ? number : most;
}

/* The record of a chunk in qmeta.idx, without its offset, which is not known yet. */
static void put_qmeta(uint8_t *at, const struct zor_written_trace *trace, bool is_last)
{
    uint64_t errors = at_most(trace->errors, UINT16_MAX);
    bool is_chunked = trace->chunk > 0 || !is_last;
    unsigned flags = (trace->errors > 0 ? (unsigned)QMETA_ERROR : 0) | (is_chunked ? QMETA_CHUNKED : 0) |
                     (trace->chunk == 0 ? QMETA_FIRST : 0) | (is_last ? QMETA_LAST : 0);
    uint64_t method = trace->method ? trace->method->id : 0;
    put_u64be(at, at_most(trace->stamp / 1000, UINT32_MAX));
    put_u64be(at + 8, (errors & 0xff) << 8 | flags);
    put_u64be(at + 16, at_most(trace->chunk, UINT16_MAX) << 48);
    put_u64be(at + 24, at_most(trace->stop - trace->start, UINT32_MAX) << 32 | method);
    put_u64be(at + 32, 0);
    put_u64be(at + 40, at_most(trace->records, 0xffffff) << 40 | (errors >> 8) << 32 |
                           at_most(trace->calls, UINT32_MAX));
    put_u64be(at + 48, trace->id.high);
    put_u64be(at + 56, trace->id.low);
}

static lode_status put_aside(struct zor_encoder *encoder, size_t size, bool is_last, lode_error *error)
{
    uint8_t head[ZOR_QMETA_SIZE + ZOR_CHUNK_HEADER_SIZE], *chunk = head + ZOR_QMETA_SIZE;
    put_qmeta(head, &encoder->trace, is_last);
    memcpy(chunk, "ZCH0", 4);
    put_u32be(chunk + 4, (uint32_t)size);
    put_u32be(chunk + 8, (uint32_t)encoder->payload.size);
    put_u32be(chunk + 12, (uint32_t)crc32_z(crc32_z(0, NULL, 0), encoder->packed, size));
    struct zor_packed *packed = lode_array_push(&encoder->chunks);
    LODE_TRY_ALLOC(packed, error);
    *packed = (struct zor_packed){encoder->order, encoder->spool.size, (uint32_t)(sizeof head + size),
                                  encoder->number};
    LODE_TRY(lode_spool_write(&encoder->spool, head, sizeof head, error));
    return lode_spool_write(&encoder->spool, encoder->packed, size, error);
}

lode_status lode_zor_pack(struct zor_encoder *encoder, bool is_last, lode_error *error)
{
    struct zor_written_trace *trace = &encoder->trace;
    bool is_numbered = encoder->layout == ZOR_LAYOUT_PAGE && (trace->chunk > 0 || !is_last);
    size_t size;
    if (encoder->is_noting)
        return LODE_OK;
    if ((is_numbered && !number_chunk(encoder)) || !compress_payload(encoder, &size))
        return lode_fail_memory(error);
    LODE_TRY(put_aside(encoder, size, is_last, error));
    if (trace->chunk == 0 && trace->stamp > 0) {
        encoder->first_stamp = trace->stamp < encoder->first_stamp ? trace->stamp : encoder->first_stamp;
        encoder->last_stamp = trace->stamp > encoder->last_stamp ? trace->stamp : encoder->last_stamp;
    }
    trace->chunk++;
    trace->offset += encoder->payload.size;
    encoder->payload.size = 0;
    return LODE_OK;
}
