/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces of a track that several workers read at once, and how they become one track.
 *
 * Sums over calls that a piece saw begin and end are complete: they are added to those of its
 * worker. What depends on the calls that began before the piece, and on what the track did before
 * it, is a part: ends of such calls, with the clocks of the piece; locks that were released, but
 * not taken; numbers of calls below them. A join takes the parts of a track in order. It is a
 * worker that knows the open calls with all that they took so far, and counts them where they end.
 */
#ifndef LODE_ANALYSIS_DIAGNOSE_CALLS_PART_H
#define LODE_ANALYSIS_DIAGNOSE_CALLS_PART_H

#include "analysis/diagnose/calls/pass.h"

/* A call that began before the piece ends. Clocks began with the piece. */
struct call_end {
    uint64_t time, running, useful, preempted;
    uint64_t self, serial; /* serial: of the last call that began */
    size_t held;           /* functions with own time so far */
    uint32_t callees, popped;
    uint8_t flags;
    bool is_locked;
    bool may_be_locked; /* if more locks were held than were released so far */
    bool is_unsettled;  /* a record that a repair made up follows */
};

/* What a function held in the piece; in the order of first times. */
struct call_held {
    uint32_t function;
    uint64_t held, alone;
};

/* The number of the last call of a function. */
struct call_number {
    uint32_t function, number;
    uint32_t parent; /* depth of the call that it was made by + 1; 0: that has ended */
};

/* Calls with relative numbers, all below one call. */
struct call_run {
    uint32_t function, parent; /* parent: its depth */
    uint32_t next;             /* number */
    uint8_t *bytes;            /* of each: callees and time */
    size_t size, capacity;
    struct call_step late; /* those that are in the last step in any case */
};

/* The first call with such arguments in the piece. */
struct call_first {
    uint64_t arguments, took;
    uint32_t function;
};

/*
 * A lock is released that was taken before the piece; or else there is none, and it counts from
 * `hold` or, if there is a caller, from the begin of that or the last time the thread was blocked.
 */
struct call_drop {
    uint64_t time, preempted;
    struct call_hold hold;
    size_t caller; /* its depth */
    bool has_hold;
};

/* The same if no lock can be held: of one caller, their number and sum. */
struct call_drops {
    uint64_t count, sum;
};

/* Time of calls of a pair if more locks were held before the piece than were released by then. */
struct call_unsure {
    uint32_t holder, entry, popped;
    uint64_t locked;
};

struct call_sleep {
    uint32_t holder, entry;
    uint64_t from, to;
};

struct call_part {
    const struct lode_cut *from, *to; /* NULL: begin and end of the track */
    struct call_part *next;           /* in a list */
    lode_track_row row;
    struct call_track track; /* of what began in the piece */
    struct lode_array ends, held, numbers, runs, firsts, drops, unsure;
    struct call_drops *late_drops; /* by depth of the caller */
    struct call_frame *frames;     /* open at the end */
    size_t depth, carried;         /* of these, calls that began before the piece */
    struct call_hold holds[CALL_HOLDS_MAX];
    uint32_t hold_count, base, popped; /* base: locks below these that may have been left */
    struct call_hold woken;
    struct call_sleep first_sleep; /* `to` is 0: none */
    uint64_t last_sleep;
    uint64_t wait_min, span_min;
    size_t unsettled; /* of the waits of the track: those after the last record */
    size_t run_bytes;
    bool has_records, is_first_made, ends_last; /* the last record is the last of `ends` */
    bool has_failed;                            /* there was no memory, or too much of something */
};

/* NULL is allowed. */
void lode_diagnose_call_part_free(struct call_part *part);

/* ---- a worker reads a piece (part.c) ---- */

/* Instead of the begin of the track: the piece begins at a cut. */
lode_status lode_diagnose_call_worker_resume(struct call_worker *w, const struct lode_cut *cut,
                                             lode_error *error);
/* Instead of the end of the track: the piece ends at a cut. */
lode_status lode_diagnose_call_worker_stop(struct call_worker *w, const struct lode_cut *cut,
                                           lode_error *error);
/* Moves what the piece leaves to a part. */
lode_status lode_diagnose_call_worker_leave(struct call_worker *w, struct call_part **out, lode_error *error);

/* The innermost call began before the piece, and ends. */
bool lode_diagnose_call_part_leave(struct call_worker *w, const lode_event *event);
/* A record follows that a repair made up. */
void lode_diagnose_call_part_made(struct call_worker *w);
/* No lock is known to be held, and one is released: whether that is for the join to count. */
bool lode_diagnose_call_part_drop(struct call_worker *w, uint64_t time);
/* A call with a relative number ends. */
bool lode_diagnose_call_part_growth(struct call_worker *w, const struct call_frame *frame, uint64_t took);
bool lode_diagnose_call_part_first(struct call_worker *w, const struct call_frame *frame, uint64_t took);

/* ---- pieces become a track (join.c) ---- */

struct call_join {
    struct call_worker w; /* has read what was joined */
    bool is_open;         /* the worker is */
    const struct lode_cut *next;
    struct call_part *waiting; /* parts that follow later */
    lode_track_row row;
};

/*
 * Takes a part, and joins it and those after it if it is the next one. After the last one, sets the
 * track. Fails if the parts do not fit.
 */
lode_status lode_diagnose_call_join(struct call_join *join, struct call_part *part, struct call_track *track,
                                    lode_error *error);
void lode_diagnose_call_join_close(struct call_join *join);

#endif
