/* SPDX-License-Identifier: BSD-3-Clause */
/* Filters that readers do not apply themselves: rows are dropped from batches. */
#include "base/compare.h"
#include "table/tables.h"
#include <string.h>

/* Whether a comparison with a constant meets a condition; IN is EQUAL with one of several. */
static bool meets(lode_filter_kind kind, int comparison)
{
    if (kind == LODE_FILTER_AT_LEAST)
        return comparison >= 0;
    return kind == LODE_FILTER_AT_MOST ? comparison <= 0 : comparison == 0;
}

static uint64_t number_at(const lode_column *column, uint64_t row)
{
    if (column->type == LODE_COLUMN_U8)
        return ((const uint8_t *)column->data)[row];
    if (column->type == LODE_COLUMN_U32)
        return ((const uint32_t *)column->data)[row];
    return ((const uint64_t *)column->data)[row];
}

static int compare_numbers(uint64_t a, uint64_t b, bool is_signed)
{
    return is_signed ? LODE_COMPARE((int64_t)a, (int64_t)b) : LODE_COMPARE(a, b);
}

/* A cell against constant `i` of a filter. NaN meets nothing. */
static bool cell_meets(const lode_scan_filter *filter, const lode_field *field, const lode_column *column,
                       uint64_t row, size_t i)
{
    if (column->type == LODE_COLUMN_STRING)
        return meets(filter->kind, strcmp(((const char *const *)column->data)[row], filter->strings[i]));
    if (column->type != LODE_COLUMN_F64)
        return meets(filter->kind, compare_numbers(number_at(column, row), filter->numbers[i],
                                                   (field->flags & LODE_FIELD_SIGNED) != 0));
    double value = ((const double *)column->data)[row], constant = filter->reals[i];
    if (filter->kind == LODE_FILTER_AT_LEAST)
        return value >= constant;
    return filter->kind == LODE_FILTER_AT_MOST ? value <= constant : value == constant;
}

/* Order of a cell and a constant, for the search in a list. */
static int compare_cell(const lode_scan_filter *filter, const lode_field *field, const lode_column *column,
                        uint64_t row, size_t i)
{
    if (column->type == LODE_COLUMN_STRING)
        return strcmp(((const char *const *)column->data)[row], filter->strings[i]);
    if (column->type == LODE_COLUMN_F64)
        return LODE_COMPARE(((const double *)column->data)[row], filter->reals[i]);
    return compare_numbers(number_at(column, row), filter->numbers[i],
                           (field->flags & LODE_FIELD_SIGNED) != 0);
}

static bool is_kept(const lode_scan_filter *filter, const lode_field *field,
                    const struct lode_table_batch *batch, uint64_t row)
{
    const lode_column *column = &batch->columns[filter->column];
    if (lode_batch_is_null(batch, filter->column, row))
        return false;
    if (filter->kind != LODE_FILTER_IN)
        return cell_meets(filter, field, column, row, 0);
    size_t low = 0, high = filter->count;
    LODE_BISECT(low, high, compare_cell(filter, field, column, row, middle) > 0);
    return low < filter->count && cell_meets(filter, field, column, row, low);
}

static void move_row(struct lode_table_batch *batch, uint64_t from, uint64_t to)
{
    for (unsigned i = 0; i < batch->column_count; i++) {
        size_t size = batch->columns[i].stride;
        memcpy((char *)batch->data[i] + to * size, (const char *)batch->data[i] + from * size, size);
        if (batch->valid[i])
            batch->valid[i][to] = batch->valid[i][from];
    }
}

/* Arguments of table functions were set, not compared. */
static bool is_for_rows(const lode_field *field)
{
    return !(field->flags & LODE_FIELD_ARGUMENT);
}

static bool row_is_kept(const struct lode_table_query *query, const lode_table_info *info,
                        const struct lode_table_batch *batch, uint64_t row)
{
    const lode_scan_options *options = &query->options;
    for (size_t i = 0; i < options->filter_count; i++) {
        const lode_field *field = &info->fields[options->filters[i].column];
        if (!(query->plan.seeks >> i & 1) && is_for_rows(field) &&
            !is_kept(&options->filters[i], field, batch, row))
            return false;
    }
    return true;
}

bool lode_table_has_filter(const struct lode_table_query *query)
{
    uint64_t all =
        query->options.filter_count < 64 ? (UINT64_C(1) << query->options.filter_count) - 1 : UINT64_MAX;
    return (query->plan.seeks & all) != all;
}

void lode_table_filter(const struct lode_table_query *query, const lode_table_info *info,
                       struct lode_table_batch *batch)
{
    if (!lode_table_has_filter(query))
        return;
    uint64_t kept = 0;
    for (uint64_t row = 0; row < batch->rows; row++) {
        if (!row_is_kept(query, info, batch, row))
            continue;
        if (kept != row)
            move_row(batch, row, kept);
        kept++;
    }
    batch->rows = kept;
    for (unsigned i = 0; i < batch->column_count; i++)
        batch->columns[i].count = kept;
}
