/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements on the runs that a filter has. */
#ifndef RUNS_SQLITE_SELECT_H
#define RUNS_SQLITE_SELECT_H

#include "runs/sqlite/database.h"

/* Parameters below this one: 4, 5 and 7 are for the caller. */
#define SELECT_FIRST_LABEL ((size_t)8)

/* "HEAD WHERE ... TAIL" with the parameters of the filter bound. NULL after an error. */
sqlite3_stmt *select_runs(database *c, const char *head, const run_filter *filter, const char *tail,
                          catalogue_error *error);

#endif
