/* SPDX-License-Identifier: BSD-3-Clause */
/* The public interface of tables: lode/table.h. */
#include "base/options.h"
#include "table/parts.h"
#include <lode/private/scan_plan.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 65536,      /* of a batch */
    ROWS_FIRST = 1024, /* of the first one: most look-ups need no more */
    ROWS_GROW = 4
};

struct lode_scan {
    struct lode_tables *tables;
    const struct lode_table_def *def;
    struct lode_table_query query;
    struct lode_table_reader reader;
    struct lode_table_batch batch;
    lode_column columns[LODE_BATCH_COLUMNS];
    const uint8_t *valid[LODE_BATCH_COLUMNS];
    lode_batch shown;
    uint64_t most, left_out;
    unsigned threads;
    struct lode_parts *parts; /* NULL: one thread reads, or nothing was worth more yet */
    bool has_begun;
    struct lode_arena arena; /* filters and their constants */
};

/* ---- tables ---- */

lode_status lode_tables_open(lode_tables **out, const lode_database *db, const lode_recording *recording,
                             const lode_tables_options *given, lode_error *error)
{
    lode_tables_options options = LODE_TABLES_OPTIONS_INIT;
    *out = NULL;
    LODE_TRY(lode_options_take(&options, given, error));
    if (!db == !recording)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "tables are those of one store");
    if (options.base && !options.base->db != !db)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "a database and a recording cannot be compared in a table");
    struct lode_tables *tables = calloc(1, sizeof *tables);
    LODE_TRY_ALLOC(tables, error);
    struct lode_table_choice choice = {.path = options.path,
                                       .selection = options.selection,
                                       .slice = options.slice,
                                       .names = options.names,
                                       .kinds = options.kinds,
                                       .on_finding = options.on_finding,
                                       .user = options.user,
                                       .pool = options.pool,
                                       .on_progress = options.on_progress,
                                       .progress_user = options.progress_user,
                                       .base = options.base};
    lode_status status = lode_tables_begin(tables, db, recording, &choice, error);
    if (status == LODE_OK)
        *out = tables;
    else
        lode_tables_close(tables);
    return status;
}

void lode_tables_hold(struct lode_tables *tables)
{
    atomic_fetch_add_explicit(&tables->references, 1, memory_order_relaxed);
}

void lode_tables_close(lode_tables *tables)
{
    if (tables == NULL || atomic_fetch_sub_explicit(&tables->references, 1, memory_order_acq_rel) > 1)
        return;
    lode_tables_end(tables);
    free(tables);
}

unsigned lode_tables_count(const lode_tables *tables)
{
    return tables->count + tables->function_count;
}

static const struct lode_table_def *def_at(const lode_tables *tables, unsigned number)
{
    return number < tables->count ? tables->defs[number] : tables->functions[number - tables->count];
}

const lode_table_info *lode_tables_at(const lode_tables *tables, unsigned number)
{
    return number < lode_tables_count(tables) ? &def_at(tables, number)->info : NULL;
}

const lode_table_info *lode_tables_find(const lode_tables *tables, const char *name)
{
    for (unsigned i = 0; i < lode_tables_count(tables); i++)
        if (strcmp(def_at(tables, i)->info.name, name) == 0)
            return &def_at(tables, i)->info;
    return NULL;
}

static lode_status def_of(const lode_tables *tables, const lode_table_info *info,
                          const struct lode_table_def **def, lode_error *error)
{
    for (unsigned i = 0; i < lode_tables_count(tables); i++) {
        *def = def_at(tables, i);
        if (&(*def)->info == info)
            return LODE_OK;
    }
    return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "a table of another store");
}

/* ---- queries ---- */

static lode_status no_column(const struct lode_table_def *def, unsigned column, lode_error *error)
{
    return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "the table %s has no column %u",
                     def->info.name, column);
}

static bool has_constants(const lode_scan_filter *filter, lode_column_type type)
{
    if (filter->count == 0)
        return filter->kind == LODE_FILTER_IN;
    return type == LODE_COLUMN_STRING ? filter->strings != NULL
           : type == LODE_COLUMN_F64  ? filter->reals != NULL
                                      : filter->numbers != NULL;
}

static lode_status check_filters(const struct lode_table_def *def, const lode_scan_options *options,
                                 bool needs_constants, lode_error *error)
{
    if (options->filter_count > LODE_SCAN_FILTERS || (options->filter_count > 0 && options->filters == NULL))
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "more than %d filters, or none",
                         LODE_SCAN_FILTERS);
    for (size_t i = 0; i < options->filter_count; i++) {
        const lode_scan_filter *filter = &options->filters[i];
        if (filter->column >= def->info.field_count)
            return no_column(def, filter->column, error);
        const lode_field *field = &def->info.fields[filter->column];
        bool is_wrong = (unsigned)filter->kind > LODE_FILTER_AT_MOST ||
                        (filter->kind != LODE_FILTER_IN && filter->count > 1) ||
                        (needs_constants && !has_constants(filter, field->type));
        if (is_wrong)
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                             "a filter on %s.%s that has no constants, or too many", def->info.name,
                             field->name);
        if ((field->flags & LODE_FIELD_ARGUMENT) && filter->kind != LODE_FILTER_EQUAL)
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                             "%s of %s is an argument: it can only be set", field->name, def->info.name);
    }
    return LODE_OK;
}

static lode_status check_arguments(const struct lode_table_def *def, const lode_scan_options *options,
                                   lode_error *error)
{
    for (unsigned i = 0; i < def->info.field_count; i++) {
        bool is_set = !(def->info.fields[i].flags & LODE_FIELD_REQUIRED);
        for (size_t k = 0; k < options->filter_count; k++)
            is_set |= options->filters[k].column == i;
        if (!is_set)
            return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "%s needs the argument '%s'",
                             def->info.name, def->info.fields[i].name);
    }
    return LODE_OK;
}

static lode_status check_order(const struct lode_table_def *def, const lode_scan_options *options,
                               lode_error *error)
{
    if (options->order_count > LODE_BATCH_COLUMNS || (options->order_count > 0 && options->order == NULL))
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "an order of %zu columns",
                         options->order_count);
    for (size_t i = 0; i < options->order_count; i++)
        if (options->order[i] >= def->info.field_count)
            return no_column(def, options->order[i], error);
    return LODE_OK;
}

static lode_status take_query(struct lode_table_query *query, const struct lode_table_def *def,
                              const lode_scan_options *given, bool needs_constants, lode_error *error)
{
    query->options = (lode_scan_options)LODE_SCAN_OPTIONS_INIT;
    LODE_TRY(lode_options_take(&query->options, given, error));
    LODE_TRY(check_filters(def, &query->options, needs_constants, error));
    LODE_TRY(check_order(def, &query->options, error));
    query->needed = query->options.columns ? query->options.columns : UINT64_MAX;
    for (size_t i = 0; i < query->options.filter_count; i++)
        query->needed |= UINT64_C(1) << query->options.filters[i].column;
    return LODE_OK;
}

lode_status lode_scan_plan_make_sized(lode_tables *tables, const lode_table_info *table,
                                      const lode_scan_options *options, int adjacent, lode_scan_plan *out,
                                      size_t out_size, lode_error *error)
{
    const struct lode_table_def *def;
    struct lode_table_query query = {.adjacent = adjacent != 0};
    LODE_TRY(def_of(tables, table, &def, error));
    LODE_TRY(take_query(&query, def, options, false, error));
    LODE_TRY(lode_table_plan(tables, def, &query, error));
    size_t count = query.options.filter_count;
    lode_scan_plan plan = {.filters_used =
                               count < LODE_SCAN_FILTERS ? (UINT64_C(1) << count) - 1 : UINT64_MAX,
                           .filters_found = query.plan.seeks,
                           .order_used = lode_table_order_serves(def, query.plan.order, &query),
                           .is_unique = query.plan.is_unique,
                           .rows = query.plan.rows,
                           .cost = query.plan.cost};
    lode_result_give(out, out_size, &plan, sizeof plan);
    return LODE_OK;
}

/* ---- scans ---- */

static void *copy_bytes(struct lode_arena *arena, const void *bytes, size_t count, size_t size)
{
    void *copy = lode_arena_alloc(arena, count * size + 1, sizeof(uint64_t));
    if (copy && count > 0)
        memcpy(copy, bytes, count * size);
    return copy;
}

static const char *const *copy_texts(struct lode_arena *arena, const char *const *texts, size_t count)
{
    const char **copy = lode_arena_alloc(arena, (count + 1) * sizeof *copy, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = copy_bytes(arena, texts[i], strlen(texts[i]) + 1, 1);
        if (copy[i] == NULL)
            return NULL;
    }
    return copy;
}

/* The caller's arrays need not stay. */
static lode_status keep_filters(lode_scan *scan, lode_error *error)
{
    lode_scan_options *options = &scan->query.options;
    lode_scan_filter *filters =
        copy_bytes(&scan->arena, options->filters, options->filter_count, sizeof *options->filters);
    LODE_TRY_ALLOC(filters, error);
    for (size_t i = 0; i < options->filter_count; i++) {
        lode_scan_filter *filter = &filters[i];
        lode_column_type type = scan->def->info.fields[filter->column].type;
        const void *kept = NULL;
        if (type == LODE_COLUMN_STRING)
            kept = filter->strings = copy_texts(&scan->arena, filter->strings, filter->count);
        else if (type == LODE_COLUMN_F64)
            kept = filter->reals = copy_bytes(&scan->arena, filter->reals, filter->count, sizeof(double));
        else
            kept = filter->numbers =
                copy_bytes(&scan->arena, filter->numbers, filter->count, sizeof(uint64_t));
        LODE_TRY_ALLOC(kept, error);
    }
    options->filters = filters;
    return LODE_OK;
}

/* Without filters that drop rows, the first ones need not be read. */
static void jump(lode_scan *scan)
{
    if (scan->left_out > 0 && !lode_table_has_filter(&scan->query))
        scan->left_out -= lode_table_reader_jump(&scan->reader, scan->left_out);
}

static unsigned threads_of(const lode_scan *scan)
{
    const lode_pool *pool = scan->tables->options.pool;
    if (!scan->reader.can_split)
        return 1;
    return scan->query.options.threads ? scan->query.options.threads : pool ? lode_pool_size(pool) : 1;
}

static lode_status begin(lode_scan *scan, const lode_scan_options *options, lode_error *error)
{
    LODE_TRY(take_query(&scan->query, scan->def, options, true, error));
    LODE_TRY(check_arguments(scan->def, &scan->query.options, error));
    LODE_TRY(keep_filters(scan, error));
    LODE_TRY(lode_table_plan(scan->tables, scan->def, &scan->query, error));
    if (!lode_table_order_serves(scan->def, scan->query.plan.order, &scan->query))
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "the table %s cannot be read in this order", scan->def->info.name);
    scan->query.options.order = NULL; /* the caller's */
    scan->left_out = scan->query.options.skip;
    scan->most = scan->query.options.rows ? scan->query.options.rows : ROWS;
    scan->query.options.rows = scan->most;
    scan->batch.needed = scan->query.needed;
    LODE_TRY(lode_table_reader_open(&scan->reader, scan->tables, scan->def, &scan->query, error));
    scan->threads = threads_of(scan);
    jump(scan);
    return LODE_OK;
}

lode_status lode_scan_open(lode_scan **out, lode_tables *tables, const lode_table_info *table,
                           const lode_scan_options *options, lode_error *error)
{
    const struct lode_table_def *def;
    *out = NULL;
    LODE_TRY(def_of(tables, table, &def, error));
    lode_scan *scan = calloc(1, sizeof *scan);
    LODE_TRY_ALLOC(scan, error);
    lode_arena_init(&scan->arena, SIZE_MAX);
    lode_tables_hold(tables);
    scan->tables = tables;
    scan->def = def;
    lode_status status = begin(scan, options, error);
    if (status == LODE_OK)
        *out = scan;
    else
        lode_scan_close(scan);
    return status;
}

void lode_scan_close(lode_scan *scan)
{
    if (scan == NULL)
        return;
    lode_parts_close(scan->parts);
    if (scan->reader.def)
        lode_table_reader_close(&scan->reader);
    lode_table_batch_free(&scan->batch);
    lode_arena_free(&scan->arena);
    lode_tables_close(scan->tables);
    free(scan);
}

/* Leaves out rows at the beginning. */
static uint64_t leave_out(lode_scan *scan, const struct lode_table_batch *batch)
{
    uint64_t out = scan->left_out < batch->rows ? scan->left_out : batch->rows;
    scan->left_out -= out;
    return out;
}

/* What the caller sees: from row `first` on, without columns that were not asked for. */
static const lode_batch *show(lode_scan *scan, const struct lode_table_batch *batch, uint64_t first)
{
    uint64_t asked = scan->query.options.columns ? scan->query.options.columns : UINT64_MAX;
    for (unsigned i = 0; i < batch->column_count; i++) {
        bool is_asked = asked >> i & 1;
        scan->columns[i] = batch->columns[i];
        scan->columns[i].count = is_asked ? batch->rows - first : 0;
        scan->columns[i].data =
            is_asked ? (const char *)batch->data[i] + first * batch->columns[i].stride : NULL;
        scan->valid[i] = is_asked && batch->valid[i] ? batch->valid[i] + first : NULL;
    }
    scan->shown = (lode_batch){batch->rows - first, batch->column_count, scan->columns, scan->valid};
    return &scan->shown;
}

/* The capacity of the next batch that one thread fills. */
static uint64_t next_capacity(const lode_scan *scan)
{
    uint64_t rows = scan->has_begun ? scan->batch.capacity * ROWS_GROW : ROWS_FIRST;
    return rows < scan->most ? rows : scan->most;
}

/* Several threads begin where batches have their full size, so that all have the same rows. */
static bool begins_parts(const lode_scan *scan)
{
    if (scan->threads < 2 || next_capacity(scan) < scan->most)
        return false;
    return scan->def->pass || !scan->has_begun || scan->reader.is_at_boundary;
}

static lode_status read_batch(lode_scan *scan, struct lode_table_batch **out, lode_error *error)
{
    if (scan->parts == NULL && begins_parts(scan))
        LODE_TRY(lode_parts_open(&scan->parts, &scan->reader, scan->threads, scan->most, error));
    if (scan->parts)
        return lode_parts_next(scan->parts, out, error);
    *out = &scan->batch;
    LODE_TRY(lode_table_batch_fit(&scan->batch, scan->def, next_capacity(scan), error));
    scan->has_begun = true;
    LODE_TRY(lode_table_reader_next(&scan->reader, &scan->batch, error));
    lode_table_filter(&scan->query, &scan->def->info, &scan->batch);
    return LODE_OK;
}

lode_status lode_scan_next(lode_scan *scan, const lode_batch **out, lode_error *error)
{
    for (;;) {
        struct lode_table_batch *batch;
        LODE_TRY(read_batch(scan, &batch, error));
        uint64_t first = leave_out(scan, batch);
        if (first < batch->rows) {
            *out = show(scan, batch, first);
            return LODE_OK;
        }
    }
}

uint64_t lode_scan_done(const lode_scan *scan)
{
    return scan->reader.done + (scan->parts ? lode_parts_done(scan->parts) : 0);
}

uint64_t lode_scan_total(const lode_scan *scan)
{
    return scan->reader.total;
}
