/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that pass through several services: spans. All calls of a request are listed with their
 * callers, whatever track they are on; when the request is complete, what is repeated, waited for
 * or failed in it is added to sums. Sums are exact integers and merged by key, so that nothing
 * depends on the number of workers. Memory: the calls of one request, and tables with limits.
 */
#ifndef LODE_ANALYSIS_DIAGNOSE_REQUESTS_SERVICES_H
#define LODE_ANALYSIS_DIAGNOSE_REQUESTS_SERVICES_H

#include "analysis/search/request.h"
#include "base/memory/blob.h"
#include "base/memory/intern.h"

#define NO_CALL LODE_NO_CALL

enum {
    TEXT_MAX_SIZE = 1024, /* of a statement or a type of exceptions; the rest is not compared */
    SERVICE_SUMS_MAX = 1 << 16,
    SERVICE_TEXTS_MAX = 1 << 16,
    FEATURE_KEYS_MAX = 128,   /* different keys of attributes */
    FEATURE_VALUES_MAX = 512, /* pairs of endpoint and value of a key; others are left out */
    FEATURES_MAX = 1 << 15,
    BUCKETS = 64 /* of durations: two for each doubling, from 1 us */
};

enum call_kind {
    CALL_INSIDE, /* of the program itself */
    CALL_SERVER, /* begins the work of a service: a server, or the consumer of a message */
    CALL_CLIENT  /* asks another service, or a database */
};

struct service_call {
    uint64_t begin, end;
    uint64_t raw; /* hash of the statement with its values */
    uint32_t function;
    uint32_t parent;       /* NO_CALL: none */
    uint32_t entry;        /* the innermost server around it, or itself; else the outermost call */
    uint32_t depth;        /* plus 1 */
    uint32_t callee;       /* of a client: the function of its server, plus 1; 0: none */
    uint32_t statement;    /* plus 1; 0: none */
    uint32_t exception;    /* its type, plus 1; 0: none */
    uint32_t failed_above; /* the innermost call around it that failed; NO_CALL: none */
    uint32_t failed_below; /* the last failed call whose failed_above it is; NO_CALL: none */
    uint8_t kind;
    bool has_failed, has_parameters, is_side;
};

/* What sums are of. A text is a number plus 1. */
enum service_sum_kind {
    SUM_CALLS,     /* function: all of its calls */
    SUM_OUTSIDE,   /* client, server: time of the client only, on main tracks; NO_CALL: of all */
    SUM_ROUNDS,    /* caller, callee, statement: one after the other, other values */
    SUM_IDENTICAL, /* the same, equal values */
    SUM_RETRIES,   /* caller, callee: again after an error */
    SUM_WAITS,     /* caller, callee: waits for a lock or a pool */
    SUM_AFTER,     /* the call that waits, the one that comes right after it */
    SUM_SERIAL,    /* caller: calls of several services, one after the other */
    SUM_FAILURES,  /* endpoint, where it failed first, type of exception */
    SUM_LATE       /* function: it ends after its caller */
};

struct service_key {
    uint32_t kind, function, other, text;
};

struct service_sum {
    uint64_t requests, calls, failed, groups;
    uint64_t most;                        /* duration of a call */
    lode_square time, extent;             /* of calls, and from the first to the last */
    lode_square saved, squares, products; /* by request, at most its duration */
    uint64_t pending_saved;               /* of this request */
    bool is_touched;
};

/* Calls of an endpoint that have something in common; of kind FEATURE_ALL: all of them. */
enum feature_kind {
    FEATURE_ALL,
    FEATURE_CALLS, /* `what` is a function that is called below it, in the same service */
    FEATURE_VALUE  /* `what` is a value, `key` its key */
};

struct feature_key {
    uint32_t kind, endpoint, key, what;
};

struct feature {
    uint64_t calls, failed;
    lode_square time;
    uint32_t buckets[BUCKETS]; /* of durations */
};

struct service_tables {
    struct lode_interner keys; /* struct service_key */
    struct lode_array sums;    /* struct service_sum */
    struct lode_strings texts; /* statements and types of exceptions */
    struct lode_interner feature_keys;
    struct lode_array features; /* struct feature */
    struct lode_strings names, values;
    uint32_t values_of[FEATURE_KEYS_MAX];
    bool has_many_sums, has_many_features;
};

void lode_diagnose_service_tables_init(struct service_tables *tables);
void lode_diagnose_service_tables_free(struct service_tables *tables);
/* All of these return false if out of memory. */
bool lode_diagnose_service_tables_merge(struct service_tables *tables, const struct service_tables *worker);
/* The number of a text plus 1; 0: there are too many. */
bool lode_diagnose_service_text(struct service_tables *tables, const char *text, uint32_t *number);
/* The sum of a key; NULL: there are too many. */
bool lode_diagnose_service_sum(struct service_tables *tables, const struct service_key *key,
                               struct service_sum **out, uint32_t *number);
/* Adds calls to a feature; it must not be of a value. */
bool lode_diagnose_service_feature(struct service_tables *tables, const struct feature_key *key,
                                   const struct feature *more);
/* The same of a value. */
bool lode_diagnose_service_value(struct service_tables *tables, uint32_t endpoint, const char *key,
                                 const char *value, const struct feature *more);
static inline bool service_has_many_values(const struct service_tables *tables, uint32_t key)
{
    return tables->values_of[key] > FEATURE_VALUES_MAX;
}
/* The bucket of a duration. */
unsigned lode_diagnose_service_bucket(uint64_t duration);

/* ---- a worker's view of one request after the other ---- */

struct service_scan {
    struct service_tables tables;
    const lode_recording *recording;
    struct lode_request request;
    struct lode_array calls;   /* struct service_call, as the request has them */
    struct lode_array order;   /* uint32_t: calls by caller and begin */
    struct lode_array touched; /* uint32_t: sums of this request */
    struct lode_array marks;   /* struct service_mark: features of calls of this request */
    struct lode_array waits;   /* uint8_t, by function: 0: not known yet, 1: no, 2: it waits */
    struct lode_blob values;   /* of marks */
    uint64_t duration;
    uint32_t track;
    bool is_side;
};

/* A value of an attribute of a call: a position in `values` of the scan. */
struct service_mark {
    const char *key;
    size_t value;
    uint32_t call;
};

void lode_diagnose_service_scan_open(struct service_scan *scan, const lode_recording *recording);
void lode_diagnose_service_scan_close(struct service_scan *scan);
void lode_diagnose_service_scan_start(struct service_scan *scan, uint64_t duration);
/* All of these return false if out of memory. */
bool lode_diagnose_service_scan_track(struct service_scan *scan, uint32_t track, bool is_side);
bool lode_diagnose_service_scan_take(struct service_scan *scan, const lode_event *event);
/* The request is complete, and counts if it is `judged`. */
bool lode_diagnose_service_scan_finish(struct service_scan *scan, bool is_judged);

/* ---- what a complete request has (look.c, repeats.c) ---- */

/* Adds calls of this request to a sum; `saved` is the time that could go. */
struct service_part {
    uint64_t calls, failed, time, extent, saved, most;
};
bool lode_diagnose_service_note(struct service_scan *scan, const struct service_key *key,
                                const struct service_part *part);
bool lode_diagnose_service_look(struct service_scan *scan);
/* Statements and round trips that are repeated. */
bool lode_diagnose_service_look_at_rounds(struct service_scan *scan);
/* The calls that a call makes, by begin: positions in `order`. */
bool lode_diagnose_service_look_at_callees(struct service_scan *scan, uint32_t caller,
                                           const uint32_t *callees, size_t count);
static inline struct service_call *service_call_at(const struct service_scan *scan, uint32_t index)
{
    return LODE_ARRAY_AT(&scan->calls, struct service_call, index);
}
/* Whether a function waits for a lock or a pool, by its name. */
bool lode_diagnose_service_is_wait(const char *name);

#endif
