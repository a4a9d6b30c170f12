/* SPDX-License-Identifier: BSD-3-Clause */
#include "table/readers/blocks.h"

void lode_block_walk_begin(struct lode_block_walk *walk, uint32_t id)
{
    walk->id = id;
    walk->next_group = 0;
    walk->group_at = 0;
    walk->is_in_group = false;
    walk->last_group = 0;
}

/* ---- groups ---- */

/* The number of the next group that is wanted; group_count if none. */
static uint32_t seek_group(struct lode_block_walk *walk)
{
    const lode_block *block = &walk->block;
    const struct lode_key_set *set = &walk->groups;
    uint32_t i = walk->next_group;
    if (set->list == NULL) {
        if (i == 0 && set->first > 0)
            i = set->first > UINT32_MAX ? block->group_count
                                        : lode_block_seek(block, 0, (uint32_t)set->first);
        while (i < block->group_count && !lode_key_is_wanted(set, block_group_key(block, i)))
            i++;
        return i < block->group_count && block_group_key(block, i) > set->last ? block->group_count : i;
    }
    uint64_t key = i < block->group_count ? block_group_key(block, i) : 0;
    while (i < block->group_count && lode_key_set_next(set, key, &walk->group_at, &key)) {
        if (key > UINT32_MAX)
            break;
        i = lode_block_seek(block, i, (uint32_t)key);
        if (i < block->group_count && block_group_key(block, i) == key)
            return i;
        key = i < block->group_count ? block_group_key(block, i) : 0;
    }
    return block->group_count;
}

static lode_status wrong_order(const struct lode_block_walk *walk, lode_error *error)
{
    return lode_fail(error, LODE_ERR_CORRUPT, walk->block.file, LODE_NO_OFFSET,
                     "the values of %s %u are not in ascending order", walk->what, walk->id);
}

/* The values of a group between the bounds. */
static void bound_values(struct lode_block_walk *walk)
{
    const struct lode_key_set *set = &walk->keys;
    walk->first = walk->group.first;
    walk->end = walk->stop;
    walk->is_bound = true;
    if (set->first > set->last || set->first > UINT32_MAX)
        walk->first = walk->end;
    else if (set->first > 0)
        walk->first = lode_group_seek(&walk->block, &walk->group, (uint32_t)set->first);
    if (set->last < UINT32_MAX && walk->first < walk->end) {
        lode_group rest = {walk->group.key, walk->first, walk->end - walk->first};
        walk->end = lode_group_seek(&walk->block, &rest, (uint32_t)set->last + 1);
    }
}

static lode_status open_group(struct lode_block_walk *walk, lode_error *error)
{
    uint32_t number = seek_group(walk);
    if (number >= walk->block.group_count)
        return LODE_END;
    LODE_TRY(lode_block_group(&walk->block, number, &walk->group, error));
    if (walk->what && walk->group.key < walk->last_group)
        return wrong_order(walk, error);
    walk->last_group = (uint64_t)walk->group.key + 1;
    walk->next_group = number + 1;
    walk->is_in_group = true;
    walk->is_bound = false;
    walk->key_at = 0;
    walk->last_key = 0;
    walk->at = walk->group.first;
    walk->stop = walk->group.first + walk->group.count;
    return LODE_OK;
}

/* ---- values that are passed ---- */

bool lode_block_walk_can_pass(const struct lode_block_walk *walk)
{
    return walk->groups.list == NULL && walk->keys.list == NULL;
}

/* Whether all values in the bounds are wanted: their keys ascend, so the outermost ones tell. */
static bool is_all_wanted(const struct lode_block_walk *walk)
{
    const struct lode_key_set *set = &walk->keys;
    if (set->flags == NULL || walk->first >= walk->end)
        return true;
    return walk->what && set->is_range && block_value_key(&walk->block, walk->first) >= set->range_first &&
           block_value_key(&walk->block, walk->end - 1) <= set->range_last;
}

/* Sets what reading remembers of the values before. */
static void remember_key(struct lode_block_walk *walk)
{
    uint64_t read = walk->at < walk->end ? walk->at : walk->end;
    if (read > walk->first)
        walk->last_key = (uint64_t)block_value_key(&walk->block, read - 1) + 1;
}

static lode_status pass_group(struct lode_block_walk *walk, bool are_rows, uint64_t *count)
{
    uint64_t from = walk->at, stop = walk->stop;
    if (are_rows) {
        if (!walk->is_bound)
            bound_values(walk);
        if (!is_all_wanted(walk))
            return LODE_ERR_UNSUPPORTED;
        from = from > walk->first ? from : walk->first;
        stop = walk->end;
    }
    uint64_t values = stop > from ? stop - from : 0;
    walk->is_in_group = *count < values;
    if (walk->is_in_group) {
        walk->at = from + *count;
        *count = 0;
        if (!walk->is_bound)
            bound_values(walk);
        remember_key(walk);
    } else {
        *count -= values;
    }
    return LODE_OK;
}

/* Passes whole groups where all are wanted, as many as are sound. */
static void pass_groups(struct lode_block_walk *walk, uint64_t *count)
{
    const lode_block *block = &walk->block;
    const struct lode_key_set *set = &walk->groups;
    if (set->flags || set->first > 0 || set->last < UINT32_MAX || walk->next_group >= block->group_count)
        return;
    uint64_t start = block_group_start(block, walk->next_group);
    for (; walk->next_group < block->group_count; walk->next_group++) {
        uint64_t end = block_group_end(block, walk->next_group);
        uint64_t key = block_group_key(block, walk->next_group);
        if (end < start || end > block->value_count || end - start > *count ||
            (walk->what && key < walk->last_group))
            return;
        *count -= end - start;
        walk->last_group = key + 1;
        start = end;
    }
}

lode_status lode_block_walk_pass(struct lode_block_walk *walk, bool are_rows, uint64_t *count)
{
    while (*count > 0) {
        if (!walk->is_in_group && !are_rows)
            pass_groups(walk, count);
        if (!walk->is_in_group && *count > 0)
            LODE_TRY(open_group(walk, NULL));
        if (!walk->is_in_group)
            continue;
        LODE_TRY(pass_group(walk, are_rows, count));
    }
    return LODE_OK;
}

/* ---- values ---- */

/* De-interleaves `count` pairs. */
static void load_pairs(const lode_block *block, uint64_t at, uint64_t count, uint32_t *restrict keys,
                       double *restrict values)
{
    const uint8_t *p = block->values + at * block_value_stride(block);
    if (block->layout == LODE_LAYOUT_LITTLE && block->value_key_size == 4) {
        for (uint64_t i = 0; i < count; i++, p += 12) {
            keys[i] = get_u32le(p);
            values[i] = f64_of_bits(get_u64le(p + 4));
        }
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        keys[i] = block_value_key(block, at + i);
        values[i] = block_value(block, at + i);
    }
}

static bool ascend(const uint32_t *keys, uint64_t count, uint64_t last)
{
    bool is_wrong = count > 0 && keys[0] < last;
    for (uint64_t i = 1; i < count; i++)
        is_wrong |= keys[i] <= keys[i - 1];
    return !is_wrong;
}

static uint64_t drop_unwanted(const struct lode_key_set *set, uint64_t count, uint32_t *keys, double *values)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++) {
        keys[kept] = keys[i];
        values[kept] = values[i];
        kept += lode_key_is_wanted(set, keys[i]);
    }
    return kept;
}

/* Whether all of some ascending keys are wanted. */
static bool is_in_range(const struct lode_block_walk *walk, const uint32_t *keys, uint64_t count)
{
    const struct lode_key_set *set = &walk->keys;
    return walk->what && set->is_range && count > 0 && keys[0] >= set->range_first &&
           keys[count - 1] <= set->range_last;
}

static void fill_u32(uint32_t *restrict to, uint32_t number, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        to[i] = number;
}

/* Appends values at .. at + count - 1; there is room for them. */
static lode_status append(struct lode_block_walk *walk, struct lode_table_batch *batch, uint64_t at,
                          uint64_t count, lode_error *error)
{
    uint32_t *keys = (uint32_t *)batch->data[walk->key_column] + batch->rows;
    double *values = (double *)batch->data[walk->value_column] + batch->rows;
    load_pairs(&walk->block, at, count, keys, values);
    if (walk->what && count > 0) {
        if (!ascend(keys, count, walk->last_key))
            return wrong_order(walk, error);
        walk->last_key = (uint64_t)keys[count - 1] + 1;
    }
    if (walk->keys.flags && !is_in_range(walk, keys, count))
        count = drop_unwanted(&walk->keys, count, keys, values);
    fill_u32((uint32_t *)batch->data[walk->group_column] + batch->rows, walk->group.key, count);
    if (walk->block_column >= 0)
        fill_u32((uint32_t *)batch->data[walk->block_column] + batch->rows, walk->id, count);
    batch->rows += count;
    return LODE_OK;
}

/* The next value of a list of keys. LODE_END: none in this group. */
static lode_status append_listed(struct lode_block_walk *walk, struct lode_table_batch *batch,
                                 uint64_t *passed, lode_error *error)
{
    if (walk->at < walk->first)
        walk->at = walk->first;
    while (walk->at < walk->end) {
        uint64_t key = block_value_key(&walk->block, walk->at);
        if (!lode_key_set_next(&walk->keys, key, &walk->key_at, &key))
            return LODE_END;
        lode_group rest = {walk->group.key, walk->at, walk->end - walk->at};
        walk->at = lode_group_seek(&walk->block, &rest, (uint32_t)key);
        if (walk->at < walk->end && block_value_key(&walk->block, walk->at) == key) {
            ++*passed;
            batch->taken++;
            return append(walk, batch, walk->at++, 1, error);
        }
    }
    return LODE_END;
}

/* Where a batch ends does not depend on which values are wanted. LODE_END: none in this group. */
static lode_status append_run(struct lode_block_walk *walk, struct lode_table_batch *batch, uint64_t *passed,
                              lode_error *error)
{
    uint64_t room = batch->capacity - batch->taken, left = walk->stop - walk->at;
    uint64_t count = left < room ? left : room, stop = walk->at + count;
    uint64_t from = walk->at > walk->first ? walk->at : walk->first;
    uint64_t end = stop < walk->end ? stop : walk->end;
    if (from < end)
        LODE_TRY(append(walk, batch, from, end - from, error));
    walk->at = stop;
    *passed += count;
    batch->taken += count;
    return walk->at < walk->stop ? LODE_OK : LODE_END;
}

lode_status lode_block_walk_read(struct lode_block_walk *walk, struct lode_table_batch *batch,
                                 uint64_t *passed, lode_error *error)
{
    while (batch->taken < batch->capacity) {
        if (!walk->is_in_group)
            LODE_TRY(open_group(walk, error));
        if (!walk->is_bound)
            bound_values(walk);
        lode_status status = (walk->keys.list ? append_listed : append_run)(walk, batch, passed, error);
        if (status < 0)
            return status;
        walk->is_in_group = status == LODE_OK;
    }
    return LODE_OK;
}
