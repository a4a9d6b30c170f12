/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts, tracks and requests of a recording, as tables. */
#include "model/recording/recording.h"
#include "base/compare.h"
#include "table/readers/functions.h"
#include <inttypes.h>
#include <lode/private/columns.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- facts ---- */

static const lode_field fact_fields[] = {TEXT("key"), TEXT("value")};

/* The first fact leads from times to the epoch. */
static lode_status fact_row(struct lode_table_reader *reader, struct lode_table_batch *batch, uint32_t i,
                            lode_error *error)
{
    const lode_recording *recording = reader->tables->recording;
    if (i == 0) {
        char text[32];
        int length = snprintf(text, sizeof text, "%" PRId64, lode_recording_utc_offset(recording));
        lode_batch_fixed(batch, 0, "utc_offset_ns");
        return lode_batch_bytes(batch, 1, text, (size_t)length, error);
    }
    const lode_fact *fact = lode_recording_fact(recording, i - 1);
    LODE_TRY(lode_batch_text(batch, 0, fact->key ? fact->key : "", error));
    return lode_batch_text(batch, 1, fact->value ? fact->value : "", error);
}

ROWS_OF(fact, 1 + lode_recording_fact_count(reader->tables->recording))
const struct lode_table_def lode_table_fact = {TABLE("metadata of the recorder", fact), NO_ID};

/* ---- tracks ---- */

static const lode_field track_fields[] = {ID,
                                          I64("pid", 0),
                                          I64("tid", 0),
                                          I64("parent_pid", LODE_FIELD_OPTIONAL),
                                          TEXT("name"),
                                          TEXT_OR_NULL("program"),
                                          I64("begin_ns", LODE_FIELD_TIME | LODE_FIELD_OPTIONAL),
                                          I64("end_ns", LODE_FIELD_TIME | LODE_FIELD_OPTIONAL),
                                          I64("bytes", 0)};

static lode_status put_interval(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                uint32_t track, lode_error *error)
{
    uint64_t begin, end;
    lode_status status = lode_track_interval(reader->tables->recording, track, &begin, &end, error);
    lode_batch_null(batch, 6);
    lode_batch_null(batch, 7);
    if (status == LODE_OK) {
        lode_batch_u64(batch, 6, begin);
        lode_batch_u64(batch, 7, end);
    }
    return status < 0 ? status : LODE_OK;
}

static lode_status track_row(struct lode_table_reader *reader, struct lode_table_batch *batch, uint32_t i,
                             lode_error *error)
{
    const lode_track *track =
        lode_recording_track(reader->tables->recording, lode_slice_track(reader->tables->options.slice, i));
    lode_batch_u32(batch, 0, track->index);
    lode_batch_u64(batch, 1, (uint64_t)(int64_t)track->pid);
    lode_batch_u64(batch, 2, (uint64_t)(int64_t)track->tid);
    if (track->parent)
        lode_batch_u64(batch, 3, (uint64_t)(int64_t)track->parent);
    else
        lode_batch_null(batch, 3);
    LODE_TRY(lode_batch_text(batch, 4, track->name, error));
    LODE_TRY(lode_batch_text(batch, 5, track->program[0] ? track->program : NULL, error));
    LODE_TRY(put_interval(reader, batch, track->index, error));
    lode_batch_u64(batch, 8, track->bytes);
    return LODE_OK;
}

static lode_status open_track(struct lode_table_reader *reader, lode_error *error)
{
    uint32_t count;
    LODE_TRY(lode_slice_tracks(reader->tables->options.slice, reader->tables->recording, &count, error));
    return lode_table_choose_rows(reader, count, error);
}

static lode_status next_track(struct lode_table_reader *reader, struct lode_table_batch *batch,
                              lode_error *error)
{
    return lode_table_next_rows(reader, batch, track_row, error);
}

/* Rows are numbered by their place in the slice. */
static lode_status find_track(struct lode_tables *tables, unsigned column, uint64_t key,
                              struct lode_table_rows *rows, lode_error *error)
{
    uint32_t low = 0, high;
    (void)column;
    LODE_TRY(lode_slice_tracks(tables->options.slice, tables->recording, &high, error));
    uint32_t count = high;
    LODE_BISECT(low, high, lode_slice_track(tables->options.slice, middle) < key);
    bool is_there = low < count && lode_slice_track(tables->options.slice, low) == key;
    *rows = (struct lode_table_rows){NULL, low, is_there};
    return LODE_OK;
}

static lode_status count_track(struct lode_tables *tables, double *rows, lode_error *error)
{
    uint32_t count;
    LODE_TRY(lode_slice_tracks(tables->options.slice, tables->recording, &count, error));
    *rows = count;
    return LODE_OK;
}

const struct lode_table_def lode_table_track = {TABLE("tracks: threads, or requests of a service", track),
                                                .orders = {{{0}, 1}},
                                                .order_count = 1,
                                                .number_column = UINT_MAX,
                                                .found_columns = 1,
                                                .find = find_track,
                                                .count = count_track};

/* ---- requests ---- */

static const lode_field request_fields[] = {
    TEXT_OR_NULL("id"),    U32("track_id", "track"), I64("begin_ns", LODE_FIELD_TIME),
    I64("duration_ns", 0), I64("calls", 0),          I64("errors", 0),
    TEXT_OR_NULL("name"),  TEXT_OR_NULL("exception")};

enum {
    REQUESTS = 1024 /* searched for at once */
};

struct request_state {
    lode_search *search;
    size_t at;                 /* in `order` */
    size_t order[REQUESTS];    /* rows of the search by track */
    uint32_t tracks[REQUESTS]; /* that it looked at */
    uint32_t track_count;
    uint64_t next; /* of the slice */
};

static lode_status open_request(struct lode_table_reader *reader, lode_error *error)
{
    uint32_t count;
    if (!lode_recording_has_requests(reader->tables->recording))
        return LODE_OK;
    LODE_TRY(lode_slice_tracks(reader->tables->options.slice, reader->tables->recording, &count, error));
    return lode_table_choose_rows(reader, count, error);
}

static void close_request(struct lode_table_reader *reader)
{
    struct request_state *state = reader->state;
    lode_search_free(state->search);
}

static uint32_t row_number(const struct lode_table_rows *rows, uint64_t at)
{
    return rows->numbers ? rows->numbers[at] : rows->first + (uint32_t)at;
}

/* Puts the found rows, which are in chronological order, into the order of tracks. */
static void order_by_track(struct request_state *state)
{
    size_t count = lode_search_count(state->search);
    for (size_t i = 0; i < count; i++) {
        uint32_t track = lode_search_at(state->search, i)->track;
        size_t k = i;
        for (; k > 0 && lode_search_at(state->search, state->order[k - 1])->track > track; k--)
            state->order[k] = state->order[k - 1];
        state->order[k] = i;
    }
}

static lode_status search(struct lode_table_reader *reader, lode_error *error)
{
    struct request_state *state = reader->state;
    const lode_slice *slice = reader->tables->options.slice;
    lode_search_options options = LODE_SEARCH_OPTIONS_INIT;
    lode_search_free(state->search);
    state->search = NULL;
    state->at = 0;
    for (state->track_count = 0; state->track_count < REQUESTS && state->next < reader->total; state->next++)
        state->tracks[state->track_count++] = lode_slice_track(slice, row_number(&reader->rows, state->next));
    options.tracks = state->tracks;
    options.track_count = state->track_count;
    options.from = slice ? slice->from : 0;
    options.to = slice ? slice->to : 0;
    options.threads = 1;
    options.key = "";
    options.strict = reader->tables->options.strict;
    LODE_TRY(lode_search_run(&state->search, reader->tables->recording, &options, error));
    order_by_track(state);
    return LODE_OK;
}

/* The method that the request began with; without a query, it gets a number, as in events. */
static lode_status put_name(struct lode_table_reader *reader, struct lode_table_batch *batch,
                            const lode_function *function, lode_error *error)
{
    struct lode_tables *tables = reader->tables;
    uint32_t number;
    if (function == NULL)
        return LODE_OK;
    if (reader->query)
        return lode_batch_function(batch, 6, function, tables->options.names, error);
    LODE_TRY(lode_tables_function(tables, function, &number, error));
    lode_batch_fixed(batch, 6, lode_function_names_label(&tables->names, number));
    return LODE_OK;
}

lode_status lode_batch_request(struct lode_table_reader *reader, struct lode_table_batch *batch,
                               const lode_search_row *row, lode_error *error)
{
    const char *id = lode_recording_track(reader->tables->recording, row->track)->id;
    LODE_TRY(lode_batch_text(batch, 0, id[0] ? id : NULL, error));
    lode_batch_u32(batch, 1, row->track);
    lode_batch_u64(batch, 2, row->begin);
    lode_batch_u64(batch, 3, row->duration);
    lode_batch_u64(batch, 4, row->calls);
    lode_batch_u64(batch, 5, row->errors);
    lode_batch_fixed(batch, 6, NULL);
    LODE_TRY(put_name(reader, batch, row->function, error));
    lode_batch_fixed(batch, 7, NULL);
    if (row->exception[0])
        LODE_TRY(lode_batch_bytes(batch, 7, row->exception, strlen(row->exception), error));
    return LODE_OK;
}

static lode_status next_request(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                lode_error *error)
{
    struct request_state *state = reader->state;
    while (!lode_batch_is_full(batch)) {
        if (state->search && state->at < lode_search_count(state->search)) {
            const lode_search_row *row = lode_search_at(state->search, state->order[state->at++]);
            LODE_TRY(lode_batch_request(reader, batch, row, error));
            batch->rows++;
            continue;
        }
        if (state->next >= reader->total)
            return LODE_END;
        LODE_TRY(search(reader, error));
        reader->done = state->next;
    }
    return LODE_OK;
}

/* Its rows by number are tracks. */
const struct lode_table_def lode_table_request = {INFO("requests of a service", request),
                                                  .state_size = sizeof(struct request_state),
                                                  .open = open_request,
                                                  .next = next_request,
                                                  .close = close_request,
                                                  .orders = {{{1}, 1}},
                                                  .order_count = 1,
                                                  .is_numbered = true,
                                                  .number_column = UINT_MAX,
                                                  .found_columns = 1 << 1,
                                                  .find = find_track,
                                                  .count = count_track};
