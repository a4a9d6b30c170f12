/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a search: the scan of events, and the best hits. */
#ifndef LODE_ANALYSIS_SEARCH_H
#define LODE_ANALYSIS_SEARCH_H

#include "analysis/calls/calls.h"
#include "analysis/search/where.h"
#include "base/memory/array.h"
#include "base/memory/blob.h"
#include "base/text/substring.h"
#include <lode/unstable/match.h>
#include <lode/unstable/search.h>

/* ---- best hits ---- */

/* A row of the result, followed by its values, their types, and its strings. */
struct lode_hit {
    lode_search_row row;
    lode_search_value values[];
};

struct lode_found {
    lode_match method; /* best first */
    uint64_t rank;     /* highest first */
    uint64_t begin;
    uint32_t track;
    struct lode_hit *hit; /* NULL: events not read yet */
};

/* The first `limit` tracks in search order: a heap with the last of them on top. */
struct lode_best {
    struct lode_array items; /* of struct lode_found */
    uint64_t limit;          /* 0: all */
};

void lode_best_init(struct lode_best *best, uint64_t limit);
void lode_best_free(struct lode_best *best);
/* Whether it would currently be among them. */
bool lode_best_admits(const struct lode_best *best, const struct lode_found *found);
/* Adds an admitted hit; drops the last if full. False if out of memory: the caller keeps it. */
bool lode_best_add(struct lode_best *best, const struct lode_found *found);
/* Drops hits whose method does not match as well as that of others. Before sorting. */
void lode_best_keep_methods(struct lode_best *best);
/* Sorts them. Nothing can be added after that. */
void lode_best_sort(struct lode_best *best);

/* ---- events ---- */

#define LODE_WANTED_ATTRIBUTES 64

/* Compiled search conditions. */
struct lode_wanted {
    const lode_recording *recording;
    const lode_search_options *options;
    lode_matcher *method; /* NULL: not asked for */
    struct lode_substring text;
    struct lode_condition *conditions; /* by attribute */
    uint64_t attributes;               /* one bit each */
    struct lode_where where;           /* of options->where */
};

lode_status lode_wanted_init(struct lode_wanted *wanted, const lode_recording *recording,
                             const lode_search_options *options, lode_error *error);
void lode_wanted_free(struct lode_wanted *wanted);
/* Whether intervals of tracks do not suffice to decide. */
bool lode_wanted_asks_events(const struct lode_wanted *wanted);

/* State of a worker's current track. All zero: no events yet. */
struct lode_scan {
    _Alignas(LODE_WORKER_ALIGN) const struct lode_wanted *wanted;
    unsigned char *verdicts; /* by index of function */
    uint32_t verdict_count, track;
    struct lode_value_reader reader;
    uint64_t calls, errors;
    uint64_t level;    /* open calls */
    uint64_t met;      /* matched attributes */
    lode_match method; /* the best one */
    bool has_text, has_ended;
    bool is_where_met;             /* if conditions on callers are asked for */
    const lode_function *function; /* of the first outermost call */
    struct {
        struct lode_blob key, value;
        lode_value_kind kind;
        double real;
    } pairs[LODE_SEARCH_VALUES];
    size_t pair_count;
    /* The outermost exception so far. */
    struct lode_blob exception;
    uint64_t exception_level;
    /* If conditions on callers are asked for. */
    struct lode_request request;
    struct lode_where_state where;
};

lode_status lode_scan_begin(struct lode_scan *scan, const struct lode_wanted *wanted, uint32_t track,
                            lode_error *error);
/* A side track begins. */
lode_status lode_scan_side(struct lode_scan *scan, uint32_t track, lode_error *error);
lode_status lode_scan_take(struct lode_scan *scan, const lode_event *events, size_t count, lode_error *error);
/* All events were taken. */
lode_status lode_scan_finish(struct lode_scan *scan, lode_error *error);
/* Whether the events match. */
bool lode_scan_matches(const struct lode_scan *scan);
/* A row of the result, for free(); NULL if out of memory. */
struct lode_hit *lode_scan_hit(const struct lode_scan *scan, uint64_t begin, uint64_t duration);
void lode_scan_free(struct lode_scan *scan);

#endif
