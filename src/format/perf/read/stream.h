/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of a part one after the other, unpacked. */
#ifndef LODE_FORMAT_PERF_STREAM_H
#define LODE_FORMAT_PERF_STREAM_H

#include "base/memory/blob.h"
#include "format/perf/read/store.h"

struct perf_record {
    const uint8_t *bytes; /* with the header; valid until the next record is asked for */
    uint32_t type;
    uint16_t misc, size;
    uint64_t offset; /* in the records of the part; of a packed one, that of its packet */
    bool is_unpacked;
};

/* Why there are no more records. */
enum perf_stop {
    PERF_STOP_END,
    PERF_STOP_CUT,     /* the last record is cut off */
    PERF_STOP_SIZE,    /* an impossible size */
    PERF_STOP_PAYLOAD, /* what follows a record is outside */
    PERF_STOP_PACKED,  /* damaged, or compressed twice */
    PERF_STOP_RATIO,
    PERF_STOP_ZSTD, /* this build cannot unpack */
    PERF_STOP_MEMORY
};

struct perf_stream {
    struct lode_range records;
    uint64_t at, end;
    bool is_big;
    enum perf_stop why; /* once there are no more */

    /* Of compressed records. */
    bool is_packed; /* there was one */
    void *unpacker;
    struct lode_blob plain; /* unpacked bytes; those from `used` on are not read yet */
    size_t used;
    struct lode_range packed;           /* of the packet that is being unpacked: what is left */
    bool has_more;                      /* the unpacker has bytes that did not fit */
    uint64_t packet;                    /* its offset */
    uint64_t packed_bytes, plain_bytes; /* so far */
};

void lode_perf_stream_open(struct perf_stream *stream, const struct perf_store *store,
                           const struct perf_part *part, uint64_t begin, uint64_t end);
void lode_perf_stream_close(struct perf_stream *stream);
/* False: there are no more. */
bool lode_perf_stream_next(struct perf_stream *stream, struct perf_record *record);

/*
 * The same without a call if the next record is a sample, as nearly all are. What comes soon is
 * fetched: where a record begins is known only when the one before has arrived.
 */
static inline bool perf_stream_next(struct perf_stream *stream, struct perf_record *record)
{
    enum {
        AHEAD = 1024
    };
    if (stream->is_packed || stream->end - stream->at < PERF_RECORD_HEADER)
        return lode_perf_stream_next(stream, record);
    const uint8_t *bytes = stream->records.data + stream->at;
    uint32_t type = perf_u32(stream->is_big, bytes);
    uint16_t size = perf_u16(stream->is_big, bytes + 6);
    if (type != PERF_SAMPLE || size < PERF_RECORD_HEADER || size % 8 != 0 || size > stream->end - stream->at)
        return lode_perf_stream_next(stream, record);
    __builtin_prefetch(bytes + AHEAD);
    *record = (struct perf_record){.bytes = bytes,
                                   .type = type,
                                   .misc = perf_u16(stream->is_big, bytes + 4),
                                   .size = size,
                                   .offset = stream->at};
    stream->at += size;
    return true;
}

#endif
