/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/database/block_builder.h"

#include "base/error.h"
#include <stdlib.h>
#include <string.h>

/* Contiguous values of one context. */
struct run {
    uint32_t context;
    size_t first, count;
};

void lode_block_builder_init(struct lode_block_builder *self)
{
    *self = (struct lode_block_builder){.is_sorted = true};
    lode_array_init(&self->runs, sizeof(struct run), SIZE_MAX);
}

void lode_block_builder_free(struct lode_block_builder *self)
{
    lode_array_free(&self->runs);
    lode_blob_free(&self->bytes);
    lode_blob_free(&self->sorted);
    lode_blob_free(&self->groups);
}

void lode_block_builder_clear(struct lode_block_builder *self)
{
    self->runs.count = self->bytes.size = self->sorted.size = self->groups.size = 0;
    self->is_sorted = true;
}

/* ---- values as they come ---- */

static struct run *run_at(const struct lode_block_builder *self, size_t index)
{
    return LODE_ARRAY_AT(&self->runs, struct run, index);
}

/* The run that values of a context go to: the last one, or a new one. NULL if out of memory. */
static struct run *run_of(struct lode_block_builder *self, uint32_t context)
{
    size_t first = self->bytes.size / BLOCK_VALUE_SIZE;
    if (self->runs.count > 0) {
        struct run *last = run_at(self, self->runs.count - 1);
        if (last->context == context)
            return last;
        self->is_sorted = self->is_sorted && last->context < context;
    }
    struct run *run = lode_array_push(&self->runs);
    if (run)
        *run = (struct run){.context = context, .first = first};
    return run;
}

static void put_value(struct lode_block_builder *self, struct run *run, uint8_t *at, uint16_t id,
                      double value)
{
    if (run->count > 0 && id <= self->last_id)
        self->is_sorted = false;
    self->last_id = id;
    run->count++;
    put_u16le(at, id);
    put_f64le(at + BLOCK_VALUE_NUMBER, value);
}

lode_status lode_block_builder_add(struct lode_block_builder *self, uint32_t context, uint16_t id,
                                   double value, lode_error *error)
{
    if (value == 0.0)
        return LODE_OK;
    struct run *run = run_of(self, context);
    size_t at = run ? lode_blob_extend(&self->bytes, BLOCK_VALUE_SIZE) : LODE_BLOB_FULL;
    LODE_TRY_ALLOC(at != LODE_BLOB_FULL, error);
    put_value(self, run, self->bytes.bytes + at, id, value);
    return LODE_OK;
}

lode_status lode_block_builder_add_group(struct lode_block_builder *self, uint32_t context,
                                         const lode_block *block, const lode_group *group,
                                         const struct lode_block_change *change, uint32_t *unknown,
                                         lode_error *error)
{
    struct run *run = run_of(self, context);
    size_t begin = self->bytes.size, at = begin;
    LODE_TRY_ALLOC(run && group->count <= SIZE_MAX / BLOCK_VALUE_SIZE, error);
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
        put_value(self, run, self->bytes.bytes + at, changed, value);
        at += BLOCK_VALUE_SIZE;
    }
    self->bytes.size = at;
    if (run->count == 0)
        lode_array_pop(&self->runs);
    return LODE_OK;
}

/* ---- order ---- */

/* Stable sort by context: a radix sort, as contexts are bounded numbers. */
static lode_status sort_runs(struct lode_block_builder *self, uint32_t id_count, lode_error *error)
{
    enum {
        BITS = 11,
        DIGITS = 1 << BITS
    };
    size_t count = self->runs.count;
    struct run *from = self->runs.items, *to = malloc((count + 1) * sizeof *to), *spare = to;
    LODE_TRY_ALLOC(to, error);
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
        memcpy(self->runs.items, spare, count * sizeof *spare);
    free(spare);
    return LODE_OK;
}

/* Copies the values in the order of runs, and makes runs of one context one. */
static lode_status gather_runs(struct lode_block_builder *self, lode_error *error)
{
    size_t kept = 0, at = lode_blob_extend(&self->sorted, self->bytes.size);
    LODE_TRY_ALLOC(at != LODE_BLOB_FULL, error);
    for (size_t i = 0; i < self->runs.count; i++) {
        struct run run = *run_at(self, i);
        memcpy(self->sorted.bytes + at, self->bytes.bytes + run.first * BLOCK_VALUE_SIZE,
               run.count * BLOCK_VALUE_SIZE);
        if (kept > 0 && run_at(self, kept - 1)->context == run.context) {
            run_at(self, kept - 1)->count += run.count;
        } else {
            run.first = at / BLOCK_VALUE_SIZE;
            *run_at(self, kept++) = run;
        }
        at += run.count * BLOCK_VALUE_SIZE;
    }
    self->runs.count = kept;
    return LODE_OK;
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

/* Callers mostly group values by context; then runs are sorted, and not many are to be joined. */
static lode_status put_in_order(struct lode_block_builder *self, uint32_t id_count, lode_error *error)
{
    LODE_TRY(sort_runs(self, id_count, error));
    LODE_TRY(gather_runs(self, error));
    for (size_t i = 0; i < self->runs.count; i++) {
        const struct run *run = run_at(self, i);
        uint8_t *values = self->sorted.bytes + run->first * BLOCK_VALUE_SIZE;
        sort_values(values, run->count);
        LODE_TRY(refuse_doubles(values, run->count, error));
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
    size_t count = self->runs.count;
    LODE_TRY_ALLOC(lode_blob_extend(&self->groups, count * BLOCK_GROUP_SIZE) != LODE_BLOB_FULL, error);
    uint8_t *group = self->groups.bytes;
    for (size_t i = 0; i < count; i++, group += BLOCK_GROUP_SIZE) {
        put_u32le(group, run_at(self, i)->context);
        put_u64le(group + BLOCK_GROUP_START, run_at(self, i)->first);
    }
    *out = block_of_profile(self->groups.bytes, count, values->bytes, values->size / BLOCK_VALUE_SIZE);
    return LODE_OK;
}

void lode_block_builder_trim(struct lode_block_builder *self)
{
    lode_array_free(&self->runs);
    lode_blob_free(self->is_sorted ? &self->sorted : &self->bytes);
}
