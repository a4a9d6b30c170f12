/* SPDX-License-Identifier: BSD-3-Clause */
/* CSV as RFC 4180 has it, but with line feeds: a file for each table. */
#include "export/formats.h"
#include "export/number.h"
#include "export/tables/table_files.h"
#include <string.h>

/* Text in quotes where commas, quotes or blanks at the ends need them. An empty one is no NULL. */
static lode_status put_text(struct lode_export_file *file, const char *text, lode_error *error)
{
    size_t length = strlen(text);
    bool is_plain =
        length > 0 && text[strcspn(text, ",\"")] == '\0' && text[0] != ' ' && text[length - 1] != ' ';
    if (is_plain)
        return lode_export_write(file, text, length, error);
    LODE_TRY(lode_export_write(file, "\"", 1, error));
    for (const char *quote; (quote = strchr(text, '"')) != NULL; text = quote + 1) {
        LODE_TRY(lode_export_write(file, text, (size_t)(quote - text), error));
        LODE_TRY(lode_export_write(file, "\"\"", 2, error));
    }
    LODE_TRY(lode_export_write(file, text, strlen(text), error));
    return lode_export_write(file, "\"", 1, error);
}

static size_t number_text(char text[LODE_NUMBER_SIZE], const lode_field *field, const lode_column *column,
                          uint64_t row)
{
    if (field->flags & LODE_FIELD_BOOLEAN) {
        bool is_true = ((const uint8_t *)column->data)[row] != 0;
        memcpy(text, is_true ? "true" : "false", is_true ? 4 : 5);
        return is_true ? 4 : 5;
    }
    if (field->type == LODE_COLUMN_U32)
        return lode_number_u64(text, ((const uint32_t *)column->data)[row]);
    if (field->type == LODE_COLUMN_F64)
        return lode_number_f64(text, ((const double *)column->data)[row]);
    uint64_t number = ((const uint64_t *)column->data)[row];
    return field->flags & LODE_FIELD_ADDRESS ? lode_number_hex(text, number)
                                             : lode_number_i64(text, (int64_t)number);
}

static lode_status put_row(struct lode_table_job *table, const struct lode_table_batch *batch, uint64_t row,
                           lode_error *error)
{
    const struct lode_table_def *def = table->reader->def;
    char number[LODE_NUMBER_SIZE];
    for (unsigned i = 0; i < def->info.field_count; i++) {
        const lode_column *column = &batch->columns[i];
        if (i > 0)
            LODE_TRY(lode_export_write(table->file, ",", 1, error));
        if (lode_batch_is_null(batch, i, row))
            continue;
        if (column->type == LODE_COLUMN_STRING)
            LODE_TRY(put_text(table->file, ((const char *const *)column->data)[row], error));
        else
            LODE_TRY(lode_export_write(table->file, number,
                                       number_text(number, &def->info.fields[i], column, row), error));
    }
    return lode_export_write(table->file, "\n", 1, error);
}

static lode_status write_csv(struct lode_table_job *table, lode_error *error)
{
    const struct lode_table_def *def = table->reader->def;
    for (unsigned i = 0; i < def->info.field_count; i++)
        LODE_TRY(lode_export_print(table->file, error, "%s%s", i > 0 ? "," : "", def->info.fields[i].name));
    LODE_TRY(lode_export_write(table->file, "\n", 1, error));
    return lode_export_rows(table, put_row, error);
}

static lode_status run(struct lode_export *job, lode_error *error)
{
    return lode_export_tables(job, ".csv", job->compression, write_csv, error);
}

const struct lode_export_format lode_export_csv = {
    .name = "csv",
    .description = "spreadsheets, pandas, DuckDB: a file for each table",
    .suffix = ".csv",
    .names = "*.csv",
    .loses = "types of columns; an empty text and none look alike to most readers",
    .holds = LODE_EXPORT_TABLES,
    .usual = LODE_COMPRESSION_NONE,
    .compressions = 1u << LODE_COMPRESSION_GZIP | 1u << LODE_COMPRESSION_ZSTD,
    .is_directory = true,
    .one_table_is_a_file = true,
    .run = run,
};
