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

#endif
