/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conditions on calls and on their callers: `{service=orders failed} below {name=collect}`. A term
 * is a list of conditions that one call meets; terms are joined by `below`: some caller meets the
 * next term, or by `directly below`: the next caller does.
 */
#ifndef LODE_ANALYSIS_WHERE_H
#define LODE_ANALYSIS_WHERE_H

#include "analysis/search/request.h"
#include "analysis/search/value.h"
#include "base/memory/arena.h"

enum {
    LODE_WHERE_MAX = 64 /* conditions, and terms, of all texts */
};

enum lode_where_subject {
    LODE_WHERE_ATTRIBUTE,
    LODE_WHERE_SERVICE,
    LODE_WHERE_NAME,
    LODE_WHERE_KIND,
    LODE_WHERE_DURATION,
    LODE_WHERE_FAILED,
    LODE_WHERE_OUTERMOST
};

struct lode_where_condition {
    enum lode_where_subject subject;
    struct lode_condition condition; /* ATTRIBUTE, SERVICE, NAME, KIND, DURATION */
    double nanoseconds;              /* DURATION */
    bool is_resource;                /* ATTRIBUTE: all calls of a process have it */
};

/* Of a text; `below` is the next term. */
struct lode_where_term {
    uint64_t conditions;      /* all of these, a bit each */
    bool has_below, directly; /* there is a next term */
};

/* Compiled texts. */
struct lode_where {
    struct lode_arena arena;
    struct lode_where_condition conditions[LODE_WHERE_MAX];
    size_t condition_count;
    struct lode_where_term terms[LODE_WHERE_MAX];
    size_t term_count;
    uint64_t firsts;        /* first terms of texts, a bit each */
    uint64_t resource_bits; /* and those that callees in the same service inherit */
    bool asks_kind;
};

/* LODE_ERR_ARGUMENT with the place in a text that is not understood. */
lode_status lode_where_compile(struct lode_where *where, const char *const *texts, size_t count,
                               lode_error *error);
void lode_where_free(struct lode_where *where);

/* State of a worker. All zero: nothing yet. */
struct lode_where_state {
    const struct lode_where *where;
    struct lode_value_reader reader;
    uint64_t *functions; /* static bits by function; ALL ones: not known yet */
    uint32_t function_count;
    struct lode_array calls; /* struct lode_where_call, when the request is complete */
};

struct lode_where_call {
    uint64_t meets; /* terms */
    uint64_t above; /* terms that callers meet */
};

void lode_where_state_free(struct lode_where_state *state);
void lode_where_begin(struct lode_where_state *state, const struct lode_where *where,
                      const lode_recording *recording);
/* An event of a track, after the request took it. */
lode_status lode_where_take(struct lode_where_state *state, struct lode_request *request,
                            const lode_event *event, lode_error *error);
/* When the request is complete: which terms calls meet. Returns whether all texts are met. */
lode_status lode_where_finish(struct lode_where_state *state, struct lode_request *request, bool *is_met,
                              lode_error *error);
/* Whether a call meets the first text with its callers. */
static inline bool lode_where_chooses(const struct lode_where_state *state, uint32_t call)
{
    return (LODE_ARRAY_AT(&state->calls, struct lode_where_call, call)->meets & 1) != 0;
}

#endif
