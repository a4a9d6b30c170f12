/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of what names code: modules, files and functions; and of the store. */
#include "table/fields.h"

#include "analysis/kinds/activity.h"
#include <stdlib.h>

/* ---- modules, files, functions ---- */

void lode_batch_module(struct lode_table_batch *batch, unsigned column, const lode_module *module)
{
    if (module)
        lode_batch_u32(batch, column, lode_module_index(module));
    else
        lode_batch_null(batch, column);
}

void lode_batch_file(const struct lode_tables *tables, struct lode_table_batch *batch, unsigned column,
                     const lode_file *file)
{
    if (file == NULL)
        lode_batch_null(batch, column);
    else
        lode_batch_u32(batch, column,
                       tables->db ? lode_file_index(file) : lode_interner_find(&tables->files, &file));
}

static const lode_field module_fields[] = {ID, TEXT("path"), TEXT("name")};

static lode_status module_row(struct lode_table_reader *reader, struct lode_table_batch *batch, uint32_t i,
                              lode_error *error)
{
    const struct lode_tables *tables = reader->tables;
    const lode_module *module =
        tables->db ? lode_database_module(tables->db, i) : lode_recording_module(tables->recording, i);
    const char *path = lode_module_path(module);
    lode_batch_u32(batch, 0, i);
    LODE_TRY(lode_batch_text(batch, 1, path ? path : "", error));
    return lode_batch_text(batch, 2, path ? lode_path_tail(path) : "", error);
}

ROWS_OF(module, reader->tables->db ? lode_database_module_count(reader->tables->db)
                                   : lode_recording_module_count(reader->tables->recording))
static const struct lode_table_def module_table = {TABLE("load modules: the binaries that ran", module),
                                                   BY_ID};

static const lode_field file_fields[] = {
    ID, TEXT("path"), TEXT("name"), {"copied", LODE_COLUMN_U8, LODE_FIELD_BOOLEAN, NULL}};

static const lode_file *file_at(const struct lode_tables *tables, uint32_t i)
{
    return tables->db ? lode_database_file(tables->db, i)
                      : *LODE_ARRAY_AT(&tables->files.items, const lode_file *, i);
}

static lode_status file_row(struct lode_table_reader *reader, struct lode_table_batch *batch, uint32_t i,
                            lode_error *error)
{
    const lode_file *file = file_at(reader->tables, i);
    const char *path = lode_file_path(file);
    lode_batch_u32(batch, 0, i);
    LODE_TRY(lode_batch_text(batch, 1, path ? path : "", error));
    LODE_TRY(lode_batch_text(batch, 2, path ? lode_path_tail(path) : "", error));
    lode_batch_boolean(batch, 3, lode_file_is_copied(file) != 0);
    return LODE_OK;
}

static lode_status open_file(struct lode_table_reader *reader, lode_error *error)
{
    struct lode_tables *tables = reader->tables;
    if (tables->recording)
        LODE_TRY(lode_tables_scan(tables, error));
    size_t count = tables->db ? lode_database_file_count(tables->db) : tables->files.items.count;
    return lode_table_choose_rows(reader, (uint32_t)count, error);
}

static lode_status next_file(struct lode_table_reader *reader, struct lode_table_batch *batch,
                             lode_error *error)
{
    return lode_table_next_rows(reader, batch, file_row, error);
}

static const struct lode_table_def file_table = {TABLE("source files", file), BY_ID};

static const lode_field function_fields[] = {ID,
                                             TEXT("name"),
                                             TEXT("short_name"),
                                             U32_OR_NULL("module_id", "module"),
                                             I64("address", LODE_FIELD_ADDRESS | LODE_FIELD_OPTIONAL),
                                             U32_OR_NULL("file_id", "file"),
                                             U32_OR_NULL("line", NULL),
                                             TEXT_OR_NULL("symbol"),
                                             TEXT("kind"),
                                             TEXT("activity"),
                                             TEXT("effect")};

static size_t full_label(const void *function, char *buffer, size_t capacity)
{
    return lode_function_label(function, buffer, capacity);
}

static size_t simple_label(const void *function, char *buffer, size_t capacity)
{
    return lode_function_label_as(function, LODE_NAME_SIMPLE, buffer, capacity);
}

static const lode_function *function_at(const struct lode_tables *tables, uint32_t i)
{
    return tables->db ? lode_database_function(tables->db, i)
                      : *LODE_ARRAY_AT(&tables->names.functions, const lode_function *, i);
}

static lode_status function_row(struct lode_table_reader *reader, struct lode_table_batch *batch, uint32_t i,
                                lode_error *error)
{
    const lode_function *function = function_at(reader->tables, i);
    const lode_module *module = lode_function_module(function);
    lode_batch_u32(batch, 0, i);
    LODE_TRY(lode_batch_label(batch, 1, full_label, function, error));
    LODE_TRY(lode_batch_label(batch, 2, simple_label, function, error));
    lode_batch_module(batch, 3, module);
    if (module)
        lode_batch_u64(batch, 4, lode_function_offset(function));
    else
        lode_batch_null(batch, 4);
    lode_batch_file(reader->tables, batch, 5, lode_function_file(function));
    lode_batch_known_u32(batch, 6, lode_function_line(function));
    LODE_TRY(lode_batch_text(batch, 7, lode_function_name(function), error));
    if (lode_batch_needs(batch, 8) || lode_batch_needs(batch, 9) || lode_batch_needs(batch, 10)) {
        struct lode_decision decision = lode_decide_call(reader->tables->options.kinds, function);
        lode_batch_fixed(batch, 8, lode_kind_name((int)lode_activity_kind((int)decision.activity)));
        lode_batch_fixed(batch, 9, lode_activity_name((int)decision.activity));
        lode_batch_fixed(batch, 10, lode_effect_name((int)decision.effect));
    }
    return LODE_OK;
}

static lode_status open_function(struct lode_table_reader *reader, lode_error *error)
{
    struct lode_tables *tables = reader->tables;
    if (tables->recording)
        LODE_TRY(lode_tables_scan(tables, error));
    size_t count = tables->db ? lode_database_function_count(tables->db) : tables->names.functions.count;
    return lode_table_choose_rows(reader, (uint32_t)count, error);
}

static lode_status next_function(struct lode_table_reader *reader, struct lode_table_batch *batch,
                                 lode_error *error)
{
    return lode_table_next_rows(reader, batch, function_row, error);
}

static const struct lode_table_def function_table = {TABLE("functions", function), BY_ID};

/* ---- the store ---- */

static const lode_field store_fields[] = {TEXT("kind"), TEXT("format"), TEXT_OR_NULL("title"),
                                          TEXT_OR_NULL("description"), TEXT_OR_NULL("path")};

static lode_status store_row(struct lode_table_reader *reader, struct lode_table_batch *batch, uint32_t i,
                             lode_error *error)
{
    const struct lode_tables *tables = reader->tables;
    const lode_database *db = tables->db;
    (void)i;
    lode_batch_fixed(batch, 0, db ? "database" : "recording");
    LODE_TRY(lode_batch_text(
        batch, 1, db ? lode_database_format(db) : lode_recording_format(tables->recording), error));
    const char *title = db ? lode_database_title(db) : "";
    const char *description = db ? lode_database_description(db) : "";
    LODE_TRY(lode_batch_text(batch, 2, title[0] ? title : NULL, error));
    LODE_TRY(lode_batch_text(batch, 3, description[0] ? description : NULL, error));
    return lode_batch_text(batch, 4, tables->options.path, error);
}

ROWS_OF(store, 1)
const struct lode_table_def lode_table_store = {TABLE("what this is", store), NO_ID};

const struct lode_table_def *const lode_database_tables[] = {
    &lode_table_store,      &module_table,      &file_table,           &function_table,
    &lode_table_context,    &lode_table_metric, &lode_table_statistic, &lode_table_profile,
    &lode_table_profile_id, &lode_table_value,  &lode_table_total,     &lode_table_sample};
const unsigned lode_database_table_count = COUNT(lode_database_tables);

/* Functions and files of a recording are known after the tables of events. */
const struct lode_table_def *const lode_recording_tables[] = {
    &lode_table_store,   &lode_table_fact, &module_table,        &lode_table_track,
    &lode_table_event,   &lode_table_call, &lode_table_argument, &lode_table_attribute,
    &lode_table_request, &file_table,      &function_table};
const unsigned lode_recording_table_count = COUNT(lode_recording_tables);
