/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/database/block.h"

#include "base/compare.h"
#include "base/error.h"
#include "base/getter.h"
#include "model/database/database.h"

lode_status lode_profile_block(const lode_database *db, uint32_t profile, lode_block *out, lode_error *error)
{
    if (profile >= db->profile_count)
        return lode_database_no_item(db, LODE_PART_PROFILE, "profile", profile, db->profile_count, error);
    return db->ops->profile_block(db, profile, out, error);
}

lode_status lode_context_block(const lode_database *db, uint32_t context_id, lode_block *out,
                               lode_error *error)
{
    const struct lode_part_info *part = &db->parts[LODE_PART_CONTEXT];
    if (!part->present)
        return lode_fail(error, LODE_ABSENT, part->file, LODE_NO_OFFSET, "there is no %s", part->file);
    if (context_id >= db->context_block_count)
        return lode_database_no_item(db, LODE_PART_CONTEXT, "context", context_id, db->context_block_count,
                                     error);
    return db->ops->context_block(db, context_id, out, error);
}

enum {
    PROFILE_ID_LEAST = 16 /* the smallest id of all formats, in bytes */
};

/* Both arrays lie inside the file, so the sum fits. */
static uint64_t block_size(const lode_block *block)
{
    return block->value_count * block_value_stride(block) + block->group_count * block_group_stride(block);
}

lode_status lode_profile_blocks_fit(const lode_database *db, lode_error *error)
{
    const struct lode_part_info *part = &db->parts[LODE_PART_PROFILE];
    uint64_t left = part->size;
    for (uint32_t i = 0; i < db->profile_count; i++) {
        lode_block block;
        uint32_t ids = 0;
        LODE_TRY(lode_profile_block(db, i, &block, error));
        /* A summary has no ids. */
        if (!lode_profile_is_summary(db, i))
            LODE_TRY(lode_profile_ids(db, i, NULL, 0, &ids, error));
        uint64_t size = block_size(&block) + (uint64_t)ids * PROFILE_ID_LEAST;
        if (size > left)
            return lode_fail(
                error, LODE_ERR_CORRUPT, part->file, LODE_NO_OFFSET,
                "profiles share their blocks or ids: those of the first %u exceed the size of the file",
                i + 1);
        left -= size;
    }
    return LODE_OK;
}

lode_status lode_context_blocks_fit(const lode_database *db, lode_error *error)
{
    const struct lode_part_info *part = &db->parts[LODE_PART_CONTEXT];
    uint64_t left = part->size;
    for (uint32_t i = 0; i < db->context_block_count; i++) {
        lode_block block;
        LODE_TRY(lode_context_block(db, i, &block, error));
        if (block_size(&block) > left)
            return lode_fail(error, LODE_ERR_CORRUPT, part->file, LODE_NO_OFFSET,
                             "contexts share their blocks: those of the first %u exceed the size of the file",
                             i + 1);
        left -= block_size(&block);
    }
    return LODE_OK;
}

LODE_GETTER(uint32_t, lode_database_context_block_count, lode_database, context_block_count);
LODE_GETTER(uint64_t, lode_block_value_count, lode_block, value_count);
LODE_GETTER(uint32_t, lode_block_group_count, lode_block, group_count);

lode_status lode_block_group(const lode_block *block, uint32_t index, lode_group *out, lode_error *error)
{
    if (index >= block->group_count)
        return LODE_END;
    uint64_t first = block_group_start(block, index);
    uint64_t end = block_group_end(block, index);
    if (first > end || end > block->value_count)
        return lode_fail(error, LODE_ERR_CORRUPT, block->file,
                         block->groups_offset + index * block_group_stride(block),
                         "values %llu to %llu of a block that has %llu", (unsigned long long)first,
                         (unsigned long long)end, (unsigned long long)block->value_count);
    *out = (lode_group){.key = block_group_key(block, index), .first = first, .count = end - first};
    return LODE_OK;
}

uint32_t lode_block_seek(const lode_block *block, uint32_t from, uint32_t key)
{
    /* Callers often look up ascending keys: gallop first. */
    uint32_t low = from, high = block->group_count;
    for (uint32_t step = 1; low < high && step < high - low; step *= 2) {
        if (block_group_key(block, low + step) >= key) {
            high = low + step;
            break;
        }
        low += step;
    }
    LODE_BISECT(low, high, block_group_key(block, middle) < key);
    return low;
}

lode_status lode_block_find(const lode_block *block, uint32_t key, lode_group *out, lode_error *error)
{
    uint32_t index = lode_block_seek(block, 0, key);
    if (index >= block->group_count || block_group_key(block, index) != key)
        return LODE_NOT_FOUND;
    return lode_block_group(block, index, out, error);
}

lode_status lode_block_read(const lode_block *block, uint64_t first, uint64_t count, lode_value *out)
{
    if (first > block->value_count || count > block->value_count - first)
        return LODE_ERR_ARGUMENT;
    for (uint64_t i = 0; i < count; i++)
        out[i] = (lode_value){block_value_key(block, first + i), block_value(block, first + i)};
    return LODE_OK;
}

uint64_t lode_group_seek(const lode_block *block, const lode_group *group, uint32_t key)
{
    uint64_t low = group->first, high = group->first + group->count;
    LODE_BISECT(low, high, block_value_key(block, middle) < key);
    return low;
}

lode_status lode_group_lookup(const lode_block *block, const lode_group *group, uint32_t key, double *out)
{
    uint64_t at = lode_group_seek(block, group, key);
    bool found = at < group->first + group->count && block_value_key(block, at) == key;
    *out = found ? block_value(block, at) : 0.0;
    return found ? LODE_OK : LODE_NOT_FOUND;
}

lode_status lode_block_lookup(const lode_block *block, uint32_t group_key, uint32_t value_key, double *out,
                              lode_error *error)
{
    lode_group group;
    *out = 0.0;
    lode_status status = lode_block_find(block, group_key, &group, error);
    return status == LODE_OK ? lode_group_lookup(block, &group, value_key, out) : status;
}

static lode_status fail_other_layout(const lode_block *block, lode_error *error)
{
    return lode_fail(error, LODE_ABSENT, block->file, LODE_NO_OFFSET,
                     "the layout of the file is not that of this machine");
}

lode_status lode_block_view(const lode_block *block, const void **bytes, size_t *stride, size_t *key_size,
                            lode_error *error)
{
    if (!layout_is_in_place(block->layout))
        return fail_other_layout(block, error);
    *bytes = block->values;
    *stride = (size_t)block_value_stride(block);
    *key_size = block->value_key_size;
    return LODE_OK;
}

lode_status lode_block_groups_view(const lode_block *block, const void **bytes, size_t *stride,
                                   size_t *key_size, lode_error *error)
{
    if (!layout_is_in_place(block->layout))
        return fail_other_layout(block, error);
    *bytes = block->groups;
    *stride = (size_t)block_group_stride(block);
    *key_size = block->group_key_size;
    return LODE_OK;
}
