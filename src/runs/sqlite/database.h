/* SPDX-License-Identifier: BSD-3-Clause */
/* The SQLite file below a catalogue: statements, their errors, and what bounds them. */
#ifndef RUNS_SQLITE_DATABASE_H
#define RUNS_SQLITE_DATABASE_H

#include "runs/backend.h"
#include "runs/sqlite/files.h"

typedef struct database {
    catalogue base; /* first: callers have this part */
    sqlite3 *db;
    catalogue_files *files;
    uint64_t steps, most_steps;
} database;

database *database_of(catalogue *c);

/* Sets the error to what SQLite says. Returns -1. */
int database_fail(const database *c, catalogue_error *error);

/* NULL after an error; sqlite3_finalize it. */
sqlite3_stmt *database_prepare(database *c, const char *sql, catalogue_error *error);
/* 1: there is a row; 0: there is none; -1: an error. */
int database_step(database *c, sqlite3_stmt *statement, catalogue_error *error);
/* Runs a statement that has no rows. */
int database_run(database *c, const char *sql, catalogue_error *error);
/* The integer in the first column of the first row; `otherwise` if there is none. */
int database_integer(database *c, const char *sql, int64_t otherwise, int64_t *out, catalogue_error *error);

/* A text of a row, never NULL, without bytes after a NUL. */
const char *database_text(sqlite3_stmt *statement, int column);
/* A time or a size of a row; 0 if it is negative. */
uint64_t database_unsigned(sqlite3_stmt *statement, int column);

/* ---- what the back end consists of ---- */

int database_add(catalogue *of, run_record *run, run_sameness sameness, catalogue_error *error);
int database_read(catalogue *of, int64_t run, run_record_fn on_record, void *user, catalogue_error *error);
int database_retain(catalogue *of, uint64_t before, uint64_t *removed, catalogue_error *error);
int database_status(catalogue *of, catalogue_state *state, catalogue_error *error);
int database_remove(catalogue *of, int64_t run, catalogue_error *error);
int database_list(catalogue *of, const run_filter *filter, run_row_fn on_run, void *user,
                  catalogue_error *error);
int database_count(catalogue *of, const run_filter *filter, uint64_t *count, catalogue_error *error);
int database_metrics(catalogue *of, int64_t run, run_name_fn on_metric, void *user, catalogue_error *error);
int database_functions(catalogue *of, run_name_fn on_function, void *user, catalogue_error *error);
int database_find_function(catalogue *of, const char *name, int64_t *id, catalogue_error *error);
int database_series(catalogue *of, const run_filter *filter, int64_t metric, int64_t function,
                    run_point **points, size_t *count, catalogue_error *error);
int database_run_functions(catalogue *of, int64_t run, int64_t metric, run_function **functions,
                           size_t *count, catalogue_error *error);
int database_runs(catalogue *of, const run_filter *filter, int64_t **runs, size_t *count,
                  catalogue_error *error);
int database_values(catalogue *of, const run_set *set, int64_t metric, int64_t function, int is_inclusive,
                    run_value_fn on_value, void *user, catalogue_error *error);

#endif
