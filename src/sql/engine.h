/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection below sql.h. */
#ifndef SQL_ENGINE_H
#define SQL_ENGINE_H

#include "sql/opened.h"
#include "sql/sql.h"
#include "sql/watch.h"

struct sql {
    sqlite3 *db;
    sql_settings settings;
    sql_watch watch;
    sql_opened *sources[SQL_STORES_MAX];
    char *names[SQL_STORES_MAX]; /* of schemas; free() */
    size_t count;
    uint64_t deadline; /* of the statement that runs; 0: none */
    int is_late;       /* it was reached */
    char refused[64];  /* what a statement wanted to do */
};

struct sql_statement {
    sql *owner;
    sqlite3_stmt *handle;
};

/* Sets the error to what SQLite says. Returns -1. */
int sql_fail(sql *s, sql_error *error);
int sql_fail_stopped(const sql_settings *settings, int is_late, sql_error *error);
int sql_fail_text(sql_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds what there is to a message about a table or a column that is not there. */
void sql_add_hint(const sql *s, const char *text, sql_error *error);

/* Nanoseconds of the monotonic clock. */
uint64_t sql_now(void);
/* Begins the time of a statement, and ends it. */
void sql_start_clock(sql *s);
void sql_stop_clock(sql *s);

/* Refuses whatever is not reading. */
void sql_authorize(sql *s);

#endif
