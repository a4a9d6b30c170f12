/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds the block of a profile from values in any order. */
#ifndef LODE_MODEL_BLOCK_BUILDER_H
#define LODE_MODEL_BLOCK_BUILDER_H

#include "base/memory/array.h"
#include "base/memory/blob.h"
#include "model/database/block.h"
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
    struct lode_blob bytes, sorted; /* values as in blocks: as they came; by context, if needed */
    struct lode_blob groups;        /* contiguous values of one context, likewise */
    uint16_t last_id;
    bool is_sorted;
};

void lode_block_builder_init(struct lode_block_builder *self);
void lode_block_builder_free(struct lode_block_builder *self);
void lode_block_builder_clear(struct lode_block_builder *self);
/* Adds a value; skips zeros. */
lode_status lode_block_builder_add(struct lode_block_builder *self, uint32_t context, uint16_t id,
                                   double value, lode_error *error);

/* How values of a block become others. */
struct lode_block_change {
    const uint16_t *ids; /* by id; LODE_BLOCK_NO_ID: unknown */
    double divisor;
};

enum {
    LODE_BLOCK_NO_ID = UINT16_MAX
};

/* Adds the values of a group. LODE_NOT_FOUND if an id is unknown: `unknown` is the first one. */
lode_status lode_block_builder_add_group(struct lode_block_builder *self, uint32_t context,
                                         const lode_block *block, const lode_group *group,
                                         const struct lode_block_change *change, uint32_t *unknown,
                                         lode_error *error);
/* How many values there are. */
static inline size_t lode_block_builder_count(const struct lode_block_builder *self)
{
    return self->bytes.size / BLOCK_VALUE_SIZE;
}

/*
 * The block, valid until the builder is cleared. Contexts are below `id_count`. LODE_ERR_ARGUMENT
 * if a context has two values of one id.
 */
lode_status lode_block_builder_end(struct lode_block_builder *self, uint32_t id_count, lode_block *out,
                                   lode_error *error);
/* Frees what the block does not need, once it is made. */
void lode_block_builder_trim(struct lode_block_builder *self);

#endif
