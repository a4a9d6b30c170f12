/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts, tracks and requests of a recording, as tables. */
#include "export/table_fields.h"
#include "model/recording.h"
#include <inttypes.h>
#include <lode/search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- facts ---- */

static const struct lode_table_field fact_fields[] = {TEXT("key"), TEXT("value")};

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
const struct lode_table_def lode_table_fact = TABLE("metadata of the recorder", fact);

/* ---- tracks ---- */

static const struct lode_table_field track_fields[] = {ID,
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
    reader->total = count;
    return LODE_OK;
}

static lode_status next_track(struct lode_table_reader *reader, struct lode_table_batch *batch,
                              lode_error *error)
{
    return lode_table_next_rows(reader, batch, track_row, error);
}

const struct lode_table_def lode_table_track = TABLE("tracks: threads, or requests of a service", track);

/* ---- requests ---- */

static const struct lode_table_field request_fields[] = {
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
    if (!lode_recording_has_requests(reader->tables->recording))
        return LODE_OK;
    return open_track(reader, error);
}

static void close_request(struct lode_table_reader *reader)
{
    struct request_state *state = reader->state;
    lode_search_free(state->search);
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
        state->tracks[state->track_count++] = lode_slice_track(slice, (uint32_t)state->next);
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

static lode_status put_request(struct lode_table_reader *reader, struct lode_table_batch *batch,
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
    if (row->function) {
        uint32_t function;
        LODE_TRY(lode_tables_function(reader->tables, row->function, &function, error));
        lode_batch_fixed(batch, 6, lode_tables_function_label(reader->tables, function));
    }
    lode_batch_fixed(batch, 7, NULL);
    if (row->exception[0])
        LODE_TRY(lode_batch_bytes(batch, 7, row->exception, strlen(row->exception), error));
    batch->rows++;
    return LODE_OK;
}

static lode_status next_request(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                lode_error *error)
{
    struct request_state *state = reader->state;
    while (!lode_batch_is_full(batch)) {
        if (state->search && state->at < lode_search_count(state->search)) {
            const lode_search_row *row = lode_search_at(state->search, state->order[state->at++]);
            LODE_TRY(put_request(reader, batch, row, error));
            continue;
        }
        if (state->next >= reader->total)
            return LODE_END;
        LODE_TRY(search(reader, error));
        reader->done = state->next;
    }
    return LODE_OK;
}

const struct lode_table_def lode_table_request = {"request",
                                                  "requests of a service",
                                                  request_fields,
                                                  COUNT(request_fields),
                                                  sizeof(struct request_state),
                                                  open_request,
                                                  next_request,
                                                  close_request};
