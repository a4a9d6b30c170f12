/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of calls by function, and which of them a filter shows. */
#include "analysis/calls/rows.h"

#include "base/error.h"
#include <lode/unstable/match.h>
#include <stdlib.h>

static uint64_t sort_key(const lode_call_row *row, lode_calls_sort sort)
{
    switch (sort) {
    case LODE_CALLS_BY_SELF:
        return row->self;
    case LODE_CALLS_BY_CALLS:
        return row->calls;
    case LODE_CALLS_BY_MIN:
        return row->min;
    case LODE_CALLS_BY_MAX:
        return row->max;
    case LODE_CALLS_BY_ERRORS:
        return row->errors;
    case LODE_CALLS_BY_P50:
        return row->p50;
    case LODE_CALLS_BY_P95:
        return row->p95;
    case LODE_CALLS_BY_P99:
        return row->p99;
    case LODE_CALLS_BY_ELAPSED:
        return row->elapsed;
    case LODE_CALLS_BY_MEAN:
    case LODE_CALLS_BY_NAME:
        return 0;
    case LODE_CALLS_BY_TOTAL:
    default:
        return row->total;
    }
}

static int compare_rows(const void *left, const void *right, void *argument)
{
    const struct ranked *a = left, *b = right;
    const lode_calls_sort *sort = argument;
    uint64_t x = sort_key(&a->row, *sort), y = sort_key(&b->row, *sort);
    if (x != y)
        return x > y ? -1 : 1;
    if (*sort == LODE_CALLS_BY_MEAN && a->row.mean != b->row.mean)
        return a->row.mean > b->row.mean ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

lode_status lode_calls_sort_rows(lode_calls *calls, lode_calls_sort sort, lode_error *error)
{
    uint32_t most = 0;
    for (size_t i = 0; i < calls->count; i++)
        most = calls->rows[i].index > most ? calls->rows[i].index : most;
    const lode_function **functions = calloc(calls->count + 1, sizeof *functions);
    uint32_t *ranks = calloc((size_t)most + 1, sizeof *ranks);
    lode_status status = functions && ranks ? LODE_OK : lode_fail_memory(error);
    for (size_t i = 0; i < calls->count && functions; i++)
        functions[i] = calls->rows[i].row.function;
    if (status == LODE_OK)
        status = lode_rank_functions(functions, calls->count, ranks, error);
    if (status == LODE_OK) {
        for (size_t i = 0; i < calls->count; i++)
            calls->rows[i].rank = ranks[calls->rows[i].index];
        qsort_r(calls->rows, calls->count, sizeof *calls->rows, compare_rows, &sort);
    }
    free(functions);
    free(ranks);
    return status;
}

/* ---- rows of a result ---- */

/* How many of the functions of a row a filter shows. */
static uint32_t count_shown(const lode_calls *calls, const struct ranked *ranked, const lode_filter *filter)
{
    uint32_t shown = 0;
    if (calls->members == NULL)
        return lode_filter_shows_function(filter, ranked->row.function) != 0;
    for (uint32_t i = 0; i < ranked->row.functions; i++)
        shown += lode_filter_shows_function(filter, calls->members[ranked->member + i]) != 0;
    return shown;
}

struct selection {
    const lode_calls *calls;
    lode_calls_sort sort;
};

static int compare_places(const void *left, const void *right, void *argument)
{
    struct selection *self = argument;
    const struct ranked *rows = self->calls->rows;
    return compare_rows(&rows[*(const uint32_t *)left], &rows[*(const uint32_t *)right], &self->sort);
}

lode_status lode_calls_select(const lode_calls *calls, lode_calls_sort sort, const lode_filter *filter,
                              uint32_t *order, size_t *count, size_t *hidden, lode_error *error)
{
    struct selection self = {calls, sort};
    *count = *hidden = 0;
    for (size_t i = 0; i < calls->count; i++) {
        uint32_t functions = calls->rows[i].row.functions;
        uint32_t shown = filter ? count_shown(calls, &calls->rows[i], filter) : functions;
        if (shown > 0 && shown < functions)
            return lode_fail(error, LODE_ABSENT, NULL, LODE_NO_OFFSET,
                             "the filter shows %u of the %u functions of a row", shown, functions);
        if (shown > 0)
            order[(*count)++] = (uint32_t)i;
        *hidden += functions - shown;
    }
    LODE_TRY(lode_filter_status(filter, error));
    qsort_r(order, *count, sizeof *order, compare_places, &self);
    return LODE_OK;
}
