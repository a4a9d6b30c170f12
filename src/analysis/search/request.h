/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of one request, of all its tracks, with their callers: what critical paths, maps of
 * services and conditions on structure need.
 */
#ifndef LODE_ANALYSIS_REQUEST_H
#define LODE_ANALYSIS_REQUEST_H

#include "analysis/calls/calls.h"
#include "base/memory/array.h"
#include "model/recording/open_calls.h"
#include <lode/unstable/search.h>

#define LODE_NO_CALL UINT32_MAX

struct lode_request_call {
    const lode_function *function;
    uint64_t begin, end;
    uint64_t met;    /* conditions that it meets, a bit each; for their owner */
    uint32_t parent; /* index, always below its own; LODE_NO_CALL: none */
    bool has_failed;
};

/* All zero: no request yet. Memory is kept from one to the next. */
struct lode_request {
    _Alignas(LODE_WORKER_ALIGN) const lode_recording *recording;
    uint32_t track;              /* the main one */
    struct lode_array calls;     /* struct lode_request_call, callers first on each track */
    struct lode_open_calls open; /* uint32_t: those of this track */
    struct lode_array parts;     /* struct lode_request_part: tracks that were read */
    uint32_t caller;             /* of the outermost calls of this track */
    /* Lists of callees, by call; those without a caller at the index after the last call. */
    uint32_t *first, *next;
    uint32_t capacity;
};

struct lode_request_part {
    uint32_t track, first; /* its first call */
};

void lode_request_free(struct lode_request *request);
/* Begins another request at its main track. */
lode_status lode_request_begin(struct lode_request *request, const lode_recording *recording, uint32_t track,
                               lode_error *error);
/* A side track begins. */
lode_status lode_request_side(struct lode_request *request, uint32_t track, lode_error *error);
/* One event; after it, lode_request_innermost is the call that it begins, or is in. */
lode_status lode_request_take(struct lode_request *request, const lode_event *event, lode_error *error);
/* The track that a call is on. */
uint32_t lode_request_track_of(const struct lode_request *request, uint32_t call);
/* Lists callees, when all tracks were read. */
lode_status lode_request_finish(struct lode_request *request, lode_error *error);

static inline struct lode_request_call *lode_request_call_at(const struct lode_request *request,
                                                             uint32_t index)
{
    return LODE_ARRAY_AT(&request->calls, struct lode_request_call, index);
}

static inline uint32_t lode_request_count(const struct lode_request *request)
{
    return (uint32_t)request->calls.count;
}

/* The innermost open call; LODE_NO_CALL outside of calls. */
static inline uint32_t lode_request_open(const struct lode_request *request)
{
    return open_calls_count(&request->open) ? *OPEN_CALLS_TOP(&request->open, uint32_t) : LODE_NO_CALL;
}

/* The same; NULL outside of calls. */
static inline struct lode_request_call *lode_request_innermost(const struct lode_request *request)
{
    uint32_t call = lode_request_open(request);
    return call == LODE_NO_CALL ? NULL : lode_request_call_at(request, call);
}

/* By the rule of the format: else if its first outermost call did. */
bool lode_request_has_failed(const struct lode_request *request);

/* ---- all requests that a search finds ---- */

struct lode_visit {
    const lode_recording *recording;
    const lode_search_options *options;
    /* A request that was found; requests of a worker come one at a time. */
    lode_status (*request)(void *user, unsigned worker, struct lode_request *request, lode_error *error);
    /* Any of its events, after it was taken; may be NULL. */
    lode_status (*event)(void *user, unsigned worker, struct lode_request *request, const lode_event *event,
                         lode_error *error);
    /* Sets how many workers there will be, before the first request. */
    lode_status (*open)(void *user, unsigned workers, lode_error *error);
    void *user;
};

/*
 * Which requests options find, with their main tracks: uint32_t, rising. Limits do not apply. Sets
 * whether all events were read, and findings of them reported.
 */
lode_status lode_search_tracks(struct lode_array *tracks, bool *has_read, const lode_recording *recording,
                               const lode_search_options *options, lode_error *error);
lode_status lode_visit_requests(const struct lode_visit *visit, lode_error *error);

#endif
