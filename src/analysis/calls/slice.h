/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slices: takes the events of one track from its beginning and returns those of the slice, balanced
 * and chronological. Calls are clipped to the time window. Calls that are too deep, or too short by
 * their time in the window, are dropped with all that they contain. Off-CPU time counts as a call.
 * Losses are always passed on, with the enclosing calls: their duration is unknown.
 */
#ifndef LODE_ANALYSIS_SLICE_H
#define LODE_ANALYSIS_SLICE_H

#include "model/recording/open_calls.h"
#include <stdbool.h>

struct lode_slicer {
    uint64_t from, to; /* `to` is UINT64_MAX for the end */
    uint64_t min_time;
    bool no_sched;
    bool asks;  /* false: passes everything */
    bool begun; /* an event at or after `from` occurred */
    bool ended; /* one at or after `to` */
    uint64_t last;
    /* Open calls; those from `passed` on wait for `from`, or to become long enough. */
    struct lode_open_calls frames;
    size_t passed;
    /* Waiting events: enters of those calls and events inside. Those before `head` passed. */
    struct lode_array queue;
    size_t head;
    struct {
        unsigned char *items;
        size_t count, capacity;
    } bytes; /* data of waiting events */
    struct {
        lode_event *items;
        size_t count, capacity;
    } out;
    struct lode_array stored; /* events of `out` whose data is in `bytes` */
};

/* `slice` may be NULL. */
void lode_slicer_init(struct lode_slicer *slicer, const lode_slice *slice);
/* Resets it for another track and keeps the memory. */
void lode_slicer_reset(struct lode_slicer *slicer);
void lode_slicer_free(struct lode_slicer *slicer);

/*
 * Takes events and returns those known to be in the slice, possibly none. They are valid until the
 * next call, and as long as the input is. Without restrictions, returns the input.
 */
lode_status lode_slicer_push(struct lode_slicer *slicer, const lode_event *events, size_t count,
                             const lode_event **out, size_t *out_count, lode_error *error);
/* Returns the rest after the last event of a track, or at the end of the time window. */
lode_status lode_slicer_finish(struct lode_slicer *slicer, const lode_event **out, size_t *out_count,
                               lode_error *error);
/* Whether all further events would be dropped. */
static inline bool lode_slicer_has_ended(const struct lode_slicer *slicer)
{
    return slicer->ended;
}

/* Whether [begin, end] intersects the time window of a slice, which may be NULL. */
bool lode_slice_meets(const lode_slice *slice, uint64_t begin, uint64_t end);

/* The number of tracks of a slice; lode_slice_track has the indices. Fails unless they ascend. */
lode_status lode_slice_tracks(const lode_slice *slice, const lode_recording *recording, uint32_t *count,
                              lode_error *error);
static inline uint32_t lode_slice_track(const lode_slice *slice, uint32_t i)
{
    return slice && slice->tracks ? slice->tracks[i] : i;
}

#endif
