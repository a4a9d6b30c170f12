/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans of scans as text, which is all that SQLite hands from planning to running: a code for this
 * program, a blank, and words for people.
 *
 *   code = filters ";" order ";" flags ";" columns in hexadecimal
 *
 * A filter is an operator and a column, an order is a list of columns; a column is a letter.
 */
#ifndef SQL_PLAN_H
#define SQL_PLAN_H

#include "sql/opened.h"

enum {
    PLAN_FILTERS = 24, /* of a scan, at most */
    PLAN_COLUMNS = 57, /* that have a letter */
    PLAN_ORDER = 8,    /* columns of an order, at most */
    PLAN_BATCH = 8192, /* rows of a batch, at most */
    PLAN_SMALL = 64    /* rows of a batch where few are expected */
};

#define PLAN_FIRST_COLUMN 'A'

/* Operators of filters. */
enum {
    PLAN_EQUAL = '=',
    PLAN_IN = '@',
    PLAN_LESS = '<',
    PLAN_MORE = '>',
    PLAN_AT_MOST = '{',
    PLAN_AT_LEAST = '}'
};

/* Flags. */
enum {
    PLAN_LIMIT = 'l', /* the next argument */
    PLAN_OFFSET = 'o' /* the one after that */
};

/* Chooses a plan: sqlite3_module.xBestIndex for a table. */
int sql_plan_choose(sqlite3_vtab *vtab, const sql_table *table, sqlite3_index_info *info);

/* Sets the message of a table. */
void sql_vtab_fail(sqlite3_vtab *vtab, const lode_error *error);
/* The code of SQLite for a status. */
int sql_code_of(lode_status status);

#endif
