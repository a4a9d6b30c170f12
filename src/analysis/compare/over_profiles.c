/* SPDX-License-Identifier: BSD-3-Clause */
/* The flat comparison by a statistic over the profiles of each run, instead of their sum. */
#include "analysis/compare/flat.h"
#include "analysis/cost/cost.h"
#include "analysis/cost/key.h"
#include "analysis/spread/spread.h"
#include "base/error.h"
#include "base/options.h"
#include "model/database/database.h"
#include <stdlib.h>
#include <string.h>

/* What one run needs: the row of each context, and the numbers of each row. */
struct columns {
    uint32_t *rows;
    unsigned char *uncounted;
    double *exclusive, *inclusive;
};

static void columns_free(struct columns *columns)
{
    free(columns->rows);
    free(columns->uncounted);
    free(columns->exclusive);
    free(columns->inclusive);
}

/* Rows that are shown and their numbers. */
struct numbering {
    const size_t *shown; /* NULL: all; their numbers are those of `self->rows` */
    size_t count;
};

/* The row of every context: that of the function it is in. */
static lode_status map_contexts(const lode_comparison *self, lode_compare_side side,
                                const struct lode_context_tree *tree, struct numbering numbering,
                                uint32_t *rows, lode_error *error)
{
    const struct lode_tree_names *names = lode_normalizer_tree(&self->normalizer, tree->nodes);
    struct lode_map row_of;
    lode_status status = LODE_OK;
    lode_map_init(&row_of);
    for (size_t i = 0; i < numbering.count && status == LODE_OK; i++) {
        uint32_t at = self->order[numbering.shown ? numbering.shown[i] : i];
        const struct lode_flat_row *row = LODE_ARRAY_AT(&self->rows, struct lode_flat_row, at);
        if (lode_map_add(&row_of, row->names[side], numbering.shown ? (uint32_t)i : at, NULL) == NULL)
            status = lode_fail_memory(error);
    }
    for (uint32_t i = 0; i < tree->count && status == LODE_OK; i++) {
        const lode_context *context = &tree->nodes[i];
        if (!begins_function(context)) {
            rows[i] = rows[context->parent];
            continue;
        }
        const uint32_t *row =
            lode_map_get(&row_of, lode_normal_function_known(&self->normalizer, names, context));
        rows[i] = row ? *row : LODE_NO_ROW;
    }
    lode_map_free(&row_of);
    return status;
}

/* As in `lode_hotspots`: the root and entry points count where they have a cost of their own. */
static void find_uncounted(const lode_cost *cost, unsigned char *uncounted)
{
    for (uint32_t i = 0; i < cost->tree->count; i++) {
        const lode_context *context = &cost->tree->nodes[i];
        bool stands_in = context->lexical == LODE_LEXICAL_ENTRY || context->lexical == LODE_LEXICAL_GLOBAL;
        uncounted[i] =
            begins_function(context) ? stands_in && cost->own[i] == 0.0 : uncounted[context->parent];
    }
}

static lode_status replace_column(lode_comparison *self, lode_compare_side side, size_t run, size_t metric,
                                  struct columns *columns, lode_spread_rows_options *options,
                                  lode_error *error)
{
    const lode_cost *cost = lode_flat_cost(self, side, run, metric);
    size_t column = lode_flat_column(self, side, run, metric);
    double scale = lode_flat_scale(self, side, run, metric);
    options->metric = cost->metric;
    find_uncounted(cost, columns->uncounted);
    LODE_TRY(lode_spread_rows(columns->exclusive, columns->inclusive, &self->totals[column], cost->db,
                              options, error));
    self->totals[column] *= scale;
    for (size_t row = 0; row < self->rows.count; row++) {
        double *value = lode_flat_value(self, row, column);
        value[0] = columns->exclusive[row] * scale;
        value[1] = columns->inclusive[row] * scale;
    }
    return LODE_OK;
}

static lode_status replace_run(lode_comparison *self, lode_compare_side side, size_t run,
                               const lode_compare_profiles_options *given, lode_error *error)
{
    const lode_cost *first = lode_flat_cost(self, side, run, 0);
    const lode_selection *const *selections =
        side == LODE_BASE ? given->base_selections : given->new_selections;
    lode_spread_rows_options options = LODE_SPREAD_ROWS_OPTIONS_INIT;
    struct columns columns = {.rows = calloc((size_t)first->tree->count + 1, sizeof *columns.rows),
                              .uncounted = calloc((size_t)first->tree->count + 1, 1),
                              .exclusive = calloc(self->rows.count + 1, sizeof *columns.exclusive),
                              .inclusive = calloc(self->rows.count + 1, sizeof *columns.inclusive)};
    options.rows = columns.rows;
    options.uncounted = columns.uncounted;
    options.row_count = self->rows.count;
    options.statistic = given->statistic;
    options.selection = selections ? selections[run] : NULL;
    options.memory = given->memory;
    options.threads = given->threads;
    options.on_progress = given->on_progress;
    options.user = given->user;
    options.pool = given->pool;
    bool has_memory = columns.rows && columns.uncounted && columns.exclusive && columns.inclusive;
    lode_status status = has_memory ? LODE_OK : lode_fail_memory(error);
    if (status == LODE_OK)
        status =
            map_contexts(self, side, first->tree, (struct numbering){NULL, self->count}, columns.rows, error);
    for (size_t metric = 0; metric < self->metrics && status == LODE_OK; metric++)
        status = replace_column(self, side, run, metric, &columns, &options, error);
    columns_free(&columns);
    return status;
}

static lode_status check_profiles(const lode_comparison *self, lode_error *error)
{
    bool has_profiles = self->options.by == LODE_BY_FUNCTION;
    for (int side = 0; side < LODE_SIDES; side++)
        for (size_t i = 0; i < self->runs[side] * self->metrics; i++)
            has_profiles &= self->costs[side][i]->db != NULL && self->costs[side][i]->metric != NULL;
    return has_profiles ? LODE_OK
                        : lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                                    "only functions of databases have costs by profile");
}

/* Whether a run of both sides is the same one: a comparison with itself reads values once. */
static bool is_same_run(const lode_comparison *self, size_t run, const lode_compare_profiles_options *options)
{
    if (run >= self->runs[LODE_BASE])
        return false;
    for (size_t i = 0; i < self->metrics; i++)
        if (lode_flat_cost(self, LODE_BASE, run, i) != lode_flat_cost(self, LODE_NEW, run, i) ||
            lode_flat_scale(self, LODE_BASE, run, i) != lode_flat_scale(self, LODE_NEW, run, i))
            return false;
    const lode_selection *base = options->base_selections ? options->base_selections[run] : NULL;
    return base == (options->new_selections ? options->new_selections[run] : NULL);
}

/* Rows that are joined have other names in base than in new, so they cannot be of one run. */
static void copy_run(lode_comparison *self, size_t run)
{
    for (size_t metric = 0; metric < self->metrics; metric++) {
        size_t from = lode_flat_column(self, LODE_BASE, run, metric);
        size_t to = lode_flat_column(self, LODE_NEW, run, metric);
        self->totals[to] = self->totals[from];
        for (size_t row = 0; row < self->rows.count; row++)
            memcpy(lode_flat_value(self, row, to), lode_flat_value(self, row, from), 2 * sizeof(double));
    }
}

lode_status lode_comparison_over_profiles(lode_comparison *comparison,
                                          const lode_compare_profiles_options *given, lode_error *error)
{
    lode_compare_profiles_options options = LODE_COMPARE_PROFILES_OPTIONS_INIT;
    LODE_TRY(lode_options_take(&options, given, error));
    LODE_TRY(check_profiles(comparison, error));
    for (int side = 0; side < LODE_SIDES; side++)
        for (size_t run = 0; run < comparison->runs[side]; run++)
            if (side == LODE_NEW && is_same_run(comparison, run, &options))
                copy_run(comparison, run);
            else
                LODE_TRY(replace_run(comparison, (lode_compare_side)side, run, &options, error));
    return LODE_OK;
}

/* ---- rows by profile ---- */

static lode_status take_values(const lode_cost *cost, const lode_compare_by_profile_options *options,
                               struct columns *columns, double scale, double *values, lode_error *error)
{
    lode_spread_rows_options ask = LODE_SPREAD_ROWS_OPTIONS_INIT;
    size_t count = options->row_count * cost->db->profile_count;
    ask.metric = cost->metric;
    ask.selection = options->selection;
    ask.rows = columns->rows;
    ask.row_count = options->row_count;
    ask.uncounted = columns->uncounted;
    ask.threads = options->threads;
    ask.on_progress = options->on_progress;
    ask.user = options->user;
    ask.pool = options->pool;
    LODE_TRY(lode_spread_rows_values(columns->exclusive, cost->db, &ask, NULL, error));
    for (size_t i = 0; i < count; i++)
        values[i] = columns->exclusive[2 * i + (options->is_inclusive ? 1 : 0)] * scale;
    return LODE_OK;
}

static lode_status check_rows(const lode_comparison *self, lode_compare_side side, size_t run,
                              const lode_compare_by_profile_options *options, lode_error *error)
{
    LODE_TRY(check_profiles(self, error));
    bool is_there = (side == LODE_BASE || side == LODE_NEW) && run < self->runs[side] &&
                    options->metric < self->metrics && (options->rows || options->row_count == 0);
    for (size_t i = 0; i < options->row_count && is_there; i++)
        is_there = options->rows[i] < self->count;
    return is_there ? LODE_OK
                    : lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "there is no such row");
}

lode_status lode_comparison_by_profile(const lode_comparison *comparison, lode_compare_side side, size_t run,
                                       const lode_compare_by_profile_options *given, double *values,
                                       lode_error *error)
{
    lode_compare_by_profile_options options = LODE_COMPARE_BY_PROFILE_OPTIONS_INIT;
    LODE_TRY(lode_options_take(&options, given, error));
    LODE_TRY(check_rows(comparison, side, run, &options, error));
    const lode_cost *cost = lode_flat_cost(comparison, side, run, options.metric);
    size_t contexts = (size_t)cost->tree->count + 1;
    struct columns columns = {
        .rows = calloc(contexts, sizeof *columns.rows),
        .uncounted = calloc(contexts, 1),
        .exclusive = calloc(2 * options.row_count * cost->db->profile_count + 1, sizeof(double))};
    bool has_memory = columns.rows && columns.uncounted && columns.exclusive;
    lode_status status = has_memory ? LODE_OK : lode_fail_memory(error);
    if (status == LODE_OK)
        status = map_contexts(comparison, side, cost->tree,
                              (struct numbering){options.rows, options.row_count}, columns.rows, error);
    if (status == LODE_OK) {
        find_uncounted(cost, columns.uncounted);
        status = take_values(cost, &options, &columns, lode_flat_scale(comparison, side, run, options.metric),
                             values, error);
    }
    columns_free(&columns);
    return status;
}
