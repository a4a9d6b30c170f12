/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds the block of a profile from values in any order. */
#ifndef LODE_MODEL_BLOCK_BUILDER_H
#define LODE_MODEL_BLOCK_BUILDER_H

#include "base/array.h"
#include "base/blob.h"
#include "model/block.h"
#include <stdbool.h>

/* Sizes and offsets in blocks of profiles in the layout LODE_LAYOUT_LITTLE. */
enum {
    BLOCK_GROUP_SIZE = 12, /* context u32, index of its first value u64 */
    BLOCK_GROUP_START = 4,
    BLOCK_VALUE_SIZE = 10, /* metric id u16, number f64 */
    BLOCK_VALUE_NUMBER = 2
};

static inline lode_block block_of_profile(const unsigned char *groups, uint64_t group_count,
                                          const unsigned char *values, uint64_t value_count)
{
    return (lode_block){.value_count = value_count,
                        .group_count = (uint32_t)group_count,
                        .group_key_size = sizeof(uint32_t),
                        .value_key_size = sizeof(uint16_t),
                        .layout = LODE_LAYOUT_LITTLE,
                        .groups = groups,
                        .values = values};
}

struct lode_block_builder {
    struct lode_array values, runs;
    bool is_sorted;
    struct lode_blob value_bytes, group_bytes;
};

void lode_block_builder_init(struct lode_block_builder *self);
void lode_block_builder_free(struct lode_block_builder *self);
void lode_block_builder_clear(struct lode_block_builder *self);
/* Adds a value; skips zeros. */
lode_status lode_block_builder_add(struct lode_block_builder *self, uint32_t context, uint16_t id,
                                   double value, lode_error *error);
/*
 * The block, valid until the builder is cleared. Contexts are below `id_count`. LODE_ERR_ARGUMENT
 * if a context has two values of one id.
 */
lode_status lode_block_builder_end(struct lode_block_builder *self, uint32_t id_count, lode_block *out,
                                   lode_error *error);

#endif
