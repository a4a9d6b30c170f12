/* SPDX-License-Identifier: BSD-3-Clause */
/* What is asked of requests that span several calls, tracks and services. */
#ifndef LODE_UNSTABLE_REQUESTS_H
#define LODE_UNSTABLE_REQUESTS_H

#include <lode/unstable/search.h>

LODE_BEGIN_DECLS

/*
 * The critical path of a request: what the end of its outermost call waited for. Back from this
 * end, it is the callee that ended last, until that began; then the one that ended last before, and
 * so on; what is between them is the time of the caller itself. Callees that outlive their caller
 * count until its end. The steps are contiguous, and add up to the outermost call. With several
 * outermost calls, the path leads from the begin of the first to the end of the last.
 */

/* What one function contributes to the paths of all requests. */
typedef struct lode_path_row {
    const lode_function *function; /* NULL: no call ran */
    uint64_t requests;             /* with it on their path */
    uint64_t steps;
    uint64_t time; /* on paths, outside of callees, in nanoseconds */
    uint64_t max;  /* of a request */
    /*
     * By how much requests would be shorter if its steps took no time, and calls beside them as
     * long as they did: the request then waits for those. At most `time`.
     */
    uint64_t saves;
} lode_path_row;

/* A part of the path of one request. */
typedef struct lode_path_step {
    const lode_function *function; /* NULL: no call ran */
    uint64_t begin, end;
    uint32_t depth; /* callers */
    int has_failed; /* the call did */
} lode_path_step;

typedef struct lode_critical_path lode_critical_path;

/*
 * Of all requests that options find; `limit` and `sort` do not apply. Rows: the most time first.
 * The result does not depend on the number of threads. `options` may be NULL. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_critical_path_compute(lode_critical_path **out,
                                                             const lode_recording *recording,
                                                             const lode_search_options *options,
                                                             lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_critical_path_free(lode_critical_path *path);
/* All of these: MT: any thread. */
LODE_API size_t lode_critical_path_count(const lode_critical_path *path);
/* NULL if the index is out of range. */
LODE_API const lode_path_row *lode_critical_path_at(const lode_critical_path *path, size_t index);
LODE_API uint64_t lode_critical_path_requests(const lode_critical_path *path);
/* The sum of all paths. */
LODE_API uint64_t lode_critical_path_time(const lode_critical_path *path);
/* Of one request only: its steps, chronological. None if there are several. */
LODE_API size_t lode_critical_path_step_count(const lode_critical_path *path);
/* NULL if the index is out of range. */
LODE_API const lode_path_step *lode_critical_path_step(const lode_critical_path *path, size_t index);

/*
 * Rates: how many requests, or calls, of each group begin in each interval of time, how many of
 * them fail, and how long they take.
 */
typedef struct lode_rates_options {
    size_t size;
    uint64_t interval; /* nanoseconds; 0: one for all */
    /*
     * Attributes to group by; of requests, the value of the first call that has one. `service`,
     * `name` and `kind` are those of calls that have no such attribute. At most LODE_SEARCH_VALUES.
     */
    const char *const *keys;
    size_t key_count;
    /* Calls that meet the first condition of `where`, or all of them, instead of requests. */
    int calls;
} lode_rates_options;
#define LODE_RATES_OPTIONS_INIT                                                                              \
    {                                                                                                        \
        sizeof(lode_rates_options), 0, NULL, 0, 0                                                            \
    }

/* Percentiles are exact: the shortest duration that so many percent do not exceed. */
typedef struct lode_rate {
    uint64_t count;
    uint64_t failures; /* requests by the rule of the format, calls that failed */
    uint64_t total, p50, p95, p99, max;
} lode_rate;

typedef struct lode_rates_row {
    /*
     * When the interval begins: a multiple of its length since the epoch, if the recording knows
     * that, else since its begin; nanoseconds in that clock.
     */
    uint64_t begin;
    lode_rate rate;
} lode_rates_row;

typedef struct lode_rates_group {
    const char *const *values;  /* by key; NULL: it has none */
    lode_rate rate;             /* of all intervals */
    const lode_rates_row *rows; /* intervals in which one begins, chronological */
    size_t row_count;
} lode_rates_group;

typedef struct lode_rates lode_rates;

/* Of what a search finds. Both options may be NULL. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_rates_compute(lode_rates **out, const lode_recording *recording,
                                                     const lode_search_options *options,
                                                     const lode_rates_options *rates, lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_rates_free(lode_rates *rates);
/* Groups: the most time first. All of these: MT: any thread. */
LODE_API size_t lode_rates_count(const lode_rates *rates);
/* NULL if the index is out of range. */
LODE_API const lode_rates_group *lode_rates_at(const lode_rates *rates, size_t index);

/* A map of services: which calls which, how often, how long it takes and how often it fails. */
typedef struct lode_service_edge {
    const lode_module *caller; /* NULL: requests that begin with the callee */
    const lode_module *callee;
    lode_rate rate; /* of the calls in the callee */
} lode_service_edge;

/* A service; its rate is that of calls from outside of it. */
typedef struct lode_service {
    const lode_module *module;
    uint64_t calls; /* all of them */
    lode_rate rate;
} lode_service;

typedef struct lode_service_map lode_service_map;

/* Of the requests that options find; `options` may be NULL. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_service_map_compute(lode_service_map **out,
                                                           const lode_recording *recording,
                                                           const lode_search_options *options,
                                                           lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_service_map_free(lode_service_map *map);
/* Edges by names of caller and callee, beginnings first. All of these: MT: any thread. */
LODE_API size_t lode_service_map_edge_count(const lode_service_map *map);
LODE_API const lode_service_edge *lode_service_map_edge(const lode_service_map *map, size_t index);
/* Services by name. */
LODE_API size_t lode_service_map_service_count(const lode_service_map *map);
LODE_API const lode_service *lode_service_map_service(const lode_service_map *map, size_t index);
LODE_API uint64_t lode_service_map_requests(const lode_service_map *map);
/* From the begin of the first call to the end of the last, for rates; 0 without calls. */
LODE_API uint64_t lode_service_map_duration(const lode_service_map *map);

LODE_END_DECLS
#endif
