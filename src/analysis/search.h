/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a search: what events of a track say, and the best of what was found. */
#ifndef LODE_ANALYSIS_SEARCH_H
#define LODE_ANALYSIS_SEARCH_H

#include "analysis/calls.h"
#include "base/array.h"
#include "base/blob.h"
#include "base/substring.h"
#include <lode/search.h>

/* ---- the best ---- */

/* A row of the result, with its strings behind it. */
struct lode_hit {
    lode_search_row row;
    lode_search_value values[];
};

struct lode_found {
    uint64_t rank; /* the highest first */
    uint64_t begin;
    uint32_t track;
    struct lode_hit *hit; /* NULL: its events are not read yet */
};

/* The first `limit` of any number of tracks, in the order of a search: a heap whose first is the last of them. */
struct lode_best {
    struct lode_array items; /* of struct lode_found */
    uint64_t limit;          /* 0: all */
};

void lode_best_init(struct lode_best *best, uint64_t limit);
void lode_best_free(struct lode_best *best);
/* Whether it would be among them now. */
bool lode_best_admits(const struct lode_best *best, const struct lode_found *found);
/* Adds what is admitted, and drops the last if they are too many. False if there is no memory; then the hit is the caller's still. */
bool lode_best_add(struct lode_best *best, const struct lode_found *found);
/* Puts them in order. Nothing can be added from then on. */
void lode_best_sort(struct lode_best *best);

/* ---- events ---- */

#define LODE_WANTED_ATTRIBUTES 64

/* What events are searched for, ready for many comparisons. */
struct lode_wanted {
    const lode_recording *recording;
    const lode_search_options *options;
    struct lode_substring method, text;
    struct lode_substring *values; /* by attribute; of those that ask for a part */
    uint64_t attributes;           /* a bit for each */
};

lode_status lode_wanted_init(struct lode_wanted *wanted, const lode_recording *recording,
                             const lode_search_options *options, lode_error *error);
void lode_wanted_free(struct lode_wanted *wanted);
/* Whether spans of tracks do not tell all that is asked. */
bool lode_wanted_asks_events(const struct lode_wanted *wanted);

/* What is known of the track that a worker is at. All zero: nothing yet. */
struct lode_scan {
    _Alignas(LODE_WORKER_ALIGN) const struct lode_wanted *wanted;
    unsigned char *verdicts; /* by index of function */
    uint32_t verdict_count;
    lode_argument *arguments;
    size_t argument_capacity;
    struct lode_blob text; /* a value that is no text by itself */
    uint32_t track;
    uint64_t calls, errors;
    uint64_t level; /* calls that are open */
    uint64_t met;   /* attributes */
    bool has_method, has_text;
    /* The first outermost call. */
    const lode_function *function;
    bool has_ended;
    struct {
        struct lode_blob key, value;
    } pairs[LODE_SEARCH_VALUES];
    size_t pair_count;
    /* The outermost exception so far. */
    struct lode_blob exception;
    uint64_t exception_level;
};

void lode_scan_begin(struct lode_scan *scan, const struct lode_wanted *wanted, uint32_t track);
lode_status lode_scan_take(struct lode_scan *scan, const lode_event *events, size_t count, lode_error *error);
/* Whether the events were what is wanted. */
bool lode_scan_matches(const struct lode_scan *scan);
/* A row of it, for free(); NULL if there is no memory. */
struct lode_hit *lode_scan_hit(const struct lode_scan *scan, uint64_t begin, uint64_t duration);
void lode_scan_free(struct lode_scan *scan);

#endif
