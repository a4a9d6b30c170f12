/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: parquet_cases DIRECTORY FIRST COUNT
 * Writes tables of chance as Parquet files N.parquet, and their cells as N.jsonl: a line for each
 * row, an array of texts, null for NULL. Sizes are those around eights, pages and row groups.
 */
#include "export/parquet/parquet.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS = 6,
    TEXT_SIZE = 70000
};

/* How the cells of a column are drawn. */
struct shape {
    uint64_t seed;
    uint64_t distinct; /* values */
    uint64_t run;      /* equal cells in sequence, about */
    uint64_t nulls;    /* of 100 */
    uint64_t longest;  /* text */
};

static struct shape shapes[COLUMNS];
static lode_field fields[COLUMNS];
static char names[COLUMNS][16];
static uint64_t row_count;

static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t cell_seed(const struct shape *shape, uint64_t row)
{
    return mix(shape->seed + row / shape->run);
}

static bool is_null(unsigned column, uint64_t row)
{
    return (fields[column].flags & LODE_FIELD_OPTIONAL) &&
           mix(cell_seed(&shapes[column], row) + 1) % 100 < shapes[column].nulls;
}

static uint64_t number_at(unsigned column, uint64_t row)
{
    const struct shape *shape = &shapes[column];
    uint64_t which = cell_seed(shape, row) % shape->distinct;
    static const uint64_t edges[] = {0, 1, UINT32_MAX, UINT64_MAX, UINT64_C(1) << 63, INT64_MAX, 1u << 31};
    return which < 7 && shape->seed % 2 ? edges[which] : mix(which + shape->seed);
}

static double real_at(unsigned column, uint64_t row)
{
    static const double edges[] = {0.0, -0.0, 1.5, (double)INFINITY, -(double)INFINITY, 1e-310, (double)NAN};
    uint64_t number = number_at(column, row), which = number % 50;
    /* NaN only in some columns. */
    return which < 6u + (shapes[column].seed % 3 == 0) ? edges[which] : (double)(int64_t)number / 1024;
}

static void text_at(unsigned column, uint64_t row, char *text)
{
    const struct shape *shape = &shapes[column];
    static const char *const parts[] = {"a", "Z", "\"", "\\", ",", " ", "\xc3\xa4", "\xe2\x82\xac"};
    uint64_t seed = cell_seed(shape, row) % shape->distinct + shape->seed;
    uint64_t parts_left = mix(seed) % (shape->longest / 3 + 1);
    text[0] = '\0';
    for (char *at = text; parts_left > 0; parts_left--, at += strlen(at))
        strcpy(at, parts[mix(seed + parts_left) % 8]);
}

static void put_cell(struct lode_table_batch *batch, unsigned column, uint64_t row)
{
    const lode_field *field = &fields[column];
    if (is_null(column, row)) {
        lode_batch_null(batch, column);
    } else if (field->type == LODE_COLUMN_STRING) {
        static char text[TEXT_SIZE];
        text_at(column, row, text);
        if (lode_batch_bytes(batch, column, text, strlen(text), NULL) != LODE_OK)
            exit(3);
    } else if (field->type == LODE_COLUMN_F64) {
        lode_batch_f64(batch, column, real_at(column, row));
    } else if (field->type == LODE_COLUMN_U8) {
        lode_batch_boolean(batch, column, number_at(column, row) & 1);
    } else if (field->type == LODE_COLUMN_U32) {
        lode_batch_u32(batch, column, (uint32_t)number_at(column, row));
    } else {
        lode_batch_u64(batch, column, number_at(column, row));
    }
}

static lode_status next_rows(struct lode_table_reader *reader, struct lode_table_batch *batch,
                             lode_error *error)
{
    (void)error;
    for (; reader->done < row_count; reader->done++, batch->rows++) {
        if (lode_batch_is_full(batch))
            return LODE_OK;
        for (unsigned i = 0; i < COLUMNS; i++)
            put_cell(batch, i, reader->done);
    }
    return LODE_END;
}

static const struct lode_table_def table = {.info = {"made", "", fields, COLUMNS, 0}, .next = next_rows};

static void print_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void print_cell(FILE *out, unsigned column, uint64_t row)
{
    const lode_field *field = &fields[column];
    static char text[TEXT_SIZE];
    if (is_null(column, row)) {
        fputs("null", out);
    } else if (field->type == LODE_COLUMN_STRING) {
        text_at(column, row, text);
        print_text(out, text);
    } else if (field->type == LODE_COLUMN_F64) {
        fprintf(out, "\"%.17g\"", real_at(column, row));
    } else if (field->type == LODE_COLUMN_U8) {
        fprintf(out, "\"%d\"", (int)(number_at(column, row) & 1));
    } else if (field->type == LODE_COLUMN_U32) {
        fprintf(out, "\"%" PRIu32 "\"", (uint32_t)number_at(column, row));
    } else {
        fprintf(out, "\"%" PRId64 "\"", (int64_t)number_at(column, row));
    }
}

static uint64_t seed;

static uint64_t draw(uint64_t below)
{
    seed = mix(seed + UINT64_C(0x9e3779b97f4a7c15));
    return seed % below;
}

static void draw_column(unsigned i)
{
    static const lode_column_type types[] = {LODE_COLUMN_U32, LODE_COLUMN_U64,    LODE_COLUMN_F64,
                                             LODE_COLUMN_U8,  LODE_COLUMN_STRING, LODE_COLUMN_U32};
    static const uint64_t distinct[] = {1, 2, 3, 7, 8, 255, 256, 257, 5000, 65535, 65537, UINT64_MAX};
    static const uint64_t runs[] = {1, 1, 1, 2, 7, 8, 9, 50, 100000};
    static const uint64_t nulls[] = {0, 0, 1, 50, 99, 100};
    static const uint64_t longest[] = {0, 3, 30, 300, 3000};
    lode_column_type type = i < 6 ? types[i] : LODE_COLUMN_U32;
    /* Reals and truths of tables are never NULL. */
    bool can_be_null = type != LODE_COLUMN_F64 && type != LODE_COLUMN_U8;
    unsigned flags = can_be_null && draw(2) ? LODE_FIELD_OPTIONAL : 0;
    flags |= type == LODE_COLUMN_U8 ? LODE_FIELD_BOOLEAN : type == LODE_COLUMN_U64 ? LODE_FIELD_SIGNED : 0;
    snprintf(names[i], sizeof names[i], "c%u", i);
    fields[i] = (lode_field){names[i], type, flags, NULL};
    shapes[i] = (struct shape){draw(UINT64_MAX), distinct[draw(12)], runs[draw(9)], nulls[draw(6)],
                               row_count < 5000 ? longest[draw(5)] : 30};
}

static lode_status put(void *user, const void *bytes, size_t size, lode_error *error)
{
    (void)error;
    return fwrite(bytes, 1, size, user) == size ? LODE_OK : LODE_ERR_IO;
}

/* Row groups of a few rows, of a page, and of several pages. */
static uint64_t draw_sizes(void)
{
    static const uint64_t groups[] = {1, 2, 7, 8, 9, 64, 1000};
    uint64_t group = groups[draw(7)];
    if (draw(8) == 0) {
        row_count = PARQUET_PAGE_ROWS + draw(3) - 1;
        return draw(2) ? PARQUET_PAGE_ROWS : 2 * PARQUET_PAGE_ROWS;
    }
    row_count = draw(5) * group + draw(3);
    row_count -= row_count > 0 && draw(2);
    return group;
}

static lode_status write_case(const char *folder, uint64_t number, lode_error *error)
{
    char path[4096];
    static const int codecs[] = {PARQUET_CODEC_NONE, PARQUET_CODEC_GZIP, PARQUET_CODEC_ZSTD};
    struct lode_tables none = {0};
    struct lode_table_reader reader;
    struct lode_parquet_result result;
    seed = number;
    struct lode_parquet_options options = {
        .rows = draw_sizes(), .threads = 1 + (unsigned)draw(4), .write = put};
    options.codec = codecs[draw(LODE_HAS_ZSTD ? 3 : 2)];
    for (unsigned i = 0; i < COLUMNS; i++)
        draw_column(i);
    snprintf(path, sizeof path, "%s/%" PRIu64 ".parquet", folder, number);
    FILE *file = fopen(path, "wb");
    LODE_TRY_ALLOC(file, error);
    options.user = file;
    LODE_TRY(lode_table_reader_open(&reader, &none, &table, NULL, error));
    lode_status status = lode_parquet_write(&reader, &options, &result, error);
    lode_table_reader_close(&reader);
    fclose(file);
    snprintf(path, sizeof path, "%s/%" PRIu64 ".jsonl", folder, number);
    file = fopen(path, "wb");
    LODE_TRY_ALLOC(file, error);
    for (uint64_t row = 0; row < row_count; row++)
        for (unsigned i = 0; i < COLUMNS; i++) {
            fputs(i == 0 ? "[" : ",", file);
            print_cell(file, i, row);
            fputs(i + 1 == COLUMNS ? "]\n" : "", file);
        }
    fclose(file);
    return status;
}

int main(int count, char **arguments)
{
    lode_error error = {0};
    if (count != 4)
        return 2;
    uint64_t first = strtoull(arguments[2], NULL, 10), cases = strtoull(arguments[3], NULL, 10);
    for (uint64_t i = first; i < first + cases; i++)
        if (write_case(arguments[1], i, &error) != LODE_OK) {
            fprintf(stderr, "case %" PRIu64 ": %s\n", i, error.text);
            return 1;
        }
    return 0;
}
