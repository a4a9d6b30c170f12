/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/hpctoolkit/loops.h"

#include "base/error.h"
#include <math.h>

/* The first value that is not before (loop, metric). */
static size_t seek(const struct lode_array *values, uint32_t loop, uint32_t metric)
{
    size_t low = 0, high = values->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct loop_value *value = LODE_ARRAY_AT(values, struct loop_value, middle);
        if (value->loop < loop || (value->loop == loop && value->metric < metric))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct loop_value *find(const struct lode_array *values, uint32_t loop, uint32_t metric)
{
    size_t at = seek(values, loop, metric);
    if (at == values->count)
        return NULL;
    struct loop_value *value = LODE_ARRAY_AT(values, struct loop_value, at);
    return value->loop == loop && value->metric == metric ? value : NULL;
}

lode_status lode_loops_add(struct lode_array *values, uint32_t loop, uint32_t enclosing, uint32_t metric,
                           double value, lode_error *error)
{
    struct loop_value *outer = enclosing ? find(values, enclosing, metric) : NULL;
    if (outer)
        outer->value -= value;
    struct loop_value *added = lode_array_push(values);
    LODE_TRY_ALLOC(added, error);
    *added = (struct loop_value){loop, metric, value, value};
    return LODE_OK;
}

void lode_loops_round(struct lode_array *values)
{
    for (size_t i = 0; i < values->count; i++) {
        struct loop_value *value = LODE_ARRAY_AT(values, struct loop_value, i);
        if (fabs(value->value) <= LOOPS_ROUNDING * fabs(value->whole))
            value->value = 0.0;
    }
}

const struct loop_value *lode_loops_find(const struct lode_array *values, uint32_t loop, uint32_t metric)
{
    return find(values, loop, metric);
}
