/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An SQLite file with all tables. It is written without a journal to the staged file, which nobody
 * reads before it is complete. Values have the key (profile, context, metric), and its order.
 */
#include "export/formats.h"
#include "export/tables/table_files.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if LODE_HAS_SQLITE
#include <errno.h>
#include <lode/private/libraries.h>
#include <math.h>
#include <pthread.h>
#define sqlite3_api lode_export_sqlite_functions
#include <sqlite3ext.h>

enum {
    APPLICATION_ID = 0x4c6f6465, /* "Lode" */
    SCHEMA_VERSION = 1,          /* user_version */
    ROWS = 4096,                 /* of a batch */
    SQL_SIZE = 2048
};

struct sqlite {
    struct lode_export *job;
    sqlite3 *db;
    struct lode_tables tables;
    uint64_t nans; /* values that became NULL */
};

/* What queries seek by, besides keys. */
static const char *const indexes[] = {
    "create index context_by_parent on context (parent_id)",
    "create index context_by_function on context (function_id)",
    "create index sample_by_time on sample (profile_id, time_ns)",
    "create index event_by_time on event (track_id, time_ns)",
    "create index call_by_time on call (track_id, begin_ns)",
};

static const sqlite3_api_routines *sqlite3_api; /* loaded when a file is written */
static pthread_once_t load_once = PTHREAD_ONCE_INIT;

static void load(void)
{
    sqlite3_api = lode_library_sqlite();
}

/* ---- errors ---- */

/* What the system said, if it did. */
static int system_error(const struct sqlite *self)
{
    int code = sqlite3_errcode(self->db) & 0xff;
    if (code == SQLITE_FULL)
        return ENOSPC;
    if (code != SQLITE_IOERR && code != SQLITE_CANTOPEN)
        return 0;
    int found = sqlite3_system_errno(self->db);
    return found ? found : EIO;
}

static lode_status fail(const struct sqlite *self, const char *what, lode_error *error)
{
    if (self->db == NULL)
        return lode_fail_memory(error);
    errno = system_error(self);
    if (errno)
        return lode_fail_errno(error, NULL, "cannot write the SQLite file");
    int code = sqlite3_errcode(self->db) & 0xff;
    lode_status status = code == SQLITE_NOMEM        ? LODE_ERR_MEMORY
                         : code == SQLITE_CONSTRAINT ? LODE_ERR_CORRUPT
                                                     : LODE_ERR_IO;
    return lode_fail(error, status, NULL, LODE_NO_OFFSET, "%s: %s", what, sqlite3_errmsg(self->db));
}

static lode_status execute(const struct sqlite *self, const char *sql, lode_error *error)
{
    return sqlite3_exec(self->db, sql, NULL, NULL, NULL) == SQLITE_OK ? LODE_OK
                                                                      : fail(self, "SQLite file", error);
}

/* ---- schema ---- */

struct text {
    char bytes[SQL_SIZE];
    size_t length;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (text->length < sizeof text->bytes)
        text->length += (size_t)vsnprintf(text->bytes + text->length, sizeof text->bytes - text->length,
                                          format, arguments);
    va_end(arguments);
}

static unsigned key_count(const struct lode_table_def *def)
{
    unsigned count = 0;
    for (unsigned i = 0; i < def->info.field_count; i++)
        count += (def->info.fields[i].flags & LODE_FIELD_KEY) != 0;
    return count;
}

static lode_status create_table(const struct sqlite *self, const struct lode_table_def *def,
                                lode_error *error)
{
    struct text sql = {.length = 0};
    unsigned keys = key_count(def);
    add(&sql, "create table %s (", def->info.name);
    for (unsigned i = 0; i < def->info.field_count; i++) {
        const lode_field *field = &def->info.fields[i];
        add(&sql, "%s%s %s", i > 0 ? ", " : "", field->name,
            field->type == LODE_COLUMN_STRING ? "text"
            : field->type == LODE_COLUMN_F64  ? "real"
                                              : "integer");
        /* A value may be NaN, which SQLite stores as NULL. */
        if (!(field->flags & LODE_FIELD_OPTIONAL) && field->type != LODE_COLUMN_F64)
            add(&sql, " not null");
        if (keys == 1 && (field->flags & LODE_FIELD_KEY))
            add(&sql, " primary key");
        if (field->refers)
            add(&sql, " references %s (id)", field->refers);
    }
    for (unsigned i = 0, first = 1; keys > 1 && i < def->info.field_count; i++) {
        if (!(def->info.fields[i].flags & LODE_FIELD_KEY))
            continue;
        add(&sql, first ? ", primary key (%s" : ", %s", def->info.fields[i].name);
        first = 0;
    }
    add(&sql, keys > 1 ? ")) without rowid" : ")");
    return execute(self, sql.bytes, error);
}

static sqlite3_stmt *prepare_insert(const struct sqlite *self, const struct lode_table_def *def)
{
    struct text sql = {.length = 0};
    sqlite3_stmt *statement = NULL;
    add(&sql, "insert into %s values (", def->info.name);
    for (unsigned i = 0; i < def->info.field_count; i++)
        add(&sql, i > 0 ? ", ?" : "?");
    add(&sql, ")");
    if (sqlite3_prepare_v2(self->db, sql.bytes, -1, &statement, NULL) != SQLITE_OK)
        return NULL;
    return statement;
}

/* ---- rows ---- */

static int bind(struct sqlite *self, sqlite3_stmt *statement, const struct lode_table_batch *batch,
                unsigned column, uint64_t row)
{
    const lode_column *from = &batch->columns[column];
    int at = (int)column + 1;
    if (lode_batch_is_null(batch, column, row))
        return sqlite3_bind_null(statement, at);
    if (from->type == LODE_COLUMN_STRING)
        return sqlite3_bind_text(statement, at, ((const char *const *)from->data)[row], -1, SQLITE_STATIC);
    if (from->type == LODE_COLUMN_F64) {
        double value = ((const double *)from->data)[row];
        self->nans += isnan(value) != 0;
        return sqlite3_bind_double(statement, at, value);
    }
    if (from->type == LODE_COLUMN_U8)
        return sqlite3_bind_int64(statement, at, ((const uint8_t *)from->data)[row]);
    if (from->type == LODE_COLUMN_U32)
        return sqlite3_bind_int64(statement, at, ((const uint32_t *)from->data)[row]);
    return sqlite3_bind_int64(statement, at, (sqlite3_int64)((const uint64_t *)from->data)[row]);
}

static lode_status insert_rows(struct sqlite *self, sqlite3_stmt *statement,
                               const struct lode_table_batch *batch, const char *name, lode_error *error)
{
    for (uint64_t row = 0; row < batch->rows; row++) {
        int code = SQLITE_OK;
        for (unsigned i = 0; i < batch->column_count && code == SQLITE_OK; i++)
            code = bind(self, statement, batch, i, row);
        if (code != SQLITE_OK || sqlite3_step(statement) != SQLITE_DONE)
            return fail(self, name, error);
        sqlite3_reset(statement);
    }
    return LODE_OK;
}

static lode_status fill_table(struct sqlite *self, const struct lode_table_def *def, sqlite3_stmt *statement,
                              lode_error *error)
{
    struct lode_table_reader reader;
    struct lode_table_job table;
    struct lode_table_batch batch;
    lode_status status = lode_table_batch_init(&batch, def, ROWS, error);
    lode_status opened = lode_export_begin_table(&table, self->job, &reader, &self->tables, def, error);
    status = status == LODE_OK ? opened : status;
    while (status == LODE_OK) {
        status = lode_table_reader_next(&reader, &batch, error);
        if (status == LODE_OK)
            status = insert_rows(self, statement, &batch, def->info.name, error);
        if (status == LODE_OK)
            status = lode_export_advance(&table, reader.done, error);
    }
    lode_table_reader_close(&reader);
    uint64_t cut = batch.cut;
    lode_table_batch_free(&batch);
    if (status == LODE_END && cut > 0)
        return lode_export_lost(self->job, "text-cut", error, "%s: %llu strings were cut after 1 MiB",
                                def->info.name, (unsigned long long)cut);
    return status == LODE_END ? LODE_OK : status;
}

static lode_status write_table(struct sqlite *self, const struct lode_table_def *def, lode_error *error)
{
    LODE_TRY(create_table(self, def, error));
    sqlite3_stmt *statement = prepare_insert(self, def);
    if (statement == NULL)
        return fail(self, def->info.name, error);
    lode_status status = fill_table(self, def, statement, error);
    sqlite3_finalize(statement);
    return status;
}

/* ---- the file ---- */

static lode_status write_indexes(const struct sqlite *self, lode_error *error)
{
    for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++) {
        const char *on = strstr(indexes[i], " on ") + 4;
        for (unsigned k = 0; k < self->tables.count; k++) {
            size_t length = strlen(self->tables.defs[k]->info.name);
            if (strncmp(on, self->tables.defs[k]->info.name, length) == 0 && on[length] == ' ')
                LODE_TRY(execute(self, indexes[i], error));
        }
    }
    return LODE_OK;
}

static lode_status write_all(struct sqlite *self, lode_error *error)
{
    LODE_TRY(lode_export_open_tables(self->job, &self->tables, LODE_TABLE_BY_PROFILE, error));
    LODE_TRY(execute(self,
                     "pragma page_size = 65536; pragma journal_mode = off; pragma synchronous = off;"
                     "pragma locking_mode = exclusive; pragma temp_store = memory; begin",
                     error));
    for (unsigned i = 0; i < self->tables.count; i++)
        LODE_TRY(write_table(self, self->tables.defs[i], error));
    LODE_TRY(write_indexes(self, error));
    char sql[128];
    snprintf(sql, sizeof sql, "pragma application_id = %d; pragma user_version = %d; commit", APPLICATION_ID,
             SCHEMA_VERSION);
    LODE_TRY(execute(self, sql, error));
    if (self->nans == 0)
        return LODE_OK;
    return lode_export_lost(self->job, "nan", error, "%llu values are not a number, and NULL in the file",
                            (unsigned long long)self->nans);
}

static lode_status run(struct lode_export *job, lode_error *error)
{
    struct sqlite self = {.job = job};
    (void)pthread_once(&load_once, load);
    if (sqlite3_api == NULL)
        return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET,
                         "cannot load SQLite (libsqlite3.so.0)");
    char *path = lode_output_file_path(job->output, "");
    LODE_TRY_ALLOC(path, error);
    errno = 0;
    int code = sqlite3_open_v2(path, &self.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    free(path);
    lode_status status;
    /* It opens for reading what it cannot open for writing. */
    if (code == SQLITE_OK && sqlite3_db_readonly(self.db, "main") == 1)
        status = lode_fail_errno(error, NULL, "cannot open the SQLite file for writing");
    else
        status = code == SQLITE_OK ? write_all(&self, error) : fail(&self, "SQLite file", error);
    if (sqlite3_close(self.db) != SQLITE_OK && status == LODE_OK)
        status = fail(&self, "SQLite file", error);
    lode_tables_end(&self.tables);
    return status;
}

static bool is_built(void)
{
    return true;
}
#else
static lode_status run(struct lode_export *job, lode_error *error)
{
    (void)job;
    return lode_fail(error, LODE_ERR_UNSUPPORTED, NULL, LODE_NO_OFFSET, "this library has no SQLite");
}

static bool is_built(void)
{
    return false;
}
#endif

const struct lode_export_format lode_export_sqlite = {
    .name = "sqlite",
    .description = "sqlite3 and everything that speaks SQL: one file with all tables",
    .suffix = ".sqlite",
    .names = "*.sqlite *.sqlite3 *.db",
    .loses = "NaN, which becomes NULL",
    .holds = LODE_EXPORT_TABLES,
    .usual = LODE_COMPRESSION_NONE,
    .needs_path = true,
    .is_available = is_built,
    .needs = "libsqlite3: install libsqlite3-dev and build Lode with -Dsqlite=enabled",
    .run = run,
};
