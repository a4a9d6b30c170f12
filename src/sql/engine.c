/* SPDX-License-Identifier: BSD-3-Clause */
#include "sql/engine.h"

#include <lode/private/libraries.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    STEPS = 1000, /* instructions of SQLite between two looks at the clock */
    NAME_SIZE = 160
};

/* Loaded before anything of SQLite is called. */
const sqlite3_api_routines *sqlite3_api;

static pthread_once_t load_once = PTHREAD_ONCE_INIT;

static void load_functions(void)
{
    sqlite3_api = lode_library_sqlite();
}

static int load(void)
{
    (void)pthread_once(&load_once, load_functions);
    return sqlite3_api != NULL;
}

const char *sql_library(void)
{
    static char name[32];
    if (!load())
        return NULL;
    snprintf(name, sizeof name, "SQLite %s", sqlite3_libversion());
    return name;
}

/* ---- errors ---- */

int sql_fail_text(sql_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    *error = (sql_error){.at = -1};
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return -1;
}

int sql_fail_stopped(const sql_settings *settings, int is_late, sql_error *error)
{
    sql_fail_text(error, is_late ? "stopped after %.3g seconds: the limit of --timeout" : "interrupted",
                  (double)settings->timeout / 1e9);
    error->is_stopped = 1;
    return -1;
}

int sql_fail(sql *s, sql_error *error)
{
    int code = s->db ? sqlite3_errcode(s->db) & 0xff : SQLITE_NOMEM;
    if (code == SQLITE_AUTH && s->refused[0])
        return sql_fail_text(error, "'lode sql' only reads: %s is not allowed", s->refused);
    if (code == SQLITE_NOMEM) {
        sql_fail_text(
            error, s->settings.memory ? "out of memory: the limit of --memory is %.0f MB" : "out of memory",
            (double)s->settings.memory / 1e6);
        error->is_stopped = 1;
        return -1;
    }
    if (code == SQLITE_INTERRUPT)
        return sql_fail_stopped(&s->settings, s->is_late, error);
    sql_fail_text(error, "%s", sqlite3_errmsg(s->db));
    error->at = sqlite3_error_offset(s->db);
    return -1;
}

/* ---- what bounds statements ---- */

uint64_t sql_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

void sql_start_clock(sql *s)
{
    s->deadline = s->settings.timeout ? sql_now() + s->settings.timeout : 0;
    s->is_late = 0;
    s->refused[0] = '\0';
    sql_watch_begin(&s->watch, s->deadline);
}

void sql_stop_clock(sql *s)
{
    sql_watch_end(&s->watch);
}

static int must_stop(void *user)
{
    sql *s = user;
    if (s->settings.is_due && s->settings.is_due())
        return 1;
    if (s->settings.must_end && s->settings.must_end(s->settings.user))
        return 1;
    s->is_late |= s->deadline && sql_now() > s->deadline;
    return s->is_late;
}

int sql_on_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    (void)phase;
    (void)done;
    (void)total;
    return must_stop(user);
}

/* A statement cannot ask for more than a question needs, whatever is in it. */
static void set_limits(sqlite3 *db)
{
    static const int limits[][2] = {
        {SQLITE_LIMIT_LENGTH, 16 << 20},    {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
        {SQLITE_LIMIT_COLUMN, 500},         {SQLITE_LIMIT_EXPR_DEPTH, 200},
        {SQLITE_LIMIT_COMPOUND_SELECT, 50}, {SQLITE_LIMIT_VDBE_OP, 1000000},
        {SQLITE_LIMIT_FUNCTION_ARG, 32},    {SQLITE_LIMIT_VARIABLE_NUMBER, 1000},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200},
        {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(db, limits[i][0], limits[i][1]);
}

/*
 * Rows of a virtual table that are adjacent by group may be in another order than the groups that
 * ORDER BY asks for. SQLite does not see the difference, so it has to sort the groups: few rows.
 */
enum {
    GROUP_BY_ORDER = 4 /* the bit of this optimisation since 2013 */
};

static int configure(sql *s)
{
    sqlite3_test_control(SQLITE_TESTCTRL_OPTIMIZATIONS, s->db, GROUP_BY_ORDER);
    set_limits(s->db);
    sqlite3_extended_result_codes(s->db, 0);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    /* "name" is a column, never a text by mistake. */
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    sqlite3_progress_handler(s->db, STEPS, must_stop, s);
    return sql_functions_add(s->db, 1);
}

/* ---- path ---- */

static const lode_database *database_of(const sql *s, sqlite3_value *schema)
{
    const char *name = schema ? (const char *)sqlite3_value_text(schema) : "main";
    for (size_t i = 0; name && i < s->count; i++)
        if (sqlite3_stricmp(s->names[i], name) == 0 || (i == 0 && sqlite3_stricmp(name, "main") == 0))
            return s->sources[i]->db;
    return NULL;
}

static void call_path(sqlite3_context *context, int count, sqlite3_value **values)
{
    sql_result_path(context, database_of(sqlite3_user_data(context), count > 1 ? values[1] : NULL),
                    values[0]);
}

/* ---- opening ---- */

int sql_open(sql **out, const sql_settings *settings, sql_error *error)
{
    *out = NULL;
    if (!load())
        return sql_fail_text(error, "cannot load SQLite (libsqlite3.so.0)");
    sql *s = calloc(1, sizeof *s);
    *out = s;
    if (!s)
        return sql_fail_text(error, "out of memory");
    s->settings = *settings;
    sql_watch_open(&s->watch, &s->settings);
    if (settings->memory)
        sqlite3_hard_heap_limit64(
            (sqlite3_int64)(settings->memory < INT64_MAX ? settings->memory : INT64_MAX));
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(":memory:", &s->db, flags, NULL);
    if (code == SQLITE_OK)
        code = configure(s);
    for (int i = 1; i <= 2 && code == SQLITE_OK; i++)
        code = sqlite3_create_function_v2(s->db, "path", i, SQLITE_UTF8 | SQLITE_INNOCUOUS, s, call_path,
                                          NULL, NULL, NULL);
    return code == SQLITE_OK ? 0 : sql_fail(s, error);
}

void sql_close(sql *s)
{
    if (!s)
        return;
    sql_watch_close(&s->watch);
    sqlite3_close(s->db);
    for (size_t i = 0; i < s->count; i++) {
        sql_opened_drop(s->sources[i]);
        free(s->names[i]);
    }
    free(s);
}

/* ---- stores ---- */

static int execute(sql *s, const char *sql_text, sql_error *error)
{
    int code = sql_text ? sqlite3_exec(s->db, sql_text, NULL, NULL, NULL) : SQLITE_NOMEM;
    return code == SQLITE_OK ? 0 : sql_fail(s, error);
}

/* A module for a table is registered by the number of its store, which no other table has. */
static int add_table(sql *s, size_t number, const char *schema, const lode_table_info *info, sql_error *error)
{
    char module[NAME_SIZE];
    snprintf(module, sizeof module, "lode_%zu_%s", number, info->name);
    if (sql_module_add(s->db, module, s->sources[number], info, 0) != SQLITE_OK)
        return sql_fail(s, error);
    char *text =
        sqlite3_mprintf("create virtual table \"%w\".\"%w\" using \"%w\"", schema, info->name, module);
    int status = execute(s, text, error);
    sqlite3_free(text);
    return status;
}

static int attach(sql *s, const char *schema, sql_error *error)
{
    char *text = sqlite3_mprintf("attach ':memory:' as \"%w\"", schema);
    int status = execute(s, text, error);
    sqlite3_free(text);
    return status;
}

static int add_source(sql *s, const char *schema, lode_tables *tables, lode_database *db,
                      lode_recording *recording)
{
    sql_opened *source = calloc(1, sizeof *source);
    char *name = strdup(schema);
    if (!source || !name) {
        free(source);
        free(name);
        lode_tables_close(tables);
        return -1;
    }
    *source =
        (sql_opened){.uses = 1, .tables = tables, .db = db, .recording = recording, .has_true_order = 1};
    s->names[s->count] = name;
    s->sources[s->count++] = source;
    return 0;
}

int sql_add(sql *s, const char *schema, lode_tables *tables, lode_database *db, lode_recording *recording,
            sql_error *error)
{
    size_t number = s->count;
    if (number == SQL_STORES_MAX) {
        lode_tables_close(tables);
        return sql_fail_text(error, "at most %d stores", SQL_STORES_MAX);
    }
    if (add_source(s, schema, tables, db, recording) != 0)
        return sql_fail_text(error, "out of memory");
    int status = sqlite3_stricmp(schema, "main") == 0 ? 0 : attach(s, schema, error);
    const lode_table_info *info;
    for (unsigned i = 0; status == 0 && (info = lode_tables_at(tables, i)); i++)
        status = add_table(s, number, schema, info, error);
    return status;
}

int sql_seal(sql *s, sql_error *error)
{
    /* What is sorted and does not fit goes to a file below TMPDIR; nothing else is written. */
    if (execute(s, "pragma temp_store = file", error) != 0)
        return -1;
    sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
    sql_authorize(s);
    return 0;
}
