/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A loadable extension for SQLite: lode_open('PATH' [, 'PREFIX']) opens a store, whose tables are
 * there under their names, with the prefix, until the connection closes. It can be called directly
 * only: a view or a trigger of a database that somebody else made opens nothing.
 */
#include "sql/source.h"

#include <stdlib.h>

/* Not SQLITE_EXTENSION_INIT1: the other files refer to it by this name. */
const sqlite3_api_routines *sqlite3_api;

enum {
    OLDEST = 3038000 /* SQLite that hands over IN lists */
};

static sql_source *open_source(const char *path, lode_error *error)
{
    sql_source *source = calloc(1, sizeof *source);
    lode_tables_options options = LODE_TABLES_OPTIONS_INIT;
    if (!source)
        return NULL;
    source->uses = 1;
    source->owns = 1;
    lode_status status = lode_open(&source->db, &source->recording, NULL, path, NULL, error);
    if (source->recording)
        options.names = LODE_NAME_SIMPLE;
    if (status == LODE_OK)
        status = lode_tables_open(&source->tables, source->db, source->recording, &options, error);
    if (status == LODE_OK)
        return source;
    sql_source_drop(source);
    return NULL;
}

static int add_tables(sqlite3 *db, sql_source *source, const char *prefix, unsigned *count)
{
    const lode_table_info *info;
    int code = SQLITE_OK;
    for (*count = 0; code == SQLITE_OK && (info = lode_tables_at(source->tables, *count)); ++*count) {
        char *name = sqlite3_mprintf("%s%s", prefix, info->name);
        code = name ? sql_module_add(db, name, source, info, 1) : SQLITE_NOMEM;
        sqlite3_free(name);
    }
    return code;
}

/* Returns the number of tables. */
static void call_open(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *path = (const char *)sqlite3_value_text(values[0]);
    const char *prefix = count > 1 ? (const char *)sqlite3_value_text(values[1]) : "";
    lode_error error = {.text = "out of memory"};
    unsigned tables = 0;
    if (!path || !prefix) {
        sqlite3_result_error(context, "lode_open takes a path and, if wanted, a prefix of names", -1);
        return;
    }
    sql_source *source = open_source(path, &error);
    if (!source) {
        sqlite3_result_error(context, error.text, -1);
        return;
    }
    int code = add_tables(sqlite3_context_db_handle(context), source, prefix, &tables);
    if (code == SQLITE_OK)
        sqlite3_result_int(context, (int)tables);
    else
        sqlite3_result_error_code(context, code);
    sql_source_drop(source);
}

static int start(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    sqlite3_api = api;
    if (sqlite3_libversion_number() < OLDEST) {
        *message = sqlite3_mprintf("Lode needs SQLite 3.38 or newer, not %s", sqlite3_libversion());
        return SQLITE_ERROR;
    }
    int code = sql_functions_add(db, 0);
    for (int i = 1; i <= 2 && code == SQLITE_OK; i++)
        code = sqlite3_create_function_v2(db, "lode_open", i, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL,
                                          call_open, NULL, NULL, NULL);
    return code;
}

/* The name by which SQLite finds it first, and the one that belongs to the name of the file. */
int LODE_API sqlite3_extension_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);
int LODE_API sqlite3_lodesqlite_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

int sqlite3_extension_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    return start(db, message, api);
}

int sqlite3_lodesqlite_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    return start(db, message, api);
}
