/* SPDX-License-Identifier: BSD-3-Clause */
/* One module for all tables: SQLite plans, filters and reads through the scans of the library. */
#include "sql/cursor.h"
#include "sql/opened.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sql_vtab {
    sqlite3_vtab base;
    const sql_table *table;
} sql_vtab;

void sql_vtab_fail(sqlite3_vtab *vtab, const lode_error *error)
{
    sqlite3_free(vtab->zErrMsg);
    vtab->zErrMsg = sqlite3_mprintf("%s%s%s", error->file, error->file[0] ? ": " : "", error->text);
    if (vtab->zErrMsg)
        sql_clean_message(vtab->zErrMsg);
}

int sql_code_of(lode_status status)
{
    switch (status) {
    case LODE_OK:
    case LODE_END:
        return SQLITE_OK;
    case LODE_ERR_MEMORY:
        return SQLITE_NOMEM;
    case LODE_ERR_CANCELLED:
        return SQLITE_INTERRUPT;
    case LODE_ERR_CORRUPT:
        return SQLITE_CORRUPT;
    case LODE_NOT_FOUND:
    case LODE_ABSENT:
    case LODE_ERR_ARGUMENT:
    case LODE_ERR_IO:
    case LODE_ERR_UNSUPPORTED:
    case LODE_ERR_LIMIT:
        break;
    }
    return SQLITE_ERROR;
}

/* ---- tables ---- */

static const char *type_of(const lode_field *field)
{
    return field->type == LODE_COLUMN_STRING ? "text" : field->type == LODE_COLUMN_F64 ? "real" : "integer";
}

/* Names of the library are plain words; quotes keep words of SQL among them. */
static char *declaration_of(const lode_table_info *info)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "create table \"%w\" (", info->name);
    for (unsigned i = 0; i < info->field_count; i++)
        sqlite3_str_appendf(sql, "%s\"%w\" %s%s", i ? ", " : "", info->fields[i].name,
                            type_of(&info->fields[i]),
                            info->fields[i].flags & LODE_FIELD_ARGUMENT ? " hidden" : "");
    sqlite3_str_appendf(sql, ")");
    return sqlite3_str_finish(sql);
}

static int vtab_connect(sqlite3 *db, void *user, int count, const char *const *arguments, sqlite3_vtab **out,
                        char **error)
{
    (void)count;
    (void)arguments;
    (void)error;
    const sql_table *table = user;
    char *sql = declaration_of(table->info);
    sql_vtab *vtab = sqlite3_malloc(sizeof *vtab);
    int code = sql && vtab ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;
    sqlite3_free(sql);
    if (code != SQLITE_OK) {
        sqlite3_free(vtab);
        return code;
    }
    /* It reads a store that somebody opened, whatever a view or a trigger says. */
    sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    *vtab = (sql_vtab){.table = table};
    *out = &vtab->base;
    return SQLITE_OK;
}

static int vtab_disconnect(sqlite3_vtab *vtab)
{
    sqlite3_free(vtab);
    return SQLITE_OK;
}

static int vtab_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    return sql_plan_choose(vtab, ((sql_vtab *)vtab)->table, info);
}

/* ---- cursors ---- */

static int cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
    sql_cursor *cursor = sqlite3_malloc(sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor);
    cursor->table = ((sql_vtab *)vtab)->table;
    *out = &cursor->base;
    return SQLITE_OK;
}

static void cursor_reset(sql_cursor *cursor)
{
    lode_scan_close(cursor->scan);
    cursor->scan = NULL;
    cursor->batch = NULL;
    cursor->row = 0;
    sql_filters_free(cursor);
}

static int cursor_close(sqlite3_vtab_cursor *base)
{
    cursor_reset((sql_cursor *)base);
    sqlite3_free(base);
    return SQLITE_OK;
}

static int cursor_fail(sql_cursor *cursor, const lode_error *error)
{
    cursor->batch = NULL;
    /* SQLite has words of its own for an interrupt. */
    if (error->status != LODE_ERR_CANCELLED)
        sql_vtab_fail(cursor->base.pVtab, error);
    return sql_code_of(error->status);
}

/* Batches may be empty where filters leave nothing of a part. */
static int read_batch(sql_cursor *cursor)
{
    lode_error error = {0};
    lode_status status;
    cursor->row = 0;
    do
        status = lode_scan_next(cursor->scan, &cursor->batch, &error);
    while (status == LODE_OK && cursor->batch->rows == 0);
    if (status == LODE_END)
        cursor->batch = NULL;
    return status < 0 || status > LODE_END ? cursor_fail(cursor, &error) : SQLITE_OK;
}

static int cursor_filter(sqlite3_vtab_cursor *base, int batch, const char *plan, int count,
                         sqlite3_value **values)
{
    sql_cursor *cursor = (sql_cursor *)base;
    lode_error error = {0};
    cursor_reset(cursor);
    int code = sql_filters_read(cursor, plan, batch, count, values);
    if (code != SQLITE_OK || cursor->is_empty)
        return code;
    lode_status status = lode_scan_open(&cursor->scan, cursor->table->source->tables, cursor->table->info,
                                        &cursor->options, &error);
    return status == LODE_OK ? read_batch(cursor) : cursor_fail(cursor, &error);
}

static int cursor_next(sqlite3_vtab_cursor *base)
{
    sql_cursor *cursor = (sql_cursor *)base;
    return ++cursor->row < cursor->batch->rows ? SQLITE_OK : read_batch(cursor);
}

static int cursor_eof(sqlite3_vtab_cursor *base)
{
    return ((sql_cursor *)base)->batch == NULL;
}

static uint64_t mix(uint64_t hash, const char *bytes, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
    return hash ^ hash >> 29;
}

/* The bytes of a cell; none of one that is NULL, which differs from 0 and from an empty text. */
static uint64_t mix_cell(uint64_t hash, const lode_batch *batch, unsigned number, uint64_t row)
{
    const lode_column *column = &batch->columns[number];
    const char *at = (const char *)column->data + row * column->stride, *text = at;
    uint64_t size = column->stride;
    if (batch->valid[number] && !batch->valid[number][row])
        return hash;
    if (column->type == LODE_COLUMN_STRING) {
        memcpy(&text, at, sizeof text);
        size = text ? strlen(text) + 1 : 0;
    }
    return mix(hash, text, size);
}

/*
 * Where a condition has OR, SQLite runs a scan for each part, and leaves out rows whose number it
 * has seen in an earlier part. So the number depends on the row alone, not on its place in a scan.
 * Rows that are equal have the same one: they meet the same parts, and the first of these shows all
 * of them.
 */
static int cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    const sql_cursor *cursor = (const sql_cursor *)base;
    uint64_t identity = sql_identity_of(cursor->table->info), hash = UINT64_C(14695981039346656037);
    for (unsigned i = 0; i < cursor->batch->column_count && i < 64; i++)
        if ((identity >> i & 1) && cursor->batch->columns[i].data)
            hash = mix_cell(hash + i, cursor->batch, i, cursor->row);
    *out = (sqlite3_int64)hash;
    return SQLITE_OK;
}

/* ---- cells ---- */

/* What was given; an argument that was not is NULL. */
static void result_argument(const sql_cursor *cursor, unsigned column, sqlite3_context *context)
{
    for (size_t i = 0; i < cursor->filter_count; i++) {
        const lode_scan_filter *filter = &cursor->filters[i];
        const sql_operand *operand = &cursor->operands[i];
        if (filter->column != column)
            continue;
        if (filter->strings)
            sqlite3_result_text(context, operand->text, -1, SQLITE_TRANSIENT);
        else if (filter->reals)
            sqlite3_result_double(context, operand->real);
        else
            sqlite3_result_int64(context, (sqlite3_int64)operand->number);
    }
}

/* Elements may be unaligned. */
static void result_number(sqlite3_context *context, lode_column_type type, const char *at)
{
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    double real;
    switch (type) {
    case LODE_COLUMN_U8:
        sqlite3_result_int(context, *(const uint8_t *)at);
        break;
    case LODE_COLUMN_U16:
        memcpy(&u16, at, sizeof u16);
        sqlite3_result_int(context, u16);
        break;
    case LODE_COLUMN_U32:
        memcpy(&u32, at, sizeof u32);
        sqlite3_result_int64(context, u32);
        break;
    case LODE_COLUMN_U64:
        memcpy(&u64, at, sizeof u64);
        sqlite3_result_int64(context, (sqlite3_int64)u64);
        break;
    case LODE_COLUMN_F64:
        memcpy(&real, at, sizeof real);
        sqlite3_result_double(context, real);
        break;
    case LODE_COLUMN_STRING:
        break;
    }
}

/* Text of the store stays; other text is gone with its batch, and SQLite may hold it longer. */
static void result_text(sqlite3_context *context, const lode_column *column, const char *at)
{
    const char *text;
    memcpy(&text, at, sizeof text);
    if (text)
        sqlite3_result_text(context, text, -1,
                            column->owner == LODE_OWNER_TABLE ? SQLITE_TRANSIENT : SQLITE_STATIC);
}

static int cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
    const sql_cursor *cursor = (const sql_cursor *)base;
    const lode_column *column = &cursor->batch->columns[number];
    const uint8_t *valid = cursor->batch->valid[number];
    if (cursor->table->info->fields[number].flags & LODE_FIELD_ARGUMENT) {
        result_argument(cursor, (unsigned)number, context);
        return SQLITE_OK;
    }
    if (!column->data || (valid && !valid[cursor->row]))
        return SQLITE_OK;
    const char *at = (const char *)column->data + cursor->row * column->stride;
    if (column->type == LODE_COLUMN_STRING)
        result_text(context, column, at);
    else
        result_number(context, column->type, at);
    return SQLITE_OK;
}

/* ---- registration ---- */

/* Tables of a module without xCreate are there without CREATE VIRTUAL TABLE. */
#define MODULE(create)                                                                                       \
    {                                                                                                        \
        .iVersion = 1, .xCreate = (create), .xConnect = vtab_connect, .xBestIndex = vtab_best_index,         \
        .xDisconnect = vtab_disconnect, .xDestroy = vtab_disconnect, .xOpen = cursor_open,                   \
        .xClose = cursor_close, .xFilter = cursor_filter, .xNext = cursor_next, .xEof = cursor_eof,          \
        .xColumn = cursor_column, .xRowid = cursor_rowid                                                     \
    }

static const sqlite3_module eponymous = MODULE(NULL), created = MODULE(vtab_connect);

void sql_opened_drop(sql_opened *source)
{
    if (!source || --source->uses > 0)
        return;
    lode_tables_close(source->tables);
    if (source->owns) {
        lode_database_close(source->db);
        lode_recording_close(source->recording);
    }
    if (source->on_drop)
        source->on_drop(source->user);
    lode_kind_rules_free(source->kinds);
    free(source->path);
    free(source);
}

static void forget(void *user)
{
    sql_table *table = user;
    sql_opened_drop(table->source);
    free(table);
}

int sql_module_add(sqlite3 *db, const char *name, sql_opened *source, const lode_table_info *info,
                   int is_eponymous)
{
    sql_table *table = malloc(sizeof *table);
    if (!table)
        return SQLITE_NOMEM;
    *table = (sql_table){source, info};
    source->uses++;
    /* SQLite forgets it if this fails. */
    return sqlite3_create_module_v2(db, name, is_eponymous ? &eponymous : &created, table, forget);
}
