/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of a database, as a table: in the order of the file, or by profile where a query asks for
 * profiles or an order.
 */
#include "base/compare.h"
#include "model/database/trace.h"
#include "table/fields.h"
#include "table/keys.h"
#include <stdlib.h>

/* A column of the batch, from the next row on. */
#define TO(type, batch, column) ((type *)(batch)->data[column] + (batch)->rows)

static const lode_field sample_fields[] = {U32("profile_id", NULL), I64("time_ns", LODE_FIELD_TIME),
                                           I64("duration_ns", 0), U32("context_id", NULL)};

/* ---- lines by profile, found once ---- */

struct numbered_line {
    uint32_t profile, line;
};

LODE_COMPARE_BY_2(compare_lines, struct numbered_line, profile, line);

static lode_status sort_lines(struct lode_tables *tables, const struct lode_window *window, lode_error *error)
{
    struct numbered_line *lines = malloc(((size_t)window->count + 1) * sizeof *lines);
    uint32_t *sorted = malloc(((size_t)window->count + 1) * sizeof *sorted);
    if (lines == NULL || sorted == NULL) {
        free(lines);
        free(sorted);
        return lode_fail_memory(error);
    }
    for (uint32_t i = 0; i < window->count; i++)
        lines[i] = (struct numbered_line){window->profiles[i], window->lines[i]};
    qsort(lines, window->count, sizeof *lines, compare_lines);
    for (uint32_t i = 0; i < window->count; i++)
        sorted[i] = lines[i].line;
    free(lines);
    tables->lines = sorted;
    tables->line_count = window->count;
    return LODE_OK;
}

static lode_status count_samples(struct lode_tables *tables, lode_error *error)
{
    tables->samples = 0;
    for (uint32_t i = 0; i < tables->line_count; i++) {
        lode_trace_line line;
        LODE_TRY(lode_database_trace_line(tables->db, tables->lines[i], &line, error));
        tables->samples += line.sample_count;
    }
    return LODE_OK;
}

static lode_status find_lines(struct lode_tables *tables, lode_error *error)
{
    struct lode_window window;
    lode_status status = lode_window_init(&window, tables->db, tables->options.selection, 0, 0, error);
    if (status == LODE_OK)
        status = sort_lines(tables, &window, error);
    lode_window_free(&window);
    if (status == LODE_OK)
        status = count_samples(tables, error);
    return status == LODE_ABSENT ? LODE_OK : status;
}

static lode_status know_lines(struct lode_tables *tables, lode_error *error)
{
    lode_status status = LODE_OK;
    pthread_mutex_lock(&tables->lock);
    if (tables->lines == NULL && lode_database_trace_count(tables->db) > 0)
        status = find_lines(tables, error);
    pthread_mutex_unlock(&tables->lock);
    return status;
}

static lode_status plan_sample(struct lode_tables *tables, struct lode_table_query *query, lode_error *error)
{
    struct lode_table_plan *plan = &query->plan;
    LODE_TRY(know_lines(tables, error));
    plan->order = 0;
    plan->seeks = lode_key_set_filters(query, 0);
    /* Times are seeked by their bounds; a list is not worth it. */
    bool has_times = false;
    for (size_t i = 0; i < query->options.filter_count; i++) {
        const lode_scan_filter *filter = &query->options.filters[i];
        if (filter->column != 1 || filter->kind == LODE_FILTER_IN)
            continue;
        plan->seeks |= UINT64_C(1) << i;
        has_times = true;
    }
    double lines = tables->line_count * lode_key_set_share(query, 0, tables->line_count);
    double samples = tables->line_count > 0 ? (double)tables->samples / tables->line_count : 0;
    plan->rows = lines * samples * (has_times ? 0.1 : 1);
    plan->cost = plan->rows + 10 * lines;
    return LODE_OK;
}

/* ---- rows ---- */

struct sample_state {
    /* Without a query: the time window of the tables. */
    struct lode_window window;
    bool has_time_window;
    struct lode_window_walk walk;
    /* With one: lines by profile, and times. */
    struct lode_key_set profiles;
    uint64_t first, last;
    uint64_t begin, end, last_time; /* of the line: samples that are wanted, and the last time */

    uint32_t next_line;
    lode_trace_line line;
    bool is_open;
};

static lode_status open_window(struct lode_table_reader *reader, lode_error *error)
{
    struct sample_state *state = reader->state;
    const struct lode_table_choice *options = &reader->tables->options;
    const lode_database *db = reader->tables->db;
    state->has_time_window = options->from || options->to;
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

/* Times are signed in tables; no clock reaches the sign. */
static void bound_times(struct sample_state *state, const struct lode_table_query *query)
{
    state->first = 0;
    state->last = INT64_MAX;
    for (size_t i = 0; i < query->options.filter_count; i++) {
        const lode_scan_filter *filter = &query->options.filters[i];
        if (filter->column != 1 || !(query->plan.seeks >> i & 1))
            continue;
        int64_t number = (int64_t)filter->numbers[0];
        if (filter->kind != LODE_FILTER_AT_MOST && number > (int64_t)state->first)
            state->first = (uint64_t)number;
        if (filter->kind != LODE_FILTER_AT_LEAST && number < (int64_t)state->last)
            state->last = number < 0 ? 0 : (uint64_t)number;
        if (filter->kind != LODE_FILTER_AT_LEAST && number < 0)
            state->first = UINT64_MAX;
    }
}

static lode_status open_sample(struct lode_table_reader *reader, lode_error *error)
{
    struct sample_state *state = reader->state;
    if (lode_database_trace_count(reader->tables->db) == 0)
        return LODE_OK;
    if (reader->query == NULL)
        return open_window(reader, error);
    LODE_TRY(know_lines(reader->tables, error));
    state->profiles = lode_key_set_of(reader->query, 0, UINT32_MAX);
    bound_times(state, reader->query);
    reader->can_split = true;
    reader->total = reader->tables->samples;
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
    if (i >= count || i >= state->end)
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
    state->end = UINT64_MAX;
    state->next_line++;
    state->is_open = true;
    return LODE_OK;
}

/* The profile of a line, by its place in the order of profiles. */
static uint32_t profile_at(const struct lode_tables *tables, uint32_t place)
{
    lode_trace_line line = {.profile = UINT32_MAX};
    /* It could be read before. */
    (void)!lode_database_trace_line(tables->db, tables->lines[place], &line, NULL);
    return line.profile;
}

/* The next line of a profile that is wanted. */
static lode_status open_wanted_line(struct lode_table_reader *reader, lode_error *error)
{
    struct sample_state *state = reader->state;
    const struct lode_tables *tables = reader->tables;
    while (state->next_line < tables->line_count) {
        uint64_t profile = profile_at(tables, state->next_line), wanted;
        size_t at = 0;
        if (!lode_key_set_next(&state->profiles, profile, &at, &wanted))
            return LODE_END;
        uint32_t low = state->next_line, high = tables->line_count;
        LODE_BISECT(low, high, profile_at(tables, middle) < wanted);
        state->next_line = low;
        if (low >= tables->line_count || profile_at(tables, low) != wanted)
            continue;
        LODE_TRY(lode_database_trace_line(tables->db, tables->lines[low], &state->line, error));
        state->walk = (struct lode_window_walk){.line = &state->line};
        state->begin = state->first > 0 ? lode_trace_line_seek(&state->line, state->first) : 0;
        state->walk.next = state->begin;
        state->end =
            state->last < INT64_MAX ? lode_trace_line_seek(&state->line, state->last + 1) : UINT64_MAX;
        state->last_time = 0;
        state->next_line++;
        state->is_open = true;
        return LODE_OK;
    }
    return LODE_END;
}

static lode_status check_order(struct lode_table_reader *reader, const struct lode_window_sample *sample,
                               lode_error *error)
{
    struct sample_state *state = reader->state;
    if (reader->query == NULL || !reader->query->plan.is_ordered)
        return LODE_OK;
    if (sample->from < state->last_time)
        return lode_fail(error, LODE_ERR_CORRUPT, NULL, LODE_NO_OFFSET,
                         "the samples of profile %u are not in chronological order", state->line.profile);
    state->last_time = sample->from;
    return LODE_OK;
}

static lode_status next_sample(struct lode_table_reader *reader, struct lode_table_batch *batch,
                               lode_error *error)
{
    struct sample_state *state = reader->state;
    struct lode_window_sample sample;
    while (batch->rows < batch->capacity) {
        if (!state->is_open)
            LODE_TRY((reader->query ? open_wanted_line : open_line)(reader, error));
        if (!next_of_line(state, &sample)) {
            state->is_open = false;
            continue;
        }
        reader->done++;
        if (!sample.begins && sample.from >= sample.to)
            continue;
        LODE_TRY(check_order(reader, &sample, error));
        *TO(uint32_t, batch, 0) = state->line.profile;
        *TO(uint64_t, batch, 1) = sample.from;
        *TO(uint64_t, batch, 2) = sample.to > sample.from ? sample.to - sample.from : 0;
        *TO(uint32_t, batch, 3) = sample.context_id;
        batch->rows++;
        batch->taken++;
    }
    return LODE_OK;
}

/* Every sample of a query is a row. */
static lode_status pass_samples(struct lode_table_reader *reader, bool are_rows, uint64_t *count)
{
    struct sample_state *state = reader->state;
    (void)are_rows;
    while (*count > 0) {
        if (!state->is_open)
            LODE_TRY(open_wanted_line(reader, NULL));
        uint64_t end = state->end < state->line.sample_count ? state->end : state->line.sample_count;
        uint64_t left = end > state->walk.next ? end - state->walk.next : 0;
        uint64_t passed = left < *count ? left : *count;
        state->is_open = left >= *count;
        state->walk.next += passed;
        *count -= passed;
    }
    if (state->is_open && state->walk.next > state->begin)
        state->last_time = trace_time(&state->line, state->walk.next - 1);
    return LODE_OK;
}

const struct lode_table_def lode_table_sample = {
    INFO("samples of the trace lines: what a thread did, and when", sample),
    .state_size = sizeof(struct sample_state),
    .open = open_sample,
    .next = next_sample,
    .close = close_sample,
    .pass = pass_samples,
    .orders = {{{0, 1}, 2}},
    .order_count = 1,
    .plan = plan_sample};
