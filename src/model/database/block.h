/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks in place: packed arrays of (key, number) pairs, with keys of 2 or 4 bytes and numbers of
 * 8. The number of a group is the index of its first value; the number of a value is a double.
 */
#ifndef LODE_MODEL_BLOCK_H
#define LODE_MODEL_BLOCK_H

#include "base/io/bytes.h"
#include <lode/block.h>
#include <stdbool.h>

/* The layout of pairs; also of samples. */
enum lode_layout {
    LODE_LAYOUT_LITTLE, /* little-endian, keys first */
    LODE_LAYOUT_BIG     /* big-endian, keys of groups first, keys of values last */
};

/* Keys first, in the byte order of this machine: then pairs can be used in place. */
static inline bool layout_is_in_place(uint8_t layout)
{
    return layout == LODE_LAYOUT_LITTLE && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

static inline uint64_t block_group_stride(const lode_block *block)
{
    return (uint64_t)block->group_key_size + 8;
}

static inline uint64_t block_value_stride(const lode_block *block)
{
    return (uint64_t)block->value_key_size + 8;
}

static inline uint32_t block_key(const lode_block *block, const uint8_t *p, unsigned key_size)
{
    if (block->layout == LODE_LAYOUT_BIG)
        return key_size == 2 ? get_u16be(p) : get_u32be(p);
    return key_size == 2 ? get_u16le(p) : get_u32le(p);
}

static inline uint64_t block_number(const lode_block *block, const uint8_t *p)
{
    return block->layout == LODE_LAYOUT_BIG ? get_u64be(p) : get_u64le(p);
}

/* The index must be below group_count. */
static inline uint32_t block_group_key(const lode_block *block, uint32_t index)
{
    return block_key(block, block->groups + index * block_group_stride(block), block->group_key_size);
}

static inline uint64_t block_group_start(const lode_block *block, uint32_t index)
{
    return block_number(block, block->groups + index * block_group_stride(block) + block->group_key_size);
}

/* The index must be below value_count. */
static inline uint64_t block_group_end(const lode_block *block, uint32_t index)
{
    return index + 1 < block->group_count ? block_group_start(block, index + 1) : block->value_count;
}

static inline uint32_t block_value_key(const lode_block *block, uint64_t index)
{
    unsigned before = block->layout == LODE_LAYOUT_BIG ? 8 : 0;
    return block_key(block, block->values + index * block_value_stride(block) + before,
                     block->value_key_size);
}

static inline uint64_t block_value_bits(const lode_block *block, uint64_t index)
{
    unsigned before = block->layout == LODE_LAYOUT_BIG ? 0 : block->value_key_size;
    return block_number(block, block->values + index * block_value_stride(block) + before);
}

static inline double block_value(const lode_block *block, uint64_t index)
{
    return f64_of_bits(block_value_bits(block, index));
}

/*
 * LODE_ERR_CORRUPT if the blocks and id tuples of all profiles overlap, that is, exceed the size of
 * their file in total: reading or writing them could take far more time and space than the file.
 */
lode_status lode_profile_blocks_fit(const lode_database *db, lode_error *error);
/* Likewise for the blocks of contexts. */
lode_status lode_context_blocks_fit(const lode_database *db, lode_error *error);

/* The first group at or after `key`, from group `from` on; group_count if none. */
uint32_t lode_block_seek(const lode_block *block, uint32_t from, uint32_t key);
/* The first value of a group at or after `key`; the end of the group if none. */
uint64_t lode_group_seek(const lode_block *block, const lode_group *group, uint32_t key);
/* The value of `key` in a group; LODE_NOT_FOUND and 0.0 if none. */
lode_status lode_group_lookup(const lode_block *block, const lode_group *group, uint32_t key, double *out);

#endif
