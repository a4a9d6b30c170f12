/* SPDX-License-Identifier: BSD-3-Clause */
/* Values, totals and samples of a database, as tables. */
#include "base/pool.h"
#include "export/table_fields.h"
#include "model/block.h"
#include "model/database.h"
#include "model/trace.h"
#include <lode/values.h>
#include <stdlib.h>
#include <string.h>

/* A column of the batch, from the next row on. */
#define TO(type, batch, column) ((type *)(batch)->data[column] + (batch)->rows)

static bool is_wanted(const struct lode_tables *tables, uint32_t metric)
{
    return tables->metric_wanted == NULL || (metric <= UINT16_MAX && tables->metric_wanted[metric]);
}

/* ---- a block ---- */

/* Where a block of a profile is read. */
struct block_at {
    lode_block block;
    uint32_t group;
    uint64_t value;
};

/* Appends (context, metric, value) from column `first` on. LODE_END after the last value. */
static lode_status read_block(struct block_at *at, const struct lode_tables *tables,
                              struct lode_table_batch *batch, unsigned first, lode_error *error)
{
    for (; at->group < lode_block_group_count(&at->block); at->group++, at->value = 0) {
        lode_group group;
        LODE_TRY(lode_block_group(&at->block, at->group, &group, error));
        for (; at->value < group.count; at->value++) {
            if (batch->rows >= batch->capacity)
                return LODE_OK;
            uint64_t index = group.first + at->value;
            uint32_t metric = block_value_key(&at->block, index);
            if (tables && !is_wanted(tables, metric))
                continue;
            *TO(uint32_t, batch, first) = group.key;
            *TO(uint32_t, batch, first + 1) = metric;
            *TO(double, batch, first + 2) = block_value(&at->block, index);
            batch->rows++;
        }
    }
    return LODE_END;
}

/* ---- values ---- */

/* The first two are part of the key; so is the third, but a metric may have no row in `metric`. */
static const struct lode_table_field value_fields[] = {
    {"profile_id", LODE_COLUMN_U32, LODE_FIELD_KEY, "profile"},
    {"context_id", LODE_COLUMN_U32, LODE_FIELD_KEY, NULL},
    {"metric_id", LODE_COLUMN_U32, LODE_FIELD_KEY, NULL},
    {"value", LODE_COLUMN_F64, 0, NULL}};

struct value_state {
    /* By context: */
    lode_values *values;
    lode_column columns[LODE_VALUES_COLUMNS];
    uint64_t at, count; /* rows of the columns */
    /* By profile: */
    struct block_at block;
    uint32_t next_profile;
    bool is_open;
};

static lode_status count_values(const struct lode_tables *tables, uint64_t *total, lode_error *error)
{
    LODE_TRY(lode_profile_blocks_fit(tables->db, error));
    *total = 0;
    for (uint32_t p = 0; p < lode_database_profile_count(tables->db); p++) {
        lode_block block;
        int selected;
        LODE_TRY(lode_selection_has(tables->options.selection, tables->db, p, &selected, error));
        if (!selected || lode_profile_is_summary(tables->db, p))
            continue;
        LODE_TRY(lode_profile_block(tables->db, p, &block, error));
        *total += lode_block_value_count(&block);
    }
    return LODE_OK;
}

static lode_status open_value(struct lode_table_reader *reader, lode_error *error)
{
    struct value_state *state = reader->state;
    const struct lode_tables *tables = reader->tables;
    LODE_TRY(count_values(tables, &reader->total, error));
    if (tables->options.order == LODE_TABLE_BY_PROFILE || !lode_database_has(tables->db, LODE_PART_CONTEXT))
        return LODE_OK;
    lode_values_options options = LODE_VALUES_OPTIONS_INIT;
    options.selection = tables->options.selection;
    return lode_values_open(&state->values, tables->db, &options, error);
}

static void close_value(struct lode_table_reader *reader)
{
    struct value_state *state = reader->state;
    lode_values_close(state->values);
}

static void copy_values(const struct lode_tables *tables, struct value_state *state,
                        struct lode_table_batch *batch)
{
    const uint32_t *contexts = state->columns[0].data, *profiles = state->columns[2].data;
    const uint16_t *metrics = state->columns[1].data;
    const double *values = state->columns[3].data;
    uint32_t *to_profile = batch->data[0], *to_context = batch->data[1], *to_metric = batch->data[2];
    double *to_value = batch->data[3];
    uint64_t row = batch->rows;
    for (; state->at < state->count && row < batch->capacity; state->at++) {
        to_profile[row] = profiles[state->at];
        to_context[row] = contexts[state->at];
        to_metric[row] = metrics[state->at];
        to_value[row] = values[state->at];
        row += is_wanted(tables, metrics[state->at]);
    }
    batch->rows = row;
}

static lode_status next_by_context(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                   lode_error *error)
{
    struct value_state *state = reader->state;
    while (batch->rows < batch->capacity) {
        if (state->at == state->count) {
            state->at = state->count = 0;
            LODE_TRY(lode_values_next(state->values, state->columns, error));
            state->count = state->columns[0].count;
            reader->done += state->count;
        }
        copy_values(reader->tables, state, batch);
    }
    return LODE_OK;
}

/* LODE_END if there are no more profiles. */
static lode_status open_next_profile(struct lode_table_reader *reader, lode_error *error)
{
    struct value_state *state = reader->state;
    const struct lode_tables *tables = reader->tables;
    for (; state->next_profile < lode_database_profile_count(tables->db); state->next_profile++) {
        int selected;
        uint32_t p = state->next_profile;
        LODE_TRY(lode_selection_has(tables->options.selection, tables->db, p, &selected, error));
        if (!selected || lode_profile_is_summary(tables->db, p))
            continue;
        state->block = (struct block_at){0};
        LODE_TRY(lode_profile_block(tables->db, p, &state->block.block, error));
        state->is_open = true;
        return LODE_OK;
    }
    return LODE_END;
}

static lode_status next_by_profile(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                   lode_error *error)
{
    struct value_state *state = reader->state;
    while (batch->rows < batch->capacity) {
        if (!state->is_open)
            LODE_TRY(open_next_profile(reader, error));
        uint64_t from = batch->rows;
        lode_status status = read_block(&state->block, reader->tables, batch, 1, error);
        if (status < 0)
            return status;
        for (uint64_t row = from; row < batch->rows; row++)
            ((uint32_t *)batch->data[0])[row] = state->next_profile;
        reader->done += batch->rows - from;
        if (status == LODE_END) {
            state->is_open = false;
            state->next_profile++;
        }
    }
    return LODE_OK;
}

static lode_status next_value(struct lode_table_reader *reader, struct lode_table_batch *batch,
                              lode_error *error)
{
    const struct value_state *state = reader->state;
    return (state->values ? next_by_context : next_by_profile)(reader, batch, error);
}

const struct lode_table_def lode_table_value = {"value",
                                                "values: what each profile measured at each context",
                                                value_fields,
                                                COUNT(value_fields),
                                                sizeof(struct value_state),
                                                open_value,
                                                next_value,
                                                close_value};

/* ---- totals ---- */

static const struct lode_table_field total_fields[] = {
    {"context_id", LODE_COLUMN_U32, LODE_FIELD_KEY, NULL},
    {"statistic_id", LODE_COLUMN_U32, LODE_FIELD_KEY, NULL},
    {"value", LODE_COLUMN_F64, 0, NULL}};

static lode_status open_total(struct lode_table_reader *reader, lode_error *error)
{
    struct block_at *at = reader->state;
    if (lode_database_profile_count(reader->tables->db) == 0)
        return LODE_OK;
    LODE_TRY(lode_profile_block(reader->tables->db, 0, &at->block, error));
    reader->total = lode_block_value_count(&at->block);
    return LODE_OK;
}

static lode_status next_total(struct lode_table_reader *reader, struct lode_table_batch *batch,
                              lode_error *error)
{
    lode_status status = read_block(reader->state, NULL, batch, 0, error);
    reader->done += batch->rows;
    return status;
}

const struct lode_table_def lode_table_total = {"total",
                                                "the summary: statistics over all profiles at each context",
                                                total_fields,
                                                COUNT(total_fields),
                                                sizeof(struct block_at),
                                                open_total,
                                                next_total,
                                                NULL};

/* ---- samples ---- */

static const struct lode_table_field sample_fields[] = {
    U32("profile_id", NULL), I64("time_ns", LODE_FIELD_TIME), I64("duration_ns", 0), U32("context_id", NULL)};

struct sample_state {
    struct lode_window window;
    uint32_t next_line; /* of the window's */
    lode_trace_line line;
    struct lode_window_walk walk;
    bool is_open, has_time_window;
};

static lode_status open_sample(struct lode_table_reader *reader, lode_error *error)
{
    struct sample_state *state = reader->state;
    const struct lode_tables_options *options = &reader->tables->options;
    const lode_database *db = reader->tables->db;
    state->has_time_window = options->from || options->to;
    if (lode_database_trace_count(db) == 0)
        return LODE_OK;
    LODE_TRY(lode_trace_lines_fit(db, error));
    uint64_t to = options->from && options->to == 0 ? UINT64_MAX : options->to;
    LODE_TRY(lode_window_init(&state->window, db, options->selection, options->from, to, error));
    if (!state->has_time_window)
        state->window.to = UINT64_MAX;
    for (uint32_t i = 0; i < state->window.count; i++) {
        lode_trace_line line;
        LODE_TRY(lode_database_trace_line(db, state->window.lines[i], &line, error));
        reader->total += line.sample_count;
    }
    return LODE_OK;
}

static void close_sample(struct lode_table_reader *reader)
{
    struct sample_state *state = reader->state;
    lode_window_free(&state->window);
}

/* All samples of a line, in the order of the file; times need not ascend in a damaged one. */
static bool next_of_line(struct sample_state *state, struct lode_window_sample *sample)
{
    if (state->has_time_window)
        return window_next(&state->walk, sample);
    uint64_t i = state->walk.next, count = state->line.sample_count;
    if (i >= count)
        return false;
    sample->context_id = trace_context(&state->line, i);
    sample->begins = true;
    sample->from = trace_time(&state->line, i);
    sample->to = i + 1 < count ? trace_time(&state->line, i + 1) : sample->from;
    state->walk.next++;
    return true;
}

static lode_status open_line(struct lode_table_reader *reader, lode_error *error)
{
    struct sample_state *state = reader->state;
    if (state->next_line >= state->window.count)
        return LODE_END;
    LODE_TRY(lode_database_trace_line(reader->tables->db, state->window.lines[state->next_line], &state->line,
                                      error));
    state->walk = (struct lode_window_walk){.line = &state->line};
    if (state->has_time_window)
        state->walk = window_walk(&state->window, &state->line);
    state->next_line++;
    state->is_open = true;
    return LODE_OK;
}

static lode_status next_sample(struct lode_table_reader *reader, struct lode_table_batch *batch,
                               lode_error *error)
{
    struct sample_state *state = reader->state;
    struct lode_window_sample sample;
    while (batch->rows < batch->capacity) {
        if (!state->is_open)
            LODE_TRY(open_line(reader, error));
        if (!next_of_line(state, &sample)) {
            state->is_open = false;
            continue;
        }
        reader->done++;
        if (!sample.begins && sample.from >= sample.to)
            continue;
        *TO(uint32_t, batch, 0) = state->line.profile;
        *TO(uint64_t, batch, 1) = sample.from;
        *TO(uint64_t, batch, 2) = sample.to > sample.from ? sample.to - sample.from : 0;
        *TO(uint32_t, batch, 3) = sample.context_id;
        batch->rows++;
    }
    return LODE_OK;
}

const struct lode_table_def lode_table_sample = {"sample",
                                                 "samples of the trace lines: what a thread did, and when",
                                                 sample_fields,
                                                 COUNT(sample_fields),
                                                 sizeof(struct sample_state),
                                                 open_sample,
                                                 next_sample,
                                                 close_sample};
