/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SQL on stores: one connection, in memory and read only, on which each store is a schema. Nothing
 * here needs SQLite's own header, so that a program without it says what is missing.
 */
#ifndef SQL_SQL_H
#define SQL_SQL_H

#include <lode/unstable.h>

typedef struct sql sql;
typedef struct sql_statement sql_statement;

enum {
    SQL_STORES_MAX = 10, /* what SQLite can attach */
    SQL_ERROR_SIZE = 640
};

typedef struct sql_error {
    int is_stopped; /* by Ctrl-C or a limit */
    int at;         /* byte of the statement where it is wrong; -1: not known */
    char text[SQL_ERROR_SIZE];
} sql_error;

typedef struct sql_settings {
    uint64_t memory;     /* bytes of SQLite in this process; 0: no limit */
    uint64_t timeout;    /* nanoseconds of each statement; 0: no limit */
    int (*is_due)(void); /* whether somebody wants it to end; may be NULL; any thread asks */
    /*
     * A statement does not end although it is due: another thread calls this, and it ends the
     * program. NULL: a statement takes as long as it takes.
     */
    void (*on_stuck)(const sql_error *error);
    /* As `is_due`, with an argument; may be NULL. */
    int (*must_end)(void *user);
    void *user;
} sql_settings;

/* "SQLite 3.40.1"; NULL if this program was built without. */
const char *sql_library(void);

/* All return 0, or -1 and the error, unless they say something else. */
int sql_open(sql **out, const sql_settings *settings, sql_error *error);
/* NULL is allowed. Closes the tables that were added, not their stores. */
void sql_close(sql *s);
/* Adds the tables of a store as a schema; "main" needs no qualification. Takes over the tables. */
int sql_add(sql *s, const char *schema, lode_tables *tables, lode_database *db, lode_recording *recording,
            sql_error *error);
/* No more stores: from now on everything but reading is refused. */
int sql_seal(sql *s, sql_error *error);
/* A lode_progress_fn for the tables: stops long work inside a statement. `user` is the sql. */
int sql_on_progress(void *user, const char *phase, uint64_t done, uint64_t total);

/* The first statement of a text; `*out` is NULL if there is none. `*rest` is what follows it. */
int sql_prepare(sql *s, const char *text, sql_statement **out, const char **rest, sql_error *error);
/* 1: there is a row; 0: there are no more. */
int sql_step(sql_statement *statement, sql_error *error);
/* NULL is allowed. */
void sql_finish(sql_statement *statement);

unsigned sql_column_count(const sql_statement *statement);
const char *sql_column_name(const sql_statement *statement, unsigned column);

typedef enum sql_type {
    SQL_NULL,
    SQL_INTEGER,
    SQL_REAL,
    SQL_TEXT,
    SQL_BYTES
} sql_type;

/* Of the current row, until the next step. */
typedef struct sql_cell {
    sql_type type;
    int64_t integer;
    double real;
    const char *text; /* or bytes */
    size_t size;
} sql_cell;

sql_cell sql_cell_at(const sql_statement *statement, unsigned column);

/* Parameters are numbered from 1. The name begins with its mark, as in ":id"; NULL: "?". */
unsigned sql_parameter_count(const sql_statement *statement);
const char *sql_parameter_name(const sql_statement *statement, unsigned number);
/* Before the first step; copies. */
int sql_bind(sql_statement *statement, unsigned number, const sql_cell *cell, sql_error *error);

/* Whether a text ends where a statement could: a semicolon outside of strings and comments. */
int sql_is_complete(const char *text);

/* How a statement would be run, in words: one line each, by the level it stands at. */
typedef void (*sql_line_fn)(void *user, unsigned level, const char *line);
int sql_explain(sql *s, const char *text, sql_line_fn on_line, void *user, sql_error *error);

/*
 * Questions that many people ask, as statements. In all texts, {metric} stands for the metric that
 * commands show unless they are told otherwise, and in the title and the text, {} for what `fit`
 * finds: one value. A store in which it finds none has no answer.
 */
typedef struct sql_question {
    const char *store; /* "database", "recording" or "requests" */
    const char *title;
    const char *text;
    const char *fit; /* a statement; NULL: the question fits all stores */
} sql_question;

/* NULL past the last. */
const sql_question *sql_question_at(size_t index);

#endif
