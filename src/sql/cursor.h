/* SPDX-License-Identifier: BSD-3-Clause */
/* A scan that is under way, as a cursor of SQLite. */
#ifndef SQL_CURSOR_H
#define SQL_CURSOR_H

#include "sql/plan.h"

#include <stdbool.h>

/* What a filter compares with. SQLite's own values end with xFilter. */
typedef struct sql_operand {
    uint64_t number;
    uint64_t *numbers; /* of a list; sqlite3_free */
    size_t count;
    double real;
    char *text; /* sqlite3_free */
} sql_operand;

typedef struct sql_cursor {
    sqlite3_vtab_cursor base;
    const sql_table *table;
    lode_scan *scan;
    const lode_batch *batch; /* NULL: at the end */
    uint64_t row;            /* of the batch */
    lode_scan_filter filters[PLAN_FILTERS];
    sql_operand operands[PLAN_FILTERS];
    size_t filter_count;
    unsigned order[PLAN_ORDER + PLAN_FILTERS];
    lode_scan_options options;
    bool is_empty; /* no row can match */
} sql_cursor;

/* The columns that tell rows apart: the key, or all. */
uint64_t sql_identity_of(const lode_table_info *info);
/* Reads the code of a plan and the values that belong to it. Returns a code of SQLite. */
int sql_filters_read(sql_cursor *cursor, const char *plan, int batch, int count, sqlite3_value **values);
void sql_filters_free(sql_cursor *cursor);

#endif
