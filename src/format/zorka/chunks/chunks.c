/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/zorka/chunks/chunks.h"

#include "base/error.h"
#include "base/io/bytes.h"
#include <lz4.h>
#include <stdlib.h>

enum {
    FLAGS_CODEC = 0x0f,
    FLAG_CHECKSUMS = 0x10,
    TRIES_MAX = 16,       /* chunks that are tried to distinguish the layouts */
    DEFLATE_RATIO = 1032, /* the maximal compression ratio */
    LZ4_RATIO = 255
};

static const uint8_t data_magic[4] = {'Z', 'T', 'S', '0'};
static const uint8_t chunk_magic[4] = {'Z', 'C', 'H', '0'};

/* ---- locating chunks ---- */

struct scan {
    struct zor_data *data;
    struct lode_array *chunks;
    uint32_t store;
    struct lode_report *report;
    uint64_t at;
    uint64_t next_magic; /* the first at or after `searched`, or the end */
    uint64_t searched;
};

static bool has_magic(struct lode_range bytes, uint64_t at)
{
    return bytes.size >= 4 && at <= bytes.size - 4 && memcmp(bytes.data + at, chunk_magic, 4) == 0;
}

/* The first magic number from `from` on, or the end. `from` never decreases: one pass in all. */
static uint64_t find_magic(struct scan *scan, uint64_t from)
{
    struct lode_range bytes = scan->data->bytes;
    if (from <= scan->next_magic && scan->searched > 0)
        return scan->next_magic;
    scan->searched = from + 1;
    const uint8_t *found =
        from < bytes.size ? memmem(bytes.data + from, (size_t)(bytes.size - from), chunk_magic, 4) : NULL;
    scan->next_magic = found ? (uint64_t)(found - bytes.data) : bytes.size;
    return scan->next_magic;
}

static lode_status add_chunk(struct scan *scan, const uint8_t *header)
{
    struct zor_chunk chunk = {.offset = scan->at,
                              .csize = get_u32be(header + 4),
                              .lsize = get_u32be(header + 8),
                              .checksum = get_u32be(header + 12),
                              .store = scan->store};
    scan->at += ZOR_CHUNK_HEADER_SIZE + (uint64_t)chunk.csize;
    if (chunk.csize > ZOR_CHUNK_MAX || chunk.lsize > ZOR_CHUNK_MAX)
        return lode_report_add(scan->report, ZOR_CHUNK_LIMIT, scan->data->file, chunk.offset,
                               "%u bytes, unpacked %u; the limit is %u", chunk.csize, chunk.lsize,
                               (unsigned)ZOR_CHUNK_MAX);
    struct zor_chunk *slot = lode_array_push(scan->chunks);
    LODE_TRY_ALLOC(slot, scan->report->error);
    *slot = chunk;
    return LODE_OK;
}

/*
 * Reads the chunk, or the rest of one, at `at`. It is complete if another chunk or the end of the
 * file follows it, or if no chunk begins inside it; otherwise its writer was interrupted.
 */
static lode_status take_chunk(struct scan *scan)
{
    struct lode_range bytes = scan->data->bytes, header;
    if (lode_range_part(bytes, scan->at, ZOR_CHUNK_HEADER_SIZE, &header)) {
        uint64_t end = scan->at + ZOR_CHUNK_HEADER_SIZE + get_u32be(header.data + 4);
        if (end <= bytes.size &&
            (end == bytes.size || has_magic(bytes, end) || find_magic(scan, scan->at + 4) >= end))
            return add_chunk(scan, header.data);
    }
    uint64_t next = find_magic(scan, scan->at + 4);
    lode_status status =
        lode_report_add(scan->report, ZOR_CHUNK_CUT, scan->data->file, scan->at,
                        "a chunk ends after %llu bytes", (unsigned long long)(next - scan->at));
    scan->at = next;
    return status;
}

static lode_status pass_gap(struct scan *scan)
{
    uint64_t next = find_magic(scan, scan->at);
    lode_status status = lode_report_add(scan->report, ZOR_DATA_GAP, scan->data->file, scan->at,
                                         "%llu bytes are no chunk", (unsigned long long)(next - scan->at));
    scan->at = next;
    return status;
}

/* ---- unpacking ---- */

static bool make_room(struct zor_unpacker *unpacker, size_t size)
{
    if (size <= unpacker->capacity)
        return true;
    uint8_t *buffer = malloc(size);
    if (buffer == NULL)
        return false;
    free(unpacker->buffer);
    unpacker->buffer = buffer;
    unpacker->capacity = size;
    return true;
}

static bool unlz4_chunk(const struct zor_unpacker *unpacker, struct lode_range packed, uint32_t lsize)
{
    int size = LZ4_decompress_safe((const char *)packed.data, (char *)unpacker->buffer, (int)packed.size,
                                   (int)lsize);
    return size >= 0 && (uint32_t)size == lsize;
}

/* Unpacks a chunk with a right checksum. On failure it is damaged, unless out of memory. */
static bool decompress(struct zor_unpacker *unpacker, const struct zor_data *data, enum zor_codec codec,
                       struct lode_range packed, uint32_t lsize, bool *has_memory)
{
    uint64_t ratio = codec == ZOR_CODEC_LZ4 ? LZ4_RATIO : DEFLATE_RATIO;
    if (lsize > packed.size * ratio)
        return false;
    *has_memory = make_room(unpacker, lsize ? lsize : 1);
    if (!*has_memory)
        return false;
    if (codec == ZOR_CODEC_LZ4)
        return unlz4_chunk(unpacker, packed, lsize);
    enum zor_inflated inflated =
        data->has_checksums ? lode_zor_inflate_fast(&unpacker->inflater, packed, unpacker->buffer, lsize)
                            : lode_zor_inflate(&unpacker->inflater, packed, unpacker->buffer, lsize);
    *has_memory = inflated != ZOR_INFLATE_MEMORY;
    return inflated == ZOR_INFLATED;
}

static struct lode_range packed_bytes(const struct zor_data *data, const struct zor_chunk *chunk)
{
    return (struct lode_range){data->bytes.data + chunk->offset + ZOR_CHUNK_HEADER_SIZE, chunk->csize};
}

static bool has_checksum(const struct zor_data *data, const struct zor_chunk *chunk)
{
    return !data->has_checksums || lode_zor_crc32(packed_bytes(data, chunk)) == chunk->checksum;
}

bool lode_zor_unpack(struct zor_unpacker *unpacker, const struct zor_data *data,
                     const struct zor_chunk *chunk, struct lode_range *payload, struct zor_damage *damage)
{
    struct lode_range packed = packed_bytes(data, chunk);
    bool has_memory = true;
    *damage = (struct zor_damage){-1, ""};
    *payload = packed;
    if (!has_checksum(data, chunk)) {
        *damage = (struct zor_damage){ZOR_CHUNK_CHECKSUM, "the checksum of the chunk is wrong"};
        return true;
    }
    if (data->codec == ZOR_CODEC_NONE) {
        if (chunk->csize != chunk->lsize)
            *damage = (struct zor_damage){ZOR_CHUNK_SIZE, "the chunk is not compressed, but has two sizes"};
        return true;
    }
    if (decompress(unpacker, data, data->codec, packed, chunk->lsize, &has_memory))
        *payload = (struct lode_range){unpacker->buffer, chunk->lsize};
    else
        *damage = (struct zor_damage){ZOR_CHUNK_CODEC, "the chunk does not unpack to its stated size"};
    return has_memory;
}

void lode_zor_unpacker_free(struct zor_unpacker *unpacker)
{
    lode_zor_inflater_free(&unpacker->inflater);
    free(unpacker->buffer);
    *unpacker = (struct zor_unpacker){0};
}

/* ---- the header ---- */

/* The documentation and existing files number codecs differently: use what decodes a chunk. */
static lode_status tell_codec(struct zor_data *data, uint32_t flags, const struct lode_array *chunks,
                              size_t first, lode_error *error)
{
    struct zor_unpacker unpacker = {0};
    bool has_memory = true;
    enum zor_codec real = (flags & FLAGS_CODEC) == 1 ? ZOR_CODEC_DEFLATE : ZOR_CODEC_LZ4;
    enum zor_codec page = real == ZOR_CODEC_LZ4 ? ZOR_CODEC_DEFLATE : ZOR_CODEC_LZ4;
    data->codec = real;
    for (size_t i = first; i < chunks->count && i - first < TRIES_MAX && has_memory; i++) {
        const struct zor_chunk *chunk = LODE_ARRAY_AT(chunks, struct zor_chunk, i);
        struct lode_range packed = packed_bytes(data, chunk);
        if (chunk->lsize == 0 || !has_checksum(data, chunk))
            continue;
        if (decompress(&unpacker, data, real, packed, chunk->lsize, &has_memory))
            break;
        if (has_memory && decompress(&unpacker, data, page, packed, chunk->lsize, &has_memory)) {
            data->codec = page;
            data->is_page_layout = true;
            break;
        }
    }
    lode_zor_unpacker_free(&unpacker);
    return has_memory ? LODE_OK : lode_fail_memory(error);
}

static lode_status set_codec(struct zor_data *data, uint32_t flags, struct lode_array *chunks, size_t first,
                             struct lode_report *report)
{
    data->has_checksums = (flags & FLAG_CHECKSUMS) != 0;
    if ((flags & FLAGS_CODEC) == 0) {
        data->codec = ZOR_CODEC_NONE;
        return LODE_OK;
    }
    if ((flags & FLAGS_CODEC) <= 2)
        return tell_codec(data, flags, chunks, first, report->error);
    data->codec = ZOR_CODEC_UNKNOWN;
    chunks->count = first;
    return lode_report_add(report, ZOR_DATA_FLAGS, data->file, 4, "flags 0x%x: a compression of number %u",
                           flags, flags & FLAGS_CODEC);
}

lode_status lode_zor_scan(struct zor_data *data, struct lode_array *chunks, uint32_t store,
                          struct lode_report *report)
{
    struct scan scan = {
        .data = data, .chunks = chunks, .store = store, .report = report, .at = ZOR_HEADER_SIZE};
    size_t first = chunks->count;
    /* Most existing files have no header. */
    uint32_t flags = FLAG_CHECKSUMS | 1;
    bool has_header = data->bytes.size >= ZOR_HEADER_SIZE && memcmp(data->bytes.data, data_magic, 4) == 0;
    if (has_header) {
        flags = get_u32be(data->bytes.data + 4);
    } else {
        LODE_TRY(lode_report_add(report, ZOR_DATA_HEADER, data->file, 0, "there is no ZTS0 header"));
        scan.at = find_magic(&scan, 0);
    }
    while (scan.at < data->bytes.size)
        LODE_TRY(has_magic(data->bytes, scan.at) ? take_chunk(&scan) : pass_gap(&scan));
    return set_codec(data, flags, chunks, first, report);
}
