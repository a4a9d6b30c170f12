/* SPDX-License-Identifier: BSD-3-Clause */
/* Compressed files of the text index: inverts the Burrows-Wheeler transform of their text. */
#include "base/error.h"
#include "base/io/bytes.h"
#include "format/zorka/rules.h"
#include "format/zorka/text.h"
#include <lz4.h>
#include <stdlib.h>
#include <zlib.h>

enum {
    HEADER_SIZE = 32,
    COUNTS_SIZE = 1024, /* the number of occurrences of each byte */
    BLOCK_SIZE = 14,
    CHECKSUM_AT = 24,
    RANK_SIZE = 7,
    BLOCK_DATA = 1,
    BLOCK_LZ4 = 2
};

struct fmi {
    struct lode_range bytes;
    const char *file;
    struct lode_report *report;
    bool is_big_endian;
    uint32_t block_count, size, first; /* blocks; bytes of the text; index of the first byte */
    struct lode_range blocks;
};

struct block {
    uint32_t offset, begin, checksum;
    uint8_t rank_count, flags;
};

static uint32_t number(const struct fmi *fmi, const uint8_t *at)
{
    return fmi->is_big_endian ? get_u32be(at) : get_u32le(at);
}

static struct block block_at(const struct fmi *fmi, uint32_t index)
{
    const uint8_t *at = fmi->blocks.data + (size_t)index * BLOCK_SIZE;
    return (struct block){number(fmi, at), number(fmi, at + 4), number(fmi, at + 8), at[12], at[13]};
}

static lode_status complain(const struct fmi *fmi, unsigned rule, uint64_t offset, const char *text)
{
    return lode_report_add(fmi->report, rule, fmi->file, offset, "%s", text);
}

/* ---- the header ---- */

static bool has_header(struct fmi *fmi)
{
    static const uint8_t little[4] = {'0', 'M', 'F', 'Z'}, big[4] = {'Z', 'F', 'M', '0'};
    if (fmi->bytes.size < HEADER_SIZE + COUNTS_SIZE)
        return false;
    const uint8_t *data = fmi->bytes.data;
    fmi->is_big_endian = memcmp(data, big, 4) == 0;
    if (!fmi->is_big_endian && memcmp(data, little, 4) != 0)
        return false;
    fmi->block_count = number(fmi, data + 4);
    fmi->size = number(fmi, data + 8);
    fmi->first = number(fmi, data + 28);
    return lode_range_array(fmi->bytes, HEADER_SIZE + COUNTS_SIZE, fmi->block_count, BLOCK_SIZE,
                            &fmi->blocks);
}

/* Covers the header and the tables after it, with zeros in place of the checksum. */
static bool has_header_checksum(const struct fmi *fmi)
{
    static const uint8_t zeros[4];
    const uint8_t *data = fmi->bytes.data;
    size_t size = HEADER_SIZE + COUNTS_SIZE + (size_t)fmi->blocks.size;
    uLong sum = crc32_z(crc32_z(0, NULL, 0), data, CHECKSUM_AT);
    sum = crc32_z(sum, zeros, sizeof zeros);
    sum = crc32_z(sum, data + CHECKSUM_AT + 4, size - CHECKSUM_AT - 4);
    return sum == number(fmi, data + CHECKSUM_AT);
}

static bool is_within_limits(const struct fmi *fmi)
{
    return fmi->size <= ZOR_TEXT_MAX && fmi->size / ZOR_TEXT_RATIO <= fmi->bytes.size &&
           (fmi->size == 0 || fmi->first < fmi->size);
}

/* ---- blocks ---- */

/* The bytes of a data block end where the next begin. Blocks without bytes also have an offset. */
static bool stored_bytes(const struct fmi *fmi, const struct block *block, uint32_t next_offset,
                         struct lode_range *stored)
{
    uint64_t ranks = (uint64_t)block->rank_count * RANK_SIZE, begin = block->offset + ranks;
    return begin <= next_offset && lode_range_part(fmi->bytes, begin, next_offset - begin, stored);
}

static bool unpack_block(const struct fmi *fmi, const struct block *block, uint32_t next_offset, uint8_t *out,
                         uint32_t size, unsigned *rule)
{
    struct lode_range stored;
    *rule = ZOR_TEXT_BLOCKS;
    if (!(block->flags & BLOCK_DATA)) {
        memset(out, block->rank_count, size);
        return true;
    }
    if (!stored_bytes(fmi, block, next_offset, &stored) || stored.size > INT32_MAX)
        return false;
    *rule = ZOR_TEXT_CHECKSUM;
    if (crc32_z(crc32_z(0, NULL, 0), stored.data, (size_t)stored.size) != block->checksum)
        return false;
    *rule = ZOR_TEXT_BLOCKS;
    if (block->flags & BLOCK_LZ4)
        return LZ4_decompress_safe((const char *)stored.data, (char *)out, (int)stored.size, (int)size) ==
               (int)size;
    if (stored.size != size)
        return false;
    memcpy(out, stored.data, size);
    return true;
}

/* Concatenates all blocks. False if they do not fill the transform, or one is damaged. */
static bool unpack_blocks(const struct fmi *fmi, uint8_t *out, unsigned *rule, uint64_t *where)
{
    uint32_t begin = 0;
    *rule = ZOR_TEXT_BLOCKS;
    for (uint32_t i = 0; i < fmi->block_count; i++) {
        struct block block = block_at(fmi, i);
        bool is_last = i + 1 == fmi->block_count;
        struct block next =
            is_last ? (struct block){(uint32_t)fmi->bytes.size, fmi->size, 0, 0, 0} : block_at(fmi, i + 1);
        *where = HEADER_SIZE + COUNTS_SIZE + (uint64_t)i * BLOCK_SIZE;
        if (block.begin != begin || next.begin < begin || next.begin > fmi->size ||
            !unpack_block(fmi, &block, next.offset, out + begin, next.begin - begin, rule))
            return false;
        begin = next.begin;
    }
    return begin == fmi->size;
}

/* ---- the transform ---- */

/* `next` maps each position of the sorted bytes to that byte's position in the transform. */
static void undo(const uint8_t *transform, uint32_t size, uint32_t first, uint32_t *next, uint8_t *out)
{
    uint32_t places[256] = {0}, sum = 0, at = first;
    for (uint32_t i = 0; i < size; i++)
        places[transform[i]]++;
    for (unsigned byte = 0; byte < 256; byte++) {
        uint32_t count = places[byte];
        places[byte] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < size; i++)
        next[places[transform[i]]++] = i;
    for (uint32_t i = 0; i < size; i++) {
        at = next[at];
        out[i] = transform[at];
    }
}

static lode_status undo_all(const struct fmi *fmi, uint8_t **out)
{
    unsigned rule;
    uint64_t where = 0;
    lode_status status = LODE_OK;
    uint8_t *transform = malloc((size_t)fmi->size + 1), *text = malloc((size_t)fmi->size + 1);
    uint32_t *next = malloc(((size_t)fmi->size + 1) * sizeof *next);
    if (transform == NULL || text == NULL || next == NULL)
        status = lode_fail_memory(fmi->report->error);
    else if (!unpack_blocks(fmi, transform, &rule, &where))
        status = complain(fmi, rule, where, "a block is damaged");
    else {
        undo(transform, fmi->size, fmi->first, next, text);
        *out = text;
        text = NULL;
    }
    free(transform);
    free(next);
    free(text);
    return status;
}

lode_status lode_zor_undo_fmi(struct lode_range bytes, const char *file, struct lode_report *report,
                              uint8_t **out, uint64_t *size)
{
    struct fmi fmi = {.bytes = bytes, .file = file, .report = report};
    *out = NULL;
    *size = 0;
    if (!has_header(&fmi) || bytes.size > UINT32_MAX)
        return complain(&fmi, ZOR_TEXT_HEADER, 0, "the file has no FMI header, or is too short for it");
    if (!has_header_checksum(&fmi))
        return complain(&fmi, ZOR_TEXT_CHECKSUM, CHECKSUM_AT, "the checksum of the header is wrong");
    if (!is_within_limits(&fmi))
        return complain(&fmi, ZOR_TEXT_BLOCKS, 8, "the index exceeds the size limit");
    *size = fmi.size;
    return undo_all(&fmi, out);
}
