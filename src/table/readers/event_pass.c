/* SPDX-License-Identifier: BSD-3-Clause */
#include "table/readers/event_pass.h"

#include <stdlib.h>
#include <string.h>

enum {
    EVENT_BYTES = 16 /* approximate size of a record, for progress */
};

const char *const lode_event_kinds[] = {"enter", "leave", "sched_out", "sched_in", "instant", "lost"};

/* ---- tracks ---- */

/* Ids of functions are those of first use in all tracks, whichever of them a query reads. */
static lode_status find_functions(struct lode_table_reader *reader, lode_error *error)
{
    for (unsigned i = 0; reader->query && i < reader->def->info.field_count; i++)
        if (strcmp(reader->def->info.fields[i].name, "function_id") == 0 && (reader->query->needed >> i & 1))
            return lode_tables_scan(reader->tables, error);
    return LODE_OK;
}

static bool is_wanted_track(const struct lode_table_reader *reader, uint32_t track)
{
    const struct lode_event_pass *pass = reader->state;
    uint64_t key;
    size_t at = 0;
    return lode_key_set_next(&pass->tracks, track, &at, &key) && key == track;
}

static void init_pass(struct lode_table_reader *reader)
{
    struct lode_event_pass *pass = reader->state;
    lode_slicer_init(&pass->slicer, reader->tables->options.slice);
    open_calls_init(&pass->calls, sizeof(struct lode_event_pass_call), SIZE_MAX);
    lode_function_names_init(&pass->names, reader->tables->options.names);
    pass->tracks = lode_key_set_of(reader->query, 0, UINT32_MAX);
    pass->is_open = true;
}

lode_status lode_event_pass_open(struct lode_table_reader *reader, lode_error *error)
{
    struct lode_event_pass *pass = reader->state;
    const struct lode_tables *tables = reader->tables;
    init_pass(reader);
    reader->can_split = reader->query != NULL;
    LODE_TRY(find_functions(reader, error));
    LODE_TRY(lode_slice_tracks(tables->options.slice, tables->recording, &pass->track_count, error));
    for (uint32_t i = 0; i < pass->track_count; i++) {
        uint32_t track = lode_slice_track(tables->options.slice, i);
        if (is_wanted_track(reader, track))
            reader->total += tables->recording->tracks[track].bytes;
    }
    return LODE_OK;
}

void lode_event_pass_close(struct lode_table_reader *reader)
{
    struct lode_event_pass *pass = reader->state;
    if (!pass->is_open)
        return;
    lode_cursor_close(pass->cursor);
    lode_slicer_free(&pass->slicer);
    open_calls_free(&pass->calls);
    lode_function_names_free(&pass->names);
    lode_blob_free(&pass->text);
    free(pass->arguments);
}

static lode_status open_track(struct lode_table_reader *reader, lode_error *error)
{
    struct lode_event_pass *pass = reader->state;
    const struct lode_tables *tables = reader->tables;
    const lode_slice *slice = tables->options.slice;
    lode_cursor_options options = LODE_CURSOR_OPTIONS_INIT;
    pass->track = lode_slice_track(slice, pass->next++);
    if (!is_wanted_track(reader, pass->track))
        return LODE_OK;
    options.strict = tables->options.strict;
    /* The first pass reports repairs; queries are read by several threads. */
    options.on_finding = reader->query || tables->is_scanned ? NULL : tables->options.on_finding;
    options.user = tables->options.user;
    lode_slicer_reset(&pass->slicer);
    open_calls_reset(&pass->calls);
    pass->call_count = 0;
    pass->has_finished = false;
    pass->reported = 0;
    return lode_cursor_open(&pass->cursor, tables->recording, pass->track, &options, error);
}

static void close_track(struct lode_table_reader *reader)
{
    struct lode_event_pass *pass = reader->state;
    uint64_t bytes = reader->tables->recording->tracks[pass->track].bytes;
    lode_cursor_close(pass->cursor);
    pass->cursor = NULL;
    reader->done += bytes - pass->reported;
}

static void report(struct lode_table_reader *reader, size_t count)
{
    struct lode_event_pass *pass = reader->state;
    uint64_t left = reader->tables->recording->tracks[pass->track].bytes - pass->reported;
    uint64_t bytes = count * EVENT_BYTES < left ? count * EVENT_BYTES : left;
    pass->reported += bytes;
    reader->done += bytes;
}

/* The next events of the open track; none at its end. */
static lode_status fill(struct lode_table_reader *reader, lode_error *error)
{
    struct lode_event_pass *pass = reader->state;
    while (pass->count == 0 && !pass->has_finished) {
        lode_status status = lode_slicer_has_ended(&pass->slicer)
                                 ? LODE_END
                                 : lode_cursor_next(pass->cursor, &pass->events, &pass->count, error);
        if (status < 0)
            return status;
        if (status == LODE_END) {
            pass->has_finished = true;
            return lode_slicer_finish(&pass->slicer, &pass->events, &pass->count, error);
        }
        report(reader, pass->count);
        LODE_TRY(
            lode_slicer_push(&pass->slicer, pass->events, pass->count, &pass->events, &pass->count, error));
    }
    return LODE_OK;
}

/* Events that belong to no track: only without a choice of tracks. */
static void open_messages(struct lode_table_reader *reader)
{
    struct lode_event_pass *pass = reader->state;
    const lode_recording *recording = reader->tables->recording;
    const lode_slice *slice = reader->tables->options.slice;
    pass->has_messages = true;
    /* Their track is NULL, which meets no condition. */
    if ((slice && slice->tracks) || (reader->query && lode_key_set_filters(reader->query, 0)))
        return;
    pass->track = LODE_NO_TRACK;
    pass->events = recording->messages;
    pass->count = recording->message_count;
    while (slice && pass->count > 0 && pass->events->time < slice->from) {
        pass->events++;
        pass->count--;
    }
    while (slice && slice->to && pass->count > 0 && pass->events[pass->count - 1].time >= slice->to)
        pass->count--;
}

/* ---- pieces ---- */

/* Tracks that fill a batch, about. */
static uint32_t end_of_piece(const struct lode_table_reader *reader, uint32_t first)
{
    const struct lode_event_pass *pass = reader->state;
    uint64_t bytes = 0, rows = reader->query ? reader->query->options.rows : UINT64_MAX;
    uint32_t end = first;
    while (end < pass->track_count && bytes / EVENT_BYTES < rows) {
        uint32_t track = lode_slice_track(reader->tables->options.slice, end++);
        if (is_wanted_track(reader, track))
            bytes += reader->tables->recording->tracks[track].bytes;
    }
    return end;
}

/* The next tracks, or at last the events without a track. */
bool lode_event_pass_begin_piece(struct lode_table_reader *reader)
{
    struct lode_event_pass *pass = reader->state;
    if (reader->is_part)
        return false;
    if (pass->next < pass->track_count) {
        pass->piece_end = end_of_piece(reader, pass->next);
        return true;
    }
    if (!pass->has_messages) {
        open_messages(reader);
        return true;
    }
    if (reader->query == NULL)
        reader->tables->is_scanned = true;
    return false;
}

lode_status lode_event_pass_split(struct lode_table_reader *reader, struct lode_table_reader *part,
                                  lode_error *error)
{
    struct lode_event_pass *pass = reader->state, *piece = part->state;
    (void)error;
    if (pass->next == pass->piece_end && pass->count == 0 && !lode_event_pass_begin_piece(reader))
        return LODE_END;
    if (!piece->is_open)
        init_pass(part);
    piece->track = pass->track;
    piece->next = pass->next;
    piece->piece_end = pass->piece_end;
    piece->events = pass->events;
    piece->count = pass->count;
    pass->next = pass->piece_end;
    pass->count = 0;
    return LODE_OK;
}

/* ---- events of a piece ---- */

lode_status lode_event_pass_peek(struct lode_table_reader *reader, const lode_event **event,
                                 lode_error *error)
{
    struct lode_event_pass *pass = reader->state;
    while (pass->count == 0) {
        if (pass->cursor) {
            LODE_TRY(fill(reader, error));
            if (pass->count == 0)
                close_track(reader);
        } else if (pass->next < pass->piece_end) {
            LODE_TRY(open_track(reader, error));
        } else if (reader->query || !lode_event_pass_begin_piece(reader)) {
            *event = NULL;
            return LODE_END;
        }
    }
    *event = pass->events;
    return LODE_OK;
}

lode_status lode_event_pass_function(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                     unsigned column, const lode_function *function, lode_error *error)
{
    struct lode_tables *tables = reader->tables;
    uint32_t id = 0;
    if (reader->query == NULL)
        LODE_TRY(lode_tables_function(tables, function, &id, error));
    else if (lode_batch_needs(batch, column))
        id = lode_function_names_find(&tables->names, function);
    lode_batch_u32(batch, column, id);
    return LODE_OK;
}

lode_status lode_event_pass_plan(struct lode_tables *tables, struct lode_table_query *query,
                                 lode_error *error)
{
    struct lode_table_plan *plan = &query->plan;
    uint32_t tracks;
    LODE_TRY(lode_slice_tracks(tables->options.slice, tables->recording, &tracks, error));
    plan->seeks = lode_key_set_filters(query, 0);
    plan->order = plan->seeks || tables->recording->message_count == 0 ? 0 : LODE_NO_ORDER;
    double bytes = 0, share = lode_key_set_share(query, 0, tracks);
    for (uint32_t i = 0; i < tracks; i++)
        bytes += (double)tables->recording->tracks[lode_slice_track(tables->options.slice, i)].bytes;
    plan->rows = plan->cost = bytes / EVENT_BYTES * share;
    return LODE_OK;
}
