/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slices: the events of one track go in from the track's beginning, those of the slice come out, balanced and in the order of
 * time. What reaches out of the window is cut off at its ends, calls that are too deep or too short are left out with all that they
 * call, and with the points inside. A call is too short by what of it lies in the window. Time off the processor
 * counts as a call. A loss is always passed on, and so are the calls around it: nobody knows how long they took.
 */
#ifndef LODE_ANALYSIS_SLICE_H
#define LODE_ANALYSIS_SLICE_H

#include "base/array.h"
#include <lode/event.h>
#include <stdbool.h>

struct lode_slicer {
    uint64_t from, to; /* `to` is UINT64_MAX for the end */
    uint64_t min_time;
    uint32_t depth;
    bool asks;  /* false: all that goes in comes out */
    bool begun; /* an event at or after `from` has been met */
    bool ended; /* one at or after `to` */
    uint64_t last;
    uint64_t hidden; /* open calls that are too deep */
    /* Open calls; those from `passed` on wait, for `from` or until they have lasted long enough. */
    struct lode_array frames;
    size_t passed;
    /* Events that wait: the enters of those calls, and the points inside. Those before `head` were passed on. */
    struct lode_array queue;
    size_t head;
    struct {
        unsigned char *items;
        size_t count, capacity;
    } bytes; /* what waiting events carry */
    struct {
        lode_event *items;
        size_t count, capacity;
    } out;
    struct lode_array stored; /* events of `out` whose data is in `bytes` */
};

/* `slice` may be NULL. */
void lode_slicer_init(struct lode_slicer *slicer, const lode_slice *slice);
/* Makes it ready for another track, and keeps its memory. */
void lode_slicer_reset(struct lode_slicer *slicer);
void lode_slicer_free(struct lode_slicer *slicer);

/*
 * Takes events in and gives those that are known to belong to the slice, none perhaps. They are valid until the next call, as long
 * as those that were passed in are. If the slice is all, they are those.
 */
lode_status lode_slicer_push(struct lode_slicer *slicer, const lode_event *events, size_t count,
                             const lode_event **out, size_t *out_count, lode_error *error);
/* What is left behind the last event of a track, or at the end of the window. */
lode_status lode_slicer_finish(struct lode_slicer *slicer, const lode_event **out, size_t *out_count,
                               lode_error *error);
/* Whether all further events would be left out. */
static inline bool lode_slicer_has_ended(const struct lode_slicer *slicer)
{
    return slicer->ended;
}

/* Whether events from `begin` to `end` meet the window of a slice, which may be NULL. */
bool lode_slice_meets(const lode_slice *slice, uint64_t begin, uint64_t end);

/* The tracks of a slice: `*count` of them, the index of one by lode_slice_track. Fails if they do not rise or are not there. */
lode_status lode_slice_tracks(const lode_slice *slice, const lode_recording *recording, uint32_t *count,
                              lode_error *error);
static inline uint32_t lode_slice_track(const lode_slice *slice, uint32_t i)
{
    return slice && slice->tracks ? slice->tracks[i] : i;
}

#endif
