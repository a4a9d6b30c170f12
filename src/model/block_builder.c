/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/block_builder.h"

#include "base/error.h"
#include <stdlib.h>
#include <string.h>

struct value {
    double value;
    uint32_t context;
    uint16_t id;
};

/* Contiguous values of one context. */
struct run {
    uint32_t context;
    size_t first, count;
};

void lode_block_builder_init(struct lode_block_builder *self)
{
    *self = (struct lode_block_builder){.is_sorted = true};
    lode_array_init(&self->values, sizeof(struct value), SIZE_MAX);
    lode_array_init(&self->runs, sizeof(struct run), SIZE_MAX);
}

void lode_block_builder_free(struct lode_block_builder *self)
{
    lode_array_free(&self->values);
    lode_array_free(&self->runs);
    lode_blob_free(&self->value_bytes);
    lode_blob_free(&self->group_bytes);
}

void lode_block_builder_clear(struct lode_block_builder *self)
{
    self->values.count = self->runs.count = 0;
    self->value_bytes.size = self->group_bytes.size = 0;
    self->is_sorted = true;
}

lode_status lode_block_builder_add(struct lode_block_builder *self, uint32_t context, uint16_t id,
                                   double value, lode_error *error)
{
    if (value == 0.0)
        return LODE_OK;
    if (self->values.count > 0) {
        const struct value *last = LODE_ARRAY_AT(&self->values, struct value, self->values.count - 1);
        if (last->context > context || (last->context == context && last->id >= id))
            self->is_sorted = false;
    }
    struct value *added = lode_array_push(&self->values);
    LODE_TRY_ALLOC(added, error);
    *added = (struct value){value, context, id};
    return LODE_OK;
}

/* ---- order ---- */

static int compare_values(const void *left, const void *right)
{
    const struct value *a = left, *b = right;
    if (a->context != b->context)
        return a->context < b->context ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static lode_status find_runs(struct lode_block_builder *self, lode_error *error)
{
    const struct value *values = self->values.items;
    struct run *run = NULL;
    for (size_t i = 0; i < self->values.count; i++) {
        if (run == NULL || run->context != values[i].context) {
            run = lode_array_push(&self->runs);
            LODE_TRY_ALLOC(run, error);
            *run = (struct run){.context = values[i].context, .first = i};
        }
        run->count++;
    }
    return LODE_OK;
}

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

/* The few values of a run. */
static void sort_run(struct value *values, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct value value = values[i];
        size_t k = i;
        for (; k > 0 && values[k - 1].id > value.id; k--)
            values[k] = values[k - 1];
        values[k] = value;
    }
}

/* Sorts each run; false if a context has two runs, or a run is too long for insertion sort. */
static bool settle_runs(struct lode_block_builder *self)
{
    enum {
        FEW = 64
    };
    const struct run *runs = self->runs.items;
    for (size_t i = 0; i < self->runs.count; i++) {
        if (runs[i].count > FEW || (i > 0 && runs[i].context == runs[i - 1].context))
            return false;
        sort_run((struct value *)self->values.items + runs[i].first, runs[i].count);
    }
    return true;
}

static lode_status refuse_doubles(const struct lode_block_builder *self, lode_error *error)
{
    const struct value *values = self->values.items;
    for (size_t i = 1; i < self->values.count; i++)
        if (compare_values(&values[i - 1], &values[i]) == 0)
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                             "a profile has two values of metric id %u at one context", values[i].id);
    return LODE_OK;
}

/* Sorts by context. Callers mostly group values by context; then only the runs are sorted. */
static lode_status put_in_order(struct lode_block_builder *self, uint32_t id_count, lode_error *error)
{
    LODE_TRY(find_runs(self, error));
    if (self->is_sorted)
        return LODE_OK;
    LODE_TRY(sort_runs(self, id_count, error));
    if (settle_runs(self))
        return refuse_doubles(self, error);
    qsort(self->values.items, self->values.count, sizeof(struct value), compare_values);
    LODE_TRY(refuse_doubles(self, error));
    self->runs.count = 0;
    return find_runs(self, error);
}

/* ---- bytes ---- */

lode_status lode_block_builder_end(struct lode_block_builder *self, uint32_t id_count, lode_block *out,
                                   lode_error *error)
{
    LODE_TRY(put_in_order(self, id_count, error));
    const struct value *values = self->values.items;
    const struct run *runs = self->runs.items;
    if (lode_blob_reserve(&self->value_bytes, self->values.count * BLOCK_VALUE_SIZE, 1) == LODE_BLOB_FULL ||
        lode_blob_reserve(&self->group_bytes, self->runs.count * BLOCK_GROUP_SIZE, 1) == LODE_BLOB_FULL)
        return lode_fail_memory(error);
    uint8_t *group = self->group_bytes.bytes, *value = self->value_bytes.bytes;
    uint64_t start = 0;
    for (size_t i = 0; i < self->runs.count; i++, group += BLOCK_GROUP_SIZE) {
        put_u32le(group, runs[i].context);
        put_u64le(group + BLOCK_GROUP_START, start);
        start += runs[i].count;
        for (size_t k = runs[i].first; k < runs[i].first + runs[i].count; k++, value += BLOCK_VALUE_SIZE) {
            put_u16le(value, values[k].id);
            put_f64le(value + BLOCK_VALUE_NUMBER, values[k].value);
        }
    }
    *out = block_of_profile(self->group_bytes.bytes, self->runs.count, self->value_bytes.bytes,
                            self->values.count);
    return LODE_OK;
}
