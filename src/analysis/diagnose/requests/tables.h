/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums over requests: by method, by attribute value, by repeated call. Each worker has its own
 * tables, which are merged after the pass; sums are exact integers, so that the order of requests
 * does not matter. Numbers of functions depend on which thread met them first: only names order.
 *
 * Tables have limits. Whether a limit is exceeded depends on all requests together, never on how
 * they were spread over workers: what exceeds it is left out completely.
 */
#ifndef LODE_ANALYSIS_DIAGNOSE_REQUESTS_TABLES_H
#define LODE_ANALYSIS_DIAGNOSE_REQUESTS_TABLES_H

#include "analysis/calls/calls.h"
#include "base/memory/intern.h"
#include "base/memory/map.h"

enum {
    KEY_SIZE = 128,        /* longer attribute keys are not looked at */
    VALUE_SIZE = 256,      /* longer values neither */
    STATEMENT_SIZE = 1024, /* of a normalised statement; the rest is not compared */
    KEYS_MAX = 64,         /* different keys */
    VALUES_MAX = 8192,     /* pairs of entry point and value of a key */
    STATEMENTS_MAX = 16384,
    SITES_MAX = 131072
};
#define ALL_CALLERS UINT32_MAX

/* Calls of a method in requests of an entry point. */
struct method_sum {
    uint32_t entry, function; /* indices of functions */
    uint64_t calls;
    lode_square own;                     /* nanoseconds */
    uint64_t pending_calls, pending_own; /* of this request */
};

/* Requests of an entry point with a value of an attribute of the outermost call. */
struct value_key {
    uint32_t entry, key, value;
};
struct value_sum {
    uint64_t requests;
    lode_square time, squares; /* of their durations */
};

/* How a call is repeated. */
enum repeat_kind {
    REPEAT_STATEMENT, /* one statement with other values, or values that were not recorded */
    REPEAT_IDENTICAL, /* the same statement with the same values */
    REPEAT_METHOD,    /* a method without a statement */
    REPEAT_RETRY      /* after an error */
};

/*
 * A repeated call: its method, its statement plus 1 (0: none), and the method that repeats it. Sums
 * are of ALL_CALLERS, since several may repeat it in one request; those of a caller tell which one
 * to name.
 */
struct site_key {
    uint32_t kind, function, statement, caller;
};
struct site_sum {
    uint64_t requests, calls;
    lode_square time, saved;       /* all of the calls, and all but one of them */
    lode_square squares, products; /* of what is saved in a request, and of it and the duration */
    uint64_t pending_calls, pending_time, pending_saved; /* of this request */
};

struct request_tables {
    struct lode_map method_index; /* from entry and function */
    struct lode_array methods;    /* of struct method_sum */
    struct lode_strings keys, values, statements;
    struct lode_interner value_keys; /* of struct value_key */
    struct lode_array value_sums;    /* of struct value_sum */
    uint32_t values_of[KEYS_MAX];    /* by key: numbers in value_keys */
    struct lode_interner site_keys;  /* of struct site_key */
    struct lode_array site_sums;     /* of struct site_sum */
    bool has_many_keys, has_many_statements;
};

void lode_diagnose_request_tables_init(struct request_tables *tables);
void lode_diagnose_request_tables_free(struct request_tables *tables);

/* All of these return false or NULL if out of memory. */
struct method_sum *lode_diagnose_tables_add_method(struct request_tables *tables, uint32_t entry,
                                                   uint32_t function);
/* A request with this value. */
bool lode_diagnose_tables_add_value(struct request_tables *tables, uint32_t entry, const char *key,
                                    const char *value, const struct value_sum *sum);
/* The number of a statement plus 1; 0: there are too many. */
bool lode_diagnose_tables_add_statement(struct request_tables *tables, const char *text, uint32_t *number);
/* The sums of a repeated call; NULL in *out: there are too many. */
bool lode_diagnose_tables_add_site(struct request_tables *tables, const struct site_key *key,
                                   struct site_sum **out, uint32_t *number);

/* Adds the sums of a worker. */
bool lode_diagnose_tables_merge(struct request_tables *tables, const struct request_tables *worker);

/* Whether a key has more values than are looked at. */
static inline bool tables_has_many_values(const struct request_tables *tables, uint32_t key)
{
    return tables->values_of[key] > VALUES_MAX;
}

/* NULL: no such requests. */
const struct method_sum *lode_diagnose_tables_find_method(const struct request_tables *tables, uint32_t entry,
                                                          uint32_t function);

#endif
