/* SPDX-License-Identifier: BSD-3-Clause */
/* How the rows of a query are found. */
#include "base/compare.h"
#include "table/keys.h"
#include <lode/private/columns.h>
#include <stdlib.h>

enum {
    FEW = 1000,  /* rows of a table that does not say */
    OF_A_KEY = 8 /* rows that have one key, about */
};

/* ---- orders ---- */

static bool is_bound(const lode_scan_options *options, unsigned column)
{
    for (size_t i = 0; i < options->filter_count; i++)
        if (options->filters[i].column == column && options->filters[i].kind == LODE_FILTER_EQUAL)
            return true;
    return false;
}

static bool is_asked(const lode_scan_options *options, unsigned column)
{
    for (size_t i = 0; i < options->order_count; i++)
        if (options->order[i] == column)
            return true;
    return false;
}

/* Columns that a filter binds to one value are in any order, and drop out. */
static size_t free_columns(const unsigned *columns, size_t count, const lode_scan_options *options,
                           unsigned *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < count && kept < LODE_BATCH_COLUMNS; i++)
        if (!is_bound(options, columns[i]))
            out[kept++] = columns[i];
    return kept;
}

bool lode_table_order_serves(const struct lode_table_def *def, int order,
                             const struct lode_table_query *query)
{
    unsigned native[LODE_BATCH_COLUMNS], asked[LODE_BATCH_COLUMNS];
    const lode_scan_options *options = &query->options;
    size_t native_count = 0;
    size_t asked_count = free_columns(options->order, options->order_count, options, asked);
    if (order >= 0)
        native_count = free_columns(def->orders[order].columns, def->orders[order].count, options, native);
    if (asked_count > native_count)
        return false;
    for (size_t i = 0; i < asked_count; i++)
        if (query->adjacent ? !is_asked(options, native[i]) : native[i] != asked[i])
            return false;
    return true;
}

/* ---- numbered tables ---- */

static bool is_range(const lode_scan_filter *filter)
{
    return filter->kind == LODE_FILTER_AT_LEAST || filter->kind == LODE_FILTER_AT_MOST;
}

/* Rows that one filter leaves; all if it cannot be looked up. */
static double rows_of(const struct lode_table_def *def, const lode_scan_filter *filter, double rows)
{
    bool is_number = filter->column == def->number_column;
    if (is_range(filter) || (!is_number && !(def->found_columns >> filter->column & 1)))
        return rows;
    bool is_key = is_number || (def->info.fields[filter->column].flags & LODE_FIELD_KEY);
    double keys = filter->kind == LODE_FILTER_IN ? (double)filter->count : 1;
    double found = keys * (is_key ? 1 : OF_A_KEY);
    return found < rows ? found : rows;
}

static void plan_numbered(const struct lode_table_def *def, struct lode_table_query *query)
{
    struct lode_table_plan *plan = &query->plan;
    const lode_scan_options *options = &query->options;
    double rows = plan->rows, best = rows;
    plan->order = def->order_count > 0 ? 0 : LODE_NO_ORDER;
    for (size_t i = 0; i < options->filter_count; i++) {
        double found = rows_of(def, &options->filters[i], rows);
        if (found >= best)
            continue;
        best = found;
        plan->seeks = UINT64_C(1) << i;
    }
    /* Bounds of the number, unless keys are fewer. */
    double in_range = rows * lode_key_set_share(query, def->number_column, rows);
    if (best >= rows && in_range < rows) {
        best = in_range;
        for (size_t i = 0; i < options->filter_count; i++)
            if (options->filters[i].column == def->number_column && is_range(&options->filters[i]))
                plan->seeks |= UINT64_C(1) << i;
    }
    plan->rows = best;
    plan->cost = best + 1;
}

/* ---- plans ---- */

static bool is_whole_key_bound(const struct lode_table_def *def, const lode_scan_options *options)
{
    bool has_key = false;
    for (unsigned i = 0; i < def->info.field_count; i++) {
        if (!(def->info.fields[i].flags & LODE_FIELD_KEY))
            continue;
        has_key = true;
        if (!is_bound(options, i))
            return false;
    }
    return has_key;
}

/* Filters that are applied to rows leave some of them. */
static void guess_filtered(struct lode_table_query *query)
{
    struct lode_table_plan *plan = &query->plan;
    for (size_t i = 0; i < query->options.filter_count; i++) {
        if (plan->seeks >> i & 1)
            continue;
        plan->rows *= query->options.filters[i].kind == LODE_FILTER_EQUAL ? 0.1 : 0.3;
    }
    if (plan->is_unique)
        plan->rows = 1;
}

lode_status lode_table_plan(struct lode_tables *tables, const struct lode_table_def *def,
                            struct lode_table_query *query, lode_error *error)
{
    struct lode_table_plan *plan = &query->plan;
    *plan = (struct lode_table_plan){.order = LODE_NO_ORDER, .rows = FEW, .cost = FEW};
    if (def->count)
        LODE_TRY(def->count(tables, &plan->rows, error));
    plan->cost = plan->rows;
    if (def->plan)
        LODE_TRY(def->plan(tables, query, error));
    else if (def->is_numbered)
        plan_numbered(def, query);
    plan->is_unique = is_whole_key_bound(def, &query->options);
    guess_filtered(query);
    plan->is_ordered = query->options.order_count > 0;
    return LODE_OK;
}

/* ---- rows by number ---- */

static lode_status rows_of_key(struct lode_table_reader *reader, const lode_scan_filter *filter, uint64_t key,
                               uint32_t count, struct lode_table_rows *rows, lode_error *error)
{
    if (filter->column != reader->def->number_column)
        return reader->def->find(reader->tables, filter->column, key, rows, error);
    *rows = (struct lode_table_rows){NULL, key < count ? (uint32_t)key : 0, key < count};
    return LODE_OK;
}

static lode_status gather(struct lode_array *numbers, const struct lode_table_rows *rows, lode_error *error)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t *number = lode_array_push(numbers);
        LODE_TRY_ALLOC(number, error);
        *number = rows->numbers ? rows->numbers[i] : rows->first + i;
    }
    return LODE_OK;
}

/* The rows of several keys, in ascending order and once each. */
static lode_status gather_keys(struct lode_table_reader *reader, const lode_scan_filter *filter,
                               uint32_t count, struct lode_array *numbers, lode_error *error)
{
    struct lode_table_rows rows;
    for (size_t i = 0; i < filter->count; i++) {
        if (i > 0 && filter->numbers[i] == filter->numbers[i - 1])
            continue;
        LODE_TRY(rows_of_key(reader, filter, filter->numbers[i], count, &rows, error));
        LODE_TRY(gather(numbers, &rows, error));
    }
    if (numbers->count > 1)
        qsort(numbers->items, numbers->count, sizeof(uint32_t), lode_compare_u32);
    return LODE_OK;
}

static lode_status choose_list(struct lode_table_reader *reader, const lode_scan_filter *filter,
                               uint32_t count, lode_error *error)
{
    struct lode_array numbers;
    lode_array_init(&numbers, sizeof(uint32_t), SIZE_MAX);
    lode_status status = gather_keys(reader, filter, count, &numbers, error);
    /* The reader frees them. */
    reader->numbers = numbers.items;
    reader->rows = (struct lode_table_rows){numbers.items, 0, (uint32_t)numbers.count};
    return status;
}

lode_status lode_table_choose_rows(struct lode_table_reader *reader, uint32_t count, lode_error *error)
{
    const struct lode_table_query *query = reader->query;
    lode_status status = LODE_OK;
    reader->rows = (struct lode_table_rows){NULL, 0, count};
    const lode_scan_filter *lookup = NULL;
    for (size_t i = 0; query && i < query->options.filter_count; i++)
        if ((query->plan.seeks >> i & 1) && !is_range(&query->options.filters[i]))
            lookup = &query->options.filters[i];
    if (lookup && lookup->kind == LODE_FILTER_EQUAL) {
        status = rows_of_key(reader, lookup, lookup->numbers[0], count, &reader->rows, error);
    } else if (lookup) {
        status = choose_list(reader, lookup, count, error);
    } else if (query && query->plan.seeks) {
        struct lode_key_set set = lode_key_set_of(query, reader->def->number_column, count);
        uint64_t end = set.last < count ? set.last + 1 : count;
        reader->rows.first = set.first < end ? (uint32_t)set.first : 0;
        reader->rows.count = set.first < end ? (uint32_t)(end - set.first) : 0;
    }
    reader->total = reader->rows.count;
    return status;
}
