/* SPDX-License-Identifier: BSD-3-Clause */
/* Callers and callees of a function: one walk over the call tree. */
#include "analysis/calls/calls.h"
#include "analysis/calls/calltree.h"
#include "analysis/cost/matches.h"
#include "base/error.h"
#include "base/memory/array.h"
#include "base/memory/map.h"
#include <stdlib.h>

#define NO_ROW UINT32_MAX

/* A row being computed, and how many of its calls are on the path from the root. */
struct row {
    lode_neighbour_row row;
    uint32_t rank;
    uint32_t active;
};

/* A context on that path that counts for a row. */
struct step {
    uint32_t end; /* index after its subtree */
    uint32_t row;
};

struct lode_neighbours {
    struct lode_array rows;
};

struct search {
    const lode_calltree *tree;
    lode_neighbour which;
    const lode_matches *matches;
    struct lode_map index; /* from function to row */
    struct lode_array path;
    lode_neighbours *result;
    lode_error *error;
};

/* ---- rows ---- */

static bool is_asked_for(const struct search *self, const lode_context *context)
{
    return self->matches->has[context->index];
}

/* The row of a function; NULL is outside of all calls. */
static uint32_t find_row(struct search *self, const lode_function *function)
{
    bool added;
    struct lode_array *rows = &self->result->rows;
    uint64_t key = function ? function->index + UINT64_C(1) : 0;
    const uint32_t *slot = lode_map_add(&self->index, key, (uint32_t)rows->count, &added);
    if (slot == NULL)
        return NO_ROW;
    if (added) {
        struct row *row = lode_array_push(rows);
        if (row == NULL)
            return NO_ROW;
        row->row.function = function;
    }
    return *slot;
}

/* A call of the row: its time counts unless it is inside another call of the same row. */
static lode_status count_calls(struct search *self, const lode_context *context,
                               const lode_function *function)
{
    uint32_t index = find_row(self, function);
    struct step *step = index != NO_ROW ? lode_array_push(&self->path) : NULL;
    LODE_TRY_ALLOC(step, self->error);
    *step = (struct step){context->index + context->subtree_size, index};
    struct row *row = LODE_ARRAY_AT(&self->result->rows, struct row, index);
    row->row.calls += self->tree->calls[context->index];
    row->row.self += self->tree->self[context->index];
    if (row->active++ == 0)
        row->row.total += self->tree->total[context->index];
    return LODE_OK;
}

static void leave_contexts(struct search *self, uint32_t index)
{
    while (self->path.count > 0) {
        const struct step *last = LODE_ARRAY_AT(&self->path, struct step, self->path.count - 1);
        if (index < last->end)
            return;
        LODE_ARRAY_AT(&self->result->rows, struct row, last->row)->active--;
        lode_array_pop(&self->path);
    }
}

static lode_status walk(struct search *self)
{
    const struct lode_context_tree *contexts = &self->tree->contexts;
    for (uint32_t i = 1; i < contexts->count; i++) {
        const lode_context *context = &contexts->nodes[i], *caller = &contexts->nodes[context->parent];
        leave_contexts(self, i);
        if (self->which == LODE_CALLERS && is_asked_for(self, context))
            LODE_TRY(count_calls(self, context, caller->function));
        if (self->which == LODE_CALLEES && is_asked_for(self, caller))
            LODE_TRY(count_calls(self, context, context->function));
    }
    return LODE_OK;
}

/* ---- order ---- */

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    if (a->row.total != b->row.total)
        return a->row.total > b->row.total ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Indices of functions in rows are below this. */
static uint32_t function_bound(const struct search *self)
{
    const struct lode_array *rows = &self->result->rows;
    uint32_t bound = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const lode_function *function = LODE_ARRAY_AT(rows, struct row, i)->row.function;
        if (function && function->index >= bound)
            bound = function->index + 1;
    }
    return bound;
}

static lode_status sort_rows(struct search *self)
{
    struct lode_array *rows = &self->result->rows;
    const lode_function **functions = calloc(rows->count + 1, sizeof *functions);
    uint32_t *ranks = calloc((size_t)function_bound(self) + 1, sizeof *ranks);
    lode_status status = functions && ranks ? LODE_OK : lode_fail_memory(self->error);
    size_t count = 0;
    for (size_t i = 0; i < rows->count && functions; i++) {
        const struct row *row = LODE_ARRAY_AT(rows, struct row, i);
        if (row->row.function)
            functions[count++] = row->row.function;
    }
    if (status == LODE_OK)
        status = lode_rank_functions(functions, count, ranks, self->error);
    for (size_t i = 0; i < rows->count && status == LODE_OK; i++) {
        struct row *row = LODE_ARRAY_AT(rows, struct row, i);
        row->rank = row->row.function ? ranks[row->row.function->index] + 1 : 0;
    }
    if (status == LODE_OK && rows->count > 1)
        qsort(rows->items, rows->count, sizeof(struct row), compare_rows);
    free(functions);
    free(ranks);
    return status;
}

/* ---- public API ---- */

lode_status lode_neighbours_of(lode_neighbours **out, const lode_calltree *tree, const lode_matches *matches,
                               lode_neighbour which, lode_error *error)
{
    *out = NULL;
    lode_neighbours *result = calloc(1, sizeof *result);
    LODE_TRY_ALLOC(result, error);
    lode_array_init(&result->rows, sizeof(struct row), SIZE_MAX);
    struct search self = {.tree = tree, .which = which, .matches = matches, .result = result, .error = error};
    lode_map_init(&self.index);
    lode_array_init(&self.path, sizeof(struct step), SIZE_MAX);
    lode_status status = walk(&self);
    if (status == LODE_OK)
        status = sort_rows(&self);
    lode_map_free(&self.index);
    lode_array_free(&self.path);
    if (status == LODE_OK)
        *out = result;
    else
        lode_neighbours_free(result);
    return status;
}

lode_status lode_neighbours_compute(lode_neighbours **out, const lode_calltree *tree, const char *name,
                                    lode_neighbour which, lode_error *error)
{
    lode_matches *matches = NULL;
    *out = NULL;
    lode_status status = lode_matches_of(&matches, &tree->contexts, name, LODE_NAME_FULL, error);
    if (status == LODE_OK)
        status = lode_neighbours_of(out, tree, matches, which, error);
    lode_matches_free(matches);
    return status;
}

void lode_neighbours_free(lode_neighbours *neighbours)
{
    if (neighbours == NULL)
        return;
    lode_array_free(&neighbours->rows);
    free(neighbours);
}

size_t lode_neighbours_count(const lode_neighbours *neighbours)
{
    return neighbours->rows.count;
}

const lode_neighbour_row *lode_neighbours_at(const lode_neighbours *neighbours, size_t index)
{
    return index < neighbours->rows.count ? &LODE_ARRAY_AT(&neighbours->rows, struct row, index)->row : NULL;
}
