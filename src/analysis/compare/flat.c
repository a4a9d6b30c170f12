/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs the rows of both sides by key, then by simple name. */
#include "analysis/compare/flat.h"

#include "analysis/cost/cost.h"
#include "analysis/cost/key.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/getter.h"
#include "base/memory/map.h"
#include "base/options.h"
#include <lode/name.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows of one cost ---- */

struct key_finder {
    lode_comparison *comparison;
    const struct lode_tree_names *names;
};

static lode_status find_key(void *user, const lode_context *context, const lode_hotspot *names, uint32_t *key,
                            lode_error *error)
{
    struct key_finder *finder = user;
    lode_comparison *self = finder->comparison;
    return lode_normal_row(&self->normalizer, finder->names, self->options.by, context, names, key, error);
}

static lode_status group(lode_comparison *self, lode_hotspots **out, const lode_cost *cost, lode_error *error)
{
    struct key_finder finder = {self, lode_normalizer_tree(&self->normalizer, cost->tree->nodes)};
    struct lode_row_keys keys = {find_key, &finder};
    lode_hotspot_options options = LODE_HOTSPOT_OPTIONS_INIT;
    options.by = self->options.by;
    options.filter = self->options.filter;
    return lode_hotspots_group(out, cost, &options, lode_normal_groups(options.by) ? &keys : NULL, error);
}

/* The row of a key, added if new. */
static lode_status find_row(lode_comparison *self, const struct lode_normal_numbers *key, uint32_t *out,
                            lode_error *error)
{
    bool added;
    uint32_t *number = lode_map_add(&self->row_of, key->name, (uint32_t)self->rows.count, &added);
    LODE_TRY_ALLOC(number, error);
    *out = *number;
    if (!added)
        return LODE_OK;
    struct lode_flat_row *row = lode_array_push(&self->rows);
    LODE_TRY_ALLOC(row, error);
    row->key = *key;
    row->names[LODE_BASE] = row->names[LODE_NEW] = key->name;
    row->joined = *out;
    for (size_t i = 0; i < 2 * self->columns; i++)
        LODE_TRY_ALLOC(lode_array_push(&self->values), error);
    return LODE_OK;
}

static lode_status take_hotspot(lode_comparison *self, const lode_hotspot *hotspot, lode_compare_side side,
                                size_t column, double scale, lode_error *error)
{
    struct lode_normal_numbers key;
    uint32_t number;
    LODE_TRY(lode_normal_key_of(&self->normalizer, hotspot, self->options.by, &key, error));
    LODE_TRY(find_row(self, &key, &number, error));
    struct lode_flat_row *row = LODE_ARRAY_AT(&self->rows, struct lode_flat_row, number);
    if (row->hotspots[side] == NULL)
        row->hotspots[side] = hotspot;
    /* What is known of the row must hold on both sides. */
    if (row->key.module != key.module)
        row->key.module = 0;
    if (row->key.file != key.file)
        row->key.file = 0;
    double *value = lode_flat_value(self, number, column);
    value[0] += hotspot->exclusive * scale;
    value[1] += hotspot->inclusive * scale;
    return LODE_OK;
}

static lode_status take_cost(lode_comparison *self, lode_compare_side side, size_t run, size_t metric,
                             lode_error *error)
{
    const lode_cost *cost = lode_flat_cost(self, side, run, metric);
    size_t column = lode_flat_column(self, side, run, metric);
    double scale = lode_flat_scale(self, side, run, metric);
    lode_hotspots **table = &self->tables[column];
    LODE_TRY(group(self, table, cost, error));
    self->totals[column] = lode_cost_total(cost) * scale;
    size_t hidden = lode_hotspots_hidden(*table), count = lode_hotspots_count(*table);
    self->hidden = hidden > self->hidden ? hidden : self->hidden;
    for (size_t i = 0; i < count; i++)
        LODE_TRY(take_hotspot(self, lode_hotspots_at(*table, i), side, column, scale, error));
    return LODE_OK;
}

/* ---- simple names ---- */

/* Rows by simple name: how many each side has, and one of them. */
struct simple_name {
    uint32_t name; /* string */
    uint32_t count[LODE_SIDES], row[LODE_SIDES];
};

static lode_status simple_number(lode_comparison *self, const struct lode_flat_row *row, uint32_t *number,
                                 lode_error *error)
{
    char simple[1024];
    const char *name = lode_strings_at(&self->normalizer.strings, row->key.name);
    *number = row->key.name;
    if (strnlen(name, sizeof simple) == sizeof simple ||
        lode_normal_simple(name, simple, sizeof simple) >= sizeof simple)
        return LODE_OK;
    return lode_normal_text(&self->normalizer, simple, number, error);
}

static void join_rows(lode_comparison *self, uint32_t simple, uint32_t into, uint32_t from)
{
    struct lode_flat_row *rows = self->rows.items;
    rows[into].key.name = simple;
    rows[into].key.module = rows[into].key.module == rows[from].key.module ? rows[into].key.module : 0;
    rows[into].key.file = rows[into].key.file == rows[from].key.file ? rows[into].key.file : 0;
    rows[from].joined = into;
    rows[into].names[LODE_NEW] = rows[from].names[LODE_NEW];
    rows[into].hotspots[LODE_NEW] = rows[from].hotspots[LODE_NEW];
    rows[into].marks |= LODE_MATCHED_SIMPLE;
    for (size_t i = 0; i < self->columns; i++) {
        double *value = lode_flat_value(self, into, i), *other = lode_flat_value(self, from, i);
        value[0] += other[0];
        value[1] += other[1];
    }
}

static lode_status pair_simple(lode_comparison *self, struct lode_map *numbers, struct lode_array *names,
                               lode_error *error)
{
    for (uint32_t i = 0; i < self->rows.count; i++) {
        const struct lode_flat_row *row = LODE_ARRAY_AT(&self->rows, struct lode_flat_row, i);
        uint32_t number;
        bool added;
        LODE_TRY(simple_number(self, row, &number, error));
        uint32_t *index = lode_map_add(numbers, number, (uint32_t)names->count, &added);
        LODE_TRY_ALLOC(index && (!added || lode_array_push(names)), error);
        struct simple_name *name = LODE_ARRAY_AT(names, struct simple_name, *index);
        name->name = number;
        for (unsigned side = 0; side < LODE_SIDES; side++)
            if (row->hotspots[side]) {
                name->count[side]++;
                name->row[side] = i;
            }
    }
    for (size_t i = 0; i < names->count; i++) {
        const struct simple_name *name = LODE_ARRAY_AT(names, struct simple_name, i);
        if (name->count[0] == 1 && name->count[1] == 1 && name->row[0] != name->row[1])
            join_rows(self, name->name, name->row[0], name->row[1]);
    }
    return LODE_OK;
}

static lode_status join_simple(lode_comparison *self, lode_error *error)
{
    struct lode_map numbers;
    struct lode_array names;
    lode_map_init(&numbers);
    lode_array_init(&names, sizeof(struct simple_name), SIZE_MAX);
    lode_status status = pair_simple(self, &numbers, &names, error);
    lode_map_free(&numbers);
    lode_array_free(&names);
    return status;
}

/* ---- the result ---- */

double lode_flat_mean(const lode_comparison *self, size_t row, lode_compare_side side, size_t metric)
{
    double sum = 0.0;
    size_t runs = self->runs[side];
    for (size_t run = 0; run < runs; run++)
        sum += lode_flat_value(self, row, lode_flat_column(self, side, run, metric))[0];
    return sum / (double)runs;
}

struct sort_key {
    double change, size; /* absolute */
    const char *name;
    uint32_t row;
};

static int compare_sort_keys(const void *left, const void *right)
{
    const struct sort_key *a = left, *b = right;
    if (a->change != b->change)
        return a->change > b->change ? -1 : 1;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return strcmp(a->name, b->name);
}

static lode_status sort_rows(lode_comparison *self, lode_error *error)
{
    struct sort_key *keys = calloc(self->rows.count + 1, sizeof *keys);
    self->order = calloc(self->rows.count + 1, sizeof *self->order);
    if (keys == NULL || self->order == NULL) {
        free(keys);
        return lode_fail_memory(error);
    }
    for (uint32_t i = 0; i < self->rows.count; i++) {
        const struct lode_flat_row *row = LODE_ARRAY_AT(&self->rows, struct lode_flat_row, i);
        if (row->joined != i)
            continue;
        double a = lode_flat_mean(self, i, LODE_BASE, 0), b = lode_flat_mean(self, i, LODE_NEW, 0);
        keys[self->count++] = (struct sort_key){fabs(b - a), fabs(a) + fabs(b),
                                                lode_strings_at(&self->normalizer.strings, row->key.name), i};
    }
    qsort(keys, self->count, sizeof *keys, compare_sort_keys);
    for (size_t i = 0; i < self->count; i++)
        self->order[i] = keys[i].row;
    free(keys);
    return LODE_OK;
}

static lode_status show_rows(lode_comparison *self, lode_error *error)
{
    const struct lode_strings *strings = &self->normalizer.strings;
    self->shown = calloc(self->count + 1, sizeof *self->shown);
    LODE_TRY_ALLOC(self->shown, error);
    for (size_t i = 0; i < self->count; i++) {
        struct lode_flat_row *row = LODE_ARRAY_AT(&self->rows, struct lode_flat_row, self->order[i]);
        row->marks |= row->hotspots[LODE_NEW] == NULL    ? LODE_ONLY_IN_BASE
                      : row->hotspots[LODE_BASE] == NULL ? LODE_ONLY_IN_NEW
                                                         : 0;
        self->shown[i] = (lode_compare_row){.key = {lode_strings_at(strings, row->key.name),
                                                    lode_strings_at(strings, row->key.module),
                                                    lode_strings_at(strings, row->key.file)},
                                            .base_hotspot = row->hotspots[LODE_BASE],
                                            .new_hotspot = row->hotspots[LODE_NEW],
                                            .marks = row->marks,
                                            .renamed = SIZE_MAX};
    }
    return LODE_OK;
}

static double matched_share(const lode_comparison *self, lode_compare_side side, size_t metric)
{
    double matched = 0.0, all = 0.0;
    for (size_t i = 0; i < self->count; i++)
        for (size_t run = 0; run < self->runs[side]; run++) {
            double value =
                fabs(lode_flat_value(self, self->order[i], lode_flat_column(self, side, run, metric))[0]);
            all += value;
            if (!(self->shown[i].marks & (LODE_ONLY_IN_BASE | LODE_ONLY_IN_NEW)))
                matched += value;
        }
    return all > 0.0 ? matched / all : 1.0;
}

/* ---- public API ---- */

static lode_status take_side(lode_comparison *self, lode_compare_side side, lode_error *error)
{
    for (size_t run = 0; run < self->runs[side]; run++)
        for (size_t metric = 0; metric < self->metrics; metric++)
            LODE_TRY(take_cost(self, side, run, metric, error));
    return LODE_OK;
}

static lode_status add_trees(lode_comparison *self, lode_compare_side side, lode_error *error)
{
    for (size_t run = 0; run < self->runs[side]; run++)
        for (size_t metric = 0; metric < self->metrics; metric++)
            LODE_TRY(lode_normalizer_add(&self->normalizer, lode_flat_cost(self, side, run, metric)->tree,
                                         side, error));
    return LODE_OK;
}

static lode_status compute(lode_comparison *self, lode_error *error)
{
    LODE_TRY(lode_normalizer_begin(&self->normalizer, self->options.rules, error));
    self->normalizer.names = self->options.names;
    LODE_TRY(add_trees(self, LODE_BASE, error));
    LODE_TRY(add_trees(self, LODE_NEW, error));
    LODE_TRY(lode_normalizer_rank(&self->normalizer, error));
    LODE_TRY(take_side(self, LODE_BASE, error));
    LODE_TRY(take_side(self, LODE_NEW, error));
    if (self->options.by == LODE_BY_FUNCTION)
        LODE_TRY(join_simple(self, error));
    LODE_TRY(sort_rows(self, error));
    LODE_TRY(show_rows(self, error));
    LODE_TRY(lode_flat_mark(self, error));
    for (unsigned side = 0; side < LODE_SIDES; side++)
        for (size_t metric = 0; metric < self->metrics; metric++)
            self->matched[side][metric] = matched_share(self, (lode_compare_side)side, metric);
    return LODE_OK;
}

static lode_status prepare(lode_comparison *self, lode_error *error)
{
    if (self->runs[LODE_BASE] == 0 || self->runs[LODE_NEW] == 0 || self->metrics == 0)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "nothing to compare");
    self->columns = (self->runs[LODE_BASE] + self->runs[LODE_NEW]) * self->metrics;
    self->tables = calloc(self->columns, sizeof *self->tables);
    self->totals = calloc(self->columns, sizeof *self->totals);
    self->matched[LODE_BASE] = calloc(self->metrics, sizeof *self->matched[LODE_BASE]);
    self->matched[LODE_NEW] = calloc(self->metrics, sizeof *self->matched[LODE_NEW]);
    LODE_TRY_ALLOC(self->tables && self->totals && self->matched[LODE_BASE] && self->matched[LODE_NEW],
                   error);
    return compute(self, error);
}

static bool copy_costs(lode_comparison *self, lode_compare_side side, const lode_cost *const *costs)
{
    size_t count = self->runs[side] * self->metrics;
    self->costs[side] = calloc(count + 1, sizeof(const lode_cost *));
    for (size_t i = 0; self->costs[side] && i < count; i++)
        self->costs[side][i] = costs[i];
    return self->costs[side] != NULL;
}

lode_status lode_compare(lode_comparison **out, const lode_cost *const *base_costs, size_t base_runs,
                         const lode_cost *const *new_costs, size_t new_runs, size_t metrics,
                         const lode_compare_options *options, lode_error *error)
{
    lode_comparison *self = calloc(1, sizeof *self);
    *out = NULL;
    LODE_TRY_ALLOC(self, error);
    *self = (lode_comparison){
        .options = LODE_COMPARE_OPTIONS_INIT, .runs = {base_runs, new_runs}, .metrics = metrics};
    lode_map_init(&self->row_of);
    lode_array_init(&self->rows, sizeof(struct lode_flat_row), UINT32_MAX);
    lode_array_init(&self->values, sizeof(double), SIZE_MAX);
    lode_status status = lode_options_take(&self->options, options, error);
    if (status == LODE_OK &&
        !(copy_costs(self, LODE_BASE, base_costs) && copy_costs(self, LODE_NEW, new_costs)))
        status = lode_fail_memory(error);
    if (status == LODE_OK)
        status = prepare(self, error);
    if (status == LODE_OK)
        *out = self;
    else
        lode_comparison_free(self);
    return status;
}

void lode_comparison_free(lode_comparison *comparison)
{
    if (comparison == NULL)
        return;
    for (size_t i = 0; comparison->tables && i < comparison->columns; i++)
        lode_hotspots_free(comparison->tables[i]);
    free(comparison->tables);
    free(comparison->costs[LODE_BASE]);
    free(comparison->costs[LODE_NEW]);
    free(comparison->totals);
    free(comparison->matched[LODE_BASE]);
    free(comparison->matched[LODE_NEW]);
    lode_map_free(&comparison->row_of);
    lode_array_free(&comparison->rows);
    lode_array_free(&comparison->values);
    free(comparison->order);
    free(comparison->shown);
    free(comparison->moved);
    lode_normalizer_end(&comparison->normalizer);
    free(comparison);
}

LODE_GETTER(size_t, lode_comparison_count, lode_comparison, count);
LODE_GETTER(size_t, lode_comparison_hidden, lode_comparison, hidden);

const lode_compare_row *lode_comparison_at(const lode_comparison *comparison, size_t index)
{
    return index < comparison->count ? &comparison->shown[index] : NULL;
}

static bool is_column(const lode_comparison *self, lode_compare_side side, size_t run, size_t metric)
{
    return (side == LODE_BASE || side == LODE_NEW) && run < self->runs[side] && metric < self->metrics;
}

static double value_at(const lode_comparison *self, size_t row, lode_compare_side side, size_t run,
                       size_t metric, unsigned which)
{
    if (row >= self->count || !is_column(self, side, run, metric))
        return 0.0;
    return lode_flat_value(self, self->order[row], lode_flat_column(self, side, run, metric))[which];
}

double lode_comparison_exclusive(const lode_comparison *comparison, size_t row, lode_compare_side side,
                                 size_t run, size_t metric)
{
    return value_at(comparison, row, side, run, metric, 0);
}

double lode_comparison_inclusive(const lode_comparison *comparison, size_t row, lode_compare_side side,
                                 size_t run, size_t metric)
{
    return value_at(comparison, row, side, run, metric, 1);
}

double lode_comparison_total(const lode_comparison *comparison, lode_compare_side side, size_t run,
                             size_t metric)
{
    return is_column(comparison, side, run, metric)
               ? comparison->totals[lode_flat_column(comparison, side, run, metric)]
               : 0.0;
}

double lode_comparison_matched(const lode_comparison *comparison, lode_compare_side side, size_t metric)
{
    return is_column(comparison, side, 0, metric) ? comparison->matched[side][metric] : 1.0;
}

const char *lode_comparison_moved(const lode_comparison *comparison, size_t row, size_t metric)
{
    if (comparison->moved == NULL || row >= comparison->count || metric >= comparison->metrics)
        return NULL;
    uint32_t within = comparison->moved[metric * comparison->count + row];
    return within ? lode_strings_at(&comparison->normalizer.strings, within) : NULL;
}

lode_status lode_comparison_contexts(const lode_comparison *comparison, size_t row, lode_compare_side side,
                                     size_t run, const lode_context **contexts, size_t capacity,
                                     size_t *count, lode_error *error)
{
    *count = 0;
    if (comparison->options.by != LODE_BY_FUNCTION || row >= comparison->count ||
        !is_column(comparison, side, run, 0))
        return LODE_OK;
    const struct lode_context_tree *tree = lode_flat_cost(comparison, side, run, 0)->tree;
    const struct lode_tree_names *names = lode_normalizer_tree(&comparison->normalizer, tree->nodes);
    uint32_t wanted =
        LODE_ARRAY_AT(&comparison->rows, struct lode_flat_row, comparison->order[row])->names[side];
    unsigned char *inside = calloc(tree->count, 1);
    LODE_TRY_ALLOC(inside, error);
    for (uint32_t i = 0; i < tree->count; i++) {
        const lode_context *context = &tree->nodes[i];
        inside[i] = begins_function(context)
                        ? lode_normal_function_known(&comparison->normalizer, names, context) == wanted
                        : inside[context->parent];
        if (inside[i] && *count < capacity)
            contexts[*count] = context;
        *count += inside[i];
    }
    free(inside);
    return LODE_OK;
}
