/* SPDX-License-Identifier: BSD-3-Clause */
/* A store as SQLite sees it: its tables, and a module for each of them. */
#ifndef SQL_OPENED_H
#define SQL_OPENED_H

#include "sql/sqlite.h"

#include <lode/unstable.h>

/* Counted: modules hold it as long as SQLite has them. */
typedef struct sql_opened {
    unsigned uses;
    lode_tables *tables;
    lode_database *db;         /* NULL: a recording */
    lode_recording *recording; /* NULL: a database */
    int owns;                  /* the last use closes the store */
    char *path;                /* that the tables refer to, or NULL; free() */
    lode_kind_rules *kinds;    /* likewise */
    int has_true_order;        /* ORDER BY sorts groups again: see engine.c */
    /* Called at the end, if it is not NULL. */
    void (*on_drop)(void *user);
    void *user;
} sql_opened;

/* A table of a source: what a module is registered with. */
typedef struct sql_table {
    sql_opened *source;
    const lode_table_info *info;
} sql_table;

/* Drops a use; the last one closes what the source owns. NULL is allowed. */
void sql_opened_drop(sql_opened *source);

/*
 * Registers a module of this name for a table. Tables of an eponymous module need no CREATE VIRTUAL
 * TABLE. Returns a code of SQLite.
 */
int sql_module_add(sqlite3 *db, const char *name, sql_opened *source, const lode_table_info *info,
                   int is_eponymous);

/*
 * The functions that need no store. `is_own`: as the program has them. Otherwise `hex` of SQLite
 * stays, and ours is `lode_hex`; so does a `regexp` that is there.
 */
int sql_functions_add(sqlite3 *db, int is_own);

/* The aggregates median(x) and quantile(x, q); those of a host stay unless `is_own`. */
int sql_quantiles_add(sqlite3 *db, int is_own);

/*
 * Replaces what controls a terminal and what is no UTF-8 by '?': messages quote stores and
 * arguments, and the host prints them as they are.
 */
void sql_clean_message(char *text);

/* The result of path(): of a context of this database; an error without a database. */
void sql_result_path(sqlite3_context *context, const lode_database *db, sqlite3_value *id);

#endif
