/* SPDX-License-Identifier: BSD-3-Clause */
/* Contents of a store as plain arrays in place, for the tables of lode/table.h and for Python. */
#ifndef LODE_PRIVATE_COLUMNS_H
#define LODE_PRIVATE_COLUMNS_H

#include <lode/block.h>
#include <lode/calls.h>
#include <lode/cost.h>
#include <lode/table.h>
#include <lode/trace.h>

LODE_BEGIN_DECLS

typedef struct lode_table lode_table;

/*
 * The tables of a database, and their columns. A column named like a table has row numbers of it.
 *   contexts     id, parent (row; the first row is its own), parent_id, subtree_size, depth, kind,
 *                relation, flags, propagation, function, file, line, module, offset, entry (kind of
 *                an entry point), entry_name; rows are in depth-first order
 *   functions    name, module, offset, file, line, same_as (row of the first equal function)
 *   files        path, copied
 *   modules      path
 *   metrics      metric (number), name, scope, scope_kind, id (as in values): a row per metric and
 *                scope
 *   statistics   metric, name, scope, formula, combine, id (as in the summary)
 *   profiles     flags, summary, values, ids
 *   profile_ids  profile, kind (row of id_kinds), flags, logical, physical: a row per element of an
 *                id tuple
 *   id_kinds     name
 *   trace_lines  profile, samples
 */
typedef enum lode_table_kind {
    LODE_TABLE_CONTEXTS,
    LODE_TABLE_FUNCTIONS,
    LODE_TABLE_FILES,
    LODE_TABLE_MODULES,
    LODE_TABLE_METRICS,
    LODE_TABLE_STATISTICS,
    LODE_TABLE_PROFILES,
    LODE_TABLE_PROFILE_IDS,
    LODE_TABLE_ID_KINDS,
    LODE_TABLE_TRACE_LINES
} lode_table_kind;
#define LODE_TABLE_COUNT 10

/* A table of a database. LODE_ERR_ARGUMENT for a kind that there is not. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_database_table(lode_table **out, const lode_database *db,
                                                      lode_table_kind kind, lode_error *error);
/* Such as "contexts"; NULL for a kind that there is not. MT: any thread. */
LODE_API const char *lode_table_kind_name(int kind);

/* The groups of a block: key, first (number of the group's first value). MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_block_groups_table(lode_table **out, const lode_block *block,
                                                          lode_error *error);
/* The values of a block: key, value. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_block_values_table(lode_table **out, const lode_block *block,
                                                          lode_error *error);
/* The samples of a trace line: time, context (its id; 0 when it did not run). MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_trace_line_table(lode_table **out, const lode_trace_line *line,
                                                        lode_error *error);
/* Costs by context: inclusive, exclusive; rows as in the table of contexts. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_cost_table(lode_table **out, const lode_cost *cost, lode_error *error);
/* Statistics of calls: function index, name, and the fields of lode_call_row. MT: any thread. */
LODE_API LODE_CHECKED lode_status lode_calls_table(lode_table **out, const lode_calls *calls,
                                                   lode_error *error);
/* NULL is allowed. MT: one thread. */
LODE_API void lode_table_free(lode_table *table);

/* MT: any thread. */
LODE_API uint64_t lode_table_rows(const lode_table *table);
LODE_API unsigned lode_table_columns(const lode_table *table);
/* The name of a column; NULL past the last. MT: any thread. */
LODE_API const char *lode_table_column_name(const lode_table *table, unsigned column);

/*
 * A column of up to `count` rows from `first` on. Free unless it is decoded: then a copy of `count`
 * elements, whose memory the next read of the same column reuses. LODE_END past the last row,
 * LODE_ERR_ARGUMENT past the last column. MT: one thread.
 */
LODE_API LODE_CHECKED lode_status lode_table_read(lode_table *table, unsigned column, uint64_t first,
                                                  uint64_t count, lode_column *out, lode_error *error);

LODE_END_DECLS
#endif
