/* SPDX-License-Identifier: BSD-3-Clause */
/* Table functions of recordings; and findings, of all stores. */
#include "analysis/calls/calltree.h"
#include "table/readers/functions.h"
#include <lode/check.h>
#include <stdlib.h>
#include <string.h>

/* ---- statistics of calls ---- */

static const lode_field call_stat_fields[] = {TEXT("function"),
                                              I64("calls", 0),
                                              I64("total_ns", 0),
                                              I64("self_ns", 0),
                                              I64("min_ns", 0),
                                              I64("max_ns", 0),
                                              {"mean_ns", LODE_COLUMN_F64, 0, NULL},
                                              I64("p50_ns", 0),
                                              I64("p95_ns", 0),
                                              I64("p99_ns", 0),
                                              I64("errors", 0),
                                              I64("elapsed_ns", 0)};

lode_calls_options lode_function_calls_options(const struct lode_tables *tables)
{
    const struct lode_table_choice *choice = &tables->options;
    lode_calls_options options = LODE_CALLS_OPTIONS_INIT;
    options.threads = choice->pool ? 0 : 1;
    options.pool = choice->pool;
    options.on_progress = choice->on_progress;
    options.user = choice->progress_user;
    options.names = choice->names;
    return options;
}

static lode_status open_call_stat(struct lode_table_reader *reader, lode_error *error)
{
    struct lode_function_state *state = reader->state;
    const struct lode_tables *tables = reader->tables;
    lode_calls_options options = lode_function_calls_options(tables);
    options.merge = 1;
    LODE_TRY(lode_calls_compute(&state->calls, tables->recording, tables->options.slice, &options, error));
    return lode_table_choose_rows(reader, (uint32_t)lode_calls_count(state->calls), error);
}

static lode_status put_name(const struct lode_table_reader *reader, struct lode_table_batch *batch,
                            unsigned column, const lode_function *function, lode_error *error)
{
    if (function)
        return lode_batch_function(batch, column, function, reader->tables->options.names, error);
    lode_batch_fixed(batch, column, NULL);
    return LODE_OK;
}

static lode_status call_stat_row(struct lode_table_reader *reader, struct lode_table_batch *batch, uint32_t i,
                                 lode_error *error)
{
    const struct lode_function_state *state = reader->state;
    const lode_call_row *row = lode_calls_at(state->calls, i);
    LODE_TRY(put_name(reader, batch, 0, row->function, error));
    lode_batch_u64(batch, 1, row->calls);
    lode_batch_u64(batch, 2, row->total);
    lode_batch_u64(batch, 3, row->self);
    lode_batch_u64(batch, 4, row->min);
    lode_batch_u64(batch, 5, row->max);
    lode_batch_f64(batch, 6, row->mean);
    lode_batch_u64(batch, 7, row->p50);
    lode_batch_u64(batch, 8, row->p95);
    lode_batch_u64(batch, 9, row->p99);
    lode_batch_u64(batch, 10, row->errors);
    lode_batch_u64(batch, 11, row->elapsed);
    return LODE_OK;
}

NEXT_OF(call_stat)
const struct lode_table_def lode_table_call_stat = {
    FUNCTION("statistics of calls by function, as 'lode top' has them", call_stat), NO_ID};

/* ---- the call tree ---- */

static const lode_field calltree_fields[] = {ID,
                                             U32_OR_NULL("parent_id", "calltree"),
                                             U32("depth", NULL),
                                             TEXT_OR_NULL("function"),
                                             I64("calls", 0),
                                             I64("inclusive_ns", 0),
                                             I64("exclusive_ns", 0),
                                             I64("elapsed_ns", 0)};

static lode_status open_calltree(struct lode_table_reader *reader, lode_error *error)
{
    struct lode_function_state *state = reader->state;
    const struct lode_tables *tables = reader->tables;
    lode_calls_options options = lode_function_calls_options(tables);
    LODE_TRY(lode_calltree_compute(&state->tree, tables->recording, tables->options.slice, &options, error));
    return lode_table_choose_rows(reader, state->tree->contexts.count, error);
}

static lode_status calltree_row(struct lode_table_reader *reader, struct lode_table_batch *batch, uint32_t i,
                                lode_error *error)
{
    const struct lode_function_state *state = reader->state;
    const lode_calltree *tree = state->tree;
    const lode_context *context = &tree->contexts.nodes[i];
    lode_batch_u32(batch, 0, i);
    if (i > 0)
        lode_batch_u32(batch, 1, context->parent);
    else
        lode_batch_null(batch, 1);
    lode_batch_u32(batch, 2, context->depth);
    LODE_TRY(put_name(reader, batch, 3, lode_context_function(context), error));
    lode_batch_u64(batch, 4, tree->calls[i]);
    lode_batch_u64(batch, 5, tree->total[i]);
    lode_batch_u64(batch, 6, tree->self[i]);
    lode_batch_u64(batch, 7, tree->elapsed ? tree->elapsed[i] : tree->total[i]);
    return LODE_OK;
}

NEXT_OF(calltree)
const struct lode_table_def lode_table_calltree = {
    FUNCTION("the call tree of all tracks, depth first; id 0 is the root", calltree), BY_ID};

/* ---- requests that were searched for ---- */

static const lode_field found_fields[] = {
    TEXT_OR_NULL("id"),    U32("track_id", "track"),  I64("begin_ns", LODE_FIELD_TIME),
    I64("duration_ns", 0), I64("calls", 0),           I64("errors", 0),
    TEXT_OR_NULL("name"),  TEXT_OR_NULL("exception"), TIME_ARGUMENT("min_duration"),
    TEXT_ARGUMENT("text"), TEXT_ARGUMENT("method"),   ARGUMENT("errors_only", LODE_COLUMN_U32)};

static lode_status open_found(struct lode_table_reader *reader, lode_error *error)
{
    struct lode_function_state *state = reader->state;
    const struct lode_table_choice *choice = &reader->tables->options;
    const lode_slice *slice = choice->slice;
    lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
    options.min_duration = lode_function_number(reader, "min_duration", 0);
    options.text = lode_function_text(reader, "text");
    options.method = lode_function_text(reader, "method");
    options.errors_only = lode_function_number(reader, "errors_only", 0) != 0;
    options.from = slice ? slice->from : 0;
    options.to = slice ? slice->to : 0;
    options.tracks = slice ? slice->tracks : NULL;
    options.track_count = slice ? slice->track_count : 0;
    options.threads = lode_function_threads(reader);
    options.pool = choice->pool;
    options.on_progress = choice->on_progress;
    options.user = choice->progress_user;
    options.names = choice->names;
    options.key = "";
    lode_status status = lode_search_run(&state->search, reader->tables->recording, &options, error);
    if (status < 0)
        return status;
    return lode_table_choose_rows(reader, status == LODE_OK ? (uint32_t)lode_search_count(state->search) : 0,
                                  error);
}

static lode_status found_row(struct lode_table_reader *reader, struct lode_table_batch *batch, uint32_t i,
                             lode_error *error)
{
    const struct lode_function_state *state = reader->state;
    return lode_batch_request(reader, batch, lode_search_at(state->search, i), error);
}

NEXT_OF(found)
const struct lode_table_def lode_table_found = {
    FUNCTION("requests or threads that a search finds, in chronological order, as 'lode search' has them",
             found),
    NO_ID};

/* ---- findings ---- */

static const lode_field finding_fields[] = {TEXT("rule"),         TEXT("severity"),
                                            TEXT_OR_NULL("file"), I64("position", LODE_FIELD_OPTIONAL),
                                            TEXT("text"),         TEXT_ARGUMENT("level")};

static const char *keep(struct lode_function_state *state, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = lode_arena_alloc(&state->text, size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

static int take_finding(void *user, const lode_finding *finding)
{
    static const char *const severities[] = {"note", "warning", "error"};
    struct lode_function_state *state = user;
    struct lode_kept_finding *kept = lode_array_push(&state->findings);
    if (kept == NULL)
        return 1;
    *kept =
        (struct lode_kept_finding){keep(state, finding->rule), severities[finding->severity],
                                   keep(state, finding->file), keep(state, finding->text), finding->offset};
    return !(kept->rule && kept->file && kept->text);
}

static int pass_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    const struct lode_function_state *state = user;
    return state->choice->on_progress(state->choice->progress_user, phase, done, total);
}

static lode_status choose_level(const struct lode_table_reader *reader, lode_check_level *level,
                                lode_error *error)
{
    static const char *const names[] = {"quick", "structure", "full"};
    const char *name = lode_function_text(reader, "level");
    for (unsigned i = 0; name && i < COUNT(names); i++)
        if (strcmp(name, names[i]) == 0) {
            *level = (lode_check_level)i;
            return LODE_OK;
        }
    if (name == NULL)
        return LODE_OK;
    return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                     "the level is quick, structure or full, not '%s'", name);
}

static lode_status open_finding(struct lode_table_reader *reader, lode_error *error)
{
    struct lode_function_state *state = reader->state;
    const struct lode_table_choice *choice = &reader->tables->options;
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_array_init(&state->findings, sizeof(struct lode_kept_finding), SIZE_MAX);
    lode_arena_init(&state->text, SIZE_MAX);
    LODE_TRY(choose_level(reader, &options.level, error));
    if (choice->path == NULL)
        return lode_fail(error, LODE_ERR_ARGUMENT, NULL, LODE_NO_OFFSET,
                         "a store without a path cannot be checked");
    options.threads = lode_function_threads(reader);
    options.pool = choice->pool;
    options.on_finding = take_finding;
    options.on_progress = choice->on_progress ? pass_progress : NULL;
    options.user = state;
    state->choice = choice;
    LODE_TRY(lode_check(choice->path, &options, NULL, error));
    return lode_table_choose_rows(reader, (uint32_t)state->findings.count, error);
}

static lode_status finding_row(struct lode_table_reader *reader, struct lode_table_batch *batch, uint32_t i,
                               lode_error *error)
{
    const struct lode_function_state *state = reader->state;
    const struct lode_kept_finding *finding = LODE_ARRAY_AT(&state->findings, struct lode_kept_finding, i);
    LODE_TRY(lode_batch_text(batch, 0, finding->rule, error));
    lode_batch_fixed(batch, 1, finding->severity);
    LODE_TRY(lode_batch_text(batch, 2, finding->file[0] ? finding->file : NULL, error));
    if (finding->offset == LODE_NO_OFFSET)
        lode_batch_null(batch, 3);
    else
        lode_batch_u64(batch, 3, finding->offset);
    return lode_batch_text(batch, 4, finding->text, error);
}

NEXT_OF(finding)
const struct lode_table_def lode_table_finding = {
    FUNCTION("defects of the store, as 'lode check' has them", finding), NO_ID};

const struct lode_table_def *const lode_database_functions[] = {
    &lode_table_cost,     &lode_table_hotspot, &lode_table_tree,    &lode_table_distribution,
    &lode_table_timeline, &lode_table_finding, &lode_table_grouped, &lode_table_compare};
const unsigned lode_database_function_tables = COUNT(lode_database_functions);
const struct lode_table_def *const lode_recording_functions[] = {&lode_table_call_stat, &lode_table_calltree,
                                                                 &lode_table_found,     &lode_table_finding,
                                                                 &lode_table_grouped,   &lode_table_compare};
const unsigned lode_recording_function_tables = COUNT(lode_recording_functions);
