/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON lines: an object for each row. Numbers that can exceed 2^53 are strings of digits, addresses
 * hexadecimal strings, NaN and infinity null: readers in JavaScript lose or refuse them otherwise.
 */
#include "export/formats.h"
#include "export/number.h"
#include "export/tables/table_files.h"
#include <math.h>
#include <string.h>

/* All text is valid UTF-8 without control characters. */
static lode_status put_text(struct lode_export_file *file, const char *text, lode_error *error)
{
    LODE_TRY(lode_export_write(file, "\"", 1, error));
    for (size_t length; text[length = strcspn(text, "\"\\")]; text += length + 1) {
        char escaped[2] = {'\\', text[length]};
        LODE_TRY(lode_export_write(file, text, length, error));
        LODE_TRY(lode_export_write(file, escaped, sizeof escaped, error));
    }
    LODE_TRY(lode_export_write(file, text, strlen(text), error));
    return lode_export_write(file, "\"", 1, error);
}

static lode_status put_number(struct lode_export_file *file, const lode_field *field,
                              const lode_column *column, uint64_t row, lode_error *error)
{
    char text[LODE_NUMBER_SIZE];
    if (field->flags & LODE_FIELD_BOOLEAN)
        return lode_export_print(file, error, "%s", ((const uint8_t *)column->data)[row] ? "true" : "false");
    if (field->type == LODE_COLUMN_U32)
        return lode_export_write(file, text, lode_number_u64(text, ((const uint32_t *)column->data)[row]),
                                 error);
    if (field->type == LODE_COLUMN_F64) {
        double number = ((const double *)column->data)[row];
        if (!isfinite(number))
            return lode_export_write(file, "null", 4, error);
        return lode_export_write(file, text, lode_number_f64(text, number), error);
    }
    uint64_t number = ((const uint64_t *)column->data)[row];
    bool is_address = (field->flags & LODE_FIELD_ADDRESS) != 0;
    bool is_text = is_address || (field->flags & LODE_FIELD_TIME);
    size_t length = is_address ? lode_number_hex(text, number) : lode_number_i64(text, (int64_t)number);
    if (is_text)
        LODE_TRY(lode_export_write(file, "\"", 1, error));
    LODE_TRY(lode_export_write(file, text, length, error));
    return is_text ? lode_export_write(file, "\"", 1, error) : LODE_OK;
}

static lode_status put_row(struct lode_table_job *table, const struct lode_table_batch *batch, uint64_t row,
                           lode_error *error)
{
    const struct lode_table_def *def = table->reader->def;
    struct lode_export_file *file = table->file;
    for (unsigned i = 0; i < def->info.field_count; i++) {
        const lode_column *column = &batch->columns[i];
        const char *name = def->info.fields[i].name;
        LODE_TRY(lode_export_write(file, i > 0 ? ",\"" : "{\"", 2, error));
        LODE_TRY(lode_export_write(file, name, strlen(name), error));
        LODE_TRY(lode_export_write(file, "\":", 2, error));
        if (lode_batch_is_null(batch, i, row))
            LODE_TRY(lode_export_write(file, "null", 4, error));
        else if (column->type == LODE_COLUMN_STRING)
            LODE_TRY(put_text(file, ((const char *const *)column->data)[row], error));
        else
            LODE_TRY(put_number(file, &def->info.fields[i], column, row, error));
    }
    return lode_export_write(file, "}\n", 2, error);
}

static lode_status write_jsonl(struct lode_table_job *table, lode_error *error)
{
    return lode_export_rows(table, put_row, error);
}

static lode_status run(struct lode_export *job, lode_error *error)
{
    return lode_export_tables(job, ".jsonl", job->compression, write_jsonl, error);
}

const struct lode_export_format lode_export_jsonl = {
    .name = "jsonl",
    .description = "JSON lines for jq, DuckDB, pandas: a file for each table",
    .suffix = ".jsonl",
    .names = "*.jsonl *.ndjson",
    .loses = "NaN and infinite values, which become null",
    .holds = LODE_EXPORT_TABLES,
    .usual = LODE_COMPRESSION_NONE,
    .compressions = 1u << LODE_COMPRESSION_GZIP | 1u << LODE_COMPRESSION_ZSTD,
    .is_directory = true,
    .one_table_is_a_file = true,
    .run = run,
};
