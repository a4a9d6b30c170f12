/* SPDX-License-Identifier: BSD-3-Clause */
/* What changed from one store to another of its kind, as a table function of the second. */
#include "table/readers/functions.h"
#include <lode/unstable/compare.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const lode_field compare_fields[] = {TEXT("name"),
                                            {"base_exclusive", LODE_COLUMN_F64, 0, NULL},
                                            {"new_exclusive", LODE_COLUMN_F64, 0, NULL},
                                            {"difference", LODE_COLUMN_F64, 0, NULL},
                                            {"base_inclusive", LODE_COLUMN_F64, 0, NULL},
                                            {"new_inclusive", LODE_COLUMN_F64, 0, NULL},
                                            TEXT_OR_NULL("only_in"),
                                            TEXT_OR_NULL("moved_within"),
                                            TEXT_OR_NULL("perhaps_renamed"),
                                            TEXT_OR_NULL("base_name"),
                                            TEXT_OR_NULL("new_name"),
                                            TEXT_ARGUMENT("by"),
                                            TEXT_ARGUMENT("metric")};

struct compare_state {
    struct lode_function_state common; /* first: what other functions have */
    lode_calltree *trees[2];
    lode_cost *calls[2];
    const lode_cost *costs[2]; /* by lode_compare_side */
    lode_comparison *comparison;
};

static struct lode_tables *tables_of(const struct lode_table_reader *reader, int side)
{
    return side == LODE_BASE ? reader->tables->options.base : reader->tables;
}

static void close_compare(struct lode_table_reader *reader)
{
    struct compare_state *state = reader->state;
    lode_comparison_free(state->comparison);
    for (int side = 0; side < 2; side++) {
        struct lode_tables *tables = tables_of(reader, side);
        if (tables->db && state->costs[side])
            lode_query_release(tables->costs, state->costs[side]);
        lode_cost_free(state->calls[side]);
        lode_calltree_free(state->trees[side]);
    }
    lode_function_close(reader);
}

/* ---- costs ---- */

/* The metric of base; in the other database by the same name, if it has it. */
static lode_status find_metric(const struct lode_table_reader *reader, int side, const lode_metric **metric,
                               lode_error *error)
{
    const struct compare_state *state = reader->state;
    const char *asked = lode_function_text(reader, "metric");
    const lode_database *db = tables_of(reader, side)->db;
    if (side == LODE_NEW && lode_database_find_metric(db, lode_metric_name(lode_cost_metric(state->costs[0])),
                                                      metric, NULL) == LODE_OK)
        return LODE_OK;
    if (asked)
        return lode_function_found(lode_database_find_metric(db, asked, metric, error), error);
    return lode_function_found(lode_database_default_metric(db, metric, error), error);
}

static lode_status find_cost(struct lode_table_reader *reader, int side, lode_error *error)
{
    struct compare_state *state = reader->state;
    struct lode_tables *tables = tables_of(reader, side);
    lode_cost_options options = LODE_COST_OPTIONS_INIT;
    LODE_TRY(find_metric(reader, side, &options.metric, error));
    options.selection = tables->options.selection;
    return lode_function_cost(tables, &options, &state->costs[side], error);
}

static bool have_sched(const struct lode_table_reader *reader)
{
    return lode_recording_has_sched(tables_of(reader, LODE_BASE)->recording) &&
           lode_recording_has_sched(tables_of(reader, LODE_NEW)->recording);
}

/* Recordings have times, with off-CPU time or without, and calls. */
static lode_status build_tree(struct lode_table_reader *reader, int side, lode_error *error)
{
    struct compare_state *state = reader->state;
    const struct lode_tables *tables = tables_of(reader, side);
    const char *metric = lode_function_text(reader, "metric");
    if (metric == NULL)
        metric = have_sched(reader) ? "running" : "time";
    bool counts = strcasecmp(metric, "calls") == 0;
    lode_calls_options options = lode_function_calls_options(tables);
    lode_slice slice = tables->options.slice ? *tables->options.slice : (lode_slice)LODE_SLICE_INIT;
    slice.no_sched = 1;
    options.is_running = strcasecmp(metric, "running") == 0;
    if (!counts && !options.is_running && strcasecmp(metric, "time") != 0)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "a recording has the metrics time, running and calls, not '%s'", metric);
    if (options.is_running && !have_sched(reader))
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "off-CPU time was not recorded, so running time is not known");
    LODE_TRY(lode_calltree_compute(&state->trees[side], tables->recording, &slice, &options, error));
    if (counts)
        LODE_TRY(lode_calltree_calls(&state->calls[side], state->trees[side], error));
    state->costs[side] = counts ? state->calls[side] : lode_calltree_cost(state->trees[side]);
    return LODE_OK;
}

static lode_status open_compare(struct lode_table_reader *reader, lode_error *error)
{
    struct compare_state *state = reader->state;
    lode_compare_options options = LODE_COMPARE_OPTIONS_INIT;
    LODE_TRY(lode_function_group(reader, &options.by, error));
    /* Kinds have no names that the rules of a comparison could pair. */
    if (options.by == LODE_BY_KIND)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "rows are by function, line, loop, module, file or symbol, not by 'kind'");
    state->common.by = options.by;
    options.names = reader->tables->options.names;
    for (int side = LODE_BASE; side <= LODE_NEW; side++)
        LODE_TRY((reader->tables->db ? find_cost : build_tree)(reader, side, error));
    LODE_TRY(lode_compare(&state->comparison, &state->costs[LODE_BASE], 1, &state->costs[LODE_NEW], 1, 1,
                          &options, error));
    return lode_table_choose_rows(reader, (uint32_t)lode_comparison_count(state->comparison), error);
}

/* ---- rows ---- */

struct row_name {
    const lode_compare_row *row;
    const lode_hotspot *hotspot;
    lode_group_by by;
    lode_name_form form;
};

static size_t copy_key(const char *key, char *buffer, size_t capacity)
{
    size_t length = strlen(key), part = length < capacity ? length : capacity - 1;
    if (capacity > 0) {
        memcpy(buffer, key, part);
        buffer[part] = '\0';
    }
    return length;
}

/* Files and load modules that are not known are called by what the rules leave of them. */
static size_t side_label(const void *thing, char *buffer, size_t capacity)
{
    const struct row_name *name = thing;
    bool is_unknown = name->by == LODE_BY_FILE ? name->hotspot->file == NULL
                                               : name->by == LODE_BY_MODULE && name->hotspot->module == NULL;
    if (is_unknown && name->row->key.name[0])
        return copy_key(name->row->key.name, buffer, capacity);
    if (name->by == LODE_BY_FUNCTION || name->by == LODE_BY_SYMBOL)
        return lode_context_label_as(name->hotspot->sample, name->form, buffer, capacity);
    return lode_hotspot_label(name->hotspot, buffer, capacity);
}

static size_t key_label(const void *thing, char *buffer, size_t capacity)
{
    const struct row_name *name = thing;
    return copy_key(name->row->key.name, buffer, capacity);
}

static bool is_same_label(const struct row_name *a, const struct row_name *b)
{
    size_t length = side_label(a, NULL, 0);
    if (length != side_label(b, NULL, 0))
        return false;
    char *texts = malloc(2 * (length + 1));
    if (texts == NULL)
        return false;
    side_label(a, texts, length + 1);
    side_label(b, texts + length + 1, length + 1);
    bool is_same = memcmp(texts, texts + length + 1, length) == 0;
    free(texts);
    return is_same;
}

static lode_status put_label(const struct lode_table_reader *reader, struct lode_table_batch *batch,
                             unsigned column, const lode_compare_row *row, const lode_hotspot *hotspot,
                             lode_error *error)
{
    const struct compare_state *state = reader->state;
    struct row_name name = {row, hotspot, state->common.by, reader->tables->options.names};
    if (hotspot)
        return lode_batch_label(batch, column, side_label, &name, error);
    lode_batch_fixed(batch, column, NULL);
    return LODE_OK;
}

/* As it is called on both sides; else what both names have in common. */
static lode_status put_name(const struct lode_table_reader *reader, struct lode_table_batch *batch,
                            const lode_compare_row *row, lode_error *error)
{
    const struct compare_state *state = reader->state;
    struct row_name base = {row, row->base_hotspot, state->common.by, reader->tables->options.names};
    struct row_name name = {row, row->new_hotspot, state->common.by, reader->tables->options.names};
    if (!lode_batch_needs(batch, 0))
        return LODE_OK;
    if (row->base_hotspot && row->new_hotspot && row->key.name[0] && !is_same_label(&base, &name))
        return lode_batch_label(batch, 0, key_label, &name, error);
    return lode_batch_label(batch, 0, side_label, row->new_hotspot ? &name : &base, error);
}

static void put_costs(const struct compare_state *state, struct lode_table_batch *batch, uint32_t i)
{
    double base = lode_comparison_exclusive(state->comparison, i, LODE_BASE, 0, 0);
    double after = lode_comparison_exclusive(state->comparison, i, LODE_NEW, 0, 0);
    lode_batch_f64(batch, 1, base);
    lode_batch_f64(batch, 2, after);
    lode_batch_f64(batch, 3, after - base);
    lode_batch_f64(batch, 4, lode_comparison_inclusive(state->comparison, i, LODE_BASE, 0, 0));
    lode_batch_f64(batch, 5, lode_comparison_inclusive(state->comparison, i, LODE_NEW, 0, 0));
}

static lode_status compare_row(struct lode_table_reader *reader, struct lode_table_batch *batch, uint32_t i,
                               lode_error *error)
{
    const struct compare_state *state = reader->state;
    const lode_compare_row *row = lode_comparison_at(state->comparison, i);
    const lode_compare_row *other =
        row->marks & LODE_PERHAPS_RENAMED ? lode_comparison_at(state->comparison, row->renamed) : NULL;
    LODE_TRY(put_name(reader, batch, row, error));
    put_costs(state, batch, i);
    lode_batch_fixed(batch, 6,
                     row->marks & LODE_ONLY_IN_BASE  ? "base"
                     : row->marks & LODE_ONLY_IN_NEW ? "new"
                                                     : NULL);
    LODE_TRY(lode_batch_text(batch, 7, row->marks & LODE_MOVED ? row->moved_within : NULL, error));
    const lode_hotspot *renamed =
        other ? other->base_hotspot ? other->base_hotspot : other->new_hotspot : NULL;
    LODE_TRY(put_label(reader, batch, 8, other, renamed, error));
    LODE_TRY(put_label(reader, batch, 9, row, row->base_hotspot, error));
    return put_label(reader, batch, 10, row, row->new_hotspot, error);
}

NEXT_OF(compare)
const struct lode_table_def lode_table_compare = {
    .info = {"compare", "what changed since another store, as 'lode compare --all' has it", compare_fields,
             COUNT(compare_fields), 1},
    .state_size = sizeof(struct compare_state),
    .open = open_compare,
    .next = next_compare,
    .close = close_compare,
    .is_numbered = true,
    NO_ID};
