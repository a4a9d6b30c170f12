/* SPDX-License-Identifier: BSD-3-Clause */
#include "runs/sqlite/database.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <lode/private/libraries.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define APPLICATION_ID 0x4c6f6465 /* "Lode" */
#define SCHEMA_VERSION 1

#define BUSY_MILLISECONDS 60000
/* Pages can refer to one page many times, so that a small file has endless rows. */
#define STEPS_PER_CALL 10000
#define STEPS_MIN      50000000
#define STEPS_PER_BYTE 20

/* As SQLite stores it, so that another schema is recognised. */
static const struct schema_part {
    const char *name, *sql;
} schema[] = {
    {"metric", "CREATE TABLE metric(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)"},
    {"key", "CREATE TABLE key(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, module TEXT NOT NULL, "
            "file TEXT NOT NULL)"},
    {"run",
     "CREATE TABLE run(id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL, format TEXT NOT NULL, "
     "begun INTEGER NOT NULL, added INTEGER NOT NULL, modified INTEGER NOT NULL, "
     "bytes INTEGER NOT NULL, profiles INTEGER NOT NULL, metric INTEGER REFERENCES metric(id))"},
    {"run_begun", "CREATE INDEX run_begun ON run(begun)"},
    {"run_path", "CREATE INDEX run_path ON run(path)"},
    {"label", "CREATE TABLE label(run INTEGER NOT NULL REFERENCES run(id), name TEXT NOT NULL, "
              "value TEXT NOT NULL, PRIMARY KEY(run, name)) WITHOUT ROWID"},
    {"label_value", "CREATE INDEX label_value ON label(name, value, run)"},
    {"total", "CREATE TABLE total(metric INTEGER NOT NULL REFERENCES metric(id), "
              "run INTEGER NOT NULL REFERENCES run(id), value REAL NOT NULL, "
              "PRIMARY KEY(metric, run)) WITHOUT ROWID"},
    {"cost", "CREATE TABLE cost(key INTEGER NOT NULL REFERENCES key(id), "
             "metric INTEGER NOT NULL REFERENCES metric(id), run INTEGER NOT NULL REFERENCES run(id), "
             "exclusive REAL NOT NULL, inclusive REAL NOT NULL, min REAL, max REAL, "
             "PRIMARY KEY(key, metric, run)) WITHOUT ROWID"},
    {"cost_run", "CREATE INDEX cost_run ON cost(run, metric)"},
};
#define SCHEMA_COUNT (sizeof schema / sizeof *schema)

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

static const char *library(void)
{
    return load() ? sqlite3_libversion() : "not found";
}

database *database_of(catalogue *c)
{
    return (database *)c;
}

/* ---- errors ---- */

int database_fail(const database *c, catalogue_error *error)
{
    int code = sqlite3_errcode(c->db) & 0xff;
    const char *said = sqlite3_errmsg(c->db);
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        said = "another process has been writing for too long; try again";
    else if (code == SQLITE_NOTADB)
        said = "not a catalogue of runs";
    else if (code == SQLITE_INTERRUPT)
        said = "damaged: it has more rows than its size allows";
    snprintf(error->text, sizeof error->text, "%s: %s%s", c->base.name,
             code == SQLITE_CORRUPT ? "damaged: " : "", said);
    return -1;
}

static int fail_with(const char *path, catalogue_error *error, const char *said)
{
    snprintf(error->text, sizeof error->text, "%s: %s", path, said);
    return -1;
}

/* ---- statements ---- */

sqlite3_stmt *database_prepare(database *c, const char *sql, catalogue_error *error)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(c->db, sql, -1, &statement, NULL) != SQLITE_OK) {
        database_fail(c, error);
        return NULL;
    }
    return statement;
}

int database_step(database *c, sqlite3_stmt *statement, catalogue_error *error)
{
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        return 1;
    return code == SQLITE_DONE ? 0 : database_fail(c, error);
}

int database_run(database *c, const char *sql, catalogue_error *error)
{
    return sqlite3_exec(c->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : database_fail(c, error);
}

int database_integer(database *c, const char *sql, int64_t otherwise, int64_t *out, catalogue_error *error)
{
    sqlite3_stmt *statement = database_prepare(c, sql, error);
    int found = statement ? database_step(c, statement, error) : -1;
    *out = found == 1 ? sqlite3_column_int64(statement, 0) : otherwise;
    sqlite3_finalize(statement);
    return found < 0 ? -1 : 0;
}

const char *database_text(sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement, column);
    return text ? (const char *)text : "";
}

uint64_t database_unsigned(sqlite3_stmt *statement, int column)
{
    int64_t value = sqlite3_column_int64(statement, column);
    return value < 0 ? 0 : (uint64_t)value;
}

static int count_steps(void *user)
{
    database *c = user;
    c->steps += STEPS_PER_CALL;
    return c->steps > c->most_steps;
}

/* ---- the file ---- */

static const char no_catalogue[] = "there is no catalogue; 'lode runs add' creates it";

/*
 * The path without links in its directories: these are the user's, but a link in place of the file
 * can be somebody else's. NULL after an error.
 */
static char *settle_path(const char *path, catalogue_mode mode, catalogue_error *error)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *real = folder ? realpath(folder, NULL) : NULL;
    char *result = NULL;
    if (!real)
        fail_with(path, error, errno == ENOENT && mode != CATALOGUE_WRITE ? no_catalogue : strerror(errno));
    else if (asprintf(&result, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name) < 0)
        result = NULL;
    free(real);
    free(folder);
    return result;
}

/* Whether there is a plain file; a new one is for its owner alone. */
static int find_file(const char *real, const char *path, catalogue_mode mode, uint64_t *size,
                     catalogue_error *error)
{
    struct stat status;
    if (mode == CATALOGUE_WRITE) {
        int fd = open(real, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST)
            return fail_with(path, error, strerror(errno));
        /* Before SQLite opens it: closing a file gives up the locks that a process has on it. */
        if (fd >= 0)
            close(fd);
    }
    if (lstat(real, &status) != 0)
        return fail_with(path, error, errno == ENOENT ? no_catalogue : strerror(errno));
    if (S_ISLNK(status.st_mode))
        return fail_with(path, error, "a symbolic link; give the path of the file itself");
    if (!S_ISREG(status.st_mode))
        return fail_with(path, error, "not a file, so no catalogue of runs");
    const char *problem = catalogue_journal_problem(real, status.st_uid);
    if (problem)
        return fail_with(path, error, problem);
    *size = (uint64_t)status.st_size;
    return 0;
}

/* A schema is data of the file: no trigger, view or function of it runs. */
static int open_defensively(database *c, const char *real, catalogue_error *error)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_PRIVATECACHE;
#ifdef SQLITE_OPEN_NOFOLLOW
    flags |= SQLITE_OPEN_NOFOLLOW;
#endif
    c->files = catalogue_files_open(real);
    if (!c->files)
        return fail_with(c->base.name, error, "out of memory");
    /* Readers open it for writing, too, if they can, to undo what a killed writer left. */
    if (sqlite3_open_v2(real, &c->db, flags, catalogue_files_name(c->files)) != SQLITE_OK)
        return c->db ? database_fail(c, error) : fail_with(c->base.name, error, "out of memory");
    sqlite3_extended_result_codes(c->db, 1);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
#ifdef SQLITE_DBCONFIG_ENABLE_VIEW
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
#endif
#ifdef SQLITE_DBCONFIG_TRUSTED_SCHEMA
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
#endif
    sqlite3_limit(c->db, SQLITE_LIMIT_LENGTH, 1 << 20);
    sqlite3_limit(c->db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_busy_timeout(c->db, BUSY_MILLISECONDS);
    sqlite3_progress_handler(c->db, STEPS_PER_CALL, count_steps, c);
    return 0;
}

/* ---- the schema ---- */

static int create_schema(database *c, catalogue_error *error)
{
    char sql[128];
    for (size_t i = 0; i < SCHEMA_COUNT; i++)
        if (database_run(c, schema[i].sql, error) != 0)
            return -1;
    snprintf(sql, sizeof sql, "PRAGMA application_id = %d", APPLICATION_ID);
    if (database_run(c, sql, error) != 0)
        return -1;
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", SCHEMA_VERSION);
    return database_run(c, sql, error);
}

/* Another process may create it at the same time. */
static int create_if_empty(database *c, catalogue_error *error)
{
    int64_t parts = 0;
    if (database_run(c, "BEGIN IMMEDIATE", error) != 0)
        return -1;
    int status = database_integer(c, "SELECT count(*) FROM sqlite_master", 0, &parts, error);
    if (status == 0 && parts == 0)
        status = create_schema(c, error);
    if (status == 0)
        status = database_run(c, "COMMIT", error);
    if (status != 0)
        sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* Whether a table or an index is as this version creates it. */
static int check_part(database *c, sqlite3_stmt *statement, const struct schema_part *part,
                      catalogue_error *error)
{
    sqlite3_reset(statement);
    sqlite3_bind_text(statement, 1, part->name, -1, SQLITE_STATIC);
    int found = database_step(c, statement, error);
    if (found < 0)
        return -1;
    if (found == 0 || strcmp(database_text(statement, 0), part->sql) != 0) {
        snprintf(error->text, sizeof error->text, "%s: damaged: '%s' is not as a catalogue has it",
                 c->base.name, part->name);
        return -1;
    }
    return 0;
}

/* Tables that somebody else added are not used. */
static int check_schema(database *c, catalogue_error *error)
{
    int64_t application = 0, version = 0;
    if (database_integer(c, "PRAGMA application_id", 0, &application, error) != 0 ||
        database_integer(c, "PRAGMA user_version", 0, &version, error) != 0)
        return -1;
    if (application != APPLICATION_ID)
        return fail_with(c->base.name, error, "not a catalogue of runs");
    if (version != SCHEMA_VERSION)
        return fail_with(c->base.name, error, "a catalogue of another version of lode");
    sqlite3_stmt *statement = database_prepare(c, "SELECT sql FROM sqlite_master WHERE name = ?1", error);
    int status = statement ? 0 : -1;
    for (size_t i = 0; i < SCHEMA_COUNT && status == 0; i++)
        status = check_part(c, statement, &schema[i], error);
    sqlite3_finalize(statement);
    return status;
}

/*
 * A rollback journal, not a write-ahead log: the latter needs memory that processes share, which
 * those on several machines with one file system do not have. A commit is on disk when it returns.
 */
static const char *const settings[] = {"PRAGMA temp_store = MEMORY", "PRAGMA cell_size_check = ON",
                                       "PRAGMA cache_size = -16384"};
static const char *const write_settings[] = {"PRAGMA journal_mode = DELETE", "PRAGMA synchronous = EXTRA"};

static int apply(database *c, const char *const *list, size_t count, catalogue_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (database_run(c, list[i], error) != 0)
            return -1;
    return 0;
}

static int begin(database *c, catalogue_mode mode, uint64_t size, catalogue_error *error)
{
    if (mode == CATALOGUE_READ && size == 0)
        return fail_with(c->base.name, error, "an empty file; 'lode runs add' makes it a catalogue");
    if (apply(c, settings, sizeof settings / sizeof *settings, error) != 0)
        return -1;
    if (mode == CATALOGUE_READ && database_run(c, "PRAGMA query_only = ON", error) != 0)
        return -1;
    if (mode == CATALOGUE_WRITE) {
        if (apply(c, write_settings, sizeof write_settings / sizeof *write_settings, error) != 0 ||
            (size == 0 && create_if_empty(c, error) != 0))
            return -1;
    }
    return check_schema(c, error);
}

static const catalogue_backend backend;

static void close_file(catalogue *of)
{
    database *c = database_of(of);
    sqlite3_close(c->db);
    catalogue_files_close(c->files);
    free(c->base.name);
    free(c);
}

static int open_file(catalogue **out, const catalogue_place *place, catalogue_error *error)
{
    uint64_t size = 0;
    const char *path = place->address;
    if (!load())
        return fail_with(path, error, "cannot load SQLite (libsqlite3.so.0)");
    char *real = settle_path(path, place->mode, error);
    database *c = calloc(1, sizeof *c);
    int status = real && c && (c->base.name = strdup(path)) ? 0 : -1;
    if (status != 0 && real)
        fail_with(path, error, "out of memory");
    if (c)
        c->base.backend = &backend;
    if (status == 0)
        status = find_file(real, path, place->mode, &size, error);
    if (status == 0) {
        c->most_steps = STEPS_MIN + size * STEPS_PER_BYTE;
        status = open_defensively(c, real, error);
    }
    if (status == 0)
        status = begin(c, place->mode, size, error);
    free(real);
    if (status != 0 && c)
        close_file(&c->base);
    else if (c)
        *out = &c->base;
    return status;
}

static const catalogue_backend backend = {
    .version = CATALOGUE_BACKEND_VERSION,
    .library = library,
    .open = open_file,
    .close = close_file,
    .add = database_add,
    .read = database_read,
    .retain = database_retain,
    .status = database_status,
    .remove = database_remove,
    .list = database_list,
    .count = database_count,
    .metrics = database_metrics,
    .functions = database_functions,
    .find_function = database_find_function,
    .series = database_series,
    .run_functions = database_run_functions,
    .runs = database_runs,
    .values = database_values,
};

const catalogue_backend *const catalogue_sqlite = &backend;
