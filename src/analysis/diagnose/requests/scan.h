/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker's view of one request after the other. */
#ifndef LODE_ANALYSIS_DIAGNOSE_REQUESTS_SCAN_H
#define LODE_ANALYSIS_DIAGNOSE_REQUESTS_SCAN_H

#include "analysis/diagnose/requests/facts.h"
#include "analysis/diagnose/requests/services/services.h"
#include "model/recording/open_calls.h"

enum {
    CHILDREN = 6,         /* different methods that a call is followed for */
    ATTRIBUTES = KEYS_MAX /* of the outermost call */
};

/* Calls of one method, with one statement, by the same call. */
struct child {
    uint32_t function, statement;
    uint64_t calls, failed;
    uint64_t time; /* of those that did not fail */
    uint64_t first_begin, last_begin;
    bool has_succeeded, is_loop; /* a call followed one that succeeded */
};

struct frame {
    uint64_t begin, inside, serial;
    uint32_t function;
    uint32_t statement; /* plus 1; 0: none */
    uint64_t raw;       /* hash of the statement with its values */
    bool has_parameters;
    unsigned child_count;
    struct child children[CHILDREN];
};

/* Calls of one statement in this request. */
struct statement_group {
    uint64_t request;                  /* number of the request that it is of */
    uint64_t calls, time, first, last; /* serials of calls */
    uint64_t raw;
    uint32_t function, caller;
    size_t caller_depth;
    bool is_identical, has_parameters;
};

struct scan {
    _Alignas(LODE_WORKER_ALIGN) struct request_tables tables;
    const lode_recording *recording;
    struct request *request;
    uint64_t number;               /* of the request, on this worker */
    uint64_t serial;               /* of calls */
    uint64_t duration;             /* of the request */
    uint64_t calls, hidden;        /* of all requests */
    struct lode_open_calls frames; /* of struct frame */
    struct lode_array open;        /* of uint32_t, by function: its calls among the frames */
    struct lode_array groups;      /* of struct statement_group, by statement */
    struct lode_array touched_methods, touched_groups, touched_sites; /* of uint32_t: numbers */
    const lode_function *entry;
    uint64_t request_calls;
    uint32_t track;
    unsigned attribute_count;
    bool sums_repeats; /* the first pass */
    bool has_services; /* the same, of spans: `services` sums repeated calls */
    struct service_scan services;
    bool has_ended, is_broken, has_many_attributes;
    bool is_side; /* a side track is being read */
    struct {
        char key[KEY_SIZE];
        char value[VALUE_SIZE];
        bool is_long; /* the value cannot be looked at */
    } attributes[ATTRIBUTES];
};

void lode_diagnose_request_scan_open(struct scan *scan, const lode_recording *recording, bool sums_repeats);
void lode_diagnose_request_scan_close(struct scan *scan);
lode_status lode_diagnose_request_scan_start(struct scan *scan, struct request *request, uint32_t track,
                                             uint64_t duration, lode_error *error);
lode_status lode_diagnose_request_scan_side(struct scan *scan, uint32_t track, lode_error *error);
lode_status lode_diagnose_request_scan_events(struct scan *scan, const lode_event *events, size_t count,
                                              lode_error *error);
lode_status lode_diagnose_request_scan_finish(struct scan *scan, lode_error *error);

/* Repeated calls (repeats.c). All return false if out of memory. */
bool lode_diagnose_request_scan_add_child(struct scan *scan, struct frame *parent, const struct frame *call,
                                          uint64_t end, bool has_failed);
/* A call ended, but still counts as open: looks at the calls that it made. */
bool lode_diagnose_request_scan_end_children(struct scan *scan, const struct frame *call);
/* A call with a statement succeeded; it is no longer among the frames. */
bool lode_diagnose_request_scan_add_statement(struct scan *scan, const struct frame *call, uint64_t end);
/* Adds what was repeated in this request. */
bool lode_diagnose_request_scan_end_repeats(struct scan *scan);

#endif
