/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker of the pass over all events. */
#ifndef LODE_ANALYSIS_DIAGNOSE_CALLS_PASS_H
#define LODE_ANALYSIS_DIAGNOSE_CALLS_PASS_H

#include "analysis/calls.h"
#include "analysis/diagnose/calls/facts.h"
#include "base/map.h"

enum {
    CALL_HOLDS_MAX = 64 /* locks that a thread holds at once; more are not looked at */
};

/* An open call. */
struct call_frame {
    uint64_t enter, self;             /* self: running time of the function itself */
    uint64_t running, useful, paused; /* clocks of the track at the begin */
    uint32_t function;                /* index + 1; 0: outside of all calls */
    uint32_t holder;                  /* the innermost function of the application + 1 */
    uint32_t pair;                    /* of the library function that it is or is in + 1; 0: none */
    unsigned char path;               /* activity along the call path */
    unsigned char is_useful, in_body, spins;
    unsigned char is_nested; /* in a call with the same role, such as that of a C++ library */
    uint16_t roles;          /* a set: those of this and of all calls up to the holder */
};

/* A lock that is held. */
struct call_hold {
    uint64_t since, paused;
};

/* Off-CPU time since the last record: it counts once another record follows. */
struct call_pending {
    uint32_t pair; /* + 1; 0: none */
    uint64_t blocked, from, to;
};

/* What a worker remembers of a function. */
struct call_memo {
    uint32_t active;       /* open calls */
    uint32_t holder, pair; /* the last pair */
    uint64_t held;         /* on this track */
    uint64_t alone;        /* the same outside of OpenMP regions */
};

struct call_worker {
    _Alignas(LODE_WORKER_ALIGN) const lode_kind_rules *kinds;
    const lode_recording *recording;
    struct call_function *functions;
    struct call_memo *memos;
    uint32_t *touched; /* functions with own time on this track */
    size_t touched_count;
    struct call_frame *frames;
    size_t depth, depth_max; /* frames[0]: outside of all calls */
    struct lode_sketches sketches;
    struct lode_map index;   /* from pairs of functions to `pairs` */
    struct lode_array pairs; /* of struct call_pair */
    struct call_hold holds[CALL_HOLDS_MAX];
    size_t hold_count;
    struct call_hold woken; /* the last end of being blocked */
    struct call_pending pending;
    uint64_t recorded;       /* running time at the last record */
    struct call_track track; /* the current one */
    uint64_t last;           /* time of the last event */
    uint64_t off_since;
    size_t collectives_max;
    uint32_t capacity; /* of functions */
    bool is_off, is_preempted, has_begun, has_sched;
};

lode_status lode_call_worker_open(struct call_worker *w, const struct lode_diagnosis *d,
                                  size_t collectives_max, lode_error *error);
void lode_call_worker_close(struct call_worker *w);
void lode_call_worker_begin(struct call_worker *w, const lode_track_row *row);
/* Balanced, chronological events. */
lode_status lode_call_worker_take(struct call_worker *w, const lode_event *events, size_t count,
                                  lode_error *error);
/* Keeps the longest time off-CPU; of equal ones, the first. */
void lode_call_pair_note(struct call_pair *pair, uint64_t from, uint64_t to, uint32_t track);
/* Moves what was found about the track to `track`. */
void lode_call_worker_end(struct call_worker *w, struct call_track *track);

#endif
