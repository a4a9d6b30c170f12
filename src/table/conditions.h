/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conditions on the rows of a table as text, which become filters of a scan:
 *
 *   CONDITION [and CONDITION]...
 *   COLUMN =|<|<=|>|>= NUMBER, COLUMN in (INTEGER [, INTEGER]...), COLUMN = 'TEXT'
 */
#ifndef LODE_TABLE_CONDITIONS_H
#define LODE_TABLE_CONDITIONS_H

#include "base/memory/arena.h"
#include "base/memory/array.h"
#include <lode/table.h>
#include <stdbool.h>

struct lode_conditions {
    struct lode_array filters; /* lode_scan_filter */
    struct lode_arena arena;   /* their constants */
    bool is_empty;             /* no row can meet them */
};

void lode_conditions_init(struct lode_conditions *conditions);
void lode_conditions_free(struct lode_conditions *conditions);
/* LODE_ERR_ARGUMENT for what is no condition on this table. */
lode_status lode_conditions_parse(struct lode_conditions *conditions, const lode_table_info *table,
                                  const char *text, lode_error *error);

/* The column of this name; -1: there is none. */
int lode_table_column(const lode_table_info *table, const char *name, size_t length);

#endif
