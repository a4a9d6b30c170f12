/* SPDX-License-Identifier: BSD-3-Clause */
/* Marks of rows by function: those that were perhaps renamed. */
#include "analysis/compare/flat.h"

#include "analysis/compare/callees.h"
#include "analysis/cost/cost.h"
#include "analysis/cost/key.h"
#include "base/compare.h"
#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE LODE_NO_NUMBER

enum {
    LEFT_MAX = 4096 /* functions of one side only that are compared */
};

/* ---- perhaps renamed ---- */

/* A function of one side only, and what it calls. */
struct left_row {
    uint32_t row, side; /* row that is shown */
    struct lode_callees callees;
};

uint32_t lode_flat_row_of(const lode_comparison *self, const struct lode_tree_names *names,
                          const lode_context *context)
{
    uint32_t name = lode_normal_function_known(&self->normalizer, names, context);
    const uint32_t *row = name == NONE ? NULL : lode_map_get(&self->row_of, name);
    return row ? LODE_ARRAY_AT(&self->rows, struct lode_flat_row, *row)->joined : NONE;
}

/* Adds the callees of functions that are left, in one tree. */
static lode_status find_callees(const lode_comparison *self, const struct lode_context_tree *tree,
                                const uint32_t *left_of, struct left_row *left, lode_error *error)
{
    const struct lode_tree_names *names = lode_normalizer_tree(&self->normalizer, tree->nodes);
    uint32_t *caller = calloc(tree->count, sizeof *caller);
    LODE_TRY_ALLOC(caller, error);
    for (uint32_t i = 0; i < tree->count; i++) {
        const lode_context *context = &tree->nodes[i];
        uint32_t above = i ? caller[context->parent] : NONE;
        caller[i] = begins_function(context) ? lode_flat_row_of(self, names, context) : above;
        if (begins_function(context) && above != NONE && caller[i] != NONE && left_of[above] != NONE)
            lode_callees_add(&left[left_of[above]].callees, caller[i]);
    }
    free(caller);
    return LODE_OK;
}

static int compare_left(const void *left, const void *right)
{
    const struct left_row *a = left, *b = right;
    int result = lode_callees_compare(&a->callees, &b->callees);
    return result != 0 ? result : LODE_COMPARE(a->row, b->row);
}

static void pair_left(lode_comparison *self, struct left_row *left, size_t count)
{
    qsort(left, count, sizeof *left, compare_left);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin; end < count && lode_callees_compare(&left[begin].callees, &left[end].callees) == 0;)
            end++;
        /* Functions that call nothing look alike too easily. */
        if (end - begin != 2 || left[begin].callees.count == 0 || left[begin].side == left[begin + 1].side)
            continue;
        for (size_t i = 0; i < 2; i++) {
            self->shown[left[begin + i].row].marks |= LODE_PERHAPS_RENAMED;
            self->shown[left[begin + i].row].renamed = left[begin + 1 - i].row;
        }
    }
}

static size_t list_left(lode_comparison *self, uint32_t *left_of, struct left_row *left)
{
    size_t count = 0;
    memset(left_of, 0xff, self->rows.count * sizeof *left_of);
    for (uint32_t i = 0; i < self->count && count < LEFT_MAX; i++) {
        if (!(self->shown[i].marks & (LODE_ONLY_IN_BASE | LODE_ONLY_IN_NEW)))
            continue;
        left_of[self->order[i]] = (uint32_t)count;
        left[count++] = (struct left_row){
            .row = i,
            .side = (self->shown[i].marks & LODE_ONLY_IN_NEW) != 0,
            .callees.file = LODE_ARRAY_AT(&self->rows, struct lode_flat_row, self->order[i])->key.file};
    }
    return count;
}

static lode_status mark_renamed(lode_comparison *self, lode_error *error)
{
    uint32_t *left_of = calloc(self->rows.count + 1, sizeof *left_of);
    struct left_row *left = calloc(LEFT_MAX, sizeof *left);
    lode_status status = left_of && left ? LODE_OK : lode_fail_memory(error);
    size_t count = status == LODE_OK ? list_left(self, left_of, left) : 0;
    for (unsigned side = 0; side < LODE_SIDES && count > 1; side++)
        for (size_t run = 0; run < self->runs[side] && status == LODE_OK; run++)
            status = find_callees(self, lode_flat_cost(self, (lode_compare_side)side, run, 0)->tree, left_of,
                                  left, error);
    /* Beyond the limit the order of rows would decide. */
    if (status == LODE_OK && count > 1 && count < LEFT_MAX)
        pair_left(self, left, count);
    free(left_of);
    free(left);
    return status;
}

lode_status lode_flat_mark(lode_comparison *self, lode_error *error)
{
    if (self->options.by != LODE_BY_FUNCTION)
        return LODE_OK;
    LODE_TRY(lode_flat_find_moved(self, error));
    return mark_renamed(self, error);
}
