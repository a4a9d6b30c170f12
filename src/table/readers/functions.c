/* SPDX-License-Identifier: BSD-3-Clause */
#include "table/readers/functions.h"

#include <lode/private/columns.h>
#include <lode/unstable/query.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

const lode_scan_filter *lode_function_argument(const struct lode_table_reader *reader, const char *name)
{
    const lode_scan_options *options = reader->query ? &reader->query->options : NULL;
    for (size_t i = 0; options && i < options->filter_count; i++)
        if (strcmp(reader->def->info.fields[options->filters[i].column].name, name) == 0)
            return &options->filters[i];
    return NULL;
}

const char *lode_function_text(const struct lode_table_reader *reader, const char *name)
{
    const lode_scan_filter *filter = lode_function_argument(reader, name);
    return filter ? filter->strings[0] : NULL;
}

uint64_t lode_function_number(const struct lode_table_reader *reader, const char *name, uint64_t usual)
{
    const lode_scan_filter *filter = lode_function_argument(reader, name);
    return filter ? filter->numbers[0] : usual;
}

static lode_status put_argument(const struct lode_table_reader *reader, struct lode_table_batch *batch,
                                unsigned column, lode_error *error)
{
    const lode_field *field = &reader->def->info.fields[column];
    const lode_scan_filter *filter = lode_function_argument(reader, field->name);
    if (field->type == LODE_COLUMN_STRING)
        return lode_batch_text(batch, column, filter ? filter->strings[0] : NULL, error);
    if (field->type == LODE_COLUMN_F64) {
        lode_batch_f64(batch, column, filter ? filter->reals[0] : 0);
        batch->valid[column][batch->rows] = filter != NULL;
    } else if (filter == NULL) {
        lode_batch_null(batch, column);
    } else if (field->type == LODE_COLUMN_U32) {
        lode_batch_u32(batch, column, (uint32_t)filter->numbers[0]);
    } else {
        lode_batch_u64(batch, column, filter->numbers[0]);
    }
    return LODE_OK;
}

lode_status lode_function_rows(struct lode_table_reader *reader, struct lode_table_batch *batch,
                               lode_table_row_fn row, lode_error *error)
{
    const lode_table_info *info = &reader->def->info;
    uint64_t first = batch->rows;
    lode_status status = lode_table_next_rows(reader, batch, row, error);
    uint64_t end = batch->rows;
    for (batch->rows = first; status >= 0 && batch->rows < end; batch->rows++)
        for (unsigned i = 0; i < info->field_count; i++)
            if ((info->fields[i].flags & LODE_FIELD_ARGUMENT) && lode_batch_needs(batch, i))
                LODE_TRY(put_argument(reader, batch, i, error));
    batch->rows = end;
    return status;
}

lode_status lode_function_found(lode_status status, lode_error *error)
{
    if (status != LODE_NOT_FOUND)
        return status == LODE_ABSENT ? LODE_END : status;
    if (error)
        error->status = LODE_ERR_ARGUMENT;
    return LODE_ERR_ARGUMENT;
}

static void free_findings(struct lode_function_state *state)
{
    lode_array_free(&state->findings);
    lode_arena_free(&state->text);
}

void lode_function_close(struct lode_table_reader *reader)
{
    struct lode_function_state *state = reader->state;
    lode_hotspots_free(state->hotspots);
    lode_view_free(state->view);
    lode_timeline_free(state->timeline);
    lode_calls_free(state->calls);
    lode_calltree_free(state->tree);
    lode_search_free(state->search);
    free_findings(state);
    if (state->cost)
        lode_query_release(reader->tables->costs, state->cost);
    lode_selection_free(state->selection);
}

/* ---- costs ---- */

/* Costs stay in a cache: joins ask for them again and again. */
static lode_status open_costs(struct lode_tables *tables, lode_error *error)
{
    lode_query_options options = LODE_QUERY_OPTIONS_INIT;
    lode_status status = LODE_OK;
    options.pool = tables->options.pool;
    pthread_mutex_lock(&tables->lock);
    if (tables->costs == NULL)
        status = lode_query_open(&tables->costs, tables->db, &options, error);
    pthread_mutex_unlock(&tables->lock);
    return status;
}

static lode_status choose_metric(const struct lode_table_reader *reader, const lode_metric **metric,
                                 lode_error *error)
{
    const char *name = lode_function_text(reader, "metric");
    if (name)
        return lode_function_found(lode_database_find_metric(reader->tables->db, name, metric, error), error);
    /* Without metrics there are no rows. */
    lode_status status = lode_database_default_metric(reader->tables->db, metric, error);
    return status == LODE_NOT_FOUND ? LODE_END : status;
}

static lode_status choose_profiles(struct lode_table_reader *reader, const lode_selection **selection,
                                   lode_error *error)
{
    struct lode_function_state *state = reader->state;
    const char *profiles = lode_function_text(reader, "profiles");
    *selection = reader->tables->options.selection;
    if (profiles == NULL)
        return LODE_OK;
    LODE_TRY(lode_selection_parse(&state->selection, reader->tables->db, profiles, error));
    *selection = state->selection;
    return LODE_OK;
}

lode_status lode_function_cost(struct lode_tables *tables, lode_cost_options *options, const lode_cost **cost,
                               lode_error *error)
{
    LODE_TRY(open_costs(tables, error));
    options->threads = tables->options.pool ? 0 : 1;
    options->on_progress = tables->options.on_progress;
    options->user = tables->options.progress_user;
    return lode_query_cost(cost, tables->costs, options, error);
}

/* LODE_END if there is nothing that could cost anything. */
static lode_status find_cost(struct lode_table_reader *reader, lode_error *error)
{
    struct lode_function_state *state = reader->state;
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    LODE_TRY(choose_metric(reader, &options.metric, error));
    LODE_TRY(choose_profiles(reader, &options.selection, error));
    return lode_function_cost(reader->tables, &options, &state->cost, error);
}

/* A function that has no rows is no error. */
static lode_status rows_or_none(struct lode_table_reader *reader, lode_status status, size_t count,
                                lode_error *error)
{
    if (status < 0)
        return status;
    return lode_table_choose_rows(reader, status == LODE_OK ? (uint32_t)count : 0, error);
}

static const lode_field cost_fields[] = {{"context_id", LODE_COLUMN_U32, LODE_FIELD_KEY, "context"},
                                         {"inclusive", LODE_COLUMN_F64, 0, NULL},
                                         {"exclusive", LODE_COLUMN_F64, 0, NULL},
                                         TEXT_ARGUMENT("metric"),
                                         TEXT_ARGUMENT("profiles")};

static lode_status open_cost(struct lode_table_reader *reader, lode_error *error)
{
    lode_status status = find_cost(reader, error);
    return rows_or_none(reader, status, lode_database_context_count(reader->tables->db), error);
}

static lode_status cost_row(struct lode_table_reader *reader, struct lode_table_batch *batch, uint32_t i,
                            lode_error *error)
{
    const struct lode_function_state *state = reader->state;
    const lode_context *context = lode_database_context_at(reader->tables->db, i);
    (void)error;
    lode_batch_u32(batch, 0, lode_context_id(context));
    lode_batch_f64(batch, 1, lode_cost_inclusive(state->cost, context));
    lode_batch_f64(batch, 2, lode_cost_own(state->cost, context));
    return LODE_OK;
}

NEXT_OF(cost)

static lode_status find_by_context(struct lode_tables *tables, unsigned column, uint64_t key,
                                   struct lode_table_rows *rows, lode_error *error)
{
    const lode_context *context = key <= UINT32_MAX ? lode_database_context(tables->db, (uint32_t)key) : NULL;
    (void)column;
    (void)error;
    *rows = (struct lode_table_rows){NULL, context ? lode_context_index(context) : 0, context != NULL};
    return LODE_OK;
}

static lode_status count_contexts(struct lode_tables *tables, double *rows, lode_error *error)
{
    (void)error;
    *rows = lode_database_context_count(tables->db);
    return LODE_OK;
}

const struct lode_table_def lode_table_cost = {FUNCTION("costs by context, as 'lode tree' has them", cost),
                                               .number_column = UINT_MAX, .found_columns = 1,
                                               .find = find_by_context, .count = count_contexts};

/* ---- hotspots ---- */

static const lode_field hotspot_fields[] = {TEXT("name"),
                                            TEXT_OR_NULL("file"),
                                            U32_OR_NULL("line", NULL),
                                            TEXT_OR_NULL("module"),
                                            {"inclusive", LODE_COLUMN_F64, 0, NULL},
                                            {"exclusive", LODE_COLUMN_F64, 0, NULL},
                                            U32("contexts", NULL),
                                            TEXT_ARGUMENT("by"),
                                            TEXT_ARGUMENT("metric"),
                                            TEXT_ARGUMENT("profiles")};

static const char *const group_names[] = {"function", "line", "loop",   "module",
                                          "file",     NULL,   "symbol", "kind"};

lode_status lode_function_group(const struct lode_table_reader *reader, lode_group_by *by, lode_error *error)
{
    const char *name = lode_function_text(reader, "by");
    *by = LODE_BY_FUNCTION;
    for (unsigned i = 0; name && i < COUNT(group_names); i++)
        if (group_names[i] && strcmp(group_names[i], name) == 0) {
            *by = (lode_group_by)i;
            return LODE_OK;
        }
    if (name == NULL)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                     "rows are by function, line, loop, module, file, symbol or kind, not by '%s'", name);
}

static lode_status open_hotspot(struct lode_table_reader *reader, lode_error *error)
{
    struct lode_function_state *state = reader->state;
    lode_hotspot_options options = LODE_HOTSPOT_OPTIONS_INIT;
    LODE_TRY(lode_function_group(reader, &state->by, error));
    options.by = state->by;
    options.names = reader->tables->options.names;
    options.kinds = reader->tables->options.kinds;
    lode_status status = find_cost(reader, error);
    if (status == LODE_OK)
        status = lode_hotspots_select(&state->hotspots, state->cost, &options, error);
    return rows_or_none(reader, status, state->hotspots ? lode_hotspots_count(state->hotspots) : 0, error);
}

struct hotspot_name {
    const lode_hotspot *hotspot;
    lode_group_by by;
};

static size_t hotspot_label(const void *thing, char *buffer, size_t capacity)
{
    const struct hotspot_name *name = thing;
    return lode_hotspot_label(name->hotspot, buffer, capacity);
}

static lode_status hotspot_row(struct lode_table_reader *reader, struct lode_table_batch *batch, uint32_t i,
                               lode_error *error)
{
    const struct lode_function_state *state = reader->state;
    const lode_hotspot *hotspot = lode_hotspots_at(state->hotspots, i);
    struct hotspot_name name = {hotspot, state->by};
    LODE_TRY(lode_batch_label(batch, 0, hotspot_label, &name, error));
    LODE_TRY(lode_batch_text(batch, 1, hotspot->file ? lode_file_path(hotspot->file) : NULL, error));
    lode_batch_known_u32(batch, 2, hotspot->line);
    LODE_TRY(lode_batch_text(batch, 3, hotspot->module ? lode_module_path(hotspot->module) : NULL, error));
    lode_batch_f64(batch, 4, hotspot->inclusive);
    lode_batch_f64(batch, 5, hotspot->exclusive);
    lode_batch_u32(batch, 6, hotspot->contexts);
    return LODE_OK;
}

NEXT_OF(hotspot)
const struct lode_table_def lode_table_hotspot = {FUNCTION("what costs most, as 'lode top' has it", hotspot),
                                                  NO_ID};

/* ---- trees ---- */

static const lode_field tree_fields[] = {U32("depth", NULL),
                                         TEXT("name"),
                                         {"inclusive", LODE_COLUMN_F64, 0, NULL},
                                         {"exclusive", LODE_COLUMN_F64, 0, NULL},
                                         U32("context_id", "context"),
                                         U32("contexts", NULL),
                                         TEXT_ARGUMENT("metric"),
                                         TEXT_ARGUMENT("focus"),
                                         ARGUMENT("min_share", LODE_COLUMN_F64),
                                         TEXT_ARGUMENT("profiles")};

static lode_status open_tree(struct lode_table_reader *reader, lode_error *error)
{
    struct lode_function_state *state = reader->state;
    lode_view_options options = LODE_VIEW_OPTIONS_INIT;
    const lode_scan_filter *share = lode_function_argument(reader, "min_share");
    options.focus = lode_function_text(reader, "focus");
    options.names = reader->tables->options.names;
    if (share)
        options.min_fraction = share->reals[0];
    lode_status status = find_cost(reader, error);
    if (status == LODE_OK)
        status = lode_function_found(lode_view_build(&state->view, state->cost, &options, error), error);
    return rows_or_none(reader, status, state->view ? lode_view_count(state->view) : 0, error);
}

static lode_status tree_row(struct lode_table_reader *reader, struct lode_table_batch *batch, uint32_t i,
                            lode_error *error)
{
    const struct lode_function_state *state = reader->state;
    const lode_view_row *row = lode_view_at(state->view, i);
    lode_batch_u32(batch, 0, row->depth);
    LODE_TRY(lode_batch_context(batch, 1, row->context, reader->tables->options.names, error));
    lode_batch_f64(batch, 2, row->inclusive);
    lode_batch_f64(batch, 3, row->exclusive);
    lode_batch_u32(batch, 4, lode_context_id(row->context));
    lode_batch_u32(batch, 5, row->contexts);
    return LODE_OK;
}

NEXT_OF(tree)
const struct lode_table_def lode_table_tree = {
    FUNCTION("the call tree, depth first, as 'lode tree' has it", tree), NO_ID};

/* ---- distributions ---- */

static const lode_field distribution_fields[] = {
    {"n", LODE_COLUMN_U64, LODE_FIELD_SIGNED, NULL},
    {"zeros", LODE_COLUMN_U64, LODE_FIELD_SIGNED, NULL},
    {"min", LODE_COLUMN_F64, 0, NULL},
    {"p5", LODE_COLUMN_F64, 0, NULL},
    {"p25", LODE_COLUMN_F64, 0, NULL},
    {"p50", LODE_COLUMN_F64, 0, NULL},
    {"p75", LODE_COLUMN_F64, 0, NULL},
    {"p95", LODE_COLUMN_F64, 0, NULL},
    {"p99", LODE_COLUMN_F64, 0, NULL},
    {"max", LODE_COLUMN_F64, 0, NULL},
    {"mean", LODE_COLUMN_F64, 0, NULL},
    {"stddev", LODE_COLUMN_F64, 0, NULL},
    {"imbalance", LODE_COLUMN_F64, 0, NULL},
    {"context", LODE_COLUMN_U32, LODE_FIELD_ARGUMENT | LODE_FIELD_REQUIRED, "context"},
    TEXT_ARGUMENT("metric"),
    TEXT_ARGUMENT("profiles")};

/* Profiles that have values; of those without at this context, the value is 0. */
static lode_status count_profile(const struct lode_table_reader *reader, const lode_selection *selection,
                                 uint32_t profile, double value, double *values, size_t *count,
                                 lode_error *error)
{
    struct lode_function_state *state = reader->state;
    const lode_database *db = reader->tables->db;
    lode_block block;
    int selected;
    LODE_TRY(lode_selection_has(selection, db, profile, &selected, error));
    if (!selected)
        return LODE_OK;
    LODE_TRY(lode_profile_block(db, profile, &block, error));
    if (lode_block_value_count(&block) == 0)
        return LODE_OK;
    state->zeros += value == 0;
    values[(*count)++] = value;
    return LODE_OK;
}

/* The values of a context, in the places of their profiles. */
static lode_status read_values(const lode_database *db, uint32_t context, uint16_t metric, double *values,
                               uint32_t profiles, lode_error *error)
{
    lode_block block;
    lode_group group;
    lode_status status = lode_context_block(db, context, &block, error);
    if (status == LODE_OK) {
        status = lode_block_find(&block, metric, &group, error);
        for (uint64_t i = 0; status == LODE_OK && i < group.count; i++) {
            lode_value value;
            LODE_TRY(lode_block_read(&block, group.first + i, 1, &value));
            if (value.key < profiles)
                values[value.key] = value.value;
        }
        return status == LODE_NOT_FOUND ? LODE_OK : status;
    }
    if (status != LODE_ABSENT)
        return status == LODE_NOT_FOUND ? LODE_OK : status;
    for (uint32_t i = 0; i < profiles; i++) {
        LODE_TRY(lode_profile_block(db, i, &block, error));
        status = lode_block_lookup(&block, context, metric, &values[i], error);
        if (status < 0)
            return status;
    }
    return LODE_OK;
}

static lode_status compute_distribution(struct lode_table_reader *reader, uint32_t context, double *values,
                                        lode_error *error)
{
    struct lode_function_state *state = reader->state;
    const lode_database *db = reader->tables->db;
    uint32_t profiles = lode_database_profile_count(db);
    const lode_metric *metric;
    const lode_selection *selection;
    uint16_t id;
    size_t count = 0;
    LODE_TRY(choose_metric(reader, &metric, error));
    LODE_TRY(choose_profiles(reader, &selection, error));
    if (lode_metric_id(metric, LODE_SCOPE_EXECUTION, &id) != LODE_OK)
        return LODE_END;
    LODE_TRY(read_values(db, context, id, values, profiles, error));
    /* Values move down over those that were counted. */
    for (uint32_t i = 0; i < profiles; i++)
        LODE_TRY(count_profile(reader, selection, i, values[i], values, &count, error));
    lode_distribution_of(&state->distribution, values, count);
    return LODE_OK;
}

static lode_status open_distribution(struct lode_table_reader *reader, lode_error *error)
{
    uint64_t context = lode_function_number(reader, "context", UINT64_MAX);
    double *values = calloc((size_t)lode_database_profile_count(reader->tables->db) + 1, sizeof *values);
    LODE_TRY_ALLOC(values, error);
    lode_status status =
        context <= UINT32_MAX ? compute_distribution(reader, (uint32_t)context, values, error) : LODE_END;
    free(values);
    return rows_or_none(reader, status, 1, error);
}

static lode_status distribution_row(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                    uint32_t i, lode_error *error)
{
    const struct lode_function_state *state = reader->state;
    const lode_distribution *d = &state->distribution;
    const double numbers[] = {d->min, d->p5,  d->p25,  d->p50,    d->p75,      d->p95,
                              d->p99, d->max, d->mean, d->stddev, d->imbalance};
    (void)i;
    (void)error;
    lode_batch_u64(batch, 0, d->count);
    lode_batch_u64(batch, 1, state->zeros);
    for (unsigned k = 0; k < COUNT(numbers); k++)
        lode_batch_f64(batch, 2 + k, numbers[k]);
    return LODE_OK;
}

NEXT_OF(distribution)
const struct lode_table_def lode_table_distribution = {
    FUNCTION("how the values of a context spread over profiles, as 'lode context' has it", distribution),
    NO_ID};

/* ---- timelines ---- */

static const lode_field timeline_fields[] = {U32("profile_id", "profile"),
                                             U32("bin", NULL),
                                             I64("begin_ns", LODE_FIELD_TIME),
                                             U32_OR_NULL("context_id", NULL),
                                             TEXT_OR_NULL("name"),
                                             TIME_ARGUMENT("from_ns"),
                                             TIME_ARGUMENT("to_ns"),
                                             ARGUMENT("bins", LODE_COLUMN_U32),
                                             ARGUMENT("depth", LODE_COLUMN_U32),
                                             TEXT_ARGUMENT("profiles")};

enum {
    BINS_MOST = 1 << 20
};

static lode_status open_timeline(struct lode_table_reader *reader, lode_error *error)
{
    struct lode_function_state *state = reader->state;
    const struct lode_table_choice *choice = &reader->tables->options;
    lode_timeline_options options = LODE_TIMELINE_OPTIONS_INIT;
    uint64_t bins = lode_function_number(reader, "bins", options.columns);
    if (bins == 0 || bins > BINS_MOST)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET, "bins are 1 to %d", BINS_MOST);
    options.columns = state->columns = (unsigned)bins;
    options.from = lode_function_number(reader, "from_ns", 0);
    options.to = lode_function_number(reader, "to_ns", 0);
    options.depth = (unsigned)lode_function_number(reader, "depth", 0);
    options.threads = lode_function_threads(reader);
    options.pool = choice->pool;
    options.on_progress = choice->on_progress;
    options.user = choice->progress_user;
    LODE_TRY(choose_profiles(reader, &options.selection, error));
    lode_status status = lode_function_found(
        lode_timeline_compute(&state->timeline, reader->tables->db, &options, error), error);
    uint64_t rows = state->timeline ? (uint64_t)lode_timeline_row_count(state->timeline) * bins : 0;
    if (rows >= UINT32_MAX)
        return lode_fail(error, LODE_ERR_LIMIT, NULL, LODE_NO_OFFSET, "a timeline of %llu bins",
                         (unsigned long long)rows);
    return rows_or_none(reader, status, (size_t)rows, error);
}

static lode_status timeline_row(struct lode_table_reader *reader, struct lode_table_batch *batch, uint32_t i,
                                lode_error *error)
{
    const struct lode_function_state *state = reader->state;
    uint32_t line = i / state->columns, bin = i % state->columns;
    int share = lode_timeline_cell(state->timeline, line, bin);
    uint64_t from, to;
    /* The line has not begun, or has ended. */
    if (share < 0)
        return LODE_END;
    const lode_context *context = lode_timeline_share_at(state->timeline, (size_t)share)->context;
    lode_timeline_window(state->timeline, &from, &to);
    lode_batch_u32(batch, 0, lode_timeline_row_profile(state->timeline, line));
    lode_batch_u32(batch, 1, bin);
    uint64_t whole = (to - from) / state->columns, rest = (to - from) % state->columns;
    lode_batch_u64(batch, 2, from + whole * bin + rest * bin / state->columns);
    lode_batch_null(batch, 3);
    lode_batch_fixed(batch, 4, NULL);
    if (context == NULL)
        return LODE_OK;
    lode_batch_u32(batch, 3, lode_context_id(context));
    return lode_batch_context(batch, 4, context, reader->tables->options.names, error);
}

NEXT_OF(timeline)
const struct lode_table_def lode_table_timeline = {
    FUNCTION("what each profile did most in bins of time, as 'lode trace' has it", timeline), NO_ID};
