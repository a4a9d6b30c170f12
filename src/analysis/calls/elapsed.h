/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Elapsed time: how long at least one call with a key was under way, in each request. Calls of a
 * request run at the same time if it has side tracks; then this is less than what they add up to.
 */
#ifndef LODE_ANALYSIS_ELAPSED_H
#define LODE_ANALYSIS_ELAPSED_H

#include "analysis/calls/calls.h"
#include "base/memory/array.h"

/* A worker: one request at a time, whose calls are remembered until it ends. */
struct lode_elapsed {
    uint64_t *times; /* by key */
    uint32_t capacity;
    uint64_t whole;          /* of requests, from the first begin to the last end */
    struct lode_array open;  /* struct lode_interval: calls of the track */
    struct lode_array calls; /* struct lode_interval: of the request */
    uint64_t begin, end;     /* of the request */
};

struct lode_interval {
    uint64_t begin, end;
    uint32_t key;
};

void lode_elapsed_init(struct lode_elapsed *elapsed);
void lode_elapsed_free(struct lode_elapsed *elapsed);
/* A call begins, the innermost one ends, a track ends. False if out of memory. */
bool lode_elapsed_enter(struct lode_elapsed *elapsed, uint32_t key, uint64_t time);
bool lode_elapsed_leave(struct lode_elapsed *elapsed, uint64_t time);
void lode_elapsed_end_track(struct lode_elapsed *elapsed);
/* All tracks of the request have ended. */
void lode_elapsed_end_request(struct lode_elapsed *elapsed);
static inline uint64_t elapsed_of(const struct lode_elapsed *elapsed, uint32_t key)
{
    return key < elapsed->capacity ? elapsed->times[key] : 0;
}

/* Calls by the functions of tallies. */
bool lode_tallies_note(struct lode_tallies *tallies, struct lode_elapsed *elapsed, const lode_event *events,
                       size_t count);
/* Whether calls of the slice run at the same time in one request. */
bool lode_pass_has_sides(const struct lode_pass *pass);

#endif
