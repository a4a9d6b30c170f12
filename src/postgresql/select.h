/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements on the runs that a filter has. */
#ifndef POSTGRESQL_SELECT_H
#define POSTGRESQL_SELECT_H

#include "session.h"

/* A statement while it is written. The first parameter is the project. */
typedef struct statement {
    buffer sql;
    parameters values;
} statement;

/* Finds the project. 0, or -1 and the error; statement_free is due in both cases. */
int statement_begin(statement *to, session *s, const char *head, catalogue_error *error);
void statement_free(statement *to);
PGresult *statement_ask(statement *to, session *s, const char *types, catalogue_error *error);

/* Conditions on the runs, which the statement calls r: "WHERE ...". */
int select_runs(statement *to, session *s, const run_filter *filter, catalogue_error *error);
/*
 * The same on costs, which it calls c. Only if the filter asks for more than a title and a time,
 * the runs are looked up.
 */
int select_costs(statement *to, session *s, const run_filter *filter, catalogue_error *error);
/* The newest first; all, if there is no limit. */
void select_order(statement *to, const run_filter *filter, const char *alias, const char *id);

/* {"name": "value", ...} of labels. */
void json_of_labels(buffer *to, const run_label *labels, size_t count);

#endif
