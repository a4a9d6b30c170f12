/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pass over the events of tracks, in pieces: tracks that fill about one batch, and at last the
 * events without a track. Events, calls, arguments and attributes are read by it.
 */
#ifndef LODE_TABLE_EVENT_PASS_H
#define LODE_TABLE_EVENT_PASS_H

#include "analysis/calls/slice.h"
#include "base/memory/blob.h"
#include "model/recording/open_calls.h"
#include "model/recording/recording.h"
#include "table/fields.h"
#include "table/keys.h"

struct lode_event_pass_call {
    uint64_t begin, inside; /* time of callees */
    uint64_t id;
    uint32_t function;
};

struct lode_event_pass {
    lode_slice slice;
    struct lode_slicer slicer;
    uint32_t track_count, next; /* of the slice */
    uint32_t piece_end;         /* of the slice: the piece that is being read ends there */
    uint32_t track;
    lode_cursor *cursor;
    bool is_open;             /* the parts of this struct were initialised */
    bool has_finished;        /* the slicer gave its rest */
    bool has_messages;        /* the events without a track come next */
    const lode_event *events; /* of this track, not yet read */
    size_t count;
    uint64_t reported;            /* bytes of this track */
    struct lode_open_calls calls; /* of struct lode_event_pass_call */
    uint64_t call_count;          /* of this track, so far */
    lode_argument *arguments;     /* of the current event */
    size_t argument_capacity, argument_count, next_argument;
    bool has_arguments; /* they are decoded */
    uint64_t undecoded; /* events whose data was not understood */
    struct lode_blob text;
    /* Of a query: */
    struct lode_key_set tracks;
    struct lode_function_names names; /* of this pass, by first use in it */
};

extern const char *const lode_event_kinds[]; /* names */

lode_status lode_event_pass_open(struct lode_table_reader *reader, lode_error *error);
void lode_event_pass_close(struct lode_table_reader *reader);
bool lode_event_pass_begin_piece(struct lode_table_reader *reader);
lode_status lode_event_pass_split(struct lode_table_reader *reader, struct lode_table_reader *part,
                                  lode_error *error);
/* Pruning of tracks; an order by track has NULL last, where SQL has it first. */
lode_status lode_event_pass_plan(struct lode_tables *tables, struct lode_table_query *query,
                                 lode_error *error);

/* The current event; NULL at the end of a piece, which only queries have. */
lode_status lode_event_pass_peek(struct lode_table_reader *reader, const lode_event **event,
                                 lode_error *error);
/* Without a query, functions are numbered as they come. */
lode_status lode_event_pass_function(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                     unsigned column, const lode_function *function, lode_error *error);

static inline void pass_advance(struct lode_event_pass *pass)
{
    pass->events++;
    pass->count--;
    pass->has_arguments = false;
}

static inline bool event_has_function(const lode_event *event)
{
    return event->kind <= LODE_EVENT_SCHED_IN;
}

static inline void pass_put_track(struct lode_table_batch *batch, uint32_t track)
{
    if (track == LODE_NO_TRACK)
        lode_batch_null(batch, 0);
    else
        lode_batch_u32(batch, 0, track);
}

#define PASS_OF(name)                                                                                        \
    .state_size = sizeof(struct lode_event_pass), .open = lode_event_pass_open, .next = next_##name,         \
    .close = lode_event_pass_close, .begin_piece = lode_event_pass_begin_piece,                              \
    .split = lode_event_pass_split, .order_count = 1, .plan = lode_event_pass_plan

#endif
