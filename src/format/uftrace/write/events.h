/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts events to records, one track at a time. Events are balanced and repaired. uftrace
 * repairs less, and reads one record at a time: it must interpret the records in the same way, and
 * reading them again must return the same events.
 */
#ifndef LODE_UFTRACE_WRITE_EVENTS_H
#define LODE_UFTRACE_WRITE_EVENTS_H

#include "base/memory/array.h"
#include "format/uftrace/write/place.h"
#include "format/uftrace/write/write.h"
#include "model/recording/open_calls.h"

/* How the events of one recording are written. All pointers are borrowed. */
struct uft_event_changes {
    const struct uft_recording *rec;
    const uint64_t *shifts;           /* of symbols, or NULL */
    int64_t clock;                    /* added to all times */
    bool drops_values;                /* leave out arguments and results */
    unsigned word;                    /* of the recording that is written */
    const struct lode_map *event_ids; /* from ids of user events to new ones */
    uint64_t from, to;                /* time window of the slice; `to` is UINT64_MAX for the end */
    bool keeps_empty;                 /* write a file for a track without records */
};

/* The result of writing a track. */
struct uft_written_track {
    int32_t tid;   /* as written */
    bool is_there; /* it has a file */
    uint64_t records;
    uint64_t first; /* time of the first record; UINT64_MAX: there is none */
    uint32_t deepest;
    uint64_t dropped_points, dropped_values; /* that uftrace cannot read */
    struct lode_array perf;                  /* struct lode_uft_perf_event; `cpu` may index names */
    struct lode_array names;                 /* const char *, of the recording */
};

void lode_uft_written_track_free(struct uft_written_track *written);

/* One thread's writer, for one recording. */
struct uft_event_writer {
    struct uft_event_changes rules;
    struct uft_writer *writer;
    struct uft_written_track *written; /* of the track that is written */
    struct uft_track_writer track;
    struct uft_places places;
    struct lode_open_calls open; /* of struct uft_open_call */
    /* Ends without a record, at one time: their form depends on the next event. */
    struct lode_array held; /* lode_event */
    bool has_jump;          /* among them */
    bool was_lost;          /* a loss waits for the calls that end with it */
    uint64_t lost_count, lost_time;
    bool has_target; /* setjmp was called */
    uint64_t target_address;
    uint32_t target_depth;
};

lode_status lode_uft_events_init(struct uft_event_writer *self, struct uft_writer *writer,
                                 const struct uft_event_changes *rules, lode_error *error);
void lode_uft_events_free(struct uft_event_writer *self);

/* Begins a track. `written` must have its tid and no first time, and be zero otherwise. */
lode_status lode_uft_events_begin(struct uft_event_writer *self, const lode_track *track,
                                  struct uft_written_track *written, lode_error *error);
lode_status lode_uft_events_take(struct uft_event_writer *self, const lode_event *events, size_t count,
                                 lode_error *error);
/* Ends it. Without a record, there is no file unless `keeps_empty`. */
lode_status lode_uft_events_end(struct uft_event_writer *self, lode_error *error);

#endif
