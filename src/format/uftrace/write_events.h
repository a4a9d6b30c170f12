/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From events to records, a track at a time. Events are balanced and repaired; records are such that uftrace, which repairs less and
 * takes them one by one as they come, makes the same of them, and that reading them again gives the same events.
 */
#ifndef LODE_UFTRACE_WRITE_EVENTS_H
#define LODE_UFTRACE_WRITE_EVENTS_H

#include "base/array.h"
#include "format/uftrace/write.h"
#include "format/uftrace/write_place.h"

/* How the events of one recording are written. All is borrowed. */
struct uft_event_rules {
    const struct uft_recording *rec;
    const uint64_t *shifts;           /* of symbols, or NULL */
    int64_t clock;                    /* added to all times */
    bool drops_values;                /* arguments and results are left out */
    unsigned word;                    /* of the recording that is written */
    const struct lode_map *event_ids; /* from ids of user events to new ones */
    uint64_t from, to;                /* the window of the slice; `to` is UINT64_MAX for the end */
    bool keeps_empty;                 /* a track without records has a file */
};

/* What is left of a track when it is written. */
struct uft_written_track {
    int32_t tid;   /* as it is written */
    bool is_there; /* it has a file */
    uint64_t records;
    uint64_t first; /* time of the first record; UINT64_MAX: there is none */
    uint32_t deepest;
    uint64_t dropped_points, dropped_values; /* that cannot be written */
    struct lode_array perf;                  /* struct lode_uft_perf_event; of names, `cpu` is the index */
    struct lode_array names;                 /* const char *, of the recording */
};

void lode_uft_written_track_free(struct uft_written_track *written);

/* One thread's writer, for one recording. */
struct uft_event_writer {
    struct uft_event_rules rules;
    struct uft_writer *writer;
    struct uft_written_track *written; /* of the track that is written */
    struct uft_track_writer track;
    struct uft_places places;
    struct lode_array open; /* struct uft_open_call */
    /* Ends of calls that no record says, at one time: how they are written depends on what follows. */
    struct lode_array held; /* lode_event */
    bool has_jump;          /* among them */
    bool was_lost;          /* a loss waits for the calls that end with it */
    uint64_t lost_count, lost_time;
    bool has_target; /* setjmp was called */
    uint64_t target_address;
    uint32_t target_depth;
};

lode_status lode_uft_events_init(struct uft_event_writer *self, struct uft_writer *writer,
                                 const struct uft_event_rules *rules, lode_error *error);
void lode_uft_events_free(struct uft_event_writer *self);

/* Begins a track. `written` must have its tid and no first time, and be zero otherwise. */
lode_status lode_uft_events_begin(struct uft_event_writer *self, const lode_track *track,
                                  struct uft_written_track *written, lode_error *error);
lode_status lode_uft_events_take(struct uft_event_writer *self, const lode_event *events, size_t count,
                                 lode_error *error);
/* Ends it. Without a record, there is no file unless `keeps_empty`. */
lode_status lode_uft_events_end(struct uft_event_writer *self, lode_error *error);

#endif
