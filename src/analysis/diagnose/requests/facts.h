/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rules for recordings of requests work on: facts that are computed once. One pass reads all
 * requests; a second one reads the slow ones again, since only the durations of all tell
 * which they are. Memory: 40 bytes a request, and tables of methods, attribute values and repeated
 * calls, which have limits.
 */
#ifndef LODE_ANALYSIS_DIAGNOSE_REQUESTS_FACTS_H
#define LODE_ANALYSIS_DIAGNOSE_REQUESTS_FACTS_H

#include "analysis/diagnose/report.h"
#include "analysis/diagnose/requests/tables.h"

/* What rules need. A rule that lacks one does not run. */
enum request_need {
    REQUEST_NEED_DATA,       /* enough requests */
    REQUEST_NEED_SPAN,       /* requests that begin at different times */
    REQUEST_NEED_CLOCK,      /* begins that are exact enough to count requests in flight */
    REQUEST_NEED_MANY,       /* enough requests for a correlation */
    REQUEST_NEED_ENTRY,      /* an entry point with enough requests */
    REQUEST_NEED_ATTRIBUTES, /* attributes that are not too many */
    REQUEST_NEED_STATEMENTS, /* statements that are not too many */
    REQUEST_NEED_SERVICES,   /* spans of services */
    REQUEST_NEED_FEATURES,   /* attributes of calls that are not too many */
    REQUEST_NEED_COUNT
};

enum {
    REQUESTS_MIN = 30,  /* of a recording, and of an entry point */
    SLOW_MIN = 5,       /* slow requests of an entry point */
    STAMP = 1000 * 1000 /* nanoseconds: the resolution of the begin of requests */
};

enum {
    REQUEST_JUDGED = 1, /* complete: begin, end and all between are as recorded */
    REQUEST_FAILED = 2, /* its outermost call ended with an error */
    REQUEST_SLOW = 4
};

struct request {
    uint64_t begin, duration; /* nanoseconds */
    uint64_t own;             /* of the duration, in the outermost call itself */
    uint32_t entry;           /* index of its entry point; while it is read, of the function */
    uint32_t in_flight;       /* other requests when it began */
    uint32_t track;
    uint32_t flags;
};

/* Requests with the same outermost method. Quantiles are exact: linear between neighbours. */
struct entry {
    const lode_function *function;
    uint32_t count, slow;
    double q1, median, q3; /* nanoseconds */
    double limit;          /* slower requests are slow */
    double usual;          /* mean duration of those that are not */
    bool has_slow_method;  /* the rule slow-method speaks of its slow requests */
};

struct service_tables;

/* A share with its 95 % interval. */
struct share {
    double value, low, high;
};

struct request_facts {
    const lode_recording *recording;
    struct request *requests; /* that are judged, by begin and track */
    uint32_t count;
    uint32_t left_out; /* cut off or damaged */
    struct entry *entries;
    uint32_t entry_count;
    uint32_t *entry_of;              /* by function: index of its entry point plus 1 */
    uint32_t *ranks;                 /* by function: its position in the order of names */
    struct request_tables *all;      /* of all requests */
    struct request_tables *slow;     /* of slow ones; NULL: there are none */
    struct service_tables *services; /* of spans; NULL: the store has no spans */
    double total;                    /* of durations, nanoseconds */
    double squares;                  /* of durations */
    uint64_t origin;                 /* the begin of the first request, judged or not */
    uint64_t first, last;            /* begins */
    uint64_t calls, hidden;          /* calls that are recorded, and others that were counted */
    uint64_t findings;               /* while opening and reading; notes do not count */
    /* The window of a burst of errors, if there is one. */
    bool has_burst;
    uint64_t burst_from, burst_to;
};

/* Looks for what limits the service that a recording is of. */
lode_status lode_diagnose_requests(struct lode_diagnosis *d, const lode_recording *recording,
                                   lode_error *error);
/* NULL is allowed. */
void lode_diagnose_request_facts_free(struct request_facts *facts);

/* Reads the recording. */
lode_status lode_diagnose_request_facts_read(struct lode_diagnosis *d, lode_error *error);
/* Entry points, and which requests are slow. */
lode_status lode_diagnose_request_facts_entries(struct request_facts *facts, lode_error *error);
/* What the data cannot tell. */
lode_status lode_diagnose_request_quality(struct lode_diagnosis *d, lode_error *error);

/* ---- texts ---- */

/* The name of a method, and a time. */
const char *lode_diagnose_request_method(struct lode_diagnosis *d, const lode_function *function);
const char *lode_diagnose_request_time(struct lode_diagnosis *d, double nanoseconds);
const lode_function *lode_diagnose_request_function(const struct lode_diagnosis *d, uint32_t index);
/* An option and its value as one word, so that a value may begin with a hyphen. */
const char *lode_diagnose_request_option(struct lode_diagnosis *d, const char *option, const char *value);
/* A duration as the program reads it. */
const char *lode_diagnose_request_duration(struct lode_diagnosis *d, double nanoseconds);
/* A time as the program reads it: nanoseconds after the first event. */
const char *lode_diagnose_request_moment(struct lode_diagnosis *d, uint64_t time);

/* ---- statistics ---- */

/* A sum over requests that goes into a share of the time of all requests. */
struct part {
    double sum, squares; /* of x */
    double products;     /* of x and the duration */
};

/*
 * The share of the time of all requests: a ratio of two sums over requests. The interval takes
 * requests for independent, and is normal by the variance of the linearised ratio.
 */
struct share lode_diagnose_request_share(const struct request_facts *facts, const struct part *part);
/* Wilson's interval of a share of counts. */
struct share lode_diagnose_count_share(double count, double total);
/* The quantile of sorted values, linear between neighbours; 0 without values. */
double lode_diagnose_quantile_of_sorted(const uint64_t *values, size_t count, double q);
/*
 * The probability of `hits` or more in a sample of `size`, if `marked` of `total` are marked:
 * Fisher's exact test, one-sided.
 */
double lode_diagnose_hypergeometric_tail(uint64_t hits, uint64_t size, uint64_t marked, uint64_t total);
/* Spearman's rank correlation, with mean ranks of equal values; 0 if one side is constant. */
lode_status lode_diagnose_rank_correlation(double *out, const double *x, const double *y, size_t count,
                                           lode_error *error);

/* ---- rules ---- */

#define DIAGNOSE_RULE(name, file) extern const struct lode_diagnose_rule lode_diagnose_request_rule_##name;
#include "analysis/diagnose/requests/rules.def"

#endif
