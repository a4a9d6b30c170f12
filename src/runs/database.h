/* SPDX-License-Identifier: BSD-3-Clause */
/* The SQLite file below a catalogue: statements, their errors, and what bounds them. */
#ifndef RUNS_DATABASE_H
#define RUNS_DATABASE_H

#include "runs/catalogue.h"
#include "runs/files.h"

/* Longer texts are cut when they are added, and refused when they are read. */
#define CATALOGUE_TEXT_MAX 4096

struct catalogue {
    sqlite3 *db;
    catalogue_files *files;
    char *path; /* as messages have it */
    uint64_t steps, most_steps;
};

/* Sets the error to what SQLite says. Returns -1. */
int catalogue_fail(const catalogue *c, catalogue_error *error);

/* NULL after an error; sqlite3_finalize it. */
sqlite3_stmt *catalogue_prepare(catalogue *c, const char *sql, catalogue_error *error);
/* 1: there is a row; 0: there is none; -1: an error. */
int catalogue_step(catalogue *c, sqlite3_stmt *statement, catalogue_error *error);
/* Runs a statement that has no rows. */
int catalogue_run(catalogue *c, const char *sql, catalogue_error *error);
/* The integer in the first column of the first row; `otherwise` if there is none. */
int catalogue_integer(catalogue *c, const char *sql, int64_t otherwise, int64_t *out, catalogue_error *error);

/* A text of a row, never NULL, without bytes after a NUL. */
const char *catalogue_text(sqlite3_stmt *statement, int column);
/* A time or a size of a row; 0 if it is negative. */
uint64_t catalogue_unsigned(sqlite3_stmt *statement, int column);

#endif
