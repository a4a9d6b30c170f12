/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of scans as plain cells, and filters and orders of them that are obvious and slow. */
#ifndef LODE_TESTS_SLOW_SCAN_H
#define LODE_TESTS_SLOW_SCAN_H

#include "unit.h"
#include <lode/unstable.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS = 20
};

struct cell {
    bool is_null;
    uint64_t number;
    double real;
    char *text;
};

struct row {
    struct cell cells[COLUMNS];
};

struct rows {
    struct row *items;
    size_t count, capacity;
    const lode_table_info *info;
};

/* ---- reading ---- */

static inline struct cell cell_of(const lode_batch *batch, unsigned column, uint64_t row)
{
    const lode_column *from = &batch->columns[column];
    struct cell cell = {.is_null = batch->valid[column] && !batch->valid[column][row]};
    if (from->data == NULL)
        return (struct cell){.is_null = true};
    assert_int_equal(from->count, batch->rows);
    const char *at = (const char *)from->data + row * from->stride;
    if (from->type == LODE_COLUMN_STRING) {
        const char *text = *(const char *const *)(const void *)at;
        cell.is_null = text == NULL;
        cell.text = text ? strdup(text) : NULL;
    } else if (from->type == LODE_COLUMN_F64) {
        memcpy(&cell.real, at, 8);
    } else if (from->type == LODE_COLUMN_U8) {
        cell.number = *(const uint8_t *)at;
    } else if (from->type == LODE_COLUMN_U32) {
        uint32_t number;
        memcpy(&number, at, 4);
        cell.number = number;
    } else {
        memcpy(&cell.number, at, 8);
    }
    return cell;
}

static inline void add_batch(struct rows *rows, const lode_batch *batch)
{
    assert_int_equal(batch->column_count, rows->info->field_count);
    assert_true(batch->rows > 0);
    for (uint64_t i = 0; i < batch->rows; i++) {
        if (rows->count == rows->capacity) {
            rows->capacity = rows->capacity * 2 + 64;
            rows->items = realloc(rows->items, rows->capacity * sizeof *rows->items);
            assert_non_null(rows->items);
        }
        struct row *row = &rows->items[rows->count++];
        for (unsigned k = 0; k < batch->column_count; k++)
            row->cells[k] = cell_of(batch, k, i);
    }
}

static inline void free_rows(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        for (unsigned k = 0; k < rows->info->field_count; k++)
            free(rows->items[i].cells[k].text);
    free(rows->items);
}

static inline lode_status scan(struct rows *rows, lode_tables *tables, const lode_table_info *info,
                               const lode_scan_options *options, lode_error *error)
{
    lode_scan *scan;
    const lode_batch *batch;
    *rows = (struct rows){.info = info};
    lode_status status = lode_scan_open(&scan, tables, info, options, error);
    while (status == LODE_OK) {
        status = lode_scan_next(scan, &batch, error);
        if (status == LODE_OK)
            add_batch(rows, batch);
    }
    lode_scan_close(scan);
    return status == LODE_END ? LODE_OK : status;
}

/* ---- the slow reference ---- */

static inline int compare_number(const lode_field *field, uint64_t a, uint64_t b)
{
    if (field->flags & LODE_FIELD_SIGNED)
        return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
    return (a > b) - (a < b);
}

static inline int compare_constant(const lode_field *field, const struct cell *cell,
                                   const lode_scan_filter *filter, size_t i)
{
    if (field->type == LODE_COLUMN_STRING)
        return strcmp(cell->text, filter->strings[i]);
    if (field->type == LODE_COLUMN_F64)
        return (cell->real > filter->reals[i]) - (cell->real < filter->reals[i]);
    return compare_number(field, cell->number, filter->numbers[i]);
}

static inline bool meets(const lode_table_info *info, const struct row *row, const lode_scan_filter *filter)
{
    const lode_field *field = &info->fields[filter->column];
    const struct cell *cell = &row->cells[filter->column];
    if (cell->is_null)
        return false;
    for (size_t i = 0; i < filter->count; i++) {
        int comparison = compare_constant(field, cell, filter, i);
        if (filter->kind == LODE_FILTER_AT_LEAST  ? comparison >= 0
            : filter->kind == LODE_FILTER_AT_MOST ? comparison <= 0
                                                  : comparison == 0)
            return true;
    }
    return false;
}

static inline int compare_cells(const lode_field *field, const struct cell *a, const struct cell *b)
{
    if (a->is_null || b->is_null)
        return (int)b->is_null - (int)a->is_null;
    if (field->type == LODE_COLUMN_STRING)
        return strcmp(a->text, b->text);
    if (field->type == LODE_COLUMN_F64)
        return (a->real > b->real) - (a->real < b->real);
    return compare_number(field, a->number, b->number);
}

/* The table whose rows are being sorted. */
static const lode_table_info *sorting;

static inline int compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    int comparison = 0;
    for (unsigned i = 0; i < sorting->field_count && comparison == 0; i++)
        comparison = compare_cells(&sorting->fields[i], &a->cells[i], &b->cells[i]);
    return comparison;
}

#endif
