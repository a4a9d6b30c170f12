/* SPDX-License-Identifier: BSD-3-Clause */
/* traces.dat: a header and chunks, located by their headers and unpacked one at a time. */
#ifndef LODE_ZORKA_CHUNKS_H
#define LODE_ZORKA_CHUNKS_H

#include "base/memory/array.h"
#include "format/zorka/chunks/inflate.h"
#include "format/zorka/rules.h"
#include "model/finding.h"

enum {
    ZOR_HEADER_SIZE = 16,
    ZOR_CHUNK_HEADER_SIZE = 16,
    /* The maximal size of a chunk, packed or not. */
    ZOR_CHUNK_MAX = 32 << 20
};

enum zor_codec {
    ZOR_CODEC_NONE,
    ZOR_CODEC_DEFLATE,
    ZOR_CODEC_LZ4,
    ZOR_CODEC_UNKNOWN
};

/* The position of a chunk and its header: 24 bytes. */
struct zor_chunk {
    uint64_t offset; /* of its header in the file */
    uint32_t csize, lsize, checksum;
    uint32_t store;
};

struct zor_data {
    struct lode_range bytes;
    const char *file; /* its name, for findings */
    enum zor_codec codec;
    bool has_checksums;
    bool is_page_layout; /* of flags: 1 is LZ4, 2 is deflate */
};

/* Buffers for unpacking chunks. One per thread. */
struct zor_unpacker {
    struct zor_inflater inflater;
    uint8_t *buffer;
    size_t capacity;
};

/*
 * Reads the header of a data file and appends its chunks to `chunks`, each with the given `store`.
 * Linear in the size of the file, but reads only headers unless there is damage.
 */
lode_status lode_zor_scan(struct zor_data *data, struct lode_array *chunks, uint32_t store,
                          struct lode_report *report);

/* Damage of a chunk: a rule and a message. */
struct zor_damage {
    int rule; /* -1: none */
    const char *text;
};

/* Whether the content of a chunk can be used. */
static inline bool zor_can_be_read(const struct zor_damage *damage)
{
    return damage->rule < 0 || damage->rule == ZOR_CHUNK_SIZE;
}

/* Unpacks a chunk. The payload is valid until the next call. False if out of memory. */
bool lode_zor_unpack(struct zor_unpacker *unpacker, const struct zor_data *data,
                     const struct zor_chunk *chunk, struct lode_range *payload, struct zor_damage *damage);
void lode_zor_unpacker_free(struct zor_unpacker *unpacker);

#endif
