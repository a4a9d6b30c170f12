/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/database/block_builder.h"

#include "base/error.h"
#include <stdlib.h>
#include <string.h>

/* Contiguous values of one context, to sort. */
struct run {
    uint32_t context;
    size_t first, count;
};

void lode_block_builder_init(struct lode_block_builder *self)
{
    *self = (struct lode_block_builder){.is_sorted = true};
}

void lode_block_builder_free(struct lode_block_builder *self)
{
    lode_blob_free(&self->bytes);
    lode_blob_free(&self->sorted);
    lode_blob_free(&self->groups);
}

void lode_block_builder_clear(struct lode_block_builder *self)
{
    self->bytes.size = self->sorted.size = self->groups.size = 0;
    self->is_sorted = true;
}

/* ---- values as they come ---- */

/*
 * Groups are written as in blocks: mostly, values come sorted, and the groups are those of the
 * block.
 */
static size_t group_count(const struct lode_block_builder *self)
{
    return self->groups.size / BLOCK_GROUP_SIZE;
}

static uint32_t group_context(const struct lode_block_builder *self, size_t index)
{
    return get_u32le(self->groups.bytes + index * BLOCK_GROUP_SIZE);
}

static size_t group_first(const struct lode_block_builder *self, size_t index)
{
    return index < group_count(self)
               ? (size_t)get_u64le(self->groups.bytes + index * BLOCK_GROUP_SIZE + BLOCK_GROUP_START)
               : lode_block_builder_count(self);
}

static bool push_group(struct lode_block_builder *self, uint32_t context, size_t first)
{
    size_t at = lode_blob_extend(&self->groups, BLOCK_GROUP_SIZE);
    if (at == LODE_BLOB_FULL)
        return false;
    put_u32le(self->groups.bytes + at, context);
    put_u64le(self->groups.bytes + at + BLOCK_GROUP_START, first);
    return true;
}

/* Values of a context go to the last group, or to a new one. False if out of memory. */
static bool begin_values(struct lode_block_builder *self, uint32_t context)
{
    size_t count = group_count(self);
    if (count > 0) {
        uint32_t last = group_context(self, count - 1);
        if (last == context)
            return true;
        self->is_sorted = self->is_sorted && last < context;
    }
    return push_group(self, context, lode_block_builder_count(self));
}

/* `is_first` of its group. */
static void put_value(struct lode_block_builder *self, bool is_first, uint8_t *at, uint16_t id, double value)
{
    if (!is_first && id <= self->last_id)
        self->is_sorted = false;
    self->last_id = id;
    put_u16le(at, id);
    put_f64le(at + BLOCK_VALUE_NUMBER, value);
}

lode_status lode_block_builder_add(struct lode_block_builder *self, uint32_t context, uint16_t id,
                                   double value, lode_error *error)
{
    if (value == 0.0)
        return LODE_OK;
    LODE_TRY_ALLOC(begin_values(self, context), error);
    size_t first = group_first(self, group_count(self) - 1) * BLOCK_VALUE_SIZE;
    size_t at = lode_blob_extend(&self->bytes, BLOCK_VALUE_SIZE);
    LODE_TRY_ALLOC(at != LODE_BLOB_FULL, error);
    put_value(self, at == first, self->bytes.bytes + at, id, value);
    return LODE_OK;
}

lode_status lode_block_builder_add_group(struct lode_block_builder *self, uint32_t context,
                                         const lode_block *block, const lode_group *group,
                                         const struct lode_block_change *change, uint32_t *unknown,
                                         lode_error *error)
{
    LODE_TRY_ALLOC(begin_values(self, context) && group->count <= SIZE_MAX / BLOCK_VALUE_SIZE, error);
    size_t at = self->bytes.size, first = group_first(self, group_count(self) - 1) * BLOCK_VALUE_SIZE;
    LODE_TRY_ALLOC(lode_blob_extend(&self->bytes, (size_t)group->count * BLOCK_VALUE_SIZE) != LODE_BLOB_FULL,
                   error);
    for (uint64_t i = group->first; i < group->first + group->count; i++) {
        uint32_t id = block_value_key(block, i);
        uint16_t changed = id <= UINT16_MAX ? change->ids[id] : LODE_BLOCK_NO_ID;
        double value = block_value(block, i) / change->divisor;
        if (changed == LODE_BLOCK_NO_ID) {
            *unknown = id;
            return LODE_NOT_FOUND;
        }
        if (value == 0.0)
            continue;
        put_value(self, at == first, self->bytes.bytes + at, changed, value);
        at += BLOCK_VALUE_SIZE;
    }
    self->bytes.size = at;
    if (at == first)
        self->groups.size -= BLOCK_GROUP_SIZE;
    return LODE_OK;
}

/* ---- order ---- */

/* Stable sort by context: a radix sort, as contexts are bounded numbers. False if out of memory. */
static bool sort_runs(struct run *runs, size_t count, uint32_t id_count)
{
    enum {
        BITS = 11,
        DIGITS = 1 << BITS
    };
    struct run *from = runs, *to = malloc((count + 1) * sizeof *to), *spare = to;
    if (to == NULL)
        return false;
    bool is_moved = false;
    for (unsigned shift = 0; shift < 32 && (id_count - 1) >> shift > 0; shift += BITS) {
        size_t starts[DIGITS + 1] = {0};
        for (size_t i = 0; i < count; i++)
            starts[(from[i].context >> shift) % DIGITS + 1]++;
        for (size_t i = 1; i < DIGITS; i++)
            starts[i] += starts[i - 1];
        for (size_t i = 0; i < count; i++)
            to[starts[(from[i].context >> shift) % DIGITS]++] = from[i];
        struct run *swapped = from;
        from = to;
        to = swapped;
        is_moved = !is_moved;
    }
    if (is_moved)
        memcpy(runs, spare, count * sizeof *spare);
    free(spare);
    return true;
}

/* Copies the values in the order of runs; those of one context become one group. */
static bool gather_runs(struct lode_block_builder *self, const struct run *runs, size_t count)
{
    size_t at = lode_blob_extend(&self->sorted, self->bytes.size);
    bool done = at != LODE_BLOB_FULL;
    self->groups.size = 0;
    for (size_t i = 0; i < count && done; i++) {
        memcpy(self->sorted.bytes + at, self->bytes.bytes + runs[i].first * BLOCK_VALUE_SIZE,
               runs[i].count * BLOCK_VALUE_SIZE);
        if (i == 0 || runs[i - 1].context != runs[i].context)
            done = push_group(self, runs[i].context, at / BLOCK_VALUE_SIZE);
        at += runs[i].count * BLOCK_VALUE_SIZE;
    }
    return done;
}

static bool sort_groups(struct lode_block_builder *self, uint32_t id_count)
{
    size_t count = group_count(self);
    struct run *runs = malloc((count + 1) * sizeof *runs);
    for (size_t i = 0; runs && i < count; i++) {
        size_t first = group_first(self, i);
        runs[i] = (struct run){group_context(self, i), first, group_first(self, i + 1) - first};
    }
    bool done = runs && sort_runs(runs, count, id_count) && gather_runs(self, runs, count);
    free(runs);
    return done;
}

static int compare_values(const void *left, const void *right)
{
    uint16_t a = get_u16le(left), b = get_u16le(right);
    return a < b ? -1 : a > b;
}

/* Few values mostly, and mostly in order. */
static void sort_values(uint8_t *values, size_t count)
{
    enum {
        FEW = 64,
        SIZE = BLOCK_VALUE_SIZE
    };
    if (count > FEW) {
        qsort(values, count, SIZE, compare_values);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        uint8_t value[SIZE];
        size_t k = i;
        memcpy(value, values + i * SIZE, SIZE);
        for (; k > 0 && get_u16le(values + (k - 1) * SIZE) > get_u16le(value); k--)
            memcpy(values + k * SIZE, values + (k - 1) * SIZE, SIZE);
        memcpy(values + k * SIZE, value, SIZE);
    }
}

static lode_status refuse_doubles(const uint8_t *values, size_t count, lode_error *error)
{
    for (size_t i = 1; i < count; i++)
        if (compare_values(values + (i - 1) * BLOCK_VALUE_SIZE, values + i * BLOCK_VALUE_SIZE) == 0)
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                             "a profile has two values of metric id %u at one context",
                             get_u16le(values + i * BLOCK_VALUE_SIZE));
    return LODE_OK;
}

/* Callers mostly group values by context; then groups are sorted, and not many are to be joined. */
static lode_status put_in_order(struct lode_block_builder *self, uint32_t id_count, lode_error *error)
{
    LODE_TRY_ALLOC(sort_groups(self, id_count), error);
    for (size_t i = 0; i < group_count(self); i++) {
        size_t first = group_first(self, i), count = group_first(self, i + 1) - first;
        uint8_t *values = self->sorted.bytes + first * BLOCK_VALUE_SIZE;
        sort_values(values, count);
        LODE_TRY(refuse_doubles(values, count, error));
    }
    return LODE_OK;
}

/* ---- the block ---- */

lode_status lode_block_builder_end(struct lode_block_builder *self, uint32_t id_count, lode_block *out,
                                   lode_error *error)
{
    if (!self->is_sorted)
        LODE_TRY(put_in_order(self, id_count, error));
    const struct lode_blob *values = self->is_sorted ? &self->bytes : &self->sorted;
    *out = block_of_profile(self->groups.bytes, group_count(self), values->bytes,
                            values->size / BLOCK_VALUE_SIZE);
    return LODE_OK;
}

void lode_block_builder_trim(struct lode_block_builder *self)
{
    lode_blob_free(self->is_sorted ? &self->sorted : &self->bytes);
}
