/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of compressed records are parts of one zstd stream, so that a record may begin in one
 * packet and end in a later one. Memory is that of the window and of a piece.
 */
#include "format/perf/read/stream.h"

#include <string.h>
#if LODE_HAS_ZSTD
#include <zstd.h>
#endif

enum {
    PIECE = 1 << 17,        /* bytes that are unpacked at once */
    WINDOW_MOST = 27,       /* as a power of two */
    RATIO_FLOOR = 16 << 20, /* bytes that any packets may unpack to, */
    RATIO_MOST = 1024       /* and how many more for each packed byte */
};

void lode_perf_stream_open(struct perf_stream *stream, const struct perf_store *store,
                           const struct perf_part *part, uint64_t begin, uint64_t end)
{
    *stream =
        (struct perf_stream){.records = part->records, .at = begin, .end = end, .is_big = store->is_big};
}

void lode_perf_stream_close(struct perf_stream *stream)
{
#if LODE_HAS_ZSTD
    ZSTD_freeDCtx(stream->unpacker);
#endif
    lode_blob_free(&stream->plain);
}

static bool stop(struct perf_stream *stream, enum perf_stop why)
{
    stream->why = why;
    stream->end = stream->at;
    stream->packed.size = 0;
    stream->has_more = false;
    stream->plain.size = stream->used = 0;
    return false;
}

/* ---- unpacking ---- */

#if LODE_HAS_ZSTD
/* Unpacks more of the packet, behind what is not read yet. */
static bool unpack(struct perf_stream *stream)
{
    ZSTD_DCtx *context = stream->unpacker;
    if (context == NULL) {
        context = stream->unpacker = ZSTD_createDCtx();
        if (context == NULL)
            return stop(stream, PERF_STOP_MEMORY);
        ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, WINDOW_MOST);
    }
    size_t rest = stream->plain.size - stream->used;
    if (rest > 0 && stream->used > 0)
        memmove(stream->plain.bytes, stream->plain.bytes + stream->used, rest);
    stream->plain.size = rest;
    stream->used = 0;
    if (lode_blob_extend(&stream->plain, PIECE) == LODE_BLOB_FULL)
        return stop(stream, PERF_STOP_MEMORY);
    ZSTD_outBuffer to = {stream->plain.bytes + rest, PIECE, 0};
    ZSTD_inBuffer from = {stream->packed.data, (size_t)stream->packed.size, 0};
    if (ZSTD_isError(ZSTD_decompressStream(context, &to, &from)))
        return stop(stream, PERF_STOP_PACKED);
    stream->plain.size = rest + to.pos;
    stream->plain_bytes += to.pos;
    stream->packed.data += from.pos;
    stream->packed.size -= from.pos;
    if (stream->plain_bytes > RATIO_FLOOR + stream->packed_bytes * RATIO_MOST)
        return stop(stream, PERF_STOP_RATIO);
    stream->has_more = to.pos == to.size;
    bool is_stuck = to.pos == 0 && from.pos == 0 && stream->packed.size > 0;
    return is_stuck ? stop(stream, PERF_STOP_PACKED) : true;
}
#else
static bool unpack(struct perf_stream *stream)
{
    return stop(stream, PERF_STOP_ZSTD);
}
#endif

static bool begin_packet(struct perf_stream *stream, const struct perf_record *record)
{
    uint64_t skipped = PERF_RECORD_HEADER, size = record->size - PERF_RECORD_HEADER;
    stream->is_packed = true;
    if (record->type == PERF_COMPRESSED2) {
        if (size < sizeof(uint64_t))
            return stop(stream, PERF_STOP_PACKED);
        uint64_t said = perf_u64(stream->is_big, record->bytes + PERF_RECORD_HEADER);
        skipped += sizeof said;
        if (said > size - sizeof said)
            return stop(stream, PERF_STOP_PACKED);
        size = said;
    }
    stream->packed = (struct lode_range){record->bytes + skipped, size};
    stream->packed_bytes += size;
    stream->packet = record->offset;
    return true;
}

/* ---- records ---- */

static bool has_any_size(uint32_t type)
{
    return type == PERF_HEADER_TRACING_DATA || type == PERF_HEADER_FEATURE || type == PERF_COMPRESSED;
}

/* The record at the beginning of bytes. False if it is not whole, with what its header says. */
static bool take(const struct perf_stream *stream, struct lode_range bytes, struct perf_record *record,
                 bool *is_bad)
{
    *is_bad = false;
    if (bytes.size < PERF_RECORD_HEADER)
        return false;
    record->bytes = bytes.data;
    record->type = perf_u32(stream->is_big, bytes.data);
    record->misc = perf_u16(stream->is_big, bytes.data + 4);
    record->size = perf_u16(stream->is_big, bytes.data + 6);
    *is_bad = record->size < PERF_RECORD_HEADER || (record->size % 8 != 0 && !has_any_size(record->type));
    return !*is_bad && record->size <= bytes.size;
}

/* What follows a record outside of it. */
static bool skip_payload(struct perf_stream *stream, const struct perf_record *record)
{
    uint64_t size = 0;
    if (record->type == PERF_AUXTRACE && record->size >= PERF_RECORD_HEADER + 8)
        size = perf_u64(stream->is_big, record->bytes + PERF_RECORD_HEADER);
    else if (record->type == PERF_HEADER_TRACING_DATA && record->size >= PERF_RECORD_HEADER + 4)
        size = ((uint64_t)perf_u32(stream->is_big, record->bytes + PERF_RECORD_HEADER) + 7) / 8 * 8;
    if (size > stream->end - stream->at)
        return stop(stream, PERF_STOP_PAYLOAD);
    stream->at += size;
    return true;
}

/* From what was unpacked; LODE_END: more must be unpacked, or the next record is not packed. */
static lode_status next_unpacked(struct perf_stream *stream, struct perf_record *record)
{
    bool is_bad;
    if (stream->plain.size == stream->used)
        return LODE_END;
    struct lode_range left = {stream->plain.bytes + stream->used, stream->plain.size - stream->used};
    if (!take(stream, left, record, &is_bad)) {
        if (!is_bad)
            return LODE_END;
        stop(stream, PERF_STOP_SIZE);
        return LODE_ERR_CORRUPT;
    }
    if (record->type == PERF_COMPRESSED || record->type == PERF_COMPRESSED2) {
        stop(stream, PERF_STOP_PACKED);
        return LODE_ERR_CORRUPT;
    }
    stream->used += record->size;
    record->offset = stream->packet;
    record->is_unpacked = true;
    return LODE_OK;
}

/* The next record of the file itself. */
static bool next_plain(struct perf_stream *stream, struct perf_record *record)
{
    bool is_bad;
    struct lode_range left = {stream->records.data + stream->at, stream->end - stream->at};
    if (left.size == 0)
        return stop(stream, stream->plain.size > stream->used ? PERF_STOP_CUT : PERF_STOP_END);
    if (!take(stream, left, record, &is_bad))
        return stop(stream, is_bad ? PERF_STOP_SIZE : PERF_STOP_CUT);
    record->offset = stream->at;
    record->is_unpacked = false;
    stream->at += record->size;
    return skip_payload(stream, record);
}

bool lode_perf_stream_next(struct perf_stream *stream, struct perf_record *record)
{
    for (;;) {
        lode_status status = next_unpacked(stream, record);
        if (status != LODE_END)
            return status == LODE_OK;
        if (stream->packed.size > 0 || stream->has_more) {
            if (!unpack(stream))
                return false;
            continue;
        }
        if (!next_plain(stream, record))
            return false;
        if (record->type != PERF_COMPRESSED && record->type != PERF_COMPRESSED2)
            return true;
        if (!begin_packet(stream, record))
            return false;
    }
}
