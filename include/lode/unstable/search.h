/* SPDX-License-Identifier: BSD-3-Clause */
/* Searching a recording for tracks by duration, errors, calls, attributes or text. */
#ifndef LODE_UNSTABLE_SEARCH_H
#define LODE_UNSTABLE_SEARCH_H

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
} lode_search_options;
#define LODE_SEARCH_OPTIONS_INIT                                                                             \
    {                                                                                                        \
        sizeof(lode_search_options), 0, 0, 0, 0, NULL, 0, 0, NULL, 0, NULL, NULL, LODE_SEARCH_BY_TIME, 0, 0, \
            0, NULL, NULL, NULL, NULL, LODE_NAME_FULL, NULL, NULL, 0, NULL, 0                                \
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
/* Main tracks: the number of requests. MT: any thread. */
LODE_API uint32_t lode_recording_request_count(const lode_recording *recording);
/*
 * The callers of the outermost calls of a side track, the outermost first: writes at most
 * `capacity`; `count` is their number. None for main tracks. MT: any thread.
 */
LODE_API LODE_CHECKED lode_status lode_track_callers(const lode_recording *recording, uint32_t track,
                                                     const lode_function **functions, size_t capacity,
                                                     size_t *count, lode_error *error);

LODE_END_DECLS
#endif
