/* SPDX-License-Identifier: BSD-3-Clause */
/* Searching a recording for tracks by duration, errors, calls, attributes or text. */
#ifndef LODE_UNSTABLE_SEARCH_H
#define LODE_UNSTABLE_SEARCH_H

#include <lode/calltree.h>
#include <lode/event.h>
#include <lode/pool.h>
#include <lode/recording.h>
#include <lode/unstable/match.h>

LODE_BEGIN_DECLS

typedef enum lode_search_sort {
    LODE_SEARCH_BY_TIME,     /* ascending */
    LODE_SEARCH_BY_DURATION, /* descending, as the others */
    LODE_SEARCH_BY_CALLS,
    LODE_SEARCH_BY_ERRORS
} lode_search_sort;

/*
 * How the value of an attribute is compared: as text, or as a number. A value that is not a number
 * (decimal, with a fraction and an exponent if any) is neither below nor above any number, and
 * differs from every number; LODE_ATTRIBUTE_IS_NOT compares other values as text.
 */
typedef enum lode_attribute_relation {
    LODE_ATTRIBUTE_IS,       /* the same text */
    LODE_ATTRIBUTE_CONTAINS, /* contains the text (case-insensitive) */
    LODE_ATTRIBUTE_IS_NOT,
    LODE_ATTRIBUTE_BELOW,
    LODE_ATTRIBUTE_AT_MOST,
    LODE_ATTRIBUTE_ABOVE,
    LODE_ATTRIBUTE_AT_LEAST
} lode_attribute_relation;

/* An attribute that some call of the track must have. */
typedef struct lode_search_attribute {
    const char *key;
    const char *value; /* NULL: any */
    int is_part;       /* lode_attribute_relation; once only whether it must contain the value */
} lode_search_attribute;

typedef struct lode_search_options {
    size_t size;
    uint64_t min_duration, max_duration; /* nanoseconds; 0: no bound */
    /* tracks with events in this time window; `to` is exclusive, and 0 is the end */
    uint64_t from, to;
    const uint32_t *tracks; /* indices, rising; NULL: all */
    uint32_t track_count;
    int errors_only;                         /* some call of the track ended with an error */
    const lode_search_attribute *attributes; /* all of these; at most 64 */
    size_t attribute_count;
    /*
     * A function that is called (lode/unstable/match.h): of the tracks that meet the other
     * conditions, those that call the functions that match best; NULL: any.
     */
    const char *method;
    /*
     * A part of a function name, an attribute key or value, or the class or message of an exception
     * (case-insensitive); NULL: any.
     */
    const char *text;
    lode_search_sort sort;      /* ties: by time, then by index */
    uint64_t limit;             /* of rows; 0: all */
    unsigned threads;           /* 0: one per processor */
    int strict;                 /* fail at the first error, instead of repairing it */
    lode_finding_fn on_finding; /* in the order of tracks; may be NULL */
    lode_progress_fn on_progress;
    void *user;
    lode_pool *pool;      /* NULL: threads are started for this call */
    lode_name_form names; /* in which the method is compared first */
    const char *key;      /* rows have only this attribute; NULL: all */
    /* Instead of `key`: rows have only these attributes; at most LODE_SEARCH_VALUES; NULL: all. */
    const char *const *keys;
    size_t key_count;
    /*
     * Conditions on calls and their callers, all of which must be met, each by some call:
     *
     *     {service=orders failed} below {name='POST /checkout'}
     *
     * In braces is what one call meets: `failed`, `outermost`, or a comparison (=, !=, ~ for a
     * part, <, <=, >, >=) of `service`, `name`, `kind`, `duration` (100ms) or the key of an
     * attribute, which alone asks whether it is there; a key that begins with a dot is always one
     * of an attribute. `below`: some caller meets what follows; `directly below`: the next one
     * does. Without callers, braces may be left out. Attributes of resources are those of all
     * calls of the process. LODE_ERR_ARGUMENT if a text is not understood.
     */
    const char *const *where;
    size_t where_count;
    int any_call; /* values of rows are those of the first call that has the attribute */
} lode_search_options;
#define LODE_SEARCH_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        sizeof(lode_search_options), 0, 0, 0, 0, NULL, 0, 0, NULL, 0, NULL, NULL, LODE_SEARCH_BY_TIME, 0, 0, \
            0, NULL, NULL, NULL, NULL, LODE_NAME_FULL, NULL, NULL, 0, NULL, 0, 0                             \
    }

/* An attribute as text, truncated after LODE_SEARCH_TEXT bytes. */
typedef struct lode_search_value {
    const char *key, *value;
} lode_search_value;

/* What the value was before it became text. */
typedef struct lode_search_type {
    lode_value_kind kind; /* as recorded; SIGNED: a number in the text */
    double real;          /* REAL: the value, which the text rounds */
} lode_search_type;

/* A track that was found. */
typedef struct lode_search_row {
    uint32_t track;
    uint64_t begin, duration; /* from its first to its last event */
    uint64_t calls, errors;
    const lode_function *function; /* of its first outermost call; NULL: it has none */
    /*
     * Attributes of that call, in the order of the recording; at most LODE_SEARCH_VALUES. Of the
     * same key, the last counts.
     */
    const lode_search_value *values;
    size_t value_count;
    /* class and message of the outermost exception, "" if there is none; truncated too */
    const char *exception;
    const lode_search_type *types; /* of the values */
} lode_search_row;
#define LODE_SEARCH_VALUES 16
#define LODE_SEARCH_TEXT   4096

typedef struct lode_search lode_search;

/*
 * Duration and time are decided by the intervals of tracks. Events are read only for other
 * conditions, and for the tracks in the result. Tracks without events are not found. With a limit,
 * memory does not grow with the number of tracks. The result does not depend on the number of
 * threads. `options` may be NULL. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_search_run(lode_search **out, const lode_recording *recording,
                                                  const lode_search_options *options, lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_search_free(lode_search *search);
/* All of these: MT: any thread. Rows in the result, at most `limit`. */
LODE_API size_t lode_search_count(const lode_search *search);
/* Tracks that were found, whether they are in the result or not. */
LODE_API uint64_t lode_search_found(const lode_search *search);
/* NULL if the index is out of range. */
LODE_API const lode_search_row *lode_search_at(const lode_search *search, size_t index);

/*
 * Requests with concurrent calls. A track is nested, but calls of a request may overlap: then it
 * has a main track, and side tracks right after it. Outermost calls of a side track were made by
 * one call of another track of the request. Searches have one row for each request.
 */

/* The main track of the request that a track belongs to: most often itself. MT: any thread. */
LODE_API uint32_t lode_track_main(const lode_recording *recording, uint32_t track);
/*
 * Elapsed time in nanoseconds by context of a tree: how long at least one of its calls was under
 * way, in each request; of context 0, how long the requests took. NULL if no track is a side track:
 * then it is the cost of the tree. MT: any thread.
 */
LODE_API const uint64_t *lode_calltree_elapsed(const lode_calltree *tree);
/*
 * Whether only some requests of a store are open (lode_recording_options, `ids`). Then, sets when
 * the last of all ends; the first one begins at 0. MT: any thread.
 */
LODE_API int lode_recording_is_part(const lode_recording *recording, uint64_t *end);
/* The index of a track in the whole store: another one if only a part is open. MT: any thread. */
LODE_API uint32_t lode_track_number(const lode_recording *recording, uint32_t track);
/* Main tracks: the number of requests. MT: any thread. */
LODE_API uint32_t lode_recording_request_count(const lode_recording *recording);
/*
 * The callers of the outermost calls of a side track, the outermost first: writes at most
 * `capacity`; `count` is their number. None for main tracks. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_track_callers(const lode_recording *recording, uint32_t track,
                                                     const lode_function **functions, size_t capacity,
                                                     size_t *count, lode_error *error);

/* ---- what is asked of requests that span several calls, tracks and services ---- */

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
    uint32_t track; /* of the call; UINT32_MAX: no call ran */
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

/*
 * Of the requests that options find; `options` may be NULL. LODE_ABSENT: no services. MT: any
 * thread.
 */
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
