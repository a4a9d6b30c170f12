/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A loadable extension for SQLite: lode_open('PATH' [, 'PREFIX' [, 'KINDS']]) opens a store, whose
 * tables are there under their names, with the prefix, until the connection closes. It can be
 * called directly only: a view or a trigger of a database that somebody else made opens nothing.
 */
#include "sql/opened.h"

#include <lode/private/usual_names.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Not SQLITE_EXTENSION_INIT1: the other files refer to it by this name. */
const sqlite3_api_routines *sqlite3_api;

enum {
    OLDEST = 3038000, /* SQLite that hands over IN lists */
    LOOK = 5000000,   /* nanoseconds between two looks whether a statement is interrupted */
    SECOND = 1000000000,
    CHECKED = 16 << 20, /* bytes of a store of which all values are checked */
    STORES = 64,        /* whose contexts path() finds */
    RULES = 1 << 20     /* bytes of a file of rules, at most */
};

/* What a connection has open. Its functions and its stores refer to it. */
typedef struct host {
    unsigned uses;
    sqlite3 *db;
    long long looked; /* when, in nanoseconds */
    size_t count;
    struct {
        char *prefix; /* sqlite3_free */
        sql_opened *source;
    } stores[STORES];
} host;

static void drop_host(void *user)
{
    host *h = user;
    if (--h->uses == 0)
        free(h);
}

/* When the connection forgets its functions, it closes. */
static void close_host(void *user)
{
    host *h = user;
    while (h->count > 0) {
        sqlite3_free(h->stores[--h->count].prefix);
        sql_opened_drop(h->stores[h->count].source);
    }
    drop_host(h);
}

/* ---- interruption ---- */

/*
 * SQLite looks between rows only whether it is interrupted. A statement inside this one ends with
 * that, in versions too that have no function to ask. One thread reads: it is the one that SQLite
 * called.
 */
static int on_progress(void *user, const char *phase, uint64_t done, uint64_t total)
{
    host *h = user;
    struct timespec time;
    (void)phase;
    (void)done;
    (void)total;
    clock_gettime(CLOCK_MONOTONIC, &time);
    long long now = (long long)time.tv_sec * SECOND + time.tv_nsec;
    if (now - h->looked < LOOK)
        return 0;
    h->looked = now;
    return sqlite3_exec(h->db, "select 1", NULL, NULL, NULL) == SQLITE_INTERRUPT;
}

/* ---- damage ---- */

struct damage {
    lode_severity severity;
    char text[256];
};

/* Keeps the first finding of the highest severity. */
static int on_finding(void *user, const lode_finding *finding)
{
    struct damage *worst = user;
    if (finding->severity <= worst->severity)
        return 0;
    worst->severity = finding->severity;
    snprintf(worst->text, sizeof worst->text, "%s (%s: %s)", finding->rule, finding->file, finding->text);
    sql_clean_message(worst->text);
    return 0;
}

/* To the error log of SQLite: an extension has no other way to warn. */
static void log_findings(const sql_opened *source)
{
    struct damage worst = {.severity = LODE_NOTE};
    lode_check_options options = LODE_CHECK_OPTIONS_INIT;
    lode_check_result result = {0};
    lode_error error;
    options.level = LODE_CHECK_FULL;
    options.most_bytes = CHECKED;
    options.on_finding = on_finding;
    options.user = &worst;
    lode_status status = source->db ? lode_database_check(source->db, source->path, &options, &result, &error)
                                    : lode_check(source->path, &options, &result, &error);
    uint64_t count = result.errors + result.warnings;
    if (status == LODE_OK && count > 0)
        sqlite3_log(SQLITE_WARNING, "%s has findings (%llu), such as %s; 'lode check' lists them",
                    source->path, (unsigned long long)count, worst.text);
}

/* ---- stores ---- */

/* Rules for kinds of functions, from a file; NULL: none. */
static lode_status read_rules(lode_kind_rules **rules, const char *path, lode_error *error)
{
    if (!path)
        return LODE_OK;
    char *text = malloc(RULES + 1);
    if (!text)
        return LODE_ERR_MEMORY;
    FILE *file = fopen(path, "re");
    size_t size = file ? fread(text, 1, RULES + 1, file) : 0;
    lode_status status = LODE_ERR_IO;
    if (!file || ferror(file))
        snprintf(error->text, sizeof error->text, "%s: the rules cannot be read", path);
    else if (size > RULES)
        snprintf(error->text, sizeof error->text, "%s: larger than 1 MiB", path);
    else
        status = lode_kind_rules_parse(rules, text, size, error);
    if (file)
        (void)fclose(file);
    free(text);
    return status;
}

static sql_opened *open_source(host *h, const char *path, const char *kinds, lode_error *error)
{
    sql_opened *source = calloc(1, sizeof *source);
    lode_tables_options options = LODE_TABLES_OPTIONS_INIT;
    if (!source)
        return NULL;
    h->uses++;
    *source = (sql_opened){.uses = 1, .owns = 1, .path = strdup(path), .on_drop = drop_host, .user = h};
    options.path = source->path;
    options.on_progress = on_progress;
    options.progress_user = h;
    lode_status status = read_rules(&source->kinds, kinds, error);
    options.kinds = source->kinds;
    if (status == LODE_OK)
        status = lode_open(&source->db, &source->recording, NULL, path, NULL, error);
    if (source->recording)
        options.names = LODE_NAME_SIMPLE;
    else if (source->db)
        options.names = lode_database_usual_names(source->db);
    if (status == LODE_OK)
        status = lode_tables_open(&source->tables, source->db, source->recording, &options, error);
    if (status == LODE_OK) {
        log_findings(source);
        return source;
    }
    sql_opened_drop(source);
    return NULL;
}

static int add_tables(sqlite3 *db, sql_opened *source, const char *prefix, unsigned *count)
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

/* Another store of this prefix is forgotten; statements that run keep it. */
static int keep_store(host *h, const char *prefix, sql_opened *source)
{
    size_t i = 0;
    while (i < h->count && sqlite3_stricmp(h->stores[i].prefix, prefix) != 0)
        i++;
    if (i == STORES)
        return SQLITE_FULL;
    if (i == h->count) {
        h->stores[i].prefix = sqlite3_mprintf("%s", prefix);
        if (!h->stores[i].prefix)
            return SQLITE_NOMEM;
        h->count++;
    } else {
        sql_opened_drop(h->stores[i].source);
    }
    h->stores[i].source = source;
    source->uses++;
    return SQLITE_OK;
}

/* Returns the number of tables. */
static void call_open(sqlite3_context *context, int count, sqlite3_value **values)
{
    const char *path = (const char *)sqlite3_value_text(values[0]);
    const char *prefix = count > 1 ? (const char *)sqlite3_value_text(values[1]) : "";
    const char *kinds = count > 2 ? (const char *)sqlite3_value_text(values[2]) : NULL;
    lode_error error = {.text = "out of memory"};
    unsigned tables = 0;
    if (!path || !prefix || (count > 2 && !kinds)) {
        sqlite3_result_error(
            context, "lode_open takes a path and, if wanted, a prefix of names and a file of rules", -1);
        return;
    }
    host *h = sqlite3_user_data(context);
    sql_opened *source = open_source(h, path, kinds, &error);
    if (!source) {
        sql_clean_message(error.text);
        sqlite3_result_error(context, error.text, -1);
        return;
    }
    int code = add_tables(sqlite3_context_db_handle(context), source, prefix, &tables);
    if (code == SQLITE_OK)
        code = keep_store(h, prefix, source);
    if (code == SQLITE_OK)
        sqlite3_result_int(context, (int)tables);
    else
        sqlite3_result_error_code(context, code);
    sql_opened_drop(source);
}

/* path(CONTEXT_ID [, PREFIX]) */
static void call_path(sqlite3_context *context, int count, sqlite3_value **values)
{
    const host *h = sqlite3_user_data(context);
    const char *prefix = count > 1 ? (const char *)sqlite3_value_text(values[1]) : "";
    const lode_database *db = NULL;
    for (size_t i = 0; prefix && i < h->count; i++)
        if (sqlite3_stricmp(h->stores[i].prefix, prefix) == 0)
            db = h->stores[i].source->db;
    sql_result_path(context, db, values[0]);
}

/* The first one decides how long the host is there. */
static int add_functions(sqlite3 *db, host *h)
{
    int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
    int code = sqlite3_create_function_v2(db, "lode_open", 2, flags, h, call_open, NULL, NULL, close_host);
    for (int i = 1; i <= 3 && code == SQLITE_OK; i += 2)
        code = sqlite3_create_function_v2(db, "lode_open", i, flags, h, call_open, NULL, NULL, NULL);
    for (int i = 1; i <= 2 && code == SQLITE_OK; i++)
        code = sqlite3_create_function_v2(db, "path", i, SQLITE_UTF8 | SQLITE_INNOCUOUS, h, call_path, NULL,
                                          NULL, NULL);
    return code == SQLITE_OK ? sql_functions_add(db, 0) : code;
}

static int start(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    sqlite3_api = api;
    if (sqlite3_libversion_number() < OLDEST) {
        *message = sqlite3_mprintf("Lode needs SQLite 3.38 or newer, not %s", sqlite3_libversion());
        return SQLITE_ERROR;
    }
    /* It was loaded before: SQLite replaces no function while a statement runs. */
    if (sqlite3_exec(db, "select lode_open(null) where 0", NULL, NULL, NULL) == SQLITE_OK)
        return SQLITE_OK;
    host *h = calloc(1, sizeof *h);
    if (!h)
        return SQLITE_NOMEM;
    h->uses = 1;
    h->db = db;
    return add_functions(db, h);
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
