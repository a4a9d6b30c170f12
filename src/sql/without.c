/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that was built without SQLite has no SQL: nothing can be opened. */
#include "sql/sql.h"

#include <stdio.h>

const char *sql_library(void)
{
    return NULL;
}

int sql_open(sql **out, const sql_settings *settings, sql_error *error)
{
    (void)settings;
    *out = NULL;
    *error = (sql_error){.at = -1};
    snprintf(error->text, sizeof error->text,
             "this program was built without SQLite 3.38 or newer: it has no SQL");
    return -1;
}

void sql_close(sql *s)
{
    (void)s;
}

int sql_add(sql *s, const char *schema, lode_tables *tables, lode_database *db, lode_recording *recording,
            sql_error *error)
{
    (void)schema;
    (void)db;
    (void)recording;
    lode_tables_close(tables);
    return sql_open(&s, NULL, error);
}

int sql_seal(sql *s, sql_error *error)
{
    return sql_open(&s, NULL, error);
}

int sql_on_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    (void)user;
    (void)phase;
    (void)done;
    (void)total;
    return 0;
}

int sql_prepare(sql *s, const char *text, sql_statement **out, const char **rest, sql_error *error)
{
    *out = NULL;
    *rest = text;
    return sql_open(&s, NULL, error);
}

int sql_step(sql_statement *statement, sql_error *error)
{
    sql *s;
    (void)statement;
    return sql_open(&s, NULL, error);
}

void sql_finish(sql_statement *statement)
{
    (void)statement;
}

unsigned sql_column_count(const sql_statement *statement)
{
    (void)statement;
    return 0;
}

const char *sql_column_name(const sql_statement *statement, unsigned column)
{
    (void)statement;
    (void)column;
    return "";
}

sql_cell sql_cell_at(const sql_statement *statement, unsigned column)
{
    (void)statement;
    (void)column;
    return (sql_cell){.type = SQL_NULL};
}

unsigned sql_parameter_count(const sql_statement *statement)
{
    (void)statement;
    return 0;
}

const char *sql_parameter_name(const sql_statement *statement, unsigned number)
{
    (void)statement;
    (void)number;
    return NULL;
}

int sql_bind(sql_statement *statement, unsigned number, const sql_cell *cell, sql_error *error)
{
    sql *s;
    (void)statement;
    (void)number;
    (void)cell;
    return sql_open(&s, NULL, error);
}

int sql_is_complete(const char *text)
{
    (void)text;
    return 1;
}

int sql_explain(sql *s, const char *text, sql_line_fn on_line, void *user, sql_error *error)
{
    (void)text;
    (void)on_line;
    (void)user;
    return sql_open(&s, NULL, error);
}
