/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls: what the functions of a recording took, by function and by track. */
#ifndef LODE_CALLS_H
#define LODE_CALLS_H

#include <lode/name.h>
#include <lode/pool.h>
#include <lode/recording.h>

LODE_BEGIN_DECLS

typedef enum lode_calls_sort {
    LODE_CALLS_BY_TOTAL,
    LODE_CALLS_BY_SELF,
    LODE_CALLS_BY_CALLS,
    LODE_CALLS_BY_MEAN,
    LODE_CALLS_BY_MIN,
    LODE_CALLS_BY_MAX,
    LODE_CALLS_BY_NAME,
    LODE_CALLS_BY_ERRORS,
    LODE_CALLS_BY_P50,
    LODE_CALLS_BY_P95,
    LODE_CALLS_BY_P99,
    LODE_CALLS_BY_ELAPSED
} lode_calls_sort;

typedef struct lode_calls_options {
    size_t size;
    lode_calls_sort sort;
    unsigned threads; /* 0: one per processor */
    int strict;       /* fail at the first error, instead of repairing it */
    /* Repairs, in the order of tracks; of a track, the first 100 of each rule. May be NULL. */
    lode_finding_fn on_finding;
    lode_progress_fn on_progress;
    void *user;
    lode_pool *pool; /* NULL: threads are started for this call */
    /* Three for lode_calls_compute only. Functions with one name, in a form, are one row. */
    int merge;
    lode_name_form names;
    const lode_filter *filter; /* functions to show; NULL: all */
    int is_running;            /* times of calls are without off-CPU time, if it was recorded */
    /*
     * Unstable: estimates calls and call trees from about so many parts of the tracks, if there are
     * some times as many; else, and with 0 or `strict`, reads all. LODE_ABSENT if the slice is a
     * part of tracks, or what is read needs repairs; damage of what is not read is not noticed.
     * lode/unstable/estimate.h has how good it is.
     */
    uint64_t parts;
} lode_calls_options;
#define LODE_CALLS_OPTIONS_INIT                                                                              \
    {                                                                                                        \
        sizeof(lode_calls_options), LODE_CALLS_BY_TOTAL, 0, 0, NULL, NULL, NULL, NULL, 0, LODE_NAME_FULL,    \
            NULL, 0, 0                                                                                       \
    }

/*
 * One function, by module and address, or all of one name; then `function` is the first of them by
 * module and address. Times are in nanoseconds. Total counts a recursive function
 * once, at its outermost call; self excludes callees and, if recorded, off-CPU time. The rest is
 * over all calls, each with its total time. Percentiles are accurate to LODE_PERCENTILE_ERROR.
 * Elapsed is how long at least one of the calls was under way, in each request: less than total if
 * they run at the same time, on side tracks (lode/unstable/search.h), else equal to it.
 */
typedef struct lode_call_row {
    const lode_function *function;
    uint64_t calls, total, self, min, max;
    uint64_t errors;        /* calls that ended with one */
    double mean, deviation; /* of the population */
    uint64_t p50, p95, p99;
    /* How many functions were merged; module, file and line of all of them, or NULL and 0. */
    uint32_t functions;
    uint32_t line;
    const lode_module *module;
    const lode_file *file;
    int several_modules; /* the functions are of several load modules; `module` is NULL */
    uint64_t elapsed;
} lode_call_row;
#define LODE_PERCENTILE_ERROR 0.008 /* relative */

/* What one track took. */
typedef struct lode_track_row {
    uint32_t track;
    uint64_t calls, errors;
    uint64_t total; /* of its outermost calls */
    uint64_t out;   /* off-CPU in them; a part of the total unless that is running time */
    uint64_t events, repairs;
    uint64_t begin, end; /* its first and last event, on the clock of its times; 0 and 0: none */
} lode_track_row;

typedef struct lode_calls lode_calls;

/*
 * Reads the slice once. The result does not depend on the number of threads. Either may be NULL.
 * MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_calls_compute(lode_calls **out, const lode_recording *recording,
                                                     const lode_slice *slice,
                                                     const lode_calls_options *options, lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_calls_free(lode_calls *calls);
/* All of these: MT: any thread. */
LODE_API size_t lode_calls_count(const lode_calls *calls);
/* NULL if the index is out of range. */
LODE_API const lode_call_row *lode_calls_at(const lode_calls *calls, size_t index);
/* The time that a share `q` of the calls does not exceed, 0 <= q <= 1. */
LODE_API uint64_t lode_calls_percentile(const lode_calls *calls, size_t index, double q);
/* How many functions the filter hid. */
LODE_API size_t lode_calls_hidden(const lode_calls *calls);
/*
 * The rows of calls in another order, and those that a filter shows (NULL: all), without reading
 * again: what lode_calls_compute has with these options, for calls without a filter. `order` has
 * room for the indices of all rows; `hidden` is the number of functions that the filter hides.
 * LODE_ABSENT if it shows some functions of a row and hides others: that has to be computed. MT:
 * any thread.
 */
LODE_API LODE_CHECKED lode_status lode_calls_select(const lode_calls *calls, lode_calls_sort sort,
                                                    const lode_filter *filter, uint32_t *order, size_t *count,
                                                    size_t *hidden, lode_error *error);
LODE_API uint32_t lode_calls_track_count(const lode_calls *calls);
LODE_API const lode_track_row *lode_calls_track(const lode_calls *calls, uint32_t index);

LODE_END_DECLS
#endif
