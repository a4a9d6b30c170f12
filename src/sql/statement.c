/* SPDX-License-Identifier: BSD-3-Clause */
#include "sql/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n;")] == '\0';
}

/* `*out` is NULL if there is none. */
static int prepare(sql *s, sqlite3_stmt **out, const char **rest, sql_error *error)
{
    /* Text that has comments only gives no statement: the next one may follow it. */
    do {
        const char *begin = *rest;
        if (sqlite3_prepare_v2(s->db, begin, -1, out, rest) != SQLITE_OK) {
            sql_fail(s, error);
            sql_add_hint(s, begin, error);
            return -1;
        }
    } while (!*out && !is_blank(*rest));
    return 0;
}

int sql_prepare(sql *s, const char *text, sql_statement **out, const char **rest, sql_error *error)
{
    sqlite3_stmt *handle = NULL;
    *out = NULL;
    *rest = text;
    sql_start_clock(s);
    atomic_store(&s->watch.is_inside, 1);
    int status = prepare(s, &handle, rest, error);
    atomic_store(&s->watch.is_inside, 0);
    sql_statement *statement = handle ? calloc(1, sizeof *statement) : NULL;
    if (statement) {
        *statement = (sql_statement){s, handle};
        *out = statement;
        return 0;
    }
    sql_stop_clock(s);
    if (!handle)
        return status;
    sqlite3_finalize(handle);
    return sql_fail_text(error, "out of memory");
}

int sql_step(sql_statement *statement, sql_error *error)
{
    sql_watch *watch = &statement->owner->watch;
    atomic_store(&watch->is_inside, 1);
    int code = sqlite3_step(statement->handle);
    atomic_store(&watch->is_inside, 0);
    if (code == SQLITE_ROW || code == SQLITE_DONE)
        return code == SQLITE_ROW;
    return sql_fail(statement->owner, error);
}

void sql_finish(sql_statement *statement)
{
    if (!statement)
        return;
    sqlite3_finalize(statement->handle);
    sql_stop_clock(statement->owner);
    free(statement);
}

unsigned sql_column_count(const sql_statement *statement)
{
    return (unsigned)sqlite3_column_count(statement->handle);
}

const char *sql_column_name(const sql_statement *statement, unsigned column)
{
    const char *name = sqlite3_column_name(statement->handle, (int)column);
    return name ? name : "";
}

sql_cell sql_cell_at(const sql_statement *statement, unsigned column)
{
    sqlite3_stmt *handle = statement->handle;
    int i = (int)column;
    switch (sqlite3_column_type(handle, i)) {
    case SQLITE_INTEGER:
        return (sql_cell){.type = SQL_INTEGER, .integer = sqlite3_column_int64(handle, i)};
    case SQLITE_FLOAT:
        return (sql_cell){.type = SQL_REAL, .real = sqlite3_column_double(handle, i)};
    case SQLITE_TEXT: {
        const char *text = (const char *)sqlite3_column_text(handle, i);
        return (sql_cell){.type = text ? SQL_TEXT : SQL_NULL,
                          .text = text,
                          .size = text ? (size_t)sqlite3_column_bytes(handle, i) : 0};
    }
    case SQLITE_BLOB: {
        const char *bytes = sqlite3_column_blob(handle, i);
        return (sql_cell){
            .type = SQL_BYTES, .text = bytes ? bytes : "", .size = (size_t)sqlite3_column_bytes(handle, i)};
    }
    default:
        return (sql_cell){.type = SQL_NULL};
    }
}

unsigned sql_parameter_count(const sql_statement *statement)
{
    return (unsigned)sqlite3_bind_parameter_count(statement->handle);
}

const char *sql_parameter_name(const sql_statement *statement, unsigned number)
{
    return sqlite3_bind_parameter_name(statement->handle, (int)number);
}

int sql_bind(sql_statement *statement, unsigned number, const sql_cell *cell, sql_error *error)
{
    sqlite3_stmt *handle = statement->handle;
    int code = SQLITE_ERROR, i = (int)number;
    switch (cell->type) {
    case SQL_NULL:
        code = sqlite3_bind_null(handle, i);
        break;
    case SQL_INTEGER:
        code = sqlite3_bind_int64(handle, i, cell->integer);
        break;
    case SQL_REAL:
        code = sqlite3_bind_double(handle, i, cell->real);
        break;
    case SQL_TEXT:
        code = sqlite3_bind_text64(handle, i, cell->text, cell->size, SQLITE_TRANSIENT, SQLITE_UTF8);
        break;
    case SQL_BYTES:
        code = sqlite3_bind_blob64(handle, i, cell->text, cell->size, SQLITE_TRANSIENT);
        break;
    }
    return code == SQLITE_OK ? 0 : sql_fail(statement->owner, error);
}

int sql_is_complete(const char *text)
{
    return sqlite3_complete(text);
}
