/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker of the pass over all events. */
#ifndef LODE_ANALYSIS_DIAGNOSE_CALLS_PASS_H
#define LODE_ANALYSIS_DIAGNOSE_CALLS_PASS_H

#include "analysis/calls/calls.h"
#include "analysis/diagnose/calls/facts.h"
#include "base/memory/map.h"

enum {
    CALL_HOLDS_MAX = 64, /* locks that a thread holds at once: the latest ones; a power of two */
    CALL_BATCH = 64,
    CALL_EDGES_MAX = 1 << 20,
    CALL_ARGUMENTS_MAX = 1 << 16 /* of a track; further ones count as new */
};

/*
 * In the number of a call: it counts from the begin of the piece of the track. How many calls came
 * before it is known where pieces are joined.
 */
#define CALL_RELATIVE (UINT32_C(1) << 31)

struct call_part;

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
    uint32_t roles;          /* a set: those of this and of all calls up to the holder */
    uint32_t edge;           /* + 1; 0: none */
    uint32_t number;         /* of the call among those of its function below one call */
    uint32_t callees;        /* calls that it made itself */
    uint64_t serial;         /* unlike that of all other calls */
    uint64_t arguments;      /* hash of function and arguments; 0: not recorded */
};

/* A lock that is held. */
struct call_hold {
    uint64_t since, paused;
};

/* An outermost call that the sketches do not have yet. */
struct call_taken {
    uint64_t took;
    uint32_t function;
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
    uint32_t caller, edge; /* the last edge */
    uint32_t number;       /* of the last call below the call `serial` */
    uint32_t run;          /* calls with relative numbers: index + 1 in the part */
    uint64_t serial;
};

/* What is kept of the course of a track; shorter waits and spans give way to longer ones. */
struct call_seen {
    struct lode_map edge_index;
    struct lode_map arguments;    /* of calls of this track */
    struct lode_array edges;      /* of struct call_edge */
    struct call_growth **growths; /* by function; NULL: few calls */
    uint32_t capacity;            /* of functions */
    size_t waits_max;
    uint64_t wait_min, span_min; /* nanoseconds */
    struct lode_array waits, spans;
    size_t settled;      /* waits that a record follows */
    uint64_t between;    /* times off-CPU since the last record */
    uint64_t serial;     /* of the last call, of all tracks */
    uint64_t last_sleep; /* the end of it; 0: none */
    /* Of a piece, serials: it begins with `first`, and calls that began before end at `carried`. */
    uint64_t first, carried;
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
    struct call_taken taken[CALL_BATCH];
    size_t taken_count;
    struct lode_map index;                  /* from pairs of functions to `pairs` */
    struct lode_array pairs;                /* of struct call_pair */
    struct call_hold holds[CALL_HOLDS_MAX]; /* a ring */
    uint32_t hold_end, hold_count;          /* after the latest one; how many */
    uint32_t base;          /* of a piece: locks below these that were perhaps taken before it */
    size_t carried;         /* of a piece: open calls that began before it */
    struct call_part *part; /* of a piece that is not the first one; NULL: of no other */
    struct call_hold woken; /* the last end of being blocked */
    struct call_seen seen;
    struct call_pending pending;
    uint64_t recorded;       /* running time at the last record */
    struct call_track track; /* the current one */
    uint64_t last;           /* time of the last event */
    uint64_t off_since;
    size_t collectives_max;
    uint32_t capacity; /* of functions */
    bool is_off, is_preempted, has_begun, has_sched;
    bool is_blocked_known; /* off-CPU time says when threads wait; else their calls do */
};

lode_status lode_diagnose_call_worker_open(struct call_worker *w, const struct lode_diagnosis *d,
                                           size_t collectives_max, size_t waits_max, lode_error *error);
void lode_diagnose_call_worker_close(struct call_worker *w);
void lode_diagnose_call_worker_begin(struct call_worker *w, const lode_track_row *row);
/* Balanced, chronological events. */
lode_status lode_diagnose_call_worker_take(struct call_worker *w, const lode_event *events, size_t count,
                                           lode_error *error);
/* Moves what was found about the track to `track`. */
lode_status lode_diagnose_call_worker_end(struct call_worker *w, struct call_track *track, lode_error *error);

/* ---- calls (worker.c) ---- */

/* A call of a function begins, of which nothing is counted; NULL if out of memory. */
struct call_frame *lode_diagnose_call_open(struct call_worker *w, uint32_t index, uint64_t time);
/* The innermost call ends: what its events say, and what it took. False if out of memory. */
bool lode_diagnose_call_end_here(struct call_worker *w, const lode_event *event);
bool lode_diagnose_call_end_joined(struct call_worker *w, const lode_event *event);
/* Room for a function, and what it is; false if out of memory. */
bool lode_diagnose_call_know(struct call_worker *w, uint32_t index);
/* The pair of two functions (index + 1); NULL if out of memory. */
struct call_pair *lode_diagnose_call_pair(struct call_worker *w, uint32_t holder, uint32_t entry);
/* Adds what was taken to the sketches; false if out of memory. */
bool lode_diagnose_call_flush(struct call_worker *w);

/* ---- what calls do (effects.c) ---- */

void lode_diagnose_call_enter_role(struct call_worker *w, enum call_role role, uint64_t time);
bool lode_diagnose_call_leave_role(struct call_worker *w, enum call_role role, const struct call_frame *frame,
                                   uint64_t time);
/* The time that the thread waited in the call for others. */
void lode_diagnose_call_leave_wait(struct call_worker *w, enum call_role role, const struct call_frame *frame,
                                   uint64_t time);
bool lode_diagnose_call_add_collective(struct call_worker *w, const struct call_collective *collective);
/* The bytes that a call says that it transferred. */
void lode_diagnose_call_count_bytes(struct call_worker *w, const lode_event *event, struct call_pair *pair);

/* ---- the course of a track (seen.c) ---- */

void lode_diagnose_call_seen_open(struct call_seen *seen, size_t waits_max);
void lode_diagnose_call_seen_close(struct call_seen *seen);
/* Room for functions; false if out of memory. */
bool lode_diagnose_call_seen_grow(struct call_seen *seen, uint32_t capacity);
void lode_diagnose_call_seen_begin(struct call_seen *seen);
/* A call of a function of the application begins. */
bool lode_diagnose_call_seen_enter(struct call_worker *w, struct call_frame *frame,
                                   const struct call_frame *above);
/* It ended; `is_outer`: it is not inside of a call of the same function. */
bool lode_diagnose_call_seen_leave(struct call_worker *w, const struct call_frame *frame, uint64_t time,
                                   bool is_outer);
/* A record follows. If a repair made it up, waits since the last one may not have ended. */
void lode_diagnose_call_seen_record(struct call_seen *seen, bool is_made);
bool lode_diagnose_call_seen_wait(struct call_worker *w, const struct call_frame *frame, uint64_t from,
                                  uint64_t to);
/* The same of a time off-CPU. */
bool lode_diagnose_call_seen_off(struct call_worker *w, const struct call_frame *frame, uint64_t from,
                                 uint64_t to);
void lode_diagnose_call_seen_sleep(struct call_worker *w, struct call_pair *pair, uint64_t from, uint64_t to);
/* Adds one that is long enough. */
bool lode_diagnose_call_seen_push(struct call_seen *seen, const struct call_wait *wait);
bool lode_diagnose_call_seen_span(struct call_seen *seen, const struct call_span *span);
/* Raises the limits, if these are higher. */
void lode_diagnose_call_seen_limit(struct call_seen *seen, uint64_t wait_min, uint64_t span_min);
/* All waits but the last ones have a record after them. */
void lode_diagnose_call_seen_settle(struct call_seen *seen, size_t unsettled);
/* Calls with about this number ended; false if out of memory. */
bool lode_diagnose_call_seen_growth(struct call_seen *seen, uint32_t function, uint32_t number,
                                    const struct call_step *step);
/* An edge (function + 1 of both) + 1; 0: there are too many, or out of memory. */
uint32_t lode_diagnose_call_seen_edge(struct call_seen *seen, uint32_t caller, uint32_t callee);
/* Copies waits and spans to the track; false if out of memory. */
bool lode_diagnose_call_seen_copy(const struct call_seen *seen, struct call_track *track);
/* Moves waits and spans to the track. */
bool lode_diagnose_call_seen_end(struct call_seen *seen, struct call_track *track);

/* Keeps the longest time off-CPU; of equal ones, the first. */
void lode_diagnose_call_pair_note(struct call_pair *pair, uint64_t from, uint64_t to, uint32_t track);

#endif
