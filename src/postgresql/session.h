/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection to the server of a catalogue. libpq waits without end for a server that hangs: every
 * question here has a deadline of its own, in which it is asked again if that can help.
 */
#ifndef POSTGRESQL_SESSION_H
#define POSTGRESQL_SESSION_H

#include "runs/backend.h"
#include "wire.h"

#define SCHEMA_VERSION 1

/* The costs of some runs in one metric, as a check asks for them: function by function. */
typedef struct cost_cache {
    int64_t metric;
    int64_t *runs; /* of the set; NULL: nothing is cached */
    size_t count;
    struct cached_run *costs;
    size_t cost_count;
} cost_cache;

typedef struct session {
    catalogue base; /* first: callers have this part */
    PGconn *connection;
    char *address;
    char *project; /* as it was asked for; NULL: the only one */
    int64_t project_id;
    char *project_name; /* NULL until the server has said it */
    unsigned milliseconds;
    int is_hasty;
    int is_encrypted_by_default;    /* a host, and nobody said how */
    int is_sent;                    /* the statement of the last attempt */
    int64_t found_run, found_begun; /* what session_find_run found last; 0: nothing */
    cost_cache cache;
} session;

session *session_of(catalogue *c);

/* Sets the error. Returns -1. */
int session_fail(const session *s, catalogue_error *error, const char *said);
int session_no_memory(const session *s, catalogue_error *error);

/*
 * Whether a password is in the address, which others can read there, and how the connection is to
 * be encrypted. -1 and the error, which does not have the address in it.
 */
int session_check_address(session *s, catalogue_error *error);

typedef enum ask_mode {
    ASK_AGAIN, /* after a lost connection: the statement can run twice */
    ASK_ONCE   /* it cannot */
} ask_mode;

/*
 * The result of a statement, whose columns have these types (result_fits). NULL after an error;
 * PQclear it. Without parameters, several statements can be one text: the last one counts.
 */
PGresult *session_ask(session *s, const char *sql, const parameters *p, const char *types, ask_mode mode,
                      catalogue_error *error);

/* Finds the project, and that the tables are of this version. */
int session_find_project(session *s, catalogue_error *error);

/*
 * When a run began. 1: there is no such run. It is asked for first where a plan depends on it: with
 * the time, a statement looks into one month and not into all.
 */
int session_find_run(session *s, int64_t run, int64_t *begun, catalogue_error *error);

/* ---- what the back end consists of ---- */

int server_add(catalogue *of, run_record *run, run_sameness sameness, catalogue_error *error);
int server_read(catalogue *of, int64_t run, run_record_fn on_record, void *user, catalogue_error *error);
int server_remove(catalogue *of, int64_t run, catalogue_error *error);
int server_list(catalogue *of, const run_filter *filter, run_row_fn on_run, void *user,
                catalogue_error *error);
int server_count(catalogue *of, const run_filter *filter, uint64_t *count, catalogue_error *error);
int server_metrics(catalogue *of, int64_t run, run_name_fn on_metric, void *user, catalogue_error *error);
int server_functions(catalogue *of, run_name_fn on_function, void *user, catalogue_error *error);
int server_find_function(catalogue *of, const char *name, int64_t *id, catalogue_error *error);
int server_series(catalogue *of, const run_filter *filter, int64_t metric, int64_t function,
                  run_point **points, size_t *count, catalogue_error *error);
int server_run_functions(catalogue *of, int64_t run, int64_t metric, run_function **functions, size_t *count,
                         catalogue_error *error);
int server_runs(catalogue *of, const run_filter *filter, int64_t **runs, size_t *count,
                catalogue_error *error);
int server_values(catalogue *of, const run_set *set, int64_t metric, int64_t function, int is_inclusive,
                  run_value_fn on_value, void *user, catalogue_error *error);
void server_forget_values(session *s);
int server_retain(catalogue *of, uint64_t before, uint64_t *removed, catalogue_error *error);
int server_status(catalogue *of, catalogue_state *state, catalogue_error *error);
int server_set_up(catalogue *of, int is_new, int64_t *schema, catalogue_error *error);
int server_grant(catalogue *of, const char *role, const char *level, catalogue_error *error);

#endif
